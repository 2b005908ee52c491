//! Tables of pawn structures (`pawngen`) made in parts and joined: the same tables as those made at
//! once, and what is refused.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::common::{SharedFolder, copy_of, falsify, run, succeeds, unpacked};

/// A pawn of each colour, and what promotes first has won.
const RACE: &str = "<?xml version=\"1.0\"?>
<tablebase>
   <prune-enable color=\"white\" type=\"concede\"/>
   <prune-enable color=\"black\" type=\"concede\"/>
   <dtm/>
   <piece color=\"white\" type=\"king\"/>
   <piece color=\"black\" type=\"king\"/>
   <pawngen white-pawn-locations=\"b2\" black-pawn-locations=\"c7\" white-pawns-required=\"1\" black-pawns-required=\"1\"/>
   <futurebase filename=\"kpk.htb\"/>
   <futurebase filename=\"kpk.htb\" colors=\"invert\"/>
   <output filename=\"race.htb\"/>
   <prune color=\"white\" move=\"P=?\" type=\"concede\"/>
   <prune color=\"black\" move=\"P=?\" type=\"concede\"/>
</tablebase>
";

/// What is behind the race, its control file, and its table in a folder of its own.
static RACED: SharedFolder = SharedFolder::new();

fn raced() -> &'static Path {
    RACED.filled(|folder| {
        succeeds(folder, "build KPvK --format htb --dir .");
        fs::write(folder.join("race.xml"), RACE).unwrap();
        succeeds(folder, "build race.xml --reproducible --dir .");
        fs::rename(folder.join("race.htb"), folder.join("whole.htb")).unwrap();
    })
}

/// Writes a control file for a part of the race by hand.
fn cut(folder: &Path, name: &str, start: usize, count: usize, futurebases: &[&str]) {
    let numbers = format!("black-pawns-required=\"1\" start=\"{start}\" count=\"{count}\"/>");
    let more = futurebases.iter().map(|file| format!("<futurebase filename=\"{file}\"/>"));
    let text = RACE
        .replace("black-pawns-required=\"1\"/>", &(numbers + &more.collect::<String>()))
        .replace("race.htb", &format!("{name}.htb"));
    fs::write(folder.join(format!("{name}.xml")), text).unwrap();
    succeeds(folder, &format!("build {name}.xml --reproducible --dir ."));
}

/// The pawns can pass each other with a double step: rights are among the 38 arrangements.
#[test]
fn a_table_made_in_parts_is_the_same_file() {
    let folder = copy_of(raced());
    let folder = folder.path();
    let line = "plan race.xml --parts=5 --run -j 2 --dir .";
    let made = succeeds(folder, line);
    let lines: Vec<&str> = made.out.lines().collect();
    assert_eq!(lines.len(), 6, "{}", made.out);
    assert!(lines[5].starts_with("./race.htb: written"), "{}", made.out);
    let whole = fs::read(folder.join("whole.htb")).unwrap();
    assert!(fs::read(folder.join("race.htb")).unwrap() == whole);
    let receipt = fs::read_to_string(folder.join("receipts/race.htb.json")).unwrap();
    assert!(receipt.contains("race.xml") && receipt.contains("race-part-5-of-5.htb"), "{receipt}");
    // What was joined is what the control file makes.
    assert_eq!(succeeds(folder, "build race.xml").out, "race.htb: kept\n");

    fs::remove_file(folder.join("race-part-3-of-5.htb")).unwrap();
    let again = succeeds(folder, line);
    let written: Vec<&str> = again.out.lines().filter(|line| !line.ends_with("kept")).collect();
    // Those above it are older than it, and come out the same.
    let anew = [3, 4, 5].map(|number| format!("./race-part-{number}-of-5.htb: written"));
    assert!(written.iter().zip(&anew).all(|(line, anew)| line.starts_with(anew)), "{}", again.out);
    assert_eq!(written.len(), 3, "{}", again.out);
}

#[test]
fn parts_cut_by_hand_are_joined_in_either_container() {
    let folder = copy_of(raced());
    let folder = folder.path();
    let whole = unpacked(&folder.join("whole.htb"));
    // Every cut: some divide a placement with an en passant right from that without.
    for at in [7, 18, 19, 20, 31] {
        cut(folder, "lower", 0, at, &[]);
        cut(folder, "upper", at, 0, &["lower.htb"]);
        succeeds(folder, "join race.xml upper.htb lower.htb -o race.htb --reproducible");
        let [race, whole] = ["race.htb", "whole.htb"].map(|name| fs::read(folder.join(name)));
        assert!(race.unwrap() == whole.unwrap(), "cut at {at}");
        fs::remove_file(folder.join("race.htb")).unwrap();
    }
    succeeds(folder, "convert lower.htb -o lower.hbf");
    fs::remove_file(folder.join("lower.htb")).unwrap();
    // Without the control file, that of the lowest part is taken.
    succeeds(folder, "join lower.htb upper.htb -o new/race.htb --reproducible --memory 64M");
    assert_eq!(unpacked(&folder.join("new/race.htb")).1, whole.1);
    succeeds(folder, "join lower.htb upper.htb -o race.hbf --reproducible");
    succeeds(folder, "convert race.hbf -o back.htb");
    assert_eq!(unpacked(&folder.join("back.htb")).1, whole.1);
    assert_eq!(succeeds(folder, "join lower.htb upper.htb -o race.hbf").out, "race.hbf: kept\n");

    // Overlapping, with one too many.
    cut(folder, "middle", 10, 25, &["lower.hbf"]);
    let line = "join upper.htb middle.htb lower.htb -o overlapping.htb --reproducible";
    succeeds(folder, line);
    assert_eq!(unpacked(&folder.join("overlapping.htb")).1, whole.1);
    let report = succeeds(folder, "verify overlapping.htb --dir .").out;
    assert!(report.contains(": ok, "), "{report}");
}

#[test]
fn outcomes_are_joined() {
    let folder = copy_of(raced());
    let folder = folder.path();
    for format in ["<basic/>", "<flag type=\"white-wins\"/>"] {
        let text = RACE.replace("<dtm/>", format);
        fs::write(folder.join("race.xml"), text).unwrap();
        succeeds(folder, "build race.xml --reproducible --dir .");
        fs::rename(folder.join("race.htb"), folder.join("whole.htb")).unwrap();
        succeeds(folder, "plan race.xml --parts=3 --run -j 2 --dir .");
        let [race, whole] = ["race.htb", "whole.htb"].map(|name| fs::read(folder.join(name)));
        assert!(race.unwrap() == whole.unwrap(), "{format}");
    }
}

/// The race in three parts.
fn in_three_parts(folder: &Path) {
    cut(folder, "lower", 0, 12, &[]);
    cut(folder, "middle", 12, 2, &["lower.htb"]);
    cut(folder, "upper", 14, 0, &["lower.htb", "middle.htb"]);
}

#[test]
fn what_is_not_the_whole_table_is_refused() {
    let folder = copy_of(raced());
    let folder = folder.path();
    in_three_parts(folder);
    let words = [
        "race.htb cannot be made: 2 of its 38 pawn structures are in none of the parts",
        "number 36 with a white pawn on ",
        " and a black pawn on ",
    ];
    cut(folder, "most", 0, 36, &[]);
    run(folder, "join race.xml most.htb").refused(1, &words);
    run(folder, "join most.htb -o race.htb").refused(1, &words);
    run(folder, "join race.xml lower.htb upper.htb")
        .refused(1, &["upper.htb: was made by a control file with other futurebases", "'middle'"]);
    run(folder, "join race.xml lower.htb gone.htb")
        .refused(3, &["race.htb cannot be made: gone.htb is not there"]);
    run(folder, "join race.xml").refused(2, &["race.xml: name the tables of its parts"]);
    run(folder, "join race.xml lower.htb --format htb")
        .refused(2, &["the format of a control file's table"]);
    run(folder, "join race.xml kpk.htb")
        .refused(1, &["kpk.htb: is not made of the pawn structures of a <pawngen>"]);
    run(folder, "plan race.xml --parts --json").refused(2, &["--parts=N"]);
    run(folder, "build race.xml --only race-part-9-of-8.htb")
        .refused(1, &["there is no table 'race-part-9-of-8.htb'"]);
    assert!(!folder.join("race.htb").exists());

    // Other files of that name stay, unless the control file names them.
    fs::write(folder.join("mine.htb"), "mine").unwrap();
    run(folder, "join lower.htb middle.htb upper.htb -o mine.htb")
        .refused(1, &["mine.htb", "not overwritten"]);
    assert_eq!(fs::read(folder.join("mine.htb")).unwrap(), b"mine");
}

#[test]
fn parts_of_another_control_file_are_refused() {
    let folder = copy_of(raced());
    let folder = folder.path();
    in_three_parts(folder);
    let parts = "lower.htb middle.htb upper.htb";
    for (old, new, what) in [
        ("color=\"white\" move=\"P=?\"", "color=\"white\" move=\"P=Q\"", "other prunes"),
        ("<dtm/>", "<basic/>", "another format"),
        ("black-pawn-locations=\"c7\"", "black-pawn-locations=\"c6\"", "other pawn structures"),
        ("<futurebase filename=\"kpk.htb\"/>", "", "other futurebases"),
        ("<pawngen", "<piece color=\"white\" type=\"knight\"/><pawngen", "other men"),
    ] {
        let text = RACE.replace(old, new);
        assert_ne!(text, RACE);
        fs::write(folder.join("other.xml"), text).unwrap();
        let words = ["lower.htb: was made by a control file with", what];
        run(folder, &format!("join other.xml {parts}")).refused(1, &words);
    }
    fs::write(
        folder.join("plain.xml"),
        RACE.replace("<pawngen", "<!--").replace("d=\"1\"/>", "-->"),
    )
    .unwrap();
    run(folder, &format!("join plain.xml {parts}")).refused(1, &["plain.xml has no <pawngen>"]);
    assert!(!folder.join("race.htb").exists());
}

#[test]
fn parts_that_disagree_or_are_damaged_are_refused() {
    let folder = copy_of(raced());
    let folder = folder.path();
    in_three_parts(folder);
    cut(folder, "last", 30, 0, &["lower.htb", "middle.htb", "upper.htb"]);
    falsify(&folder.join("last.htb"));
    let parts = "lower.htb middle.htb upper.htb last.htb";
    run(folder, &format!("join race.xml {parts}"))
        .refused(1, &["last.htb: has another value than upper.htb for ", " - -"]);
    fs::remove_file(folder.join("last.htb")).unwrap();

    let path = folder.join("middle.htb");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    run(folder, "join race.xml lower.htb middle.htb upper.htb")
        .refused(1, &["middle.htb", "damaged"]);
    assert!(!folder.join("race.htb").exists());
}

#[test]
fn a_graph_has_parts_of_pawn_structures() {
    let folder = copy_of(raced());
    let folder = folder.path();
    succeeds(folder, "plan race.xml --parts=3 --run -j 2 --dir .");
    fs::remove_file(folder.join("race.htb")).unwrap();
    run(folder, "join race.xml race-part-1-of-3.htb race-part-3-of-3.htb")
        .refused(1, &["pawn structures are in none of the parts"]);
    let plan = succeeds(folder, "plan race.xml --parts=4 --json --dir .").json();
    let jobs = plan["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 5);
    let part = &jobs[1];
    assert_eq!(part["output"], "./race-part-2-of-4.htb");
    let inputs = part["inputs"].as_array().unwrap();
    assert!(inputs.contains(&"./race-part-1-of-4.htb".into()), "{inputs:?}");
    let text = part["text"].as_str().unwrap();
    assert!(text.contains("<futurebase filename=\"race-part-1-of-4.htb\"/>"), "{text}");
    assert!(text.contains(" start=\""), "{text}");
    let joined = &jobs[4];
    assert_eq!((&joined["output"], &joined["joined"]), (&"./race.htb".into(), &true.into()));
    let names: Vec<String> = (1..=4).map(|n| format!("./race-part-{n}-of-4.htb")).collect();
    assert_eq!(joined["inputs"][0], *names[0]);
    for form in ["makefile", "slurm", "snakefile"] {
        let text = succeeds(folder, &format!("plan race.xml --parts=4 --{form} --dir .")).out;
        if form == "snakefile" {
            for words in [
                "{HOFFMAN} build {input[1]} --only {output} --dir {params.folder} ",
                "{HOFFMAN} join {input[4]} {input[0]} {input[1]} {input[2]} {input[3]} --dir ",
            ] {
                assert!(text.contains(words), "{form}: {text}");
            }
            continue;
        }
        for words in [
            "build race.xml --only ./race-part-2-of-4.htb --dir .".to_owned(),
            format!("join race.xml {} --dir .", names.join(" ")),
        ] {
            assert!(text.contains(&words), "{form}: {text}");
        }
    }
}

/// Kings and two pawns of each colour: a family, of whose largest table every part is a process.
#[test]
fn an_ending_of_six_men_made_in_parts_by_eight_processes_is_the_same_file() {
    let folder = copy_of(raced());
    let folder = folder.path();
    let family = RACE
        .replace("\"b2\"", "\"b3 c2\"")
        .replace("\"c7\"", "\"b5 d5\"")
        .replace(" white-pawns-required=\"1\" black-pawns-required=\"1\"", "")
        .replace("   <output filename=\"race.htb\"/>\n", "");
    fs::write(folder.join("six.xml"), family).unwrap();
    succeeds(folder, "pawngen six.xml");
    succeeds(folder, "build six.xml --dir .");
    fs::remove_file(folder.join("six-2-2.htb")).unwrap();
    succeeds(folder, "build six-2-2.xml --reproducible --dir .");
    fs::rename(folder.join("six-2-2.htb"), folder.join("whole.htb")).unwrap();
    let made = succeeds(folder, "plan six-2-2.xml --parts=8 --run -j 8 --dir .").out;
    assert_eq!(made.matches("-of-8.htb: written").count(), 8, "{made}");
    let [six, whole] = ["six-2-2.htb", "whole.htb"].map(|name| fs::read(folder.join(name)));
    assert!(six.unwrap() == whole.unwrap());
}

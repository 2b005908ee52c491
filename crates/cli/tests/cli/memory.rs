//! Bounded memory, and what a run is said to take.

use std::path::Path;
use std::process::{Command, Output};

fn hoffman(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hoffman"))
        .args(arguments)
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder)
        .output()
        .unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The bytes of a table's entries.
fn entries(path: &Path) -> Vec<u8> {
    let options = hoffman_table::htb::SourceOptions::default();
    let table = hoffman_table::Table::open(path, options).unwrap();
    let mut area = Vec::new();
    table.read_packed(&mut area).unwrap();
    area
}

#[test]
fn too_little_memory_is_refused_with_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let refused = hoffman(
        folder.path(),
        &["build", "--format", "htb", "KRvK", "--memory", "1M", "--dir", "t"],
    );
    assert_eq!(refused.status.code(), Some(1));
    let text = errors(&refused);
    assert!(text.contains("1 MB of memory are too little; at least 4"), "{text}");
    assert!(!folder.path().join("t").exists());
    let misused = hoffman(folder.path(), &["build", "--format", "htb", "KRvK", "--memory", "lots"]);
    assert_eq!(misused.status.code(), Some(2));
}

#[test]
fn the_classic_option_is_raised_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let control = |proptables: &str, output: &str| {
        format!(
            "<tablebase>{proptables}<piece color=\"white\" type=\"king\"/><piece color=\"white\" type=\"queen\"/>\
             <piece color=\"black\" type=\"king\"/><prune-enable color=\"black\" type=\"concede\"/>\
             <prune color=\"black\" move=\"KxQ\" type=\"concede\"/><output filename=\"{output}\"/></tablebase>"
        )
    };
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("plain.xml", control("", "plain.htb"));
    write("asked.xml", control("<enable-proptables MB=\"1\"/>", "asked.htb"));
    for (arguments, output, notice) in [
        (&["-g", "plain.xml"][..], "plain.htb", None),
        (
            &["-g", "-P", "2", "-o", "bounded.htb", "plain.xml"],
            "bounded.htb",
            Some("2 MB of memory are"),
        ),
        (&["-g", "asked.xml"], "asked.htb", Some("1 MB of memory are")),
        (
            &["-g", "-P", "60", "asked.xml"],
            "asked.htb",
            Some("overrides <enable-proptables MB=\"1\"/>"),
        ),
    ] {
        let made = hoffman(folder.path(), arguments);
        let text = errors(&made);
        assert!(made.status.success(), "{text}");
        assert!(notice.is_none_or(|notice| text.contains(notice)), "{text}");
        let [plain, other] = ["plain.htb", output].map(|name| entries(&folder.path().join(name)));
        assert!(plain == other, "{arguments:?}");
    }
}

#[test]
fn propagation_tables_give_the_same_tables() {
    let folder = tempfile::tempdir().unwrap();
    let build = |dir: &str, more: &[&str]| {
        let arguments = [&["build", "--format", "htb", "KQvKR", "--dir", dir], more].concat();
        let made = hoffman(folder.path(), &arguments);
        assert!(made.status.success(), "{}", errors(&made));
        entries(&folder.path().join(dir).join("kqkr.htb"))
    };
    let plain = build("plain", &[]);
    let more = ["--memory", "44M", "--method", "proptables", "--compress-files", "-t", "2"];
    assert!(plain == build("bounded", &more));
    let misused = hoffman(folder.path(), &["build", "--format", "htb", "KRvK", "--method", "both"]);
    assert_eq!(misused.status.code(), Some(2));
}

#[test]
fn a_plan_says_what_a_build_takes() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |arguments: &[&str]| -> serde_json::Value {
        let output = hoffman(folder.path(), &[&["plan", "--json"], arguments].concat());
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let before = plan(&["--format", "htb", "KRvKN", "KPvK", "--dir", "t"]);
    assert!(!folder.path().join("t").exists());
    let built =
        hoffman(folder.path(), &["build", "--format", "htb", "KRvKN", "KPvK", "--dir", "t"]);
    assert!(built.status.success());
    let tables = before["tables"].as_array().unwrap();
    assert!(tables.iter().any(|t| t["table"] == "krkn.htb"));
    for table in tables {
        let path = folder.path().join("t").join(table["table"].as_str().unwrap());
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes <= table["bytes_at_most"].as_u64().unwrap(), "{table}");
        assert_eq!(table["kept"], false);
    }
    let after = plan(&["KRvKN", "--dir", "t"]);
    assert!(after["tables"].as_array().unwrap().iter().all(|table| table["kept"] == true));
    assert_eq!(after["bytes_typically"], 0);
    let position = plan(&["8/8/8/4k3/8/8/4P3/4K3", "w", "-", "-"]);
    let parts = position["tables"].as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap());
    assert!(parts.into_iter().any(|name| name.starts_with("kpk-")));
    // From the disk more time and less memory is planned.
    let bounded = plan(&["--format", "htb", "KRRvKR", "--memory", "64M"]);
    assert_eq!(bounded["from_disk"], true);
    assert!(bounded["used_memory"].as_u64() < bounded["memory"].as_u64());
    assert!(bounded["working_disk"].as_u64().unwrap() > 1 << 28);
    // Models of block files are made from many cells, for which more is needed.
    let by_index = bounded["least_memory"].as_u64().unwrap();
    for (profile, more) in [("smallest", 100 << 20), ("small", 40 << 20)] {
        let in_blocks = plan(&["KRRvKR", "--memory", "400M", "--profile", profile]);
        let least = in_blocks["least_memory"].as_u64().unwrap();
        assert!(least > by_index + more, "{profile}: {least} {by_index}");
    }
    let little = ["build", "KRRvKR", "--memory", "64M", "--dir", "t"];
    let refused = hoffman(folder.path(), &little);
    assert!(errors(&refused).contains("MB are needed"), "{}", errors(&refused));
    assert_eq!(refused.status.code(), Some(1));
    // What takes an instant keeps no checkpoint.
    assert_eq!(plan(&["KRvKN"])["checkpoint"], 0);
    // What takes minutes keeps a checkpoint: half a byte for each position of a table of one
    // slice.
    let long = plan(&["KQQvKQQ", "--memory", "1G"]);
    assert_eq!(long["checkpoint"], 462_u64 << 24);
    // As the control file asks.
    let control = |bound: &str| {
        let made = hoffman(folder.path(), &["control", "kk", "kqk"]);
        assert!(made.status.success(), "{}", errors(&made));
        let path = folder.path().join("kqk.xml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("<dtm/>", &format!("{bound}<dtm/>"), 1)).unwrap();
        let made = hoffman(folder.path(), &["-g", "kk.xml"]);
        assert!(made.status.success(), "{}", errors(&made));
        plan(&["kqk.xml"])
    };
    assert_eq!(control("")["from_disk"], false);
    assert_eq!(control("<enable-proptables MB=\"1\"/>")["from_disk"], true);
}

#[test]
fn commands_that_read_tables_take_a_bound_too() {
    let folder = tempfile::tempdir().unwrap();
    let made = hoffman(folder.path(), &["build", "--format", "htb", "KQvKR", "--dir", "."]);
    assert!(made.status.success(), "{}", errors(&made));
    for command in [
        &["stats", "KQvKR", "--json"][..],
        &["verify", "KQvKR", "--sample", "1000", "--json"],
        &["probe", "--json", "8/8/3k4/8/3K4/8/8/Q5r1 w - - 0 1"],
        &["convert", "kqkr.htb", "--format", "basic", "-o", "basic.htb", "--json"],
    ] {
        let plain = hoffman(folder.path(), command);
        assert!(plain.status.success(), "{command:?}: {}", errors(&plain));
        let bounded = hoffman(folder.path(), &[command, &["--memory", "48M"]].concat());
        assert!(bounded.status.success(), "{command:?}: {}", errors(&bounded));
        let said = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(said(&plain), said(&bounded), "{command:?}");
        let refused = hoffman(folder.path(), &[command, &["--memory", "47M"]].concat());
        assert_eq!(refused.status.code(), Some(1));
        let text = errors(&refused);
        assert!(text.contains("47 MB of memory are too little; at least 48 MB"), "{text}");
    }
}

#[test]
fn propagation_tables_are_used_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let made = hoffman(folder.path(), &["build", "--format", "htb", "KQvK", "KRvK", "--dir", "."]);
    assert!(made.status.success(), "{}", errors(&made));
    let made = hoffman(folder.path(), &["control", "kqkr"]);
    assert!(made.status.success(), "{}", errors(&made));
    let generate = |more: &[&str]| {
        let arguments = [&["-g", "-q", "kqkr.xml"], more].concat();
        let made = Command::new(env!("CARGO_BIN_EXE_hoffman"))
            .args(arguments)
            .current_dir(folder.path())
            .env("RUST_LOG", "info")
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", errors(&made));
        (entries(&folder.path().join("kqkr.htb")), errors(&made))
    };
    let (plain, said) = generate(&[]);
    assert!(!said.contains("memory is bounded"), "{said}");
    for (bound, how) in [
        (&["-P", "44"][..], "sweeps"),
        (&["-P", "44", "--compress-files"], "sweeps"),
        (&["-P", "44", "--method", "proptables"], "propagation tables"),
        (
            &["-P", "44", "--method", "proptables", "--compress-files"],
            "propagation tables, compressed",
        ),
    ] {
        let (made, said) = generate(bound);
        assert!(made == plain, "{bound:?}");
        let bounded = said.lines().find(|line| line.contains("memory is bounded"));
        assert!(bounded.is_some_and(|line| line.ends_with(&format!("method={how}"))), "{said}");
    }
}

/// A control file with all captures and promotions conceded, in a format.
fn conceding(folder: &Path, name: &str, format: &str, men: &[(&str, &str)]) {
    let piece =
        |(color, role): &(&str, &str)| format!("<piece color=\"{color}\" type=\"{role}\"/>");
    let prunes = ["white", "black"].map(|color| {
        format!(
            "<prune-enable color=\"{color}\" type=\"concede\"/>\
             <prune color=\"{color}\" move=\"?x*\" type=\"concede\"/>\
             <prune color=\"{color}\" move=\"P=?\" type=\"concede\"/>"
        )
    });
    let pieces: Vec<String> = men.iter().map(piece).collect();
    let (pieces, prunes) = (pieces.concat(), prunes.concat());
    let output = format!("<output filename=\"{name}.htb\"/>");
    let text = format!("<tablebase>{format}{pieces}{prunes}{output}</tablebase>");
    std::fs::write(folder.join(name).with_extension("xml"), text).unwrap();
}

const PAWNS: [(&str, &str); 4] =
    [("white", "king"), ("black", "king"), ("white", "pawn"), ("black", "pawn")];

/// Outcomes are kept in two bits while they are solved, and are those of the distances.
#[test]
fn a_bitbase_has_the_outcomes_of_the_distances() {
    let folder = tempfile::tempdir().unwrap();
    conceding(folder.path(), "dtm", "<dtm/>", &PAWNS);
    conceding(folder.path(), "basic", "<basic/>", &PAWNS);
    conceding(folder.path(), "wins", "<flag type=\"white-wins\"/>", &PAWNS);
    conceding(folder.path(), "paged", "<basic/>", &PAWNS);
    for arguments in [
        &["-g", "dtm.xml"][..],
        &["-g", "basic.xml"],
        &["-g", "wins.xml"],
        &["-g", "-P", "50", "paged.xml"],
        &["convert", "./dtm.htb", "--format", "basic", "--output", "converted.htb"],
        &["convert", "./dtm.htb", "--format", "white-wins", "--output", "flags.htb"],
    ] {
        let made = hoffman(folder.path(), arguments);
        assert!(made.status.success(), "{arguments:?}: {}", errors(&made));
    }
    let of = |name: &str| entries(&folder.path().join(name));
    assert!(of("converted.htb") == of("basic.htb"));
    assert!(of("converted.htb") == of("paged.htb"));
    assert!(of("flags.htb") == of("wins.htb"));
}

/// Tables with pawns are solved slice by slice, and only the outcomes of a slice are kept.
#[test]
fn a_bitbase_with_pawns_takes_less_than_half_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let men = [&PAWNS[..], &[("white", "rook")]].concat();
    let planned = |format: &str| -> u64 {
        conceding(folder.path(), "plan", format, &men);
        let plan = hoffman(folder.path(), &["plan", "plan.xml", "--json"]);
        let text = String::from_utf8(plan.stdout.clone()).unwrap();
        let (_, memory) =
            text.split_once("\"memory\":").unwrap_or_else(|| panic!("{text}{}", errors(&plan)));
        memory.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let (distances, outcomes) = (planned("<dtm/>"), planned("<basic/>"));
    assert!(distances > 1 << 28 && outcomes < distances / 2, "{outcomes} of {distances}");
}

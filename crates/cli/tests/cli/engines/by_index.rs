//! The reader in C and this program give the same answers, of tables by index above all: parts of
//! endings, and what control files describe.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hoffman_board::{Value, Variant};
use hoffman_probe::collection::Collection;
use hoffman_probe::lookup::Hit;
use hoffman_probe::position::Position;
use hoffman_table::htb::SourceOptions;
use hoffman_table::{EntryValue, Table};
use tempfile::TempDir;

use super::{MEMORY, good, takes};
use crate::common::{SharedFolder, names, root, run};

/// The program that answers lines with the reader in C.
fn answering(folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    if !takes("cc", flags) {
        return None;
    }
    let (reader, program) = (root().join("reader/c"), folder.join("answers"));
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O1", "-DHOFFMAN_INDEX", "-DHOFFMAN_MEN=8", "-I"]).arg(&reader);
    command.arg(root().join("crates/hbf/tests/probe_c.c")).arg(reader.join("hoffprobe.c"));
    good(&command.args(flags).arg("-o").arg(&program).output().unwrap());
    Some(program)
}

/// One line of answer for each position.
fn answers(program: &Path, folder: &Path, asked: &str, positions: &[Position]) -> Vec<String> {
    let mut command = Command::new(program);
    command.arg(folder).args(["256000000", asked]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = positions.iter().map(|position| position.fen() + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let lines: Vec<String> = good(&output).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), positions.len());
    lines
}

/// The same from what this program finds.
fn expected(hit: Option<&Hit>, asked: &str) -> String {
    let none = "1 0 0".to_owned();
    let Some(hit) = hit else { return none };
    let (assumed, outcomes) = (asked.starts_with("assumed"), asked.ends_with("wdl"));
    let control = hit.table().control();
    let is_chess = hit.claims.is_exact() && control.prune_enables.is_empty();
    let (wdl, plies) = match hit.value {
        EntryValue::Exact(value @ Value::Win(_)) => (1, value.plies()),
        EntryValue::Exact(value @ Value::Loss(_)) => (-1, value.plies()),
        EntryValue::Exact(Value::Draw) => (0, Some(0)),
        EntryValue::Win => (1, None),
        EntryValue::Loss => (-1, None),
        EntryValue::Draw => (0, None),
        _ => return none,
    };
    match plies {
        _ if !is_chess && !assumed => none,
        None if !outcomes => none,
        plies => {
            let plies = plies.filter(|_| !outcomes).unwrap_or(0).unsigned_abs();
            format!("{} {wdl} {plies}", if is_chess { 0 } else { 7 })
        }
    }
}

/// How many positions have an answer; none may have another one.
#[track_caller]
fn compared(program: &Path, folder: &Path, asked: &str, positions: &[Position]) -> usize {
    let mut tables = Collection::with_cache(256 << 20);
    tables.add_folder(folder).unwrap();
    let mut answered = 0;
    for (position, found) in positions.iter().zip(answers(program, folder, asked, positions)) {
        let hit = tables.lookup(position).unwrap();
        assert_eq!(found, expected(hit.as_ref(), asked), "{asked}: {}", position.fen());
        answered += usize::from(!found.starts_with('1'));
    }
    answered
}

/// The legal position at an index.
fn position_at(table: &Table, index: u64) -> Option<Position> {
    let placement = table.space().decode(index)?;
    let men = placement.squares.iter().zip(table.pieces()).map(|(&s, p)| (s, p.color, p.role));
    let position = Position::from_men(men, placement.turn, placement.en_passant);
    position.check_possible(Variant::Normal).is_ok().then_some(position)
}

/// Every so many positions of a table.
fn positions_of(table: &Path, step: usize) -> Vec<Position> {
    let table = Table::open(table, SourceOptions::default()).unwrap();
    (0..table.space().size()).step_by(step).filter_map(|index| position_at(&table, index)).collect()
}

/// A folder with KPvK, which has parts, and what it needs.
fn pawn() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.made_by("build KPvK --format hbf --profile fast --dir .")
}

/// A copy of a table alone in a folder.
fn alone(folder: &Path, name: &str, table: &Path) -> PathBuf {
    let place = folder.join(name);
    fs::create_dir_all(&place).unwrap();
    fs::copy(table, place.join(table.file_name().unwrap())).unwrap();
    place
}

#[test]
fn parts_and_all_index_types_answer_as_the_program_does() {
    let folder = TempDir::new().unwrap();
    let Some(program) = answering(folder.path(), &MEMORY) else { return };
    parts_answer_what_they_have(&program, folder.path());
    all_index_types_and_formats_are_read(&program, folder.path());
}

fn parts_answer_what_they_have(program: &Path, folder: &Path) {
    let parts = folder.join("parts");
    fs::create_dir(&parts).unwrap();
    for part in ["KPvK-c2+d2+", "KPvK-a7"] {
        run(pawn(), &format!("build --only {part} --dir .")).good();
        let name = part.replace('v', "").to_lowercase() + ".hbf";
        fs::rename(pawn().join(&name), parts.join(&name)).unwrap();
    }
    let mut positions = positions_of(&pawn().join("kpk.hbf"), 15);
    positions.extend(positions_of(&parts.join("kpk-a7.hbf"), 1));
    let exchanged: Vec<Position> = positions.iter().step_by(5).map(Position::mirrored).collect();
    positions.extend(exchanged);
    let answered = compared(program, &parts, "dtm", &positions);
    assert!(answered > 3_000 && answered < positions.len() - 5_000, "{answered}");
    let some: Vec<Position> = positions.into_iter().step_by(11).collect();
    compared(program, &parts, "wdl", &some);
    assert!(answers(program, &parts, "soft", &some[..9]).iter().all(|a| a != "0 0 0"));
    // A complete table beside parts knows the rest.
    fs::copy(pawn().join("kpk.hbf"), parts.join("kpk.hbf")).unwrap();
    assert_eq!(compared(program, &parts, "dtm", &some), some.len());
}

fn all_index_types_and_formats_are_read(program: &Path, folder: &Path) {
    let types =
        ["naive", "naive2", "simple", "compact", "combinadic3", "combinadic4", "combinadic5"];
    let some = positions_of(&pawn().join("kpk.hbf"), 61);
    let queen = positions_of(&pawn().join("kqk.hbf"), 17);
    for index in types {
        let pieces = if index.starts_with("naive") { 4 } else { 8 };
        for (name, symmetry, positions) in [("kpk", 2, &some), ("kqk", pieces, &queen)] {
            let place = format!("{}/{index}", folder.display());
            fs::create_dir_all(&place).unwrap();
            let how = format!("--index {index} --symmetry {symmetry} -o {place}/{name}.hbf");
            run(pawn(), &format!("convert {name}.hbf {how}")).good();
            assert_eq!(compared(program, Path::new(&place), "dtm", positions), positions.len());
        }
    }
    for format in ["basic", "white-wins", "white-draws"] {
        let place = folder.join(format);
        fs::create_dir(&place).unwrap();
        let to = place.join("kpk.hbf");
        let how = format!("--index simple --format {format} -o {}", to.display());
        run(pawn(), &format!("convert kpk.hbf {how}")).good();
        compared(program, &place, "wdl", &some);
        assert_eq!(compared(program, &place, "dtm", &some), 0);
    }
}

const RACE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- <piece color="white" type="queen"/> in a comment is none. -->
<tablebase>
<prune-enable color="white" type="concede"/> <prune-enable color='black' type="concede"/>
<prune-enable color="white" type="discard"/> <prune-enable color="black" type="discard"/>
<dtm/> <index type="INDEX"/>
<piece color="white" type="king" location="a1b1 c1 d1 a2"/>
<piece color="black" type="king" location="e7f7 g7 h8"/>
PAWNS
<prune color="white" move="P=?" type="concede"/> <prune color="black" move="P=?" type="concede"/>
<prune color="white" move="[KP]xP" type="concede"/>
<prune color="black" move="[KP]xP" type="concede"/>
<prune color="white" move="K[a-h][1-8]" type="discard"/>
<prune color="black" move="K[a-h][1-8]" type="discard"/>
<prune color="white" move="stalemate" type="concede"/>
<output filename="NAME.hbf"/>
</tablebase>"#;

const ROOKS: &str = r#"<tablebase>
<prune-enable color="white" type="discard"/>
<dtm/> <index type="INDEX"/>
<piece color="white" type="king" location="c3 d3"/>
<piece color="black" type="king"/>
<piece color="white" type="rook" location="a1 b1 c1 a2 h8"/>
<piece color="white" type="rook" location="SQUARES"/>
<futurebase filename="krk.hbf"/>
<prune color="white" move="[KR][a-h][1-8]" type="discard"/>
<output filename="NAME.hbf"/>
</tablebase>"#;

/// Tables with prunes: pawns that block or take each other, also en passant; two rooks on squares
/// that are the same or overlap; pawn structures.
#[test]
fn tables_under_assumptions_answer_who_asks_for_them() {
    let folder = TempDir::new().unwrap();
    let Some(program) = answering(folder.path(), &MEMORY) else { return };
    let pawn_on = |color: &str, at: &str| {
        format!("<piece color=\"{color}\" type=\"pawn\" location=\"{at}\"/>")
    };
    let apart = pawn_on("white", "c2+") + &pawn_on("black", "d7+");
    let opposed = pawn_on("white", "b2+") + &pawn_on("black", "b7+");
    let structures = "<pawngen white-pawn-locations=\"b2 c3\" black-pawn-locations=\"c5\" \
        white-pawns-required=\"2\" black-pawns-required=\"1\"/>";
    let (same, other, more) = ("a1 b1 c1 a2 h8", "a1 b2 c2 a2 h2", "a1 b1 c1 g1 a2 h8");
    // "naive" and "naive2" have tens of millions of indices for four men.
    let tables = [
        ("kppkp-structures", "combinadic5", RACE, structures),
        ("kpkp-apart", "simple", RACE, &apart),
        ("kpkp-apart", "combinadic5", RACE, &apart),
        ("kpkp-opposed", "compact", RACE, &opposed),
        ("kpkp-opposed", "combinadic3", RACE, &opposed),
        ("krrk-same", "simple", ROOKS, same),
        ("krrk-same", "combinadic4", ROOKS, same),
        ("krrk-overlapping", "compact", ROOKS, other),
        ("krrk-overlapping", "combinadic5", ROOKS, other),
        ("krrk-within", "compact", ROOKS, more),
        ("krrk-within", "combinadic5", ROOKS, more),
    ];
    for (name, index, text, men) in tables {
        let text = text.replace("INDEX", index).replace("NAME", name).replace("PAWNS", men);
        let control = pawn().join(format!("{name}-{index}.xml"));
        fs::write(&control, text.replace("SQUARES", men)).unwrap();
        let built = run(pawn(), &format!("build --only {name}-{index}.xml --dir ."));
        assert_eq!(built.code, 0, "{}", built.err);
        let table = pawn().join(format!("{name}.hbf"));
        let place = alone(folder.path(), &format!("{name}-{index}"), &table);
        fs::remove_file(&table).unwrap();
        let positions = positions_of(&place.join(format!("{name}.hbf")), 1);
        let answered = compared(&program, &place, "assumed", &positions);
        assert_eq!(answered, positions.len(), "{name} {index}");
        let some: Vec<Position> = positions.into_iter().step_by(7).collect();
        assert_eq!(compared(&program, &place, "dtm", &some), 0);
        assert_eq!(compared(&program, &place, "assumed-wdl", &some), some.len());
    }
}

/// Random legal positions of a table, as it is or with the colours exchanged.
fn random_positions(table: &Table, count: usize, random: &mut fastrand::Rng) -> Vec<Position> {
    let mut positions = Vec::new();
    while positions.len() < count {
        let Some(position) = position_at(table, random.u64(0..table.space().size())) else {
            continue;
        };
        let exchanged = random.bool() && table.control().prune_enables.is_empty();
        positions.push(if exchanged { position.mirrored() } else { position });
    }
    positions
}

/// `scripts/compare-readers` runs this.
#[test]
#[ignore = "a tool: HOFFMAN_COMPARE names folders, HOFFMAN_POSITIONS how many positions"]
fn both_readers_answer_the_same_positions() {
    let Ok(folders) = std::env::var("HOFFMAN_COMPARE") else { return };
    let wanted: usize = std::env::var("HOFFMAN_POSITIONS").unwrap().parse().unwrap();
    let place = TempDir::new().unwrap();
    let Some(program) = answering(place.path(), &[]) else { return };
    let mut random = fastrand::Rng::with_seed(22);
    let mut tables = Vec::new();
    for folder in folders.split(';').map(PathBuf::from) {
        let is_table = |name: &String| Path::new(name).extension().is_some_and(|e| e == "hbf");
        for name in names(&folder).into_iter().filter(is_table) {
            let Ok(table) = Table::open(folder.join(name), SourceOptions::default()) else {
                continue;
            };
            if table.pieces().len() > 2 && table.variant() == Variant::Normal {
                tables.push((folder.clone(), table));
            }
        }
    }
    // Of a large table nearly each probe is a cold one.
    let weight = |table: &Table| if table.pieces().len() > 4 { 1 } else { 500 };
    let sum: usize = tables.iter().map(|(_, table)| weight(table)).sum();
    let (mut all, mut differ, mut answered) = (0, 0, 0);
    let mut found = Collection::with_cache(256 << 20);
    for (folder, table) in &tables {
        let count = (wanted * weight(table)).div_ceil(sum);
        if found.folders() != [folder.clone()] {
            found = Collection::with_cache(256 << 20);
            found.add_folder(folder).unwrap();
        }
        for start in (0..count).step_by(200_000) {
            let positions = random_positions(table, (count - start).min(200_000), &mut random);
            let asked =
                if table.codec().format().has_distance() { "assumed" } else { "assumed-wdl" };
            for (position, said) in
                positions.iter().zip(answers(&program, folder, asked, &positions))
            {
                let own = expected(found.lookup(position).unwrap().as_ref(), asked);
                if said != own && differ < 20 {
                    println!("{}: in C {said}, here {own}", position.fen());
                }
                differ += usize::from(said != own);
                answered += usize::from(!said.starts_with('1'));
            }
            all += positions.len();
        }
        eprintln!("{}: {all} positions, {differ} differ", table.path().display());
    }
    println!(
        "{all} positions of {} tables compared: {answered} have an answer, {differ} differ",
        tables.len()
    );
    assert_eq!(differ, 0);
}

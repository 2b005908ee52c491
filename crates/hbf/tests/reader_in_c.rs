//! The reader in C and this one give the same answers.
//!
//! `HOFFMAN_HBF` names a folder with real tables that are compared, too, and
//! `HOFFMAN_HBF_POSITIONS` how many positions of each; `HOFFMAN_DAMAGED_FILES` sets how many
//! damaged files they are given.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hoffman_hbf::{
    Claims, Code, Crew, DRAW, EncodeError, EncodeOptions, EntryTable, HbfFile, Kind, Material,
    Metric, Mode, ModelTests, Position, ProbeError, Sides, TableInfo, Tablebase, Texts, before,
    encode_entries, legal_moves, parse_fen, stored_code, to_fen, value_of,
};
use support::{MadeUp, ending, random_position, write_to};

/// What clang is told to compile for WebAssembly with files; its usual stack is too small.
#[cfg(unix)]
const WASI: [&str; 3] = ["--target=wasm32-wasi", "--sysroot=/usr", "-Wl,-z,stack-size=1048576"];

/// Compiles the program that answers lines; none if there is no compiler.
fn compiled(folder: &Path, compiler: &str, flags: &[&str]) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let reader = here.join("../../reader/c");
    let program = folder.join(format!("probe-{compiler}"));
    let mut command = Command::new(compiler);
    command.args(flags).args(["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O2"]);
    command.arg("-I").arg(&reader).arg(here.join("tests/probe_c.c"));
    command.arg(reader.join("hoffprobe.c")).arg("-o").arg(&program);
    let Ok(status) = command.status() else {
        eprintln!("SKIPPED: there is no {compiler}, so the reader in C was not tested");
        return None;
    };
    assert!(status.success(), "{compiler} refuses the reader");
    Some(program)
}

/// The same program as WebAssembly, and a script that runs it; none if there is nothing to do it
/// with.
#[cfg(unix)]
fn compiled_to_webassembly(folder: &Path) -> Option<PathBuf> {
    let quiet = |mut command: Command| {
        let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let (source, program) = (folder.join("empty.c"), folder.join("empty.wasm"));
    std::fs::write(&source, "#include <stdlib.h>\nint main(void) { return 0; }\n").expect("a file");
    let mut compiler = Command::new("clang");
    compiler.args(WASI).arg(&source).arg("-o").arg(&program);
    let mut python = Command::new("python3");
    python.args(["-c", "import wasmtime"]);
    if !quiet(compiler) || !quiet(python) {
        eprintln!(
            "SKIPPED: the reader in C as WebAssembly was not tested. It needs clang, lld and wasi-libc"
        );
        eprintln!(
            "(apt-get install clang lld wasi-libc libclang-rt-dev-wasm32) and pip install wasmtime"
        );
        return None;
    }

    let program = compiled(folder, "clang", &[&WASI[..], &["-std=c99"]].concat())?;
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wasm.py");
    let script = folder.join("run-wasm");
    let text =
        format!("#!/bin/sh\nexec python3 '{}' '{}' \"$@\"\n", run.display(), program.display());
    std::fs::write(&script, text).expect("a file");
    let mut rights = std::fs::metadata(&script).expect("a file").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    std::fs::set_permissions(&script, rights).expect("rights");
    Some(script)
}

/// One line of answer for each position.
fn answers(program: &Path, folder: &Path, asked: &str, positions: &[Position]) -> Vec<String> {
    let mut child = Command::new(program)
        .arg(folder)
        .args(["4000000", asked])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut input = child.stdin.take().expect("its input");
    let text: String = positions.iter().map(|position| to_fen(position) + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("a thread").expect("the input is read");
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The same from this crate.
fn expected(answer: &Result<Code, ProbeError>, plies: bool) -> String {
    let code = match answer {
        Ok(code) => *code,
        Err(ProbeError::NoTable(_)) => return "1 0 0".to_owned(),
        Err(ProbeError::Illegal) => return "3 0 0".to_owned(),
        Err(_) => return "5 0 0".to_owned(),
    };
    let wdl = i32::from(code > DRAW) - i32::from(code < DRAW);
    let distance = value_of(code).map_or(0, hoffman_hbf::Value::plies);
    format!("0 {wdl} {}", if plies { distance } else { 0 })
}

fn compare(program: &Path, folder: &Path, positions: &[Position]) {
    let mut tables = Tablebase::new(4 << 20);
    tables.add_folder(folder).expect("the folder");
    for (asked, plies) in [("dtm", true), ("wdl", false)] {
        let found = answers(program, folder, asked, positions);
        assert_eq!(found.len(), positions.len());
        for (position, found) in positions.iter().zip(found) {
            let own = if plies { tables.probe(position) } else { tables.probe_outcome(position) };
            assert_eq!(found, expected(&own, plies), "{asked}: {}", to_fen(position));
        }
    }
}

/// All legal moves with their values, and the best ones first.
fn compare_moves(program: &Path, folder: &Path, positions: &[Position]) {
    let mut tables = Tablebase::new(4 << 20);
    tables.add_folder(folder).expect("the folder");
    for (position, found) in positions.iter().zip(answers(program, folder, "root", positions)) {
        let mut own: Vec<String> = Vec::new();
        let mut best = 0;
        legal_moves(position, |found| {
            let promotion = found.promotion.map_or(0, |kind| kind as u32);
            let start = format!("{}-{}-{promotion}", found.from, found.to);
            let code = tables.probe(&found.after).map(before);
            best = best.max(*code.as_ref().unwrap_or(&0));
            own.push(format!("{start}:{}", expected(&code, true).replace(' ', ":")));
        });
        let mut moves: Vec<String> = found.split(' ').skip(1).map(str::to_owned).collect();
        if best > 0
            && let Some(first) = moves.first()
        {
            let value = expected(&Ok(best), true).replace(' ', ":");
            assert!(first.ends_with(&format!(":{value}")), "{first} {value}");
        }
        moves.sort_unstable();
        own.sort_unstable();
        assert_eq!(moves, own, "{}", to_fen(position));
    }
}

fn some(name: &str, count: usize, seed: u64) -> Vec<Position> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random_position(&ending(name), &mut random)).collect()
}

/// Made-up tables of every kind: with exits and without, one side and both, wide distances,
/// outcomes apart.
fn made_up(folder: &Path) -> Vec<Position> {
    let both = EncodeOptions {
        distances: Sides::Both,
        training: 50_000,
        rows: 8,
        ..EncodeOptions::default()
    };
    let source = MadeUp { scale: 1 };
    let alone = EncodeOptions { exits: false, ..both.clone() };
    for name in ["KQvK", "KNvK"] {
        write_to(folder, name, &source, &both);
    }
    write_to(folder, "KRvK", &MadeUp { scale: 150 }, &EncodeOptions { rows: 1, ..alone.clone() });
    write_to(folder, "KPvK", &source, &alone);
    let plain = EncodeOptions { tests: ModelTests::Plain, rows: 4, ..alone };
    write_to(folder, "KPvKP", &source, &plain);
    // The program spells the names of its tables in small letters.
    std::fs::rename(folder.join("KPvKP.hbf"), folder.join("kpkp.hbf")).expect("a file");
    let small = EncodeOptions {
        distances: Sides::Smaller,
        outcomes: Sides::Smaller,
        rows: 32,
        tests: ModelTests::Plain,
        ..both
    };
    write_to(folder, "KQvKN", &source, &small);
    let names = [("KQvK", 300), ("KNvK", 300), ("KRvK", 1500), ("KPvK", 1500), ("KPvKP", 4000)];
    let mut positions: Vec<Position> =
        names.iter().flat_map(|&(name, count)| some(name, count, 11)).collect();
    positions.extend(some("KQvKN", 2500, 12));
    positions.extend(some("KBvKN", 3, 13));
    positions
}

#[test]
fn both_readers_give_the_same_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path(), "cc", &["-std=c99"]) else { return };
    let positions = made_up(folder.path());
    assert!(positions.iter().filter(|position| position.en_passant.is_some()).count() > 20);
    compare(&program, folder.path(), &positions);
    let few: Vec<Position> = positions.iter().step_by(25).copied().collect();
    compare_moves(&program, folder.path(), &few);
    // Nothing is in the cache of a fresh program, so nothing is answered softly.
    let soft = answers(&program, folder.path(), "soft", &some("KRvK", 5, 14));
    assert!(soft.iter().all(|answer| answer == "4 0 0"), "{soft:?}");
    // A damaged file is no answer to either.
    let path = folder.path().join("KRvK.hbf");
    let mut bytes = std::fs::read(&path).expect("a file");
    let middle = bytes.len() * 3 / 4;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("a file");
    compare(&program, folder.path(), &some("KRvK", 400, 15));
    if let Some(program) = compiled(folder.path(), "c++", &["-x", "c++", "-std=c++17"]) {
        compare(&program, folder.path(), &few);
    }
}

/// Compiled to WebAssembly the reader in C answers as this crate does, with all moves, too.
#[test]
#[cfg(unix)]
fn the_reader_in_c_runs_as_webassembly() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled_to_webassembly(folder.path()) else { return };
    let positions = made_up(folder.path());
    compare(&program, folder.path(), &positions);
    let few: Vec<Position> = positions.iter().step_by(25).copied().collect();
    compare_moves(&program, folder.path(), &few);
}

/// A file with outcomes alone beside one with distances, whichever folder comes first: the first
/// is asked who wins, the other one for distances.
#[test]
fn outcomes_and_distances_may_be_in_two_files() {
    let [outcomes, distances] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let Some(program) = compiled(outcomes.path(), "cc", &["-std=c99"]) else { return };
    let both = EncodeOptions { distances: Sides::Both, training: 30_000, ..Default::default() };
    let only = EncodeOptions { distances: Sides::Neither, outcomes: Sides::Both, ..both.clone() };
    let source = MadeUp { scale: 1 };
    for name in ["KQvK", "KNvK", "KQvKN"] {
        write_to(outcomes.path(), name, &source, &only);
        write_to(distances.path(), name, &source, &both);
    }
    let positions = some("KQvKN", 500, 21);
    let [outcomes, distances] = [&outcomes, &distances].map(|f| f.path().display().to_string());
    let alone = answers(&program, Path::new(&outcomes), "dtm", &positions);
    // None of the table itself; a capture into one with nothing but draws would need none.
    assert!(alone.iter().all(|answer| answer.starts_with("1 ")), "{alone:?}");
    for paths in [[&outcomes, &distances], [&distances, &outcomes]] {
        let path = format!("{};{}", paths[0], paths[1]);
        for what in ["dtm", "wdl"] {
            let of = if what == "dtm" { &distances } else { &outcomes };
            let expected = answers(&program, Path::new(of), what, &positions);
            let found = answers(&program, Path::new(&path), what, &positions);
            assert_eq!(found, expected, "{what} {path}");
            assert!(found.iter().all(|answer| answer.starts_with("0 ")), "{found:?}");
        }
    }
}

/// Who wins by one move need not know where the others lead: here promotions to three of the four.
#[test]
fn a_win_needs_no_other_move() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path(), "cc", &["-std=c99"]) else { return };
    let source = MadeUp { scale: 1 };
    let leaning = EncodeOptions { outcomes: Sides::Both, training: 30_000, ..Default::default() };
    for name in ["KQvK", "KPvK"] {
        write_to(folder.path(), name, &source, &leaning);
    }
    let mut tables = Tablebase::new(4 << 20);
    tables.add_folder(folder.path()).expect("the folder");
    let wins = |position: &Position| {
        let mut wins = false;
        legal_moves(position, |found| {
            let code = tables.probe_outcome(&found.after).map(before);
            wins |= found.promotion == Some(Kind::Queen) && code.is_ok_and(|code| code > DRAW);
        });
        wins
    };
    let mut positions = some("KPvK", 4000, 23);
    positions.retain(|position| tables.probe(position).is_err() && wins(position));
    assert!(positions.len() > 20, "{}", positions.len());
    let found = answers(&program, folder.path(), "wdl", &positions);
    assert!(found.iter().all(|answer| answer == "0 1 0"), "{found:?}");
    let own = positions.iter().map(|position| tables.probe_outcome(position));
    assert!(own.into_iter().all(|code| code.is_ok_and(|code| code > DRAW)));
}

/// Trees of a depth that files may have and of one more, and a directory that ends elsewhere than
/// its data: both readers take the same ones.
#[test]
fn what_the_format_does_not_allow_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path(), "cc", &["-std=c99"]) else { return };
    let options = EncodeOptions { training: 30_000, exits: false, ..EncodeOptions::default() };
    let intact = support::written("KRvK", &MadeUp { scale: 1 }, &options);
    let positions = some("KRvK", 60, 24);
    let path = folder.path().join("KRvK.hbf");
    let is_answered = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        compare(&program, folder.path(), &positions);
        let found = answers(&program, folder.path(), "dtm", &positions);
        found.iter().any(|answer| answer.starts_with("0 "))
    };

    let leaf = [255, 255, 144, 144, 144, 144];
    for depth in [64, 65] {
        for to_the_right in [false, true] {
            let mut bytes = intact.clone();
            support::replace_section(&mut bytes, *b"MODL", |model| {
                let first = u32::from_le_bytes([model[58], model[59], model[60], model[61]]);
                let second = model.split_off(66 + first as usize);
                model.truncate(66);
                let (inner, leaves) = ([0, 0], leaf.repeat(depth));
                if to_the_right {
                    model.extend([&inner[..], &leaf].concat().repeat(depth));
                    model.extend(leaf);
                } else {
                    model.extend([inner.repeat(depth), leaves, leaf.to_vec()].concat());
                }
                let length = (model.len() - 66) as u32;
                model[58..62].copy_from_slice(&length.to_le_bytes());
                model.extend(second);
            });
            assert_eq!(is_answered(&bytes), depth == 64, "{depth} {to_the_right}");
        }
    }

    let mut bytes = intact;
    support::replace_section(&mut bytes, *b"DIRY", |_| ());
    assert!(is_answered(&bytes));
    support::replace_section(&mut bytes, *b"DIRY", |rows| {
        let last = rows.len() - 12;
        rows[last] ^= 1;
    });
    assert!(!is_answered(&bytes));
}

/// After a capture or a pawn move 100 plies are left, and distances count that move, too.
#[test]
fn the_clock_begins_behind_a_pawn_move() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path(), "cc", &["-std=c99"]) else { return };
    let both = EncodeOptions {
        distances: Sides::Both,
        exits: false,
        training: 30_000,
        ..EncodeOptions::default()
    };
    write_to(folder.path(), "KPvK", &MadeUp { scale: 50 }, &both);
    let mut at_the_limit = [0; 2];
    for line in answers(&program, folder.path(), "clock", &some("KPvK", 20_000, 25)) {
        for found in line.split(' ').skip(1) {
            let numbers: Vec<usize> = found.split('-').map(|n| n.parse().unwrap_or(0)).collect();
            let &[plies, zeroing, may_be_drawn] = &numbers[..] else { panic!("{found}") };
            assert_eq!(may_be_drawn == 1, plies > 100 + zeroing, "{found}");
            at_the_limit[zeroing] += usize::from(plies == 101);
        }
    }
    assert!(at_the_limit.into_iter().all(|count| count > 3), "{at_the_limit:?}");
}

/// How many damaged files each kind of tables gets.
fn damaged_files() -> usize {
    let asked = std::env::var("HOFFMAN_DAMAGED_FILES").ok();
    asked.map_or(160, |count| count.parse().expect("a number of files"))
}

/// Under the sanitizers of the compiler, with files that are damaged in all ways that checksums do
/// not show.
#[test]
fn the_reader_in_c_survives_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let flags = [&flags[..], &["-DHOFFMAN_INDEX"]].concat();
    let Some(program) = compiled(folder.path(), "cc", &flags) else { return };
    let source = MadeUp { scale: 1 };
    let both = EncodeOptions {
        distances: Sides::Both,
        exits: false,
        training: 30_000,
        ..EncodeOptions::default()
    };
    let plain = EncodeOptions { tests: ModelTests::Plain, ..both.clone() };
    let leaning = EncodeOptions {
        distances: Sides::Smaller,
        outcomes: Sides::Smaller,
        exits: true,
        ..plain.clone()
    };
    let behind = tempfile::tempdir().expect("a folder");
    for name in ["KQvK", "KRvK", "KBvK", "KNvK"] {
        write_to(behind.path(), name, &source, &both);
    }
    let alone = folder.path();
    let cases = [("KRvK", both, alone), ("KRvK", plain, alone), ("KPvK", leaning, behind.path())]
        .map(|(name, options, folder)| {
            let intact = support::written(name, &source, &options);
            (folder, name, intact, some(name, 60, 16))
        });

    let mut random = fastrand::Rng::with_seed(17);
    for round in 0..damaged_files() {
        let (folder, name, intact, positions) = &cases[round % cases.len()];
        let path = folder.join(format!("{name}.hbf"));
        let mut bytes = intact.clone();
        for _ in 0..random.usize(0..12) {
            let end = if random.bool() { 1200 } else { bytes.len() };
            bytes[random.usize(32..end)] = random.u8(..);
        }
        support::repair(&mut bytes);
        std::fs::write(&path, &bytes).expect("a file");
        let opened = HbfFile::open(Box::new(bytes));
        let found = answers(&program, folder, "dtm", positions);
        assert_eq!(found.len(), positions.len());
        let refused = found.iter().all(|answer| answer == "1 0 0");
        // The men may be others now, and then there is no answer either.
        assert!(opened.is_ok() || refused, "round {round}: {:?}", opened.err());
        compare(&program, folder, positions);
    }
    let other = tempfile::tempdir().expect("a folder");
    survives_damage_by_index(&program, other.path());
}

/// A table by index of these entries, with the header that says what they are.
fn by_index(control: &str, pawns: Option<&[u8]>, entries: u64, bits: u8) -> Vec<u8> {
    let info = TableInfo {
        mode: Mode::Generic { entries, bits },
        suicide: false,
        metric: Metric::Mate,
        claims: Claims::new([true; 2], [true; 2]),
        longest_wins: [None; 2],
        longest_losses: [None; 2],
    };
    let texts = Texts { info: None, control: Some(control), pawns };
    let read = |first: u64, buffer: &mut [u16]| -> Result<(), EncodeError> {
        let entry =
            |index: u64| (index.wrapping_mul(index / 7 + 3) >> 3 & ((1 << bits) - 1)) as u16;
        buffer.iter_mut().zip(first..).for_each(|(to, index)| *to = entry(index));
        Ok(())
    };
    encode_entries(&EntryTable { info, texts, log: 8 }, read, Crew::ALONE).expect("a file")
}

/// Tables by index with headers, models, lengths and tiles that are damaged, and checksums that do
/// not show it.
fn survives_damage_by_index(program: &Path, folder: &Path) {
    let kings = r#"<tablebase><!-- > --><piece color="white" type="king" location="a1 b1"/>
        <piece color='black' type="king" location="g7g8 h8"/>"#;
    let pawns = r#"<piece color="white" type="pawn" location="c2+"/>
        <piece color="black" type="pawn" location="c7+"/>
        <piece color="white" type="pawn" location="d4 e4 d5"/>"#;
    let structures = r#"<pawngen white-pawns-required="1" black-pawns-required="1"
        legal-white-squares="0xff000000" legal-black-squares="0xff00000000"/>"#;
    // Pawns on c4 and d5, without and with the square that White's pawn jumped over.
    let pawn_table = [255_u8, 18].map(|square| {
        let mut row = [0_u8; 20];
        (row[3], row[12], row[16]) = (4, 8, square);
        row
    });
    let end = r#"<index type="TYPE" symmetry="1"/></tablebase>"#;
    let cases = [
        ("simple", pawns, None, 2 * 2 * 3 * 6 * 6 * 5),
        ("compact", pawns, None, 2 * 6 * 6 * 6 * 5),
        ("combinadic3", pawns, None, 2 * 6 * 21 * 5),
        ("combinadic5", structures, Some(pawn_table.concat()), 2 * 6 * 2),
    ];
    let mut random = fastrand::Rng::with_seed(19);
    let positions = ["8/6k1/8/3p4/2P5/8/8/K7 b - c3", "6k1/2p5/8/8/2PP4/8/8/1K6 b - -"];
    let positions: Vec<Position> =
        positions.iter().flat_map(|fen| vec![parse_fen(fen).expect("a position"); 3]).collect();
    // A quote that is none to who looks for names.
    let unpaired = format!(r#"{kings}<piece a"x=y' "/>{end}"#).replace("TYPE", "simple");
    std::fs::write(folder.join("some.hbf"), by_index(&unpaired, None, 8, 9)).expect("a file");
    let found = answers(program, folder, "assumed", &positions);
    assert!(found.iter().all(|answer| answer == "1 0 0"), "{found:?}");

    for (index, men, pawn_table, entries) in cases {
        let control = format!("{kings}{men}{end}").replace("TYPE", index);
        let intact = by_index(&control, pawn_table.as_deref(), entries, 9);
        std::fs::write(folder.join("some.hbf"), &intact).expect("a file");
        let known = answers(program, folder, "soft", &positions);
        assert_eq!(
            known.iter().filter(|answer| *answer == "4 0 0").count(),
            3,
            "{index} {known:?}"
        );
        for _ in 0..damaged_files() / 4 {
            let mut bytes = intact.clone();
            for _ in 0..random.usize(0..6) {
                let end = if random.bool() { 1200.min(bytes.len()) } else { bytes.len() };
                bytes[random.usize(32..end)] = random.u8(..);
            }
            support::repair(&mut bytes);
            std::fs::write(folder.join("some.hbf"), &bytes).expect("a file");
            assert_eq!(answers(program, folder, "assumed", &positions).len(), positions.len());
        }
    }
}

#[test]
fn both_readers_agree_on_real_tables() {
    let Some(tables) = std::env::var_os("HOFFMAN_HBF") else {
        eprintln!("SKIPPED: HOFFMAN_HBF names no folder with real tables");
        return;
    };
    let count = std::env::var("HOFFMAN_HBF_POSITIONS").ok().and_then(|n| n.parse().ok());
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path(), "cc", &["-std=c99"]) else { return };
    let tables = PathBuf::from(tables);
    for entry in std::fs::read_dir(&tables).expect("the folder").flatten() {
        let Ok(file) = std::fs::File::open(entry.path()) else { continue };
        let Ok(file) = HbfFile::open(Box::new(file)) else { continue };
        let Mode::Complete(material) = file.info().mode.clone() else { continue };
        let name = Material::to_string(&material);
        let positions = some(&name, count.unwrap_or(2000), 18);
        compare(&program, &tables, &positions);
        let stored = answers(&program, &tables, "stored", &positions);
        for (position, found) in positions.iter().zip(stored) {
            let own = stored_code(&file, &position.without_en_passant(), false);
            let own = own.expect("no damage").unwrap_or(0).to_string();
            assert_eq!(found, own, "{}", to_fen(position));
        }
    }
}

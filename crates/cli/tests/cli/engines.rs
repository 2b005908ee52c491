//! Programs in C that read the tables of the program: what an engine author gets, compiled by the
//! compiler of this machine.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

mod by_index;
#[path = "../../../hbf/examples/engine.rs"]
mod engine;

use crate::common::{SharedFolder, root, run};

const WARNINGS: [&str; 5] = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];

/// Whether a compiler is there that takes some flags; what it makes must also run, as sanitizers
/// need libraries.
fn takes(compiler: &str, flags: &[&str]) -> bool {
    let folder = TempDir::new().unwrap();
    let (source, program) = (folder.path().join("empty.c"), folder.path().join("empty"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let made = Command::new(compiler).args(flags).arg(&source).arg("-o").arg(&program).output();
    let works = made.is_ok_and(|made| made.status.success())
        && Command::new(&program).output().is_ok_and(|ran| ran.status.success());
    if !works {
        eprintln!("NOT TESTED: there is no {compiler} that takes {}", flags.join(" "));
    }
    works
}

/// Compiles a client of the reader into a folder.
fn compiled(folder: &Path, client: &str, flags: &[&str]) -> Option<PathBuf> {
    if !takes("cc", flags) {
        return None;
    }
    let reader = root().join("reader/c");
    let program = folder.join(client);
    let source = root().join(format!("crates/cli/tests/clients/{client}.c"));
    let mut command = Command::new("cc");
    command.args(WARNINGS).args(["-D_POSIX_C_SOURCE=200809L", "-O2", "-g", "-I"]).arg(&reader);
    command.arg(source).arg(reader.join("hoffprobe.c")).args(flags).arg("-o").arg(&program);
    good(&command.output().unwrap());
    Some(program)
}

/// The output of a program that ended well.
#[track_caller]
fn good(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{:?}\n{out}{err}", output.status);
    out.into_owned()
}

#[track_caller]
fn ran(program: &Path, arguments: &[&dyn AsRef<OsStr>]) -> String {
    let mut command = Command::new(program);
    for argument in arguments {
        command.arg(argument);
    }
    good(&command.output().unwrap())
}

/// Compiles a program that was written for Fathom into a folder, and links it with the library that
/// has its functions.
fn compiled_for_fathom(folder: &Path, source: &str) -> Option<PathBuf> {
    if Command::new("make").arg("--version").output().is_err() || !takes("cc", &[]) {
        eprintln!("NOT TESTED: there is no make");
        return None;
    }
    let build = folder.join("build");
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("reader/c")).arg(format!("BUILD={}", build.display()));
    good(&make.args(["CC=cc", "CFLAGS=-O2 -Werror", "fathom"]).output().unwrap());
    let program = folder.join("fathom");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]);
    command.arg(root().join("reader/c")).arg("-I").arg(root().join("crates/cli/tests/clients"));
    command.arg(root().join(source)).arg(build.join("libhoffathom.a")).arg("-o").arg(&program);
    good(&command.output().unwrap());
    Some(program)
}

#[test]
fn a_program_for_fathom_plays_by_the_tables() {
    let folder = TempDir::new().unwrap();
    let source = "crates/cli/tests/clients/fathom.c";
    let Some(program) = compiled_for_fathom(folder.path(), source) else { return };
    let fens = [
        "8/8/8/3k4/8/8/1Q6/K6r w - - 0 1",
        "8/8/8/3k4/8/8/8/KQ5r b - - 0 1",
        "8/8/8/8/8/2k5/8/K1r5 w - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
        "8/8/8/3k4/8/8/1P6/K6r w - - 0 1",
    ];
    let tables = tables();
    let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&tables];
    arguments.extend(fens.iter().map(|fen| fen as &dyn AsRef<OsStr>));
    let said = ran(&program, &arguments);
    let expected = "largest 4\n\
        wdl 4, dtz 65, mate in 65 plies\n\
        wdl 2, dtz 0, draw in 0 plies\n\
        wdl 0, dtz 4, mate in 4 plies\n\
        wdl 2, dtz 0, stalemate in 0 plies\n\
        wdl 0, dtz 0, mate in 0 plies\n\
        failed, wdl -1\n";
    assert_eq!(said, expected);
}

/// What measures Fathom and this reader by the same functions knows all positions, and the same
/// each time.
#[test]
fn outcomes_are_counted_through_fathoms_functions() {
    let folder = TempDir::new().unwrap();
    let source = "reader/c/examples/wdl.c";
    let Some(program) = compiled_for_fathom(folder.path(), source) else { return };
    let said = ran(&program, &[&tables(), &"700", &"KQvKR", &"KQvK"]);
    let sums: Vec<u32> = said
        .split("700 known, sum ")
        .skip(1)
        .map(|line| line.split(',').next().unwrap().trim().parse().unwrap())
        .collect();
    // Of both sides to move alike, half of them win and half lose, or nobody does: 4, 0, and 2.
    // Each counts once to seven times.
    assert!((4800..6800).contains(&sums[0]) && sums == [sums[0]; 3], "{said}");
}

/// A folder with KQvKR and what it needs.
fn tables() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.made_by("build KQvKR --format hbf --profile fast --dir .")
}

const MEMORY: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const THREADS: [&str; 2] = ["-fsanitize=thread", "-pthread"];

#[test]
fn the_reader_does_what_its_header_says() {
    let folder = TempDir::new().unwrap();
    let Some(face) = compiled(folder.path(), "face", &MEMORY) else { return };
    let [alone, empty] = ["alone", "empty"].map(|name| folder.path().join(name));
    for path in [&alone, &empty] {
        fs::create_dir(path).unwrap();
    }
    fs::copy(tables().join("kqkr.hbf"), alone.join("kqkr.hbf")).unwrap();
    assert_eq!(ran(&face, &[&tables(), &alone, &empty]), "good\n");
}

/// Some tables have distances, others who wins, and others are missing: no move is said to be best,
/// and no line to lead to mate, where something unknown may be better.
#[test]
fn what_is_not_known_is_not_promised() {
    let folder = TempDir::new().unwrap();
    let Some(mixed) = compiled(folder.path(), "mixed", &MEMORY) else { return };
    for (place, options) in [("all", ""), ("some", "--outcomes=only")] {
        let ending = "build KPvK --format hbf --profile fast";
        run(folder.path(), &format!("{ending} {options} --dir {place}")).good();
    }
    let [all, some] = ["all", "some"].map(|name| folder.path().join(name));
    fs::copy(all.join("kpk.hbf"), some.join("kpk.hbf")).unwrap();
    assert_eq!(ran(&mixed, &[&all, &some]), "good\n");
}

#[test]
fn threads_do_not_disturb_each_other() {
    let folder = TempDir::new().unwrap();
    let Some(threads) = compiled(folder.path(), "threads", &THREADS) else { return };
    let said = ran(&threads, &[&tables(), &"4", &"400"]);
    assert!(said.ends_with(" 0 wrong\n"), "{said}");
}

/// What sanitizers do not see: whatever depends on memory that nothing was written to.
#[test]
#[ignore = "slow: a program in valgrind"]
fn valgrind_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let valgrind = |program: &Path, arguments: &[&dyn AsRef<OsStr>]| {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]).arg(program);
        for argument in arguments {
            command.arg(argument);
        }
        good(&command.output().unwrap())
    };
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("NOT TESTED: there is no valgrind");
        return;
    }
    let Some(face) = compiled(folder.path(), "face", &[]) else { return };
    let Some(threads) = compiled(folder.path(), "threads", &["-pthread"]) else { return };
    let [alone, empty] = ["alone", "empty"].map(|name| folder.path().join(name));
    for path in [&alone, &empty] {
        fs::create_dir(path).unwrap();
    }
    fs::copy(tables().join("kqkr.hbf"), alone.join("kqkr.hbf")).unwrap();

    assert_eq!(valgrind(&face, &[&tables(), &alone, &empty]), "good\n");
    let said = valgrind(&threads, &[&tables(), &"4", &"60"]);
    assert!(said.ends_with(" 0 wrong\n"), "{said}");
}

#[test]
#[ignore = "slow: every bit of three files"]
fn no_flipped_bit_becomes_an_answer() {
    // Each by itself, as one takes minutes.
    std::thread::scope(|scope| {
        for name in ["kqk", "krk", "kbk"] {
            scope.spawn(move || flip(TempDir::new().unwrap().path(), &[name], 1));
        }
    });
}

#[test]
fn few_flipped_bits_become_no_answers() {
    let folder = TempDir::new().unwrap();
    flip(folder.path(), &["kqk"], 2999);
}

/// Flips every so many bits of tables of three men, made where they are missing.
fn flip(folder: &Path, names: &[&str], step: u32) {
    let mut flags = MEMORY.to_vec();
    flags.push("-DHOFFMAN_MEN=3");
    let Some(flips) = compiled(folder, "flips", &flags) else { return };
    for name in names {
        let ending = format!("{}vK", &name[..2].to_uppercase());
        let built = run(folder, &format!("build {ending} --format hbf --profile fast --dir made"));
        assert_eq!(built.code, 0, "{}", built.err);
        let place = folder.join(format!("place-{name}"));
        fs::create_dir(&place).unwrap();
        let file = format!("{name}.hbf");
        let made = folder.join("made").join(&file);
        eprint!("{}", ran(&flips, &[&made, &place, &file, &step.to_string(), &"150"]));
    }
}

/// The examples, built as their page says, with warnings as errors.
fn examples(folder: &Path, tables: &Path) -> Option<PathBuf> {
    if Command::new("make").arg("--version").output().is_err() || !takes("cc", &[]) {
        eprintln!("NOT TESTED: there is no make");
        return None;
    }
    let build = folder.join("build");
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("reader/c")).arg(format!("BUILD={}", build.display()));
    make.args(["CC=cc", "CFLAGS=-O2 -Werror", "PREFIX=/usr", "check", "install", "bench"]);
    make.arg(format!("TABLES={}", tables.display()));
    make.arg(format!("DESTDIR={}", folder.join("installed").display()));
    good(&make.output().unwrap());
    Some(build)
}

#[test]
fn the_examples_find_what_the_tables_say() {
    let folder = TempDir::new().unwrap();
    let Some(build) = examples(folder.path(), tables()) else { return };
    let engine = build.join("engine");
    for ending in ["KQvK", "KRvK", "KQvKR"] {
        let said = ran(&engine, &[&tables(), &"compare", &ending, &"150"]);
        assert!(said.contains(" 150 exact"), "{said}");
    }
    let said = ran(&engine, &[&tables(), &"mate", &"8/8/8/3k4/8/8/1Q6/K6r w - - 0 1"]);
    assert!(said.starts_with("mate in 65 plies: ") && said.ends_with("\n65 plies\n"), "{said}");
    let said = ran(&build.join("nalimov"), &[&tables()]);
    assert!(said.contains("KQvKR: ") && said.contains(", all right"), "{said}");
    installed(folder.path());
}

/// What was installed serves a program that knows nothing else, with the shared library and in C++.
fn installed(folder: &Path) {
    let usr = folder.join("installed/usr");
    let described = fs::read_to_string(usr.join("lib/pkgconfig/hoffprobe.pc")).unwrap();
    for line in ["Libs: -L/usr/lib -lhoffprobe", "Cflags: -I/usr/include"] {
        assert!(described.lines().any(|found| found == line), "{described}");
    }
    assert!(usr.join("include/hoffman.h").exists());
    let flags = flags_by_pkg_config(&usr).unwrap_or_else(|| {
        eprintln!("NOT TESTED: what pkg-config says, which is not installed");
        let [include, lib] = ["include", "lib"].map(|name| usr.join(name).display().to_string());
        vec![format!("-I{include}"), format!("-L{lib}"), "-lhoffprobe".to_owned()]
    });
    let connect = root().join("reader/c/examples/connect.c");
    let plain: &[&str] = &["-std=c99"];
    for (compiler, language) in [("cc", plain), ("c++", &["-x", "c++", "-std=c++17"])] {
        if !takes(compiler, language) {
            continue;
        }
        let program = folder.join(format!("connect-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(language).args(["-Wall", "-Wextra", "-Werror"]).arg(&connect);
        command.args(["-x", "none"]).args(&flags);
        good(&command.arg("-o").arg(&program).output().unwrap());
        let mut command = Command::new(&program);
        command.arg(tables());
        command.env("LD_LIBRARY_PATH", usr.join("lib")).env("DYLD_LIBRARY_PATH", usr.join("lib"));
        let said = good(&command.output().unwrap());
        assert_eq!(said.matches(": score ").count(), 2, "{said}");
        assert!(said.contains("score 31935, best a1a2"), "{said}");
    }
}

/// What pkg-config has a compiler do for a library installed under a folder that stands for `/usr`;
/// none where it is not installed itself.
fn flags_by_pkg_config(usr: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("pkg-config");
    command.args(["--cflags", "--libs", "hoffprobe"]);
    command.env("PKG_CONFIG_PATH", usr.join("lib/pkgconfig"));
    command.env("PKG_CONFIG_SYSROOT_DIR", usr.parent()?);
    // What is under /usr is left out else, as compilers look there.
    command.env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1").env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1");
    let flags = good(&command.output().ok()?);
    assert!(flags.contains(usr.to_str()?), "{flags}");
    Some(flags.split_whitespace().map(str::to_owned).collect())
}

/// An engine that has the tables of four men only, and the table of five that agrees with it; and a
/// capture en passant that is the only move.
#[test]
#[ignore = "slow: endings of five men, and one with pawns"]
fn a_search_over_four_men_agrees_with_five() {
    let folder = TempDir::new().unwrap();
    let Some(build) = examples(folder.path(), tables()) else { return };
    let five = folder.path().join("five");
    let built =
        run(folder.path(), "build KQQvKR KRRvKR KRvKP --format hbf --profile fast --dir five");
    assert_eq!(built.code, 0, "{}", built.err);
    for ending in ["KQQvKR", "KRRvKR"] {
        let said = ran(&build.join("engine"), &[&five, &"compare", &ending, &"2000"]);
        eprint!("{said}");
        assert!(said.contains(" 2000 exact"), "{said}");
    }
    let forced = "8/8/8/8/Pp6/1K6/1R6/k7 b - a3 0 1";
    let behind = "8/8/8/8/8/pK6/1R6/k7 w - - 0 1";
    let value = |program: &str, fen: &str| ran(&build.join(program), &[&five, &"value", &fen]);
    let (status, after) = (value("engine", forced), value("engine", behind));
    let plies = |said: &str| said.trim().strip_prefix("won ").map(|n| n.parse::<u32>().unwrap());
    let won = plies(&after).expect("the rook wins");
    assert_eq!(status.trim(), format!("lost {}", won + 1));
}

/// What the page shows in Rust says the same as what it shows in C.
#[test]
fn an_engine_in_rust_asks_tables() {
    let tables = engine::open(&[tables().to_str().unwrap()]).unwrap();
    let position = |fen| hoffman_hbf::parse_fen(fen).unwrap();
    let queen = position("8/8/8/3k4/8/8/1Q6/K6r w - -");
    assert_eq!(engine::probe(&tables, &queen, 0), Some(31_935));
    assert_eq!(engine::probe(&tables, &queen, 3), Some(31_932));
    let moves = engine::root_moves(&tables, &queen);
    assert_eq!((moves[0].from, moves[0].to), (0, 8));
    // Interposing the queen draws.
    assert_eq!(moves.len(), 1);
    assert_eq!(engine::probe(&tables, &moves[0].after, 1), Some(-31_935));
    let bare = position("8/8/8/3k4/8/8/8/K7 w - -");
    assert_eq!(engine::probe(&tables, &bare, 0), Some(0));
    assert_eq!(engine::root_moves(&tables, &bare).len(), 3);
    let missing = position("8/8/2n1k3/8/8/2QRB3/8/K7 w - -");
    assert_eq!(engine::probe(&tables, &missing, 0), None);
    assert!(engine::root_moves(&tables, &missing).is_empty());
}

#[test]
fn the_page_shows_what_is_compiled() {
    let page = fs::read_to_string(root().join("docs/engines.md")).unwrap();
    let folder = root().join("reader/c/examples");
    let sources: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let blocks: Vec<&str> =
        page.split("```c\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(blocks.len() >= 3, "only {} blocks", blocks.len());
    for block in blocks {
        assert!(
            sources.iter().any(|source| source.contains(block)),
            "not in the examples:\n{block}"
        );
    }
    let source = fs::read_to_string(root().join("crates/hbf/examples/engine.rs")).unwrap();
    let (_, block) = page.split_once("```rust\n").unwrap();
    let block = block.split("```").next().unwrap();
    assert!(source.contains(block), "not in the example:\n{block}");
}

//! A program of another project, outside of the workspace, that knows the public documentation
//! only.

use std::path::Path;
use std::process::Command;

const MANIFEST: &str = r#"
[package]
name = "outside"
version = "0.1.0"
edition = "2024"

[dependencies]
hoffman = { path = "HERE" }

[workspace]

[profile.dev]
debug = false
"#;

const PROGRAM: &str = r#"
use hoffman::{Error, Event, Options, Tablebase, Value};

fn main() -> Result<(), Error> {
    let dir = std::env::args().nth(1).unwrap_or_default();
    let options = Options::new(&dir).blocks(false).threads(1);
    let mut tables = 0;
    hoffman::build(&["KQvK".parse()?], &options, &mut |event| {
        if let Event::Finished { .. } = event {
            tables += 1;
        }
    })?;

    let tablebase = Tablebase::open(&dir)?;
    let position = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1";
    let answer = tablebase.probe(position)?;
    match answer.value {
        Value::Win { plies: Some(plies) } => println!("{tables} tables, mate in {}", plies.moves()),
        other => println!("{other:?}"),
    }
    match tablebase.probe("8/8/8/5k2/8/8/1R6/K7 w - - 0 1") {
        Err(error) => println!("{}: {error}", error.code()),
        Ok(answer) => println!("{answer:?}"),
    }
    let best = &tablebase.moves(position)?[0];
    println!("{} {}", best.san, tablebase.line(position)?.len());
    Ok(())
}
"#;

#[test]
#[ignore = "slow: compiles the library and all that it needs once more"]
fn a_stranger_writes_a_program() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let manifest = MANIFEST.replace("HERE", &here.display().to_string().replace('\\', "/"));
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/main.rs"), PROGRAM).unwrap();
    // The versions that are tested here, and are here already.
    std::fs::copy(here.join("../../Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();

    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside"))
        .arg("--")
        .arg(folder.path().join("tables"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let out = String::from_utf8(run.stdout).unwrap();
    let [mate, missing, line] = out.lines().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(mate, "2 tables, mate in 10");
    assert_eq!(missing, "no-table: no table has the position; krk.htb would");
    assert!(line.ends_with(" 19"), "{line}");
}

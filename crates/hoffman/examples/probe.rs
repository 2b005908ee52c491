//! Asks a folder of tables about a position:
//! `cargo run -p hoffman --example probe -- FOLDER "FEN"`.
#![allow(clippy::print_stdout)]

use hoffman::{ProbeError, Tablebase, Value};

fn main() -> Result<(), ProbeError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(fen)) = (arguments.next(), arguments.next()) else {
        println!("name a folder of tables and a position");
        return Ok(());
    };
    let tables = Tablebase::open(folder)?;

    let answer = match tables.probe(&fen) {
        Ok(answer) => answer,
        // What is missing is no value.
        Err(ProbeError::NoTable { table }) => {
            println!("no table has this position; {table} would");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    println!("{}", words(answer.value));
    println!("rests on: {:?}", answer.bound);
    if let Some(table) = &answer.table {
        println!("from {}, index {}", table.path().display(), table.index());
        for assumption in table.assumes() {
            println!("assumed: {assumption}");
        }
    }

    for option in tables.moves(&fen)? {
        match option.answer {
            Ok(answer) => println!("{:8} {}", option.san, words(answer.value)),
            Err(error) => println!("{:8} {error}", option.san),
        }
    }
    let line: Vec<String> = tables.line(&fen)?.iter().map(ToString::to_string).collect();
    println!("{}", line.join(" "));
    Ok(())
}

/// A value in words, for the side to move.
fn words(value: Value) -> String {
    match value {
        Value::Win { plies: Some(plies) } => format!("wins in {plies} plies"),
        Value::Win { plies: None } => "wins".to_owned(),
        Value::Draw => "draws".to_owned(),
        Value::Loss { plies: Some(plies) } => format!("loses in {plies} plies"),
        Value::Loss { plies: None } => "loses".to_owned(),
        Value::AtLeastDraw => "at least draws".to_owned(),
        Value::AtMostDraw => "at most draws".to_owned(),
        _ => "nothing is proved".to_owned(),
    }
}

//! `hoffman check`: certificates of positions.

use hoffman::{Checked, Claimed, Color, check_certificate};
use serde_json::json;

use crate::RunEnd;
use crate::args::CheckArgs;
use crate::output::{complain, print_line};

/// Checks the certificates one by one.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<RunEnd> {
    let mut good = 0;
    for file in &args.files {
        match check_certificate(file) {
            Ok(checked) => {
                good += 1;
                let name = file.display().to_string();
                let line =
                    if args.json { to_json(&name, &checked) } else { to_text(&name, &checked) };
                print_line(&line)?;
            }
            Err(error) => complain(&error.into()),
        }
    }
    Ok(RunEnd::of(good == args.files.len()))
}

fn to_text(name: &str, Checked { position, claims }: &Checked) -> String {
    let claims = claims.iter().map(|(side, claimed, positions)| {
        let side = side.fold_wb("White", "Black");
        match claimed {
            Claimed::Wins(moves) => {
                format!("{side} wins in at most {moves} moves, {positions} positions")
            }
            Claimed::Holds => format!("{side} at least draws, {positions} positions"),
        }
    });
    let claims: Vec<String> = claims.collect();
    let said = if claims.is_empty() { "nothing is claimed".to_owned() } else { claims.join("; ") };
    format!("{name}: {position}: {said}")
}

fn to_json(name: &str, Checked { position, claims }: &Checked) -> String {
    let claims = claims.iter().map(|&(side, claimed, positions)| {
        let moves = match claimed {
            Claimed::Wins(moves) => Some(moves),
            Claimed::Holds => None,
        };
        let holds = moves.is_none();
        let side: &str = Color::fold_wb(side, "white", "black");
        json!({ "side": side, "wins": !holds, "moves": moves, "positions": positions })
    });
    json!({ "file": name, "epd": position, "claims": claims.collect::<Vec<_>>() }).to_string()
}

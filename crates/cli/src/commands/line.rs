//! `hoffman line`: best play from a position as a game in PGN.

use std::time::Duration;

use hoffman::{
    Category, Judged, MEN_OF_TABLES, Position, ProveOptions, Tablebase, Unfinished, Value, Variant,
    proved_in_words,
};
use hoffman_pgn::{Movetext, brief, result, tag};

use crate::RunEnd;
use crate::args::LineArgs;
use crate::commands::solve::in_moves;
use crate::commands::tables;
use crate::output::{complain, note, print};
use crate::work::WorkArgs;

/// Prints the main line of a position.
pub(crate) fn run(args: &LineArgs) -> anyhow::Result<RunEnd> {
    let fen = args.fen.join(" ");
    let tables = tables::tablebase(&args.tables, &args.at_hand)?;
    let report = tables.report(&fen)?;

    for failure in &report.failures {
        complain(&failure.clone().into());
    }
    if report.verdict.category == Category::Unknown {
        if let Some(seconds) = args.prove {
            return prove(args, &report.position, seconds);
        }
        let missing = report.hoffman.missing.join(", ");
        let missing = if missing.is_empty() { missing } else { format!("; missing: {missing}") };
        let way = if report.position.men().count() > MEN_OF_TABLES {
            "; 'hoffman line --prove SECONDS' may prove it"
        } else {
            ""
        };
        note(&format!("no table tells the result of '{}'{missing}{way}", report.hoffman.fen));
        return Ok(RunEnd::Failed);
    }

    let position = report.position.clone();
    let mut text = Movetext::starting(position.turn, position.fullmoves.into());
    text.comment(&report.result);
    let line = tables.line(&position)?;
    let mut place = position.clone();

    for m in &line {
        let judged = if args.annotate { Judged::of(&tables, &place)? } else { None };
        let san = place.san(m, tables.variant()).unwrap_or_else(|| m.uci());
        text.play(&san);
        if let Some(judged) = judged {
            add_alternatives(&mut text, &judged, *m);
        }
        place = place.after(m);
    }

    if line.is_empty() && args.annotate {
        add_drawing_moves(&mut text, &tables, &position)?;
    }

    let value = tables.value(&position).unwrap_or(Value::Unknown);
    let is_decided = matches!(value, Value::Win { .. } | Value::Loss { .. });
    if is_decided && !place.legal_moves(tables.variant()).is_empty() {
        note("the line ends where no table tells the best move");
    }
    let result = result(value, position.turn);
    print_game(&tags(&position, result, tables.variant()), text, result)?;
    Ok(RunEnd::of(report.failures.is_empty()))
}

/// Prints a line from a position that no table has, if its result is proved in that time: the
/// winner follows one strategy, and the other side lasts as long as it can against that.
fn prove(args: &LineArgs, position: &Position, seconds: u64) -> anyhow::Result<RunEnd> {
    // What is too little for reading tables is told of that.
    args.at_hand.reading()?;
    let work = WorkArgs { memory: args.at_hand.memory(), ..WorkArgs::default() };
    let options = work.options(args.at_hand.folder()?)?;
    let asked = ProveOptions::new().line(true).distance(true).time(Duration::from_secs(seconds));
    let proved = hoffman::prove(position, &options, &asked, &mut |_| {})?;
    let words = proved_in_words(proved.value, position.turn);
    if proved.value.wdl().is_none() {
        let why = match proved.unfinished {
            Some(Unfinished::Memory) => ", as what comes next does not fit into memory".to_owned(),
            Some(Unfinished::Cancelled) => ", as the search was stopped".to_owned(),
            _ => format!(" in {seconds} seconds"),
        };
        note(&format!("{words}; no more was proved{why}"));
        return Ok(RunEnd::Failed);
    }

    if args.annotate {
        note("--annotate is for positions that tables have; the line is proven without");
    }
    let mut text = Movetext::starting(position.turn, position.fullmoves.into());
    let when = proved.mate.map_or_else(String::new, |mate| format!(" {}", in_moves(mate)));
    text.comment(&format!("{words}{when}, proven"));
    let mut place = position.clone();
    for m in &proved.line {
        text.play(&place.san(m, Variant::Normal).unwrap_or_else(|| m.uci()));
        place = place.after(m);
    }
    let result = result(proved.value, position.turn);
    print_game(&tags(position, result, Variant::Normal), text, result)?;
    Ok(RunEnd::Done)
}

/// Prints a game with the empty line that parts it from one that may come after it in the same
/// file.
fn print_game(tags: &str, text: Movetext, result: &str) -> anyhow::Result<()> {
    print(&format!("{tags}\n{}\n", text.finish(result)))
}

/// The other moves that keep the value, a variation each.
fn add_alternatives(text: &mut Movetext, judged: &Judged, played: hoffman::Move) {
    for other in judged.keeping().filter(|answer| answer.m != played) {
        text.open();
        text.play(&other.san);
        text.close();
    }
    let wins = matches!(judged.value, Value::Win { .. });
    if wins && judged.moves.len() > 1 && judged.keeping_result() == 1 {
        text.comment("the only move that wins");
    }
}

/// The moves that keep a draw, of which none is best.
fn add_drawing_moves(
    text: &mut Movetext,
    tables: &Tablebase,
    position: &Position,
) -> anyhow::Result<()> {
    let Some(judged) = Judged::of(tables, position)?.filter(|judged| judged.value.is_draw()) else {
        return Ok(());
    };
    for answer in &judged.moves {
        if let Some(value) = judged.worth(answer.m) {
            text.comment(&format!("{}: {}", answer.san, brief(value, judged.turn)));
        }
    }
    Ok(())
}

/// The tags that every game has, and the position that it begins with.
fn tags(position: &Position, result: &str, variant: Variant) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("Event", "?"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", "?"),
        ("White", "?"),
        ("Black", "?"),
        ("Result", result),
        ("SetUp", "1"),
    ] {
        text.push_str(&tag(name, value));
    }
    text.push_str(&tag("FEN", &position.fen()));
    if variant == Variant::Suicide {
        text.push_str(&tag("Variant", "Suicide"));
    }
    text
}

#[cfg(test)]
mod tests {
    use hoffman::{AsPosition as _, Color};

    use super::*;

    #[test]
    fn a_position_is_the_start_of_its_game() {
        let position = "8/8/8/5k2/8/8/1Q6/K7 b - - 3 40".as_position(Variant::Normal).unwrap();
        let tags = tags(&position, "1-0", Variant::Normal);
        assert!(tags.contains("[FEN \"8/8/8/5k2/8/8/1Q6/K7 b - - 3 40\"]\n"), "{tags}");
        assert!(tags.contains("[SetUp \"1\"]\n") && tags.contains("[Result \"1-0\"]\n"));
        assert_eq!(Movetext::starting(Color::Black, 40).next_number(), "40...");
    }
}

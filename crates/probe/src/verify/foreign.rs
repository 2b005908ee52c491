//! A table compared with one of another program, in the words of the original program.

use hoffman_board::{Color, Format, Value, Variant};
use hoffman_table::foreign::{ForeignKind, mirrored};
use hoffman_table::{EntryValue, ForeignTable, Table, TableError};

use crate::position::Position;

/// How many differences are told before the comparison ends.
pub const MOST: usize = 10;

/// Compares every entry of a legal position, and tells the first [`MOST`] differences, one line
/// each: `FEN (INDEX): Nalimov says mate in 3 (32764), but we say mated in 2`. The number in
/// brackets is what a Nalimov file holds for the distance. Distances are compared where both have
/// distances to mate, else only who wins.
///
/// `theirs` has the men of the table, perhaps with the colours exchanged. Positions of which it has
/// no answer are passed over, and so are en passant squares that nobody can use.
///
/// # Errors
/// Damage to either table; `theirs` is of other men or the table of another variant.
pub fn compare(
    table: &Table,
    theirs: &dyn ForeignTable,
    kind: ForeignKind,
) -> Result<Vec<String>, TableError> {
    let mut differences = Vec::new();
    let own = hoffman_board::Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let swapped = theirs.material() != own;
    if table.variant() == Variant::Suicide || swapped && theirs.material() != own.swapped() {
        let problem = hoffman_table::ForeignError::Unlike { theirs: theirs.material() }.into();
        return Err(TableError { path: table.path().to_owned(), problem });
    }

    for index in 0..table.space().size() {
        let Some(placement) = table.space().decode(index) else { continue };
        let men = super::men_of(table.pieces(), &placement);
        let position = Position::from_men(men, placement.turn, placement.en_passant);
        let useless = position.en_passant.is_some() && position.usable_en_passant().is_none();
        if useless || position.is_opponent_in_check() {
            continue;
        }
        let setup = position.setup();
        let setup = if swapped { mirrored(&setup) } else { setup };
        let fail = |error: hoffman_table::ForeignError| TableError {
            path: theirs.path().to_owned(),
            problem: error.into(),
        };
        let Some(said) = theirs.value(&setup).map_err(fail)? else { continue };
        let ours = table.value(index, placement.turn)?;
        if let Some((said, ours)) = difference(table, said, ours, placement.turn) {
            let fen = position.short_fen();
            differences.push(format!("{fen} ({index}): {kind} says {said}, but we say {ours}"));
            if differences.len() == MOST {
                break;
            }
        }
    }
    Ok(differences)
}

/// What both say, if it is not the same.
fn difference(
    table: &Table,
    said: EntryValue,
    ours: EntryValue,
    turn: Color,
) -> Option<(String, String)> {
    let (EntryValue::Exact(exact), EntryValue::Exact(own), Format::Dtm(_)) =
        (said, ours, table.codec().format())
    else {
        return difference_of_outcomes(table, said, ours, turn);
    };
    (exact != own).then(|| {
        let ours = match own {
            // A stored 1 means that the king can be taken, which was ruled out.
            Value::Illegal => "illegal".to_owned(),
            _ => distance_words(own),
        };
        (format!("{}{}", distance_words(exact), score(exact)), ours)
    })
}

fn distance_words(value: Value) -> String {
    match value {
        Value::Win(moves) => format!("mate in {moves}"),
        Value::Loss(moves) => format!("mated in {moves}"),
        Value::Draw => "draw".to_owned(),
        Value::Illegal => "illegal".to_owned(),
    }
}

/// The number that a Nalimov file holds for a distance, in brackets.
fn score(value: Value) -> String {
    match value {
        Value::Win(moves) => format!(" ({})", 32767 - i32::from(moves)),
        Value::Loss(moves) => format!(" ({})", i32::from(moves) - 32766),
        Value::Draw | Value::Illegal => String::new(),
    }
}

fn difference_of_outcomes(
    table: &Table,
    said: EntryValue,
    ours: EntryValue,
    turn: Color,
) -> Option<(String, String)> {
    let outcome = |value| match value {
        EntryValue::Win | EntryValue::Exact(Value::Win(_)) => Some(1),
        EntryValue::Draw | EntryValue::Exact(Value::Draw) => Some(0),
        EntryValue::Loss | EntryValue::Exact(Value::Loss(_)) => Some(-1),
        _ => None,
    };
    let theirs = outcome(said)?;
    let words = |outcome| match outcome {
        1 => "PTM wins",
        0 => "draw",
        _ => "PNTM wins",
    };

    let (agrees, ours) = match ours {
        EntryValue::WinOrDraw => (theirs >= 0, flag_words(turn, true)),
        EntryValue::DrawOrLoss => (theirs <= 0, flag_words(turn, false)),
        EntryValue::Win if is_flag(table) => (theirs == 1, color_wins(turn)),
        EntryValue::Loss if is_flag(table) => (theirs == -1, color_wins(turn.other())),
        EntryValue::Exact(value) if matches!(table.codec().format(), Format::Dtm(_)) => {
            (outcome(ours) == Some(theirs), distance_words(value))
        }
        _ => {
            let ours = outcome(ours);
            (ours == Some(theirs), ours.map_or("illegal", words).to_owned())
        }
    };
    (!agrees).then(|| (words(theirs).to_owned(), ours))
}

fn is_flag(table: &Table) -> bool {
    matches!(table.codec().format(), Format::Flag(_))
}

fn color_wins(color: Color) -> String {
    format!("{} wins", color.fold_wb("white", "black"))
}

/// What a flag means that leaves two outcomes open. `holds` tells whether the player to move does
/// not lose, else he does not win.
fn flag_words(turn: Color, holds: bool) -> String {
    let holder = if holds { turn } else { turn.other() };
    format!("{} wins or draws", holder.fold_wb("white", "black"))
}

//! Pieces that are listed in an order in which they cannot be numbered, put right.

use hoffman_board::{Color, Role};

use crate::check::{NEIGHBOURS, check_pieces};
use crate::error::{ControlError, Notice};
use crate::location::resolve_pieces;
use crate::model::{ControlFile, PieceElement};

/// The same control file with its pieces in an order that can be numbered, and a notice. None
/// unless their order is all that is wrong with them.
pub(crate) fn put_right(file: &ControlFile) -> Option<ControlFile> {
    let error = wrong_order(file)?;
    let is_of_pawns =
        matches!(error, ControlError::DoubledOrder(_) | ControlError::OpposedOrder(_));
    let mut order: Vec<usize> = (0..file.pieces.len()).collect();
    sort_plus_pawns(&file.pieces, &mut order);
    let mut right = reordered(file, &order)?;
    let mut rule = "of plus pawns on a file White's come first, each side's from rank 2 upwards";
    if !is_of_pawns || wrong_order(&right).is_some() {
        order = side_by_side(&file.pieces, &order);
        right = reordered(file, &order)?;
        rule = "identical pieces, and plus pawns on a file, stand side by side";
    }
    let pieces = resolve_pieces(&right).ok()?;
    check_pieces(&right, &pieces).ok()?;

    let moved = order.iter().enumerate().find(|&(slot, &piece)| slot != piece)?;
    let place = file.pieces.get(*moved.1)?.place;
    let message = format!("{}: moved up in the list: {rule}", file.site(place, "piece"));
    right.notices.push(Notice { line: place.line, message });
    Some(right)
}

/// What is wrong with the order of the pieces; nothing if something else is wrong with them.
fn wrong_order(file: &ControlFile) -> Option<ControlError> {
    let checked = resolve_pieces(file).and_then(|pieces| check_pieces(file, &pieces));
    checked.err().filter(|error| match error {
        ControlError::DoubledOrder(_) | ControlError::OpposedOrder(_) => true,
        ControlError::Index { reason, .. } => *reason == NEIGHBOURS,
        _ => false,
    })
}

/// The start of a plus pawn.
fn plus(piece: &PieceElement) -> Option<hoffman_board::Square> {
    piece.plus.filter(|_| piece.role == Role::Pawn)
}

/// Lets the plus pawns of every file change places among themselves.
fn sort_plus_pawns(pieces: &[PieceElement], order: &mut [usize]) {
    for file in 0..8 {
        let on_file = |&piece: &usize| {
            plus(&pieces[piece]).is_some_and(|square| u32::from(square.file()) == file)
        };
        let slots: Vec<usize> = (0..order.len()).filter(|&slot| on_file(&order[slot])).collect();
        let mut pawns: Vec<usize> = slots.iter().map(|&slot| order[slot]).collect();
        pawns.sort_by_key(|&pawn| (pieces[pawn].color == Color::Black, plus(&pieces[pawn])));
        for (slot, pawn) in slots.into_iter().zip(pawns) {
            order[slot] = pawn;
        }
    }
}

/// Every piece behind the first of those that are numbered together with it, the white king before
/// all.
fn side_by_side(pieces: &[PieceElement], order: &[usize]) -> Vec<usize> {
    let together = |a: usize, b: usize| {
        let (a, b) = (&pieces[a], &pieces[b]);
        let files = plus(a).zip(plus(b)).map(|(a, b)| a.file() == b.file());
        (a.color, a.role) == (b.color, b.role) || files == Some(true)
    };
    let king =
        |&piece: &usize| (pieces[piece].color, pieces[piece].role) == (Color::White, Role::King);
    let mut left: Vec<usize> = order.to_vec();
    left.sort_by_key(|piece| !king(piece));
    let mut found = Vec::new();
    while !left.is_empty() {
        let mut group = vec![left.remove(0)];
        while let Some(at) = left.iter().position(|&p| group.iter().any(|&g| together(g, p))) {
            group.push(left.remove(at));
        }
        // As they were, but for those between them.
        group.sort_by_key(|piece| order.iter().position(|other| other == piece));
        found.extend(group);
    }
    found
}

/// The control file with its piece elements in another order.
fn reordered(file: &ControlFile, order: &[usize]) -> Option<ControlFile> {
    let mut text = String::with_capacity(file.text().len());
    let mut at = 0;
    for (slot, &piece) in file.pieces.iter().zip(order) {
        let other = file.pieces.get(piece)?.place;
        text.push_str(file.text().get(at..slot.place.start)?);
        text.push_str(file.text().get(other.start..other.end)?);
        at = slot.place.end;
    }
    text.push_str(file.text().get(at..)?);
    ControlFile::read(&text, &file.origin, file.mode, false).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strictness;

    const KINGS: &str =
        "<piece color=\"white\" type=\"king\"/>\n<piece color=\"black\" type=\"king\"/>\n";

    fn parse(men: &[(&str, &str, &str)]) -> ControlFile {
        let piece = |(color, role, squares): &(&str, &str, &str)| {
            format!("<piece color=\"{color}\" type=\"{role}\" location=\"{squares}\"/>\n")
        };
        let pieces: Vec<String> = men.iter().map(piece).collect();
        let text = format!("<tablebase>\n<dtm/>\n{KINGS}{}</tablebase>", pieces.concat());
        ControlFile::parse(&text, "x.xml", Strictness::Control).unwrap()
    }

    fn squares(file: &ControlFile) -> Vec<String> {
        let men = file.pieces.iter().skip(2);
        men.map(|p| p.plus.or_else(|| p.squares?.first()).unwrap().to_string()).collect()
    }

    #[test]
    fn pieces_are_put_in_an_order_that_can_be_numbered() {
        let opposed = parse(&[("black", "pawn", "b7+"), ("white", "pawn", "b3+")]);
        assert_eq!(squares(&opposed), ["b3", "b7"]);
        let said = opposed.notices.last().unwrap().to_string();
        assert!(
            said.starts_with("x.xml, line 6, <piece>: moved up in the list: of plus pawns"),
            "{said}"
        );
        let doubled = parse(&[("white", "pawn", "c4+"), ("white", "pawn", "c2+")]);
        assert_eq!(squares(&doubled), ["c2", "c4"]);
        let apart = parse(&[
            ("white", "rook", "a1 a2"),
            ("white", "knight", "e1 e2"),
            ("white", "rook", "a1 a2"),
        ]);
        assert_eq!(squares(&apart), ["a1", "a1", "e1"]);
        for file in [&opposed, &doubled, &apart] {
            assert_eq!(file.notices.len(), 1);
            check_pieces(file, &resolve_pieces(file).unwrap()).unwrap();
            // What is written into a header is in this order.
            let again = ControlFile::parse(file.text(), "x.xml", Strictness::Control).unwrap();
            assert_eq!(squares(&again), squares(file));
            assert!(again.notices.is_empty());
        }
    }

    #[test]
    fn what_is_in_order_stays_as_it_is() {
        for men in [
            vec![("white", "pawn", "b3+"), ("black", "pawn", "b7+")],
            vec![("black", "pawn", "c7+"), ("white", "pawn", "b3+")],
            vec![("white", "rook", "a1"), ("white", "knight", "e1"), ("white", "rook", "a2")],
        ] {
            let file = parse(&men);
            let given: Vec<&str> = men.iter().map(|m| m.2.trim_end_matches('+')).collect();
            assert_eq!(squares(&file), given);
            assert!(file.notices.is_empty(), "{:?}", file.notices);
        }
    }
}

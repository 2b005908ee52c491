//! Explanations against the complete table of king and pawn against king.

use std::collections::HashSet;

use hoffman_reader::{AsPosition as _, Tablebase, Wdl};

use super::*;
use crate::{Claimed, Color, Options, Position, ProveOptions, Role, Square, Variant};

fn explained(fen: &str) -> Explanation {
    let asked = ProveOptions::new().explanation(true);
    let proved = crate::prove(fen, &Options::without_folder(), &asked, &mut |_| {}).unwrap();
    proved.explanation.expect("what is proven is explained")
}

fn tables() -> (tempfile::TempDir, Tablebase) {
    let folder = tempfile::tempdir().unwrap();
    let material = "KPvK".parse().unwrap();
    crate::build(&[material], &Options::new(folder.path()), &mut |_| {}).unwrap();
    let tables = Tablebase::open(folder.path()).unwrap();
    (folder, tables)
}

fn position(fen: &str) -> Position {
    fen.as_position(Variant::Normal).unwrap().into_owned()
}

/// What the tables say of White; none if it is no position.
fn for_white_by(tables: &Tablebase, position: &Position) -> Option<Wdl> {
    let wdl = tables.probe(position).ok()?.value.wdl()?;
    Some(match (position.turn, wdl) {
        (Color::Black, Wdl::Win) => Wdl::Loss,
        (Color::Black, Wdl::Loss) => Wdl::Win,
        (_, wdl) => wdl,
    })
}

#[test]
fn the_zugzwangs_are_those_of_the_table() {
    let (_folder, tables) = tables();
    let mut all = 0;
    for (fen, pawn) in [
        ("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1", Square::D2),
        ("8/8/3k4/8/4P3/3K4/8/8 b - - 0 1", Square::E4),
        ("8/3k4/8/3K2P1/8/8/8/8 w - - 0 1", Square::G5),
    ] {
        let kings = explained(fen).kings.unwrap();
        assert_eq!(kings.undecided, 0, "{fen}");
        let found: HashSet<_> = kings
            .found
            .iter()
            .map(|zugzwang| {
                assert_eq!(zugzwang.winners, [None, Some(Color::White)], "{fen} {zugzwang:?}");
                (zugzwang.white, zugzwang.black)
            })
            .collect();

        for (white, black) in Square::ALL.into_iter().flat_map(|w| Square::ALL.map(|b| (w, b))) {
            let men = [
                (white, Color::White, Role::King),
                (black, Color::Black, Role::King),
                (pawn, Color::White, Role::Pawn),
            ];
            let to_move = |turn| Position::from_men(men, turn, None);
            let distinct = HashSet::from([white, black, pawn]).len() == 3;
            let results =
                distinct.then(|| Color::ALL.map(|turn| for_white_by(&tables, &to_move(turn))));
            let expected = results == Some([Some(Wdl::Draw), Some(Wdl::Win)]);
            assert_eq!(found.contains(&(white, black)), expected, "{fen}: K{white}, k{black}");
        }
        all += found.len();
    }
    assert!(all > 10, "{all}");
}

#[test]
fn key_squares_are_those_of_the_table_and_of_the_books() {
    let (_folder, tables) = tables();
    // As in the books two ranks before the pawn, or behind the middle line one and two; and what
    // else is such a square.
    for (fen, pawn, of_books, others) in [
        ("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1", Square::D2, "c4 d4 e4", "d5"),
        ("8/8/3k4/8/4P3/3K4/8/8 b - - 0 1", Square::E4, "d6 e6 f6", ""),
        ("8/3k4/8/2P5/2K5/8/8/8 w - - 0 1", Square::C5, "b6 c6 d6 b7 c7 d7", ""),
    ] {
        let [found, of_black] = explained(fen).kings.unwrap().key_squares;
        assert!(of_black.is_empty(), "{fen}");
        let named = of_books.split(' ').chain(others.split_whitespace());
        let mut named: Vec<Square> = named.map(|square| square.parse().unwrap()).collect();
        named.sort_unstable();
        assert_eq!(found, named, "{fen}");

        let always_wins = |white: Square| {
            Square::ALL.into_iter().all(|black| {
                let men = [
                    (white, Color::White, Role::King),
                    (black, Color::Black, Role::King),
                    (pawn, Color::White, Role::Pawn),
                ];
                let to_move = |turn| Position::from_men(men, turn, None);
                let takes = |m: &hoffman_reader::Move| m.to == pawn;
                let exempt = HashSet::from([white, black, pawn]).len() < 3
                    || to_move(Color::Black).legal_moves(Variant::Normal).iter().any(takes);
                let results = Color::ALL.map(|turn| for_white_by(&tables, &to_move(turn)));
                exempt || results.into_iter().flatten().all(|wdl| wdl == Wdl::Win)
            })
        };
        let expected: Vec<Square> =
            Square::ALL.into_iter().filter(|&s| s != pawn && always_wins(s)).collect();
        assert_eq!(found, expected, "{fen}");
    }
}

#[test]
fn only_moves_and_zugzwangs_of_the_line_are_those_of_the_table() {
    let (_folder, tables) = tables();
    let mut marked = 0;
    for fen in [
        "8/3k4/8/3K4/3P4/8/8/8 b - - 0 1",
        "8/8/8/3k4/8/8/3PK3/8 w - - 0 1",
        "8/8/4k3/8/4K3/8/4P3/8 w - - 0 1",
        "8/8/1k6/8/1K6/1P6/8/8 b - - 0 10",
    ] {
        let explanation = explained(fen);
        let [lines] = &explanation.lines[..] else { panic!("{fen}: one side wins") };
        assert!(matches!(lines.claimed, Claimed::Wins(_)) && lines.side == Color::White, "{fen}");
        let mut place = position(fen);
        for key in &lines.line {
            let legal = place.legal_moves(Variant::Normal);
            assert!(legal.contains(&key.m), "{}", place.fen());
            let wins =
                |m: &hoffman_reader::Move| for_white_by(&tables, &place.after(m)) == Some(Wdl::Win);
            if place.turn == Color::White && key.m.promotion.is_none() {
                let is_only = legal.len() > 1 && legal.iter().filter(|m| wins(m)).count() == 1;
                assert_eq!(key.is_only, is_only, "{} {}", place.fen(), key.m);
                let passed = Position { turn: Color::White, ..place.after(&key.m) };
                let is_zugzwang = for_white_by(&tables, &passed) == Some(Wdl::Draw);
                assert_eq!(key.is_zugzwang, is_zugzwang, "{} {}", place.fen(), key.m);
                marked += usize::from(is_only) + usize::from(is_zugzwang);
            }
            place = place.after(&key.m);
        }

        let last = lines.line.last().unwrap();
        assert_eq!(last.m.promotion, Some(Role::Queen), "{fen}");
        let words = lines.words(&position(fen));
        assert!(words[0].starts_with("White promotes with move "), "{words:?}");
        let mut place = position(fen);
        lines.line.iter().for_each(|key| place = place.after(&key.m));
        for other in &lines.others {
            let mut place = position(fen);
            lines.line[..other.at].iter().for_each(|key| place = place.after(&key.m));
            for m in &other.moves {
                assert!(place.legal_moves(Variant::Normal).contains(m), "{}", place.fen());
                place = place.after(m);
            }
            assert!(other.moves.last().unwrap().is_zeroing(), "{fen}");
        }
    }
    assert!(marked > 8, "{marked}");
}

#[test]
fn a_fortress_is_held_by_the_king_alone() {
    let explanation = explained("4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1");
    assert_eq!(explanation.passed, Some(Value::Draw));
    let sides: Vec<Color> = explanation.lines.iter().map(|lines| lines.side).collect();
    assert_eq!(sides, Color::ALL);
    for lines in &explanation.lines {
        assert_eq!(lines.claimed, Claimed::Holds);
        assert!(lines.king_alone && lines.others.is_empty() && !lines.king.is_empty());
    }
    let kings = explanation.kings.unwrap();
    assert_eq!((kings.found.len(), kings.undecided), (0, 0));
}

#[test]
fn a_side_is_safe_if_the_other_one_cannot_mate() {
    let explanation = explained("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1");
    let [white, black] = &explanation.lines[..] else { panic!("both sides hold a draw") };
    assert_eq!((white.side, white.is_safe, black.is_safe), (Color::White, true, false));
    assert!(white.king.is_empty() && white.others.is_empty() && !white.king_alone);
    assert!(!black.king.is_empty() && !black.others.is_empty());
}

#[test]
fn pieces_have_no_corresponding_squares_and_check_is_not_passed() {
    let explanation = explained("8/8/8/8/8/k7/7R/1K6 w - - 0 1");
    assert!(explanation.kings.is_none());
    assert!(explained("8/8/8/8/8/8/k6R/2K5 b - - 0 1").passed.is_none());
}

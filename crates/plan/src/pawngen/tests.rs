//! Arrangements are counted, numbered, and what is too much is refused.

use std::collections::HashMap;

use super::search::{MAX_PLACEMENTS, PLACEMENT, least_placements};
use super::*;
use hoffman_control::{PawngenSide, Place};
use std::time::{Duration, Instant};

fn squares(text: &str) -> Bitboard {
    text.split_whitespace().map(|s| s.parse::<Square>().unwrap()).collect()
}

/// An element: start, pawns required, promotions required, captures allowed, White's and Black's.
fn element(
    start: [&str; 2],
    pawns: [u64; 2],
    queens: [u64; 2],
    captures: [u64; 2],
) -> PawngenElement {
    let side = |i: usize| PawngenSide {
        start: squares(start[i]),
        pawns_required: Some(pawns[i]),
        queens_required: queens[i],
        captures_allowed: captures[i],
        legal: None,
    };
    PawngenElement {
        white: side(0),
        black: side(1),
        start: 0,
        count: 0,
        offset: 0,
        position: 0,
        place: Place::default(),
    }
}

/// As much memory as is wanted, and no stop.
const FREE: Bounds<'_> = Bounds { memory: u64::MAX, is_stopped: &|| false };

fn all_arrangements(spec: &PawngenElement) -> Result<Vec<Arrangement>, PawngenError> {
    super::all_arrangements(spec, FREE)
}

/// Those that `start` and `count` leave.
fn arrangements(spec: &PawngenElement) -> Result<Vec<Arrangement>, PawngenError> {
    let all = all_arrangements(spec)?;
    let cut = cut(spec, all.len())?;
    Ok(all[cut].to_vec())
}

/// A pawn step from an arrangement below number `at` to `at` or above, as a pair of numbers. None
/// if the part from `at` on can be solved after the part below it.
fn step_upwards(all: &[Arrangement], at: usize) -> Option<(usize, usize)> {
    let upper: HashMap<Arrangement, usize> =
        all.iter().copied().enumerate().skip(at).map(|(number, a)| (a, number)).collect();
    all.iter().take(at).enumerate().find_map(|(from, arrangement)| {
        let to = steps(arrangement.pawns).into_iter().find_map(|a| upper.get(&a).copied())?;
        Some((from, to))
    })
}

/// The arrangements one pawn step away, with the number of pawns as it is. A double step without an
/// enemy pawn beside its end is left out: it ends where two single steps do.
fn steps(pawns: PawnSquares) -> Vec<Arrangement> {
    let mut found = Vec::new();
    for color in Color::ALL {
        for from in singles(pawns.of(color) & !last_rank(color)) {
            let to = ahead(color, from);
            if to & pawns.occupied() == 0 {
                let pawns = moved(pawns, color, from, to);
                found.push(Arrangement { pawns, en_passant: None });
            }
            found.extend(double_step(pawns, color, from));
        }
    }
    found
}

const FINE: [&str; 2] = ["b3 c2 d3", "b5 c7 d5"];

fn count(spec: &PawngenElement) -> usize {
    match arrangements(spec) {
        Ok(all) => all.len(),
        Err(PawngenError::Empty) => 0,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn small_starts_are_counted() {
    for (white, black, pawns, queens, captures, expected) in [
        ("b2", "c7", [1, 1], [0, 0], [0, 0], 38),
        ("b2", "c7", [1, 0], [0, 0], [0, 0], 11),
        ("b2", "c7", [0, 1], [0, 0], [0, 0], 11),
        ("b2", "c7", [1, 1], [0, 0], [1, 0], 93),
        ("b2", "c7", [1, 1], [0, 0], [2, 0], 118),
        ("b2", "c7", [1, 1], [0, 0], [1, 1], 248),
        ("b2", "c7", [0, 1], [1, 0], [0, 0], 6),
        ("b2", "b7", [1, 1], [0, 0], [0, 0], 15),
        ("b2 a2", "c7", [1, 1], [0, 0], [0, 0], 105),
        ("b2 c2 d2", "c7", [3, 1], [0, 0], [0, 0], 597),
        ("a2", "b4", [1, 1], [0, 0], [0, 0], 19),
        // Needs both counters of each way to a placement.
        ("d3 b2", "c7", [1, 1], [0, 0], [1, 1], 505),
    ] {
        let spec = element([white, black], pawns, queens, captures);
        assert_eq!(count(&spec), expected, "{white} {black} {pawns:?}");
    }
}

#[test]
fn three_against_three_are_counted() {
    for (pawns, queens, expected) in [
        ([3, 3], 0, 150),
        ([3, 2], 0, 1313),
        ([2, 3], 0, 1068),
        ([2, 2], 0, 3347),
        ([3, 1], 0, 2466),
        ([1, 3], 0, 1693),
        ([2, 1], 0, 1329),
        ([1, 2], 0, 1119),
        ([3, 0], 0, 506),
        ([0, 3], 0, 340),
        ([2, 3], 1, 0),
        ([0, 2], 1, 102),
        ([0, 3], 1, 210),
        ([1, 1], 1, 242),
        ([1, 2], 1, 895),
        ([1, 3], 1, 108),
        ([2, 0], 1, 119),
        ([2, 1], 1, 959),
        ([2, 2], 1, 447),
    ] {
        let spec = element(FINE, pawns, [queens, 0], [0, 0]);
        assert_eq!(count(&spec), expected, "{pawns:?} {queens}");
    }
}

#[test]
fn numbers_are_those_of_the_files() {
    let all = all_arrangements(&element(FINE, [3, 3], [0, 0], [0, 0])).unwrap();
    let number = |white: &str, black: &str| {
        let pawns = PawnSquares { white: squares(white).0, black: squares(black).0 };
        all.iter().position(|a| *a == Arrangement { pawns, en_passant: None })
    };
    assert_eq!(number("b3 c2 d3", "b5 c7 d5"), Some(149));
    assert_eq!(number("b4 c2 d3", "b5 c7 d5"), Some(128));
    assert_eq!(number("b3 c2 d4", "b5 c7 d5"), Some(129));
    assert_eq!(number("b3 c3 d3", "b5 c7 d5"), Some(104));
    assert_eq!(number("b3 c4 d3", "b5 c7 d5"), Some(87));
}

#[test]
fn without_a_pawn_on_the_h_file_moves_lead_to_smaller_numbers() {
    for (start, captures) in [
        (FINE, [0, 0]),
        (["b2", "c7"], [1, 1]),
        (["d3 b2", "c7"], [1, 1]),
        (["e2 f2 g2", "f7 g7"], [0, 0]),
    ] {
        let pawns = [0, 1].map(|i| squares(start[i]).count() as u64);
        let all = all_arrangements(&element(start, pawns, [0, 0], captures)).unwrap();
        let on_h = all.iter().any(|a| a.pawns.occupied() & 0x8080_8080_8080_8080 != 0);
        assert!(!on_h);
        let mut checked = 0;
        for (from, arrangement) in all.iter().enumerate() {
            for next in successors(arrangement.pawns) {
                if let Some(to) = all.iter().position(|a| *a == next) {
                    assert!(to < from, "{start:?}: {from} to {to}");
                    checked += 1;
                }
            }
        }
        assert!(checked > all.len() / 2, "{start:?}: {checked} moves");
        assert!((0..all.len()).all(|at| step_upwards(&all, at).is_none()));
        // Whatever was captured, the start itself is last.
        assert_eq!(all.last().unwrap().pawns.white, squares(start[0]).0);
        assert_eq!(all.last().unwrap().pawns.black, squares(start[1]).0);
    }
}

/// All that a move of a pawn can lead to with the number of pawns as it is, captures of pieces
/// included.
fn successors(pawns: PawnSquares) -> Vec<Arrangement> {
    let mut found = steps(pawns);
    for color in Color::ALL {
        for from in singles(pawns.of(color) & !last_rank(color)) {
            for to in singles(beside(ahead(color, from)) & !pawns.occupied()) {
                let pawns = moved(pawns, color, from, to);
                found.push(Arrangement { pawns, en_passant: None });
            }
        }
    }
    found
}

#[test]
fn a_pawn_on_the_h_file_can_lead_to_larger_numbers() {
    let all = all_arrangements(&element(["h2", "a7"], [1, 1], [0, 0], [0, 0])).unwrap();
    assert_eq!(all.len(), 36);
    let (from, to) = step_upwards(&all, 1).unwrap();
    assert!(from < 1 && to >= 1);
    assert_eq!(all[to].pawns.white, all[from].pawns.white << 8);
    assert_eq!(all[to].pawns.black, all[from].pawns.black);
    // Between the ranks of the other pawn no step leads back.
    assert_eq!(step_upwards(&all, 6), None);
}

#[test]
fn tables_are_cut() {
    let whole = element(["b2", "c7"], [1, 1], [0, 0], [0, 0]);
    let all = arrangements(&whole).unwrap();
    let first = arrangements(&PawngenElement { count: 19, ..whole.clone() }).unwrap();
    let second = arrangements(&PawngenElement { start: 19, ..whole.clone() }).unwrap();
    assert_eq!([first, second].concat(), all);
    for (start, count) in [(38, 0), (19, 20), (u64::MAX, 1), (1, u64::MAX)] {
        let error = arrangements(&PawngenElement { start, count, ..whole.clone() }).unwrap_err();
        assert_eq!(error, PawngenError::Cut { start, count, arrangements: 38 });
    }
}

#[test]
fn what_admits_nothing_is_refused() {
    for (start, pawns, queens) in [
        (["b2", "c7"], [2, 1], [0, 0]),
        (["b2", "c7"], [1, 1], [1, 0]),
        (["b2", "b7"], [1, 1], [0, u64::MAX]),
        (["b2", "b2"], [1, 1], [0, 0]),
        (FINE, [2, 3], [1, 0]),
    ] {
        let spec = element(start, pawns, queens, [0, 0]);
        assert_eq!(arrangements(&spec), Err(PawngenError::Empty), "{start:?} {pawns:?}");
    }
    let mut open = element(["b2", "c7"], [1, 1], [0, 0], [0, 0]);
    open.black.pawns_required = None;
    assert_eq!(arrangements(&open), Err(PawngenError::Open));
}

#[test]
fn what_is_too_much_is_refused_at_once() {
    let all = ["a2 b2 c2 d2 e2 f2 g2 h2", "a7 b7 c7 d7 e7 f7 g7 h7"];
    // Nothing is searched for that.
    let too_many = Err(PawngenError::TooMany(MAX_PLACEMENTS));
    let refused = ArrangementSearch::new(&element(all, [4, 4], [0, 0], [0, 0]), FREE).map(|_| ());
    assert_eq!(refused, too_many);
    assert_eq!(arrangements(&element(all, [8, 8], [0, 0], [0, 0])), too_many.map(|()| Vec::new()));
    // Captures lead to many more; the search ends where memory does.
    let spec = element(["b2 c2 d2", "b7 c7 d7"], [2, 2], [0, 0], [3, 3]);
    let most = 1 << 15;
    let within = super::all_arrangements(&spec, Bounds { memory: most as u64 * PLACEMENT, ..FREE });
    assert_eq!(within, Err(PawngenError::TooMany(most)));
}

#[test]
fn no_more_placements_are_counted_than_there_are() {
    for (start, pawns, queens) in [
        (["b2", "c7"], [0, 0], [0, 0]),
        (["b2", "b7"], [1, 1], [0, 0]),
        (["b2 b3 c4", "b6 d7"], [1, 1], [1, 0]),
        (FINE, [2, 2], [0, 0]),
    ] {
        let spec = element(start, pawns, queens, [0, 0]);
        let mut search = ArrangementSearch::new(&spec, FREE).unwrap();
        let lives = |color: Color, left: u32| {
            let side = spec.side(color);
            u64::from(left) >= side.pawns_required.unwrap() + side.queens_required
        };
        let structure = PawnSquares { white: spec.white.start.0, black: spec.black.start.0 };
        let least = least_placements(structure, lives);
        search.look_at_all().unwrap();
        assert!(least <= search.seen.len() as u64, "{start:?}: {least}");
        // Pawns that cannot meet have no other ways.
        let alone = start == ["b2", "b7"];
        assert!(!alone || least == search.seen.len() as u64, "{least}");
    }
}

#[test]
fn no_pawns_are_one_arrangement() {
    let spec = element(["", ""], [0, 0], [0, 0], [0, 0]);
    let none = Arrangement { pawns: PawnSquares::default(), en_passant: None };
    assert_eq!(arrangements(&spec), Ok(vec![none]));
}

#[test]
fn captures_without_end_are_as_good_as_enough_of_them() {
    let some = element(["b2", "c7"], [1, 1], [0, 0], [5, 5]);
    let many = element(["b2", "c7"], [1, 1], [0, 0], [u64::MAX, u64::MAX]);
    assert_eq!(arrangements(&many), arrangements(&some));
}

#[test]
fn masks_hold_every_pawn() {
    let all = arrangements(&element(["b2", "b4"], [1, 1], [0, 0], [0, 0])).unwrap();
    let masks = masks(&all);
    assert_eq!((masks.white, masks.black), (squares("b2 b3"), squares("b3 b4")));
}

#[test]
fn hundreds_of_thousands_of_placements_are_quick() {
    let began = Instant::now();
    let mut search = ArrangementSearch::new(&element(FINE, [2, 2], [0, 0], [1, 1]), FREE).unwrap();
    search.look_at_all().unwrap();
    eprintln!(
        "{} placements, {} ways, {} kept, {:?}",
        search.seen.len(),
        search.known.len(),
        search.found.len(),
        began.elapsed()
    );
    assert!(search.seen.len() > 100_000);
    // Far more than is needed: what must not happen is a search that looks at ways, not placements.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_search_stops_soon_after_it_is_told_to() {
    let began = Instant::now();
    let told = Duration::from_millis(300);
    let is_stopped = || began.elapsed() >= told;
    // Seconds of work, if it were not stopped.
    let spec = element(["b2 c2 d2", "b7 c7 d7"], [2, 2], [0, 0], [3, 3]);
    let result = super::all_arrangements(&spec, Bounds { is_stopped: &is_stopped, ..FREE });
    assert_eq!(result, Err(PawngenError::Stopped));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// What is left of a list when each stretch follows those that it needs, and steps lead nowhere
/// else.
#[track_caller]
fn check_division(all: &[Arrangement], stretches: &[PawnStretch]) {
    let mut owner = vec![None; all.len()];
    for (place, stretch) in stretches.iter().enumerate() {
        assert!(!stretch.numbers.is_empty());
        assert!(stretch.needs.iter().all(|&needed| needed < place), "{stretches:?}");
        for number in stretch.numbers.clone() {
            assert_eq!(owner[number].replace(place), None, "{number} is in two");
        }
    }
    let numbers: HashMap<Arrangement, usize> =
        all.iter().copied().enumerate().map(|(number, a)| (a, number)).collect();
    let mut needed: Vec<Vec<usize>> = vec![Vec::new(); stretches.len()];
    for (number, arrangement) in all.iter().enumerate() {
        let own = owner[number].unwrap();
        let plain = Arrangement { en_passant: None, ..*arrangement };
        // A double step leads where two steps do, also if there is no right to remember.
        let doubles = Color::ALL.into_iter().flat_map(|color| {
            let second = color.fold_wb(0xff00, 0x00ff_0000_0000_0000);
            singles(arrangement.pawns.of(color) & second).filter_map(move |from| {
                let (once, twice) = (ahead(color, from), ahead(color, ahead(color, from)));
                let is_free = arrangement.pawns.occupied() & (once | twice) == 0;
                let pawns = moved(arrangement.pawns, color, from, twice);
                is_free.then_some(Arrangement { pawns, en_passant: None })
            })
        });
        for step in steps(arrangement.pawns).into_iter().chain([plain]).chain(doubles) {
            let target = numbers.get(&step).map(|&to| owner[to].unwrap());
            needed[own].extend(target.filter(|&to| to != own));
        }
    }
    for (stretch, mut needed) in stretches.iter().zip(needed) {
        needed.sort_unstable();
        needed.dedup();
        assert_eq!(stretch.needs, needed);
    }
}

#[test]
fn stretches_need_those_that_pawns_step_into_and_no_others() {
    for start in [["b2", "c7"], ["b3 c2", "b5 d5"], ["e2", "e7"], ["a2 b2", "c7"], ["", "c7"]] {
        let pawns = start.map(|side| side.split_whitespace().count() as u64);
        let all = all_arrangements(&element(start, pawns, [0, 0], [0, 0])).unwrap();
        for parts in [1, 2, 3, 8, 1000] {
            let stretches = divide(&all, 0..all.len(), parts);
            check_division(&all, &stretches);
            let placements: std::collections::BTreeSet<PawnSquares> =
                all.iter().map(|a| a.pawns).collect();
            // Without pawns on the h-file steps lead downwards only.
            assert_eq!(stretches.len(), parts.min(placements.len()), "{start:?} {parts}");
        }
    }
}

/// Steps of h-pawns lead upwards, so that some parts would need each other.
#[test]
fn stretches_that_need_each_other_are_one() {
    let mut fewer = 0;
    for start in [["g2 h2", "h5"], ["h2", "h7"], ["h2", ""], ["", "h7"], ["g3 h2", "h7 g5"]] {
        let pawns = start.map(|side| side.split_whitespace().count() as u64);
        let all = all_arrangements(&element(start, pawns, [0, 0], [0, 0])).unwrap();
        for parts in [2, 3, 4, 5, 20] {
            let stretches = divide(&all, 0..all.len(), parts);
            check_division(&all, &stretches);
            fewer += usize::from(stretches.len() < parts);
        }
    }
    assert!(fewer > 0);
}

/// A part of a part.
#[test]
fn a_range_is_divided_by_itself() {
    let all = all_arrangements(&element(["b2", "c7"], [1, 1], [0, 0], [0, 0])).unwrap();
    let stretches = divide(&all, 10..30, 4);
    assert_eq!((stretches[0].numbers.start, stretches[3].numbers.end), (10, 30));
    assert_eq!(stretches.iter().map(|s| s.numbers.len()).sum::<usize>(), 20);
}

//! Tables of cells, written and read.

mod support;

use std::sync::LazyLock;

use hoffman_hbf::{
    Code, Color, DRAW, EncodeOptions, HbfError, HbfFile, Kind, Man, Material, Position, ProbeError,
    Sides, Source, Value, before, code_of, legal_moves, outcome, parse_fen, to_fen,
};
use hoffman_hbf::{Crew, Selection, Texts, WholeError, WholeTable};
use support::{MadeUp, ending, opened, random_position, tables, written};

fn options() -> EncodeOptions {
    EncodeOptions { training: 100_000, rows: 16, ..EncodeOptions::default() }
}

fn both() -> EncodeOptions {
    EncodeOptions { distances: Sides::Both, ..options() }
}

#[test]
fn every_stored_position_is_answered_with_its_value() {
    let source = MadeUp { scale: 1 };
    let below = ["KRvK", "KNvK"].map(|name| written(name, &source, &both()));
    let tables = tables(below.into_iter().chain([written("KRvKN", &source, &both())]));
    let mut random = fastrand::Rng::with_seed(1);
    for name in ["KRvK", "KNvK", "KRvKN"] {
        for _ in 0..3000 {
            let position = random_position(&ending(name), &mut random);
            let found = tables.probe(&position).expect("an answer");
            assert_eq!(Some(found), source.code(&position), "{}", to_fen(&position));
            let outcome_found = tables.probe_outcome(&position).expect("an answer");
            assert_eq!(outcome_found, outcome(found));
        }
    }
}

#[test]
fn wide_distances_and_files_that_stand_alone() {
    let source = MadeUp { scale: 150 };
    let alone = EncodeOptions { exits: false, ..both() };
    let tables = tables([written("KPvK", &source, &alone), written("KNNvK", &source, &alone)]);
    let mut random = fastrand::Rng::with_seed(2);
    let mut longest = 0;
    for name in ["KPvK", "KNNvK"] {
        for _ in 0..3000 {
            let position = random_position(&ending(name), &mut random);
            let found = tables.probe(&position).expect("an answer");
            assert_eq!(Some(found), source.code(&position), "{}", to_fen(&position));
            let moves = hoffman_hbf::value_of(found).map_or(0, |value| value.plies() / 2);
            longest = longest.max(moves);
        }
    }
    assert!(longest > 5000, "{longest}");
}

#[test]
fn a_tile_of_any_number_of_rows_and_several_threads_give_the_same_answers() {
    let source = MadeUp { scale: 1 };
    let mut random = fastrand::Rng::with_seed(3);
    let positions: Vec<_> =
        (0..1000).map(|_| random_position(&ending("KNvKN"), &mut random)).collect();
    for rows in [1, 4, 8, 64] {
        let alone = EncodeOptions { rows, exits: false, ..both() };
        let one = written("KNvKN", &source, &alone);
        if rows == 8 {
            let threaded = support::written_by(3, "KNvKN", &source, &alone);
            assert_eq!(one, threaded, "threads change nothing");
        }
        let tables = tables([one]);
        for position in &positions {
            assert_eq!(tables.probe(position).ok(), source.code(position));
        }
    }
}

#[test]
fn outcomes_are_apart_from_distances() {
    let source = MadeUp { scale: 1 };
    let only = EncodeOptions { distances: Sides::Neither, outcomes: Sides::Both, ..options() };
    let small = written("KRvK", &source, &only);
    assert!(small.len() < written("KRvK", &source, &both()).len());
    let side_by_side = tables([small.clone(), written("KRvK", &source, &both())]);
    let only_outcomes = tables([small]);
    let with_both = EncodeOptions { outcomes: Sides::Smaller, ..both() };
    let everything = tables([written("KRvK", &source, &with_both)]);
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..2000 {
        let position = random_position(&ending("KRvK"), &mut random);
        let code = source.code(&position).map(outcome);
        assert_eq!(only_outcomes.probe_outcome(&position).ok(), code);
        assert!(matches!(only_outcomes.probe(&position), Err(ProbeError::NoTable(_))));
        assert_eq!(side_by_side.probe(&position).ok(), source.code(&position));
        assert_eq!(side_by_side.probe_outcome(&position).ok(), code);
        assert_eq!(everything.probe(&position).ok(), source.code(&position));
        assert_eq!(everything.probe_outcome(&position).ok(), code);
    }
}

/// True values of king and queen against king, by kings, queen and side to move; 0 where there is
/// none.
struct Solved(Vec<Code>);

/// The number of a position, the same for mirror images.
fn number(position: &Position) -> Option<usize> {
    let mut position = *position;
    if position.occupied().count_ones() != 3 {
        return None;
    }
    let queen = |color| Man { color, kind: Kind::Queen };
    if position.of(queen(Color::White)) == 0 {
        position = position.swapped();
    }
    let queen = position.of(queen(Color::White)).trailing_zeros() as u8;
    let squares = [position.king(Color::White)?, position.king(Color::Black)?, queen];
    let image = |symmetry| {
        let turned = squares.map(|square| support::turned(square, symmetry));
        turned.iter().fold(position.turn as usize, |n, &square| n << 6 | usize::from(square))
    };
    (0..8).map(image).min()
}

impl Source for Solved {
    fn code(&self, position: &Position) -> Option<Code> {
        number(position).map_or(Some(DRAW), |at| Some(self.0[at]).filter(|&code| code != 0))
    }
}

/// Solved by looking at all moves again and again.
static SOLVED: LazyLock<Solved> = LazyLock::new(solve);

fn solve() -> Solved {
    let mut open = Vec::new();
    for squares in 0..64_u32.pow(3) * 2 {
        let mut position = Position::empty([Color::White, Color::Black][squares as usize & 1]);
        let white = |kind| Man { color: Color::White, kind };
        let black = Man { color: Color::Black, kind: Kind::King };
        for (k, man) in [white(Kind::King), black, white(Kind::Queen)].into_iter().enumerate() {
            position.put((squares >> (1 + 6 * k) & 63) as u8, man);
        }
        let first_image = position.king(Color::White).is_some_and(|s| s & 7 < 4 && s >> 3 <= s & 7);
        if position.occupied().count_ones() == 3 && first_image && position.is_legal() {
            open.push(position);
        }
    }
    let mut solved = Solved(vec![0; 2 << 18]);
    for step in 0..24_u16 {
        open.retain(|position| {
            let (mut best, mut count, mut unknown) = (0, 0, false);
            legal_moves(position, |found| {
                count += 1;
                match solved.code(&found.after) {
                    Some(code) => best = best.max(before(code)),
                    None => unknown = true,
                }
            });
            let mated = count == 0 && position.is_check(position.turn);
            let is_win = step % 2 == 1 && best >= code_of(Value::Win(step.div_ceil(2)));
            let is_loss = step % 2 == 0 && count > 0 && !unknown && best < DRAW;
            let Some(at) = number(position).filter(|_| mated || is_win || is_loss) else {
                return true;
            };
            solved.0[at] = if mated { code_of(Value::Loss(0)) } else { best };
            false
        });
    }
    open.iter().filter_map(number).for_each(|at| solved.0[at] = DRAW);
    solved
}

#[test]
fn the_other_side_follows_by_one_move() {
    let solved = &*SOLVED;
    let longest = solved.0.iter().copied().filter(|&code| code > DRAW).min();
    assert_eq!(longest, Some(code_of(Value::Win(10))));
    let tables = tables([written("KQvK", solved, &options())]);
    assert!(tables.stored_side(&ending("KQvK")).is_some());
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..5000 {
        let position = random_position(&ending("KQvK"), &mut random);
        let found = tables.probe(&position).expect("an answer");
        assert_eq!(Some(found), solved.code(&position), "{}", to_fen(&position));
    }
}

/// What no position needs.
struct Nothing;

impl Source for Nothing {
    fn code(&self, _: &Position) -> Option<Code> {
        None
    }
}

/// Tables of one side to move and of both, leaning on others and not, with like men and with pawns.
#[test]
fn all_values_in_memory_are_those_of_single_positions() {
    let source = MadeUp { scale: 1 };
    let wide = MadeUp { scale: 50 };
    let mut random = fastrand::Rng::with_seed(8);
    let alone = EncodeOptions { exits: false, ..both() };
    for (name, scale, options) in [("KRvKN", 1, both()), ("KNNvK", 50, alone), ("KPvKP", 1, both())]
    {
        let source = if scale == 1 { &source } else { &wide };
        let file = opened(written(name, source, &options));
        let behind: &dyn Source = if options.exits { source } else { &Nothing };
        let whole =
            WholeTable::read(&file, &Selection::all(), behind, Crew::ALONE).expect("all values");
        assert!(WholeTable::bytes(&file, &Selection::all()) > 100_000, "{name}");
        for _ in 0..5000 {
            let position = random_position(&ending(name), &mut random).without_en_passant();
            assert_eq!(whole.code(&position), source.code(&position), "{}", to_fen(&position));
        }
    }
    // A value behind is missing.
    let file = opened(written("KRvKN", &source, &both()));
    let missing = WholeTable::read(&file, &Selection::all(), &Nothing, Crew::ALONE).err();
    assert!(matches!(missing, Some(WholeError::Missing(_))), "{missing:?}");
}

/// Of the other side to move every position follows from the one that is stored.
#[test]
fn the_other_side_in_memory_is_that_of_single_positions() {
    let solved = &*SOLVED;
    let file = opened(written("KQvK", solved, &options()));
    let whole =
        WholeTable::read(&file, &Selection::all(), solved, Crew::ALONE).expect("all values");
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..20_000 {
        let position = random_position(&ending("KQvK"), &mut random);
        assert_eq!(whole.code(&position), solved.code(&position), "{}", to_fen(&position));
    }
}

/// Of a selection every position has its value, and no other one has a wrong value, whichever side
/// is stored.
#[test]
fn a_selection_in_memory_has_the_values_of_its_positions() {
    let white = |kind| Man { color: Color::White, kind };
    let (king, queen) = (white(Kind::King), white(Kind::Queen));
    let solved: &dyn Source = &*SOLVED;
    let (edge, last_rank) = (0xff81_8181_8181_81ff_u64, 0xff << 56);
    select(("KQvK", solved), &options(), (queen, edge));
    select(("KPvK", &MadeUp { scale: 1 }), &both(), (king, last_rank));
}

fn select((name, source): (&str, &dyn Source), options: &EncodeOptions, (man, goal): (Man, u64)) {
    let mut random = fastrand::Rng::with_seed(10);
    let mut position = || {
        let position = random_position(&ending(name), &mut random).without_en_passant();
        let is_own = position.of_color(Color::White).count_ones() == 2;
        if is_own { position } else { position.swapped() }
    };
    let file = opened(written(name, source, options));
    let read = |selection| {
        WholeTable::read(&file, &selection, source, Crew::ALONE).expect("values behind")
    };
    for (turns, on_edge) in [([true, false], vec![]), ([false, true], vec![man])] {
        let is_everywhere = on_edge.is_empty();
        let part = read(Selection { turns, on_edge });
        let (mut found, mut others) = (0, 0);
        for _ in 0..20_000 {
            let position = position();
            let on_edge = is_everywhere || position.of(man) & goal != 0;
            match part.code(&position) {
                None => {
                    assert!(!turns[position.turn as usize] || !on_edge, "{}", to_fen(&position));
                    others += 1;
                }
                code => {
                    assert_eq!(code, source.code(&position), "{}", to_fen(&position));
                    found += 1;
                }
            }
        }
        assert!(found > 1000 && others > 1000, "{name}: {found} {others}");
    }
    // What moves away from the edge would lead to positions that are not there.
    let whole = read(Selection { turns: [true; 2], on_edge: vec![man] });
    for _ in 0..5000 {
        let position = position();
        assert_eq!(whole.code(&position), source.code(&position), "{}", to_fen(&position));
    }
}

#[test]
fn positions_without_an_answer_say_why() {
    let source = MadeUp { scale: 1 };
    let tables = tables([written("KRvK", &source, &both())]);
    let probe = |fen: &str| tables.probe(&parse_fen(fen).expect("a position"));
    assert!(matches!(probe("8/8/8/8/8/8/1Q6/K1k5 w - -"), Err(ProbeError::Illegal)));
    assert!(matches!(probe("8/8/8/8/8/2k5/8/K5Q1 w - -"), Err(ProbeError::NoTable(_))));
    assert!(matches!(probe("8/8/8/8/8/8/8/8 w - -"), Err(ProbeError::Illegal)));
    assert_eq!(probe("8/8/8/8/8/2k5/8/K7 w - -").ok(), Some(DRAW));
}

/// Whatever happens to a file, it is refused or answers as before, or a block of it is named.
#[test]
fn damage_is_found() {
    let source = MadeUp { scale: 1 };
    let bytes = written("KRvK", &source, &both());
    opened(bytes.clone()).check().expect("an intact file");
    let mut random = fastrand::Rng::with_seed(6);
    let positions: Vec<_> =
        (0..40).map(|_| random_position(&ending("KRvK"), &mut random)).collect();
    for _ in 0..1500 {
        let mut damaged = bytes.clone();
        let at = random.usize(0..bytes.len());
        damaged[at] ^= 1 << random.u8(0..8);
        let Ok(file) = HbfFile::open(Box::new(damaged.clone())) else { continue };
        assert!(file.check().is_err(), "byte {at}");
        let tables = tables([damaged]);
        for position in &positions {
            match tables.probe(position) {
                Ok(code) => assert_eq!(Some(code), source.code(position), "byte {at}"),
                Err(ProbeError::File { problem, .. }) => {
                    assert!(matches!(problem, HbfError::Block { .. } | HbfError::Section(_)));
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    for length in (0..bytes.len()).step_by(97) {
        assert!(HbfFile::open(Box::new(bytes[..length].to_vec())).is_err());
    }
}

/// Files whose checksums are right and whose contents are not: nothing panics.
#[test]
fn contents_of_any_kind_lead_to_values_or_errors() {
    let source = MadeUp { scale: 1 };
    let bytes = written("KRvKN", &source, &EncodeOptions { exits: false, ..both() });
    let mut random = fastrand::Rng::with_seed(7);
    let positions: Vec<_> =
        (0..30).map(|_| random_position(&ending("KRvKN"), &mut random)).collect();
    for _ in 0..400 {
        let mut changed = bytes.clone();
        for _ in 0..random.usize(1..20) {
            // The sections but the blocks are near the front.
            let end = if random.bool() { 3000.min(changed.len()) } else { changed.len() };
            changed[random.usize(32..end)] = random.u8(..);
        }
        support::repair(&mut changed);
        let Ok(file) = HbfFile::open(Box::new(changed)) else { continue };
        let mut tables = hoffman_hbf::Tablebase::new(1 << 16);
        if tables.add(file).is_ok() {
            for position in &positions {
                let _ = tables.probe(position);
            }
        }
    }
}

#[test]
fn endings_without_cells_are_refused() {
    let source = MadeUp { scale: 1 };
    for name in ["KvK", "KQQQQvKQQQ"] {
        let material: Material = ending(name);
        let (texts, crew) = (Texts::default(), Crew::ALONE);
        let written = hoffman_hbf::encode_ending(&material, &source, &options(), texts, crew);
        assert!(written.is_err(), "{name}");
    }
}

//! Proofs under assumptions against a plain search of the whole game in which they hold.

use std::collections::{BTreeMap, HashMap};

use hoffman_board::shakmaty::fen::Fen;
use hoffman_board::shakmaty::{
    Board, CastlingMode, Chess, EnPassantMode, Move, Piece, Position as _, Setup, attacks,
};
use hoffman_board::{Bitboard, Color, FuturemoveKind, Outcome, OutcomeBounds, Role, Square};
use hoffman_prove::{AssumedResult, Assumptions, Limits, Prover};

/// The pieces that are kept on few squares, so that the game has few positions.
const PIECES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// How many games of each ending are compared. `HOFFMAN_RANDOM_SETS` asks for more.
fn amount(usual: usize) -> usize {
    std::env::var("HOFFMAN_RANDOM_SETS").map_or(usual, |n| n.parse().unwrap())
}

/// A rectangle of at least so many files and ranks.
fn rectangle(random: &mut fastrand::Rng, least: u32) -> Bitboard {
    let mut side = || {
        let len = random.u32(least..=least + 1);
        let first = random.u32(0..=8 - len);
        first..first + len
    };
    let (files, ranks) = (side(), side());
    let inside = |s: &Square| files.contains(&s.file().into()) && ranks.contains(&s.rank().into());
    Square::ALL.into_iter().filter(inside).collect()
}

/// A game, and what was agreed on in words.
struct Game {
    assumptions: Assumptions,
    squares: HashMap<(Color, Role), Bitboard>,
    /// The side that moves nothing from some squares, and nothing to some others.
    excluded: Option<(Color, [Bitboard; 2])>,
    stalemates: Option<Color>,
    /// The side that moves nothing to attacked squares.
    shy: Option<Color>,
    /// Men that do not move, nor others like them from there.
    frozen: Vec<(Piece, Square)>,
    /// Whether one of any kind is frozen.
    freezes: bool,
    words: Vec<String>,
}

impl Game {
    /// Few squares for the pieces, and rulings on some captures, promotions and pawn steps.
    fn random(random: &mut fastrand::Rng) -> Game {
        let mut game = Game {
            assumptions: Assumptions::new(),
            squares: HashMap::new(),
            excluded: None,
            stalemates: None,
            shy: None,
            frozen: Vec::new(),
            freezes: false,
            words: Vec::new(),
        };
        for color in Color::ALL {
            for role in PIECES {
                let squares = rectangle(random, 4);
                game.assumptions.confine(color, role, squares);
                game.squares.insert((color, role), squares);
                game.words.push(format!("{color} {role:?} {:#x}", squares.0));
            }
        }
        let is_ruled_on = |kind: &FuturemoveKind| match kind {
            FuturemoveKind::Quiet(role, _) => *role == Role::Pawn,
            FuturemoveKind::Capture { of, .. } => *of != Role::King,
            FuturemoveKind::Promotion(_) => true,
        };
        let kinds: Vec<FuturemoveKind> = FuturemoveKind::all().filter(is_ruled_on).collect();
        for _ in 0..random.usize(0..12) {
            let kind = kinds[random.usize(0..kinds.len())];
            let color = Color::from_white(random.bool());
            // A game in which much wins at once is soon over.
            let ruling =
                if random.u32(0..4) == 0 { AssumedResult::Wins } else { AssumedResult::Loses };
            game.assumptions.rule(color, kind, ruling);
            game.words.push(format!("{color} {kind} {ruling:?}"));
        }
        game
    }

    /// Squares that a side excludes; stalemates that a side wins.
    fn exclude(&mut self, random: &mut fastrand::Rng) {
        let color = Color::from_white(random.bool());
        let mut some = || {
            let squares = Square::ALL.into_iter().filter(|_| random.u32(0..12) == 0);
            squares.collect::<Bitboard>()
        };
        let [from, to] = [some(), some()];
        self.assumptions.exclude_from(color, from);
        self.assumptions.exclude_to(color, to);
        self.excluded = Some((color, [from, to]));
        self.words.push(format!("{color} from {:#x} to {:#x} excluded", from.0, to.0));
        if random.u32(0..3) == 0 {
            let winner = Color::from_white(random.bool());
            self.assumptions.win_stalemates(winner);
            self.stalemates = Some(winner);
            self.words.push(format!("{winner} wins stalemates"));
        }
    }

    /// A side that moves nothing to squares that the other one attacks.
    fn shun(&mut self, random: &mut fastrand::Rng) {
        let color = Color::from_white(random.bool());
        self.assumptions.exclude_to_attacked(color);
        self.shy = Some(color);
        self.words.push(format!("{color} nothing to attacked squares"));
    }

    /// Keeps some pieces of a side on one or two squares, to which it moves nothing.
    fn close(&mut self, random: &mut fastrand::Rng) {
        let color = Color::from_white(random.bool());
        let mut closed = Bitboard::EMPTY;
        for role in PIECES {
            let Some(kept) = self.squares.get_mut(&(color, role)) else { continue };
            if random.bool() {
                continue;
            }
            let all: Vec<Square> = kept.into_iter().collect();
            let mut one = || all[random.usize(0..all.len())];
            *kept = [one(), one()].into_iter().collect();
            self.assumptions.confine(color, role, *kept);
            self.words.push(format!("{color} {role:?} {:#x}", kept.0));
            closed |= *kept;
        }
        let stay = closed.into_iter().filter(|_| random.u32(0..4) == 0).collect::<Bitboard>();
        self.assumptions.exclude_from(color, stay);
        self.assumptions.exclude_to(color, closed);
        self.excluded = Some((color, [stay, closed]));
        self.words.push(format!("{color} from {:#x} to {:#x} excluded", stay.0, closed.0));
    }

    /// What a move does, whatever is behind it.
    fn of_move(&self, position: &Chess, m: Move) -> Option<AssumedResult> {
        let told = self.assumptions.of_move(position, &m);
        if let Some((color, [from, to])) = self.excluded
            && position.turn() == color
            && (m.from().is_some_and(|square| from.contains(square)) || to.contains(m.to()))
        {
            // It may win, if its kind does.
            assert_ne!(told, None, "{m:?} where {}", self.words.join(", "));
        }
        let attacked = |(from, man): (Square, Piece)| {
            let occupied = position.board().occupied();
            man.color != position.turn() && attacks::attacks(from, man, occupied).contains(m.to())
        };
        let attacked = || position.board().clone().into_iter().any(attacked);
        assert!(self.shy != Some(position.turn()) || told.is_some() || !attacked(), "{m:?}");
        let frozen = |&(man, square): &(Piece, Square)| {
            (man.color, man.role, Some(square)) == (position.turn(), m.role(), m.from())
        };
        let stays = self.frozen.iter().any(frozen);
        assert!(!stays || told.is_some(), "{m:?} where {}", self.words.join(", "));
        told
    }

    fn freeze(&mut self, man: Piece, square: Square) {
        self.assumptions.freeze(man.color, man.role, square);
        self.frozen.push((man, square));
        self.words.push(format!("{man:?} frozen on {square}"));
    }

    /// A random position in which all pieces stand where they may.
    fn position(&mut self, men: &[(Color, Role)], random: &mut fastrand::Rng) -> Option<Chess> {
        let pawns = Bitboard::FULL & !(Bitboard(0xff) | Bitboard(0xff << 56));
        for _ in 0..1000 {
            let mut board = Board::empty();
            for &(color, role) in men {
                let squares = self.squares.get(&(color, role)).copied().unwrap_or(pawns);
                let free: Vec<Square> = (squares & !board.occupied()).into_iter().collect();
                board.set_piece_at(*free.get(random.usize(0..free.len().max(1)))?, role.of(color));
            }
            let turn = Color::from_white(random.bool());
            let setup = Setup { board, turn, ..Setup::empty() };
            let Ok(position) = setup.position::<Chess>(CastlingMode::Standard) else { continue };
            let pawn = position.board().pawns().into_iter().next();
            if let Some(square) = pawn.filter(|_| random.u32(0..3) == 0) {
                self.freeze(position.board().piece_at(square)?, square);
            }
            if self.freezes {
                let men: Vec<(Square, Piece)> = position.board().clone().into_iter().collect();
                let (square, man) = men[random.usize(0..men.len())];
                self.freeze(man, square);
            }
            return Some(position);
        }
        None
    }
}

/// All positions of a game that a position leads to, and who wins them.
#[derive(Default)]
struct Search {
    numbers: HashMap<Chess, usize>,
    /// The positions before each, once for every move.
    before: Vec<Vec<usize>>,
    /// Moves of each that are not known to lose.
    left: Vec<usize>,
    white: Vec<bool>,
    outcomes: Vec<Option<Color>>,
    decided: Vec<usize>,
}

/// Games of more positions are left out.
const MOST: usize = 40_000;

impl Search {
    /// None if there are too many positions.
    fn of(game: &Game, root: &Chess) -> Option<Search> {
        let mut search = Search::default();
        let mut waiting = vec![root.clone()];
        search.number(root);
        while let Some(position) = waiting.pop() {
            if search.numbers.len() > MOST {
                return None;
            }
            let at = search.number(&position);
            let moves = position.legal_moves();
            let turn = position.turn();
            if moves.is_empty() && position.is_check() {
                search.decide(at, turn.other());
            } else if let Some(winner) = game.stalemates.filter(|_| moves.is_empty()) {
                search.decide(at, winner);
            }
            for m in &moves {
                match game.of_move(&position, *m) {
                    Some(AssumedResult::Wins) => search.decide(at, turn),
                    Some(AssumedResult::Loses) => search.left[at] -= 1,
                    None => {
                        let mut next = position.clone();
                        next.play_unchecked(*m);
                        let known = search.numbers.len();
                        let behind = search.number(&next);
                        search.before[behind].push(at);
                        if behind == known {
                            waiting.push(next);
                        }
                    }
                }
            }
            if !moves.is_empty() && search.left[at] == 0 {
                search.decide(at, turn.other());
            }
        }
        search.go_back();
        Some(search)
    }

    fn number(&mut self, position: &Chess) -> usize {
        if let Some(&number) = self.numbers.get(position) {
            return number;
        }
        let number = self.numbers.len();
        self.numbers.insert(position.clone(), number);
        self.before.push(Vec::new());
        self.left.push(position.legal_moves().len());
        self.white.push(position.turn().is_white());
        self.outcomes.push(None);
        number
    }

    fn decide(&mut self, at: usize, winner: Color) {
        if self.outcomes[at].is_none() {
            self.outcomes[at] = Some(winner);
            self.decided.push(at);
        }
    }

    fn go_back(&mut self) {
        while let Some(at) = self.decided.pop() {
            let Some(winner) = self.outcomes[at] else { continue };
            for before in std::mem::take(&mut self.before[at]) {
                let turn = Color::from_white(self.white[before]);
                self.left[before] -= 1;
                if turn == winner || self.left[before] == 0 {
                    self.decide(before, winner);
                }
            }
        }
    }

    fn outcome(&self, position: &Chess) -> Outcome {
        self.outcomes[self.numbers[position]].map_or(Outcome::Draw, Outcome::won_by)
    }

    fn outcome_of_move(&self, game: &Game, position: &Chess, m: Move) -> Outcome {
        match game.of_move(position, m) {
            Some(AssumedResult::Wins) => Outcome::won_by(position.turn()),
            Some(AssumedResult::Loses) => Outcome::won_by(position.turn().other()),
            None => {
                let mut next = position.clone();
                next.play_unchecked(m);
                self.outcome(&next)
            }
        }
    }
}

/// Proves a position and its moves, by slices if they can, and one by one.
fn check(game: &Game, position: &Chess, search: &Search) {
    let prover = |memory| {
        Prover::new(position.clone(), Limits { memory }).assuming(game.assumptions.clone())
    };
    for positions in [1, 20, 400, 3000] {
        check_part(prover(positions * 400).one_by_one(), game, position, search);
    }
    let each = check_prover(prover(1 << 30).one_by_one(), game, position, search);
    assert!(each.is_none_or(|(least, most)| least == most), "all positions are looked at");
    if game.shy.is_none() {
        let slices = check_prover(prover(1 << 30), game, position, search);
        // Not all of them are open.
        let within =
            slices.zip(each).is_some_and(|(slices, each)| slices.0 <= each.0 && each.1 <= slices.1);
        assert!(
            slices.is_none() && each.is_none() || within,
            "{slices:?} {each:?} {:?}",
            game.words
        );
    }
}

/// Looks at some positions only: bounds and distances may not exclude the truth.
fn check_part(mut prover: Prover, game: &Game, position: &Chess, search: &Search) {
    prover.prove(&|| {}, &mut |_| true);
    let within = |OutcomeBounds { least, most }: OutcomeBounds, expected: Outcome| {
        least <= expected && expected <= most
    };
    let bounds = prover.progress().bounds;
    assert!(within(bounds, search.outcome(position)), "{bounds:?} {:?}", game.words);
    for (m, bounds) in prover.moves() {
        let expected = search.outcome_of_move(game, position, m);
        assert!(within(bounds, expected), "{m:?} {bounds:?} {:?}", game.words);
    }
}

/// Proves a position and its moves; at no moment may the bounds exclude the truth. The moves that a
/// win takes, at least and at most.
fn check_prover(
    mut prover: Prover,
    game: &Game,
    position: &Chess,
    search: &Search,
) -> Option<(u16, u16)> {
    let fen = Fen::from_position(position, EnPassantMode::Legal);
    let about = || format!("{fen} where {}", game.words.join(", "));
    let expected = search.outcome(position);
    let mut tell = |prover: &Prover| {
        let OutcomeBounds { least, most } = prover.progress().bounds;
        assert!(least <= expected && expected <= most, "{least:?} to {most:?} in {}", about());
        true
    };
    prover.prove(&|| {}, &mut tell);
    prover.prove_moves(u64::MAX, &|| {}, &mut tell);
    assert_eq!(prover.progress().bounds, OutcomeBounds::exactly(expected), "{}", about());

    for (m, bounds) in prover.moves() {
        let expected = search.outcome_of_move(game, position, m);
        assert_eq!(bounds, OutcomeBounds::exactly(expected), "{m:?} in {}", about());
    }
    prover.distance(&|| {}).unwrap()
}

#[test]
fn assumptions_make_the_game_that_they_say() {
    let endings = [
        ("KPvK", 8, 1),
        ("KPvKP", 8, 2),
        ("KPPvKP", 6, 3),
        ("KRvKP", 5, 4),
        ("KNPvKP", 3, 5),
        ("KQvKR", 1, 6),
        ("KRPvKB", 1, 7),
    ];
    compare(&endings, |_, _| {});
}

/// Pieces and pawns that may not leave squares, or not come there, and won stalemates.
#[test]
fn squares_are_excluded_as_they_say() {
    let endings = [
        ("KPvK", 8, 11),
        ("KPvKP", 8, 12),
        ("KPPvKP", 4, 13),
        ("KRvKP", 6, 14),
        ("KNPvKP", 3, 15),
        ("KQvKR", 3, 16),
        ("KRPvKB", 2, 17),
        ("KRRvK", 5, 18),
        ("KBBvK", 5, 19),
    ];
    compare(&endings, Game::exclude);
}

/// Pieces that stand where they may stay and may not come back, as nowhere else.
#[test]
fn pieces_have_no_square_to_come_to() {
    let endings = [
        ("KPvK", 60, 21),
        ("KPvKP", 40, 22),
        ("KRvKP", 40, 23),
        ("KBPvK", 40, 24),
        ("KNvKR", 30, 25),
        ("KRRvK", 20, 26),
    ];
    compare(&endings, Game::close);
}

/// Men that do not move, where others of their kind may, and may come by promotion.
#[test]
fn frozen_men_are_not_others_of_their_kind() {
    let endings = [
        ("KPvK", 10, 31),
        ("KRPvK", 10, 32),
        ("KRvKP", 10, 33),
        ("KRRvK", 6, 34),
        ("KNPvKP", 6, 35),
        ("KQQvK", 6, 36),
        ("KBvKPP", 6, 37),
    ];
    compare(&endings, |game, _| game.freezes = true);
}

/// Squares that are attacked when the move is made.
#[test]
fn attacked_squares_are_excluded() {
    let endings = [
        ("KPvK", 8, 41),
        ("KPvKP", 6, 46),
        ("KRvKP", 8, 47),
        ("KQvKR", 1, 42),
        ("KRPvKB", 1, 43),
        ("KNPvKP", 1, 44),
        ("KPPvKP", 1, 45),
    ];
    compare(&endings, Game::shun);
}

/// `change` adds to what is agreed on in a game.
fn compare(endings: &[(&str, usize, u64)], change: fn(&mut Game, &mut fastrand::Rng)) {
    let mut met: BTreeMap<Outcome, usize> = BTreeMap::new();
    for &(ending, usual, seed) in endings {
        let mut random = fastrand::Rng::with_seed(seed);
        let material: hoffman_board::Material = ending.parse().unwrap();
        let kings = Color::ALL.map(|color| (color, Role::King));
        let others = material.men_in_naming_order().into_iter().filter(|man| man.1 != Role::King);
        let men: Vec<(Color, Role)> = kings.into_iter().chain(others).collect();
        let mut done = 0;
        while done < amount(usual) {
            let mut game = Game::random(&mut random);
            change(&mut game, &mut random);
            let Some(position) = game.position(&men, &mut random) else { continue };
            let Some(search) = Search::of(&game, &position) else { continue };
            *met.entry(search.outcome(&position)).or_default() += 1;
            check(&game, &position, &search);
            done += 1;
        }
    }
    assert_eq!(met.len(), 3, "wins of both sides and draws: {met:?}");
}

/// Pieces that are kept on few squares take little memory, however many they are.
#[test]
fn confined_pieces_take_little_memory() {
    let squares = |square: Square| Bitboard::from_square(square);
    let mut assumptions = Assumptions::new();
    for (color, role, own) in [
        (Color::White, Role::King, squares(Square::G1) | squares(Square::H1)),
        (Color::White, Role::Queen, squares(Square::A1) | squares(Square::A2)),
        (Color::Black, Role::King, squares(Square::G8) | squares(Square::H8)),
        (Color::Black, Role::Rook, squares(Square::B8) | squares(Square::C8)),
        (Color::Black, Role::Bishop, squares(Square::D8) | squares(Square::E7)),
        (Color::Black, Role::Knight, squares(Square::F8) | squares(Square::H7)),
    ] {
        assumptions.confine(color, role, own);
    }
    let fen: Fen = "1r1b1nk1/8/8/8/8/8/Q7/6K1 b - - 0 1".parse().unwrap();
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let prove = |prover: Prover| {
        let mut prover = prover.assuming(assumptions.clone());
        prover.prove(&|| {}, &mut |_| true);
        prover.progress()
    };
    let limits = Limits { memory: 1 << 20 };
    let by_slices = prove(Prover::new(position.clone(), limits));
    let by_positions = prove(Prover::new(position, limits).one_by_one());
    assert!(by_slices.open > 0 && by_slices.bounds.known().is_some(), "{by_slices:?}");
    assert_eq!(by_slices.bounds, by_positions.bounds);
}

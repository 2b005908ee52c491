//! Bounds against complete endings: at no moment may they exclude the truth, and in the end they
//! are the truth, for the position and for all that was proven of its moves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hoffman_board::shakmaty::fen::{Epd, Fen};
use hoffman_board::shakmaty::{
    Board, CastlingMode, Chess, EnPassantMode, Move, Position as _, Setup,
};
use hoffman_board::{Bitboard, Color, Material, Outcome, OutcomeBounds, Rank, Role, Square, Value};
use hoffman_plan::complete;
use hoffman_prove::{Endings, Limits, LookedUp, Prover, ReadingCost};
use hoffman_solve::{Monitor, SolveOptions, Tables, solve_table};
use hoffman_space::{PawnSquares, SliceValues, TableValues};

/// The complete endings, and all that they need; with outcomes alone if that is asked.
fn tables(endings: &[&str], outcomes: bool) -> Tables {
    let mut tables = Tables::default();
    let options = SolveOptions { keep: true, outcomes, ..SolveOptions::default() };
    for job in complete(endings.iter().map(|name| name.parse().unwrap())) {
        let mut table = TableValues::new(job.material, job.slices());
        solve_table(&mut table, &tables, &options, &|| {}).unwrap();
        tables.insert(job.material, Arc::new(table));
    }
    tables
}

/// What a complete ending says of a position.
fn truth(tables: &Tables, position: &Chess) -> Outcome {
    match value(tables, position) {
        Value::Win(_) => Outcome::won_by(position.turn()),
        Value::Loss(_) => Outcome::won_by(position.turn().other()),
        Value::Draw => Outcome::Draw,
        Value::Illegal => panic!("{:?} is illegal", position.board()),
    }
}

fn material_of(position: &Chess) -> Material {
    let men = position.board().clone().into_iter();
    Material::from_men(men.map(|(_, piece)| (piece.color, piece.role)))
}

fn value(tables: &Tables, position: &Chess) -> Value {
    let setup = position.to_setup(EnPassantMode::Legal);
    let men = || setup.board.clone().into_iter();
    let (normal, swapped) = material_of(position).normalized();
    let table = &tables[&normal];
    let seen = |square: Square| if swapped { square.flip_vertical() } else { square };
    let color = |color: Color| if swapped { color.other() } else { color };
    let mut left: Vec<(Square, Color, Role)> =
        men().map(|(square, piece)| (seen(square), color(piece.color), piece.role)).collect();
    let movers = table.layout.movers().iter().map(|m| {
        let at = left.iter().position(|man| (man.1, man.2) == (m.color, m.role)).unwrap();
        u8::from(left.remove(at).0)
    });
    let squares: Vec<u8> = movers.collect();
    let pawns = |of: Color| -> u64 {
        left.iter().filter(|man| man.1 == of).map(|man| 1 << u32::from(man.0)).sum()
    };
    let pawns = PawnSquares { white: pawns(Color::White), black: pawns(Color::Black) };
    let right = setup.ep_square.map(|square| u8::from(seen(square)));
    table.value(&squares, pawns, color(setup.turn), right).unwrap()
}

/// A random position.
fn random_position(material: Material, random: &mut fastrand::Rng) -> Chess {
    let outer = Bitboard::from_rank(Rank::First) | Bitboard::from_rank(Rank::Eighth);
    loop {
        let mut board = Board::empty();
        let kings = Color::ALL.map(|color| (color, Role::King));
        let mut placed = true;
        for (color, role) in material.men_in_naming_order().into_iter().chain(kings) {
            let square = Square::new(random.u32(0..64));
            let may_stand = role != Role::Pawn || !outer.contains(square);
            placed &= may_stand && board.piece_at(square).is_none();
            board.set_piece_at(square, role.of(color));
        }
        let turn = Color::from_white(random.bool());
        let setup = Setup { board, turn, ..Setup::empty() };
        if let Some(position) =
            placed.then(|| setup.position(CastlingMode::Standard).ok()).flatten()
        {
            return position;
        }
    }
}

/// A random position of two pawns, one of which has just jumped beside the other.
fn position_with_right(random: &mut fastrand::Rng) -> Chess {
    loop {
        let turn = Color::from_white(random.bool());
        let jumped = Square::new(turn.fold_wb(32, 24) + random.u32(0..8));
        let beside = if random.bool() { jumped.offset(1) } else { jumped.offset(-1) };
        let ep_square = jumped.offset(turn.fold_wb(8, -8));
        let mut board = Board::empty();
        board.set_piece_at(jumped, Role::Pawn.of(turn.other()));
        board.set_piece_at(beside.unwrap(), Role::Pawn.of(turn));
        for color in Color::ALL {
            board.set_piece_at(Square::new(random.u32(0..64)), Role::King.of(color));
        }
        let setup = Setup { board, turn, ep_square, ..Setup::empty() };
        let position = setup.position::<Chess>(CastlingMode::Standard).ok();
        let has_right = |position: &Chess| position.ep_square(EnPassantMode::Legal).is_some();
        if let Some(position) =
            position.filter(has_right).filter(|p| p.board().occupied().count() == 4)
        {
            return position;
        }
    }
}

fn includes(bounds: OutcomeBounds, outcome: Outcome) -> bool {
    bounds.least <= outcome && outcome <= bounds.most
}

/// How many positions of each ending are proven. `HOFFMAN_RANDOM_SETS` asks for more.
fn amount(usual: usize) -> usize {
    std::env::var("HOFFMAN_RANDOM_SETS").map_or(usual, |n| n.parse().unwrap())
}

/// How many there are in all, of what a variable asks for.
fn total(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |n| n.parse().unwrap())
}

/// Four men, of each kind.
const ENDINGS: [&str; 17] = [
    "KPvK", "KPvKP", "KPPvK", "KRvKP", "KPvKN", "KBPvK", "KQvKP", "KPvKB", "KNPvK", "KRPvK",
    "KQPvK", "KRvKB", "KRvKN", "KQvKR", "KQvKQ", "KBNvK", "KNNvK",
];

/// Their complete tables.
fn four_men() -> Arc<Tables> {
    static TABLES: OnceLock<Arc<Tables>> = OnceLock::new();
    Arc::clone(TABLES.get_or_init(|| Arc::new(tables(&ENDINGS, false))))
}

/// Knows the endings of up to so many men, and single positions of them where that is asked.
struct Smaller {
    tables: Arc<Tables>,
    men: usize,
    looks_up: bool,
}

impl Smaller {
    fn find(&self, ending: &Material) -> Option<&Arc<TableValues>> {
        self.tables.get(ending).filter(|_| ending.men() <= self.men && ending.men() > 2)
    }
}

impl Endings for Smaller {
    fn reading(&self, ending: &Material) -> Option<ReadingCost> {
        self.find(ending).map(|_| ReadingCost { bytes: 1 << 20, positions: 1 << 20 })
    }

    fn values(&self, ending: &Material) -> Option<Arc<TableValues>> {
        self.find(ending).map(Arc::clone)
    }

    fn look_up(&self, position: &Chess) -> Option<LookedUp> {
        let ending = material_of(position).normalized().0;
        let known = self.looks_up && self.find(&ending).is_some();
        known.then(|| looked_up(&self.tables, position))
    }
}

/// Knows single positions alone.
struct Positions(Arc<Tables>);

impl Endings for Positions {
    fn reading(&self, _: &Material) -> Option<ReadingCost> {
        None
    }

    fn values(&self, ending: &Material) -> Option<Arc<TableValues>> {
        panic!("{ending:?} is read")
    }

    fn look_up(&self, position: &Chess) -> Option<LookedUp> {
        Some(looked_up(&self.0, position))
    }
}

fn looked_up(tables: &Tables, position: &Chess) -> LookedUp {
    let moves = match value(tables, position) {
        Value::Win(moves) | Value::Loss(moves) => Some(moves),
        _ => None,
    };
    LookedUp { outcome: truth(tables, position), moves }
}

/// Stops when it has been asked so often.
struct StopsAfter {
    asked: AtomicUsize,
    most: usize,
}

impl Monitor for StopsAfter {
    fn slice(&self, _: PawnSquares, _: &Arc<SliceValues>) {}

    fn is_stopped(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

/// The same values without distances.
fn outcomes(tables: &Tables) -> Tables {
    let without = |(ending, table): (&Material, &Arc<TableValues>)| {
        let outcomes = TableValues::new(*ending, table.slices.keys().copied());
        for (pawns, slice) in &table.slices {
            outcomes.slices[pawns].set(Arc::new(slice.get().unwrap().outcomes())).unwrap();
        }
        (*ending, Arc::new(outcomes))
    };
    tables.iter().map(without).collect()
}

/// Proves a position, and compares all that is said on the way and in the end.
fn check(tables: &Tables, position: &Chess) {
    let prover = check_proof(tables, position, None);
    check_distance(tables, position, &prover);
    if truth(tables, position) != Outcome::Draw {
        check_certificate(position, &prover);
    }
}

/// The same by one who may know endings, without distances and certificates.
fn check_proof(tables: &Tables, position: &Chess, known: Option<Arc<dyn Endings>>) -> Prover {
    let expected = truth(tables, position);
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    let mut steps = 0;
    let mut tell = |prover: &Prover| {
        let progress = prover.progress();
        assert!(includes(progress.bounds, expected), "{fen}: {progress:?}, {expected:?}");
        steps += 1;
        true
    };
    let prover = Prover::new(position.clone(), Limits { memory: 2 << 30 });
    let mut prover = known.into_iter().fold(prover, Prover::knowing);
    prover.prove(&|| {}, &mut tell);
    prover.prove_moves(u64::MAX, &|| {}, &mut tell);
    let exactly = OutcomeBounds::exactly(expected);
    let progress = prover.progress();
    assert_eq!(progress.bounds, exactly, "{fen} after {steps} steps: {progress:?}");
    for (m, bounds) in prover.moves() {
        let mut next = position.clone();
        next.play_unchecked(m);
        let expected = OutcomeBounds::exactly(truth(tables, &next));
        assert_eq!(bounds, expected, "{fen} {m}");
    }
    prover
}

/// The distance lies between the bounds of it.
fn check_distance(tables: &Tables, position: &Chess, prover: &Prover) {
    let bounds = prover.distance(&|| {}).unwrap();
    match value(tables, position) {
        Value::Win(moves) | Value::Loss(moves) => {
            let (least, most) = bounds.unwrap();
            assert!(least <= moves && moves <= most, "{:?}: {moves}, {bounds:?}", position.board());
        }
        _ => assert_eq!(bounds, None),
    }
}

/// Who knows the rules alone finds the proof right: that a side wins, or that both hold.
fn check_certificate(position: &Chess, prover: &Prover) {
    let epd = Epd::from_position(position, EnPassantMode::Legal).to_string();
    let claims = prover.claims(&prover.strategies(&|| {}).unwrap(), &|| {}).unwrap();
    let is_draw = prover.progress().bounds.known() == Some(Outcome::Draw);
    assert_eq!(claims.len(), if is_draw { 2 } else { 1 }, "{epd}");
    let file = hoffman_certificate::write(Vec::new(), &epd, &claims).unwrap();
    let checked = hoffman_certificate::check(file.as_slice()).unwrap();
    assert_eq!(checked.position, epd);
    for (checked, claim) in checked.claims.iter().zip(&claims) {
        assert_eq!((checked.0, checked.1), (claim.side, claim.claimed), "{epd}");
    }
}

/// A bishop against a knight behind a chain of eight pawns: where a piece that takes a pawn can be
/// taken, no slice with both of them has to be opened.
#[test]
fn pieces_that_take_pawns_are_taken() {
    let fen: Fen = "8/3k1n2/8/p1p1p1p1/P1P1P1P1/8/3K4/5B2 w - - 0 1".parse().unwrap();
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let mut prover = Prover::new(position.clone(), Limits { memory: 1 << 30 });
    prover.prove(&|| {}, &mut |prover| prover.progress().positions < 1_000_000_000);
    assert_eq!(prover.progress().bounds.known(), Some(Outcome::Draw));
    check_certificate(&position, &prover);
}

#[test]
fn proofs_agree_with_complete_endings() {
    let endings = ["KPvK", "KPvKP", "KPPvK", "KRvKP", "KPvKN", "KBPvK", "KQvKP"];
    let tables = four_men();
    let mut random = fastrand::Rng::with_seed(18);
    for ending in endings {
        for _ in 0..amount(4) {
            check(&tables, &random_position(ending.parse().unwrap(), &mut random));
        }
    }
}

#[test]
fn proofs_begin_with_rights_to_take_en_passant() {
    let tables = four_men();
    let mut random = fastrand::Rng::with_seed(81);
    for _ in 0..amount(10) {
        check(&tables, &position_with_right(&mut random));
    }
}

/// Fine 61, in which a second queen comes: what is known of her being taken, and of the first one,
/// are two bounds of the same positions.
#[test]
#[ignore = "slow: a minute or two, and six gigabytes"]
fn a_win_with_two_queens_has_a_certificate() {
    let fen: Fen = "8/ppp5/8/PPP5/6kp/8/6KP/8 w - - 0 1".parse().unwrap();
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let mut prover = Prover::new(position.clone(), Limits { memory: 8 << 30 });
    prover.prove(&|| {}, &mut |_| true);
    assert_eq!(prover.progress().bounds, OutcomeBounds::exactly(Outcome::WhiteWins));
    check_certificate(&position, &prover);
}

/// Who knows endings of fewer men, or of as many, says the same, and opens fewer slices.
#[test]
fn known_endings_are_leaves() {
    let endings = ["KPvKP", "KPPvK", "KRvKP", "KPvKN", "KBPvK", "KQvKP"];
    let tables = four_men();
    let outcomes = Arc::new(outcomes(&tables));
    let mut random = fastrand::Rng::with_seed(27);
    let [mut opened, mut opened_before] = [0, 0];
    let mut looks_up = false;
    let mut prove = |position: &Chess, men: usize, with_distances: bool| {
        looks_up = !looks_up;
        let known = if with_distances { &tables } else { &outcomes };
        let known = Smaller { tables: Arc::clone(known), men, looks_up };
        let prover = check_proof(&tables, position, Some(Arc::new(known)));
        if with_distances {
            check_distance(&tables, position, &prover);
        }
        prover.progress().open
    };
    for ending in endings {
        for _ in 0..amount(4) {
            let position = random_position(ending.parse().unwrap(), &mut random);
            opened_before += check_proof(&tables, &position, None).progress().open;
            opened += prove(&position, 3, random.bool());
            assert_eq!(prove(&position, 4, random.bool()), 0);
        }
    }
    for _ in 0..amount(10) {
        let position = position_with_right(&mut random);
        opened += prove(&position, 3, random.bool());
        opened_before += check_proof(&tables, &position, None).progress().open;
        prove(&position, 4, true);
    }
    assert!(opened < opened_before, "{opened}, {opened_before}");
}

/// What is known is not proven, and no table is read for it.
#[test]
fn single_positions_are_looked_up() {
    let tables = four_men();
    let mut random = fastrand::Rng::with_seed(3);
    let check_known = |position: &Chess| {
        let prover = check_proof(&tables, position, Some(Arc::new(Positions(Arc::clone(&tables)))));
        assert_eq!(prover.progress().open, 0);
        let moves = match value(&tables, position) {
            Value::Win(moves) | Value::Loss(moves) => Some((moves, moves)),
            _ => None,
        };
        assert_eq!(prover.distance(&|| {}).unwrap(), moves, "{:?}", position.board());
        // Nobody knows how it comes about.
        assert!(prover.strategies(&|| {}).is_err());
    };
    for ending in ENDINGS {
        check_known(&random_position(ending.parse().unwrap(), &mut random));
    }
    for _ in 0..10 {
        check_known(&position_with_right(&mut random));
    }
}

/// What is known behind one move is known of the position, too.
#[test]
fn known_replies_bound_a_position_looked_at_one_by_one() {
    let tables = four_men();
    let fen: Fen = "8/8/8/4k3/8/7r/r2Q4/K7 w - - 0 1".parse().unwrap();
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let known = Smaller { tables: Arc::clone(&tables), men: 4, looks_up: true };
    let limits = Limits { memory: 1 << 16 };
    let mut prover = Prover::new(position.clone(), limits).knowing(Arc::new(known)).one_by_one();
    prover.prove(&|| {}, &mut |_| true);
    prover.prove_moves(u64::MAX, &|| {}, &mut |_| true);

    let is_capture = |m: &&Move| m.is_capture() && m.role() == Role::King;
    let moves = position.legal_moves();
    let mut taken = position.clone();
    taken.play_unchecked(*moves.iter().find(is_capture).unwrap());
    let expected = truth(&tables, &taken);
    assert!(expected > Outcome::BlackWins);
    assert!(prover.progress().bounds.least >= expected, "{:?}", prover.progress());
}

/// `HOFFMAN_RANDOM_POSITIONS` asks for so many in all.
#[test]
fn random_positions_are_proven_as_they_are() {
    let tables = four_men();
    let mut random = fastrand::Rng::with_seed(50);
    for number in 0..total("HOFFMAN_RANDOM_POSITIONS", ENDINGS.len()) {
        let ending = ENDINGS[number % ENDINGS.len()].parse().unwrap();
        check_proof(&tables, &random_position(ending, &mut random), None);
    }
}

/// Three men against two, half of them without pieces. Most are decided by some work;
/// what is said of the others by then is true. `HOFFMAN_FIVE_MEN` asks for so many positions.
#[test]
#[ignore = "solves all endings of three men against two: minutes, and nine gigabytes"]
fn five_men_are_proven_as_they_are() {
    let tables = five_men();
    let [mut decided, mut bounded, mut unknown] = [0, 0, 0];
    for (number, position) in positions_of_five(&tables, 200).enumerate() {
        let prover = bounded_proof(&tables, &position);
        let bounds = prover.progress().bounds;
        match bounds.known() {
            Some(outcome) => {
                decided += 1;
                if outcome != Outcome::Draw && number % 8 == 0 {
                    check_certificate(&position, &prover);
                }
            }
            None if bounds == OutcomeBounds::UNKNOWN => unknown += 1,
            None => bounded += 1,
        }
    }
    println!("{decided} decided, {bounded} with a bound, {unknown} not known");
    assert!(decided > bounded + unknown);
}

/// The same by one who knows the endings of up to four men, as a user's folder may have them: each
/// is decided.
#[test]
#[ignore = "solves all endings of three men against two: minutes, and nine gigabytes"]
fn five_men_are_decided_by_smaller_endings() {
    let tables = five_men();
    let smaller = |(ending, table): (&Material, &Arc<TableValues>)| {
        (ending.men() < 5).then(|| (*ending, Arc::clone(table)))
    };
    let four: Arc<Tables> = Arc::new(tables.iter().filter_map(smaller).collect());
    let mut numbers = [0; 3];
    for (number, position) in positions_of_five(&tables, 201).enumerate() {
        let known = Smaller { tables: Arc::clone(&four), men: 4, looks_up: number % 3 != 0 };
        let prover = Prover::new(position.clone(), Limits { memory: 6 << 30 });
        let mut prover = prover.knowing(Arc::new(known));
        let expected = truth(&tables, &position);
        prover.prove(&|| {}, &mut |prover| {
            let bounds = prover.progress().bounds;
            assert!(includes(bounds, expected), "{:?}: {bounds:?}", position.board());
            true
        });
        let bounds = prover.progress().bounds;
        assert_eq!(bounds.known(), Some(expected), "{:?}: {bounds:?}", position.board());
        check_moves(&tables, &position, &prover);

        numbers[expected as usize] += 1;
        if (number + 1).is_multiple_of(100) {
            eprintln!("{} so far: {numbers:?}", number + 1);
        }
    }
    println!("decided as they are: {numbers:?} (won by Black, drawn, won by White)");
    assert!(numbers.iter().all(|&number| number > 0));
}

/// Random positions of three men against two, half of them without pieces.
fn positions_of_five(tables: &Tables, seed: u64) -> impl Iterator<Item = Chess> + use<> {
    let of_five = |material: &&Material| material.men() == 5;
    let mut endings: Vec<Material> = tables.keys().filter(of_five).copied().collect();
    endings.sort_by_key(Material::stem);
    let pawns: Material = PAWNS.parse().unwrap();

    let mut random = fastrand::Rng::with_seed(seed);
    (0..total("HOFFMAN_FIVE_MEN", 80)).map(move |number| {
        let other = endings[number / 2 % endings.len()];
        let ending = if number % 2 == 0 { pawns } else { other };
        random_position(ending, &mut random)
    })
}

/// The pawn ending of three men against two.
const PAWNS: &str = "KPPvKP";

/// Outcomes of it and of the endings that it leads to, made once.
fn five_men() -> Arc<Tables> {
    static TABLES: OnceLock<Arc<Tables>> = OnceLock::new();
    Arc::clone(TABLES.get_or_init(|| Arc::new(tables(&[PAWNS], true))))
}

/// Proves a position and its moves, as far as some work leads, and compares what is said on the way
/// and in the end.
fn bounded_proof(tables: &Tables, position: &Chess) -> Prover {
    const WORK: u64 = 500_000_000;
    let expected = truth(tables, position);
    let mut tell = |prover: &Prover| {
        let progress = prover.progress();
        assert!(includes(progress.bounds, expected), "{:?}: {progress:?}", position.board());
        progress.positions < WORK
    };
    let mut prover = Prover::new(position.clone(), Limits { memory: 4 << 30 });
    prover.prove(&|| {}, &mut tell);
    prover.prove_moves(WORK, &|| {}, &mut tell);

    check_moves(tables, position, &prover);
    prover
}

/// What is said of moves is true.
fn check_moves(tables: &Tables, position: &Chess, prover: &Prover) {
    for (m, bounds) in prover.moves() {
        let mut next = position.clone();
        next.play_unchecked(m);
        let expected = truth(tables, &next);
        assert!(includes(bounds, expected), "{:?} {m}: {bounds:?}", position.board());
    }
}

/// Wherever the work is stopped, what is said by then is true. `HOFFMAN_RANDOM_STOPS` asks for so
/// many stops in all.
#[test]
fn stopped_proofs_say_nothing_wrong() {
    let tables = four_men();
    let mut random = fastrand::Rng::with_seed(100);
    let [mut in_between, mut undecided] = [0, 0];
    let stops = total("HOFFMAN_RANDOM_STOPS", 32);
    for number in 0..stops.div_ceil(4) {
        let ending = ENDINGS[number % ENDINGS.len()].parse().unwrap();
        let position = random_position(ending, &mut random);
        let whole = stopped(&tables, &position, usize::MAX);
        for _ in 0..4 {
            let proof = stopped(&tables, &position, random.usize(0..whole.asked));
            in_between += usize::from(proof.open > 0);
            undecided += usize::from(proof.undecided > 0);
        }
    }
    println!("{stops} stops, {in_between} with slices open, {undecided} with moves undecided");
    assert!(in_between > 0 && undecided > 0);
}

/// A proof that was stopped, and all that it said true.
struct Stopped {
    /// How often it was asked whether to stop.
    asked: usize,
    open: usize,
    undecided: usize,
}

/// Proves a position until it has been asked so often whether to stop.
fn stopped(tables: &Tables, position: &Chess, most: usize) -> Stopped {
    let monitor = StopsAfter { asked: AtomicUsize::new(0), most };
    let mut prover = Prover::new(position.clone(), Limits { memory: 2 << 30 });
    prover.prove(&monitor, &mut |_| true);
    prover.prove_moves(u64::MAX, &monitor, &mut |_| true);
    let progress = prover.progress();
    let expected = truth(tables, position);
    assert!(includes(progress.bounds, expected), "{:?}: {progress:?}", position.board());
    for (m, bounds) in prover.moves() {
        let mut next = position.clone();
        next.play_unchecked(m);
        let expected = truth(tables, &next);
        assert!(includes(bounds, expected), "{:?} {m}: {bounds:?}", position.board());
    }
    let (decided, moves) = progress.decided;
    let asked = monitor.asked.into_inner();
    Stopped { asked, open: progress.open, undecided: moves - decided }
}

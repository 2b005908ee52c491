//! Random control files that every engine must be able to carry out, with what each position is worth.
//!
//! A set is a list of control files, each after the futurebases it names, the last one being the one that
//! matters. Everything follows from the seed. Only sets that [`SlowAnalysis`] can solve are given out, so
//! every move in them is answered; and what the futurebases answer never overlaps, as a program may refuse
//! two tables for one move.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hoffman_board::pieces::default_squares;
use hoffman_board::value::FlagType;
use hoffman_board::{Bitboard, Color, Format, Material, PAWN_SQUARES, Role, Square, Variant};
use hoffman_control::{ControlFile, Mode, PruneEffect, PrunePattern, control_for_material};

use crate::analysis::{SlowAnalysis, SlowError};

/// How many placements the last table of a set may have, mostly and sometimes.
const LARGEST: [u64; 4] = [5_000, 10_000, 30_000, 90_000];
/// How many placements its futurebases may have.
const LARGEST_FUTUREBASE: u64 = 15_000;

/// How many sets may be thrown away as too dull.
const PATIENCE: u64 = 16;

/// A control file and what it describes.
#[derive(Clone, Debug)]
pub struct RandomFile {
    /// The name of the control file.
    pub name: String,
    /// The name of the table.
    pub output: String,
    /// The control file.
    pub text: String,
    /// The values.
    pub analysis: Arc<SlowAnalysis>,
}

/// A control file with all that it needs.
#[derive(Clone, Debug)]
pub struct RandomAnalysis {
    /// What it was made from.
    pub seed: u64,
    /// The files in the order in which they can be carried out; the last one is under test.
    pub files: Vec<RandomFile>,
}

impl RandomAnalysis {
    /// The set of a seed.
    pub fn new(seed: u64) -> RandomAnalysis {
        for attempt in 0.. {
            let rng = Rng(seed.wrapping_mul(0x1_0000).wrapping_add(attempt));
            let mut maker = Maker { rng, files: Vec::new(), solved: HashMap::new() };
            if maker.whole().is_none() {
                continue;
            }
            let set = RandomAnalysis { seed, files: maker.files };
            // Most random restrictions leave little to play for; odd cases are wanted, too.
            let counts = set.last().analysis.counts();
            let lively = counts.longest_win >= 6 && counts.legal >= 300;
            if lively || seed.is_multiple_of(4) || attempt >= PATIENCE {
                return set;
            }
        }
        unreachable!("some attempt succeeds");
    }

    /// The file under test.
    pub fn last(&self) -> &RandomFile {
        self.files.last().expect("a set is not empty")
    }
}

/// Numbers that look random: the generator known as SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number in a range, both ends included.
    fn range(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to + 1 - from)
    }

    /// Whether something with this chance in a hundred happens.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn color(&mut self) -> Color {
        self.pick(&Color::ALL)
    }

    /// Each square of a set with some chance.
    fn some_of(&mut self, set: Bitboard, percent: usize) -> Bitboard {
        set.into_iter().filter(|_| self.chance(percent)).collect()
    }

    fn square_of(&mut self, set: Bitboard) -> Square {
        let all: Vec<Square> = set.into_iter().collect();
        self.pick(&all)
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// Where a man may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Anywhere,
    On(Bitboard),
    Plus(Square),
}

/// A man of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Man {
    color: Color,
    role: Role,
    place: Place,
}

impl Man {
    /// The squares it may stand on, of a plus pawn at most.
    fn squares(&self) -> Bitboard {
        match self.place {
            Place::Anywhere => default_squares(self.role),
            Place::On(squares) => squares,
            Place::Plus(start) => {
                Bitboard::from_file(start.file())
                    .into_iter()
                    .filter(|&s| self.color.fold_wb(s >= start, s <= start))
                    .collect::<Bitboard>()
                    & PAWN_SQUARES
            }
        }
    }

    fn flipped(&self) -> Man {
        let place = match self.place {
            Place::Anywhere => Place::Anywhere,
            Place::On(squares) => Place::On(squares.flip_vertical()),
            Place::Plus(start) => Place::Plus(start.flip_vertical()),
        };
        Man { color: self.color.other(), role: self.role, place }
    }
}

/// A pawngen element, as its attributes say it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pawngen {
    start: [Bitboard; 2],
    required: [usize; 2],
    queens: [usize; 2],
    captures: [usize; 2],
    part: Option<(usize, usize)>,
}

/// A table to be.
#[derive(Clone, Debug)]
struct Spec {
    variant: Variant,
    format: Format,
    men: Vec<Man>,
    pawngen: Option<Pawngen>,
    /// Which prunes may be enabled.
    may: Vec<(Color, PruneEffect)>,
    /// How many futurebases may follow each other.
    depth: usize,
}

/// A table that answers moves of another.
#[derive(Clone, Debug)]
struct Child {
    output: String,
    inverted: bool,
    relation: Relation,
}

/// Which moves a table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Normal,
    /// The other part of a split table.
    Part,
    Capture(Color, Role),
    Promotion(Color, Role),
    /// The side that promotes, what to, what it takes.
    CapturePromotion(Color, Role, Role),
}

impl Relation {
    /// The word in a control file.
    fn word(self) -> Option<&'static str> {
        match self {
            Relation::Normal => Some("normal"),
            Relation::Part => None,
            Relation::Capture(..) => Some("capture"),
            Relation::Promotion(..) => Some("promotion"),
            Relation::CapturePromotion(..) => Some("capture-promotion"),
        }
    }
}

const EFFECTS: [PruneEffect; 2] = [PruneEffect::Concede, PruneEffect::Discard];
const PIECES: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Complete endings solved so far, which many sets share.
static COMPLETE: LazyLock<Mutex<HashMap<String, Arc<SlowAnalysis>>>> =
    LazyLock::new(Mutex::default);

/// Makes one set.
struct Maker {
    rng: Rng,
    files: Vec<RandomFile>,
    /// By name of the table.
    solved: HashMap<String, Arc<SlowAnalysis>>,
}

impl Maker {
    /// Makes the table under test and all it needs.
    fn whole(&mut self) -> Option<()> {
        let variant = if self.rng.chance(22) { Variant::Suicide } else { Variant::Normal };
        let format = match self.rng.below(10) {
            0..=4 => Format::Dtm(None),
            5 | 6 => Format::Dtc(None),
            7 | 8 => Format::Basic,
            _ => Format::Flag(self.rng.pick(&[FlagType::WhiteWins, FlagType::WhiteDraws])),
        };
        let mut may = Vec::new();
        for color in Color::ALL {
            match self.rng.below(8) {
                0 => may.push((color, PruneEffect::Concede)),
                1 | 2 => may.push((color, PruneEffect::Discard)),
                _ => may.extend(EFFECTS.map(|effect| (color, effect))),
            }
        }
        let depth = self.rng.pick(&[0, 1, 1, 2, 2]);
        let mut spec = Spec { variant, format, men: Vec::new(), pawngen: None, may, depth };
        let kind = self.rng.below(100);
        if variant == Variant::Suicide {
            self.suicide_men(&mut spec);
        } else if kind < 25 {
            self.pawn_structure(&mut spec);
        } else if kind < 40 {
            self.frozen_pawns(&mut spec);
        } else if kind < 46 {
            return self.whole_ending(spec);
        } else {
            self.restricted_men(&mut spec);
        }
        let largest = self.rng.pick(&LARGEST);
        self.fit(&mut spec, largest);
        self.table(&spec, "main").map(|_| ())
    }

    /// A complete ending of two or three men, pruned.
    fn whole_ending(&mut self, mut spec: Spec) -> Option<()> {
        let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
        let man = |color, role| Man { color, role, place: Place::Anywhere };
        spec.men = vec![man(Color::White, Role::King), man(Color::Black, Role::King)];
        if self.rng.chance(85) {
            let man = man(self.rng.color(), self.rng.pick(&roles));
            spec.men.push(man);
        }
        self.table(&spec, "main").map(|_| ())
    }

    fn restricted_men(&mut self, spec: &mut Spec) {
        let count = self.rng.pick(&[2, 3, 3, 3, 4, 4, 4]);
        spec.men = self.men(count, Variant::Normal);
        self.place_alike(&mut spec.men);
    }

    fn suicide_men(&mut self, spec: &mut Spec) {
        let count = self.rng.pick(&[2, 2, 3, 3, 3, 4]);
        spec.men = self.men(count, Variant::Suicide);
        if count == 2 && self.rng.chance(60) {
            if self.rng.chance(40) {
                spec.men[1].role = spec.men[0].role;
            }
            for man in &mut spec.men {
                man.place = Place::Anywhere;
            }
        }
        self.place_alike(&mut spec.men);
    }

    /// Men with random places; the kings first in normal chess.
    fn men(&mut self, count: usize, variant: Variant) -> Vec<Man> {
        let mut kinds: Vec<(Color, Role)> = match variant {
            Variant::Normal => vec![(Color::White, Role::King), (Color::Black, Role::King)],
            Variant::Suicide => {
                let role = |rng: &mut Rng| rng.pick(&Role::ALL);
                vec![(Color::White, role(&mut self.rng)), (Color::Black, role(&mut self.rng))]
            }
        };
        while kinds.len() < count {
            let role = match (variant, self.rng.below(10)) {
                (Variant::Suicide, 0) => Role::King,
                (_, 0..=3) => Role::Pawn,
                _ => self.rng.pick(&PIECES),
            };
            // Often the same as another one.
            let twin = self.rng.pick(&kinds);
            if twin.1 != Role::King && self.rng.chance(35) {
                kinds.push(twin);
            } else {
                kinds.push((self.rng.color(), role));
            }
        }
        let mut men = Vec::new();
        for (color, role) in kinds {
            men.push(Man { color, role, place: self.place(color, role) });
        }
        men
    }

    fn place(&mut self, color: Color, role: Role) -> Place {
        if role == Role::Pawn && self.rng.chance(30) {
            let rank = self.rng.range(1, 4);
            let file = self.rng.below(8);
            let start = Square::new((8 * color.fold_wb(rank, 7 - rank) + file) as u32);
            return Place::Plus(start);
        }
        let squares = self.squares(role);
        if squares == default_squares(role) { Place::Anywhere } else { Place::On(squares) }
    }

    /// Some squares that a man may stand on.
    fn squares(&mut self, role: Role) -> Bitboard {
        let all = default_squares(role);
        let found = match self.rng.below(20) {
            0..=2 => Bitboard::from(self.rng.square_of(all)),
            3..=8 => {
                let count = self.rng.range(2, 9);
                (0..count).map(|_| self.rng.square_of(all)).collect()
            }
            9..=13 => {
                let (f1, f2) = (self.rng.below(8), self.rng.below(8));
                let (r1, r2) = (self.rng.below(8), self.rng.below(8));
                let inside = |s: &Square| {
                    let (rank, file) = (*s as usize / 8, *s as usize % 8);
                    (f1.min(f2)..=f1.max(f2)).contains(&file)
                        && (r1.min(r2)..=r1.max(r2)).contains(&rank)
                };
                all.into_iter().filter(inside).collect()
            }
            14 | 15 => self.rng.some_of(all, 50),
            16 => self.rng.some_of(all, 92),
            _ => all,
        };
        if found.is_empty() { all } else { found }
    }

    /// Gives men of one kind equal, overlapping or disjoint squares.
    fn place_alike(&mut self, men: &mut [Man]) {
        for i in 1..men.len() {
            let (before, rest) = men.split_at_mut(i);
            let man = &mut rest[0];
            let alike = before.iter().find(|m| (m.color, m.role) == (man.color, man.role));
            let Some(other) = alike else { continue };
            let (own, theirs) = (man.squares(), other.squares());
            let squares = match self.rng.below(6) {
                0 | 1 => theirs,
                2 => own | theirs,
                3 => own & theirs,
                4 => own & !theirs,
                _ => continue,
            };
            if squares.any() {
                man.place = if squares == default_squares(man.role) {
                    Place::Anywhere
                } else {
                    Place::On(squares)
                };
            }
        }
        sort(men);
    }

    /// Many pawns that do not move, and kings.
    fn frozen_pawns(&mut self, spec: &mut Spec) {
        spec.men = self.men(self.rng.0 as usize % 2 + 2, Variant::Normal);
        spec.men.retain(|m| m.role != Role::Pawn);
        for man in &mut spec.men {
            man.place = Place::On(self.squares(man.role));
        }
        let mut free = PAWN_SQUARES;
        for _ in 0..self.rng.range(2, 6) {
            let square = self.rng.square_of(free);
            free.discard(square);
            let color = self.rng.color();
            let place =
                if self.rng.chance(15) { Place::Plus(square) } else { Place::On(square.into()) };
            spec.men.push(Man { color, role: Role::Pawn, place });
        }
        sort(&mut spec.men);
    }

    fn pawn_structure(&mut self, spec: &mut Spec) {
        spec.men = self.men(2, Variant::Normal);
        for man in &mut spec.men {
            let squares = match self.rng.below(3) {
                0 => self.rng.some_of(Bitboard::FULL, 12),
                1 => self.squares(Role::King),
                _ => self.rng.some_of(Bitboard::FULL, 25),
            };
            if squares.any() {
                man.place = Place::On(squares);
            }
        }
        let mut free = PAWN_SQUARES;
        // Not only far from the goal, and close enough to meet.
        let file = self.rng.below(8);
        let mut pawns = |rng: &mut Rng, color: Color, most: usize| -> Bitboard {
            let mut set = Bitboard::EMPTY;
            for _ in 0..rng.range(0, most) {
                let near = (file + rng.below(3)).saturating_sub(1).min(7);
                let rank = rng.range(1, 4);
                let square = Square::new((8 * color.fold_wb(rank, 7 - rank) + near) as u32);
                if free.contains(square) {
                    free.discard(square);
                    set.add(square);
                }
            }
            set
        };
        let start = [pawns(&mut self.rng, Color::White, 3), pawns(&mut self.rng, Color::Black, 2)];
        let mut pawngen =
            Pawngen { start, required: [0; 2], queens: [0; 2], captures: [0; 2], part: None };
        for side in 0..2 {
            let count = start[side].count();
            if count > 0 && self.rng.chance(15) {
                pawngen.queens[side] = 1;
                let color = Color::ALL[side];
                if self.rng.chance(70) {
                    let place = self.place(color, Role::Queen);
                    spec.men.push(Man { color, role: Role::Queen, place });
                }
            }
            let most = count - pawngen.queens[side];
            pawngen.required[side] = most - self.rng.below(2).min(most);
            if self.rng.chance(20) {
                pawngen.captures[side] = self.rng.range(1, 2);
            }
        }
        if self.rng.chance(20) {
            let (color, role) = (self.rng.color(), self.rng.pick(&PIECES));
            let place = Place::On(self.squares(role));
            spec.men.push(Man { color, role, place });
        }
        spec.pawngen = Some(pawngen);
    }

    /// Takes squares away until there are few enough placements.
    fn fit(&mut self, spec: &mut Spec, largest: u64) {
        let structures = spec.pawngen.as_ref().map_or(1, |p| count_structures(p).max(1));
        loop {
            let ways = spec
                .men
                .iter()
                .fold(structures as u64, |n, m| n.saturating_mul(m.squares().count() as u64));
            if ways <= largest {
                return;
            }
            let Some(man) = spec.men.iter_mut().max_by_key(|m| m.squares().count()) else { return };
            let squares = man.squares();
            if squares.count() == 1 {
                return;
            }
            // Mostly squares that lie together, so that there are moves between them.
            let edge = 1 + self.rng.below(7);
            let fewer = match self.rng.below(9) {
                0 | 1 => squares & below_rank(edge),
                2 | 3 => squares & !below_rank(edge),
                4 | 5 => squares & before_file(edge),
                6 | 7 => squares & !before_file(edge),
                _ => self.rng.some_of(squares, 70),
            };
            if fewer.any() && fewer != squares {
                man.place = Place::On(fewer);
            }
        }
    }
}

/// Puts like men side by side, pawns last and in board order, as plus pawns have to be.
fn sort(men: &mut [Man]) {
    let first = |m: &Man| m.squares().first().map_or(0, |s| s as u8);
    men.sort_by_key(|m| {
        let pawn = m.role == Role::Pawn;
        (pawn, m.color == Color::Black, m.role, if pawn { first(m) } else { 0 })
    });
}

/// The squares below a rank, counted from 0.
fn below_rank(rank: usize) -> Bitboard {
    Square::ALL.into_iter().filter(|&s| (s as usize) < 8 * rank).collect()
}

/// The squares to the left of a file, counted from 0.
fn before_file(file: usize) -> Bitboard {
    Square::ALL.into_iter().filter(|&s| s as usize % 8 < file).collect()
}

/// How many structures a pawngen element admits.
fn count_structures(pawngen: &Pawngen) -> usize {
    let text = format!("<tablebase>{}</tablebase>", pawngen_element(pawngen));
    let control = ControlFile::parse(&text, "random", Mode::Control).expect("well-formed");
    control.pawngen.map_or(0, |element| crate::structures(&element).len())
}

fn names(squares: Bitboard) -> String {
    let names: Vec<String> = squares.into_iter().map(|s| s.to_string()).collect();
    names.join(" ")
}

fn pawngen_element(pawngen: &Pawngen) -> String {
    let mut text = String::from("<pawngen");
    let number = |text: &mut String, name: &str, value: usize, always: bool| {
        if value > 0 || always {
            let _ = write!(text, " {name}=\"{value}\"");
        }
    };
    for (side, color) in ["white", "black"].into_iter().enumerate() {
        let _ = write!(text, " {color}-pawn-locations=\"{}\"", names(pawngen.start[side]));
        number(&mut text, &format!("{color}-pawns-required"), pawngen.required[side], true);
        number(&mut text, &format!("{color}-queens-required"), pawngen.queens[side], false);
        number(&mut text, &format!("{color}-captures-allowed"), pawngen.captures[side], false);
    }
    if let Some((start, count)) = pawngen.part {
        number(&mut text, "start", start, false);
        number(&mut text, "count", count, false);
    }
    text.push_str("/>");
    text
}

/// A kind of move out of a table that chess has not ruled out, and the futurebases that may answer it.
struct Kind {
    text: String,
    relation: Relation,
}

impl Spec {
    fn men_of(&self, color: Color, role: Role) -> usize {
        let pawns = match &self.pawngen {
            Some(p) if role == Role::Pawn => p.required[color.fold_wb(0, 1)],
            _ => 0,
        };
        pawns + self.men.iter().filter(|m| (m.color, m.role) == (color, role)).count()
    }

    fn men_by_color(&self, color: Color) -> usize {
        Role::ALL.iter().map(|&role| self.men_of(color, role)).sum()
    }

    fn material(&self) -> Material {
        let mut men = Vec::new();
        for color in Color::ALL {
            for role in Role::ALL {
                men.extend(std::iter::repeat_n((color, role), self.men_of(color, role)));
            }
        }
        Material::from_men(men)
    }

    /// Whether no man is restricted.
    fn is_whole(&self) -> bool {
        self.pawngen.is_none() && self.men.iter().all(|m| m.place == Place::Anywhere)
    }

    /// Whether the colours can be exchanged and the side to move is not stored.
    fn is_color_symmetric(&self, index: &str) -> bool {
        let flag = matches!(self.format, Format::Flag(_));
        let index = matches!(index, "combinadic4" | "combinadic5");
        self.is_whole() && self.material().is_symmetric() && !flag && index
    }

    fn promotions(&self) -> Vec<Role> {
        let king = (self.variant == Variant::Suicide).then_some(Role::King);
        PIECES.into_iter().chain(king).collect()
    }

    /// What can be captured of a side.
    fn victims(&self, color: Color) -> Vec<Role> {
        let royal = self.variant == Variant::Normal;
        let mut roles = Role::ALL.to_vec();
        roles.retain(|&r| self.men_of(color, r) > 0 && !(royal && r == Role::King));
        roles
    }

    /// All kinds of moves of a side that may lead out of the table.
    fn kinds(&self, color: Color) -> Vec<Kind> {
        let letter = |role: Role| role.upper_char();
        let enemy = color.other();
        let mut all = Vec::new();
        for role in Role::ALL.into_iter().filter(|&r| self.men_of(color, r) > 0) {
            let alike = |m: &&Man| (m.color, m.role) == (color, role);
            if self.men.iter().filter(alike).any(|m| m.place != Place::Anywhere) {
                let kind = |square: Square| Kind {
                    text: format!("{}{square}", letter(role)),
                    relation: Relation::Normal,
                };
                all.extend(default_squares(role).into_iter().map(kind));
            }
            for victim in self.victims(enemy) {
                let text = format!("{}x{}", letter(role), letter(victim));
                all.push(Kind { text, relation: Relation::Capture(enemy, victim) });
            }
        }
        if self.men_of(color, Role::Pawn) > 0 {
            for to in self.promotions() {
                let text = format!("P={}", letter(to));
                all.push(Kind { text, relation: Relation::Promotion(color, to) });
                for victim in self.victims(enemy).into_iter().filter(|&r| r != Role::Pawn) {
                    let text = format!("Px{}={}", letter(victim), letter(to));
                    let relation = Relation::CapturePromotion(color, to, victim);
                    all.push(Kind { text, relation });
                }
            }
        }
        all
    }
}

/// A prune to be.
struct Pruning {
    color: Color,
    pattern: String,
    effect: PruneEffect,
}

impl Maker {
    /// Makes a table with its futurebases and returns the name of its file.
    fn table(&mut self, spec: &Spec, name: &str) -> Option<String> {
        let index = self.index(spec);
        self.table_with_index(spec, name, index)
    }

    fn table_with_index(&mut self, spec: &Spec, name: &str, index: &str) -> Option<String> {
        let mut spec = spec.clone();
        let mut children = Vec::new();
        let mut fixed = false;
        if spec.depth > 0 {
            if let Some(lower) = self.split(&mut spec, name, index) {
                children.push(lower);
                fixed = true;
            }
            children.extend(self.children(&spec, name, index));
        }
        // Futurebases have been chosen for the colours that the index stores.
        fixed |= spec.is_whole() && spec.material().is_symmetric();
        self.rng.shuffle(&mut children);
        let lean = self.rng.chance(50);
        fixed |= spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());
        for attempt in 0..6 {
            let index = match attempt {
                0 | 1 => index,
                _ if fixed => break,
                2..=4 => self.index(&spec),
                _ => "combinadic5",
            };
            let text = self.text(&spec, name, index, &children, lean && attempt == 0);
            let control = ControlFile::parse(&text, &format!("{name}.xml"), Mode::Control)
                .unwrap_or_else(|e| panic!("{e} in\n{text}"));
            match SlowAnalysis::solve(&control, &self.solved) {
                Ok(analysis) if analysis.counts().existing > 0 => {
                    self.keep(name, text, Arc::new(analysis));
                    return Some(format!("{name}.htb"));
                }
                Err(SlowError::Conflict { mover, kind }) => {
                    panic!("prunes of {mover}'s {kind} conflict in\n{text}")
                }
                // Not numbered by this index, or a move that was left unanswered on purpose.
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    fn keep(&mut self, name: &str, text: String, analysis: Arc<SlowAnalysis>) {
        let output = format!("{name}.htb");
        self.solved.insert(output.clone(), Arc::clone(&analysis));
        self.files.push(RandomFile { name: format!("{name}.xml"), output, text, analysis });
    }

    /// An index type that may be able to number the table.
    fn index(&mut self, spec: &Spec) -> &'static str {
        let men = spec.men.len() as u32;
        let structures = spec.pawngen.as_ref().map_or(1, count_structures) as u64;
        let naive = 64_u64.saturating_pow(men).saturating_mul(structures) <= 1 << 19;
        let mut types = vec!["combinadic5"; 3];
        if spec.variant == Variant::Normal {
            types.extend(["combinadic3", "combinadic4", "combinadic4"]);
            if naive {
                types.push("naive2");
            }
            if spec.pawngen.is_none() {
                types.extend(["compact", "compact"]);
            }
        }
        if naive {
            types.push("naive");
        }
        if spec.pawngen.is_none() {
            types.extend(["simple", "simple"]);
        }
        self.rng.pick(&types)
    }

    /// Splits a pawn table in two: makes the lower part and leaves the upper one.
    fn split(&mut self, spec: &mut Spec, name: &str, index: &str) -> Option<Child> {
        let pawngen = spec.pawngen.as_mut()?;
        let count = count_structures(pawngen);
        if pawngen.part.is_some() || count < 2 || !self.rng.chance(30) {
            return None;
        }
        let cut = self.rng.range(1, count - 1);
        let mut lower = spec.clone();
        lower.depth -= 1;
        lower.pawngen.as_mut()?.part = Some((0, cut));
        let output = self.table_with_index(&lower, &format!("{name}l"), index)?;
        let count = if self.rng.chance(30) { count - cut } else { 0 };
        spec.pawngen.as_mut()?.part = Some((cut, count));
        Some(Child { output, inverted: false, relation: Relation::Part })
    }

    /// Makes futurebases for some of the moves out of a table.
    fn children(&mut self, spec: &Spec, name: &str, index: &str) -> Vec<Child> {
        let mut wanted = Vec::new();
        let part = spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());
        if !spec.is_whole() && !part && self.rng.chance(35) {
            wanted.push(Relation::Normal);
        }
        for color in Color::ALL {
            let pawn = spec.men_of(color, Role::Pawn) > 0;
            for role in spec.victims(color) {
                let last = spec.men_by_color(color) == 1;
                if !last && self.rng.chance(55) {
                    wanted.push(Relation::Capture(color, role));
                }
            }
            for to in spec.promotions() {
                if pawn && self.rng.chance(35) {
                    wanted.push(Relation::Promotion(color, to));
                }
                for victim in spec.victims(color.other()) {
                    let last = spec.men_by_color(color.other()) == 1;
                    if pawn && victim != Role::Pawn && !last && self.rng.chance(15) {
                        wanted.push(Relation::CapturePromotion(color, to, victim));
                    }
                }
            }
        }
        if spec.is_color_symmetric(index) {
            // Tables for White's moves serve both sides.
            wanted.retain(|relation| match *relation {
                Relation::Capture(color, _) => color == Color::Black,
                Relation::Promotion(color, _) | Relation::CapturePromotion(color, ..) => {
                    color == Color::White
                }
                Relation::Normal | Relation::Part => true,
            });
        }
        self.rng.shuffle(&mut wanted);
        wanted.truncate(4);
        let mut children: Vec<Child> = Vec::new();
        for relation in wanted {
            // Already answered by a table that serves both colours.
            if children.iter().any(|c| c.relation == relation) {
                continue;
            }
            let label = format!("{name}{}", char::from(b'a' + children.len() as u8));
            let found = self.answering(spec, relation, &label);
            for child in found {
                let twin = self.twin(spec, &child);
                children.push(child);
                children.extend(twin);
            }
        }
        children
    }

    /// The same table with the colours exchanged, if that answers moves of the other side.
    fn twin(&mut self, spec: &Spec, child: &Child) -> Option<Child> {
        let Relation::Capture(color, role) = child.relation else { return None };
        let other = Relation::Capture(color.other(), role);
        let material = spec.material();
        let flag = matches!(spec.format, Format::Flag(_));
        let both = material.is_symmetric() && !spec.is_whole() && !flag;
        let mirrored = |e: &(Color, PruneEffect)| spec.may.contains(&(e.0.other(), e.1));
        if both && spec.may.iter().all(mirrored) && self.rng.chance(60) {
            let child =
                Child { output: child.output.clone(), inverted: !child.inverted, relation: other };
            return Some(child);
        }
        None
    }

    /// One futurebase for the moves of a relation, or two with nothing in common.
    fn answering(&mut self, spec: &Spec, relation: Relation, label: &str) -> Vec<Child> {
        let Some(mut behind) = self.behind(spec, relation) else { return Vec::new() };
        let material = behind.material();
        let complete = spec.variant == Variant::Normal && material.men() <= 3;
        if spec.is_whole() && spec.variant == Variant::Normal || complete && self.rng.chance(30) {
            if !complete {
                return Vec::new();
            }
            let (normal, inverted) = material.normalized();
            let output = self.complete(&normal);
            return vec![Child { output, inverted, relation }];
        }
        let halves = if self.rng.chance(20) { self.halves(spec, &behind, relation) } else { None };
        self.alter(&mut behind, relation);
        let mut specs = vec![behind];
        if let Some((slot, one, other)) = halves {
            let mut second = specs[0].clone();
            specs[0].men[slot].place = Place::On(one);
            second.men[slot].place = Place::On(other);
            specs.push(second);
        }
        let mut found = Vec::new();
        for (i, mut child) in specs.into_iter().enumerate() {
            self.fit(&mut child, LARGEST_FUTUREBASE);
            let label = if i == 0 { label.to_owned() } else { format!("{label}z") };
            if relation == Relation::Normal && child.men == spec.men {
                continue;
            }
            let inverted = self.rng.chance(30);
            if inverted {
                child.men = child.men.iter().map(Man::flipped).collect();
                sort(&mut child.men);
                child.pawngen = child.pawngen.as_ref().map(flipped);
                child.may = child.may.iter().map(|&(c, e)| (c.other(), e)).collect();
            }
            child.format = self.format_behind(spec.format, inverted);
            if let Some(output) = self.table(&child, &label) {
                found.push(Child { output, inverted, relation });
            }
        }
        found
    }

    /// A format that can feed another.
    fn format_behind(&mut self, format: Format, inverted: bool) -> Format {
        let no_flag = [Format::Dtm(None), Format::Dtc(None), Format::Basic];
        match format {
            Format::Dtm(_) => Format::Dtm(None),
            Format::Flag(own) if self.rng.chance(50) => Format::Flag(match (own, inverted) {
                (FlagType::WhiteWins, true) | (FlagType::WhiteDraws, false) => FlagType::WhiteDraws,
                _ => FlagType::WhiteWins,
            }),
            _ => self.rng.pick(&no_flag),
        }
    }

    /// The men behind the moves of a relation, on the squares that they have here.
    fn behind(&mut self, spec: &Spec, relation: Relation) -> Option<Spec> {
        let mut behind = spec.clone();
        behind.depth -= 1;
        if let Some(pawngen) = &mut behind.pawngen {
            pawngen.part = None;
        }
        let mut remove = |behind: &mut Spec, color: Color, role: Role| -> Option<()> {
            if let (Some(pawngen), Role::Pawn) = (&mut behind.pawngen, role) {
                let required = &mut pawngen.required[color.fold_wb(0, 1)];
                *required = required.checked_sub(1)?;
                return Some(());
            }
            let alike = |m: &Man| (m.color, m.role) == (color, role);
            let slots: Vec<usize> =
                (0..behind.men.len()).filter(|&i| alike(&behind.men[i])).collect();
            behind.men.remove(*slots.get(self.rng.below(slots.len().max(1)))?);
            Some(())
        };
        let promoted = match relation {
            Relation::Normal | Relation::Part => None,
            Relation::Capture(color, role) => {
                remove(&mut behind, color, role)?;
                None
            }
            Relation::Promotion(color, role) => {
                remove(&mut behind, color, Role::Pawn)?;
                Some((color, role))
            }
            Relation::CapturePromotion(color, role, victim) => {
                remove(&mut behind, color, Role::Pawn)?;
                remove(&mut behind, color.other(), victim)?;
                Some((color, role))
            }
        };
        if let Some((color, role)) = promoted {
            let last_rank = Bitboard::from_rank(
                color.fold_wb(hoffman_board::Rank::Eighth, hoffman_board::Rank::First),
            );
            let place = match self.rng.below(4) {
                0 => Place::Anywhere,
                1 => Place::On(last_rank),
                2 => Place::On(last_rank | self.squares(role)),
                _ => Place::On(self.squares(role)),
            };
            behind.men.push(Man { color, role, place });
        }
        let no_pawns = behind.pawngen.as_ref().is_some_and(|p| p.required == [0, 0]);
        if no_pawns
            || behind.pawngen.is_some() && relation != Relation::Normal && self.rng.chance(35)
        {
            self.list_pawns(&mut behind);
        }
        sort(&mut behind.men);
        Some(behind)
    }

    /// Makes ordinary pawns of a pawngen element.
    fn list_pawns(&mut self, spec: &mut Spec) {
        let Some(pawngen) = spec.pawngen.take() else { return };
        for color in Color::ALL {
            for _ in 0..pawngen.required[color.fold_wb(0, 1)] {
                let place = self.place(color, Role::Pawn);
                spec.men.push(Man { color, role: Role::Pawn, place });
            }
        }
    }

    /// Two sets of squares of a man that does not move in a relation, with nothing in common and neither
    /// of them with all that he has here.
    fn halves(
        &mut self,
        spec: &Spec,
        behind: &Spec,
        relation: Relation,
    ) -> Option<(usize, Bitboard, Bitboard)> {
        let still = match relation {
            Relation::Capture(color, _) => color,
            Relation::Promotion(color, _) | Relation::CapturePromotion(color, ..) => color.other(),
            Relation::Normal | Relation::Part => return None,
        };
        if spec.variant != Variant::Normal {
            return None;
        }
        let king = |m: &Man| (m.color, m.role) == (still, Role::King);
        let slot = behind.men.iter().position(king)?;
        let here = behind.men[slot].squares();
        let one = self.rng.some_of(Bitboard::FULL, 50);
        let other = !one;
        ((one & here).any() && (other & here).any()).then_some((slot, one, other))
    }

    /// Gives the men of a futurebase wider, narrower or other squares.
    fn alter(&mut self, spec: &mut Spec, relation: Relation) {
        let moved = match relation {
            Relation::Capture(color, _) => Some(color.other()),
            _ => None,
        };
        let men = spec.men.len();
        let other = self.rng.below(men);
        for (i, man) in spec.men.iter_mut().enumerate() {
            let squares = man.squares();
            let all = default_squares(man.role);
            let changes = relation == Relation::Normal && i == other || moved == Some(man.color);
            let new = match self.rng.below(20) {
                0..=7 if !changes => continue,
                0..=5 => self.rng.some_of(all, 70),
                6 | 7 => all,
                8..=11 => squares | self.rng.some_of(all, 50),
                12..=14 => self.rng.some_of(squares, 70),
                15 => all & !squares,
                16 | 17 => all,
                _ => continue,
            };
            let new = new & all;
            if new == all {
                man.place = Place::Anywhere;
            } else if new.any() {
                man.place = Place::On(new);
            }
        }
        sort(&mut spec.men);
        if self.rng.chance(50) {
            // The same prunes or fewer.
            let mut fewer = spec.may.clone();
            self.rng.shuffle(&mut fewer);
            let mut kept: Vec<(Color, PruneEffect)> = Vec::new();
            for entry in fewer {
                if self.rng.chance(60) || kept.iter().all(|k| k.0 != entry.0) {
                    kept.push(entry);
                }
            }
            spec.may = kept;
        }
    }

    /// A complete ending of normal chess with all that it needs.
    fn complete(&mut self, material: &Material) -> String {
        let stem = material.stem();
        let output = format!("{stem}.htb");
        if self.solved.contains_key(&output) {
            return output;
        }
        let text = control_for_material(material);
        let name = format!("{stem}.xml");
        let control = ControlFile::parse(&text, &name, Mode::Control).expect("well-formed");
        for element in &control.futurebases {
            let stem = element.filename.trim_end_matches(".htb");
            self.complete(&stem.parse().expect("the name of an ending"));
        }
        let known = || COMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = known().get(&text).cloned();
        let analysis = cached.unwrap_or_else(|| {
            let solved = SlowAnalysis::solve(&control, &self.solved).expect("a complete ending");
            let solved = Arc::new(solved);
            known().insert(text.clone(), Arc::clone(&solved));
            solved
        });
        self.keep(&stem, text, analysis);
        output
    }

    /// The control file of a table. A lean one leaves it to the futurebases to answer the moves for which
    /// there are any.
    fn text(
        &mut self,
        spec: &Spec,
        name: &str,
        index: &str,
        children: &[Child],
        lean: bool,
    ) -> String {
        let colors = if spec.is_color_symmetric(index) {
            // The prunes of White are those of both sides.
            &Color::ALL[..1]
        } else {
            &Color::ALL[..]
        };
        let mut prunes = Vec::new();
        for &color in colors {
            self.prune(spec, color, children, lean, &mut prunes);
        }
        let concede = |&&(_, effect): &&(Color, PruneEffect)| effect == PruneEffect::Concede;
        let conceders: Vec<_> = spec.may.iter().filter(concede).collect();
        if spec.variant == Variant::Normal && !conceders.is_empty() && self.rng.chance(30) {
            let &(color, effect) = self.rng.pick(&conceders);
            prunes.push(Pruning { color, pattern: "stalemate".to_owned(), effect });
        }
        self.rng.shuffle(&mut prunes);
        let mut enabled: BTreeSet<(bool, bool)> = BTreeSet::new();
        let entry = |color: Color, effect: PruneEffect| {
            (color == Color::Black, effect == PruneEffect::Discard)
        };
        for &(color, effect) in &spec.may {
            let used = prunes.iter().any(|p| (p.color, p.effect) == (color, effect));
            // What a futurebase has enabled must be enabled here, used or not.
            if used || !children.is_empty() || self.rng.chance(40) {
                enabled.insert(entry(color, effect));
            }
        }
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tablebase>\n");
        if spec.variant == Variant::Suicide {
            text.push_str("   <variant name=\"suicide\"/>\n");
        }
        let shade = |black: bool| if black { "black" } else { "white" };
        for (black, discard) in enabled {
            let effect = if discard { "discard" } else { "concede" };
            let color = shade(black);
            let _ = writeln!(text, "   <prune-enable color=\"{color}\" type=\"{effect}\"/>");
        }
        if index != "combinadic5" || self.rng.chance(30) {
            let _ = writeln!(text, "   <index type=\"{index}\"/>");
        }
        match spec.format {
            Format::Dtm(_) if self.rng.chance(10) => {}
            Format::Flag(FlagType::WhiteWins) => text.push_str("   <flag type=\"white-wins\"/>\n"),
            Format::Flag(FlagType::WhiteDraws) => {
                text.push_str("   <flag type=\"white-draws\"/>\n");
            }
            format if format.has_distance() && self.rng.chance(10) => {
                let _ = writeln!(text, "   <{} bits=\"12\"/>", format.name());
            }
            format => {
                let _ = writeln!(text, "   <{}/>", format.name());
            }
        }
        self.pieces(spec, &mut text);
        for child in children {
            let word = child.relation.word().filter(|_| self.rng.chance(30));
            let word = word.map_or_else(String::new, |w| format!(" type=\"{w}\""));
            let colors = if child.inverted { " colors=\"invert\"" } else { "" };
            let _ = writeln!(text, "   <futurebase filename=\"{}\"{word}{colors}/>", child.output);
        }
        for Pruning { color, pattern, effect } in prunes {
            let _ = writeln!(
                text,
                "   <prune color=\"{color}\" move=\"{pattern}\" type=\"{}\"/>",
                effect.name()
            );
        }
        let _ = writeln!(text, "   <output filename=\"{name}.htb\"/>\n</tablebase>");
        text
    }

    /// The piece elements, like men side by side, pawns last, and the pawngen element somewhere.
    fn pieces(&mut self, spec: &Spec, text: &mut String) {
        let mut blocks: Vec<(bool, Vec<Man>)> = Vec::new();
        for man in &spec.men {
            let pawn = man.role == Role::Pawn;
            let alike = |b: &&mut (bool, Vec<Man>)| match b {
                (true, _) => pawn,
                (false, men) => (men[0].color, men[0].role) == (man.color, man.role),
            };
            match blocks.iter_mut().find(alike) {
                Some((_, men)) => men.push(*man),
                None => blocks.push((pawn, vec![*man])),
            }
        }
        // A part of a split table has the list of the other part.
        let part = spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());
        if !part && self.rng.chance(40) {
            self.rng.shuffle(&mut blocks);
        }
        let before = if part { blocks.len() } else { self.rng.range(0, blocks.len()) };
        for at in 0..=blocks.len() {
            if let Some(pawngen) = spec.pawngen.as_ref().filter(|_| at == before) {
                let _ = writeln!(text, "   {}", pawngen_element(pawngen));
            }
            for man in blocks.get(at).map_or(&[][..], |(_, men)| men) {
                let location = match man.place {
                    Place::Anywhere => String::new(),
                    Place::On(squares) => format!(" location=\"{}\"", names(squares)),
                    Place::Plus(start) => format!(" location=\"{start}+\""),
                };
                let role = role_name(man.role);
                let color = man.color;
                let _ = writeln!(text, "   <piece color=\"{color}\" type=\"{role}\"{location}/>");
            }
        }
    }

    /// Prunes for the moves of a side.
    fn prune(
        &mut self,
        spec: &Spec,
        color: Color,
        children: &[Child],
        lean: bool,
        prunes: &mut Vec<Pruning>,
    ) {
        let effects: Vec<PruneEffect> =
            spec.may.iter().filter(|e| e.0 == color).map(|e| e.1).collect();
        if effects.is_empty() {
            return;
        }
        let kinds = spec.kinds(color);
        let mut decided: Vec<Option<PruneEffect>> = vec![None; kinds.len()];
        let mut accept = |pattern: String, effect: PruneEffect| -> bool {
            let matcher = PrunePattern::new(&pattern);
            let matched: Vec<usize> =
                (0..kinds.len()).filter(|&k| matcher.matches(&kinds[k].text)).collect();
            let conflict = matched.iter().any(|&k| decided[k].is_some_and(|d| d != effect));
            let new = matched.iter().any(|&k| decided[k].is_none());
            if conflict || !new {
                return false;
            }
            for k in matched {
                decided[k] = Some(effect);
            }
            prunes.push(Pruning { color, pattern, effect });
            true
        };
        for _ in 0..self.rng.below(5) {
            let pattern = self.pattern(spec, color);
            let matcher = PrunePattern::new(&pattern);
            let many = kinds.iter().filter(|k| matcher.matches(&k.text)).count() > 16;
            accept(pattern, self.effect(&effects, if many { 85 } else { 50 }));
        }
        // Where leaving the squares is conceded there is little play.
        let leaving = self.effect(&effects, 85);
        let other = self.effect(&effects, 50);
        for Kind { text, relation } in &kinds {
            if lean && children.iter().any(|c| c.relation == *relation) {
                continue;
            }
            let default = if *relation == Relation::Normal { leaving } else { other };
            let effect = if self.rng.chance(90) { default } else { self.rng.pick(&effects) };
            let letter = &text[..1];
            let tries = match relation {
                Relation::Normal | Relation::Part => {
                    vec![
                        format!("{letter}[a-h][1-8]"),
                        format!("{letter}{}?", &text[1..2]),
                        text.clone(),
                    ]
                }
                Relation::Capture(..) => vec![format!("{letter}x?"), text.clone()],
                Relation::Promotion(..) => vec!["P=?".to_owned(), text.clone()],
                Relation::CapturePromotion(..) => vec!["P*=?".to_owned(), text.clone()],
            };
            for pattern in tries {
                // Does nothing where the kind is decided already.
                if PrunePattern::new(&pattern).matches(text) && accept(pattern, effect) {
                    break;
                }
            }
        }
    }

    /// One of some effects, a discard with this chance in a hundred if it is among them.
    fn effect(&mut self, effects: &[PruneEffect], discards: usize) -> PruneEffect {
        let discard = effects.contains(&PruneEffect::Discard) && self.rng.chance(discards);
        let other = effects.iter().copied().find(|&e| e == PruneEffect::Concede);
        other.filter(|_| !discard).unwrap_or(PruneEffect::Discard)
    }

    fn pattern(&mut self, spec: &Spec, color: Color) -> String {
        const GENERAL: [&str; 22] = [
            "*",
            "K*",
            "K??",
            "K[a-d]?",
            "K[!a-d][1-8]",
            "K?[1-4]",
            "Kany",
            "k[A-D]*",
            "Px*",
            "P=?",
            "P*=?",
            "P=[QR]",
            "P=[^Q]",
            "Pxany",
            "*x*",
            "*xP",
            "?x?",
            "*=N",
            "*[5-8]",
            "[KQ]*",
            "[!P]x?",
            "?[a-h][1-8]",
        ];
        if self.rng.chance(50) {
            return self.rng.pick(&GENERAL).to_owned();
        }
        let roles: Vec<Role> =
            Role::ALL.into_iter().filter(|&r| spec.men_of(color, r) > 0).collect();
        let letter = self.rng.pick(&roles).upper_char();
        let file = self.rng.pick(&['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
        let rank = self.rng.range(1, 8);
        match self.rng.below(7) {
            0 => format!("{letter}*"),
            1 => format!("{letter}[a-{file}]?"),
            2 => format!("{letter}?{rank}"),
            3 => format!("{letter}{file}{rank}"),
            4 => format!("{letter}x*"),
            5 => format!("{letter}[^x]*"),
            _ => format!("*{letter}*"),
        }
    }
}

fn flipped(pawngen: &Pawngen) -> Pawngen {
    let swap = |[white, black]: [usize; 2]| [black, white];
    let [white, black] = pawngen.start.map(Bitboard::flip_vertical);
    Pawngen {
        start: [black, white],
        required: swap(pawngen.required),
        queens: swap(pawngen.queens),
        captures: swap(pawngen.captures),
        part: pawngen.part,
    }
}

const fn role_name(role: Role) -> &'static str {
    match role {
        Role::King => "king",
        Role::Queen => "queen",
        Role::Rook => "rook",
        Role::Bishop => "bishop",
        Role::Knight => "knight",
        Role::Pawn => "pawn",
    }
}

//! Whether a table is right: every entry recomputed from the entries of its successors.
//!
//! Reads entries through [`Table`] only and never solves. Moves are made here, with the attack sets of
//! `shakmaty`, so that neither the solver's kernels nor its retrograde moves are trusted. What is looked
//! at besides: the checksums and the length of the container, the statistics in the header, and the
//! published Syzygy tables, where cursed wins are wins.
//!
//! The recurrence is that of section 5 of the format's description. A table with distances that obeys
//! it everywhere is right, for distances cannot support each other in a circle; one without distances
//! could be wrong in a whole circle of positions, which [`VerifyReport::remarks`] then says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hoffman_board::shakmaty::{
    self, CastlingMode, Chess, Position as _, PositionError, Setup, attacks,
};
use hoffman_board::value::FlagType;
use hoffman_board::{
    Bitboard, ByColor, ByRole, Color, Format, Material, PieceList, Placement, Rank, Role, Square,
    Value, Variant,
};
use hoffman_control::PruneEffect;
use hoffman_table::htb::SourceOptions;
use hoffman_table::{EntryValue, RawEntry, Table, TableError, TableProblem};
use rayon::prelude::*;
use serde::Serialize;
use shakmaty_syzygy::{Tablebase, Wdl};

/// How many differences a report lists.
pub const SHOWN: usize = 10;

/// Indices that a thread takes at a time.
const BLOCK: u64 = 2048;

/// Up to this many sampled indices, entries are fetched one by one instead of being unpacked all.
const FEW: u64 = 256;

/// Why a table could not be verified to the end. Differences are no error; see [`VerifyReport`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A table cannot be read: damage, a wrong checksum, a wrong length.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A folder of Syzygy tables cannot be read.
    #[error("cannot read the Syzygy tables in {}", .folder.display())]
    Syzygy {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Syzygy tables are about orthodox chess.
    #[error("{}: Syzygy tables cannot judge a table of suicide chess", .0.display())]
    SyzygyVariant(PathBuf),
}

/// How much is verified.
#[derive(Clone)]
pub struct VerifyOptions<'a> {
    /// Only that many indices, spread evenly; all if none.
    pub sample: Option<u64>,
    /// Folders with Syzygy tables to compare with.
    pub syzygy: Vec<PathBuf>,
    /// Bytes that unpacked entries may take. Tables beyond it are read through their block cache.
    pub memory: u64,
    /// Is told how many indices of how many are done, by any thread, a few times a second or oftener.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl Default for VerifyOptions<'_> {
    /// Everything, without Syzygy, in 4 GiB.
    fn default() -> Self {
        VerifyOptions { sample: None, syzygy: Vec::new(), memory: 4 << 30, progress: None }
    }
}

impl fmt::Debug for VerifyOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("sample", &self.sample)
            .field("syzygy", &self.syzygy)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// An entry that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its index.
    pub index: u64,
    /// The position; none if the index stands for no position.
    pub fen: Option<String>,
    /// What the table says, as `win in 3`.
    pub stored: String,
    /// What its successors, or Syzygy, say.
    pub computed: String,
}

/// A number of the header's statistics that is not what was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderDifference {
    /// The element, as `legal-positions`.
    pub element: String,
    /// The number in the header.
    pub header: i64,
    /// The number counted.
    pub counted: i64,
}

/// The comparison with Syzygy tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyzygyReport {
    /// Positions compared.
    pub compared: u64,
    /// Positions that no Syzygy file answers.
    pub unanswered: u64,
    /// Positions with another outcome.
    pub different: u64,
    /// The first of them.
    pub first_differences: Vec<Difference>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The ending, as `KQvKR`.
    pub table: String,
    /// Whether all that was asked for was checked and is right. Positions that Syzygy does not answer, and
    /// differences to Syzygy in a table made with prunes, do not count.
    pub ok: bool,
    /// The number of indices of the table.
    pub indices: u64,
    /// Indices looked at.
    pub checked: u64,
    /// Legal positions among them: the player not to move is not in check.
    pub positions: u64,
    /// Entries that are not what they should be.
    pub different: u64,
    /// The first of them by index, at most [`SHOWN`].
    pub first_differences: Vec<Difference>,
    /// Positions whose distance could not be recomputed because a table needed is missing.
    pub unverified: u64,
    /// The tables missing, as `krk`.
    pub missing: Vec<String>,
    /// Positions of which only win, draw or loss could be compared.
    pub outcome_only: u64,
    /// Statistics of the header that were recounted.
    pub header_checked: Vec<String>,
    /// Those among them that are wrong.
    pub header_differences: Vec<HeaderDifference>,
    /// The comparison with Syzygy, if there was one.
    pub syzygy: Option<SyzygyReport>,
    /// What was not checked, and other remarks.
    pub remarks: Vec<String>,
}

impl fmt::Display for VerifyReport {
    /// Several lines for people, without a newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.ok { "ok" } else { "NOT ok" };
        write!(
            f,
            "{}: {verdict}, {} of {} indices checked, {} legal positions",
            self.table, self.checked, self.indices, self.positions
        )?;
        if self.different > 0 {
            write!(f, "\n  {} entries differ from what their successors say", self.different)?;
        }
        write_differences(f, &self.first_differences, "computed")?;
        if self.unverified > 0 {
            let missing = self.missing.join(", ");
            write!(f, "\n  {} positions not verified for want of {missing}", self.unverified)?;
        }
        if self.outcome_only > 0 {
            write!(f, "\n  {} positions verified for win, draw and loss only", self.outcome_only)?;
        }
        for HeaderDifference { element, header, counted } in &self.header_differences {
            write!(f, "\n  {element}: {header} in the header, {counted} counted")?;
        }
        if let Some(syzygy) = &self.syzygy {
            write!(f, "\n  Syzygy: {} compared, {} different", syzygy.compared, syzygy.different)?;
            if syzygy.unanswered > 0 {
                write!(f, ", {} without an answer", syzygy.unanswered)?;
            }
            write_differences(f, &syzygy.first_differences, "Syzygy")?;
        }
        for remark in &self.remarks {
            write!(f, "\n  {remark}")?;
        }
        Ok(())
    }
}

fn write_differences(
    f: &mut fmt::Formatter<'_>,
    differences: &[Difference],
    other: &str,
) -> fmt::Result {
    for Difference { index, fen, stored, computed } in differences {
        let fen = fen.as_deref().unwrap_or("no position");
        write!(f, "\n    {fen} ({index}): stored {stored}, {other} {computed}")?;
    }
    Ok(())
}

/// The folders that smaller tables are looked for in: beside the table, the folder given, the current
/// one.
pub fn search_folders(table: &Path, given: Option<&Path>) -> Vec<PathBuf> {
    let beside = table.parent().map(Path::to_owned).unwrap_or_default();
    let mut folders = vec![beside];
    folders.extend(given.map(Path::to_owned));
    folders.push(PathBuf::from("."));
    folders
}

/// The endings that the moves of a table lead to, the stronger side first, without the bare kings of
/// normal chess. The table's own is among them if its men may leave their squares.
pub fn endings_after(table: &Table) -> Vec<Material> {
    let suicide = table.variant() == Variant::Suicide;
    let own = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let mut found = Vec::new();
    let partial = table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
    if partial || table.control().pawngen.is_some() {
        found.push(own);
    }
    for color in Color::ALL {
        let captured = |m: &Material| {
            let m = *m;
            let roles = Role::ALL.into_iter().filter(move |&r| suicide || r != Role::King);
            roles.filter_map(move |role| m.without(color.other(), role)).collect::<Vec<_>>()
        };
        found.extend(captured(&own));
        if let Some(rest) = own.without(color, Role::Pawn) {
            let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
            let king = suicide.then_some(Role::King);
            for role in roles.into_iter().chain(king) {
                let promoted = rest.with(color, role);
                found.push(promoted);
                found.extend(captured(&promoted).into_iter().filter(|m| {
                    // A promoting pawn cannot take a pawn.
                    m.count.get(color.other()).pawn == own.count.get(color.other()).pawn
                }));
            }
        }
    }
    let mut endings: Vec<Material> = Vec::new();
    for ending in found {
        let empty = Color::ALL.iter().any(|&c| ending.count.get(c).iter().all(|&n| n == 0));
        let (ending, _) = ending.normalized();
        let bare = !suicide && ending == Material::bare_kings();
        if !empty && !bare && !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    endings
}

/// The tables that the moves of the table under test lead to.
#[derive(Debug, Default)]
pub struct Smaller {
    tables: Vec<Table>,
    remarks: Vec<String>,
}

impl Smaller {
    /// None yet.
    pub fn new() -> Smaller {
        Smaller::default()
    }

    /// Takes what `find` returns for each of [`endings_after`].
    ///
    /// # Errors
    /// Those of `find`.
    pub fn find_with<E>(
        table: &Table,
        mut find: impl FnMut(&Material) -> Result<Vec<Table>, E>,
    ) -> Result<Smaller, E> {
        let mut smaller = Smaller::new();
        for ending in endings_after(table) {
            for found in find(&ending)? {
                smaller.add(found, table);
            }
        }
        Ok(smaller)
    }

    /// Opens what the folders have: first the futurebases that the header of the table names, then for
    /// every ending the file `krk.htb` of the first folder that has one, or else all parts `krk-*.htb`.
    ///
    /// # Errors
    /// A file that is there but cannot be used.
    pub fn from_folders(
        table: &Table,
        folders: &[PathBuf],
        options: &SourceOptions,
    ) -> Result<Smaller, TableError> {
        let mut smaller = Smaller::new();
        let mut open = BTreeSet::new();
        open.extend(table.path().canonicalize());
        let mut open_once = |smaller: &mut Smaller, path: &Path| -> Result<(), TableError> {
            if path.canonicalize().is_ok_and(|path| open.insert(path)) {
                smaller.add(Table::open(path, options.clone())?, table);
            }
            Ok(())
        };
        for futurebase in &table.control().futurebases {
            let named = Path::new(&futurebase.filename);
            let alone = named.file_name().map_or(named, Path::new);
            let is_table = alone.extension().is_some_and(|e| e == "htb");
            let mut paths = folders.iter().flat_map(|f| [f.join(named), f.join(alone)]);
            if let Some(path) = paths.find(|p| is_table && p.is_file()) {
                open_once(&mut smaller, &path)?;
            }
        }
        for ending in endings_after(table) {
            let stems = [ending.stem(), ending.to_string().to_lowercase()];
            let names =
                folders.iter().flat_map(|f| stems.iter().map(|s| f.join(format!("{s}.htb"))));
            match names.clone().find(|path| path.is_file()) {
                Some(path) => open_once(&mut smaller, &path)?,
                None => {
                    for path in folders.iter().flat_map(|f| parts(f, &ending.stem())) {
                        open_once(&mut smaller, &path)?;
                    }
                }
            }
        }
        Ok(smaller)
    }

    /// Adds a table, unless it is of another variant, or made with prunes and not named in the header of
    /// the table under test: then it is left out, with a remark.
    pub fn add(&mut self, found: Table, under_test: &Table) {
        let path = found.path().display();
        if found.variant() != under_test.variant() {
            self.remarks.push(format!("{path} is for other rules and was not used"));
        } else if !found.control().prune_enables.is_empty() && !is_named(&found, under_test) {
            self.remarks.push(format!("{path} was made with prunes and was not used"));
        } else {
            self.tables.push(found);
        }
    }

    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

/// The parts of an ending in a folder, sorted by name.
fn parts(folder: &Path, stem: &str) -> Vec<PathBuf> {
    // A folder given as "" is the current one.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let prefix = format!("{stem}-");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "htb"))
        .filter(|path| {
            path.file_stem().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&prefix))
        })
        .collect();
    found.sort();
    found
}

/// Whether the header of `under_test` names the file of `found` as a futurebase.
fn is_named(found: &Table, under_test: &Table) -> bool {
    let name = found.path().file_name();
    under_test.control().futurebases.iter().any(|f| Path::new(&f.filename).file_name() == name)
}

// --------------------------------------------------------------------------------------- the board

/// The men of a placement as sets of squares.
#[derive(Clone, Debug)]
pub(crate) struct Men {
    sets: ByColor<ByRole<Bitboard>>,
    of: ByColor<Bitboard>,
    turn: Color,
    en_passant: Option<Square>,
}

/// A move: the man of a slot goes to a square.
#[derive(Clone, Copy, Debug)]
struct Step {
    slot: usize,
    to: Square,
    /// Where the man taken stands.
    captured: Option<Square>,
    promotion: Option<Role>,
    /// The square jumped over, if a pawn could capture there.
    jumped: Option<Square>,
    en_passant: bool,
}

impl Men {
    pub(crate) fn new(pieces: &PieceList, placement: &Placement) -> Men {
        let none = ByRole::<Bitboard>::new_with(|_| Bitboard::EMPTY);
        let mut sets = ByColor { white: none, black: none };
        let mut of = ByColor { white: Bitboard::EMPTY, black: Bitboard::EMPTY };
        for (piece, &square) in pieces.iter().zip(&placement.squares) {
            sets.get_mut(piece.color).get_mut(piece.role).add(square);
            of.get_mut(piece.color).add(square);
        }
        Men { sets, of, turn: placement.turn, en_passant: placement.en_passant }
    }

    /// The squares of the men of a kind.
    pub(crate) fn set(&self, color: Color, role: Role) -> Bitboard {
        *self.sets.get(color).get(role)
    }

    fn occupied(&self) -> Bitboard {
        self.of.white | self.of.black
    }

    /// Whether a man of `by` that is not on `without` attacks the square.
    fn is_attacked(
        &self,
        square: Square,
        by: Color,
        occupied: Bitboard,
        without: Bitboard,
    ) -> bool {
        let men = self.sets.get(by);
        let leapers = attacks::knight_attacks(square) & men.knight
            | attacks::king_attacks(square) & men.king
            | attacks::pawn_attacks(by.other(), square) & men.pawn;
        if (leapers & !without).any() {
            return true;
        }
        let straight = (men.rook | men.queen) & !without;
        let slanting = (men.bishop | men.queen) & !without;
        straight.any() && (attacks::rook_attacks(square, occupied) & straight).any()
            || slanting.any() && (attacks::bishop_attacks(square, occupied) & slanting).any()
    }

    /// Whether the king of a colour is attacked.
    pub(crate) fn is_in_check(&self, color: Color) -> bool {
        let attacked =
            |king| self.is_attacked(king, color.other(), self.occupied(), Bitboard::EMPTY);
        self.set(color, Role::King).into_iter().any(attacked)
    }

    /// Whether the player to move may, by a legal move, capture en passant.
    pub(crate) fn can_capture_en_passant(&self, variant: Variant) -> bool {
        let Some(jumped) = self.en_passant else { return false };
        let beside = attacks::pawn_attacks(self.turn.other(), jumped);
        let mut pawns = (beside & self.set(self.turn, Role::Pawn)).into_iter();
        let captured = captured_en_passant(jumped);
        pawns.any(|from| self.is_safe(variant, from, jumped, Some(captured)))
    }

    /// Whether a move of the player to move leaves his king unattacked.
    fn is_safe(
        &self,
        variant: Variant,
        from: Square,
        to: Square,
        captured: Option<Square>,
    ) -> bool {
        if variant == Variant::Suicide {
            return true;
        }
        let without = captured.map_or(Bitboard::EMPTY, Bitboard::from);
        let occupied = (self.occupied() & !without).without(from).with(to);
        let king = match self.set(self.turn, Role::King) {
            king if king.contains(from) => Bitboard::from(to),
            king => king,
        };
        !king.into_iter().any(|k| self.is_attacked(k, self.turn.other(), occupied, without))
    }

    /// The legal moves of the man of a slot, pseudo-legal ones in suicide chess.
    fn steps(&self, variant: Variant, slot: usize, role: Role, from: Square, out: &mut Vec<Step>) {
        let (enemy, occupied) = (*self.of.get(self.turn.other()), self.occupied());
        if role == Role::Pawn {
            self.pawn_steps(variant, slot, from, out);
            return;
        }
        let reached = attacks::attacks(from, role.of(self.turn), occupied);
        for to in reached & !*self.of.get(self.turn) {
            let captured = enemy.contains(to).then_some(to);
            if self.is_safe(variant, from, to, captured) {
                let (promotion, jumped) = (None, None);
                out.push(Step { slot, to, captured, promotion, jumped, en_passant: false });
            }
        }
    }

    fn pawn_steps(&self, variant: Variant, slot: usize, from: Square, out: &mut Vec<Step>) {
        let (enemy, occupied) = (*self.of.get(self.turn.other()), self.occupied());
        let mut add = |to: Square, captured: Option<Square>, jumped, en_passant| {
            if !self.is_safe(variant, from, to, captured) {
                return;
            }
            let step = Step { slot, to, captured, promotion: None, jumped, en_passant };
            if !(Bitboard::from(to) & Bitboard::BACKRANKS).any() {
                out.push(step);
                return;
            }
            let king = (variant == Variant::Suicide).then_some(Role::King);
            for role in
                [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].into_iter().chain(king)
            {
                out.push(Step { promotion: Some(role), ..step });
            }
        };
        let forward = self.turn.fold_wb(8, -8);
        let free = |square: &Square| !occupied.contains(*square);
        if let Some(one) = from.offset(forward).filter(free) {
            add(one, None, None, false);
            let at_start = from.rank() == self.turn.fold_wb(Rank::Second, Rank::Seventh);
            if let Some(two) = one.offset(forward).filter(free).filter(|_| at_start) {
                let theirs = self.set(self.turn.other(), Role::Pawn);
                let seen = (attacks::pawn_attacks(self.turn, one) & theirs).any();
                add(two, None, seen.then_some(one), false);
            }
        }
        for to in attacks::pawn_attacks(self.turn, from) & enemy {
            add(to, Some(to), None, false);
        }
        if let Some(jumped) = self.en_passant
            && attacks::pawn_attacks(self.turn, from).contains(jumped)
        {
            add(jumped, Some(captured_en_passant(jumped)), None, true);
        }
    }
}

/// Where the pawn stands that has jumped over a square.
fn captured_en_passant(jumped: Square) -> Square {
    Square::new(jumped as u32 ^ 8)
}

/// The FEN of men on squares, with move counters.
pub(crate) fn fen(
    men: impl IntoIterator<Item = (Square, Color, Role)>,
    turn: Color,
    en_passant: Option<Square>,
) -> String {
    let mut board = shakmaty::Board::empty();
    for (square, color, role) in men {
        board.set_piece_at(square, role.of(color));
    }
    let en_passant = en_passant.map_or_else(|| "-".to_owned(), |s| s.to_string());
    format!("{} {} - {en_passant} 0 1", board.board_fen(), turn.char())
}

/// The men of a placement.
pub(crate) fn men_of<'a>(
    pieces: &'a PieceList,
    placement: &'a Placement,
) -> impl Iterator<Item = (Square, Color, Role)> + 'a {
    pieces.iter().zip(&placement.squares).map(|(p, &square)| (square, p.color, p.role))
}

// ---------------------------------------------------------------------------------------- outcomes

/// A set of outcomes for the player to move: what a position may be worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcomes(u8);

impl Outcomes {
    const NONE: Outcomes = Outcomes(0);
    const LOSS: Outcomes = Outcomes(1);
    const DRAW: Outcomes = Outcomes(2);
    const WIN: Outcomes = Outcomes(4);
    const ANY: Outcomes = Outcomes(7);

    fn of(value: EntryValue) -> Outcomes {
        match value {
            EntryValue::Exact(Value::Win(_)) | EntryValue::Win => Outcomes::WIN,
            EntryValue::Exact(Value::Draw) | EntryValue::Draw => Outcomes::DRAW,
            EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => Outcomes::LOSS,
            EntryValue::Exact(Value::Illegal) | EntryValue::Illegal => Outcomes::NONE,
            EntryValue::WinOrDraw => Outcomes(6),
            EntryValue::DrawOrLoss => Outcomes(3),
        }
    }

    const fn meets(self, other: Outcomes) -> bool {
        self.0 & other.0 != 0
    }

    const fn is_within(self, other: Outcomes) -> bool {
        self.0 & !other.0 == 0
    }

    /// The same seen by the opponent.
    const fn turned(self) -> Outcomes {
        Outcomes(self.0 >> 2 | self.0 & 2 | (self.0 & 1) << 2)
    }

    /// What the better of two moves may be worth.
    fn or_better(self, other: Outcomes) -> Outcomes {
        // An outcome is possible if one move may have it and the other one need not have a better one.
        let upward = |set: u8| {
            let lowest = set & set.wrapping_neg();
            !(lowest.wrapping_sub(1)) & 7
        };
        match (self.0, other.0) {
            (0, _) => other,
            (_, 0) => self,
            (a, b) => Outcomes((a | b) & upward(a) & upward(b)),
        }
    }

    const fn words(self) -> &'static str {
        match self.0 {
            1 => "loss",
            2 => "draw",
            3 => "draw or loss",
            4 => "win",
            6 => "win or draw",
            0 => "illegal",
            _ => "unknown",
        }
    }
}

fn words_of(value: EntryValue) -> String {
    match value {
        EntryValue::Exact(value) => words_of_exact(value),
        other => Outcomes::of(other).words().to_owned(),
    }
}

fn words_of_exact(value: Value) -> String {
    match value {
        Value::Illegal => "illegal".to_owned(),
        Value::Draw => "draw".to_owned(),
        Value::Win(moves) => format!("win in {moves}"),
        Value::Loss(moves) => format!("loss in {moves}"),
    }
}

/// What a move is worth to the player who makes it.
#[derive(Clone, Copy, Debug)]
struct Worth {
    outcomes: Outcomes,
    /// Known to the move, or not at all.
    exact: Option<Value>,
}

impl Worth {
    /// Of a move into a position that is worth `value` to the opponent.
    fn before(value: EntryValue) -> Worth {
        match value {
            EntryValue::Exact(value) => match value.negate() {
                Some(value) => Worth::exactly(value),
                None => Worth::UNKNOWN,
            },
            EntryValue::Draw => Worth::exactly(Value::Draw),
            EntryValue::Illegal => Worth::UNKNOWN,
            other => Worth { outcomes: Outcomes::of(other).turned(), exact: None },
        }
    }

    const UNKNOWN: Worth = Worth { outcomes: Outcomes::ANY, exact: None };

    fn exactly(value: Value) -> Worth {
        Worth { outcomes: Outcomes::of(EntryValue::Exact(value)), exact: Some(value) }
    }

    /// With the distance to a conversion that is made at once.
    fn converting(self) -> Worth {
        match self.outcomes {
            Outcomes::WIN => Worth::exactly(Value::Win(1)),
            Outcomes::LOSS => Worth::exactly(Value::Loss(1)),
            Outcomes::DRAW => Worth::exactly(Value::Draw),
            outcomes => Worth { outcomes, exact: None },
        }
    }
}

/// The best of the moves seen so far.
#[derive(Clone, Debug)]
struct Best {
    outcomes: Outcomes,
    win: Option<u16>,
    loss: u16,
    /// The outcomes of moves whose distance is not known.
    inexact: Outcomes,
    moves: u32,
}

impl Best {
    fn new() -> Best {
        let none = Outcomes::NONE;
        Best { outcomes: none, win: None, loss: 0, inexact: none, moves: 0 }
    }

    fn take(&mut self, worth: Worth) {
        self.moves += 1;
        self.outcomes = self.outcomes.or_better(worth.outcomes);
        match worth.exact {
            Some(Value::Win(moves)) => self.win = Some(self.win.map_or(moves, |w| w.min(moves))),
            Some(Value::Loss(moves)) => self.loss = self.loss.max(moves),
            Some(_) => {}
            None => self.inexact = Outcomes(self.inexact.0 | worth.outcomes.0),
        }
    }

    fn worth(&self) -> Worth {
        let sure = |outcome| !self.inexact.meets(outcome);
        let exact = match self.outcomes {
            Outcomes::WIN if sure(Outcomes::WIN) => self.win.map(Value::Win),
            Outcomes::DRAW => Some(Value::Draw),
            Outcomes::LOSS if sure(Outcomes::LOSS) => Some(Value::Loss(self.loss)),
            _ => None,
        };
        Worth { outcomes: self.outcomes, exact }
    }
}

// ------------------------------------------------------------------------------------------ tables

/// The entries of a table, unpacked if there is room.
#[derive(Debug)]
enum Entries {
    Small(Vec<i8>),
    Wide(Vec<i16>),
    OnDisk,
}

#[derive(Debug)]
struct Loaded<'a> {
    table: &'a Table,
    entries: Entries,
}

impl<'a> Loaded<'a> {
    /// Unpacks the entries if they fit into what is left of the memory.
    fn new(table: &'a Table, memory: &mut u64) -> Result<Loaded<'a>, TableError> {
        let size = table.space().size();
        let entries = match table.codec().bits() {
            1..=8 if size <= *memory => {
                *memory -= size;
                let mut numbers = vec![0; size as usize];
                table.read_entries(0, &mut numbers)?;
                Entries::Small(numbers)
            }
            9..=16 if size.saturating_mul(2) <= *memory => {
                *memory -= size * 2;
                let mut numbers = vec![0; size as usize];
                table.read_entries(0, &mut numbers)?;
                Entries::Wide(numbers)
            }
            _ => Entries::OnDisk,
        };
        Ok(Loaded { table, entries })
    }

    fn entry(&self, index: u64) -> Result<RawEntry, TableError> {
        let held = match &self.entries {
            Entries::Small(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            Entries::Wide(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            Entries::OnDisk => None,
        };
        match held {
            // Unsigned eight-bit entries do not exist: only distances are that wide.
            Some(n) => Ok(RawEntry(n)),
            None => self.table.entry(index),
        }
    }

    /// The value of a placement of this table; none if it has no such index.
    fn value(&self, placement: &Placement) -> Result<Option<EntryValue>, TableError> {
        let Some(index) = self.table.index(placement) else { return Ok(None) };
        let raw = self.entry(index)?;
        Ok(Some(self.table.codec().value(raw, placement.turn).unwrap_or(EntryValue::Illegal)))
    }
}

/// A smaller table that holds an ending, perhaps with the colours exchanged.
#[derive(Clone, Copy, Debug)]
struct Holder {
    number: usize,
    swapped: bool,
    /// Named in the header of the table under test.
    named: bool,
}

/// A table under test with everything that its moves lead to.
struct Job<'a> {
    main: Loaded<'a>,
    smaller: Vec<Loaded<'a>>,
    holders: HashMap<Material, Vec<Holder>>,
    own: Material,
    syzygy: Option<Tablebase<Chess>>,
    /// Distances of moves out of the table do not count.
    converts: bool,
    /// Only outcomes are compared.
    outcomes_only: bool,
}

/// What is known of a move.
enum Reply {
    Worth(Worth),
    Missing(Material),
    Discarded,
}

impl<'a> Job<'a> {
    fn new(
        table: &'a Table,
        smaller: &'a Smaller,
        options: &VerifyOptions<'_>,
    ) -> Result<Job<'a>, VerifyError> {
        let few = options.sample.is_some_and(|n| n <= FEW);
        let mut memory = if few { 0 } else { options.memory };
        let main = Loaded::new(table, &mut memory)?;
        let mut holders: HashMap<Material, Vec<Holder>> = HashMap::new();
        let mut loaded = Vec::new();
        for (number, other) in smaller.tables.iter().enumerate() {
            loaded.push(Loaded::new(other, &mut memory)?);
            let named = is_named(other, table);
            let ending = Material::from_men(other.pieces().iter().map(|p| (p.color, p.role)));
            let holder = Holder { number, swapped: false, named };
            holders.entry(ending).or_default().push(holder);
            let holder = Holder { swapped: true, ..holder };
            holders.entry(ending.swapped()).or_default().push(holder);
        }
        let converts = matches!(table.codec().format(), Format::Dtc(_));
        Ok(Job {
            main,
            smaller: loaded,
            holders,
            own: Material::from_men(table.pieces().iter().map(|p| (p.color, p.role))),
            syzygy: open_syzygy(table, options)?,
            converts,
            outcomes_only: converts && is_original(table),
        })
    }

    fn table(&self) -> &'a Table {
        self.main.table
    }

    /// The value of a position for its player to move, out of the smaller tables.
    fn look_up(
        &self,
        ending: &Material,
        men: &[(Square, Color, Role)],
        turn: Color,
        jumped: Option<Square>,
        only_named: bool,
    ) -> Result<Option<EntryValue>, TableError> {
        let holders = self.holders.get(ending).map_or(&[][..], Vec::as_slice);
        for holder in holders.iter().filter(|h| h.named || !only_named) {
            let Some(loaded) = self.smaller.get(holder.number) else { continue };
            let table = loaded.table;
            let placement = if holder.swapped {
                let men = men.iter().map(|&(s, c, r)| (s.flip_vertical(), c.other(), r));
                table.place(men, turn.other(), jumped.map(Square::flip_vertical))
            } else {
                table.place(men.iter().copied(), turn, jumped)
            };
            let Some(placement) = placement else { continue };
            if let Some(value) = loaded.value(&placement)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// What a move is worth, and whether it leaves the table.
    fn reply(&self, placement: &Placement, step: &Step) -> Result<(Reply, bool), TableError> {
        if step.captured.is_none() && step.promotion.is_none() {
            let mut after = placement.clone();
            if let Some(square) = after.squares.get_mut(step.slot) {
                *square = step.to;
            }
            after.turn = placement.turn.other();
            after.en_passant = step.jumped;
            if let Some(value) = self.main.value(&after)? {
                return Ok((Reply::Worth(Worth::before(value)), false));
            }
        }
        let reply = self.reply_outside(placement, step)?;
        Ok((reply, true))
    }

    /// What a move is worth that leaves the table.
    fn reply_outside(&self, placement: &Placement, step: &Step) -> Result<Reply, TableError> {
        let (table, turn) = (self.table(), placement.turn);
        let mut ending = self.own;
        let mut men: Vec<(Square, Color, Role)> = Vec::with_capacity(placement.squares.len());
        let mut moved = None;
        let mut taken = None;
        for (slot, (square, color, role)) in men_of(table.pieces(), placement).enumerate() {
            if slot == step.slot {
                moved = Some(role);
                let now = step.promotion.unwrap_or(role);
                if now != role {
                    ending = ending.without(color, role).unwrap_or(ending).with(color, now);
                }
                men.push((step.to, color, now));
            } else if step.captured == Some(square) {
                taken = Some(role);
                ending = ending.without(color, role).unwrap_or(ending);
            } else {
                men.push((square, color, role));
            }
        }
        let pruned = self.pruned(turn, step, moved, taken);
        if table.variant() == Variant::Normal && ending == Material::bare_kings() {
            if pruned.is_none() {
                return Ok(Reply::Worth(Worth::exactly(Value::Draw)));
            }
        } else if men.iter().all(|&(_, color, _)| color == turn) {
            // In suicide chess the opponent of whoever takes the last man has won.
            return Ok(Reply::Worth(Worth::exactly(Value::Loss(1))));
        }
        let value = self.look_up(&ending, &men, turn.other(), step.jumped, pruned.is_some())?;
        Ok(match (value, pruned) {
            (Some(value), _) => {
                let worth = Worth::before(value);
                Reply::Worth(if self.converts { worth.converting() } else { worth })
            }
            (None, Some(PruneEffect::Concede)) => Reply::Worth(Worth::exactly(Value::Win(1))),
            (None, Some(PruneEffect::Discard)) => Reply::Discarded,
            (None, None) => Reply::Missing(ending.normalized().0),
        })
    }

    /// The effect of the first prune that names a move.
    fn pruned(
        &self,
        turn: Color,
        step: &Step,
        moved: Option<Role>,
        taken: Option<Role>,
    ) -> Option<PruneEffect> {
        let prunes = &self.table().control().prunes;
        if prunes.is_empty() {
            return None;
        }
        let mut kind = moved?.upper_char().to_string();
        match (taken, step.promotion) {
            (Some(role), _) => kind.extend(['x', role.upper_char()]),
            (None, None) => kind.push_str(&step.to.to_string()),
            (None, Some(_)) => {}
        }
        if let Some(role) = step.promotion {
            kind.extend(['=', role.upper_char()]);
        }
        prunes.iter().find(|p| p.color == turn && p.matches(&kind)).map(|p| p.effect)
    }

    /// Compares one index. `steps` is scratch space.
    fn check(
        &self,
        index: u64,
        tally: &mut Tally,
        steps: &mut Vec<Step>,
    ) -> Result<(), TableError> {
        let table = self.table();
        let raw = self.main.entry(index)?;
        tally.checked += 1;
        let Some(placement) = table.space().decode(index) else {
            if raw != table.codec().undecodable() {
                let stored = format!("number {}", raw.0);
                tally.differ(index, None, stored, "no position".to_owned());
            }
            return Ok(());
        };
        let (variant, turn) = (table.variant(), placement.turn);
        let men = Men::new(table.pieces(), &placement);
        if variant == Variant::Normal && men.is_in_check(turn.other()) {
            tally.illegal += 1;
            if !self.is_stored_as_illegal(raw, turn) {
                let stored = self.stored_words(raw, turn);
                tally.differ(index, Some(self.fen(&placement)), stored, "illegal".to_owned());
            }
            return Ok(());
        }
        self.generate(&men, &placement, steps);
        let stored = table.codec().value(raw, turn);
        tally.count_legal(steps.is_empty() && variant == Variant::Suicide, stored, turn);
        let computed = self.recompute(&men, &placement, steps, tally)?;
        let known = stored.map_or(Outcomes::NONE, Outcomes::of);
        let agrees = match (stored, computed.exact) {
            (Some(EntryValue::Exact(stored)), Some(value)) if !self.outcomes_only => {
                stored == value
            }
            _ => known.meets(computed.outcomes),
        };
        if !agrees {
            let words = match computed.exact {
                Some(value) if table.codec().format().has_distance() => words_of_exact(value),
                _ => computed.outcomes.words().to_owned(),
            };
            let stored = self.stored_words(raw, turn);
            tally.differ(index, Some(self.fen(&placement)), stored, words);
        } else if !tally.lacks_table && (computed.exact.is_none() || self.outcomes_only) {
            if computed.outcomes.is_within(known) {
                tally.outcome_only += 1;
            } else {
                tally.undetermined += 1;
            }
        }
        if let Some(syzygy) = &self.syzygy {
            let usable = steps.iter().any(|s| s.en_passant);
            let en_passant = placement.en_passant.filter(|_| usable);
            let expected = probe_syzygy(syzygy, table.pieces(), &placement, en_passant);
            tally.compare_syzygy(known, expected, || {
                let stored = self.stored_words(raw, turn);
                let fen = Some(self.fen(&placement));
                Difference { index, fen, stored, computed: String::new() }
            });
        }
        Ok(())
    }

    /// Old basic tables hold a win where the player not to move is in check (D1).
    fn is_stored_as_illegal(&self, raw: RawEntry, turn: Color) -> bool {
        let codec = self.table().codec();
        raw == codec.store(Value::Illegal, turn)
            || codec.format() == Format::Basic && raw == codec.store(Value::Win(1), turn)
    }

    fn stored_words(&self, raw: RawEntry, turn: Color) -> String {
        match self.table().codec().value(raw, turn) {
            Some(value) => words_of(value),
            None => format!("number {}", raw.0),
        }
    }

    fn fen(&self, placement: &Placement) -> String {
        fen(men_of(self.table().pieces(), placement), placement.turn, placement.en_passant)
    }

    /// The legal moves; in suicide chess only captures if there is one.
    fn generate(&self, men: &Men, placement: &Placement, steps: &mut Vec<Step>) {
        let (table, turn) = (self.table(), placement.turn);
        steps.clear();
        for (slot, (from, color, role)) in men_of(table.pieces(), placement).enumerate() {
            if color == turn {
                men.steps(table.variant(), slot, role, from, steps);
            }
        }
        if table.variant() == Variant::Suicide && steps.iter().any(|s| s.captured.is_some()) {
            steps.retain(|s| s.captured.is_some());
        }
    }

    fn recompute(
        &self,
        men: &Men,
        placement: &Placement,
        steps: &[Step],
        tally: &mut Tally,
    ) -> Result<Worth, TableError> {
        let mut best = Best::new();
        let mut missing = false;
        let mut leaving = 0;
        let last_man = men.of.get(placement.turn.other()).count() == 1;
        let decided = last_man && steps.iter().any(|s| s.captured.is_some());
        for step in steps {
            let (reply, leaves) = self.reply(placement, step)?;
            leaving += u64::from(leaves);
            match reply {
                Reply::Worth(worth) => best.take(worth),
                Reply::Discarded => {}
                Reply::Missing(ending) => {
                    best.take(Worth::UNKNOWN);
                    missing = true;
                    if !tally.missing.contains(&ending) {
                        tally.missing.push(ending);
                    }
                }
            }
        }
        // Headers leave out positions that the capture of the last man decides.
        if !decided {
            tally.moves += u64::from(best.moves);
            tally.futuremoves += leaving;
        }
        tally.lacks_table = missing;
        tally.unverified += u64::from(missing);
        if best.moves > 0 {
            return Ok(best.worth());
        }
        if self.table().variant() == Variant::Suicide {
            return Ok(Worth::exactly(Value::Win(0)));
        }
        if men.is_in_check(placement.turn) {
            return Ok(Worth::exactly(Value::Loss(0)));
        }
        tally.stalemates += 1;
        Ok(Worth::exactly(match self.table().control().stalemates_conceded_to() {
            None => Value::Draw,
            Some(winner) if winner == placement.turn => Value::Win(1),
            Some(_) => Value::Loss(1),
        }))
    }
}

/// Whether the original program made a table.
fn is_original(table: &Table) -> bool {
    table.control().program().is_some_and(|p| p.starts_with("Hoffman Version"))
}

fn open_syzygy(
    table: &Table,
    options: &VerifyOptions<'_>,
) -> Result<Option<Tablebase<Chess>>, VerifyError> {
    if options.syzygy.is_empty() {
        return Ok(None);
    }
    if table.variant() == Variant::Suicide {
        return Err(VerifyError::SyzygyVariant(table.path().to_owned()));
    }
    let mut syzygy = Tablebase::new();
    for folder in &options.syzygy {
        syzygy
            .add_directory(folder)
            .map_err(|source| VerifyError::Syzygy { folder: folder.clone(), source })?;
    }
    Ok(Some(syzygy))
}

/// What Syzygy says of a legal position; none if it has no answer.
fn probe_syzygy(
    syzygy: &Tablebase<Chess>,
    pieces: &PieceList,
    placement: &Placement,
    en_passant: Option<Square>,
) -> Option<Outcomes> {
    let mut setup = Setup::empty();
    for (square, color, role) in men_of(pieces, placement) {
        setup.board.set_piece_at(square, role.of(color));
    }
    setup.turn = placement.turn;
    setup.ep_square = en_passant;
    let chess: Chess = setup
        .position(CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()?;
    if pieces.len() == 2 || chess.is_checkmate() || chess.is_stalemate() {
        return Some(if chess.is_checkmate() { Outcomes::LOSS } else { Outcomes::DRAW });
    }
    Some(match syzygy.probe_wdl_after_zeroing(&chess).ok()? {
        Wdl::Win | Wdl::CursedWin => Outcomes::WIN,
        Wdl::Draw => Outcomes::DRAW,
        Wdl::Loss | Wdl::BlessedLoss => Outcomes::LOSS,
    })
}

// ---------------------------------------------------------------------------------------- counting

/// What one thread has found.
#[derive(Debug, Default)]
struct Tally {
    checked: u64,
    illegal: u64,
    legal: u64,
    /// Suicide chess: positions without a move, which headers count apart.
    without_move: u64,
    stalemates: u64,
    wins: ByColor<u64>,
    moves: u64,
    futuremoves: u64,
    max: i32,
    min: i32,
    outcome_only: u64,
    undetermined: u64,
    unverified: u64,
    lacks_table: bool,
    missing: Vec<Material>,
    different: u64,
    first: Vec<Difference>,
    syzygy: SyzygyReport,
}

impl Tally {
    fn count_legal(&mut self, without_move: bool, stored: Option<EntryValue>, turn: Color) {
        self.legal += 1;
        if without_move {
            self.without_move += 1;
            return;
        }
        if let Some(value) = stored {
            match Outcomes::of(value) {
                Outcomes::WIN => *self.wins.get_mut(turn) += 1,
                Outcomes::LOSS => *self.wins.get_mut(turn.other()) += 1,
                _ => {}
            }
            if let EntryValue::Exact(value @ (Value::Win(_) | Value::Loss(_))) = value {
                self.max = self.max.max(value.to_stored());
                self.min = self.min.min(value.to_stored());
            }
        }
    }

    fn differ(&mut self, index: u64, fen: Option<String>, stored: String, computed: String) {
        self.different += 1;
        keep_first(&mut self.first, Difference { index, fen, stored, computed });
    }

    fn compare_syzygy(
        &mut self,
        known: Outcomes,
        expected: Option<Outcomes>,
        difference: impl FnOnce() -> Difference,
    ) {
        let Some(expected) = expected else {
            self.syzygy.unanswered += 1;
            return;
        };
        self.syzygy.compared += 1;
        if !known.meets(expected) {
            self.syzygy.different += 1;
            let computed = expected.words().to_owned();
            let difference = Difference { computed, ..difference() };
            keep_first(&mut self.syzygy.first_differences, difference);
        }
    }

    fn with(mut self, other: Tally) -> Tally {
        self.checked += other.checked;
        self.illegal += other.illegal;
        self.legal += other.legal;
        self.without_move += other.without_move;
        self.stalemates += other.stalemates;
        self.wins.white += other.wins.white;
        self.wins.black += other.wins.black;
        self.moves += other.moves;
        self.futuremoves += other.futuremoves;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
        self.outcome_only += other.outcome_only;
        self.undetermined += other.undetermined;
        self.unverified += other.unverified;
        for ending in other.missing {
            if !self.missing.contains(&ending) {
                self.missing.push(ending);
            }
        }
        self.different += other.different;
        other.first.into_iter().for_each(|d| keep_first(&mut self.first, d));
        self.syzygy.compared += other.syzygy.compared;
        self.syzygy.unanswered += other.syzygy.unanswered;
        self.syzygy.different += other.syzygy.different;
        for difference in other.syzygy.first_differences {
            keep_first(&mut self.syzygy.first_differences, difference);
        }
        self
    }

    /// The statistics that the header of a completely checked table should have.
    fn statistics(&self, table: &Table) -> BTreeMap<&'static str, u64> {
        let mut numbers = BTreeMap::from([
            ("indices", table.space().size()),
            ("PNTM-mated-positions", self.illegal + self.without_move),
            ("legal-positions", self.legal - self.without_move),
        ]);
        let format = table.codec().format();
        // The original counts the wins of tables without distances wrongly (D2).
        if matches!(format, Format::Dtm(_)) || format == Format::Basic && !is_original(table) {
            numbers.insert("white-wins-positions", self.wins.white);
            numbers.insert("black-wins-positions", self.wins.black);
        }
        if format == Format::Flag(FlagType::WhiteWins) && !is_original(table) {
            numbers.insert("white-wins-positions", self.wins.white);
        }
        // Which moves a prune removed, and when, is the solver's business.
        if table.control().prunes.is_empty() {
            numbers.insert("stalemate-positions", self.stalemates);
            numbers.insert("forward-moves", self.moves);
            numbers.insert("futuremoves", self.futuremoves);
        }
        numbers
    }
}

/// Keeps the differences with the lowest indices in order.
fn keep_first(list: &mut Vec<Difference>, difference: Difference) {
    let at = list.partition_point(|d| d.index < difference.index);
    if at < SHOWN {
        list.insert(at, difference);
        list.truncate(SHOWN);
    }
}

/// The `k`th of `n` indices spread over a table: one out of each of `n` equal stretches.
fn sampled(k: u64, n: u64, size: u64) -> u64 {
    let start = |k: u64| (u128::from(k) * u128::from(size) / u128::from(n)) as u64;
    let (first, end) = (start(k), start(k + 1));
    // SplitMix64, so that the sample follows no pattern of the index and is the same every time.
    let mut x = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    first + (x ^ x >> 31) % (end - first).max(1)
}

/// Checks the length and the checksums of a file.
fn check_container(table: &Table) -> Result<Option<String>, TableError> {
    let fail = |problem| TableError { path: table.path().to_owned(), problem };
    table.source().verify().map_err(|e| fail(e.into()))?;
    let found = table.source().uncompressed_len().map_err(|e| fail(e.into()))?;
    let (start, size) = (table.control().offset, table.space().size());
    let expected = start.saturating_add(table.codec().area_bytes(size));
    let text = table.control().text();
    let extra = (text.len() - text.chars().count()) as u64;
    if found == expected {
        Ok(None)
    } else if extra > 0 && found == expected + extra {
        let remark = "the header counts characters instead of bytes (a defect of the original)";
        Ok(Some(remark.to_owned()))
    } else {
        Err(fail(TableProblem::Length { found, expected }))
    }
}

/// Verifies a table against the entries of its successors, its own header and, if folders are given,
/// Syzygy. Call [`Table::check_length`] first for files of the original.
///
/// # Errors
/// Damage to a file, which ends the work. Wrong entries are reported instead.
pub fn verify(
    table: &Table,
    smaller: &Smaller,
    options: &VerifyOptions<'_>,
) -> Result<VerifyReport, VerifyError> {
    let mut remarks = Vec::from_iter(check_container(table)?);
    remarks.extend_from_slice(&smaller.remarks);
    let job = Job::new(table, smaller, options)?;
    let size = table.space().size();
    let sample = options.sample.filter(|&n| n < size);
    let count = sample.unwrap_or(size);
    let done = AtomicU64::new(0);
    let check_block = |(mut tally, mut steps): (Tally, Vec<Step>), block: u64| {
        let (first, end) = (block * BLOCK, (block * BLOCK + BLOCK).min(count));
        for k in first..end {
            let index = sample.map_or(k, |n| sampled(k, n, size));
            job.check(index, &mut tally, &mut steps)?;
        }
        let done = done.fetch_add(end - first, Ordering::Relaxed) + (end - first);
        if let Some(progress) = options.progress {
            progress(done, count);
        }
        Ok::<_, TableError>((tally, steps))
    };
    let tally = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .try_fold(|| (Tally::default(), Vec::new()), check_block)
        .map(|result| result.map(|(tally, _)| tally))
        .try_reduce(Tally::default, |a, b| Ok(a.with(b)))?;
    remarks.extend(remarks_on(&job, &tally, sample.is_some()));
    Ok(report(&job, tally, remarks, sample.is_some()))
}

fn remarks_on(job: &Job<'_>, tally: &Tally, sampled: bool) -> Vec<String> {
    let (table, format) = (job.table(), job.table().codec().format());
    let mut remarks = Vec::new();
    if !format.has_distance() {
        remarks.push(format!(
            "{} entries agree with their successors' outcomes; circles of positions that only support \
             each other would not be seen",
            format.name()
        ));
    }
    if job.outcomes_only {
        remarks.push("distances to conversion by the original program are not verified".to_owned());
    } else if job.converts {
        remarks.push("every move out of the table was taken as a conversion".to_owned());
    }
    if tally.undetermined > 0 {
        remarks.push(format!(
            "{} positions depend on outcomes that the successors' tables do not tell",
            tally.undetermined
        ));
    }
    if !table.control().prunes.is_empty() {
        remarks.push("the table was made with prunes: its values hold under them only, and Syzygy's may differ".to_owned());
    }
    if sampled {
        remarks.push("only a sample was checked, and no statistics".to_owned());
    }
    remarks
}

fn report(job: &Job<'_>, tally: Tally, remarks: Vec<String>, sampled: bool) -> VerifyReport {
    let table = job.table();
    let mut header_checked = Vec::new();
    let mut header_differences = Vec::new();
    if !sampled {
        let mut numbers: Vec<(&str, i64)> =
            tally.statistics(table).into_iter().map(|(name, n)| (name, n as i64)).collect();
        if matches!(table.codec().format(), Format::Dtm(_)) {
            numbers.push(("max-dtm", i64::from(tally.max)));
            numbers.push(("min-dtm", i64::from(tally.min)));
        }
        for (name, counted) in numbers {
            let Some(&header) = table.control().statistics.get(name) else { continue };
            header_checked.push(name.to_owned());
            if header != counted {
                let element = name.to_owned();
                header_differences.push(HeaderDifference { element, header, counted });
            }
        }
    }
    let ok = tally.different == 0
        && tally.unverified == 0
        && header_differences.is_empty()
        && (tally.syzygy.different == 0 || !table.control().prunes.is_empty());
    let mut missing: Vec<String> = tally.missing.iter().map(Material::stem).collect();
    missing.sort();
    VerifyReport {
        table: job.own.to_string(),
        ok,
        indices: table.space().size(),
        checked: tally.checked,
        positions: tally.legal,
        different: tally.different,
        first_differences: tally.first,
        unverified: tally.unverified,
        missing,
        outcome_only: tally.outcome_only,
        header_checked,
        header_differences,
        syzygy: job.syzygy.as_ref().map(|_| tally.syzygy),
        remarks,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The folder with golden tables and published data; none, with a loud message, if it is not there.
    pub(crate) fn shared() -> Option<PathBuf> {
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let folder = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
        if folder.join("spec/golden").is_dir() {
            return Some(folder);
        }
        eprintln!("NOT TESTED: no golden tables in {}; set HOFFMAN_SHARED", folder.display());
        None
    }

    pub(crate) fn golden(name: &str) -> Option<Table> {
        let path = shared()?.join("spec/golden").join(format!("{name}.htb"));
        let mut table = Table::open(path, SourceOptions::default()).unwrap();
        table.check_length().unwrap();
        Some(table)
    }

    fn smaller(table: &Table) -> Smaller {
        let folders = search_folders(table.path(), None);
        Smaller::from_folders(table, &folders, &SourceOptions::default()).unwrap()
    }

    fn verified(name: &str, options: &VerifyOptions<'_>) -> Option<VerifyReport> {
        let table = golden(name)?;
        Some(verify(&table, &smaller(&table), options).unwrap())
    }

    fn with_syzygy(sample: Option<u64>) -> Option<VerifyOptions<'static>> {
        let syzygy = vec![shared()?.join("data/syzygy")];
        Some(VerifyOptions { sample, syzygy, ..VerifyOptions::default() })
    }

    #[test]
    fn golden_tables_are_right() {
        let Some(options) = with_syzygy(None) else { return };
        for name in ["kk", "kqk", "krk", "kbk", "knk", "kpk"] {
            let report = verified(&format!("base/{name}"), &options).unwrap();
            assert!(report.ok, "{report}");
            assert_eq!(report.checked, report.indices);
            assert_eq!((report.unverified, report.outcome_only), (0, 0));
            assert_eq!(report.header_checked.len(), 10, "{report}");
            let syzygy = report.syzygy.unwrap();
            assert_eq!((syzygy.compared, syzygy.unanswered), (report.positions, 0));
        }
    }

    #[test]
    fn a_sample_is_enough_for_a_colour_symmetric_table() {
        let Some(options) = with_syzygy(Some(20_000)) else { return };
        let report = verified("base/kqkq", &options).unwrap();
        assert!(report.ok && report.checked == 20_000, "{report}");
        assert!(report.header_checked.is_empty());
        let few = VerifyOptions { sample: Some(100), ..VerifyOptions::default() };
        let report = verified("base/kqkq", &few).unwrap();
        assert!(report.ok && report.checked == 100, "{report}");
    }

    #[test]
    fn missing_tables_are_named() {
        let Some(options) = with_syzygy(Some(20_000)) else { return };
        let report = verified("base/kpkp", &options).unwrap();
        assert!(!report.ok && report.unverified > 0);
        assert_eq!(report.missing, ["kbkp", "knkp", "kqkp"]);
        assert_eq!((report.different, report.syzygy.unwrap().different), (0, 0));
    }

    #[test]
    #[ignore = "slow: all entries of two tables of twelve million"]
    fn golden_tables_with_pawns_have_no_differences() {
        let Some(options) = with_syzygy(None) else { return };
        for name in ["kqkq", "kpkp", "krkp"] {
            let report = verified(&format!("base/{name}"), &options).unwrap();
            assert_eq!(report.different, 0, "{report}");
            assert!(report.header_differences.is_empty(), "{report}");
            assert_eq!(report.syzygy.unwrap().different, 0);
        }
    }

    #[test]
    fn restricted_pruned_and_suicide_tables_are_right() {
        let base = || Some(vec![shared()?.join("spec/golden/base")]);
        let Some(folders) = base() else { return };
        for name in [
            "restricted/kpk-pawn-on-ranks-2-3",
            "restricted/kpk-pawn-on-ranks-4-to-7",
            "restricted/kpkp-plus-pawns-a2-a7-combinadic5",
            "pruned/kpk-only-queen-others-discarded",
            "pruned/kpk-promotions-conceded",
            "pruned/kqk-stalemate-conceded-to-black",
            "pruned/lasker1901",
            "suicide/kvq",
            "suicide/krvq",
        ] {
            let table = golden(name).unwrap();
            let mut all = search_folders(table.path(), None);
            all.extend_from_slice(&folders);
            let smaller = Smaller::from_folders(&table, &all, &SourceOptions::default()).unwrap();
            let report = verify(&table, &smaller, &VerifyOptions::default()).unwrap();
            assert!(report.ok, "{name}: {report}");
        }
    }

    #[test]
    fn defects_of_the_original_are_found() {
        let options = VerifyOptions::default();
        for (name, different) in [("suicide/pvp", 40), ("suicide/pvp-naive", 80)] {
            let Some(report) = verified(name, &options) else { return };
            assert!(!report.ok);
            assert_eq!(report.different, different, "{report}");
            assert_eq!(report.first_differences.len(), SHOWN);
            assert!(report.first_differences.is_sorted_by_key(|d| d.index));
        }
    }

    #[test]
    #[ignore = "slow: needs three and a half million positions of krbk"]
    fn the_wrong_krbk_is_found() {
        let name = "bugs/krbk-basic-from-basic-wrong";
        let Some(table) = golden(name) else { return };
        let folders = [table.path().with_file_name(""), table.path().with_file_name("../base")];
        let smaller = Smaller::from_folders(&table, &folders, &SourceOptions::default()).unwrap();
        let report = verify(&table, &smaller, &VerifyOptions::default()).unwrap();
        assert_eq!(report.different, 8440, "{report}");
    }

    #[test]
    fn one_wrong_entry_is_found() {
        let Some(table) = golden("base/kqk") else { return };
        let size = table.space().size();
        let mut numbers = vec![0_i32; size as usize];
        table.read_entries(0, &mut numbers).unwrap();
        let mut file = vec![0; table.control().offset as usize];
        table.source().read_at(0, &mut file).unwrap();
        let index = (0..size).rev().find(|&i| numbers[i as usize] == 5).unwrap();
        numbers[index as usize] = 6;
        table.codec().pack(&numbers, &mut file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kqk.htb");
        std::fs::write(&path, &file).unwrap();
        let wrong = Table::open(&path, SourceOptions::default()).unwrap();
        let report = verify(&wrong, &smaller(&table), &VerifyOptions::default()).unwrap();
        assert!(!report.ok);
        let found = report.first_differences.iter().find(|d| d.index == index).unwrap();
        assert_eq!((found.stored.as_str(), found.computed.as_str()), ("win in 5", "win in 4"));
        assert!(report.to_string().contains("NOT ok"));
        assert!(serde_json::to_value(&report).unwrap()["first_differences"].is_array());
        // A file cut short is damage, not a difference.
        std::fs::write(&path, &file[..file.len() - 1]).unwrap();
        let short = Table::open(&path, SourceOptions::default()).unwrap();
        let error = verify(&short, &Smaller::new(), &VerifyOptions::default()).unwrap_err();
        assert!(matches!(error, VerifyError::Table(_)), "{error}");
    }

    #[test]
    fn moves_are_those_of_shakmaty() {
        for name in ["base/kpkp", "base/krkp", "base/kqkq", "index-ep/kppk-ep-combinadic5-sym1"] {
            let Some(table) = golden(name) else { return };
            let none = Smaller::new();
            let options = VerifyOptions { sample: Some(1), ..VerifyOptions::default() };
            let job = Job::new(&table, &none, &options).unwrap();
            let mut steps = Vec::new();
            for index in (0..30_000).map(|k| sampled(k, 30_000, table.space().size())) {
                let Some(placement) = table.space().decode(index) else { continue };
                let men = Men::new(table.pieces(), &placement);
                if men.is_in_check(placement.turn.other()) {
                    continue;
                }
                job.generate(&men, &placement, &mut steps);
                let usable = men.can_capture_en_passant(Variant::Normal);
                assert_eq!(usable, steps.iter().any(|s| s.en_passant));
                let mut setup = Setup::empty();
                for (square, color, role) in men_of(table.pieces(), &placement) {
                    setup.board.set_piece_at(square, role.of(color));
                }
                setup.turn = placement.turn;
                setup.ep_square = placement.en_passant;
                let chess: Chess = setup
                    .position(CastlingMode::Standard)
                    .or_else(PositionError::ignore_invalid_ep_square)
                    .or_else(PositionError::ignore_impossible_check)
                    .unwrap();
                let mut expected: Vec<_> = chess
                    .legal_moves()
                    .iter()
                    .map(|m| (m.from(), m.to(), m.promotion(), m.is_capture()))
                    .collect();
                let mut found: Vec<_> = steps
                    .iter()
                    .map(|s| {
                        let from = placement.squares[s.slot];
                        (Some(from), s.to, s.promotion, s.captured.is_some())
                    })
                    .collect();
                expected.sort();
                found.sort();
                assert_eq!(found, expected, "{}", job.fen(&placement));
            }
        }
    }

    #[test]
    fn the_better_of_two_moves() {
        let outcomes = |bits| Outcomes(bits);
        for (a, b, best) in
            [(4, 1, 4), (2, 1, 2), (3, 4, 4), (3, 2, 2), (3, 1, 3), (6, 3, 6), (7, 2, 6), (0, 5, 5)]
        {
            assert_eq!(outcomes(a).or_better(outcomes(b)), outcomes(best), "{a} {b}");
            assert_eq!(outcomes(b).or_better(outcomes(a)), outcomes(best), "{b} {a}");
        }
        assert_eq!(outcomes(6).turned(), outcomes(3));
    }

    #[test]
    fn a_sample_has_one_index_of_every_stretch() {
        for (n, size) in [(1, 1), (10, 1000), (7, 50), (1000, 1001)] {
            let indices: Vec<u64> = (0..n).map(|k| sampled(k, n, size)).collect();
            assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices[n as usize - 1] < size);
        }
    }
}

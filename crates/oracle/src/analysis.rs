//! The value of every position of an analysis that a control file describes: restricted and plus
//! pieces, prunes, futurebases of every relation, all formats, suicide chess, pawn structures.
//!
//! Everything is said position by position. A move whose result is a position of this analysis
//! stays in it; any other move is answered by the first futurebase that has the result, else by a
//! prune, else it is an error. Which squares, kinds or tables cover what in general is never
//! asked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hoffman_board::pieces::default_squares;
use hoffman_board::shakmaty::variant::Antichess;
use hoffman_board::shakmaty::{
    Board, CastlingMode, EnPassantMode, Move, Position as ShakmatyPosition, PositionError, Setup,
};
use hoffman_board::value::FlagType;
use hoffman_board::{
    Bitboard, Color, Format, Material, Piece, PieceList, Role, Square, Symmetry, Value, Variant,
};
use hoffman_control::{
    ControlError, ControlFile, PawnMasks, Prune, PruneEffect, check_declarations, check_pieces,
    resolve_pieces_with,
};

use crate::position::{Position, chess};
use crate::structures::{Structure, structures};

/// How many placements may be tried at most.
const MAX_PLACEMENTS: u64 = 60_000_000;
/// How many examples an error shows.
const SHOWN: usize = 5;

/// Why an analysis has no values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlowError {
    /// The control file contradicts itself.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// More placements than the slow way can visit.
    #[error("{0} placements are too many")]
    TooLarge(u64),
    /// A pawngen element that leaves nothing.
    #[error("{0}")]
    Structures(&'static str),
    /// A futurebase is not among those given.
    #[error("futurebase '{0}' has not been solved")]
    Missing(String),
    /// A futurebase cannot be used.
    #[error("futurebase '{name}': {problem}")]
    Futurebase {
        /// Its file name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
    /// Prunes of both effects match a move.
    #[error("a prune concedes and another discards {mover}'s {kind}")]
    Conflict {
        /// Whose move.
        mover: Color,
        /// Which.
        kind: String,
    },
    /// Prunes tell a move from its image, and the two share an index.
    #[error("{mover}'s {kind} and its image are not pruned alike")]
    Images {
        /// Whose move.
        mover: Color,
        /// Which.
        kind: String,
    },
    /// Moves that neither a futurebase nor a prune answers.
    #[error("{count} moves are not answered, among them {}", .examples.join(", "))]
    Unhandled {
        /// How many.
        count: u64,
        /// FEN and kind of some.
        examples: Vec<String>,
    },
}

/// What is counted over the positions of an analysis, both sides to move, no symmetries
/// identified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalysisCounts {
    /// Existing positions.
    pub existing: u64,
    /// Those in which the side not to move is in check; in suicide chess those without a move.
    pub illegal: u64,
    /// All others.
    pub legal: u64,
    /// Legal positions without a move and in check.
    pub mates: u64,
    /// Legal positions without a move and not in check, unless stalemates are conceded.
    pub stalemates: u64,
    /// Legal positions that White wins.
    pub white_wins: u64,
    /// Legal positions that Black wins.
    pub black_wins: u64,
    /// The largest stored number of a legal position, 0 if none is won by the side to move.
    pub longest_win: i32,
    /// The smallest stored number of a legal position, 0 if none is lost by the side to move.
    pub longest_loss: i32,
}

/// A solved analysis.
#[derive(Debug)]
pub struct SlowAnalysis {
    variant: Variant,
    format: Format,
    color_symmetric: bool,
    symmetry: u8,
    material: Material,
    enables: Vec<(Color, PruneEffect)>,
    numbers: HashMap<Key, u32>,
    keys: Vec<Key>,
    /// As they are stored in a `dtm` table.
    values: Vec<i16>,
    counts: AnalysisCounts,
}

/// Stored numbers with a meaning of their own.
const UNDECIDED: i16 = i16::MAX;
const DRAW: i16 = 0;
/// The side not to move is in check; in suicide chess: no move, and so won.
const OVER: i16 = 1;
const MATED: i16 = -1;
/// Won by the next move: mate, conversion, a concession, the opponent's last man given away.
const WON_AT_ONCE: i16 = 2;

impl SlowAnalysis {
    /// Solves the analysis of a control file. `futurebases` are by file name, solved before.
    ///
    /// # Errors
    ///
    /// See [`SlowError`].
    pub fn solve(
        control: &ControlFile,
        futurebases: &HashMap<String, Arc<SlowAnalysis>>,
    ) -> Result<SlowAnalysis, SlowError> {
        check_declarations(control)?;
        let pawns = Pawns::of(control)?;
        let pieces = resolve_pieces_with(control, pawns.as_ref().map(Pawns::masks))?;
        let symmetry = check_pieces(control, &pieces)?;
        let format = control.entry_format();
        let material = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
        let color_symmetric = is_color_symmetric(control, &pieces)
            && !tells_colors_apart(control, &material, futurebases);
        let mut analysis = SlowAnalysis {
            variant: control.variant,
            format,
            color_symmetric,
            symmetry,
            material,
            enables: control.prune_enables.iter().map(|e| (e.color, e.effect)).collect(),
            numbers: HashMap::new(),
            keys: Vec::new(),
            values: Vec::new(),
            counts: AnalysisCounts::default(),
        };
        analysis.check_images(control, &pieces)?;
        analysis.enumerate(&pieces, pawns.as_ref())?;
        let futurebases = analysis.check_futurebases(control, futurebases)?;
        let rules = Rules { control, pawns: pawns.as_ref(), futurebases, decided: HashMap::new() };
        analysis.decide(rules)?;
        analysis.count();
        Ok(analysis)
    }

    /// The value of a position; none if the analysis does not have it. In formats without
    /// distances only the outcome means something.
    pub fn value(&self, position: &Position) -> Option<Value> {
        let board = position.board();
        if board.occupied().count() != position.men.len() {
            return None;
        }
        let number = self.numbers.get(&Key::new(&board, position.turn, position.en_passant))?;
        Some(Value::from_stored(i32::from(self.values[*number as usize]), self.variant))
    }

    /// Visits all existing positions with their values.
    pub fn for_each(&self, mut visit: impl FnMut(&Position, Value)) {
        for (key, &value) in self.keys.iter().zip(&self.values) {
            let (board, turn, en_passant) = key.unpacked();
            let position = Position::from_board(&board, turn, en_passant);
            visit(&position, Value::from_stored(i32::from(value), self.variant));
        }
    }

    /// What is counted.
    pub fn counts(&self) -> AnalysisCounts {
        self.counts
    }

    /// The format of its entries.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The rules.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Whether both sides have the same unrestricted men and the side to move is not stored.
    pub fn is_color_symmetric(&self) -> bool {
        self.color_symmetric
    }

    fn has(&self, key: &Key) -> bool {
        self.numbers.contains_key(key)
    }

    /// Finds all existing positions.
    fn enumerate(&mut self, pieces: &PieceList, pawns: Option<&Pawns>) -> Result<(), SlowError> {
        let none = Structure { white: Bitboard::EMPTY, black: Bitboard::EMPTY, en_passant: None };
        let structures = pawns.map_or(std::slice::from_ref(&none), |p| p.own());
        let listed: Vec<usize> = (0..pieces.len())
            .filter(|&slot| pawns.is_none() || pieces[slot].role != Role::Pawn)
            .collect();
        let ways = listed.iter().fold(structures.len() as u64, |n, &slot| {
            n.saturating_mul(pieces[slot].legal.count() as u64)
        });
        if ways > MAX_PLACEMENTS {
            return Err(SlowError::TooLarge(ways));
        }
        for structure in structures {
            let mut board = Board::empty();
            for (color, set) in [(Color::White, structure.white), (Color::Black, structure.black)] {
                for square in set {
                    board.set_piece_at(square, Role::Pawn.of(color));
                }
            }
            let mut placing = Placing {
                pieces,
                listed: &listed,
                structure: pawns.is_some().then_some(structure),
                squares: vec![None; pieces.len()],
                analysis: self,
            };
            placing.place(0, &board);
        }
        self.values = vec![UNDECIDED; self.keys.len()];
        Ok(())
    }

    fn add(&mut self, board: &Board, turn: Color, en_passant: Option<Square>) {
        let key = Key::new(board, turn, en_passant);
        let next = self.keys.len() as u32;
        if *self.numbers.entry(key).or_insert(next) == next {
            self.keys.push(key);
        }
    }

    /// The futurebases of a control file, with the conditions under which they can be used.
    fn check_futurebases(
        &self,
        control: &ControlFile,
        solved: &HashMap<String, Arc<SlowAnalysis>>,
    ) -> Result<Vec<Futurebase>, SlowError> {
        let mut all = Vec::new();
        for element in &control.futurebases {
            let name = element.filename.clone();
            let Some(base) = solved.get(&name) else { return Err(SlowError::Missing(name)) };
            let inverted = element.inverted;
            if let Some(problem) = self.unusable(base, inverted) {
                return Err(SlowError::Futurebase { name, problem });
            }
            all.push(Futurebase { analysis: Arc::clone(base), inverted });
        }
        Ok(all)
    }

    /// Looks for quiet moves that are not pruned like their images though the positions share
    /// indices.
    fn check_images(&self, control: &ControlFile, pieces: &PieceList) -> Result<(), SlowError> {
        for piece in pieces.iter().filter(|_| self.symmetry > 1) {
            let effects = |to: Square| {
                let kind = format!("{}{to}", piece.role.upper_char());
                let prunes = control.prunes.iter();
                let matching = prunes.filter(|p| p.color == piece.color && is_named(p, &kind));
                (matching.map(|p| p.effect).collect::<HashSet<_>>(), kind)
            };
            for to in Square::ALL {
                for symmetry in Symmetry::all().take(usize::from(self.symmetry)) {
                    let (effect, kind) = effects(to);
                    if effects(symmetry.apply(to)).0 != effect {
                        return Err(SlowError::Images { mover: piece.color, kind });
                    }
                }
            }
        }
        Ok(())
    }

    fn unusable(&self, base: &SlowAnalysis, inverted: bool) -> Option<&'static str> {
        if base.variant != self.variant {
            return Some("made under other rules");
        }
        if base.symmetry < self.symmetry {
            return Some("less symmetric than the table");
        }
        let enabled = |&(color, effect): &(Color, PruneEffect)| {
            let color = if inverted { color.other() } else { color };
            // Without a side to move White's moves stand for Black's as well.
            let both = self.enables.contains(&(color.other(), effect)) || !base.color_symmetric;
            self.enables.contains(&(color, effect)) && both
        };
        if !base.enables.iter().all(enabled) {
            return Some("its prune-enables are not enabled here");
        }
        match (self.format, base.format) {
            (_, Format::Dtm(_)) => None,
            (Format::Dtm(_), _) => Some("without distances to mate"),
            (Format::Flag(own), Format::Flag(theirs)) if (own != theirs) != inverted => {
                Some("a flag of the other sort")
            }
            (Format::Flag(_), _) => None,
            (_, Format::Flag(_)) => Some("a flag for another format"),
            _ => None,
        }
    }

    /// Decides all positions: what is decided on the board first, then by number of moves.
    fn decide(&mut self, mut rules: Rules<'_>) -> Result<(), SlowError> {
        let mut graph = Graph::default();
        let mut unhandled = 0;
        let mut examples = Vec::new();
        for number in 0..self.keys.len() {
            let (board, turn, en_passant) = self.keys[number].unpacked();
            match self.look(&mut rules, &board, turn, en_passant)? {
                Look::Decided(value) => self.values[number] = value,
                Look::Moves { targets, exits } => graph.push(number as u32, &targets, &exits),
                Look::Unhandled(kinds) => {
                    unhandled += kinds.len() as u64;
                    if examples.len() < SHOWN {
                        let fen = Position::from_board(&board, turn, en_passant).fen();
                        examples.push(format!("{fen}: {}", kinds.join(" ")));
                    }
                }
            }
        }
        if unhandled > 0 {
            return Err(SlowError::Unhandled { count: unhandled, examples });
        }
        graph.decide(&mut self.values);
        Ok(())
    }

    /// What the rules of chess, the futurebases and the prunes say about a position.
    fn look(
        &mut self,
        rules: &mut Rules<'_>,
        board: &Board,
        turn: Color,
        en_passant: Option<Square>,
    ) -> Result<Look, SlowError> {
        let suicide = self.variant == Variant::Suicide;
        if !suicide && in_check(board, turn.other()) {
            self.counts.illegal += 1;
            return Ok(Look::Decided(OVER));
        }
        let moves = legal_moves(self.variant, board, turn, en_passant);
        let last_man = board.by_color(turn.other()).count() == 1;
        if suicide && last_man && moves.iter().any(|made| made.m.is_capture()) {
            return Ok(Look::Decided(-WON_AT_ONCE));
        }
        let (mut targets, mut exits) = (Vec::new(), Vec::new());
        let mut unhandled = Vec::new();
        let (mut conceded, mut spared, mut settled) = (false, false, false);
        for made in &moves {
            if let Some(key) = self.inside(rules, made, turn) {
                targets.push(self.numbers[&key]);
            } else if let Some(value) = self.answer(rules, made, turn) {
                exits.push(value);
            } else {
                match self.pruned(rules, made, turn)? {
                    Some(PruneEffect::Concede) => {
                        conceded = true;
                        settled |= !suicide && !made.m.is_en_passant();
                    }
                    Some(PruneEffect::Discard) => spared |= self.is_tracked(rules, made),
                    None => unhandled.push(kind(made.m)),
                }
            }
        }
        // A win settles a position, whatever else could be played there.
        if !unhandled.is_empty() && !settled {
            return Ok(Look::Unhandled(unhandled));
        }
        if conceded {
            return Ok(Look::Decided(WON_AT_ONCE));
        }
        if !targets.is_empty() || !exits.is_empty() {
            return Ok(Look::Moves { targets, exits });
        }
        // Without distances, and where stalemates are conceded, whoever has no move left is mated
        // or stalemated, whatever was discarded.
        let conceded = rules.control.stalemates_conceded_to().is_some();
        if spared && self.format.has_distance() && !conceded {
            return Ok(Look::Decided(DRAW));
        }
        Ok(Look::Decided(self.without_moves(rules.control, board, turn)))
    }

    /// The value of a position in which nothing is left to play.
    fn without_moves(&mut self, control: &ControlFile, board: &Board, turn: Color) -> i16 {
        if self.variant == Variant::Suicide {
            self.counts.illegal += 1;
            return OVER;
        }
        if in_check(board, turn) {
            self.counts.mates += 1;
            return MATED;
        }
        let side = if self.color_symmetric { Color::White } else { turn };
        match control.stalemates_conceded_to() {
            Some(color) if color == side => WON_AT_ONCE,
            Some(_) => -WON_AT_ONCE,
            None => {
                self.counts.stalemates += 1;
                DRAW
            }
        }
    }

    /// The position after a move, if it is one of this analysis.
    fn inside(&self, rules: &Rules<'_>, made: &Made, turn: Color) -> Option<Key> {
        // With pawn structures a right that nobody can use is none, even where the structure with
        // the right is in another part of a split table.
        let right = made.en_passant.filter(|_| rules.pawns.is_none_or(|p| p.has(made)));
        let key = Key::new(&made.board, turn.other(), right);
        self.has(&key).then_some(key)
    }

    /// What the first futurebase that has the position after a move says about it, from the view
    /// of the side to move there.
    fn answer(&self, rules: &Rules<'_>, made: &Made, turn: Color) -> Option<i16> {
        let look_up = |swapped: bool| {
            rules.futurebases.iter().find_map(|base| {
                let inverted = base.inverted != swapped;
                base.value(&made.board, turn.other(), made.en_passant, inverted, self.format)
            })
        };
        // Where the colours can be exchanged a table for White's moves is one for Black's as well.
        look_up(false).or_else(|| if self.color_symmetric { look_up(true) } else { None })
    }

    /// Whether some futurebase has the men behind a move. Discarded, it is then left as it is: it
    /// leads nowhere, but whoever has no other is neither mated nor stalemated in a table with
    /// distances.
    fn is_tracked(&self, rules: &Rules<'_>, made: &Made) -> bool {
        let men = Material::from_men(made.board.iter().map(|(_, p)| (p.color, p.role)));
        rules.futurebases.iter().any(|base| {
            let theirs = base.analysis.material;
            let swapped = theirs.swapped();
            let (own, other) = if base.inverted { (swapped, theirs) } else { (theirs, swapped) };
            men == own || self.color_symmetric && men == other
        })
    }

    /// What the prunes say about a move out of the analysis.
    fn pruned(
        &self,
        rules: &mut Rules<'_>,
        made: &Made,
        turn: Color,
    ) -> Result<Option<PruneEffect>, SlowError> {
        let quiet_pawn =
            made.m.role() == Role::Pawn && !made.m.is_capture() && made.m.promotion().is_none();
        if rules.pawns.is_some() && quiet_pawn {
            // The other part of a split table, which cannot be left out.
            return Ok(None);
        }
        let mover = if self.color_symmetric { Color::White } else { turn };
        let kind = kind(made.m);
        if let Some(&known) = rules.decided.get(&(mover, kind.clone())) {
            return Ok(known);
        }
        let of = |effect: PruneEffect| {
            let mut prunes = rules.control.prunes.iter();
            prunes.any(|p| p.color == mover && p.effect == effect && is_named(p, &kind))
        };
        let effect = match (of(PruneEffect::Concede), of(PruneEffect::Discard)) {
            (true, true) => return Err(SlowError::Conflict { mover, kind }),
            (true, false) => Some(PruneEffect::Concede),
            (false, true) => Some(PruneEffect::Discard),
            (false, false) => None,
        };
        rules.decided.insert((mover, kind), effect);
        Ok(effect)
    }

    fn count(&mut self) {
        let counts = &mut self.counts;
        counts.existing = self.keys.len() as u64;
        counts.legal = counts.existing - counts.illegal;
        for (key, &value) in self.keys.iter().zip(&self.values) {
            let winner = match value {
                OVER | DRAW => continue,
                1.. => key.turn(),
                _ => key.turn().other(),
            };
            *winner.fold_wb(&mut counts.white_wins, &mut counts.black_wins) += 1;
            counts.longest_win = counts.longest_win.max(i32::from(value));
            counts.longest_loss = counts.longest_loss.min(i32::from(value));
        }
    }
}

/// What is known about a position before anything is solved.
enum Look {
    /// Its value.
    Decided(i16),
    /// The positions its moves lead to, and the values of its moves out of the analysis.
    Moves { targets: Vec<u32>, exits: Vec<i16> },
    /// Moves that nothing answers.
    Unhandled(Vec<String>),
}

/// What decides moves out of the analysis.
struct Rules<'a> {
    control: &'a ControlFile,
    pawns: Option<&'a Pawns>,
    futurebases: Vec<Futurebase>,
    /// What the prunes say, by mover and kind.
    decided: HashMap<(Color, String), Option<PruneEffect>>,
}

/// A futurebase in use.
struct Futurebase {
    analysis: Arc<SlowAnalysis>,
    inverted: bool,
}

impl Futurebase {
    /// The value of a position, as far as an analysis of the given format can use it.
    fn value(
        &self,
        board: &Board,
        turn: Color,
        en_passant: Option<Square>,
        inverted: bool,
        format: Format,
    ) -> Option<i16> {
        let base = &*self.analysis;
        let find = |right: Option<Square>| {
            let key = Key::new(board, turn, right);
            base.numbers.get(&if inverted { key.inverted() } else { key })
        };
        let number = *find(en_passant).or_else(|| find(None))?;
        let value = base.values[number as usize];
        if matches!(format, Format::Dtm(_)) {
            return Some(value);
        }
        let turn = if inverted { turn.other() } else { turn };
        let winner = match value {
            0 => None,
            1.. => Some(turn),
            _ => Some(turn.other()),
        };
        // One bit does not tell a draw from one of the other results.
        let known = match base.format {
            Format::Flag(FlagType::WhiteWins) => winner.filter(|&c| c == Color::White),
            Format::Flag(FlagType::WhiteDraws) => winner.filter(|&c| c == Color::Black),
            _ => winner,
        };
        Some(match known {
            None => DRAW,
            Some(color) if color == turn => WON_AT_ONCE,
            Some(_) => MATED,
        })
    }
}

/// The pawn structures of an analysis.
struct Pawns {
    list: Vec<Structure>,
    all: HashSet<Structure>,
    own: std::ops::Range<usize>,
}

impl Pawns {
    fn of(control: &ControlFile) -> Result<Option<Pawns>, SlowError> {
        let Some(element) = &control.pawngen else { return Ok(None) };
        let list = structures(element);
        if list.is_empty() {
            return Err(SlowError::Structures("no pawn structure satisfies the pawngen element"));
        }
        let start = element.start as usize;
        let end = match element.count as usize {
            0 => list.len(),
            count => start.saturating_add(count),
        };
        if start >= end || end > list.len() {
            return Err(SlowError::Structures("start and count exceed the pawn structures"));
        }
        let all = list.iter().copied().collect();
        Ok(Some(Pawns { list, all, own: start..end }))
    }

    /// The structures of this part.
    fn own(&self) -> &[Structure] {
        &self.list[self.own.clone()]
    }

    fn masks(&self) -> PawnMasks {
        let union = |of: fn(&Structure) -> Bitboard| {
            self.list.iter().fold(Bitboard::EMPTY, |set, s| set | of(s))
        };
        PawnMasks { white: union(|s| s.white), black: union(|s| s.black) }
    }

    /// Whether the structure behind a double step, with the right to capture, is in any part.
    fn has(&self, made: &Made) -> bool {
        let pawns = made.board.pawns();
        self.all.contains(&Structure {
            white: pawns & made.board.white(),
            black: pawns & made.board.black(),
            en_passant: made.en_passant,
        })
    }
}

/// Men being placed.
struct Placing<'a> {
    pieces: &'a PieceList,
    /// The slots to place; the others are pawns of a structure.
    listed: &'a [usize],
    structure: Option<&'a Structure>,
    squares: Vec<Option<Square>>,
    analysis: &'a mut SlowAnalysis,
}

impl Placing<'_> {
    fn place(&mut self, depth: usize, board: &Board) {
        let Some(&slot) = self.listed.get(depth) else {
            if self.exists(board) {
                self.add(board);
            }
            return;
        };
        let piece = &self.pieces[slot];
        for square in piece.legal & !board.occupied() {
            let mut next = board.clone();
            next.set_piece_at(square, piece.role.of(piece.color));
            self.squares[slot] = Some(square);
            self.place(depth + 1, &next);
        }
        self.squares[slot] = None;
    }

    /// Whether the kings do not touch and no plus pawn has passed what it cannot pass.
    fn exists(&self, board: &Board) -> bool {
        if self.analysis.variant == Variant::Normal {
            let mut kings = board.kings().into_iter();
            if let (Some(one), Some(other)) = (kings.next(), kings.next())
                && one.distance(other) <= 1
            {
                return false;
            }
        }
        self.pieces.iter().enumerate().all(|(slot, piece)| {
            let at = |slot: usize| self.squares.get(slot).copied().flatten();
            match (at(slot), piece.blocker.and_then(at)) {
                (Some(own), Some(other)) => piece.color.fold_wb(own <= other, own >= other),
                _ => true,
            }
        })
    }

    /// Enters the placement with both sides to move and with every right to capture en passant.
    fn add(&mut self, board: &Board) {
        if let Some(&Structure { en_passant: Some(square), .. }) = self.structure {
            let turn = if square.rank() as u32 == 2 { Color::Black } else { Color::White };
            if rights(board, turn).contains(&square) {
                self.analysis.add(board, turn, Some(square));
            }
            return;
        }
        for turn in Color::ALL {
            self.analysis.add(board, turn, None);
            if self.structure.is_none() {
                for square in rights(board, turn) {
                    self.analysis.add(board, turn, Some(square));
                }
            }
        }
    }
}

/// The squares that enemy pawns may have jumped over in the last move: the pawn on its fourth
/// rank, the square and the one behind it empty. Nobody need be able to capture.
fn rights(board: &Board, turn: Color) -> Vec<Square> {
    let (rank, back) = turn.fold_wb((4, 8), (3, -8));
    let free = |square: Option<Square>| square.filter(|&s| !board.occupied().contains(s));
    (board.pawns() & board.by_color(turn.other()))
        .into_iter()
        .filter(|&pawn| pawn.rank() as u32 == rank)
        .filter_map(|pawn| {
            let jumped = free(pawn.offset(back))?;
            free(jumped.offset(back)).map(|_| jumped)
        })
        .collect()
}

/// Whether all men can be exchanged with men of the other colour and the index leaves the side to
/// move out.
fn is_color_symmetric(control: &ControlFile, pieces: &PieceList) -> bool {
    use hoffman_control::IndexType::{Combinadic4, Combinadic5};
    let index = matches!(control.index_type(), Combinadic4 | Combinadic5);
    let flag = matches!(control.entry_format(), Format::Flag(_));
    let number = |color: Color, role: Role| {
        pieces.iter().filter(|p| (p.color, p.role) == (color, role)).count()
    };
    index
        && !flag
        && pieces.iter().all(|p| p.legal == default_squares(p.role))
        && Role::ALL
            .into_iter()
            .all(|role| number(Color::White, role) == number(Color::Black, role))
}

/// Whether moves of the two colours are treated in different ways, or stalemates are won by one of
/// them. What is said about one colour's moves only stands for both.
fn tells_colors_apart(
    control: &ControlFile,
    material: &Material,
    solved: &HashMap<String, Arc<SlowAnalysis>>,
) -> bool {
    if control.variant == Variant::Normal && control.stalemates_conceded_to().is_some() {
        return true;
    }
    let letter = |role: Role| role.upper_char();
    let said = |color: Color, mover: Role, taken: Option<Role>, promoted: Option<Role>| {
        let mut kind = letter(mover).to_string();
        let mut behind = *material;
        if let Some(role) = taken {
            kind.extend(['x', letter(role)]);
            behind = behind.without(color.other(), role)?;
        }
        if let Some(role) = promoted {
            kind.extend(['=', letter(role)]);
            behind = behind.without(color, mover)?.with(color, role);
        }
        let bases = control.futurebases.iter().filter(|f| {
            let theirs = solved.get(&f.filename).map(|base| base.material);
            theirs.is_some_and(|m| if f.inverted { m.swapped() } else { m } == behind)
        });
        let bases: HashSet<&str> = bases.map(|f| f.filename.as_str()).collect();
        let prune = control.prunes.iter().find(|p| p.color == color && is_named(p, &kind));
        let effect = prune.map(|p| p.effect);
        (!bases.is_empty() || effect.is_some()).then_some((bases, effect))
    };
    let differ = |mover: Role, taken: Option<Role>, promoted: Option<Role>| {
        let [white, black] = Color::ALL.map(|color| said(color, mover, taken, promoted));
        white.is_some() && black.is_some() && white != black
    };
    let some_or_none = || Role::ALL.into_iter().map(Some).chain([None]);
    Role::ALL.into_iter().filter(|&role| material.count.white.get(role) > &0).any(|mover| {
        some_or_none().any(|taken| {
            let promoted = some_or_none().filter(|role| role.is_none() || mover == Role::Pawn);
            promoted.into_iter().any(|promoted| differ(mover, taken, promoted))
        })
    })
}

/// A legal move and what it leads to.
struct Made {
    m: Move,
    board: Board,
    /// The square jumped over by a double step.
    en_passant: Option<Square>,
}

/// Whether a prune names a kind of move. By the text alone, which nobody else has made.
fn is_named(prune: &Prune, kind: &str) -> bool {
    !prune.is_stalemate() && prune.pattern.matches(kind)
}

/// How a futuremove is called: `Ke4`, `KxP`, `P=Q`, `PxR=Q`.
fn kind(m: Move) -> String {
    let letter = |role: Role| role.upper_char();
    let mut text = letter(m.role()).to_string();
    match (m.capture(), m.promotion()) {
        (None, None) => text.push_str(&m.to().to_string()),
        (Some(taken), None) => text.extend(['x', letter(taken)]),
        (None, Some(role)) => text.extend(['=', letter(role)]),
        (Some(taken), Some(role)) => text.extend(['x', letter(taken), '=', letter(role)]),
    }
    text
}

/// Whether a side's king is attacked.
fn in_check(board: &Board, color: Color) -> bool {
    board
        .king_of(color)
        .is_some_and(|king| board.attacks_to(king, color.other(), board.occupied()).any())
}

fn legal_moves(
    variant: Variant,
    board: &Board,
    turn: Color,
    en_passant: Option<Square>,
) -> Vec<Made> {
    match variant {
        Variant::Normal => {
            let position = chess(board.clone(), turn, en_passant).expect("an existing position");
            let moves = made(&position);
            // No game reaches some of these positions, and shakmaty is made for those that occur.
            debug_assert!(moves.iter().all(|made| !in_check(&made.board, turn)));
            moves
        }
        Variant::Suicide => {
            let mut setup = Setup::empty();
            setup.board = board.clone();
            setup.turn = turn;
            setup.ep_square = en_passant;
            let position: Antichess = setup
                .position(CastlingMode::Standard)
                .or_else(PositionError::ignore_too_much_material)
                .expect("an existing position");
            made(&position)
        }
    }
}

fn made<P: ShakmatyPosition + Clone>(position: &P) -> Vec<Made> {
    let play = |m: Move| {
        let mut next = position.clone();
        next.play_unchecked(m);
        Made { m, en_passant: next.ep_square(EnPassantMode::Always), board: next.board().clone() }
    };
    position.legal_moves().into_iter().map(play).collect()
}

/// Men, side to move and en passant square in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    occupied: u64,
    /// Four bits a man, the one on the lowest square first.
    men: u64,
    /// Bit 0: Black to move. Above it the en passant square plus one.
    rest: u8,
}

impl Key {
    fn new(board: &Board, turn: Color, en_passant: Option<Square>) -> Key {
        let mut men = 0;
        for (at, (_, piece)) in board.iter().enumerate() {
            let code = piece.role as u64 | piece.color.fold_wb(0, 8);
            men |= code << (4 * at);
        }
        let square = en_passant.map_or(0, |s| s as u8 + 1);
        Key { occupied: board.occupied().0, men, rest: square << 1 | turn.fold_wb(0, 1) }
    }

    fn turn(&self) -> Color {
        if self.rest & 1 == 0 { Color::White } else { Color::Black }
    }

    fn unpacked(&self) -> (Board, Color, Option<Square>) {
        let mut board = Board::empty();
        for (at, square) in Bitboard(self.occupied).into_iter().enumerate() {
            let code = self.men >> (4 * at) & 15;
            let role = Role::ALL.into_iter().find(|&r| r as u64 == code & 7).expect("a role");
            let color = if code & 8 == 0 { Color::White } else { Color::Black };
            board.set_piece_at(square, Piece { color, role });
        }
        let square = (self.rest >> 1).checked_sub(1).map(|s| Square::new(u32::from(s)));
        (board, self.turn(), square)
    }

    /// The board turned over, the colours exchanged.
    fn inverted(&self) -> Key {
        let (board, turn, en_passant) = self.unpacked();
        let mut other = Board::empty();
        for (square, piece) in &board {
            let piece = Piece { color: piece.color.other(), role: piece.role };
            other.set_piece_at(square.flip_vertical(), piece);
        }
        Key::new(&other, turn.other(), en_passant.map(Square::flip_vertical))
    }
}

/// The undecided positions with their moves.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    targets: Vec<u32>,
}

struct Node {
    number: u32,
    targets: std::ops::Range<usize>,
    /// The value by the best move out of the analysis that wins.
    exit_win: Option<i16>,
    /// Whether a move out of the analysis does not lose.
    exit_holds: bool,
    /// The largest value that a losing move out of the analysis leads to.
    exit_loss: i16,
}

impl Graph {
    fn push(&mut self, number: u32, targets: &[u32], exits: &[i16]) {
        let start = self.targets.len();
        self.targets.extend_from_slice(targets);
        self.nodes.push(Node {
            number,
            targets: start..self.targets.len(),
            exit_win: exits.iter().filter(|&&v| v < 0).map(|&v| 1 - v).min(),
            exit_holds: exits.iter().any(|&v| v <= 0),
            exit_loss: exits.iter().copied().max().unwrap_or(0),
        });
    }

    /// Decides what can be decided, from short distances to long ones, by the definition. The rest
    /// is drawn.
    fn decide(self, values: &mut [i16]) {
        let Graph { mut nodes, targets } = self;
        let of_node = |n: &Node| n.exit_win.unwrap_or(0).max(n.exit_loss);
        let known = values.iter().filter(|&&v| v != UNDECIDED).map(|v| v.abs());
        let last = nodes.iter().map(of_node).chain(known).max().unwrap_or(0);
        let mut n = 1;
        loop {
            let before = nodes.len();
            // Won by a move to a position lost in n - 1.
            nodes.retain(|node| {
                let next = || targets[node.targets.clone()].iter().map(|&t| values[t as usize]);
                let won = node.exit_win.is_some_and(|v| v <= n)
                    || next().any(|v| v != UNDECIDED && v < 0 && -v < n);
                if won {
                    values[node.number as usize] = n;
                }
                !won
            });
            // Lost if every move leads to a position won in at most n.
            nodes.retain(|node| {
                let mut next = targets[node.targets.clone()].iter().map(|&t| values[t as usize]);
                let lost = !node.exit_holds
                    && node.exit_loss <= n
                    && next.all(|v| v != UNDECIDED && 0 < v && v <= n);
                if lost {
                    values[node.number as usize] = -n;
                }
                !lost
            });
            if nodes.len() == before && n > last {
                break;
            }
            n += 1;
        }
        for node in nodes {
            values[node.number as usize] = DRAW;
        }
    }
}

//! The value of every position of an analysis that a control file describes: restricted and plus
//! pieces, prunes, futurebases of every relation, all formats, suicide chess, pawn structures.
//!
//! Everything is said position by position. A move whose result is a position of this analysis
//! stays in it; any other move is answered by the first futurebase that has the result, else by a
//! prune, else it is an error. Which squares, kinds or tables cover what in general is never
//! asked.

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::shakmaty::Board;
use hoffman_board::{Color, Format, Material, Square, Value, Variant};
use hoffman_control::{
    ControlError, ControlFile, PruneEffect, check_declarations, check_pieces, resolve_pieces_with,
};
use rustc_hash::FxHashMap;

use self::graph::MoveGraph;
use self::key::PositionKey;
use self::moves::{MadeMove, in_check, legal_moves};
use self::placements::Pawns;
use self::prunes::{MoveRules, is_color_symmetric, kind, tells_colors_apart};
use crate::position::SlowPosition;

mod futurebases;
mod graph;
mod key;
mod moves;
mod placements;
mod prunes;

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
    numbers: FxHashMap<PositionKey, u32>,
    keys: Vec<PositionKey>,
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
            numbers: FxHashMap::default(),
            keys: Vec::new(),
            values: Vec::new(),
            counts: AnalysisCounts::default(),
        };

        analysis.check_images(control, &pieces)?;
        analysis.enumerate(&pieces, pawns.as_ref())?;
        let futurebases = analysis.check_futurebases(control, futurebases)?;
        let rules = MoveRules {
            control,
            pawns: pawns.as_ref(),
            futurebases,
            decided: FxHashMap::default(),
        };
        analysis.decide(rules)?;
        analysis.count();
        Ok(analysis)
    }

    /// The value of a position; none if the analysis does not have it. In formats without
    /// distances only the outcome means something.
    pub fn value(&self, position: &SlowPosition) -> Option<Value> {
        let board = position.board();
        if board.occupied().count() != position.men.len() {
            return None;
        }
        let number =
            self.numbers.get(&PositionKey::new(&board, position.turn, position.en_passant))?;
        Some(Value::from_stored(i32::from(self.values[*number as usize]), self.variant))
    }

    /// Visits all existing positions with their values.
    pub fn for_each(&self, mut visit: impl FnMut(&SlowPosition, Value)) {
        for (key, &value) in self.keys.iter().zip(&self.values) {
            let (board, turn, en_passant) = key.unpacked();
            let position = SlowPosition::from_board(&board, turn, en_passant);
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

    fn add(&mut self, board: &Board, turn: Color, en_passant: Option<Square>) {
        let key = PositionKey::new(board, turn, en_passant);
        let next = self.keys.len() as u32;
        if *self.numbers.entry(key).or_insert(next) == next {
            self.keys.push(key);
        }
    }

    /// Decides all positions: what is decided on the board first, then by number of moves.
    fn decide(&mut self, mut rules: MoveRules<'_>) -> Result<(), SlowError> {
        let mut graph = MoveGraph::default();
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
                        let fen = SlowPosition::from_board(&board, turn, en_passant).fen();
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
        rules: &mut MoveRules<'_>,
        board: &Board,
        turn: Color,
        en_passant: Option<Square>,
    ) -> Result<Look, SlowError> {
        let suicide = self.variant == Variant::Suicide;
        if !suicide && in_check(board, turn.other()) {
            self.counts.illegal += 1;
            return Ok(Look::Decided(OVER));
        }

        // Taking the last man ends the game, whatever else the control file says of the capture.
        let moves = legal_moves(self.variant, board, turn, en_passant);
        let last_man = board.by_color(turn.other()).count() == 1;
        if suicide && last_man && moves.iter().any(|made| made.m.is_capture()) {
            return Ok(Look::Decided(-WON_AT_ONCE));
        }

        let (mut targets, mut exits) = (Vec::new(), Vec::new());
        let mut unhandled = Vec::new();
        let (mut conceded, mut spared, mut settled) = (false, false, false);
        for made in &moves {
            if let Some(number) = self.inside(rules, made, turn) {
                targets.push(number);
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

        // Without distances, and where stalemates are conceded, a side without a move is mated or
        // stalemated, whatever was discarded.
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

    /// The number of the position after a move, if it is one of this analysis.
    fn inside(&self, rules: &MoveRules<'_>, made: &MadeMove, turn: Color) -> Option<u32> {
        // With pawn structures a right that no pawn can use is none, even where the structure with
        // the right is in another part of a split table.
        let right = made.en_passant.filter(|_| rules.pawns.is_none_or(|p| p.has(made)));
        self.numbers.get(&PositionKey::new(&made.board, turn.other(), right)).copied()
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

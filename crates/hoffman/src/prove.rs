//! Outcomes of positions with too many men for tables.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hoffman_board::Variant;
use hoffman_prove::Limits;
use hoffman_reader::shakmaty::Chess;
use hoffman_reader::{AsPosition, Error as ProbeError, FenError, Move, Value};
use hoffman_run::available_memory;
use hoffman_solve::Monitor;
use hoffman_space::{PawnStructure, SliceValues};

use crate::error::Error;
use crate::event::Cancel;
use crate::options::Options;
use crate::plan::Whole;

/// What is proved of a position, and of its moves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proved {
    /// What is proved of the position, for the side to move. Distances are not known.
    pub value: Value,
    /// The legal moves, and what is proved of the position behind each, for the side that makes
    /// it; the best ones first.
    pub moves: Vec<(Move, Value)>,
    /// What it took.
    pub effort: Effort,
}

/// How far a proof is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Effort {
    /// What is proved so far, for the side to move.
    pub value: Value,
    /// The slices that are open: pawn structures with the pieces on the board.
    pub open: usize,
    /// Those that are known to be reached, open or not.
    pub known: usize,
    /// Positions evaluated, each as often as that was done.
    pub positions: u64,
    /// What the values take, in bytes.
    pub bytes: u64,
    /// How long it took.
    pub time: Duration,
}

/// Proves whether a position is won, drawn or lost, with any number of men, or as much of that as
/// time and memory allow. What is proved is certain whenever the work ends: a position that nobody
/// could decide is at least, or at most, a draw, or unknown.
///
/// `progress` is told how far it is, some times a second. The work ends when it is done, after
/// `time`, when the values take more memory than the options allow, or when they are cancelled; a
/// work that was cancelled is no error.
///
/// # Errors
/// The position is none of chess, or has castling rights. [`Error::Vast`]: its pieces alone can
/// stand in more ways than fit into memory.
pub fn prove(
    position: impl AsPosition,
    options: &Options,
    time: Option<Duration>,
    progress: &mut (dyn FnMut(&Effort) + Send),
) -> Result<Proved, Error> {
    let position = position.as_position(Variant::Normal)?.into_owned();
    let chess = Chess::try_from(&position)
        .map_err(|reason| ProbeError::from(FenError::Impossible { fen: position.fen(), reason }))?;
    let limits = Limits { memory: memory(options) };
    if !hoffman_prove::fits(&chess, limits) {
        return Err(Error::Vast(Box::new(Whole::behind(&position))));
    }
    let turn = position.turn;
    let began = Instant::now();
    let end = time.map(|time| began + time);
    let watch = Watch { cancel: options.cancel_request(), end };
    let effort = |of: &hoffman_prove::Progress| Effort {
        value: Value::of_bounds(of.bounds, turn, None),
        open: of.open,
        known: of.known,
        positions: of.positions,
        bytes: of.bytes as u64,
        time: began.elapsed(),
    };
    let mut tell = |of: &hoffman_prove::Progress| {
        progress(&effort(of));
        !watch.is_stopped()
    };
    let proof = options.install(|| Ok(hoffman_prove::prove(&chess, limits, &watch, &mut tell)))?;

    let mut moves = Vec::new();
    for (m, bounds) in proof.moves {
        // The moves of a legal position are moves.
        if let Ok(m) = Move::try_from(m) {
            moves.push((m, Value::of_bounds(bounds, turn, None)));
        }
    }
    moves.sort_by_key(|&(_, value)| rank(value));
    Ok(Proved {
        value: Value::of_bounds(proof.bounds, turn, None),
        moves,
        effort: effort(&proof.progress),
    })
}

/// Asks whether the work is to end.
struct Watch {
    cancel: Cancel,
    end: Option<Instant>,
}

impl Monitor for Watch {
    fn slice(&self, _pawns: PawnStructure, _values: &Arc<SliceValues>) {}

    fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// What values may take: as much as was allowed, or half of what is free.
fn memory(options: &Options) -> usize {
    let free = || available_memory().unwrap_or(4 << 30) / 2;
    usize::try_from(options.bound().unwrap_or_else(free)).unwrap_or(usize::MAX)
}

/// A key by which the better move is the smaller.
fn rank(value: Value) -> u8 {
    match value {
        Value::Win { .. } => 0,
        Value::AtLeastDraw => 1,
        Value::Draw => 2,
        Value::Unknown => 3,
        Value::AtMostDraw => 4,
        _ => 5,
    }
}

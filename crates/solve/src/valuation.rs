//! The values of a block: what its exits are worth, and what is written in the end.

use hoffman_board::Color;
use hoffman_space::Code;

use crate::blocks::Block;
use crate::context::Context;
use crate::exit_events::{ExitEvents, sort_exits};
use crate::exit_values::{self, ExitRoom};
use crate::exits::{Exit, Right};
use crate::kernels::isa::{Isa, equal_mask, put_code};
use crate::passes::BlockTask;
use crate::sets::PositionSet;
use crate::target::{ExitTarget, Reading};

/// The legal positions of a block.
#[inline(always)]
pub(crate) fn legal_block(context: &Context<'_>, block: &Block, turn: Color, open: &mut [u64]) {
    for (row, open) in open.iter_mut().enumerate() {
        *open = context.legal(block, row, turn);
    }
}

/// The planes of a block that its exits decide.
pub(crate) struct ExitPlanes<'a> {
    /// The positions that an exit holds, for now.
    pub(crate) held: &'a mut [u64],
    /// In suicide chess the positions in which something can be captured; otherwise empty.
    pub(crate) must_capture: &'a mut [u64],
}

/// Evaluates the exits of a block in its `open` positions: what they win and lose, and what they
/// hold.
#[inline(always)]
pub(crate) fn exit_block<I: Isa, C: Code>(
    task: BlockTask<'_>,
    exits: &[Exit<'_>],
    open: &[u64],
    planes: ExitPlanes<'_>,
    room: &mut ExitRoom<C>,
) -> ExitEvents {
    let ExitPlanes { held, must_capture } = planes;
    let ExitRoom { best, buffer, sorting } = room;
    if task.block().empty || exits.is_empty() {
        held.fill(0);
        return ExitEvents::default();
    }

    // Captures are compulsory in suicide chess: where there is one, nothing else counts.
    let steps: &[(Option<bool>, Reading)] = if must_capture.is_empty() {
        &[(None, Reading::Worth)]
    } else {
        &[
            (Some(true), Reading::Legality),
            (Some(true), Reading::Worth),
            (Some(false), Reading::Worth),
        ]
    };
    best.resize(open.len() * 64, C::ILLEGAL);
    let mut captures = Vec::new();

    // A loop, because a closure called from several places is compiled for any processor.
    for &(wanted, reading) in steps {
        if wanted == Some(false) {
            captures.clone_from(best);
        }
        let wanted = |exit: &Exit<'_>| wanted.is_none_or(|wanted| wanted == exit.is_capture());
        exit_values::evaluate::<I, C>(task, exits, wanted, reading, best, buffer);
        if reading == Reading::Legality {
            let (rows, _) = best.as_chunks::<64>();
            for (must_capture, row) in must_capture.iter_mut().zip(rows) {
                *must_capture = !equal_mask::<I, C>(row, C::ILLEGAL);
            }
        }
    }

    for (i, (best, &capture)) in best.iter_mut().zip(&captures).enumerate() {
        if must_capture[i / 64] >> (i % 64) & 1 != 0 {
            *best = capture;
        }
    }

    let (rows, _) = best.as_chunks::<64>();
    sort_exits::<I, C>(rows, open, held, sorting)
}

/// Writes the codes of a block: what is still open is drawn, what is `decided` has a code.
#[inline(always)]
pub(crate) fn write_block<I: Isa, C: Code>(
    open: &[u64],
    decided: Option<(C, PositionSet<'_>)>,
    codes: &mut [C],
) {
    let (codes, _) = codes.as_chunks_mut::<64>();
    for (row, &open) in codes.iter_mut().zip(open) {
        if open != 0 {
            put_code::<I, C>(row, C::DRAW, open);
        }
    }
    if let Some((code, positions)) = decided {
        for (row, mask) in positions.iter() {
            put_code::<I, C>(&mut codes[row], code, mask);
        }
    }
}

/// What the positions of a block are without an en passant right.
pub(crate) struct WithoutRight<'a, C> {
    /// The values.
    pub(crate) plain: &'a [C],
    /// The positions without another move that counts, mates apart.
    pub(crate) stuck: &'a [u64],
}

/// The values of a block's positions with an en passant right.
#[inline(always)]
pub(crate) fn right_block<I: Isa, C: Code>(
    task: BlockTask<'_>,
    right: &Right<'_>,
    without: &WithoutRight<'_, C>,
    codes: &mut [C],
    room: &mut ExitRoom<C>,
) {
    let block = task.block();
    if block.empty {
        return;
    }
    let buffer = &mut room.buffer;

    // First the captures, then the better of them and everything else.
    let captures = &right.captures;
    let mut marked = [Vec::new(), Vec::new()];
    let wanted = [
        (Reading::Legality, task.context.suicide()),
        (Reading::Spared, captures.iter().any(ExitTarget::may_spare)),
    ];

    for (marked, (reading, needed)) in marked.iter_mut().zip(wanted) {
        if needed {
            exit_values::captures_of::<I, C>(task, captures, reading, codes, buffer);
            let (rows, _) = codes.as_chunks::<64>();
            marked.extend(rows.iter().map(|row| !equal_mask::<I, C>(row, C::ILLEGAL)));
        }
    }

    let [legal, spared] = marked;
    exit_values::captures_of::<I, C>(task, captures, Reading::Worth, codes, buffer);

    let empty = right.empty_squares().0;
    let (rows, _) = codes.as_chunks_mut::<64>();
    let (plain, _) = without.plain.as_chunks::<64>();

    for (row, ((codes, plain), &stuck)) in rows.iter_mut().zip(plain).zip(without.stuck).enumerate()
    {
        if block.frame.others(row, usize::MAX) & empty != 0 {
            codes.fill(C::ILLEGAL);
            continue;
        }
        let unforced = task.must_capture.get(row).map_or(0, |must_capture| !must_capture);
        let marks = RightMarks {
            empty,
            alone: stuck | unforced,
            unforced,
            spared: spared.get(row).copied().unwrap_or(0),
            legal: legal.get(row).copied().unwrap_or(0),
        };
        for (lane, (code, &plain)) in codes.iter_mut().zip(plain).enumerate() {
            *code = marks.value(lane, plain, *code);
        }
    }
}

/// What is known of the positions of a row with an en passant right, a bit a lane.
struct RightMarks {
    /// The squares that have to be empty.
    empty: u64,
    /// Nothing else counts beside the capture.
    alone: u64,
    /// In suicide chess: nothing else must be taken.
    unforced: u64,
    /// A discarded capture spares the position mate and stalemate.
    spared: u64,
    /// In suicide chess: there is a capture en passant.
    legal: u64,
}

impl RightMarks {
    /// The value of a lane with the right, from that without it and that of the best capture en
    /// passant.
    #[inline(always)]
    fn value<C: Code>(&self, lane: usize, plain: C, capture: C) -> C {
        let is = |plane: u64| plane >> lane & 1 != 0;
        if plain == C::ILLEGAL || is(self.empty) {
            C::ILLEGAL
        } else if capture != C::ILLEGAL && is(self.alone) {
            capture
        } else if capture == C::ILLEGAL
            && is(self.spared)
            && (is(self.alone) || plain == C::loss(0))
        {
            C::DRAW
        } else if capture == C::ILLEGAL && is(self.legal & self.unforced) {
            // All that may be played is left out of account: the side that cannot move has won.
            C::win(0)
        } else {
            plain.max(capture)
        }
    }
}

/// Those of the marked positions of a block in which one of some en passant captures is legal, as
/// far as `reading` takes notice of it.
#[inline(always)]
pub(crate) fn capture_block<I: Isa, C: Code>(
    task: BlockTask<'_>,
    captures: &[ExitTarget<'_>],
    reading: Reading,
    positions: &[u64],
    room: &mut ExitRoom<C>,
) -> Vec<u64> {
    let ExitRoom { best, buffer, .. } = room;
    let mut found = vec![0; positions.len()];
    if captures.is_empty() || positions.iter().all(|&w| w == 0) {
        return found;
    }
    best.resize(positions.len() * 64, C::ILLEGAL);
    exit_values::captures_of::<I, C>(task, captures, reading, best, buffer);
    let (rows, _) = best.as_chunks::<64>();
    for ((found, row), &positions) in found.iter_mut().zip(rows).zip(positions) {
        *found = !equal_mask::<I, C>(row, C::ILLEGAL) & positions;
    }
    found
}

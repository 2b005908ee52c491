//! Solving one slice: exits, then passes until nothing is left to decide.

use std::cell::RefCell;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Instant;

use hoffman_board::Color;

use hoffman_pages::{PagedCodes, Pages};
use hoffman_space::{
    Code, CodeStore as _, Codes, Counts, EnPassantValues, KingPlacement, PackedOutcomes,
    SliceCounts, SliceValues,
};
use rayon::prelude::*;

use crate::context::{Context, side};
use crate::dispatch;
use crate::exits::{self, Buffer, Counted, Exit, Right};
use crate::log::{ExitEvents, Log, PositionSet, Sorting};
use crate::paged_slice;
use crate::passes::{Frontiers, Planes, Scratch, clear_of, dense_threshold};
use crate::recycled::Recycled;
use crate::table_solver::{Decided, Monitor, PassReport, SolveError, SolveOptions, TakeDecided};
use crate::target::{Reading, Target};

/// From how many rows on a slice is worth being shared between threads.
const PARALLEL_ROWS: usize = 16_384;
/// From how many frontier rows on a pass is worth being shared.
const PARALLEL_FRONTIER: usize = 4_096;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's scratch room.
pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}

/// What a pass decides.
#[derive(Clone, Copy)]
pub(crate) enum RunResult {
    Wins,
    Losses,
}

/// A slice whose mates are known, being solved pass by pass.
pub(crate) trait Passes {
    /// The largest number of moves for which exits decide something.
    fn ahead(&self) -> u16;
    /// The number of rows in which the newest pass has decided something.
    fn waiting(&self, result: RunResult) -> usize;
    /// The number of positions that the newest pass has decided.
    fn decided(&self, result: RunResult) -> u64;
    /// The win pass of a number of moves; `due` if exits may sort_exits something for it.
    fn win(&mut self, moves: u16, due: bool);
    /// The loss pass, likewise.
    fn lose(&mut self, moves: u16, due: bool);
    /// Shows what passes decided; nothing that was decided before or after them.
    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()>;
    /// Does what passes do besides deciding, for a slice whose mates are known and nothing else.
    fn skip(&mut self, passes: &RangeInclusive<u16>);
    /// Takes over what a pass decided, after [`Passes::skip`]. False if no pass can have decided that.
    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool;
}

/// A slice before a pass, and how far it is.
pub(crate) struct Reached<S> {
    pub(crate) slice: S,
    /// The number of moves of the next pass.
    next: u16,
    /// The longest win or loss so far, in moves.
    longest: u16,
}

/// Only suicide chess knows wins without a move, and so losses that need no move of the winner.
fn first_pass(context: &Context<'_>) -> u16 {
    u16::from(!context.suicide())
}

/// Starts a slice, and goes through the passes that an earlier run saved. If they are not what passes
/// of this slice decide it is started once more.
pub(crate) fn begin<S: Passes>(
    context: &Context<'_>,
    monitor: &dyn Monitor,
    mut start: impl FnMut() -> S,
) -> Reached<S> {
    let first = first_pass(context);
    let mut slice = start();
    // A start that was stopped half-way fits no passes.
    let saved = monitor.saved_passes(context.pawns).filter(|_| !context.is_incomplete());
    if let Some(last) = saved.filter(|last| (first..u16::MAX).contains(last)) {
        let passes = first..=last;
        slice.skip(&passes);
        let mut longest = 0;
        let mut take = |decided: Decided<'_>| {
            longest = longest.max(decided.moves);
            let fits = passes.contains(&decided.moves) && slice.take(&decided, &passes);
            if fits { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
        };
        if monitor.restore_passes(context.pawns, context.rows(), &mut take) {
            return Reached { slice, next: last + 1, longest };
        }
        // Both at once may be too much.
        drop(slice);
        slice = start();
    }
    Reached { slice, next: first, longest: 0 }
}

/// Checks that positions of a block can have been decided, and lets them leave `open`.
pub(crate) fn decide(open: &mut [u64], decided: &Decided<'_>, leave: bool) -> bool {
    let (rows, masks) = (decided.rows, decided.masks);
    let ascending = rows.is_sorted_by(|a, b| a < b);
    let fits = |(&row, &mask): (&u32, &u64)| match open.get_mut(row as usize) {
        Some(open) if mask != 0 && mask & !*open == 0 => {
            *open &= !if leave { mask } else { 0 };
            true
        }
        _ => false,
    };
    ascending && rows.len() == masks.len() && rows.iter().zip(masks).all(fits)
}

/// Access to the blocks of a slice whose mates are known.
pub(crate) trait Blocks: Sync {
    /// Shows `f` one side's part of a block.
    fn with(&self, n: usize, own: usize, f: &mut dyn FnMut(&BlockParts<'_>));
}

/// One side's part of a block: legal positions, stalemates, mates, the other side's legal positions in
/// and around the block, and in suicide chess the positions in which something must be taken.
pub(crate) struct BlockParts<'a> {
    pub(crate) open: &'a [u64],
    pub(crate) stalemates: &'a [u64],
    pub(crate) lost: PositionSet<'a>,
    pub(crate) goal: Planes<'a>,
    pub(crate) must_capture: &'a [u64],
}

/// A slice in memory.
struct MemorySlice<'a> {
    context: &'a Context<'a>,
    open: [Vec<u64>; 2],
    held: [Vec<u64>; 2],
    exit_events: [Vec<ExitEvents>; 2],
    wins: [Vec<Log>; 2],
    losses: [Vec<Log>; 2],
    stalemates: [Vec<u64>; 2],
    /// The positions in which something must be taken. Empty in normal chess.
    must_capture: [Vec<u64>; 2],
    /// The positions in which nothing can be played but discarded moves that spare them mate and
    /// stalemate. Empty where there are no such moves.
    spared: [Vec<u64>; 2],
}

impl MemorySlice<'_> {
    /// The part of a block in `must_capture`; empty in normal chess.
    fn must_capture_in(&self, own: usize, block: usize, rows: usize) -> &[u64] {
        part(&self.must_capture[own], block, rows)
    }
}

/// A block's part of a plane that may be left out.
fn part(plane: &[u64], block: usize, rows: usize) -> &[u64] {
    plane.get(block * rows..(block + 1) * rows).unwrap_or_default()
}

/// What has to be solved.
pub(crate) struct Problem<'a> {
    pub(crate) context: Context<'a>,
    /// White's exits, Black's exits. What they lead to is solved.
    pub(crate) exits: [Vec<Exit<'a>>; 2],
    /// Discarded moves, to be counted only.
    pub(crate) discarded: [Vec<Exit<'a>>; 2],
    /// The en passant rights that the pawns allow.
    pub(crate) rights: Vec<Right<'a>>,
    /// Whether moves are to be counted.
    pub(crate) count: bool,
    /// Who wins stalemates, if they are conceded.
    pub(crate) stalemates: Option<Color>,
}

/// The longest distance behind a capture en passant, in moves.
pub(crate) fn deepest_capture(problem: &Problem<'_>) -> u16 {
    problem.rights.iter().flat_map(|r| &r.captures).map(Target::max_moves).max().unwrap_or(0)
}

/// Solves a slice; in pages if there are any, and block by block if it does not fit there.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &SolveOptions,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let exits = problem.exits.iter().flatten().map(|exit| &exit.target);
    let captures = problem.rights.iter().flat_map(|r| &r.captures);
    let deepest = exits.chain(captures).map(Target::max_moves).max().unwrap_or(0);
    let narrow = deepest < u8::MAX_MOVES;
    let in_memory = || {
        if narrow {
            solve_as::<u8>(problem, options, recycled, monitor)
        } else {
            solve_as::<u16>(problem, options, recycled, monitor)
        }
    };
    let Some(pages) = &options.pages else {
        let slice = in_memory()?;
        if !options.outcomes || matches!(slice.codes, [Codes::Stored(_), Codes::Stored(_)]) {
            return Ok(slice);
        }
        let outcomes = slice.outcomes();
        recycled.keep_codes(slice, rayon::current_num_threads());
        return Ok(outcomes);
    };
    let needed = working_bytes(&problem.context);
    if needed <= pages.budget() / 2 {
        return Ok(stored(pages.lend(needed, in_memory)?, pages));
    }
    if narrow {
        paged_slice::solve::<u8>(problem, pages, options.method, monitor)
    } else {
        paged_slice::solve::<u16>(problem, pages, options.method, monitor)
    }
}

/// What solving a slice in memory takes at most: five bytes for every four positions of a side besides
/// the values, as `hoffman_plan::estimate` says, and twice the values, which may be wide.
fn working_bytes(context: &Context<'_>) -> usize {
    let positions = 2 * context.rows() * context.blocks.len() * 64;
    positions * 5 / 4 + positions * 2
}

/// The same values in pages.
pub(crate) fn stored(slice: SliceValues, pages: &Arc<Pages>) -> SliceValues {
    fn put<C: Code>(codes: &[C], pages: &Arc<Pages>) -> Codes {
        let store = PagedCodes::new::<C>(pages, codes.len());
        store.write(0, C::as_bytes_of(codes));
        store.into_codes::<C>(codes.len())
    }
    let put = |codes: Codes| match codes {
        Codes::Narrow(codes) => put(&codes, pages),
        Codes::Wide(codes) => put(&codes, pages),
        Codes::Stored(_) => codes,
    };
    let en_passant = slice.en_passant.into_iter();
    SliceValues {
        codes: slice.codes.map(put),
        en_passant: en_passant.map(|e| EnPassantValues { codes: put(e.codes), ..e }).collect(),
        ..slice
    }
}

/// Solves a slice with codes `C` for the values behind the exits.
fn solve_as<C: Code>(
    problem: &Problem<'_>,
    options: &SolveOptions,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = &problem.context;
    let keep = problem.count
        || problem.stalemates.is_some()
        || context.suicide()
        || problem.rights.iter().any(|r| r.is_usable(context));
    let mut counts = None;
    let mut reached = begin(context, monitor, || {
        let mut slice = start::<C>(context, &problem.exits, keep, recycled);
        counts = problem.count.then(|| count::<C>(problem, &slice));
        if let Some(winner) = problem.stalemates {
            concede_stalemates(context, &mut slice, winner);
        }
        if context.suicide() {
            win_stalemates(context, &mut slice);
        }
        slice
    });
    let moves = run(context, &mut reached, monitor)?;
    let mut slice = reached.slice;
    slice.exit_events = Default::default();
    recycled.keep(std::mem::take(&mut slice.held), []);
    let narrow = moves <= u8::MAX_MOVES && deepest_capture(problem) < u8::MAX_MOVES;
    let has_rights = problem.rights.iter().any(|r| r.is_usable(context));
    let values = if options.outcomes && options.pages.is_none() && !has_rights {
        // What captures en passant start from would be needed as codes.
        let codes = Color::ALL.map(|color| write_outcomes(context, &slice, color));
        SliceValues { codes, en_passant: Vec::new(), counts, max_moves: 1 }
    } else if narrow {
        finish::<u8>(problem, &slice, recycled, moves, counts)
    } else {
        finish::<u16>(problem, &slice, recycled, moves, counts)
    };
    recycled.keep(slice.open, slice.wins.into_iter().chain(slice.losses));
    finished(context, values)
}

/// The values of a slice, unless blocks were left out because the work was to stop.
pub(crate) fn finished(
    context: &Context<'_>,
    values: SliceValues,
) -> Result<SliceValues, SolveError> {
    if context.is_incomplete() { Err(SolveError::Stopped) } else { Ok(values) }
}

/// Writes the values down in the width `C`.
fn finish<C: Code>(
    problem: &Problem<'_>,
    slice: &MemorySlice<'_>,
    recycled: &Recycled,
    moves: u16,
    counts: Option<SliceCounts>,
) -> SliceValues {
    let context = &problem.context;
    let codes = Color::ALL.map(|color| write::<C>(context, slice, color, recycled));
    let rows = context.rows();
    let mut deepest = moves;
    let usable = problem.rights.iter().filter(|r| r.is_usable(context));
    let en_passant = usable
        .map(|right| {
            let own = side(right.taker);
            let blocks = context.blocks.len();
            let mut with = vec![C::ILLEGAL; codes[own].len()];
            with.par_chunks_exact_mut(rows * 64)
                .with_min_len(share(rows * blocks >= PARALLEL_ROWS, blocks))
                .enumerate()
                .for_each(|(n, with)| {
                    if context.is_stopped() {
                        return;
                    }
                    let plain = &codes[own][n * rows * 64..(n + 1) * rows * 64];
                    let mut stuck = slice.stalemates[own][n * rows..(n + 1) * rows].to_vec();
                    let spared = part(&slice.spared[own], n, rows);
                    stuck.iter_mut().zip(spared).for_each(|(stuck, spared)| *stuck |= spared);
                    let must_capture = slice.must_capture_in(own, n, rows);
                    with_exit_room(|_: &mut Vec<C>, buffer, _| {
                        dispatch::right_block(
                            context,
                            n,
                            right,
                            plain,
                            &stuck,
                            must_capture,
                            with,
                            buffer,
                        );
                    });
                });
            // A capture can hold out longer, or win later, than anything in the slice.
            let targets = right.captures.iter().map(|t| t.max_moves() + 1);
            deepest = deepest.max(targets.max().unwrap_or(0));
            EnPassantValues { square: right.square, codes: C::into_codes(with) }
        })
        .collect();
    SliceValues { codes: codes.map(C::into_codes), en_passant, counts, max_moves: deepest }
}

/// Counts moves and stalemates.
pub(crate) fn count<C: Code>(problem: &Problem<'_>, slice: &impl Blocks) -> SliceCounts {
    let context = &problem.context;
    let rows = context.rows();
    let blocks = context.blocks.len();
    let share = share(rows * blocks >= PARALLEL_ROWS, blocks);
    let mut counts = SliceCounts::default();
    let add = |mut a: Counts, b: Counts| {
        a += b;
        a
    };
    let of = |color: Color, right: Option<&Right<'_>>| {
        let own = side(color);
        let block = |n: usize, parts: &BlockParts<'_>| {
            let block = &context.blocks[n];
            let once = context.lanes_once(block);
            let mut positions: Vec<u64> = parts.open.iter().map(|open| open & once).collect();
            let mut stuck: Vec<u64> = parts.stalemates.iter().map(|stuck| stuck & once).collect();
            if let Some(right) = right {
                let empty = right.empty_squares();
                for plane in [&mut positions, &mut stuck] {
                    let all = std::mem::take(plane);
                    plane.resize(rows, 0);
                    clear_of(block, empty, &all, plane);
                }
            }
            let [counted, discarded] = right.map_or([&[][..]; 2], Right::counted);
            let with_capture = |captures: &[Target<'_>], reading: Reading| {
                with_exit_room(|best: &mut Vec<C>, buffer, _| {
                    dispatch::capture_block(
                        context,
                        block,
                        color,
                        (captures, reading),
                        &positions,
                        best,
                        buffer,
                    )
                })
            };
            let taking = with_capture(counted, Reading::Legality);
            let (going, passing) = if context.suicide() {
                (taking.clone(), with_capture(discarded, Reading::Legality))
            } else {
                (with_capture(counted, Reading::Played), vec![0; rows])
            };
            let conceded = problem.stalemates.is_some();
            let stalemates = stuck.iter().zip(&going).map(|(&stuck, going)| stuck & !going);
            let stalemates = stalemates.map(|w| u64::from(w.count_ones())).sum();
            let exits = &problem.exits[own];
            if exits.iter().any(|exit| exit.counted == Counted::Deciding) {
                let decided = with_exit_room(|_: &mut Vec<u8>, buffer, _| {
                    exits::decided(context, block, color, exits, buffer)
                });
                positions.iter_mut().zip(decided).for_each(|(p, decided)| *p &= !decided);
            }
            if right.is_some_and(|right| right.deciding) {
                positions.iter_mut().zip(&taking).for_each(|(p, taking)| *p &= !taking);
            }
            // Whoever has no move has no discarded one that counts.
            let stuck = parts.stalemates.iter().copied().enumerate();
            for (row, mask) in stuck.chain(parts.lost.iter()) {
                positions[row] &= !(mask & !going[row]);
            }
            let mut bound = positions.clone();
            for (row, &must_capture) in parts.must_capture.iter().enumerate() {
                // Of what must be taken everything may be discarded.
                bound[row] &= !(passing[row] & !taking[row] & !must_capture);
                positions[row] &= !(must_capture | taking[row] | passing[row]);
                bound[row] &= must_capture | taking[row];
            }
            let [captures, more] = [counted, discarded].map(|captures| {
                with_exit_room(|_: &mut Vec<C>, buffer, _| {
                    dispatch::count_captures(context, block, color, captures, &bound, buffer)
                })
            });
            let [moves, futuremoves] = with_exit_room(|_: &mut Vec<C>, buffer, _| {
                with_scratch(|scratch| {
                    dispatch::count_block(
                        context,
                        n,
                        color,
                        [exits, &problem.discarded[own]],
                        &positions,
                        &bound,
                        parts.goal,
                        buffer,
                        scratch,
                    )
                })
            });
            Counts {
                stalemates: if conceded { 0 } else { stalemates },
                moves: moves + captures,
                futuremoves: futuremoves + captures + more,
            }
        };
        let paired = context.layout.kings() == KingPlacement::Pairs;
        let diagonal = |n: usize| paired && context.blocks[n].outer.iter().all(|k| k >> 3 == k & 7);
        let both = |n: usize| {
            let mut counts = Counts::default();
            if context.is_stopped() {
                return [counts; 2];
            }
            slice.with(n, own, &mut |parts| counts = block(n, parts));
            [counts, if diagonal(n) { counts } else { Counts::default() }]
        };
        (0..blocks)
            .into_par_iter()
            .with_min_len(share)
            .map(both)
            .reduce(<[Counts; 2]>::default, |a, b| [add(a[0], b[0]), add(a[1], b[1])])
    };
    for color in [Color::White, Color::Black] {
        let own = side(color);
        [counts.plain[own], counts.diagonal[own]] = of(color, None);
    }
    counts.en_passant =
        problem.rights.iter().map(|r| (r.square, of(r.taker, Some(r))[0])).collect();
    counts
}

/// How many blocks a thread takes at once: all of them where sharing does not pay.
fn share(parallel: bool, blocks: usize) -> usize {
    if parallel { (blocks / 256).max(1) } else { blocks.max(1) }
}

fn start<'a, C: Code>(
    context: &'a Context<'a>,
    exits: &[Vec<Exit<'_>>; 2],
    keep_stalemates: bool,
    recycled: &Recycled,
) -> MemorySlice<'a> {
    let rows = context.rows();
    let blocks = context.blocks.len();
    let total = rows * blocks;
    let share = share(total >= PARALLEL_ROWS, blocks);
    let plane = || vec![0u64; total];
    let logs = || recycled.logs(blocks);
    let mut open = [(); 2].map(|()| recycled.plane(total));
    let mut held = [(); 2].map(|()| recycled.plane(total));
    let mut exit_events: [Vec<ExitEvents>; 2] = Default::default();
    let mut must_capture: [Vec<u64>; 2] = Default::default();
    for color in [Color::White, Color::Black] {
        let work = open[side(color)].par_chunks_exact_mut(rows).with_min_len(share).enumerate();
        work.for_each(|(n, open)| {
            dispatch::legal_block(context, &context.blocks[n], color, open);
        });
    }
    for color in [Color::White, Color::Black] {
        let own = side(color);
        exit_events[own].resize_with(blocks, ExitEvents::default);
        let (exits, open) = (&exits[own], &open[own]);
        if context.suicide() {
            must_capture[own] = plane();
        }
        // Zipping needs something for every block where nothing must capture.
        let mut nothing = vec![[0; 0]; blocks];
        let must_capture: Vec<&mut [u64]> = if context.suicide() {
            must_capture[own].chunks_exact_mut(rows).collect()
        } else {
            nothing.iter_mut().map(|n| &mut n[..]).collect()
        };
        held[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut exit_events[own])
            .zip(must_capture)
            .with_min_len(share)
            .enumerate()
            .for_each(|(n, ((held, exit_events), must_capture))| {
                if context.is_stopped() {
                    return;
                }
                let block = &context.blocks[n];
                let open = &open[n * rows..(n + 1) * rows];
                *exit_events = with_exit_room(|best: &mut Vec<C>, buffer, sorting| {
                    dispatch::exit_block::<C>(
                        context,
                        block,
                        color,
                        exits,
                        open,
                        held,
                        must_capture,
                        best,
                        buffer,
                        sorting,
                    )
                });
            });
    }
    let mut spared = [Color::White, Color::Black]
        .map(|color| spared::<C>(context, color, &exits[side(color)], &must_capture[side(color)]));
    let mut stalemates: [Vec<u64>; 2] = Default::default();
    let mut losses = [logs(), logs()];
    for color in [Color::White, Color::Black] {
        let own = side(color);
        // Chunks of length 0 do not exist: without stalemates every block gets a word nobody reads.
        let stride = if keep_stalemates { rows } else { 1 };
        let mut found = vec![0; stride * blocks];
        // As with `must_capture` above.
        let mut nothing = vec![[0; 0]; blocks];
        let spared: Vec<&mut [u64]> = if spared[own].is_empty() {
            nothing.iter_mut().map(|n| &mut n[..]).collect()
        } else {
            spared[own].chunks_exact_mut(rows).collect()
        };
        held[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut losses[own])
            .zip(found.par_chunks_exact_mut(stride))
            .zip(spared)
            .with_min_len(share)
            .enumerate()
            .for_each(|(n, (((held, log), stalemates), spared))| {
                if context.is_stopped() {
                    return;
                }
                with_scratch(|scratch| {
                    dispatch::mate_block(
                        context,
                        n,
                        color,
                        &open[own][n * rows..(n + 1) * rows],
                        Planes::All(&open[1 - own]),
                        held,
                        part(&must_capture[own], n, rows),
                        spared,
                        stalemates,
                        log,
                        scratch,
                    );
                });
            });
        if keep_stalemates {
            stalemates[own] = found;
        }
    }
    let wins = [logs(), logs()];
    MemorySlice { context, open, held, exit_events, wins, losses, stalemates, must_capture, spared }
}

/// The positions of a side with discarded moves that spare them mate and stalemate; empty if there are
/// no such moves.
fn spared<C: Code>(
    context: &Context<'_>,
    color: Color,
    exits: &[Exit<'_>],
    must_capture: &[u64],
) -> Vec<u64> {
    if !exits.iter().any(|exit| exit.target.may_spare()) {
        return Vec::new();
    }
    let rows = context.rows();
    let blocks = context.blocks.par_iter().enumerate().filter(|(_, block)| !block.empty);
    let mut spared = vec![0; rows * context.blocks.len()];
    let found: Vec<(usize, Vec<u64>)> = blocks
        .filter(|_| !context.is_stopped())
        .map(|(n, block)| {
            let must_capture = part(must_capture, n, rows);
            let found = with_exit_room(|best: &mut Vec<C>, buffer, _| {
                exits::spared(context, block, color, exits, must_capture, best, buffer)
            });
            (n, found)
        })
        .collect();
    for (n, found) in found {
        spared[n * rows..(n + 1) * rows].copy_from_slice(&found);
    }
    spared
}

/// Gives stalemates to `winner`: won after one move if he is to move, else lost after one.
fn concede_stalemates(context: &Context<'_>, slice: &mut MemorySlice<'_>, winner: Color) {
    let rows = context.rows();
    for color in [Color::White, Color::Black] {
        let own = side(color);
        for (n, exit_events) in slice.exit_events[own].iter_mut().enumerate() {
            exit_events.add(color == winner, part(&slice.stalemates[own], n, rows));
        }
    }
}

/// In suicide chess whoever cannot move has won.
fn win_stalemates(context: &Context<'_>, slice: &mut MemorySlice<'_>) {
    let rows = context.rows();
    for own in 0..2 {
        for (n, wins) in slice.wins[own].iter_mut().enumerate() {
            wins.begin();
            for (row, &mask) in part(&slice.stalemates[own], n, rows).iter().enumerate() {
                if mask != 0 {
                    slice.open[own][n * rows + row] &= !mask;
                    wins.push(row, mask);
                }
            }
            wins.finish(0, rows, dense_threshold(rows));
        }
    }
}

/// The number of rows in the newest segments.
fn frontier(logs: &[Vec<Log>; 2]) -> usize {
    logs.iter().flatten().map(|log| log.frontier().len()).sum()
}

/// Whether a block of this side has anything to do after the frontiers of `logs` of the other side.
fn is_reached(context: &Context<'_>, n: usize, own: usize, logs: &[Vec<Log>; 2]) -> bool {
    let theirs = &logs[1 - own];
    theirs[n].frontier().len() > 0
        || context.blocks[n].neighbours[own]
            .iter()
            .any(|neighbour| theirs[neighbour.block as usize].frontier().len() > 0)
}

/// Runs the passes; returns the longest win or loss, in moves.
pub(crate) fn run(
    context: &Context<'_>,
    reached: &mut Reached<impl Passes>,
    monitor: &dyn Monitor,
) -> Result<u16, SolveError> {
    let Reached { slice, next, longest } = reached;
    let mut longest = *longest;
    let ahead = slice.ahead();
    let mut unsaved = *next;
    let mut since = Instant::now();
    for moves in *next..u16::MAX {
        // Asked before it is saved: whoever stops later asks again.
        let stopped = monitor.is_stopped() || context.is_incomplete();
        if save(slice, context, monitor, unsaved..moves, since) {
            unsaved = moves;
            since = Instant::now();
        }
        if stopped {
            return Err(SolveError::Stopped);
        }
        monitor.pass(moves);
        let due = moves <= ahead;
        let report = |slice: &_, won: bool, began: Instant| {
            let result = if won { RunResult::Wins } else { RunResult::Losses };
            let positions = Passes::decided(slice, result);
            let (pawns, time) = (context.pawns, began.elapsed());
            monitor.passed(&PassReport { pawns, won, moves, positions, time });
        };
        if moves > 0 {
            if slice.waiting(RunResult::Losses) == 0 && !due {
                break;
            }
            let began = Instant::now();
            slice.win(moves, due);
            report(slice, true, began);
        }
        if slice.waiting(RunResult::Wins) > 0 {
            longest = moves;
        }
        let began = Instant::now();
        slice.lose(moves, due);
        report(slice, false, began);
        if context.is_incomplete() {
            save(slice, context, monitor, unsaved..moves, since);
            return Err(SolveError::Stopped);
        }
        if slice.waiting(RunResult::Losses) > 0 {
            longest = moves;
        }
    }
    Ok(longest)
}

/// Saves passes that nobody has saved, where that is worth it; whether it was done.
fn save(
    slice: &impl Passes,
    context: &Context<'_>,
    monitor: &dyn Monitor,
    passes: Range<u16>,
    since: Instant,
) -> bool {
    if passes.is_empty() || !monitor.saves_passes(since.elapsed()) {
        return false;
    }
    let passes = passes.start..=passes.end - 1;
    let show = |take: &mut TakeDecided<'_>| slice.show(passes.clone(), take);
    monitor.save_passes(context.pawns, passes.clone(), &show)
}

impl MemorySlice<'_> {
    /// How many blocks a thread takes at once in a pass that starts from so many rows.
    fn share(&self, waiting: usize, due: bool) -> usize {
        let (rows, blocks) = (self.context.rows(), self.context.blocks.len());
        let large = rows * blocks >= PARALLEL_ROWS && blocks > 1;
        share(large && (waiting >= PARALLEL_FRONTIER || due), blocks)
    }
}

impl Passes for MemorySlice<'_> {
    fn ahead(&self) -> u16 {
        let last = |f: &ExitEvents| f.exit_wins.last().max(f.exit_losses.last());
        self.exit_events.iter().flatten().map(last).max().unwrap_or(0)
    }

    fn waiting(&self, result: RunResult) -> usize {
        match result {
            RunResult::Wins => frontier(&self.wins),
            RunResult::Losses => frontier(&self.losses),
        }
    }

    fn decided(&self, result: RunResult) -> u64 {
        let logs = match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        };
        let share = self.share(frontier(logs), false);
        let positions = |log: &Log| log.frontier().positions();
        logs.iter()
            .map(|logs| logs.par_iter().with_min_len(share).map(positions).sum::<u64>())
            .sum()
    }

    fn win(&mut self, moves: u16, due: bool) {
        let share = self.share(frontier(&self.losses), due);
        let MemorySlice { context, open, exit_events, wins, losses, must_capture, .. } = self;
        let (context, rows, blocks) = (*context, context.rows(), context.blocks.len());
        let [white_open, black_open] = open;
        let [white_wins, black_wins] = wins;
        let win = |color: Color, open: &mut Vec<u64>, wins: &mut Vec<Log>| {
            let own = side(color);
            open.par_chunks_exact_mut(rows).zip(wins).with_min_len(share).enumerate().for_each(
                |(n, (open, wins))| {
                    let exit_events = &exit_events[own][n];
                    let reached = is_reached(context, n, own, losses)
                        || losses[own][n].frontier().len() > 0
                        || exit_events.exit_wins.has(moves);
                    if reached && !context.is_stopped() {
                        let must_capture = part(&must_capture[own], n, rows);
                        with_scratch(|scratch| {
                            let lost = losses[own][n].frontier();
                            let theirs = Frontiers::All(&losses[1 - own]);
                            let exit_wins = exit_events.exit_wins.of(moves);
                            dispatch::win_block(
                                context,
                                n,
                                color,
                                moves,
                                lost,
                                theirs,
                                exit_wins,
                                must_capture,
                                open,
                                wins,
                                scratch,
                            );
                        });
                    } else {
                        wins.begin();
                    }
                },
            );
        };
        both(
            share < blocks,
            || win(Color::White, white_open, white_wins),
            || win(Color::Black, black_open, black_wins),
        );
    }

    fn lose(&mut self, moves: u16, due: bool) {
        let share = self.share(frontier(&self.wins), due);
        let MemorySlice { context, open, held, exit_events, wins, losses, must_capture, .. } = self;
        let (context, rows, blocks) = (*context, context.rows(), context.blocks.len());
        let [white_nl, black_nl] = held;
        let [white_losses, black_losses] = losses;
        let lose = |color: Color, held: &mut Vec<u64>, losses: &mut Vec<Log>| {
            let own = side(color);
            held.par_chunks_exact_mut(rows).zip(losses).with_min_len(share).enumerate().for_each(
                |(n, (held, losses))| {
                    let exit_events = &exit_events[own][n];
                    let reached =
                        is_reached(context, n, own, wins) || exit_events.exit_losses.has(moves);
                    if reached && !context.is_stopped() {
                        let must_capture = part(&must_capture[own], n, rows);
                        with_scratch(|scratch| {
                            dispatch::loss_block(
                                context,
                                n,
                                color,
                                moves,
                                Frontiers::All(&wins[1 - own]),
                                exit_events.exit_losses.of(moves),
                                must_capture,
                                &open[own][n * rows..(n + 1) * rows],
                                Planes::All(&open[1 - own]),
                                held,
                                losses,
                                scratch,
                            );
                        });
                    } else {
                        losses.begin();
                    }
                },
            );
        };
        both(
            share < blocks,
            || lose(Color::White, white_nl, white_losses),
            || lose(Color::Black, black_nl, black_losses),
        );
    }

    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()> {
        for turn in [Color::White, Color::Black] {
            let own = side(turn);
            for (logs, won) in [(&self.wins[own], true), (&self.losses[own], false)] {
                // Wins without a move are there from the start.
                let passes = (*passes.start()).max(u16::from(won))..=*passes.end();
                for (block, log) in (0..).zip(logs) {
                    for (moves, positions) in
                        log.replay().filter(|(moves, _)| passes.contains(moves))
                    {
                        let (rows, masks) = (positions.rows(), positions.masks());
                        take(Decided { turn, won, moves, block, rows, masks })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, passes: &RangeInclusive<u16>) {
        let rows = self.context.rows();
        for own in 0..2 {
            for (open, log) in self.open[own].chunks_exact_mut(rows).zip(&mut self.losses[own]) {
                log.frontier().iter().for_each(|(row, mask)| open[row] &= !mask);
                log.begin();
            }
            self.wins[own].iter_mut().for_each(Log::begin);
            let planes = self.held[own].chunks_exact_mut(rows);
            for (held, exit_events) in planes.zip(&self.exit_events[own]) {
                for moves in *passes.start()..=exit_events.exit_losses.last().min(*passes.end()) {
                    let exit_losses = exit_events.exit_losses.of(moves);
                    exit_losses.iter().for_each(|(row, mask)| held[row] &= !mask);
                }
            }
        }
    }

    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool {
        let (rows, own) = (self.context.rows(), side(decided.turn));
        let logs = if decided.won { &mut self.wins } else { &mut self.losses };
        let n = decided.block as usize;
        let Some(log) = logs[own].get_mut(n).filter(|log| log.ends_before(decided.moves)) else {
            return false;
        };
        // The next win pass starts from the last losses and lets them leave.
        let newest = !decided.won && decided.moves == *passes.end();
        if !decide(&mut self.open[own][n * rows..(n + 1) * rows], decided, !newest) {
            return false;
        }
        log.begin();
        log.extend(decided.rows, decided.masks);
        if newest {
            log.finish(decided.moves, rows, dense_threshold(rows));
        } else {
            log.finish(decided.moves, rows, usize::MAX);
            log.begin();
        }
        true
    }
}

impl Blocks for MemorySlice<'_> {
    fn with(&self, n: usize, own: usize, f: &mut dyn FnMut(&BlockParts<'_>)) {
        let rows = self.context.rows();
        f(&BlockParts {
            open: &self.open[own][n * rows..(n + 1) * rows],
            stalemates: part(&self.stalemates[own], n, rows),
            lost: self.losses[own][n].frontier(),
            goal: Planes::All(&self.open[1 - own]),
            must_capture: self.must_capture_in(own, n, rows),
        });
    }
}

/// Runs two closures, at the same time if that pays.
fn both(parallel: bool, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    if parallel {
        rayon::join(first, second);
    } else {
        first();
        second();
    }
}

/// The codes of one side, block by block from the logs.
fn write<C: Code>(
    context: &Context<'_>,
    slice: &MemorySlice<'_>,
    color: Color,
    recycled: &Recycled,
) -> Vec<C> {
    let rows = context.rows();
    let blocks = context.blocks.len();
    let own = side(color);
    let share = share(rows * blocks >= PARALLEL_ROWS, blocks);
    let (mut codes, fresh) = recycled.codes::<C>(rows * blocks * 64);
    codes.par_chunks_exact_mut(rows * 64).with_min_len(share).enumerate().for_each(|(n, codes)| {
        if context.is_stopped() {
            return;
        }
        if !fresh {
            codes.fill(C::ILLEGAL);
        }
        let wins = slice.wins[own][n].replay().map(|(moves, positions)| (C::win(moves), positions));
        let losses = slice.losses[own][n].replay();
        let losses = losses.map(|(moves, positions)| (C::loss(moves), positions));
        let decided: Vec<_> = wins.chain(losses).collect();
        dispatch::write_block::<C>(part(&slice.open[own], n, rows), &decided, codes);
    });
    codes
}

/// The same for those who ask for outcomes only.
fn write_outcomes(context: &Context<'_>, slice: &MemorySlice<'_>, color: Color) -> Codes {
    let rows = context.rows();
    let (own, len) = (side(color), rows * 64);
    let blocks = context.blocks.len();
    let outcomes = PackedOutcomes::new(len * blocks);
    let block = |codes: &mut Vec<u8>, n: usize| {
        if context.is_stopped() {
            return;
        }
        codes.fill(u8::ILLEGAL);
        let wins = slice.wins[own][n].replay().map(|(_, positions)| (u8::win(1), positions));
        let losses = slice.losses[own][n].replay();
        let losses = losses.map(|(_, positions)| (u8::loss(0), positions));
        let decided: Vec<_> = wins.chain(losses).collect();
        dispatch::write_block::<u8>(part(&slice.open[own], n, rows), &decided, codes);
        outcomes.put(n * len, codes);
    };
    let share = share(rows * blocks >= PARALLEL_ROWS, blocks);
    let new = || vec![u8::ILLEGAL; len];
    (0..blocks).into_par_iter().with_min_len(share).for_each_init(new, block);
    Codes::packed(outcomes, len * blocks)
}

/// Room for evaluating exits, one a thread and width of code.
struct ExitRoom<C> {
    best: Vec<C>,
    buffer: Buffer<C>,
    sorting: Sorting,
}

pub(crate) fn with_exit_room<C: Code, R>(
    f: impl FnOnce(&mut Vec<C>, &mut Buffer<C>, &mut Sorting) -> R,
) -> R {
    thread_local! {
        static ROOMS: RefCell<std::collections::HashMap<std::any::TypeId, Box<dyn std::any::Any>>> =
            RefCell::default();
    }
    ROOMS.with_borrow_mut(|rooms| {
        let room = rooms.entry(std::any::TypeId::of::<C>()).or_insert_with(|| {
            Box::new(ExitRoom::<C> {
                best: Vec::new(),
                buffer: Buffer::new(),
                sorting: Sorting::default(),
            })
        });
        let room = room.downcast_mut::<ExitRoom<C>>().expect("the room of this width");
        f(&mut room.best, &mut room.buffer, &mut room.sorting)
    })
}

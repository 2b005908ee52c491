//! Solving one slice: exits, then passes until nothing is left to decide.

use std::cell::RefCell;

use hoffman_board::Color;
use hoffman_space::{Code, Layout, PawnStructure, SliceValues};
use rayon::prelude::*;

use crate::context::{Block, Context, side};
use crate::dispatch;
use crate::exits::{Buffer, Exit};
use crate::log::{Foretold, Log, Sorting};
use crate::passes::Scratch;

/// From how many rows on a slice is worth being shared between threads.
const PARALLEL_ROWS: usize = 16_384;
/// From how many frontier rows on a pass is worth being shared.
const PARALLEL_FRONTIER: usize = 4_096;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's scratch room.
fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}

struct State {
    open: [Vec<u64>; 2],
    not_losable: [Vec<u64>; 2],
    foretold: [Vec<Foretold>; 2],
    wins: [Vec<Log>; 2],
    losses: [Vec<Log>; 2],
    stalemates: [Vec<u64>; 2],
}

/// Solves a slice. `exits[0]` are White's exits. Values that the exits lead to must be solved.
pub(crate) fn solve(
    layout: &Layout,
    pawns: PawnStructure,
    exits: &[Vec<Exit<'_>>; 2],
    keep_stalemates: bool,
) -> SliceValues {
    let context = Context::new(layout, pawns);
    let deepest =
        exits.iter().flatten().flat_map(Exit::views).map(|v| v.max_moves()).max().unwrap_or(0);
    let mut state = if deepest < u8::MAX_MOVES {
        start::<u8>(&context, exits, keep_stalemates)
    } else {
        start::<u16>(&context, exits, keep_stalemates)
    };
    let moves = run(&context, &mut state);
    state.foretold = Default::default();
    state.not_losable = Default::default();
    let codes = [Color::White, Color::Black].map(|color| {
        if moves <= u8::MAX_MOVES {
            u8::into_codes(write::<u8>(&context, &state, color))
        } else {
            u16::into_codes(write::<u16>(&context, &state, color))
        }
    });
    SliceValues { codes, stalemates: state.stalemates, max_moves: moves }
}

/// How many blocks a thread takes at once: all of them where sharing does not pay.
fn share(parallel: bool, blocks: usize) -> usize {
    if parallel { (blocks / 256).max(1) } else { blocks.max(1) }
}

fn start<C: Code>(
    context: &Context<'_>,
    exits: &[Vec<Exit<'_>>; 2],
    keep_stalemates: bool,
) -> State {
    let rows = context.rows();
    let blocks = context.blocks.len();
    let total = rows * blocks;
    let share = share(total >= PARALLEL_ROWS, blocks);
    let plane = || vec![0u64; total];
    let logs = || (0..blocks).map(|_| Log::default()).collect::<Vec<_>>();
    let mut open = [plane(), plane()];
    let mut not_losable = [plane(), plane()];
    let mut foretold: [Vec<Foretold>; 2] = Default::default();
    for color in [Color::White, Color::Black] {
        let work = open[side(color)].par_chunks_exact_mut(rows).with_min_len(share).enumerate();
        work.for_each(|(n, open)| {
            dispatch::legal_block(context, &context.blocks[n], color, open);
        });
    }
    for color in [Color::White, Color::Black] {
        let own = side(color);
        foretold[own].resize_with(blocks, Foretold::default);
        let (exits, open) = (&exits[own], &open[own]);
        not_losable[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut foretold[own])
            .with_min_len(share)
            .enumerate()
            .for_each(|(n, (not_losable, foretold))| {
                let block = &context.blocks[n];
                let open = &open[n * rows..(n + 1) * rows];
                *foretold = with_exit_room(|best: &mut Vec<C>, buffer, sorting| {
                    dispatch::exit_block::<C>(
                        context, block, color, exits, open, not_losable, best, buffer, sorting,
                    )
                });
            });
    }
    let mut stalemates: [Vec<u64>; 2] = Default::default();
    let mut losses = [logs(), logs()];
    for color in [Color::White, Color::Black] {
        let own = side(color);
        // Chunks of length 0 do not exist: without stalemates every block gets a word nobody reads.
        let stride = if keep_stalemates { rows } else { 1 };
        let mut found = vec![0; stride * blocks];
        not_losable[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut losses[own])
            .zip(found.par_chunks_exact_mut(stride))
            .with_min_len(share)
            .enumerate()
            .for_each(|(n, ((not_losable, log), stalemates))| {
                with_scratch(|scratch| {
                    dispatch::mate_block(
                        context, n, color, &open, not_losable, stalemates, log, scratch,
                    );
                });
            });
        if keep_stalemates {
            stalemates[own] = found;
        }
    }
    State { open, not_losable, foretold, wins: [logs(), logs()], losses, stalemates }
}

/// The number of rows in the newest segments.
fn frontier(logs: &[Vec<Log>; 2]) -> usize {
    logs.iter().flatten().map(Log::frontier_len).sum()
}

/// Whether a block of this side has anything to do after the frontiers of `logs` of the other side.
fn is_reached(context: &Context<'_>, n: usize, own: usize, logs: &[Vec<Log>; 2]) -> bool {
    let theirs = &logs[1 - own];
    theirs[n].frontier_len() > 0
        || context.men[own].outer_king
            && context.blocks[n].neighbours[own]
                .iter()
                .any(|&(b, _)| theirs[b as usize].frontier_len() > 0)
}

/// Runs the passes; returns the longest win or loss, in moves.
fn run(context: &Context<'_>, state: &mut State) -> u16 {
    let rows = context.rows();
    let blocks = context.blocks.len();
    let State { open, not_losable, foretold, wins, losses, .. } = state;
    let ahead = foretold
        .iter()
        .flatten()
        .map(|f| f.seeds.last().max(f.dues.last()))
        .max()
        .unwrap_or(0);
    let large = rows * blocks >= PARALLEL_ROWS && blocks > 1;
    let mut longest = 0;
    let mut waiting = frontier(losses);
    for moves in 1..u16::MAX {
        let due = moves <= ahead;
        if waiting == 0 && !due {
            break;
        }
        let share = share(large && (waiting >= PARALLEL_FRONTIER || due), blocks);
        let [white_open, black_open] = open;
        let [white_wins, black_wins] = wins;
        let win = |color: Color, open: &mut Vec<u64>, wins: &mut Vec<Log>| {
            let own = side(color);
            open.par_chunks_exact_mut(rows)
                .zip(wins)
                .with_min_len(share)
                .enumerate()
                .for_each(|(n, (open, wins))| {
                    let foretold = &foretold[own][n];
                    if is_reached(context, n, own, losses)
                        || losses[own][n].frontier_len() > 0
                        || foretold.seeds.has(moves)
                    {
                        with_scratch(|scratch| {
                            dispatch::win_block(
                                context, n, color, moves, losses, foretold, open, wins, scratch,
                            );
                        });
                    } else {
                        wins.begin();
                    }
                });
        };
        both(
            share < blocks,
            || win(Color::White, white_open, white_wins),
            || win(Color::Black, black_open, black_wins),
        );
        waiting = frontier(wins);
        if waiting > 0 {
            longest = moves;
        }
        let share = self::share(large && (waiting >= PARALLEL_FRONTIER || due), blocks);
        let [white_nl, black_nl] = not_losable;
        let [white_losses, black_losses] = losses;
        let lose = |color: Color, not_losable: &mut Vec<u64>, losses: &mut Vec<Log>| {
            let own = side(color);
            not_losable
                .par_chunks_exact_mut(rows)
                .zip(losses)
                .with_min_len(share)
                .enumerate()
                .for_each(|(n, (not_losable, losses))| {
                    let foretold = &foretold[own][n];
                    if is_reached(context, n, own, wins) || foretold.dues.has(moves) {
                        with_scratch(|scratch| {
                            dispatch::loss_block(
                                context, n, color, moves, wins, foretold, open, not_losable, losses,
                                scratch,
                            );
                        });
                    } else {
                        losses.begin();
                    }
                });
        };
        both(
            share < blocks,
            || lose(Color::White, white_nl, white_losses),
            || lose(Color::Black, black_nl, black_losses),
        );
        waiting = frontier(losses);
        if waiting > 0 {
            longest = moves;
        }
    }
    longest
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
fn write<C: Code>(context: &Context<'_>, state: &State, color: Color) -> Vec<C> {
    let rows = context.rows();
    let blocks = context.blocks.len();
    let own = side(color);
    let share = share(rows * blocks >= PARALLEL_ROWS, blocks);
    let mut codes = vec![C::ILLEGAL; rows * blocks * 64];
    codes
        .par_chunks_exact_mut(rows * 64)
        .with_min_len(share)
        .enumerate()
        .for_each(|(n, codes)| {
            let open = &state.open[own][n * rows..(n + 1) * rows];
            dispatch::write_block::<C>(open, &state.wins[own][n], &state.losses[own][n], codes);
        });
    codes
}

/// Room for evaluating exits, one a thread and width of code.
struct ExitRoom<C> {
    best: Vec<C>,
    buffer: Buffer<C>,
    sorting: Sorting,
}

fn with_exit_room<C: Code, R>(
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

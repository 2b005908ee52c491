//! Chooses the widest instructions that the processor has, once a block.
//!
//! Every function here is the function of the same name elsewhere, compiled three times. This and the
//! row operations of `kernels::isa` are the only unsafe code of the solver.
#![allow(unsafe_code)]

use std::sync::LazyLock;

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::Code;

use crate::context::{Block, Context};
use crate::exits::{self, Buffer, Exit, Right};
use crate::kernels::dense::{Frame, all_moves, pull};
use crate::kernels::isa::Portable;
#[cfg(target_arch = "x86_64")]
use crate::kernels::isa::x86::Avx512;
use crate::kernels::tables::{Tables, tables};
use crate::log::{ExitEvents, Log, PositionSet, Sorting};
use crate::passes::{self, Frontiers, Planes, Scratch};
use crate::target::{Reading, Target};
use crate::view::View;

/// What the processor offers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        static LEVEL: LazyLock<Level> = LazyLock::new(|| {
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vpopcntdq");
            let middle = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            match (wide && middle, middle) {
                (true, _) => Level::Avx512,
                (_, true) => Level::Avx2,
                _ => Level::Plain,
            }
        });
        *LEVEL
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static LEVEL: LazyLock<Level> = LazyLock::new(|| Level::Plain);
        *LEVEL
    }
}

macro_rules! for_processor {
    (
        $(#[$doc:meta])*
        fn $name:ident $(<$g:ident: $bound:path>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?,
        $plain:expr, $wide:expr
    ) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2 $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                $plain
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
            )]
            fn avx512 $(<$g: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                $wide
            }
            match level() {
                Level::Plain => $plain,
                // SAFETY: the processor has the features, `level` has looked.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}

for_processor! {
    /// See [`passes::legal_block`].
    fn legal_block(context: &Context<'_>, block: &Block, turn: Color, open: &mut [u64]),
    passes::legal_block(context, block, turn, open),
    passes::legal_block(context, block, turn, open)
}

for_processor! {
    /// See [`View::fetch`]. A function of its own, because it is large and called in many places.
    fn fetch_view<C: Code>(
        view: &View<'_>,
        tables: &Tables,
        placed: &[(usize, u8)],
        axes: &[usize],
        out: &mut [C],
    ),
    view.fetch::<Portable, C>(tables, placed, axes, out),
    view.fetch::<Avx512, C>(tables, placed, axes, out)
}

for_processor! {
    /// See [`Target::fetch_mixed`].
    fn fetch_mixed<C: Code>(
        target: &Target<'_>,
        tables: &Tables,
        placed: &[(usize, u8)],
        axes: &[usize],
        out: &mut [C],
        spare: &mut Vec<C>,
        reading: Reading,
    ),
    target.fetch_mixed::<Portable, C>(tables, placed, axes, out, spare, reading),
    target.fetch_mixed::<Avx512, C>(tables, placed, axes, out, spare, reading)
}

for_processor! {
    /// See [`passes::exit_block`].
    fn exit_block<C: Code>(
        context: &Context<'_>,
        block: &Block,
        turn: Color,
        exits: &[Exit<'_>],
        open: &[u64],
        held: &mut [u64],
        must_capture: &mut [u64],
        best: &mut Vec<C>,
        buffer: &mut Buffer<C>,
        sorting: &mut Sorting,
    ) -> ExitEvents,
    passes::exit_block::<Portable, C>(
        context, block, turn, exits, open, held, must_capture, best, buffer, sorting
    ),
    passes::exit_block::<Avx512, C>(
        context, block, turn, exits, open, held, must_capture, best, buffer, sorting
    )
}

for_processor! {
    /// See [`passes::win_block`].
    fn win_block(
        context: &Context<'_>,
        number: usize,
        color: Color,
        moves: u16,
        lost: PositionSet<'_>,
        losses: Frontiers<'_>,
        exit_wins: PositionSet<'_>,
        must_capture: &[u64],
        open: &mut [u64],
        wins: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::win_block(
        context, number, color, moves, lost, losses, exit_wins, must_capture, open, wins, scratch
    ),
    passes::win_block(
        context, number, color, moves, lost, losses, exit_wins, must_capture, open, wins, scratch
    )
}

for_processor! {
    /// See [`passes::loss_block`].
    fn loss_block(
        context: &Context<'_>,
        number: usize,
        color: Color,
        moves: u16,
        wins: Frontiers<'_>,
        exit_losses: PositionSet<'_>,
        must_capture: &[u64],
        mine: &[u64],
        goal: Planes<'_>,
        held: &mut [u64],
        losses: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::loss_block(
        context, number, color, moves, wins, exit_losses, must_capture, mine, goal, held, losses,
        scratch
    ),
    passes::loss_block(
        context, number, color, moves, wins, exit_losses, must_capture, mine, goal, held, losses,
        scratch
    )
}

for_processor! {
    /// See [`passes::mate_block`].
    fn mate_block(
        context: &Context<'_>,
        number: usize,
        color: Color,
        mine: &[u64],
        goal: Planes<'_>,
        held: &mut [u64],
        must_capture: &[u64],
        spared: &mut [u64],
        stalemates: &mut [u64],
        losses: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::mate_block(
        context, number, color, mine, goal, held, must_capture, spared, stalemates, losses,
        scratch
    ),
    passes::mate_block(
        context, number, color, mine, goal, held, must_capture, spared, stalemates, losses,
        scratch
    )
}

for_processor! {
    /// See [`passes::write_block`].
    fn write_block<C: Code>(open: &[u64], decided: &[(C, PositionSet<'_>)], codes: &mut [C]),
    passes::write_block::<Portable, C>(open, decided, codes),
    passes::write_block::<Avx512, C>(open, decided, codes)
}

for_processor! {
    /// See [`passes::count_block`].
    fn count_block<C: Code>(
        context: &Context<'_>,
        number: usize,
        color: Color,
        exits: [&[Exit<'_>]; 2],
        positions: &[u64],
        bound: &[u64],
        goal: Planes<'_>,
        buffer: &mut Buffer<C>,
        scratch: &mut Scratch,
    ) -> [u64; 2],
    passes::count_block::<Portable, C>(
        context, number, color, exits, positions, bound, goal, buffer, scratch
    ),
    passes::count_block::<Avx512, C>(
        context, number, color, exits, positions, bound, goal, buffer, scratch
    )
}

for_processor! {
    /// See [`exits::count_captures`].
    fn count_captures<C: Code>(
        context: &Context<'_>,
        block: &Block,
        taker: Color,
        captures: &[Target<'_>],
        positions: &[u64],
        buffer: &mut Buffer<C>,
    ) -> u64,
    exits::count_captures::<Portable, C>(context, block, taker, captures, positions, buffer),
    exits::count_captures::<Avx512, C>(context, block, taker, captures, positions, buffer)
}

for_processor! {
    /// See [`passes::right_block`].
    fn right_block<C: Code>(
        context: &Context<'_>,
        number: usize,
        right: &Right<'_>,
        plain: &[C],
        stuck: &[u64],
        must_capture: &[u64],
        codes: &mut [C],
        buffer: &mut Buffer<C>,
    ),
    passes::right_block::<Portable, C>(
        context, number, right, plain, stuck, must_capture, codes, buffer
    ),
    passes::right_block::<Avx512, C>(
        context, number, right, plain, stuck, must_capture, codes, buffer
    )
}

for_processor! {
    /// See [`passes::capture_block`].
    fn capture_block<C: Code>(
        context: &Context<'_>,
        block: &Block,
        taker: Color,
        captures: (&[Target<'_>], Reading),
        positions: &[u64],
        best: &mut Vec<C>,
        buffer: &mut Buffer<C>,
    ) -> Vec<u64>,
    passes::capture_block::<Portable, C>(
        context, block, taker, captures, positions, best, buffer
    ),
    passes::capture_block::<Avx512, C>(context, block, taker, captures, positions, best, buffer)
}

for_processor! {
    /// See [`all_moves`].
    fn move_block(
        frame: Frame,
        men: &[(usize, Role)],
        lane: Option<Role>,
        from: &[u64],
        out: &mut [u64],
    ),
    all_moves(tables(), frame, men, lane, from, out),
    all_moves(tables(), frame, men, lane, from, out)
}

for_processor! {
    /// See [`pull`].
    fn pull_block(frame: Frame, symmetry: Symmetry, from: &[u64], out: &mut [u64]),
    pull(tables(), frame, symmetry, from, out),
    pull(tables(), frame, symmetry, from, out)
}

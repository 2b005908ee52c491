//! Chooses the widest instructions that the processor has, once a block.
//!
//! Every function here is the function of the same name elsewhere, compiled three times. This and the
//! row operations of `kernels::isa` are the only unsafe code of the solver.
#![allow(unsafe_code)]

use std::sync::LazyLock;

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::Code;

use crate::blocks::Block;
use crate::context::Context;
use crate::counting::{self, CountedPositions};
use crate::exits::{self, Exit, Right};
use crate::kernels::dense::{Frame, all_moves, pull};
use crate::kernels::isa::Portable;
#[cfg(target_arch = "x86_64")]
use crate::kernels::isa::x86::Avx512;
use crate::kernels::tables::tables;
use crate::log::{ExitEvents, Log, PositionSet};
use crate::passes::{self, BlockTask, LossSources, MatePlanes, Planes, Scratch, WinSources};
use crate::target::{Reading, Target};
use crate::valuation::{self, ExitPlanes, ExitRoom, WithoutRight};
use crate::view::{View, Wanted};

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
    /// See [`valuation::legal_block`].
    fn legal_block(context: &Context<'_>, block: &Block, turn: Color, open: &mut [u64]),
    valuation::legal_block(context, block, turn, open),
    valuation::legal_block(context, block, turn, open)
}

for_processor! {
    /// See [`View::fetch`]. A function of its own, because it is large and called in many places.
    fn fetch_view<C: Code>(view: &View<'_>, wanted: Wanted<'_>, out: &mut [C]),
    view.fetch::<Portable, C>(wanted, out),
    view.fetch::<Avx512, C>(wanted, out)
}

for_processor! {
    /// See [`Target::fetch_mixed`].
    fn fetch_mixed<C: Code>(
        target: &Target<'_>,
        wanted: Wanted<'_>,
        reading: Reading,
        out: &mut [C],
        spare: &mut Vec<C>,
    ),
    target.fetch_mixed::<Portable, C>(wanted, reading, out, spare),
    target.fetch_mixed::<Avx512, C>(wanted, reading, out, spare)
}

for_processor! {
    /// See [`valuation::exit_block`].
    fn exit_block<C: Code>(
        task: BlockTask<'_>,
        exits: &[Exit<'_>],
        open: &[u64],
        planes: ExitPlanes<'_>,
        room: &mut ExitRoom<C>,
    ) -> ExitEvents,
    valuation::exit_block::<Portable, C>(task, exits, open, planes, room),
    valuation::exit_block::<Avx512, C>(task, exits, open, planes, room)
}

for_processor! {
    /// See [`passes::win_block`].
    fn win_block(
        task: BlockTask<'_>,
        moves: u16,
        from: &WinSources<'_>,
        open: &mut [u64],
        wins: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::win_block(task, moves, from, open, wins, scratch),
    passes::win_block(task, moves, from, open, wins, scratch)
}

for_processor! {
    /// See [`passes::loss_block`].
    fn loss_block(
        task: BlockTask<'_>,
        moves: u16,
        from: &LossSources<'_>,
        held: &mut [u64],
        losses: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::loss_block(task, moves, from, held, losses, scratch),
    passes::loss_block(task, moves, from, held, losses, scratch)
}

for_processor! {
    /// See [`passes::mate_block`].
    fn mate_block(
        task: BlockTask<'_>,
        open: &[u64],
        goal: Planes<'_>,
        planes: MatePlanes<'_>,
        losses: &mut Log,
        scratch: &mut Scratch,
    ),
    passes::mate_block(task, open, goal, planes, losses, scratch),
    passes::mate_block(task, open, goal, planes, losses, scratch)
}

for_processor! {
    /// See [`valuation::write_block`].
    fn write_block<C: Code>(open: &[u64], decided: &[(C, PositionSet<'_>)], codes: &mut [C]),
    valuation::write_block::<Portable, C>(open, decided, codes),
    valuation::write_block::<Avx512, C>(open, decided, codes)
}

for_processor! {
    /// See [`counting::count_block`].
    fn count_block<C: Code>(
        task: BlockTask<'_>,
        exits: [&[Exit<'_>]; 2],
        counted: &CountedPositions<'_>,
        room: &mut ExitRoom<C>,
        scratch: &mut Scratch,
    ) -> [u64; 2],
    counting::count_block::<Portable, C>(task, exits, counted, room, scratch),
    counting::count_block::<Avx512, C>(task, exits, counted, room, scratch)
}

for_processor! {
    /// See [`exits::count_captures`].
    fn count_captures<C: Code>(
        task: BlockTask<'_>,
        captures: &[Target<'_>],
        positions: &[u64],
        room: &mut ExitRoom<C>,
    ) -> u64,
    exits::count_captures::<Portable, C>(task, captures, positions, room),
    exits::count_captures::<Avx512, C>(task, captures, positions, room)
}

for_processor! {
    /// See [`valuation::right_block`].
    fn right_block<C: Code>(
        task: BlockTask<'_>,
        right: &Right<'_>,
        without: &WithoutRight<'_, C>,
        codes: &mut [C],
        room: &mut ExitRoom<C>,
    ),
    valuation::right_block::<Portable, C>(task, right, without, codes, room),
    valuation::right_block::<Avx512, C>(task, right, without, codes, room)
}

for_processor! {
    /// See [`valuation::capture_block`].
    fn capture_block<C: Code>(
        task: BlockTask<'_>,
        captures: &[Target<'_>],
        reading: Reading,
        positions: &[u64],
        room: &mut ExitRoom<C>,
    ) -> Vec<u64>,
    valuation::capture_block::<Portable, C>(task, captures, reading, positions, room),
    valuation::capture_block::<Avx512, C>(task, captures, reading, positions, room)
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

//! A probe that memory answers allocates nothing.
#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hoffman::{Options, Position, Profile, Tablebase};

/// Counts what its thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the allocator of the system as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_probe_allocates_nothing() {
    expect_no_allocations(|options| options.blocks(false), true);
}

#[test]
fn nor_does_one_in_the_block_format() {
    expect_no_allocations(|options| options.profile(Profile::Fast), true);
}

/// What such files do not store follows from other files, so memory alone has no answer.
#[test]
fn nor_does_one_in_a_small_file() {
    expect_no_allocations(|options| options, false);
}

/// `in_memory`: whether memory alone answers then.
fn expect_no_allocations(files: impl FnOnce(Options) -> Options, in_memory: bool) {
    let folder = tempfile::tempdir().unwrap();
    let options = files(Options::new(folder.path()));
    hoffman::build(&["KRPvK".parse().unwrap()], &options, &mut |_| {}).unwrap();
    let tables = Tablebase::open(folder.path()).unwrap();
    for fen in [
        "8/8/8/5k2/8/8/1R2P3/K7 w - - 0 1",
        "8/8/8/5k2/8/8/1R2P3/K7 b - - 0 1",
        "8/8/8/5k2/4P3/8/1Q6/K7 b - e3 0 1",
        "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1",
        "8/8/8/4r3/5K2/8/8/k7 w - - 0 1",
    ] {
        let Ok(setup) = fen.parse::<hoffman::shakmaty::fen::Fen>() else { panic!("{fen}") };
        let position = Position::from(&setup.into_setup());
        let Ok(first) = tables.probe(&position) else { continue };
        let before = ALLOCATIONS.get();
        let warm = tables.probe(&position).unwrap();
        let value = tables.value(&position).unwrap();
        let cached = tables.probe_cached(&position).unwrap();
        let made = ALLOCATIONS.get() - before;
        assert_eq!((warm.value, value), (first.value, first.value));
        assert!(cached.as_ref().is_none_or(|cached| cached.value == first.value), "{fen}");
        assert_eq!(cached.is_some(), in_memory, "{fen}");
        assert_eq!(made, 0, "{fen}");
    }
}

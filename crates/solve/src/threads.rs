//! How work is shared between threads, and the room that each of them has.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;

use hoffman_space::Code;

use crate::exit_values::ExitRoom;
use crate::passes::Scratch;

/// From how many rows on a slice is worth being shared between threads.
pub(crate) const PARALLEL_ROWS: usize = 16_384;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's scratch room.
pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}

/// How many blocks a thread takes at once: all of them where sharing does not pay.
pub(crate) fn share(parallel: bool, blocks: usize) -> usize {
    if parallel { (blocks / 256).max(1) } else { blocks.max(1) }
}

/// Runs `f` with this thread's room for evaluating exits with codes `C`.
pub(crate) fn with_exit_room<C: Code, R>(f: impl FnOnce(&mut ExitRoom<C>) -> R) -> R {
    thread_local! {
        static ROOMS: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
    }
    ROOMS.with_borrow_mut(|rooms| {
        let new = || Box::new(ExitRoom::<C>::new()) as Box<dyn Any>;
        let room = rooms.entry(TypeId::of::<C>()).or_insert_with(new);
        f(room.downcast_mut::<ExitRoom<C>>().expect("the room of this width"))
    })
}

//! The threads that a table is worth.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// A table with fewer positions than this is made by the thread that asks for it. It takes some
/// tenths of a second, and the cores of a machine are often halves of one: side by side their
/// threads take up to a quarter more processor time, not counting what it takes to start them.
const WORTH_THREADS: u64 = 1 << 25;

/// How many threads the machine runs at a time, as far as this process may use it. Nothing else is
/// listened to, such as variables for the library that runs them.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads that are started when there is a table that is worth them; clones are the same threads.
/// For callers outside of any pool, or in a pool that has nothing else to do.
#[derive(Clone)]
pub struct Threads(Arc<Shared>);

struct Shared {
    count: usize,
    stack: usize,
    /// None if they could not be started.
    pool: OnceLock<Option<ThreadPool>>,
}

impl Threads {
    /// That many, with so many bytes of stack each.
    pub fn new(count: usize, stack: usize) -> Threads {
        Threads(Arc::new(Shared { count, stack, pool: OnceLock::new() }))
    }

    /// Does work on all threads. If the system has none, it is done on the caller's.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Shared { count, stack, pool } = &*self.0;
        let start = || {
            let builder = ThreadPoolBuilder::new().num_threads(*count).stack_size(*stack);
            builder.build().inspect_err(|error| tracing::warn!(%error, "no threads")).ok()
        };
        match pool.get_or_init(start) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Does the work of a table with so many positions.
    pub(crate) fn install_if_worth<R: Send>(
        &self,
        positions: u64,
        work: impl FnOnce() -> R + Send,
    ) -> R {
        if positions < WORTH_THREADS { work() } else { self.install(work) }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Threads").field(&self.0.count).finish()
    }
}

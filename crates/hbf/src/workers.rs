//! Threads that work side by side; which ones, the caller says.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Threads for the blocks of a file.
pub trait Workers: Sync {
    /// How many there are.
    fn threads(&self) -> usize;

    /// Calls `work` once with each number below `count`, in any order and side by side.
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync));
}

/// So many threads, which live as long as a call; one is the caller's own.
#[derive(Clone, Copy, Debug)]
pub struct WorkerThreads(pub usize);

impl Workers for WorkerThreads {
    fn threads(&self) -> usize {
        self.0.max(1)
    }

    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work_on = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                work(number);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.0.min(count) {
                scope.spawn(work_on);
            }
            work_on();
        });
    }
}

/// Who watches the work on a file.
pub trait WorkWatch: Sync {
    /// Asked between blocks whether to stop.
    fn stops(&self) -> bool {
        false
    }

    /// Told how many tiles or entries are done, of how many.
    fn done(&self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// Nobody watches.
impl WorkWatch for () {}

/// Who works on a file, and who watches.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    /// The threads.
    pub workers: &'a dyn Workers,
    /// Who is told, and may stop it.
    pub watch: &'a dyn WorkWatch,
}

impl std::fmt::Debug for Crew<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("threads", &self.workers.threads()).finish_non_exhaustive()
    }
}

impl Crew<'static> {
    /// The thread of the caller, and nobody watches.
    pub const ALONE: Crew<'static> = Crew { workers: &WorkerThreads(1), watch: &() };
}

/// The caller asked to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

/// Blocks for each thread that are finished before any of them is taken.
const BATCH: usize = 8;

/// As many of all threads, at least: the fewer there are, the longer they wait for the last one.
const LEAST: usize = 64;

/// What becomes of things, in their order; they are worked on side by side.
pub(crate) fn map_all<T: Send, R: Send>(
    workers: &dyn Workers,
    things: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let places = things.into_iter().map(|thing| Mutex::new((Some(thing), None)));
    let places: Vec<Mutex<(Option<T>, Option<R>)>> = places.collect();
    let place = |at: usize| places[at].lock().unwrap_or_else(PoisonError::into_inner);
    workers.run(places.len(), &|at| {
        let thing = place(at).0.take();
        if let Some(thing) = thing {
            let made = work(thing);
            place(at).1 = Some(made);
        }
    });
    let made = places.into_iter().map(|p| p.into_inner().unwrap_or_else(PoisonError::into_inner).1);
    made.flatten().collect()
}

/// Makes things with these numbers and hands them on in order, some at a time.
pub(crate) fn in_order<T: Send, E: Send + From<Stopped>>(
    crew: Crew<'_>,
    count: u64,
    make: impl Fn(u64) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let size = (crew.workers.threads() * BATCH).max(LEAST) as u64;
    let mut first = 0;
    while first < count {
        let failed = AtomicBool::new(false);
        let numbers: Vec<u64> = (first..count.min(first + size)).collect();
        first += numbers.len() as u64;
        let made = map_all(crew.workers, numbers, |number| {
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let result = if crew.watch.stops() { Err(Stopped.into()) } else { make(number) };
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            Some(result)
        });
        let results: Vec<_> = made.into_iter().flatten().collect();
        // Behind an error there may be gaps.
        if failed.into_inner() {
            let error = results.into_iter().find_map(Result::err);
            return Err(error.unwrap_or_else(|| Stopped.into()));
        }
        for result in results {
            take(result?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::EncodeError;

    /// Stops at once.
    struct Stops;

    impl WorkWatch for Stops {
        fn stops(&self) -> bool {
            true
        }
    }

    #[test]
    fn things_come_in_order_or_not_at_all() {
        for threads in [1, 3] {
            let workers = WorkerThreads(threads);
            let crew = Crew { workers: &workers, ..Crew::ALONE };
            let mut taken = Vec::new();
            let square = |number: u64| Ok(number * number);
            in_order(crew, 100, square, |n| {
                taken.push(n);
                Ok(())
            })
            .expect("no error");
            assert_eq!(taken, (0..100).map(|n| n * n).collect::<Vec<_>>());

            let stops = |number: u64| match number {
                70 => Err(EncodeError::Entries("seventy")),
                number => Ok(number),
            };
            let error = in_order(crew, 100, stops, |_| Ok(())).unwrap_err();
            assert_eq!(error.to_string(), "seventy");
            let crew = Crew { watch: &Stops, ..crew };
            let stopped = in_order(crew, 100, square, |_| Ok(())).unwrap_err();
            assert!(matches!(stopped, EncodeError::Stopped));
        }
    }
}

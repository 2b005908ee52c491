//! What long work tells its caller, and how the caller stops it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hoffman_reader::{ReadOptions, Tablebase};
use hoffman_run::{PassReport, Phase, Progress, Stop};

use crate::build::Made;

/// Something that happened in a run. Events own what they carry, so they can be sent to other
/// threads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// So much work lies ahead, in positions to be solved.
    Begin {
        /// Positions.
        work: u64,
    },
    /// Work on a table begins.
    Table {
        /// Its file, without folder.
        name: String,
    },
    /// What is being done now.
    Phase(Phase),
    /// A slice looks for what is won or lost in so many moves.
    Pass {
        /// Moves.
        moves: u16,
    },
    /// A slice is through with what is won or lost in so many moves.
    Passed(PassReport),
    /// So much of the work is done.
    Done {
        /// Positions.
        work: u64,
    },
    /// So much of the work was done before, or by others.
    Skipped {
        /// Positions.
        work: u64,
    },
    /// Everything is solved: the tables can be asked, though files may still have to be written.
    Solved(Tablebase),
    /// A table is finished and, if it was to be written, written.
    Finished {
        /// Its file, without folder.
        name: String,
    },
    /// A file was there already, intact, and is kept.
    Kept {
        /// The file.
        path: PathBuf,
    },
    /// What is known of a table that was made, once all that it was made with is done.
    Made(Made),
    /// Of the entries that are checked or converted so many are done.
    Entries {
        /// How many are done.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// A remark for the user.
    Notice {
        /// One sentence.
        text: String,
    },
}

/// A request to stop; clones are the same request. Work stops at the next safe point, what is
/// solved of an unfinished table is saved, and the same call goes on from there.
#[derive(Clone, Debug, Default)]
pub struct Cancel(pub(crate) Stop);

impl Cancel {
    /// One that was not asked for yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks for it.
    pub fn cancel(&self) {
        self.0.request();
    }

    /// Reading that ends when it is asked for, with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn reading(&self, reading: ReadOptions) -> ReadOptions {
        reading.stop(self.0.clone())
    }

    /// Whether it was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_requested()
    }
}

/// Hands what a run tells, from whatever thread, to one listener.
pub(crate) struct Relay<'l> {
    listener: Mutex<&'l mut (dyn FnMut(Event) + Send)>,
}

impl<'l> Relay<'l> {
    pub(crate) fn new(listener: &'l mut (dyn FnMut(Event) + Send)) -> Relay<'l> {
        Relay { listener: Mutex::new(listener) }
    }

    pub(crate) fn tell(&self, event: Event) {
        let mut listener: MutexGuard<'_, _> =
            self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        listener(event);
    }
}

impl Progress for Relay<'_> {
    fn begin(&self, work: u64) {
        self.tell(Event::Begin { work });
    }

    fn table(&self, name: &str) {
        self.tell(Event::Table { name: name.to_owned() });
    }

    fn phase(&self, phase: Phase) {
        self.tell(Event::Phase(phase));
    }

    fn pass(&self, moves: u16) {
        self.tell(Event::Pass { moves });
    }

    fn passed(&self, report: &PassReport) {
        self.tell(Event::Passed(*report));
    }

    fn slice(&self, work: u64) {
        self.tell(Event::Done { work });
    }

    fn skip(&self, work: u64) {
        self.tell(Event::Skipped { work });
    }

    fn finished(&self, name: &str) {
        self.tell(Event::Finished { name: name.to_owned() });
    }

    fn notice(&self, text: &str) {
        self.tell(Event::Notice { text: text.to_owned() });
    }
}

//! What a run tells its caller while it works.

use hoffman_solve::PassReport;

/// Receives events of a run, from any thread. Work is measured in positions to be solved.
pub trait Progress: Sync {
    /// That much work lies ahead.
    fn begin(&self, work: u64) {
        let _ = work;
    }
    /// Work on a table begins.
    fn table(&self, name: &str) {
        let _ = name;
    }
    /// What is being done now.
    fn phase(&self, phase: Phase) {
        let _ = phase;
    }
    /// A slice looks for what is won or lost in so many moves.
    fn pass(&self, moves: u16) {
        let _ = moves;
    }
    /// A pass over a slice is over.
    fn passed(&self, report: &PassReport) {
        let _ = report;
    }
    /// That much of the work is done.
    fn slice(&self, work: u64) {
        let _ = work;
    }
    /// That much of the work was done before, or by others.
    fn skip(&self, work: u64) {
        let _ = work;
    }
    /// A table is finished and, if it was to be written, written.
    fn finished(&self, name: &str) {
        let _ = name;
    }
    /// A remark for the user.
    fn notice(&self, text: &str) {
        let _ = text;
    }
}

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Files that are there are looked through.
    Checking,
    /// Tables are read that the next one needs.
    Reading,
    /// Values are computed.
    Solving,
    /// Nothing, until other processes that solve the same ending have told what they know.
    Waiting,
    /// A table is encoded, compressed and written.
    Writing,
}

impl Phase {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Checking => "checking",
            Phase::Reading => "reading",
            Phase::Solving => "solving",
            Phase::Waiting => "waiting",
            Phase::Writing => "writing",
        }
    }
}

/// Tells nothing.
pub struct Silent;

impl Progress for Silent {}

/// Tells what is done, as work that does not count.
pub(crate) struct Uncounted<'p>(pub(crate) &'p dyn Progress);

impl Progress for Uncounted<'_> {
    fn table(&self, name: &str) {
        self.0.table(name);
    }

    fn phase(&self, phase: Phase) {
        self.0.phase(phase);
    }

    fn pass(&self, moves: u16) {
        self.0.pass(moves);
    }

    fn passed(&self, report: &PassReport) {
        self.0.passed(report);
    }

    fn notice(&self, text: &str) {
        self.0.notice(text);
    }
}

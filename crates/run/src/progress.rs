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

/// Passes on what is done, and of the rest only a part.
pub(crate) struct Partly<'p> {
    to: &'p dyn Progress,
    counts: bool,
    remarks: bool,
}

impl<'p> Partly<'p> {
    /// Everything but remarks.
    pub(crate) fn without_remarks(to: &'p dyn Progress) -> Partly<'p> {
        Partly { to, counts: true, remarks: false }
    }

    /// As work that does not count.
    pub(crate) fn uncounted(to: &'p dyn Progress) -> Partly<'p> {
        Partly { to, counts: false, remarks: true }
    }

    fn counting(&self) -> &dyn Progress {
        if self.counts { self.to } else { &Silent }
    }
}

impl Progress for Partly<'_> {
    fn begin(&self, work: u64) {
        self.counting().begin(work);
    }

    fn table(&self, name: &str) {
        self.to.table(name);
    }

    fn phase(&self, phase: Phase) {
        self.to.phase(phase);
    }

    fn pass(&self, moves: u16) {
        self.to.pass(moves);
    }

    fn passed(&self, report: &PassReport) {
        self.to.passed(report);
    }

    fn slice(&self, work: u64) {
        self.counting().slice(work);
    }

    fn skip(&self, work: u64) {
        self.counting().skip(work);
    }

    fn finished(&self, name: &str) {
        self.counting().finished(name);
    }

    fn notice(&self, text: &str) {
        if self.remarks {
            self.to.notice(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Notes what it is told.
    #[derive(Default)]
    struct Told(Mutex<Vec<&'static str>>);

    impl Progress for Told {
        fn begin(&self, _: u64) {
            self.0.lock().unwrap().push("begin");
        }
        fn table(&self, _: &str) {
            self.0.lock().unwrap().push("table");
        }
        fn slice(&self, _: u64) {
            self.0.lock().unwrap().push("slice");
        }
        fn finished(&self, _: &str) {
            self.0.lock().unwrap().push("finished");
        }
        fn notice(&self, _: &str) {
            self.0.lock().unwrap().push("notice");
        }
    }

    #[test]
    fn a_part_is_passed_on() {
        let told = |counts: bool| {
            let told = Told::default();
            let part =
                if counts { Partly::without_remarks(&told) } else { Partly::uncounted(&told) };
            part.begin(1);
            part.table("a");
            part.slice(1);
            part.finished("a");
            part.notice("b");
            told.0.into_inner().unwrap()
        };
        assert_eq!(told(true), ["begin", "table", "slice", "finished"]);
        assert_eq!(told(false), ["table", "notice"]);
    }
}

//! Runs that are told to stop while futurebases are read, entries made and files written.

use std::path::Path;
use std::sync::Mutex;

use crate::common::{entries, promotion, workplace};
use hoffman_plan::{Graph, complete};
use hoffman_run::{
    Phase, Progress, RunError, RunOptions, Stop, Workplace, build_endings, generate,
};
use hoffman_store::Simulated;

/// When a run is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Never,
    /// Before the futurebase of this name is read.
    Reading(&'static str),
    /// When all is solved, before entries are made.
    Writing,
}

/// Stops a run at a moment, and listens to its remarks.
struct Listener {
    moment: Moment,
    stop: Stop,
    notices: Mutex<Vec<String>>,
}

impl Progress for Listener {
    fn table(&self, name: &str) {
        if self.moment == Moment::Reading(name_of(name)) {
            self.stop.request();
        }
    }

    fn phase(&self, phase: Phase) {
        if phase == Phase::Writing && self.moment == Moment::Writing {
            self.stop.request();
        }
    }

    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.to_owned());
    }
}

/// A name that lives as long as moments do.
fn name_of(name: &str) -> &'static str {
    ["t/kqk.htb", "t/krk.htb"].into_iter().find(|known| *known == name).unwrap_or("")
}

/// Where a run works: in memory or in pages, with a checkpoint if it is stopped.
fn place(storage: &Simulated, pages: Option<usize>) -> Workplace {
    Workplace { pages, ..workplace(storage, true) }
}

/// A run of its own, and what it said.
fn attempt(
    place: Workplace,
    moment: Moment,
    run: impl Fn(&Workplace, &dyn Progress) -> Result<(), RunError> + Send + Sync,
) -> (Result<(), RunError>, Vec<String>) {
    let place = Workplace { stop: Stop::default(), ..place };
    let listener = Listener { moment, stop: place.stop.clone(), notices: Mutex::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let result = pool.install(|| run(&place, &listener));
    (result, listener.notices.into_inner().unwrap())
}

fn carry_out(place: &Workplace, progress: &dyn Progress) -> Result<(), RunError> {
    let options = RunOptions::new(progress, place.clone());
    generate(Path::new("t/c.xml"), None, &options).map(drop)
}

fn build_one(place: &Workplace, progress: &dyn Progress) -> Result<(), RunError> {
    let options = RunOptions::new(progress, place.clone());
    let jobs = complete(["KPvK".parse().unwrap()]);
    build_endings(&Graph::of_endings(&jobs, Path::new("t")), &options).map(drop)
}

#[test]
fn reading_stops_and_leaves_nothing() {
    for pages in [None, Some(1 << 20)] {
        for name in ["t/kqk.htb", "t/krk.htb"] {
            let storage = promotion();
            let before = storage.names();
            let (result, _) = attempt(place(&storage, pages), Moment::Reading(name), carry_out);
            let error = result.unwrap_err();
            assert!(matches!(error, RunError::Interrupted { checkpoint: None }), "{error}");
            assert_eq!(storage.names(), before, "{name}, pages {pages:?}");
        }
    }
}

/// The same storage with a control file for another format.
fn with_format(storage: Simulated, format: &str) -> Simulated {
    let name = Path::new("t/c.xml");
    let text = String::from_utf8(storage.contents(name).unwrap()).unwrap();
    storage.put(name, text.replace("<dtm/>", format).as_bytes());
    storage
}

#[test]
fn writing_stops_and_what_is_solved_is_kept() {
    let formats = ["<dtm/>", "<basic/>"];
    for (format, pages) in formats.into_iter().flat_map(|f| [(f, None), (f, Some(1 << 20))]) {
        let whole = with_format(promotion(), format);
        attempt(place(&whole, pages), Moment::Never, carry_out).0.unwrap();

        let storage = with_format(promotion(), format);
        let (result, _) = attempt(place(&storage, pages), Moment::Writing, carry_out);
        let RunError::Interrupted { checkpoint: Some(checkpoint) } = result.unwrap_err() else {
            panic!("nothing is kept, {format}, pages {pages:?}");
        };
        assert!(storage.contents(&checkpoint).is_some());
        assert!(storage.contents(Path::new("t/b7.htb")).is_none());

        let (result, notices) = attempt(place(&storage, pages), Moment::Never, carry_out);
        result.unwrap();
        assert!(notices.iter().any(|n| n.contains("going on with 2 of 2 slices")), "{notices:?}");
        let table = Path::new("t/b7.htb");
        assert_eq!(entries(&storage, table), entries(&whole, table), "{format}");
        assert_eq!(storage.names(), whole.names());
    }
}

#[test]
fn building_stops_while_it_writes() {
    for pages in [None, Some(1 << 20)] {
        let storage = Simulated::default();
        let (result, _) = attempt(place(&storage, pages), Moment::Writing, build_one);
        let error = result.unwrap_err();
        assert!(matches!(error, RunError::Interrupted { .. }), "{error}");
        let tables = |storage: &Simulated| {
            let named = storage.names().into_iter();
            named.filter(|name| name.extension().is_some_and(|e| e == "htb")).count()
        };
        assert_eq!(tables(&storage), 0);

        attempt(place(&storage, pages), Moment::Never, build_one).0.unwrap();
        let whole = Simulated::default();
        attempt(place(&whole, None), Moment::Never, build_one).0.unwrap();
        assert_eq!(storage.names(), whole.names());
        for name in whole.names() {
            assert_eq!(entries(&storage, &name), entries(&whole, &name));
        }
    }
}

//! Long work: solving, building, analyses.
//!
//! It runs in a thread of its own. The thread that called hands on what it tells and looks for
//! signals; when one of both raises an exception, the work is cancelled, and the exception goes on
//! when it has stopped.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hoffman::{AsPosition as _, Content, OpenOptions, Options, Profile, Target, Variant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::Answer;
use crate::errors::{raised, unanswered};
use crate::event::{Cancel, Tally};
use crate::position::fen_of;
use crate::tablebase::Tablebase;

/// How long a signal may wait.
const SOON: Duration = Duration::from_millis(50);

/// Where and how work is done; what the functions of the package collect.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings<'py> {
    dir: Option<PathBuf>,
    memory: Option<u64>,
    threads: usize,
    hbf: bool,
    /// What files of the block format have, if somebody asked: `fast`, `small` or `paired`.
    profile: Option<String>,
    /// Which values: `distances`, `both` (these and who wins apart) or `outcomes`.
    content: String,
    progress: Option<Bound<'py, PyAny>>,
    cancel: Option<Py<Cancel>>,
    /// The command that the headers of tables name.
    program: String,
}

impl Settings<'_> {
    fn options(&self, cancel: &hoffman::Cancel) -> PyResult<Options> {
        let options = match &self.dir {
            Some(dir) => Options::new(dir),
            None => Options::without_folder(),
        };
        let options = options.threads(self.threads).blocks(self.hbf).program(&self.program);
        let options = self.profile()?.into_iter().fold(options, Options::profile);
        let options = options.content(self.content());
        let options = options.cancel(cancel.clone());
        Ok(match self.memory {
            Some(bytes) => options.memory(bytes),
            None => options,
        })
    }

    fn profile(&self) -> PyResult<Option<Profile>> {
        let profile = match self.profile.as_deref() {
            None => None,
            Some("fast") => Some(Profile::Fast),
            Some("small") => Some(Profile::Small),
            Some("smallest") => Some(Profile::Smallest),
            Some("paired") => Some(Profile::Paired),
            Some(other) => {
                let text = format!("'{other}' is no profile: 'fast', 'small', 'smallest' or 'paired'");
                return Err(PyValueError::new_err(text));
            }
        };
        if !self.hbf && (profile.is_some() || self.content() == Content::Both) {
            let text = "profile and outcomes are for the block format: hbf=True";
            return Err(PyValueError::new_err(text));
        }
        Ok(profile)
    }

    fn content(&self) -> Content {
        match self.content.as_str() {
            "both" => Content::Both,
            "outcomes" => Content::Outcomes,
            _ => Content::Distances,
        }
    }

    /// Does work, and what it had to remark.
    fn carry_out<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Options, &mut Listener<'_>) -> Result<R, hoffman::Error> + Send,
    ) -> PyResult<(R, Vec<String>)> {
        let given = self.cancel.as_ref().map(|cancel| cancel.get().0.clone());
        let cancel = given.unwrap_or_default();
        let options = self.options(&cancel)?;
        let (tell, told) = channel();
        let mut tally = Tally::default();
        let (problem, outcome) = std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let tell: Sender<hoffman::Event> = tell;
                // Nobody listens any more only when the caller is gone.
                work(&options, &mut |event| drop(tell.send(event)))
            });
            let problem = self.attend(py, &Mutex::new(told), &mut tally, &cancel);
            (problem, py.detach(|| worker.join()))
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        match outcome {
            Ok(outcome) => Ok((outcome.map_err(|error| raised(py, &error))?, tally.notices)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Hands on what work tells until it is done. The exception because of which it is cancelled.
    fn attend(
        &self,
        py: Python<'_>,
        told: &Mutex<Receiver<hoffman::Event>>,
        tally: &mut Tally,
        cancel: &hoffman::Cancel,
    ) -> Option<PyErr> {
        let mut problem = None;
        let next = || told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(SOON);
        loop {
            let heard = match py.detach(next) {
                Ok(event) => {
                    let event = tally.add(event);
                    let listener = self.progress.as_ref().filter(|_| problem.is_none());
                    listener.map_or(Ok(()), |listener| listener.call1((event,)).map(drop))
                }
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => return problem,
            };
            if let Err(error) = heard.and_then(|()| py.check_signals()) {
                cancel.cancel();
                problem.get_or_insert(error);
            }
        }
    }
}

/// What is told of work.
type Listener<'l> = dyn FnMut(hoffman::Event) + Send + 'l;

/// A table that was made.
#[pyclass(frozen, get_all, module = "hoffman")]
#[derive(Clone)]
pub(crate) struct Made {
    /// Its file, without folder.
    name: String,
    /// The file, if it was written.
    path: Option<PathBuf>,
    /// The longest win in moves with White and with Black to move, None of a side that never wins;
    /// of complete endings.
    longest_wins: Option<(Option<u16>, Option<u16>)>,
    /// Legal positions, if the table was written.
    legal: Option<u64>,
    /// Moves in them, if they were counted.
    moves: Option<u64>,
}

#[pymethods]
impl Made {
    fn __repr__(&self) -> String {
        format!("<Made {}>", self.name)
    }
}

/// What was made on the way.
#[pyclass(frozen, get_all, module = "hoffman")]
#[derive(Clone)]
pub(crate) struct Built {
    /// Tables that were made, in order.
    made: Vec<Made>,
    /// Files that were there already, intact.
    kept: Vec<PathBuf>,
    /// Remarks, a sentence each.
    notices: Vec<String>,
}

#[pymethods]
impl Built {
    fn __repr__(&self) -> String {
        format!("<Built: made {}, kept {}>", self.made.len(), self.kept.len())
    }
}

impl Built {
    fn new(built: hoffman::Built, notices: Vec<String>) -> Built {
        let made = built.made.into_iter().map(|made| Made {
            name: made.name,
            path: made.path,
            longest_wins: made.longest_wins.map(|[white, black]| (white, black)),
            legal: made.legal,
            moves: made.moves,
        });
        Built { made: made.collect(), kept: built.kept, notices }
    }

    /// The files of all tables, made or kept.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let made = self.made.iter().filter_map(|made| made.path.as_deref());
        self.kept.iter().map(PathBuf::as_path).chain(made)
    }
}

/// A position that was solved.
#[pyclass(frozen, get_all, module = "hoffman")]
pub(crate) struct Solved {
    /// What is known of the position.
    answer: Py<Answer>,
    /// The tables behind it, to be asked for other positions.
    tables: Py<Tablebase>,
    /// What was made on the way.
    built: Py<Built>,
}

#[pymethods]
impl Solved {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (answer, built) = (self.answer.bind(py).repr()?, self.built.bind(py).repr()?);
        Ok(format!("<Solved: {answer}, {built}>"))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.answer.bind(py).str()?.extract()
    }

    /// The board with an arrow for every move; None without python-chess.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.answer.bind(py).call_method0("_repr_svg_")?.extract()
    }
}

/// The tables of a control file.
#[pyclass(frozen, get_all, module = "hoffman")]
pub(crate) struct Analysis {
    /// The tables, and those beside them, to be asked for positions.
    tables: Py<Tablebase>,
    /// What was made.
    built: Py<Built>,
}

#[pymethods]
impl Analysis {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Analysis: {}>", self.built.bind(py).repr()?))
    }
}

/// Something that can be built.
#[derive(FromPyObject)]
pub(crate) enum Wanted {
    /// All endings of up to so many men.
    Men(u8),
    /// An ending, or a control file.
    Named(String),
    /// A control file.
    File(PathBuf),
}

impl Wanted {
    fn target(self) -> Result<Target, hoffman::Error> {
        match self {
            Wanted::Men(men) => Ok(Target::Men(men)),
            Wanted::Named(name) => name.parse(),
            Wanted::File(path) => Ok(Target::ControlFile(path)),
        }
    }
}

/// Answers a position, and makes what is missing for it. Without a folder nothing is written.
#[pyfunction]
pub(crate) fn solve_position(
    py: Python<'_>,
    position: &Bound<'_, PyAny>,
    settings: Settings<'_>,
) -> PyResult<Solved> {
    let position = fen_of(position)?.as_position(Variant::Normal).map(Cow::into_owned);
    let position = position.map_err(|error| unanswered(py, &error))?;
    let write = settings.dir.is_some();
    let (solved, notices) = settings.carry_out(py, |options, progress| {
        hoffman::solve(&position, &options.clone().write(write), progress)
    })?;
    let hoffman::Solved { answer, tables, built, .. } = solved;
    Ok(Solved {
        answer: Py::new(py, Answer::new(&tables, position, answer))?,
        tables: Py::new(py, Tablebase::of(tables))?,
        built: Py::new(py, Built::new(built, notices))?,
    })
}

/// Makes tables with all that they depend on, and keeps what is there.
#[pyfunction]
pub(crate) fn build_targets(
    py: Python<'_>,
    targets: Vec<Wanted>,
    settings: Settings<'_>,
) -> PyResult<Built> {
    let targets = targets.into_iter().map(Wanted::target).collect::<Result<Vec<_>, _>>();
    let targets = targets.map_err(|error| raised(py, &error))?;
    let (built, notices) =
        settings.carry_out(py, |options, progress| hoffman::build(&targets, options, progress))?;
    Ok(Built::new(built, notices))
}

/// Makes the tables of a control file.
#[pyfunction]
pub(crate) fn analyse_file(
    py: Python<'_>,
    control: PathBuf,
    settings: Settings<'_>,
) -> PyResult<Analysis> {
    let targets = [Target::ControlFile(control)];
    let (built, notices) =
        settings.carry_out(py, |options, progress| hoffman::build(&targets, options, progress))?;
    let built = Built::new(built, notices);
    let open = built.files().fold(OpenOptions::new().beside(true), OpenOptions::file);
    let open = settings.dir.iter().fold(open, OpenOptions::folder);
    let tables = py.detach(|| Tablebase::open(open)).map_err(|error| unanswered(py, &error))?;
    Ok(Analysis { tables: Py::new(py, tables)?, built: Py::new(py, built)? })
}

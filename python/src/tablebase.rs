//! Folders of tables that answer positions.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use hoffman::OpenOptions;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::{Answer, MoveAnswer, bound_name, line_of, moves_of, text_of};
use crate::arrays::{dtm_of, wdl_of};
use crate::batch::Batch;
use crate::errors::{exception, raised, unanswered};
use crate::position::position_of;

/// Tables that answer positions. Any number of threads may ask.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Tablebase {
    open: RwLock<Open>,
}

struct Open {
    /// None when it is closed.
    tables: Option<hoffman::Tablebase>,
    /// Of what it consists, if folders can be added.
    options: Option<OpenOptions>,
}

impl Tablebase {
    /// Exactly these tables.
    pub(crate) fn of(tables: hoffman::Tablebase) -> Tablebase {
        Tablebase { open: RwLock::new(Open { tables: Some(tables), options: None }) }
    }

    /// Tables to which folders can be added.
    pub(crate) fn open(options: OpenOptions) -> Result<Tablebase, hoffman::ProbeError> {
        let open = Open { tables: Some(options.open()?), options: Some(options) };
        Ok(Tablebase { open: RwLock::new(open) })
    }

    /// The tables, unless they are closed.
    fn tables(&self) -> PyResult<hoffman::Tablebase> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.tables.clone().ok_or_else(|| PyValueError::new_err("the tablebase is closed"))
    }

    fn asked(
        &self,
        position: &Bound<'_, PyAny>,
    ) -> PyResult<(hoffman::Tablebase, hoffman::Position)> {
        let tables = self.tables()?;
        let position = position_of(position, &tables)?;
        Ok((tables, position))
    }
}

impl Tablebase {
    /// What is proved of a position, asked without the lock of Python.
    fn known(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<hoffman::Answer> {
        let (tables, position) = self.asked(board)?;
        py.detach(|| tables.probe(&position)).map_err(|error| unanswered(py, &error))
    }
}

#[pymethods]
impl Tablebase {
    /// Also asks the tables of another folder, after those that are there. How many it has.
    fn add_directory(&self, py: Python<'_>, directory: PathBuf) -> PyResult<usize> {
        self.tables()?;
        py.detach(|| {
            let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
            let Some(options) = &open.options else { return Ok(None) };
            let options = options.clone().folder(&directory);
            open.tables = Some(options.open()?);
            open.options = Some(options);
            Ok(Some(hoffman::tables_in(&directory)?.len()))
        })
        .map_err(|error: hoffman::Error| raised(py, &error))?
        .ok_or_else(|| PyValueError::new_err("the tables of a position take no other folders"))
    }

    /// Lets go of the tables. Answers that were given stay good.
    fn close(&self) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        (open.tables, open.options) = (None, None);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        &self,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        let _ = (exc_type, exc_value, traceback);
        self.close();
    }

    /// What is known of a position.
    fn probe(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<Answer> {
        let (tables, position) = self.asked(board)?;
        let answer = py.detach(|| tables.probe(&position));
        let answer = answer.map_err(|error| unanswered(py, &error))?;
        Ok(Answer::new(&tables, position, answer))
    }

    /// Plies to mate: positive if the side to move wins, negative if it loses, 0 for a draw and
    /// where it is mated.
    fn probe_dtm(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<i32> {
        let answer = self.known(py, board)?;
        dtm_of(answer.value, answer.bound).ok_or_else(|| match wdl_of(answer.value) {
            Some(_) => exception(py, "no-distance", "how many plies it takes is not known"),
            None => exception(py, "not-proved", "the table proves no result of the position"),
        })
    }

    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    fn probe_wdl(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<i8> {
        let answer = self.known(py, board)?;
        let unproved = || exception(py, "not-proved", "the table proves no result of the position");
        wdl_of(answer.value).ok_or_else(unproved)
    }

    /// As `probe_dtm`, or `default` where the tables do not tell.
    #[pyo3(signature = (board, default=None))]
    fn get_dtm(
        &self,
        py: Python<'_>,
        board: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let told = self.probe_dtm(py, board).and_then(|plies| plies.into_py_any(py));
        told.or_else(|error| or_default(py, error, default))
    }

    /// As `probe_wdl`, or `default` where the tables do not tell.
    #[pyo3(signature = (board, default=None))]
    fn get_wdl(
        &self,
        py: Python<'_>,
        board: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let told = self.probe_wdl(py, board).and_then(|result| result.into_py_any(py));
        told.or_else(|error| or_default(py, error, default))
    }

    /// What the answer to a position is of the truth, as the `bound` of the answer.
    fn bound(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<&'static str> {
        Ok(bound_name(self.known(py, board)?.bound))
    }

    /// The legal moves with what they lead to, best first.
    fn moves(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<Vec<MoveAnswer>> {
        let (tables, position) = self.asked(board)?;
        moves_of(py, &tables, &position)
    }

    /// Best play to the mate, in the notation of UCI.
    fn line(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let (tables, position) = self.asked(board)?;
        line_of(py, &tables, &position)
    }

    /// The answer as the program prints it: board, result, moves, line.
    fn report(&self, py: Python<'_>, board: &Bound<'_, PyAny>) -> PyResult<String> {
        let (tables, position) = self.asked(board)?;
        text_of(py, &tables, &position)
    }

    /// What is known of many positions, in arrays of numpy.
    fn probe_batch(&self, boards: &Bound<'_, PyAny>) -> PyResult<Batch> {
        Batch::ask(&self.tables()?, boards)
    }

    /// The rules that the tables are about: `chess` or `suicide`.
    #[getter]
    fn variant(&self) -> PyResult<&'static str> {
        Ok(crate::table::variant_name(self.tables()?.variant()))
    }
}

/// What is returned instead of an error, if that says that the tables do not tell.
fn or_default(py: Python<'_>, error: PyErr, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
    let untold = py.import("hoffman._errors")?.getattr("NoAnswer")?;
    if error.matches(py, untold)? { Ok(default.unwrap_or_else(|| py.None())) } else { Err(error) }
}

/// Opens folders of tables.
#[pyfunction]
pub(crate) fn open_folders(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    syzygy: Vec<PathBuf>,
    cache: Option<usize>,
) -> PyResult<Tablebase> {
    let mut options = OpenOptions::new();
    for folder in folders {
        options = options.folder(folder);
    }
    for folder in syzygy {
        options = options.syzygy(folder);
    }
    if let Some(bytes) = cache {
        options = options.cache(bytes);
    }
    py.detach(|| Tablebase::open(options)).map_err(|error| unanswered(py, &error))
}

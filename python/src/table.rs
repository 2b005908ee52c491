//! One table: what its header says, what it contains, and all of its positions in arrays.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hoffman::{Color, Position, ReadOptions, Role, TableEntry, TableInfo, Variant, process};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::{UNKNOWN_DTM, UNKNOWN_WDL, array, array_of_i8, array_of_i32, said_of, wdl_of};
use crate::errors::{exception, raised};

/// One table.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Table {
    inner: Arc<hoffman::Table>,
    info: TableInfo,
}

/// The tables of a folder, by name; none is opened.
#[pyfunction]
pub(crate) fn tables_in(py: Python<'_>, directory: PathBuf) -> PyResult<Vec<PathBuf>> {
    let tables = py.detach(|| hoffman::tables_in(directory));
    let tables = tables.map_err(|error| raised(py, &error))?;
    Ok(tables.into_iter().map(|table| table.path).collect())
}

#[pymethods]
impl Table {
    /// Opens a table: a file, or an ending whose table is in a folder or in the current one.
    #[new]
    #[pyo3(signature = (name, dir=None))]
    fn new(py: Python<'_>, name: PathBuf, dir: Option<PathBuf>) -> PyResult<Table> {
        let open = || hoffman::Table::open_named(&name, dir.as_deref(), ReadOptions::new());
        let inner = py.detach(open).map_err(|error| raised(py, &error))?;
        Ok(Table { info: inner.info(), inner: Arc::new(inner) })
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.path().to_owned()
    }

    /// The ending, as `KRPvKR`.
    #[getter]
    fn ending(&self) -> String {
        self.info.ending.to_string()
    }

    /// The men in the order in which chunks have their squares, in the letters of a FEN.
    #[getter]
    fn men(&self) -> Vec<char> {
        self.inner.men().into_iter().map(letter).collect()
    }

    /// How many indices it has; not all of them are positions.
    #[getter]
    fn indices(&self) -> u64 {
        self.info.indices
    }

    /// What its entries hold: `dtm`, `dtc`, `basic` or `flag`.
    #[getter]
    fn format(&self) -> &'static str {
        self.info.format.name()
    }

    /// The rules it is about: `chess` or `suicide`.
    #[getter]
    fn variant(&self) -> &'static str {
        variant_name(self.info.variant)
    }

    /// Whether it holds only some of the positions of its ending.
    #[getter]
    fn is_partial(&self) -> bool {
        self.info.is_partial
    }

    /// What its values prove of chess: `white-wins`, `white-holds`, `black-wins`, `black-holds`.
    #[getter]
    fn certain(&self) -> Vec<&'static str> {
        self.info.certain.clone()
    }

    /// In what its game is not chess; empty if it is.
    #[getter]
    fn assumes(&self) -> Vec<String> {
        self.info.assumes.clone()
    }

    /// What it contains, as `hoffman stats --json` prints it.
    #[pyo3(signature = (threads=0))]
    fn stats(&self, py: Python<'_>, threads: usize) -> PyResult<Py<PyAny>> {
        let pool = pool(py, threads)?;
        let stats = py.detach(|| pool.install(|| self.inner.stats()));
        let stats = stats.map_err(|error| raised(py, &error))?;
        let text = serde_json::to_string(&stats);
        let text = text.map_err(|error| exception(py, "failed", &error.to_string()))?;
        Ok(py.import("json")?.call_method1("loads", (text,))?.unbind())
    }

    /// All legal positions with their values, in arrays of numpy; `size` indices are read at a
    /// time. Of positions that are the same under the symmetries of the board one is there.
    #[pyo3(signature = (size=262_144, threads=0))]
    fn chunks(&self, py: Python<'_>, size: u64, threads: usize) -> PyResult<Chunks> {
        py.import("numpy")?;
        let (table, info) = (Arc::clone(&self.inner), &self.info);
        let converts = info.format.name() == "dtc";
        let (size, indices) = (size.max(1), info.indices);
        Ok(Chunks { table, converts, size, indices, pool: pool(py, threads)?, next: Mutex::new(0) })
    }

    fn __repr__(&self) -> String {
        format!("<Table {}, {}, {} indices>", self.ending(), self.format(), self.indices())
    }
}

/// Threads for as long as they are wanted.
fn pool(py: Python<'_>, threads: usize) -> PyResult<ThreadPool> {
    let threads = if threads == 0 { process::cores() } else { threads };
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(hoffman::STACK).build();
    pool.map_err(|error| exception(py, "no-threads", &error.to_string()))
}

/// The positions of a table, chunk by chunk.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Chunks {
    table: Arc<hoffman::Table>,
    converts: bool,
    /// Indices of a chunk.
    size: u64,
    indices: u64,
    pool: ThreadPool,
    /// The first index that was not read.
    next: Mutex<u64>,
}

#[pymethods]
impl Chunks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Chunk>> {
        loop {
            py.check_signals()?;
            let first = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let first = *next;
                *next = first.saturating_add(self.size).min(self.indices);
                first
            };
            if first >= self.indices {
                return Ok(None);
            }
            let range = first..first.saturating_add(self.size);
            let entries = py.detach(|| self.pool.install(|| self.table.entries(range)));
            let entries = entries.map_err(|error| raised(py, &error))?;
            // Where no index is a position there is nothing to be told.
            if !entries.is_empty() {
                return Chunk::new(py, &self.table, entries, self.converts).map(Some);
            }
        }
    }
}

/// Some positions of a table.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Chunk {
    /// The index of every position in the table. Array of uint64.
    #[pyo3(get)]
    index: Py<PyAny>,
    /// The squares of the men, a row for every position, a column for each of `Table.men`;
    /// 0 is a1, 7 is h1, 63 is h8. Array of uint8.
    #[pyo3(get)]
    squares: Py<PyAny>,
    /// Whether White is to move. Array of bool.
    #[pyo3(get)]
    white_to_move: Py<PyAny>,
    /// The square that a pawn has jumped over and can be taken on, or -1. Array of int8.
    #[pyo3(get)]
    en_passant: Py<PyAny>,
    /// The results that are proved, as `Answer.wdl`; `UNKNOWN_WDL` where there is none. Array of
    /// int8.
    #[pyo3(get)]
    wdl: Py<PyAny>,
    /// The distances, as `Answer.dtm`; `UNKNOWN_DTM` where there is none. Array of int32.
    #[pyo3(get)]
    dtm: Py<PyAny>,
    /// The results by the rules of the table, in the same way. Array of int8.
    #[pyo3(get)]
    said_wdl: Py<PyAny>,
    /// The distances by the rules of the table, in the same way. Array of int32.
    #[pyo3(get)]
    said_dtm: Py<PyAny>,
    /// The winner's moves to a conversion, 0 of a draw; None unless the table counts those. Array
    /// of int32.
    #[pyo3(get)]
    conversion: Option<Py<PyAny>>,
    men: Vec<(Color, Role)>,
    entries: Vec<TableEntry>,
}

#[pymethods]
impl Chunk {
    fn __len__(&self) -> usize {
        self.entries.len()
    }

    /// The FEN of a position.
    fn fen(&self, place: isize) -> PyResult<String> {
        let places = self.entries.len().cast_signed();
        let place = if place < 0 { place + places } else { place };
        let entry = usize::try_from(place).ok().and_then(|place| self.entries.get(place));
        let entry = entry.ok_or_else(|| PyIndexError::new_err("the chunk has no such position"))?;
        Ok(self.fen_of(entry))
    }

    /// The FENs of all positions.
    fn fens(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.entries.iter().map(|entry| self.fen_of(entry)).collect())
    }

    fn __repr__(&self) -> String {
        format!("<Chunk of {} positions>", self.entries.len())
    }
}

impl Chunk {
    fn new(
        py: Python<'_>,
        table: &hoffman::Table,
        entries: Vec<TableEntry>,
        converts: bool,
    ) -> PyResult<Chunk> {
        let all = || entries.iter();
        let bytes: Vec<u8> = all().flat_map(|entry| entry.index.to_ne_bytes()).collect();
        let index = array(py, "uint64", &bytes)?;

        let men = table.men();
        let square = |square: &hoffman::Square| *square as u8;
        let bytes: Vec<u8> = all().flat_map(|e| e.placement.squares.iter().map(square)).collect();
        let squares = array(py, "uint8", &bytes)?;
        let shape = (entries.len(), men.len());
        let squares = squares.bind(py).call_method1("reshape", (shape,))?.unbind();
        let bytes: Vec<u8> = all().map(|e| u8::from(e.placement.turn.is_white())).collect();
        let white_to_move = array(py, "bool", &bytes)?;
        let en_passant =
            all().map(|e| e.placement.en_passant.map_or(-1, |square| (square as u8).cast_signed()));
        let en_passant = array_of_i8(py, en_passant)?;

        let exact = table.info().certain.len() == 4;
        let wdl = all().map(|entry| wdl_of(entry.value).unwrap_or(UNKNOWN_WDL));
        let wdl = array_of_i8(py, wdl)?;
        let dtm = array_of_i32(py, all().map(|entry| distance(entry, exact)))?;
        let said_wdl = all().map(|entry| said_of(entry.said).0.unwrap_or(UNKNOWN_WDL));
        let said_wdl = array_of_i8(py, said_wdl)?;
        let said_dtm = all().map(|entry| said_of(entry.said).1.unwrap_or(UNKNOWN_DTM));
        let said_dtm = array_of_i32(py, said_dtm)?;
        let moves = |entry: &TableEntry| entry.conversion.map_or(0, |moves| moves.0.cast_signed());
        let conversion = converts.then(|| array_of_i32(py, all().map(moves))).transpose()?;
        Ok(Chunk {
            index,
            squares,
            white_to_move,
            en_passant,
            wdl,
            dtm,
            said_wdl,
            said_dtm,
            conversion,
            men,
            entries,
        })
    }

    fn fen_of(&self, entry: &TableEntry) -> String {
        let placement = &entry.placement;
        let men = placement.squares.iter().zip(&self.men);
        let men = men.map(|(&square, &(color, role))| (square, color, role));
        Position::from_men(men, placement.turn, placement.en_passant).fen()
    }
}

/// The distance of an entry that is proved, not a bound of it.
fn distance(entry: &TableEntry, exact: bool) -> i32 {
    let proof = if exact { hoffman::Bound::Exact } else { hoffman::Bound::None };
    crate::arrays::dtm_of(entry.value, proof).unwrap_or(UNKNOWN_DTM)
}

/// A man by its letter.
fn letter((color, role): (Color, Role)) -> char {
    role.of(color).char()
}

/// The name of rules.
pub(crate) fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Normal => "chess",
        Variant::Suicide => "suicide",
    }
}

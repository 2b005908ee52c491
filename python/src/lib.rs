//! Hoffman for Python: crate `hoffman` behind classes and functions, and nothing of its own about
//! chess. What users import is the package `hoffman` around this module, written in Python.
//!
//! No lock of the interpreter is held while tables are read or made. Long work runs in a thread of
//! its own, while the thread that called is told of events and looks for signals.

mod answer;
mod arrays;
mod batch;
mod errors;
mod event;
mod position;
mod table;
mod tablebase;
mod work;

use pyo3::prelude::*;

/// The part of the package that is compiled.
#[pymodule]
mod _hoffman {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::answer::{Answer, MoveAnswer};
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::event::{Cancel, Event};
    #[pymodule_export]
    use crate::table::{Chunk, Chunks, Table, tables_in};
    #[pymodule_export]
    use crate::tablebase::{Tablebase, open_folders};
    #[pymodule_export]
    use crate::work::{Analysis, Built, Made, Solved, analyse_file, build_targets, solve_position};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("UNKNOWN_WDL", crate::arrays::UNKNOWN_WDL)?;
        module.add("UNKNOWN_DTM", crate::arrays::UNKNOWN_DTM)
    }
}

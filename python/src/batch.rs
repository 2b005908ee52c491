//! Many positions at once.

use hoffman::AsPosition as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{UNKNOWN_DTM, UNKNOWN_WDL, array_of_i8, array_of_i32, dtm_of, wdl_of};
use crate::errors::unanswered;
use crate::position::fen_of;

/// Positions that are asked between two looks for signals.
const TOGETHER: usize = 1 << 14;

/// What is known of many positions, in arrays.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Batch {
    /// The results, as `Answer.wdl`; `UNKNOWN_WDL` where there is none. Array of int8.
    #[pyo3(get)]
    wdl: Py<PyAny>,
    /// The distances, as `Answer.dtm`; `UNKNOWN_DTM` where there is none. Array of int32.
    #[pyo3(get)]
    dtm: Py<PyAny>,
    /// Why positions have no answer: exceptions by the places of the positions.
    #[pyo3(get)]
    errors: Py<PyDict>,
    count: usize,
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "<Batch of {} positions, {} without answer>",
            self.count,
            self.errors.bind(py).len()
        )
    }
}

impl Batch {
    /// Asks tables about many positions, one after the other.
    pub(crate) fn ask(
        tables: &hoffman::Tablebase,
        positions: &Bound<'_, PyAny>,
    ) -> PyResult<Batch> {
        let py = positions.py();
        // That there is no numpy is told before the work.
        py.import("numpy")?;
        let (mut results, mut distances) = (Vec::new(), Vec::new());
        let errors = PyDict::new(py);
        let mut positions = positions.try_iter()?;
        loop {
            let some = positions.by_ref().take(TOGETHER).map(|one| fen_of(&one?));
            let fens: Vec<String> = some.collect::<PyResult<_>>()?;
            if fens.is_empty() {
                break;
            }
            for answer in py.detach(|| answers(tables, &fens)) {
                let known = answer.as_ref().ok();
                let result = known.and_then(|answer| wdl_of(answer.value));
                let distance = known.and_then(|answer| dtm_of(answer.value, answer.bound));
                if let Err(error) = &answer {
                    errors.set_item(results.len(), unanswered(py, error).into_value(py))?;
                }
                results.push(result.unwrap_or(UNKNOWN_WDL));
                distances.push(distance.unwrap_or(UNKNOWN_DTM));
            }
            py.check_signals()?;
        }
        let count = results.len();
        let (wdl, dtm) =
            (array_of_i8(py, results.into_iter())?, array_of_i32(py, distances.into_iter())?);
        Ok(Batch { wdl, dtm, errors: errors.unbind(), count })
    }
}

fn answers(
    tables: &hoffman::Tablebase,
    fens: &[String],
) -> Vec<Result<hoffman::Answer, hoffman::ProbeError>> {
    let variant = tables.variant();
    let answer = |fen: &String| tables.probe(fen.as_position(variant)?.as_ref());
    fens.iter().map(answer).collect()
}

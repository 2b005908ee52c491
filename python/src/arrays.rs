//! Numbers for numpy.

use hoffman::{Bound as Proof, Said, Value};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Stands in arrays of results where none is known.
pub(crate) const UNKNOWN_WDL: i8 = i8::MIN;

/// Stands in arrays of distances where none is known.
pub(crate) const UNKNOWN_DTM: i32 = i32::MIN;

/// An array that may be written to; the bytes are those of numbers as they are in memory.
pub(crate) fn array(py: Python<'_>, kind: &str, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    let numpy = py.import("numpy")?;
    let made = numpy.call_method1("frombuffer", (PyByteArray::new(py, bytes), kind))?;
    Ok(made.unbind())
}

/// An array of numbers of 32 bits.
pub(crate) fn array_of_i32(
    py: Python<'_>,
    numbers: impl Iterator<Item = i32>,
) -> PyResult<Py<PyAny>> {
    let bytes: Vec<u8> = numbers.flat_map(i32::to_ne_bytes).collect();
    array(py, "int32", &bytes)
}

/// An array of small numbers.
pub(crate) fn array_of_i8(
    py: Python<'_>,
    numbers: impl Iterator<Item = i8>,
) -> PyResult<Py<PyAny>> {
    let bytes: Vec<u8> = numbers.map(i8::cast_unsigned).collect();
    array(py, "int8", &bytes)
}

/// 1 if the side to move wins, 0 for a draw, -1 if it loses; none if the result is not proved.
pub(crate) fn wdl_of(value: Value) -> Option<i8> {
    value.wdl().map(|wdl| match wdl {
        hoffman::Wdl::Win => 1,
        hoffman::Wdl::Draw => 0,
        hoffman::Wdl::Loss => -1,
    })
}

/// Plies to mate, negative if the side to move loses, 0 for a draw and where it is mated; none if
/// they are not known, or no more than a bound of them is.
pub(crate) fn dtm_of(value: Value, proof: Proof) -> Option<i32> {
    let exact = |plies: Option<hoffman::Plies>| {
        plies.filter(|_| proof == Proof::Exact).and_then(|plies| i32::try_from(plies.0).ok())
    };
    match value {
        Value::Win { plies } => exact(plies),
        Value::Loss { plies } => exact(plies).map(|plies| -plies),
        Value::Draw => Some(0),
        _ => None,
    }
}

/// The result that a table says, and the plies to mate, as above.
pub(crate) fn said_of(said: Option<Said>) -> (Option<i8>, Option<i32>) {
    let number = |plies: Option<hoffman::Plies>| plies.and_then(|p| i32::try_from(p.0).ok());
    match said {
        Some(Said::Win(plies)) => (Some(1), number(plies)),
        Some(Said::Draw) => (Some(0), Some(0)),
        Some(Said::Loss(plies)) => (Some(-1), number(plies).map(|plies| -plies)),
        _ => (None, None),
    }
}

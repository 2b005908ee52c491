//! Errors as exceptions of the package.

use pyo3::prelude::*;

/// The exception of a code.
pub(crate) fn exception(py: Python<'_>, code: &str, text: &str) -> PyErr {
    let made = py
        .import("hoffman._errors")
        .and_then(|module| module.getattr("make"))
        .and_then(|make| make.call1((code, text)));
    match made {
        Ok(made) => PyErr::from_value(made),
        Err(error) => error,
    }
}

/// The exception of an error of the library.
pub(crate) fn raised(py: Python<'_>, error: &hoffman::Error) -> PyErr {
    exception(py, error.code(), &error.to_string())
}

/// The exception of a question without an answer.
pub(crate) fn unanswered(py: Python<'_>, error: &hoffman::ProbeError) -> PyErr {
    exception(py, error.code(), &error.to_string())
}

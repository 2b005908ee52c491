//! What stands for a position: a FEN, or whatever has a method `fen`, as the boards of
//! python-chess.

use hoffman::AsPosition as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::unanswered;

/// The FEN of a position.
pub(crate) fn fen_of(position: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = position.cast::<PyString>() {
        return text.extract();
    }
    let unfit = || {
        let kind = position.get_type().qualname()?.extract::<String>()?;
        Err(PyTypeError::new_err(format!("a position is a FEN or a chess.Board, not {kind}")))
    };
    // A method of boards; of answers and moves it is a text.
    let Some(fen) = position.getattr_opt("fen")? else { return unfit() };
    let fen = if fen.is_callable() { fen.call0()? } else { fen };
    fen.cast::<PyString>().map_or_else(|_| unfit(), |text| text.extract())
}

/// A position under the rules that tables are about.
pub(crate) fn position_of(
    position: &Bound<'_, PyAny>,
    tables: &hoffman::Tablebase,
) -> PyResult<hoffman::Position> {
    let read = fen_of(position)?.as_position(tables.variant()).map(std::borrow::Cow::into_owned);
    read.map_err(|error| unanswered(position.py(), &error))
}

//! What is known of a position, and of its moves.

use std::path::PathBuf;

use hoffman::{Bound as Proof, Change, GameEnd, Said, Value};
use pyo3::prelude::*;

use crate::arrays::{dtm_of, said_of, wdl_of};
use crate::errors::unanswered;

/// The answer to a position.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Answer {
    tables: hoffman::Tablebase,
    position: hoffman::Position,
    inner: hoffman::Answer,
}

/// A legal move, and what is known of the position behind it.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct MoveAnswer {
    tables: hoffman::Tablebase,
    inner: hoffman::MoveAnswer,
}

impl Answer {
    pub(crate) fn new(
        tables: &hoffman::Tablebase,
        position: hoffman::Position,
        inner: hoffman::Answer,
    ) -> Answer {
        Answer { tables: tables.clone(), position, inner }
    }

    fn said_by_table(&self) -> Option<Said> {
        self.inner.table.as_ref()?.said()
    }
}

#[pymethods]
impl Answer {
    /// The position, as FEN.
    #[getter]
    fn fen(&self) -> String {
        self.position.fen()
    }

    /// What is proved, for the side to move: `win`, `draw`, `loss`, `at-least-draw`,
    /// `at-most-draw` or `unknown`.
    #[getter]
    fn value(&self) -> &'static str {
        value_name(self.inner.value)
    }

    /// 1 if the side to move wins, 0 for a draw, -1 if it loses; None if that is not proved.
    #[getter]
    fn wdl(&self) -> Option<i8> {
        wdl_of(self.inner.value)
    }

    /// Plies to mate, negative if the side to move loses, 0 for a draw and on a board with a mate;
    /// None if they are not exactly known.
    #[getter]
    fn dtm(&self) -> Option<i32> {
        dtm_of(self.inner.value, self.inner.bound)
    }

    /// Plies to mate, without a sign: the fewest if `bound` is `exact`, else at most so many; None
    /// of a draw and where they are not known.
    #[getter]
    fn plies(&self) -> Option<u32> {
        match self.inner.value {
            Value::Win { plies } | Value::Loss { plies } => plies.map(|plies| plies.0),
            _ => None,
        }
    }

    /// What the answer is of the truth, seen from White: `exact`, `white-at-least`,
    /// `white-at-most` or `none`.
    #[getter]
    fn bound(&self) -> &'static str {
        bound_name(self.inner.bound)
    }

    /// The table that answers; None where the rules of chess do.
    #[getter]
    fn table(&self) -> Option<PathBuf> {
        self.inner.table.as_ref().map(|table| table.path().to_owned())
    }

    /// The index of the position in the table.
    #[getter]
    fn index(&self) -> Option<u64> {
        self.inner.table.as_ref().map(hoffman::TableAnswer::index)
    }

    /// In what the game of the table is not chess; empty if it is.
    #[getter]
    fn assumes(&self) -> Vec<String> {
        let assumes = self.inner.table.as_ref().map(|table| table.assumes().iter());
        assumes.into_iter().flatten().map(ToString::to_string).collect()
    }

    /// What the table says by its own rules, for the side to move: `win`, `draw`, `loss`,
    /// `win-or-draw` or `draw-or-loss`.
    #[getter]
    fn said(&self) -> Option<&'static str> {
        self.said_by_table().map(|said| match said {
            Said::Win(_) => "win",
            Said::Draw => "draw",
            Said::Loss(_) => "loss",
            Said::WinOrDraw => "win-or-draw",
            Said::DrawOrLoss => "draw-or-loss",
            _ => "unknown",
        })
    }

    /// Plies to mate by the rules of the table, with the sign of `dtm`.
    #[getter]
    fn said_dtm(&self) -> Option<i32> {
        said_of(self.said_by_table()).1
    }

    /// The winner's moves to a capture, promotion or mate, if the table counts those.
    #[getter]
    fn conversion(&self) -> Option<u32> {
        self.inner.conversion().map(|moves| moves.0)
    }

    /// How the game has ended: `checkmate`, `stalemate`, `variant-win` or `variant-loss`.
    #[getter]
    fn end(&self) -> Option<&'static str> {
        self.inner.end.map(|end| match end {
            GameEnd::Checkmate => "checkmate",
            GameEnd::Stalemate => "stalemate",
            GameEnd::VariantWin => "variant-win",
            GameEnd::VariantLoss => "variant-loss",
        })
    }

    /// The legal moves, best first.
    fn moves(&self, py: Python<'_>) -> PyResult<Vec<MoveAnswer>> {
        moves_of(py, &self.tables, &self.position)
    }

    /// Best play to the mate, in the notation of UCI.
    fn line(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        line_of(py, &self.tables, &self.position)
    }

    fn __repr__(&self) -> String {
        let table = self.inner.table.as_ref().and_then(|table| table.path().file_name());
        let table =
            table.map_or_else(|| "the rules of chess".into(), |name| name.to_string_lossy());
        let plies = self.plies().map_or_else(String::new, |plies| format!(" in {plies} plies"));
        format!("<Answer {}{plies}, {}, by {table}>", self.value(), self.bound())
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        text_of(py, &self.tables, &self.position)
    }

    /// The board with an arrow for every move; None without python-chess.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let position = &self.position;
        let (judged, moves) = py.detach(|| {
            let judged = hoffman::Judged::of(&self.tables, position).ok().flatten();
            (judged, self.tables.moves(position))
        });
        let moves = moves.map_err(|error| unanswered(py, &error))?;
        let arrows = moves.iter().map(|option| {
            let best = judged.as_ref().map(|judged| judged.change(option.m) == Change::Best);
            let wdl = option.worth().and_then(wdl_of);
            (option.m.from as u8, option.m.to as u8, wdl, best.unwrap_or(false))
        });
        let arrows: Vec<_> = arrows.collect();
        py.import("hoffman._svg")?.call_method1("board", (position.fen(), arrows))?.extract()
    }
}

#[pymethods]
impl MoveAnswer {
    /// The move in the notation of UCI: `e7e8q`.
    #[getter]
    fn uci(&self) -> String {
        self.inner.m.uci()
    }

    /// The move as chess players write it: `e8=Q+`.
    #[getter]
    fn san(&self) -> &str {
        &self.inner.san
    }

    /// The position after it, as FEN.
    #[getter]
    fn fen(&self) -> String {
        self.inner.after.fen()
    }

    /// What is known of the position after it, for the side then to move; None if no table has it.
    #[getter]
    fn answer(&self) -> Option<Answer> {
        let answer = self.inner.answer.as_ref().ok()?;
        Some(Answer::new(&self.tables, self.inner.after.clone(), answer.clone()))
    }

    /// Why there is no answer, as an exception that was not raised; None if there is one.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.inner.answer.as_ref().err().map(|error| unanswered(py, error))
    }

    /// 1 if the side that makes the move wins, 0 for a draw, -1 if it loses; None if that is not
    /// proved.
    #[getter]
    fn wdl(&self) -> Option<i8> {
        self.inner.worth().and_then(wdl_of)
    }

    /// Plies to mate counted from before the move, negative if the side that makes it loses: that
    /// of the best move is the `dtm` of the position.
    #[getter]
    fn dtm(&self) -> Option<i32> {
        let proof = self.inner.answer.as_ref().ok()?.bound;
        self.inner.worth().and_then(|value| dtm_of(value, proof))
    }

    /// What the table of the position before it makes of the move: `concede`, `discard`, or None.
    #[getter]
    fn pruned(&self) -> Option<&'static str> {
        self.inner.pruned.map(hoffman::PruneEffect::name)
    }

    fn __repr__(&self) -> String {
        let result = match (self.wdl(), &self.inner.answer) {
            (Some(1), _) => "wins",
            (Some(0), _) => "draws",
            (Some(_), _) => "loses",
            (None, Ok(_)) => "not decided",
            (None, Err(_)) => "no answer",
        };
        let plies = self.dtm().filter(|plies| *plies != 0);
        let plies = plies.map_or_else(String::new, |plies| format!(" in {} plies", plies.abs()));
        format!("<MoveAnswer {} {result}{plies}>", self.inner.san)
    }
}

/// The name of what an answer is of the truth.
pub(crate) fn bound_name(bound: Proof) -> &'static str {
    match bound {
        Proof::Exact => "exact",
        Proof::WhiteAtLeast => "white-at-least",
        Proof::WhiteAtMost => "white-at-most",
        Proof::None => "none",
    }
}

fn value_name(value: Value) -> &'static str {
    match value {
        Value::Win { .. } => "win",
        Value::Draw => "draw",
        Value::Loss { .. } => "loss",
        Value::AtLeastDraw => "at-least-draw",
        Value::AtMostDraw => "at-most-draw",
        _ => "unknown",
    }
}

/// The legal moves of a position, best first.
pub(crate) fn moves_of(
    py: Python<'_>,
    tables: &hoffman::Tablebase,
    position: &hoffman::Position,
) -> PyResult<Vec<MoveAnswer>> {
    let moves = py.detach(|| tables.moves(position)).map_err(|error| unanswered(py, &error))?;
    let with = |inner| MoveAnswer { tables: tables.clone(), inner };
    Ok(moves.into_iter().map(with).collect())
}

/// Best play from a position.
pub(crate) fn line_of(
    py: Python<'_>,
    tables: &hoffman::Tablebase,
    position: &hoffman::Position,
) -> PyResult<Vec<String>> {
    let line = py.detach(|| tables.line(position)).map_err(|error| unanswered(py, &error))?;
    Ok(line.iter().map(hoffman::Move::uci).collect())
}

/// All of it as the program prints it.
pub(crate) fn text_of(
    py: Python<'_>,
    tables: &hoffman::Tablebase,
    position: &hoffman::Position,
) -> PyResult<String> {
    let report = py.detach(|| tables.report(position)).map_err(|error| unanswered(py, &error))?;
    Ok(report.to_text())
}

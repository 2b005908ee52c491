//! Positions of a table: its mutual zugzwangs, and those at a distance from the end.

use std::ops::ControlFlow;

use bytes::Bytes;
use hoffman::{Color, ListQuery, ListedPosition, TableLists, WantedResult, ZugzwangOf};
use hyper::StatusCode;
use serde::Serialize;

use crate::response::{Refusal, to_json};
use crate::route::{parameter, wanted};

/// How many positions are told.
const MOST: usize = 24;

/// Positions of a table, the first ones of a list.
#[derive(Serialize)]
struct PositionList {
    /// How many there are in all.
    positions: u64,
    /// Of zugzwangs, how many of which kind: its name, what it is, and the number.
    kinds: Vec<(&'static str, &'static str, u64)>,
    list: Vec<ListedPosition>,
}

/// What is asked for: `zugzwang=mutual`, or `to_move`, `result` and `moves`.
pub(crate) fn query_of(query: Option<&str>) -> Result<ListQuery, Refusal> {
    let wrong = |name: &str, value: &str| {
        let text = format!("'{value}' is no value of the parameter '{name}'");
        Refusal::new(StatusCode::BAD_REQUEST, "bad-parameter", text)
    };
    if let Some(zugzwang) = parameter(query, "zugzwang") {
        return match zugzwang.as_str() {
            "mutual" => {
                Ok(ListQuery { zugzwang: Some(ZugzwangOf::Mutual), ..ListQuery::default() })
            }
            other => Err(wrong("zugzwang", other)),
        };
    }

    let result = match wanted(query, "result")?.as_str() {
        "win" => WantedResult::Win,
        "loss" => WantedResult::Loss,
        other => return Err(wrong("result", other)),
    };
    let to_move = match wanted(query, "to_move")?.as_str() {
        "white" => Color::White,
        "black" => Color::Black,
        other => return Err(wrong("to_move", other)),
    };

    let moves = wanted(query, "moves")?;
    let moves: u16 = moves.parse().map_err(|_| wrong("moves", &moves))?;
    Ok(ListQuery {
        result: Some(result),
        to_move: Some(to_move),
        distance: Some(moves..=moves),
        ..ListQuery::default()
    })
}

/// The first positions of a list, and how many there are.
pub(crate) fn positions(lists: &TableLists, query: &ListQuery) -> Result<Bytes, hoffman::Error> {
    let counts = lists.list(query, None)?;
    let mut list = Vec::new();
    let mut each = |listed: ListedPosition| {
        list.push(listed);
        if list.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    if counts.positions > 0 {
        lists.list(query, Some(&mut each))?;
    }
    let kinds = counts.kinds.iter().map(|(kind, &count)| (kind.name(), kind.words(), count));
    let kinds = kinds.collect();
    let all = PositionList { positions: counts.positions, kinds, list };
    Ok(to_json(&all).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_or_refused() {
        let query = query_of(Some("table=a&result=win&to_move=black&moves=12")).expect("a query");
        assert_eq!((query.distance, query.to_move), (Some(12..=12), Some(Color::Black)));
        assert!(query_of(Some("zugzwang=mutual")).expect("a query").zugzwang.is_some());
        for wrong in ["zugzwang=x", "result=win", "result=x&to_move=white&moves=1", ""] {
            assert_eq!(query_of(Some(wrong)).expect_err("none").status, StatusCode::BAD_REQUEST);
        }
        let far = "result=win&to_move=white&moves=-1";
        assert_eq!(query_of(Some(far)).expect_err("none").code, "bad-parameter");
    }
}

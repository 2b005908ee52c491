//! Proving positions of more men than tables are made for, where the owner of the server lets that
//! be done.

use std::sync::Arc;
use std::time::Duration;

use hoffman::{
    AsPosition as _, Cancel, Color, Effort, Error, Options, Position, ProveOptions, Proved,
    Value as Proven, Variant, proved_in_words,
};
use hoffman_pgn::explained;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde_json::{Value, json};

use crate::answer::ServerState;
use crate::library::threads_of_work;
use crate::long_work::{Listener, only_from_here, stream};
use crate::proofs::{CorrespondingSquares, KeptProof, KeptProofs};
use crate::response::{Refusal, Reply};
use crate::route::position_of;

/// Proves a position as far as that goes in the time that the owner of the server gives, and sends
/// events: `progress`, and at the end `done` or `failed`.
pub(crate) fn prove(
    state: &Arc<ServerState>,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    only_from_here(headers)?;
    let Some(most) = state.prove else {
        let text = "this server proves nothing; its owner may let it with --prove";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "no-proofs", text));
    };
    let position = position_of(query)?;
    let position = match position.as_position(Variant::Normal) {
        Ok(position) => position.into_owned(),
        Err(error) => {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad-fen", error.to_string()));
        }
    };
    stream(state, Cancel::new(), move |state, listener| {
        let proved = work(&position, most, listener)?;
        keep(&state.proofs, &position, &proved);
        Ok(outcome(&proved, position.turn))
    })
}

fn work(
    position: &Position,
    most: Duration,
    listener: &mut Listener<'_>,
) -> Result<Proved, Refusal> {
    let options = Options::without_folder().threads(threads_of_work());
    let options = options.cancel(listener.cancel().clone());
    let asked = ProveOptions::new().time(most).explanation(true);
    let mut tell = |effort: &Effort| listener.tell(|| progress(effort, position.turn, most));
    hoffman::prove(position, &options, &asked, &mut tell).map_err(|error| refusal(&error))
}

/// Keeps what was proved of a position and of those behind its moves.
fn keep(proofs: &KeptProofs, position: &Position, proved: &Proved) {
    let proof = |value, took| KeptProof {
        result: result(value, position.turn),
        words: proved_in_words(value, position.turn),
        took,
        why: None,
        corresponding: Vec::new(),
    };
    let why = proved.explanation.as_ref().map(|why| explained(position, proved.value, why));
    let corresponding = proved.explanation.as_ref().map(CorrespondingSquares::of);
    let corresponding = corresponding.unwrap_or_default();
    let took = extent(&proved.effort);
    proofs.keep(position, KeptProof { why, corresponding, ..proof(proved.value, took) });
    for of in proved.moves.iter().filter(|of| of.value != Proven::Unknown) {
        proofs.keep(&position.after(&of.m), proof(of.value, Value::Null));
    }
}

fn refusal(error: &Error) -> Refusal {
    let status = match error {
        Error::Probe(_) => StatusCode::BAD_REQUEST,
        Error::Resources(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Refusal::new(status, error.code(), error.to_string())
}

/// How far it is: what is proved by now, and what that took.
fn progress(effort: &Effort, turn: Color, most: Duration) -> Value {
    let mut told = extent(effort);
    told["words"] = proved_in_words(effort.assumed, turn).into();
    told["decided"] = effort.decided.into();
    told["seconds_at_most"] = most.as_secs().into();
    told
}

fn extent(effort: &Effort) -> Value {
    json!({
        "one_by_one": effort.one_by_one,
        "slices": effort.open,
        "known": effort.known,
        "positions": effort.positions,
        "bytes": effort.bytes,
        "seconds": effort.time.as_secs_f64(),
    })
}

/// What was proved of a position and its moves, in the words of the page.
fn outcome(proved: &Proved, turn: Color) -> Value {
    let moves: Vec<Value> = proved
        .moves
        .iter()
        .map(|of| {
            let words = proved_in_words(of.value, turn);
            json!({ "uci": of.m.uci(), "result": result(of.value, turn), "words": words })
        })
        .collect();
    let mut told = extent(&proved.effort);
    told["result"] = result(proved.value, turn).into();
    told["words"] = proved_in_words(proved.value, turn).into();
    told["moves"] = moves.into();
    told
}

/// Who wins, or at least draws.
fn result(value: Proven, turn: Color) -> &'static str {
    let wins = |color: Color| color.fold_wb("white", "black");
    let holds = |color: Color| color.fold_wb("white-holds", "black-holds");
    match value {
        Proven::Win { .. } => wins(turn),
        Proven::Loss { .. } => wins(turn.other()),
        Proven::Draw => "draw",
        Proven::AtLeastDraw => holds(turn),
        Proven::AtMostDraw => holds(turn.other()),
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_of_white_and_black() {
        let win = Proven::Win { plies: None };
        assert_eq!((result(win, Color::White), result(win, Color::Black)), ("white", "black"));
        let holds = result(Proven::AtMostDraw, Color::White);
        assert_eq!((holds, result(Proven::Unknown, Color::White)), ("black-holds", "unknown"));
    }
}

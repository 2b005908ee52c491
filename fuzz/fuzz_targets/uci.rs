//! Any bytes as what a user interface says to the engine.
//!
//! Every line of the answer is one of the protocol, and every best move is a move.

#![no_main]

use std::sync::LazyLock;

use hoffman_board::shakmaty::uci::UciMove;
use hoffman_fuzz::TABLES;
use hoffman_uci::Engine;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<std::path::PathBuf> = LazyLock::new(|| TABLES.clone());

const BEGINNINGS: [&str; 6] = ["id ", "option ", "uciok", "readyok", "info ", "bestmove "];

fuzz_target!(|said: &[u8]| {
    let engine = Engine::new(vec![FOLDER.clone()], Vec::new());
    let mut answered = Vec::new();
    engine.run(said, &mut answered).expect("bytes can be read and written");
    let answered = String::from_utf8(answered).expect("it is text");
    for line in answered.lines() {
        assert!(BEGINNINGS.iter().any(|begin| line.starts_with(begin)), "{line}");
        if let Some(best) = line.strip_prefix("bestmove ") {
            for m in best.split(" ponder ").filter(|m| *m != "(none)") {
                assert!(m.parse::<UciMove>().is_ok(), "{line}");
            }
        }
    }
});

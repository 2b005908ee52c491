//! Any bytes as a file of games.
//!
//! What is written of a game can be read again: it is one game with the same tags, the same moves
//! and the same result, which is annotated, too.

#![no_main]

use std::sync::LazyLock;

use hoffman::Tablebase;
use hoffman_fuzz::TABLES;
use hoffman_pgn::{Game, Reader, Word, annotate};
use libfuzzer_sys::fuzz_target;

static TABLEBASE: LazyLock<Tablebase> =
    LazyLock::new(|| Tablebase::open(&*TABLES).expect("a folder of tables"));

fuzz_target!(|text: &[u8]| {
    let mut reader = Reader::new(text);
    while let Ok(Some(game)) = reader.next_game() {
        let Ok(written) = annotate(&TABLEBASE, &game) else { continue };
        let mut again = Reader::new(written.as_bytes());
        let read = again.next_game().expect("what was written can be read").expect("a game");
        assert_eq!(again.next_game().expect("an end"), None, "{written}");
        assert_eq!(read.tags, game.tags, "{written}");
        assert_eq!(moves(&read), moves(&game), "{written}");
        assert!(written.ends_with('\n'), "{written}");
        let twice = annotate(&TABLEBASE, &read);
        assert!(twice.is_ok(), "{written}: {twice:?}");
    }
});

/// The moves of a game and its variations.
fn moves(game: &Game) -> Vec<String> {
    let words = game.items.iter().filter_map(|item| match &item.word {
        Word::Move(san) => Some(san.to_string()),
        Word::Open => Some("(".to_owned()),
        Word::Close => Some(")".to_owned()),
        _ => None,
    });
    words.collect()
}

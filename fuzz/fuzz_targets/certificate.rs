//! Any text as a certificate, compressed and as it is.
//!
//! What the checker believes is true: the tables say so, where they have the position.

#![no_main]

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use hoffman::{Claimed, Color, Tablebase, Value};
use hoffman_certificate::{Checked, check};
use hoffman_fuzz::TABLES;
use libfuzzer_sys::fuzz_target;

static TABLEBASE: LazyLock<Tablebase> =
    LazyLock::new(|| Tablebase::open(&*TABLES).expect("a folder of tables"));

fuzz_target!(|text: &[u8]| {
    if let Ok(checked) = check(text) {
        compare(&checked);
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(text).expect("it is written into memory");
    if let Ok(checked) = check(packed.finish().expect("it is written into memory").as_slice()) {
        compare(&checked);
    }
});

fn compare(checked: &Checked) {
    let Checked { position, claims } = checked;
    let Ok(value) = TABLEBASE.value(format!("{position} 0 1").as_str()) else { return };
    let turn = if position.contains(" w ") { Color::White } else { Color::Black };
    for (side, claimed, _) in claims {
        let own = if *side == turn { value } else { value.negate() };
        let holds = match (claimed, own) {
            (Claimed::Wins(moves), Value::Win { plies: Some(plies) }) => {
                u32::from(*moves) >= plies.moves().0
            }
            (Claimed::Wins(_), _) => false,
            (Claimed::Holds, own) => !own.is_loss(),
        };
        assert!(holds, "{position}: {side} {claimed}, but {value:?}");
    }
}

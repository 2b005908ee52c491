//! Lookups a second, warm and cold: `cargo bench -p hoffman-probe -- TABLE`.
//!
//! Random legal positions of the table are looked up through a collection with a cache of 512 MB,
//! on one thread: first with an empty cache, then again with a full one.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use hoffman_board::Value;
use hoffman_probe::collection::Collection;
use hoffman_probe::position::Position;

fn main() {
    let Some(path) = std::env::args().skip(1).find(|a| !a.starts_with('-')) else {
        println!("name a table: cargo bench -p hoffman-probe -- FILE.htb, or FILE.hbf");
        return;
    };
    let open = || {
        let mut collection = Collection::with_cache(512 << 20);
        collection.add_table(&path).unwrap();
        collection
    };
    let chosen = open();
    let table = &chosen.tables().next().unwrap();
    let mut state = 1_u64;
    let mut positions = Vec::new();
    while positions.len() < 1_000_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Some(placement) = table.space().decode((state >> 16) % table.space().size()) else {
            continue;
        };
        let men = table.pieces().iter().zip(&placement.squares);
        let men = men.map(|(piece, &square)| (square, piece.color, piece.role));
        let position = Position::from_men(men, placement.turn, placement.en_passant);
        if chosen.value(&position).unwrap().is_some_and(|v| v != Value::Illegal) {
            positions.push(position);
        }
    }
    let collection = open();
    for (label, count) in [("cold", 100_000), ("filling", 1_000_000), ("warm", 1_000_000)] {
        let start = Instant::now();
        let mut found = 0;
        for position in &positions[..count] {
            found += usize::from(collection.lookup(position).unwrap().is_some());
        }
        let seconds = start.elapsed().as_secs_f64();
        println!("{label:8} {:9.0} lookups/s ({found} found)", count as f64 / seconds);
    }
}

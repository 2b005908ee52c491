//! Probes a second through the front door, from memory, with 1, 2 and 8 threads:
//! `cargo bench -p hoffman [-- ENDING]`. Also what a thread allocates for them.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use hoffman::{Color, Options, Position, Role, Square, Tablebase};

const POSITIONS: usize = 200_000;

fn main() {
    let ending = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let ending = ending.unwrap_or_else(|| "KQvKR".to_owned());
    let folder = tempfile::tempdir().unwrap();
    hoffman::build(&[ending.parse().unwrap()], &Options::new(folder.path()), &mut |_| {}).unwrap();
    let tables = Tablebase::open(folder.path()).unwrap();
    let positions = random_positions(&ending);
    // Once, so that everything is in memory.
    let known: Vec<&Position> = positions.iter().filter(|p| tables.probe(*p).is_ok()).collect();
    println!("{ending}, {} positions", known.len());

    for threads in [1, 2, 8] {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| known.iter().for_each(|p| drop(tables.probe(*p).unwrap())));
            }
        });
        let probes = (known.len() * threads) as f64;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{threads} threads: {:.2} million probes a second", probes / seconds / 1e6);
    }
    for (name, ask) in [
        ("value", &(|p: &Position| drop(tables.value(p))) as &dyn Fn(&Position)),
        ("probe", &|p| drop(tables.probe(p))),
        ("cached", &|p| drop(tables.probe_cached(p))),
    ] {
        let begin = Instant::now();
        for position in &known {
            ask(position);
        }
        let each = begin.elapsed().as_nanos() as f64 / known.len() as f64;
        println!("{name}: {each:.0} ns");
    }
}

/// Positions that look like chance and are the same every time.
fn random_positions(ending: &str) -> Vec<Position> {
    let (strong, weak) = ending.split_once('v').unwrap();
    let men = |side: &str, color: Color| -> Vec<(Color, Role)> {
        side.chars().map(|c| (color, Role::from_char(c).unwrap())).collect()
    };
    let men = [men(strong, Color::White), men(weak, Color::Black)].concat();
    let mut state = 1_u64;
    let mut roll = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut position = || {
        let placed = men.iter().map(|&(color, role)| (Square::new(roll(64) as u32), color, role));
        let placed: Vec<_> = placed.collect();
        let turn = if roll(2) == 0 { Color::White } else { Color::Black };
        Position::from_men(placed, turn, None)
    };
    let whole = men.len();
    let all = std::iter::repeat_with(&mut position).filter(|p| p.men().count() == whole);
    all.take(POSITIONS).collect()
}

//! Proves the outcome of a position: `prove FEN [MEGABYTES]`.
use std::time::Instant;

use hoffman_board::shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use hoffman_prove::{Limits, prove};

fn main() {
    let mut args = std::env::args().skip(1);
    let fen: Fen = args.next().unwrap().parse().unwrap();
    let memory = args.next().map_or(4000, |mb| mb.parse().unwrap()) << 20;
    let seconds: u64 = args.next().map_or(60, |s| s.parse().unwrap());
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let began = Instant::now();
    let mut tell = |p: &hoffman_prove::Progress| {
        eprintln!("{:6.2} s {p:?}", began.elapsed().as_secs_f64());
        began.elapsed().as_secs() < seconds
    };
    let proof = prove(&position, Limits { memory }, &|| {}, &mut tell);
    println!("{:?} in {:.2} s", proof.bounds, began.elapsed().as_secs_f64());
    for (m, bounds) in proof.moves {
        println!("{} {bounds:?}", SanPlus::from_move(position.clone(), m));
    }
}

//! Proves the outcome of a position: `prove FEN [MEGABYTES [SECONDS [moves]]]`.
use std::time::Instant;

use hoffman_board::shakmaty::{CastlingMode, Chess, fen::Fen, san::SanPlus};
use hoffman_prove::{Limits, Prover};

fn main() {
    let mut args = std::env::args().skip(1);
    let fen: Fen = args.next().unwrap().parse().unwrap();
    let memory = args.next().map_or(4000, |mb| mb.parse().unwrap()) << 20;
    let seconds: u64 = args.next().map_or(60, |s| s.parse().unwrap());
    let moves = args.next().is_some();
    let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let began = Instant::now();
    let mut tell = |prover: &Prover| {
        eprintln!("{:6.2} s {:?}", began.elapsed().as_secs_f64(), prover.progress());
        began.elapsed().as_secs() < seconds
    };
    let mut prover = Prover::new(position.clone(), Limits { memory });
    prover.prove(&|| {}, &mut tell);
    println!("{:?} in {:.2} s", prover.progress().bounds, began.elapsed().as_secs_f64());
    if moves {
        prover.prove_moves(u64::MAX, &|| {}, &mut tell);
    }
    for (m, bounds) in prover.moves() {
        println!("{} {bounds:?}", SanPlus::from_move(position.clone(), m));
    }
    if !moves {
        return;
    }
    println!("moves of the winner: {:?}", prover.distance(&|| {}).unwrap());
    let strategies = prover.strategies(&|| {}).unwrap();
    for claim in prover.claims(&strategies, &|| {}).unwrap() {
        println!("{} {} in {} positions", claim.side, claim.claimed, claim.choices.len());
    }
    println!("{:.2} s", began.elapsed().as_secs_f64());
}

//! A search that stops where tables answer, with mate scores by ply as engines have them:
//! `cargo run --release -p hoffman --example negamax -- FOLDER "FEN" DEPTH`.
#![allow(clippy::print_stdout)]

use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::{CastlingMode, Chess, Move, Position};
use hoffman::{Tablebase, Value};

/// Mate now; mate in `n` plies is worth so much less.
const MATE: i32 = 32_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(fen)) = (arguments.next(), arguments.next()) else {
        println!("name a folder of tables and a position");
        return Ok(());
    };
    let depth = arguments.next().map_or(Ok(4), |text| text.parse())?;
    let position: Chess = fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?;
    let tables = Tablebase::open(folder)?;

    let mut search = Search { tables, nodes: 0, hits: 0 };
    let (score, best) = search.negamax(&position, depth, 0, -MATE, MATE);
    let best = best.map_or_else(String::new, |m| m.to_string());
    println!("score {score}, best {best}, {} nodes, {} table hits", search.nodes, search.hits);
    Ok(())
}

struct Search {
    tables: Tablebase,
    nodes: u64,
    hits: u64,
}

impl Search {
    /// The score of a position for the side to move, `ply` plies below the root, and the best
    /// move.
    fn negamax(
        &mut self,
        position: &Chess,
        depth: u32,
        ply: i32,
        mut alpha: i32,
        beta: i32,
    ) -> (i32, Option<Move>) {
        self.nodes += 1;
        if position.is_checkmate() {
            return (ply - MATE, None);
        }
        if position.is_stalemate() || position.is_insufficient_material() {
            return (0, None);
        }
        // At the root the move is wanted, not the score.
        if ply > 0
            && let Some(score) = self.ask(position, ply)
        {
            return (score, None);
        }
        if depth == 0 {
            return (material(position), None);
        }

        let mut best = (-MATE, None);
        for m in position.legal_moves() {
            let mut next = position.clone();
            next.play_unchecked(m);
            let score = -self.negamax(&next, depth - 1, ply + 1, -beta, -alpha).0;
            if score > best.0 || best.1.is_none() {
                best = (score, Some(m));
            }
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// The score that tables prove: a mate in `n` plies from here is one in `ply + n` from the
    /// root.
    fn ask(&mut self, position: &Chess, ply: i32) -> Option<i32> {
        let value = self.tables.value(position).ok()?;
        self.hits += 1;
        let distance = |plies: Option<hoffman::Plies>| plies.map_or(1_000, |plies| plies.0 as i32);
        match value {
            Value::Win { plies } => Some(MATE - ply - distance(plies)),
            Value::Draw => Some(0),
            Value::Loss { plies } => Some(ply + distance(plies) - MATE),
            // Half a proof is no score.
            _ => None,
        }
    }
}

/// What is left on the board, in hundredths of a pawn, for the side to move.
fn material(position: &Chess) -> i32 {
    let count = position.board().material().map(|side| {
        let worth = [side.pawn, side.knight, side.bishop, side.rook, side.queen];
        let worth = worth.map(i32::from).into_iter().zip([100, 300, 300, 500, 900]);
        worth.map(|(count, each)| count * each).sum::<i32>()
    });
    let (own, other) = (position.turn(), position.turn().other());
    count.get(own) - count.get(other)
}

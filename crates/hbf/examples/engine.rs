//! What an engine in Rust needs, whole: `docs/engines.md` explains it. With the name of a folder it
//! answers a few positions.
use hoffman_hbf::{
    Move, Position, Tablebase, Value, before, legal_moves, outcome, parse_fen, value_of,
};

const MATE: i32 = 32_000;

/// Once at the start, and again whenever the user sets the path. Searching threads share it.
pub(crate) fn open(folders: &[&str]) -> std::io::Result<Tablebase> {
    let mut tables = Tablebase::new(64 << 20);
    for folder in folders {
        tables.add_folder(folder.as_ref())?;
    }
    Ok(tables)
}

/// In the search, behind the tests of repetition and of fifty moves and before moves are generated:
/// the score of this node, for the side to move, and the search goes no deeper. None: search on.
pub(crate) fn probe(tables: &Tablebase, position: &Position, ply: i32) -> Option<i32> {
    let value = value_of(tables.probe(position).ok()?)?;
    let mate = MATE - ply - value.plies() as i32;
    Some(match value {
        Value::Win(_) => mate,
        Value::Draw => 0,
        Value::Loss(_) => -mate,
    })
}

/// At the root: the moves that hold the result, best first. The search looks at these only, and at
/// all where there are none, since a table is missing.
pub(crate) fn root_moves(tables: &Tablebase, position: &Position) -> Vec<Move> {
    let mut all = Vec::new();
    legal_moves(position, |m| all.push((tables.probe(&m.after).map_or(0, before), *m)));
    all.sort_by_key(|(code, _)| std::cmp::Reverse(*code));
    let is_known = all.iter().all(|(code, _)| *code != 0);
    let best = all.first().map(|(code, _)| outcome(*code)).filter(|_| is_known);
    all.into_iter().filter(|(code, _)| Some(outcome(*code)) == best).map(|(_, m)| m).collect()
}

#[allow(dead_code)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder of tables")?;
    let tables = open(&[&folder])?;
    for fen in ["8/8/8/3k4/8/8/1Q6/K6r w - -", "8/8/8/3k4/8/8/1Q6/K6r b - -"] {
        let position = parse_fen(fen).ok_or("no position")?;
        let best = root_moves(&tables, &position).first().map(|m| (m.from, m.to));
        println!("{fen}: {:?}, best {best:?}", probe(&tables, &position, 0));
    }
    Ok(())
}

//! Counts what the tables of a folder hold, and compares that with the published counts and longest
//! mates of all endings of three to five men.
//!
//! `cargo run --release -p hoffman-oracle --example published -- FOLDER`
//!
//! Tables are found by their names, `krpkr.htb` or `krpkr.hbf`; what several of them lean on is
//! decoded once. Ends with 1 if one is missing or differs.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use hoffman_board::{Color, Material, Role, Square, Value};
use hoffman_oracle::{KnownStats, Longest, known_stats};
use hoffman_probe::collection::Collection;
use hoffman_probe::position::Position;
use hoffman_probe::reading::ReadOptions;
use hoffman_probe::stats::{SideStats, stats};
use hoffman_run::available_memory;
use hoffman_table::SharedValues;
use hoffman_table::blocks::names_of;

/// The most memory for the entries of a table, where nothing says how much is free.
const USUAL_MEMORY: u64 = 6 << 30;

/// Half of the memory that is free now.
fn half_of_memory() -> u64 {
    available_memory().map_or(USUAL_MEMORY, |free| free / 2)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder with tables")?;
    let (begun, mut legal) = (Instant::now(), 0);
    let (mut as_published, mut others) = (0, 0);
    let reading = ReadOptions::new().sharing(Arc::new(SharedValues::new(half_of_memory())));

    for known in known_stats() {
        let Some(path) = table_of(Path::new(&folder), &known) else {
            println!("{}: there is no table", known.name);
            others += 1;
            continue;
        };
        let differences = compare(&path, &known, &reading)?;
        for difference in &differences {
            println!("{}: {difference}", known.name);
        }
        if differences.is_empty() {
            as_published += 1;
            legal += known.white.legal() + known.black.legal();
        } else {
            others += 1;
        }
        eprintln!("{}: {} s since the beginning", known.name, begun.elapsed().as_secs());
    }

    println!(
        "{as_published} endings have the published counts and longest mates: {legal} positions"
    );
    println!("{others} are missing or differ");
    Ok(if others == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table_of(folder: &Path, known: &KnownStats) -> Option<PathBuf> {
    let name = folder.join(known.material.stem()).with_extension("htb");
    names_of(&name).find(|path| path.is_file())
}

/// What differs, in words.
fn compare(
    path: &Path,
    known: &KnownStats,
    reading: &ReadOptions,
) -> Result<Vec<String>, Box<dyn Error>> {
    // As `hoffman stats` reads it: with less memory tables with two pawns go position by position.
    let mut collection = Collection::with_options(reading.source(256 << 20));
    collection.add_table(path)?;
    let table = collection.tables().next().ok_or("no table")?;
    let found = stats(table, half_of_memory())?;
    let sides = [&found.white_to_move, &found.black_to_move];
    let symmetric = known.material.is_symmetric();
    let mut differences = Vec::new();

    let published = [known.white, known.black];
    for ((color, side), published) in Color::ALL.into_iter().zip(sides).zip(published) {
        let counts = labelled(&collection, &known.material, (color, side))?;
        let published = [published.wins, published.draws, published.losses];
        if counts != published {
            differences.push(format!("{color} to move: {counts:?} instead of {published:?}"));
        }
    }

    let moves = |longest: Option<Longest>| longest.map(|longest| longest.moves);
    let mut longest = [moves(known.longest_white_win), moves(known.longest_black_win)];
    if symmetric {
        longest = [longest[0].max(longest[1]); 2];
    }
    let own = sides.map(|side| side.longest_win_moves);
    if own != longest {
        differences.push(format!("longest wins {own:?} instead of {longest:?}"));
    }
    Ok(differences)
}

/// Wins, draws and losses where identical men are told apart, as what is published tells them
/// apart.
///
/// Each position of `n` identical men is `n!` then. But where a mirror image of a position differs
/// by an exchange of identical men alone, these are half as many.
fn labelled(
    collection: &Collection,
    material: &Material,
    (color, side): (Color, &SideStats),
) -> Result<[u64; 3], Box<dyn Error>> {
    let [wins, draws, losses] = [side.win, side.draw, side.loss].map(|n| n.unwrap_or(0));
    let mut counts = [wins, draws, losses];
    let Some((like, count)) = identical(material) else { return Ok(counts) };
    let orders = if count == 3 { 6 } else { 2 };
    let fixed = if material.has_pawns() {
        [0; 3]
    } else {
        mirrored(collection, material, (like, count), color)?
    };
    for (count, fixed) in counts.iter_mut().zip(fixed) {
        // Turned by half a board each of them is another one.
        *count = *count * orders - fixed / 2 * (orders / 2);
    }
    Ok(counts)
}

/// The men of which there are several, and how many; of up to five men there are no more.
fn identical(material: &Material) -> Option<((Color, Role), u8)> {
    let men = Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| (color, role)));
    men.map(|man| (man, *material.count.get(man.0).get(man.1))).find(|&(_, count)| count > 1)
}

/// How many positions with this side to move are won, drawn and lost, of those with the kings on
/// the long diagonal that are their own mirror images, but for an exchange of two identical men.
fn mirrored(
    collection: &Collection,
    material: &Material,
    (like, count): ((Color, Role), u8),
    color: Color,
) -> Result<[u64; 3], Box<dyn Error>> {
    // One of them stands above the diagonal and its image below; all others stand on it.
    let men = material.men_in_naming_order();
    let kings = Color::ALL.map(|color| (color, Role::King));
    let others = kings.into_iter().chain(men.into_iter().filter(|&man| man != like));
    let on_diagonal: Vec<_> = others.chain(vec![like; usize::from(count) - 2]).collect();
    let mut counts = [0; 3];

    for placement in 0..8_usize.pow(on_diagonal.len() as u32) {
        let files: Vec<usize> =
            (0..on_diagonal.len()).map(|at| placement / 8_usize.pow(at as u32) % 8).collect();
        let distinct = (1..files.len()).all(|at| !files[..at].contains(&files[at]));
        if !distinct || files[0].abs_diff(files[1]) == 1 {
            continue;
        }
        for (file, rank) in (0..8_u32).flat_map(|rank| (0..rank).map(move |file| (file, rank))) {
            let pair = [8 * rank + file, 8 * file + rank].map(|at| (Square::new(at), like));
            let rest = files.iter().zip(&on_diagonal);
            let rest = rest.map(|(&file, &man)| (Square::new(9 * file as u32), man));
            let men = rest.chain(pair).map(|(square, (color, role))| (square, color, role));
            let position = Position::from_men(men, color, None);
            match collection.value(&position)? {
                Some(Value::Win(_)) => counts[0] += 1,
                Some(Value::Draw) => counts[1] += 1,
                Some(Value::Loss(_)) => counts[2] += 1,
                Some(Value::Illegal) | None => {}
            }
        }
    }
    Ok(counts)
}

//! Walks through all positions of a table and finds the mutual zugzwangs, in which either side
//! would rather not be to move. `cargo run --release -p hoffman --example walk -- FOLDER KPvK`.
#![allow(clippy::print_stdout)]

use hoffman::{Color, Error, Options, Position, Role, Square, Tablebase, Wdl};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(ending)) = (arguments.next(), arguments.next()) else {
        println!("name a folder and an ending");
        return Ok(());
    };
    hoffman::build(&[ending.parse()?], &Options::new(&folder), &mut |_| {})?;
    let tables = Tablebase::open(folder)?;

    let (strong, weak) = ending.split_once('v').unwrap_or((&ending, ""));
    let men: Vec<(Color, Role)> = [(strong, Color::White), (weak, Color::Black)]
        .into_iter()
        .flat_map(|(side, color)| {
            side.chars().filter_map(move |c| Some((color, Role::from_char(c)?)))
        })
        .collect();
    let (mut positions, mut zugzwangs) = (0_u64, 0_u64);
    place(&men, &mut Vec::new(), &mut |placed| {
        let at = |turn| Position::from_men(placed.iter().copied(), turn, None);
        // Placements that cannot be, as those with a king in check, are errors and passed over.
        let [white, black] = [Color::White, Color::Black].map(|turn| tables.wdl(at(turn)));
        positions += u64::from(white.is_ok()) + u64::from(black.is_ok());
        if let (Ok(Some(white)), Ok(Some(black))) = (white, black)
            && white < black.negate()
        {
            zugzwangs += 1;
            if zugzwangs <= 5 {
                println!("{}: {}", at(Color::White).fen(), words(white, black));
            }
        }
    });
    println!("{positions} positions, {zugzwangs} mutual zugzwangs");
    Ok(())
}

fn words(white: Wdl, black: Wdl) -> String {
    format!("White to move: {white:?}, Black to move: {black:?}")
}

/// Visits all placements of men on squares of their own.
fn place(
    men: &[(Color, Role)],
    placed: &mut Vec<(Square, Color, Role)>,
    visit: &mut impl FnMut(&[(Square, Color, Role)]),
) {
    let Some((&(color, role), rest)) = men.split_first() else { return visit(placed) };
    for square in Square::ALL {
        if placed.iter().all(|&(taken, ..)| taken != square) {
            placed.push((square, color, role));
            place(rest, placed, visit);
            placed.pop();
        }
    }
}

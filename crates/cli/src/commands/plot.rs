//! `hoffman plot`: pictures of tables and of positions.

mod heat;
mod histogram;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hoffman::{AsPosition as _, HeatMap, Square, SquareHeat, Table};

use crate::RunEnd;
use crate::args::PlotArgs;
use crate::commands::tables;
use crate::output::write_picture;

/// Draws a table, or a position.
pub(crate) fn run(args: &PlotArgs) -> anyhow::Result<RunEnd> {
    let what = args.what.join(" ");
    // A position has blanks or slashes and a piece is named with it; a table is one word.
    let picture = match (args.what.as_slice(), args.piece) {
        ([word], None) if is_table(word) => table(args, Path::new(word))?,
        (_, Some(square)) => position(args, &what, square)?,
        _ => bail!(
            "of a position, one man is put on all squares: say which with --piece SQUARE; \
             a table is one file or ending"
        ),
    };
    write_picture(&args.output, &picture)?;
    Ok(RunEnd::Done)
}

fn is_table(word: &str) -> bool {
    // The men of a FEN are eight ranks with seven slashes between them.
    word.matches('/').count() != 7 || Table::is_named(Path::new(word))
}

fn table(args: &PlotArgs, named: &Path) -> anyhow::Result<String> {
    let folder = args.at_hand.folder()?;
    let reading = args.at_hand.reading()?;
    let table = tables::open(named, folder.as_deref(), &reading)?;
    let stats = table.stats()?;
    let sides = [&stats.white_to_move, &stats.black_to_move];
    if sides.iter().all(|side| side.histogram.is_empty()) {
        bail!("{}: there are no distances to draw", table.path().display());
    }
    Ok(histogram::draw(&stats))
}

fn position(args: &PlotArgs, fen: &str, square: Square) -> anyhow::Result<String> {
    let no_tables: &[PathBuf] = &[];
    let tables = tables::tablebase(no_tables, &args.at_hand)?;
    let position = fen.as_position(tables.variant())?.into_owned();
    let map = HeatMap::of(&position, square, |position| tables.value(position));
    let map = map.with_context(|| format!("no man stands on {square}"))?;
    if !map.squares.iter().any(|(_, heat)| matches!(heat, SquareHeat::Value(_))) {
        bail!("no table at hand tells the value of any square");
    }
    Ok(heat::draw(&position, &map))
}

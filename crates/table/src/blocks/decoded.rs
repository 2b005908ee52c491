//! All cells of a file in memory.

use hoffman_hbf::{CellPlace, CellStream, Code, DRAW, HbfFile};
use rayon::prelude::*;

use crate::htb::{HtbError, SourceOptions};
use crate::reader::TableProblem;

/// The cells of all streams.
#[derive(Debug)]
pub(super) struct Decoded {
    /// By the number of the stream.
    streams: Vec<Option<DecodedStream>>,
}

#[derive(Debug)]
struct DecodedStream {
    tile_cells: u64,
    cells: Cells,
}

/// Codes of cells, tile by tile.
#[derive(Debug)]
enum Cells {
    /// One byte each: distances of up to 126 moves.
    Narrow(Vec<u8>),
    /// Two bytes each.
    Wide(Vec<u16>),
}

/// The longest distance in moves that has a byte.
const NARROW: u16 = 126;

/// The byte of a code with a short distance; 0 for any other.
const fn narrow(code: Code) -> u8 {
    match code {
        DRAW => 128,
        1..=127 => code as u8,
        0xff82.. => (code & 0xff) as u8,
        _ => 0,
    }
}

const fn widened(byte: u8) -> Code {
    match byte {
        128 => DRAW,
        129.. => 0xff00 | byte as Code,
        _ => byte as Code,
    }
}

impl Decoded {
    /// None if they do not fit into the memory that is allowed.
    pub(super) fn of(
        file: &HbfFile,
        options: &SourceOptions,
    ) -> Result<Option<Decoded>, TableProblem> {
        let streams = file.cell_streams();
        let short = |stream: &CellStream| {
            let info = file.info();
            let longest = [info.longest_wins, info.longest_losses].map(|l| l[stream.turn as usize]);
            stream.outcomes
                || longest.into_iter().all(|longest| longest.is_some_and(|l| l <= NARROW))
        };
        let cells =
            |stream: &CellStream| stream.blocks.saturating_mul(64 * stream.tile_cells as u64);
        let bytes = streams.iter().map(|s| cells(s).saturating_mul(if short(s) { 1 } else { 2 }));
        if bytes.fold(0, u64::saturating_add) > options.memory_limit {
            return Ok(None);
        }

        let mut decoded = Decoded { streams: Vec::new() };
        for stream in streams {
            let cells = if short(&stream) {
                Cells::Narrow(all(file, &stream, options, narrow)?)
            } else {
                Cells::Wide(all(file, &stream, options, |code| code)?)
            };
            let number = usize::from(stream.number);
            decoded.streams.resize_with(decoded.streams.len().max(number + 1), || None);
            decoded.streams[number] =
                Some(DecodedStream { tile_cells: stream.tile_cells as u64, cells });
        }
        Ok(Some(decoded))
    }

    /// What a cell holds.
    pub(super) fn code(&self, cell: CellPlace) -> Code {
        let Some(Some(stream)) = self.streams.get(usize::from(cell.stream)) else { return DRAW };
        let at = (cell.tile * stream.tile_cells) as usize + usize::from(cell.at);
        match &stream.cells {
            Cells::Narrow(cells) => cells.get(at).map_or(DRAW, |&byte| widened(byte)),
            Cells::Wide(cells) => cells.get(at).copied().unwrap_or(DRAW),
        }
    }
}

/// The cells of a stream, block by block on all threads.
fn all<T: Copy + Default + Send>(
    file: &HbfFile,
    stream: &CellStream,
    options: &SourceOptions,
    of: impl Fn(Code) -> T + Sync,
) -> Result<Vec<T>, TableProblem> {
    let block = 64 * stream.tile_cells;
    let mut cells = vec![T::default(); stream.blocks as usize * block];
    cells.par_chunks_mut(block).enumerate().try_for_each(|(number, cells)| {
        if options.stop.is_requested() {
            return Err(TableProblem::from(HtbError::Stopped));
        }
        let mut tiles = cells.chunks_mut(stream.tile_cells);
        file.decode_block(stream, number as u64, |_, codes| {
            if let Some(tile) = tiles.next() {
                tile.iter_mut().zip(codes).for_each(|(cell, &code)| *cell = of(code));
            }
        })?;
        Ok::<(), TableProblem>(())
    })?;
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_short_distances_have_a_byte() {
        for moves in 0..=NARROW {
            let win = hoffman_hbf::Value::Win(moves.max(1));
            for value in [hoffman_hbf::Value::Loss(moves), hoffman_hbf::Value::Draw, win] {
                let code = hoffman_hbf::code_of(value);
                assert_eq!(widened(narrow(code)), code, "{value:?}");
            }
        }
    }
}

//! Entries by their indices.

use hoffman_control::ControlFile;
use hoffman_hbf::{HbfError, HbfFile, Mode};

use super::tiles::Tiles;
use crate::entries::{EntryError, RawEntry};
#[cfg(feature = "bulk")]
use crate::htb::HtbError;
use crate::htb::SourceOptions;
use crate::reader::TableProblem;
use crate::source::{Entries, Shape};
#[cfg(feature = "bulk")]
use crate::stop::Stop;

/// Entries of a file of the block format.
#[derive(Debug)]
pub(super) struct BlockEntries {
    file: HbfFile,
    tiles: Tiles,
    /// Entries of a tile; none of a file without them.
    tile: Option<u64>,
    #[cfg(feature = "bulk")]
    stop: Stop,
}

impl BlockEntries {
    pub(super) fn new(file: HbfFile, options: SourceOptions) -> BlockEntries {
        let (tile, tiles) = (file.tile_entries().ok(), Tiles::new(options.cache));
        BlockEntries {
            file,
            tiles,
            tile,
            #[cfg(feature = "bulk")]
            stop: options.stop,
        }
    }

    fn tile_entries(&self) -> Result<u64, TableProblem> {
        self.tile.ok_or_else(|| HbfError::Section("STRM".to_owned()).into())
    }

    /// The number of an entry from its bits.
    fn extended(shape: &Shape, bits: u16) -> Result<RawEntry, TableProblem> {
        let bytes = u64::from(bits).to_le_bytes();
        let entries = 1;
        let short = EntryError::Short { bytes: bytes.len(), entries, bits: shape.codec.bits() };
        Ok(shape.codec.get(&bytes, 0).ok_or(short)?)
    }

    /// Refuses a file that holds something else than its header says.
    fn check_shape(&self, shape: &Shape) -> Result<(), TableProblem> {
        let (expected, width) = (shape.space.size(), shape.codec.bits());
        match self.file.info().mode {
            Mode::Generic { entries, bits } if bits == width => {
                let fits = entries == expected;
                let length = TableProblem::Length { found: entries, expected };
                if fits { Ok(()) } else { Err(length) }
            }
            _ => Err(TableProblem::NoBits),
        }
    }

    /// Packs the entries of a part of the tiles.
    #[cfg(feature = "bulk")]
    fn pack_part(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        let bits = usize::from(shape.codec.bits());
        let size = self.tile_entries()?;
        // The area may end within a group of eight.
        let end = shape.space.size().min(first + (area.len() * 8).div_ceil(bits) as u64);
        let (mut at, mut numbers) = (first, Vec::new());
        while at < end {
            if self.stop.is_requested() {
                return Err(HtbError::Stopped.into());
            }
            let begin = at - at % size;
            let tile = self.file.entry_tile(begin)?;
            let wanted = (at - begin) as usize..tile.len().min((end - begin) as usize);
            for &bits in tile.get(wanted).unwrap_or_default() {
                numbers.push(Self::extended(shape, bits)?.0);
            }
            at = begin + tile.len() as u64;
        }
        let mut packed = Vec::new();
        shape.codec.pack(&numbers, &mut packed)?;
        let (bytes, entries, bits) = (packed.len(), numbers.len(), shape.codec.bits());
        let short = EntryError::Short { bytes, entries, bits };
        area.copy_from_slice(packed.get(..area.len()).ok_or(short)?);
        Ok(())
    }
}

impl Entries for BlockEntries {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let size = self.tile_entries()?;
        let (first, at) = (index - index % size, (index % size) as usize);
        let number = self.tiles.number(first / size, at, |_| self.file.entry_tile(first))?;
        let past = || TableProblem::Length { found: index, expected: shape.space.size() };
        Self::extended(shape, number.ok_or_else(past)?)
    }

    fn cached_value(
        &self,
        shape: &Shape,
        index: u64,
        turn: hoffman_board::Color,
    ) -> Option<crate::entries::EntryValue> {
        let size = self.tile?;
        let bits = self.tiles.cached(index / size, (index % size) as usize)?;
        Some(shape.value(Self::extended(shape, bits).ok()?, turn))
    }

    #[cfg(feature = "bulk")]
    fn pack(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        use rayon::prelude::*;

        // Parts begin where blocks do, as far as `first` does.
        let part = self.tile_entries()?.saturating_mul(4) as usize;
        area.par_chunks_mut(part / 8 * usize::from(shape.codec.bits()))
            .enumerate()
            .try_for_each(|(at, area)| self.pack_part(shape, first + (at * part) as u64, area))
    }

    fn settle(
        &mut self,
        shape: &Shape,
        _header: &ControlFile,
    ) -> Result<Option<String>, TableProblem> {
        self.check_shape(shape)?;
        Ok(None)
    }

    #[cfg(feature = "bulk")]
    fn check(&self) -> Result<(), TableProblem> {
        Ok(self.file.check()?)
    }

    #[cfg(feature = "bulk")]
    fn verify(&self, shape: &Shape, _: &ControlFile) -> Result<Option<String>, TableProblem> {
        self.check_shape(shape)?;
        self.file.check()?;
        Ok(None)
    }

    fn fingerprint(&self) -> Option<Vec<u8>> {
        self.file.fingerprint().ok()
    }

    fn is_of_blocks(&self) -> bool {
        true
    }
}

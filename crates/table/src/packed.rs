//! The entries of a file of ours.

use hoffman_board::Color;
use hoffman_control::ControlFile;

use crate::entries::{EntryValue, RawEntry};
#[cfg(feature = "bulk")]
use crate::htb::BlockIndex;
use crate::htb::GzipSource;
use crate::reader::{MAX_PREFIX, TableProblem};
use crate::source::{Entries, Shape};

/// Entries packed one behind the other, in a container.
#[derive(Debug)]
pub(crate) struct PackedFile {
    source: GzipSource,
    /// Where they begin in the uncompressed stream.
    start: u64,
}

impl PackedFile {
    /// The entries of a container with this header.
    pub(crate) fn new(source: GzipSource, header: &ControlFile, shape: &Shape) -> PackedFile {
        let start = header.offset;
        let most = start.saturating_add(shape.area_bytes()).saturating_add(MAX_PREFIX as u64);
        source.set_limit(most);
        PackedFile { source, start }
    }

    /// By how many bytes the header lets the entries begin too early: versions of the original
    /// program count letters instead of bytes.
    fn delay(&self, shape: &Shape, header: &ControlFile) -> Result<u64, TableProblem> {
        let found = self.source.uncompressed_len()?;
        let expected = header.offset.saturating_add(shape.area_bytes());
        let letters = header.text().chars().count();
        let extra = (header.text().len() - letters) as u64;
        match found.checked_sub(expected) {
            Some(0) => Ok(0),
            Some(delay) if delay == extra => Ok(delay),
            _ => Err(TableProblem::Length { found, expected }),
        }
    }
}

impl Entries for PackedFile {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let mut bytes = [0; 8];
        let (at, len) = shape.codec.byte_range(index);
        let buf = bytes.get_mut(..len).ok_or(TableProblem::NoHeader)?;
        self.source.read_at(self.start.saturating_add(at), buf)?;
        shape.codec.get_within(&bytes, index).ok_or(TableProblem::NoHeader)
    }

    fn cached_value(&self, shape: &Shape, index: u64, turn: Color) -> Option<EntryValue> {
        let mut bytes = [0; 8];
        let (at, len) = shape.codec.byte_range(index);
        let buf = bytes.get_mut(..len)?;
        if !self.source.read_cached(self.start.saturating_add(at), buf) {
            return None;
        }
        Some(shape.value(shape.codec.get_within(&bytes, index)?, turn))
    }

    #[cfg(feature = "bulk")]
    fn pack(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        // The header may say anything of where entries begin.
        let at =
            (first / 8).saturating_mul(u64::from(shape.codec.bits())).saturating_add(self.start);
        Ok(self.source.read_parallel(at, area)?)
    }

    #[cfg(feature = "bulk")]
    fn together(&self, shape: &Shape) -> u64 {
        let stride = self.source.block_index().map_or(1 << 20, BlockIndex::stride);
        stride.saturating_mul(8) / u64::from(shape.codec.bits())
    }

    fn settle(
        &mut self,
        shape: &Shape,
        header: &ControlFile,
    ) -> Result<Option<String>, TableProblem> {
        let delay = self.delay(shape, header)?;
        self.start = header.offset + delay;
        let remark = || {
            format!(
                "the header counts characters instead of bytes; the entries begin at {}",
                self.start
            )
        };
        Ok((delay > 0).then(remark))
    }

    fn is_soon_settled(&self) -> bool {
        // Other compressed files have to be inflated to their ends.
        self.source.block_index().is_some() || !self.source.is_compressed()
    }

    #[cfg(feature = "bulk")]
    fn check(&self) -> Result<(), TableProblem> {
        Ok(self.source.check()?)
    }

    #[cfg(feature = "bulk")]
    fn verify(&self, shape: &Shape, header: &ControlFile) -> Result<Option<String>, TableProblem> {
        self.source.verify()?;
        let remark = "the header counts characters instead of bytes (a defect of the original)";
        Ok((self.delay(shape, header)? > 0).then(|| remark.to_owned()))
    }

    fn fingerprint(&self) -> Option<Vec<u8>> {
        Some(self.source.block_index()?.to_bytes())
    }
}

//! Reading much of a container at once, with all threads.

use rayon::prelude::*;

use super::source::{GzipSource, Kind};
use super::{BlockIndex, HtbError, foreign};
use crate::entries::{EntryCodec, Number};

impl GzipSource {
    /// Fills `out` with the bytes at `offset`, inflating in parallel the blocks that are not in the cache, and
    /// leaving the cache as it is.
    ///
    /// # Errors
    /// Damage, and ranges that pass the end.
    pub fn read_parallel(&self, offset: u64, out: &mut [u8]) -> Result<(), HtbError> {
        let Kind::Indexed { index, first } = &self.kind else {
            return self.read_at(offset, out);
        };
        let end = offset.saturating_add(out.len() as u64);
        if end > index.len {
            return Err(HtbError::PastEnd { end, len: index.len });
        }
        let mut parts = Vec::new();
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let within = (at & (index.stride() - 1)) as usize;
            let len = rest.len().min(index.stride() as usize - within);
            let (part, tail) = rest.split_at_mut(len);
            parts.push(((at >> index.stride_log2) as usize, within, part));
            at += len as u64;
            rest = tail;
        }
        parts.into_par_iter().try_for_each_init(Vec::new, |buffer, (block, within, part)| {
            if let Some(data) = self.cache.get(self.id, block as u64)
                && let Some(data) = data.get(within..within + part.len())
            {
                part.copy_from_slice(data);
                return Ok(());
            }
            let len = Self::checked_len(index, block)?;
            if part.len() == len {
                return self.inflate_block(index, *first, block, part);
            }
            buffer.resize(len, 0);
            self.inflate_block(index, *first, block, buffer)?;
            part.copy_from_slice(&buffer[within..within + part.len()]);
            Ok(())
        })
    }

    /// Unpacks the entries `first..first + out.len()` of the area that begins at `area`, in parallel.
    /// `first` must be a multiple of eight.
    ///
    /// # Errors
    /// Damage, and ranges that pass the end.
    pub fn read_entries<T: Number>(
        &self,
        codec: &EntryCodec,
        area: u64,
        first: u64,
        out: &mut [T],
    ) -> Result<(), HtbError> {
        debug_assert_eq!(first % 8, 0);
        let bits = u64::from(codec.bits());
        let stride = self.block_index().map_or(foreign::BLOCK as u64, BlockIndex::stride);
        // A window of at least a block a thread keeps all threads busy and the scratch space small. It is a
        // whole number of groups, and its pieces are too.
        let threads = rayon::current_num_threads() as u64;
        let window = (stride.saturating_mul(threads).max(64 << 20) / bits * 8) as usize;
        let mut bytes = Vec::new();
        let mut at = area.saturating_add((first / 8).saturating_mul(bits));
        for numbers in out.chunks_mut(window) {
            bytes.clear();
            bytes.resize((numbers.len() as u64 * bits).div_ceil(8) as usize, 0);
            self.read_parallel(at, &mut bytes)?;
            let group = 1 << 14;
            numbers
                .par_chunks_mut(group * 8)
                .zip(bytes.par_chunks(group * bits as usize))
                .try_for_each(|(numbers, bytes)| codec.unpack(bytes, numbers))?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Compares the checksums of all blocks, without inflating them. A file without our block index is
    /// read to its end.
    ///
    /// # Errors
    /// Damage.
    pub fn check(&self) -> Result<(), HtbError> {
        match &self.kind {
            Kind::Indexed { index, first } => (0..index.blocks())
                .into_par_iter()
                .try_for_each(|block| self.read_block(index, *first, block).map(drop)),
            _ => self.uncompressed_len().map(drop),
        }
    }

    /// Reads the whole stream and compares every checksum.
    ///
    /// # Errors
    /// Damage.
    pub fn verify(&self) -> Result<(), HtbError> {
        match &self.kind {
            Kind::Indexed { index, first } => {
                (0..index.blocks()).into_par_iter().try_for_each_init(Vec::new, |buffer, block| {
                    buffer.resize(Self::checked_len(index, block)?, 0);
                    self.inflate_block(index, *first, block, buffer)
                })
            }
            _ => self.uncompressed_len().map(drop),
        }
    }
}

//! Reading much of a container at once, with all threads.

use rayon::prelude::*;

use super::HtbError;
use super::source::{GzipSource, Packing};

impl GzipSource {
    /// Fills `out` with the bytes at `offset`, inflating in parallel the blocks that are not in
    /// the cache, and leaving the cache as it is.
    ///
    /// # Errors
    /// Damage, and ranges that pass the end.
    pub fn read_parallel(&self, offset: u64, out: &mut [u8]) -> Result<(), HtbError> {
        let Packing::Indexed { index, first } = &self.packing else {
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
            self.check_stop()?;
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

    /// Compares the checksums of all blocks, without inflating them. A file without our block
    /// index is read to its end.
    ///
    /// # Errors
    /// Damage.
    pub fn check(&self) -> Result<(), HtbError> {
        match &self.packing {
            Packing::Indexed { index, first } => {
                (0..index.blocks()).into_par_iter().try_for_each(|block| {
                    self.check_stop()?;
                    self.read_block(index, *first, block).map(drop)
                })
            }
            _ => self.uncompressed_len().map(drop),
        }
    }

    /// Reads the whole stream and compares every checksum.
    ///
    /// # Errors
    /// Damage.
    pub fn verify(&self) -> Result<(), HtbError> {
        match &self.packing {
            Packing::Indexed { index, first } => {
                (0..index.blocks()).into_par_iter().try_for_each_init(Vec::new, |buffer, block| {
                    self.check_stop()?;
                    buffer.resize(Self::checked_len(index, block)?, 0);
                    self.inflate_block(index, *first, block, buffer)
                })
            }
            _ => self.uncompressed_len().map(drop),
        }
    }
}

//! Writing a container: blocks compressed in parallel, the block index filled in at the end.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::block_index::{BlockIndex, ID};
use super::deflate::{Compression, Deflater};
#[cfg(test)]
use super::member::FIXED;
use super::member::{FEXTRA, fixed_part};
use super::{HtbError, LAST_BLOCK, during};

/// Uncompressed bytes that are compressed at once, at most: larger blocks are made of several
/// units, smaller ones are one.
const UNIT_LOG2: u8 = 19;
const UNIT: usize = 1 << UNIT_LOG2;
/// Largest units that are collected for each thread before all get to work, if there is more than
/// one: more is fresh memory, which the system takes its time to clear.
const BATCH: usize = 4;

/// Writes one gzip member whose uncompressed length is known beforehand.
///
/// Data comes through [`Write`] in pieces of any size. The output is the same for every number of
/// threads. [`GzipWriter::finish`] must be called; a writer that is dropped leaves a useless file.
#[derive(Debug)]
pub struct GzipWriter<W: Write + Seek> {
    out: W,
    /// Where the member begins in `out`.
    origin: u64,
    compression: Compression,
    /// Compressors that are not at work.
    idle: Mutex<Vec<Deflater>>,
    /// The length of a unit.
    unit: usize,
    /// Largest units that are collected before the threads get to work.
    batch: usize,
    header_len: usize,
    pending: Vec<u8>,
    received: u64,
    index: BlockIndex,
    compressed: u64,
    /// The checksum of the current block of the index, and the units it has.
    block: Option<crc32fast::Hasher>,
    block_units: u64,
    whole: crc32fast::Hasher,
}

impl<W: Write + Seek> GzipWriter<W> {
    /// A writer for `len` bytes of data, the member beginning at the current position of `out`.
    ///
    /// # Errors
    /// Output errors, and lengths whose index has no room (beyond several tebibytes).
    pub fn new(mut out: W, len: u64, compression: Compression) -> Result<GzipWriter<W>, HtbError> {
        let header_len = BlockIndex::header_len(len).ok_or(HtbError::TooLong { limit: 1 << 44 })?;
        let origin = out.stream_position().map_err(during("cannot write the output file"))?;
        out.write_all(&vec![0; header_len]).map_err(during("cannot write the output file"))?;
        let stride_log2 = BlockIndex::stride_for(len);
        let index = BlockIndex { stride_log2, len, starts: vec![0], crcs: Vec::new() };
        Ok(GzipWriter {
            out,
            origin,
            compression,
            unit: unit_of(stride_log2),
            idle: Mutex::default(),
            batch: match rayon::current_num_threads() {
                1 => 1,
                threads => BATCH * threads,
            },
            header_len,
            pending: Vec::new(),
            received: 0,
            index,
            compressed: 0,
            block: None,
            block_units: 0,
            whole: crc32fast::Hasher::new(),
        })
    }

    /// Collects another number of units of 512 KiB than usual before they are compressed side by
    /// side: fewer need less memory. Before anything is written.
    pub fn set_batch(&mut self, units: usize) {
        self.batch = units.max(1);
    }

    /// The same by memory: what is collected and what it is compressed to fit into so many bytes.
    /// Never more than usual.
    pub fn set_memory(&mut self, bytes: u64) {
        let units = bytes / (2 * UNIT as u64);
        self.set_batch(usize::try_from(units).unwrap_or(self.batch).min(self.batch));
    }

    /// Takes another stride than the length demands, before anything is written.
    #[cfg(test)]
    pub(super) fn set_stride_for_tests(&mut self, stride_log2: u8) {
        self.index.stride_log2 = stride_log2;
        self.unit = unit_of(stride_log2);
        let blocks = self.index.len.div_ceil(1 << stride_log2) as usize;
        self.header_len = FIXED + 2 + 4 + 16 + 4 + blocks * 7;
        let _ = self.out.seek(SeekFrom::Start(self.origin + self.header_len as u64));
    }

    /// Compresses the data collected, in whole units; all of it if `is_last`.
    fn compress_pending(&mut self, is_last: IsLast) -> io::Result<()> {
        let ready = match is_last {
            IsLast::Yes => self.pending.len(),
            IsLast::No => self.pending.len() / self.unit * self.unit,
        };
        let (idle, compression) = (&self.idle, self.compression);
        let units: Vec<_> = self.pending[..ready]
            .par_chunks(self.unit)
            .map(|unit| {
                let deflater = locked(idle).pop();
                let mut deflater = deflater.unwrap_or_else(|| Deflater::new(compression));
                let bytes = deflater.unit(unit)?;
                locked(idle).push(deflater);
                let mut crc = crc32fast::Hasher::new();
                crc.update(unit);
                Ok((bytes, crc))
            })
            .collect::<io::Result<_>>()?;
        self.pending.drain(..ready);
        for (bytes, crc) in units {
            self.out.write_all(&bytes)?;
            self.compressed += bytes.len() as u64;
            self.whole.combine(&crc);
            self.block.get_or_insert_default().update(&bytes);
            self.block_units += 1;
            if self.block_units * self.unit as u64 == self.index.stride() {
                self.close_block();
            }
        }

        Ok(())
    }

    fn close_block(&mut self) {
        if let Some(crc) = self.block.take() {
            self.index.crcs.push(crc.finalize());
            self.index.starts.push(self.compressed);
            self.block_units = 0;
        }
    }

    /// Writes what is left and the trailer, fills in the header and returns the output, its
    /// position behind the member.
    ///
    /// # Errors
    /// Output errors, and another amount of data than announced.
    pub fn finish(mut self) -> Result<W, HtbError> {
        if self.received != self.index.len {
            return Err(HtbError::Length { written: self.received, expected: self.index.len });
        }
        self.write_rest().map_err(during("cannot write the output file"))?;
        Ok(self.out)
    }

    fn write_rest(&mut self) -> io::Result<()> {
        self.compress_pending(IsLast::Yes)?;
        self.close_block();
        self.out.write_all(&LAST_BLOCK)?;
        self.out.write_all(&self.whole.clone().finalize().to_le_bytes())?;
        self.out.write_all(&(self.index.len as u32).to_le_bytes())?;
        let end = self.out.stream_position()?;
        let data = self.index.to_data();
        let mut header = fixed_part(FEXTRA).to_vec();
        header.extend_from_slice(&(data.len() as u16 + 4).to_le_bytes());
        header.extend_from_slice(&ID);
        header.extend_from_slice(&(data.len() as u16).to_le_bytes());
        header.extend_from_slice(&data);
        debug_assert_eq!(header.len(), self.header_len);
        self.out.seek(SeekFrom::Start(self.origin))?;
        self.out.write_all(&header)?;
        self.out.seek(SeekFrom::Start(end))?;
        self.out.flush()
    }
}

/// The length of a unit for blocks of a stride.
fn unit_of(stride_log2: u8) -> usize {
    1 << stride_log2.min(UNIT_LOG2)
}

/// No code panics while it holds the lock.
fn locked(idle: &Mutex<Vec<Deflater>>) -> MutexGuard<'_, Vec<Deflater>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy)]
enum IsLast {
    Yes,
    No,
}

impl<W: Write + Seek> Write for GzipWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = self.batch * UNIT - self.pending.len();
        let taken = data.len().min(room);
        self.pending.extend_from_slice(&data[..taken]);
        self.received += taken as u64;
        if self.received > self.index.len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "more data than the container was made for",
            ));
        }
        if taken == room {
            self.compress_pending(IsLast::No)?;
        }
        Ok(taken)
    }

    /// Passes on what is written already; data that does not fill a unit stays.
    fn flush(&mut self) -> io::Result<()> {
        self.compress_pending(IsLast::No)?;
        self.out.flush()
    }
}

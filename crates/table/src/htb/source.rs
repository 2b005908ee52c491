//! Reading a container: any offset of the uncompressed stream, from any thread.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hoffman_store::{Storage, StoredFile, files};
use libdeflater::Decompressor;

use super::block_index::{BlockIndex, ID};
use super::foreign::{self, Foreign};
use super::member::{self, MAX_HEADER};
use super::{BlockCache, HtbError, LAST_BLOCK, corrupt, during};
use crate::stop::Stop;

/// Bytes that can be read at any place, without a common position.
pub trait ReadAt: Send + Sync + std::fmt::Debug {
    /// Reads at most `buf.len()` bytes at `offset`; 0 at the end.
    ///
    /// # Errors
    /// Those of the operating system.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The number of bytes.
    ///
    /// # Errors
    /// Those of the operating system.
    fn byte_len(&self) -> io::Result<u64>;
}

impl ReadAt for Box<dyn StoredFile> {
    fn byte_len(&self) -> io::Result<u64> {
        self.as_ref().byte_len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_ref().read_at(buf, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|o| self.get(o..)).unwrap_or(&[]);
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// How many times longer than its compressed form data can be: what deflate can do at most.
const MOST: u64 = 1032;

/// Fills `buf` as far as there are bytes.
pub(super) fn read_up_to(
    file: &dyn ReadAt,
    buf: &mut [u8],
    offset: u64,
) -> Result<usize, HtbError> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(during("cannot read the table")(e)),
        }
    }
    Ok(done)
}

/// How a source is read.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Where files are.
    pub storage: Arc<dyn Storage>,
    /// Where inflated blocks are held.
    pub cache: Arc<BlockCache>,
    /// How many bytes of a gzip file without a block index are kept inflated.
    pub memory_limit: u64,
    /// How many bytes the values of a block file may take that is wanted as a whole, together with
    /// those of the tables behind it. One that needs more is read position by position.
    pub whole_limit: u64,
    /// The most bytes the uncompressed stream may have; see [`GzipSource::set_limit`].
    pub limit: u64,
    /// Asked between blocks where many of them are read.
    pub stop: Stop,
    /// Where the tables are looked for that a block file leans on, if they are not beside it.
    pub behind: Vec<PathBuf>,
    /// Where the values of tables that others lean on are kept for further ones, if anywhere.
    #[cfg(feature = "bulk")]
    pub values: Option<Arc<crate::shared::SharedValues>>,
}

impl Default for SourceOptions {
    /// The disk, a cache of 64 MiB of its own, 1 GiB kept and half as much again for whole block
    /// files, no limit of length.
    fn default() -> SourceOptions {
        SourceOptions {
            storage: files(),
            cache: BlockCache::new(64 << 20),
            memory_limit: 1 << 30,
            whole_limit: 3 << 29,
            limit: u64::MAX,
            stop: Stop::default(),
            behind: Vec::new(),
            #[cfg(feature = "bulk")]
            values: None,
        }
    }
}

/// The uncompressed stream of a file: of ours, of another gzip program, or not compressed at all.
#[derive(Debug)]
pub struct GzipSource {
    file: Box<dyn ReadAt>,
    pub(super) packing: Packing,
    pub(super) cache: Arc<BlockCache>,
    pub(super) id: u64,
    limit: AtomicU64,
    stop: Stop,
}

/// How the entries are packed.
#[derive(Debug)]
pub(super) enum Packing {
    Plain,
    Indexed { index: BlockIndex, first: u64 },
    Foreign(Box<Foreign>),
}

impl GzipSource {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read. Damage shows when the damaged part is read.
    pub fn open(path: impl AsRef<Path>, options: SourceOptions) -> Result<GzipSource, HtbError> {
        let file = options.storage.open(path.as_ref()).map_err(during("cannot open the table"))?;
        GzipSource::new(Box::new(file), options)
    }

    /// Reads from anything.
    ///
    /// # Errors
    /// See [`GzipSource::open`].
    pub fn new(file: Box<dyn ReadAt>, options: SourceOptions) -> Result<GzipSource, HtbError> {
        let mut head = vec![0; MAX_HEADER];
        let got = read_up_to(&*file, &mut head, 0)?;
        head.truncate(got);
        let index = member::parse(&head).and_then(|header| {
            let index = BlockIndex::from_data(member::subfield(header.extra, ID)?)?;
            Some((index, header.len as u64))
        });
        let packing = match (head.first(), index) {
            (_, Some((index, first))) => {
                // Behind the blocks stand an empty last block (2 bytes), checksum and length (4
                // each).
                let end = first.saturating_add(index.starts.last().copied().unwrap_or(0)) + 10;
                let len = file.byte_len().map_err(during("cannot read the table"))?;
                if len < end {
                    return Err(HtbError::PastEnd { end, len });
                }
                // A file that claims to hold more than there can be is refused before memory is
                // taken for it.
                let claims = (0..index.blocks()).find(|&block| {
                    let compressed = index.starts[block + 1] - index.starts[block];
                    index.block_len(block) as u64 > compressed.saturating_mul(MOST)
                });
                if let Some(block) = claims {
                    let offset = (block as u64) << index.stride_log2;
                    return Err(corrupt("the block index is wrong", offset));
                }
                Packing::Indexed { index, first }
            }
            (Some(0x1f), None) => Packing::Foreign(Box::new(Foreign::new(options.memory_limit))),
            _ => Packing::Plain,
        };

        let id = options.cache.new_source();
        let limit = AtomicU64::new(options.limit);
        let SourceOptions { cache, stop, .. } = options;
        Ok(GzipSource { file, packing, cache, id, limit, stop })
    }

    /// Sets the most bytes the stream may have, once the header has told it. A longer stream is an
    /// error where it passes the limit.
    pub fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// The index of blocks, if the file has one.
    pub fn block_index(&self) -> Option<&BlockIndex> {
        match &self.packing {
            Packing::Indexed { index, .. } => Some(index),
            _ => None,
        }
    }

    /// Whether the file is compressed.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.packing, Packing::Plain)
    }

    /// The length of the uncompressed stream. A gzip file without an index is inflated for it.
    ///
    /// # Errors
    /// Damage, and streams longer than the limit.
    pub fn uncompressed_len(&self) -> Result<u64, HtbError> {
        match &self.packing {
            Packing::Indexed { index, .. } => Ok(index.len),
            Packing::Plain => self.file.byte_len().map_err(during("cannot read the table")),
            Packing::Foreign(_) => {
                let mut block = 0;
                loop {
                    self.check_stop()?;
                    let len = self.block(block)?.len();
                    if len < foreign::BLOCK {
                        return Ok(block * foreign::BLOCK as u64 + len as u64);
                    }
                    block += 1;
                }
            }
        }
    }

    /// Fills `buf` with the bytes at `offset`.
    ///
    /// # Errors
    /// Damage, and ranges that pass the end.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), HtbError> {
        let done = self.read_up_to(offset, buf)?;
        if done < buf.len() {
            let end = offset.saturating_add(buf.len() as u64);
            return Err(HtbError::PastEnd { end, len: offset + done as u64 });
        }
        Ok(())
    }

    /// Fills `buf` with the bytes at `offset` as far as there are any, and returns their number.
    ///
    /// # Errors
    /// Damage.
    pub fn read_up_to(&self, offset: u64, buf: &mut [u8]) -> Result<usize, HtbError> {
        let stride = match &self.packing {
            Packing::Plain => return read_up_to(&*self.file, buf, offset),
            Packing::Indexed { index, .. } => index.stride(),
            Packing::Foreign(_) => foreign::BLOCK as u64,
        };
        let mut done = 0;
        while done < buf.len() {
            self.check_stop()?;
            let at = offset.saturating_add(done as u64);
            let block = self.block(at / stride)?;
            let rest = block.get((at % stride) as usize..).unwrap_or(&[]);
            let len = rest.len().min(buf.len() - done);
            if len == 0 {
                break;
            }
            buf[done..done + len].copy_from_slice(&rest[..len]);
            done += len;
        }
        Ok(done)
    }

    /// Fills `buf` with the bytes at `offset` if the cache has them all. Whether it has.
    pub fn read_cached(&self, offset: u64, buf: &mut [u8]) -> bool {
        let stride = match &self.packing {
            Packing::Plain => return false,
            Packing::Indexed { index, .. } => index.stride(),
            Packing::Foreign(_) => foreign::BLOCK as u64,
        };
        let mut done = 0;
        while done < buf.len() {
            let at = offset.saturating_add(done as u64);
            let Some(block) = self.cache.get(self.id, at / stride) else { return false };
            let rest = block.get((at % stride) as usize..).unwrap_or(&[]);
            let len = rest.len().min(buf.len() - done);
            if len == 0 {
                return false;
            }
            buf[done..done + len].copy_from_slice(&rest[..len]);
            done += len;
        }
        true
    }

    /// An error if the caller asked to stop.
    pub(super) fn check_stop(&self) -> Result<(), HtbError> {
        if self.stop.is_requested() { Err(HtbError::Stopped) } else { Ok(()) }
    }

    /// A block of the stream through the cache; empty behind the end.
    fn block(&self, number: u64) -> Result<Arc<[u8]>, HtbError> {
        match &self.packing {
            Packing::Plain => Ok(Arc::new([])),
            Packing::Foreign(foreign) => {
                let limit = self.limit.load(Ordering::Relaxed);
                foreign.block(&*self.file, number, limit, &self.cache, self.id)
            }
            Packing::Indexed { index, first } => {
                if number >= index.blocks() as u64 {
                    return Ok(Arc::new([]));
                }
                if let Some(data) = self.cache.get(self.id, number) {
                    return Ok(data);
                }
                let len = Self::checked_len(index, number as usize)?;
                let mut data: Arc<[u8]> = std::iter::repeat_n(0, len).collect();
                let out = Arc::get_mut(&mut data).unwrap_or_default();
                self.inflate_block(index, *first, number as usize, out)?;
                self.cache.insert(self.id, number, Arc::clone(&data));
                Ok(data)
            }
        }
    }

    /// The length of a block. Deflate expands at most 1032 times, so that little input cannot
    /// claim a large buffer.
    pub(super) fn checked_len(index: &BlockIndex, block: usize) -> Result<usize, HtbError> {
        let len = index.block_len(block);
        let packed = index.starts[block + 1] - index.starts[block];
        if len as u64 > packed.saturating_mul(1032) {
            return Err(corrupt("the block index is wrong", (block as u64) << index.stride_log2));
        }
        Ok(len)
    }

    /// Inflates a block of the index into `out`, which has its length, and checks it.
    pub(super) fn inflate_block(
        &self,
        index: &BlockIndex,
        first: u64,
        block: usize,
        out: &mut [u8],
    ) -> Result<(), HtbError> {
        let offset = (block as u64) << index.stride_log2;
        let len = out.len();
        let mut input = self.read_block(index, first, block)?;
        // The block ends where the next begins; the end of the stream is made up behind it.
        input.extend_from_slice(&LAST_BLOCK);
        let inflated = Decompressor::new().deflate_decompress(&input, out);
        match inflated {
            Ok(inflated) if inflated == len => Ok(()),
            Ok(_) => Err(corrupt("a compressed block is too short", offset)),
            Err(_) => Err(corrupt("the compressed data is wrong", offset)),
        }
    }

    /// The compressed bytes of a block, which are those that were written.
    pub(super) fn read_block(
        &self,
        index: &BlockIndex,
        first: u64,
        block: usize,
    ) -> Result<Vec<u8>, HtbError> {
        let offset = (block as u64) << index.stride_log2;
        let limit = self.limit.load(Ordering::Relaxed);
        if index.len > limit {
            return Err(HtbError::TooLong { limit });
        }
        let (start, end) = (index.starts[block], index.starts[block + 1]);
        // No honest block is much longer than its contents; a dishonest one shall not eat the
        // memory.
        let len = index.block_len(block) as u64;
        if end - start > len + len / 8 + 4096 {
            return Err(corrupt("the block index is wrong", offset));
        }
        let mut input = vec![0; (end - start) as usize];
        if read_up_to(&*self.file, &mut input, first.saturating_add(start))? < input.len() {
            return Err(corrupt("the compressed data ends too early", offset));
        }
        if crc32fast::hash(&input) != index.crcs[block] {
            return Err(corrupt("the checksum of a block is wrong", offset));
        }
        Ok(input)
    }
}

impl Drop for GzipSource {
    fn drop(&mut self) {
        self.cache.remove_source(self.id);
    }
}

//! The block index: where in a compressed file each stretch of the uncompressed stream begins.
//!
//! It stands in the gzip header's extra field as a subfield with the id `HF`. Its size depends on
//! the uncompressed length alone, so it can be reserved before anything is compressed:
//!
//! ```text
//! 0   version, 1
//! 1   log2 of the stride S, the uncompressed length of a block
//! 2   w, bytes of a compressed length (3 to 8)
//! 3   0
//! 4   uncompressed length L of the stream, u64
//! 12  number of blocks n = ceil(L / S), u32
//! 16  n times: compressed length (w bytes), CRC-32 of the compressed block (4 bytes)
//! ..  CRC-32 of all bytes of the subfield before it
//! ```
//!
//! Numbers are little-endian. Block 0 begins right behind the gzip header, and every block begins
//! with a fresh deflate state. Programs that do not know the subfield skip it. The layout is ours.

use super::member::FIXED;

/// The id of the subfield.
pub(super) const ID: [u8; 2] = *b"HF";
const VERSION: u8 = 1;
const HEAD: usize = 16;
/// The smallest stride that is written. A look into a large table inflates a block, so its blocks
/// are small, which makes it a fiftieth larger.
pub(super) const MIN_STRIDE_LOG2: u8 = 17;
/// The smallest stride of a stream of up to `SMALL_LEN` bytes.
const SMALL_STRIDE_LOG2: u8 = 19;
const SMALL_LEN: u64 = 64 << 20;
/// The largest stride there is.
const MAX_STRIDE_LOG2: u8 = 32;
/// The largest stride that a reader accepts where the length of the stream does not demand more. A
/// block is inflated before the header can tell how long the stream may be, so it must not be
/// larger than it has to.
const USUAL_STRIDE_LOG2: u8 = 22;
/// Room for data in the extra field behind the subfield's own head.
const MAX_DATA: usize = 65_535 - 4;

/// Where the blocks of a file are, and their checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockIndex {
    pub(super) stride_log2: u8,
    pub(super) len: u64,
    /// `starts[k]..starts[k + 1]`: the compressed bytes of block `k` from the first byte of block
    /// 0.
    pub(super) starts: Vec<u64>,
    pub(super) crcs: Vec<u32>,
}

/// Bytes of a compressed length for a stride: deflate never makes a block longer than twice its
/// size.
const fn width(stride_log2: u8) -> usize {
    (stride_log2 as usize + 2).div_ceil(8)
}

impl BlockIndex {
    /// The smallest stride, as a power of two, for which the index of a stream of that length fits
    /// the extra field.
    pub(super) fn stride_for(len: u64) -> u8 {
        let least = if len > SMALL_LEN { MIN_STRIDE_LOG2 } else { SMALL_STRIDE_LOG2 };
        (least..MAX_STRIDE_LOG2)
            .find(|&log2| data_len(len, log2).is_some_and(|n| n <= MAX_DATA))
            .unwrap_or(MAX_STRIDE_LOG2)
    }

    /// Bytes of a gzip header with the index of a stream of that length; none if it cannot fit.
    pub(super) fn header_len(len: u64) -> Option<usize> {
        let data = data_len(len, BlockIndex::stride_for(len)).filter(|&n| n <= MAX_DATA)?;
        Some(FIXED + 2 + 4 + data)
    }

    /// The uncompressed length of a block; the last may be shorter.
    pub fn stride(&self) -> u64 {
        1 << self.stride_log2
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.crcs.len()
    }

    /// The length of the uncompressed stream.
    pub fn uncompressed_len(&self) -> u64 {
        self.len
    }

    /// The uncompressed length of a block.
    pub(super) fn block_len(&self, block: usize) -> usize {
        (self.len - ((block as u64) << self.stride_log2)).min(self.stride()) as usize
    }

    /// Its bytes in a file, which hold a checksum of every block.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_data()
    }

    /// The data of the subfield.
    pub(super) fn to_data(&self) -> Vec<u8> {
        let w = width(self.stride_log2);
        let mut data = vec![VERSION, self.stride_log2, w as u8, 0];
        data.extend_from_slice(&self.len.to_le_bytes());
        data.extend_from_slice(&(self.blocks() as u32).to_le_bytes());
        for (ends, crc) in self.starts.windows(2).zip(&self.crcs) {
            data.extend_from_slice(&(ends[1] - ends[0]).to_le_bytes()[..w]);
            data.extend_from_slice(&crc.to_le_bytes());
        }
        let crc = crc32fast::hash(&data);
        data.extend_from_slice(&crc.to_le_bytes());
        data
    }

    /// Reads the data of a subfield; none if it is damaged or of another version.
    pub(super) fn from_data(data: &[u8]) -> Option<BlockIndex> {
        let (body, crc) = data.split_last_chunk::<4>()?;
        let (head, records) = body.split_first_chunk::<HEAD>()?;
        let (stride_log2, w) = (head[1], usize::from(head[2]));
        let intact = crc32fast::hash(body) == u32::from_le_bytes(*crc);
        let len = u64::from_le_bytes(*head[4..].first_chunk()?);
        let most = BlockIndex::stride_for(len).max(USUAL_STRIDE_LOG2);
        let known = head[0] == VERSION && (1..=most).contains(&stride_log2) && (3..=8).contains(&w);
        if !intact || !known {
            return None;
        }
        let blocks = u32::from_le_bytes(*head[12..].first_chunk()?) as usize;
        let matches = len.div_ceil(1 << stride_log2) == blocks as u64
            && records.len() == blocks.checked_mul(w + 4)?;
        if !matches {
            return None;
        }
        let mut starts = vec![0];
        let mut crcs = Vec::with_capacity(blocks);
        let mut start = 0_u64;
        for record in records.chunks_exact(w + 4) {
            let (length, crc) = record.split_at(w);
            let mut word = [0; 8];
            word[..w].copy_from_slice(length);
            start = start.checked_add(u64::from_le_bytes(word))?;
            starts.push(start);
            crcs.push(u32::from_le_bytes(*crc.first_chunk()?));
        }
        Some(BlockIndex { stride_log2, len, starts, crcs })
    }
}

/// Bytes of the subfield for a stream of that length.
fn data_len(len: u64, stride_log2: u8) -> Option<usize> {
    let blocks = usize::try_from(len.div_ceil(1 << stride_log2)).ok()?;
    blocks.checked_mul(width(stride_log2) + 4)?.checked_add(HEAD + 4)
}

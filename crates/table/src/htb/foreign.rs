//! gzip files of other programs: inflated from the front, what was passed kept as far as memory
//! allows.
//!
//! A deflate stream without an index can only be read from its start. So the stream is inflated
//! once, as far as reads demand, and everything is kept until a limit is reached; behind the limit
//! blocks are held in the cache only, and a read before the current place starts over.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use flate2::{Decompress, FlushDecompress, Status};

use super::member::{self, MAX_HEADER};
use super::source::{ReadAt, read_up_to};
use super::{BlockCache, HtbError, corrupt};

/// Uncompressed bytes of a block.
pub(super) const BLOCK: usize = 1 << 20;
const INPUT: usize = 1 << 16;

/// A stream of one or more gzip members.
#[derive(Debug)]
pub(super) struct Foreign {
    /// The first blocks of the stream.
    kept: RwLock<Vec<Arc<[u8]>>>,
    memory_limit: u64,
    inflater: Mutex<Inflater>,
}

impl Foreign {
    pub(super) fn new(memory_limit: u64) -> Foreign {
        Foreign { kept: RwLock::default(), memory_limit, inflater: Mutex::new(Inflater::new()) }
    }

    fn kept(&self, block: u64) -> Option<Arc<[u8]>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.get(usize::try_from(block).ok()?).cloned()
    }

    /// A block of the stream; shorter than [`BLOCK`] only at the end, empty behind it.
    pub(super) fn block(
        &self,
        file: &dyn ReadAt,
        block: u64,
        limit: u64,
        cache: &BlockCache,
        id: u64,
    ) -> Result<Arc<[u8]>, HtbError> {
        if let Some(data) = self.kept(block).or_else(|| cache.get(id, block)) {
            return Ok(data);
        }
        let mut inflater = self.inflater.lock().unwrap_or_else(PoisonError::into_inner);

        // Another thread may have come by while this one waited.
        if let Some(data) = self.kept(block).or_else(|| cache.get(id, block)) {
            return Ok(data);
        }
        if inflater.block > block || inflater.failed {
            *inflater = Inflater::new();
        }
        if inflater.at_end && !inflater.failed && block >= inflater.block {
            return Ok(Arc::new([]));
        }

        loop {
            let number = inflater.block;
            let data: Arc<[u8]> = match inflater.next_block(file, limit) {
                Ok(data) => data.into(),
                Err(error) => {
                    inflater.failed = true;
                    return Err(error);
                }
            };
            self.keep(number, &data, cache, id);
            if number == block || data.len() < BLOCK {
                return Ok(if number == block { data } else { Arc::new([]) });
            }
        }
    }

    fn keep(&self, number: u64, data: &Arc<[u8]>, cache: &BlockCache, id: u64) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let fits = (number + 1).saturating_mul(BLOCK as u64) <= self.memory_limit;
        if fits && kept.len() as u64 == number {
            kept.push(Arc::clone(data));
        } else if kept.len() as u64 <= number {
            drop(kept);
            cache.insert(id, number, Arc::clone(data));
        }
    }
}

/// Inflates member after member and checks each one's checksum and length.
#[derive(Debug)]
struct Inflater {
    /// The next block.
    block: u64,
    failed: bool,
    /// The compressed bytes read ahead, and where the byte behind them is in the file.
    input: Vec<u8>,
    used: usize,
    position: u64,
    state: Option<Member>,
    at_end: bool,
}

/// The member being inflated.
#[derive(Debug)]
struct Member {
    inflate: Decompress,
    crc: crc32fast::Hasher,
    len: u64,
}

impl Inflater {
    fn new() -> Inflater {
        Inflater {
            block: 0,
            failed: false,
            input: Vec::new(),
            used: 0,
            position: 0,
            state: None,
            at_end: false,
        }
    }

    /// Makes sure that `want` bytes of input are at hand, or all there are.
    fn fill(&mut self, file: &dyn ReadAt, want: usize) -> Result<(), HtbError> {
        if self.input.len() - self.used >= want {
            return Ok(());
        }
        self.input.drain(..self.used);
        self.used = 0;
        let old = self.input.len();
        self.input.resize(want.max(INPUT), 0);
        let got = read_up_to(file, &mut self.input[old..], self.position)?;
        self.input.truncate(old + got);
        self.position += got as u64;
        Ok(())
    }

    /// Reads the header of the next member; false at the end of the file or at what is no member.
    fn open_member(&mut self, file: &dyn ReadAt, offset: u64) -> Result<bool, HtbError> {
        let is_first = self.position == 0;
        self.fill(file, MAX_HEADER)?;
        let Some(header) = member::parse(&self.input[self.used..]) else {
            // gzip ignores what follows a member and is none; so do we.
            return if is_first || self.input[self.used..].starts_with(&[0x1f, 0x8b]) {
                Err(corrupt("a gzip header is wrong", offset))
            } else {
                Ok(false)
            };
        };
        self.used += header.len;
        let inflate = Decompress::new(false);
        self.state = Some(Member { inflate, crc: crc32fast::Hasher::new(), len: 0 });
        Ok(true)
    }

    /// Compares a finished member with its trailer.
    fn close_member(&mut self, file: &dyn ReadAt, offset: u64) -> Result<(), HtbError> {
        self.fill(file, 8)?;
        let trailer = self.input[self.used..].split_first_chunk::<4>();
        let lengths = trailer.and_then(|(crc, rest)| Some((*crc, *rest.first_chunk::<4>()?)));
        let (Some((crc, len)), Some(member)) = (lengths, self.state.take()) else {
            return Err(corrupt("the gzip trailer is missing", offset));
        };
        self.used += 8;
        if u32::from_le_bytes(crc) != member.crc.finalize() {
            return Err(corrupt("the checksum of the whole is wrong", offset));
        }
        if u32::from_le_bytes(len) != member.len as u32 {
            return Err(corrupt("the length in the gzip trailer is wrong", offset));
        }
        Ok(())
    }

    fn next_block(&mut self, file: &dyn ReadAt, limit: u64) -> Result<Vec<u8>, HtbError> {
        let start = self.block * BLOCK as u64;
        let mut out = vec![0; BLOCK];
        let mut filled = 0;

        while filled < BLOCK && !self.at_end {
            let offset = start + filled as u64;
            if self.state.is_none() && !self.open_member(file, offset)? {
                self.at_end = true;
                break;
            }
            self.fill(file, 1)?;
            let Some(member) = &mut self.state else { break };
            let inflate = &mut member.inflate;
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let input = &self.input[self.used..];
            let exhausted = input.is_empty();
            let status = inflate
                .decompress(input, &mut out[filled..], FlushDecompress::None)
                .map_err(|_| corrupt("the compressed data is wrong", offset))?;
            let consumed = (inflate.total_in() - read) as usize;
            let produced = (inflate.total_out() - written) as usize;
            self.used += consumed;
            member.crc.update(&out[filled..filled + produced]);
            member.len += produced as u64;
            filled += produced;
            if start + filled as u64 > limit {
                return Err(HtbError::TooLong { limit });
            }
            if status == Status::StreamEnd {
                self.close_member(file, start + filled as u64)?;
            } else if produced == 0 && (exhausted || consumed == 0) {
                return Err(corrupt("the compressed data ends too early", offset));
            }
        }

        self.block += 1;
        out.truncate(filled);
        Ok(out)
    }
}

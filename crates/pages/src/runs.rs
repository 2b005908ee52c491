//! Runs of sorted updates on the disk, and their merging.

use std::sync::Arc;

use crate::Pages;
use crate::proptable::Update;
use crate::stretch::PageSequence;

/// How many pages a stretch of a run has, about.
const STRETCH: usize = 64;

/// The most bytes that an update takes in a page.
const LARGEST: usize = 10 + 8;

/// How and where runs are written.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) pages: Arc<Pages>,
    /// Bytes of updates in a page.
    pub(crate) page: usize,
    pub(crate) compress: bool,
}

/// Sorted updates on the disk.
#[derive(Debug)]
pub(crate) struct SortedRun {
    pub(crate) pages: PageSequence,
    /// How often its updates were merged.
    pub(crate) level: u32,
}

impl Form {
    /// Writes updates, which come by rows.
    pub(crate) fn write(&self, updates: impl Iterator<Item = Update>, level: u32) -> SortedRun {
        let stretch = STRETCH * self.page.div_ceil(8);
        let mut run = SortedRun { pages: PageSequence::new(&self.pages, stretch), level };
        let mut bytes = Vec::with_capacity(self.page + LARGEST);
        let mut last = 0;
        for update in updates {
            put_number(update.row - last, &mut bytes);
            bytes.extend_from_slice(&update.mask.to_le_bytes());
            last = update.row;
            if bytes.len() >= self.page {
                run.pages.append(&self.pack(&bytes));
                bytes.clear();
                last = 0;
            }
        }
        if !bytes.is_empty() {
            run.pages.append(&self.pack(&bytes));
        }
        run.pages.rewind();
        run
    }

    /// A page: its length in bytes, and the bytes.
    fn pack(&self, bytes: &[u8]) -> Vec<u64> {
        let packed = self.compress.then(|| lz4_flex::block::compress(bytes));
        let bytes = packed.as_deref().unwrap_or(bytes);
        let mut words = vec![0_u64; 1 + bytes.len().div_ceil(8)];
        words[0] = bytes.len() as u64;
        bytemuck::cast_slice_mut::<u64, u8>(&mut words[1..])[..bytes.len()].copy_from_slice(bytes);
        words
    }

    /// Its updates, to be read.
    pub(crate) fn read(&self, run: SortedRun) -> UpdateSource {
        UpdateSource::Run(RunReader {
            form: self.clone(),
            pages: run.pages,
            bytes: Vec::new(),
            at: 0,
            last: 0,
        })
    }
}

/// Seven bits a byte, the lowest first.
fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Reads a run.
#[derive(Debug)]
pub(crate) struct RunReader {
    form: Form,
    pages: PageSequence,
    bytes: Vec<u8>,
    at: usize,
    last: u64,
}

impl RunReader {
    /// The bytes of the next page; none if it could not be read, which the file keeps in mind.
    fn load(&mut self, words: &[u64]) {
        (self.at, self.last) = (0, 0);
        let bytes: &[u8] = words.get(1..).map_or(&[], bytemuck::cast_slice);
        let len = words.first().map_or(0, |&len| len as usize);
        let bytes = bytes.get(..len).unwrap_or_default();
        self.bytes.clear();
        if !self.form.compress {
            self.bytes.extend_from_slice(bytes);
        } else if let Ok(plain) = lz4_flex::block::decompress(bytes, self.form.page + LARGEST) {
            self.bytes = plain;
        } else {
            let error = std::io::Error::from(std::io::ErrorKind::InvalidData);
            let pages = &self.form.pages;
            pages.fail(&mut pages.lock(), &error);
        }
    }

    fn next(&mut self) -> Option<Update> {
        while self.at >= self.bytes.len() {
            let words = self.pages.take()?;
            self.load(&words);
        }
        let mut rest = &self.bytes[self.at..];
        let row = self.last.checked_add(take_number(&mut rest)?)?;
        let (mask, rest) = rest.split_first_chunk()?;
        self.at = self.bytes.len() - rest.len();
        self.last = row;
        Some(Update { row, mask: u64::from_le_bytes(*mask) })
    }
}

/// Updates by rows.
#[derive(Debug)]
pub(crate) enum UpdateSource {
    Memory(std::vec::IntoIter<Update>),
    Run(RunReader),
}

/// Merges sources: the heads of all play against each other in a tree, in which every node keeps
/// what lost there (Knuth, volume 3, 5.4.1). After the first one is taken only its own matches are
/// played again.
#[derive(Debug)]
pub(crate) struct Tournament {
    sources: Vec<UpdateSource>,
    /// The next update of each source; behind the last one a row that no row reaches.
    heads: Vec<Update>,
    /// The losers of all matches, in place 0 the winner.
    losers: Vec<usize>,
}

const END: Update = Update { row: u64::MAX, mask: 0 };

impl Tournament {
    /// The updates of all sources.
    pub(crate) fn new(sources: Vec<UpdateSource>) -> Tournament {
        let players = sources.len();
        let mut tree = Tournament { sources, heads: vec![END; players], losers: vec![0; players] };
        for player in 0..players {
            tree.advance(player);
        }
        // Player `p` begins at node `players + p`; the winner of node `n` goes on to `n / 2`.
        let mut winners: Vec<usize> = (0..2 * players).map(|n| n.wrapping_sub(players)).collect();
        for node in (1..players).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            let first = tree.heads[a].row <= tree.heads[b].row;
            (winners[node], tree.losers[node]) = if first { (a, b) } else { (b, a) };
        }
        if players > 0 {
            tree.losers[0] = winners[1];
        }
        tree
    }

    fn advance(&mut self, player: usize) {
        let next = match &mut self.sources[player] {
            UpdateSource::Memory(updates) => updates.next(),
            UpdateSource::Run(run) => run.next(),
        };
        self.heads[player] = next.unwrap_or(END);
    }

    fn take_first(&mut self) -> Option<Update> {
        let mut player = *self.losers.first()?;
        let first = self.heads[player];
        if first == END {
            return None;
        }
        self.advance(player);
        let mut node = self.losers.len() + player;
        while node > 1 {
            node /= 2;
            if self.heads[self.losers[node]].row < self.heads[player].row {
                std::mem::swap(&mut self.losers[node], &mut player);
            }
        }
        self.losers[0] = player;
        Some(first)
    }
}

impl Iterator for Tournament {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        let mut first = self.take_first()?;
        while self.heads[self.losers[0]].row == first.row {
            let Some(same) = self.take_first() else { break };
            first.mask |= same.mask;
        }
        Some(first)
    }
}

//! How tables are read: in how much memory, and which of other programs.

use std::path::{Path, PathBuf};

use hoffman_store::available_memory;
use hoffman_table::Stop;
use hoffman_table::foreign::{FiftyMoves, ForeignOptions};
use hoffman_table::htb::{BlockCache, SourceOptions};

/// What a program takes when it reads tables, besides the blocks and entries that it holds.
const READER: u64 = 44 << 20;

/// How tables are read, those of other programs too.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    memory: Option<u64>,
    syzygy: Vec<PathBuf>,
    nalimov: Vec<PathBuf>,
    behind: Vec<PathBuf>,
    cursed_wins: bool,
    stop: Stop,
    #[cfg(feature = "verify")]
    values: Option<std::sync::Arc<hoffman_table::SharedValues>>,
}

impl ReadOptions {
    /// The least bound of memory, in bytes.
    pub const LEAST_MEMORY: u64 = 48 << 20;

    /// All memory, no folders of other programs.
    pub fn new() -> ReadOptions {
        ReadOptions::default()
    }

    /// The most memory that the process may take, in bytes; [`ReadOptions::LEAST_MEMORY`] at
    /// least.
    #[must_use]
    pub fn memory(self, bytes: u64) -> ReadOptions {
        ReadOptions { memory: Some(bytes.max(ReadOptions::LEAST_MEMORY)), ..self }
    }

    /// A folder with Syzygy tables (`KRPvKR.rtbw`), behind those named before.
    #[must_use]
    pub fn syzygy(mut self, folder: impl AsRef<Path>) -> ReadOptions {
        if !self.syzygy.iter().any(|known| known == folder.as_ref()) {
            self.syzygy.push(folder.as_ref().to_owned());
        }
        self
    }

    /// One more folder with Nalimov tables (`krpkr.nbw.emd`); the current one if there is none.
    #[must_use]
    pub fn nalimov(mut self, folder: impl AsRef<Path>) -> ReadOptions {
        self.nalimov.push(folder.as_ref().to_owned());
        self
    }

    /// One more folder in which the tables are looked for that a table leans on, if they are not
    /// beside it.
    #[must_use]
    pub fn behind(mut self, folder: impl AsRef<Path>) -> ReadOptions {
        self.behind.push(folder.as_ref().to_owned());
        self
    }

    /// Whether Syzygy's cursed wins are wins, and blessed losses losses; else both are draws.
    #[must_use]
    pub fn cursed_wins(self, are_wins: bool) -> ReadOptions {
        ReadOptions { cursed_wins: are_wins, ..self }
    }

    /// What ends the reading of whole tables when it is asked to.
    #[must_use]
    pub fn stop(self, stop: Stop) -> ReadOptions {
        ReadOptions { stop, ..self }
    }

    /// Keeps the values of tables that others lean on for all that are read with these options and
    /// their copies.
    #[cfg(feature = "verify")]
    #[must_use]
    pub fn sharing(self, values: std::sync::Arc<hoffman_table::SharedValues>) -> ReadOptions {
        ReadOptions { values: Some(values), ..self }
    }

    /// The values that are kept for several tables.
    #[cfg(feature = "verify")]
    pub fn shared(&self) -> Option<&std::sync::Arc<hoffman_table::SharedValues>> {
        self.values.as_ref()
    }

    /// The folders with Syzygy tables.
    pub fn syzygy_folders(&self) -> &[PathBuf] {
        &self.syzygy
    }

    /// The folders with Nalimov tables.
    pub fn nalimov_folders(&self) -> &[PathBuf] {
        &self.nalimov
    }

    /// Whether cursed wins are wins.
    pub fn takes_cursed_wins(&self) -> bool {
        self.cursed_wins
    }

    /// How tables of ours are read, with a cache of their own; of so many bytes, if memory is not
    /// bounded.
    pub fn source(&self, cache: usize) -> SourceOptions {
        let (stop, behind) = (self.stop.clone(), self.behind.clone());
        let usual = SourceOptions { stop, behind, ..SourceOptions::default() };
        let usual = match self.memory {
            None => {
                let whole_limit = usual.whole_limit.max(room_for_whole());
                SourceOptions { cache: BlockCache::new(cache), whole_limit, ..usual }
            }
            Some(memory) => {
                let cache = BlockCache::new(((memory - READER) / 2) as usize);
                // A table, and those behind it.
                let whole_limit = (memory - READER) / 4;
                SourceOptions { cache, memory_limit: 0, whole_limit, ..usual }
            }
        };
        #[cfg(feature = "verify")]
        if let Some(values) = &self.values {
            // What is kept is what there is room for.
            let whole_limit = usual.whole_limit.max(values.room());
            return SourceOptions { values: Some(values.clone()), whole_limit, ..usual };
        }
        usual
    }

    /// How tables of other programs are read.
    pub fn foreign(&self) -> ForeignOptions {
        let fifty_moves = if self.cursed_wins { FiftyMoves::Wins } else { FiftyMoves::Draws };
        let (syzygy, nalimov) = (self.syzygy.clone(), self.nalimov.clone());
        let all = ForeignOptions { syzygy, nalimov, fifty_moves, ..ForeignOptions::default() };
        match self.memory {
            Some(memory) => ForeignOptions { held: memory / 32, ..all },
            None => all,
        }
    }

    /// How many bytes of entries may be held as a whole, if memory is bounded. They are there
    /// twice while they are unpacked.
    pub fn whole(&self) -> Option<u64> {
        self.memory.map(|memory| (memory - READER) / 4)
    }
}

/// What a block file that is wanted as a whole may take with those behind it, where memory is not
/// bounded: a third of what is free, since what is read of it may take as much again.
fn room_for_whole() -> u64 {
    available_memory().unwrap_or(0) / 3
}

//! Many tables, and their tiles that were decoded last.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::answer::{Asked, Lookup, Stored, answer};
use crate::board::{Color, Position};
use crate::code::{Code, DRAW};
use crate::container::HbfError;
use crate::header::Mode;
use crate::material::Material;
use crate::table::{CellPlace, EntryPlace, HbfFile};

/// Why a position has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The side that is not to move is in check, or it is no position at all.
    #[error("this is no legal position")]
    Illegal,
    /// There is no table for these men, or it has no such values.
    #[error("there is no table for {0}")]
    NoTable(Material),
    /// A file is damaged.
    #[error("the table of {material}: {problem}")]
    File {
        /// The ending.
        material: Material,
        /// What is wrong.
        #[source]
        problem: HbfError,
    },
}

/// What has been asked for so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Cells that were in memory.
    pub hits: u64,
    /// Tiles that were decoded.
    pub decoded: u64,
}

/// A decoded tile, or the first rows of one.
#[derive(Default)]
struct CachedTile {
    /// The table and its stream, and the tile; 0 is none.
    key: (u64, u64),
    codes: Vec<Code>,
}

/// Tables of complete endings, and their tiles that were decoded last.
pub struct Tablebase {
    tables: Vec<(Material, HbfFile)>,
    by_material: HashMap<Material, EndingFiles>,
    cache: Vec<Mutex<CachedTile>>,
    hits: AtomicU64,
    decoded: AtomicU64,
}

/// The tables of an ending: one with distances, and one with outcomes apart.
#[derive(Clone, Copy, Debug, Default)]
struct EndingFiles {
    distances: Option<usize>,
    outcomes: Option<usize>,
}

impl EndingFiles {
    /// The tables that are asked, in order: where outcomes are enough rather one that has them
    /// apart.
    fn asked(self, outcomes: bool) -> impl Iterator<Item = usize> {
        let first = self.outcomes.filter(|_| outcomes);
        first.into_iter().chain(self.distances.filter(move |&number| Some(number) != first))
    }
}

impl std::fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tablebase").field("tables", &self.by_material).finish_non_exhaustive()
    }
}

/// Bytes of a decoded tile in the cache, at most.
const TILE_BYTES: usize = 2 * 64 * 64 + 64;

impl Tablebase {
    /// No tables yet; tiles are kept in about so many bytes.
    pub fn new(cache_bytes: usize) -> Tablebase {
        let slots = (cache_bytes / TILE_BYTES).max(1);
        Tablebase {
            tables: Vec::new(),
            by_material: HashMap::new(),
            cache: (0..slots).map(|_| Mutex::default()).collect(),
            hits: AtomicU64::new(0),
            decoded: AtomicU64::new(0),
        }
    }

    /// Adds a table of cells; one for the same ending that was there takes precedence in what it
    /// has, distances or outcomes apart.
    ///
    /// # Errors
    /// It is a table of entries.
    pub fn add(&mut self, file: HbfFile) -> Result<(), HbfError> {
        let Mode::Complete(material) = file.info().mode.clone() else {
            return Err(HbfError::Section("TABL".to_owned()));
        };
        let number = self.tables.len();
        let streams = file.cell_streams();
        for ending in [material.clone(), material.swapped()] {
            let numbers = self.by_material.entry(ending).or_default();
            for stream in &streams {
                let kind =
                    if stream.outcomes { &mut numbers.outcomes } else { &mut numbers.distances };
                kind.get_or_insert(number);
            }
        }
        self.tables.push((material, file));
        Ok(())
    }

    /// Adds all tables of cells of a folder that can be opened and are named like their endings;
    /// returns how many.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn add_folder(&mut self, folder: &Path) -> std::io::Result<usize> {
        let mut paths: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
        paths.sort();
        let is_table = |path: &&std::path::PathBuf| path.extension().is_some_and(|e| e == "hbf");
        let mut added = 0;
        for path in paths.iter().filter(is_table) {
            // Who opens a pipe would wait for its other end.
            if !path.is_file() {
                continue;
            }
            let Ok(file) = File::open(path) else { continue };
            let Ok(opened) = HbfFile::open(Box::new(file)) else { continue };
            let named = match &opened.info().mode {
                Mode::Complete(material) => material.to_string(),
                Mode::Generic { .. } => continue,
            };
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if stem
                .is_some_and(|stem| stem == named || stem == named.replace('v', "").to_lowercase())
            {
                added += usize::from(self.add(opened).is_ok());
            }
        }
        Ok(added)
    }

    /// Whether there is a table for the men of a position.
    pub fn has(&self, material: &Material) -> bool {
        material.men().is_empty() || self.by_material.contains_key(material)
    }

    /// What was asked for so far.
    pub fn counts(&self) -> ProbeCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ProbeCounts { hits: count(&self.hits), decoded: count(&self.decoded) }
    }

    /// Forgets all decoded tiles.
    pub fn clear_cache(&self) {
        for slot in &self.cache {
            *lock(slot) = CachedTile::default();
        }
    }

    /// The code of a position, with its distance to mate.
    ///
    /// # Errors
    /// There is no answer.
    pub fn probe(&self, position: &Position) -> Result<Code, ProbeError> {
        self.checked(position, false)
    }

    /// Who wins, as a code without a distance; from outcomes where they are stored, else from
    /// distances.
    ///
    /// # Errors
    /// There is no answer.
    pub fn probe_outcome(&self, position: &Position) -> Result<Code, ProbeError> {
        self.checked(position, true)
    }

    fn checked(&self, position: &Position, outcomes: bool) -> Result<Code, ProbeError> {
        if !position.is_legal() {
            return Err(ProbeError::Illegal);
        }
        answer(self, position, Asked::exactly(outcomes))
    }

    /// What a cell holds, from the cache or the file.
    fn cell(&self, file: &HbfFile, number: usize, cell: CellPlace) -> Result<Code, HbfError> {
        let key = ((number as u64) << 8 | u64::from(cell.stream) | 1 << 63, cell.tile);
        let hash = (key.0 << 40 ^ key.1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let slot = &self.cache[(hash % self.cache.len() as u64) as usize];
        // A tile that is asked for again is decoded as a whole: other rows may follow.
        let again = {
            let cached = lock(slot);
            if cached.key == key
                && let Some(&code) = cached.codes.get(usize::from(cell.at))
            {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return Ok(code);
            }
            cached.key == key
        };
        file.with_cells(cell, again, |codes| {
            self.decoded.fetch_add(1, Ordering::Relaxed);
            let mut cached = lock(slot);
            cached.key = key;
            cached.codes.clear();
            cached.codes.extend_from_slice(codes);
            codes.get(usize::from(cell.at)).copied().unwrap_or(DRAW)
        })
    }

    /// The side to move whose distances are stored, if it is one only.
    pub fn stored_side(&self, material: &Material) -> Option<Color> {
        let (_, file) = &self.tables[self.by_material.get(material)?.distances?];
        let mut sides = file.streams().iter().filter_map(|stream| {
            let (_, turn, _, outcomes) = stream.cells()?;
            (!outcomes).then_some(turn)
        });
        let first = sides.next()?;
        (sides.next().is_none() && !material.is_symmetric()).then_some(first)
    }
}

impl Lookup for Tablebase {
    type Error = ProbeError;

    fn stored(&self, position: &Position, asked: Asked) -> Result<Stored, ProbeError> {
        let outcomes = asked.outcomes;
        let material = Material::of(position);
        let numbers = self.by_material.get(&material).copied().unwrap_or_default();
        let mut other_side = false;
        for number in numbers.asked(outcomes) {
            let file = &self.tables[number].1;
            match file.find(position, outcomes) {
                EntryPlace::Cell(cell) => {
                    let code = self.cell(file, number, cell);
                    let code = code.map_err(|problem| ProbeError::File { material, problem })?;
                    return Ok(if cell.exits {
                        Stored::AtLeast(code)
                    } else {
                        Stored::Exactly(code)
                    });
                }
                EntryPlace::OtherSide => other_side = true,
                EntryPlace::Nothing => {}
            }
        }
        if other_side { Ok(Stored::OtherSide) } else { Err(ProbeError::NoTable(material)) }
    }
}

/// What a thread left that has panicked is as good as nothing.
fn lock(slot: &Mutex<CachedTile>) -> std::sync::MutexGuard<'_, CachedTile> {
    slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

//! Answers about positions. See docs/hbf.md, 10.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::board::{Color, Position};
use crate::cells::Place;
use crate::code::{Code, DRAW, MATED, before, outcome};
use crate::container::HbfError;
use crate::header::Mode;
use crate::material::Material;
use crate::moves::{en_passant_captures, exits, has_plain_move, legal_moves};
use crate::rows::Rows;
use crate::table::{HbfFile, OpenStream};

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
    rows: u8,
    codes: Vec<Code>,
}

/// Tables of complete endings, and their tiles that were decoded last.
pub struct Tablebase {
    tables: Vec<(Material, HbfFile)>,
    by_material: HashMap<Material, usize>,
    cache: Vec<Mutex<CachedTile>>,
    hits: AtomicU64,
    decoded: AtomicU64,
}

impl std::fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tablebase").field("tables", &self.by_material).finish_non_exhaustive()
    }
}

/// Bytes of a decoded tile in the cache, at most.
const TILE_BYTES: usize = 2 * 64 * 64 + 64;

thread_local! {
    /// Where this thread decodes.
    static ROWS: std::cell::RefCell<Rows> = std::cell::RefCell::new(Rows::new());
}

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

    /// Adds a table of cells; one for the same ending that was there takes precedence.
    ///
    /// # Errors
    /// It is a table of entries.
    pub fn add(&mut self, file: HbfFile) -> Result<(), HbfError> {
        let Mode::Complete(material) = file.info().mode.clone() else {
            return Err(HbfError::Section("TABL".to_owned()));
        };
        let number = self.tables.len();
        self.by_material.entry(material.clone()).or_insert(number);
        self.by_material.entry(material.swapped()).or_insert(number);
        self.tables.push((material, file));
        Ok(())
    }

    /// Adds all tables of cells of a folder that can be opened and are named like their endings; returns how many.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn add_folder(&mut self, folder: &Path) -> std::io::Result<usize> {
        let mut paths: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
        paths.sort();
        let is_table = |path: &&std::path::PathBuf| path.extension().is_some_and(|e| e == "hbf");
        let mut added = 0;
        for path in paths.iter().filter(is_table) {
            let file = File::open(path)?;
            let Ok(opened) = HbfFile::open(Box::new(file)) else { continue };
            let named = match &opened.info().mode {
                Mode::Complete(material) => material.to_string(),
                Mode::Generic { .. } => continue,
            };
            if path.file_stem().is_some_and(|stem| stem == named.as_str()) {
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

    /// Who wins, as a code without a distance; from outcomes where they are stored, else from distances.
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
        self.any(position, outcomes)
    }

    /// Of a legal position.
    fn any(&self, position: &Position, outcomes: bool) -> Result<Code, ProbeError> {
        let mut best = None;
        if position.en_passant.is_some() {
            let mut captures = Vec::new();
            en_passant_captures(position, |capture| captures.push(capture.after));
            for after in captures {
                let code = before(self.any(&after, outcomes)?);
                best = best.max(Some(if outcomes { outcome(code) } else { code }));
            }
        }
        let plain = position.without_en_passant();
        match best {
            None => self.plain(&plain, outcomes),
            Some(best) if has_plain_move(&plain) => Ok(best.max(self.plain(&plain, outcomes)?)),
            Some(best) => Ok(best),
        }
    }

    /// Of a legal position without rights to take en passant.
    fn plain(&self, position: &Position, outcomes: bool) -> Result<Code, ProbeError> {
        if position.occupied().count_ones() == 2 {
            return Ok(DRAW);
        }
        let material = Material::of(position);
        let Some(&number) = self.by_material.get(&material) else {
            return Err(ProbeError::NoTable(material));
        };
        let file = &self.tables[number].1;
        let mut other_side = false;
        // Outcomes are in either kind of stream, but smaller in their own.
        for of_outcomes in [outcomes, false] {
            for (which, stream) in file.streams().iter().enumerate() {
                let Some((space, turn, exits, kind)) = stream.cells() else { continue };
                if kind != of_outcomes {
                    continue;
                }
                let Some((place, side)) = space.locate(position) else { continue };
                if side != turn {
                    other_side = true;
                    continue;
                }
                let key = ((number as u64) << 8 | which as u64, place.tile);
                let stored = self.cell(file, stream, (key, place));
                let stored = stored.map_err(|problem| ProbeError::File { material, problem })?;
                let stored = if outcomes { outcome(stored) } else { stored };
                let exit = if exits { self.best(position, true, outcomes)? } else { None };
                return Ok(exit.unwrap_or(0).max(stored));
            }
        }
        if !other_side {
            return Err(ProbeError::NoTable(material));
        }
        let nothing = if position.is_check(position.turn) { MATED } else { DRAW };
        Ok(self.best(position, false, outcomes)?.unwrap_or(nothing))
    }

    /// The best of all exits, or of all moves; none if there is none.
    fn best(
        &self,
        position: &Position,
        only_exits: bool,
        outcomes: bool,
    ) -> Result<Option<Code>, ProbeError> {
        let mut best: Result<Option<Code>, ProbeError> = Ok(None);
        let visit = |found: &crate::moves::Move| {
            let Ok(so_far) = best else { return };
            best = self.any(&found.after, outcomes).map(|code| {
                let code = if outcomes { outcome(before(code)) } else { before(code) };
                so_far.max(Some(code))
            });
        };
        if only_exits {
            exits(position, visit);
        } else {
            legal_moves(position, visit);
        }
        best
    }

    /// What a cell holds, from the cache or the file.
    fn cell(
        &self,
        file: &HbfFile,
        stream: &OpenStream,
        (key, place): ((u64, u64), Place),
    ) -> Result<Code, HbfError> {
        let key = (key.0 + 1, key.1);
        let hash = (key.0 << 40 ^ key.1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let slot = &self.cache[(hash % self.cache.len() as u64) as usize];
        let at = usize::from(place.row) * 64 + usize::from(place.lane);
        {
            let cached = lock(slot);
            if cached.key == key && place.row < cached.rows {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return Ok(cached.codes[at]);
            }
        }
        ROWS.with_borrow_mut(|rows| {
            stream.decode(file, place, rows)?;
            self.decoded.fetch_add(1, Ordering::Relaxed);
            let mut cached = lock(slot);
            let count = place.row + 1;
            *cached = CachedTile { key, rows: count, codes: std::mem::take(&mut cached.codes) };
            cached.codes.clear();
            for row in 0..usize::from(count) {
                cached.codes.extend_from_slice(rows.row(row));
            }
            Ok(cached.codes[at])
        })
    }

    /// The side to move whose distances are stored, if it is one only.
    pub fn stored_side(&self, material: &Material) -> Option<Color> {
        let (_, file) = &self.tables[*self.by_material.get(material)?];
        let mut sides = file.streams().iter().filter_map(|stream| {
            let (_, turn, _, outcomes) = stream.cells()?;
            (!outcomes).then_some(turn)
        });
        let first = sides.next()?;
        (sides.next().is_none() && !material.is_symmetric()).then_some(first)
    }
}

/// What a thread left that has panicked is as good as nothing.
fn lock(slot: &Mutex<CachedTile>) -> std::sync::MutexGuard<'_, CachedTile> {
    slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

//! Nalimov tables of distances to mate (`.nbw.emd`, `.nbb.emd`).
//!
//! **This has not been tried with real files yet.** None were at hand, and the reader (the crate
//! `nalimov`, behind the cargo feature of the same name) has no test that reads one. What is done
//! about it: names, both halves and the headers of the files are checked before anything else;
//! endings that the reader looks for under wrong names are refused; a panic of the reader is an
//! error; and a table whose values contradict the rules in a sample of positions is refused when
//! it is opened. Without the feature everything that is checked here is checked, and then the
//! table is refused.
//!
//! A table is a pair of files, one for each side to move, found by the code before the first dot
//! of a name in the folders of [`ForeignOptions::nalimov`]; the folder in the name does not count.
//! Large tables are split: `kbbkbp.0.nbw.emd`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hoffman_board::Material;
use hoffman_board::shakmaty::Setup;
use hoffman_store::{Storage, files, fill};

use super::{ForeignError, ForeignKind, ForeignOptions, ForeignTable, find, mirrored};
use crate::entries::EntryValue;

/// The most men of a table.
const MAX_MEN: usize = 6;

/// How files begin.
const TITLE: &[u8] = b"Compressed by DATACOMP v 1.0 (c) 1991--1998 Andrew Kadatch\r\n";

/// The shortest header.
const SHORTEST_HEADER: u64 = 84;

/// The ending that a file name speaks of, `kqkr` in `kqkr.nbw.emd`.
///
/// # Errors
/// Names that no Nalimov table has: not an ending, the weaker side first, more than six men, five
/// against one.
pub fn material_of_name(path: &Path) -> Result<Material, ForeignError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let code = name.split_once('.').map_or(name.as_str(), |(code, _)| code);
    let illegal = |reason| ForeignError::IllegalName { kind: ForeignKind::Nalimov, reason };
    let material: Material = code.parse()?;
    if material.men() > MAX_MEN {
        return Err(illegal("there are none with more than six men"));
    }
    if material == Material::bare_kings() {
        return Err(illegal("there is none of the bare kings"));
    }
    if material.stem() != code.to_ascii_lowercase() || !material.is_normalized() {
        return Err(illegal("the stronger side is named first and has its men from queen to pawn"));
    }
    let whites: u32 = material.count.white.iter().map(|&n| u32::from(n)).sum();
    if material.men() == MAX_MEN && whites == 5 {
        return Err(illegal("there are none of five men against one"));
    }
    Ok(material)
}

/// Opens a table: checks the name and both halves, then the values in a sample of positions.
///
/// # Errors
/// Illegal names, halves that are absent or have impossible headers, values that contradict the
/// rules; [`ForeignError::LeftOut`] without the feature `nalimov`.
pub fn open(path: &Path, options: &ForeignOptions) -> Result<Box<dyn ForeignTable>, ForeignError> {
    let material = material_of_name(path)?;
    let current = [PathBuf::from(".")];
    let folders = if options.nalimov.is_empty() { &current[..] } else { &options.nalimov };
    let mut halves = Vec::new();
    for half in ["nbw", "nbb"] {
        let name = format!("{}.{half}.emd", material.stem());
        let split = format!("{}.0.{half}.emd", material.stem());
        let storage = &*options.storage;
        let found = find(&name, folders, storage).or_else(|| find(&split, folders, storage));
        let searched = || folders.to_vec();
        let found = found.ok_or_else(|| ForeignError::Absent { name, searched: searched() })?;
        check_header(&found, &material, storage)?;
        halves.push(found);
    }
    read(&halves, material, folders)
}

/// Whether the folders have both halves of a table.
pub fn exists(material: &Material, folders: &[PathBuf]) -> bool {
    let is_there = |name: &str| find(name, folders, &*files()).is_some();
    ["nbw", "nbb"].iter().all(|half| {
        let stem = material.normalized().0.stem();
        is_there(&format!("{stem}.{half}.emd")) || is_there(&format!("{stem}.0.{half}.emd"))
    })
}

/// Nalimov tables of every ending that folders have, opened when they are first asked.
#[derive(Debug)]
pub struct NalimovFolders {
    folders: Vec<PathBuf>,
    most_men: usize,
    tables: Mutex<HashMap<Material, Option<Arc<dyn ForeignTable>>>>,
}

impl NalimovFolders {
    /// Lists folders; those that cannot be listed have no tables.
    pub fn new(folders: Vec<PathBuf>) -> NalimovFolders {
        let files = folders.iter().filter_map(|folder| files().list(folder).ok()).flatten();
        let most_men = files
            .map(PathBuf::from)
            .filter(|name| name.extension().is_some_and(|e| e == "emd"))
            .filter_map(|name| material_of_name(&name).ok())
            .filter(|material| exists(material, &folders))
            .map(|material| material.men())
            .max();
        NalimovFolders { folders, most_men: most_men.unwrap_or(0), tables: Mutex::default() }
    }

    /// The most men of a table of which both halves are there; 0 if there is none.
    pub fn most_men(&self) -> usize {
        self.most_men
    }

    /// What they say to the side to move in a legal position, see [`ForeignTable::value`]; none if
    /// there is no such table.
    ///
    /// # Errors
    /// A table cannot be opened, or is damaged. One that cannot be opened is not tried again.
    pub fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        let (material, swapped) = Material { count: position.board.material() }.normalized();
        if material.men() > self.most_men || !exists(&material, &self.folders) {
            return Ok(None);
        }
        let Some(table) = self.table(material)? else { return Ok(None) };
        if swapped { table.value(&mirrored(position)) } else { table.value(position) }
    }

    fn table(&self, material: Material) -> Result<Option<Arc<dyn ForeignTable>>, ForeignError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables.get(&material) {
            return Ok(known.clone());
        }
        let name = PathBuf::from(format!("{}.nbw.emd", material.stem()));
        let options = ForeignOptions { nalimov: self.folders.clone(), ..Default::default() };
        tables.insert(material, None);
        let table: Arc<dyn ForeignTable> = Arc::from(open(&name, &options)?);
        tables.insert(material, Some(table.clone()));
        Ok(Some(table))
    }
}

/// Compares the numbers in the fixed part of a file's header with each other, with the length of
/// the file and with the most positions that the ending can have.
fn check_header(
    path: &Path,
    material: &Material,
    storage: &dyn Storage,
) -> Result<(), ForeignError> {
    let fail = |source| ForeignError::Read { path: path.to_owned(), source };
    let damaged = |problem: &str| {
        Err(ForeignError::Damaged {
            kind: ForeignKind::Nalimov,
            path: path.to_owned(),
            problem: problem.to_owned(),
        })
    };

    let file = storage.open(path).map_err(fail)?;
    let length = file.byte_len().map_err(fail)?;
    let mut fixed = [0; 80];
    if !fill(&*file, &mut fixed, 0).map_err(fail)? {
        return damaged("it is too short");
    }
    if !fixed.starts_with(TITLE) {
        return damaged("it begins otherwise");
    }

    let number = |at: usize| {
        let bytes = fixed.get(at..at + 4).unwrap_or_default();
        bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte))
    };
    let (header, blocks) = (number(64), number(72));
    let block_bits = u32::from(fixed[70]);
    if header < SHORTEST_HEADER || header > length || block_bits > 16 {
        return damaged("its header is impossible");
    }

    // Two checksums of four bytes are kept for every block.
    if blocks == 0 || blocks.saturating_mul(8).saturating_add(SHORTEST_HEADER) > header {
        return damaged("the number of its blocks is impossible");
    }

    // King pairs and every square for the others, twice over for en passant, two bytes an entry.
    let most = 4096 * 64_u64.pow(material.men() as u32 - 2) * 4;
    if (blocks - 1) << block_bits > most {
        return damaged("it has more entries than the ending has positions");
    }
    Ok(())
}

#[cfg(not(feature = "nalimov"))]
fn read(_: &[PathBuf], _: Material, _: &[PathBuf]) -> Result<Box<dyn ForeignTable>, ForeignError> {
    Err(ForeignError::LeftOut(ForeignKind::Nalimov, "nalimov"))
}

#[cfg(feature = "nalimov")]
use reader::read;

#[cfg(feature = "nalimov")]
mod reader;

#[cfg(test)]
mod tests;

//! Nalimov tables of distances to mate (`.nbw.emd`, `.nbb.emd`).
//!
//! **Nobody has tried this with real files yet.** None were at hand, and the reader (the crate `nalimov`,
//! behind the cargo feature of the same name) has no test that reads one. What is done about it: names,
//! both halves and the headers of the files are checked before anything else; endings that the reader
//! looks for under wrong names are refused; a panic of the reader is an error; and a table whose values
//! contradict the rules in a sample of positions is refused when it is opened. Without the feature
//! everything that is checked here is checked, and then the table is refused.
//!
//! A table is a pair of files, one for each side to move, found by the code before the first dot of a
//! name in the folders of [`ForeignOptions::nalimov`]; the folder in the name does not count. Large
//! tables are split: `kbbkbp.0.nbw.emd`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hoffman_board::Material;
use hoffman_board::shakmaty::Setup;
use hoffman_store::{Storage, disk, fill};

use super::{ForeignError, ForeignOptions, ForeignTable, Kind, find, mirrored};
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
/// Names that no Nalimov table has: not an ending, the weaker side first, more than six men, five against
/// one.
pub fn material_of_name(path: &Path) -> Result<Material, ForeignError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let code = name.split_once('.').map_or(name.as_str(), |(code, _)| code);
    let illegal = |reason| ForeignError::IllegalName { kind: Kind::Nalimov, reason };
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
/// Illegal names, halves that are absent or have impossible headers, values that contradict the rules;
/// [`ForeignError::LeftOut`] without the feature `nalimov`.
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
    let is_there = |name: &str| find(name, folders, &*disk()).is_some();
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
        let files = folders.iter().filter_map(|folder| disk().list(folder).ok()).flatten();
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

    /// What they say to the side to move in a legal position, see [`ForeignTable::value`]; none if there
    /// is no such table.
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

/// Compares the numbers in the fixed part of a file's header with each other, with the length of the
/// file and with the most positions that the ending can have.
fn check_header(
    path: &Path,
    material: &Material,
    storage: &dyn Storage,
) -> Result<(), ForeignError> {
    let fail = |source| ForeignError::Read { path: path.to_owned(), source };
    let damaged = |problem: &str| {
        Err(ForeignError::Damaged {
            kind: Kind::Nalimov,
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
    Err(ForeignError::LeftOut(Kind::Nalimov, "nalimov"))
}

#[cfg(feature = "nalimov")]
use reader::read;

#[cfg(feature = "nalimov")]
mod reader {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::{Path, PathBuf};
    use std::sync::Once;

    use hoffman_board::shakmaty::Setup;
    use hoffman_board::{Color, Format, Material, Role, Value};
    use nalimov::{NalimovError, NalimovProber, NalimovResult};

    use super::super::plausible::check_plausible;
    use super::super::{ForeignError, ForeignTable, Kind};
    use crate::entries::EntryValue;

    pub(super) struct NalimovTable {
        path: PathBuf,
        material: Material,
        prober: NalimovProber,
    }

    impl std::fmt::Debug for NalimovTable {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "NalimovTable({})", self.path.display())
        }
    }

    /// Whether the reader looks for the files of an ending under another name: it orders the sides of equal
    /// size by the sum of their men (pawn 1 to queen 5), where the files go by the strongest men.
    pub(super) fn is_misnamed(material: &Material) -> bool {
        let side = |color| {
            let count = material.count.get(color);
            let men = count.iter().map(|&n| u32::from(n)).sum::<u32>();
            let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
            let sum: u32 =
                roles.iter().zip(1..).map(|(&r, worth)| u32::from(*count.get(r)) * worth).sum();
            (men, sum)
        };
        side(Color::Black) > side(Color::White)
    }

    pub(super) fn read(
        halves: &[PathBuf],
        material: Material,
        folders: &[PathBuf],
    ) -> Result<Box<dyn ForeignTable>, ForeignError> {
        let table = read_unchecked(halves, material, folders)?;
        check_plausible(&table)?;
        Ok(Box::new(table))
    }

    /// Opens a table of which the values have not been looked at.
    pub(super) fn read_unchecked(
        halves: &[PathBuf],
        material: Material,
        folders: &[PathBuf],
    ) -> Result<NalimovTable, ForeignError> {
        let path = halves.first().cloned().unwrap_or_default();
        let damaged = |problem: String| ForeignError::Damaged {
            kind: Kind::Nalimov,
            path: path.clone(),
            problem,
        };
        if is_misnamed(&material) {
            return Err(damaged("the reader looks for this ending under another name".to_owned()));
        }
        let folders: Option<Vec<&str>> = folders.iter().map(|f| f.to_str()).collect();
        let folders =
            folders.ok_or_else(|| damaged("the name of a folder is not UTF-8".to_owned()))?;
        let prober = guarded(|| NalimovProber::new(&folders))
            .ok_or_else(|| damaged("the reader failed".to_owned()))?
            .map_err(|error| damaged(format!("{error:?}")))?;
        Ok(NalimovTable { path, material, prober })
    }

    impl NalimovTable {
        fn damaged(&self, problem: String) -> ForeignError {
            ForeignError::Damaged { kind: Kind::Nalimov, path: self.path.clone(), problem }
        }
    }

    impl ForeignTable for NalimovTable {
        fn path(&self) -> &Path {
            &self.path
        }

        fn material(&self) -> Material {
            self.material
        }

        fn format(&self) -> Format {
            Format::Dtm(None)
        }

        fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
            let board = &position.board;
            // The reader panics without two kings, and takes the wrong file for other men.
            let material = Material { count: board.material() };
            if material != self.material {
                return Err(self.damaged(format!("it was asked for {material}")));
            }
            let set = |role| board.by_role(role).0;
            let answer = guarded(|| {
                self.prober.probe(
                    board.white().0,
                    board.black().0,
                    set(Role::King),
                    set(Role::Queen),
                    set(Role::Rook),
                    set(Role::Bishop),
                    set(Role::Knight),
                    set(Role::Pawn),
                    position.turn == Color::White,
                    position.ep_square.map_or(64, |square| square as u8),
                )
            });
            let value = match answer {
                Some(Ok(NalimovResult::Draw)) => Value::Draw,
                Some(Ok(NalimovResult::Win { plies })) => Value::Win(plies.div_ceil(2)),
                Some(Ok(NalimovResult::Loss { plies })) => Value::Loss(plies / 2),
                Some(Err(NalimovError::PositionNotFound)) => {
                    return Err(self.damaged("it calls a legal position illegal".to_owned()));
                }
                Some(Err(NalimovError::DecompressError(problem))) => {
                    return Err(self.damaged(problem));
                }
                Some(Err(error)) => return Err(self.damaged(format!("{error:?}"))),
                None => return Err(self.damaged("the reader failed".to_owned())),
            };
            Ok(Some(EntryValue::Exact(value)))
        }
    }

    thread_local! {
        static GUARDED: Cell<bool> = const { Cell::new(false) };
    }

    /// The result of work that may panic; none if it did. Such a panic is not printed.
    pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !GUARDED.get() {
                    usual(info);
                }
            }));
        });
        let outer = GUARDED.replace(true);
        // What a panic leaves behind is asked again at most to fail again: its lock is poisoned.
        let result = catch_unwind(AssertUnwindSafe(work));
        GUARDED.set(outer);
        result.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let name = |text: &str| material_of_name(Path::new(text)).map(|m| m.to_string());
        assert_eq!(name("some/where/kqkp.nbw.emd").unwrap(), "KQvKP");
        assert_eq!(name("kbbkbp.0.nbb.emd").unwrap(), "KBBvKBP");
        for (text, why) in [
            ("kpkq.nbw.emd", "the stronger side is named first"),
            ("kpqk.nbw.emd", "from queen to pawn"),
            ("kk.nbw.emd", "bare kings"),
            ("kqqqqk.nbw.emd", "five men against one"),
            ("kqqqkqq.nbw.emd", "more than six men"),
        ] {
            let message = name(text).unwrap_err().to_string();
            assert!(message.starts_with("Illegally named Nalimov tablebase: "), "{message}");
            assert!(message.contains(why), "{text}: {message}");
        }
        assert!(matches!(name("kxk.nbw.emd"), Err(ForeignError::Name(_))));
    }

    /// The fixed part of a header with nothing behind it.
    fn fixed(header: u32, blocks: u32, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        bytes[..TITLE.len()].copy_from_slice(TITLE);
        // The most significant byte comes first.
        let number = |n: u32| [24, 16, 8, 0].map(|shift| (n >> shift) as u8);
        bytes[64..68].copy_from_slice(&number(header));
        bytes[70] = 13;
        bytes[72..76].copy_from_slice(&number(blocks));
        bytes
    }

    #[test]
    fn wrong_data_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let options =
            ForeignOptions { nalimov: vec![folder.path().to_owned()], ..Default::default() };
        let message =
            |name: &str| open(Path::new(name), &options).map(drop).unwrap_err().to_string();
        let write = |half: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(format!("kqk.{half}.emd")), bytes).unwrap();
        };
        assert!(message("kqk.nbw.emd").starts_with("there is no kqk.nbw.emd in "));
        let plausible = fixed(100, 2, 120);
        write("nbw", &plausible);
        assert!(message("elsewhere/kqk.nbw.emd").starts_with("there is no kqk.nbb.emd in "));
        for (bytes, why) in [
            (vec![0; 10], "it is too short"),
            (vec![0; 200], "it begins otherwise"),
            (fixed(83, 1, 200), "its header is impossible"),
            (fixed(100, 2, 99), "its header is impossible"),
            (fixed(100, 3, 120), "the number of its blocks is impossible"),
            (fixed(100, 0, 120), "the number of its blocks is impossible"),
            (fixed(80_100, 10_000, 90_000), "it has more entries than the ending has positions"),
        ] {
            write("nbb", &bytes);
            let message = message("kqk.nbb.emd");
            assert!(message.contains("kqk.nbb.emd is no Nalimov table"), "{message}");
            assert!(message.ends_with(why), "{message}");
        }
        let folders = NalimovFolders::new(vec![folder.path().to_owned()]);
        assert_eq!(folders.most_men(), 3);
        assert_eq!(NalimovFolders::new(vec![folder.path().join("none")]).most_men(), 0);
        // Nothing that is made up here passes for a table, with or without the reader.
        write("nbb", &plausible);
        let last = message("kqk.nbw.emd");
        let expected =
            if cfg!(feature = "nalimov") { "is no Nalimov table" } else { "built without" };
        assert!(last.contains(expected), "{last}");
    }

    /// A header that the reader takes: its own numbers, `bits` behind them, the checksum at its end.
    #[cfg(feature = "nalimov")]
    fn with_checksum(blocks: u32, bits: &[u8]) -> Vec<u8> {
        let before = 80 + 8 * blocks as usize;
        let header = before + bits.len() + 4;
        let mut bytes = fixed(header as u32, blocks, before);
        (bytes[70], bytes[71]) = (13, 24);
        bytes[76..80].copy_from_slice(&[0, 0x40, 0x01, 0xf5]);
        bytes.extend(bits);
        let mut sum = 0_u32;
        for &byte in &bytes {
            let mut k = (sum ^ u32::from(byte)) & 255;
            for _ in 0..8 {
                k = if k & 1 == 1 { k >> 1 } else { k >> 1 ^ 0xedb8_8320 };
            }
            sum = k ^ sum >> 8;
        }
        bytes.extend([24, 16, 8, 0].map(|shift| (sum >> shift) as u8));
        bytes
    }

    #[cfg(feature = "nalimov")]
    #[test]
    fn made_up_files_neither_crash_nor_pass() {
        let folder = tempfile::tempdir().unwrap();
        let options =
            ForeignOptions { nalimov: vec![folder.path().to_owned()], ..Default::default() };
        let mut problems = std::collections::BTreeSet::new();
        let mut x = 1_u64;
        let mut noise = |len: usize| -> Vec<u8> {
            let mut next = || {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (x >> 56) as u8
            };
            (0..len).map(|_| next()).collect()
        };
        for round in 0..200 {
            let blocks = 1 + round % 5;
            // Block sizes and distances, then a code: all lengths zero, or anything.
            let mut bits = noise((blocks as usize + 1 + 24) * 13 / 8 + 1);
            bits.extend(if round % 2 == 0 { vec![0xff; 8] } else { noise(300) });
            for half in ["nbw", "nbb"] {
                let mut bytes = with_checksum(blocks, &bits);
                bytes.extend(noise(40_000));
                std::fs::write(folder.path().join(format!("krk.{half}.emd")), bytes).unwrap();
            }
            let error = open(Path::new("krk.nbw.emd"), &options).map(drop).unwrap_err();
            let message = error.to_string();
            let (_, problem) = message.split_once("is damaged: ").unwrap();
            problems.insert(problem.split(" at ").next().unwrap_or_default().to_owned());
        }
        println!("{problems:?}");
        assert!(problems.len() > 2, "{problems:?}");
    }

    /// A file whose blocks are stored as they are. The reader cannot tell where blocks begin if sixteen
    /// of them have full size, so there are fifteen and one of a single byte.
    #[cfg(feature = "nalimov")]
    fn stored(entries: &[u8]) -> Vec<u8> {
        let blocks = 16;
        // A size of zero is a whole block; then the distances, and no code at all.
        let mut bits = vec![0; ((blocks + 1 + 24) * 13_usize).div_ceil(8)];
        let last_of_size = 15 * 13 + 12;
        bits[last_of_size / 8] = 0x80 >> (last_of_size % 8);
        bits.extend([0xff; 8]);
        let mut bytes = with_checksum(blocks as u32, &bits);
        bytes.extend(entries);
        bytes.push(127);
        bytes
    }

    /// Puts the distances of a golden table where the reader looks for them, and reads them back. So the
    /// container, the two halves, the colours and the distances are right, and no two positions share a
    /// place unless they are images of each other; whether the places are those of real files is not
    /// tested by this.
    #[cfg(feature = "nalimov")]
    #[test]
    fn what_is_written_where_the_reader_looks_is_read_back() {
        use hoffman_board::Color;

        use crate::Table;
        use crate::foreign::legal_setup;

        const SIZE: usize = 15 * 8192;
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
        if !shared.join("spec/golden/base").is_dir() {
            eprintln!("SKIPPED: no golden tables in {}; set HOFFMAN_SHARED", shared.display());
            return;
        }
        for stem in ["krk", "kpk"] {
            let golden = shared.join("spec/golden/base").join(stem).with_extension("htb");
            let golden = Table::open(golden, crate::htb::SourceOptions::default()).unwrap();
            let material: Material = stem.parse().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let folders = [folder.path().to_owned()];
            let halves = ["nbw", "nbb"].map(|h| folder.path().join(format!("{stem}.{h}.emd")));
            let mut positions = Vec::new();
            for index in 0..golden.space().size() {
                let Some(placement) = golden.space().decode(index) else { continue };
                let men = placement.squares.iter().zip(golden.pieces());
                let men = men.map(|(&square, piece)| (square, piece.color, piece.role));
                let Some(mut setup) = legal_setup(men, &placement) else { continue };
                setup.ep_square = None;
                let value = golden.value(index, placement.turn).unwrap();
                let EntryValue::Exact(value) = value else { panic!("{value:?}") };
                positions.push((setup, value));
            }
            // Where the reader looks: files that say a digit of the place, 1 to 100.
            let mut places = vec![0; positions.len()];
            for digit in 0..3 {
                let power = 100_usize.pow(digit);
                let entries: Vec<u8> = (0..SIZE).map(|i| 1 + (i / power % 100) as u8).collect();
                for half in &halves {
                    std::fs::write(half, stored(&entries)).unwrap();
                }
                let table = reader::read_unchecked(&halves, material, &folders).unwrap();
                for ((setup, _), place) in positions.iter().zip(&mut places) {
                    let said = table.value(setup).unwrap();
                    let Some(EntryValue::Exact(hoffman_board::Value::Win(moves))) = said else {
                        panic!("{said:?}")
                    };
                    *place += (126 - moves as usize) * power;
                }
            }
            // 127 stands for no position.
            let mut entries = [vec![127; SIZE], vec![127; SIZE]];
            for ((setup, value), &place) in positions.iter().zip(&places) {
                let entry = match *value {
                    hoffman_board::Value::Win(moves) => 127 - moves as i8,
                    hoffman_board::Value::Loss(moves) => moves as i8 - 126,
                    _ => 0,
                };
                let half = &mut entries[usize::from(setup.turn == Color::Black)];
                let known = std::mem::replace(&mut half[place], entry as u8);
                assert!(known == 127 || known == entry as u8, "{setup:?} at {place}");
            }
            for (half, entries) in halves.iter().zip(&entries) {
                std::fs::write(half, stored(entries)).unwrap();
            }
            let options = ForeignOptions { nalimov: folders.to_vec(), ..Default::default() };
            let name = PathBuf::from(format!("{stem}.nbw.emd"));
            let table = open(&name, &options).unwrap();
            for (setup, value) in &positions {
                assert_eq!(table.value(setup).unwrap(), Some(EntryValue::Exact(*value)));
            }
            // As a table of ours, and with the colours exchanged.
            let ours = Table::open_foreign(&name, &options).unwrap();
            let legal = golden.control().statistics["legal-positions"];
            let mut all = vec![0_i16; ours.space().size() as usize];
            ours.read_entries(0, &mut all).unwrap();
            println!("{stem}: {} positions, {} entries, {legal} legal", positions.len(), all.len());
            assert_eq!(all.iter().max().map(|&n| i64::from(n)), golden.control().max_dtm());
            assert_eq!(all.iter().min().map(|&n| i64::from(n)), golden.control().min_dtm());
            let all = NalimovFolders::new(folders.to_vec());
            for (setup, value) in positions.iter().step_by(101) {
                let said = all.value(&mirrored(setup)).unwrap();
                assert_eq!(said, Some(EntryValue::Exact(*value)));
            }
        }
    }

    #[cfg(feature = "nalimov")]
    #[test]
    fn panics_of_the_reader_are_caught() {
        assert_eq!(reader::guarded(|| -> u8 { panic!("not shown") }), None);
        assert_eq!(reader::guarded(|| 7), Some(7));
    }

    #[cfg(feature = "nalimov")]
    #[test]
    fn endings_that_the_reader_names_otherwise_are_known() {
        let misnamed = |text: &str| reader::is_misnamed(&text.parse().unwrap());
        assert!(misnamed("KQNvKRR") && misnamed("KRPvKBB"));
        assert!(!misnamed("KRNvKBB") && !misnamed("KQvKR") && !misnamed("KPPvKQ"));
    }
}

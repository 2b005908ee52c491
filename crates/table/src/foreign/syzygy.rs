//! Syzygy tables of wins, draws and losses (`.rtbw`), read by `shakmaty-syzygy`.
//!
//! A file leaves out what a capture decides, so answers need the files of all endings that
//! captures lead to, on the search path: the folder in the name of the table, or the current one,
//! then the folders of [`ForeignOptions::syzygy`]. Files are held in memory up to a size; nothing
//! is mapped.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::shakmaty::{CastlingMode, Chess, PositionError, Setup};
use hoffman_board::{Color, Format, Material, Role};
use hoffman_store::{Storage, StoredFile, fill, is_file, read};
use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{SyzygyError, Tablebase, Wdl};

use super::wdl::{HEAD, SpareValues, WdlTables, has_order};
use super::{
    FiftyMoves, ForeignError, ForeignKind, ForeignOptions, ForeignTable, ForeignValues, Row, find,
    setup_of,
};
use crate::entries::EntryValue;

/// The first bytes of a file.
pub(super) const MAGIC: [u8; 4] = [0x71, 0xe8, 0x23, 0x5d];

/// The most men of a table.
pub(super) const MAX_MEN: usize = 7;

/// The name of the file of an ending: `KQvKP.rtbw`, the stronger side first.
pub fn file_name(material: &Material) -> String {
    format!("{}.rtbw", material.normalized().0)
}

/// The endings that captures lead to from an ending, and from those in turn, without the bare
/// kings: what answers depend on. Captures that promote are among them; other promotions decide
/// nothing, as the file itself knows what they lead to.
pub fn endings_needed(material: &Material) -> Vec<Material> {
    let mut found: Vec<Material> = Vec::new();
    let mut open = vec![*material];
    while let Some(next) = open.pop() {
        for color in Color::ALL {
            let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
            for role in roles {
                let Some(rest) = next.without(color, role) else { continue };
                let mut behind = vec![rest];
                if role != Role::Pawn
                    && let Some(promoting) = rest.without(color.other(), Role::Pawn)
                {
                    behind.extend(roles[..4].iter().map(|&r| promoting.with(color.other(), r)));
                }
                for ending in behind {
                    let known = found.iter().any(|m| *m == ending || *m == ending.swapped());
                    if ending != Material::bare_kings() && !known {
                        found.push(ending);
                        open.push(ending);
                    }
                }
            }
        }
    }
    found.sort_by_key(|m| (std::cmp::Reverse(m.men()), file_name(m)));
    found
}

/// Syzygy tables as an oracle for every ending that folders have.
#[derive(Debug)]
pub struct SyzygyFolders {
    tables: Tablebase<Chess>,
    fifty_moves: FiftyMoves,
}

impl SyzygyFolders {
    /// Lists folders. Of files with the same name the first one counts.
    ///
    /// # Errors
    /// A folder cannot be listed, or a file is none by its length.
    pub fn open(
        folders: &[PathBuf],
        fifty_moves: FiftyMoves,
    ) -> Result<SyzygyFolders, ForeignError> {
        let mut tables = Tablebase::with_filesystem(Files::of(&ForeignOptions::default()));
        // A file added later takes the place of the one before.
        for folder in folders.iter().rev() {
            let read = |source| ForeignError::Read { path: folder.clone(), source };
            tables.add_directory(folder).map_err(read)?;
        }
        Ok(SyzygyFolders { tables, fifty_moves })
    }

    /// What the tables say of a legal position; none if a file is missing, see
    /// [`ForeignTable::value`].
    ///
    /// # Errors
    /// Damage to one of the files behind the position's ending, which the message names.
    pub fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        probe(&self.tables, position, self.fifty_moves).map_err(|error| {
            let ending = Material { count: position.board.material() };
            damaged(Path::new(&file_name(&ending)), &error.to_string())
        })
    }
}

/// A table and the smaller ones that its answers need.
#[derive(Debug)]
pub struct SyzygyTable {
    path: PathBuf,
    material: Material,
    tables: Tablebase<Chess>,
    missing: Vec<String>,
    /// Its file and the smaller ones.
    files: Vec<(Material, PathBuf)>,
    options: ForeignOptions,
}

impl SyzygyTable {
    /// Opens a table and looks for the smaller ones; those missing are in
    /// [`ForeignTable::missing`]. The side that the file name has first is White.
    ///
    /// # Errors
    /// `.rtbz` files, names that are no endings, files that are absent, unreadable or no tables.
    pub fn open(path: &Path, options: &ForeignOptions) -> Result<SyzygyTable, ForeignError> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("rtbz")) {
            return Err(ForeignError::Zeroing);
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let material: Material = stem.parse()?;
        let illegal = |reason| ForeignError::IllegalName { kind: ForeignKind::Syzygy, reason };
        if material.men() > MAX_MEN {
            return Err(illegal("there are none with more than seven men"));
        }
        if material == Material::bare_kings() {
            return Err(illegal("there is none of the bare kings"));
        }

        let mut folders = vec![match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }];
        folders.extend(options.syzygy.iter().cloned());
        let storage = &*options.storage;
        let mut tables = Tablebase::with_filesystem(Files::of(options));

        // A link or a file may be named the other way round; shakmaty goes by what is in the file.
        let names =
            |m: &Material| [file_name(m), format!("{m}.rtbw"), format!("{}.rtbw", m.swapped())];
        let found = |m: &Material| names(m).iter().find_map(|name| find(name, &folders, storage));
        let Some(own) = found(&material) else {
            return Err(ForeignError::Absent { name: file_name(&material), searched: folders });
        };
        add(&mut tables, &material, &own, storage)?;
        let mut missing = Vec::new();
        let mut files = vec![(material, own.clone())];

        for ending in endings_needed(&material) {
            match found(&ending) {
                Some(path) => {
                    add(&mut tables, &ending, &path, storage)?;
                    files.push((ending, path));
                }
                None => missing.push(file_name(&ending)),
            }
        }

        // What is shown is the name that was given, even if another folder has the file.
        let path = if is_file(storage, path) { path.to_owned() } else { own };
        let options = options.clone();
        Ok(SyzygyTable { path, material, tables, missing, files, options })
    }
}

impl ForeignTable for SyzygyTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn material(&self) -> Material {
        self.material
    }

    fn format(&self) -> Format {
        Format::Basic
    }

    fn missing(&self) -> Vec<String> {
        self.missing.clone()
    }

    fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        probe(&self.tables, position, self.options.fifty_moves)
            .map_err(|error| damaged(&self.path, &error.to_string()))
    }

    fn values(&self, room: u64) -> Option<Box<dyn ForeignValues + '_>> {
        Some(Box::new(self.unpacked(room)?))
    }
}

impl SyzygyTable {
    /// The table with its values unpacked; none if that is not possible in so many bytes, or files
    /// are missing.
    fn unpacked(&self, room: u64) -> Option<Unpacked<'_>> {
        let storage = &*self.options.storage;
        let mut len = 0;
        for (_, path) in &self.files {
            len += storage.info(path).ok().filter(|file| file.len <= self.options.held)?.len;
        }
        if len > room || !self.missing.is_empty() {
            return None;
        }
        let read =
            |(material, path): &(Material, PathBuf)| Some((*material, read(storage, path).ok()?));
        // What is left over is not part of a bound.
        let spare =
            if room == u64::MAX { self.options.spare.clone() } else { SpareValues::default() };
        let files = self.files.iter().map(read).collect::<Option<_>>()?;
        let tables = WdlTables::new(files, &spare, &self.options.stop)?;
        (tables.bytes() <= room).then_some(Unpacked { table: self, tables })
    }
}

/// A table whose values are unpacked.
struct Unpacked<'a> {
    table: &'a SyzygyTable,
    tables: WdlTables,
}

impl ForeignValues for Unpacked<'_> {
    fn bytes(&self) -> u64 {
        self.tables.bytes()
    }

    fn row(&self, row: &mut Row<'_>, values: &mut [EntryValue; 64]) -> Result<(), ForeignError> {
        let Row { men, walks, squares, turn, en_passant } = row;
        let mut unsaid = *squares;
        if en_passant.is_none() {
            let fifty_moves = self.table.options.fifty_moves;
            let worth = WDL.map(|wdl| value_of(wdl, fifty_moves));
            self.tables.row(men, *walks, *squares, *turn, |square, value| {
                if let Some(value) = value {
                    values[square as usize] = worth[(value + 2) as usize];
                    unsaid.discard(square);
                }
            });
        }
        // Damage, too, is named there.
        for square in unsaid {
            men[*walks].0 = square;
            let value = self.table.value(&setup_of(men.iter().copied(), *turn, *en_passant))?;
            values[square as usize] = value.unwrap_or(EntryValue::Unknown);
        }
        Ok(())
    }
}

/// The values from -2 to 2.
const WDL: [Wdl; 5] = [Wdl::Loss, Wdl::BlessedLoss, Wdl::Draw, Wdl::CursedWin, Wdl::Win];

fn damaged(path: &Path, problem: &str) -> ForeignError {
    ForeignError::Damaged {
        kind: ForeignKind::Syzygy,
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

/// Adds a file after a look at its first bytes.
fn add(
    tables: &mut Tablebase<Chess>,
    material: &Material,
    path: &Path,
    storage: &dyn Storage,
) -> Result<(), ForeignError> {
    let read = |source| ForeignError::Read { path: path.to_owned(), source };
    let damaged = |problem| damaged(path, problem);
    let mut first = [0; 4];
    let file = storage.open(path).map_err(read)?;
    if !fill(&*file, &mut first, 0).map_err(read)? {
        return Err(damaged("it is too short"));
    }
    if first != MAGIC {
        return Err(damaged("it begins otherwise"));
    }
    tables.add_file(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => damaged("its length is impossible"),
        _ => read(error),
    })?;
    let mut head = [0; HEAD];
    let is_sound = fill(&*file, &mut head, 0).map_err(read)? && has_order(material, &head);
    if is_sound {
        Ok(())
    } else {
        Err(damaged("its men are not those of its name in an order that there is"))
    }
}

fn probe(
    tables: &Tablebase<Chess>,
    position: &Setup,
    fifty_moves: FiftyMoves,
) -> Result<Option<EntryValue>, SyzygyError> {
    if position.board.occupied() == position.board.kings() {
        return Ok(Some(EntryValue::Draw));
    }
    let chess: Option<Chess> = position
        .clone()
        .position(CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok();
    let Some(chess) = chess else { return Ok(None) };
    let wdl = match tables.probe_wdl_after_zeroing(&chess) {
        Ok(wdl) => wdl,
        Err(SyzygyError::MissingTable { .. } | SyzygyError::TooManyPieces) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(value_of(wdl, fifty_moves)))
}

fn value_of(wdl: Wdl, fifty_moves: FiftyMoves) -> EntryValue {
    match (wdl, fifty_moves) {
        (Wdl::Win, _) | (Wdl::CursedWin, FiftyMoves::Wins) => EntryValue::Win,
        (Wdl::Loss, _) | (Wdl::BlessedLoss, FiftyMoves::Wins) => EntryValue::Loss,
        (Wdl::Draw | Wdl::CursedWin | Wdl::BlessedLoss, _) => EntryValue::Draw,
    }
}

/// Reads files of moderate size at once, so that a probe makes no calls to the system.
struct Files {
    storage: Arc<dyn Storage>,
    held: u64,
}

impl Files {
    fn of(options: &ForeignOptions) -> Arc<Files> {
        Arc::new(Files { storage: options.storage.clone(), held: options.held })
    }
}

impl Filesystem for Files {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        let info = self.storage.info(path)?;
        if info.is_file { Ok(info.len) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.storage.list(path)?.iter().map(|name| path.join(name)).collect())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        if self.regular_file_size(path)? > self.held {
            return Ok(Box::new(FileOnDisk(self.storage.open(path)?)));
        }
        Ok(Box::new(FileInMemory(read(&*self.storage, path)?)))
    }
}

struct FileOnDisk(Box<dyn StoredFile>);

impl RandomAccessFile for FileOnDisk {
    fn read_at(&self, buf: &mut [u8], offset: u64, _: ReadHint) -> io::Result<usize> {
        self.0.read_at(buf, offset)
    }
}

struct FileInMemory(Vec<u8>);

impl fmt::Debug for FileInMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileInMemory({})", self.0.len())
    }
}

impl RandomAccessFile for FileInMemory {
    fn read_at(&self, buf: &mut [u8], offset: u64, _: ReadHint) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.0.get(at..)).unwrap_or_default();
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::{Bitboard, Piece, Rank, Square};
    use rayon::prelude::*;

    use super::super::wdl::Man;
    use super::*;

    #[test]
    fn names_and_needs_are_those_of_syzygy() {
        let name = |text: &str| file_name(&text.parse().unwrap());
        assert_eq!(name("KPvKQ"), "KQvKP.rtbw");
        assert_eq!(name("KvKR"), "KRvK.rtbw");
        let needs = |text: &str| {
            let needed = endings_needed(&text.parse().unwrap());
            needed.iter().map(file_name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(needs("KQvK"), "");
        assert_eq!(needs("KPvK"), "");
        assert_eq!(needs("KPvKP"), "KPvK.rtbw");
        assert_eq!(needs("KRvKP"), "KBvK.rtbw KNvK.rtbw KPvK.rtbw KQvK.rtbw KRvK.rtbw");
        let many = needs("KQPvKRP");
        assert!(many.contains("KQPvKP.rtbw") && many.contains("KQQvKP.rtbw"), "{many}");
        assert!(!many.contains("KQPvKRP") && !many.contains("KQPvKRR"), "{many}");
    }

    #[test]
    fn cursed_wins_are_draws_unless_asked_for() {
        let values = |fifty_moves| {
            [Wdl::Win, Wdl::CursedWin, Wdl::Draw, Wdl::BlessedLoss, Wdl::Loss]
                .map(|wdl| value_of(wdl, fifty_moves))
        };
        let (win, draw, loss) = (EntryValue::Win, EntryValue::Draw, EntryValue::Loss);
        assert_eq!(values(FiftyMoves::default()), [win, draw, draw, draw, loss]);
        assert_eq!(values(FiftyMoves::Wins), [win, win, draw, loss, loss]);
    }

    /// All values at once and those asked for one by one. `HOFFMAN_SYZYGY_STEP=1` compares every
    /// position.
    #[test]
    fn unpacked_values_are_the_ones_asked_for() {
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
        let Ok(files) = std::fs::read_dir(shared.join("data/syzygy")) else {
            eprintln!("SKIPPED: no Syzygy tables in {}; set HOFFMAN_SHARED", shared.display());
            return;
        };
        let step = std::env::var("HOFFMAN_SYZYGY_STEP").map_or(997, |step| step.parse().unwrap());
        let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        let files: Vec<&PathBuf> =
            files.iter().filter(|path| path.extension().is_some_and(|e| e == "rtbw")).collect();
        let compared: u64 = files.par_iter().map(|path| compare_unpacked(path, step)).sum();
        eprintln!("{compared} positions agree in {} files", files.len());
        assert!(compared > 500_000, "{compared}");
    }

    fn compare_unpacked(path: &Path, step: usize) -> u64 {
        let options = ForeignOptions { fifty_moves: FiftyMoves::Wins, ..Default::default() };
        let table = SyzygyTable::open(path, &options).unwrap();
        let unpacked = table.unpacked(u64::MAX).unwrap();
        assert!(table.unpacked(unpacked.bytes()).is_some());
        assert!(table.unpacked(unpacked.bytes() - 1).is_none());
        let men = table.material.men_in_naming_order().into_iter();
        let kings = Color::ALL.map(|color| (color, Role::King));
        let men: Vec<Piece> = men.chain(kings).map(|(color, role)| role.of(color)).collect();
        let mut compared = 0;
        for number in (0..64_usize.pow(men.len() as u32)).step_by(step) {
            let square = |slot: usize| Square::new((number >> (6 * slot)) as u32 & 63);
            let mut placed: Vec<Man> =
                men.iter().enumerate().map(|(slot, &man)| (square(slot), man)).collect();
            for turn in Color::ALL {
                let position = setup_of(placed.iter().copied(), turn, None);
                let king = position.board.by_piece(turn.other().king()).first();
                let attacked = king.is_none_or(|king| {
                    position.board.attacks_to(king, turn, position.board.occupied()).any()
                });
                let pawns = position.board.pawns();
                if attacked
                    || position.board.occupied().count() < men.len()
                    || (pawns & !hoffman_board::PAWN_SQUARES).any()
                {
                    continue;
                }
                let expected = table.value(&position).unwrap().unwrap();
                let find = |placed: &[Man], turn: Color| {
                    let value = unpacked.tables.value(placed, turn).unwrap();
                    value_of(WDL[(value + 2) as usize], FiftyMoves::Wins)
                };
                let name = path.display();
                assert_eq!(find(&placed, turn), expected, "{name}: {position:?}");
                // The order of the men does not count, nor does their colour.
                placed.rotate_left(number % 3);
                let other =
                    |&(square, man): &Man| (square.flip_vertical(), man.role.of(man.color.other()));
                let swapped: Vec<Man> = placed.iter().map(other).collect();
                assert_eq!(find(&swapped, turn.other()), expected, "{name}: {position:?}");
                // So it is when the man walks along a row, wherever it came from.
                for placed in [&placed, &swapped] {
                    let walks = number / step % placed.len();
                    let squares = Bitboard::from(placed[walks].0);
                    let mut walking = placed.clone();
                    walking[walks].0 = placed[(walks + 1) % placed.len()].0;
                    let to_move = if placed[0] == swapped[0] { turn.other() } else { turn };
                    let mut row =
                        Row { men: &mut walking, walks, squares, turn: to_move, en_passant: None };
                    let mut values = [EntryValue::Unknown; 64];
                    unpacked.row(&mut row, &mut values).unwrap();
                    let value = values[placed[walks].0 as usize];
                    assert_eq!(value, expected, "{name}: {walks} in {position:?}");
                }
                compared += 1;
            }
        }
        compared
    }

    /// A table that is not unpacked to the end answers as well.
    #[test]
    fn values_are_looked_up_where_unpacking_was_stopped() {
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
        let path = shared.join("data/syzygy/KQvKR.rtbw");
        if !path.exists() {
            eprintln!("SKIPPED: there is no {}; set HOFFMAN_SHARED", path.display());
            return;
        }
        let row_of = |options: &ForeignOptions| {
            let table = SyzygyTable::open(&path, options).unwrap();
            let unpacked = table.unpacked(u64::MAX).unwrap();
            let men = [(Square::A1, Color::White.king()), (Square::B6, Color::Black.king())];
            let others = [(Square::H8, Color::White.queen()), (Square::G3, Color::Black.rook())];
            let mut men = [men, others].concat();
            let known = unpacked.tables.value(&men, Color::White).is_some();
            // But for those from which the queen gives check: these are no positions.
            let checks = Bitboard::from(Square::B4) | Bitboard::from(Square::D4);
            let squares = Bitboard::from_rank(Rank::Fourth) & !checks;
            let (turn, en_passant) = (Color::White, None);
            let mut row = Row { men: &mut men, walks: 2, squares, turn, en_passant };
            let mut values = [EntryValue::Unknown; 64];
            unpacked.row(&mut row, &mut values).unwrap();
            (known, values)
        };
        let (known, expected) = row_of(&ForeignOptions::default());
        let stopped = ForeignOptions::default();
        stopped.stop.request();
        assert_eq!((known, row_of(&stopped)), (true, (false, expected)));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let options = ForeignOptions::default();
        let message = |name: &str| {
            SyzygyTable::open(&folder.path().join(name), &options).unwrap_err().to_string()
        };
        assert_eq!(message("KQvK.rtbz"), "Syzygy rtbz tablebases unsupported (use rtbw instead)");
        assert!(message("KQvK.rtbw").starts_with("there is no KQvK.rtbw in "));
        assert!(message("rubbish.rtbw").starts_with("the file name says no ending: "));
        assert!(message("KQQQvKQQQ.rtbw").ends_with("more than seven men"));
        std::fs::write(folder.path().join("KRvK.rtbw"), b"no").unwrap();
        assert!(message("KRvK.rtbw").ends_with("it is too short"));
        std::fs::write(folder.path().join("KRvK.rtbw"), [7; 80]).unwrap();
        assert!(message("KRvK.rtbw").ends_with("it begins otherwise"));
        let mut bytes = MAGIC.to_vec();
        bytes.resize(81, 0);
        std::fs::write(folder.path().join("KRvK.rtbw"), &bytes).unwrap();
        assert!(message("KRvK.rtbw").ends_with("its length is impossible"));
        bytes.resize(80, 0);
        std::fs::write(folder.path().join("KRvK.rtbw"), &bytes).unwrap();
        assert!(message("KRvK.rtbw").ends_with("in an order that there is"));
        // The men are possible, the rest is not: that shows at the first question.
        bytes[MAGIC.len()..][..5].copy_from_slice(&[1, 0, 0x66, 0xee, 0x44]);
        std::fs::write(folder.path().join("KRvK.rtbw"), &bytes).unwrap();
        let table = SyzygyTable::open(&folder.path().join("KRvK.rtbw"), &options).unwrap();
        let mut setup = Setup::empty();
        for (square, piece) in [(0, 'K'), (63, 'k'), (9, 'R')] {
            let square = hoffman_board::Square::new(square);
            setup.board.set_piece_at(square, hoffman_board::Piece::from_char(piece).unwrap());
        }
        let error = table.value(&setup).unwrap_err().to_string();
        assert!(error.contains("KRvK.rtbw is no Syzygy table or is damaged"), "{error}");
    }
}

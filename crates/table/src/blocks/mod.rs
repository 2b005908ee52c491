//! Files of the block format, `.hbf`, as tables: of the entries of any table (`by_index`), or of
//! the cells of a complete ending (`cells`), whose entries follow from the rules of chess. Nothing
//! is lost between them and ours.

mod behind;
mod by_index;
mod cells;
#[cfg(all(test, feature = "bulk"))]
mod tests;
mod tiles;
#[cfg(feature = "bulk")]
mod values;
#[cfg(feature = "bulk")]
mod write;

use std::io;
use std::path::{Path, PathBuf};

use hoffman_board::{Color, Role, Square};
use hoffman_control::{ControlFile, Strictness, header_of_complete};
use hoffman_hbf::{Bytes, HbfError, HbfFile, Kind, Material, Metric, TableInfo, is_hbf};
use hoffman_store::{StoredFile, fill};

use self::behind::TablesBehind;
pub(crate) use self::behind::{Family, code_of_entry};
use self::by_index::BlockEntries;
use self::cells::CellEntries;
use crate::htb::SourceOptions;
use crate::index::PawnStructure;
use crate::reader::{Table, TableProblem};
use crate::source::{Entries, Shape};

#[cfg(feature = "bulk")]
pub use behind::expect_beside;
#[cfg(feature = "bulk")]
pub(crate) use behind::values_behind;
#[cfg(feature = "bulk")]
pub(crate) use write::{BlockWriter, check};
#[cfg(feature = "bulk")]
pub use write::{CellFile, CellStreams, Content, Profile, has_cells};

/// The ending of the names of such files.
pub const SUFFIX: &str = "hbf";

/// Whether a file has the name of one of the block format.
pub fn has_suffix(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == SUFFIX)
}

/// The same table in the other container: `krk.hbf` of `krk.htb`, and the other way round; none of
/// a name that ends otherwise.
///
/// Wherever a table is looked for by its name it may have either; see [`of_name`].
pub fn twin(path: &Path) -> Option<PathBuf> {
    match path.extension()?.to_str()? {
        "htb" => Some(path.with_extension(SUFFIX)),
        SUFFIX => Some(path.with_extension("htb")),
        _ => None,
    }
}

/// The names under which the table of a name is looked for, in this order.
pub fn names_of(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut names: Vec<PathBuf> = twin(path).into_iter().chain([path.to_owned()]).collect();
    // Of two names the `.htb` comes first.
    names.sort_by_key(|name| has_suffix(name));
    names.into_iter()
}

/// The file of a table of a name, in either container, among those that are there. If both are, it
/// is one that is intact and tells distances, else one that is intact, else the `.htb`.
pub fn of_name(
    path: &Path,
    options: &SourceOptions,
    is_there: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let mut there: Vec<PathBuf> = names_of(path).filter(|path| is_there(path)).collect();
    if there.len() < 2 {
        return there.pop();
    }
    let rank = |path: &PathBuf| {
        let opened = Table::open(path, options.clone());
        match opened.and_then(|mut table| table.check_length().map(|()| table)) {
            Ok(table) => u8::from(!table.codec().format().has_distance()),
            Err(_) => 2,
        }
    };
    there.into_iter().min_by_key(rank)
}

/// Of a table that is in a list in both containers, whether this file is the other one than that
/// of its name ([`of_name`]).
pub fn is_hidden(path: &Path, options: &SourceOptions, listed: impl Fn(&Path) -> bool) -> bool {
    let is_twice = twin(path).is_some_and(|twin| listed(&twin));
    is_twice && of_name(path, options, listed).is_some_and(|chosen| chosen != path)
}

/// Whether a name is that of a table of ours, in either container.
pub fn is_table(path: &Path) -> bool {
    twin(path).is_some()
}

/// A file as the block format reads it.
#[derive(Debug)]
struct BlockFile(Box<dyn StoredFile>);

impl Bytes for BlockFile {
    fn length(&self) -> io::Result<u64> {
        self.0.byte_len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if fill(&*self.0, buffer, offset)? {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// Whether a file is one of the block format, by its first bytes.
pub(crate) fn is_of_blocks(file: &dyn StoredFile) -> io::Result<bool> {
    let mut start = [0; 8];
    Ok(fill(file, &mut start, 0)? && is_hbf(&start))
}

/// Reads a table from a file of the block format; `path` is what messages call it.
pub(crate) fn open(
    path: &Path,
    (file, family): (Box<dyn StoredFile>, Family),
    options: SourceOptions,
) -> Result<Table, TableProblem> {
    let file = HbfFile::open(Box::new(BlockFile(file)))?;
    let header = header(path, &file)?;
    let structures = structures(&file)?;
    let mode = file.info().mode.clone();
    let boxed = |_: &ControlFile, _: &Shape| -> Box<dyn Entries> {
        match mode {
            hoffman_hbf::Mode::Generic { .. } => Box::new(BlockEntries::new(file, options)),
            hoffman_hbf::Mode::Complete(_) => {
                let outcomes = file.info().metric == Metric::Outcome;
                let behind = TablesBehind::beside((path, outcomes), options, family);
                Box::new(CellEntries::new(file, behind))
            }
        }
    };
    let mut table = Table::with_entries(path, header, structures, boxed)?;
    table.entries.settle(&table.shape, &table.control)?;
    Ok(table)
}

/// The header that was a `.htb`'s; of cells without one, that of a table of ours with the same men.
fn header(path: &Path, file: &HbfFile) -> Result<ControlFile, TableProblem> {
    let origin = path.display().to_string();
    if let Some(text) = file.control()? {
        return Ok(ControlFile::parse(&text, &origin, Strictness::Header)?);
    }
    let hoffman_hbf::Mode::Complete(material) = &file.info().mode else {
        return Err(TableProblem::NoHeader);
    };
    Ok(ControlFile::parse(&made_up_header(material, file.info()), &origin, Strictness::Header)?)
}

/// The header of a table of ours with the same men.
fn made_up_header(material: &Material, info: &TableInfo) -> String {
    let kings = Color::ALL.map(|color| (color, Role::King));
    let longest = [info.longest_wins, info.longest_losses].concat();
    let longest = longest.into_iter().flatten().max().unwrap_or(0);
    // A sign, and one move more than the longest line.
    let bits = (info.metric != Metric::Outcome).then(|| (u32::from(longest) + 1).ilog2() + 2);
    header_of_complete(kings.into_iter().chain(men_of(material)), bits)
}

/// The salvaged header of a damaged file.
pub(crate) fn salvage_header(path: &Path, file: Box<dyn StoredFile>) -> Option<ControlFile> {
    header(path, &HbfFile::open(Box::new(BlockFile(file))).ok()?).ok()
}

fn structures(file: &HbfFile) -> Result<Option<Vec<PawnStructure>>, TableProblem> {
    let Some(bytes) = file.pawn_table()? else { return Ok(None) };
    let (rows, rest) = bytes.as_chunks::<{ PawnStructure::BYTES }>();
    let list = rows.iter().map(PawnStructure::from_bytes).collect::<Option<Vec<_>>>();
    list.filter(|_| rest.is_empty()).ok_or(TableProblem::PawnTable).map(Some)
}

/// The men besides the kings.
fn men_of(material: &Material) -> impl Iterator<Item = (Color, Role)> + '_ {
    material.men().iter().map(|man| (color_of(man.color), role_of(man.kind)))
}

const fn color_of(color: hoffman_hbf::Color) -> Color {
    match color {
        hoffman_hbf::Color::White => Color::White,
        hoffman_hbf::Color::Black => Color::Black,
    }
}

const fn role_of(kind: Kind) -> Role {
    match kind {
        Kind::Pawn => Role::Pawn,
        Kind::Knight => Role::Knight,
        Kind::Bishop => Role::Bishop,
        Kind::Rook => Role::Rook,
        Kind::Queen => Role::Queen,
        Kind::King => Role::King,
    }
}

/// The men of a position of the block format, by their squares.
fn men_by_square(position: &hoffman_hbf::Position) -> impl Iterator<Item = (Square, Color, Role)> {
    position.men().map(|(square, man)| {
        (Square::new(u32::from(square)), color_of(man.color), role_of(man.kind))
    })
}

/// A man, as the block format has it.
const fn man(color: Color, role: Role) -> hoffman_hbf::Man {
    let kind = match role {
        Role::Pawn => Kind::Pawn,
        Role::Knight => Kind::Knight,
        Role::Bishop => Kind::Bishop,
        Role::Rook => Kind::Rook,
        Role::Queen => Kind::Queen,
        Role::King => Kind::King,
    };
    hoffman_hbf::Man { color: turn(color), kind }
}

const fn turn(color: Color) -> hoffman_hbf::Color {
    match color {
        Color::White => hoffman_hbf::Color::White,
        Color::Black => hoffman_hbf::Color::Black,
    }
}

impl From<HbfError> for TableProblem {
    fn from(error: HbfError) -> TableProblem {
        match error {
            HbfError::Io(source) => TableProblem::Container(crate::htb::HtbError::Io {
                action: "cannot read the table",
                source,
            }),
            other => TableProblem::Blocks(other),
        }
    }
}

//! Tables of other programs, read as if they were ours.
//!
//! A reader is one implementation of [`ForeignTable`]: it is told a legal position and says what
//! its file says. [`crate::Table::open_foreign`] gives it the header and the numbering of a table
//! of ours with the same men, so that readers of tables need not know where the entries come from.
//! A third kind of table is one more file here and one more line in [`ForeignKind::of`] and
//! [`open`].
//!
//! | kind | files | format | what it cannot say |
//! |---|---|---|---|
//! | [`syzygy`] | `KQvKR.rtbw` | basic | anything, if files of smaller endings are missing |
//! | [`nalimov`] | `kqkr.nbw.emd` and `kqkr.nbb.emd` | dtm | all, without the feature `nalimov` |

pub mod nalimov;
pub mod plausible;
pub mod syzygy;
mod wdl;

pub use wdl::SpareValues;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::shakmaty::{Setup, attacks};
use hoffman_board::{
    Bitboard, Color, Format, Material, MaterialError, Piece, Placement, Role, Square, Value,
};
use hoffman_control::ControlFile;
use hoffman_store::{Storage, files, is_file};

use crate::entries::{EntryValue, MAX_WRITTEN_BITS, RawEntry};
use crate::reader::TableProblem;
use crate::source::{Entries, Shape};
use crate::stop::Stop;

/// Why a table of another program cannot be used. Messages do not name the file;
/// [`crate::TableError`] does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// The ending of a file name that no reader knows.
    #[error("this is not the name of a Syzygy or Nalimov table")]
    Unknown,
    /// Tables of distances to zeroing moves.
    #[error("Syzygy rtbz tablebases unsupported (use rtbw instead)")]
    Zeroing,
    /// A name that is no ending.
    #[error("the file name says no ending: {0}")]
    Name(#[from] MaterialError),
    /// A name that no table of this kind has.
    #[error("Illegally named {kind} tablebase: {reason}")]
    IllegalName {
        /// The kind.
        kind: ForeignKind,
        /// What is wrong with the name.
        reason: &'static str,
    },
    /// A file that is in none of the folders.
    #[error("there is no {name} in {}", list(.searched))]
    Absent {
        /// The file.
        name: String,
        /// The folders searched.
        searched: Vec<PathBuf>,
    },
    /// A file or a folder cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The content is no table of its kind, or contradicts itself.
    #[error("{} is no {kind} table or is damaged: {problem}", .path.display())]
    Damaged {
        /// The kind.
        kind: ForeignKind,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Files that answers need and that are in none of the folders.
    #[error("not every position has an answer without the files {}", list_names(.missing))]
    Incomplete {
        /// The names of the files, as `KQvK.rtbw`.
        missing: Vec<String>,
    },
    /// Tables of different men, or rules, that are to be compared.
    #[error("it cannot be compared with the table of {theirs}")]
    Unlike {
        /// The men of the foreign table.
        theirs: Material,
    },
    /// The reader was left out when the program was built.
    #[error(
        "this program was built without the reader of {0} tables; build it with the feature '{1}'"
    )]
    LeftOut(ForeignKind, &'static str),
    /// A position that is answered by other files, which are not there.
    #[error("no score available for index {index}: {} needed", list_names(.missing))]
    NoAnswer {
        /// The index of the position.
        index: u64,
        /// The names of the files, as `KQvK.rtbw`.
        missing: Vec<String>,
    },
}

fn list(paths: &[PathBuf]) -> String {
    list_names(&paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>())
}

fn list_names(names: &[String]) -> String {
    if names.is_empty() { "other files are".to_owned() } else { names.join(", ") }
}

/// The programs whose tables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignKind {
    /// Syzygy tables of wins, draws and losses.
    Syzygy,
    /// Nalimov tables of distances to mate.
    Nalimov,
}

impl fmt::Display for ForeignKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ForeignKind::Syzygy => "Syzygy",
            ForeignKind::Nalimov => "Nalimov",
        })
    }
}

impl ForeignKind {
    /// The kind of table that a file name speaks of; none for all other names. Files of both kinds
    /// that cannot be used (`.rtbz`) count too, so that they can be refused by their name.
    pub fn of(path: &Path) -> Option<ForeignKind> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "rtbw" | "rtbz" => Some(ForeignKind::Syzygy),
            "emd" | "nbw" | "nbb" => Some(ForeignKind::Nalimov),
            _ => None,
        }
    }
}

/// What a win counts for that the fifty-move rule takes away, and a loss that it saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FiftyMoves {
    /// They are draws, as in the original program.
    #[default]
    Draws,
    /// They are wins and losses, as everywhere else in this program.
    Wins,
}

/// Where files are looked for, and how they are understood.
#[derive(Clone, Debug)]
pub struct ForeignOptions {
    /// Where files are. The library that reads Nalimov tables looks on the disk.
    pub storage: Arc<dyn Storage>,
    /// Folders with Syzygy tables, asked after the folder in the name of a table.
    pub syzygy: Vec<PathBuf>,
    /// Folders with Nalimov tables; the folder in the name of a table does not count. The current
    /// folder if there are none.
    pub nalimov: Vec<PathBuf>,
    /// What cursed wins and blessed losses of Syzygy tables are.
    pub fifty_moves: FiftyMoves,
    /// Syzygy files of up to so many bytes are held in memory.
    pub held: u64,
    /// What tables read before have left over for the next ones.
    pub spare: SpareValues,
    /// Lets a table that is being unpacked as a whole be given up; its values are looked up one by
    /// one then.
    pub stop: Stop,
}

impl Default for ForeignOptions {
    /// The disk, no folders; files of up to 64 MiB are held.
    fn default() -> ForeignOptions {
        ForeignOptions {
            storage: files(),
            syzygy: Vec::new(),
            nalimov: Vec::new(),
            fifty_moves: FiftyMoves::default(),
            held: 64 << 20,
            spare: SpareValues::default(),
            stop: Stop::default(),
        }
    }
}

/// An open table of another program.
pub trait ForeignTable: fmt::Debug + Send + Sync {
    /// The file, as it was named or found.
    fn path(&self) -> &Path;

    /// The men, White's first in the file name.
    fn material(&self) -> Material;

    /// What its entries say: [`Format::Basic`], or [`Format::Dtm`] with a width that holds its
    /// distances.
    fn format(&self) -> Format;

    /// The names of files without which some positions have no answer. A caller that needs every
    /// answer refuses the table before work if there are any.
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the table says to the side to move; none if it has no answer for want of other files.
    ///
    /// The men are those of [`ForeignTable::material`], colours as there. The position is legal:
    /// kings apart, the side not to move not in check, the en passant square set only if a pawn
    /// attacks it. Entries of other positions are not to be asked for.
    ///
    /// # Errors
    /// Damage.
    fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError>;

    /// A quicker way to ask for very many positions, if there is one in so many bytes of memory;
    /// it says the same.
    fn values(&self, room: u64) -> Option<Box<dyn ForeignValues + '_>> {
        let _ = room;
        None
    }
}

/// What a table says of very many positions.
pub trait ForeignValues: Send + Sync {
    /// The memory that it takes at most, in bytes.
    fn bytes(&self) -> u64;

    /// What [`ForeignTable::value`] says of positions that differ in the square of one man, each
    /// of them legal, by that square; [`EntryValue::Unknown`] where it says nothing. The square of
    /// that man in `men` is any.
    ///
    /// # Errors
    /// Damage.
    fn row(&self, row: &mut Row<'_>, values: &mut [EntryValue; 64]) -> Result<(), ForeignError>;
}

/// Positions that differ in the square of one man.
#[derive(Debug)]
pub struct Row<'a> {
    /// All men; the square of the one that walks comes and goes.
    pub men: &'a mut [(Square, Piece)],
    /// The number of the man that walks.
    pub walks: usize,
    /// Its squares.
    pub squares: Bitboard,
    /// Who is to move.
    pub turn: Color,
    /// The square jumped over by a pawn that can be taken there.
    pub en_passant: Option<Square>,
}

/// Opens a table by the ending of its name.
///
/// # Errors
/// See [`syzygy::SyzygyTable::open`] and [`nalimov::open`].
pub fn open(path: &Path, options: &ForeignOptions) -> Result<Box<dyn ForeignTable>, ForeignError> {
    match ForeignKind::of(path) {
        Some(ForeignKind::Syzygy) => Ok(Box::new(syzygy::SyzygyTable::open(path, options)?)),
        Some(ForeignKind::Nalimov) => nalimov::open(path, options),
        None => Err(ForeignError::Unknown),
    }
}

/// The header of a table of ours with the men of a foreign one: in the order of the file name,
/// kings last.
pub(crate) fn header(path: &Path, foreign: &dyn ForeignTable) -> ControlFile {
    let material = foreign.material();
    let kings = Color::ALL.map(|color| (color, Role::King));
    let men = material.men_in_naming_order().into_iter().chain(kings);
    let widest = Some(MAX_WRITTEN_BITS);
    let format = match foreign.format() {
        Format::Dtm(bits) => Format::Dtm(bits.or(widest)),
        Format::Dtc(bits) => Format::Dtc(bits.or(widest)),
        other => other,
    };
    ControlFile::of_men(&path.display().to_string(), men, format)
}

/// What a table of another program answers, as the entries of a table with its [`header`].
#[derive(Debug)]
pub(crate) struct Answers(pub(crate) Box<dyn ForeignTable>);

impl Answers {
    /// The answer at an index: none if there is no position, [`EntryValue::Unknown`] if there is
    /// no answer.
    fn at(&self, shape: &Shape, index: u64) -> Result<Option<EntryValue>, ForeignError> {
        let Some(placement) = shape.space.decode(index) else { return Ok(None) };
        let men = shape.space.pieces().iter().zip(&placement.squares);
        let men = men.map(|(piece, &square)| (square, piece.color, piece.role));
        let Some(setup) = legal_setup(men, &placement) else {
            return Ok(Some(EntryValue::Illegal));
        };
        Ok(Some(self.0.value(&setup)?.unwrap_or(EntryValue::Unknown)))
    }
}

impl Entries for Answers {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let value = match self.at(shape, index)? {
            None => return Ok(shape.codec.undecodable()),
            Some(EntryValue::Exact(value)) => value,
            Some(EntryValue::Win) => Value::Win(1),
            Some(EntryValue::Loss) => Value::Loss(1),
            Some(EntryValue::Draw) => Value::Draw,
            Some(EntryValue::Illegal) => Value::Illegal,
            Some(_) => {
                return Err(ForeignError::NoAnswer { index, missing: self.0.missing() }.into());
            }
        };
        // Basic entries do not depend on the side to move, nor do distances.
        Ok(shape.codec.store(value, Color::White))
    }

    fn value(&self, shape: &Shape, index: u64, _turn: Color) -> Result<EntryValue, TableProblem> {
        Ok(self.at(shape, index)?.unwrap_or(EntryValue::Draw))
    }

    #[cfg(feature = "bulk")]
    fn verify(&self, _: &Shape, _: &ControlFile) -> Result<Option<String>, TableProblem> {
        // Its file is its reader's business.
        match self.0.missing() {
            missing if missing.is_empty() => Ok(None),
            missing => Err(ForeignError::Incomplete { missing }.into()),
        }
    }

    fn foreign(&self) -> Option<&dyn ForeignTable> {
        Some(&*self.0)
    }
}

/// A position as a reader wants it, given by its men.
pub(crate) fn setup_of(
    men: impl IntoIterator<Item = (Square, Piece)>,
    turn: Color,
    en_passant: Option<Square>,
) -> Setup {
    let mut setup = Setup::empty();
    for (square, man) in men {
        setup.board.set_piece_at(square, man);
    }
    setup.turn = turn;
    setup.ep_square = en_passant;
    setup
}

/// A placement as a reader wants it; none if the side not to move is in check.
pub(crate) fn legal_setup(
    men: impl IntoIterator<Item = (Square, Color, Role)>,
    placement: &Placement,
) -> Option<Setup> {
    let mut setup = Setup::empty();
    for (square, color, role) in men {
        setup.board.set_piece_at(square, role.of(color));
    }
    setup.turn = placement.turn;
    let theirs = setup.board.by_piece(placement.turn.other().king());
    let captured = theirs
        .into_iter()
        .any(|king| setup.board.attacks_to(king, placement.turn, setup.board.occupied()).any());
    let ours = setup.board.by_piece(placement.turn.pawn());
    setup.ep_square = placement
        .en_passant
        .filter(|&jumped| (attacks::pawn_attacks(placement.turn.other(), jumped) & ours).any());
    (!captured).then_some(setup)
}

/// Top and bottom and the colours exchanged, and so the side to move.
pub fn mirrored(position: &Setup) -> Setup {
    Setup {
        board: position.board.clone().into_mirrored(),
        turn: position.turn.other(),
        ep_square: position.ep_square.map(Square::flip_vertical),
        ..position.clone()
    }
}

/// The files of that name in the folders, the first one first.
fn find(name: &str, folders: &[PathBuf], storage: &dyn Storage) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|path| is_file(storage, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_names() {
        for (name, kind) in [
            ("./KQvK.rtbw", Some(ForeignKind::Syzygy)),
            ("KQvK.rtbz", Some(ForeignKind::Syzygy)),
            ("kqk.nbw.emd", Some(ForeignKind::Nalimov)),
            ("kqk.nbb", Some(ForeignKind::Nalimov)),
            ("kqk.htb", None),
            ("kqk", None),
        ] {
            assert_eq!(ForeignKind::of(Path::new(name)), kind, "{name}");
        }
        let unknown = open(Path::new("kqk.htb"), &ForeignOptions::default()).unwrap_err();
        assert!(matches!(unknown, ForeignError::Unknown));
    }
}

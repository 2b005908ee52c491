//! Writing the file of a table: one way for tables that were solved, converted or assembled.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_store::{FileWriter, Storage};

use crate::blocks::{BlockWriter, check, has_suffix};
use crate::entries::{EntryCodec, EntryError, Number};
use crate::htb::{AtomicFile, Compression, GzipWriter, HtbError};
use crate::index::PawnStructures;
use crate::reader::{TableProblem, parse_header};
use crate::stop::Stop;

/// How many entries are packed at once: a multiple of eight, and few enough to stay in a cache.
const CHUNK: usize = 1 << 18;

/// What a table file consists of.
#[derive(Debug)]
pub struct TableContents<'a> {
    /// Where files are.
    pub storage: Arc<dyn Storage>,
    /// The file, which gets its name when it is complete and on the disk.
    pub path: &'a Path,
    /// The header with the zero bytes behind it.
    pub header: &'a [u8],
    /// The list of pawn structures that stands before the entries.
    pub structures: Option<&'a PawnStructures>,
    /// How values are kept in entries.
    pub codec: EntryCodec,
    /// How many entries there are.
    pub entries: u64,
    /// How small the file is made.
    pub compression: Compression,
    /// The memory for compressing, if it is bounded.
    pub memory: Option<u64>,
    /// Asked while entries are packed.
    pub stop: Stop,
}

/// Takes the entries of a table in order.
#[derive(Debug)]
pub struct TableWriter<'a> {
    path: &'a Path,
    container: Container<'a>,
    stop: &'a Stop,
}

/// What the entries go into.
#[derive(Debug)]
enum Container<'a> {
    /// A `.htb`, packed.
    Packed { writer: Box<GzipWriter<FileWriter<'a>>>, codec: EntryCodec, packed: Vec<u8> },
    /// A `.hbf`.
    Blocks(Box<BlockWriter<'a>>),
}

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {problem}", path = .path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What went wrong.
    pub problem: WriteProblem,
}

impl WriteError {
    /// Whether the caller asked to stop.
    pub fn is_stopped(&self) -> bool {
        matches!(self.problem, WriteProblem::Stopped)
    }
}

/// What goes wrong when a table is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteProblem {
    /// The system refused to take what was written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The container.
    #[error("{}", with_cause(.0))]
    Container(#[from] HtbError),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A number that does not fit its entry.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A file of the block format.
    #[error(transparent)]
    Blocks(hoffman_hbf::EncodeError),
    /// What was written does not come back from the disk.
    #[error("what was written does not come back: {0}")]
    Unreadable(hoffman_hbf::HbfError),
    /// The same.
    #[error("what was written does not come back: {0}")]
    Table(Box<TableProblem>),
}

impl From<hoffman_hbf::EncodeError> for WriteProblem {
    fn from(error: hoffman_hbf::EncodeError) -> WriteProblem {
        match error {
            hoffman_hbf::EncodeError::Write(error) => WriteProblem::Io(error),
            hoffman_hbf::EncodeError::Stopped => WriteProblem::Stopped,
            other => WriteProblem::Blocks(other),
        }
    }
}

fn with_cause(error: &HtbError) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

impl TableContents<'_> {
    /// Writes the file; `fill` hands all entries to the writer. If it fails, nothing is left.
    ///
    /// # Errors
    /// The file cannot be written, or what `fill` says.
    pub fn write<E: From<WriteError>>(
        &self,
        fill: impl FnOnce(&mut TableWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let file = AtomicFile::create_in(Arc::clone(&self.storage), self.path);
        let file = file.map_err(|problem| self.error(problem))?;
        let mut writer = self.begin(&file).map_err(|problem| self.error(problem))?;
        fill(&mut writer)?;
        match writer.container {
            Container::Packed { writer, .. } => {
                writer.finish().map_err(|problem| self.error(problem))?;
            }
            Container::Blocks(writer) => {
                writer.finish().map_err(|problem| self.error(problem))?;
                check(&*self.storage, &file).map_err(|problem| self.error(problem))?;
            }
        }
        file.commit().map_err(|problem| self.error(problem))?;
        Ok(())
    }

    /// Writes what stands before the entries.
    fn begin<'f>(&'f self, file: &'f AtomicFile) -> Result<TableWriter<'f>, WriteProblem> {
        if has_suffix(self.path) {
            return self.begin_blocks(file);
        }
        let structures = self.structures.iter().flat_map(|structures| &structures.list);
        let structures: Vec<u8> = structures.flat_map(|s| s.to_bytes()).collect();
        let before = (self.header.len() + structures.len()) as u64;
        let len = before + self.codec.area_bytes(self.entries);

        let mut writer = GzipWriter::new(file.writer(), len, self.compression)?;
        if let Some(memory) = self.memory {
            writer.set_memory(memory);
        }
        writer.write_all(self.header)?;
        writer.write_all(&structures)?;
        let (path, codec, stop) = (self.path, self.codec, &self.stop);
        let container = Container::Packed { writer: Box::new(writer), codec, packed: Vec::new() };
        Ok(TableWriter { path, container, stop })
    }

    fn begin_blocks<'f>(&'f self, file: &'f AtomicFile) -> Result<TableWriter<'f>, WriteProblem> {
        let (path, stop) = (self.path, &self.stop);
        let header = parse_header(self.header, path);
        let header = header.map_err(|problem| WriteProblem::Table(Box::new(problem)))?;
        let structures = self.structures;
        let table = (self.codec, self.entries);
        let mut writer = BlockWriter::begin(file.writer(), &header, structures, table, stop)?;
        if self.memory.is_some() {
            writer.bound();
        }
        Ok(TableWriter { path, container: Container::Blocks(Box::new(writer)), stop })
    }

    fn error(&self, problem: impl Into<WriteProblem>) -> WriteError {
        WriteError { path: self.path.to_owned(), problem: problem.into() }
    }
}

impl TableWriter<'_> {
    /// Takes the next entries: a multiple of eight, but for the last ones.
    ///
    /// # Errors
    /// The file cannot be written, a number does not fit, or the caller asked to stop.
    pub fn push<T: Number>(&mut self, numbers: &[T]) -> Result<(), WriteError> {
        let pushed = numbers.chunks(CHUNK).try_for_each(|chunk| self.push_chunk(chunk));
        pushed.map_err(|problem| WriteError { path: self.path.to_owned(), problem })
    }

    fn push_chunk<T: Number>(&mut self, chunk: &[T]) -> Result<(), WriteProblem> {
        if self.stop.is_requested() {
            return Err(WriteProblem::Stopped);
        }
        match &mut self.container {
            Container::Packed { writer, codec, packed } => {
                packed.clear();
                codec.pack(chunk, packed)?;
                Ok(writer.write_all(packed)?)
            }
            Container::Blocks(writer) => writer.push(chunk),
        }
    }
}

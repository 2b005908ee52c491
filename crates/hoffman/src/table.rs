//! One table: what it contains, whether it is right, and the same in another form.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Format, Material};
use hoffman_probe::collection::table_name;
use hoffman_probe::reading::ReadOptions;
use hoffman_probe::stats::TableStats;
use hoffman_probe::verify::{self as check, Smaller, VerifyReport, search_folders};
use hoffman_run::{Workplace, available_memory};
use hoffman_store::{files, is_file, may_be_file};
use hoffman_table::SharedValues;
use hoffman_table::blocks::{CellStreams, Content, Profile, is_table, of_name};
use hoffman_table::convert::{self, Converted};
use hoffman_table::foreign::{self, ForeignKind};
use hoffman_table::htb::{Compression, SourceOptions};
use hoffman_table::index::IndexType;

use crate::error::Error;
use crate::event::{Event, Relay};
use crate::options::VerifyOptions;

/// The blocks of a table that are held while it is read.
pub(crate) const CACHE: usize = 64 << 20;

/// An open table, of ours or of another program.
#[derive(Debug)]
pub struct Table {
    inner: hoffman_table::Table,
    reading: ReadOptions,
}

/// What a table is to become. What is left out stays as it is.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The index type.
    pub index: Option<IndexType>,
    /// The symmetry: 1, 2, 4 or 8. Left out: that of the table, or 4 if the index type has no 8.
    pub symmetry: Option<u8>,
    /// The entry format, and the width of distances if it is to be more than needed.
    pub format: Option<Format>,
    /// Whether restricted men may be given a symmetry above 1, if their squares have it. Version
    /// 1.7 does not read such tables.
    pub restricted_symmetry: bool,
    /// How small the file is to be.
    pub compression: Compression,
    /// What a file of a complete ending in the block format has. A small one leans on the tables
    /// behind it, which are looked for beside the table, and are needed beside the new file.
    pub profile: Profile,
    /// Which values such a file has. Who wins alone is what [`Format::Basic`] holds.
    pub content: Content,
}

impl Table {
    /// The file that is meant by a path, or by the name of an ending whose table is in the
    /// folder or in the current one.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn find(named: &Path, folder: Option<&Path>) -> Result<PathBuf, Error> {
        let is_name = named.components().count() == 1 && named.extension().is_none();
        // Tables of other programs have folders of their own.
        if is_file(&*files(), named) || !is_name || ForeignKind::of(named).is_some() {
            return Ok(named.to_owned());
        }
        let text = named.to_string_lossy();
        let material = text.parse::<Material>();
        let file = material.as_ref().map_or_else(|_| format!("{text}.htb"), table_name);
        let folders = folder.into_iter().chain([Path::new("")]);
        let is_there = |path: &Path| may_be_file(&*files(), path);
        let mut found =
            folders.filter_map(|f| of_name(&f.join(&file), &SourceOptions::default(), is_there));
        if let Some(found) = found.next() {
            return Ok(found);
        }
        let places = folder.map_or(String::new(), |folder| format!("{} and ", folder.display()));
        Err(Error::NotFound(match material {
            Ok(_) => format!("there is no table {file} in {places}the current folder"),
            Err(_) => format!("'{text}' is neither a file nor an ending such as KRPvKR"),
        }))
    }

    /// Opens the table that is meant by a path, or by the name of an ending ([`Table::find`]), and
    /// checks that it is complete.
    ///
    /// # Errors
    /// It is not there, cannot be read, or is none; a file that has the name of the ending is the
    /// table of another one.
    pub fn open_named(
        named: &Path,
        folder: Option<&Path>,
        reading: ReadOptions,
    ) -> Result<Table, Error> {
        let path = Table::find(named, folder)?;
        let table = Table::open(&path, reading)?;
        let asked = if path == named { None } else { named.to_string_lossy().parse().ok() };
        let men = table.inner.pieces().iter().map(|piece| (piece.color, piece.role));
        let own = Material::from_men(men).normalized().0;
        if let Some(asked) = asked.filter(|asked: &Material| asked.normalized().0 != own) {
            let path = path.display();
            return Err(Error::NotFound(format!("{path} is a table of {own}, not of {asked}")));
        }
        Ok(table)
    }

    /// Whether a file has the name of a table of ours, `.htb` or `.hbf`.
    pub fn is_named(path: &Path) -> bool {
        is_table(path)
    }

    /// Whether a file has the name of a table of another program.
    pub fn is_of_others(path: &Path) -> bool {
        ForeignKind::of(path).is_some()
    }

    /// Opens a table and checks that it is complete.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn open(path: impl AsRef<Path>, reading: ReadOptions) -> Result<Table, Error> {
        let (source, foreign) = (reading.source(CACHE), reading.foreign());
        let inner = hoffman_table::Table::open_checked(path.as_ref(), source, &foreign)?;
        Ok(Table { inner, reading })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.inner.path()
    }

    /// Remarks of the reader for the user.
    pub fn notices(&self) -> &[String] {
        self.inner.notices()
    }

    /// The table itself.
    pub(crate) fn inner(&self) -> &hoffman_table::Table {
        &self.inner
    }

    /// How it is read.
    pub(crate) fn reading(&self) -> &ReadOptions {
        &self.reading
    }

    /// The format of its entries.
    pub fn format(&self) -> Format {
        self.inner.codec().format()
    }

    /// The entries that may be held as a whole, in bytes.
    pub(crate) fn whole(&self) -> Option<u64> {
        self.reading.whole().or_else(|| available_memory().map(|free| free / 2))
    }

    /// Counts what it contains: wins, draws and losses for both sides to move, and their lengths.
    /// Works on the threads of the pool that it is called in.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn stats(&self) -> Result<TableStats, Error> {
        Ok(hoffman_probe::stats::stats(&self.inner, self.whole().unwrap_or(4 << 30))?)
    }

    /// See [`verify`].
    ///
    /// # Errors
    /// As there.
    pub fn verify(
        &self,
        options: &VerifyOptions,
        progress: &mut (dyn FnMut(Event) + Send),
    ) -> Result<VerifyReport, Error> {
        self.verify_against(&self.smaller(options)?, options, progress)
    }

    /// The tables behind captures and promotions, as far as they are there.
    pub(crate) fn smaller(&self, options: &VerifyOptions) -> Result<Smaller, Error> {
        let mut folders =
            search_folders(self.path(), options.folders.first().map(PathBuf::as_path));
        folders.extend(options.folders.iter().skip(1).cloned());
        let (source, foreign) = (self.reading.source(CACHE), self.reading.foreign());
        Ok(Smaller::with_foreign(&self.inner, &folders, &source, &foreign)?)
    }

    pub(crate) fn verify_against(
        &self,
        smaller: &Smaller,
        options: &VerifyOptions,
        progress: &mut (dyn FnMut(Event) + Send),
    ) -> Result<VerifyReport, Error> {
        let relay = Relay::new(progress);
        let tell = |done, total| relay.tell(Event::Entries { done, total });
        let usual = check::VerifyExtent::default();
        let shared = self.reading.shared().cloned();
        // What is kept of others makes room when it is needed, or serves this table, too.
        let [most, held] = shared.as_ref().map_or([0; 2], |shared| [shared.room(), shared.bytes()]);
        let most = most.max(usual.memory);
        let how = check::VerifyExtent {
            sample: options.sample,
            syzygy: options.syzygy.clone(),
            memory: self.reading.whole().unwrap_or_else(|| {
                let room = |free: u64| most.min(free.saturating_add(held) / 2);
                available_memory().map_or(usual.memory, room)
            }),
            shared,
            progress: Some(&tell),
            stop: Some(&|| options.cancel.is_cancelled()),
        };
        options.install(|| Ok(check::verify(&self.inner, smaller, &how)?))
    }

    /// Compares it with the Nalimov table of the same men: the first differences, a line each.
    ///
    /// # Errors
    /// There is none, or one of them is damaged.
    pub fn compare_with_nalimov(&self) -> Result<Vec<String>, Error> {
        let men = self.inner.pieces().iter().map(|p| (p.color, p.role));
        let name = format!("{}.nbw.emd", Material::from_men(men).normalized().0.stem());
        let nalimov = foreign::open(Path::new(&name), &self.reading.foreign());
        let nalimov = nalimov.map_err(|problem| {
            let path = self.path().display();
            Error::NotFound(format!("{path}: Can't find Nalimov tablebase: {problem}"))
        })?;
        Ok(check::foreign::compare(&self.inner, nalimov.as_ref(), ForeignKind::Nalimov)?)
    }

    /// Whether prunes took moves away, so that others may rightly say otherwise.
    pub fn is_pruned(&self) -> bool {
        !self.inner.control().prunes.is_empty()
    }

    /// Writes it anew with another index type, symmetry or entry format.
    ///
    /// # Errors
    /// The table is of another program, the new form cannot hold what it says, or the file cannot
    /// be written.
    pub fn convert(
        &self,
        target: impl AsRef<Path>,
        options: &ConvertOptions,
        progress: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Converted, Error> {
        let target = target.as_ref();
        if self.inner.foreign().is_some() {
            let path = self.path().display();
            return Err(Error::NotOurs(format!("{path}: only tables of ours can be converted")));
        }
        let relay = Relay::new(progress);
        let tell = |done, total| relay.tell(Event::Entries { done, total });
        let _lock = Workplace::default().lock(target, &relay)?;
        let outcomes = options.content == Content::Outcomes && self.format() != Format::Basic;
        let format = options.format.or(outcomes.then_some(Format::Basic));
        let usual = convert::ConvertTarget::default();
        let how = convert::ConvertTarget {
            index: options.index,
            symmetry: options.symmetry,
            format,
            restricted_symmetry: options.restricted_symmetry,
            memory: self.whole().unwrap_or(usual.memory),
            compression: options.compression,
            streams: CellStreams { profile: options.profile, content: options.content },
            progress: Some(&tell),
        };
        Ok(convert::convert(&self.inner, target, &how)?)
    }
}

/// The memory for values of tables that are kept for further ones, where it is not known how much
/// is free.
const SHARED: u64 = 7 << 28;

/// The same options for several tables that are verified one after the other: what they lean on and
/// lead to is decoded once, as long as there is memory for it.
pub fn sharing(reading: ReadOptions) -> ReadOptions {
    let room =
        reading.whole().unwrap_or_else(|| available_memory().map_or(SHARED, |free| free / 2));
    reading.sharing(Arc::new(SharedValues::new(room)))
}

/// Checks every entry of a table against the entries of its successors, the statistics of its
/// header, and, if wanted, Syzygy tables.
///
/// Wrong entries are no error: they are in the report.
///
/// # Errors
/// The table, or one that it depends on, cannot be read.
pub fn verify(
    table: impl AsRef<Path>,
    options: &VerifyOptions,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<VerifyReport, Error> {
    let reading = options.syzygy.iter().fold(ReadOptions::new(), ReadOptions::syzygy);
    Table::open(table, sharing(reading))?.verify(options, progress)
}

/// Counts what a table contains: wins, draws and losses for both sides to move, and their lengths.
/// Works on the threads of the pool that it is called in.
///
/// # Errors
/// The table cannot be read.
pub fn stats(table: impl AsRef<Path>) -> Result<TableStats, Error> {
    Table::open(table, ReadOptions::new())?.stats()
}

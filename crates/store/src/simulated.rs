//! A storage in memory that fails when it is told to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use crate::{FileInfo, Lock, Storage, StoredFile, folder_of};

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// [`Storage::create`] and [`Storage::scratch`].
    Create,
    /// [`Storage::open`] and [`Storage::open_to_write`].
    Open,
    /// [`StoredFile::read_at`].
    Read,
    /// [`StoredFile::write_at`] and [`StoredFile::set_len`].
    Write,
    /// [`StoredFile::sync`].
    Sync,
    /// [`Storage::rename`].
    Rename,
    /// [`Storage::remove`], locks apart.
    Remove,
    /// [`Storage::sync_folder`].
    SyncFolder,
    /// [`Storage::list`].
    List,
    /// [`Storage::try_lock`].
    Lock,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The `nth` operation of a kind (from 1) fails once.
    Fail {
        /// The kind.
        op: Op,
        /// Which one.
        nth: u64,
    },
    /// The disk takes that many bytes.
    DiskFull {
        /// Bytes.
        bytes: u64,
    },
    /// Reads and writes do less than they are asked to.
    Short,
    /// From the `nth` operation of any kind on nothing works any more.
    PowerOff {
        /// Which one.
        nth: u64,
    },
}

/// Files in memory. Clones are the same storage.
#[derive(Clone, Debug, Default)]
pub struct Simulated(Arc<Mutex<SimulatedDisk>>);

#[derive(Debug, Default)]
struct SimulatedDisk {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    /// The names that power-off leaves.
    durable: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    locked: HashSet<usize>,
    /// Writes so far, which serve as a clock.
    time: u64,
    fault: Option<Fault>,
    operations: u64,
    counts: HashMap<Op, u64>,
    written: u64,
    struck: bool,
}

#[derive(Debug, Default)]
struct Inode {
    bytes: Vec<u8>,
    /// What power-off leaves.
    durable: Vec<u8>,
    modified: u64,
}

impl Simulated {
    /// Makes something go wrong from now on; nothing if none.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.state();
        (state.fault, state.operations, state.written, state.struck) = (fault, 0, 0, false);
        state.counts.clear();
    }

    /// Whether what was to go wrong has done so.
    pub fn has_struck(&self) -> bool {
        self.state().struck
    }

    /// Switches the power off and on again: what was not synced is lost, and so are locks. Names
    /// may have reached the disk all the same, before the contents; `names_kept` says that all of
    /// them have.
    pub fn power_cycle(&self, names_kept: bool) {
        let mut state = self.state();
        for inode in &mut state.inodes {
            inode.bytes = inode.durable.clone();
        }
        if names_kept {
            state.durable = state.names.clone();
        } else {
            state.names = state.durable.clone();
        }
        state.locked.clear();
        state.fault = None;
    }

    /// The names of all files.
    pub fn names(&self) -> Vec<PathBuf> {
        self.state().names.keys().cloned().collect()
    }

    /// The contents of a file.
    pub fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        Some(state.inodes[*state.names.get(path)?].bytes.clone())
    }

    /// Puts a file there, durable.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let inode = Inode { bytes: bytes.to_vec(), durable: bytes.to_vec(), modified: state.time };
        state.inodes.push(inode);
        let number = state.inodes.len() - 1;
        state.names.insert(path.to_owned(), number);
        state.durable.insert(path.to_owned(), number);
    }

    /// A copy of all files that has nothing to do with this one.
    pub fn copy(&self) -> Simulated {
        let copy = Simulated::default();
        for path in self.names() {
            copy.put(&path, &self.contents(&path).unwrap_or_default());
        }
        copy
    }

    fn state(&self) -> MutexGuard<'_, SimulatedDisk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, inode: usize) -> Box<dyn StoredFile> {
        Box::new(SimulatedFile { storage: self.clone(), inode })
    }
}

impl SimulatedDisk {
    /// Counts an operation and fails if it is to.
    fn begin(&mut self, op: Op) -> io::Result<()> {
        self.operations += 1;
        let count = self.counts.entry(op).or_default();
        *count += 1;
        match self.fault {
            Some(Fault::Fail { op: failing, nth }) if failing == op && nth == *count => {
                self.struck = true;
                Err(io::Error::other("simulated fault"))
            }
            Some(Fault::PowerOff { nth }) if self.operations >= nth => {
                self.struck = true;
                Err(io::Error::other("the power is off"))
            }
            _ => Ok(()),
        }
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn add(&mut self, path: &Path) -> usize {
        let modified = self.time;
        self.inodes.push(Inode { modified, ..Inode::default() });
        self.names.insert(path.to_owned(), self.inodes.len() - 1);
        self.inodes.len() - 1
    }

    /// How many of so many bytes are read or written.
    fn share(&self, len: usize) -> usize {
        if self.fault == Some(Fault::Short) { len.div_ceil(3) } else { len }
    }
}

impl Storage for Simulated {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let mut state = self.state();
        state.begin(Op::Create)?;
        if state.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let inode = state.add(path);
        Ok(self.file(inode))
    }

    fn scratch(&self, _folder: &Path) -> io::Result<Box<dyn StoredFile>> {
        let mut state = self.state();
        state.begin(Op::Create)?;
        state.inodes.push(Inode::default());
        Ok(self.file(state.inodes.len() - 1))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let mut state = self.state();
        state.begin(Op::Open)?;
        Ok(self.file(state.find(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Op::Rename)?;
        let inode = state.find(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Op::Remove)?;
        state.find(path)?;
        state.names.remove(path);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Op::SyncFolder)?;
        let state = &mut *state;
        state.durable.retain(|path, _| folder_of(path) != folder);
        let there = state.names.iter().filter(|(path, _)| folder_of(path) == folder);
        state.durable.extend(there.map(|(path, &inode)| (path.clone(), inode)));
        Ok(())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.state().folders.insert(folder.to_owned());
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut state = self.state();
        state.begin(Op::List)?;
        let there = state.names.keys().filter(|path| folder_of(path) == folder);
        Ok(there.filter_map(|path| path.file_name()).map(OsString::from).collect())
    }

    fn info(&self, path: &Path) -> io::Result<FileInfo> {
        let state = self.state();
        if state.folders.contains(path) {
            return Ok(FileInfo { is_file: false, len: 0, modified: None, id: None });
        }
        let number = state.find(path)?;
        let inode = &state.inodes[number];
        let modified = Some(UNIX_EPOCH + Duration::from_secs(inode.modified));
        let (len, id) = (inode.bytes.len() as u64, Some((0, number as u64)));
        Ok(FileInfo { is_file: true, len, modified, id })
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let mut state = self.state();
        state.begin(Op::Lock)?;
        let inode = match state.find(path) {
            Ok(inode) => inode,
            Err(_) => state.add(path),
        };
        if !state.locked.insert(inode) {
            return Ok(None);
        }
        let (storage, path) = (self.clone(), path.to_owned());
        Ok(Some(Box::new(SimulatedLock { storage, path, inode })))
    }
}

#[derive(Debug)]
struct SimulatedFile {
    storage: Simulated,
    inode: usize,
}

impl StoredFile for SimulatedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.storage.state();
        state.begin(Op::Read)?;
        let bytes = &state.inodes[self.inode].bytes;
        let rest = usize::try_from(offset).ok().and_then(|o| bytes.get(o..)).unwrap_or(&[]);
        let len = state.share(rest.len().min(buf.len()));
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.storage.state();
        state.begin(Op::Write)?;
        let mut len = state.share(bytes.len());
        if let Some(Fault::DiskFull { bytes: room }) = state.fault {
            let left = room.saturating_sub(state.written);
            len = len.min(usize::try_from(left).unwrap_or(usize::MAX));
            if len == 0 && !bytes.is_empty() {
                state.struck = true;
                return Err(ErrorKind::StorageFull.into());
            }
        }
        state.written += len as u64;
        state.time += 1;
        let now = state.time;
        let inode = &mut state.inodes[self.inode];
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start + len;
        inode.modified = now;
        if inode.bytes.len() < end {
            inode.bytes.resize(end, 0);
        }
        inode.bytes[start..end].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.storage.state().inodes[self.inode].bytes.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.storage.state();
        state.begin(Op::Write)?;
        let len = usize::try_from(len).map_err(io::Error::other)?;
        state.inodes[self.inode].bytes.resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.storage.state();
        state.begin(Op::Sync)?;
        let inode = &mut state.inodes[self.inode];
        inode.durable = inode.bytes.clone();
        Ok(())
    }
}

#[derive(Debug)]
struct SimulatedLock {
    storage: Simulated,
    path: PathBuf,
    inode: usize,
}

impl Lock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut state = self.storage.state();
        // Without power nothing is removed, and afterwards another run may have it.
        let off = matches!(state.fault, Some(Fault::PowerOff { .. })) && state.struck;
        if !off
            && state.locked.remove(&self.inode)
            && state.find(&self.path).is_ok_and(|i| i == self.inode)
        {
            state.names.remove(&self.path);
        }
    }
}

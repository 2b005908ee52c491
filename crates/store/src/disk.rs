//! The file system.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::{FileInfo, Lock, Storage, StoredFile};

/// The file system. It remembers which files are unfinished, so that they can be removed in a
/// hurry.
#[derive(Debug, Default)]
pub struct Disk {
    live: Arc<Mutex<Live>>,
}

#[derive(Debug, Default)]
struct Live {
    /// New files that were neither renamed nor removed, and locks.
    paths: BTreeSet<PathBuf>,
    abandoned: bool,
}

impl Disk {
    /// The one of this process.
    pub fn shared() -> Arc<Disk> {
        static SHARED: OnceLock<Arc<Disk>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(Arc::default))
    }

    /// Removes all unfinished files and locks, as far as possible, and refuses to make any more.
    /// For a process that is about to end.
    pub fn abandon(&self) {
        let mut live = self.live();
        live.abandoned = true;
        for path in std::mem::take(&mut live.paths) {
            let _ = fs::remove_file(path);
        }
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        locked(&self.live)
    }
}

/// No code panics while it holds the lock.
fn locked(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_abandoned() -> io::Error {
    io::Error::new(ErrorKind::Interrupted, "the run is being ended")
}

/// Refuses what cannot be read at any place: opening a pipe may wait for ever, and devices need
/// not end.
fn check_ordinary(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "it is a folder" } else { "it is not an ordinary file" };
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

impl Storage for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let mut live = self.live();
        if live.abandoned {
            return Err(is_abandoned());
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        live.paths.insert(path.to_owned());
        Ok(Box::new(file))
    }

    fn scratch(&self, folder: &Path) -> io::Result<Box<dyn StoredFile>> {
        Ok(Box::new(tempfile::tempfile_in(folder)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        check_ordinary(path)?;
        Ok(Box::new(File::open(path)?))
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        check_ordinary(path)?;
        Ok(Box::new(OpenOptions::new().read(true).write(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut live = self.live();
        if live.abandoned {
            return Err(is_abandoned());
        }
        fs::rename(from, to)?;
        live.paths.remove(from);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        self.live().paths.remove(path);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Elsewhere folders cannot be opened, and names are durable without it.
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(folder)?.sync_all() {
            // Some file systems have nothing to sync there.
            Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                Ok(())
            }
            result => result,
        }
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn info(&self, path: &Path) -> io::Result<FileInfo> {
        let data = fs::metadata(path)?;
        let modified = data.modified().ok();
        Ok(FileInfo { is_file: data.is_file(), len: data.len(), modified, id: id_of(&data) })
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        loop {
            let mut live = self.live();
            if live.abandoned {
                return Err(is_abandoned());
            }
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Without locks the file alone has to do; names of unfinished files differ anyway.
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(e),
            }
            // The holder before removed the file and then let go: the name may stand for
            // another file by now, or for none. Then this lock is worth nothing.
            if names(path, &file)? {
                live.paths.insert(path.to_owned());
                drop(live);
                let (path, all) = (path.to_owned(), Arc::clone(&self.live));
                return Ok(Some(Box::new(DiskLock { path, all, _file: file })));
            }
        }
    }
}

/// Whether a path stands for an open file.
#[cfg(unix)]
fn names(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Where the system does not say, a file that is open keeps its name until it is closed.
#[cfg(not(unix))]
fn names(path: &Path, _file: &File) -> io::Result<bool> {
    Ok(path.exists())
}

#[derive(Debug)]
struct DiskLock {
    path: PathBuf,
    all: Arc<Mutex<Live>>,
    _file: File,
}

impl Lock for DiskLock {}

impl Drop for DiskLock {
    /// Removes the file while the lock is held, see [`Storage::try_lock`]; the lock goes with the
    /// file.
    fn drop(&mut self) {
        let mut live = locked(&self.all);
        if live.paths.remove(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl StoredFile for File {
    #[cfg(unix)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buf, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, bytes, offset)
    }

    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// The numbers of the device and of the file on it.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn id_of(data: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn id_of(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

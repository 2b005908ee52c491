//! Files at addresses as a storage.
//!
//! In a bucket files appear whole or not at all: while they are written they are working files on
//! the disk of this machine, as all files whose names begin with a dot, and they are sent when they
//! get their names.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hoffman_store::{Disk, FileInfo, Lock, Storage, StoredFile};
use object_store::{ObjectMeta, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};

use crate::address::Address;
use crate::cache::UnitCache;
use crate::disk_cache::DiskCache;
use crate::file::{RemoteFile, ask_for};
use crate::options::RemoteOptions;
use crate::servers::Servers;
use crate::upload::send;

/// How long what a server said of a file is taken to be so: a file is looked at before it is
/// opened.
const FRESH: Duration = Duration::from_secs(5);

/// Files on web servers, to be read, and in buckets, to be read and written.
#[derive(Debug)]
pub struct Remote {
    servers: Arc<Servers>,
    cache: Arc<UnitCache>,
    options: RemoteOptions,
    /// What servers said last of files.
    seen: Mutex<HashMap<Address, (Instant, ObjectMeta)>>,
}

impl Remote {
    /// Starts the thread that waits for answers. No server is asked yet.
    ///
    /// # Errors
    /// The system has no thread for it, or the folder of what is kept cannot be used.
    pub fn start(options: RemoteOptions) -> io::Result<Remote> {
        let disk = match &options.cache {
            Some(folder) => {
                let cache = DiskCache::new(folder.clone(), options.cache_bound);
                Some(cache.map_err(|error| {
                    let text =
                        format!("cannot keep what was read in {}: {error}", folder.display());
                    io::Error::new(error.kind(), text)
                })?)
            }
            None => None,
        };
        Ok(Remote {
            servers: Arc::new(Servers::start(options.patience)?),
            cache: UnitCache::new(options.memory, disk),
            options,
            seen: Mutex::default(),
        })
    }

    /// What a server says of a file.
    fn look_at(&self, address: &Address) -> io::Result<ObjectMeta> {
        if let Some((at, meta)) = self.seen().get(address)
            && at.elapsed() < FRESH
        {
            return Ok(meta.clone());
        }
        let meta = ask_for(&self.servers, address)?;
        self.seen().insert(address.clone(), (Instant::now(), meta.clone()));
        Ok(meta)
    }

    /// No code panics while it holds the lock.
    fn seen(&self) -> MutexGuard<'_, HashMap<Address, (Instant, ObjectMeta)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a working file of a bucket is on the disk.
    fn working(&self, address: &Address) -> PathBuf {
        self.working_folder(&address.folder()).join(address.name())
    }

    /// Where the working files of a folder are.
    fn working_folder(&self, folder: &Address) -> PathBuf {
        let digits = Sha256::digest(folder.to_string().as_bytes());
        let two = |digits: String, byte: &u8| format!("{digits}{byte:02x}");
        self.options.scratch.join(digits.iter().take(8).fold(String::new(), two))
    }

    /// The folder on the disk of a working file that is to be made there; web servers have none.
    fn make_working(&self, address: &Address) -> io::Result<PathBuf> {
        if address.is_read_only() {
            return Err(read_only());
        }
        let path = self.working(address);
        Disk::shared().create_folder(path.parent().unwrap_or(&path))?;
        Ok(path)
    }
}

fn read_only() -> io::Error {
    io::Error::new(ErrorKind::ReadOnlyFilesystem, "files on a web server cannot be written")
}

/// Files get their names in a bucket only when they are complete.
fn unnamed() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "a file in a bucket cannot be written in place")
}

impl Storage for Remote {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let address = Address::of(path)?;
        let working = self.make_working(&address)?;
        if address.is_hidden() { Disk::shared().create(&working) } else { Err(unnamed()) }
    }

    fn scratch(&self, folder: &Path) -> io::Result<Box<dyn StoredFile>> {
        let folder = Address::of(folder)?;
        if folder.is_read_only() {
            return Err(read_only());
        }
        let folder = self.working_folder(&folder);
        Disk::shared().create_folder(&folder)?;
        Disk::shared().scratch(&folder)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let address = Address::of(path)?;
        if address.is_hidden() && !address.is_read_only() {
            return Disk::shared().open(&self.working(&address));
        }
        let meta = self.look_at(&address)?;
        Ok(Box::new(RemoteFile::new(address, meta, Arc::clone(&self.servers), &self.cache)))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        let address = Address::of(path)?;
        let working = self.make_working(&address)?;
        if address.is_hidden() { Disk::shared().open_to_write(&working) } else { Err(unnamed()) }
    }

    /// A working file that gets a name without a dot is sent.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (Address::of(from)?, Address::of(to)?);
        let source = self.make_working(&from)?;
        if !from.is_hidden() || to.is_read_only() {
            return Err(unnamed());
        }
        if to.is_hidden() {
            return Disk::shared().rename(&source, &self.make_working(&to)?);
        }
        send(&self.servers, &source, &to, self.options.part)?;
        self.seen().remove(&to);
        Disk::shared().remove(&source)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let address = Address::of(path)?;
        if address.is_read_only() {
            return Err(read_only());
        }
        if address.is_hidden() {
            return Disk::shared().remove(&self.working(&address));
        }
        let key = address.key.clone();
        self.seen().remove(&address);
        self.servers.ask(&address, |store| async move { store.delete(&key).await })
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        if Address::of(folder)?.is_read_only() { Err(read_only()) } else { Ok(()) }
    }

    /// The names of a folder in a bucket, and of its working files on this machine.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let folder = Address::of(folder)?;
        if folder.is_read_only() {
            let text = "a web server does not list its files";
            return Err(io::Error::new(ErrorKind::Unsupported, text));
        }
        let prefix = folder.key.clone();
        let found = self
            .servers
            .ask(&folder, |store| async move { store.list_with_delimiter(Some(&prefix)).await })?;
        let objects = found.objects.iter().filter_map(|object| object.location.filename());
        let folders = found.common_prefixes.iter().filter_map(|folder| folder.filename());
        let mut names: Vec<OsString> = objects.chain(folders).map(OsString::from).collect();
        match Disk::shared().list(&self.working_folder(&folder)) {
            Ok(working) => names.extend(working),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(names)
    }

    fn info(&self, path: &Path) -> io::Result<FileInfo> {
        let address = Address::of(path)?;
        if address.is_hidden() && !address.is_read_only() {
            return Disk::shared().info(&self.working(&address));
        }
        if address.name().is_empty() {
            return Ok(FileInfo { is_file: false, len: 0, modified: None, id: None });
        }
        let meta = match self.look_at(&address) {
            // A folder of a bucket is no object, and known by its working files.
            Err(error) if error.kind() == ErrorKind::NotFound && !address.is_read_only() => {
                let there = Disk::shared().info(&self.working_folder(&address));
                return there.map_err(|_| error);
            }
            meta => meta?,
        };
        let modified = SystemTime::from(meta.last_modified);
        let modified = Some(modified).filter(|&time| time != SystemTime::UNIX_EPOCH);
        Ok(FileInfo { is_file: true, len: meta.size, modified, id: None })
    }

    /// A lock of this machine: other machines do not see it.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        Disk::shared().try_lock(&self.make_working(&Address::of(path)?)?)
    }

    fn on_disk(&self, folder: &Path) -> PathBuf {
        let address = Address::of(folder).map(|address| self.working_folder(&address));
        address.unwrap_or_else(|_| self.options.scratch.clone())
    }
}

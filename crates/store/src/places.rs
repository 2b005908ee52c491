//! One storage for all names: addresses lie elsewhere, everything else on the disk.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::{Disk, FileInfo, Lock, Storage, StoredFile};

/// What a name begins with that is an address. One slash of two may be missing: paths lose it.
const SCHEMES: [&str; 3] = ["http:/", "https:/", "s3:/"];

/// Whether a name is an address: of a web server (`https://`) or in a bucket (`s3://`).
pub fn is_address(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    SCHEMES.iter().any(|scheme| name.starts_with(scheme.as_bytes()))
}

/// Starts what addresses are read from and written to.
type Start = Box<dyn Fn() -> io::Result<Arc<dyn Storage>> + Send + Sync>;

/// How that is started; nothing where the program does without.
static START: OnceLock<Start> = OnceLock::new();

/// Says what addresses are read from and written to. It is started when the first address is used;
/// what was said first counts.
pub fn reach_addresses_by(
    start: impl Fn() -> io::Result<Arc<dyn Storage>> + Send + Sync + 'static,
) {
    let _ = START.set(Box::new(start));
}

/// All files by their names, one for the whole process: addresses through what
/// [`reach_addresses_by`] was told, all others on the disk.
pub fn files() -> Arc<dyn Storage> {
    static PLACES: OnceLock<Arc<DiskAndAddresses>> = OnceLock::new();
    let places = PLACES.get_or_init(|| Arc::new(DiskAndAddresses { disk: Disk::shared() }));
    Arc::clone(places) as Arc<dyn Storage>
}

/// Whether files can be looked for there: a folder of the disk, or an address, which is not asked.
pub fn is_folder(path: &Path) -> bool {
    is_address(path) || path.is_dir()
}

/// Whether a file is worth opening: it is there, or it is at an address that does not say so. Then
/// opening it says why.
pub fn may_be_file(storage: &dyn Storage, path: &Path) -> bool {
    match storage.info(path) {
        Ok(info) => info.is_file,
        Err(error) => is_address(path) && error.kind() != ErrorKind::NotFound,
    }
}

/// The files of a folder that a name in a table may mean: with the folders in the name, and
/// without. Who wrote the table does not choose where it leads: from the disk to no address, and
/// from an address not to the disk.
pub fn named_in(folder: &Path, name: &Path) -> impl Iterator<Item = PathBuf> {
    let alone = name.file_name().map_or(name, Path::new);
    let is_elsewhere = is_address(folder);
    let paths = [folder.join(name), folder.join(alone)];
    paths.into_iter().filter(move |path| is_address(path) == is_elsewhere)
}

#[derive(Debug)]
struct DiskAndAddresses {
    disk: Arc<Disk>,
}

impl DiskAndAddresses {
    /// Where a name is.
    fn of(&self, path: &Path) -> io::Result<&dyn Storage> {
        if is_address(path) { elsewhere() } else { Ok(&*self.disk) }
    }
}

/// What addresses are read from and written to, started once.
fn elsewhere() -> io::Result<&'static dyn Storage> {
    static ELSEWHERE: OnceLock<Result<Arc<dyn Storage>, String>> = OnceLock::new();
    let started = ELSEWHERE.get_or_init(|| match START.get() {
        Some(start) => start().map_err(|error| error.to_string()),
        None => Err("this program was built without reading from addresses".to_owned()),
    });
    match started {
        Ok(storage) => Ok(&**storage),
        Err(text) => Err(io::Error::new(ErrorKind::Unsupported, text.clone())),
    }
}

impl Storage for DiskAndAddresses {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.of(path)?.create(path)
    }

    fn scratch(&self, folder: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.of(folder)?.scratch(folder)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.of(path)?.open(path)
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.of(path)?.open_stream(path)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.of(path)?.open_to_write(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if is_address(from) != is_address(to) {
            return Err(ErrorKind::CrossesDevices.into());
        }
        self.of(from)?.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.of(path)?.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.of(folder)?.sync_folder(folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.of(folder)?.create_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.of(folder)?.list(folder)
    }

    fn info(&self, path: &Path) -> io::Result<FileInfo> {
        self.of(path)?.info(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.of(path)?.try_lock(path)
    }

    fn on_disk(&self, folder: &Path) -> PathBuf {
        self.of(folder).map_or_else(|_| folder.to_owned(), |storage| storage.on_disk(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_table_does_not_lead_from_the_disk_to_an_address_or_back() {
        let named = |folder: &str, name: &str| -> Vec<PathBuf> {
            named_in(Path::new(folder), Path::new(name)).collect()
        };
        let alone = [PathBuf::from("kk.htb")];
        assert_eq!(named("", "https://example.org/kk.htb"), alone);
        assert_eq!(named("", "a/kk.htb"), [PathBuf::from("a/kk.htb"), alone[0].clone()]);
        let there = [PathBuf::from("s3://bucket/kk.htb")];
        assert_eq!(named("s3://bucket", "/etc/kk.htb"), there);
    }

    #[test]
    fn addresses_are_known_by_their_beginnings() {
        for name in ["http://a/b", "https://a", "s3://bucket/folder/krk.htb", "s3:/bucket"] {
            assert!(is_address(Path::new(name)), "{name}");
        }
        for name in ["", "s3", "s3:bucket", "folder/s3://x", "ftp://a", "./http://a", "/http:/a"] {
            assert!(!is_address(Path::new(name)), "{name}");
        }
    }

    /// No other test of this crate says how addresses are reached.
    #[test]
    fn addresses_are_refused_where_nothing_reaches_them() {
        let error = files().open(Path::new("https://example.org/krk.htb")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let error = files().rename(Path::new("krk.htb"), Path::new("s3://a/krk.htb")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CrossesDevices);
        assert!(files().info(Path::new(".")).is_ok_and(|info| !info.is_file));
    }
}

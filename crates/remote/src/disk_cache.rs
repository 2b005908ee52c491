//! What was read from addresses, kept on the disk up to a number of bytes.
//!
//! One file for each version of a file elsewhere, named after its address, length and mark. It is a
//! row of records: the number of a unit, its length, a checksum of both and the bytes, and the
//! bytes. What does not fit its checksum counts for nothing, so that a torn record or two writers
//! do no harm; only one process adds to a file. A cache that cannot be used is done without.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hoffman_store::{Disk, Lock, Storage as _, StoredFile, fill, lock_name, temporary_name};
use sha2::{Digest as _, Sha256};

use crate::cache::UNIT;

/// The bytes before those of a unit.
const HEAD: u64 = 16;

/// How the names of such files end.
const SUFFIX: &str = "units";

/// A folder with such files.
#[derive(Debug)]
pub(crate) struct DiskCache {
    folder: PathBuf,
    bound: u64,
    /// What all files take, as far as this process knows.
    used: AtomicU64,
}

impl DiskCache {
    /// Makes the folder, if it is not there.
    ///
    /// # Errors
    /// It cannot be made or listed.
    pub(crate) fn new(folder: PathBuf, bound: u64) -> io::Result<DiskCache> {
        Disk::shared().create_folder(&folder)?;
        let cache = DiskCache { folder, bound, used: AtomicU64::new(0) };
        let used = cache.files()?.iter().map(|file| file.bytes).sum();
        cache.used.store(used, Ordering::Relaxed);
        Ok(cache)
    }

    /// The file of a version; none if there can be none.
    pub(crate) fn open(self: &Arc<DiskCache>, version: &str) -> Option<KeptUnits> {
        let digits = Sha256::digest(version.as_bytes());
        let two = |digits: String, byte: &u8| format!("{digits}{byte:02x}");
        let name = digits.iter().take(16).fold(String::new(), two);
        let path = self.folder.join(name).with_extension(SUFFIX);
        KeptUnits::open(&path, Arc::clone(self)).ok()
    }

    /// Whether there is room for so many bytes more, the oldest of other files removed if need be.
    fn makes_room(&self, bytes: u64, besides: &Path) -> bool {
        if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.bound {
            return true;
        }
        let Ok(mut files) = self.files() else { return false };
        let mut used: u64 = files.iter().map(|file| file.bytes).sum::<u64>() + bytes;
        files.sort_by_key(|file| file.changed);
        for file in files.iter().filter(|file| file.path != besides) {
            if used <= self.bound {
                break;
            }
            if Disk::shared().remove(&file.path).is_ok() {
                used -= file.bytes;
            }
        }
        let fits = used <= self.bound;
        self.used.store(if fits { used } else { used - bytes }, Ordering::Relaxed);
        fits
    }

    fn files(&self) -> io::Result<Vec<KeptFile>> {
        let disk = Disk::shared();
        let mut found = Vec::new();
        for name in disk.list(&self.folder)? {
            let path = self.folder.join(name);
            if path.extension().is_none_or(|suffix| suffix != SUFFIX) {
                continue;
            }
            // It may have gone in the meantime.
            if let Ok(info) = disk.info(&path) {
                found.push(KeptFile { path, bytes: info.len, changed: info.modified });
            }
        }
        Ok(found)
    }
}

/// A file of the folder.
#[derive(Debug)]
struct KeptFile {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

/// The units of a file that are kept.
#[derive(Debug)]
pub(crate) struct KeptUnits {
    path: PathBuf,
    file: Box<dyn StoredFile>,
    records: Mutex<Records>,
    /// Held by the one process that adds.
    lock: Option<Box<dyn Lock>>,
    cache: Arc<DiskCache>,
}

/// Where the records of units are, and where the next one goes.
#[derive(Debug, Default)]
struct Records {
    places: HashMap<u64, u64>,
    end: u64,
}

impl KeptUnits {
    fn open(path: &Path, cache: Arc<DiskCache>) -> io::Result<KeptUnits> {
        let disk = Disk::shared();
        let lock = disk.try_lock(&lock_name(path))?;
        if lock.is_some() && disk.info(path).is_err() {
            let fresh = temporary_name(path, 0);
            drop(disk.create(&fresh)?);
            disk.rename(&fresh, path)?;
        }
        let file = if lock.is_some() { disk.open_to_write(path)? } else { disk.open(path)? };
        let records = Mutex::new(read_records(&*file)?);
        Ok(KeptUnits { path: path.to_owned(), file, records, lock, cache })
    }

    /// A unit, if it is kept and whole.
    pub(crate) fn get(&self, unit: u64) -> Option<Vec<u8>> {
        let at = self.records().places.get(&unit).copied()?;
        let mut head = [0; HEAD as usize];
        fill(&*self.file, &mut head, at).ok().filter(|&whole| whole)?;
        let (number, len, sum) = parse(&head);
        if number != unit || len > UNIT {
            return None;
        }
        let mut bytes = vec![0; len as usize];
        fill(&*self.file, &mut bytes, at + HEAD).ok().filter(|&whole| whole)?;
        (sum == checksum(unit, &bytes)).then_some(bytes)
    }

    /// Keeps a unit, if there is room.
    pub(crate) fn add(&self, unit: u64, bytes: &[u8]) {
        let record = HEAD + bytes.len() as u64;
        if self.lock.is_none() || !self.cache.makes_room(record, &self.path) {
            return;
        }
        let mut records = self.records();
        let mut all = unit.to_le_bytes().to_vec();
        all.extend((bytes.len() as u32).to_le_bytes());
        all.extend(checksum(unit, bytes).to_le_bytes());
        all.extend(bytes);
        let at = records.end;
        let mut done = 0;
        while done < all.len() {
            match self.file.write_at(&all[done..], at + done as u64) {
                Ok(written) if written > 0 => done += written,
                // What is torn is written over by the next.
                _ => return,
            }
        }
        records.places.insert(unit, at);
        records.end += record;
    }

    /// No code panics while it holds the lock.
    fn records(&self) -> std::sync::MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the records of a file, up to one that is cut off.
fn read_records(file: &dyn StoredFile) -> io::Result<Records> {
    let len = file.byte_len()?;
    let mut records = Records::default();
    let mut head = [0; HEAD as usize];
    while fill(file, &mut head, records.end)? {
        let (unit, bytes, _) = parse(&head);
        let end = records.end + HEAD + bytes;
        if bytes == 0 || bytes > UNIT || end > len {
            break;
        }
        records.places.insert(unit, records.end);
        records.end = end;
    }
    Ok(records)
}

/// The number of a unit, its length and its checksum.
fn parse(head: &[u8; HEAD as usize]) -> (u64, u64, u32) {
    let [n0, n1, n2, n3, n4, n5, n6, n7, l0, l1, l2, l3, c0, c1, c2, c3] = *head;
    let number = u64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]);
    let (len, sum) = ([l0, l1, l2, l3], [c0, c1, c2, c3]);
    (number, u32::from_le_bytes(len).into(), u32::from_le_bytes(sum))
}

fn checksum(unit: u64, bytes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&unit.to_le_bytes());
    sum.update(bytes);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn cache(folder: &Path, bound: u64) -> Arc<DiskCache> {
        Arc::new(DiskCache::new(folder.to_owned(), bound).expect("a folder"))
    }

    fn bytes_in(folder: &Path) -> u64 {
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file"));
        files.map(|file| file.metadata().expect("a file").len()).sum()
    }

    #[test]
    fn units_are_found_again_and_damage_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = {
            let kept = cache(folder.path(), 1 << 20).open("a").expect("a file");
            kept.add(3, &[7; 4096]);
            kept.add(0, &[1; 100]);
            kept.path.clone()
        };
        let again = cache(folder.path(), 1 << 20).open("a").expect("a file");
        assert_eq!(again.get(3), Some(vec![7; 4096]));
        assert_eq!(again.get(0), Some(vec![1; 100]));
        assert_eq!(again.get(1), None);
        let other = cache(folder.path(), 1 << 20).open("b").expect("a file");
        assert_eq!(other.get(3), None);
        drop((again, other));

        // A flipped bit spoils its unit, a torn end the last record.
        let mut bytes = fs::read(&path).expect("a file");
        bytes[20] ^= 1;
        bytes.truncate(bytes.len() - 1);
        fs::write(&path, bytes).expect("a file");
        let damaged = cache(folder.path(), 1 << 20).open("a").expect("a file");
        assert_eq!((damaged.get(3), damaged.get(0)), (None, None));
        damaged.add(0, &[2; 100]);
        assert_eq!(damaged.get(0), Some(vec![2; 100]));
    }

    #[test]
    fn the_bound_holds_and_the_oldest_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let bound = 20 * (HEAD + UNIT);
        let all = cache(folder.path(), bound);
        for file in 0..5 {
            let kept = all.open(&file.to_string()).expect("a file");
            for unit in 0..8 {
                kept.add(unit, &[file; UNIT as usize]);
                assert!(bytes_in(folder.path()) <= bound);
            }
            assert_eq!(kept.get(7), Some(vec![file; UNIT as usize]));
            drop(kept);
            // Times of files are coarse.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kept = |file: u8| all.open(&file.to_string()).and_then(|kept| kept.get(0));
        assert!(kept(4).is_some() && kept(3).is_some() && kept(0).is_none());

        // One file alone is larger than all may be: the rest of it is not kept.
        let large = all.open("large").expect("a file");
        (0..30).for_each(|unit| large.add(unit, &[9; UNIT as usize]));
        assert!(large.get(5).is_some() && large.get(25).is_none());
        assert!(bytes_in(folder.path()) <= bound);
    }

    #[test]
    fn one_process_adds() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = cache(folder.path(), 1 << 20);
        let first = all.open("a").expect("a file");
        first.add(1, &[1; 10]);
        let second = all.open("a").expect("a file");
        second.add(2, &[2; 10]);
        assert_eq!((second.get(1), second.get(2)), (Some(vec![1; 10]), None));
    }
}

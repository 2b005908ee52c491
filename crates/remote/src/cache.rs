//! What was read from addresses, held in memory up to a number of bytes, and on the disk if a
//! folder is named for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::disk_cache::{DiskCache, KeptUnits};

/// The bytes of a unit: the least that is asked for.
pub(crate) const UNIT: u64 = 4 << 10;

/// A unit of a file; the last one may be shorter.
pub(crate) type Unit = Arc<[u8]>;

/// Units of all files.
#[derive(Debug)]
pub(crate) struct UnitCache {
    next_file: AtomicU64,
    units: Cache<(u64, u64), Unit, UnitWeight>,
    disk: Option<Arc<DiskCache>>,
}

/// Units weigh what they hold.
#[derive(Clone, Debug)]
struct UnitWeight;

impl Weighter<(u64, u64), Unit> for UnitWeight {
    fn weight(&self, _: &(u64, u64), unit: &Unit) -> u64 {
        unit.len() as u64
    }
}

impl UnitCache {
    /// A cache of so many bytes in memory.
    pub(crate) fn new(bytes: u64, disk: Option<DiskCache>) -> Arc<UnitCache> {
        let items = (bytes / UNIT).max(16) as usize;
        let units = Cache::with_weighter(items, bytes.max(UNIT * 16), UnitWeight);
        Arc::new(UnitCache { next_file: AtomicU64::new(0), units, disk: disk.map(Arc::new) })
    }

    /// The units of one version of a file; on the disk only if another version is another name.
    pub(crate) fn file(self: &Arc<UnitCache>, version: &str, is_marked: bool) -> CachedFile {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let disk = self.disk.as_ref().filter(|_| is_marked);
        let kept = disk.and_then(|disk| disk.open(version));
        CachedFile { cache: Arc::clone(self), number, kept }
    }
}

/// The units of an open file.
#[derive(Debug)]
pub(crate) struct CachedFile {
    cache: Arc<UnitCache>,
    number: u64,
    kept: Option<KeptUnits>,
}

impl CachedFile {
    /// A unit that was read before.
    pub(crate) fn get(&self, unit: u64) -> Option<Unit> {
        let key = (self.number, unit);
        if let Some(found) = self.cache.units.get(&key) {
            return Some(found);
        }
        let found: Unit = self.kept.as_ref()?.get(unit)?.into();
        self.cache.units.insert(key, Arc::clone(&found));
        Some(found)
    }

    /// Holds a unit that was read.
    pub(crate) fn insert(&self, unit: u64, bytes: &Unit) {
        self.cache.units.insert((self.number, unit), Arc::clone(bytes));
        if let Some(kept) = &self.kept {
            kept.add(unit, bytes);
        }
    }
}

impl Drop for CachedFile {
    fn drop(&mut self) {
        let number = self.number;
        self.cache.units.retain(|&(file, _), _| file != number);
    }
}

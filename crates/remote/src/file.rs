//! A file at an address that is read by ranges.
//!
//! It is read in units, each asked for once and then held; a reader that goes on where it was gets
//! more and more of them at a time.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use hoffman_store::StoredFile;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStoreExt as _};

use crate::address::Address;
use crate::cache::{CachedFile, UNIT, Unit, UnitCache};
use crate::failure::changed;
use crate::servers::Servers;

/// The most units that are asked for at once, a megabyte.
const MOST: u64 = (1 << 20) / UNIT;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct RemoteFile {
    address: Address,
    meta: ObjectMeta,
    servers: Arc<Servers>,
    cached: CachedFile,
    ahead: Mutex<Ahead>,
}

/// Where a reader that goes on would ask next, and for how many units.
#[derive(Debug, Default)]
struct Ahead {
    next: u64,
    count: u64,
}

impl RemoteFile {
    /// The file that `meta` tells of.
    pub(crate) fn new(
        address: Address,
        meta: ObjectMeta,
        servers: Arc<Servers>,
        cache: &Arc<UnitCache>,
    ) -> RemoteFile {
        let cached = cache.file(&version(&address, &meta), is_marked(&meta));
        RemoteFile { address, meta, servers, cached, ahead: Mutex::default() }
    }

    /// A unit, from memory, from the disk or from the server; those up to `wanted` come with it.
    fn unit(&self, number: u64, wanted: u64) -> io::Result<Unit> {
        if let Some(unit) = self.cached.get(number) {
            return Ok(unit);
        }
        // A thread waits for what another one is asking for, which may be the same.
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unit) = self.cached.get(number) {
            return Ok(unit);
        }
        let goes_on = number > 0 && number == ahead.next;
        let least = wanted.saturating_sub(number).clamp(1, MOST);
        let count = if goes_on { (2 * ahead.count).clamp(least, MOST) } else { least };
        let end = (number + count).min(self.meta.size.div_ceil(UNIT));
        *ahead = Ahead { next: end, count };

        let bytes = self.range(number * UNIT..(end * UNIT).min(self.meta.size))?;
        let mut first = None;
        for (unit, chunk) in (number..end).zip(bytes.chunks(UNIT as usize)) {
            let chunk: Unit = chunk.into();
            self.cached.insert(unit, &chunk);
            first.get_or_insert(chunk);
        }
        first.ok_or_else(changed)
    }

    /// Some of its bytes from the server, if it is still the same file there.
    fn range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let strong = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let wanted = GetRange::Bounded(range.clone());
        let options = GetOptions { range: Some(wanted), if_match: strong, ..GetOptions::default() };
        let key = self.address.key.clone();
        let (meta, bytes) = self.servers.ask(&self.address, |store| async move {
            let answer = store.get_opts(&key, options).await?;
            let meta = answer.meta.clone();
            Ok((meta, answer.bytes().await?))
        })?;
        if version(&self.address, &meta) != version(&self.address, &self.meta) {
            return Err(changed());
        }
        if bytes.len() as u64 != range.end - range.start {
            return Err(io::Error::other("the answer of the server breaks off"));
        }
        Ok(bytes.to_vec())
    }
}

/// What tells one version of a file from others: its address, length and mark, or its time where it
/// has no mark.
fn version(address: &Address, meta: &ObjectMeta) -> String {
    let time = meta.last_modified.timestamp_millis();
    let mark = meta.e_tag.clone().unwrap_or_else(|| time.to_string());
    format!("{address}\n{}\n{mark}", meta.size)
}

/// Whether a changed file of the same length would be noticed.
fn is_marked(meta: &ObjectMeta) -> bool {
    meta.e_tag.is_some() || meta.last_modified.timestamp_millis() != 0
}

/// What is known of a file without reading it.
///
/// # Errors
/// [`io::ErrorKind::NotFound`], and those of the request.
pub(crate) fn ask_for(servers: &Servers, address: &Address) -> io::Result<ObjectMeta> {
    let key = address.key.clone();
    servers.ask(address, |store| async move { store.head(&key).await })
}

impl StoredFile for RemoteFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.meta.size.saturating_sub(offset);
        let len = buf.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        if len == 0 {
            return Ok(0);
        }
        let end = (offset + len as u64).div_ceil(UNIT);
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let unit = self.unit(at / UNIT, end)?;
            let part = unit.get((at % UNIT) as usize..).unwrap_or_default();
            let part = &part[..part.len().min(len - done)];
            if part.is_empty() {
                return Err(changed());
            }
            buf[done..done + part.len()].copy_from_slice(part);
            done += part.len();
        }
        Ok(done)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.meta.size)
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

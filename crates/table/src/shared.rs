//! Values of whole tables that several readers need one after the other: each is decoded once, as
//! long as there is room.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hoffman_space::TableValues;

use crate::reader::{Table, TableError};
use crate::rows::Wanted;
use crate::stop::Stop;

/// The values of tables that were read as a whole, up to so many bytes: what was not asked for
/// longest goes first, of what nobody is using.
#[derive(Debug)]
pub struct SharedValues {
    room: u64,
    /// The last one was asked for last.
    held: Mutex<Vec<HeldValues>>,
}

#[derive(Debug)]
struct HeldValues {
    path: PathBuf,
    fingerprint: Option<Vec<u8>>,
    /// What was read of it.
    wanted: Wanted,
    bytes: u64,
    values: Arc<TableValues>,
}

impl SharedValues {
    /// With room for so many bytes.
    pub fn new(room: u64) -> SharedValues {
        SharedValues { room, held: Mutex::default() }
    }

    /// The bytes that are held at most.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// Gives up what is held until there are so many bytes less than the room.
    pub fn make_room(&self, bytes: u64) {
        Self::shrink(&mut self.held(), self.room.saturating_sub(bytes));
    }

    /// The files whose values are held.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.held().iter().map(|held| held.path.clone()).collect()
    }

    /// The bytes that are held now.
    pub fn bytes(&self) -> u64 {
        self.held().iter().map(|held| held.bytes).sum()
    }

    /// Values of a table, exactly: at least those that are wanted. See [`Table::exact_values`].
    ///
    /// # Errors
    /// As there.
    pub fn of(
        &self,
        (table, wanted): (&Table, &Wanted),
        stop: &Stop,
    ) -> Result<Arc<TableValues>, TableError> {
        self.of_file(table, wanted, |wanted| table.exact_values(wanted, stop))
    }

    /// Values of what `open` gives, which is the table again: at least those that are wanted.
    pub(crate) fn of_another(
        &self,
        (table, wanted): (&Table, &Wanted),
        stop: &Stop,
        open: impl FnOnce() -> Result<Table, TableError>,
    ) -> Result<Arc<TableValues>, TableError> {
        self.of_file(table, wanted, |wanted| open()?.exact_values(wanted, stop))
    }

    fn of_file(
        &self,
        table: &Table,
        wanted: &Wanted,
        decode: impl FnOnce(&Wanted) -> Result<TableValues, TableError>,
    ) -> Result<Arc<TableValues>, TableError> {
        let path = table.path().canonicalize().unwrap_or_else(|_| table.path().to_owned());
        let fingerprint = table.entries.fingerprint();
        let mut wanted = wanted.clone();
        if let Some(values) = self.find(&path, fingerprint.as_deref(), &mut wanted) {
            return Ok(values);
        }
        // Not under the lock: tables behind are asked for here, too.
        let values = Arc::new(decode(&wanted)?);
        let bytes = values.bytes() as u64;
        if bytes <= self.room {
            let mut held = self.held();
            held.retain(|held| held.path != path);
            Self::shrink(&mut held, self.room - bytes);
            let values = Arc::clone(&values);
            held.push(HeldValues { path, fingerprint, wanted, bytes, values });
        }
        Ok(values)
    }

    /// What is held of a file, if it is still the same and has all that is wanted. If it lacks
    /// something, what it has is wanted, too: who asks next may want either.
    fn find(
        &self,
        path: &Path,
        fingerprint: Option<&[u8]>,
        wanted: &mut Wanted,
    ) -> Option<Arc<TableValues>> {
        let mut held = self.held();
        let at = held.iter().position(|held| held.path == path)?;
        let found = held.remove(at);
        if found.fingerprint.as_deref() != fingerprint {
            return None;
        }
        if !found.wanted.covers(wanted) {
            wanted.extend(&found.wanted);
            return None;
        }
        let values = Arc::clone(&found.values);
        held.push(found);
        Some(values)
    }

    /// What somebody is using stays: to give it up frees no memory.
    fn shrink(held: &mut Vec<HeldValues>, room: u64) {
        let mut all = held.iter().map(|held| held.bytes).sum::<u64>();
        held.retain(|held| {
            let stays = all <= room || Arc::strong_count(&held.values) > 1;
            all -= if stays { 0 } else { held.bytes };
            stays
        });
    }

    /// No code panics while it holds the lock.
    fn held(&self) -> MutexGuard<'_, Vec<HeldValues>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hoffman_board::{Color, Material, Role};

    const KINGS: [(Color, Role); 2] = [(Color::White, Role::King), (Color::Black, Role::King)];

    fn held(name: &str, bytes: u64) -> HeldValues {
        HeldValues {
            path: PathBuf::from(name),
            fingerprint: None,
            wanted: Wanted::all(),
            bytes,
            values: Arc::new(TableValues::new(Material::from_men(KINGS), [])),
        }
    }

    #[test]
    fn what_is_in_use_stays_and_the_oldest_of_the_others_goes() {
        let shared = SharedValues::new(100);
        shared.held().extend([held("used", 40), held("old", 30), held("new", 30)]);
        let in_use = Arc::clone(&shared.held()[0].values);

        let names = |shared: &SharedValues| {
            shared.paths().iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        shared.make_room(20);
        assert_eq!((names(&shared), shared.bytes()), (vec!["used".into(), "new".into()], 70));
        shared.make_room(100);
        assert_eq!(names(&shared), ["used"]);
        drop(in_use);
        shared.make_room(100);
        assert_eq!((names(&shared).len(), shared.bytes()), (0, 0));
    }
}

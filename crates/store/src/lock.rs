//! The names of unfinished files and of locks, and the removal of what dead processes left.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Lock, Storage};

/// Where the lock of a file is: `.NAME.lock` beside it. A run that writes the table holds it.
pub fn lock_name(target: &Path) -> PathBuf {
    hidden(target, ".lock")
}

/// Where a file is while it is written: `.NAME.tmp-PID` beside it, with a number if that is taken.
pub fn temporary_name(target: &Path, attempt: u32) -> PathBuf {
    let number = if attempt > 0 { format!("-{attempt}") } else { String::new() };
    hidden(target, &format!(".tmp-{}{number}", std::process::id()))
}

fn hidden(target: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(ending);
    target.with_file_name(name)
}

/// Removes unfinished files and locks that dead processes left in a folder: those of `target`,
/// whose lock the caller holds; or, without a target, those of all tables that are not being
/// written.
///
/// # Errors
/// The folder cannot be read, or a file not be removed.
pub fn tidy(storage: &dyn Storage, folder: &Path, target: Option<&OsStr>) -> io::Result<()> {
    let mut left: BTreeMap<String, Vec<OsString>> = BTreeMap::new();
    for name in storage.list(folder)? {
        if let Some(owner) = name.to_str().and_then(owner) {
            left.entry(owner.to_owned()).or_default().push(name);
        }
    }

    for (owner, names) in left {
        let lock: Option<Box<dyn Lock>> = match target {
            Some(target) if target == owner.as_str() => None,
            Some(_) => continue,
            // Other kinds of files are written without a lock.
            None if !is_table(&owner) && owner != PROBE => continue,
            None => match storage.try_lock(&lock_name(&folder.join(&owner)))? {
                Some(lock) => Some(lock),
                None => continue,
            },
        };

        let own_lock = lock_name(Path::new(&owner));
        for name in names.into_iter().filter(|name| Path::new(name) != own_lock) {
            match storage.remove(&folder.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        drop(lock);
    }
    Ok(())
}

/// Whether a file has the name of a table.
fn is_table(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|suffix| suffix == "htb" || suffix == "hbf")
}

/// What a lock protects that only shows whether a folder can be written to.
pub(crate) const PROBE: &str = "hoffman";

/// Finds out whether files can be made in a folder.
///
/// # Errors
/// They cannot.
pub fn probe(storage: &dyn Storage, folder: &Path) -> io::Result<()> {
    // If another run has it, it could be made.
    storage.try_lock(&lock_name(&folder.join(PROBE))).map(drop)
}

/// The table that an unfinished file or a lock belongs to.
fn owner(name: &str) -> Option<&str> {
    let inner = name.strip_prefix('.')?;
    if let Some(owner) = inner.strip_suffix(".lock") {
        return Some(owner);
    }
    let (target, number) = inner.rsplit_once(".tmp-")?;
    let is_number =
        number.split('-').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    is_number.then(|| target.strip_suffix(".checkpoint").unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_owner() {
        for (name, table) in [
            (".kqk.htb.tmp-12", Some("kqk.htb")),
            (".kqk.htb.tmp-12-3", Some("kqk.htb")),
            (".kqk.htb.checkpoint.tmp-1", Some("kqk.htb")),
            (".kqk.htb.lock", Some("kqk.htb")),
            ("kqk.htb.tmp-12", None),
            (".kqk.htb.tmp-", None),
            (".kqk.htb.tmp-1x", None),
            (".kqk.htb", None),
        ] {
            assert_eq!(owner(name), table, "{name}");
        }
        let target = Path::new("a/kqk.htb");
        let temporary = temporary_name(target, 2);
        assert_eq!(temporary.parent(), Some(Path::new("a")));
        assert_eq!(temporary.file_name().and_then(OsStr::to_str).and_then(owner), Some("kqk.htb"));
        assert_eq!(lock_name(target), Path::new("a/.kqk.htb.lock"));
    }
}

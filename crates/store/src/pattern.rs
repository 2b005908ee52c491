//! Names with wildcards.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::{Storage, is_file};

/// As a shell has them.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Whether a name has wildcards.
pub fn has_wildcards(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether a path fits a pattern, as for [`files_like`]; a path without wildcards fits itself.
pub fn is_like(path: &Path, pattern: &str) -> bool {
    let parts = |path: &Path| -> Vec<String> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (names, patterns) = (parts(path), parts(Path::new(pattern)));
    names.len() == patterns.len()
        && names.iter().zip(&patterns).all(|(name, pattern)| is_name_like(name, pattern))
}

fn is_name_like(name: &str, pattern: &str) -> bool {
    name == pattern
        || Pattern::new(pattern).is_ok_and(|pattern| pattern.matches_with(name, OPTIONS))
}

/// The files that fit a pattern, with `*`, `?` and `[...]` in the names of folders or of files; in
/// ascending order.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for what is no pattern; a folder cannot be listed.
pub fn files_like(storage: &dyn Storage, pattern: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for part in Path::new(pattern).components() {
        let name = part.as_os_str().to_str().unwrap_or_default();
        if !matches!(part, Component::Normal(_)) || !has_wildcards(name) {
            for path in &mut found {
                path.push(part);
            }
            continue;
        }
        let pattern =
            Pattern::new(name).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;

        let mut fitting = Vec::new();
        for folder in found {
            let mut names = names_in(storage, &folder)?;
            names.retain(|name| {
                name.to_str().is_some_and(|name| pattern.matches_with(name, OPTIONS))
            });
            fitting.extend(names.iter().map(|name| folder.join(name)));
        }
        found = fitting;
    }

    found.retain(|path| is_file(storage, path));
    found.sort();
    Ok(found)
}

/// What is in a folder, the current one if it has no name; nothing of what is no folder.
fn names_in(storage: &dyn Storage, folder: &Path) -> io::Result<Vec<OsString>> {
    let current = folder.as_os_str().is_empty();
    match storage.list(if current { Path::new(".") } else { folder }) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        names => names,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk;

    #[test]
    fn patterns_are_those_of_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/kqk.htb", "a/krk.htb", "b/kqk.htb", "b/.kbk.htb", "b/c.htb/x"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let like = |pattern: &str| -> Vec<String> {
            let pattern = folder.path().join(pattern);
            let found = files_like(&*disk(), pattern.to_str().unwrap()).unwrap();
            let short = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap());
            short.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(like("a/k?k.htb"), ["a/kqk.htb", "a/krk.htb"]);
        assert_eq!(like("[ab]/kq*"), ["a/kqk.htb", "b/kqk.htb"]);
        assert_eq!(like("?/*.htb"), ["a/kqk.htb", "a/krk.htb", "b/kqk.htb"]);
        assert_eq!(like("a/../b/k*"), ["a/../b/kqk.htb"]);
        assert_eq!(like("a/kqk.htb"), ["a/kqk.htb"]);
        assert!(like("a/kqk.htb/*").is_empty() && like("d/*").is_empty());
        let kind = files_like(&*disk(), "[").unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::InvalidInput);
    }
}

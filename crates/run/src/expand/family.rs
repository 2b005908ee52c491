//! What the tables of an expansion are called.

use std::path::Path;

use hoffman_board::{Material, Role};
use hoffman_control::ControlFile;
use hoffman_store::{has_wildcards, is_like};

use crate::error::RunError;

/// The names of the tables of an expansion.
pub(crate) struct Family {
    pub(super) stem: String,
    /// Whether promoted men may be part of the names, as in files of 2006.
    with_men: bool,
    /// The most pawns that a side can have.
    pawns: usize,
}

impl Family {
    /// Those of the tables of an input.
    pub(crate) fn of(
        input: &ControlFile,
        path: &Path,
        folder: Option<&Path>,
    ) -> Result<Family, RunError> {
        let pawns = match &input.pawngen {
            Some(element) => element.white.start.count().max(element.black.start.count()),
            None => input.pieces.iter().filter(|piece| piece.role == Role::Pawn).count(),
        };
        let with_men = input.pawngen.is_none();
        Ok(Family { stem: stem_of(path, folder)?, with_men, pawns })
    }

    /// Whether a table has that name.
    pub(super) fn has(&self, name: &str) -> bool {
        let same = |a: &str, b: &str| Path::new(a) == Path::new(b);
        let Some(rest) = name.strip_suffix(".htb") else { return false };
        let mut parts = rest.rsplitn(3, '-');
        let number = |part: Option<&str>| part.is_some_and(|p| p.parse::<u8>().is_ok());
        if !(number(parts.next()) && number(parts.next())) {
            return false;
        }
        let Some(stem) = parts.next() else { return false };
        let pieces = stem.rsplit_once('-').filter(|(_, men)| men.parse::<Material>().is_ok());
        same(stem, &self.stem) || self.with_men && pieces.is_some_and(|(s, _)| same(s, &self.stem))
    }

    /// A name that stands for all of them.
    pub(crate) fn name(&self) -> String {
        format!("{}-*.htb", self.stem)
    }

    /// Whether a table may have a name, which may hold wildcards.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        let of_numbers = |(white, black)| {
            is_like(Path::new(&format!("{}-{white}-{black}.htb", self.stem)), name)
        };
        let numbers = || (0..=self.pawns).flat_map(|w| (0..=self.pawns).map(move |b| (w, b)));
        self.has(name) || has_wildcards(name) && numbers().any(of_numbers)
    }
}

/// What the files of an expansion begin with: the name of its control file without `.xml`, in
/// `folder` if there is one.
fn stem_of(path: &Path, folder: Option<&Path>) -> Result<String, RunError> {
    let stem = match path.to_str().and_then(|name| name.strip_suffix(".xml")) {
        Some(stem) if !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => {
            return Err(RunError::Pawngen {
                place: path.display().to_string(),
                problem: "the name of a control file must be UTF-8 and end in .xml".to_owned(),
            });
        }
    };
    Ok(match (folder, Path::new(stem).file_name()) {
        (Some(folder), Some(name)) => folder.join(name).to_string_lossy().into_owned(),
        _ => stem.to_owned(),
    })
}

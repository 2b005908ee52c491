//! Control files of the game of assumptions: `hoffman solve --write-control`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman::process::{read_whole, write_whole};
use hoffman::{ControlSet, WhatIf};

use crate::output::note;

/// Files that are to be written when the position is answered.
pub(crate) struct ControlFiles {
    dir: PathBuf,
    files: Vec<(PathBuf, String)>,
    /// What has to be assumed beside for them to say the same.
    pub(crate) adds: Option<WhatIf>,
}

impl ControlFiles {
    /// The files for a position in the game of what is assumed. No file that says something else
    /// is in their way.
    pub(crate) fn new(dir: &Path, fen: &str, what_if: &[WhatIf]) -> anyhow::Result<Self> {
        let set = ControlSet::new(fen, what_if)?;
        let texts = set.files()?;
        let files = texts.into_iter().map(|file| (dir.join(file.name), file.text));
        let files: Vec<(PathBuf, String)> = files.collect();
        for (path, text) in &files {
            let there = path.symlink_metadata().is_ok();
            if there && read_whole(path).ok().as_deref() != Some(text.as_bytes()) {
                let path = path.display();
                anyhow::bail!("{path} is there and says something else: name another folder");
            }
        }
        Ok(ControlFiles { dir: dir.to_owned(), files, adds: set.adds().cloned() })
    }

    /// Writes them, and says how to go on.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        let dir = self.dir.display();
        fs::create_dir_all(&self.dir).with_context(|| format!("cannot create the folder {dir}"))?;
        for (path, text) in &self.files {
            write_whole(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let files = if self.files.len() == 1 { "control file" } else { "control files" };
        let build = format!("hoffman build {dir}/what-if-*.xml --dir {dir}");
        note(&format!("{} {files} in {dir}; make the tables with: {build}", self.files.len()));
        Ok(())
    }
}

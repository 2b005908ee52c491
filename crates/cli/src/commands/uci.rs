//! `hoffman uci`: a chess engine on standard input and output.

use std::io;
use std::path::PathBuf;

use hoffman::process::is_folder;
use hoffman_uci::Engine;

use crate::RunEnd;
use crate::args::{UciArgs, default_folder};

/// Speaks with a user interface until it says good bye.
pub(crate) fn run(args: &UciArgs) -> anyhow::Result<RunEnd> {
    for folder in args.folders.iter().chain(&args.syzygy) {
        anyhow::ensure!(is_folder(folder), "{}: there is no such folder", folder.display());
    }
    let usual = || default_folder().filter(|folder| is_folder(folder));
    let folders: Vec<PathBuf> = match args.folders.as_slice() {
        [] => usual().into_iter().collect(),
        given => given.to_vec(),
    };
    let engine = Engine::new(folders, args.syzygy.clone());
    engine.run(io::stdin().lock(), io::stdout().lock())?;
    Ok(RunEnd::Done)
}

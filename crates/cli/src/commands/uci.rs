//! `hoffman uci`: a chess engine on standard input and output.

use std::io;
use std::path::PathBuf;

use hoffman::process::is_folder;
use hoffman_uci::Engine;

use crate::RunEnd;
use crate::args::{UciArgs, default_folder, expect_folders};

/// Speaks with a user interface until it says good bye.
pub(crate) fn run(args: &UciArgs) -> anyhow::Result<RunEnd> {
    expect_folders(args.folders.iter().chain(&args.syzygy))?;
    let usual = || default_folder().filter(|folder| is_folder(folder));
    let folders: Vec<PathBuf> = match args.folders.as_slice() {
        [] => usual().into_iter().collect(),
        given => given.to_vec(),
    };
    let engine = Engine::new(folders, args.syzygy.clone());
    engine.run(io::stdin().lock(), io::stdout().lock())?;
    Ok(RunEnd::Done)
}

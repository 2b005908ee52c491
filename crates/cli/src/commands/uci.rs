//! `hoffman uci`: a chess engine on standard input and output.

use std::io;

use hoffman_uci::Engine;

use crate::RunEnd;
use crate::args::{UciArgs, expect_folders, folders_or_usual};

/// Speaks with a user interface until it says good bye.
pub(crate) fn run(args: &UciArgs) -> anyhow::Result<RunEnd> {
    let folders = folders_or_usual(&args.folders)?;
    expect_folders(&args.syzygy)?;
    let engine = Engine::new(folders, args.syzygy.clone());
    engine.run(io::stdin().lock(), io::stdout().lock())?;
    Ok(RunEnd::Done)
}

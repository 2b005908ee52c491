//! `hoffman annotate`: what tables say of the moves of games in PGN.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use hoffman::Tablebase;
use hoffman_pgn::Reader;

use crate::RunEnd;
use crate::args::AnnotateArgs;
use crate::commands::tables;
use crate::interrupt;
use crate::output::{complain, is_broken_pipe};

/// Annotates the games of files, one after the other.
pub(crate) fn run(args: &AnnotateArgs) -> anyhow::Result<RunEnd> {
    let tables = tables::tablebase(&args.tables, &args.at_hand)?;
    let mut out = BufWriter::new(io::stdout());
    let mut good = true;
    for file in &args.files {
        let annotated = if file == Path::new("-") {
            annotate(io::stdin().lock(), "standard input", &tables, &mut out)
        } else {
            let name = file.display().to_string();
            let opened = File::open(file).with_context(|| format!("cannot open {name}"));
            opened.and_then(|opened| annotate(BufReader::new(opened), &name, &tables, &mut out))
        };
        match annotated {
            Ok(all) => good &= all,
            Err(error) if is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                complain(&error);
                good = false;
            }
        }
    }
    out.flush().context("cannot write to standard output")?;
    Ok(RunEnd::of(good))
}

/// Annotates the games of one file. A game that cannot be read is said and left out; whether none
/// was.
fn annotate(
    input: impl BufRead,
    name: &str,
    tables: &Tablebase,
    out: &mut impl io::Write,
) -> anyhow::Result<bool> {
    let mut reader = Reader::new(input);
    let mut good = true;
    for number in 1_u64.. {
        let place = || format!("{name}, game {number}");
        let Some(game) = reader.next_game().with_context(place)? else { break };
        match hoffman_pgn::annotate(tables, &game) {
            Ok(text) => {
                // Games are separated by empty lines.
                let gap = if number > 1 { "\n" } else { "" };
                write!(out, "{gap}{text}").context("cannot write to standard output")?;
            }
            Err(error) => {
                complain(&anyhow!(error).context(place()));
                good = false;
            }
        }
        if interrupt::cancel().is_cancelled() {
            bail!("{name}: interrupted after game {number}");
        }
    }
    Ok(good)
}

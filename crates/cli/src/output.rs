//! What is printed where: results on standard output, everything else on standard error.
//!
//! Nothing here panics when nothing reads: a pipe closed at the other end of standard output ends
//! the run quietly, one of standard error is ignored.

use std::error::Error;
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use hoffman::process::write_whole;

/// A command line that makes no sense.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Writes a result and a newline to standard output.
pub(crate) fn print_line(text: &str) -> anyhow::Result<()> {
    print(&format!("{text}\n"))
}

/// Writes a picture to a file, or to standard output if that is `-`.
pub(crate) fn write_picture(file: &Path, picture: &str) -> anyhow::Result<()> {
    if file == Path::new("-") {
        return print(picture);
    }
    write_whole(file, picture.as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a line to standard error as it is.
pub(crate) fn say(text: &str) {
    // It may not be read any more.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a message to standard error in the name of the program.
pub(crate) fn note(text: &str) {
    say(&format!("hoffman: {text}"));
}

/// Reports an error that does not end the run.
pub(crate) fn complain(error: &anyhow::Error) {
    note(&chain(error));
}

/// The message of an error with its causes, each said once.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Whether the reader of standard output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The command line, for the headers of tables. XML cannot hold control characters.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let line = std::iter::once("hoffman".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    let allowed = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    line.chars().map(|c| if allowed(c) { c } else { '?' }).collect()
}

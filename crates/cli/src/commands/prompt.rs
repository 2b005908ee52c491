//! `hoffman -p`: the prompt, with line editing on a terminal, echoing when piped.

use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman::{OpenOptions, Opened, ProbeError, ReadOptions, Session};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Editor, Helper};

use crate::RunEnd;
use crate::output::{complain, note, print, say};

/// Where lines entered on a terminal are kept, in the current folder.
const HISTORY: &str = ".hoffman_history";

/// How many lines of the history can be called back.
const RECALLED: usize = 1000;

/// Opens the tables and answers until input ends.
pub(crate) fn run(files: &[PathBuf], reading: &ReadOptions) -> anyhow::Result<RunEnd> {
    let options = files.iter().fold(OpenOptions::new(), OpenOptions::file);
    let Opened { tables, failed, notices, .. } = options.reading(reading.clone()).open_some()?;

    let mut good = true;
    for path in files {
        say(&format!("Loading '{}'", path.display()));
        for (_, notice) in notices.iter().filter(|(of, _)| of == path) {
            note(&format!("{}: {notice}", path.display()));
        }
        if let Some((_, error)) = failed.iter().find(|(of, _)| of == path) {
            let error = error.clone();
            if matches!(error, ProbeError::Variants { .. }) {
                let error = anyhow::Error::from(error);
                return Err(error.context("All probed tablebases must use same variant!"));
            }
            let error = anyhow::Error::from(error);
            complain(&error.context(format!("Error loading tablebase '{}'", path.display())));
            good = false;
        }
    }

    anyhow::ensure!(tables.named_tables() > 0, "No valid tablebases to probe!");
    let session = tables.session(reading.nalimov_folders());
    if session.nalimov_men() > 0 {
        say(&format!("{} piece Nalimov tablebases found", session.nalimov_men()));
    }

    let mut prompt = Prompt { session, good };
    // Line editing writes escape sequences, which only a terminal understands.
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        prompt.echo()?;
        return Ok(RunEnd::of(prompt.good));
    }

    let Some(entered) = prompt.edit()? else { return Ok(RunEnd::Failed) };
    if let Err(error) = append_history(Path::new(HISTORY), &entered) {
        note(&format!("cannot write the history to {HISTORY}: {error}"));
    }
    Ok(RunEnd::of(prompt.good))
}

struct Prompt {
    session: Session,
    good: bool,
}

impl Prompt {
    /// The answer to a line. What is wrong with tables is said on standard error.
    fn answer(&mut self, line: &str) -> String {
        let answer = self.session.enter(line);
        for error in self.session.take_errors() {
            complain(&error.into());
            self.good = false;
        }
        answer
    }

    /// Reads from a pipe or file and shows what was read, as on a terminal.
    fn echo(&mut self) -> anyhow::Result<()> {
        let mut input = BufReader::new(io::stdin());
        let mut out = BufWriter::new(io::stdout());
        let mut write = |text: &str, flush: bool| {
            let written = out.write_all(text.as_bytes());
            written.and_then(|()| if flush { out.flush() } else { Ok(()) })
        };
        let broken = "cannot write to standard output";
        let mut bytes = Vec::new();
        loop {
            // A program may wait for the prompt.
            write(self.session.prompt(), input.buffer().is_empty()).context(broken)?;
            bytes.clear();
            let read = input.read_until(b'\n', &mut bytes).context("cannot read standard input")?;
            if read == 0 {
                write("\n", true).context(broken)?;
                return Ok(());
            }
            let text = String::from_utf8_lossy(&bytes);
            let line = text.strip_suffix('\n').unwrap_or(&text);
            let line = line.strip_suffix('\r').unwrap_or(line);
            let answer = self.answer(line);
            write(&format!("{line}\n{answer}"), false).context(broken)?;
        }
    }

    /// Lets lines be edited, with history, and moves completed. Returns the lines entered; none if
    /// the session was interrupted.
    fn edit(&mut self) -> anyhow::Result<Option<Vec<String>>> {
        self.session.set_escapes(true);
        let mut entered = Vec::new();
        let config = Config::builder().max_history_size(RECALLED)?.build();
        let history = MemHistory::with_config(&config);
        let mut editor: Editor<MoveCompleter, MemHistory> = Editor::with_history(config, history)?;
        for line in read_history(Path::new(HISTORY)) {
            editor.add_history_entry(line)?;
        }
        loop {
            editor.set_helper(Some(MoveCompleter(self.session.completions(""))));
            match editor.readline(self.session.prompt()) {
                Ok(line) => {
                    if !line.is_empty() {
                        editor.add_history_entry(line.as_str())?;
                        entered.push(line.clone());
                    }
                    let answer = self.answer(&line);
                    print(&answer)?;
                }
                Err(ReadlineError::Eof) => return Ok(Some(entered)),
                Err(ReadlineError::Interrupted) => return Ok(None),
                Err(error) => return Err(error).context("cannot read from the terminal"),
            }
        }
    }
}

/// Completes what can be entered in the current position.
struct MoveCompleter(Vec<String>);

impl Completer for MoveCompleter {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        Ok((0, self.0.iter().filter(|text| text.starts_with(typed)).cloned().collect()))
    }
}

impl Hinter for MoveCompleter {
    type Hint = String;
}
impl Highlighter for MoveCompleter {}
impl Validator for MoveCompleter {}
impl Helper for MoveCompleter {}

/// The last lines of a history file; none if it cannot be read.
fn read_history(path: &Path) -> Vec<String> {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.iter().skip(lines.len().saturating_sub(RECALLED)).map(|line| (*line).to_owned()).collect()
}

/// Adds lines to a history file that only its owner can read.
fn append_history(path: &Path, lines: &[String]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_kept_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(HISTORY);
        assert!(read_history(&path).is_empty());
        append_history(&path, &["e2e4".to_owned()]).unwrap();
        append_history(&path, &[]).unwrap();
        append_history(&path, &["undo".to_owned(), "24".to_owned()]).unwrap();
        assert_eq!(read_history(&path), ["e2e4", "undo", "24"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn moves_are_completed() {
        let moves = MoveCompleter(["e7e8=Q", "e7e8=R", "e6d6", "undo"].map(str::to_owned).to_vec());
        let history = MemHistory::new();
        let context = rustyline::Context::new(&history);
        let completed = |line: &str, at| moves.complete(line, at, &context).unwrap();
        assert_eq!(completed("e7", 2), (0, vec!["e7e8=Q".to_owned(), "e7e8=R".to_owned()]));
        assert_eq!(completed("", 0).1.len(), 4);
        assert_eq!(completed("u", 1).1, ["undo"]);
        // Only what stands before the cursor counts.
        assert_eq!(completed("e6 and more", 2).1, ["e6d6"]);
        assert!(completed("a1", 2).1.is_empty());
    }
}

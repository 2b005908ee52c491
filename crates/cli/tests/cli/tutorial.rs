//! Types the commands of `docs/tutorial.md`, `docs/lists.md`, `docs/positions.md`,
//! `docs/cluster.md`, `docs/uci.md` and `docs/serve.md`, and compares what comes back.
//!
//! A transcript is a fenced block marked `console`. A line that begins with `$ ` is a command, the
//! lines below it are what it prints, on standard output and standard error together. A line `...`
//! stands for any number of lines, `...` inside a line for any text. All commands of the page are
//! typed one after the other into one shell, in an empty folder with a copy of `examples`.
#![cfg(unix)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::root;

/// A command, what it should print, and the line of the page that it stands on.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// Between the outputs of two commands: a control character that no command prints.
const SEPARATOR: char = '\u{1e}';

/// The commands of all transcripts of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: number + 1,
                command: command.to_owned(),
                expected: Vec::new(),
            });
        } else {
            let step = steps.last_mut().expect("a transcript begins with a command");
            step.expected.push(line.to_owned());
        }
    }
    steps
}

/// What each command prints when all are typed into one shell in `folder`.
fn outputs(steps: &[Step], folder: &Path) -> Vec<Vec<String>> {
    let mut script = String::from("exec 2>&1\n");
    for step in steps {
        // The next command sees the exit status of this one.
        let Step { command, .. } = step;
        write!(script, "{command}\nstatus=$?; printf '\\036'; (exit $status)\n").unwrap();
    }
    let path = folder.join("script");
    std::fs::write(&path, script).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hoffman"));
    let mut search = program.parent().unwrap().as_os_str().to_owned();
    search.push(":");
    search.push(std::env::var_os("PATH").unwrap_or_default());
    let work = folder.join("work");
    let shell = Command::new("sh")
        .arg(&path)
        .current_dir(&work)
        .env("PATH", search)
        .env("LC_ALL", "C")
        .env("HOME", &work)
        .env_remove("XDG_DATA_HOME")
        .env_remove("HOFFMAN_TABLES")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(shell.stdout).unwrap();
    let mut outputs: Vec<Vec<String>> = text
        .split(SEPARATOR)
        .map(|output| output.lines().map(|line| line.trim_end().to_owned()).collect())
        .collect();
    // What the shell itself has to say stands behind the last command.
    assert_eq!(outputs.pop().unwrap_or_default(), Vec::<String>::new());
    outputs
}

/// Whether lines are as expected, with `...` for whatever is left out.
fn lines_match(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

/// Whether a line is as expected, with `...` for any text.
fn line_matches(expected: &str, line: &str) -> bool {
    if expected == line {
        return true;
    }
    let Some((start, rest)) = expected.split_once("...") else { return false };
    let Some(mut left) = line.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split("...").collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

/// Copies the control files that the tutorial uses.
fn copy_examples(to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Types the commands of a page.
fn check(name: &str, least: usize) {
    let page = std::fs::read_to_string(root().join(name)).unwrap();
    let steps = steps(&page);
    assert!(steps.len() >= least, "only {} commands were found", steps.len());
    let folder = tempfile::tempdir().unwrap();
    copy_examples(&folder.path().join("work/examples"));
    let outputs = outputs(&steps, folder.path());
    let mut wrong = String::new();
    for (at, step) in steps.iter().enumerate() {
        let lines = outputs.get(at).map_or(&[][..], Vec::as_slice);
        if !lines_match(&step.expected, lines) {
            let Step { line, command, expected } = step;
            let (expected, lines) = (expected.join("\n"), lines.join("\n"));
            writeln!(
                wrong,
                "{name}, line {line}: $ {command}\n\
                 ---- expected\n{expected}\n---- printed\n{lines}\n"
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn transcripts_of_the_tutorial_are_true() {
    check("docs/tutorial.md", 21);
}

#[test]
fn transcripts_of_lists_are_true() {
    check("docs/lists.md", 13);
}

#[test]
fn transcripts_of_positions_are_true() {
    check("docs/positions.md", 1);
}

#[test]
fn transcripts_of_clusters_are_true() {
    check("docs/cluster.md", 16);
}

#[test]
fn transcripts_of_the_engine_are_true() {
    check("docs/uci.md", 2);
}

#[test]
#[cfg(feature = "serve")]
fn transcripts_of_the_server_are_true() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("NOT TESTED: the transcript of docs/serve.md, since there is no curl");
        return;
    }
    check("docs/serve.md", 7);
}

/// The transcript of the README, which has no `$`: the command in one block, its output in the
/// next.
#[test]
#[ignore = "slow: solves endings of five men"]
fn transcript_of_the_readme_is_true() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = page.split_once("\ncargo run --release -- ").unwrap();
    let (command, rest) = rest.split_once('\n').unwrap();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (expected, _) = rest.split_once("```").unwrap();
    let step = Step {
        line: 0,
        // Its progress depends on how fast the machine is.
        command: format!("HOFFMAN_TABLES=tables hoffman {command} 2>progress || cat progress"),
        expected: expected.lines().map(str::to_owned).collect(),
    };
    let folder = tempfile::tempdir().unwrap();
    copy_examples(&folder.path().join("work/examples"));
    let steps = [step];
    let outputs = outputs(&steps, folder.path());
    assert!(lines_match(&steps[0].expected, &outputs[0]), "{}", outputs[0].join("\n"));
}

#[test]
fn elisions_stand_for_anything() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let matches = |expected: &str, text: &str| lines_match(&lines(expected), &lines(text));
    assert!(matches("a\n...\nc", "a\nb\nb\nc"));
    assert!(matches("a\n...\nc", "a\nc"));
    assert!(matches("...", ""));
    assert!(matches("x ... y", "x 12 y"));
    assert!(matches("1... Kd8", "1... Kd8"));
    assert!(matches("a...b...c", "a-b-b-c"));
    assert!(!matches("a\n...\nc", "a\nb"));
    assert!(!matches("x ... y", "x y"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("", "a"));
}

#[test]
fn commands_are_found_in_transcripts_only() {
    let page = "```sh\n$ no\n```\ntext\n```console\n$ a\nb\n$ c\n```\n$ no\n";
    let step = |line, command: &str, expected: &[&str]| Step {
        line,
        command: command.to_owned(),
        expected: expected.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(steps(page), [step(6, "a", &["b"]), step(8, "c", &[])]);
}

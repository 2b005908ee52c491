//! The command line of the original program: `hoffman -g kqk.xml` and its kin.
//!
//! Read as GNU getopt reads: short options may be grouped, their arguments attached or separate,
//! options and file names mixed. Unlike the original, whatever makes no sense is refused before
//! any work.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use hoffman::control::in_order;
use hoffman::process::is_folder;
use hoffman::{ReadOptions, Threads};

use crate::args::{MAX_THREADS, help};
use crate::commands::{generate, info, prompt, verify};
use crate::output::{Misuse, note, print, print_line, say};
use crate::work::{CompressName, MethodName, WorkArgs, size};
use crate::{RunEnd, args};

/// How the classic options are used.
pub(crate) const USAGE: &str = "\
Classic options:
  hoffman -g [-v] [-q] [-t N] [-o FILE] CONTROL...   compute the tables that control files describe,
                                                  each after those that it needs
  hoffman -p [-S DIR] [-n DIR] TABLE...           look up positions at a prompt
  hoffman -i TABLE...                             print the headers of tables
  hoffman -s CONTROL...                           print how many indices a table will have
  hoffman -v [-S DIR] [-n DIR] TABLE...           verify tables
      -v       with -g: verify the finished table
      -o FILE  the output file of one control file, overrides what it says
      -t N     how many threads work
      -q       no informational lines
      -S DIR   Syzygy tables to read and to verify against, may be repeated
      -n DIR   Nalimov tables to read and to verify against, may be repeated; also -N
      --status FILE   with -g: keep a small file in JSON up to date on how far it is
      --keep-free SIZE  with -g: leave so much of the disk to others, a number with K, M or G
      --passes        with -g: write a line on standard error for every pass
      --compress HOW  with -g: how small the file is made: fast, normal or best
      --discard       with -g: do not use the checkpoint of an interrupted run
      --cursed-wins   take Syzygy's cursed wins for wins, not for draws
      -h       this help
      -P MB    with -g: take no more memory than this; what does not fit is in working files beside the
               output. The same as <enable-proptables>, which it overrides.
      --method proptables   with -P: sort in propagation tables what does not fit, as version 1.7 does; slower
      --compress-files      with --method proptables: compress these files
  Accepted and ignored: -U MB, -d N, and --compress-files without propagation tables.
  Numbers may be written as in C: 16, 0x10, 020.
  'hoffman help' shows the commands solve, build, pawngen, probe, stats, verify, convert,
  control and bench.
";

/// A classic command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Classic {
    pub(crate) generate: bool,
    probe: bool,
    info: bool,
    summary: bool,
    verify: bool,
    quiet: bool,
    help: bool,
    version: bool,
    output: Option<PathBuf>,
    syzygy: Vec<PathBuf>,
    nalimov: Vec<PathBuf>,
    cursed_wins: bool,
    /// Options of `-g`.
    work: WorkArgs,
    /// The number of threads, if given.
    pub(crate) threads: Option<usize>,
    /// Options that mean nothing here.
    ignored: Vec<&'static str>,
    files: Vec<PathBuf>,
}

const LONG_OPTIONS: [&str; 10] = [
    "compress",
    "compress-files",
    "cursed-wins",
    "discard",
    "help",
    "keep-free",
    "method",
    "passes",
    "status",
    "version",
];

/// Those of them that have an argument.
const WITH_ARGUMENT: [&str; 4] = ["compress", "keep-free", "method", "status"];

/// Reads the arguments behind the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Classic, Misuse> {
    let mut classic = Classic::default();
    let mut arguments = arguments.fuse();
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else {
            if argument.to_string_lossy().starts_with('-') {
                let shown = argument.to_string_lossy();
                return Err(Misuse(format!("the option '{shown}' is not UTF-8")));
            }
            classic.files.push(argument.into());
            continue;
        };
        if text == "--" {
            classic.files.extend(arguments.by_ref().map(PathBuf::from));
        } else if let Some(name) = text.strip_prefix("--") {
            classic.set_long(name, &mut arguments)?;
        } else if let Some(letters) = text.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            classic.set_short(letters, &mut arguments)?;
        } else {
            classic.files.push(argument.into());
        }
    }
    classic.check()?;
    Ok(classic)
}

impl Classic {
    /// Options that mean nothing here, or nothing without others.
    fn ignored(&self) -> Vec<&'static str> {
        let mut ignored = self.ignored.clone();
        let proptables = self.work.method == Some(MethodName::Proptables);
        if self.generate && self.work.compress_files && !proptables {
            ignored.push("--compress-files");
        }
        if !self.generate {
            let given = [
                ("--status", self.work.status.is_some()),
                ("--discard", self.work.discard),
                ("--keep-free", self.work.keep_free.is_some()),
                ("--passes", self.work.passes),
            ];
            ignored.extend(given.into_iter().filter(|&(_, given)| given).map(|(name, _)| name));
        }
        ignored
    }

    /// How tables of other programs are read.
    fn reading(&self) -> ReadOptions {
        args::reading(&self.syzygy, &self.nalimov, self.cursed_wins)
    }

    fn set_long(
        &mut self,
        text: &str,
        rest: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), Misuse> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (text, None),
        };
        let mut known = LONG_OPTIONS.iter().filter(|l| !name.is_empty() && l.starts_with(name));
        let exact = LONG_OPTIONS.iter().find(|l| **l == name);
        let first = exact.or_else(|| known.next());
        if exact.is_none() && known.next().is_some() {
            return Err(Misuse(format!("option '--{name}' is ambiguous")));
        }

        let alone = first.filter(|first| !WITH_ARGUMENT.contains(first));
        if let (Some(first), Some(_)) = (alone, &value) {
            return Err(Misuse(format!("option '--{first}' doesn't allow an argument")));
        }
        let mut argument = |name: &str| {
            let value = value.clone().or_else(|| rest.next()).filter(|value| !value.is_empty());
            value.ok_or_else(|| Misuse(format!("option '--{name}' requires an argument")))
        };
        match first {
            Some(&"status") => self.work.status = Some(argument("status")?.into()),
            Some(&"keep-free") => {
                let value = argument("keep-free")?;
                let bytes = size(&value.to_string_lossy());
                self.work.keep_free =
                    Some(bytes.map_err(|why| Misuse(format!("--keep-free: {why}")))?);
            }
            Some(&"method") => {
                let value = argument("method")?;
                let value = value.to_string_lossy();
                let method = MethodName::from_str(&value, false).map_err(|_| {
                    Misuse(format!("--method takes sweep or proptables, not '{value}'"))
                })?;
                self.work.method = Some(method);
            }
            Some(&"compress") => {
                let value = argument("compress")?;
                let value = value.to_string_lossy();
                let compress = CompressName::from_str(&value, false).map_err(|_| {
                    Misuse(format!("--compress takes fast, normal or best, not '{value}'"))
                })?;
                self.work.compress = Some(compress);
            }
            Some(&"discard") => self.work.discard = true,
            Some(&"passes") => self.work.passes = true,
            Some(&"cursed-wins") => self.cursed_wins = true,
            Some(&"compress-files") => self.work.compress_files = true,
            Some(&"help") => self.help = true,
            Some(_) => self.version = true,
            None => return Err(Misuse(format!("unrecognized option '--{name}'"))),
        }
        Ok(())
    }

    /// Sets a group of short options, the last of which may take an argument.
    fn set_short(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), Misuse> {
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            match letter {
                'g' => self.generate = true,
                'p' => self.probe = true,
                'i' => self.info = true,
                's' => self.summary = true,
                'v' => self.verify = true,
                'q' => self.quiet = true,
                'h' => self.help = true,
                'V' => self.version = true,
                'n' | 'N' | 'S' | 'o' | 'P' | 'U' | 't' | 'd' => {
                    let attached = letters.as_str();
                    let value = if attached.is_empty() {
                        rest.next()
                    } else {
                        Some(OsString::from(attached))
                    };
                    let value = value.ok_or_else(|| {
                        Misuse(format!("option requires an argument -- '{letter}'"))
                    })?;
                    return self.set_value(letter, value);
                }
                _ => return Err(Misuse(format!("invalid option -- '{letter}'"))),
            }
        }
        Ok(())
    }

    fn set_value(&mut self, letter: char, value: OsString) -> Result<(), Misuse> {
        let shown = value.to_string_lossy().into_owned();
        let number = || c_number(&shown);
        let refuse = |what: &str| Err(Misuse(format!("{what}, not '{shown}'")));
        match letter {
            'o' if value.is_empty() => return Err(Misuse("the output file has no name".into())),
            'o' => self.output = Some(value.into()),
            'S' => self.syzygy.push(value.into()),
            'n' | 'N' => self.nalimov.push(value.into()),
            't' => match number().and_then(|n| usize::try_from(n).ok()) {
                Some(n) if (1..=MAX_THREADS).contains(&n) => self.threads = Some(n),
                _ => return refuse(&format!("-t takes a number from 1 to {MAX_THREADS}")),
            },
            'd' => match number() {
                Some(n) if n != 0 => self.ignored.push("-d"),
                _ => return Err(Misuse(format!("can't parse debugging index {shown}"))),
            },
            'P' => match number().and_then(|n| u64::try_from(n).ok()) {
                Some(megabytes) => self.work.queues = Some(megabytes),
                None => return refuse("-P takes a number of megabytes"),
            },
            _ => match number() {
                Some(n) if n >= 0 => self.ignored.push("-U"),
                _ => return refuse(&format!("-{letter} takes a number of megabytes")),
            },
        }
        Ok(())
    }

    /// Refuses options that contradict each other.
    fn check(&self) -> Result<(), Misuse> {
        let refuse = |text: &str| Err(Misuse(text.to_owned()));
        if self.help || self.version {
            return Ok(());
        }
        if self.generate && self.probe {
            return refuse(
                "Only one of the generating (-g) and probing (-p) options can be specified",
            );
        }
        if !(self.generate || self.probe || self.info || self.summary || self.verify) {
            return refuse("At least one of -g, -p, -i, -s, or -v must be specified");
        }
        if self.output.is_some() && !self.generate {
            return refuse("An output filename can not be specified when probing or verifying");
        }
        if self.generate && (self.info || self.summary) {
            return refuse("-i and -s go without -g");
        }
        if self.output.is_some() && self.files.len() > 1 {
            return refuse("-o names the output of one control file, and several were named");
        }
        if self.files.is_empty() && (self.generate || self.summary) {
            return refuse("No control file was named");
        }
        Ok(())
    }
}

/// A number as C writes it: `16`, `0x10`, `020`, with an optional sign.
fn c_number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None if digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    // A second sign would be taken otherwise.
    let digits = Some(digits).filter(|d| d.starts_with(|c: char| c.is_ascii_hexdigit()))?;
    let number = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -number } else { number })
}

/// Does what a classic command line asks for; a table that is worth them is generated on
/// `threads`.
pub(crate) fn run(classic: &Classic, threads: &Threads) -> anyhow::Result<RunEnd> {
    let name = concat!("Hoffman ", env!("CARGO_PKG_VERSION"), " (Rust)");
    if classic.version {
        return print_line(name).map(|()| RunEnd::Done);
    }
    if classic.help {
        return print(&help()).map(|()| RunEnd::Done);
    }

    args::expect_folders(classic.syzygy.iter().chain(&classic.nalimov))?;
    say(name);
    let ignored = classic.ignored();
    if !ignored.is_empty() {
        note(&format!("ignored, as of no use here: {}", ignored.join(", ")));
    }

    if classic.generate {
        return run_generate(classic, threads);
    }

    if classic.files.is_empty() && (classic.info || classic.verify) {
        note("no table was named");
    }
    let mut good = true;
    let mut also = |outcome| good &= outcome == RunEnd::Done;
    if classic.info {
        also(info::headers(&classic.files)?);
    }
    if classic.summary {
        also(info::summaries(&classic.files)?);
    }
    if classic.verify {
        also(run_verify(classic, &classic.files));
    }
    if classic.probe {
        also(prompt::run(&classic.files, &classic.reading())?);
    }
    Ok(RunEnd::of(good))
}

fn run_generate(classic: &Classic, threads: &Threads) -> anyhow::Result<RunEnd> {
    let request = generate::GenerateRequest {
        output: classic.output.clone(),
        reading: classic.reading(),
        quiet: classic.quiet,
        work: &classic.work,
    };
    let controls: Vec<&Path> = classic.files.iter().map(PathBuf::as_path).collect();
    let mut made = Vec::new();
    for control in in_order(&controls, &crate::interrupt::cancel())? {
        made.push(generate::run(control, &request, threads)?);
    }
    if !classic.verify {
        return Ok(RunEnd::Done);
    }
    Ok(threads.install(|| run_verify(classic, &made)))
}

fn run_verify(classic: &Classic, tables: &[PathBuf]) -> RunEnd {
    let folder = args::default_folder().filter(|folder| is_folder(folder));
    let reading = &classic.work.reading(classic.reading());
    let request = verify::VerifyRequest { sample: None, reading, folder };
    let mut good = true;

    for path in tables {
        say(&format!("Verifying '{}'", path.display()));
        match verify::check(path, &request) {
            Ok(report) => {
                // Standard output is for the other modes.
                if !(classic.quiet && report.ok) {
                    say(&report.to_string());
                }
                good &= report.ok;
            }
            Err(error) => {
                crate::output::complain(&error);
                good = false;
            }
        }
        good &= verify::agrees_with_nalimov(path, &request);
    }
    RunEnd::of(good)
}

#[cfg(test)]
mod tests {
    use hoffman::Method;

    use super::*;

    fn read(line: &str) -> Result<Classic, String> {
        parse(line.split(' ').map(OsString::from)).map_err(|misuse| misuse.0)
    }

    #[test]
    fn options_are_read_as_getopt_does() {
        let expected = Classic {
            generate: true,
            verify: true,
            threads: Some(4),
            files: vec!["a.xml".into(), "-b".into()],
            ..Classic::default()
        };
        for line in ["-gv -t4 a.xml -- -b", "a.xml -t 0x4 -v -g -- -b"] {
            assert_eq!(read(line).unwrap(), expected, "{line}");
        }
        for line in ["-gox.htb a.xml", "a.xml -vgo x.htb"] {
            assert_eq!(read(line).unwrap().output, Some("x.htb".into()), "{line}");
        }
        assert_eq!(read("-gt 010 x").unwrap().threads, Some(8));
        let ignored = read("-i -P 5 -U0 -d -3 --compress-f").unwrap().ignored();
        assert_eq!(ignored, ["-U", "-d"]);
        assert_eq!(read("-s --status=f --disc x").unwrap().ignored(), ["--status", "--discard"]);
        let propagated = read("-g -P 5 --compress-f --method=proptables x").unwrap();
        assert!(propagated.ignored().is_empty() && propagated.work.compress_files);
        let compressed = Method::PropTables { compress: true };
        assert_eq!(propagated.work.solving_method(), compressed);
        let swept = read("-g -P 5 --compress-f x").unwrap();
        assert_eq!(swept.work.solving_method(), Method::Sweep);
        assert_eq!(swept.ignored(), ["--compress-files"]);
        assert_eq!(read("-g x").unwrap().work.solving_method(), Method::Sweep);
        assert_eq!(read("-g -P 0x20 x").unwrap().work.queues, Some(32));
        let reading = read("-p -N x -n y -Sz --cursed t").unwrap().reading();
        assert_eq!(reading.nalimov_folders(), [PathBuf::from("x"), PathBuf::from("y")]);
        assert_eq!(reading.syzygy_folders(), [PathBuf::from("z")]);
        assert!(reading.takes_cursed_wins());
    }

    #[test]
    fn misuse_is_refused() {
        for (line, message) in [
            ("-z", "invalid option -- 'z'"),
            ("--zip", "unrecognized option '--zip'"),
            ("--c", "option '--c' is ambiguous"),
            ("-g x --method", "option '--method' requires an argument"),
            ("-g x --method=both", "--method takes sweep or proptables, not 'both'"),
            ("-g x -t", "option requires an argument -- 't'"),
            ("-g x -t 0", "-t takes a number from 1 to 1024, not '0'"),
            ("-g x -t two", "-t takes a number from 1 to 1024, not 'two'"),
            ("-g x -d 0", "can't parse debugging index 0"),
            ("-gp x", "Only one of the generating (-g) and probing (-p) options can be specified"),
            ("x", "At least one of -g, -p, -i, -s, or -v must be specified"),
            ("-p x -o y", "An output filename can not be specified when probing or verifying"),
            ("-g", "No control file was named"),
            ("-g x -s", "-i and -s go without -g"),
            ("-g x y -o z", "-o names the output of one control file, and several were named"),
        ] {
            assert_eq!(read(line).unwrap_err(), message, "{line}");
        }
    }

    #[test]
    fn numbers_are_those_of_c() {
        let numbers = ["16", "0x10", "020", "-5", "0", "08", "+-1", "0x", "", "1k"].map(c_number);
        let expected = [Some(16), Some(16), Some(16), Some(-5), Some(0)];
        assert_eq!(numbers[..5], expected);
        assert_eq!(numbers[5..], [None; 5]);
    }
}

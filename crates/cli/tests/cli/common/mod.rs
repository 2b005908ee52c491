//! Running the program as a user does.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

#[cfg(feature = "remote")]
pub(crate) mod web;

/// The control file of an ending; its table is `kqk.htb`, that of bare kings `kk.htb`.
pub(crate) const KQK: &str = "<?xml version=\"1.0\"?>\n<tablebase>
   <dtm/>
   <piece color=\"white\" type=\"king\"/>
   <piece color=\"black\" type=\"king\"/>
   <piece color=\"white\" type=\"queen\"/>
   <futurebase filename=\"kk.htb\"/>
   <output filename=\"kqk.htb\"/>
</tablebase>\n";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a run left behind.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// It could do its work and had nothing to say of it.
    #[track_caller]
    pub(crate) fn good(&self) {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
    }

    /// One message on standard error that holds all the words, nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        let messages = self.err.lines().filter(|l| l.starts_with("hoffman: ")).count();
        assert_eq!(messages, 1, "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "'{word}' is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Runs the program in a folder, with these arguments and something to read. Its default folder of
/// tables is `home` in that folder.
pub(crate) fn run_with(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hoffman"))
        .args(arguments)
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder.join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its command line does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program in a folder, with the words of a line as arguments.
pub(crate) fn run(folder: &Path, line: &str) -> Run {
    run_with(folder, &line.split_whitespace().collect::<Vec<_>>(), "")
}

/// The same for a run that ends with 0, whatever it says on standard error.
#[track_caller]
pub(crate) fn succeeds(folder: &Path, line: &str) -> Run {
    let run = run(folder, line);
    assert_eq!(run.code, 0, "{line}: {}", run.err);
    run
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut all: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

/// A copy of the files of a folder that may be changed.
pub(crate) fn copy_of(folder: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    copy_into(copy.path(), folder);
    copy
}

/// Copies the files of a folder into another one.
pub(crate) fn copy_into(copy: &Path, folder: &Path) {
    for name in names(folder) {
        fs::copy(folder.join(&name), copy.join(&name)).unwrap();
    }
}

/// A folder with the table of KPvKP and all that it needs, which is most of four men with a pawn,
/// as `.htb`. Nobody changes it.
pub(crate) fn kpkp() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.made_by("build --format htb KPvKP --dir .")
}

/// The same tables as small `.hbf`.
pub(crate) fn small_kpkp() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.made_by("build KPvKP --dir .")
}

/// A folder that the tests of a program share, made when it is first needed.
pub(crate) struct SharedFolder(OnceLock<TempDir>);

impl SharedFolder {
    pub(crate) const fn new() -> SharedFolder {
        SharedFolder(OnceLock::new())
    }

    /// The folder; `make` fills it. As nothing that is static is ever removed, it lies in the
    /// build's own folder, and those of earlier runs go.
    pub(crate) fn filled(&self, make: impl FnOnce(&Path)) -> &Path {
        let made = self.0.get_or_init(|| {
            let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
            remove_old(place);
            let folder = TempDir::with_prefix_in("shared", place).unwrap();
            make(folder.path());
            folder
        });
        made.path()
    }

    /// The folder, filled by a run of the program there.
    pub(crate) fn made_by(&self, line: &str) -> &Path {
        self.filled(|folder| run(folder, line).good())
    }
}

/// Removes shared folders that no running test can use any more.
fn remove_old(place: &Path) {
    for entry in fs::read_dir(place).unwrap().flatten() {
        let made = entry.metadata().and_then(|data| data.modified());
        let is_old =
            made.is_ok_and(|made| made.elapsed().unwrap_or_default() > Duration::from_hours(3));
        if is_old && entry.file_name().to_string_lossy().starts_with("shared") {
            // Another program may be removing it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The header of a `.htb`, with the name of its file as that of a `.htb`, and its entries.
pub(crate) fn unpacked(file: &Path) -> (String, Vec<u8>) {
    let output = Command::new("zcat").arg(file).output().unwrap();
    assert!(output.status.success(), "{}", file.display());
    let mut bytes = output.stdout;
    let start = String::from_utf8_lossy(&bytes[..65536.min(bytes.len())]).replace(".hbf", ".htb");
    let (_, offset) = start.split_once("offset=\"").unwrap();
    let offset: usize = offset.split_once('"').unwrap().0.parse().unwrap();
    let (header, _) = start.split_once("</tablebase>").unwrap();
    (header.to_owned(), bytes.split_off(offset))
}

/// Makes another value of some entries near the end of a table, in a file that is whole.
pub(crate) fn falsify(table: &Path) {
    let script = "zcat \"$1\" > plain && size=$(stat -c %s plain) && \
        printf '\\001\\001\\001\\001' | dd of=plain bs=1 seek=$((size - 9)) conv=notrunc status=none && \
        gzip -n < plain > \"$1\" && rm plain";
    let folder = table.parent().unwrap();
    let status =
        Command::new("sh").args(["-c", script, "sh"]).arg(table).current_dir(folder).status();
    assert!(status.unwrap().success());
}

/// Python with python-chess, in a folder of its own that is made when it is first needed. None, and
/// a loud remark, where it cannot be had.
pub(crate) fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-chess");
    let python = folder.join("bin/python");
    let works = |python: &Path| {
        Command::new(python)
            .args(["-c", "import chess.engine"])
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if works(&python) {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
    let install = ["-m", "pip", "install", "--quiet", "chess==1.11.2"];
    let installed = made.and_then(|_| Command::new(&python).args(install).output());
    if works(&python) {
        return Some(python);
    }
    eprintln!(
        "NOT TESTED: python3 with venv, pip and the package chess is not to be had: {installed:?}"
    );
    None
}

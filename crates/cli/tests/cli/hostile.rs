//! Damaged, lying and endless files over every command of the program, with limits on memory,
//! processor time and time by the clock: each run ends by itself, with an exit code of its own.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hoffman_table::htb::{AtomicFile, Compression, GzipWriter};
use tempfile::TempDir;

/// Address space in KB, processor seconds, and seconds by the clock.
const LIMITS: (u32, u32, u32) = (700_000, 20, 60);

/// Commands that read tables; `{}` is the file.
const OF_TABLES: [&str; 10] = [
    "stats {}",
    "verify {}",
    "verify {} --sample 10",
    "probe --table {} --dir none 8/8/8/8/8/2k5/8/KQ6 w - -",
    "convert {} -o out.htb --index naive",
    "convert {} -o out.htb --format basic",
    "-i {}",
    "-p {}",
    "-v {}",
    "build {} --dir out",
];

/// Commands that read control files.
const OF_CONTROLS: [&str; 7] = [
    "-s {}",
    "-g -o out.htb {}",
    "-g -P 50 -o out.htb {}",
    "build {} --dir out",
    "plan {}",
    "pawngen {}",
    "control {}",
];

/// Runs the program within the limits; what is wrong with how it ended.
fn problem(folder: &Path, line: &str) -> Option<String> {
    let (space, seconds, clock) = LIMITS;
    let program = env!("CARGO_BIN_EXE_hoffman");
    let limited = format!("ulimit -v {space} -t {seconds}; exec timeout {clock} {program} {line}");
    let output = Command::new("bash")
        .args(["-c", &limited])
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder.join("none"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = said.lines().last().unwrap_or_default();
    let _ = (fs::remove_file(folder.join("out.htb")), fs::remove_dir_all(folder.join("out")));
    match output.status.code() {
        // A message counts, a panic does not.
        Some(0..=2) if !said.contains("panicked") => None,
        code => Some(format!("{line}: {code:?}, {last}")),
    }
}

fn check(folder: &Path, commands: &[&str], files: &[(String, Vec<u8>)]) {
    let mut problems = Vec::new();
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
        let lines = commands.iter().map(|command| command.replace("{}", name));
        problems.extend(lines.filter_map(|line| problem(folder, &line)));
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert!(problems.is_empty(), "{} runs:\n{}", problems.len(), problems.join("\n"));
}

/// A folder with a table of king and queen against king, and its bytes.
fn with_table() -> (TempDir, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let built = problem(folder.path(), "build --format htb KQvK --dir .");
    assert_eq!(built, None);
    let bytes = fs::read(folder.path().join("kqk.htb")).unwrap();
    (folder, bytes)
}

/// A stream in a container of ours.
fn packed(folder: &Path, header: &[u8], zeros: usize) -> Vec<u8> {
    use std::io::Write as _;
    let path = folder.join("packed");
    let file = AtomicFile::create(&path).unwrap();
    let mut writer =
        GzipWriter::new(file.writer(), (header.len() + zeros) as u64, Compression::Fast).unwrap();
    writer.write_all(header).unwrap();
    let block = vec![0; 1 << 20];
    for at in (0..zeros).step_by(block.len()) {
        writer.write_all(&block[..block.len().min(zeros - at)]).unwrap();
    }
    writer.finish().unwrap();
    file.commit().unwrap();
    fs::read(path).unwrap()
}

fn header(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tablebase offset=\"4000\"><dtm bits=\"5\"/>\
         <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>{inside}</tablebase>\n"
    )
}

#[test]
fn damaged_tables_end_every_command() {
    let (folder, bytes) = with_table();
    let mut files = vec![
        ("empty.htb".to_owned(), Vec::new()),
        ("text.htb".to_owned(), b"this is no table".to_vec()),
        ("zeros.htb".to_owned(), vec![0; 1 << 20]),
    ];
    for (n, at) in [2, 11, 13, 17, 40, bytes.len() / 2, bytes.len() - 3].into_iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x15;
        files.push((format!("flipped{n}.htb"), damaged));
        files.push((format!("cut{n}.htb"), bytes[..at].to_vec()));
    }
    check(folder.path(), &OF_TABLES, &files);
}

#[test]
fn lying_tables_end_every_command() {
    let (folder, bytes) = with_table();
    let queens = |n: usize| header(&"<piece color=\"white\" type=\"queen\"/>".repeat(n));
    let padded = |text: String| {
        let mut bytes = text.into_bytes();
        bytes.resize(bytes.len().max(4000), 0);
        bytes
    };
    let mut twice = bytes.clone();
    twice.extend_from_slice(&bytes);
    let files = [
        // More entries than the stream has, and a stream of more than the header says.
        ("short.htb".to_owned(), padded(queens(5))),
        ("giant.htb".to_owned(), padded(queens(14))),
        ("long.htb".to_owned(), packed(folder.path(), &padded(queens(1)), 1 << 30)),
        ("nothing.htb".to_owned(), packed(folder.path(), &padded(queens(0)), 0)),
        ("twice.htb".to_owned(), twice),
    ];
    check(folder.path(), &OF_TABLES, &files);
}

#[test]
fn lying_control_files_end_every_command() {
    let (folder, _) = with_table();
    let control = |inside: &str| header(inside).into_bytes();
    let queens = |n: usize| "<piece color=\"white\" type=\"queen\"/>".repeat(n);
    let concede = "<prune-enable color=\"black\" type=\"concede\"/>";
    let prune = "<prune color=\"black\" move=\"KxQ\" type=\"concede\"/>";
    let files = [
        ("empty.xml".to_owned(), Vec::new()),
        ("binary.xml".to_owned(), (0..=255).collect()),
        ("open.xml".to_owned(), b"<tablebase><dtm>".to_vec()),
        ("deep.xml".to_owned(), "<tablebase>".repeat(10_000).into_bytes()),
        ("men.xml".to_owned(), control(&queens(20_000))),
        ("queens.xml".to_owned(), control(&format!("{concede}{}{prune}", queens(12)))),
        ("sixteen.xml".to_owned(), control(&queens(14))),
        (
            "prunes.xml".to_owned(),
            control(&format!("{concede}{}{}", queens(1), prune.repeat(2000))),
        ),
        (
            "pawns.xml".to_owned(),
            control(
                "<pawngen white-pawn-locations=\"a2 b2 c2 d2\" black-pawn-locations=\"a7 b7 c7 d7\" \
                 white-pawns-required=\"4\" black-pawns-required=\"4\"/>",
            ),
        ),
        ("itself.xml".to_owned(), control("<futurebase filename=\"itself.xml\"/>")),
        (
            "endless.xml".to_owned(),
            control(&format!("{}<futurebase filename=\"/dev/zero\"/>", queens(1))),
        ),
    ];
    check(folder.path(), &OF_CONTROLS, &files);
}

#[test]
fn devices_end_every_command() {
    let folder = TempDir::new().unwrap();
    let lines = OF_TABLES
        .iter()
        .chain(&OF_CONTROLS)
        .flat_map(|command| ["/dev/null", ".", "missing"].map(|name| command.replace("{}", name)));
    let problems: Vec<String> = lines.filter_map(|line| problem(folder.path(), &line)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

//! `hoffman serve`, asked by clients of their own: a script, programs that mean no good, and a
//! browser.
#![cfg(all(unix, feature = "serve"))]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{copy_into, kpkp, names, run, small_kpkp};
use tempfile::TempDir;

/// A server that runs until it is dropped.
struct Server {
    child: Child,
    address: String,
    /// Kept, so that it can be written to.
    _out: BufReader<ChildStdout>,
}

impl Server {
    fn start(folder: &Path, options: &str) -> Server {
        Server::start_by(&mut Command::new(env!("CARGO_BIN_EXE_hoffman")), folder, options)
    }

    fn start_by(program: &mut Command, folder: &Path, options: &str) -> Server {
        let mut child = program
            .args(["serve", "--dir", ".", "--listen", "127.0.0.1:0"])
            .args(options.split_whitespace())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix('/'));
        Server { address: address.unwrap_or_else(|| panic!("{line}")).to_owned(), child, _out: out }
    }

    /// The script `http_client.py`.
    fn client(&self, what: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(client("http_client.py")).arg(what).arg(&self.address);
        command
    }

    /// Asks it to end, and how it did.
    fn end(mut self) -> Option<i32> {
        let kill = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(kill.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a client ask, and shows what it says.
#[track_caller]
fn succeeds(client: &mut Command) {
    let output = client.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    assert!(output.status.success(), "{out}{err}");
    eprint!("{out}");
}

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Tables of a few endings, inside of another folder, with one outside.
fn tables() -> (TempDir, PathBuf) {
    let outer = TempDir::new().unwrap();
    let folder = outer.path().join("tables");
    fs::create_dir(&folder).unwrap();
    copy_into(&folder, kpkp());
    fs::copy(folder.join("kqk.htb"), outer.path().join("secret.htb")).unwrap();
    (outer, folder)
}

#[test]
fn programs_written_for_the_lichess_server_are_answered() {
    let (_outer, folder) = tables();
    let server = Server::start(&folder, "--rate 0");
    let program = env!("CARGO_BIN_EXE_hoffman");
    succeeds(server.client("answers").arg(program).arg(&folder));
    assert_eq!(server.end(), Some(0));
}

/// Python with clients that were not written for this server, in a folder of its own that is made
/// when it is first needed. None, and a loud remark, where it cannot be had.
fn python_with_clients() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("http-clients");
    let python = folder.join("bin/python");
    let works = || {
        let mut asked = Command::new(&python);
        asked.args(["-c", "import berserk, openapi_python_client"]);
        asked.output().is_ok_and(|output| output.status.success())
    };
    if works() {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
    let packages = ["openapi-python-client==0.29.1", "berserk==0.14.0"];
    let install = ["-m", "pip", "install", "--quiet"].iter().chain(&packages);
    let installed = made.and_then(|_| Command::new(&python).args(install).output());
    if works() {
        return Some(python);
    }
    eprintln!(
        "NOT TESTED: clients of others, since python3 with venv, pip and the packages \
         openapi-python-client and berserk is not to be had: {installed:?}"
    );
    None
}

#[test]
#[ignore = "slow: installs packages of Python"]
fn clients_of_others_are_answered() {
    let Some(python) = python_with_clients() else { return };
    let (outer, folder) = tables();
    let server = Server::start(&folder, "--rate 0");
    let mut asking = Command::new(python);
    asking.arg(client("generated_client.py")).arg(&server.address).arg(outer.path());
    succeeds(&mut asking);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn suicide_chess_is_answered_beside_tables_of_chess() {
    let (_outer, folder) = tables();
    let control =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suicide-rook-knight.xml");
    let server = Server::start(&folder, "--rate 0");
    let built = run(&folder, &format!("build {} --dir .", control.display()));
    assert_eq!(built.code, 0, "{}", built.err);
    // Without such tables there was nothing; new ones are seen.
    succeeds(&mut server.client("suicide"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn requests_that_make_no_sense_are_refused_and_the_next_one_is_answered() {
    let (_outer, folder) = tables();
    let server = Server::start(&folder, "--rate 0 --patience 2");
    succeeds(server.client("malformed").arg("1000"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn slow_clients_are_cut_off_and_others_answered() {
    let (_outer, folder) = tables();
    let server = Server::start(&folder, "--rate 0 --patience 1");
    succeeds(server.client("slow").arg("1000"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn limits_hold() {
    let (_outer, folder) = tables();
    let server = Server::start(&folder, "--rate 1 --connections 8 --body 1000");
    succeeds(&mut server.client("limits"));
    assert_eq!(server.end(), Some(0));
    let open = Server::start(&folder, "--cors https://example.org");
    succeeds(open.client("cors").arg("https://example.org"));
}

#[test]
fn tables_are_made_where_the_owner_lets_them_be() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(folder.path(), "--build 900M");
    succeeds(server.client("builds").arg(folder.path()));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn large_tables_are_counted_as_far_as_the_owner_gives_the_memory() {
    let server = Server::start(small_kpkp(), "--rate 0 --at-once 1M");
    succeeds(server.client("counts").arg("kpkp.hbf"));
    assert_eq!(server.end(), Some(0));
    for none in ["--count 64M", "--count 0"] {
        let server = Server::start(small_kpkp(), &format!("--at-once 1M {none}"));
        succeeds(server.client("uncounted").arg("kpkp.hbf"));
    }
}

#[test]
fn a_server_that_is_to_end_answers_and_leaves_nothing_half_written() {
    // SIGTERM, and SIGINT as Ctrl-C sends it.
    for signal in ["15", "2"] {
        let folder = TempDir::new().unwrap();
        let built = run(folder.path(), "build KQvK --dir .");
        assert_eq!(built.code, 0, "{}", built.err);
        let mut server = Server::start(folder.path(), "--build 900M");
        let pid = server.child.id().to_string();
        succeeds(server.client("stops").arg(pid).arg(signal).arg(folder.path()));
        assert_eq!(server.child.wait().unwrap().code(), Some(0));

        let is_table = |name: &String| Path::new(name).extension().is_some_and(|end| end == "hbf");
        let (tables, others): (Vec<_>, Vec<_>) =
            names(folder.path()).into_iter().partition(is_table);
        assert!(others.is_empty(), "{others:?}");
        assert!(!tables.iter().any(|name| name == "kqrkr.hbf"), "{tables:?}");
        let verified = run(folder.path(), &format!("verify --dir . {}", tables.join(" ")));
        assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    }
}

#[test]
fn positions_are_proved_where_the_owner_lets_them_be() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(folder.path(), "--prove 600");
    succeeds(&mut server.client("proofs"));
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "serve --dir nowhere").refused(1, &["nowhere", "no such folder"]);
    run(folder.path(), "serve --dir . --cors here").refused(1, &["'here'", "origin"]);
    let server = Server::start(folder.path(), "");
    let taken = format!("serve --dir . --listen {}", server.address);
    run(folder.path(), &taken).refused(1, &["cannot listen", &server.address]);
}

// ---------------------------------------------------------------------------------------- the page

/// The system's way to open a page is a stand-in, which writes down what it is asked for.
#[test]
#[cfg(not(target_os = "macos"))]
fn the_page_is_opened_if_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = TempDir::new().unwrap();
    let (opener, asked) = (folder.path().join("xdg-open"), folder.path().join("asked"));
    fs::write(&opener, "#!/bin/sh\necho \"$*\" > asked.part && mv asked.part asked\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_hoffman"));
    program.env("PATH", format!("{}:{path}", folder.path().display()));
    let server = Server::start_by(&mut program, folder.path(), "--open");
    let end = Instant::now() + Duration::from_secs(30);
    while !asked.exists() {
        assert!(Instant::now() < end, "nothing was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read_to_string(&asked).unwrap(), format!("http://{}/\n", server.address));
}

/// A browser, and the folder with what drives it, which is filled when it is first needed. None,
/// and a loud remark that says how to get it, where it cannot be had.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let given = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let found = given.into_iter().chain(places.iter().map(PathBuf::from));
    let Some(chromium) = found.into_iter().find(|path| path.is_file()) else {
        eprintln!(
            "NOT TESTED: the page, since there is no Chromium; 'apt-get install chromium', or name it in CHROMIUM"
        );
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).unwrap();
    let modules = folder.join("node_modules");
    if !modules.join("axe-core/axe.min.js").is_file() || !modules.join("playwright-core").is_dir() {
        let packages = ["playwright-core@1.65.1", "axe-core@4.14.1"];
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--prefix"]).arg(&folder).args(packages);
        let installed = npm.output();
        if !installed.as_ref().is_ok_and(|output| output.status.success()) {
            eprintln!(
                "NOT TESTED: the page, since npm, playwright-core or axe-core cannot be had; \
                 'apt-get install nodejs npm', and a way to the registry of npm: {installed:?}"
            );
            return None;
        }
    }
    Some((chromium, folder))
}

#[test]
fn the_page_is_used_in_a_browser() {
    let Some((chromium, modules)) = browser() else { return };
    let (outer, folder) = tables();
    let control = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bad-bishop.xml");
    let built = run(&folder, &format!("build {} --dir .", control.display()));
    assert_eq!(built.code, 0, "{}", built.err);
    // One that is too large to be counted at once.
    fs::copy(small_kpkp().join("kpkp.hbf"), folder.join("kpkp.hbf")).unwrap();
    fs::remove_file(folder.join("kpkp.htb")).unwrap();
    let server = Server::start(&folder, "--build 200M --prove 600 --at-once 1M");
    // The pictures of the documents, if they are to be made anew.
    let pictures = std::env::var_os("HOFFMAN_PICTURES").map(PathBuf::from);
    let pictures = pictures.unwrap_or_else(|| outer.path().to_owned());
    let mut node = Command::new("node");
    node.arg(client("page.mjs")).arg(&server.address).arg(modules).arg(chromium).arg(&pictures);
    succeeds(&mut node);
    for name in ["serve.png", "serve-heat.png", "serve-phone.png", "serve-squares.png"] {
        let picture = fs::metadata(pictures.join(name)).unwrap();
        assert!(picture.len() > 5_000 && picture.len() < 300_000, "{name}: {}", picture.len());
    }
}

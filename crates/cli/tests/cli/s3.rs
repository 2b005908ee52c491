//! Tables in a bucket: read, built there, and never seen half. The server is `moto_server`
//! (`pip install 'moto[server]'`); `HOFFMAN_MOTO` names it where it is not in the path.
#![cfg(all(feature = "remote", unix))]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Run, names, run};

/// How long a server may take to start, and a transfer to come to its middle.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server with a bucket `bucket`, until it is dropped.
struct Bucket {
    server: Child,
    port: u16,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Bucket {
    /// None, and a loud remark, where there is no such server.
    fn start(variables: &[(&str, &str)]) -> Option<Bucket> {
        let program = std::env::var("HOFFMAN_MOTO").unwrap_or_else(|_| "moto_server".to_owned());
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let server = Command::new(&program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .env("S3_UPLOAD_PART_MIN_SIZE", "1024")
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(server) = server else {
            eprintln!("NOT TESTED: there is no {program}; pip install 'moto[server]'");
            return None;
        };
        let bucket = Bucket { server, port };
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(begin.elapsed() < PATIENCE, "{program} does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        bucket.ask("PUT", "bucket", b"");
        Some(bucket)
    }

    /// The body of the answer to a request, and its status.
    fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        let head = format!(
            "{method} /{path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, \
             SignedHeaders=host, Signature=0\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    /// The keys of what it holds.
    fn keys(&self) -> Vec<String> {
        let (_, body) = self.ask("GET", "bucket?list-type=2", b"");
        let text = String::from_utf8(body).unwrap();
        let keys = text.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap());
        keys.map(str::to_owned).collect()
    }

    /// Runs the program in a folder, by way of a port.
    fn command(&self, folder: &Path, port: u16, line: &str) -> Command {
        let _ = self;
        let mut command = Command::new(env!("CARGO_BIN_EXE_hoffman"));
        command
            .args(line.split_whitespace())
            .current_dir(folder)
            .env("HOFFMAN_TABLES", folder.join("home"))
            .env("HOFFMAN_SCRATCH", folder.join("scratch"))
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "us-east-1");
        command
    }

    fn run(&self, folder: &Path, line: &str) -> Run {
        let output = self.command(folder, self.port, line).output().unwrap();
        Run {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A folder with the tables of a build, each the same whoever makes it.
fn built(what: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), &format!("build --format htb {what} --dir t --reproducible"));
    assert_eq!(made.code, 0, "{}", made.err);
    folder
}

#[test]
fn tables_in_a_bucket_answer_as_those_in_a_folder() {
    let Some(bucket) = Bucket::start(&[]) else { return };
    let tables = built("KPvK");
    let folder = tables.path().join("t");
    for name in names(&folder) {
        let (status, _) = bucket.ask(
            "PUT",
            &format!("bucket/a/t/{name}"),
            &fs::read(folder.join(&name)).unwrap(),
        );
        assert_eq!(status, 200);
    }
    let empty = tempfile::tempdir().unwrap();
    for command in ["probe 8/8/8/8/8/4k3/4P3/4K3 w - - 0 1", "stats KPvK", "verify KPvK"] {
        let at = |place: &str| {
            let said = bucket.run(empty.path(), &format!("{command} --dir {place}"));
            assert_eq!(said.code, 0, "{}", said.err);
            said.out.replace(place, "TABLES")
        };
        assert_eq!(at("s3://bucket/a/t"), at(folder.to_str().unwrap()));
    }
    let absent = bucket.run(empty.path(), "stats s3://bucket/a/t/kqkq.htb");
    absent.refused(1, &["s3://bucket/a/t/kqkq.htb", "there is no such file"]);
    let other = bucket.run(empty.path(), "probe --dir s3://none/t 8/8/8/8/8/4k3/4P3/4K3 w - - 0 1");
    other.refused(1, &["cannot list the folder s3://none/t", "404 Not Found"]);
}

#[test]
fn wrong_credentials_are_named() {
    let Some(bucket) = Bucket::start(&[("INITIAL_NO_AUTH_ACTION_COUNT", "0")]) else { return };
    let empty = tempfile::tempdir().unwrap();
    let refused = bucket.run(empty.path(), "stats s3://bucket/krk.htb");
    refused.refused(1, &["s3://bucket/krk.htb", "the server refuses access"]);
}

#[test]
fn a_build_into_a_bucket_leaves_the_same_files_and_nothing_else() {
    let Some(bucket) = Bucket::start(&[]) else { return };
    let tables = built("KPvK");
    let folder = tables.path().join("t");
    let empty = tempfile::tempdir().unwrap();
    let build = "build --format htb KPvK --dir s3://bucket/t --reproducible";
    let made = bucket.run(empty.path(), build);
    assert_eq!(made.code, 0, "{}", made.err);
    let wanted: Vec<String> = names(&folder).iter().map(|name| format!("t/{name}")).collect();
    assert_eq!(bucket.keys(), wanted);
    for name in names(&folder) {
        let (_, body) = bucket.ask("GET", &format!("bucket/t/{name}"), b"");
        assert!(body == fs::read(folder.join(&name)).unwrap(), "{name} differs");
    }
    let again = bucket.run(empty.path(), build);
    assert!(again.out.contains("s3://bucket/t/kpk.htb: kept"), "{}{}", again.out, again.err);

    // A job alone, with its receipt, from what another machine has left there.
    let elsewhere = tempfile::tempdir().unwrap();
    bucket.ask("DELETE", "bucket/t/kpk.htb", b"");
    let receipt = "s3://bucket/t/receipts/kpk.htb.json";
    let job = format!(
        "build --format htb --only KPvK --dir s3://bucket/t --reproducible --receipt {receipt}"
    );
    let made = bucket.run(elsewhere.path(), &job);
    assert_eq!(made.code, 0, "{}", made.err);
    let (status, body) = bucket.ask("GET", "bucket/t/receipts/kpk.htb.json", b"");
    let text = String::from_utf8(body).unwrap();
    assert!(status == 200 && text.contains("s3://bucket/t/kqk.htb"), "{text}");
    let kept = bucket.run(elsewhere.path(), &job);
    assert!(kept.out.contains("kept"), "{}{}", kept.out, kept.err);
    // Of the working files nothing is left.
    for folder in [&empty, &elsewhere] {
        let scratch = folder.path().join("scratch");
        let left: Vec<String> =
            names(&scratch).iter().flat_map(|n| names(&scratch.join(n))).collect();
        assert!(left.is_empty(), "{left:?}");
    }
    for engine in ["--run", "--makefile"] {
        let plan = bucket
            .run(empty.path(), &format!("plan --format htb KPvK {engine} --dir s3://bucket/t"));
        plan.refused(1, &["s3://bucket/t", "needs a folder of the disk"]);
    }
}

/// Passes bytes on from a client to the server until the client sends `last`; from then on nothing.
/// Returns its port and whether it has come to that.
fn stalling(server: u16, last: &'static str) -> (u16, Arc<AtomicBool>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let stalled = Arc::new(AtomicBool::new(false));
    let has_stalled = Arc::clone(&stalled);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let there = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap();
            let (back, to) = (there.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut &back, &mut &to));
            let has_stalled = Arc::clone(&has_stalled);
            std::thread::spawn(move || pass_on(&client, &there, last, &has_stalled));
        }
    });
    (port, stalled)
}

fn pass_on(mut client: &TcpStream, mut server: &TcpStream, last: &str, stalled: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(got @ 1..) = client.read(&mut buffer) else { return };
        if String::from_utf8_lossy(&buffer[..got]).contains(last) {
            stalled.store(true, Ordering::SeqCst);
        }
        if stalled.load(Ordering::SeqCst) {
            std::thread::sleep(PATIENCE);
            return;
        }
        if server.write_all(&buffer[..got]).is_err() {
            return;
        }
    }
}

#[test]
fn a_transfer_that_is_torn_is_never_seen_as_a_table() {
    let Some(bucket) = Bucket::start(&[]) else { return };
    let tables = built("KRvKN");
    let empty = tempfile::tempdir().unwrap();
    let build = "build --format htb KRvKN --dir s3://bucket/t --reproducible";
    let (port, stalled) = stalling(bucket.port, "partNumber=3");
    let mut child = bucket
        .command(empty.path(), port, build)
        .env("HOFFMAN_UPLOAD_PART", "64K")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !stalled.load(Ordering::SeqCst) {
        assert!(begin.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    // What was sent is there, and no table.
    let (_, uploads) = bucket.ask("GET", "bucket?uploads", b"");
    let uploads = String::from_utf8(uploads).unwrap();
    assert!(uploads.contains("<Key>t/krkn.htb</Key>"), "{uploads}");
    assert!(!bucket.keys().contains(&"t/krkn.htb".to_owned()), "{:?}", bucket.keys());
    let seen = bucket.run(empty.path(), "stats s3://bucket/t/krkn.htb");
    seen.refused(1, &["s3://bucket/t/krkn.htb", "there is no such file"]);

    let mut again = bucket.command(empty.path(), bucket.port, build);
    let made = again.env("HOFFMAN_UPLOAD_PART", "64K").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (_, body) = bucket.ask("GET", "bucket/t/krkn.htb", b"");
    assert!(body == fs::read(tables.path().join("t/krkn.htb")).unwrap(), "krkn.htb differs");
    let scratch = empty.path().join("scratch");
    let left: Vec<String> = names(&scratch).iter().flat_map(|n| names(&scratch.join(n))).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Where nothing but a bucket is shared: the jobs of Snakemake fetch what they need and send what
/// they have made. A process stands in for the machine of each.
#[test]
#[ignore = "slow: a minute"]
fn snakemake_makes_tables_where_nothing_but_a_bucket_is_shared() {
    let Some(bucket) = Bucket::start(&[]) else { return };
    let tables = tempfile::tempdir().unwrap();
    let folder = tables.path();
    let plan = run(folder, "plan KPvK --dir t --profile fast --threads 1 --snakefile");
    fs::write(folder.join("Snakefile"), plan.out).unwrap();
    fs::write(folder.join("submit"), "sh \"$1\" >\"$1.said\" 2>&1 & echo $!\n").unwrap();
    let endpoint = format!("http://127.0.0.1:{}", bucket.port);
    let snakemake = |arguments: &[&str]| {
        let output = Command::new("snakemake")
            .args(["--storage-s3-endpoint-url", &endpoint])
            .args(arguments)
            .args(["--config", &format!("hoffman={}", env!("CARGO_BIN_EXE_hoffman"))])
            .current_dir(folder)
            .env("HOME", folder)
            .env("SNAKEMAKE_STORAGE_S3_ACCESS_KEY", "key")
            .env("SNAKEMAKE_STORAGE_S3_SECRET_KEY", "secret")
            .output();
        let Ok(output) = output else {
            eprintln!("NOT TESTED: there is no snakemake");
            return false;
        };
        let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
        if err.contains("invalid choice") || err.contains("unrecognized arguments: --storage-s3") {
            eprintln!("NOT TESTED: {}, for want of a plugin of Snakemake", arguments.join(" "));
            return false;
        }
        assert!(output.status.success(), "{out}{err}");
        true
    };

    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster");
    snakemake(&["--profile", profiles.join("kubernetes").to_str().unwrap(), "--dry-run"]);
    let made = snakemake(&[
        "--executor=cluster-generic",
        "--jobs=4",
        "--cluster-generic-submit-cmd=sh submit",
        "--default-storage-provider=s3",
        "--default-storage-prefix=s3://bucket/a",
        "--storage-s3-region=us-east-1",
        "--shared-fs-usage",
        "persistence",
        "software-deployment",
        "sources",
        "source-cache",
    ]);
    if !made {
        return;
    }
    let built = run(folder, "build KPvK --dir build --profile fast --reproducible");
    assert_eq!(built.code, 0, "{}", built.err);
    for name in names(&folder.join("build")) {
        let (status, found) = bucket.ask("GET", &format!("bucket/a/t/{name}"), b"");
        assert_eq!(status, 200, "{name}");
        assert!(found == fs::read(folder.join("build").join(&name)).unwrap(), "{name} differs");
    }
}

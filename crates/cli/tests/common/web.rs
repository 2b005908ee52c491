//! An ordinary web server with range requests, which misbehaves when it is told to.
#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As it should.
    Well,
    /// It knows no ranges.
    WholeFiles,
    /// It closes the connection in the middle of a body.
    BreaksOff,
    /// It does so once, and then as it should.
    BreaksOffOnce,
    /// It always fails.
    Fails,
    /// It fails twice, and then as it should.
    FailsTwice,
    /// It refuses.
    Refuses,
    /// With every answer the file has another mark, whatever mark is asked for.
    Changes,
    /// It answers late.
    IsSlow,
    /// It says that everything is elsewhere, where it is.
    Redirects,
    /// It says that everything is elsewhere, for ever.
    RedirectsOn,
    /// Its marks are weak.
    MarksWeakly,
    /// It gives neither marks nor times.
    MarksNothing,
}

#[derive(Debug)]
struct Served {
    folder: PathBuf,
    manner: Mutex<Manner>,
    /// Bytes that were sent, headers and all.
    sent: AtomicU64,
    requests: Mutex<Vec<String>>,
}

/// Serves a folder until the test ends.
#[derive(Debug)]
pub(crate) struct WebServer {
    address: SocketAddr,
    served: Arc<Served>,
}

impl WebServer {
    pub(crate) fn of(folder: &std::path::Path) -> WebServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::new(Served {
            folder: folder.to_owned(),
            manner: Mutex::new(Manner::Well),
            sent: AtomicU64::new(0),
            requests: Mutex::default(),
        });
        let all = Arc::clone(&served);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&all);
                std::thread::spawn(move || served.answer_all(&stream));
            }
        });
        WebServer { address, served }
    }

    /// Its address with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.served.manner.lock().unwrap() = manner;
    }

    /// The requests since the last call, and how many bytes it sent.
    pub(crate) fn taken(&self) -> (Vec<String>, u64) {
        let requests = std::mem::take(&mut *self.served.requests.lock().unwrap());
        (requests, self.served.sent.swap(0, Ordering::SeqCst))
    }
}

impl Served {
    /// Answers the requests of a connection until it ends.
    fn answer_all(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        loop {
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                match reader.read_line(&mut line) {
                    Ok(n) if n > 2 => lines.push(line.trim_end().to_owned()),
                    Ok(2) => break,
                    _ => return,
                }
            }
            if !self.answer(stream, &lines) {
                return;
            }
        }
    }

    /// Answers a request. Whether the connection goes on.
    fn answer(&self, stream: &TcpStream, lines: &[String]) -> bool {
        let mut words = lines[0].split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let header = |name: &str| {
            let found = lines.iter().filter_map(|line| line.split_once(": "));
            let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.to_owned())
        };
        let range = header("range");
        let manner = *self.manner.lock().unwrap();
        let count = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(format!("{method} {path} {}", range.as_deref().unwrap_or("")));
            requests.len()
        };
        let says = |status: &str| self.send(stream, &head(status, "Content-Length: 0\r\n"), b"");
        match manner {
            Manner::Fails => return says("500 Internal Server Error"),
            Manner::FailsTwice if count <= 2 => return says("503 Service Unavailable"),
            Manner::Refuses => return says("403 Forbidden"),
            Manner::IsSlow => std::thread::sleep(Duration::from_secs(4)),
            Manner::Redirects if !path.starts_with("/moved") => {
                let text = format!("Location: /moved{path}\r\nContent-Length: 0\r\n");
                return self.send(stream, &head("302 Found", &text), b"");
            }
            Manner::RedirectsOn => {
                let text = format!("Location: {path}x\r\nContent-Length: 0\r\n");
                return self.send(stream, &head("302 Found", &text), b"");
            }
            _ => {}
        }

        let name = path.trim_start_matches("/moved").trim_start_matches('/');
        let file = self.folder.join(name);
        let Ok(bytes) = fs::read(&file) else { return says("404 Not Found") };
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let time = time.duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let mark = match manner {
            Manner::MarksNothing => String::new(),
            Manner::MarksWeakly => format!("ETag: W/\"{time:x}\"\r\n"),
            Manner::Changes => format!("ETag: \"{count}\"\r\n"),
            _ => format!("ETag: \"{time:x}\"\r\n"),
        };
        let is_other = header("if-match").is_some_and(|wanted| !mark.contains(&wanted));
        if is_other && manner != Manner::Changes {
            return says("412 Precondition Failed");
        }
        let wanted = range.filter(|_| manner != Manner::WholeFiles && method == "GET");
        let (status, part, place) = match wanted.map(|range| bounds(&range)) {
            Some((from, to)) => {
                let to = to.min(bytes.len() - 1);
                let place = format!("Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                ("206 Partial Content", &bytes[from..=to], place)
            }
            None => ("200 OK", &bytes[..], String::new()),
        };
        let text = format!("{mark}{place}Content-Length: {}\r\n", part.len());
        let body = if method == "HEAD" { &[] } else { part };
        let breaks = manner == Manner::BreaksOff || manner == Manner::BreaksOffOnce && count == 2;
        if breaks && !body.is_empty() {
            self.send(stream, &head(status, &text), &body[..body.len() / 2]);
            return false;
        }
        self.send(stream, &head(status, &text), body)
    }

    fn send(&self, mut stream: &TcpStream, head: &str, body: &[u8]) -> bool {
        self.sent.fetch_add((head.len() + body.len()) as u64, Ordering::SeqCst);
        let all = [head.as_bytes(), body].concat();
        stream.write_all(&all).is_ok()
    }
}

fn head(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\nServer: test\r\n{headers}\r\n")
}

/// `bytes=FROM-TO`.
fn bounds(range: &str) -> (usize, usize) {
    let (from, to) = range.trim_start_matches("bytes=").split_once('-').unwrap();
    (from.parse().unwrap(), to.parse().unwrap())
}

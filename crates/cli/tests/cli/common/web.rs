//! An ordinary web server with range requests, which misbehaves when it is told to.

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
        let request = Request::new(lines);
        let manner = *self.manner.lock().unwrap();
        let count = {
            let mut requests = self.requests.lock().unwrap();
            let range = request.header("range").unwrap_or_default();
            requests.push(format!("{} {} {range}", request.method, request.path));
            requests.len()
        };
        let path = request.path;
        match manner {
            Manner::Fails => return self.says(stream, "500 Internal Server Error", ""),
            Manner::FailsTwice if count <= 2 => {
                return self.says(stream, "503 Service Unavailable", "");
            }
            Manner::Refuses => return self.says(stream, "403 Forbidden", ""),
            Manner::IsSlow => std::thread::sleep(Duration::from_secs(4)),
            Manner::Redirects if !path.starts_with("/moved") => {
                return self.says(stream, "302 Found", &format!("Location: /moved{path}\r\n"));
            }
            Manner::RedirectsOn => {
                return self.says(stream, "302 Found", &format!("Location: {path}x\r\n"));
            }
            _ => {}
        }
        self.answer_with_file(stream, &request, (manner, count))
    }

    /// Answers with a file or a part of it.
    fn answer_with_file(
        &self,
        stream: &TcpStream,
        request: &Request<'_>,
        (manner, count): (Manner, usize),
    ) -> bool {
        let name = request.path.trim_start_matches("/moved").trim_start_matches('/');
        let file = self.folder.join(name);
        let Ok(bytes) = fs::read(&file) else { return self.says(stream, "404 Not Found", "") };
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let time = time.duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let mark = match manner {
            Manner::MarksNothing => String::new(),
            Manner::MarksWeakly => format!("ETag: W/\"{time:x}\"\r\n"),
            Manner::Changes => format!("ETag: \"{count}\"\r\n"),
            _ => format!("ETag: \"{time:x}\"\r\n"),
        };
        let is_other = request.header("if-match").is_some_and(|wanted| !mark.contains(wanted));
        if is_other && manner != Manner::Changes {
            return self.says(stream, "412 Precondition Failed", "");
        }

        let gives_parts = manner != Manner::WholeFiles && request.method == "GET";
        let (status, part, place) = match request.header("range").filter(|_| gives_parts) {
            Some(range) => {
                let (from, to) = bounds(range);
                let to = to.min(bytes.len() - 1);
                let place = format!("Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                ("206 Partial Content", &bytes[from..=to], place)
            }
            None => ("200 OK", &bytes[..], String::new()),
        };
        let text = format!("{mark}{place}Content-Length: {}\r\n", part.len());
        let body = if request.method == "HEAD" { &[] } else { part };
        let breaks = manner == Manner::BreaksOff || manner == Manner::BreaksOffOnce && count == 2;
        let sent = if breaks { body.len() / 2 } else { body.len() };
        self.send(stream, &head(status, &text), &body[..sent]) && sent == body.len()
    }

    /// Answers without a body.
    fn says(&self, stream: &TcpStream, status: &str, headers: &str) -> bool {
        self.send(stream, &head(status, &format!("{headers}Content-Length: 0\r\n")), b"")
    }

    fn send(&self, mut stream: &TcpStream, head: &str, body: &[u8]) -> bool {
        self.sent.fetch_add((head.len() + body.len()) as u64, Ordering::SeqCst);
        let all = [head.as_bytes(), body].concat();
        stream.write_all(&all).is_ok()
    }
}

/// The lines of a request.
#[derive(Debug)]
struct Request<'l> {
    method: &'l str,
    path: &'l str,
    lines: &'l [String],
}

impl Request<'_> {
    fn new(lines: &[String]) -> Request<'_> {
        let mut words = lines[0].split(' ');
        Request { method: words.next().unwrap(), path: words.next().unwrap(), lines }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.lines.iter().filter_map(|line| line.split_once(": "));
        Some(headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?.1)
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

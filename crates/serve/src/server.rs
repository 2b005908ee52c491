//! Takes connections until it is told to stop.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hoffman::process::cores;
use hoffman::{Cancel, ProbeError, STACK};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, duplex, split};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::answer::{GRACE, ServerState, answer};
use crate::build::Builds;
use crate::library::Library;
use crate::limits::{HEAD, HEADERS, ServerLimits};
use crate::stream::Impatient;

/// How often it is looked whether to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// What to serve, and to whom.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folders of tables. Nothing else is ever opened.
    pub folders: Vec<PathBuf>,
    /// Folders of Syzygy tables, which answer where no other table does.
    pub syzygy: Vec<PathBuf>,
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// The pages that may read the answers: an origin as `https://example.org`, or `*`.
    pub cors: Option<String>,
    /// The most bytes of tables that may be made at a time, in the first folder; none if nothing
    /// is made.
    pub build: Option<u64>,
    /// How long a position of more men than tables are made for may be proved; none if that is not
    /// done.
    pub prove: Option<Duration>,
    /// What is borne.
    pub limits: ServerLimits,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The tables.
    #[error(transparent)]
    Tables(#[from] ProbeError),
    /// The address.
    #[error("cannot listen to {address}: {source}")]
    Listen {
        /// It.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The origin of other pages.
    #[error("'{0}' is no origin of pages, such as https://example.org")]
    Origin(String),
    /// The threads.
    #[error("cannot start the threads: {0}")]
    Threads(io::Error),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<ServerState>,
    runtime: Runtime,
}

impl Server {
    /// Opens the tables and listens. Nothing is answered before [`Server::run`].
    ///
    /// # Errors
    /// A folder cannot be listed, the address cannot be had, or the origin is none.
    pub fn bind(config: Config) -> Result<Server, ServeError> {
        let Config { folders, syzygy, listen, cors, build, prove, limits } = config;
        let origin =
            cors.map(|text| origin_of(&text).ok_or(ServeError::Origin(text))).transpose()?;
        let library = Library::open(&folders, &syzygy)?;
        let failed = |source| ServeError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;

        let builds = Builds::new(folders.into_iter().next(), build);
        let threads = cores();
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            // Those that work, one that counts, one that makes tables or proves, and some that were
            // given up but go on.
            .max_blocking_threads(threads + 4)
            .thread_stack_size(STACK)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(ServeError::Threads)?;
        let state = Arc::new(ServerState::new(library, limits, (builds, prove), origin, threads));
        Ok(Server { listener, address, state, runtime })
    }

    /// What one client gets that sends these bytes over a connection in memory and then no more. No
    /// socket is touched: for tests of whatever may be sent.
    #[doc(hidden)]
    pub fn exchange(&self, sent: &[u8]) -> Vec<u8> {
        let (mut client, served) = duplex(HEAD);
        let peer = SocketAddr::from(([127, 0, 0, 1], 0));
        let (state, open) = (Arc::clone(&self.state), GracefulShutdown::new());
        let (mut incoming, mut outgoing) = split(&mut client);
        self.runtime.block_on(async {
            let serving = connection(state, served, peer, open.watcher());
            let sending = async {
                // A server that has heard enough closes its side, which is its answer.
                let _ = outgoing.write_all(sent).await;
                let _ = outgoing.shutdown().await;
            };
            let receiving = async {
                let mut received = Vec::new();
                let _ = incoming.read_to_end(&mut received).await;
                received
            };
            let ((), (), received) = tokio::join!(serving, sending, receiving);
            received
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is asked to stop; then answers that are under way are finished, for five
    /// seconds at most.
    ///
    /// # Errors
    /// The address cannot be listened to.
    pub fn run(self, cancel: &Cancel) -> Result<(), ServeError> {
        let Server { listener, address, state, runtime } = self;
        let served = runtime.block_on(serve(listener, &state, cancel));
        runtime.shutdown_timeout(Duration::from_secs(1));
        served.map_err(|source| ServeError::Listen { address, source })
    }
}

/// An origin as a header has it.
fn origin_of(text: &str) -> Option<HeaderValue> {
    let is_address = |rest: &str| {
        let mut letters = rest.chars();
        !rest.is_empty() && letters.all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c))
    };
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = text == "*" || rest.is_some_and(is_address);
    HeaderValue::from_str(text).ok().filter(|_| is_origin)
}

async fn serve(listener: TcpListener, state: &Arc<ServerState>, cancel: &Cancel) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let free = Arc::new(Semaphore::new(state.limits.connections));
    let open = GracefulShutdown::new();

    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(cancel) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Of too many open files, as a rule: some will be closed.
            sleep(GLANCE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&free).try_acquire_owned() else {
            state.metrics.refused.fetch_add(1, Relaxed);
            tokio::spawn(refuse(stream));
            continue;
        };
        // Answers are written as a whole.
        let _ = stream.set_nodelay(true);
        let served = connection(Arc::clone(state), stream, peer, open.watcher());
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    }

    drop(listener);
    state.long_work.stop();
    let _ = timeout(GRACE, open.shutdown()).await;
    Ok(())
}

async fn stopped(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        sleep(GLANCE).await;
    }
}

/// Says that there are too many connections. That fits into the buffer of a new one.
async fn refuse(stream: TcpStream) {
    let _ = timeout(GLANCE, stream.writable()).await;
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
          content-type: text/plain\r\ncontent-length: 21\r\n\r\ntoo many connections\n",
    );
}

async fn connection(
    state: Arc<ServerState>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: SocketAddr,
    watcher: Watcher,
) {
    let patience = state.limits.patience;
    let stream = TokioIo::new(Impatient::new(stream, patience));
    let shared = Arc::clone(&state);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(shared, peer.ip(), request).await) }
    });
    state.metrics.connections.fetch_add(1, Relaxed);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        // Who has said everything may close its side and wait for the answer.
        .half_close(true)
        .header_read_timeout(patience)
        .max_buf_size(HEAD)
        .max_headers(HEADERS)
        .serve_connection(stream, service);
    // What a client does wrong is its own affair.
    let _ = watcher.watch(served).await;
    state.metrics.connections.fetch_sub(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_in_memory_is_served_as_any_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config {
            folders: vec![folder.path().to_owned()],
            syzygy: Vec::new(),
            listen: ([127, 0, 0, 1], 0).into(),
            cors: None,
            build: None,
            prove: None,
            limits: ServerLimits::default(),
        };
        let server = Server::bind(config).expect("a server");
        let request = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        let sent = [request("/healthz"), request("/standard?fen=x")].concat();
        let received = String::from_utf8(server.exchange(sent.as_bytes())).expect("text");
        assert!(received.starts_with("HTTP/1.1 200 OK\r\n"), "{received}");
        assert!(received.contains("\r\n\r\nok\nHTTP/1.1 400 Bad Request\r\n"), "{received}");
        let broken = String::from_utf8(server.exchange(b"GET\r\n\r\n")).expect("text");
        assert!(broken.starts_with("HTTP/1.1 400 "), "{broken}");
        assert!(server.exchange(b"").is_empty());
    }
}

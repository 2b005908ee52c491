//! How much one client may ask for, and how long that may take.

use std::time::Duration;

/// What the server bears.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Connections at a time. One more is refused.
    pub connections: usize,
    /// Requests a second from one address, and lines of batches; twice as many in a burst. 0 for
    /// any number.
    pub rate: u32,
    /// The body of a request, in bytes.
    pub body: usize,
    /// How long the head of a request may take to come in, its body, and a client to take some of
    /// an answer.
    pub patience: Duration,
    /// The largest table that is counted while the client waits, in bytes; in the block format half
    /// as many entries, too.
    pub counted: u64,
    /// The memory that counting or listing a larger one may take, in bytes; 0 if that is not done.
    pub counting: u64,
}

/// The longest head of a request, in bytes.
pub(crate) const HEAD: usize = 16 << 10;

/// The most header lines of a request.
pub(crate) const HEADERS: usize = 64;

/// The longest position with its moves, in characters.
pub(crate) const POSITION: usize = 4 << 10;

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 256,
            rate: 1_000,
            body: 1 << 20,
            patience: Duration::from_secs(10),
            counted: 64 << 20,
            counting: 4 << 30,
        }
    }
}

impl ServerLimits {
    /// How long an answer may take to be made.
    pub(crate) fn answer(&self) -> Duration {
        self.patience * 3
    }

    /// How long a batch may take in all.
    pub(crate) fn batch(&self) -> Duration {
        self.patience * 20
    }
}

//! How addresses are read and written.

use std::path::PathBuf;
use std::time::Duration;

/// How addresses are read and written.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// How many bytes of what was read are held in memory.
    pub memory: u64,
    /// The folder of the disk in which what was read is kept for later; none: nothing is.
    pub cache: Option<PathBuf>,
    /// How many bytes that folder may take.
    pub cache_bound: u64,
    /// The folder of the disk for working files of tables that are written to addresses.
    pub scratch: PathBuf,
    /// How long one answer may take.
    pub patience: Duration,
    /// How many bytes of a file are sent at once, or more if it is very long; the rules of S3 ask
    /// for 5 MB at least.
    pub part: usize,
}

impl RemoteOptions {
    /// Of 16 MB in memory, of nothing on the disk, half a minute an answer. Working files go to
    /// `hoffman` in the user's folder for such things, or in that of the system.
    pub fn new() -> RemoteOptions {
        RemoteOptions {
            memory: 16 << 20,
            cache: None,
            cache_bound: 1 << 30,
            scratch: usual_scratch(),
            patience: Duration::from_secs(30),
            part: 8 << 20,
        }
    }
}

impl Default for RemoteOptions {
    fn default() -> RemoteOptions {
        RemoteOptions::new()
    }
}

/// `hoffman/work` in the folder for such data of the XDG base directory specification.
fn usual_scratch() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(set("HOME")?.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("hoffman").join("work")
}

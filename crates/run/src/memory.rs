//! How much memory the process takes, and how much room a disk has.

use std::fs;
use std::path::Path;

pub use hoffman_store::{SystemLimits, available_memory, limits};

/// The memory that this process takes, in bytes. None where the system does not say.
pub fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The bytes that a folder, or the nearest one above it that exists, has room for. None where the
/// system does not say.
pub fn free_disk(folder: &Path) -> Option<u64> {
    disk(folder).map(|(free, _)| free)
}

/// The bytes of a folder's disk that are left to others unless it is said how many: a twentieth of
/// it, and not more than two gigabytes.
pub(crate) fn usual_margin(folder: &Path) -> u64 {
    disk(folder).map_or(0, |(_, all)| (all / 20).min(2 << 30))
}

/// What the disk of a folder has room for, and how large it is.
fn disk(folder: &Path) -> Option<(u64, u64)> {
    let folder = hoffman_store::files().on_disk(folder);
    let there = folder.ancestors().find(|folder| folder.is_dir());
    let there = there.unwrap_or(Path::new("."));
    #[cfg(unix)]
    return rustix::fs::statvfs(there).ok().map(|disk| {
        (disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize))
    });
    #[cfg(not(unix))]
    {
        let _ = there;
        None
    }
}

/// Lets the system hand out memory in huge pages, or not; from now on and in the whole process.
/// They save a quarter of the time of a table that takes tens of milliseconds. What a smaller one
/// needs is less than what is left of them, where much memory is needed they save nothing, and
/// where it is bounded they waste it.
pub fn use_huge_pages(use_them: bool) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(!use_them) {
        tracing::debug!(%error, "huge pages stay as they are");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = use_them;
}

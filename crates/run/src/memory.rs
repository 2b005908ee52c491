//! How much memory there is.

use std::fs;
use std::path::Path;

/// The memory that this process takes, in bytes. None where the system does not say.
pub fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The memory that a run may take, in bytes: what the machine has free, or what the control group
/// of the process allows if that is less. None where the system does not say.
pub fn available_memory() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let free = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let number = |path: &str| fs::read_to_string(Path::new(path)).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")
        .zip(number("/sys/fs/cgroup/memory.current"))
        .map(|(max, current)| max.saturating_sub(current));
    // Of the address space the program has some itself.
    let room = limits().address_space.map(|all| all.saturating_sub(address_space().unwrap_or(0)));
    Some([limit, room].into_iter().flatten().fold(free, u64::min))
}

/// What the system lets a process have, in bytes; none: no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLimits {
    /// Memory and files that are laid into it.
    pub address_space: Option<u64>,
    /// The stack of the first thread.
    pub stack: Option<u64>,
}

/// The limits of this process. Takes no memory.
pub fn limits() -> SystemLimits {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let of = |resource: Resource| getrlimit(resource).current;
        SystemLimits { address_space: of(Resource::As), stack: of(Resource::Stack) }
    }
    #[cfg(not(unix))]
    SystemLimits::default()
}

/// The address space that this process has taken, in bytes.
fn address_space() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"))?;
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

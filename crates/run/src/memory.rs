//! How much memory there is.

use std::fs;
use std::path::Path;

/// The memory that this process takes, in bytes. None where the system does not say.
pub fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The memory that a run may take, in bytes: what the machine has free, or what the control group of the
/// process allows if that is less. None where the system does not say.
pub fn available_memory() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let free = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let number = |path: &str| fs::read_to_string(Path::new(path)).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")
        .zip(number("/sys/fs/cgroup/memory.current"))
        .map(|(max, current)| max.saturating_sub(current));
    Some(limit.map_or(free, |limit| limit.min(free)))
}

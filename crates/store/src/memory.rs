//! How much memory there is.

use std::fs;
use std::path::Path;

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

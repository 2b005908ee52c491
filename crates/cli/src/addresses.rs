//! Tables at addresses (`--dir https://...`): how they are read and written, by the environment.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use hoffman::{RemoteOptions, reach_addresses};

use crate::work::size;

/// Lets names be addresses. Nothing is started before one is used.
pub(crate) fn install() -> anyhow::Result<()> {
    let mut options = RemoteOptions::new();
    options.cache = set("HOFFMAN_CACHE").map(PathBuf::from);
    if let Some(text) = set("HOFFMAN_CACHE_SIZE") {
        options.cache_bound = bytes("HOFFMAN_CACHE_SIZE", &text)?;
    }
    if let Some(text) = set("HOFFMAN_UPLOAD_PART") {
        options.part = usize::try_from(bytes("HOFFMAN_UPLOAD_PART", &text)?)?.max(1);
    }
    if let Some(folder) = set("HOFFMAN_SCRATCH") {
        options.scratch = PathBuf::from(folder);
    }
    if let Some(text) = set("HOFFMAN_PATIENCE") {
        let seconds = text.parse().ok().filter(|&seconds| seconds > 0);
        let seconds = seconds.context("HOFFMAN_PATIENCE is no number of seconds")?;
        options.patience = Duration::from_secs(seconds);
    }
    reach_addresses(options);
    Ok(())
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn bytes(name: &str, text: &str) -> anyhow::Result<u64> {
    size(text).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))
}

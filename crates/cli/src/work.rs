//! What all commands that make tables have in common: their options, and where they work.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use hoffman::{Compression, Method, Options, ReadOptions};

use crate::interrupt;
use crate::output::command_line;
use crate::progress::Bar;

/// Ways of solving what is larger than memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Sweep over blocks of positions, with those around each in memory.
    Sweep,
    /// Sort what blocks have to tell each other in propagation tables, as version 1.7 does;
    /// slower.
    Proptables,
}

/// How small files of tables are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressName {
    /// Soonest written, a tenth larger.
    Fast,
    /// About as small as the files of version 1.7.
    #[default]
    Normal,
    /// A few per cent smaller, compressed twenty times as slowly.
    Best,
}

impl From<CompressName> for Compression {
    fn from(name: CompressName) -> Compression {
        match name {
            CompressName::Fast => Compression::Fast,
            CompressName::Normal => Compression::Normal,
            CompressName::Best => Compression::Best,
        }
    }
}

/// Options for work that takes long.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkArgs {
    /// Keep a small file in JSON up to date that says what is being done, how much, and until
    /// when.
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// The most memory that the program takes: a number with K, M or G. What does not fit goes to
    /// files beside the output that vanish with the program [default: what the machine has].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// The same in megabytes as the classic options have it, raised if it is too little.
    #[arg(skip)]
    pub(crate) queues: Option<u64>,
    /// How much of the disk is left to others: a number with K, M or G [default: a twentieth of
    /// the disk, at most 2G].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) keep_free: Option<u64>,
    /// How to solve what is larger than memory; the tables are the same [default: sweep].
    #[arg(long, value_enum, value_name = "METHOD")]
    pub(crate) method: Option<MethodName>,
    /// Compress the working files of propagation tables, with --method proptables.
    #[arg(long, requires = "method")]
    pub(crate) compress_files: bool,
    /// Write a line on standard error for every pass: how many positions it decided, and how long
    /// it took.
    #[arg(long)]
    pub(crate) passes: bool,
    /// How small .htb files are made [default: normal].
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) compress: Option<CompressName>,
    /// Remove the checkpoint that an interrupted run left of a table, and solve the table anew.
    #[arg(long)]
    pub(crate) discard: bool,
}

/// Options for commands that only read tables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ReadingArgs {
    /// The most memory that the program takes: a number with K, M or G [default: what the machine
    /// has].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
}

impl ReadingArgs {
    /// The bound in bytes.
    pub(crate) fn bytes(self) -> Option<u64> {
        self.memory
    }

    /// These options with the bound; reading ends at a signal.
    pub(crate) fn bound(self, reading: ReadOptions) -> anyhow::Result<ReadOptions> {
        let reading = interrupt::cancel().reading(reading);
        let Some(memory) = self.memory else { return Ok(reading) };
        if memory < ReadOptions::LEAST_MEMORY {
            let [memory, least] = [memory, ReadOptions::LEAST_MEMORY].map(|bytes| bytes >> 20);
            anyhow::bail!("{memory} MB of memory are too little; at least {least} MB are needed");
        }
        Ok(reading.memory(memory))
    }
}

/// The same as [`size`], or 0.
#[cfg(feature = "serve")]
pub(crate) fn size_or_none(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { size(text) }
}

/// Bytes from a number with K, M or G (binary) behind it.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err("a size is a number with K, M or G, such as 512M".to_owned()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "a size is a number with K, M or G, such as 512M")?;
    number.checked_mul(1 << shift).ok_or_else(|| "there is no so much memory".to_owned())
}

impl WorkArgs {
    /// Work in a folder on the threads that are there already, to be stopped by a signal.
    pub(crate) fn options(&self, folder: Option<PathBuf>) -> anyhow::Result<Options> {
        let mut options = folder
            .map_or_else(Options::without_folder, Options::new)
            .threads_of_caller()
            .method(self.solving_method())
            .compression(self.compress.unwrap_or_default().into())
            .discard_checkpoints(self.discard)
            .program(command_line())
            .cancel(interrupt::cancel());
        if let Some(bytes) = self.memory {
            options = options.memory(bytes);
        } else if let Some(bytes) = self.queue_bytes() {
            options = options.memory_if_possible(bytes);
        }
        if let Some(bytes) = self.keep_free {
            options = options.keep_free(bytes);
        }
        if let Some(text) = std::env::var_os("HOFFMAN_CHECKPOINT_SECONDS") {
            let seconds = text.to_str().and_then(|text| text.parse().ok());
            let seconds = seconds.context("HOFFMAN_CHECKPOINT_SECONDS is no number of seconds")?;
            options = options.checkpoint_every(Duration::from_secs(seconds));
        }
        Ok(options)
    }

    /// What another process is told of how to make tables: all but its memory.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut say = |option: &str, value: String| all.extend([option.to_owned(), value]);
        if let Some(bytes) = self.keep_free {
            say("--keep-free", format!("{}K", bytes >> 10));
        }
        if let Some(name) = self.compress.and_then(|how| how.to_possible_value()) {
            say("--compress", name.get_name().to_owned());
        }
        if let Some(name) = self.method.and_then(|method| method.to_possible_value()) {
            say("--method", name.get_name().to_owned());
        }
        all.extend(self.compress_files.then(|| "--compress-files".to_owned()));
        all
    }

    /// An option that is not told to other processes, if there is one.
    pub(crate) fn of_one_process(&self) -> Option<&'static str> {
        let given = [
            ("--status", self.status.is_some()),
            ("--passes", self.passes),
            ("--discard", self.discard),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// An option that says how tables are made, if there is one.
    pub(crate) fn of_tables(&self) -> Option<&'static str> {
        let given = [
            ("--status", self.status.is_some()),
            ("--keep-free", self.keep_free.is_some()),
            ("--method", self.method.is_some()),
            ("--compress-files", self.compress_files),
            ("--passes", self.passes),
            ("--compress", self.compress.is_some()),
            ("--discard", self.discard),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// How what is larger than memory is solved.
    pub(crate) fn solving_method(&self) -> Method {
        let compress = self.compress_files;
        match self.method {
            None | Some(MethodName::Sweep) => Method::Sweep,
            Some(MethodName::Proptables) => Method::PropTables { compress },
        }
    }

    fn queue_bytes(&self) -> Option<u64> {
        self.queues.map(|megabytes| megabytes.saturating_mul(1 << 20))
    }

    /// How tables are read in the same memory.
    pub(crate) fn reading(&self, reading: ReadOptions) -> ReadOptions {
        match self.memory.or(self.queue_bytes()) {
            Some(bytes) => reading.memory(bytes),
            None => reading,
        }
    }

    /// Shows the progress.
    pub(crate) fn bar(&self, quiet: bool) -> anyhow::Result<Bar> {
        Bar::of_run(self.status.clone(), quiet, self.passes)
    }
}

//! The slow solvers against each other and against published facts, and the product against them.
//! All in one program, whose tests run side by side.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::panic)]

mod analyses;
mod claims;
mod engine;
mod golden;
mod slow_analysis;
mod slow_tables;

use std::path::Path;

/// A number that the environment may set.
fn from_env(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: '{text}'")),
        Err(_) => default,
    }
}

/// A control file whose tables are in a folder: names count from the working directory else, which
/// is that of all tests.
fn placed_in(folder: &Path, text: &str) -> String {
    text.replace("filename=\"", &format!("filename=\"{}/", folder.display()))
}

//! Marks in the files that an expansion writes: who made them, and whether they are still as they
//! were made.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::digest::digits;

/// How a mark begins.
const CREATED: &str = "Created by pawngen";
/// What stands before the checksum.
const CHECKSUM: &str = ", checksum ";
/// How many hexadecimal digits a checksum has.
const DIGITS: usize = 16;

/// The mark of files that were made from a control file, its checksum left out. An XML comment must
/// not contain two hyphens.
pub(crate) fn mark(origin: &str) -> String {
    let name = Path::new(origin).file_name().unwrap_or_default().to_string_lossy();
    let from = if name.contains("--") { String::new() } else { format!(" from {name}") };
    format!("{CREATED}{from}{CHECKSUM}")
}

/// The text with its checksum behind the mark, if it has one.
pub(crate) fn sealed(text: &str) -> String {
    match split(text) {
        Some((before, rest)) => format!("{before}{}{rest}", checksum(before, rest)),
        None => text.to_owned(),
    }
}

/// Whether a text is as it was made.
pub(crate) fn is_sealed(text: &str) -> bool {
    let Some((before, rest)) = split(text) else { return false };
    let Some((written, rest)) = rest.split_at_checked(DIGITS) else { return false };
    written == checksum(before, rest)
}

/// What a control file or the header of a table says about the input that it was made from.
pub(crate) fn creation(text: &str) -> Option<&str> {
    let (before, _) = split(text)?;
    before.rfind(CREATED).and_then(|at| before.get(at..))
}

/// A text up to its checksum, and behind it.
fn split(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind(CHECKSUM)? + CHECKSUM.len();
    text.split_at_checked(at)
}

fn checksum(before: &str, rest: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(rest);
    let mut digits = digits(hash);
    digits.truncate(DIGITS);
    digits
}

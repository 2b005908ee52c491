//! What can be had of a file that cannot be read as a container.

use flate2::{Decompress, FlushDecompress};

use super::member;

/// The uncompressed bytes at the start of a damaged file, at most so many, as far as there are
/// any. Nothing is checked.
pub(crate) fn salvaged_start(file: &[u8], most: usize) -> Vec<u8> {
    let Some(deflated) = member::parse(file).and_then(|header| file.get(header.len..)) else {
        return file.get(..most.min(file.len())).unwrap_or_default().to_vec();
    };
    let mut bytes = Vec::with_capacity(most);
    // An error comes behind the bytes before the damage.
    let _ = Decompress::new(false).decompress_vec(deflated, &mut bytes, FlushDecompress::Sync);
    bytes
}

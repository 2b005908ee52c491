//! Digests of files and texts, SHA-256.

use std::io::{self, Read as _};
use std::path::Path;

use hoffman_store::Storage;
use sha2::{Digest as _, Sha256};

/// The digest of a file, in hexadecimal digits, and its length in bytes.
///
/// # Errors
/// It cannot be read.
pub fn file_digest(storage: &dyn Storage, path: &Path) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let bytes = feed_file(&mut hash, storage, path)?;
    Ok((digits(hash), bytes))
}

/// The digest of some bytes.
pub fn digest_of(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

/// Adds the bytes of a file to a digest; how many they are.
pub(crate) fn feed_file(hash: &mut Sha256, storage: &dyn Storage, path: &Path) -> io::Result<u64> {
    let mut input = storage.open_stream(path)?;
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(got) => {
                hash.update(&buffer[..got]);
                bytes += got as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A digest in hexadecimal digits.
pub(crate) fn digits(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

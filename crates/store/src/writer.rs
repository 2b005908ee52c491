//! Files written and read from front to back, as the standard library does it.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::StoredFile;

/// A position in a file that is written to.
#[derive(Debug)]
pub struct FileWriter<'f> {
    file: &'f dyn StoredFile,
    position: u64,
}

impl<'f> FileWriter<'f> {
    /// Writes from a position on.
    pub fn new(file: &'f dyn StoredFile, position: u64) -> FileWriter<'f> {
        FileWriter { file, position }
    }
}

impl Write for FileWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write_at(bytes, self.position)?;
        self.position += done as u64;
        Ok(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for FileWriter<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.file.byte_len()?.checked_add_signed(by),
        };
        self.position = moved.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// A position in a file that is read.
#[derive(Debug)]
pub(crate) struct FileReader {
    file: Box<dyn StoredFile>,
    position: u64,
}

impl FileReader {
    /// Reads from the beginning.
    pub(crate) fn new(file: Box<dyn StoredFile>) -> FileReader {
        FileReader { file, position: 0 }
    }
}

impl Read for FileReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let done = self.file.read_at(buf, self.position)?;
        self.position += done as u64;
        Ok(done)
    }
}

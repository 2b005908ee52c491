//! A file written from front to back: what stands at its beginning follows at the end.

use std::io::{self, Seek, SeekFrom, Write};

use crate::container::{DATA, HEAD, INFO, MAGIC, REQUIRED, ROW, VERSION, crc64, crc64_of_both};

/// A file under way.
#[derive(Debug)]
pub(crate) struct OutputFile<W> {
    out: W,
    /// Where the file begins in `out`.
    origin: u64,
    /// How many sections there will be.
    sections: usize,
    rows: Vec<u8>,
    /// Bytes so far, what stands at the beginning included.
    length: u64,
    /// CRC-64 of all bytes behind that.
    sum: u64,
    /// Where the section under way begins.
    open: u64,
}

impl<W: Write + Seek> OutputFile<W> {
    /// A file with so many sections, from where `out` is.
    pub(crate) fn new(mut out: W, sections: usize) -> io::Result<OutputFile<W>> {
        let origin = out.stream_position()?;
        let length = HEAD + ROW * sections as u64;
        out.write_all(&vec![0; length as usize])?;
        Ok(OutputFile { out, origin, sections, rows: Vec::new(), length, sum: 0, open: length })
    }

    /// A whole section.
    pub(crate) fn section(&mut self, name: [u8; 4], stream: u32, content: &[u8]) -> io::Result<()> {
        self.bytes(content)?;
        let crc = if name == DATA { 0 } else { crc32fast::hash(content) };
        self.close(name, stream, crc);
        Ok(())
    }

    /// More bytes of section `DATA`.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.sum = crc64(self.sum, bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The end of section `DATA`.
    pub(crate) fn end_data(&mut self, stream: u32) {
        self.close(DATA, stream, 0);
    }

    fn close(&mut self, name: [u8; 4], stream: u32, crc: u32) {
        let required = if name == INFO { 0 } else { REQUIRED };
        self.rows.extend(name);
        self.rows.extend(stream.to_le_bytes());
        self.rows.extend(self.open.to_le_bytes());
        self.rows.extend((self.length - self.open).to_le_bytes());
        self.rows.extend(crc.to_le_bytes());
        self.rows.extend(required.to_le_bytes());
        self.open = self.length;
    }

    /// Writes what stands at the beginning and at the end.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows.len() as u64 != ROW * self.sections as u64 {
            return Err(io::Error::other("not as many sections as were announced"));
        }
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        head.extend((self.sections as u32).to_le_bytes());
        head.extend((self.length + 8).to_le_bytes());
        head.extend(crc32fast::hash(&self.rows).to_le_bytes());
        head.extend(crc32fast::hash(&head).to_le_bytes());
        head.extend(&self.rows);

        let behind = self.length - head.len() as u64;
        let sum = crc64_of_both(crc64(0, &head), self.sum, behind);
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(self.origin))?;
        self.out.write_all(&head)?;
        self.out.seek(SeekFrom::Start(self.origin + self.length + 8))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::container::{Directory, TABL};

    #[test]
    fn a_flipped_bit_of_the_head_is_found() {
        let mut output = OutputFile::new(Cursor::new(Vec::new()), 2).expect("a file");
        output.section(TABL, 0, b"table").expect("a section");
        output.section(INFO, 0, b"{}").expect("a section");
        let bytes = output.finish().expect("all sections").into_inner();
        let directory = Directory::read(&bytes).expect("a file");
        assert_eq!(directory.load(&bytes, (TABL, 0), 100).expect("a section"), b"table");
        directory.check(&bytes).expect("the checksum");
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let refused = match Directory::read(&bytes) {
                Err(_) => true,
                Ok(directory) => directory.check(&bytes).is_err(),
            };
            assert!(refused, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(Directory::read(&bytes[..length].to_vec()).is_err());
        }
    }

    #[test]
    fn all_announced_sections_have_to_come() {
        let output = OutputFile::new(Cursor::new(Vec::new()), 2).expect("a file");
        assert!(output.finish().is_err());
    }
}

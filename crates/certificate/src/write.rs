//! Writing a certificate.

use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::FIRST_LINE;
use crate::claim::Claim;

/// Writes a certificate of a position (EPD of four fields), compressed as by gzip. The same claims
/// make the same bytes.
///
/// # Errors
///
/// Those of `out`.
pub fn write<W: Write>(out: W, position: &str, claims: &[Claim]) -> io::Result<W> {
    let mut out = BufWriter::new(GzEncoder::new(out, Compression::default()));
    writeln!(out, "{FIRST_LINE}\nposition {position}")?;
    for Claim { side, claimed, choices } in claims {
        writeln!(out, "claim {side} {claimed}")?;
        for (epd, choice) in choices {
            let m = choice.m.as_deref().unwrap_or("-");
            match choice.moves {
                0 => writeln!(out, "{epd} {m}")?,
                moves => writeln!(out, "{epd} {m} {moves}")?,
            }
        }
        writeln!(out, "end {}", choices.len())?;
    }
    let compressed = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    compressed.finish()
}

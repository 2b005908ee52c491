//! From bytes to text: where the XML prefix of a table ends, and which encodings are read.

use std::borrow::Cow;

use crate::error::ControlError;
use crate::prolog::encoding_of;

/// The closing tag by which readers find the end of a table's XML prefix.
pub(crate) const END_TAG: &str = "</tablebase>";

/// The length of the XML prefix at the start of a table's uncompressed bytes: up to the first
/// `</tablebase>`. None if the bytes at hand do not contain its end.
pub fn prefix_length(bytes: &[u8]) -> Option<usize> {
    let tag = END_TAG.as_bytes();
    bytes.windows(tag.len()).position(|window| window == tag).map(|at| at + tag.len())
}

/// The text of a control file or an XML prefix: UTF-8 with or without byte-order mark, or ISO
/// 8859-1 if the XML declaration says so.
///
/// # Errors
///
/// [`ControlError::Encoding`] for other encodings and broken UTF-8.
pub fn decode_text<'a>(bytes: &'a [u8], origin: &str) -> Result<Cow<'a, str>, ControlError> {
    let start = bytes.split(|&b| b == b'>').next().unwrap_or_default();
    let latin = start.starts_with(b"<?xml")
        && std::str::from_utf8(start).ok().and_then(encoding_of).is_some_and(|name| {
            ["iso-8859-1", "latin1"].iter().any(|known| name.eq_ignore_ascii_case(known))
        });
    if latin {
        return Ok(Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()));
    }
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|source| {
        let before = bytes.get(..source.valid_up_to()).unwrap_or_default();
        let line = before.split(|&b| b == b'\n').count();
        ControlError::Encoding { origin: origin.into(), line: line as u32, source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_the_first_closing_tag() {
        assert_eq!(prefix_length(b"<tablebase></tablebase>\n\0\0"), Some(23));
        assert_eq!(prefix_length(b"<tablebase>"), None);
    }

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(decode_text("é".as_bytes(), "f").unwrap(), "é");
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><!-- \xe9 -->";
        assert!(decode_text(latin, "f").unwrap().ends_with("<!-- é -->"));
        let error = decode_text(b"\n\xe9", "f").unwrap_err();
        assert!(error.to_string().starts_with("f, line 2:"), "{error}");
    }
}

//! Headers of gzip members (RFC 1952).

/// A parsed header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MemberHeader<'a> {
    /// Bytes of the header.
    pub(super) len: usize,
    /// The extra field's subfields.
    pub(super) extra: &'a [u8],
}

/// The most bytes of a header that are looked at: the extra field and moderate names.
pub(super) const MAX_HEADER: usize = 65_536 + 4_096;

/// Bytes of the fixed part.
pub(super) const FIXED: usize = 10;

/// The first ten bytes as the original writes them, with the given flags.
pub(super) const fn fixed_part(flags: u8) -> [u8; FIXED] {
    [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255]
}

/// The flag for an extra field.
pub(super) const FEXTRA: u8 = 4;

/// Reads the header at the start of `bytes`; none if it is not one or does not end there.
pub(super) fn parse(bytes: &[u8]) -> Option<MemberHeader<'_>> {
    let fixed = bytes.first_chunk::<FIXED>()?;
    let flags = fixed[3];
    if fixed[..3] != [0x1f, 0x8b, 8] || flags & 0xe0 != 0 {
        return None;
    }
    let mut rest = &bytes[FIXED..];
    let mut extra: &[u8] = &[];
    if flags & FEXTRA != 0 {
        let (len, tail) = rest.split_first_chunk::<2>()?;
        (extra, rest) = tail.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&b| b == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(MemberHeader { len: bytes.len() - rest.len(), extra })
}

/// The data of the subfield with that id.
pub(super) fn subfield(mut extra: &[u8], id: [u8; 2]) -> Option<&[u8]> {
    loop {
        let (head, rest) = extra.split_first_chunk::<4>()?;
        let (data, rest) =
            rest.split_at_checked(usize::from(u16::from_le_bytes([head[2], head[3]])))?;
        if head[..2] == id {
            return Some(data);
        }
        extra = rest;
    }
}

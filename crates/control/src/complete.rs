//! The header of a complete ending whose file has none.

use std::fmt::Write as _;

use hoffman_board::{Color, Role, role_name};

/// Room for a header that is made up.
const OFFSET: u64 = 4096;

/// The text of the header that a table with these men, all of them everywhere, would have: of
/// distances in so many bits, or of outcomes alone.
pub fn header_of_complete(
    men: impl IntoIterator<Item = (Color, Role)>,
    distance_bits: Option<u32>,
) -> String {
    let (mut pieces, mut symmetry) = (String::new(), 8);
    for (color, role) in men {
        let _ = writeln!(pieces, "   <piece color=\"{color}\" type=\"{}\"/>", role_name(role));
        if role == Role::Pawn {
            symmetry = 2;
        }
    }
    let bits = distance_bits.map(|bits| format!("<dtm bits=\"{bits}\"/>"));
    let format = bits.unwrap_or_else(|| "<basic/>".to_owned());
    format!(
        "<?xml version=\"1.0\"?>\n<tablebase offset=\"{OFFSET}\">\n   <index type=\"combinadic5\" \
         symmetry=\"{symmetry}\"/>\n{pieces}   {format}\n</tablebase>"
    )
}

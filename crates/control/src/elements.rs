//! Elements of a control file as text.

use std::fmt::Write as _;

use hoffman_board::value::FlagType;
use hoffman_board::{Color, Format, Role, role_name};

use crate::model::{PawngenElement, PawngenSide};
use crate::prune::PruneEffect;
use crate::statistics::escape;

/// The element that declares a format.
pub(crate) fn format_element(format: Format) -> String {
    match format {
        Format::Dtm(Some(bits)) | Format::Dtc(Some(bits)) => {
            format!("<{} bits=\"{bits}\"/>", format.name())
        }
        Format::Dtm(None) | Format::Dtc(None) | Format::Basic => format!("<{}/>", format.name()),
        Format::Flag(FlagType::WhiteWins) => "<flag type=\"white-wins\"/>".to_owned(),
        Format::Flag(FlagType::WhiteDraws) => "<flag type=\"white-draws\"/>".to_owned(),
    }
}

/// A piece; `location` is empty or an attribute with a blank before it.
pub(crate) fn piece_element(color: Color, role: Role, location: &str) -> String {
    format!("<piece color=\"{color}\" type=\"{}\"{location}/>", role_name(role))
}

/// A futurebase, with colours exchanged or not.
pub fn futurebase_element(filename: &str, inverted: bool) -> String {
    let colors = if inverted { " colors=\"invert\"" } else { "" };
    format!("<futurebase filename=\"{}\"{colors}/>", escape(filename))
}

/// A prune of a colour's moves of a kind, or of a pattern.
pub fn prune_element(color: Color, pattern: &str, effect: PruneEffect) -> String {
    let pattern = escape(pattern);
    format!("<prune color=\"{color}\" move=\"{pattern}\" type=\"{}\"/>", effect.name())
}

/// The attributes that say how many pawns a table has.
pub(crate) fn pawns_required(element: &PawngenElement) -> String {
    let number = |side: &PawngenSide| side.pawns_required.unwrap_or(0);
    format!(
        " white-pawns-required=\"{}\" black-pawns-required=\"{}\"",
        number(&element.white),
        number(&element.black)
    )
}

/// Pawn structures.
pub(crate) fn pawngen_element(element: &PawngenElement) -> String {
    let squares = |side: &PawngenSide| {
        side.start.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut text = format!(
        "<pawngen white-pawn-locations=\"{}\" black-pawn-locations=\"{}\"{}",
        squares(&element.white),
        squares(&element.black),
        pawns_required(element)
    );
    for color in [Color::White, Color::Black] {
        let side = element.side(color);
        let numbers = [
            ("queens-required", side.queens_required),
            ("captures-allowed", side.captures_allowed),
        ];
        for (name, number) in numbers.into_iter().filter(|&(_, number)| number > 0) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {color}-{name}=\"{number}\"");
        }
    }
    text.push_str("/>");
    text
}

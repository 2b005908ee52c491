//! Which formats follow from which, and how wide the entries of the new table are.

use hoffman_board::value::FlagType;
use hoffman_board::{Format, Variant};

use super::tally::IndexTally;
use crate::entries::{EntryCodec, EntryError, MAX_BITS, MAX_WRITTEN_BITS, width};
use crate::reader::Table;

/// Whether every entry of one format determines that of another.
pub(super) fn check_formats(from: Format, to: Format) -> Result<(), &'static str> {
    match (from, to) {
        (Format::Dtm(_), Format::Dtm(_))
        | (Format::Dtc(_), Format::Dtc(_))
        | (Format::Dtm(_) | Format::Dtc(_) | Format::Basic, Format::Basic | Format::Flag(_)) => {
            Ok(())
        }
        (Format::Dtm(_), Format::Dtc(_)) => {
            Err("the table holds distances to mate, from which those to conversion do not follow")
        }
        (Format::Dtc(_), Format::Dtm(_)) => {
            Err("the table holds distances to conversion, from which those to mate do not follow")
        }
        (Format::Basic, _) => Err("the table is in basic format and holds no distances"),
        (Format::Flag(old), Format::Flag(new)) if old == new => Ok(()),
        (Format::Flag(FlagType::WhiteWins), _) => {
            Err("the table only says whether White wins, which is less than the new format holds")
        }
        (Format::Flag(FlagType::WhiteDraws), _) => Err(
            "the table only says whether White wins or draws, which is less than the new format holds",
        ),
    }
}

/// A codec of the format for numbers of any width: which they need is known when all are.
pub(super) fn widest_codec(format: Format, variant: Variant) -> Result<EntryCodec, EntryError> {
    match format {
        Format::Dtm(_) => EntryCodec::new(Format::Dtm(None), MAX_BITS, variant),
        Format::Dtc(_) => EntryCodec::new(Format::Dtc(None), MAX_BITS, variant),
        Format::Basic => EntryCodec::new(format, 2, variant),
        Format::Flag(_) => EntryCodec::new(format, 1, variant),
    }
}

/// The codec with the width that the values need: for distances at least what the old table had,
/// or what was asked for.
pub(super) fn final_codec(
    table: &Table,
    wanted: Format,
    asked: bool,
    tally: &IndexTally,
) -> Result<EntryCodec, EntryError> {
    let (format, bits) = match wanted {
        Format::Dtm(requested) => {
            let bits = distance_bits(requested, asked, tally)?;
            (Format::Dtm(Some(bits)), bits)
        }
        Format::Dtc(requested) => {
            let bits = distance_bits(requested, asked, tally)?;
            (Format::Dtc(Some(bits)), bits)
        }
        Format::Basic => (Format::Basic, 2),
        Format::Flag(_) => (wanted, 1),
    };
    EntryCodec::new(format, bits, table.variant())
}

/// The width of distances; what was not asked for is only a wish.
fn distance_bits(requested: Option<u8>, asked: bool, tally: &IndexTally) -> Result<u8, EntryError> {
    let needed = width(None, tally.max, tally.min)?;
    match requested {
        Some(bits) if asked => width(Some(bits), tally.max, tally.min),
        Some(bits) => Ok(bits.clamp(needed, MAX_WRITTEN_BITS.max(needed))),
        None => Ok(needed),
    }
}

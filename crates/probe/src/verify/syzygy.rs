//! The published Syzygy tables as a second opinion, in which cursed wins are wins.

use hoffman_board::shakmaty::Setup;
use hoffman_board::{PieceList, Placement, Square, Variant};
use hoffman_table::Table;
use hoffman_table::foreign::FiftyMoves;
use hoffman_table::foreign::syzygy::SyzygyFolders;

use super::men::men_of;
use super::outcomes::Outcomes;
use super::{VerifyError, VerifyExtent};

pub(super) fn open_syzygy(
    table: &Table,
    options: &VerifyExtent<'_>,
) -> Result<Option<SyzygyFolders>, VerifyError> {
    if options.syzygy.is_empty() {
        return Ok(None);
    }
    if table.variant() == Variant::Suicide {
        return Err(VerifyError::SyzygyVariant(table.path().to_owned()));
    }
    SyzygyFolders::open(&options.syzygy, FiftyMoves::Wins).map(Some).map_err(VerifyError::Syzygy)
}

/// What Syzygy says of a legal position; none if it has no answer.
pub(super) fn probe_syzygy(
    syzygy: &SyzygyFolders,
    pieces: &PieceList,
    placement: &Placement,
    en_passant: Option<Square>,
) -> Option<Outcomes> {
    let mut setup = Setup::empty();
    for (square, color, role) in men_of(pieces, placement) {
        setup.board.set_piece_at(square, role.of(color));
    }
    setup.turn = placement.turn;
    setup.ep_square = en_passant;
    syzygy.value(&setup).ok()?.map(Outcomes::of)
}

//! The true values of tiles, from a source.

use crate::board::{Man, Position, squares};
use crate::code::{Code, outcome};
use crate::encode::{EncodeError, EncodeOptions, Source};
use crate::fen::to_fen;
use crate::move_rows::MoveRow;
use crate::symbols::{Desk, TileValues};
use crate::tile::Stream;

/// What a thread needs to look at tiles.
pub(crate) struct Filler<'a> {
    source: &'a dyn Source,
    options: &'a EncodeOptions,
    pub(crate) desk: Desk,
}

/// How many cells of a tile are legal, and how many of these settled.
pub(crate) type Filled = (u64, u64);

impl<'a> Filler<'a> {
    pub(crate) fn new(source: &'a dyn Source, options: &'a EncodeOptions) -> Filler<'a> {
        Filler { source, options, desk: Desk::new() }
    }

    /// The true values of a tile.
    pub(crate) fn fill(
        &mut self,
        stream: Stream<'_>,
        tile: u64,
        values: &mut TileValues,
    ) -> Result<Filled, EncodeError> {
        let Stream { space, turn, outcomes } = stream;
        let (mut legal, mut settled) = (0, 0);
        let Some(place) = space.tile(tile) else { return Ok((0, 0)) };
        self.desk.rows.start_legal(&place);
        for row in 0..space.rows() {
            let at = usize::from(row);
            values.codes[at] = [0; 64];
            values.settled[at] = 0;
            let lanes = self.desk.rows.begin_legal(space, turn, at, place.first_row);
            if lanes == 0 {
                continue;
            }
            let (position, man) = space.row_position(&place, row, turn);
            let codes = &mut values.codes[at];
            values.settled[at] = self.fill_row((&position, man), lanes, outcomes, codes)?;
            legal += u64::from(lanes.count_ones());
            settled += u64::from(values.settled[at].count_ones());
        }
        Ok((legal, settled))
    }

    /// The codes of positions that differ in the square of one man, which is not on the board;
    /// returns where an exit is as good.
    fn fill_row(
        &self,
        (position, man): (&Position, Man),
        lanes: u64,
        outcomes: bool,
        codes: &mut [Code; 64],
    ) -> Result<u64, EncodeError> {
        let missing = |position: Position| EncodeError::Value(to_fen(&position));
        let unknown = self.source.row(position, man, lanes, codes);
        if let Some(lane) = squares(unknown).next() {
            return Err(missing(position.with(lane, man)));
        }
        if outcomes {
            squares(lanes)
                .for_each(|lane| codes[usize::from(lane)] = outcome(codes[usize::from(lane)]));
        }
        if !self.options.exits {
            return Ok(0);
        }

        let mut exits = MoveRow::new(self.source, (position, man, lanes), outcomes);
        exits.look_at_exits().map_err(missing)?;
        let is_settled = |&lane: &u8| exits.best[usize::from(lane)] >= codes[usize::from(lane)];
        Ok(squares(lanes).filter(is_settled).fold(0, |set, lane| set | 1 << lane))
    }
}

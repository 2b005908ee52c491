//! The true values of tiles, from a source, and models made of them.

use crate::board::{Man, Position, squares};
use crate::cells::Space;
use crate::code::{Code, outcome};
use crate::encode::{EncodeError, EncodeOptions, Source};
use crate::fen::to_fen;
use crate::model::Model;
use crate::move_rows::MoveRow;
use crate::symbols::{Desk, TileValues};
use crate::tile::Stream;
use crate::train::{Trained, train};

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

    /// A model from so many cells: those of the first tiles of this order.
    pub(crate) fn model(
        &mut self,
        stream: Stream<'_>,
        order: &mut impl Iterator<Item = u64>,
        training: usize,
    ) -> Result<Trained, EncodeError> {
        let (sample, share) = self.sample(stream, order, training)?;
        Ok(train(stream, (&sample, share), self.options.tests, &mut self.desk))
    }

    /// The bits that a stream takes with a model from so many cells, model included, as far as so
    /// many others tell. Of a small table all cells serve for both.
    pub(crate) fn try_on_sample(
        &mut self,
        stream: Stream<'_>,
        cells: usize,
    ) -> Result<f64, EncodeError> {
        let mut order = tiles_all_over(stream.space);
        let (sample, share) = self.sample(stream, &mut order, cells)?;
        let trained = train(stream, (&sample, share), self.options.tests, &mut self.desk);
        let (mut fresh, mut fresh_share) = self.sample(stream, &mut order, cells)?;
        if share + fresh_share > 0.99 {
            (fresh, fresh_share) = (sample, share);
        }
        let model = trained.parts.to_bytes();
        let wrong = || EncodeError::Entries("a model that was made cannot be read");
        let parsed = Model::parse(&model, stream.space).ok_or_else(wrong)?;
        let mut data = 0;
        for (tile, values) in &fresh {
            data += self.desk.encode(stream, &parsed, (*tile, values)).len();
        }
        Ok(8.0 * (data as f64 / fresh_share.max(1e-9) + model.len() as f64))
    }

    /// The next tiles with so many cells or a few more, and the share of all tiles that was looked
    /// at.
    pub(crate) fn sample(
        &mut self,
        stream: Stream<'_>,
        order: &mut impl Iterator<Item = u64>,
        cells: usize,
    ) -> Result<(Vec<(u64, TileValues)>, f64), EncodeError> {
        let (mut sample, mut found, mut looked_at) = (Vec::new(), 0, 0_u64);
        while found < cells as u64 {
            let Some(tile) = order.next() else { break };
            let mut values = TileValues::new(stream.space.rows());
            let (legal, _) = self.fill(stream, tile, &mut values)?;
            if legal > 0 {
                found += legal;
                sample.push((tile, values));
            }
            looked_at += 1;
        }
        Ok((sample, looked_at as f64 / stream.space.tiles() as f64))
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

/// The tiles of a table in an order that repeats none, and whose beginning is a sample of all.
pub(crate) fn tiles_all_over(space: &Space) -> impl Iterator<Item = u64> + use<> {
    let tiles = space.tiles();
    let mut step = (tiles as f64 * 0.618_034) as u64 | 1;
    while gcd(step, tiles) != 1 {
        step += 2;
    }
    let mut next = 0;
    (0..tiles).map(move |_| {
        next = (next + step) % tiles;
        next
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

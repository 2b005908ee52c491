//! Samples of a stream, and models made of them.

use crate::cells::Space;
use crate::encode::{EncodeError, EncodeOptions, Source};
use crate::fill::Filler;
use crate::symbols::{Desk, TileValues};
use crate::tile::Stream;
use crate::train::{GO, Trained, train};
use crate::workers::{Crew, in_order};

/// Some tiles with their values, and the share of all tiles that was looked at for them.
pub(crate) type Sampled = (Vec<(u64, TileValues)>, f64);

/// Takes samples of streams. Whatever the crew, they are the same.
#[derive(Clone, Copy)]
pub(crate) struct Sampler<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) options: &'a EncodeOptions,
    pub(crate) crew: Crew<'a>,
}

impl Sampler<'_> {
    /// The model that a stream is written with.
    pub(crate) fn model(self, stream: Stream<'_>) -> Result<Trained, EncodeError> {
        let mut order = tiles_all_over(stream.space);
        let (_, trained) = self.train(stream, &mut order, self.options.training)?;
        Ok(trained)
    }

    /// A model made from the next tiles with so many cells or a few more, and these.
    pub(crate) fn train(
        self,
        stream: Stream<'_>,
        order: &mut impl Iterator<Item = u64>,
        cells: usize,
    ) -> Result<(Sampled, Trained), EncodeError> {
        let (sample, share) = self.sample(stream, order, cells)?;
        let trained = train(stream, (&sample, share), self.options.tests, self.crew)?;
        Ok(((sample, share), trained))
    }

    /// The bits that a stream takes with a model from so many cells, model included, as far as so
    /// many others tell. Of a small table all cells serve for both.
    pub(crate) fn try_stream(self, stream: Stream<'_>, cells: usize) -> Result<f64, EncodeError> {
        let mut order = tiles_all_over(stream.space);
        let ((sample, share), trained) = self.train(stream, &mut order, cells)?;
        let (mut fresh, mut fresh_share) = self.sample(stream, &mut order, cells)?;
        if share + fresh_share > 0.99 {
            (fresh, fresh_share) = (sample, share);
        }

        let (model_bytes, model) = trained.written(stream.space)?;
        let mut desk = Desk::new();
        let mut data = 0;
        for (tile, values) in &fresh {
            data += desk.encode(stream, &model, (*tile, values)).len();
        }
        Ok(8.0 * (data as f64 / fresh_share.max(1e-9) + model_bytes.len() as f64))
    }

    /// The next tiles with so many cells or a few more.
    pub(crate) fn sample(
        self,
        stream: Stream<'_>,
        order: &mut impl Iterator<Item = u64>,
        cells: usize,
    ) -> Result<Sampled, EncodeError> {
        let (mut sample, mut found, mut looked_at) = (Vec::new(), 0, 0);
        let of_tile = 64 * usize::from(stream.space.rows());
        while found < cells {
            // So many are needed at least, if all of their cells are legal.
            let next: Vec<u64> = order.by_ref().take((cells - found).div_ceil(of_tile)).collect();
            if next.is_empty() {
                break;
            }
            looked_at += next.len();
            let goes: Vec<&[u64]> = next.chunks(GO).collect();
            let fill = |go: u64| self.fill(stream, goes[go as usize]);
            in_order(self.crew, goes.len() as u64, fill, |(tiles, legal)| {
                sample.extend(tiles);
                found += legal;
                Ok::<_, EncodeError>(())
            })?;
        }
        Ok((sample, looked_at as f64 / stream.space.tiles() as f64))
    }

    /// Those of some tiles that have cells, with their values, and how many cells.
    fn fill(
        self,
        stream: Stream<'_>,
        numbers: &[u64],
    ) -> Result<(Vec<(u64, TileValues)>, usize), EncodeError> {
        let mut filler = Filler::new(self.source, self.options);
        let (mut tiles, mut found) = (Vec::new(), 0);
        for &tile in numbers {
            let mut values = TileValues::new(stream.space.rows());
            let (legal, _) = filler.fill(stream, tile, &mut values)?;
            if legal > 0 {
                found += legal as usize;
                tiles.push((tile, values));
            }
        }
        Ok((tiles, found))
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

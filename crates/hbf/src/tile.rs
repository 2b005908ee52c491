//! A tile of cells, decoded. See docs/hbf.md, 8. How one is encoded is in `symbols.rs`.

use crate::board::Color;
use crate::cells::Space;
use crate::code::{Code, DRAW, distance};
use crate::miss::{self, Coded};
use crate::model::{MISS, Model};
use crate::plain::{PlainCell, PlainVisitor, visit_cells};
use crate::range::{Decoder, HotDecoder};
use crate::rows::{Before, Candidates, Tests, TileRows};

/// The most cells of a tile.
pub(crate) const MAX_CELLS: usize = 64 * 64;

/// What is needed to understand the tiles of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream<'a> {
    pub(crate) space: &'a Space,
    pub(crate) turn: Color,
    /// Whether only outcomes are stored.
    pub(crate) outcomes: bool,
}

/// Which cells of a tile are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TilePart {
    Whole,
    /// All of them, after they were encoded in the same rows, which know the legal ones still.
    Again,
    /// Those of the rows up to and including one.
    Until(u8),
}

impl TilePart {
    /// The last row that is gone through.
    pub(crate) fn last_row(self, space: &Space) -> usize {
        usize::from(if let TilePart::Until(row) = self { row } else { space.rows() - 1 })
    }
}

/// Decodes a part of a tile. Its values are in `rows` then.
pub(crate) fn decode(
    stream: Stream<'_>,
    model: &Model,
    bytes: &[u8],
    (tile, part): (u64, TilePart),
    rows: &mut TileRows,
) {
    let Stream { space, turn, outcomes } = stream;
    let Some(place) = space.tile(tile) else { return };
    let tests = Tests::of(space);
    let coder = Decoder::new(bytes);
    let mut decoding = TileDecoding { model, coder, tests, outcomes, last: model.last };
    if let Some(leaves) = &model.plain {
        visit_cells(stream, (model, leaves), (tile, part), rows, &mut decoding);
        return;
    }
    rows.start(space, tests, &place, model.frame.default);

    for row in 0..=part.last_row(space) {
        let before = rows.begin_row(space, tests, turn, row, place.first_row);
        let legal = rows.legal[row];
        let slow = if before.is_first() { 64 } else { 8 };
        for lane in 0..slow {
            let code = if legal >> lane & 1 == 0 {
                rows.filling(before, lane)
            } else {
                let candidates = rows.look(tests, &model.frame, before, lane);
                decoding.cell(rows, before, lane, &candidates)
            };
            rows.set(row, lane, code);
        }
        decoding.ranks(rows, before, slow / 8..8);
    }
}

/// A tile under way.
struct TileDecoding<'a> {
    model: &'a Model,
    coder: Decoder<'a>,
    tests: Tests,
    outcomes: bool,
    /// Distances of the last losses and wins that were missed.
    last: [u16; 2],
}

impl TileDecoding<'_> {
    /// The cells of some ranks of a row, where it has an N; not of the first one.
    fn ranks(&mut self, rows: &mut TileRows, before: Before, ranks: std::ops::Range<usize>) {
        let (row, legal) = (before.row, rows.legal[before.row]);
        let mut last = [rows.value(row, 7), rows.value(row, 6)];
        for rank in ranks {
            let known = rows.look_at_rank(before, rank);
            for lane in 8 * rank..8 * rank + 8 {
                let code = if legal >> lane & 1 != 0 {
                    let frame = (self.tests, &self.model.frame, &known);
                    let candidates = rows.look_again(frame, before, lane, last);
                    self.cell(rows, before, lane, &candidates)
                } else if lane & 7 != 0 {
                    last[0]
                } else {
                    rows.value(row, lane - 8)
                };
                rows.set(row, lane, code);
                last = [code, last[0]];
            }
        }
    }

    #[inline]
    fn cell(
        &mut self,
        rows: &mut TileRows,
        before: Before,
        lane: usize,
        candidates: &Candidates,
    ) -> Code {
        let leaf = self.model.cells.leaf(&rows.words, lane);
        let symbol = self.coder.symbol(self.model.cells.distribution(leaf));
        if symbol < MISS {
            return candidates.get(symbol);
        }
        self.missed(rows, before, lane, candidates)
    }

    #[inline(never)]
    fn missed(
        &mut self,
        rows: &mut TileRows,
        before: Before,
        lane: usize,
        candidates: &Candidates,
    ) -> Code {
        let context = miss::class_context(candidates, rows.check >> lane & 1 != 0);
        let wanted = self.coder.symbol(&self.model.classes[context]);
        if wanted == 0 {
            return DRAW;
        }
        if self.outcomes {
            return miss::code_of_class(wanted, 0);
        }
        let last = self.last[wanted & 1 ^ 1];
        let at = (before, lane);
        let (guess, word) = miss::guess(rows, &self.model.frame, at, candidates, (wanted, last));
        rows.words[self.tests.miss_word()] = word;
        let leaf = self.model.misses.leaf(&rows.words, lane);
        let symbol = self.coder.symbol(self.model.misses.distribution(leaf));
        let bits = miss::rest_bits(symbol);
        let rest = if bits > 0 { self.coder.bits(bits) } else { 0 };
        let code = miss::code_of_class(wanted, guess.distance(Coded { symbol, rest }));
        self.last[wanted & 1 ^ 1] = distance(code);
        code
    }
}

impl PlainVisitor for TileDecoding<'_> {
    type Hot = HotDecoder;

    fn hot(&self) -> HotDecoder {
        self.coder.hot()
    }

    fn set_hot(&mut self, hot: HotDecoder) {
        self.coder.set_hot(hot);
    }

    fn begin_row(&mut self, _: usize) {}

    #[inline]
    fn holds_first(&self, hot: &mut HotDecoder, (_, _, frequency): (usize, Code, u16)) -> bool {
        hot.takes_first(frequency)
    }

    #[inline(never)]
    fn value(&mut self, rows: &mut TileRows, cell: &PlainCell, own: &[Code; 64]) -> Code {
        let frame = &self.model.frame;
        let symbol = self.coder.symbol(self.model.cells.distribution(cell.leaf));
        if symbol == 0 {
            return frame.first(cell.near);
        }
        let candidates = Candidates::of(cell.near, frame);
        if symbol < MISS {
            return candidates.get(symbol);
        }
        rows.set_codes(cell.before.row, own);
        self.missed(rows, cell.before, cell.lane, &candidates)
    }
}

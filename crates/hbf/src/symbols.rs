//! The symbols of a tile whose values are known: for its bytes, or for a model. See docs/hbf.md, 8.

use crate::board::squares;
use crate::code::{Code, class, distance, squares_where};
use crate::miss::{self, Coded};
use crate::model::{CELL_SYMBOLS, MISS, Model};
use crate::plain::{PlainCell, PlainVisitor, visit_cells};
use crate::range::{Encoder, RangePart, TOTAL, put_first};
use crate::rows::{Before, Candidates, ModelFrame, Tests, TileRows};
use crate::side_by_side::SideBySide;
use crate::tile::{Stream, TilePart};

/// The true values of a tile, and which of them an exit settles: there anything that is not larger
/// may be stored.
#[derive(Clone, Debug)]
pub(crate) struct TileValues {
    /// Row by row, 64 codes each; 0 where there is no cell.
    pub(crate) codes: Vec<[Code; 64]>,
    pub(crate) settled: Vec<u64>,
}

impl TileValues {
    pub(crate) fn new(rows: u8) -> TileValues {
        let rows = usize::from(rows);
        TileValues { codes: vec![[0; 64]; rows], settled: vec![0; rows] }
    }

    /// Values most of which are those of a neighbour: of which one depends on who is equal to whom.
    #[cfg(test)]
    pub(crate) fn made_up(space: &crate::cells::Space, random: &mut fastrand::Rng) -> TileValues {
        use crate::code::{DRAW, Value, code_of};

        let mut values = TileValues::new(space.rows());
        let mut code = DRAW;
        for row in 0..values.codes.len() {
            for lane in 0..64 {
                let of = |row: usize, lane: usize| values.codes[row][lane];
                let (n, s) = (of(row.saturating_sub(1), lane), of(row, lane.saturating_sub(8)));
                let before = [of(row, lane.saturating_sub(2)), of(row, lane.saturating_sub(9))];
                let bits = before.map(|other| u8::from(other == code)).into_iter();
                let likely = bits.chain([u8::from(n == s)]).fold(0, |all, bit| 2 * all + bit);
                code = match random.u8(0..40) {
                    0 => DRAW,
                    1 => code_of(Value::Loss(random.u16(0..6))),
                    2 => code_of(Value::Win(1 + random.u16(0..600))),
                    rest if rest < 4 * likely + 4 => n,
                    36.. => code,
                    _ => s,
                };
                values.codes[row][lane] = code.max(1);
            }
            values.settled[row] = random.u64(..) & random.u64(..);
        }
        values
    }

    /// How many cells are legal.
    pub(crate) fn cells(&self) -> usize {
        self.codes.as_flattened().iter().filter(|&&code| code != 0).count()
    }

    /// Whether decoded rows say the same, at every legal cell.
    pub(crate) fn agree(&self, rows: &TileRows) -> bool {
        let of_row = |(row, codes): (usize, &[Code; 64])| {
            let found = rows.row(row);
            let same = squares_where(|lane| found[lane] == codes[lane]);
            let less = squares_where(|lane| found[lane] < codes[lane]);
            rows.legal[row] & !(same | less & self.settled[row]) == 0
        };
        self.codes.iter().enumerate().all(of_row)
    }
}

/// Where tiles are looked at.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) rows: TileRows,
    pub(crate) side_by_side: SideBySide,
}

/// A tile that is being coded.
struct TileCoding<'m> {
    model: &'m Model,
    coder: Encoder,
    /// Distances of the last losses and wins that were missed.
    last: [u16; 2],
}

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk { rows: TileRows::new(), side_by_side: SideBySide::new() }
    }

    /// Goes through the rows of a tile and calls `visit` with each that has cells, when its values
    /// are set and it has been looked at. Where there is a choice of values, `model` says which one
    /// is likely; without it the first one counts.
    pub(crate) fn rows(
        &mut self,
        stream: Stream<'_>,
        frame: &ModelFrame,
        (tile, values): (u64, &TileValues),
        model: Option<&Model>,
        mut visit: impl FnMut(&mut Desk, Before),
    ) {
        let Stream { space, turn, .. } = stream;
        let Some(place) = space.tile(tile) else { return };
        let tests = Tests::of(space);
        self.rows.start(space, tests, &place, frame.default);

        for (row, codes) in values.codes.iter().enumerate() {
            let before = self.rows.begin_row(space, tests, turn, row, place.first_row);
            let settled = values.settled[row] & self.rows.legal[row];
            if settled == 0 {
                self.rows.set_row(before, codes);
            } else {
                self.settle((frame, None), before, (codes, settled));
            }
            if self.rows.legal[row] == 0 {
                continue;
            }
            self.side_by_side.look(&self.rows, tests, frame, before);
            if let Some(model) = model.filter(|_| settled != 0) {
                // Now it is known what is likely, at least about.
                let mut leaves = [0; 64];
                model.cells.leaves(&self.side_by_side.masks, settled, &mut leaves);
                let first = *self.rows.row(row);
                self.settle((frame, Some((model, &leaves))), before, (codes, settled));
                if *self.rows.row(row) != first {
                    self.side_by_side.look(&self.rows, tests, frame, before);
                }
            }
            visit(self, before);
        }
    }

    /// Sets the values of a row. Cells that are settled get the likeliest of the candidates that
    /// may be stored, the first one of several.
    fn settle(
        &mut self,
        (frame, likely): (&ModelFrame, Option<(&Model, &[u16; 64])>),
        before: Before,
        (codes, settled): (&[Code; 64], u64),
    ) {
        let legal = self.rows.legal[before.row];
        self.rows.set_codes(before.row, codes);
        for lane in squares(settled | !legal).map(usize::from) {
            let code = if settled >> lane & 1 == 0 {
                self.rows.filling(before, lane)
            } else {
                let candidates = self.rows.candidates(frame, before, lane);
                let likely = match likely {
                    None => &[1; CELL_SYMBOLS],
                    Some((model, leaves)) => model.cells.distribution(usize::from(leaves[lane])),
                };
                likeliest(&candidates, likely, codes[lane])
            };
            self.rows.set(before.row, lane, code);
        }
    }

    /// The bytes of a tile.
    pub(crate) fn encode(
        &mut self,
        stream: Stream<'_>,
        model: &Model,
        tile: (u64, &TileValues),
    ) -> Vec<u8> {
        let mut coding = TileCoding { model, coder: Encoder::new(), last: model.last };
        if let Some(leaves) = &model.plain {
            let (number, values) = tile;
            let mut coding = PlainCoding { coding, stream, values, codes: &NO_CODES, settled: 0 };
            let tile = (number, TilePart::Whole);
            visit_cells(stream, (model, leaves), tile, &mut self.rows, &mut coding);
            return coding.coding.coder.finish();
        }
        self.rows(stream, &model.frame, tile, Some(model), |desk, before| {
            desk.code_row(stream, before, &mut coding);
        });
        coding.coder.finish()
    }

    /// The symbols of a row.
    fn code_row(&mut self, stream: Stream<'_>, before: Before, coding: &mut TileCoding<'_>) {
        let mut leaves = [0; 64];
        let cells = self.rows.legal[before.row];
        let model = &coding.model.cells;
        model.leaves(&self.side_by_side.masks, cells, &mut leaves);
        for lane in squares(cells) {
            let lane = usize::from(lane);
            let symbol = self.side_by_side.symbol(lane);
            coding.coder.put(model.part(usize::from(leaves[lane]), symbol));
            if symbol == MISS {
                self.code_miss(stream, (before, lane), coding);
            }
        }
    }

    fn code_miss(&mut self, stream: Stream<'_>, at: (Before, usize), coding: &mut TileCoding<'_>) {
        let TileCoding { model, coder, last } = coding;
        let miss = self.miss(stream, &model.frame, at, last);
        coder.put(RangePart::symbol(&model.classes[miss.context], miss.class));
        let Some((coded, word)) = miss.distance else { return };
        let (tests, lane) = (Tests::of(stream.space), at.1);
        let own = tests.count(false)..tests.count(true);
        for (bit, mask) in self.side_by_side.masks[own].iter_mut().enumerate() {
            *mask = (word >> bit & 1) << lane;
        }
        let leaf = model.misses.leaf_of(&self.side_by_side.masks, lane);
        coding.distance(leaf, coded);
    }

    /// How a miss is coded.
    pub(crate) fn miss(
        &self,
        stream: Stream<'_>,
        frame: &ModelFrame,
        (before, lane): (Before, usize),
        last: &mut [u16; 2],
    ) -> Miss {
        let code = self.rows.row(before.row)[lane];
        let candidates = self.side_by_side.candidates(frame, lane);
        Miss::of((&self.rows, frame, stream.outcomes), (before, lane), (code, &candidates), last)
    }
}

/// A tile that is being coded with a plain model.
struct PlainCoding<'m> {
    coding: TileCoding<'m>,
    stream: Stream<'m>,
    values: &'m TileValues,
    /// Of the row that is coded.
    codes: &'m [Code; 64],
    settled: u64,
}

/// What no row has.
static NO_CODES: [Code; 64] = [0; 64];

impl PlainVisitor for PlainCoding<'_> {
    /// The range of the coder.
    type Hot = u32;

    fn hot(&self) -> u32 {
        self.coding.coder.range()
    }

    fn set_hot(&mut self, range: u32) {
        self.coding.coder.set_range(range);
    }

    fn begin_row(&mut self, row: usize) {
        (self.codes, self.settled) = (&self.values.codes[row], self.values.settled[row]);
    }

    #[inline]
    fn holds_first(&self, range: &mut u32, (lane, first, frequency): (usize, Code, u16)) -> bool {
        let code = self.codes[lane & 63];
        let is_settled = self.settled >> (lane & 63) & 1 != 0;
        let is_likely = u32::from(frequency) > TOTAL / 2;
        // What is settled may hold less; whether it does cannot be foreseen, so there is no branch.
        let least = if is_settled & is_likely { 0 } else { code };
        (least..=code).contains(&first) && put_first(range, frequency)
    }

    #[inline(never)]
    fn value(&mut self, rows: &mut TileRows, cell: &PlainCell, own: &[Code; 64]) -> Code {
        let PlainCell { before, lane, leaf, near } = *cell;
        let TileCoding { model, coder, last } = &mut self.coding;
        let likely = model.cells.distribution(leaf);
        let first = model.frame.first(near);
        let code = self.codes[lane & 63];
        if first == code {
            coder.put(model.cells.part(leaf, 0));
            return code;
        }

        let is_settled = self.settled >> (lane & 63) & 1 != 0;
        let candidates = Candidates::of(near, &model.frame);
        let code = if is_settled { likeliest(&candidates, likely, code) } else { code };
        let symbol = candidates.iter().position(|candidate| candidate == code).unwrap_or(MISS);
        coder.put(model.cells.part(leaf, symbol));
        if symbol != MISS {
            return code;
        }

        rows.set_codes(before.row, own);
        let of_stream = (&*rows, &model.frame, self.stream.outcomes);
        let miss = Miss::of(of_stream, (before, lane), (code, &candidates), last);
        coder.put(RangePart::symbol(&model.classes[miss.context], miss.class));
        if let Some((coded, word)) = miss.distance {
            rows.words[Tests::of(self.stream.space).miss_word()] = word;
            let leaf = model.misses.leaf(&rows.words, lane);
            self.coding.distance(leaf, coded);
        }
        code
    }
}

impl TileCoding<'_> {
    /// Codes the distance of a miss, with a leaf of the second tree.
    fn distance(&mut self, leaf: usize, coded: Coded) {
        self.coder.put(self.model.misses.part(leaf, coded.symbol));
        let bits = miss::rest_bits(coded.symbol);
        if bits > 0 {
            self.coder.put(RangePart::bits(bits, coded.rest));
        }
    }
}

/// The likeliest of the candidates that a cell may hold that an exit settles, the first one of
/// several; the code itself if there is none.
fn likeliest(candidates: &Candidates, likely: &[u16; CELL_SYMBOLS], code: Code) -> Code {
    let allowed = candidates.iter().enumerate().filter(|&(_, candidate)| candidate <= code);
    let best = allowed.rev().max_by_key(|&(symbol, _)| likely[symbol]);
    best.map_or(code, |(_, candidate)| candidate)
}

impl Miss {
    /// How a code is coded that is no candidate.
    fn of(
        (rows, frame, outcomes): (&TileRows, &ModelFrame, bool),
        (before, lane): (Before, usize),
        (code, candidates): (Code, &Candidates),
        last: &mut [u16; 2],
    ) -> Miss {
        let context = miss::class_context(candidates, rows.check >> lane & 1 != 0);
        let class = class(code);
        if class == 0 || outcomes {
            return Miss { context, class, distance: None };
        }
        let last = &mut last[class & 1 ^ 1];
        let (guess, word) = miss::guess(rows, frame, (before, lane), candidates, (class, *last));
        *last = distance(code);
        Miss { context, class, distance: Some((guess.coded(distance(code)), word)) }
    }
}

/// A miss: the context of its class, the class, and its distance with the tests of misses.
pub(crate) struct Miss {
    pub(crate) context: usize,
    pub(crate) class: usize,
    pub(crate) distance: Option<(Coded, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::cells::Space;
    use crate::code::DRAW;
    use crate::material::Material;
    use crate::rows::Candidates;

    /// The candidate that a symbol stands for.
    fn candidate(candidates: &Candidates, symbol: usize) -> Option<Code> {
        candidates.iter().nth(symbol)
    }

    #[test]
    fn cells_side_by_side_look_as_they_do_one_after_the_other() {
        let mut random = fastrand::Rng::with_seed(6);
        let frame = ModelFrame::new([2, 0, 3, 1], DRAW, [1, 2, 3, 5, 8, 300, 400, 500, u16::MAX]);
        for (name, order, rows) in
            [("KRvK", &[0][..], 1), ("KNNvKN", &[2, 0, 1], 16), ("KRPvKQ", &[1, 2, 0], 32)]
        {
            let material = Material::parse(name).expect("an ending");
            let space = Space::new(&material, order, rows).expect("a space");
            let tests = Tests::of(&space);
            let stream = Stream { space: &space, turn: Color::Black, outcomes: false };
            let mut cells = 0;
            for _ in 0..20 {
                let values = TileValues::made_up(&space, &mut random);
                let tile = random.u64(0..space.tiles());
                let mut desk = Desk::new();
                desk.rows(stream, &frame, (tile, &values), None, |desk, before| {
                    for lane in squares(desk.rows.legal[before.row]).map(usize::from) {
                        let found = desk.rows.look(tests, &frame, before, lane);
                        let word = desk.rows.words[tests.cell_word()];
                        for test in 0..tests.count(false) {
                            let (at, bit) = tests.bit(test);
                            let bit = if bit == 64 { lane } else { usize::from(bit) };
                            let expected = desk.rows.words[usize::from(at)] >> bit & 1;
                            let own = desk.side_by_side.masks[test] >> lane & 1;
                            assert_eq!(own, expected, "{name} row {} {lane} {test}", before.row);
                        }
                        let symbol = desk.side_by_side.symbol(lane);
                        let code = desk.rows.row(before.row)[lane];
                        let expected = found.iter().position(|other| other == code);
                        assert_eq!(symbol, expected.unwrap_or(MISS));
                        let same = desk.side_by_side.candidates(&frame, lane);
                        assert_eq!(candidate(&same, symbol), candidate(&found, symbol));
                        if lane >= 8 && !before.is_first() {
                            let known = desk.rows.look_at_rank(before, lane / 8);
                            let last = [1, 2].map(|by| desk.rows.value(before.row, lane - by));
                            let again =
                                desk.rows.look_again((tests, &frame, &known), before, lane, last);
                            assert_eq!(desk.rows.words[tests.cell_word()], word, "{name} {lane}");
                            assert!(again.iter().eq(found.iter()));
                        }
                        cells += 1;
                    }
                });
            }
            assert!(cells > 50, "{name}: {cells}");
        }
    }
}

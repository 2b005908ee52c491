//! A tile of cells: decoded, encoded, or looked at for a model. See docs/hbf.md, 8.

use crate::board::Color;
use crate::cells::Space;
use crate::code::{Code, DRAW, class, distance};
use crate::miss::{self, Coded};
use crate::model::{CELL_SYMBOLS, CLASSES, MISS, MISS_SYMBOLS, Model};
use crate::range::{Decoder, Encoder};
use crate::rows::{Before, Candidates, Frame, Rows, Tests};

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

/// A cell that is to get its value.
pub(crate) struct Cell<'a> {
    pub(crate) rows: &'a mut Rows,
    pub(crate) tests: Tests,
    pub(crate) frame: &'a Frame,
    pub(crate) before: Before,
    pub(crate) lane: usize,
    pub(crate) candidates: Candidates,
    /// Distances of the last losses and wins that were missed.
    pub(crate) last: &'a mut [u16; 2],
    pub(crate) outcomes: bool,
}

impl Cell<'_> {
    pub(crate) fn class_context(&self) -> usize {
        miss::class_context(&self.candidates, self.rows.check >> self.lane & 1 != 0)
    }

    /// See [`miss::guess`].
    pub(crate) fn guess(&mut self, wanted: usize) -> miss::Guess {
        let last = self.last[wanted & 1 ^ 1];
        let (before, lane) = (self.before, self.lane);
        let frame = (self.tests, self.frame);
        miss::guess(self.rows, frame, (before, lane), &self.candidates, (wanted, last))
    }

    pub(crate) fn remember(&mut self, wanted: usize, moves: u16) {
        self.last[wanted & 1 ^ 1] = moves;
    }
}

/// Gives cells their values, one after the other.
pub(crate) trait Coder {
    fn cell(&mut self, cell: &mut Cell<'_>) -> Code;
}

/// Goes through the cells of a tile up to and including one, row by row; all, if none is given.
pub(crate) fn walk(
    stream: Stream<'_>,
    (frame, last): (&Frame, [u16; 2]),
    (tile, last_cell): (u64, Option<(u8, u8)>),
    rows: &mut Rows,
    coder: &mut impl Coder,
) {
    let Stream { space, turn, outcomes } = stream;
    let Some(place) = space.tile(tile) else { return };
    let tests = Tests::of(space);
    let mut last = last;
    rows.start(space, tests, &place, frame.default);
    let (last_row, last_lane) = last_cell.unwrap_or((space.rows() - 1, 63));
    for row in 0..=usize::from(last_row) {
        let before = rows.begin_row(space, tests, turn, row, place.first_row);
        let legal = rows.legal[row];
        let lanes = if row == usize::from(last_row) { usize::from(last_lane) + 1 } else { 64 };
        for lane in 0..lanes {
            let code = if legal >> lane & 1 == 0 {
                rows.filling(before, lane)
            } else {
                let candidates = rows.look(tests, frame, before, lane);
                let last = &mut last;
                let mut cell =
                    Cell { rows, tests, frame, before, lane, candidates, last, outcomes };
                coder.cell(&mut cell)
            };
            rows.set(row, lane, code);
        }
    }
}

/// Decodes values.
pub(crate) struct Decoding<'a> {
    pub(crate) model: &'a Model,
    pub(crate) coder: Decoder<'a>,
}

impl Coder for Decoding<'_> {
    #[inline]
    fn cell(&mut self, cell: &mut Cell<'_>) -> Code {
        let leaf = self.model.cells.leaf(&cell.rows.words, cell.lane);
        let symbol = self.coder.symbol(self.model.cells.distribution(leaf));
        if symbol < MISS {
            return cell.candidates.codes[symbol.min(cell.candidates.count - 1)];
        }
        self.missed(cell)
    }
}

impl Decoding<'_> {
    #[inline(never)]
    fn missed(&mut self, cell: &mut Cell<'_>) -> Code {
        let wanted = self.coder.symbol(&self.model.classes[cell.class_context()]);
        if wanted == 0 {
            return DRAW;
        }
        if cell.outcomes {
            return miss::code_of_class(wanted, 0);
        }
        let guess = cell.guess(wanted);
        let leaf = self.model.misses.leaf(&cell.rows.words, cell.lane);
        let symbol = self.coder.symbol(self.model.misses.distribution(leaf));
        let bits = miss::rest_bits(symbol);
        let rest = if bits > 0 { self.coder.bits(bits) } else { 0 };
        let code = miss::code_of_class(wanted, guess.distance(Coded { symbol, rest }));
        cell.remember(wanted, distance(code));
        code
    }
}

/// Decodes a tile up to and including a cell; all of it, if none is given. Its values are in `rows` then.
pub(crate) fn decode(
    stream: Stream<'_>,
    model: &Model,
    bytes: &[u8],
    cells: (u64, Option<(u8, u8)>),
    rows: &mut Rows,
) {
    let mut coder = Decoding { model, coder: Decoder::new(bytes) };
    walk(stream, (&model.frame, model.last), cells, rows, &mut coder);
}

/// The true values of a tile, and which of them an exit settles: there anything that is not larger may be stored.
#[derive(Clone, Debug)]
pub(crate) struct TileValues {
    pub(crate) codes: Box<[Code; MAX_CELLS]>,
    pub(crate) settled: [u64; 64],
}

impl TileValues {
    pub(crate) fn new() -> TileValues {
        TileValues { codes: Box::new([0; MAX_CELLS]), settled: [0; 64] }
    }

    fn at(&self, row: usize, lane: usize) -> (Code, bool) {
        (self.codes[row * 64 + lane], self.settled[row] >> lane & 1 != 0)
    }
}

/// A coder that knows the values; what it does with the symbols differs.
pub(crate) trait Known {
    /// How likely the symbols of a cell are; equally, if that is not known yet.
    fn likelihoods(&self, cell: &Cell<'_>) -> [u16; CELL_SYMBOLS];
    fn symbol(&mut self, cell: &Cell<'_>, symbol: usize);
    fn class(&mut self, cell: &Cell<'_>, class: usize);
    fn distance(&mut self, cell: &Cell<'_>, coded: Coded);
}

/// Turns values into symbols.
pub(crate) struct Knowing<'a, K> {
    pub(crate) values: &'a TileValues,
    pub(crate) known: K,
}

impl<K: Known> Coder for Knowing<'_, K> {
    fn cell(&mut self, cell: &mut Cell<'_>) -> Code {
        let (code, settled) = self.values.at(cell.before.row, cell.lane);
        let candidates = cell.candidates;
        let fits = |candidate: Code| if settled { candidate <= code } else { candidate == code };
        let likelihoods = self.known.likelihoods(cell);
        let allowed = candidates.as_slice().iter().enumerate().filter(|&(_, &c)| fits(c));
        // The first one of the likeliest.
        let best = allowed.rev().max_by_key(|&(symbol, _)| likelihoods[symbol]);
        if let Some((symbol, &candidate)) = best {
            self.known.symbol(cell, symbol);
            return candidate;
        }
        self.known.symbol(cell, MISS);
        let wanted = class(code);
        self.known.class(cell, wanted);
        if wanted != 0 && !cell.outcomes {
            let coded = cell.guess(wanted).coded(distance(code));
            self.known.distance(cell, coded);
            cell.remember(wanted, distance(code));
        }
        code
    }
}

/// Writes symbols.
pub(crate) struct Writing<'a> {
    model: &'a Model,
    coder: Encoder,
    leaf: std::cell::Cell<usize>,
}

impl Known for Writing<'_> {
    fn likelihoods(&self, cell: &Cell<'_>) -> [u16; CELL_SYMBOLS] {
        let leaf = self.model.cells.leaf(&cell.rows.words, cell.lane);
        self.leaf.set(leaf);
        *self.model.cells.distribution(leaf)
    }

    fn symbol(&mut self, _cell: &Cell<'_>, symbol: usize) {
        self.coder.symbol(self.model.cells.distribution(self.leaf.get()), symbol);
    }

    fn class(&mut self, cell: &Cell<'_>, class: usize) {
        let classes: &[u16; CLASSES] = &self.model.classes[cell.class_context()];
        self.coder.symbol(classes, class);
    }

    fn distance(&mut self, cell: &Cell<'_>, coded: Coded) {
        let leaf = self.model.misses.leaf(&cell.rows.words, cell.lane);
        let frequencies: &[u16; MISS_SYMBOLS] = self.model.misses.distribution(leaf);
        self.coder.symbol(frequencies, coded.symbol);
        let bits = miss::rest_bits(coded.symbol);
        if bits > 0 {
            self.coder.bits(bits, coded.rest);
        }
    }
}

/// The bytes of a tile.
pub(crate) fn encode(
    stream: Stream<'_>,
    model: &Model,
    tile: u64,
    values: &TileValues,
    rows: &mut Rows,
) -> Vec<u8> {
    let known = Writing { model, coder: Encoder::new(), leaf: std::cell::Cell::new(0) };
    let mut coder = Knowing { values, known };
    walk(stream, (&model.frame, model.last), (tile, None), rows, &mut coder);
    coder.known.coder.finish()
}

/// Whether decoded rows say what the values are, at every legal cell.
pub(crate) fn agrees(space: &Space, rows: &Rows, values: &TileValues) -> bool {
    (0..usize::from(space.rows())).all(|row| {
        rows.row(row).iter().enumerate().all(|(lane, &found)| {
            let (code, settled) = values.at(row, lane);
            rows.legal[row] >> lane & 1 == 0 || found == code || settled && found < code
        })
    })
}

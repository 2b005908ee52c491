//! Models from samples of tiles.

use crate::code::{Code, DRAW, class, distance};
use crate::grow::{Bits, Limits, Samples, grow, transpose};
use crate::miss::Coded;
use crate::model::{CELL_SYMBOLS, CLASS_CONTEXTS, CLASSES, MISS_SYMBOLS, ModelParts};
use crate::range::fit;
use crate::rows::{Frame, Rows, Tests};
use crate::tile::{Cell, Knowing, Known, Stream, TileValues, walk};

/// Tiles with their numbers.
pub(crate) type Sample = [(u64, TileValues)];

/// A model, and how large its trees are.
#[derive(Debug)]
pub(crate) struct Trained {
    pub(crate) parts: ModelParts,
    pub(crate) leaves: [usize; 2],
}

/// Symbols of the first tree are told apart, those of the second by these groups.
const CELL_GROUPS: [u8; CELL_SYMBOLS] = [0, 1, 2, 3, 4];
const MISS_GROUPS: [u8; MISS_SYMBOLS] =
    [0, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6, 5, 6, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8];

/// What a leaf takes in a file, with its inner node and what its frequencies are too coarse for.
const CELL_LEAF_BITS: f64 = 72.0;
const MISS_LEAF_BITS: f64 = 240.0;

const DEPTH: usize = 20;

/// Makes a model for a stream from a sample of its tiles. `share` is the part of the stream's cells that the sample has.
pub(crate) fn train(stream: Stream<'_>, sample: &Sample, share: f64, rows: &mut Rows) -> Trained {
    let (frame, last) = survey(stream, sample, rows);
    let tests = Tests::of(stream.space);
    let words = tests.cell_word().div_ceil(64);
    let mut collected = Collected {
        tests,
        words,
        cells: Samples::new(words + 1),
        misses: Samples::new(words + 2),
        classes: [[0; CLASSES]; CLASS_CONTEXTS],
        row: usize::MAX,
        lanes: vec![[0; 64]; words],
    };
    for (tile, values) in sample {
        collected.row = usize::MAX;
        let mut coder = Knowing { values, known: &mut collected };
        walk(stream, (&frame, last), (*tile, None), rows, &mut coder);
    }
    let scale = 1.0 / share.clamp(1e-9, 1.0);
    let cell_limits =
        Limits { scale, leaf_bits: CELL_LEAF_BITS, chance_bits: 20.0, least: 40, depth: DEPTH };
    let miss_limits =
        Limits { leaf_bits: MISS_LEAF_BITS, chance_bits: 90.0, least: 150, ..cell_limits };
    let bits = |count| bits_of_tests(tests, words, count);
    let cell_tests = bits(tests.count(false));
    let miss_tests = bits(tests.count(true));
    let cells = grow(&mut collected.cells, &cell_tests, &CELL_GROUPS, cell_limits);
    let misses = grow(&mut collected.misses, &miss_tests, &MISS_GROUPS, miss_limits);
    let classes = collected.classes.map(|counts| {
        let bytes = fit(&counts, &[0.3; CLASSES]);
        [bytes[0], bytes[1]]
    });
    let leaves = [cells.leaves, misses.leaves];
    let (cells, misses) = (cells.bytes, misses.bytes);
    let parts = ModelParts { frame, last, classes, cells, misses };
    Trained { parts, leaves }
}

/// Where samples have the bits of tests.
fn bits_of_tests(tests: Tests, words: usize, count: usize) -> Bits {
    let place = |test: usize| match tests.bit(test) {
        (word, 64) => (word / 64, (word % 64) as u8),
        (word, bit) => (words as u16 + word - tests.cell_word() as u16, bit),
    };
    (0..count).map(place).collect()
}

/// What the trees are grown from.
struct Collected {
    tests: Tests,
    words: usize,
    cells: Samples,
    misses: Samples,
    classes: [[u32; CLASSES]; CLASS_CONTEXTS],
    /// The row whose tests are in `lanes`.
    row: usize,
    /// The tests of a row, by word and lane square.
    lanes: Vec<[u64; 64]>,
}

impl Collected {
    fn words_of(&mut self, cell: &Cell<'_>) {
        if self.row == cell.before.row {
            return;
        }
        self.row = cell.before.row;
        let tests = &cell.rows.words[..self.tests.cell_word()];
        for (lanes, tests) in self.lanes.iter_mut().zip(tests.chunks(64)) {
            lanes.fill(0);
            lanes[..tests.len()].copy_from_slice(tests);
            transpose(lanes);
        }
    }
}

impl Known for &mut Collected {
    fn likelihoods(&self, _cell: &Cell<'_>) -> [u16; CELL_SYMBOLS] {
        [1; CELL_SYMBOLS]
    }

    fn symbol(&mut self, cell: &Cell<'_>, symbol: usize) {
        self.words_of(cell);
        let own = cell.rows.words[self.tests.cell_word()];
        let lanes = self.lanes.iter().map(|lanes| lanes[cell.lane]);
        self.cells.push(lanes.chain([own]), symbol);
    }

    fn class(&mut self, cell: &Cell<'_>, class: usize) {
        self.classes[cell.class_context()][class] += 1;
    }

    fn distance(&mut self, cell: &Cell<'_>, coded: Coded) {
        let own =
            [self.tests.cell_word(), self.tests.miss_word()].map(|word| cell.rows.words[word]);
        let lanes = self.lanes.iter().take(self.words).map(|lanes| lanes[cell.lane]);
        self.misses.push(lanes.chain(own), coded.symbol);
    }
}

/// The frame of a model, and the first distances of misses: which neighbours agree most often, which distances there are.
fn survey(stream: Stream<'_>, sample: &Sample, rows: &mut Rows) -> (Frame, [u16; 2]) {
    let mut distances = vec![0_u32; usize::from(u16::MAX) + 1];
    let mut codes = distances.clone();
    let mut agreed = [0_u32; 4];
    let mut frame = Frame { order: [0, 1, 2, 3], default: DRAW, thresholds: [u16::MAX; 9] };
    // A twentieth of the sample is enough, as long as it is not small.
    for (tile, values) in sample.iter().step_by(1 + sample.len() / 200) {
        let seen = Seen { distances: &mut distances, codes: &mut codes, agreed: &mut agreed };
        let mut coder = Knowing { values, known: Looking { seen, values } };
        walk(stream, (&frame, [0, 0]), (*tile, None), rows, &mut coder);
    }
    frame.order.sort_by_key(|&place| std::cmp::Reverse(agreed[usize::from(place)]));
    let most = (1..codes.len()).max_by_key(|&code| codes[code]).unwrap_or(usize::from(DRAW));
    frame.default = if codes[most] > 0 { most as Code } else { DRAW };
    let total: u64 = distances[1..].iter().map(|&count| u64::from(count)).sum();
    let mut below = 0;
    let mut next = 0;
    for (moves, &count) in distances.iter().enumerate().skip(1) {
        below += u64::from(count);
        while next < 9 && below * 10 > total * (next as u64 + 1) {
            frame.thresholds[next] = moves as u16 + 1;
            next += 1;
        }
    }
    let middle = frame.thresholds[4].clamp(1, 1000) - 1;
    (frame, [middle, middle.max(1)])
}

struct Seen<'a> {
    distances: &'a mut [u32],
    codes: &'a mut [u32],
    agreed: &'a mut [u32; 4],
}

struct Looking<'a> {
    seen: Seen<'a>,
    values: &'a TileValues,
}

impl Known for Looking<'_> {
    fn likelihoods(&self, _cell: &Cell<'_>) -> [u16; CELL_SYMBOLS] {
        [1; CELL_SYMBOLS]
    }

    fn symbol(&mut self, cell: &Cell<'_>, _symbol: usize) {
        let (row, lane) = (cell.before.row, cell.lane);
        let code = self.values.codes[row * 64 + lane];
        if self.values.settled[row] >> lane & 1 != 0 {
            return;
        }
        self.seen.codes[usize::from(code)] += 1;
        if class(code) != 0 {
            self.seen.distances[usize::from(distance(code))] += 1;
        }
        for (place, near) in cell.rows.neighbours(cell.before, lane).into_iter().enumerate() {
            self.seen.agreed[place] += u32::from(near == code);
        }
    }

    fn class(&mut self, _cell: &Cell<'_>, _class: usize) {}

    fn distance(&mut self, _cell: &Cell<'_>, _coded: Coded) {}
}

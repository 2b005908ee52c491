//! The cells of a row all at once, where their values are known: tests as sets of lane squares. See
//! docs/hbf.md, 7.
//!
//! Who decodes has to look at one cell after the other (`rows.rs`), since each depends on those
//! before. Who encodes knows them all, and comparing 64 of them takes hardly longer than comparing
//! one.

use crate::code::{Code, DRAW, distance, squares_where};
use crate::rows::{Before, Candidates, ModelFrame, Tests, TileRows};

/// More tests than there ever are.
pub(crate) const MASKS: usize = 1024;

/// The values of a row.
type Row = [Code; 64];

/// The tests and symbols of the cells of a row.
#[derive(Debug)]
pub(crate) struct SideBySide {
    /// By the number of the test.
    pub(crate) masks: Box<[u64; MASKS]>,
    /// W, S, N, U.
    near: [Row; 4],
    /// The cells whose symbols have bit 0, 1, 2 set.
    symbols: [u64; 3],
}

/// Which of two of W, S, N, U are compared, and the number of the test of a cell that says if they
/// are equal.
const PAIRS: [[usize; 4]; 4] = [[0, 0, 2, 4], [0, 0, 6, 8], [2, 6, 0, 10], [4, 8, 10, 0]];

impl SideBySide {
    pub(crate) fn new() -> SideBySide {
        SideBySide { masks: Box::new([0; MASKS]), near: [[0; 64]; 4], symbols: [0; 3] }
    }

    /// Looks at a row that has been begun and whose values are set.
    pub(crate) fn look(
        &mut self,
        rows: &TileRows,
        tests: Tests,
        frame: &ModelFrame,
        before: Before,
    ) {
        let cell = tests.cell_word();
        self.masks[..cell].copy_from_slice(&rows.words[..cell]);
        self.near = rows.neighbours_of_row(before);
        self.compare(rows, before, cell);

        let own = rows.row_around(before.row, 0);
        let order = frame.order.map(|place| usize::from(place & 3));
        let same = |a: usize, b: usize| self.masks[cell + PAIRS[order[a]][order[b]]];
        let new =
            [!same(1, 0), !(same(2, 0) | same(2, 1)), !(same(3, 0) | same(3, 1) | same(3, 2))];
        let [first, second, third, fourth] = order;
        let hit = |place: usize| equal(&self.near[place], own);
        self.symbols = symbols([hit(first), hit(second), hit(third), hit(fourth)], new);

        let [b, c, d] = new;
        let first = &self.near[order[0]];
        let draws = [DRAW; 64];
        let counted = [b | c | d, b & c | b & d | c & d, b & c & d];
        self.masks[cell + 34] = equal(first, &draws);
        self.masks[cell + 35] = below(&draws, first);
        self.masks[cell + 36..cell + 39].copy_from_slice(&counted);
        let mut moves = *first;

        for code in &mut moves {
            *code = distance_of(*code);
        }

        for (mask, &threshold) in self.masks[cell + 39..].iter_mut().zip(&frame.thresholds) {
            *mask = !below(&moves, &[threshold; 64]);
        }
    }

    /// The tests that compare values.
    fn compare(&mut self, rows: &TileRows, before: Before, cell: usize) {
        let [w, s, n, u] = &self.near;
        let (t, rn, ru) = (before.row, before.n, before.u);
        let near = |row: usize, by: isize| rows.row_around(row, by);
        let masks = &mut self.masks[cell..cell + 34];

        for (at, a, b) in [(0, w, s), (2, w, n), (4, w, u), (6, s, n), (8, s, u), (10, n, u)] {
            masks[at] = equal(a, b);
            masks[at + 1] = below(a, b);
        }

        for (at, a, row, by) in [(12, w, rn, -1), (14, s, rn, -8), (16, w, ru, -1), (18, s, ru, -8)]
        {
            masks[at] = equal(a, near(row, by));
            masks[at + 1] = below(a, near(row, by));
        }

        let equals = [
            (20, w, t, -9),
            (21, s, t, -9),
            (22, n, rn, 1),
            (23, n, rn, -1),
            (24, n, rn, 8),
            (25, n, rn, -8),
            (26, u, ru, 1),
            (27, u, ru, -1),
            (28, u, ru, 8),
            (29, u, ru, -8),
            (30, n, before.nn, 0),
            (31, u, before.uu, 0),
            (32, w, t, -2),
            (33, s, t, -16),
        ];

        for (at, a, row, by) in equals {
            masks[at] = equal(a, near(row, by));
        }
    }

    /// The symbol of a cell.
    #[inline]
    pub(crate) fn symbol(&self, lane: usize) -> usize {
        let [a, b, c] = &self.symbols;
        (a >> lane & 1 | (b >> lane & 1) << 1 | (c >> lane & 1) << 2) as usize
    }

    /// The candidates of a cell.
    pub(crate) fn candidates(&self, frame: &ModelFrame, lane: usize) -> Candidates {
        let [w, s, n, u] = &self.near;
        let lane = lane & 63;
        Candidates::of([w[lane], s[lane], n[lane], u[lane]], frame)
    }
}

/// The symbols of cells by their bits, from where each candidate is the value, and where it is not
/// one that came before.
fn symbols(hits: [u64; 4], [b, c, _]: [u64; 3]) -> [u64; 3] {
    let first = hits[0];
    let second = hits[1] & !first;
    let third = hits[2] & !first & !second;
    let fourth = hits[3] & !first & !second & !third;
    let miss = !(first | second | third | fourth);
    let one = second | third & !b | fourth & !b & !c;
    let two = third & b | fourth & (b ^ c);
    let three = fourth & b & c;
    [one | three, two | three, miss]
}

/// As [`distance`], without branches.
#[inline]
fn distance_of(code: Code) -> u16 {
    let loss = code.saturating_sub(1) & if code < DRAW { u16::MAX } else { 0 };
    let win = code.wrapping_neg() & if code > DRAW { u16::MAX } else { 0 };
    debug_assert_eq!(loss | win, distance(code));
    loss | win
}

/// Where two rows have the same values.
#[inline]
fn equal(a: &Row, b: &Row) -> u64 {
    squares_where(|square| a[square] == b[square])
}

/// Where the first one has the smaller value.
#[inline]
fn below(a: &Row, b: &Row) -> u64 {
    squares_where(|square| a[square] < b[square])
}

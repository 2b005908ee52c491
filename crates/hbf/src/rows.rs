//! What the decoder knows of a cell before it decodes it: relations of men, and values nearby. See
//! docs/hbf.md, 7.

use crate::board::{Color, Kind, Man, attackers, attacks, between, squares};
use crate::cells::{MAX_ALL, Space, Squares, TilePlace, is_above, is_on_diagonal};
use crate::code::{Code, DRAW, distances_of};
pub(crate) use crate::frame::ModelFrame;

/// The most relations there are.
const MAX_RELATIONS: usize = MAX_ALL * (MAX_ALL - 1) - 2;

/// Words that tests are bits of: one for each test of a row, and two for those of a cell.
pub(crate) const WORDS: usize = 512;

/// Tests of a cell, and further ones of a miss.
const CELL_TESTS: usize = 48;
const MISS_TESTS: usize = 18;

/// The values of a row with what tests see on its left and right.
pub(crate) const LEFT: usize = 16;
const STRIDE: usize = LEFT + 64 + LEFT + 1;

/// The number of the row that stands for missing ones.
const NO_ROW: usize = 64;

/// The numbers of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tests {
    relations: usize,
    /// The first test of a cell.
    cell: usize,
}

impl Tests {
    pub(crate) fn of(space: &Space) -> Tests {
        let men = space.men().len();
        let relations = men * (men - 1) - 2;
        Tests { relations, cell: 5 * relations + 11 + 6 * men }
    }

    /// How many there are for the first tree, or with those of misses.
    pub(crate) fn count(self, misses: bool) -> usize {
        self.cell + CELL_TESTS + if misses { MISS_TESTS } else { 0 }
    }

    /// The word of a test, and its bit; 64 is the bit of the lane square.
    pub(crate) fn bit(self, test: usize) -> (u16, u8) {
        match test.checked_sub(self.cell) {
            None => (test as u16, 64),
            Some(bit) if bit < CELL_TESTS => (self.cell as u16, bit as u8),
            Some(bit) => (self.cell as u16 + 1, (bit - CELL_TESTS) as u8),
        }
    }

    /// Whether the mover's king is attacked, a man of the mover attacks one, one of the mover is
    /// attacked; whether the cells before are legal.
    pub(crate) fn first_of_threats(self) -> usize {
        5 * self.relations + 4
    }

    pub(crate) fn cell_word(self) -> usize {
        self.cell
    }

    pub(crate) fn miss_word(self) -> usize {
        self.cell + 1
    }
}

/// The rows that a row is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) row: usize,
    pub(crate) n: usize,
    pub(crate) u: usize,
    pub(crate) nn: usize,
    pub(crate) uu: usize,
}

/// The rows of a tile as far as they are decoded.
#[derive(Debug)]
pub(crate) struct TileRows {
    values: Box<[Code; (NO_ROW + 1) * STRIDE]>,
    pub(crate) legal: [u64; NO_ROW + 1],
    relations: Vec<[u64; MAX_RELATIONS]>,
    /// See [`WORDS`].
    pub(crate) words: Box<[u64; WORDS]>,
    squares: Squares,
    /// What stands in the place of rows and squares that are missing.
    default: Code,
    /// Whether the mover's king is attacked, by lane square.
    pub(crate) check: u64,
    /// The threats of the rows of a plain model.
    threats: [[u64; 4]; NO_ROW],
}

/// The values of the four neighbours of a cell without repetitions: what a symbol may stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    /// 16 bits each from the lowest on. One word, as memory that is written in parts and read as a
    /// whole makes every cell wait.
    codes: u64,
    pub(crate) count: usize,
}

impl Before {
    /// The rows that a row with the middle man on this square is compared with.
    fn of(row: usize, middle: u8) -> Before {
        let n = (row >= 1 && middle & 7 != 0).then(|| row - 1);
        let u = row.checked_sub(8);
        Before {
            row,
            n: n.or(u).unwrap_or(NO_ROW),
            u: u.or(n).unwrap_or(NO_ROW),
            nn: row.checked_sub(2).or(n).or(u).unwrap_or(NO_ROW),
            uu: row.checked_sub(16).or(u).or(n).unwrap_or(NO_ROW),
        }
    }

    /// Whether there is a row to compare with.
    pub(crate) fn is_first(&self) -> bool {
        self.n == NO_ROW
    }
}

impl Candidates {
    /// The distinct values among W, S, N, U.
    #[inline]
    pub(crate) fn of([w, s, n, u]: [Code; 4], frame: &ModelFrame) -> Candidates {
        let near = u64::from(w) | u64::from(s) << 16 | u64::from(n) << 32 | u64::from(u) << 48;
        let of = |place: usize| near >> (16 * (frame.order[place] & 3)) & 0xffff;
        let [first, second, third, fourth] = [of(0), of(1), of(2), of(3)];
        // What is not new comes behind the last one, where nobody looks, or is overwritten there.
        let behind = |count: usize, code: u64| code << (16 * count);
        let new = |code: u64, other: u64| usize::from(code != other);
        let mut count = 1 + new(second, first);
        let mut codes = first | second << 16;
        codes = codes & !behind(count, 0xffff) | behind(count, third);
        count += new(third, first) & new(third, second);
        codes = codes & !behind(count, 0xffff) | behind(count, fourth);
        count += new(fourth, first) & new(fourth, second) & new(fourth, third);
        Candidates { codes, count }
    }

    /// The one that a symbol stands for; the last one for any that stands for none.
    #[inline]
    pub(crate) fn get(&self, symbol: usize) -> Code {
        (self.codes >> (16 * (symbol.min(self.count - 1) & 3))) as Code
    }

    /// Whether one is a loss (bit 0), a draw (bit 1), a win (bit 2).
    #[inline]
    pub(crate) fn classes(&self) -> usize {
        let of = |place: usize| {
            let code = (self.codes >> (16 * place)) as Code;
            let class = usize::from(code < DRAW)
                | usize::from(code == DRAW) << 1
                | usize::from(code > DRAW) << 2;
            // Without a branch for each.
            class & usize::from(place < self.count).wrapping_neg()
        };
        of(0) | of(1) | of(2) | of(3)
    }

    /// The distances of those of a class in their places, and `NO_DISTANCE` in others.
    #[inline]
    pub(crate) fn distances_of(&self, wanted: usize) -> [u16; 4] {
        let codes = std::array::from_fn(|place| (self.codes >> (16 * place)) as Code);
        let mut moves = distances_of(&codes, wanted);
        for (place, moves) in moves.iter_mut().enumerate() {
            *moves |= u16::from(place < self.count).wrapping_sub(1);
        }
        moves
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Code> + ExactSizeIterator {
        let codes = self.codes;
        (0..self.count).map(move |symbol| (codes >> (16 * symbol)) as Code)
    }
}

impl TileRows {
    pub(crate) fn new() -> TileRows {
        TileRows {
            values: Box::new([DRAW; (NO_ROW + 1) * STRIDE]),
            legal: [0; NO_ROW + 1],
            relations: vec![[0; MAX_RELATIONS]; NO_ROW + 1],
            words: Box::new([0; WORDS]),
            squares: [0; MAX_ALL],
            default: DRAW,
            check: 0,
            threats: [[0; 4]; NO_ROW],
        }
    }

    /// Prepares for the legal cells of a tile.
    pub(crate) fn start_legal(&mut self, place: &TilePlace) {
        self.squares = place.squares;
    }

    /// Prepares for a tile whose model is plain.
    pub(crate) fn start_plain(&mut self, place: &TilePlace, default: Code) {
        // Of rows only what is decoded already and what is left and right of them is ever looked
        // at.
        if self.default != default {
            self.values.fill(default);
            self.default = default;
        }
        self.squares = place.squares;
    }

    /// Prepares for a tile: everything is as if nothing were decoded.
    pub(crate) fn start(&mut self, space: &Space, tests: Tests, place: &TilePlace, default: Code) {
        self.start_plain(place, default);
        let base = 5 * tests.relations + 11;
        for man in 0..space.men().len() {
            self.constant(base + 6 * man, self.squares[man]);
        }
        for (bit, set) in LANE_BITS.into_iter().enumerate() {
            self.words[base + 6 * space.lane() + bit] = set;
        }
    }

    fn constant(&mut self, first: usize, square: u8) {
        for bit in 0..6 {
            self.words[first + bit] = if square >> bit & 1 != 0 { u64::MAX } else { 0 };
        }
    }

    /// What stands in the place of rows and squares that are missing.
    pub(crate) fn default(&self) -> Code {
        self.default
    }

    #[inline]
    pub(crate) fn value(&self, row: usize, lane: usize) -> Code {
        self.values[row * STRIDE + LEFT + lane]
    }

    #[inline]
    pub(crate) fn set(&mut self, row: usize, lane: usize, code: Code) {
        self.values[row * STRIDE + LEFT + lane] = code;
    }

    /// The values of a row.
    pub(crate) fn row(&self, row: usize) -> &[Code; 64] {
        self.row_around(row, 0)
    }

    /// The values of the lane squares of a row that are so many behind, from -16 to 16.
    #[inline]
    pub(crate) fn row_around(&self, row: usize, by: isize) -> &[Code; 64] {
        const NOTHING: &[Code; 64] = &[DRAW; 64];
        let start = (row * STRIDE + LEFT).wrapping_add_signed(by);
        self.values.get(start..).and_then(<[Code]>::first_chunk).unwrap_or(NOTHING)
    }

    /// The values of a row, and those of [`LEFT`] lane squares before.
    pub(crate) fn row_from_left(&self, row: usize) -> &[Code; LEFT + 64] {
        const NOTHING: &[Code; LEFT + 64] = &[DRAW; LEFT + 64];
        self.values.get(row * STRIDE..).and_then(<[Code]>::first_chunk).unwrap_or(NOTHING)
    }

    /// The values of a row from 16 lane squares before to 16 behind one.
    #[inline]
    pub(crate) fn around(&self, row: usize, lane: usize) -> &[Code; 2 * LEFT + 1] {
        const NOTHING: &[Code; 2 * LEFT + 1] = &[DRAW; 2 * LEFT + 1];
        self.values.get(row * STRIDE + lane..).and_then(<[Code]>::first_chunk).unwrap_or(NOTHING)
    }

    /// Sets the values of a row.
    pub(crate) fn set_codes(&mut self, row: usize, codes: &[Code; 64]) {
        let start = row * STRIDE + LEFT;
        self.values[start..start + 64].copy_from_slice(codes);
    }

    /// Sets the values of a row, and fills the cells that are not legal.
    pub(crate) fn set_row(&mut self, before: Before, codes: &[Code; 64]) {
        self.set_codes(before.row, codes);
        for lane in squares(!self.legal[before.row]) {
            let lane = usize::from(lane);
            let code = self.filling(before, lane);
            self.set(before.row, lane, code);
        }
    }

    /// Relations and legal cells of a row, and the tests that follow from them.
    pub(crate) fn begin_row(
        &mut self,
        space: &Space,
        tests: Tests,
        turn: Color,
        row: usize,
        first: u8,
    ) -> Before {
        let middle = first + row as u8;
        if let Some(man) = space.middle() {
            self.squares[man] = middle;
            self.constant(5 * tests.relations + 11 + 6 * man, middle);
        }
        let before = Before::of(row, middle);
        self.relate(space, row);
        self.compare(space, tests, turn, before);
        before
    }

    /// Legal cells of a row and its threats: all that a plain model asks for. The threats are those
    /// of [`TileRows::threats`].
    pub(crate) fn begin_plain(
        &mut self,
        space: &Space,
        turn: Color,
        row: usize,
        first: u8,
    ) -> (Before, [u64; 4]) {
        let middle = first + row as u8;
        if let Some(man) = space.middle() {
            self.squares[man] = middle;
        }
        let lanes = self.legal_lanes(space);
        let threats = if lanes == 0 { [0; 4] } else { self.threats_alone(space, turn) };
        self.legal[row] = lanes & !threats[3];
        self.threats[row & (NO_ROW - 1)] = threats;
        self.begin_again(row, first)
    }

    /// The same for a row that was begun before, by who has just gone through the whole tile.
    pub(crate) fn begin_again(&mut self, row: usize, first: u8) -> (Before, [u64; 4]) {
        let threats = self.threats[row & (NO_ROW - 1)];
        self.check = threats[0];
        (Before::of(row, first + row as u8), threats)
    }

    /// The legal cells of a row, without all that [`TileRows::begin_row`] finds out besides.
    pub(crate) fn begin_legal(&mut self, space: &Space, turn: Color, row: usize, first: u8) -> u64 {
        if let Some(man) = space.middle() {
            self.squares[man] = first + row as u8;
        }
        let lanes = self.legal_lanes(space);
        self.legal[row] = 0;
        if lanes == 0 {
            return 0;
        }
        let (men, lane) = (space.men(), space.lane());
        let occupied = self.squares[..lane].iter().fold(0_u64, |set, &square| set | 1 << square);
        let king = self.squares[usize::from(turn == Color::White)];
        let mut attacked = 0;
        for (i, man) in men.iter().enumerate().skip(2).filter(|(_, man)| man.color == turn) {
            attacked |= if i == lane {
                attackers(*man, king, occupied)
            } else if attacks(*man, self.squares[i], occupied) >> king & 1 == 0 {
                0
            } else if man.kind.is_slider() {
                !between(self.squares[i], king)
            } else {
                u64::MAX
            };
        }
        self.legal[row] = lanes & !attacked;
        self.legal[row]
    }

    fn relate(&mut self, space: &Space, row: usize) {
        let (men, lane) = (space.men(), space.lane());
        let fixed = &self.squares[..lane];
        let occupied = fixed.iter().fold(0_u64, |set, &square| set | 1 << square);
        let relations = &mut self.relations[row];
        let mut number = 0;
        for i in 0..men.len() {
            let reached = if i < lane { attacks(men[i], fixed[i], occupied) } else { 0 };
            for j in 0..men.len() {
                if i == j || i < 2 && j < 2 {
                    continue;
                }
                relations[number] = relation((men, fixed), (i, j), (reached, occupied));
                number += 1;
            }
        }
    }

    fn compare(&mut self, space: &Space, tests: Tests, turn: Color, before: Before) {
        let count = tests.relations;
        let mut changed = [0; 4];
        let compared = before.n != NO_ROW;
        for p in 0..count {
            let relation = self.relations[before.row][p];
            let other = |row: usize| if compared { relation ^ self.relations[row][p] } else { 0 };
            let changes = [
                relation ^ relation << 1,
                relation ^ relation << 8,
                other(before.n),
                other(before.u),
            ];
            self.words[p] = relation;
            for (k, change) in changes.into_iter().enumerate() {
                self.words[(k + 1) * count + p] = change;
                changed[k] |= change;
            }
        }
        self.words[5 * count..5 * count + 4].copy_from_slice(&changed);
        let threats = self.threats(space, turn, before.row);
        self.legal[before.row] = self.legal_lanes(space) & !threats[3];
        self.check = threats[0];
        let legal = |row: usize| self.legal[row];
        let own = legal(before.row);
        let near = [own << 1, own << 8, legal(before.n), legal(before.u)];
        self.words[5 * count + 4..5 * count + 7].copy_from_slice(&threats[..3]);
        self.words[5 * count + 7..5 * count + 11].copy_from_slice(&near);
    }

    /// The same as [`TileRows::threats`], where relations are not known.
    fn threats_alone(&self, space: &Space, turn: Color) -> [u64; 4] {
        let (men, lane) = (space.men(), space.lane());
        let fixed = &self.squares[..lane];
        let occupied = fixed.iter().fold(0_u64, |set, &square| set | 1 << square);
        let mut threats = [0; 4];
        for (i, man) in men.iter().enumerate() {
            let reached = if i < lane { attacks(*man, fixed[i], occupied) } else { 0 };
            for (j, other) in men.iter().enumerate() {
                if man.color == other.color || i < 2 && j < 2 {
                    continue;
                }
                threats[kind_of_threat(man.color == turn, other.kind)] |=
                    relation((men, fixed), (i, j), (reached, occupied));
            }
        }
        threats
    }

    /// Where the mover's king is attacked; a man of the mover attacks one; one of the mover is
    /// attacked; the other king is attacked.
    fn threats(&self, space: &Space, turn: Color, row: usize) -> [u64; 4] {
        let men = space.men();
        let mut threats = [0; 4];
        let mut number = 0;
        for i in 0..men.len() {
            for j in 0..men.len() {
                if i == j || i < 2 && j < 2 {
                    continue;
                }
                let relation = self.relations[row][number];
                number += 1;
                if men[i].color == men[j].color {
                    continue;
                }
                threats[kind_of_threat(men[i].color == turn, men[j].kind)] |= relation;
            }
        }
        threats
    }

    /// The lane squares that make a cell, but for checks.
    fn legal_lanes(&self, space: &Space) -> u64 {
        const PAWNS: u64 = 0x00ff_ffff_ffff_ff00;
        let (men, lane) = (space.men(), space.lane());
        let mut taken = 0_u64;
        let mut lanes = u64::MAX;
        for man in 0..lane {
            let square = self.squares[man];
            let bit = 1_u64 << square;
            let unordered = space.like(man).is_some_and(|other| self.squares[other] >= square);
            if taken & bit != 0 || unordered || men[man].kind == Kind::Pawn && bit & PAWNS == 0 {
                return 0;
            }
            taken |= bit;
        }
        if men[lane].kind == Kind::Pawn {
            lanes &= PAWNS;
        }
        if let Some(other) = space.like(lane) {
            lanes &= u64::MAX << self.squares[other] << 1;
        }
        let on_diagonal = |square: &u8| is_on_diagonal(*square);
        if !space.has_pawns() && self.squares[..2].iter().all(on_diagonal) {
            match self.squares[2..lane].iter().find(|square| !on_diagonal(square)) {
                Some(&square) if is_above(square) => return 0,
                Some(_) => {}
                None => lanes &= !ABOVE,
            }
        }
        lanes & !taken
    }

    /// W, S, N, U of a cell.
    #[inline]
    pub(crate) fn neighbours(&self, before: Before, lane: usize) -> [Code; 4] {
        let at = before.row * STRIDE + LEFT + lane;
        let (has_w, has_s) = (lane & 7 != 0, lane >= 8);
        let (w, s) = (self.values[at - 1], self.values[at - 8]);
        let (mut w, mut s) = (if has_w { w } else { s }, if has_s { s } else { w });
        // Without a row the values are the default code.
        let (mut n, mut u) = (self.value(before.n, lane), self.value(before.u, lane));
        if !has_w && !has_s {
            (w, s) = (n, n);
        } else if before.n == NO_ROW {
            (n, u) = (w, w);
        }
        [w, s, n, u]
    }

    /// W, S, N, U of the cells of a row whose values are set.
    pub(crate) fn neighbours_of_row(&self, before: Before) -> [[Code; 64]; 4] {
        let own = self.row(before.row);
        let (mut w, mut s) = (*self.row_around(before.row, -1), *self.row_around(before.row, -8));
        for rank in 1..8 {
            w[8 * rank] = own[8 * rank - 8];
        }
        s[1..8].copy_from_slice(&own[..7]);
        let (mut n, mut u) = (*self.row(before.n), *self.row(before.u));
        (w[0], s[0]) = (n[0], n[0]);
        if before.n == NO_ROW {
            n[1..].copy_from_slice(&w[1..]);
            u = n;
        }
        [w, s, n, u]
    }

    /// What an illegal cell is filled with.
    #[inline]
    pub(crate) fn filling(&self, before: Before, lane: usize) -> Code {
        let at = before.row * STRIDE + LEFT + lane;
        if lane & 7 != 0 {
            self.values[at - 1]
        } else if lane >= 8 {
            self.values[at - 8]
        } else {
            self.value(before.n, lane)
        }
    }

    /// The candidates of a cell.
    pub(crate) fn candidates(&self, frame: &ModelFrame, before: Before, lane: usize) -> Candidates {
        Candidates::of(self.neighbours(before, lane), frame)
    }

    /// The tests of a cell become a word; returns its candidates.
    #[inline]
    pub(crate) fn look(
        &mut self,
        tests: Tests,
        frame: &ModelFrame,
        before: Before,
        lane: usize,
    ) -> Candidates {
        let near @ [w, s, n, u] = self.neighbours(before, lane);
        let candidates = Candidates::of(near, frame);
        let at = |row: usize| -> &[Code; 32] {
            let start = row * STRIDE + lane;
            self.values[start..].first_chunk().unwrap_or(&[DRAW; 32])
        };
        let (rn, ru, rt) = (at(before.n), at(before.u), at(before.row));
        let e = |a: Code, b: Code| u64::from(a == b);
        let l = |a: Code, b: Code| u64::from(a < b);
        let mut word = e(w, s) | l(w, s) << 1 | e(w, n) << 2 | l(w, n) << 3;
        word |= e(w, u) << 4 | l(w, u) << 5 | e(s, n) << 6 | l(s, n) << 7;
        word |= e(s, u) << 8 | l(s, u) << 9 | e(n, u) << 10 | l(n, u) << 11;
        word |= e(w, rn[LEFT - 1]) << 12 | l(w, rn[LEFT - 1]) << 13;
        word |= e(s, rn[LEFT - 8]) << 14 | l(s, rn[LEFT - 8]) << 15;
        word |= e(w, ru[LEFT - 1]) << 16 | l(w, ru[LEFT - 1]) << 17;
        word |= e(s, ru[LEFT - 8]) << 18 | l(s, ru[LEFT - 8]) << 19;
        word |= e(w, rt[LEFT - 9]) << 20 | e(s, rt[LEFT - 9]) << 21;
        word |= e(n, rn[LEFT + 1]) << 22 | e(n, rn[LEFT - 1]) << 23;
        word |= e(n, rn[LEFT + 8]) << 24 | e(n, rn[LEFT - 8]) << 25;
        word |= e(u, ru[LEFT + 1]) << 26 | e(u, ru[LEFT - 1]) << 27;
        word |= e(u, ru[LEFT + 8]) << 28 | e(u, ru[LEFT - 8]) << 29;
        word |= e(n, self.value(before.nn, lane)) << 30;
        word |= e(u, self.value(before.uu, lane)) << 31;
        word |= e(w, rt[LEFT - 2]) << 32 | e(s, rt[LEFT - 16]) << 33;
        word |= (0b111_u64 >> (4 - candidates.count)) << 36;
        word |= frame.tests_of_first(candidates.get(0));
        self.words[tests.cell_word()] = word;
        candidates
    }

    /// The tests of the cells of a rank, but the first one, that depend on other ranks and rows
    /// alone.
    #[inline]
    pub(crate) fn look_at_rank(&self, before: Before, rank: usize) -> RankTests {
        let at = |row: usize, by: isize| -> &[Code; 8] {
            let start = (row * STRIDE + LEFT + 8 * rank).wrapping_add_signed(by);
            self.values.get(start..).and_then(<[Code]>::first_chunk).unwrap_or(&[DRAW; 8])
        };
        let (t, rn, ru) = (before.row, before.n, before.u);
        let (s, n, u) = (at(t, -8), at(rn, 0), at(ru, 0));
        let [mut low, mut middle, mut high] = [[0; 8]; 3];
        equal(&mut low, 6, s, n);
        below(&mut low, 7, s, n);
        equal(&mut low, 8, s, u);
        below(&mut low, 9, s, u);
        equal(&mut low, 10, n, u);
        below(&mut low, 11, n, u);
        equal(&mut low, 14, s, at(rn, -8));
        below(&mut low, 15, s, at(rn, -8));
        equal(&mut middle, 2, s, at(ru, -8));
        below(&mut middle, 3, s, at(ru, -8));
        equal(&mut middle, 5, s, at(t, -9));
        equal(&mut middle, 6, n, at(rn, 1));
        equal(&mut middle, 7, n, at(rn, -1));
        equal(&mut middle, 8, n, at(rn, 8));
        equal(&mut middle, 9, n, at(rn, -8));
        equal(&mut middle, 10, u, at(ru, 1));
        equal(&mut middle, 11, u, at(ru, -1));
        equal(&mut middle, 12, u, at(ru, 8));
        equal(&mut middle, 13, u, at(ru, -8));
        equal(&mut middle, 14, n, at(before.nn, 0));
        equal(&mut middle, 15, u, at(before.uu, 0));
        equal(&mut high, 1, s, at(t, -16));
        RankTests([low, middle, high])
    }

    /// As [`TileRows::look`], for a cell that has an N and is not on the first rank. `last` are the
    /// values of the two cells before it, the last one first.
    #[inline]
    pub(crate) fn look_again(
        &mut self,
        (tests, frame, known): (Tests, &ModelFrame, &RankTests),
        before: Before,
        lane: usize,
        last: [Code; 2],
    ) -> Candidates {
        let at = |row: usize| -> &[Code; LEFT + 1] {
            self.values[row * STRIDE + lane..].first_chunk().unwrap_or(&[DRAW; LEFT + 1])
        };
        let (rn, ru, rt) = (at(before.n), at(before.u), at(before.row));
        let (s, n, u) = (rt[LEFT - 8], rn[LEFT], ru[LEFT]);
        let w = if lane.is_multiple_of(8) { s } else { last[0] };
        let candidates = Candidates::of([w, s, n, u], frame);
        let e = |a: Code, b: Code| u64::from(a == b);
        let l = |a: Code, b: Code| u64::from(a < b);
        let mut word = known.of(lane);
        word |= e(w, s) | l(w, s) << 1 | e(w, n) << 2 | l(w, n) << 3 | e(w, u) << 4 | l(w, u) << 5;
        word |= e(w, rn[LEFT - 1]) << 12 | l(w, rn[LEFT - 1]) << 13;
        word |= e(w, ru[LEFT - 1]) << 16 | l(w, ru[LEFT - 1]) << 17;
        word |= e(w, rt[LEFT - 9]) << 20 | e(w, last[1]) << 32;
        word |= (0b111_u64 >> (4 - candidates.count)) << 36;
        word |= frame.tests_of_first(candidates.get(0));
        self.words[tests.cell_word()] = word;
        candidates
    }
}

/// The lane squares with which a man attacks or defends the square of another one. The men but the
/// lane stand on `fixed` squares, which are `occupied`; `reached` are those that the man attacks.
#[inline]
fn relation(
    (men, fixed): (&[Man], &[u8]),
    (i, j): (usize, usize),
    (reached, occupied): (u64, u64),
) -> u64 {
    if i == fixed.len() {
        attackers(men[i], fixed[j], occupied)
    } else if j == fixed.len() {
        reached
    } else if reached >> fixed[j] & 1 == 0 {
        0
    } else if men[i].kind.is_slider() {
        !between(fixed[i], fixed[j])
    } else {
        u64::MAX
    }
}

/// Which threat it is if a man, of the mover or not, attacks an enemy of a kind.
fn kind_of_threat(is_mover: bool, attacked: Kind) -> usize {
    match (is_mover, attacked == Kind::King) {
        (false, true) => 0,
        (true, false) => 1,
        (false, false) => 2,
        (true, true) => 3,
    }
}

/// Sets a bit of the words of a rank where two values are equal.
#[expect(clippy::inline_always, reason = "a call costs more than eight comparisons at once")]
#[inline(always)]
fn equal(words: &mut [u16; 8], bit: u32, a: &[Code; 8], b: &[Code; 8]) {
    for at in 0..8 {
        words[at] |= u16::from(a[at] == b[at]) << bit;
    }
}

/// The same where the first one is smaller.
#[expect(clippy::inline_always, reason = "a call costs more than eight comparisons at once")]
#[inline(always)]
fn below(words: &mut [u16; 8], bit: u32, a: &[Code; 8], b: &[Code; 8]) {
    for at in 0..8 {
        words[at] |= u16::from(a[at] < b[at]) << bit;
    }
}

/// See [`TileRows::look_at_rank`]: bits 0 to 15, 16 to 31, 32 to 47 of the cells of a rank.
pub(crate) struct RankTests([[u16; 8]; 3]);

impl RankTests {
    #[inline]
    fn of(&self, lane: usize) -> u64 {
        let of = |word: usize| u64::from(self.0[word][lane & 7]);
        of(0) | of(1) << 16 | of(2) << 32
    }
}

/// Lane squares by the bits of their numbers.
const LANE_BITS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The squares above the diagonal.
const ABOVE: u64 = {
    let (mut set, mut square) = (0, 0);
    while square < 64 {
        if is_above(square) {
            set |= 1 << square;
        }
        square += 1;
    }
    set
};

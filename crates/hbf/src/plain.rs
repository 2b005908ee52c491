//! Plain models: their trees ask of values nearby and of threats only, so that the answers for a
//! cell are one number that says its leaf. See docs/hbf.md, 9 and 13.
//!
//! To a reader such a model is one like any other; this is a shorter way to the same values.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::code::{Code, squares_where};
use crate::model::Model;
use crate::rows::{Before, LEFT, Tests, TileRows};
use crate::tile::{Stream, TilePart};
use crate::tree::{Tree, child_leaf};

/// Bits of an answer: what is known of a row before its values are, whether S is equal to others,
/// and whether W is.
const S_AT: usize = 8;
const W_AT: usize = S_AT + 6;
const BITS: usize = W_AT + 7;

/// Of the first ones: those that no values decide, and whether N is U, NN, and U is UU.
const OF_ROW: usize = 0b1_1111;
const N_IS_U: usize = 1 << 5;
const N_IS_NN: usize = 1 << 6;
const U_IS_UU: usize = 1 << 7;

/// The tests of a plain model by their bits of an answer.
pub(crate) fn plain_tests(tests: Tests) -> [usize; BITS] {
    let (row, cell) = (tests.first_of_threats(), tests.cell_word());
    let of_row = [row, row + 1, row + 2, row + 3, row + 4, cell + 10, cell + 30, cell + 31];
    let of_s = [6, 8, 14, 18, 33, 21].map(|test| cell + test);
    let of_w = [0, 2, 4, 12, 16, 20, 32].map(|test| cell + test);
    let mut all = of_row.into_iter().chain(of_s).chain(of_w);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

/// How the leaves of a plain model are found.
#[derive(Debug)]
pub(crate) struct PlainLeaves {
    /// The bit of the answer that each inner node asks for, and its children.
    nodes: Vec<(u8, [u16; 2])>,
    root: u16,
    /// Leaves by answer, for who decodes many tiles.
    table: OnceLock<Vec<u16>>,
    /// Of some answers the upper bits, with the one above them, and the leaf, for who decodes few.
    remembered: Box<[AtomicU32]>,
}

/// The log of how many leaves are remembered.
const REMEMBERED: usize = 12;

impl PlainLeaves {
    /// None if the tree has other tests.
    pub(crate) fn of<const N: usize>(tree: &Tree<N>, tests: Tests) -> Option<PlainLeaves> {
        let plain = plain_tests(tests);
        let bit = |test: u16| plain.iter().position(|&other| other == usize::from(test));
        let nodes = tree.nodes().map(|(test, children)| Some((bit(test)? as u8, children)));
        let nodes = nodes.collect::<Option<Vec<_>>>()?;
        let remembered = (0..1 << REMEMBERED).map(|_| AtomicU32::new(0)).collect();
        Some(PlainLeaves { nodes, root: tree.root(), table: OnceLock::new(), remembered })
    }

    /// Makes a table of leaves, of four megabytes: for a few tiles it is not worth it.
    pub(crate) fn prepare(&self) {
        self.table.get_or_init(|| {
            let mut table = vec![0; 1 << BITS];
            self.fill(&mut table, 0, self.root);
            table
        });
    }

    /// Fills the part of the table that begins with an answer and whose answers come to a node.
    fn fill(&self, part: &mut [u16], first: usize, mut at: u16) {
        let open = part.len().trailing_zeros();
        while let Some(&(bit, children)) = self.node(at).filter(|(bit, _)| u32::from(*bit) >= open)
        {
            at = children[first >> bit & 1];
        }
        if let Some(leaf) = child_leaf(at) {
            part.fill(leaf);
        } else {
            let (zeros, ones) = part.split_at_mut(part.len() / 2);
            let behind = first + zeros.len();
            self.fill(zeros, first, at);
            self.fill(ones, behind, at);
        }
    }

    fn node(&self, at: u16) -> Option<&(u8, [u16; 2])> {
        self.nodes.get(usize::from(at))
    }

    /// The leaf of an answer, which mostly was asked for before.
    #[inline]
    fn find(&self, answer: usize) -> usize {
        // The place and the upper bits of an answer together tell all of it.
        let place = (answer ^ answer >> (BITS - REMEMBERED)) & ((1 << REMEMBERED) - 1);
        let tag = (answer >> REMEMBERED | 1 << (BITS - REMEMBERED)) as u32;
        let Some(place) = self.remembered.get(place) else { return 0 };
        let found = place.load(Ordering::Relaxed);
        if found >> 16 == tag {
            return usize::from(found as u16);
        }
        let leaf = self.walk(answer);
        place.store(tag << 16 | leaf as u32, Ordering::Relaxed);
        leaf
    }

    fn walk(&self, answer: usize) -> usize {
        let mut at = self.root;
        while let Some(&(bit, [zero, one])) = self.nodes.get(usize::from(at)) {
            at = std::hint::select_unpredictable(answer >> bit & 1 != 0, one, zero);
        }
        usize::from(child_leaf(at).unwrap_or_default())
    }
}

/// A legal cell on its way.
pub(crate) struct PlainCell {
    pub(crate) before: Before,
    pub(crate) lane: usize,
    /// Of the first tree.
    pub(crate) leaf: usize,
    /// W, S, N, U.
    pub(crate) near: [Code; 4],
}

/// Who goes through the cells of a tile, to write or to read them.
pub(crate) trait PlainVisitor {
    /// What changes with every cell, to be held in registers.
    type Hot: Copy;

    fn hot(&self) -> Self::Hot;

    fn set_hot(&mut self, hot: Self::Hot);

    /// Told of each row before its cells.
    fn begin_row(&mut self, row: usize);

    /// Whether a cell holds its first candidate and nothing else is to be done, as is usual. Its
    /// lane square, that candidate and the frequency of the symbol are given.
    fn holds_first(&self, hot: &mut Self::Hot, cell: (usize, Code, u16)) -> bool;

    /// What any cell holds. The values of the rows before are set; those of its own row, as far as
    /// they are known, are given.
    fn value(&mut self, rows: &mut TileRows, cell: &PlainCell, own: &[Code; 64]) -> Code;
}

/// Goes through the cells of a tile.
pub(crate) fn visit_cells<V: PlainVisitor>(
    Stream { space, turn, .. }: Stream<'_>,
    (model, leaves): (&Model, &PlainLeaves),
    (tile, part): (u64, TilePart),
    rows: &mut TileRows,
    visitor: &mut V,
) {
    let Some(place) = space.tile(tile) else { return };
    rows.start_plain(&place, model.frame.default);
    for row in 0..=part.last_row(space) {
        let (before, threats) = match part {
            TilePart::Again => rows.begin_again(row, place.first_row),
            _ => rows.begin_plain(space, turn, row, place.first_row),
        };
        if rows.legal[row] == 0 {
            rows.set_codes(row, &[rows.value(before.n, 0); 64]);
            continue;
        }
        visitor.begin_row(row);
        let mut visit = RowVisit::new(model, rows, before, threats);
        match leaves.table.get() {
            Some(table) => {
                let leaf = |answer: usize| table.get(answer).map_or(0, |&leaf| usize::from(leaf));
                visit.cells(rows, leaf, visitor);
            }
            None => visit.cells(rows, |answer| leaves.find(answer), visitor),
        }
        rows.set_codes(row, visit.own_row());
    }
}

/// The values of a row and of [`LEFT`] lane squares before it.
type FromLeft = [Code; LEFT + 64];

/// A row on its way.
struct RowVisit<'m> {
    model: &'m Model,
    before: Before,
    legal: u64,
    default: Code,
    /// Bits of answers that are known of the row, by lane square.
    bits: [u8; 64],
    own: FromLeft,
    n: FromLeft,
    u: FromLeft,
}

impl<'m> RowVisit<'m> {
    fn new(model: &'m Model, rows: &TileRows, before: Before, threats: [u64; 4]) -> RowVisit<'m> {
        let row = |number: usize| rows.row(number);
        let equal = |a: &[Code; 64], b: &[Code; 64]| squares_where(|lane| a[lane] == b[lane]);
        let legal = rows.legal[before.row];
        let sets = [
            threats[0],
            threats[1],
            threats[2],
            legal << 1,
            legal << 8,
            equal(row(before.n), row(before.u)),
            equal(row(before.n), row(before.nn)),
            equal(row(before.u), row(before.uu)),
        ];
        let mut bits = [0; 64];
        for (rank, bits) in bits.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let of_rank = |(bit, set): (usize, &u64)| {
                let eight = (set >> (8 * rank)) as u8;
                SPREAD[usize::from(eight)] << bit
            };
            *bits = sets.iter().enumerate().map(of_rank).fold(0, |a, b| a | b).to_le_bytes();
        }
        let default = rows.default();
        let (n, u) = (*rows.row_from_left(before.n), *rows.row_from_left(before.u));
        RowVisit { model, before, legal, default, bits, own: [default; LEFT + 64], n, u }
    }

    fn own_row(&self) -> &[Code; 64] {
        self.own.last_chunk().unwrap_or(&[0; 64])
    }

    #[inline]
    fn cells<V: PlainVisitor>(
        &mut self,
        rows: &mut TileRows,
        leaf: impl Fn(usize) -> usize,
        visitor: &mut V,
    ) {
        // Where no row is before, and on the first rank, neighbours stand for each other.
        let one_by_one = if self.before.is_first() { 64 } else { 8 };

        for lane in 0..one_by_one {
            self.own[LEFT + lane] = self.any_cell(rows, lane & 63, &leaf, visitor);
        }
        for rank in one_by_one / 8..8 {
            self.rank(rows, rank & 7, &leaf, visitor);
        }
    }

    /// A rank but the first one, in a row with others before.
    #[inline]
    fn rank<V: PlainVisitor>(
        &mut self,
        rows: &mut TileRows,
        rank: usize,
        leaf: &impl Fn(usize) -> usize,
        visitor: &mut V,
    ) {
        let known = self.answers_of_rank(rank);
        let mut hot = visitor.hot();
        let mut last = self.own[LEFT + 8 * rank - 8];
        for file in 0..8 {
            let (lane, at) = (8 * rank + file, LEFT + 8 * rank + file);
            let w = last;
            if self.legal >> lane & 1 != 0 {
                let near @ [_, s, n, u] = [w, self.own[at - 8], self.n[at], self.u[at]];
                let e = |bit: usize, a: Code| usize::from(a == w) << (W_AT + bit);
                let answer = usize::from(known[file])
                    | e(0, s)
                    | e(1, n)
                    | e(2, u)
                    | e(3, self.n[at - 1])
                    | e(4, self.u[at - 1])
                    | e(5, self.own[at - 9])
                    | e(6, self.own[at - 2]);
                last = self.value((lane, leaf(answer)), near, (&mut hot, rows, visitor));
            }
            self.own[at] = last;
        }
        visitor.set_hot(hot);
    }

    /// Bits of the answers of a rank but the first one.
    #[inline]
    fn answers_of_rank(&self, rank: usize) -> [u16; 8] {
        let at = LEFT + 8 * rank;
        let mut answers = [0; 8];
        for file in 0..8 {
            let at = at + file;
            let s = self.own[at - 8];
            let e = |bit: usize, a: Code| u16::from(a == s) << (S_AT + bit);
            answers[file] = u16::from(self.bits[8 * rank + file])
                | e(0, self.n[at])
                | e(1, self.u[at])
                | e(2, self.n[at - 8])
                | e(3, self.u[at - 8])
                | e(4, self.own[at - 16])
                | e(5, self.own[at - 9]);
        }
        answers
    }

    /// What any cell holds.
    fn any_cell<V: PlainVisitor>(
        &self,
        rows: &mut TileRows,
        lane: usize,
        leaf: impl Fn(usize) -> usize,
        visitor: &mut V,
    ) -> Code {
        let RowVisit { before, default, own, .. } = self;
        let at = LEFT + lane;
        let (has_w, has_s) = (lane & 7 != 0, lane >= 8);
        let (w, s) = (own[at - 1], own[at - 8]);
        let (mut w, mut s) = (if has_w { w } else { s }, if has_s { s } else { w });
        let (mut n, mut u) = (self.n[at], self.u[at]);
        if !has_w && !has_s {
            (w, s) = (n, n);
        }
        if self.legal >> lane & 1 == 0 {
            return w;
        }

        let mut answer = usize::from(self.bits[lane]);
        if before.is_first() {
            (n, u) = (w, w);
            answer = answer & OF_ROW | N_IS_U | if n == *default { N_IS_NN | U_IS_UU } else { 0 };
        }
        let e = |bit: usize, a: Code, b: Code| usize::from(a == b) << bit;
        let of_s = [n, u, self.n[at - 8], self.u[at - 8], own[at - 16], own[at - 9]];
        let of_w = [s, n, u, self.n[at - 1], self.u[at - 1], own[at - 9], own[at - 2]];
        for (bit, other) in of_s.into_iter().enumerate() {
            answer |= e(S_AT + bit, s, other);
        }
        for (bit, other) in of_w.into_iter().enumerate() {
            answer |= e(W_AT + bit, w, other);
        }
        let (mut hot, leaf) = (visitor.hot(), leaf(answer));
        let code = self.value((lane, leaf), [w, s, n, u], (&mut hot, rows, visitor));
        visitor.set_hot(hot);
        code
    }

    /// What a cell holds with this leaf and these neighbours.
    #[inline]
    fn value<V: PlainVisitor>(
        &self,
        (lane, leaf): (usize, usize),
        near: [Code; 4],
        (hot, rows, visitor): (&mut V::Hot, &mut TileRows, &mut V),
    ) -> Code {
        let first = self.model.frame.first(near);
        let frequency = self.model.cells.distribution(leaf)[0];
        if visitor.holds_first(hot, (lane, first, frequency)) {
            return first;
        }
        visitor.set_hot(*hot);
        let cell = PlainCell { before: self.before, lane, leaf, near };
        let code = visitor.value(rows, &cell, self.own_row());
        *hot = visitor.hot();
        code
    }
}

/// The bits of a byte as bytes of 0 or 1, the lowest first.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    spread
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::cells::Space;
    use crate::encode::ModelTests;
    use crate::material::Material;
    use crate::symbols::{Desk, TileValues};
    use crate::tile;
    use crate::train::train;
    use crate::workers::Crew;

    /// With and without a table of leaves, and as if the model were like any other.
    #[test]
    fn plain_models_are_read_as_others_are() {
        let mut random = fastrand::Rng::with_seed(8);
        for (name, order, rows) in [
            ("KRvK", &[0][..], 1),
            ("KNNvKN", &[2, 0, 1], 16),
            ("KNPvKN", &[0, 2, 1], 4),
            ("KRPvKQ", &[1, 2, 0], 32),
        ] {
            let material = Material::parse(name).expect("an ending");
            let space = Space::new(&material, order, rows).expect("a space");
            let stream = Stream { space: &space, turn: Color::Black, outcomes: false };
            let count = if rows == 4 { 400 } else { 100 };
            let numbers: Vec<u64> = (0..count).map(|_| random.u64(0..space.tiles())).collect();
            let tiles: Vec<_> =
                numbers.iter().map(|&n| (n, TileValues::made_up(&space, &mut random))).collect();
            let mut desk = Desk::new();
            let trained = train(stream, (&tiles, 1e-3), ModelTests::Plain, Crew::ALONE);
            let trained = trained.expect("nobody stops it");
            let bytes = trained.parts.to_bytes();
            let parsed = || Model::parse(&bytes, &space).expect("a model");
            let [plain, with_table, mut other] = [parsed(), parsed(), parsed()];
            assert!(rows == 1 || trained.leaves[0] > 20, "{name}: {:?}", trained.leaves);
            with_table.prepare(u64::MAX);
            other.plain = None;

            let mut looked_at = 0;
            for (number, values) in &tiles {
                let packed = desk.encode(stream, &plain, (*number, values));
                desk.rows.set_codes(0, &[0; 64]);
                tile::decode(stream, &plain, &packed, (*number, TilePart::Again), &mut desk.rows);
                assert!(values.agree(&desk.rows), "{name} {number}");
                assert_eq!(packed, desk.encode(stream, &with_table, (*number, values)));
                for part in [TilePart::Whole, TilePart::Until(random.u8(0..rows))] {
                    let found = [&plain, &with_table, &other].map(|model| {
                        let mut rows = TileRows::new();
                        tile::decode(stream, model, &packed, (*number, part), &mut rows);
                        rows
                    });
                    if part == TilePart::Whole {
                        assert!(found.iter().all(|rows| values.agree(rows)), "{name} {number}");
                    }
                    for row in 0..=part.last_row(&space) {
                        let of_row = found.each_ref().map(|rows| (rows.legal[row], *rows.row(row)));
                        assert!(
                            of_row.iter().all(|found| *found == of_row[2]),
                            "{name} {number} {row}"
                        );
                        looked_at += 64;
                    }
                }
            }
            assert!(looked_at > 2000, "{name}: {looked_at}");
        }
    }
}

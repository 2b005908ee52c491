//! Cells: the numbering of all placements of an ending's men. See docs/hbf.md, 6.

use std::sync::LazyLock;

use crate::board::{Color, Kind, Man, Position, squares};
use crate::material::{MAX_MEN, Material};

/// The most men of a cell, kings included.
pub(crate) const MAX_ALL: usize = MAX_MEN + 2;

/// The squares of all men of a cell by their numbers, kings first; those behind the last man are 0.
pub(crate) type Squares = [u8; MAX_ALL];

/// The king pairs of tables with or without pawns.
struct CellKings {
    pairs: Vec<(u8, u8)>,
    /// By white square times 64 plus black square; `u16::MAX` is none.
    numbers: Vec<u16>,
}

impl CellKings {
    fn new(pawns: bool) -> CellKings {
        let mut pairs = Vec::new();
        let mut numbers = vec![u16::MAX; 64 * 64];
        for white in 0..64_u8 {
            for black in 0..64_u8 {
                let far =
                    (white & 7).abs_diff(black & 7) > 1 || (white >> 3).abs_diff(black >> 3) > 1;
                if far && is_canonical_pair(white, black, pawns) {
                    numbers[usize::from(white) * 64 + usize::from(black)] = pairs.len() as u16;
                    pairs.push((white, black));
                }
            }
        }
        CellKings { pairs, numbers }
    }
}

static WITH_PAWNS: LazyLock<CellKings> = LazyLock::new(|| CellKings::new(true));
static WITHOUT_PAWNS: LazyLock<CellKings> = LazyLock::new(|| CellKings::new(false));

fn is_canonical_pair(white: u8, black: u8, pawns: bool) -> bool {
    if pawns {
        return white & 7 < 4;
    }
    let on_diagonal = white >> 3 == white & 7;
    white >> 3 <= white & 7 && white & 7 < 4 && !(on_diagonal && is_above(black))
}

/// Whether a square is above the diagonal a1-h8.
pub(crate) const fn is_above(square: u8) -> bool {
    square >> 3 > square & 7
}

pub(crate) const fn is_on_diagonal(square: u8) -> bool {
    square >> 3 == square & 7
}

const fn mirrored_in_diagonal(square: u8) -> u8 {
    square >> 3 | (square & 7) << 3
}

fn turn(squares: &mut [u8], by: impl Fn(u8) -> u8) {
    for square in squares {
        *square = by(*square);
    }
}

/// Where a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellInTile {
    pub(crate) tile: u64,
    pub(crate) row: u8,
    pub(crate) lane: u8,
}

/// What all rows of a tile have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TilePlace {
    /// The kings and the outer men; the others are 0.
    pub(crate) squares: Squares,
    /// The middle square of the first row.
    pub(crate) first_row: u8,
}

/// Where the cells of positions lie that differ in the square of one man.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellLine {
    /// The number of the first one, among all cells of the space, and how far the next one is.
    first: usize,
    stride: usize,
    /// The squares of that man for which this is the line; where it stands on others the cells are
    /// elsewhere.
    pub(crate) squares: u64,
    /// What its squares become: the number of their images.
    symmetry: usize,
}

impl CellLine {
    /// The number of the cell with the man on a square.
    #[inline]
    pub(crate) fn cell(&self, square: u8) -> usize {
        self.first + self.stride * usize::from(IMAGES[self.symmetry][usize::from(square & 63)])
    }

    /// The number of the first cell, if they lie side by side, and of the images of the squares.
    #[inline]
    pub(crate) fn in_row(&self) -> Option<(usize, usize)> {
        (self.stride == 1).then_some((self.first, self.symmetry))
    }
}

/// The squares of all men of positions but for one, as they stand in the numbering.
#[derive(Clone, Copy, Debug)]
struct Gap {
    squares: Squares,
    /// The man whose square is left out.
    walks: usize,
    /// What the squares have become: the number of their images.
    symmetry: usize,
}

/// The images of squares: mirrored left and right (1), top and bottom (2), and then in the diagonal
/// (4).
static IMAGES: [[u8; 64]; 8] = images();

const fn images() -> [[u8; 64]; 8] {
    let mut images = [[0; 64]; 8];
    let mut symmetry = 0;
    while symmetry < 8 {
        let mut square = 0;
        while square < 64 {
            let sides = if symmetry & 1 != 0 { 7 } else { 0 };
            let ends = if symmetry & 2 != 0 { 56 } else { 0 };
            let image = square ^ sides ^ ends;
            images[symmetry][square as usize] =
                if symmetry & 4 != 0 { mirrored_in_diagonal(image) } else { image };
            square += 1;
        }
        symmetry += 1;
    }
    images
}

/// The bytes of a board by the squares whose images these are: each goes from its image to the
/// square.
#[inline]
pub(crate) fn from_images(board: &[u8; 64], symmetry: usize) -> [u8; 64] {
    let mut ranks = ranks_of(board);
    // Backwards, as the images are mirrored in the diagonal last.
    if symmetry & 4 != 0 {
        transpose(&mut ranks);
    }
    if symmetry & 2 != 0 {
        ranks.reverse();
    }
    if symmetry & 1 != 0 {
        ranks = ranks.map(u64::swap_bytes);
    }
    board_of(ranks)
}

/// The bytes of each rank of a board as a word.
#[inline]
pub(crate) fn ranks_of(board: &[u8; 64]) -> [u64; 8] {
    let mut ranks = [0; 8];
    for (rank, bytes) in ranks.iter_mut().zip(board.as_chunks::<8>().0) {
        *rank = u64::from_le_bytes(*bytes);
    }
    ranks
}

/// The bytes of a board by its ranks.
#[inline]
pub(crate) fn board_of(ranks: [u64; 8]) -> [u8; 64] {
    let mut board = [0; 64];
    for (bytes, rank) in board.as_chunks_mut::<8>().0.iter_mut().zip(ranks) {
        *bytes = rank.to_le_bytes();
    }
    board
}

/// Exchanges files and ranks: quarters of the board, of these, and of those.
fn transpose(ranks: &mut [u64; 8]) {
    for (apart, mask) in
        [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)]
    {
        for low in (0..8).filter(|rank| rank & apart == 0) {
            let changed = (ranks[low] >> (8 * apart) ^ ranks[low + apart]) & mask;
            ranks[low + apart] ^= changed;
            ranks[low] ^= changed << (8 * apart);
        }
    }
}

/// The cells of one side to move of an ending, with the men in a certain order.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// All men: the kings, then the others in order.
    men: Vec<Man>,
    symmetric: bool,
    pawns: bool,
    rows: u8,
    /// The number of the man before of the same colour and kind, for each man.
    like: [Option<u8>; MAX_ALL],
}

impl Space {
    /// `order` is a permutation of the men of the ending. None if there are too few or too many
    /// men.
    pub(crate) fn new(material: &Material, order: &[u8], rows: u8) -> Option<Space> {
        let all = material.men();
        let seen = order.iter().fold(0_u32, |set, &man| set | 1 << (man & 31));
        let complete = seen == (1 << all.len()) - 1 && order.len() == all.len();
        let rows_fit = rows.is_power_of_two() && rows <= 64 && (all.len() > 1 || rows == 1);
        if !complete || !(1..=MAX_MEN).contains(&all.len()) || !rows_fit {
            return None;
        }
        let king = |color| Man { color, kind: Kind::King };
        let mut men = vec![king(Color::White), king(Color::Black)];
        for &man in order {
            men.push(*all.get(usize::from(man))?);
        }
        let mut like = [None; MAX_ALL];
        for (i, man) in men.iter().enumerate() {
            like[i] = men.iter().take(i).rposition(|other| other == man).map(|j| j as u8);
        }
        let (symmetric, pawns) = (material.is_symmetric(), material.has_pawns());
        Some(Space { men, symmetric, pawns, rows, like })
    }

    pub(crate) fn men(&self) -> &[Man] {
        &self.men
    }

    /// Whether both sides have the same men.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    pub(crate) fn has_pawns(&self) -> bool {
        self.pawns
    }

    pub(crate) fn rows(&self) -> u8 {
        self.rows
    }

    pub(crate) fn lane(&self) -> usize {
        self.men.len() - 1
    }

    /// The number of the middle man; none if the lane is the only man.
    pub(crate) fn middle(&self) -> Option<usize> {
        (self.men.len() > 3).then(|| self.men.len() - 2)
    }

    pub(crate) fn like(&self, man: usize) -> Option<usize> {
        self.like[man % MAX_ALL].map(usize::from)
    }

    fn kings(&self) -> &'static CellKings {
        if self.pawns { &WITH_PAWNS } else { &WITHOUT_PAWNS }
    }

    fn groups(&self) -> u64 {
        if self.middle().is_some() { 64 / u64::from(self.rows) } else { 1 }
    }

    fn outer(&self) -> std::ops::Range<usize> {
        2..self.middle().unwrap_or(2)
    }

    pub(crate) fn tiles(&self) -> u64 {
        let outer = self.outer().fold(1, |product, _| product * 64);
        self.kings().pairs.len() as u64 * outer * self.groups()
    }

    /// The men outside of a tile.
    pub(crate) fn tile(&self, tile: u64) -> Option<TilePlace> {
        let mut squares = [0; MAX_ALL];
        let group = tile % self.groups();
        let mut rest = tile / self.groups();
        for man in self.outer().rev() {
            squares[man] = (rest % 64) as u8;
            rest /= 64;
        }
        let &(white, black) = self.kings().pairs.get(usize::try_from(rest).ok()?)?;
        (squares[0], squares[1]) = (white, black);
        Some(TilePlace { squares, first_row: group as u8 * self.rows })
    }

    /// The position of a row of a tile without the lane man, and that man.
    pub(crate) fn row_position(&self, place: &TilePlace, row: u8, turn: Color) -> (Position, Man) {
        let mut position = Position::empty(turn);
        for (man, square) in self.men.iter().zip(place.squares).take(self.outer().end) {
            position.put(square, *man);
        }
        if let Some(middle) = self.middle() {
            position.put(place.first_row + row, self.men[middle]);
        }
        (position, self.men[self.lane()])
    }

    /// The squares of the men of a row of a tile; that of the lane man is 0.
    pub(crate) fn row_squares(&self, place: &TilePlace, row: u8) -> Squares {
        let mut squares = place.squares;
        if let Some(middle) = self.middle() {
            squares[middle] = place.first_row + row;
        }
        squares
    }

    /// Whether a position has the men of the table, in its colours.
    pub(crate) fn has_men(&self, position: &Position) -> bool {
        self.gather(position).is_some()
    }

    /// The cell of a position, and the side to move there: the position may have the colours
    /// exchanged. None if its men are others. Rights to take en passant are ignored.
    pub(crate) fn locate(&self, position: &Position) -> Option<(CellInTile, Color)> {
        let (mut squares, mut turn) = match self.gather(position) {
            Some(squares) => (squares, position.turn),
            None => (self.gather(&position.swapped())?, position.turn.other()),
        };
        if self.symmetric && turn == Color::Black {
            (squares, turn) = (self.gather(&position.swapped())?, Color::White);
        }
        self.canonical(&mut squares);
        Some((self.place(&squares)?, turn))
    }

    /// Where the positions lie that have one man more than these, in the colours of the table:
    /// among like men there is a line for each place that it may take in their order, the last one
    /// first. None if the men are others, the man is a king, or there is no such line.
    pub(crate) fn lines_of(
        &self,
        fixed: &Position,
        man: Man,
    ) -> impl Iterator<Item = CellLine> + use<'_> {
        let gaps = std::iter::successors(self.gap_of(fixed, man), |gap| self.gap_before(gap));
        gaps.filter_map(|gap| self.line_in(gap))
    }

    /// The same of men on these squares, but for the one that walks, which is no king. Of like men
    /// it is the last one.
    pub(crate) fn line_among(&self, found: Squares, walks: usize) -> Option<CellLine> {
        self.line_in(self.gap_among(found, walks)?)
    }

    fn gap_of(&self, fixed: &Position, man: Man) -> Option<Gap> {
        let walks = self.men.iter().rposition(|&other| other == man).filter(|&walks| walks > 1)?;
        if fixed.occupied().count_ones() as usize != self.lane() {
            return None;
        }
        let mut found = [0; MAX_ALL];
        for i in (0..self.men.len()).filter(|&i| i != walks) {
            found[i] = self.next_like(fixed, i, &found)?;
        }
        self.gap_among(found, walks)
    }

    fn gap_among(&self, mut found: Squares, walks: usize) -> Option<Gap> {
        let mut symmetry = usize::from(found[0] & 7 > 3);
        if symmetry != 0 {
            self.turn_others(walks, &mut found, |square| square ^ 7);
        }
        // The man that walks is the last of its like, for now.
        found[walks] = u8::MAX;
        if !self.pawns {
            symmetry |= self.without_pawns(walks, &mut found)?;
        }
        self.sort(&mut found);
        Some(Gap { squares: found, walks, symmetry })
    }

    /// The same men with the one that walks a place before in the order of its like.
    fn gap_before(&self, gap: &Gap) -> Option<Gap> {
        let Gap { mut squares, walks, symmetry } = *gap;
        let before = self.like(walks)?;
        if !self.pawns && squares[..2].iter().all(|&king| is_on_diagonal(king)) {
            // How the board is turned depends on the order of the men.
            return None;
        }
        squares[walks] = squares[before];
        Some(Gap { squares, walks: before, symmetry })
    }

    fn line_in(&self, gap: Gap) -> Option<CellLine> {
        let Gap { squares: mut found, walks, symmetry } = gap;
        let above = self.like(walks).map_or(u64::MAX, |before| u64::MAX << found[before] << 1);
        let behind = (walks + 1..self.men.len()).find(|&man| self.like(man) == Some(walks));
        let below = behind.map_or(u64::MAX, |behind| !(u64::MAX << found[behind]));
        let images = &IMAGES[symmetry];
        let own = match above & below {
            u64::MAX => u64::MAX,
            own if symmetry == 0 => own,
            own => {
                let is_own = |&square: &u8| own >> images[usize::from(square)] & 1 != 0;
                squares(u64::MAX).filter(is_own).fold(0, |set, square| set | 1 << square)
            }
        };
        found[walks] = 0;
        let first = self.place(&found)?;

        Some(CellLine {
            first: self.number(first),
            stride: 1 << (6 * (self.lane() - walks)),
            squares: own,
            symmetry,
        })
    }

    /// The number of a cell among all of the space.
    pub(crate) fn number(&self, place: CellInTile) -> usize {
        let row = place.tile as usize * usize::from(self.rows) + usize::from(place.row);
        64 * row + usize::from(place.lane)
    }

    /// Turns all men but one.
    fn turn_others(&self, walks: usize, found: &mut Squares, by: impl Fn(u8) -> u8) {
        turn(&mut found[..walks], &by);
        turn(&mut found[walks + 1..self.men.len()], by);
    }

    /// Turns the men but for the one that walks as [`Space::canonical`] does, once the white king
    /// is on the left. Returns how; none if that depends on the man that walks.
    fn without_pawns(&self, walks: usize, found: &mut Squares) -> Option<usize> {
        let mut symmetry = 0;
        if found[0] >> 3 > 3 {
            symmetry |= 2;
            self.turn_others(walks, found, |square| square ^ 56);
        }
        if is_above(found[0]) || is_on_diagonal(found[0]) && is_above(found[1]) {
            symmetry |= 4;
            self.turn_others(walks, found, mirrored_in_diagonal);
        }
        if is_on_diagonal(found[0]) && is_on_diagonal(found[1]) {
            self.sort(found);
            let first = found[..walks].iter().find(|&&square| !is_on_diagonal(square))?;
            if is_above(*first) {
                symmetry ^= 4;
                self.turn_others(walks, found, mirrored_in_diagonal);
            }
        }
        Some(symmetry)
    }

    /// The squares of the men by number, like men ascending. None if the men are others.
    fn gather(&self, position: &Position) -> Option<Squares> {
        if position.occupied().count_ones() as usize != self.men.len() {
            return None;
        }
        let mut found = [0; MAX_ALL];
        for i in 0..self.men.len() {
            found[i] = self.next_like(position, i, &found)?;
        }
        Some(found)
    }

    /// The square of a man, if those of the men before it are known.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "bytes just written, read as a word, wait"
    )]
    fn next_like(&self, position: &Position, man: usize, found: &Squares) -> Option<u8> {
        let above = match self.like(man) {
            Some(other) => u64::MAX << found[other] << 1,
            None => u64::MAX,
        };
        squares(position.of(self.men[man]) & above).next()
    }

    fn canonical(&self, squares: &mut Squares) {
        let all = &mut squares[..self.men.len()];
        if all[0] & 7 > 3 {
            turn(all, |square| square ^ 7);
        }
        if self.pawns {
            self.sort(squares);
            return;
        }
        if all[0] >> 3 > 3 {
            turn(all, |square| square ^ 56);
        }
        if is_above(all[0]) || is_on_diagonal(all[0]) && is_above(all[1]) {
            turn(all, mirrored_in_diagonal);
        }
        self.sort(squares);
        let all = &mut squares[..self.men.len()];
        if !is_on_diagonal(all[0]) || !is_on_diagonal(all[1]) {
            return;
        }
        if all.iter().find(|&&square| !is_on_diagonal(square)).is_some_and(|&s| is_above(s)) {
            turn(all, mirrored_in_diagonal);
            self.sort(squares);
        }
    }

    /// Puts like men in ascending order.
    fn sort(&self, squares: &mut Squares) {
        for man in 2..self.men.len() {
            let mut man = man;
            while let Some(before) = self.like(man) {
                if squares[before] <= squares[man] {
                    break;
                }
                squares.swap(before, man);
                man = before;
            }
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "bytes just written, read as a word, wait"
    )]
    fn place(&self, squares: &Squares) -> Option<CellInTile> {
        let kings = self.kings();
        let number =
            kings.numbers[usize::from(squares[0] & 63) * 64 + usize::from(squares[1] & 63)];
        if number == u16::MAX {
            return None;
        }
        let outer = self.outer().fold(u64::from(number), |n, man| n * 64 + u64::from(squares[man]));
        let lane = squares[self.lane()];
        let Some(middle) = self.middle() else {
            return Some(CellInTile { tile: outer, row: 0, lane });
        };
        let (group, row) = (squares[middle] / self.rows, squares[middle] % self.rows);
        Some(CellInTile { tile: outer * self.groups() + u64::from(group), row, lane })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(space: &Space, place: CellInTile, turn: Color) -> Option<Position> {
        let (position, man) = space.row_position(&space.tile(place.tile)?, place.row, turn);
        Some(position.with(place.lane, man))
    }

    fn space(name: &str, order: &[u8], rows: u8) -> Space {
        let material = Material::parse(name).expect("an ending");
        Space::new(&material, order, rows).expect("a space")
    }

    #[test]
    fn there_are_as_many_king_pairs_as_there_should_be() {
        assert_eq!(space("KRvK", &[0], 1).tiles(), 462);
        assert_eq!(space("KPvK", &[0], 1).tiles(), 1806);
        assert_eq!(space("KRvKN", &[1, 0], 16).tiles(), 462 * 4);
        assert_eq!(space("KRPvKR", &[1, 2, 0], 32).tiles(), 1806 * 64 * 2);
    }

    #[test]
    fn orders_that_are_no_permutations_are_refused() {
        let material = Material::parse("KRvKN").expect("an ending");
        for order in [&[0_u8][..], &[0, 0], &[0, 2], &[0, 1, 2], &[33, 0]] {
            assert!(Space::new(&material, order, 16).is_none());
        }
        assert!(Space::new(&material, &[0, 1], 3).is_none());
        assert!(Space::new(&Material::parse("KvK").expect("an ending"), &[], 1).is_none());
    }

    /// The squares of the men of a position, the least ones of all its mirror images.
    fn least_image(space: &Space, position: &Position) -> Squares {
        let squares = space.gather(position).expect("the men of the table");
        let images = if space.pawns { 2 } else { 8 };
        let image = |symmetry: usize| {
            let mut turned = squares;
            turn(&mut turned[..space.men.len()], |square| IMAGES[symmetry][usize::from(square)]);
            space.sort(&mut turned);
            turned
        };
        (0..images).map(image).min().expect("images")
    }

    /// A square with the files and ranks counted from the nearer edge.
    fn least_corner(square: u8) -> u8 {
        let least = |line: u8| line.min(7 - line);
        least(square & 7) | least(square >> 3) << 3
    }

    /// A line has cells of its positions, of each that it says it has, and all lines together have
    /// all but some of those in which both kings stand on diagonals. Where both kings stand on
    /// the diagonal a position of like men may have two.
    #[test]
    fn lines_lead_to_the_cells_of_their_positions() {
        let mut random = fastrand::Rng::with_seed(3);
        for (name, order, rows) in [
            ("KRvK", &[0][..], 1),
            ("KRvKN", &[1, 0], 16),
            ("KNNNvK", &[2, 0, 1], 32),
            ("KNNvKP", &[2, 0, 1], 32),
            ("KRBvKN", &[1, 2, 0], 8),
            ("KRvKR", &[1, 0], 64),
        ] {
            let space = space(name, order, rows);
            let place_of = |cell: usize| {
                let (row, lane) = (cell / 64, (cell % 64) as u8);
                let (tile, row) = (row / usize::from(rows), (row % usize::from(rows)) as u8);
                CellInTile { tile: tile as u64, row, lane }
            };
            let (mut lines, mut cells) = (0, 0_usize);
            for _ in 0..4_000 {
                let mut fixed = Position::empty(Color::White);
                let walks = random.usize(2..space.men().len());
                let others = space.men().iter().enumerate().filter(|&(i, _)| i != walks);
                others.for_each(|(_, &man)| fixed.put(random.u8(8..56), man));
                let man = space.men()[walks];
                let mut seen = fixed.of(man);
                for line in space.lines_of(&fixed, man) {
                    assert_eq!(line.squares & seen & !fixed.occupied(), 0, "{name} {fixed:?}");
                    seen |= line.squares;
                    for square in squares(line.squares & !fixed.occupied()) {
                        let there = fixed.with(square, man);
                        let place = place_of(line.cell(square));
                        let found = position(&space, place, Color::White).expect("a cell");
                        let both = [&found, &there].map(|position| least_image(&space, position));
                        assert_eq!(both[0], both[1], "{name} {there:?}");
                        assert_eq!(space.locate(&found), Some((place, Color::White)), "{name}");
                        cells += 1;
                    }
                }
                let kings = [Color::White, Color::Black].map(|color| fixed.king(color));
                let turns = kings.iter().flatten().any(|&king| !is_on_diagonal(least_corner(king)));
                let found = seen != fixed.of(man);
                lines += usize::from(found);
                assert!(!found || seen == u64::MAX || !turns && !space.pawns, "{name} {fixed:?}");
            }
            assert!(lines > 1_000 && cells > 20 * lines, "{name}: {lines} {cells}");
        }
    }

    #[test]
    fn bytes_come_from_the_images_of_their_squares() {
        let board: [u8; 64] = std::array::from_fn(|square| 3 * square as u8 + 1);
        for symmetry in 0..8 {
            let expected = IMAGES[symmetry].map(|image| board[usize::from(image)]);
            assert_eq!(from_images(&board, symmetry), expected, "{symmetry}");
        }
    }

    /// The cell of a random position has the same men up to symmetry, and is its own cell.
    #[test]
    fn cells_stand_for_their_positions() {
        let mut random = fastrand::Rng::with_seed(2);
        let spaces = [
            space("KRvK", &[0], 1),
            space("KRvKN", &[1, 0], 16),
            space("KNNNvK", &[2, 0, 1], 32),
            space("KNNvKP", &[2, 0, 1], 32),
            space("KNNvKN", &[1, 2, 0], 8),
            space("KRvKR", &[1, 0], 64),
        ];
        for space in &spaces {
            for _ in 0..20_000 {
                let mut position = Position::empty(Color::White);
                if random.bool() {
                    position.turn = Color::Black;
                }
                for &man in space.men() {
                    position.put(random.u8(8..56), man);
                }
                let Some((place, turn)) = space.locate(&position) else { continue };
                let back = self::position(space, place, turn).expect("a position");
                assert_eq!(
                    Material::of(&back),
                    Material::of(&self::position(space, place, turn).unwrap())
                );
                assert_eq!(space.locate(&back), Some((place, turn)));
                assert_eq!(back.is_check(turn), position.is_check(position.turn));
            }
        }
    }
}

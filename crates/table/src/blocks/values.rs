//! Values by rows as a source of cells.

use std::sync::{Arc, LazyLock};

use hoffman_board::{Color, Role, Symmetry, Value};
use hoffman_hbf::{Code, DRAW, Kind, Man, Material, Position, Source, code_of, turn_over};
use hoffman_space::{
    Codes, EdgeCodes, KingPlacement, Orientation, PackedCodes, PackedOutcomes, PawnSquares,
    TableValues, side,
};
use rustc_hash::FxHashMap;

use super::{color_of, man};

/// The values of an ending.
pub(super) struct Values<'v> {
    table: &'v TableValues,
    /// The men, as the layout of the values has them first.
    movers: Vec<Man>,
    /// Of tables with up to two pawns the slice of each structure by its number, White to move
    /// first: with those of both sides in one row each would need twice as many lines of the cache.
    slices: [Vec<Option<FoundSlice<'v>>>; 2],
}

/// One side to move of a slice, and how a position is turned before it is looked up there.
#[derive(Clone, Copy)]
struct FoundSlice<'v> {
    codes: LineCodes<'v>,
    orientation: Orientation,
}

/// Where the men of a position stand that are no pawns; the rest of the numbers is 0.
type MoverSquares = [u8; 16];

/// Where the positions of a row lie that differ in the square of a mover.
struct MoverLine<'v> {
    codes: LineCodes<'v>,
    /// What the square of the mover adds is left out.
    base: usize,
    stride: usize,
    /// What its square becomes.
    images: &'static [u8; 64],
}

/// The codes among which a line lies.
#[derive(Clone, Copy)]
enum LineCodes<'v> {
    Narrow(&'v [u8]),
    Wide(&'v [u16]),
    Outcomes(&'v PackedOutcomes),
    Edge(&'v EdgeCodes),
    Elsewhere(&'v Codes),
}

impl<'v> LineCodes<'v> {
    fn new(codes: &'v Codes) -> LineCodes<'v> {
        match codes {
            Codes::Narrow(bytes) => LineCodes::Narrow(bytes),
            Codes::Wide(words) => LineCodes::Wide(words),
            Codes::Stored(_) => match codes.as_packed() {
                Some(PackedCodes::Outcomes(outcomes)) => LineCodes::Outcomes(outcomes),
                Some(PackedCodes::Edge(edge)) => LineCodes::Edge(edge),
                Some(PackedCodes::Few(_)) | None => LineCodes::Elsewhere(codes),
            },
        }
    }

    /// The code at a place; 0 where there is no position.
    #[inline(always)]
    fn code(self, place: usize) -> Code {
        let of_byte = |byte: u8| BYTES[usize::from(byte)];
        match self {
            LineCodes::Narrow(bytes) => bytes.get(place).map_or(0, |&byte| of_byte(byte)),
            LineCodes::Wide(words) => words.get(place).map_or(0, |&word| code_of_word(word)),
            LineCodes::Outcomes(outcomes) => of_byte(outcomes.code(place)),
            LineCodes::Edge(edge) => of_byte(edge.code(place)),
            LineCodes::Elsewhere(codes) if place < codes.len() => {
                code_of_value(codes.value(place)).unwrap_or(0)
            }
            LineCodes::Elsewhere(_) => 0,
        }
    }
}

impl<'v> FoundSlice<'v> {
    /// That of a structure, if it is there, with a side to move before the position is turned.
    fn find(table: &'v TableValues, structure: PawnSquares, turn: Color) -> Option<FoundSlice<'v>> {
        let (values, orientation) = table.find(structure)?;
        let codes = &values.codes[side(orientation.color(turn))];
        Some(FoundSlice { codes: LineCodes::new(codes), orientation })
    }
}

/// The images of squares under a symmetry and then another one, by both numbers.
static IMAGES: LazyLock<Vec<[u8; 64]>> = LazyLock::new(|| {
    let mut images = Vec::new();
    for first in Symmetry::all() {
        for second in Symmetry::all() {
            let image = |square: usize| second.apply_index(first.apply_index(square as u8));
            images.push(std::array::from_fn(image));
        }
    }
    images
});

/// The codes of cells by those of the solver.
static BYTES: [Code; 256] = {
    let mut codes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        codes[byte] = code_of_byte(byte as u8);
        byte += 1;
    }
    codes
};

impl MoverLine<'_> {
    /// 0 where there is no position.
    #[inline(always)]
    fn code(&self, square: u8) -> Code {
        self.codes
            .code(self.base + self.stride * usize::from(self.images[usize::from(square & 63)]))
    }
}

/// The number of a structure of up to two pawns, less than 4096.
fn number_of(pawns: PawnSquares) -> usize {
    let first = |set: u64| (set.trailing_zeros() % 64) as usize;
    match (pawns.white, pawns.black) {
        (white, 0) => first(white) * 64 + first(white & white.wrapping_sub(1)),
        (0, black) => first(black) * 64 + first(black & black.wrapping_sub(1)),
        (white, black) => first(white) * 64 + first(black),
    }
}

impl<'v> Values<'v> {
    pub(super) fn new(table: &'v TableValues) -> Values<'v> {
        let movers = table.layout.movers().iter().map(|mover| man(mover.color, mover.role));
        let mut new = Values { table, movers: movers.collect(), slices: [Vec::new(), Vec::new()] };
        new.slices = Color::ALL.map(|turn| new.all_slices(turn));
        new
    }

    /// The slices of all structures with a side to move, if these have numbers.
    fn all_slices(&self, turn: Color) -> Vec<Option<FoundSlice<'v>>> {
        let count = self.table.material.count;
        let pawns = [count.white.pawn, count.black.pawn];
        if pawns.iter().sum::<u8>() > 2 {
            return Vec::new();
        }
        let mut slices = vec![None; 64 * 64];
        for first in 0..64_u64 {
            for second in 0..64_u64 {
                let (first, second) = (1 << first, 1 << second);
                let structure = match pawns {
                    [0, 0] => PawnSquares::default(),
                    [1, 0] => PawnSquares { white: first, black: 0 },
                    [0, 1] => PawnSquares { white: 0, black: first },
                    [2, 0] => PawnSquares { white: first | second, black: 0 },
                    [0, 2] => PawnSquares { white: 0, black: first | second },
                    _ => PawnSquares { white: first, black: second },
                };
                slices[number_of(structure)] = FoundSlice::find(self.table, structure, turn);
            }
        }
        slices
    }

    fn slice(&self, pawns: PawnSquares, turn: Color) -> Option<FoundSlice<'v>> {
        match self.slices[side(turn)].get(number_of(pawns)) {
            Some(slice) => *slice,
            None => FoundSlice::find(self.table, pawns, turn),
        }
    }

    /// The ending.
    pub(super) fn material(&self) -> Option<Material> {
        let men = self.table.material.men_in_naming_order();
        Material::new(men.into_iter().map(|(color, role)| man(color, role)))
    }

    /// The movers of a position; none if they are others.
    fn mover_squares(&self, position: &Position) -> Option<MoverSquares> {
        let mut squares = [0; 16];
        for (at, &mover) in self.movers.iter().enumerate() {
            // Like men stand side by side: each is on a higher square than the one before.
            let above = match at.checked_sub(1).filter(|&before| self.movers[before] == mover) {
                Some(before) => u64::MAX << squares[before] << 1,
                None => u64::MAX,
            };
            let set = position.of(mover) & above;
            if set == 0 {
                return None;
            }
            squares[at] = set.trailing_zeros() as u8;
        }
        Some(squares)
    }

    /// The movers in a slice: as in `TableValues::value`. And which one there a mover is.
    fn turned(
        &self,
        mut squares: MoverSquares,
        orientation: Orientation,
        walks: usize,
    ) -> (MoverSquares, usize) {
        let movers = &mut squares[..self.movers.len()];
        let symmetry = orientation.symmetry();
        for square in movers.iter_mut() {
            *square = symmetry.apply_index(*square);
        }
        if !orientation.swap {
            return (squares, walks);
        }
        movers.swap(0, 1);
        let half = (movers.len() - 2) / 2;
        movers[2..].rotate_left(half);
        let walks = if walks < 2 { 1 - walks } else { 2 + (walks - 2 + half) % (2 * half) };
        (squares, walks)
    }

    /// The line of positions that differ in the square of a mover, in this position the last one of
    /// those like it. None if there is none, or none so simple.
    fn line(
        &self,
        squares: &MoverSquares,
        pawns: PawnSquares,
        turn: Color,
        walks: usize,
    ) -> Option<MoverLine<'v>> {
        let layout = &self.table.layout;
        let slice = self.slice(pawns, turn)?;
        let (squares, walks) = self.turned(*squares, slice.orientation, walks);
        if layout.has_overlaps() || !layout.has_all_places(walks) {
            return None;
        }
        let second = match layout.kings() {
            KingPlacement::Pairs => layout.king_base(squares[0], squares[1])?.1,
            KingPlacement::Axes => Symmetry::IDENTITY,
        };
        let stride = layout.stride(walks);
        let own = stride * usize::from(second.apply_index(squares[walks]));
        let base = layout.offset(&squares[..self.movers.len()])?.checked_sub(own)?;
        let images = &IMAGES[8 * slice.orientation.symmetry().index() + second.index()];
        let codes = slice.codes;
        if let LineCodes::Edge(edge) = codes
            && let Some((base, stride)) = edge.line(base, stride)
        {
            return Some(MoverLine {
                codes: LineCodes::Narrow(edge.codes()),
                base,
                stride,
                images,
            });
        }
        Some(MoverLine { codes, base, stride, images })
    }

    /// The line of a row: of the positions with a piece more on one of these squares.
    fn line_of_row(&self, position: &Position, man: Man, wanted: u64) -> Option<MoverLine<'v>> {
        let walks = self.movers.iter().rposition(|&mover| mover == man)?;
        // Where it stands on the lowest square it is the last one of those like it everywhere.
        let lowest = wanted.trailing_zeros() as u8 & 63;
        let squares = self.mover_squares(&position.with(lowest, man))?;
        let is_last = squares[walks] == lowest && position.en_passant.is_none();
        self.line(&squares, pawns_of(position), color_of(position.turn), walks).filter(|_| is_last)
    }

    /// As [`Source::row`] for a man that moves inside slices.
    fn row_of_mover(
        &self,
        position: &Position,
        man: Man,
        wanted: u64,
        codes: &mut [Code; 64],
    ) -> Option<u64> {
        let line = self.line_of_row(position, man, wanted)?;
        Some(fill_row(wanted, codes, |square| line.code(square)))
    }

    /// As [`Source::row`] for a pawn: each square is another slice, but the movers stand on the
    /// same place in all that are turned alike.
    fn row_of_pawn(
        &self,
        position: &Position,
        pawn: Man,
        wanted: u64,
        codes: &mut [Code; 64],
    ) -> Option<u64> {
        if position.en_passant.is_some() {
            return None;
        }
        let movers = self.mover_squares(position)?;
        let (turn, pawns) = (color_of(position.turn), pawns_of(position));
        let mut places = [None; 4];
        Some(fill_row(wanted, codes, |square| {
            let mut structure = pawns;
            *structure.of_mut(color_of(pawn.color)) |= 1 << square;
            self.slice(structure, turn).map_or(0, |slice| {
                let Orientation { swap, mirror } = slice.orientation;
                let number = usize::from(swap) << 1 | usize::from(mirror);
                let place = *places[number].get_or_insert_with(|| {
                    let (squares, _) = self.turned(movers, slice.orientation, 0);
                    self.table.layout.offset(&squares[..self.movers.len()]).unwrap_or(usize::MAX)
                });
                slice.codes.code(place)
            })
        }))
    }
}

/// Sets the codes on some squares; returns those on which there is none.
#[inline(always)]
fn fill_row(wanted: u64, codes: &mut [Code; 64], mut code_on: impl FnMut(u8) -> Code) -> u64 {
    let mut unknown = 0;
    for square in squares(wanted) {
        let code = code_on(square);
        codes[usize::from(square)] = code;
        unknown |= u64::from(code == 0) << square;
    }
    unknown
}

/// The pawns of a position.
fn pawns_of(position: &Position) -> PawnSquares {
    let pawns = |color| position.of(man(color, Role::Pawn));
    PawnSquares { white: pawns(Color::White), black: pawns(Color::Black) }
}

/// The code of a value; none of a position that is not legal.
fn code_of_value(value: Value) -> Option<Code> {
    Some(match value {
        Value::Illegal => return None,
        Value::Draw => DRAW,
        Value::Win(moves) => code_of(hoffman_hbf::Value::Win(moves)),
        Value::Loss(moves) => code_of(hoffman_hbf::Value::Loss(moves)),
    })
}

/// The same of a code of the solver: wins come before one more number there.
const fn code_of_byte(byte: u8) -> Code {
    match byte {
        0x80 => DRAW,
        0..0x80 => byte as Code,
        0xff => 0xffff,
        _ => 0xff01 + byte as Code,
    }
}

/// The code of the solver for the byte of a cell, or that of the outcome alone.
#[inline]
pub(super) const fn byte_of_cell(byte: u8, outcomes: bool) -> u8 {
    match byte {
        0 | 0x80 => byte,
        _ if !outcomes => byte - (byte > 0x80) as u8,
        ..0x80 => 0x01,
        _ => 0xfe,
    }
}

/// The same of a wide one.
const fn code_of_word(word: u16) -> Code {
    if word > DRAW { word.saturating_add(1) } else { word }
}

/// The squares of a set, ascending.
fn squares(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let square = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        square
    })
}

impl Source for Values<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        let squares = self.mover_squares(position)?;
        let (turn, pawns) = (color_of(position.turn), pawns_of(position));
        let last = self.movers.len() - 1;
        if position.en_passant.is_none()
            && let Some(line) = self.line(&squares, pawns, turn, last)
        {
            return Some(line.code(squares[last])).filter(|&code| code != 0);
        }
        let movers = &squares[..self.movers.len()];
        code_of_value(self.table.value(movers, pawns, turn, position.en_passant)?)
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let unknown = match man.kind {
            Kind::Pawn => self.row_of_pawn(position, man, wanted, codes),
            // Kings may be laid out in pairs.
            Kind::King => None,
            _ => self.row_of_mover(position, man, wanted, codes),
        };
        unknown.unwrap_or_else(|| {
            fill_row(wanted, codes, |square| self.code(&position.with(square, man)).unwrap_or(0))
        })
    }
}

/// The values of several endings.
pub(super) struct Others<'v> {
    /// With whether colours are to be exchanged.
    all: FxHashMap<Counts, (Arc<Values<'v>>, bool)>,
}

/// The values of an ending and of those behind its captures and promotions.
pub(super) struct WithBehind<'v> {
    own: Values<'v>,
    own_counts: Counts,
    behind: Others<'v>,
}

/// How many men of each kind there are, kings left out: four bits each.
type Counts = u64;

fn counts(position: &Position) -> Counts {
    let mut counts = 0;
    for color in [hoffman_hbf::Color::White, hoffman_hbf::Color::Black] {
        for kind in [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
            counts = counts << 4 | u64::from(position.of(Man { color, kind }).count_ones());
        }
    }
    counts
}

/// The same of the positions with a man more on one of some squares.
fn counts_of_row(position: &Position, man: Man, squares: u64) -> Counts {
    counts(&position.with(squares.trailing_zeros() as u8, man))
}

/// The men of an ending, on squares that do not matter.
fn any_position(table: &TableValues) -> Position {
    let men = (0..).zip(table.material.men_in_naming_order());
    let empty = Position::empty(hoffman_hbf::Color::White);
    men.fold(empty, |position, (square, (color, role))| position.with(square, man(color, role)))
}

impl<'v> Others<'v> {
    pub(super) fn new(tables: impl IntoIterator<Item = &'v TableValues>) -> Others<'v> {
        let mut all = FxHashMap::default();
        for table in tables {
            let values = Arc::new(Values::new(table));
            let position = any_position(table);
            // An ending with the same men on both sides comes last in its own colours.
            all.insert(counts(&position.swapped()), (Arc::clone(&values), true));
            all.insert(counts(&position), (values, false));
        }
        Others { all }
    }

    /// The same of values that others hold, too.
    pub(super) fn of(tables: &'v [Arc<TableValues>]) -> Others<'v> {
        Others::new(tables.iter().map(|table| &**table))
    }

    /// The code of a position with so many men of each kind.
    fn code_of(&self, counts: Counts, position: &Position) -> Option<Code> {
        let (values, swapped) = self.all.get(&counts)?;
        values.code(&if *swapped { position.swapped() } else { *position })
    }

    /// The same of a row, see [`Source::row`].
    fn row_of(
        &self,
        counts: Counts,
        (position, man): (&Position, Man),
        wanted: u64,
        codes: &mut [Code; 64],
    ) -> u64 {
        match self.all.get(&counts) {
            None => wanted,
            Some((values, false)) => values.row(position, man, wanted, codes),
            Some((values, true)) => {
                let (position, man) = (position.swapped(), man.swapped());
                let unknown = values.row(&position, man, wanted.swap_bytes(), codes);
                turn_over(codes);
                unknown.swap_bytes()
            }
        }
    }
}

impl Source for Others<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        self.code_of(counts(position), position)
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        self.row_of(counts_of_row(position, man, wanted), (position, man), wanted, codes)
    }
}

impl<'v> WithBehind<'v> {
    /// The values of an ending, and those of others, among which are all behind it.
    pub(super) fn new(
        own: &'v TableValues,
        behind: impl IntoIterator<Item = &'v TableValues>,
    ) -> WithBehind<'v> {
        let own_counts = counts(&any_position(own));
        WithBehind { own: Values::new(own), own_counts, behind: Others::new(behind) }
    }

    pub(super) fn material(&self) -> Option<Material> {
        self.own.material()
    }
}

impl Source for WithBehind<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        match counts(position) {
            counts if counts == self.own_counts => self.own.code(position),
            counts => self.behind.code_of(counts, position),
        }
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        match counts_of_row(position, man, wanted) {
            counts if counts == self.own_counts => self.own.row(position, man, wanted, codes),
            counts => self.behind.row_of(counts, (position, man), wanted, codes),
        }
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Material;
    use hoffman_space::{Code as _, Codes, SliceValues};

    use super::*;

    #[test]
    fn codes_of_the_solver_become_those_of_cells() {
        for byte in 0..=u8::MAX {
            assert_eq!(code_of_byte(byte), code_of_value(byte.value()).unwrap_or(0), "{byte}");
        }
        for (value, byte) in [(Value::Loss(126), 127), (Value::Draw, 128), (Value::Win(126), 130)] {
            assert_eq!(byte_of_cell(byte, false).value(), value);
        }
        // No distance of a byte has 129.
        for byte in (0..=u8::MAX).filter(|&byte| byte != 129) {
            let outcome = match byte_of_cell(byte, false).value() {
                Value::Win(_) => Value::Win(1),
                Value::Loss(_) => Value::Loss(0),
                other => other,
            };
            assert_eq!(byte_of_cell(byte, true).value(), outcome, "{byte}");
        }
        for word in 0..=u16::MAX {
            assert_eq!(code_of_word(word), code_of_value(word.value()).unwrap_or(0), "{word}");
        }
    }

    /// A slice of codes by chance, in one of the widths that there are.
    fn random_slice(len: usize, random: &mut fastrand::Rng) -> SliceValues {
        let mut bytes = || -> Vec<u8> {
            // No distance of a byte has 129.
            (0..len).map(|_| random.u8(..)).map(|byte| if byte == 129 { 0 } else { byte }).collect()
        };
        let codes = [bytes(), bytes()].map(Codes::Narrow);
        let narrow = SliceValues { codes, en_passant: Vec::new(), counts: None, max_moves: 126 };
        match random.u8(0..4) {
            0 => narrow.outcomes(),
            1 => {
                let wide = |codes: &Codes| {
                    Codes::Wide((0..len).map(|at| u16::from_value(codes.value(at))).collect())
                };
                SliceValues { codes: narrow.codes.each_ref().map(wide), ..narrow }
            }
            _ => narrow,
        }
    }

    /// Squares for pawns, so few that many of their structures are met by chance.
    const PAWNS: u64 = 0x0081_0024_2400_8100;

    /// The values of an ending, but for some of its slices.
    fn random_values(material: Material, random: &mut fastrand::Rng) -> TableValues {
        let pawns = [material.count.white.pawn, material.count.black.pawn];
        let mut structures = Vec::new();
        for _ in 0..40 {
            let mut free: Vec<u64> = squares(PAWNS).map(|square| 1 << square).collect();
            random.shuffle(&mut free);
            let mut some = |count: u8| free.split_off(free.len() - usize::from(count)).iter().sum();
            let structure = PawnSquares { white: some(pawns[0]), black: some(pawns[1]) };
            structures.push(structure.normalized(material.is_symmetric()).0);
        }
        let table = TableValues::new(material, structures);
        for slot in table.slices.values() {
            let slice = Arc::new(random_slice(table.layout.len(), random));
            assert!(slot.set(slice).is_ok(), "each once");
        }
        table
    }

    /// What the table says of a position, by way of nothing that rows use.
    fn code_in(table: &TableValues, position: &Position) -> Option<Code> {
        let movers = table.layout.movers();
        let mut all: Vec<u8> = Vec::new();
        for (at, mover) in movers.iter().enumerate() {
            let before = movers[..at].iter().filter(|other| *other == mover).count();
            all.push(squares(position.of(man(mover.color, mover.role))).nth(before)?);
        }
        code_of_value(table.value(&all, pawns_of(position), color_of(position.turn), None)?)
    }

    /// The men of an ending but one on squares by chance, the one, and squares for it.
    fn random_row(table: &TableValues, random: &mut fastrand::Rng) -> (Position, Man, u64) {
        let mut men = table.material.men_in_naming_order();
        men.extend(Color::ALL.map(|color| (color, Role::King)));
        random.shuffle(&mut men);
        let mut men = men.into_iter().map(|(color, role)| man(color, role));
        let walks = men.next().expect("kings");
        let mut free: Vec<u8> = (0..64).collect();
        random.shuffle(&mut free);
        let turn = if random.bool() { Color::White } else { Color::Black };
        let position = men.fold(Position::empty(man(turn, Role::King).color), |position, man| {
            let may_stand = |square: u8| man.kind != Kind::Pawn || PAWNS >> square & 1 != 0;
            let at = free.iter().position(|&square| may_stand(square)).expect("few pawns");
            position.with(free.swap_remove(at), man)
        });
        // Like men stand in the order of their squares.
        let above = 64 - position.of(walks).leading_zeros();
        let wanted = random.u64(..) & !position.occupied();
        (position, walks, wanted & u64::MAX.checked_shl(above).unwrap_or(0))
    }

    #[test]
    fn rows_have_the_codes_of_their_positions() {
        let mut random = fastrand::Rng::with_seed(15);
        for name in ["KRvKR", "KNNvK", "KPvK", "KNPvK", "KPvKP", "KPPvK", "KPPvKP", "KNPvKP"] {
            let material: Material = name.parse().expect("an ending");
            let table = random_values(material.normalized().0, &mut random);
            let values = Values::new(&table);
            let mut seen = [0; 2];
            for _ in 0..3_000 {
                let (position, man, wanted) = random_row(&table, &mut random);
                let mut codes = [0; 64];
                let unknown = values.row(&position, man, wanted, &mut codes);
                for square in squares(wanted) {
                    let expected = code_in(&table, &position.with(square, man));
                    let found = Some(codes[usize::from(square)]).filter(|&code| code != 0);
                    assert_eq!(found, expected, "{name} {man:?} {square} {position:?}");
                    assert_eq!(unknown >> square & 1 != 0, expected.is_none(), "{name}");
                    seen[usize::from(expected.is_some())] += 1;
                }
            }
            assert!(seen.iter().all(|&count| count > 50), "{name} {seen:?}");
        }
    }
}

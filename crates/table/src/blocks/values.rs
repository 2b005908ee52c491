//! Values by rows as a source of cells.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use hoffman_board::{Color, Role, Symmetry, Value};
use hoffman_hbf::{Code, DRAW, Kind, Man, Material, Position, Source, code_of, turn_over};
use hoffman_space::{
    Codes, EdgeCodes, KingPlacement, Orientation, PackedCodes, PackedOutcomes, PawnSquares,
    SliceValues, TableValues,
};

use super::{color_of, man};

/// The values of an ending.
pub(super) struct Values<'v> {
    table: &'v TableValues,
    /// The men, as the layout of the values has them first.
    movers: Vec<Man>,
    /// Of tables with up to two pawns the slice of each structure, by its number.
    slices: Vec<Option<Slice<'v>>>,
}

/// A slice, and how a position is turned before it is looked up there.
type Slice<'v> = (&'v Arc<SliceValues>, Orientation);

/// Where the men of a position stand.
struct MenSquares {
    movers: [u8; 16],
    pawns: PawnSquares,
}

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
        let place = self.base + self.stride * usize::from(self.images[usize::from(square & 63)]);
        let of_byte = |byte: u8| BYTES[usize::from(byte)];
        match self.codes {
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
        let mut new = Values { table, movers: movers.collect(), slices: Vec::new() };
        new.slices = new.all_slices();
        new
    }

    /// The slices of all structures, if these have numbers.
    fn all_slices(&self) -> Vec<Option<Slice<'v>>> {
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
                slices[number_of(structure)] = self.table.find(structure);
            }
        }
        slices
    }

    fn slice(&self, pawns: PawnSquares) -> Option<Slice<'v>> {
        if self.slices.is_empty() { self.table.find(pawns) } else { self.slices[number_of(pawns)] }
    }

    /// The ending.
    pub(super) fn material(&self) -> Option<Material> {
        let men = self.table.material.men_in_naming_order();
        Material::new(men.into_iter().map(|(color, role)| man(color, role)))
    }

    /// The men of a position; none if they are others.
    fn men(&self, position: &Position) -> Option<MenSquares> {
        let mut men = MenSquares { movers: [0; 16], pawns: PawnSquares::default() };
        for (at, &mover) in self.movers.iter().enumerate() {
            // Like men stand side by side: each is on a higher square than the one before.
            let above = match at.checked_sub(1).filter(|&before| self.movers[before] == mover) {
                Some(before) => u64::MAX << men.movers[before] << 1,
                None => u64::MAX,
            };
            let set = position.of(mover) & above;
            if set == 0 {
                return None;
            }
            men.movers[at] = set.trailing_zeros() as u8;
        }
        let pawns = |color| position.of(man(color, Role::Pawn));
        men.pawns = PawnSquares { white: pawns(Color::White), black: pawns(Color::Black) };
        Some(men)
    }

    /// The line of positions that differ in the square of a mover, in this position the last one of
    /// those like it. None if there is none, or none so simple.
    fn line(&self, men: &MenSquares, turn: Color, mut walks: usize) -> Option<MoverLine<'v>> {
        let layout = &self.table.layout;
        let (slice, orientation) = self.slice(men.pawns)?;
        let first = orientation.symmetry();
        let mut squares = men.movers;
        let squares = &mut squares[..self.movers.len()];
        for square in squares.iter_mut() {
            *square = first.apply_index(*square);
        }
        if orientation.swap {
            // As in `TableValues::value`.
            squares.swap(0, 1);
            let half = (squares.len() - 2) / 2;
            squares[2..].rotate_left(half);
            walks = if walks < 2 { 1 - walks } else { 2 + (walks - 2 + half) % (2 * half) };
        }
        if layout.has_overlaps() || !layout.has_all_places(walks) {
            return None;
        }
        let second = match layout.kings() {
            KingPlacement::Pairs => layout.king_base(squares[0], squares[1])?.1,
            KingPlacement::Axes => Symmetry::IDENTITY,
        };
        let side = usize::from(orientation.color(turn) == Color::Black);
        let stride = layout.stride(walks);
        let own = stride * usize::from(second.apply_index(squares[walks]));
        let base = layout.offset(squares)?.checked_sub(own)?;
        let images = &IMAGES[8 * first.index() + second.index()];
        let codes = LineCodes::new(&slice.codes[side]);
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
        let men = self.men(&position.with(lowest, man))?;
        let is_last = men.movers[walks] == lowest && position.en_passant.is_none();
        self.line(&men, color_of(position.turn), walks).filter(|_| is_last)
    }
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
        let men = self.men(position)?;
        let turn = color_of(position.turn);
        let last = self.movers.len() - 1;
        if let Some(line) = self.line(&men, turn, last).filter(|_| position.en_passant.is_none()) {
            return Some(line.code(men.movers[last])).filter(|&code| code != 0);
        }
        let movers = &men.movers[..self.movers.len()];
        code_of_value(self.table.value(movers, men.pawns, turn, position.en_passant)?)
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let line = match man.kind {
            // Values of pawns are in slices, those of kings may be in pairs.
            Kind::Pawn | Kind::King => None,
            _ => self.line_of_row(position, man, wanted),
        };
        let mut unknown = 0;
        for square in squares(wanted) {
            let code = match &line {
                Some(line) => line.code(square),
                None => self.code(&position.with(square, man)).unwrap_or(0),
            };
            codes[usize::from(square)] = code;
            unknown |= u64::from(code == 0) << square;
        }
        unknown
    }
}

/// The values of several endings.
pub(super) struct Others<'v> {
    /// With whether colours are to be exchanged.
    all: HashMap<Counts, (Arc<Values<'v>>, bool)>,
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

/// The men of an ending, on squares that do not matter.
fn any_position(table: &TableValues) -> Position {
    let men = (0..).zip(table.material.men_in_naming_order());
    let empty = Position::empty(hoffman_hbf::Color::White);
    men.fold(empty, |position, (square, (color, role))| position.with(square, man(color, role)))
}

impl<'v> Others<'v> {
    pub(super) fn new(tables: impl IntoIterator<Item = &'v TableValues>) -> Others<'v> {
        let mut all = HashMap::new();
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

    fn find(&self, position: &Position) -> Option<(&Values<'v>, bool)> {
        self.all.get(&counts(position)).map(|(values, swapped)| (&**values, *swapped))
    }
}

impl Source for Others<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        let (values, swapped) = self.find(position)?;
        values.code(&if swapped { position.swapped() } else { *position })
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let lowest = wanted.trailing_zeros() as u8 & 63;
        match self.find(&position.with(lowest, man)) {
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

    fn is_own(&self, position: &Position) -> bool {
        counts(position) == self.own_counts
    }
}

impl Source for WithBehind<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        if self.is_own(position) { self.own.code(position) } else { self.behind.code(position) }
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let lowest = wanted.trailing_zeros() as u8 & 63;
        if self.is_own(&position.with(lowest, man)) {
            self.own.row(position, man, wanted, codes)
        } else {
            self.behind.row(position, man, wanted, codes)
        }
    }
}

#[cfg(test)]
mod tests {
    use hoffman_space::Code as _;

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
}

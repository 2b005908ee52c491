//! All values of a table of cells in memory, or a selection of them, whatever its streams: for
//! those who ask for many.

use crate::board::{Color, Kind, Man, Position, squares};
use crate::cells::{CellInTile, CellLine, Space, TilePlace, from_images};
use crate::code::{Code, DRAW, only_on, squares_where};
use crate::container::{HbfError, TILES};
use crate::encode::Source;
use crate::fen::to_fen;
use crate::header::{Metric, Mode};
use crate::move_rows::MoveRow;
use crate::rows::TileRows;
use crate::selection::Selection;
use crate::table::{CellStream, HbfFile};
use crate::workers::{Crew, Stopped, in_order};

mod quiet;
mod zugzwang;

use quiet::QuietMoves;
pub use zugzwang::MutualZugzwang;

/// The values of a complete table, both sides to move, or of a selection of its positions.
#[derive(Debug)]
pub struct WholeTable {
    /// By the side to move, as far as it is needed; of an ending with the same men on both sides
    /// White only.
    sides: [Option<WholeSide>; 2],
}

#[derive(Debug)]
struct WholeSide {
    space: Space,
    cells: Cells,
}

/// Codes of cells, tile by tile.
#[derive(Debug)]
enum Cells {
    /// One byte each: distances of up to 126 moves.
    Narrow(Vec<u8>),
    /// Two bytes each.
    Wide(Vec<u16>),
}

/// The longest distance in moves that has a byte.
const NARROW: u16 = 126;

/// The byte of a code with a short distance; 0 for any other.
const fn narrow(code: Code) -> u8 {
    match code {
        DRAW => 128,
        1..=127 => code as u8,
        0xff82.. => (code & 0xff) as u8,
        _ => 0,
    }
}

const fn widened(byte: u8) -> Code {
    match byte {
        128 => DRAW,
        129.. => 0xff00 | byte as Code,
        _ => byte as Code,
    }
}

/// The codes of a row of bytes by square, the bytes being at the images of the squares. Returns the
/// squares that have none.
#[inline]
fn widen_row(row: &[u8; 64], symmetry: usize, codes: &mut [Code; 64]) -> u64 {
    let turned;
    let row = if symmetry == 0 {
        row
    } else {
        turned = from_images(row, symmetry);
        &turned
    };
    for (code, &byte) in codes.iter_mut().zip(row) {
        *code = widened(byte);
    }
    let mut none = 0;
    for (rank, bytes) in row.as_chunks::<8>().0.iter().enumerate() {
        none |= zeros(u64::from_le_bytes(*bytes)) << (8 * rank);
    }
    none
}

/// Which of eight bytes are zero, a bit each.
const fn zeros(bytes: u64) -> u64 {
    let low = 0x7f7f_7f7f_7f7f_7f7f;
    let high_bits = !(((bytes & low) + low) | bytes | low);
    // Bit 8 i goes to bit 56 + i.
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Why there are no values of a table in memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WholeError {
    /// The file is damaged, or has no cells.
    #[error(transparent)]
    File(#[from] HbfError),
    /// A value behind a capture or a promotion is not known.
    #[error("the value of {} is not known", to_fen(.0))]
    Missing(Position),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

impl From<Stopped> for WholeError {
    fn from(_: Stopped) -> WholeError {
        WholeError::Stopped
    }
}

impl Cells {
    fn get(&self, at: usize) -> Option<Code> {
        let code = match self {
            Cells::Narrow(cells) => widened(*cells.get(at)?),
            Cells::Wide(cells) => *cells.get(at)?,
        };
        Some(code).filter(|&code| code != 0)
    }

    /// The bytes, if codes have one each.
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Cells::Narrow(bytes) => Some(bytes),
            Cells::Wide(_) => None,
        }
    }

    /// Codes in a byte each, if all have one.
    fn of(codes: Vec<Code>) -> Cells {
        let is_narrow = |&code: &Code| code == 0 || narrow(code) != 0;
        // Not `all`, which would look at one after the other.
        if codes.iter().map(is_narrow).fold(true, |all, is| all & is) {
            Cells::Narrow(codes.iter().map(|&code| narrow(code)).collect())
        } else {
            Cells::Wide(codes)
        }
    }

    fn len(&self) -> usize {
        match self {
            Cells::Narrow(cells) => cells.len(),
            Cells::Wide(cells) => cells.len(),
        }
    }

    /// Takes cells from a place on. A distance that needs two bytes makes all wide.
    fn put(&mut self, first: usize, cells: &Cells) {
        if let (Cells::Narrow(own), Cells::Wide(_)) = (&self, cells) {
            *self = Cells::Wide(own.iter().map(|&byte| widened(byte)).collect());
        }
        match (self, cells) {
            (Cells::Narrow(own), Cells::Narrow(cells)) => {
                own[first..][..cells.len()].copy_from_slice(cells);
            }
            (Cells::Wide(own), Cells::Wide(cells)) => {
                own[first..][..cells.len()].copy_from_slice(cells);
            }
            (Cells::Wide(own), Cells::Narrow(cells)) => {
                own[first..].iter_mut().zip(cells).for_each(|(own, &cell)| *own = widened(cell));
            }
            (Cells::Narrow(_), Cells::Wide(_)) => {}
        }
    }
}

/// The bytes of a line by the square of its man, if they lie side by side.
fn bytes_of(cells: &[u8], line: &CellLine) -> Option<[u8; 64]> {
    let (first, symmetry) = line.in_row()?;
    let row = cells.get(first..)?.first_chunk::<64>()?;
    Some(if symmetry == 0 { *row } else { from_images(row, symmetry) })
}

impl WholeTable {
    /// How many bytes the values of a selection take at most: of one byte each, if no distance
    /// needs two.
    pub fn bytes(file: &HbfFile, selection: &Selection) -> u64 {
        let of =
            |stream: &CellStream| stream.blocks.saturating_mul(TILES * stream.tile_cells as u64);
        let streams = file.cell_streams();
        let largest = streams.iter().map(of).max().unwrap_or(0);
        let sides = NeededSides::of(file, selection);
        let count = (0..2).filter(|&turn| sides.decoded[turn] || sides.followed[turn]).count();
        let wide = file.info().metric != Metric::Outcome && !is_short(file);
        largest.saturating_mul(count as u64 * if wide { 2 } else { 1 })
    }

    /// The sides whose captures and promotions are looked up in the tables behind, for the values
    /// of a selection.
    pub fn leaning(file: &HbfFile, selection: &Selection) -> [bool; 2] {
        let NeededSides { decoded, followed } = NeededSides::of(file, selection);
        let mut leaning = followed;
        for stream in own_streams(file).filter(|stream| stream.exits) {
            leaning[stream.turn as usize] |= decoded[stream.turn as usize];
        }
        // A double step is worth what taking en passant leaves of it.
        if leaning != [false; 2] && may_take_en_passant(file) { [true; 2] } else { leaning }
    }

    /// Decodes a selection of a file. `behind` has the values of the tables behind the captures and
    /// promotions of the sides that [`WholeTable::leaning`] names.
    ///
    /// # Errors
    /// Damage, a value behind that is not known, or the caller asked to stop.
    pub fn read(
        file: &HbfFile,
        selection: &Selection,
        behind: &dyn Source,
        crew: Crew<'_>,
    ) -> Result<WholeTable, WholeError> {
        let mut whole = WholeTable { sides: [None, None] };
        let NeededSides { decoded, followed } = NeededSides::of(file, selection);
        if decoded == [false; 2] {
            return Err(HbfError::Section("STRM".to_owned()).into());
        }
        let selection = if is_symmetric(file) { Selection::all() } else { selection.closed() };
        for stream in own_streams(file).filter(|stream| decoded[stream.turn as usize]) {
            whole.decode(file, (&stream, &selection), (behind, Raised::All), crew)?;
        }
        let outcomes = file.info().metric == Metric::Outcome;
        for turn in [Color::White, Color::Black].into_iter().filter(|&t| followed[t as usize]) {
            whole.follow(turn.other(), (outcomes, &selection), behind, crew)?;
        }
        Ok(whole)
    }

    /// The code of a position without rights to take en passant; none if it is no legal position of
    /// the ending.
    pub fn code(&self, position: &Position) -> Option<Code> {
        let of = |side: &WholeSide, turn: Color| {
            let (place, mover) = side.space.locate(position)?;
            (mover == turn).then(|| side.cells.get(side.space.number(place))).flatten()
        };
        let [white, black] = &self.sides;
        let white = white.as_ref().and_then(|side| of(side, Color::White));
        white.or_else(|| of(black.as_ref()?, Color::Black))
    }

    /// The codes of positions without rights to take en passant that have one man more on these
    /// squares; returns the squares that were not looked up, which [`WholeTable::code`] may know.
    pub fn row(&self, fixed: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        match (&self.sides[fixed.turn as usize], &self.sides) {
            (Some(side), _) => side.row(fixed, man, wanted, codes),
            (None, [Some(side), None]) if side.space.is_symmetric() => {
                let (fixed, man) = (fixed.swapped(), man.swapped());
                let rest = side.row(&fixed, man, wanted.swap_bytes(), codes);
                turn_over(codes);
                rest.swap_bytes()
            }
            _ => wanted,
        }
    }

    /// The same of all squares, if codes have a byte each, and the squares for which that is so: a
    /// byte is the lower one of a code, 128 a draw, 0 what is no legal position or was not
    /// selected.
    pub fn row_bytes(&self, fixed: &Position, man: Man) -> Option<([u8; 64], u64)> {
        match (&self.sides[fixed.turn as usize], &self.sides) {
            (Some(side), _) => side.row_bytes(fixed, man),
            (None, [Some(side), None]) if side.space.is_symmetric() => {
                let (mut bytes, squares) = side.row_bytes(&fixed.swapped(), man.swapped())?;
                turn_over(&mut bytes);
                Some((bytes, squares.swap_bytes()))
            }
            _ => None,
        }
    }

    /// The man whose lines [`WholeTable::row_bytes`] has soonest, neither king nor pawn: one
    /// without a like man, whose lines are whole, if there is one, and the last of these, whose
    /// bytes lie closest to each other. None if there is none, or codes have not a byte each.
    pub fn lane_man(&self) -> Option<Man> {
        let sides = || self.sides.iter().flatten();
        let men = sides().next()?.space.men();
        let pieces = || men.iter().skip(2).filter(|man| man.kind != Kind::Pawn);
        let is_alone = |&man: &&Man| men.iter().filter(|&other| other == man).count() == 1;
        let is_narrow = sides().all(|side| side.cells.bytes().is_some());
        let man = pieces().rfind(is_alone).or_else(|| pieces().next_back());
        man.copied().filter(|_| is_narrow)
    }

    /// Decodes a stream as far as it is selected.
    fn decode(
        &mut self,
        file: &HbfFile,
        (stream, selection): (&CellStream, &Selection),
        (behind, raised): (&dyn Source, Raised),
        crew: Crew<'_>,
    ) -> Result<(), WholeError> {
        let wrong = || HbfError::Section("STRM".to_owned());
        let open = file.streams().get(usize::from(stream.number)).ok_or_else(wrong)?;
        let (space, turn, exits, outcomes) = open.cells().ok_or_else(wrong)?;
        let (block_cells, tile_cells) = (TILES as usize * stream.tile_cells, stream.tile_cells);
        let mut side =
            WholeSide::with_room(space, stream.blocks as usize * block_cells, is_short(file));
        let make = |block: u64| {
            let mut codes = decoded(file, (stream, space), block, selection)?;
            if exits {
                for (tile, codes) in (block * TILES..).zip(codes.chunks_mut(tile_cells)) {
                    raise((space, turn, outcomes), tile, (behind, raised), codes)?;
                }
            }
            Ok::<_, WholeError>(codes)
        };
        side.fill(crew, stream.blocks, make)?;
        self.sides[turn as usize] = Some(side);
        Ok(())
    }

    /// Finds the values of the side to move that is not stored, which follow from those of the
    /// other one.
    fn follow(
        &mut self,
        stored: Color,
        (outcomes, selection): (bool, &Selection),
        behind: &dyn Source,
        crew: Crew<'_>,
    ) -> Result<(), WholeError> {
        let Some(known) = &self.sides[stored as usize] else { return Ok(()) };
        let space = &known.space;
        let tile_cells = 64 * usize::from(space.rows());
        let blocks = space.tiles().div_ceil(TILES);
        let is_short = matches!(known.cells, Cells::Narrow(_));
        let mut side =
            WholeSide::with_room(space, blocks as usize * TILES as usize * tile_cells, is_short);
        let source = OwnAndBehind { own: known, behind };
        let make = |block: u64| {
            let mut codes = vec![0; TILES as usize * tile_cells];
            for (tile, codes) in (block * TILES..space.tiles()).zip(codes.chunks_mut(tile_cells)) {
                look_at_all((space, stored.other(), outcomes), (tile, selection), &source, codes)?;
            }
            Ok::<_, WholeError>(codes)
        };
        side.fill(crew, blocks, make)?;
        self.sides[stored.other() as usize] = Some(side);
        Ok(())
    }
}

/// The sides of a file whose values are decoded for a selection, and those whose values follow from
/// them.
struct NeededSides {
    decoded: [bool; 2],
    followed: [bool; 2],
}

impl NeededSides {
    fn of(file: &HbfFile, selection: &Selection) -> NeededSides {
        let mut stored = [false; 2];
        own_streams(file).for_each(|stream| stored[stream.turn as usize] = true);
        if is_symmetric(file) {
            return NeededSides { decoded: stored, followed: [false; 2] };
        }
        let followed = std::array::from_fn(|turn| selection.turns[turn] && !stored[turn]);
        let is_needed = |turn: usize| selection.turns[turn] || followed[1 - turn];
        let decoded = std::array::from_fn(|turn| stored[turn] && is_needed(turn));
        NeededSides { decoded, followed }
    }
}

/// The streams of the values that a file is for, one for each side to move that is stored.
fn own_streams(file: &HbfFile) -> impl Iterator<Item = CellStream> {
    let outcomes = file.info().metric == Metric::Outcome;
    file.cell_streams().into_iter().filter(move |stream| stream.outcomes == outcomes)
}

/// The codes of the legal cells of a block that are selected, as they are stored.
fn decoded(
    file: &HbfFile,
    (stream, space): (&CellStream, &Space),
    block: u64,
    selection: &Selection,
) -> Result<Vec<Code>, HbfError> {
    let (turn, tile_cells) = (stream.turn, stream.tile_cells);
    let selected = |place: &TilePlace, row: usize| {
        let (fixed, man) = space.row_position(place, row as u8, turn);
        selection.lanes(&fixed, man)
    };
    let is_wanted = |tile| {
        let has_selected = |place| (0..tile_cells / 64).any(|row| selected(&place, row) != 0);
        selection.is_whole() || space.tile(tile).is_some_and(has_selected)
    };
    let mut codes = vec![0; TILES as usize * tile_cells];
    file.decode_block(stream, block, is_wanted, |number, legal, decoded| {
        let tile = &mut codes[number * tile_cells..][..tile_cells];
        let place = space.tile(block * TILES + number as u64).filter(|_| !selection.is_whole());
        let rows = tile.as_chunks_mut::<64>().0.iter_mut().zip(decoded.as_chunks::<64>().0);
        for (row, ((codes, decoded), &legal)) in rows.zip(legal).enumerate() {
            let wanted = place.as_ref().map_or(u64::MAX, |place| selected(place, row));
            *codes = only_on(legal & wanted, decoded);
        }
    })?;
    Ok(codes)
}

impl WholeSide {
    /// The codes of positions that have one man more on these squares; returns those of which
    /// nothing was found in this way.
    fn row(&self, fixed: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        // The last place comes first, whose cells may lie side by side and are all taken then.
        let lines = self.space.lines_of(fixed, man);
        lines.fold(wanted, |rest, line| self.line(&line, rest, codes))
    }

    /// See [`WholeTable::row_bytes`].
    fn row_bytes(&self, fixed: &Position, man: Man) -> Option<([u8; 64], u64)> {
        let cells = self.cells.bytes()?;
        let (mut row, mut known) = ([0; 64], 0);
        for line in self.space.lines_of(fixed, man) {
            if let Some(bytes) = bytes_of(cells, &line) {
                row = bytes;
            } else {
                for square in squares(line.squares) {
                    let byte = cells.get(line.cell(square)).copied();
                    row[usize::from(square)] = byte.unwrap_or_default();
                }
            }
            known |= line.squares;
        }
        (known != 0).then_some((row, known))
    }

    /// The codes of positions of a line with its man on these squares; returns those of which
    /// nothing was found in this way.
    fn line(&self, line: &CellLine, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let mut rest = wanted & !line.squares;
        if let (Cells::Narrow(cells), Some((first, symmetry))) = (&self.cells, line.in_row())
            && let Some(row) = cells.get(first..).and_then(<[u8]>::first_chunk::<64>)
        {
            return rest | widen_row(row, symmetry, codes) & wanted;
        }
        for square in squares(wanted & line.squares) {
            match self.cells.get(line.cell(square)) {
                Some(code) => codes[usize::from(square)] = code,
                None => rest |= 1 << square,
            }
        }
        rest
    }

    /// The codes of a row of a tile by lane square.
    fn row_codes(&self, tile: u64, row: u8) -> [Code; 64] {
        let first = self.space.number(CellInTile { tile, row, lane: 0 });
        match &self.cells {
            Cells::Narrow(cells) => {
                let row = cells.get(first..).and_then(<[u8]>::first_chunk::<64>);
                row.map_or([0; 64], |row| row.map(widened))
            }
            Cells::Wide(cells) => {
                cells.get(first..).and_then(<[u16]>::first_chunk::<64>).copied().unwrap_or([0; 64])
            }
        }
    }

    fn with_room(space: &Space, cells: usize, short: bool) -> WholeSide {
        let cells = if short { Cells::Narrow(vec![0; cells]) } else { Cells::Wide(vec![0; cells]) };
        WholeSide { space: space.clone(), cells }
    }

    /// Takes the cells of all blocks.
    fn fill(
        &mut self,
        crew: Crew<'_>,
        blocks: u64,
        make: impl Fn(u64) -> Result<Vec<Code>, WholeError> + Sync,
    ) -> Result<(), WholeError> {
        let make = |block| make(block).map(Cells::of);
        let mut first = 0;
        in_order(crew, blocks, make, |cells| {
            self.cells.put(first, &cells);
            first += cells.len();
            Ok(())
        })
    }
}

/// Exchanges the ranks of a board.
pub fn turn_over<T>(codes: &mut [T; 64]) {
    let (low, high) = codes.split_at_mut(32);
    low.chunks_mut(8)
        .zip(high.chunks_mut(8).rev())
        .for_each(|(low, high)| low.swap_with_slice(high));
}

/// The cells of a side to move: of which space, whose move it is, and whether these are outcomes.
type Of<'s> = (&'s Space, Color, bool);

/// Which codes are raised to those of the best exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Raised {
    All,
    /// All but those of wins, which may become shorter ones and nothing else.
    ButForWins,
}

/// Raises the codes of a tile to those of the best exits.
fn raise(
    (space, turn, outcomes): Of<'_>,
    tile: u64,
    (behind, raised): (&dyn Source, Raised),
    codes: &mut [Code],
) -> Result<(), WholeError> {
    let Some(place) = space.tile(tile) else { return Ok(()) };
    let least_left = if raised == Raised::All { Code::MAX } else { DRAW };
    for (row, codes) in (0..).zip(codes.as_chunks_mut::<64>().0) {
        let lanes = squares_where(|lane| codes[lane].wrapping_sub(1) < least_left);
        if lanes == 0 {
            continue;
        }
        let (position, man) = space.row_position(&place, row, turn);
        let mut moves = MoveRow::new(behind, (&position, man, lanes), outcomes);
        moves.look_at_exits().map_err(WholeError::Missing)?;
        codes.iter_mut().zip(moves.best).for_each(|(code, best)| *code = best.max(*code));
    }
    Ok(())
}

/// The codes of the legal cells of a tile that are selected, by all their moves.
fn look_at_all(
    (space, turn, outcomes): Of<'_>,
    (tile, selection): (u64, &Selection),
    source: &OwnAndBehind<'_>,
    codes: &mut [Code],
) -> Result<(), WholeError> {
    let Some(place) = space.tile(tile) else { return Ok(()) };
    LEGAL.with_borrow_mut(|rows| {
        rows.start_legal(&place);
        for (row, codes) in (0..).zip(codes.as_chunks_mut::<64>().0) {
            let legal = rows.begin_legal(space, turn, usize::from(row), place.first_row);
            if legal == 0 {
                continue;
            }
            let (position, man) = space.row_position(&place, row, turn);
            let lanes = legal & selection.lanes(&position, man);
            if lanes == 0 {
                continue;
            }
            let moves = MoveRow::new(source, (&position, man, lanes), outcomes);
            *codes = only_on(lanes, &source.best_moves(moves, (&place, row))?);
        }
        Ok(())
    })
}

thread_local! {
    /// Where this thread finds legal cells.
    static LEGAL: std::cell::RefCell<TileRows> = std::cell::RefCell::new(TileRows::new());
}

/// Whether no distance that is known needs two bytes.
fn is_short(file: &HbfFile) -> bool {
    let longest = [file.info().longest_wins, file.info().longest_losses];
    longest.as_flattened().iter().flatten().all(|&moves| moves <= NARROW)
}

/// Whether both sides have pawns.
fn may_take_en_passant(file: &HbfFile) -> bool {
    let Mode::Complete(material) = &file.info().mode else { return false };
    let pawn = |color| Man { color, kind: Kind::Pawn };
    [Color::White, Color::Black].iter().all(|&color| material.men().contains(&pawn(color)))
}

/// Whether both sides have the same men.
fn is_symmetric(file: &HbfFile) -> bool {
    matches!(&file.info().mode, Mode::Complete(material) if material.is_symmetric())
}

/// The values of the side to move that is stored, and of the tables behind.
struct OwnAndBehind<'a> {
    own: &'a WholeSide,
    behind: &'a dyn Source,
}

impl Source for OwnAndBehind<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        match self.own.space.locate(position) {
            Some((place, _)) => self.own.cells.get(self.own.space.number(place)),
            None => self.behind.code(position),
        }
    }

    fn row(&self, position: &Position, man: Man, wanted: u64, codes: &mut [Code; 64]) -> u64 {
        let mut lines = self.own.space.lines_of(position, man).peekable();
        if lines.peek().is_none() {
            let lowest = wanted.trailing_zeros() as u8 & 63;
            if self.own.space.has_men(&position.with(lowest, man)) {
                return self.one_by_one(position, man, wanted, codes);
            }
            return self.behind.row(position, man, wanted, codes);
        }
        let rest = lines.fold(wanted, |rest, line| self.own.line(&line, rest, codes));
        self.one_by_one(position, man, rest, codes)
    }
}

impl<'a> OwnAndBehind<'a> {
    /// The codes of the best moves of a row of a tile, on the squares that these moves are for.
    fn best_moves(
        &self,
        mut moves: MoveRow<'a>,
        (place, row): (&TilePlace, u8),
    ) -> Result<[Code; 64], WholeError> {
        let space = &self.own.space;
        let looked = match self.own.cells.bytes() {
            Some(cells) => {
                let squares = space.row_squares(place, row);
                moves.look_at_all_with(|m| QuietMoves::new(space, cells, squares).look(m))
            }
            None => moves.look_at_all(),
        };
        looked.map_err(WholeError::Missing)?;
        Ok(moves.best)
    }

    /// The codes of positions that have one man more on these squares, each looked up by itself.
    /// Returns those that are not known.
    fn one_by_one(
        &self,
        position: &Position,
        man: Man,
        wanted: u64,
        codes: &mut [Code; 64],
    ) -> u64 {
        let mut unknown = 0;
        for square in squares(wanted) {
            match self.code(&position.with(square, man)) {
                Some(code) => codes[usize::from(square)] = code,
                None => unknown |= 1 << square,
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Value, code_of};

    #[test]
    fn codes_of_short_distances_have_a_byte() {
        for moves in 0..=NARROW {
            for value in [Value::Loss(moves), Value::Draw, Value::Win(moves.max(1))] {
                let code = code_of(value);
                assert_eq!(widened(narrow(code)), code, "{value:?}");
            }
        }
    }

    #[test]
    fn zeros_are_found_among_bytes() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..10_000 {
            let bytes: [u8; 8] =
                std::array::from_fn(|_| if random.bool() { 0 } else { random.u8(..) });
            let expected = (0..8).filter(|&at| bytes[at] == 0).fold(0, |set, at| set | 1 << at);
            assert_eq!(zeros(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_long_distance_makes_all_cells_wide() {
        let mut cells = Cells::Narrow(vec![0; 6]);
        cells.put(0, &Cells::of(vec![1, DRAW]));
        cells.put(2, &Cells::of(vec![code_of(Value::Loss(300)), 0]));
        cells.put(4, &Cells::of(vec![DRAW, 2]));
        let all: Vec<_> = (0..6).map(|at| cells.get(at)).collect();
        assert_eq!(all, [Some(1), Some(DRAW), Some(301), None, Some(DRAW), Some(2)]);
    }

    /// Everything is a draw.
    struct Drawn;

    impl Source for Drawn {
        fn code(&self, _: &Position) -> Option<Code> {
            Some(DRAW)
        }
    }

    /// The cells of one side to move with codes by chance, of a byte each.
    fn mixed(space: &Space, turn: Color, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut cells = Vec::new();
        let mut rows = TileRows::new();
        for tile in 0..space.tiles() {
            let place = space.tile(tile).expect("a tile");
            rows.start_legal(&place);
            for row in 0..usize::from(space.rows()) {
                let legal = rows.begin_legal(space, turn, row, place.first_row);
                cells.extend((0..64).map(|lane| match legal >> lane & 1 {
                    0 => 0,
                    _ => random.u8(1..),
                }));
            }
        }
        cells
    }

    #[test]
    fn bytes_are_followed_as_codes_are() {
        let mut random = fastrand::Rng::with_seed(9);
        for (name, order, rows) in [
            ("KQvKR", &[1_u8, 0][..], 64),
            ("KQvKR", &[0, 1], 16),
            ("KBvKN", &[0, 1], 64),
            ("KBvKN", &[1, 0], 64),
            ("KRvKP", &[0, 1], 64),
            ("KRvKP", &[1, 0], 64),
            ("KPPvK", &[0, 1], 32),
            ("KRRvK", &[0, 1], 64),
            ("KNNvK", &[1, 0], 8),
        ] {
            let material = crate::material::Material::parse(name).expect("an ending");
            let space = Space::new(&material, order, rows).expect("a space");
            for stored in [Color::White, Color::Black] {
                let bytes = mixed(&space, stored, &mut random);
                let wide = bytes.iter().map(|&byte| widened(byte)).collect();
                let [narrow, wide] = [Cells::Narrow(bytes), Cells::Wide(wide)]
                    .map(|cells| WholeSide { space: space.clone(), cells });
                for _ in 0..60 {
                    let tile = random.u64(0..space.tiles());
                    let of = (&space, stored.other(), false);
                    let [bytes, codes] = [&narrow, &wide].map(|own| {
                        let mut codes = vec![0; 64 * usize::from(rows)];
                        let source = OwnAndBehind { own, behind: &Drawn };
                        look_at_all(of, (tile, &Selection::all()), &source, &mut codes)
                            .expect("all codes are known");
                        codes
                    });
                    assert_eq!(bytes, codes, "{name} {order:?} {stored:?} {tile}");
                }
            }
        }
    }
}

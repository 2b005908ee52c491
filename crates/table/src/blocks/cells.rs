//! The entries of a complete ending, from its cells and the rules of chess.

#[cfg(feature = "bulk")]
use std::collections::HashMap;
#[cfg(feature = "bulk")]
use std::sync::OnceLock;

#[cfg(feature = "bulk")]
use hoffman_board::{Bitboard, ByColor};
use hoffman_board::{Color, Format, PieceList, Placement, Role, Value};
use hoffman_control::ControlFile;
use hoffman_hbf::{
    Asked, CellPlace, Code, DRAW, EntryPlace, HbfFile, Lookup, Material, Mode, Position, Stored,
    answer, value_of,
};
#[cfg(feature = "bulk")]
use hoffman_hbf::{Crew, MutualZugzwang, Selection, Source, WholeError, WholeTable};
#[cfg(feature = "bulk")]
use hoffman_store::available_memory;

use super::behind::TablesBehind;
#[cfg(feature = "bulk")]
use super::behind::missing;
use super::tiles::Tiles;
#[cfg(feature = "bulk")]
use super::values::{Others, byte_of_cell};
#[cfg(feature = "bulk")]
use super::write::crew;
#[cfg(feature = "bulk")]
use super::{color_of, men_by_square, role_of};
use super::{man, men_of, turn};
#[cfg(feature = "bulk")]
use crate::bulk::values_by_rows;
use crate::entries::{EntryValue, RawEntry};
#[cfg(feature = "bulk")]
use crate::foreign::Row;
#[cfg(feature = "bulk")]
use crate::htb::HtbError;
use crate::reader::TableProblem;
#[cfg(feature = "bulk")]
use crate::rows::{Distances, RowsError, Taking, Wanted, encode};
use crate::source::{Entries, Shape};
#[cfg(feature = "bulk")]
use crate::source::{ZugzwangEntries, pack_numbers};

/// The entries of a file of cells.
#[derive(Debug)]
pub(super) struct CellEntries {
    pub(super) file: HbfFile,
    material: Material,
    tiles: Tiles,
    behind: TablesBehind,
    /// All values, once many entries were asked for; none if they are too many.
    #[cfg(feature = "bulk")]
    whole: OnceLock<Option<WholeTable>>,
    /// The first selection of them that was asked for, likewise.
    #[cfg(feature = "bulk")]
    selected: OnceLock<(Wanted, Option<WholeTable>)>,
    /// The mutual zugzwangs, once somebody asked for them.
    #[cfg(feature = "bulk")]
    zugzwangs: OnceLock<Vec<ZugzwangEntries>>,
}

impl CellEntries {
    pub(super) fn new(file: HbfFile, behind: TablesBehind) -> CellEntries {
        let material = match &file.info().mode {
            Mode::Complete(material) => material.clone(),
            Mode::Generic { .. } => Material::of(&Position::empty(hoffman_hbf::Color::White)),
        };
        CellEntries {
            file,
            material,
            tiles: Tiles::new(behind.options.cache.clone()),
            behind,
            #[cfg(feature = "bulk")]
            whole: OnceLock::new(),
            #[cfg(feature = "bulk")]
            selected: OnceLock::new(),
            #[cfg(feature = "bulk")]
            zugzwangs: OnceLock::new(),
        }
    }

    /// Whether only who wins is known.
    pub(super) fn outcomes(shape: &Shape) -> bool {
        !matches!(shape.codec.format(), Format::Dtm(_))
    }

    /// A value as the entries of the table tell it.
    fn told(shape: &Shape, value: Value) -> EntryValue {
        if !Self::outcomes(shape) {
            return EntryValue::Exact(value);
        }
        match value {
            Value::Win(_) => EntryValue::Win,
            Value::Loss(_) => EntryValue::Loss,
            Value::Draw => EntryValue::Draw,
            Value::Illegal => EntryValue::Illegal,
        }
    }

    /// Whether these are men of the ending, in its colours or with the colours exchanged.
    fn is_own(&self, position: &Position) -> bool {
        position.occupied().count_ones() as usize == self.material.men().len() + 2
    }

    /// What a cell holds.
    fn cell(&self, cell: CellPlace) -> Result<Code, TableProblem> {
        let (tile, at) = (key(cell), usize::from(cell.at));
        let decode = |all| self.file.with_cells(cell, all, <[Code]>::to_vec);
        Ok(self.tiles.number(tile, at, decode)?.unwrap_or(DRAW))
    }

    /// The value at an index, see [`Asked`]: none if there is no position.
    fn value_at(
        &self,
        shape: &Shape,
        index: u64,
        enough: Code,
    ) -> Result<Option<Value>, TableProblem> {
        let Some(placement) = shape.space.decode(index) else { return Ok(None) };
        let position = position_of(shape.space.pieces(), &placement);
        if !position.is_legal() {
            return Ok(Some(Value::Illegal));
        }
        let asked = Asked { outcomes: Self::outcomes(shape), enough };
        Ok(Some(value_of_code(answer(self, &position, asked)?)))
    }

    /// The value of a legal position.
    pub(super) fn value_of(
        &self,
        shape: &Shape,
        position: &Position,
    ) -> Result<Value, TableProblem> {
        Ok(value_of_code(answer(self, position, Asked::exactly(Self::outcomes(shape)))?))
    }

    /// Refuses a file that holds something else than its header says.
    fn check_shape(&self, shape: &Shape) -> Result<(), TableProblem> {
        let own: Vec<_> = men_of(&self.material).collect();
        let kings = Color::ALL.map(|color| (color, Role::King));
        let cells = hoffman_board::Material::from_men(own.into_iter().chain(kings));
        let men = shape.space.pieces().iter().map(|piece| (piece.color, piece.role));
        let header = hoffman_board::Material::from_men(men);
        let outcomes = self.file.info().metric == hoffman_hbf::Metric::Outcome;
        if cells.normalized().0 != header.normalized().0 || outcomes && !Self::outcomes(shape) {
            return Err(TableProblem::Unlike { cells, header });
        }
        Ok(())
    }
}

/// The value of a code; that of none is no position.
fn value_of_code(code: Code) -> Value {
    match value_of(code) {
        None => Value::Illegal,
        Some(hoffman_hbf::Value::Draw) => Value::Draw,
        Some(hoffman_hbf::Value::Win(moves)) => Value::Win(moves),
        Some(hoffman_hbf::Value::Loss(moves)) => Value::Loss(moves),
    }
}

/// The number of a tile among those of all streams.
fn key(cell: CellPlace) -> u64 {
    u64::from(cell.stream) << 56 | cell.tile
}

impl Lookup for CellEntries {
    type Error = TableProblem;

    fn stored(&self, position: &Position, asked: Asked) -> Result<Stored, TableProblem> {
        #[cfg(feature = "bulk")]
        if let Some(whole) = self.in_memory()
            && let Some(code) = whole.code(position)
        {
            return Ok(Stored::Exactly(code));
        }
        let found = if self.is_own(position) {
            self.file.find(position, asked.outcomes)
        } else {
            EntryPlace::Nothing
        };
        match found {
            EntryPlace::Cell(cell) => {
                let code = self.cell(cell)?;
                Ok(if cell.exits { Stored::AtLeast(code) } else { Stored::Exactly(code) })
            }
            EntryPlace::OtherSide => Ok(Stored::OtherSide),
            EntryPlace::Nothing => self.behind.code(position, asked.enough).map(Stored::Exactly),
        }
    }
}

/// A placement as the block format has positions.
pub(super) fn position_of(pieces: &PieceList, placement: &Placement) -> Position {
    let mut position = Position::empty(turn(placement.turn));
    for (piece, &square) in pieces.iter().zip(&placement.squares) {
        position = position.with(square as u8, man(piece.color, piece.role));
    }
    position.en_passant = placement.en_passant.map(|square| square as u8);
    position
}

impl Entries for CellEntries {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let Some(placement) = shape.space.decode(index) else {
            return Ok(shape.codec.undecodable());
        };
        let value = self.value_at(shape, index, Code::MAX)?.unwrap_or(Value::Draw);
        Ok(shape.codec.store(value, placement.turn))
    }

    fn value(&self, shape: &Shape, index: u64, turn: Color) -> Result<EntryValue, TableProblem> {
        self.value_up_to(shape, index, turn, Code::MAX)
    }

    fn value_up_to(
        &self,
        shape: &Shape,
        index: u64,
        _: Color,
        enough: Code,
    ) -> Result<EntryValue, TableProblem> {
        let value = match self.value_at(shape, index, enough) {
            Ok(value) => value.unwrap_or(Value::Draw),
            Err(TableProblem::Behind { .. }) => return Ok(EntryValue::Unknown),
            Err(problem) => return Err(problem),
        };
        Ok(Self::told(shape, value))
    }

    fn cached_value(&self, shape: &Shape, index: u64, _: Color) -> Option<EntryValue> {
        let position = position_of(shape.space.pieces(), &shape.space.decode(index)?);
        if position.en_passant.is_some() || Self::outcomes(shape) {
            return None;
        }
        let EntryPlace::Cell(cell) = self.file.find(&position, false) else { return None };
        let code = self.tiles.cached(key(cell), usize::from(cell.at)).filter(|_| !cell.exits)?;
        value_of(code).map(|_| EntryValue::Exact(value_of_code(code)))
    }

    #[cfg(feature = "bulk")]
    fn pack(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        let whole = self.decode_all()?;
        if whole && first == 0 && self.pack_by_rows(shape, area)? {
            return Ok(());
        }
        crate::source::pack_one_by_one(self, shape, (first, &self.behind.options.stop), area)
    }

    #[cfg(feature = "bulk")]
    fn mutual_zugzwangs(
        &self,
        shape: &Shape,
    ) -> Result<Option<Vec<ZugzwangEntries>>, TableProblem> {
        if let Some(found) = self.zugzwangs.get() {
            return Ok(Some(found.clone()));
        }
        let found = self.find_zugzwangs(shape)?;
        Ok(found.map(|found| self.zugzwangs.get_or_init(|| found).clone()))
    }

    #[cfg(feature = "bulk")]
    fn has_rows(&self, _shape: &Shape, wanted: &Wanted) -> Result<bool, TableProblem> {
        self.decode_selected(wanted)
    }

    #[cfg(feature = "bulk")]
    fn memory_of_rows(&self, wanted: &Wanted) -> u64 {
        let selection = self.selection(wanted);
        let behind = self.behind.bytes_of_values(&self.wanted_behind(&selection)).unwrap_or(0);
        let bytes = WholeTable::bytes(&self.file, &selection).saturating_add(behind);
        if bytes > self.behind.options.whole_limit { 0 } else { bytes }
    }

    #[cfg(feature = "bulk")]
    fn row(
        &self,
        shape: &Shape,
        row: &Row<'_>,
        values: &mut [EntryValue; 64],
    ) -> Result<(), TableProblem> {
        let (position, walking) = fixed_of(row);
        let mut rest = row.squares.0;
        if let Some(whole) = self.in_memory()
            && position.en_passant.is_none()
        {
            let mut codes = [0; 64];
            rest = whole.row(&position, walking, row.squares.0, &mut codes);
            for square in row.squares & !Bitboard(rest) {
                let value = value_of_code(codes[square as usize]);
                values[square as usize] = Self::told(shape, value);
            }
        }
        for square in Bitboard(rest) {
            let value = self.value_of(shape, &position.with(square as u8, walking))?;
            values[square as usize] = Self::told(shape, value);
        }
        Ok(())
    }

    #[cfg(feature = "bulk")]
    fn row_codes(&self, shape: &Shape, row: &Row<'_>, codes: &mut [u8; 64]) -> Bitboard {
        let (position, walking) = fixed_of(row);
        let whole = self.in_memory().filter(|_| position.en_passant.is_none());
        let Some((bytes, known)) = whole.and_then(|whole| whole.row_bytes(&position, walking))
        else {
            return row.squares;
        };
        let outcomes = Self::outcomes(shape);
        for (code, byte) in codes.iter_mut().zip(bytes) {
            *code = byte_of_cell(byte, outcomes);
        }
        row.squares & !Bitboard(known)
    }

    #[cfg(feature = "bulk")]
    fn walker(&self, shape: &Shape) -> Result<Option<(Color, Role)>, TableProblem> {
        let men = shape.space.pieces().iter().map(|piece| (piece.color, piece.role));
        let in_own_colors = hoffman_board::Material::from_men(men) == self.ending();
        if !in_own_colors || !self.decode_all()? {
            return Ok(None);
        }
        let man = self.in_memory().and_then(WholeTable::lane_man);
        Ok(man.map(|man| (color_of(man.color), role_of(man.kind))))
    }

    fn settle(
        &mut self,
        shape: &Shape,
        _header: &ControlFile,
    ) -> Result<Option<String>, TableProblem> {
        self.check_shape(shape)?;
        Ok(None)
    }

    #[cfg(feature = "bulk")]
    fn check(&self) -> Result<(), TableProblem> {
        Ok(self.file.check()?)
    }

    #[cfg(feature = "bulk")]
    fn verify(&self, shape: &Shape, _: &ControlFile) -> Result<Option<String>, TableProblem> {
        self.check_shape(shape)?;
        self.file.check()?;
        Ok(None)
    }

    #[cfg(feature = "bulk")]
    fn leans(&self) -> bool {
        WholeTable::leaning(&self.file, &Selection::all()) != [false; 2]
    }

    fn fingerprint(&self) -> Option<Vec<u8>> {
        self.file.fingerprint().ok()
    }

    fn is_of_blocks(&self) -> bool {
        true
    }

    fn is_of_cells(&self) -> bool {
        true
    }
}

/// The men of a row but for the one that walks, and that one.
#[cfg(feature = "bulk")]
pub(super) fn fixed_of(row: &Row<'_>) -> (Position, hoffman_hbf::Man) {
    let mut position = Position::empty(turn(row.turn));
    for (_, (square, piece)) in row.men.iter().enumerate().filter(|&(at, _)| at != row.walks) {
        position = position.with(*square as u8, man(piece.color, piece.role));
    }
    position.en_passant = row.en_passant.map(|square| square as u8);
    let walking = row.men[row.walks].1;
    (position, man(walking.color, walking.role))
}

#[cfg(feature = "bulk")]
impl CellEntries {
    /// Brings all values into memory, if they fit into what is allowed; whether they did.
    fn decode_all(&self) -> Result<bool, TableProblem> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole.is_some());
        }
        let whole = self.decoded(&Selection::all())?;
        Ok(self.whole.get_or_init(|| whole).is_some())
    }

    /// The same of the values that are wanted: those that somebody asks for first are brought there
    /// by themselves.
    fn decode_selected(&self, wanted: &Wanted) -> Result<bool, TableProblem> {
        let selection = self.selection(wanted);
        if selection == Selection::all() || matches!(self.whole.get(), Some(Some(_))) {
            return self.decode_all();
        }
        if self.selected.get().is_none() {
            let decoded = self.decoded(&selection)?;
            let wanted = Wanted { structures: None, apart: true, ..wanted.clone() };
            let _ = self.selected.set((wanted, decoded));
        }
        match self.selected.get() {
            Some((selected, decoded)) if selected.covers(wanted) => Ok(decoded.is_some()),
            _ => self.decode_all(),
        }
    }

    /// What is in memory of the values.
    fn in_memory(&self) -> Option<&WholeTable> {
        let whole = self.whole.get().and_then(Option::as_ref);
        whole.or_else(|| self.selected.get()?.1.as_ref())
    }

    /// The positions that are wanted, in the colours of the file.
    fn selection(&self, wanted: &Wanted) -> Selection {
        let (normal, swapped) = self.ending().normalized();
        // With both sides to move a man may leave the edge: all positions follow from each other.
        if normal.is_symmetric() || wanted.sides == [true; 2] {
            return Selection::all();
        }
        let [white, black] = wanted.sides;
        let on_edge = wanted
            .on_edge
            .iter()
            .map(|&(color, role)| man(if swapped { color.other() } else { color }, role));
        let turns = if swapped { [black, white] } else { [white, black] };
        Selection { turns, on_edge: on_edge.collect() }
    }

    /// The ending, in the colours of the file.
    fn ending(&self) -> hoffman_board::Material {
        let kings = Color::ALL.map(|color| (color, Role::King));
        hoffman_board::Material::from_men(men_of(&self.material).chain(kings))
    }

    /// Packs all entries of the table, 64 positions at a time: several times faster than by their
    /// indices. Says no, and may leave anything in the area, where that is not possible or there is
    /// no memory for it.
    fn pack_by_rows(&self, shape: &Shape, area: &mut [u8]) -> Result<bool, TableProblem> {
        let (space, codec, stop) = (&shape.space, shape.codec, &self.behind.options.stop);
        // One bit does not tell positions that are not legal from draws.
        let tells = codec.bits() > 1 && area.len() as u64 >= shape.area_bytes();
        // The values by rows, and the numbers of all entries.
        let needed = space.size().saturating_mul(if codec.bits() > 8 { 4 } else { 2 });
        if !tells || available_memory().is_some_and(|free| needed > free / 4 * 3) {
            return Ok(false);
        }
        let wanted = Wanted::all();
        let values = values_by_rows(self, shape, (&wanted, Taking::Exactly), (None, None), stop)?;
        match encode(space, &values, codec.format(), stop) {
            Ok((Distances::Narrow(numbers), _)) => pack_numbers(shape, &numbers, area)?,
            Ok((Distances::Wide(numbers), _)) => pack_numbers(shape, &numbers, area)?,
            Err(RowsError::Stopped) => return Err(RowsError::Stopped.into()),
            Err(_) => return Ok(false),
        }
        Ok(true)
    }

    /// See [`Entries::mutual_zugzwangs`].
    fn find_zugzwangs(&self, shape: &Shape) -> Result<Option<Vec<ZugzwangEntries>>, TableProblem> {
        // With the same men on both sides the colours decide which entry is meant, and one bit does
        // not tell all results.
        if self.ending().is_symmetric() || shape.codec.bits() == 1 {
            return Ok(None);
        }
        if let Some(Some(whole)) = self.whole.get() {
            let found = whole.known_zugzwangs(&self.file, crew(&self.behind.options.stop));
            let found = found.map_err(problem_of)?;
            return Ok(found.iter().map(|found| zugzwang_entries(shape, found)).collect());
        }

        let leaning = WholeTable::leaning(&self.file, &Selection::all());
        let followed = WholeTable::followed(&self.file);
        let wanted = Wanted::behind_some(&self.ending(), |mover, promoted| {
            let number = usize::from(mover == Color::Black);
            leaning[number] && !(followed[number] && promoted.is_some_and(|r| r != Role::Queen))
        });
        let failed = OnceLock::new();
        let found = self.with_behind((&Selection::all(), wanted), |others, crew| {
            let behind = OneByOne { others, tables: &self.behind, failed: &failed };
            WholeTable::mutual_zugzwangs(&self.file, &behind, crew)
        });
        if let Some(problem) = failed.into_inner() {
            return Err(problem);
        }
        let Some(found) = found? else { return Ok(None) };
        Ok(found.iter().map(|found| zugzwang_entries(shape, found)).collect())
    }

    /// What the values of a selection follow from.
    fn wanted_behind(&self, selection: &Selection) -> HashMap<hoffman_board::Material, Wanted> {
        let leaning = WholeTable::leaning(&self.file, selection);
        Wanted::behind(&self.ending(), leaning)
    }

    /// The values of a selection, if they and those behind fit into what is allowed.
    fn decoded(&self, selection: &Selection) -> Result<Option<WholeTable>, TableProblem> {
        let wanted = self.wanted_behind(selection);
        self.with_behind((selection, wanted), |behind, crew| {
            WholeTable::read(&self.file, selection, behind, crew)
        })
    }

    /// What somebody makes of the values of a selection with those that are wanted behind, if these
    /// fit into what is allowed.
    fn with_behind<T>(
        &self,
        (selection, wanted): (&Selection, HashMap<hoffman_board::Material, Wanted>),
        make: impl FnOnce(&dyn Source, Crew<'_>) -> Result<T, WholeError>,
    ) -> Result<Option<T>, TableProblem> {
        let limit = self.behind.options.whole_limit;
        let Some(room) = limit.checked_sub(WholeTable::bytes(&self.file, selection)) else {
            return Ok(None);
        };
        let Some(behind) = self.behind.values(wanted, room)? else {
            return Ok(None);
        };
        let made = make(&Others::of(&behind), crew(&self.behind.options.stop));
        self.behind.close();
        made.map(Some).map_err(problem_of)
    }
}

/// Values in memory, and those of other tables one by one.
#[cfg(feature = "bulk")]
struct OneByOne<'a> {
    others: &'a dyn Source,
    tables: &'a TablesBehind,
    /// Why a table did not answer.
    failed: &'a OnceLock<TableProblem>,
}

#[cfg(feature = "bulk")]
impl Source for OneByOne<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        let by_itself = || match self.tables.code(position, Code::MAX) {
            Ok(code) => Some(code),
            Err(problem) => {
                // One is enough to tell.
                let _ = self.failed.set(problem);
                None
            }
        };
        self.others.code(position).or_else(by_itself)
    }

    fn row(
        &self,
        position: &Position,
        man: hoffman_hbf::Man,
        wanted: u64,
        codes: &mut [Code; 64],
    ) -> u64 {
        self.others.row(position, man, wanted, codes)
    }
}

#[cfg(feature = "bulk")]
fn problem_of(error: WholeError) -> TableProblem {
    match error {
        WholeError::File(problem) => problem.into(),
        WholeError::Missing(position) => missing(&position),
        _ => HtbError::Stopped.into(),
    }
}

/// The entries of a zugzwang; none if the table has other men.
#[cfg(feature = "bulk")]
fn zugzwang_entries(shape: &Shape, found: &MutualZugzwang) -> Option<ZugzwangEntries> {
    let MutualZugzwang { position, code, other } = *found;
    [position, position.swapped()].iter().find_map(|position| {
        let placement = shape.space.place(men_by_square(position), Color::White, None)?;
        let entries = ByColor::new_with(|turn| {
            let code = if turn == color_of(position.turn) { code } else { other };
            shape.codec.store(value_of_code(code), turn)
        });
        Some(ZugzwangEntries { placement, entries })
    })
}

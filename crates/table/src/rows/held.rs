//! The entries of a table in memory, for callers that look at every one of them.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use hoffman_board::{
    Bitboard, ByColor, Color, ListedPiece, MAX_PIECES, Piece, PieceSlot, Role, Square, Symmetry,
};
use hoffman_space::Code;

use super::key_codes::word_at;
use super::scan::{
    EntryRow, ExchangedSlots, RowPlace, by_symmetry, has_rows, scan_in_order, scan_with,
};
use crate::entries::{EntryCodec, RawEntry};
use crate::foreign::Row;
use crate::reader::{Table, TableError};

/// The widest entries that are looked at by rows.
const MOST_BITS: u8 = 16;

/// The entries of a table whose rows can be looked at, see [`has_rows`]. The *key* of an entry are
/// its bits.
#[derive(Debug)]
pub struct HeldEntries<'t> {
    table: &'t Table,
    held: Held,
    /// See [`kings_of`].
    kings: Option<ByColor<PieceSlot>>,
    /// If the table has White's turn alone.
    partners: Option<ExchangedSlots>,
}

#[derive(Debug)]
enum Held {
    /// As they are packed.
    Packed(Vec<u8>),
    /// The table holds codes by rows of the men of a kind. By the side to move, the key of every
    /// code.
    Codes { walker: (Color, Role), keys: ByColor<Box<[u16; 256]>> },
    /// Where the table is.
    Unread,
}

/// The keys of a row.
#[derive(Debug)]
pub struct RowKeys<'e>(KeySource<'e>);

#[derive(Debug)]
enum KeySource<'e> {
    /// By index, among packed entries.
    Packed(&'e [u8], EntryCodec),
    /// By the square of the man that walks.
    BySquare([u16; 64]),
}

impl RowKeys<'_> {
    /// The key of a position with the man on that square.
    #[inline(always)]
    pub fn at(&self, square: u8, index: u64) -> usize {
        match &self.0 {
            KeySource::Packed(area, codec) => packed_key(area, *codec, index),
            KeySource::BySquare(keys) => usize::from(keys[usize::from(square & 63)]),
        }
    }
}

/// The bits of an entry of at most 16 bits.
#[inline(always)]
fn packed_key(area: &[u8], codec: EntryCodec, index: u64) -> usize {
    let bits = u32::from(codec.bits());
    (word_at(area, index * u64::from(bits)) & ((1 << bits) - 1)) as usize
}

/// The kings' slots; none if there are none, or like men are told apart by their slots, so that
/// their squares have to be dealt out anew for every placement.
fn kings_of(table: &Table) -> Option<ByColor<PieceSlot>> {
    let (pieces, space) = (table.pieces(), table.space());
    let slots = |color, role| {
        let is_one = |&slot: &PieceSlot| (pieces[slot].color, pieces[slot].role) == (color, role);
        (0..pieces.len()).filter(is_one).collect::<ArrayVec<PieceSlot, MAX_PIECES>>()
    };
    let is_free = |piece: &ListedPiece| space.is_free_of_order(&slots(piece.color, piece.role));
    if !pieces.iter().all(is_free) {
        return None;
    }
    let king = |color| slots(color, Role::King).first().copied();
    Some(ByColor { white: king(Color::White)?, black: king(Color::Black)? })
}

impl<'t> HeldEntries<'t> {
    /// How many keys there can be of the entries of a table; none if they are too many to count
    /// them one by one, or the table has no rows.
    pub fn kinds(table: &Table) -> Option<usize> {
        let bits = table.codec().bits();
        let is_own = table.foreign().is_none() && has_rows(table.space());
        (bits <= MOST_BITS && is_own).then(|| 1 << bits)
    }

    /// Brings the entries into memory.
    ///
    /// # Errors
    ///
    /// As for [`Table::read_packed`].
    pub fn of(table: &'t Table) -> Result<HeldEntries<'t>, TableError> {
        if let Some(walker) = table.walker()? {
            let codec = table.codec();
            let keys = |turn| {
                let key = |code: usize| {
                    let number = codec.store((code as u8).value(), turn);
                    // Distances that the entries have no room for do not occur.
                    codec.bits_of(number.0, 0).unwrap_or_default()
                };
                Box::new(std::array::from_fn(key))
            };
            let held = Held::Codes { walker, keys: ByColor::new_with(keys) };
            return Ok(HeldEntries::holding(table, held));
        }
        let mut area = Vec::new();
        table.read_packed(&mut area)?;
        Ok(HeldEntries::holding(table, Held::Packed(area)))
    }

    /// Leaves them where they are, for callers that have values besides: each entry that is asked
    /// for is read by itself, which may mean unpacking what lies around it.
    pub fn unread(table: &'t Table) -> HeldEntries<'t> {
        HeldEntries::holding(table, Held::Unread)
    }

    fn holding(table: &'t Table, held: Held) -> HeldEntries<'t> {
        let space = table.space();
        let partners = if space.has_side_bit() { None } else { ExchangedSlots::of(space) };
        let kings = kings_of(table).filter(|_| space.has_side_bit() || partners.is_some());
        HeldEntries { table, held, kings, partners }
    }

    /// What an entry holds whose key this is.
    pub fn number(codec: EntryCodec, key: usize) -> Option<RawEntry> {
        codec.get(&(key as u64).to_le_bytes(), 0)
    }

    /// The entry of an index.
    ///
    /// # Errors
    ///
    /// As for [`Table::entry`].
    pub fn entry(&self, index: u64) -> Result<RawEntry, TableError> {
        let packed = match &self.held {
            Held::Packed(area) => self.table.codec().get(area, index),
            Held::Codes { .. } | Held::Unread => None,
        };
        packed.map_or_else(|| self.table.entry(index), Ok)
    }

    /// The keys of a row that is shown.
    ///
    /// # Errors
    ///
    /// As for [`Table::entry`].
    #[inline(always)]
    pub fn row(&self, row: &EntryRow<'_>) -> Result<RowKeys<'_>, TableError> {
        let source = match &self.held {
            Held::Packed(area) => KeySource::Packed(area, self.table.codec()),
            Held::Codes { .. } | Held::Unread => {
                let (place, lanes) = (row.place(), Bitboard(row.lanes));
                KeySource::BySquare(self.by_square(&place, row.en_passant, lanes)?)
            }
        };
        Ok(RowKeys(source))
    }

    /// The keys of positions with the man on these squares, without a right to capture en passant,
    /// by square, as far as these positions are in the table. The others may stand anywhere.
    ///
    /// # Errors
    ///
    /// As for [`Table::entry`].
    pub fn keys_at(&self, row: &RowPlace<'_>, lanes: Bitboard) -> Result<[u16; 64], TableError> {
        let area = match &self.held {
            Held::Packed(area) => area,
            Held::Codes { .. } | Held::Unread => return self.by_square(row, None, lanes),
        };
        let codec = self.table.codec();
        let mut keys = [0; 64];
        self.indices_at(row, lanes, |square, index| {
            keys[usize::from(square) & 63] = packed_key(area, codec, index) as u16;
        });
        Ok(keys)
    }

    /// Calls `visit` with these squares and the indices of the positions, as far as they are in
    /// the table.
    #[inline]
    pub fn indices_at(&self, row: &RowPlace<'_>, lanes: Bitboard, mut visit: impl FnMut(u8, u64)) {
        let space = self.table.space();
        let Some(kings) = self.kings else {
            // Like men have to be dealt out anew.
            let mut squares = *row.squares;
            for square in lanes {
                squares[row.lane] = square as u8;
                if let Some(index) = space.encode_squares(&squares, row.turn, None) {
                    visit(square as u8, index);
                }
            }
            return;
        };
        match self.partners.filter(|_| row.turn.is_black()) {
            Some(partners) => {
                let (squares, lane) = partners.exchanged(row.squares, row.lane);
                let row = RowPlace { squares: &squares, lane, turn: Color::White };
                let visit = |square, index| visit(63 - square, index);
                self.indices_of_kings(kings, &row, lanes.rotate_180(), visit);
            }
            None => self.indices_of_kings(kings, row, lanes, visit),
        }
    }

    /// [`HeldEntries::indices_at`] for a side to move that the table has, by the kings' slots.
    #[inline]
    fn indices_of_kings(
        &self,
        kings: ByColor<PieceSlot>,
        row: &RowPlace<'_>,
        lanes: Bitboard,
        mut visit: impl FnMut(u8, u64),
    ) {
        let space = self.table.space();
        let canonical = |lane: Square| {
            let square = |slot: PieceSlot| match row.squares[slot] {
                _ if slot == row.lane => lane,
                square => Square::new(u32::from(square & 63)),
            };
            Symmetry::canonical(space.symmetry(), square(kings.white), square(kings.black))
        };
        let walks = row.lane == kings.white || row.lane == kings.black;
        let men = self.table.pieces().len().min(MAX_PIECES);
        by_symmetry(space, lanes, walks, canonical, |symmetry, lanes| {
            let mut squares = *row.squares;
            for square in &mut squares[..men] {
                *square = symmetry.apply_index(*square & 63);
            }
            let (cursor, inverse) = (space.cursor(&squares, row.turn, None), symmetry.inverse());
            cursor.visit_lane(row.lane, symmetry.apply_set(lanes.0), |run, index, step| {
                for (i, square) in (0..).zip(Bitboard(run)) {
                    visit(inverse.apply_index(square as u8), index + i * step);
                }
            });
        });
    }

    /// Keys from the codes that the table holds, and of single entries.
    fn by_square(
        &self,
        row: &RowPlace<'_>,
        en_passant: Option<Square>,
        squares: Bitboard,
    ) -> Result<[u16; 64], TableError> {
        let turn = row.turn;
        let mut found = [0; 64];
        let mut rest = squares;
        if let Held::Codes { keys, .. } = &self.held {
            let placed = self.table.pieces().iter().zip(row.squares);
            let man = |(piece, &square): (&ListedPiece, &u8)| {
                (Square::new(u32::from(square)), Piece { color: piece.color, role: piece.role })
            };
            let mut men: ArrayVec<_, MAX_PIECES> = placed.map(man).collect();
            let walks = row.lane;
            let asked = Row { men: &mut men, walks, squares, turn, en_passant };
            let mut codes = [0; 64];
            rest = self.table.row_codes(&asked, &mut codes);
            let keys = keys.get(turn);
            for square in squares {
                found[square as usize & 63] = keys[usize::from(codes[square as usize & 63])];
            }
        }

        let (codec, mut squares) = (self.table.codec(), *row.squares);
        for square in rest {
            squares[row.lane] = square as u8;
            let index = self.table.space().encode_squares(&squares, turn, en_passant);
            let Some(index) = index else { continue };
            let key = codec.bits_of(self.table.entry(index)?.0, 0);
            found[square as usize & 63] = key.map_err(|e| self.table.error(e.into()))?;
        }
        Ok(found)
    }

    /// Shows every position once, see [`super::scan`]: where rows of men of a kind are at hand
    /// otherwise, by these.
    pub fn scan<T: Send>(
        &self,
        walker: Option<(Color, Role)>,
        new: impl Fn() -> T + Sync + Send,
        look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
    ) -> Vec<T> {
        let walker = walker.or_else(|| self.walker());
        scan_with((self.table.space(), walker), new, look).unwrap_or_default()
    }

    /// The same in an order that no number of threads changes: `hand` gets what every share came
    /// to, one after the other, and says whether the scan goes on.
    pub fn scan_in_order<T: Send>(
        &self,
        new: impl Fn() -> T + Sync + Send,
        look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
        hand: &mut dyn FnMut(T) -> ControlFlow<()>,
    ) {
        let scanned = scan_in_order((self.table.space(), self.walker()), new, look, hand);
        debug_assert!(scanned.is_some());
    }

    fn walker(&self) -> Option<(Color, Role)> {
        match &self.held {
            Held::Packed(_) | Held::Unread => None,
            Held::Codes { walker, .. } => Some(*walker),
        }
    }
}

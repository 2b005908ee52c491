//! The tables that captures and promotions lead to, asked by rows, and in the end the tables behind
//! these.

use std::sync::Arc;

use arrayvec::ArrayVec;
use hoffman_board::shakmaty::attacks;
use hoffman_board::{
    Bitboard, Color, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Square, Variant,
};
use hoffman_table::rows::{HeldEntries, RowPlace};
use hoffman_table::{EntryValue, SharedValues, TableError};

use super::candidate_lines::find_lines;
use super::keepers::KeptTables;
use super::kept::{Kept, KeptValues, ReadValues};
use super::kept_row::{DRAWN, NOTHING, upside_down};
use super::seen::Seen;
use super::work::ListWork;
use super::{ListError, Lister};
use crate::open_table::OpenTable;
use crate::position::Position;
use crate::verify::endings_after;

/// The men of a position but for one, who walks.
pub(super) type FixedMen = ArrayVec<(Square, Color, Role), MAX_PIECES>;

/// A table that answers all positions of an ending.
#[derive(Debug)]
pub(super) struct FoundExit {
    ending: Material,
    member: Arc<OpenTable>,
    /// Whether it does with the colours exchanged.
    swapped: bool,
    values: ReadValues,
}

impl FoundExit {
    /// Those that the table of a list leads to, as far as there are any; for lines also those that
    /// these lead to. A table comes behind those that its moves lead to.
    /// Those that cannot be read are left out: a position may not need them.
    pub(super) fn all(lister: &Lister<'_>) -> Vec<FoundExit> {
        let mut found: Vec<FoundExit> = Vec::new();
        let mut endings = endings_after(lister.table());
        let mut next = 0;
        while let Some(&ending) = endings.get(next) {
            next += 1;
            let Some(position) = some_position(&ending) else { continue };
            let hit = lister.collection.lookup_plain(&position);
            let Ok(Some(hit)) = hit else { continue };
            if lister.query.unique_line.is_some() {
                for further in endings_after(hit.table()) {
                    if !endings.contains(&further) {
                        endings.push(further);
                    }
                }
            }
            let values = ReadValues::default();
            found.push(FoundExit { ending, swapped: hit.inverted, member: hit.member, values });
        }
        let pawns = |ending: &Material| ending.count.white.pawn + ending.count.black.pawn;
        found.sort_by_key(|f| (f.ending.men(), pawns(&f.ending)));
        found
    }
}

impl FoundExit {
    /// How many indices it has.
    pub(super) fn size(&self) -> u64 {
        self.member.table().space().size()
    }
}

/// Men of an ending on squares of theirs; none if they are too many.
fn some_position(ending: &Material) -> Option<Position> {
    let (mut pawns, mut white, mut black) = (8..56, (0..64).rev(), 0..64);
    let mut men = FixedMen::new();
    for color in Color::ALL {
        for role in Role::ALL {
            for _ in 0..*ending.count.get(color).get(role) {
                let square = match (role, color) {
                    (Role::Pawn, _) => pawns.next(),
                    (_, Color::White) => white.next(),
                    (_, Color::Black) => black.next(),
                };
                men.try_push((Square::new(square?), color, role)).ok()?;
            }
        }
    }
    let apart = |(i, man): (usize, &(Square, Color, Role))| men[..i].iter().all(|m| m.0 != man.0);
    let are_apart = men.iter().enumerate().all(apart);
    are_apart.then(|| Position::from_men(men.iter().copied(), Color::White, None))
}

/// A table with its entries in memory.
struct HeldExit<'a> {
    found: &'a FoundExit,
    entries: HeldEntries<'a>,
    kept: KeptValues<'a>,
}

/// The tables behind a table.
#[derive(Default)]
pub(super) struct Exits<'a> {
    held: Vec<HeldExit<'a>>,
    /// Bytes that they take.
    memory: u64,
}

/// What is behind moves to a row of positions.
pub(super) struct ExitRow<'e> {
    /// Where the moves are legal.
    pub(super) legal: Bitboard,
    /// The numbers of the positions there.
    pub(super) behind: [u16; 64],
    place: Option<ExitPlace<'e>>,
}

/// Where they stand in a table.
struct ExitPlace<'e> {
    exit: &'e HeldExit<'e>,
    /// Whether it has the colours exchanged.
    swaps: bool,
    /// As they are in the table: the men, the one who walks, the side to move.
    squares: [u8; MAX_PIECES],
    lane: PieceSlot,
    turn: Color,
}

impl ExitRow<'_> {
    /// On which of these squares the position is of a line in which the winner never has a choice,
    /// and on which it is of none, as far as that is known.
    pub(super) fn known_of_lines(&self, squares: Bitboard) -> [Bitboard; 2] {
        let mut known = [Bitboard::EMPTY; 2];
        let Some(ExitPlace { exit, swaps, squares: placed, lane, turn }) = &self.place else {
            return known;
        };
        let turned = |set: Bitboard| if *swaps { set.flip_vertical() } else { set };
        let row = RowPlace { squares: placed, lane: *lane, turn: *turn };
        exit.entries.indices_at(&row, turned(squares), |square, index| {
            exit.kept.seen.add_known(&mut known, square, index);
        });
        known.map(turned)
    }
}

impl<'a> Exits<'a> {
    /// Reads those tables that have what is to be kept, as far as they fit into so many bytes with
    /// room for lines: for lines their values, else, or where these have no rows, their entries.
    pub(super) fn new(
        found: &'a [FoundExit],
        (keeps, has_lines): (Kept, bool),
        (memory, shared): (u64, Option<&SharedValues>),
    ) -> Exits<'a> {
        let mut exits = Exits::default();
        for found in found {
            let table = found.member.table();
            let is_plain = found.member.is_plain() && table.variant() == Variant::Normal;
            let tells = is_plain && found.member.is_complete(keeps != Kept::Outcome);
            let Some(kinds) = HeldEntries::kinds(table).filter(|_| tells) else { continue };
            let size = table.space().size();
            let room = memory - exits.memory;
            let lines = if has_lines { size / 4 } else { 0 };
            let left = (room.saturating_sub(lines), shared);
            let rows = if has_lines { found.values.rows(table, left) } else { None };

            // Those of small tables are codes, a byte each.
            let by_entries = size.max(table.codec().area_bytes(size));
            let by_rows = rows.as_ref().is_some_and(|rows| rows.walker().is_some());
            let entries = if by_rows { 0 } else { by_entries };
            let needs = lines + found.values.bytes() + entries;
            if needs > room {
                continue;
            }
            let read = || HeldEntries::of(table).ok();
            let entries = if by_rows { Some(HeldEntries::unread(table)) } else { read() };
            let Some(entries) = entries else { continue };
            let mut kept = KeptValues::new(table, kinds, (keeps, has_lines));
            kept.take_rows(rows);
            exits.memory += needs;
            exits.held.push(HeldExit { found, entries, kept });
        }
        exits
    }

    /// Bytes that they take.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// How many indices the tables have.
    pub(super) fn indices(&self) -> u64 {
        self.held.iter().map(|exit| exit.found.size()).sum()
    }

    /// Makes known which of their positions are of a line in which the winner never has a choice.
    pub(super) fn find_lines(&self, memory: u64, work: &ListWork<'_>) -> Result<(), ListError> {
        self.held.iter().try_for_each(|exit| {
            let tables = KeptTables { values: &exit.kept, entries: &exit.entries, exits: self };
            find_lines(tables, memory, work)
        })
    }

    /// The table of an ending, and whether it has it with the colours exchanged.
    fn of(&self, material: &Material) -> Option<(&HeldExit<'a>, bool)> {
        let swapped = material.swapped();
        let holds =
            |exit: &&HeldExit<'_>| exit.found.ending == *material || exit.found.ending == swapped;
        let exit = self.held.iter().find(holds)?;
        Some((exit, exit.found.swapped != (exit.found.ending != *material)))
    }

    /// What a table says of a position.
    pub(super) fn value(&self, position: &Position) -> Option<EntryValue> {
        let (exit, swaps) = self.of(&position.material())?;
        let (index, turn) = exit.found.member.find(position, position.en_passant, swaps)?;
        let raw = exit.entries.entry(index).ok()?;
        exit.found.member.table().codec().value(raw, turn)
    }

    /// Where it stands what is known of the lines from a position.
    pub(super) fn seen(&self, position: &Position) -> Option<(&Seen, u64)> {
        let (exit, swaps) = self.of(&position.material())?;
        let (index, _) = exit.found.member.find(position, position.en_passant, swaps)?;
        Some((&exit.kept.seen, index))
    }

    /// What is behind moves to positions with the walking man on these squares; none if no table is
    /// at hand that tells.
    pub(super) fn ask(
        &self,
        men: &FixedMen,
        walker: (Color, Role),
        squares: Bitboard,
        turn: Color,
    ) -> Result<Option<ExitRow<'_>>, TableError> {
        let all = men.iter().map(|&(_, color, role)| (color, role));
        let material = Material::from_men(all.chain([walker]));
        if let Some((exit, swaps)) = self.of(&material) {
            return exit.ask((men, walker), squares, turn, swaps);
        }
        let (&[(king, ..)], true) = (men.as_slice(), material == Material::bare_kings()) else {
            return Ok(None);
        };
        let legal = squares & !attacks::king_attacks(king);
        Ok(Some(ExitRow { legal, behind: [DRAWN; 64], place: None }))
    }
}

impl HeldExit<'_> {
    fn ask(
        &self,
        (men, walker): (&FixedMen, (Color, Role)),
        squares: Bitboard,
        turn: Color,
        swaps: bool,
    ) -> Result<Option<ExitRow<'_>>, TableError> {
        let turned = |color: Color| if swaps { color.other() } else { color };
        let Some((placed, lane)) = self.placed(men, walker, swaps) else { return Ok(None) };
        let lanes = if swaps { squares.flip_vertical() } else { squares };

        let place = RowPlace { squares: &placed, lane, turn: turned(turn) };
        let legal = lanes & self.kept.legal(&place);
        let mut row = ExitRow { legal: Bitboard::EMPTY, behind: [NOTHING; 64], place: None };
        if legal.is_empty() {
            return Ok(Some(row));
        }
        row.behind = self.kept.behind_at(&self.entries, (&place, legal), swaps)?;
        if swaps {
            row.behind = upside_down(&row.behind);
        }
        row.legal = if swaps { legal.flip_vertical() } else { legal };
        let turn = place.turn;
        row.place = Some(ExitPlace { exit: self, swaps, squares: placed, lane, turn });
        Ok(Some(row))
    }

    /// The squares of the men by slot of the table, and the slot of the one who walks.
    fn placed(
        &self,
        men: &FixedMen,
        walker: (Color, Role),
        swaps: bool,
    ) -> Option<([u8; MAX_PIECES], PieceSlot)> {
        let pieces = self.found.member.table().pieces();
        let is_of = |piece: &ListedPiece, (color, role): (Color, Role)| {
            piece.role == role && (piece.color == color) != swaps
        };
        let lane = pieces.iter().position(|piece| is_of(piece, walker))?;
        let mut squares = [0; MAX_PIECES];
        let mut taken = 1_u32 << lane;
        for &(square, color, role) in men {
            let is_free =
                |slot: &PieceSlot| taken >> slot & 1 == 0 && is_of(&pieces[*slot], (color, role));
            let slot = (0..pieces.len()).find(is_free)?;
            taken |= 1 << slot;
            squares[slot] = square as u8 ^ if swaps { 56 } else { 0 };
        }
        Some((squares, lane))
    }
}

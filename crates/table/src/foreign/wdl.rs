//! All values of a Syzygy table (`.rtbw`) at once.
//!
//! [`super::syzygy`] asks `shakmaty-syzygy` for one position after the other, which unpacks the block of each
//! anew. Who wants millions of positions is better served with all values of a side to move in memory. The
//! tests compare every answer with that crate.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use arrayvec::ArrayVec;
use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Material, Piece, Role, Square};

use super::syzygy::{MAGIC, MAX_MEN};

/// The most values of one side to move that are unpacked, for leading pawns on one file, in bytes.
const MAX_VALUES: u64 = 1 << 26;

/// The longest code of a symbol, in bits.
const MAX_BITS: u8 = 32;

/// The most values that a symbol stands for.
const MAX_STRING: usize = 256;

/// The deepest pair of pairs of symbols.
const MAX_DEPTH: u32 = 16;

/// A man and where he stands.
pub(super) type Man = (Square, Piece);

/// The men of a position.
type Men = ArrayVec<Man, MAX_MEN>;

/// How often each kind of man occurs, four bits each: the same for all positions of an ending.
type Signature = u64;

fn signature(men: impl IntoIterator<Item = Piece>) -> Signature {
    men.into_iter().map(|man| 1_u64 << (4 * kind(man))).sum()
}

/// The number of a kind of man: White's pawn 0 to king 5, then Black's.
fn kind(man: Piece) -> u32 {
    man.role as u32 - 1 + man.color.fold_wb(0, 6)
}

fn swapped(man: Piece) -> Piece {
    man.role.of(man.color.other())
}

/// Room for values that is not needed any more, for those of the next table: the system takes longer to hand
/// out fresh pages than values take to be unpacked. Clones are the same room.
#[derive(Clone, Debug, Default)]
pub struct SpareValues(Arc<Mutex<Vec<Vec<u8>>>>);

impl SpareValues {
    /// An empty vector for so many values. Where nothing fits something is freed, so that there is never
    /// more room than was needed at once.
    fn take(&self, len: usize) -> Vec<u8> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = (0..spare.len()).filter(|&i| spare[i].capacity() >= len);
        if let Some(best) = fits.min_by_key(|&i| spare[i].capacity()) {
            return spare.swap_remove(best);
        }
        spare.pop();
        Vec::with_capacity(len)
    }

    /// Frees all of it: nothing more is to be read.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn give_back(&self, mut values: Vec<u8>) {
        values.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(values);
    }
}

/// A table and those that captures lead to.
#[derive(Debug)]
pub(super) struct WdlTables {
    tables: Vec<WdlTable>,
    /// By the men: the number of the table, and whether colours have to be exchanged.
    by_men: Vec<(Signature, usize, bool)>,
}

impl WdlTables {
    /// Reads the headers of files; none if one is damaged, or too large for its values to be unpacked.
    pub(super) fn new(files: Vec<(Material, Vec<u8>)>, spare: &SpareValues) -> Option<WdlTables> {
        let tables: Vec<WdlTable> = files
            .into_iter()
            .map(|(material, bytes)| WdlTable::new(&material, bytes, spare))
            .collect::<Option<_>>()?;
        let mut by_men = Vec::new();
        for (number, table) in tables.iter().enumerate() {
            let men = table.order();
            by_men.push((signature(men.iter().copied()), number, false));
            by_men.push((signature(men.iter().copied().map(swapped)), number, true));
        }
        Some(WdlTables { tables, by_men })
    }

    /// What the files take, and all values once they are unpacked, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let parts =
            |table: &WdlTable| table.parts.iter().flatten().map(|part| part.size).sum::<u64>();
        self.tables.iter().map(|table| table.bytes.len() as u64 + parts(table)).sum()
    }

    /// What a legal position without an en passant right is worth to the side to move: 2 a win, 1 one that
    /// the fifty-move rule takes away, 0 a draw, and the same for losses below. None if a file is damaged
    /// or not there.
    pub(super) fn value(&self, men: &[Man], turn: Color) -> Option<i8> {
        if men.len() == 2 {
            return Some(0);
        }
        if men.len() > MAX_MEN {
            return None;
        }
        let mut best = -2;
        Self::captures(men, turn, |behind| {
            best = best.max(-self.value(behind, turn.other())?);
            Some(())
        })?;
        if best == 2 {
            return Some(best);
        }
        // Where a capture is better the file may hold anything that is worse.
        let key = signature(men.iter().map(|&(_, man)| man));
        let &(_, table, swap) = self.by_men.iter().find(|(men, ..)| *men == key)?;
        Some(best.max(self.tables.get(table)?.stored(men, turn, swap)?))
    }

    /// The same for positions that differ in the square of one man; they are given to `found`.
    pub(super) fn row(
        &self,
        men: &mut [Man],
        walks: usize,
        squares: Bitboard,
        turn: Color,
        mut found: impl FnMut(Square, Option<i8>),
    ) {
        let line = self.line(men, walks, turn);
        for square in squares {
            let value = match &line {
                Some(line) if !line.taken.contains(square) => line.value(square),
                _ => {
                    men[walks].0 = square;
                    self.value(men, turn)
                }
            };
            found(square, value);
        }
    }

    /// How the value follows from the square of one man; none where there is no simple rule.
    fn line(&self, men: &[Man], walks: usize, turn: Color) -> Option<Line<'_>> {
        let &(_, man) = men.get(walks)?;
        let others = || men.iter().enumerate().filter(|&(i, _)| i != walks).map(|(_, &man)| man);
        if men.len() == 2
            || men.len() > MAX_MEN
            || man.role == Role::Pawn
            || others().any(|(_, other)| other == man)
        {
            return None;
        }
        let occupied: Bitboard = others().map(|(square, _)| square).collect();
        let is_target = |man: Piece| man.color != turn && man.role != Role::King;
        let targets: Bitboard =
            others().filter(|&(_, man)| is_target(man)).map(|(square, _)| square).collect();
        // Where the man stands in between there are fewer captures, but then none is missed.
        let mut taken = Bitboard::EMPTY;
        for (from, taker) in others().filter(|(_, other)| other.color == turn) {
            let attacked = attacks::attacks(from, taker, occupied);
            if (attacked & targets).any() {
                return None;
            }
            if is_target(man) {
                taken |= attacked;
            }
        }
        let key = signature(men.iter().map(|&(_, man)| man));
        let &(_, table, swap) = self.by_men.iter().find(|(men, ..)| *men == key)?;
        let mut line = self.tables.get(table)?.line(men, man, turn, swap)?;
        line.taken = taken;
        if man.color == turn {
            for target in targets {
                let rest = others().filter(|&(square, _)| square != target);
                let behind: Men = rest.chain([(target, man)]).collect();
                if !is_in_check(&behind, turn) {
                    let value = -self.value(&behind, turn.other())?;
                    line.takes.push((attacks::attacks(target, man, occupied), value));
                }
            }
        }
        Some(line)
    }

    /// Visits what is behind each legal capture.
    fn captures(
        men: &[Man],
        turn: Color,
        mut visit: impl FnMut(&[Man]) -> Option<()>,
    ) -> Option<()> {
        let (mut occupied, mut targets) = (Bitboard::EMPTY, Bitboard::EMPTY);
        for &(square, man) in men {
            occupied.add(square);
            if man.color != turn && man.role != Role::King {
                targets.add(square);
            }
        }
        for (number, &(from, man)) in men.iter().enumerate() {
            if man.color != turn {
                continue;
            }
            for to in attacks::attacks(from, man, occupied) & targets {
                let mut behind: Men = men.iter().copied().filter(|&(s, _)| s != to).collect();
                let mover = behind.iter().position(|&(s, _)| s == from).unwrap_or(number);
                behind.get_mut(mover)?.0 = to;
                if is_in_check(&behind, turn) {
                    continue;
                }
                let last = turn.fold_wb(0xff << 56, 0xff_u64) >> to as u32 & 1 != 0;
                if man.role != Role::Pawn || !last {
                    visit(&behind)?;
                    continue;
                }
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    behind.get_mut(mover)?.1 = role.of(turn);
                    visit(&behind)?;
                }
            }
        }
        Some(())
    }
}

impl Drop for WdlTable {
    fn drop(&mut self) {
        for part in self.parts.iter_mut().flatten() {
            if let Some(Some(values)) = part.values.take() {
                self.spare.give_back(values);
            }
        }
    }
}

/// Whether the king of a colour is attacked.
fn is_in_check(men: &[Man], color: Color) -> bool {
    let occupied: Bitboard = men.iter().map(|&(square, _)| square).collect();
    let king = men.iter().find(|&&(_, man)| man == color.king());
    let Some(&(king, _)) = king else { return false };
    let attackers = men.iter().filter(|(_, man)| man.color != color);
    attackers.into_iter().any(|&(from, man)| attacks::attacks(from, man, occupied).contains(king))
}

/// The squares of the men of a position in the order of a file, and room for [`CORNER`].
type Squares = [u8; MAX_MEN + CORNER.len()];

/// The corner of the board and its neighbours to the right and above.
const CORNER: [u8; 3] = [0, 1, 8];

/// How the value of a position follows from the square of one man.
struct Line<'a> {
    table: &'a WdlTable,
    part: &'a Part,
    /// None if all are the same.
    values: Option<&'a [u8]>,
    /// Where [`CORNER`] comes to when the board is turned.
    images: [u8; CORNER.len()],
    /// What all other men add to the number, as if he stood behind them.
    base: u64,
    /// What a square of his adds.
    weight: u64,
    /// The squares of the men before him: he is numbered by the free ones.
    before: ArrayVec<u8, MAX_MEN>,
    /// Those of men behind him, and how much less they add if he stands before.
    behind: ArrayVec<(u8, u64), MAX_MEN>,
    /// The squares on which he can be taken; there is no rule for them.
    taken: Bitboard,
    /// For everybody whom he can take the squares from which, and what that is worth.
    takes: ArrayVec<(Bitboard, i8), MAX_MEN>,
}

impl Line<'_> {
    /// The value with the man on a square where he cannot be taken.
    #[inline(always)]
    fn value(&self, square: Square) -> Option<i8> {
        let takes = self.takes.iter().filter(|(from, _)| from.contains(square));
        let best = takes.map(|&(_, value)| value).max().unwrap_or(-2);
        if best == 2 {
            return Some(best);
        }
        Some(best.max(self.stored(square)?))
    }

    /// What the file says with the man on a square.
    #[inline(always)]
    fn stored(&self, square: Square) -> Option<i8> {
        let Some(values) = self.values else { return self.table.value(self.part, 0) };
        let (file, rank) = (square as u8 & 7, square as u8 >> 3);
        let [corner, right, above] = self.images;
        let right = right.wrapping_sub(corner).wrapping_mul(file);
        let above = above.wrapping_sub(corner).wrapping_mul(rank);
        let at = corner.wrapping_add(right).wrapping_add(above);
        let below = self.before.iter().filter(|&&other| other < at).count();
        let mut number = self.base + self.weight * u64::from(at).wrapping_sub(below as u64);
        for &(other, less) in &self.behind {
            number = number.wrapping_sub(if at < other { less } else { 0 });
        }
        let value = *values.get(usize::try_from(number).ok()?)?;
        (value <= 4).then_some(value as i8 - 2)
    }
}

/// A file.
#[derive(Debug)]
struct WdlTable {
    bytes: Vec<u8>,
    /// Where values get room and leave it.
    spare: SpareValues,
    has_pawns: bool,
    /// Whether both colours have pawns.
    both_have_pawns: bool,
    /// Whether both colours have the same men, and the values of one side to move are those of the other.
    symmetric: bool,
    /// By the file of the leading pawn, if there are pawns, and the side to move.
    parts: Vec<Vec<Part>>,
}

/// The values of one side to move, for leading pawns on one file.
#[derive(Debug)]
struct Part {
    /// In which order the men are numbered, in the colours of the file and with colours exchanged.
    order: [Vec<Piece>; 2],
    /// Men that are numbered together, one behind the other in `order`: how many, and the weight of their
    /// number.
    groups: Vec<(usize, u64)>,
    size: u64,
    packed: Packed,
    values: OnceLock<Option<Vec<u8>>>,
}

/// How values are packed.
#[derive(Debug)]
enum Packed {
    /// All are the same.
    Single(u8),
    /// Symbols, each for a string of values, in blocks.
    Blocks(Box<Blocks>),
}

#[derive(Debug)]
struct Blocks {
    block_size: usize,
    count: usize,
    /// How many entries the sparse index has, which is not needed, and the table of lengths.
    sparse: usize,
    lengths: usize,
    /// The fewest bits of a symbol.
    least_bits: u32,
    /// For each number of bits from there on: the first symbol, and the least word that begins with it or
    /// a later one.
    codes: Vec<(u16, u64)>,
    /// For each symbol where its string begins and ends.
    symbols: Vec<(u32, u32)>,
    strings: Vec<u8>,
    /// Where in the file lengths and blocks are.
    lengths_at: usize,
    data_at: usize,
}

/// Bytes from front to back; none behind the end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.u8()?, self.u8()?]))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from(self.u16()?) | u32::from(self.u16()?) << 16)
    }

    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }
}

/// One side to move of the first part of a header: in which order men are numbered, and with which weights.
struct Numbering {
    order: Vec<Piece>,
    groups: Vec<(usize, u64)>,
    size: u64,
}

impl WdlTable {
    /// Reads the header of a file; none if it is damaged, or not the table of these men.
    fn new(material: &Material, bytes: Vec<u8>, spare: &SpareValues) -> Option<WdlTable> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        let Orders { has_pawns, both_have_pawns, symmetric, numberings } =
            Orders::read(material, &mut reader)?;
        reader.align(2);
        let first = numberings.first()?.first()?.order.clone();
        let first_men = signature(first.iter().copied());
        let mut parts: Vec<Vec<Part>> = Vec::new();
        for numberings in numberings {
            let mut sides = Vec::new();
            for Numbering { order, groups, size } in numberings {
                let alike = signature(order.iter().copied()) == first_men;
                if !alike || (order.first()?.role == Role::Pawn) != has_pawns || size > MAX_VALUES {
                    return None;
                }
                let packed = Packed::read(&mut reader, size)?;
                let order = [order.clone(), order.into_iter().map(swapped).collect()];
                sides.push(Part { order, groups, size, packed, values: OnceLock::new() });
            }
            parts.push(sides);
        }
        let mut blocks: Vec<&mut Blocks> = parts
            .iter_mut()
            .flatten()
            .filter_map(|part| match &mut part.packed {
                Packed::Single(_) => None,
                Packed::Blocks(blocks) => Some(&mut **blocks),
            })
            .collect();
        let mut at = reader.at;
        at = blocks.iter().try_fold(at, |at, b| at.checked_add(b.sparse.checked_mul(6)?))?;
        for blocks in &mut blocks {
            blocks.lengths_at = at;
            at = at.checked_add(blocks.lengths.checked_mul(2)?)?;
        }
        for blocks in &mut blocks {
            blocks.data_at = at.checked_next_multiple_of(64)?;
            at = blocks.data_at.checked_add(blocks.count.checked_mul(blocks.block_size)?)?;
        }
        let spare = spare.clone();
        Some(WdlTable { bytes, spare, has_pawns, both_have_pawns, symmetric, parts })
    }

    /// The men, in some order.
    fn order(&self) -> &[Piece] {
        self.parts.first().and_then(|sides| sides.first()).map_or(&[], |part| &part.order[0])
    }

    /// The value in the file of a position with its men, or with colours exchanged.
    #[inline(always)]
    fn stored(&self, men: &[Man], turn: Color, swap: bool) -> Option<i8> {
        let (part, mut squares) = self.place(men, turn, swap)?;
        let squares = squares.get_mut(..men.len())?;
        let number = part.lead(squares, self.has_pawns);
        let number = number + part.number_of_rest(squares, self.both_have_pawns);
        self.value(part, number)
    }

    /// The value of a number.
    #[inline(always)]
    fn value(&self, part: &Part, number: u64) -> Option<i8> {
        let value = match &part.packed {
            Packed::Single(value) => *value,
            Packed::Blocks(_) => *self.values(part)?.get(usize::try_from(number).ok()?)?,
        };
        (value <= 4).then_some(value as i8 - 2)
    }

    /// All values of a part, unpacked when they are first asked for.
    fn values<'p>(&self, part: &'p Part) -> Option<&'p [u8]> {
        let Packed::Blocks(blocks) = &part.packed else { return None };
        let unpack = || blocks.unpack(&self.bytes, part.size, &self.spare);
        part.values.get_or_init(unpack).as_deref()
    }

    /// The part that has a position, and the squares of the men in its order, as its colours see them.
    #[inline(always)]
    fn place(&self, men: &[Man], turn: Color, swap: bool) -> Option<(&Part, Squares)> {
        let flip = swap || self.symmetric && turn == Color::Black;
        let black = (turn == Color::Black) != flip;
        let turned = if flip { 56 } else { 0 };
        let mut file = 0;
        if self.has_pawns {
            let lead = *self.parts.first()?.first()?.order[usize::from(flip)].first()?;
            let mut first = 0;
            for &(s, man) in men {
                let square = s as u8 ^ turned;
                if man == lead && pawn_rank(square) >= pawn_rank(first) {
                    first = square;
                }
            }
            file = usize::from(if first & 7 < 4 { first & 7 } else { 7 - (first & 7) });
        }
        let sides = self.parts.get(file)?;
        let part = if black { sides.last() } else { sides.first() }?;
        let mut squares = [0; MAX_MEN + CORNER.len()];
        let mut placed = 0_u32;
        for (square, &man) in squares.iter_mut().zip(&part.order[usize::from(flip)]) {
            let free = |&(i, &(_, other)): &(usize, &Man)| other == man && placed >> i & 1 == 0;
            let (i, &(s, _)) = men.iter().enumerate().find(free)?;
            placed |= 1 << i;
            *square = s as u8 ^ turned;
        }
        Some((part, squares))
    }

    /// How the value follows from the square of a man unlike all others, wherever he stands now; none if he
    /// is among those that the board is turned by.
    fn line(&self, men: &[Man], man: Piece, turn: Color, swap: bool) -> Option<Line<'_>> {
        let flip = swap || self.symmetric && turn == Color::Black;
        let (part, mut squares) = self.place(men, turn, swap)?;
        let slot = part.order[usize::from(flip)].iter().position(|&other| other == man)?;
        if slot < part.groups[0].0 {
            return None;
        }
        // What becomes of a corner of the board tells how it is turned.
        let corner = men.len()..men.len() + CORNER.len();
        let turned = if flip { 56 } else { 0 };
        squares[corner.clone()].copy_from_slice(&CORNER.map(|s| s ^ turned));
        let lead = part.lead(&mut squares[..corner.end], self.has_pawns);
        let images = <[u8; CORNER.len()]>::try_from(&squares[corner]).ok()?;
        let values = match &part.packed {
            Packed::Single(_) => None,
            Packed::Blocks(_) => Some(self.values(part)?),
        };
        let mut line = Line {
            table: self,
            part,
            values,
            images,
            base: lead,
            weight: 0,
            before: ArrayVec::new(),
            behind: ArrayVec::new(),
            taken: Bitboard::EMPTY,
            takes: ArrayVec::new(),
        };
        part.rest_of_line(&mut squares[..men.len()], self.both_have_pawns, slot, &mut line);
        Some(line)
    }
}

/// How a file numbers placements, of every file of the leading pawn and side to move.
struct Orders {
    has_pawns: bool,
    both_have_pawns: bool,
    symmetric: bool,
    numberings: Vec<Vec<Numbering>>,
}

impl Orders {
    /// Reads them from the start of a file; none if it is damaged, or not the table of these men.
    fn read(material: &Material, reader: &mut Reader<'_>) -> Option<Orders> {
        let pawns = [material.count.white.pawn, material.count.black.pawn];
        let has_pawns = pawns != [0; 2];
        let both_have_pawns = !pawns.contains(&0);
        let symmetric = material.is_symmetric();
        if reader.bytes.get(..MAGIC.len())? != MAGIC {
            return None;
        }
        reader.at = MAGIC.len();
        let flags = reader.u8()?;
        if (flags & 1 == 0) != symmetric || (flags & 2 != 0) != has_pawns {
            return None;
        }
        let sides = if symmetric { 1 } else { 2 };
        let mut numberings: Vec<Vec<Numbering>> = Vec::new();
        for file in 0..if has_pawns { 4 } else { 1 } {
            let lead = reader.u8()?;
            let other = if both_have_pawns { reader.u8()? } else { 0xff };
            let men = reader.bytes.get(reader.at..)?.get(..material.men())?;
            reader.at += men.len();
            let numbering = |side: usize| {
                let half = |byte: u8| byte >> (4 * side) & 15;
                let order: Vec<Piece> =
                    men.iter().map(|&byte| man_of(half(byte))).collect::<Option<_>>()?;
                let read = Material::from_men(order.iter().map(|m| (m.color, m.role)));
                if read != *material && read.swapped() != *material {
                    return None;
                }
                Numbering::new(order, [half(lead), half(other)], both_have_pawns, file)
            };
            numberings.push((0..sides).map(numbering).collect::<Option<_>>()?);
        }
        Some(Orders { has_pawns, both_have_pawns, symmetric, numberings })
    }
}

/// How many bytes at the start of a file say how it numbers placements, at most.
pub(super) const HEAD: usize = 64;

/// Whether a file that begins like this numbers the placements of these men.
pub(super) fn has_order(material: &Material, head: &[u8]) -> bool {
    Orders::read(material, &mut Reader { bytes: head, at: 0 }).is_some()
}

/// The man of a half of a byte.
fn man_of(half: u8) -> Option<Piece> {
    let role = match half & 7 {
        1 => Role::Pawn,
        2 => Role::Knight,
        3 => Role::Bishop,
        4 => Role::Rook,
        5 => Role::Queen,
        6 => Role::King,
        _ => return None,
    };
    Some(role.of(if half & 8 == 0 { Color::White } else { Color::Black }))
}

impl Numbering {
    /// `places` say when the leading group and the pawns of the other colour have their turn.
    fn new(
        order: Vec<Piece>,
        places: [u8; 2],
        both_have_pawns: bool,
        file: usize,
    ) -> Option<Numbering> {
        let has_pawns = order.iter().any(|man| man.role == Role::Pawn);
        let single = |man: &&Piece| order.iter().filter(|other| other == man).count() == 1;
        let lead = match order.iter().filter(single).count() {
            _ if has_pawns => 0,
            0 | 1 => return None,
            2 => 2,
            _ => 3,
        };
        let mut lens: Vec<usize> = if lead > 0 { vec![lead] } else { Vec::new() };
        lens.extend(order.get(lead..)?.chunk_by(|a, b| a == b).map(<[Piece]>::len));
        let mut groups: Vec<(usize, u64)> = lens.iter().map(|&len| (len, 0)).collect();
        let other = if both_have_pawns { *lens.get(1)? } else { 0 };
        // Pawns lead, and those of the other colour come next.
        let is_pawn = |at: usize| order.get(at).is_some_and(|man| man.role == Role::Pawn);
        if has_pawns && !is_pawn(0) || both_have_pawns && !is_pawn(*lens.first()?) {
            return None;
        }
        let mut free = 64_usize.checked_sub(lens[0] + other)?;
        let mut next = if both_have_pawns { 2 } else { 1 };
        let mut weight = 1_u64;
        let mut turn = 0;
        while next < lens.len() || turn == places[0] || turn == places[1] {
            let (group, numbers) = if turn == places[0] {
                let lead = match (has_pawns, lens[0]) {
                    (true, pawns) => lead_pawns(pawns, file),
                    (false, 3) => THREE_MEN,
                    (false, _) => TWO_KINGS,
                };
                (0, lead)
            } else if turn == places[1] {
                (1, choose(48 - lens[0], other))
            } else {
                let len = lens[next];
                next += 1;
                let numbers = choose(free, len);
                free = free.checked_sub(len)?;
                (next - 1, numbers)
            };
            groups[group].1 = weight;
            weight = weight.checked_mul(numbers)?;
            turn += 1;
        }
        let complete = groups.iter().all(|&(_, weight)| weight > 0);
        complete.then_some(Numbering { order, groups, size: weight })
    }
}

impl Packed {
    /// Reads how the values of one side are packed.
    fn read(reader: &mut Reader<'_>, size: u64) -> Option<Packed> {
        let flags = reader.u8()?;
        if flags & 128 != 0 {
            return Some(Packed::Single(reader.u8()?));
        }
        let block_size = 1_usize.checked_shl(u32::from(reader.u8()?))?;
        let span = 1_u64.checked_shl(u32::from(reader.u8()?))?;
        let padding = usize::from(reader.u8()?);
        let count = usize::try_from(reader.u32()?).ok()?;
        let (most, least) = (reader.u8()?, reader.u8()?);
        if least > most || most > MAX_BITS || least == 0 {
            return None;
        }
        let firsts: Vec<u16> = (least..=most).map(|_| reader.u16()).collect::<Option<_>>()?;
        // The words of shorter symbols stand above those of longer ones.
        let mut codes = vec![(0, 0_u64); firsts.len()];
        let mut word = 0_u64;
        for (i, &first) in firsts.iter().enumerate().rev() {
            if let Some(&longer) = firsts.get(i + 1) {
                word = (word + u64::from(first)).checked_sub(u64::from(longer))? / 2;
            }
            let shift = 64 - (u32::from(least) + i as u32);
            codes[i] = (first, word.checked_mul(1_u64.checked_shl(shift)?)?);
        }
        let symbols = usize::from(reader.u16()?);
        let pairs = reader.bytes.get(reader.at..)?.get(..3 * symbols)?;
        reader.at += 3 * symbols + symbols % 2;
        let pairs: Vec<[u8; 3]> = pairs.as_chunks::<3>().0.to_vec();
        let mut strings = Strings { pairs, places: vec![None; symbols], bytes: Vec::new() };
        for symbol in 0..symbols {
            strings.spell(symbol, 0)?;
        }
        Some(Packed::Blocks(Box::new(Blocks {
            block_size,
            count,
            sparse: usize::try_from(size.div_ceil(span)).ok()?,
            lengths: count.checked_add(padding)?,
            least_bits: u32::from(least),
            codes,
            symbols: strings.places.into_iter().collect::<Option<_>>()?,
            strings: strings.bytes,
            lengths_at: 0,
            data_at: 0,
        })))
    }
}

/// The strings of values that symbols stand for.
struct Strings {
    /// Two symbols, or a value, of twelve bits each.
    pairs: Vec<[u8; 3]>,
    places: Vec<Option<(u32, u32)>>,
    bytes: Vec<u8>,
}

impl Strings {
    /// Puts together the string of a symbol.
    fn spell(&mut self, symbol: usize, depth: u32) -> Option<(u32, u32)> {
        if let Some(place) = *self.places.get(symbol)? {
            return Some(place);
        }
        let [low, middle, high] = *self.pairs.get(symbol)?;
        let left = usize::from(low) | usize::from(middle & 15) << 8;
        let right = usize::from(middle >> 4) | usize::from(high) << 4;
        let parts = if right == 0xfff {
            None
        } else if depth < MAX_DEPTH {
            Some([self.spell(left, depth + 1)?, self.spell(right, depth + 1)?])
        } else {
            return None;
        };
        let start = self.bytes.len();
        match parts {
            None => self.bytes.push(u8::try_from(left).unwrap_or(u8::MAX)),
            Some(parts) => {
                for (from, to) in parts {
                    self.bytes.extend_from_within(from as usize..to as usize);
                }
            }
        }
        let end = self.bytes.len();
        if end - start > MAX_STRING {
            return None;
        }
        let place = (start as u32, end as u32);
        self.places[symbol] = Some(place);
        Some(place)
    }
}

impl Blocks {
    /// All values, one byte each; none if they are damaged.
    fn unpack(&self, bytes: &[u8], size: u64, spare: &SpareValues) -> Option<Vec<u8>> {
        let size = usize::try_from(size).ok()?;
        let lengths = bytes.get(self.lengths_at..)?.get(..2 * self.count)?;
        let blocks = bytes.get(self.data_at..)?.get(..self.count.checked_mul(self.block_size)?)?;
        let mut values = spare.take(size);
        let lengths = lengths.as_chunks::<2>().0;
        for (length, block) in lengths.iter().zip(blocks.chunks(self.block_size)) {
            let end = values.len() + usize::from(u16::from_le_bytes(*length)) + 1;
            if end > size {
                return None;
            }
            let mut bit = 0;
            while values.len() < end {
                let word = word_at(block, bit)?;
                let longer = self.codes.iter().position(|&(_, least)| word >= least)?;
                let (first, least) = self.codes[longer];
                let bits = self.least_bits + longer as u32;
                let symbol = usize::from(first) + ((word - least) >> (64 - bits)) as usize;
                let &(from, to) = self.symbols.get(symbol)?;
                values.extend_from_slice(self.strings.get(from as usize..to as usize)?);
                bit += bits as usize;
            }
            // The last symbol may stand for more than is left of the block.
            values.truncate(end);
        }
        (values.len() == size).then_some(values)
    }
}

/// The bits from one on, the first one highest; zeros behind the last. None behind the end.
#[inline(always)]
fn word_at(block: &[u8], bit: usize) -> Option<u64> {
    let rest = block.get(bit / 8..)?;
    let word = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes).swap_bytes(),
        None if rest.is_empty() => return None,
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes).swap_bytes()
        }
    };
    Some(word << (bit % 8))
}

impl Part {
    /// Turns the board so that the leading men stand where they are numbered; returns what they add to the
    /// number of a position. `squares` are those of the men in their order, and any others behind them.
    fn lead(&self, squares: &mut [u8], has_pawns: bool) -> u64 {
        let &(lead, weight) = &self.groups[0];
        let number =
            if has_pawns { lead_pawns_number(squares, lead) } else { lead_number(squares, lead) };
        number * weight
    }

    /// How what the men behind the leading group add follows from the square of the one of a slot.
    fn rest_of_line(
        &self,
        squares: &mut [u8],
        both_have_pawns: bool,
        slot: usize,
        line: &mut Line<'_>,
    ) {
        let mut at = self.groups[0].0;
        for (group, &(len, weight)) in self.groups.iter().enumerate().skip(1) {
            let (before, rest) = squares.split_at_mut(at);
            let own = &mut rest[..len];
            if at == slot {
                line.weight = weight;
                line.before.extend(before.iter().copied());
            } else {
                own.sort_unstable();
                let shift = if both_have_pawns && group == 1 { 8 } else { 0 };
                let known = || before.iter().enumerate().filter(|&(i, _)| i != slot);
                for (i, &square) in own.iter().enumerate() {
                    let below = known().filter(|&(_, &other)| other < square).count();
                    let free = usize::from(square).wrapping_sub(below + shift);
                    let number = choose(free, i + 1);
                    line.base += number * weight;
                    if slot < at {
                        let less = number - choose(free.wrapping_sub(1), i + 1).min(number);
                        line.behind.push((square, less * weight));
                    }
                }
            }
            at += len;
        }
    }

    /// What the men behind the leading group add.
    fn number_of_rest(&self, squares: &mut [u8], both_have_pawns: bool) -> u64 {
        let mut number = 0;
        let mut at = self.groups[0].0;
        for (group, &(len, weight)) in self.groups.iter().enumerate().skip(1) {
            let (before, rest) = squares.split_at_mut(at);
            let own = &mut rest[..len];
            own.sort_unstable();
            // Pawns do not stand on the first rank.
            let shift = if both_have_pawns && group == 1 { 8 } else { 0 };
            let mut sum = 0;
            for (i, &square) in own.iter().enumerate() {
                let below = before.iter().filter(|&&other| other < square).count();
                sum += choose((usize::from(square)).wrapping_sub(below + shift), i + 1);
            }
            number += sum * weight;
            at += len;
        }
        number
    }
}

/// Turns the board so that the leading pawn is on the left, puts the pawns in their order and numbers them.
fn lead_pawns_number(squares: &mut [u8], lead: usize) -> u64 {
    for i in 1..lead {
        if pawn_rank(squares[i]) > pawn_rank(squares[0]) {
            squares.swap(0, i);
        }
    }
    if squares[0] & 7 > 3 {
        flip(squares, 7);
    }
    squares[1..lead].sort_unstable_by_key(|&s| pawn_rank(s));
    let mut number = first_pawn(lead, squares[0]);
    for (i, &s) in squares[1..lead].iter().enumerate() {
        number += choose(pawn_rank(s), i + 1);
    }
    number
}

/// The same for leading pieces, the first of which comes to the triangle a1-d1-d4.
fn lead_number(squares: &mut [u8], lead: usize) -> u64 {
    if squares[0] & 7 > 3 {
        flip(squares, 7);
    }
    if squares[0] >> 3 > 3 {
        flip(squares, 56);
    }
    // The first man off the long diagonal stands below it.
    let off = (0..lead).find(|&i| squares[i] >> 3 != squares[i] & 7);
    if let Some(off) = off
        && squares[off] >> 3 > squares[off] & 7
    {
        for s in &mut squares[off..] {
            *s = *s >> 3 | (*s & 7) << 3;
        }
    }
    match lead {
        3 => three_men(squares[0], squares[1], squares[2]),
        _ => u64::from(king_pairs()[usize::from(squares[0])][usize::from(squares[1])]),
    }
}

/// Turns squares left to right (7) or top to bottom (56).
fn flip(squares: &mut [u8], by: u8) {
    for square in squares {
        *square ^= by;
    }
}

/// How many ways there are to place three men, the first in the triangle a1-d1-d4.
const THREE_MEN: u64 = 31_332;

/// How many ways there are to place two kings.
const TWO_KINGS: u64 = 462;

/// The number of a square of the triangle b1-d1-d3, row by row.
fn triangle(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    // The rows before have 3, 2, 1 squares.
    rank * 3 - rank * rank.wrapping_sub(1) / 2 + file - rank - 1
}

/// The number of three men.
fn three_men(a: u8, b: u8, c: u8) -> u64 {
    let off = |s: u8| s >> 3 != s & 7;
    let number = u64::from;
    let rank = |s: u8| u64::from(s >> 3);
    let below_b = number(b) - number(u8::from(b > a));
    let less = number(u8::from(c > a) + u8::from(c > b));
    if off(a) {
        (triangle(a) * 63 + below_b) * 62 + number(c) - less
    } else if off(b) {
        6 * 63 * 62 + (rank(a) * 28 + lower(b)) * 62 + number(c) - less
    } else if off(c) {
        let rank_b = rank(b) - number(u8::from(b > a));
        6 * 63 * 62 + 4 * 28 * 62 + (rank(a) * 7 + rank_b) * 28 + lower(c)
    } else {
        let rank_b = rank(b) - number(u8::from(b > a));
        let start = 6 * 63 * 62 + 4 * 28 * 62 + 4 * 7 * 28;
        start + (rank(a) * 7 + rank_b) * 6 + rank(c) - less
    }
}

/// The number of a square of the triangle b1-h1-h7, row by row.
fn lower(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    // The rows before have 7, 6, … squares.
    rank * 7 - rank * rank.wrapping_sub(1) / 2 + file - rank - 1
}

/// The numbers of two kings apart: the first in the triangle a1-d1-d4, the other not above the long diagonal
/// if the first stands there.
fn king_pairs() -> &'static [[u16; 64]; 64] {
    static PAIRS: LazyLock<Box<[[u16; 64]; 64]>> = LazyLock::new(|| {
        let mut numbers = Box::new([[0; 64]; 64]);
        let square = |s: u32| (s & 7, s >> 3);
        let triangle = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27];
        let pairs = || triangle.into_iter().flat_map(|a| (0..64).map(move |b| (a, b)));
        let apart = pairs().filter(|&(a, b)| {
            let ((file, rank), (other_file, other_rank)) = (square(a), square(b));
            let touch = file.abs_diff(other_file) <= 1 && rank.abs_diff(other_rank) <= 1;
            !touch && (file != rank || other_file >= other_rank)
        });
        let diagonal = |&(a, b): &(u32, u32)| a % 9 == 0 && b % 9 == 0;
        let (last, first): (Vec<_>, Vec<_>) = apart.partition(diagonal);
        for (number, (a, b)) in first.into_iter().chain(last).enumerate() {
            numbers[a as usize][b as usize] = number as u16;
        }
        numbers
    });
    &PAIRS
}

/// How far a pawn is from leading: 47 leads, which is a2, then h2, a3, h3 to a7, h7, then the b and g files.
#[inline(always)]
fn pawn_rank(square: u8) -> usize {
    usize::from(PAWN_RANKS[usize::from(square & 63)])
}

/// See [`pawn_rank`].
const PAWN_RANKS: [u8; 64] = {
    let mut ranks = [0; 64];
    let mut square = 8;
    while square < 56 {
        let (file, rank) = (square % 8, square / 8);
        let (column, right) = if file < 4 { (file, 0) } else { (7 - file, 1) };
        ranks[square] = 47 - (2 * (6 * column + rank - 1) + right) as u8;
        square += 1;
    }
    ranks
};

/// In how many ways pawns can be placed if the leading one is on the squares of a file before `rank`.
fn led_before(pawns: usize, file: u8, rank: u8) -> u64 {
    if pawns == 1 {
        return u64::from(rank).saturating_sub(1);
    }
    (1..rank).map(|r| choose(pawn_rank(r << 3 | file), pawns - 1)).sum()
}

/// In how many ways pawns can be placed if the leading one is on a file.
fn lead_pawns(pawns: usize, file: usize) -> u64 {
    led_before(pawns, file as u8, 7)
}

/// The number of the first placement with the leading pawn on a square.
fn first_pawn(pawns: usize, square: u8) -> u64 {
    led_before(pawns, square & 7, square >> 3)
}

/// `CHOOSE[k][n]`: in how many ways `k` of `n` squares can be chosen.
const CHOOSE: [[u64; 65]; MAX_MEN + 1] = {
    let mut choose = [[0; 65]; MAX_MEN + 1];
    let mut n = 0;
    while n <= 64 {
        choose[0][n] = 1;
        let mut k = 1;
        while k <= MAX_MEN && n > 0 {
            choose[k][n] = choose[k - 1][n - 1] + choose[k][n - 1];
            k += 1;
        }
        n += 1;
    }
    choose
};

/// See [`CHOOSE`]; 0 if there are too few squares.
#[inline(always)]
fn choose(n: usize, k: usize) -> u64 {
    CHOOSE.get(k).and_then(|ways| ways.get(n)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_numbered_without_gaps() {
        let kings = king_pairs().as_flattened();
        assert_eq!(u64::from(*kings.iter().max().unwrap()) + 1, TWO_KINGS);
        let triangle_squares = [1, 2, 3, 10, 11, 19];
        assert_eq!(triangle_squares.map(triangle), [0, 1, 2, 3, 4, 5]);
        let below = (0..64).filter(|s| s & 7 > s >> 3).map(lower);
        assert!(below.eq(0..28));
        let mut ranks: Vec<usize> = (8..56).map(pawn_rank).collect();
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..48));
        // Two white pawns: the leading one on any file, the other behind it.
        assert_eq!((0..4).map(|file| lead_pawns(2, file)).sum::<u64>(), 24 * 47 / 2 + 12);
        let mut three: Vec<u64> = Vec::new();
        let squares = || 0..64_u8;
        for (a, b) in squares().flat_map(|a| squares().map(move |b| (a, b))) {
            let corner = a & 7 < 4 && a >> 3 <= a & 7;
            for c in squares().filter(|&c| corner && a != b && a != c && b != c) {
                let off = [a, b, c].into_iter().find(|s| s >> 3 != s & 7);
                if off.is_none_or(|s| s & 7 > s >> 3) {
                    three.push(three_men(a, b, c));
                }
            }
        }
        three.sort_unstable();
        assert!(three.into_iter().eq(0..THREE_MEN));
    }

    #[test]
    fn pawns_lead_and_those_of_the_other_colour_come_next() {
        let material = "KPvKP".parse().unwrap();
        let head = |men: [u8; 4]| {
            let side = [&[0x00, 0x11][..], &men].concat();
            [&MAGIC[..], &[2], &side.repeat(4)].concat()
        };
        // White king 6, pawn 1; black king 14, pawn 9.
        assert!(has_order(&material, &head([1, 9, 6, 14])));
        assert!(has_order(&material, &head([9, 1, 14, 6])));
        for men in [[1, 6, 9, 14], [6, 1, 9, 14], [1, 14, 6, 9], [1, 9, 6, 6]] {
            assert!(!has_order(&material, &head(men)), "{men:?}");
        }
    }

    #[test]
    fn damage_is_noticed() {
        let material: Material = "KRvK".parse().unwrap();
        for bytes in [Vec::new(), MAGIC.to_vec(), [MAGIC.to_vec(), vec![0xff; 200]].concat()] {
            assert!(WdlTable::new(&material, bytes, &SpareValues::default()).is_none());
        }
    }
}

//! A Syzygy file: its header, how it numbers placements, and where the value of a placement is.

use std::sync::OnceLock;

use arrayvec::ArrayVec;
use hoffman_board::{Bitboard, Color, Material, Piece, Role};

use super::numbers::{
    THREE_MEN, TWO_KINGS, choose, lead_number, lead_pawns, lead_pawns_number, pawn_rank,
};
use super::packed::{ByteReader, Packed, PackedBlocks};
use super::{CORNER, Man, ManLine, SpareValues, Squares, signature, swapped};
use crate::foreign::syzygy::{MAGIC, MAX_MEN};
use crate::stop::Stop;

/// The most values of one side to move that are unpacked, for leading pawns on one file, in bytes.
const MAX_VALUES: u64 = 1 << 26;

/// A file.
#[derive(Debug)]
pub(super) struct WdlTable {
    pub(super) bytes: Vec<u8>,
    /// Where values get room and leave it.
    pub(super) spare: SpareValues,
    pub(super) stop: Stop,
    pub(super) has_pawns: bool,
    /// Whether both colours have pawns.
    pub(super) both_have_pawns: bool,
    /// Whether both colours have the same men, and the values of one side to move are those of the
    /// other.
    pub(super) symmetric: bool,
    /// By the file of the leading pawn, if there are pawns, and the side to move.
    pub(super) parts: Vec<Vec<FilePart>>,
}

/// The values of one side to move, for leading pawns on one file.
#[derive(Debug)]
pub(super) struct FilePart {
    /// In which order the men are numbered, in the colours of the file and with colours exchanged.
    pub(super) order: [Vec<Piece>; 2],
    /// Men that are numbered together, one behind the other in `order`: how many, and the weight
    /// of their number.
    pub(super) groups: Vec<(usize, u64)>,
    pub(super) size: u64,
    pub(super) packed: Packed,
    pub(super) values: OnceLock<Option<Vec<u8>>>,
}

/// One side to move of the first part of a header: in which order men are numbered, and with which
/// weights.
pub(super) struct MenNumbering {
    pub(super) order: Vec<Piece>,
    pub(super) groups: Vec<(usize, u64)>,
    pub(super) size: u64,
}

impl WdlTable {
    /// Reads the header of a file; none if it is damaged, or not the table of these men.
    pub(super) fn new(
        material: &Material,
        bytes: Vec<u8>,
        (spare, stop): (&SpareValues, &Stop),
    ) -> Option<WdlTable> {
        let mut reader = ByteReader { bytes: &bytes, at: 0 };
        let Orders { has_pawns, both_have_pawns, symmetric, numberings } =
            Orders::read(material, &mut reader)?;
        reader.align(2);
        let first = numberings.first()?.first()?.order.clone();
        let first_men = signature(first.iter().copied());
        let mut parts: Vec<Vec<FilePart>> = Vec::new();

        for numberings in numberings {
            let mut sides = Vec::new();
            for MenNumbering { order, groups, size } in numberings {
                let alike = signature(order.iter().copied()) == first_men;
                if !alike || (order.first()?.role == Role::Pawn) != has_pawns || size > MAX_VALUES {
                    return None;
                }
                let packed = Packed::read(&mut reader, size)?;
                let order = [order.clone(), order.into_iter().map(swapped).collect()];
                sides.push(FilePart { order, groups, size, packed, values: OnceLock::new() });
            }
            parts.push(sides);
        }

        let mut blocks: Vec<&mut PackedBlocks> = parts
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

        let (spare, stop) = (spare.clone(), stop.clone());
        Some(WdlTable { bytes, spare, stop, has_pawns, both_have_pawns, symmetric, parts })
    }

    /// The men, in some order.
    pub(super) fn order(&self) -> &[Piece] {
        self.parts.first().and_then(|sides| sides.first()).map_or(&[], |part| &part.order[0])
    }

    /// The value in the file of a position with its men, or with colours exchanged.
    #[inline(always)]
    pub(super) fn stored(&self, men: &[Man], turn: Color, swap: bool) -> Option<i8> {
        let (part, mut squares) = self.place(men, turn, swap)?;
        let squares = squares.get_mut(..men.len())?;
        let number = part.lead(squares, self.has_pawns);
        let number = number + part.number_of_rest(squares, self.both_have_pawns);
        self.value(part, number)
    }

    /// The value of a number.
    #[inline(always)]
    pub(super) fn value(&self, part: &FilePart, number: u64) -> Option<i8> {
        let value = match &part.packed {
            Packed::Single(value) => *value,
            Packed::Blocks(_) => *self.values(part)?.get(usize::try_from(number).ok()?)?,
        };
        (value <= 4).then_some(value as i8 - 2)
    }

    /// All values of a part, unpacked when they are first asked for.
    pub(super) fn values<'p>(&self, part: &'p FilePart) -> Option<&'p [u8]> {
        let Packed::Blocks(blocks) = &part.packed else { return None };
        let unpack = || blocks.unpack(&self.bytes, part.size, &self.spare, &self.stop);
        part.values.get_or_init(unpack).as_deref()
    }

    /// The part that has a position, and the squares of the men in its order, as its colours see
    /// them.
    #[inline(always)]
    pub(super) fn place(
        &self,
        men: &[Man],
        turn: Color,
        swap: bool,
    ) -> Option<(&FilePart, Squares)> {
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

    /// How the value follows from the square of a man unlike all others, wherever it stands now;
    /// none if it is among those that the board is turned by.
    pub(super) fn line(
        &self,
        men: &[Man],
        man: Piece,
        turn: Color,
        swap: bool,
    ) -> Option<ManLine<'_>> {
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

        let mut line = ManLine {
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
pub(super) struct Orders {
    pub(super) has_pawns: bool,
    pub(super) both_have_pawns: bool,
    pub(super) symmetric: bool,
    pub(super) numberings: Vec<Vec<MenNumbering>>,
}

impl Orders {
    /// Reads them from the start of a file; none if it is damaged, or not the table of these men.
    pub(super) fn read(material: &Material, reader: &mut ByteReader<'_>) -> Option<Orders> {
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
        let mut numberings: Vec<Vec<MenNumbering>> = Vec::new();
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
                MenNumbering::new(order, [half(lead), half(other)], both_have_pawns, file)
            };
            numberings.push((0..sides).map(numbering).collect::<Option<_>>()?);
        }

        Some(Orders { has_pawns, both_have_pawns, symmetric, numberings })
    }
}

/// How many bytes at the start of a file say how it numbers placements, at most.
pub(in crate::foreign) const HEAD: usize = 64;

/// Whether a file that begins like this numbers the placements of these men.
pub(in crate::foreign) fn has_order(material: &Material, head: &[u8]) -> bool {
    Orders::read(material, &mut ByteReader { bytes: head, at: 0 }).is_some()
}

/// The man of a half of a byte.
pub(super) fn man_of(half: u8) -> Option<Piece> {
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

impl MenNumbering {
    /// `places` say when the leading group and the pawns of the other colour have their turn.
    pub(super) fn new(
        order: Vec<Piece>,
        places: [u8; 2],
        both_have_pawns: bool,
        file: usize,
    ) -> Option<MenNumbering> {
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
        complete.then_some(MenNumbering { order, groups, size: weight })
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

impl FilePart {
    /// Turns the board so that the leading men stand where they are numbered; returns what they
    /// add to the number of a position. `squares` are those of the men in their order, and any
    /// others behind them.
    pub(super) fn lead(&self, squares: &mut [u8], has_pawns: bool) -> u64 {
        let &(lead, weight) = &self.groups[0];
        let number =
            if has_pawns { lead_pawns_number(squares, lead) } else { lead_number(squares, lead) };
        number * weight
    }

    /// How what the men behind the leading group add follows from the square of the one of a slot.
    pub(super) fn rest_of_line(
        &self,
        squares: &mut [u8],
        both_have_pawns: bool,
        slot: usize,
        line: &mut ManLine<'_>,
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
    pub(super) fn number_of_rest(&self, squares: &mut [u8], both_have_pawns: bool) -> u64 {
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

//! Containers of solved values: one code a position in the order of the layout.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Value};

use crate::code::Code;
use crate::layout::Layout;
use crate::outcomes::PackedOutcomes;
use crate::slice::{Orientation, PawnStructure};

/// Codes that lie elsewhere, perhaps on a disk: bytes by place, two of them a code where codes are wide.
pub trait CodeStore: std::fmt::Debug + Send + Sync {
    /// Fills `out` with the bytes from `at` on.
    fn read(&self, at: usize, out: &mut [u8]);

    /// Replaces the bytes from `at` on.
    fn write(&self, at: usize, bytes: &[u8]);
}

/// The codes of one side to move of a slice, in the narrowest width that holds them.
#[derive(Clone, Debug)]
pub enum Codes {
    /// One byte each: up to 126 moves.
    Narrow(Vec<u8>),
    /// Two bytes each.
    Wide(Vec<u16>),
    /// Elsewhere.
    Stored(StoredCodes),
}

/// See [`CodeStore`].
#[derive(Clone, Debug)]
pub struct StoredCodes {
    /// Where they are.
    pub store: Arc<dyn CodeStore>,
    /// How many there are.
    pub len: usize,
    /// Whether they have two bytes each.
    pub wide: bool,
}

impl StoredCodes {
    /// Fills `out` with the codes from `at` on, in their own width or a larger one.
    pub fn read<C: Code>(&self, at: usize, out: &mut [C]) {
        let mut narrow = [0_u8; 1024];
        let mut wide = [0_u16; 512];
        let mut at = at;
        if self.wide {
            for out in out.chunks_mut(wide.len()) {
                let wide = &mut wide[..out.len()];
                self.store.read(2 * at, bytemuck::cast_slice_mut(wide));
                out.iter_mut().zip(wide).for_each(|(out, code)| *out = C::convert(*code));
                at += out.len();
            }
        } else if let Some(bytes) = C::as_byte_slice_mut(out) {
            self.store.read(at, bytes);
        } else {
            for out in out.chunks_mut(narrow.len()) {
                let narrow = &mut narrow[..out.len()];
                self.store.read(at, narrow);
                out.iter_mut().zip(narrow).for_each(|(out, code)| *out = C::convert(*code));
                at += out.len();
            }
        }
    }
}

impl Codes {
    /// The number of codes.
    pub fn len(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => codes.len(),
            Codes::Stored(stored) => stored.len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a code has two bytes.
    pub fn is_wide(&self) -> bool {
        match self {
            Codes::Narrow(_) => false,
            Codes::Wide(_) => true,
            Codes::Stored(stored) => stored.wide,
        }
    }

    /// The value at a place.
    pub fn value(&self, offset: usize) -> Value {
        match self {
            Codes::Narrow(codes) => codes[offset].value(),
            Codes::Wide(codes) => codes[offset].value(),
            Codes::Stored(stored) => {
                let mut code = [0_u16];
                stored.read(offset, &mut code);
                code[0].value()
            }
        }
    }

    /// The longest win of the side to move, in moves; none if it never wins.
    pub fn longest_win(&self) -> Option<u16> {
        fn of_bytes(codes: &[u8]) -> Option<u16> {
            // The wins follow upon the draw, the longest first. Less the first of them, all that are none are larger:
            // one minimum, which the compiler takes of many bytes at once.
            const FIRST: u8 = u8::DRAW + 1;
            let least = codes.iter().fold(u8::MAX, |least, c| least.min(c.wrapping_sub(FIRST)));
            match least.wrapping_add(FIRST).value() {
                Value::Win(moves) => Some(moves),
                _ => None,
            }
        }
        fn of_words(codes: &[u16]) -> Option<u16> {
            const FIRST: u16 = u16::DRAW + 1;
            let least = codes.iter().fold(u16::MAX, |least, c| least.min(c.wrapping_sub(FIRST)));
            match least.wrapping_add(FIRST).value() {
                Value::Win(moves) => Some(moves),
                _ => None,
            }
        }
        match self {
            Codes::Narrow(codes) => of_bytes(codes),
            Codes::Wide(codes) => of_words(codes),
            Codes::Stored(stored) => {
                let mut part = vec![0_u16; (1 << 15).min(stored.len)];
                let part = |at: usize| {
                    let len = part.len().min(stored.len - at);
                    stored.read(at, &mut part[..len]);
                    of_words(&part[..len])
                };
                (0..stored.len).step_by(1 << 15).map(part).max().flatten()
            }
        }
    }

    /// Makes those of the 64 values from `offset` on illegal that `keep` does not mark. Values that are
    /// not there stay so.
    pub fn retain(&mut self, offset: usize, keep: u64) {
        fn clear<C: Code>(codes: &mut [C], keep: u64) {
            for (i, code) in codes.iter_mut().enumerate() {
                *code = code.mask(keep >> i & 1 != 0);
            }
        }
        match self {
            Codes::Narrow(codes) => {
                clear(codes.get_mut(offset..offset + 64).unwrap_or_default(), keep);
            }
            Codes::Wide(codes) => {
                clear(codes.get_mut(offset..offset + 64).unwrap_or_default(), keep);
            }
            Codes::Stored(stored) if offset + 64 <= stored.len => {
                let width = if stored.wide { 2 } else { 1 };
                let mut bytes = [0_u8; 128];
                let bytes = &mut bytes[..64 * width];
                stored.store.read(offset * width, bytes);
                for (i, code) in bytes.chunks_exact_mut(width).enumerate() {
                    if keep >> i & 1 == 0 {
                        code.fill(0);
                    }
                }
                stored.store.write(offset * width, bytes);
            }
            Codes::Stored(_) => {}
        }
    }

    /// So many packed outcomes.
    pub fn packed(outcomes: PackedOutcomes, len: usize) -> Codes {
        Codes::Stored(StoredCodes { store: Arc::new(outcomes), len, wide: false })
    }

    /// Only the outcomes, packed in memory. What lies elsewhere stays there as it is.
    pub fn outcomes(&self) -> Codes {
        let len = self.len();
        let packed = match self {
            Codes::Narrow(codes) => PackedOutcomes::of(codes),
            Codes::Wide(codes) => PackedOutcomes::of(codes),
            Codes::Stored(stored) => return Codes::Stored(stored.clone()),
        };
        Codes::packed(packed, len)
    }

    /// The size in memory, in bytes; 0 for what lies elsewhere.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => 2 * codes.len(),
            Codes::Stored(_) => 0,
        }
    }
}

/// The values with one en passant right, for the side that has it.
#[derive(Clone, Debug)]
pub struct EnPassantValues {
    /// The square that was jumped over.
    pub square: u8,
    /// Values like those of the slice; illegal where a man stands on or behind the square.
    pub codes: Codes,
}

/// What is counted of a slice's legal positions, one side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Positions without a legal move and without check.
    pub stalemates: u64,
    /// Legal moves; each promotion piece is a move.
    pub moves: u64,
    /// Captures and promotions among them.
    pub futuremoves: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.stalemates += other.stalemates;
        self.moves += other.moves;
        self.futuremoves += other.futuremoves;
    }
}

/// Counts of a slice: men of the same kind are told apart, mirror images are counted as they come.
#[derive(Clone, Debug, Default)]
pub struct SliceCounts {
    /// Without an en passant right: White to move, Black to move.
    pub plain: [Counts; 2],
    /// The part of `plain` with both kings on the long diagonal, where the layout pairs kings.
    pub diagonal: [Counts; 2],
    /// With the right on a square, usable or not (the side to move follows from its rank).
    pub en_passant: Vec<(u8, Counts)>,
}

/// The result of a slice.
#[derive(Clone, Debug)]
pub struct SliceValues {
    /// `codes[0]` with White to move, `codes[1]` with Black to move.
    pub codes: [Codes; 2],
    /// The rights that a pawn can use.
    pub en_passant: Vec<EnPassantValues>,
    /// Move counts, if they were asked for.
    pub counts: Option<SliceCounts>,
    /// The longest win or loss, in moves.
    pub max_moves: u16,
}

impl SliceValues {
    /// The same with outcomes only, packed, and with no win that takes more than a move.
    pub fn outcomes(&self) -> SliceValues {
        let packed = |right: &EnPassantValues| EnPassantValues {
            square: right.square,
            codes: right.codes.outcomes(),
        };
        SliceValues {
            codes: self.codes.each_ref().map(Codes::outcomes),
            en_passant: self.en_passant.iter().map(packed).collect(),
            counts: self.counts.clone(),
            max_moves: 1,
        }
    }

    /// The longest win with White, with Black to move, in moves; none of a side that never wins.
    pub fn longest_wins(&self) -> [Option<u16>; 2] {
        let mut longest = [0, 1].map(|side: usize| self.codes[side].longest_win());
        for right in &self.en_passant {
            // White takes on the sixth rank.
            let side = &mut longest[usize::from(right.square < 32)];
            *side = right.codes.longest_win().max(*side);
        }
        longest
    }

    /// Whether the slice's values need two bytes.
    pub fn is_wide(&self) -> bool {
        self.codes.iter().any(Codes::is_wide)
    }
}

/// Which images of a pawn structure share a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalForm {
    /// None: squares or prunes tell the images apart.
    None,
    /// Left and right.
    Mirrored,
    /// Left and right, and colours exchanged.
    MirroredAndSwapped,
}

/// All slices of an ending or of a restricted table, or as many as were asked for.
#[derive(Debug)]
pub struct TableValues {
    /// The ending, stronger side White.
    pub material: Material,
    /// The arrangement of every slice.
    pub layout: Layout,
    /// Which structures share a slice.
    pub form: NormalForm,
    /// The slices by normal form; filled one by one while the ending is being solved.
    pub slices: HashMap<PawnStructure, OnceLock<Arc<SliceValues>>>,
}

impl TableValues {
    /// An ending with the given slices (in normal form), none of them solved.
    pub fn new(material: Material, slices: impl IntoIterator<Item = PawnStructure>) -> TableValues {
        let form = if material.is_symmetric() {
            NormalForm::MirroredAndSwapped
        } else {
            NormalForm::Mirrored
        };
        TableValues::with_layout(material, Layout::new(&material), form, slices)
    }

    /// A table with a layout of its own, in the colours of `material`, and the given slices, none of
    /// them solved.
    pub fn with_layout(
        material: Material,
        layout: Layout,
        form: NormalForm,
        slices: impl IntoIterator<Item = PawnStructure>,
    ) -> TableValues {
        let slices = slices.into_iter().map(|s| (s, OnceLock::new())).collect();
        TableValues { material, layout, form, slices }
    }

    /// The normal form of a structure, and the orientation that leads to it.
    pub fn normalize(&self, structure: PawnStructure) -> (PawnStructure, Orientation) {
        match self.form {
            NormalForm::None => (structure, Orientation::default()),
            NormalForm::Mirrored => structure.normalized(false),
            NormalForm::MirroredAndSwapped => structure.normalized(true),
        }
    }

    /// The slice that holds a pawn structure given in the table's own colours, and how to turn a
    /// position before looking it up there; none if that slice is not solved.
    pub fn find(&self, structure: PawnStructure) -> Option<(&Arc<SliceValues>, Orientation)> {
        let (normal, orientation) = self.normalize(structure);
        Some((self.slices.get(&normal)?.get()?, orientation))
    }

    /// The value of a position: squares of the movers in layout order, pawns, side to move, the square
    /// jumped over by a pawn that has just made a double step. None if its slice is not solved.
    pub fn value(
        &self,
        movers: &[u8],
        pawns: PawnStructure,
        turn: Color,
        en_passant: Option<u8>,
    ) -> Option<Value> {
        let (slice, orientation) = self.find(pawns)?;
        let symmetry = orientation.symmetry();
        let turned = orientation.color(turn);
        let mut squares: Vec<u8> = movers.iter().map(|&s| symmetry.apply_index(s)).collect();
        if orientation.swap {
            // Colour-symmetric material: the k-th man of one colour becomes the k-th of the other.
            squares.swap(0, 1);
            let half = (squares.len() - 2) / 2;
            squares[2..].rotate_left(half);
        }
        let Some(offset) = self.layout.offset(&squares) else { return Some(Value::Illegal) };
        let right = en_passant.map(|s| symmetry.apply_index(s));
        let with_right = right.and_then(|s| slice.en_passant.iter().find(|e| e.square == s));
        let codes = with_right.map_or(&slice.codes[turned as usize ^ 1], |e| &e.codes);
        Some(codes.value(offset))
    }

    /// The size in memory of what is solved, in bytes.
    pub fn bytes(&self) -> usize {
        self.slices
            .values()
            .filter_map(OnceLock::get)
            .map(|s| {
                let rights = s.en_passant.iter().map(|e| &e.codes);
                s.codes.iter().chain(rights).map(Codes::bytes).sum::<usize>()
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_win_is_the_smallest_code_above_a_draw() {
        let codes =
            |values: &[Value]| values.iter().map(|&v| u8::from_value(v)).collect::<Vec<_>>();
        let wide =
            |values: &[Value]| values.iter().map(|&v| u16::from_value(v)).collect::<Vec<_>>();
        let (win, loss) = (Value::Win, Value::Loss);
        for (values, longest) in [
            (vec![], None),
            (vec![Value::Illegal, Value::Draw, loss(0), loss(126)], None),
            (vec![win(0), Value::Draw], Some(0)),
            (vec![loss(126), win(3), win(40), Value::Illegal, win(1)], Some(40)),
            (vec![win(126), win(125)], Some(126)),
        ] {
            assert_eq!(Codes::Narrow(codes(&values)).longest_win(), longest, "{values:?}");
            assert_eq!(Codes::Wide(wide(&values)).longest_win(), longest, "{values:?}");
        }
        assert_eq!(Codes::Wide(wide(&[win(3000), win(2), Value::Draw])).longest_win(), Some(3000));
    }
}

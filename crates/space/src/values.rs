//! Containers of solved values: one code a position in the order of the layout.

use std::ops::{Add as _, AddAssign, Div, Mul, Sub as _, SubAssign};
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Value};
use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::edge::EdgeCodes;
use crate::few::FewCodes;
use crate::layout::Layout;
use crate::outcomes::PackedOutcomes;
use crate::slice::{Orientation, PawnSquares};

/// Codes that lie elsewhere, perhaps on a disk: bytes by place, two of them a code where codes are
/// wide.
pub trait CodeStore: std::fmt::Debug + Send + Sync {
    /// Fills `out` with the bytes from `at` on.
    fn read(&self, at: usize, out: &mut [u8]);

    /// Replaces the bytes from `at` on.
    fn write(&self, at: usize, bytes: &[u8]);

    /// The codes, if they lie packed in memory.
    fn packed(&self) -> Option<PackedCodes<'_>> {
        None
    }

    /// What they take in memory, in bytes.
    fn bytes(&self) -> usize {
        0
    }
}

/// Codes that lie packed in memory.
#[derive(Clone, Copy, Debug)]
pub enum PackedCodes<'a> {
    /// Outcomes alone.
    Outcomes(&'a PackedOutcomes),
    /// In as few bits as tell those near each other apart.
    Few(&'a FewCodes),
    /// Those of some positions, the others being illegal.
    Edge(&'a EdgeCodes),
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
    /// Fills `out` with the codes from `at` on, in their own width or another that they fit into.
    pub fn read<C: Code>(&self, at: usize, out: &mut [C]) {
        if self.wide {
            self.read_converted::<u16, C>(at, out);
        } else if let Some(bytes) = C::as_byte_slice_mut(out) {
            self.store.read(at, bytes);
        } else {
            self.read_converted::<u8, C>(at, out);
        }
    }

    /// The same as [`StoredCodes::read`], with the instructions of the caller for what lies packed
    /// in memory.
    #[inline(always)]
    pub fn read_inlined<C: Code>(&self, at: usize, out: &mut [C]) {
        match (self.store.packed(), C::as_byte_slice_mut(out)) {
            (Some(PackedCodes::Outcomes(outcomes)), Some(out)) => outcomes.read_inlined(at, out),
            (Some(PackedCodes::Few(few)), Some(out)) => few.read_inlined(at, out),
            (Some(PackedCodes::Edge(edge)), Some(out)) => edge.read_inlined(at, out),
            _ => self.read(at, out),
        }
    }

    /// The code at a place.
    fn read_one<C: Code>(&self, at: usize) -> C {
        match self.store.packed() {
            Some(PackedCodes::Outcomes(outcomes)) => return C::convert(outcomes.code(at)),
            Some(PackedCodes::Few(few)) => return C::convert(few.code(at)),
            Some(PackedCodes::Edge(edge)) => return C::convert(edge.code(at)),
            None => {}
        }
        let mut code = [C::ILLEGAL];
        self.read(at, &mut code);
        code[0]
    }

    /// Reads codes, which have the width `S`.
    fn read_converted<S: Code, C: Code>(&self, mut at: usize, out: &mut [C]) {
        let mut own = [S::ILLEGAL; 512];
        for out in out.chunks_mut(own.len()) {
            let own = &mut own[..out.len()];
            self.store.read(at * size_of::<S>(), bytemuck::cast_slice_mut(own));
            convert_all(own, out);
            at += out.len();
        }
    }

    /// [`Codes::retain`] for codes, which have the width `S`.
    fn retain<S: Code>(&self, at: usize, keep: u64) {
        let mut row = [S::ILLEGAL; 64];
        self.read(at, &mut row);
        clear_others(&mut row, keep);
        self.store.write(at * size_of::<S>(), S::as_bytes_of(&row));
    }
}

/// Copies codes to places of another width, as many as there are places.
fn convert_all<S: Code, C: Code>(codes: &[S], out: &mut [C]) {
    out.iter_mut().zip(codes).for_each(|(out, &code)| *out = C::convert(code));
}

/// Makes the codes illegal that `keep` does not mark.
fn clear_others<C: Code>(row: &mut [C], keep: u64) {
    for (i, code) in row.iter_mut().enumerate() {
        *code = code.mask(keep >> i & 1 != 0);
    }
}

/// The longest win in moves: one minimum, which the compiler takes of many codes at once.
fn longest_win_of<C: Code>(codes: &[C]) -> Option<u16> {
    let none = C::DRAW.below_longest_win();
    let least = codes.iter().fold(none, |least, code| least.min(code.below_longest_win()));
    C::MAX_MOVES.checked_sub(least.number() as u16)
}

/// Codes that are fetched at a time where they lie elsewhere.
const PART: usize = 1 << 15;

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
            Codes::Stored(stored) if stored.wide => stored.read_one::<u16>(offset).value(),
            Codes::Stored(stored) => stored.read_one::<u8>(offset).value(),
        }
    }

    /// Fills `out` with the codes from `at` on, in their own width or another that they fit into.
    pub fn read<C: Code>(&self, at: usize, out: &mut [C]) {
        match self {
            Codes::Narrow(codes) => convert_all(&codes[at..], out),
            Codes::Wide(codes) => convert_all(&codes[at..], out),
            Codes::Stored(stored) => stored.read(at, out),
        }
    }

    /// The longest win of the side to move, in moves; none if it never wins.
    pub fn longest_win(&self) -> Option<u16> {
        match self {
            Codes::Narrow(codes) => longest_win_of(codes),
            Codes::Wide(codes) => longest_win_of(codes),
            Codes::Stored(stored) => {
                let mut part = vec![0_u16; PART.min(stored.len)];
                let starts = (0..stored.len).step_by(PART);
                let longest = starts.map(|at| {
                    let len = part.len().min(stored.len - at);
                    stored.read(at, &mut part[..len]);
                    longest_win_of(&part[..len])
                });
                longest.max().flatten()
            }
        }
    }

    /// Makes those of the 64 values from `offset` on illegal that `keep` does not mark. A side
    /// that is not there, and so has no values, stays so.
    pub fn retain(&mut self, offset: usize, keep: u64) {
        let row = offset..offset + 64;
        if row.end > self.len() {
            return;
        }
        match self {
            Codes::Narrow(codes) => clear_others(&mut codes[row], keep),
            Codes::Wide(codes) => clear_others(&mut codes[row], keep),
            Codes::Stored(stored) if stored.wide => stored.retain::<u16>(offset, keep),
            Codes::Stored(stored) => stored.retain::<u8>(offset, keep),
        }
    }

    /// So many packed outcomes.
    pub fn packed(outcomes: PackedOutcomes, len: usize) -> Codes {
        Codes::Stored(StoredCodes { store: Arc::new(outcomes), len, wide: false })
    }

    /// The codes, if they lie packed in memory.
    pub fn as_packed(&self) -> Option<PackedCodes<'_>> {
        match self {
            Codes::Stored(stored) => stored.store.packed(),
            Codes::Narrow(_) | Codes::Wide(_) => None,
        }
    }

    /// The packed outcomes, if these are such.
    pub fn as_outcomes(&self) -> Option<&PackedOutcomes> {
        match self.as_packed()? {
            PackedCodes::Outcomes(outcomes) => Some(outcomes),
            PackedCodes::Few(_) | PackedCodes::Edge(_) => None,
        }
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

    /// The same codes in as few bits as tell those near each other apart, if they have one byte.
    /// They are not to be changed then.
    pub fn in_few_bits(self) -> Codes {
        let few = |codes: &Vec<u8>| {
            let store = Arc::new(FewCodes::of(codes)?);
            Some(Codes::Stored(StoredCodes { store, len: codes.len(), wide: false }))
        };
        match &self {
            Codes::Narrow(codes) => few(codes).unwrap_or(self),
            Codes::Wide(_) | Codes::Stored(_) => self,
        }
    }

    /// The size in memory, in bytes; 0 for what lies on a disk.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => 2 * codes.len(),
            Codes::Stored(stored) => stored.store.bytes(),
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

/// The number of a side to move where both stand side by side: White's is first.
#[inline(always)]
pub fn side(turn: Color) -> usize {
    turn.fold_wb(0, 1)
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

impl Counts {
    /// Each number with one of others.
    fn with(self, other: Counts, f: impl Fn(u64, u64) -> u64) -> Counts {
        Counts {
            stalemates: f(self.stalemates, other.stalemates),
            moves: f(self.moves, other.moves),
            futuremoves: f(self.futuremoves, other.futuremoves),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = self.with(other, u64::add);
    }
}

impl SubAssign for Counts {
    fn sub_assign(&mut self, other: Counts) {
        *self = self.with(other, u64::sub);
    }
}

impl Mul<u64> for Counts {
    type Output = Counts;

    fn mul(self, times: u64) -> Counts {
        self.with(self, |n, _| n * times)
    }
}

impl Div<u64> for Counts {
    type Output = Counts;

    fn div(self, divisor: u64) -> Counts {
        self.with(self, |n, _| n / divisor)
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
    /// The same values in as few bits as tell those near each other apart, where they have one
    /// byte. They are not to be changed then.
    pub fn in_few_bits(mut self) -> SliceValues {
        self.codes = self.codes.map(Codes::in_few_bits);
        let rights = self.en_passant.into_iter();
        let few =
            |right: EnPassantValues| EnPassantValues { codes: right.codes.in_few_bits(), ..right };
        self.en_passant = rights.map(few).collect();
        self
    }

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

    /// The size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        let rights = self.en_passant.iter().map(|right| &right.codes);
        self.codes.iter().chain(rights).map(Codes::bytes).sum()
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
    pub slices: FxHashMap<PawnSquares, OnceLock<Arc<SliceValues>>>,
}

impl TableValues {
    /// An ending with the given slices (in normal form), none of them solved.
    pub fn new(material: Material, slices: impl IntoIterator<Item = PawnSquares>) -> TableValues {
        let form = if material.is_symmetric() {
            NormalForm::MirroredAndSwapped
        } else {
            NormalForm::Mirrored
        };
        TableValues::with_layout(material, Layout::new(&material), form, slices)
    }

    /// A table with a layout of its own, in the colours of `material`, and the given slices, none
    /// of them solved.
    pub fn with_layout(
        material: Material,
        layout: Layout,
        form: NormalForm,
        slices: impl IntoIterator<Item = PawnSquares>,
    ) -> TableValues {
        let slices = slices.into_iter().map(|s| (s, OnceLock::new())).collect();
        TableValues { material, layout, form, slices }
    }

    /// The normal form of a structure, and the orientation that leads to it.
    pub fn normalize(&self, structure: PawnSquares) -> (PawnSquares, Orientation) {
        match self.form {
            NormalForm::None => (structure, Orientation::default()),
            NormalForm::Mirrored => structure.normalized(false),
            NormalForm::MirroredAndSwapped => structure.normalized(true),
        }
    }

    /// The slice that holds a pawn structure given in the table's own colours, and how to turn a
    /// position before looking it up there; none if that slice is not solved.
    pub fn find(&self, structure: PawnSquares) -> Option<(&Arc<SliceValues>, Orientation)> {
        let (normal, orientation) = self.normalize(structure);
        Some((self.slices.get(&normal)?.get()?, orientation))
    }

    /// The value of a position: squares of the movers in layout order, pawns, side to move, the
    /// square jumped over by a pawn that has just made a double step. None if its slice is not
    /// solved, or has no values of that side to move.
    pub fn value(
        &self,
        movers: &[u8],
        pawns: PawnSquares,
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
        let codes = with_right.map_or(&slice.codes[side(turned)], |e| &e.codes);
        (offset < codes.len()).then(|| codes.value(offset))
    }

    /// The size in memory of what is solved, in bytes.
    pub fn bytes(&self) -> usize {
        self.slices.values().filter_map(OnceLock::get).map(|slice| slice.bytes()).sum()
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

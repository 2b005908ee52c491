//! The indices of placements that differ in the square of one man, or in those of both kings, run
//! by run: most of them grow by a constant step.

use hoffman_board::{Color, MAX_PIECES, PieceSlot, Square};

use super::combinadic::Line;
use super::kings::{PairNumbers, canonical_pairs};
use super::naive::FieldLine;
use super::position::{OrderedPlacement, bit};
use super::{IndexScheme, IndexSpace, NONE};

/// A placement whose men are moved one at a time. It stays in one place in memory: copying squares
/// that have just been written one by one costs more than all else that a row of indices takes.
pub struct Cursor<'a> {
    space: &'a IndexSpace,
    p: OrderedPlacement,
}

impl Cursor<'_> {
    /// Puts the man of a slot on a square.
    #[inline(always)]
    pub fn put(&mut self, slot: PieceSlot, square: u8) {
        self.p.squares[self.space.men.man(slot)] = square;
    }

    /// The indices of the placements that differ only in the square of one man, run by run: calls
    /// `visit(squares, index, step)` so that every square of `lanes` is in one run; the placement
    /// with the man on the `i`th of these squares has the index `index + i * step`. The placement
    /// must be canonical and exist with the man on any of the squares.
    #[inline(always)]
    pub fn visit_lane(&self, lane: PieceSlot, lanes: u64, mut visit: impl FnMut(u64, u64, u64)) {
        let Cursor { space, p } = self;
        let men = &space.men;
        let man = men.man(lane);
        let occupied =
            (0..men.count).filter(|&m| m != man).fold(0, |set, m| set | bit(p.squares[m]));
        let lanes = lanes & !occupied;
        let (shift, side) = (u32::from(space.side_bit), u64::from(space.side_bit && p.black));
        let Some(line) = space.line(p, man) else {
            let Some(line) = space.field_line(p, man) else {
                if !space.visit_king(p, man, lanes, &mut visit) {
                    space.visit_each(p, man, lanes, &mut visit);
                }
                return;
            };
            for square in bits_of(lanes) {
                visit(1 << square, (line.index(square) << shift) + side, 0);
            }
            return;
        };

        // The numbering goes on behind men whose squares it leaves out.
        let breaks = !(lanes | line.left_out());
        let mut rest = lanes;

        while rest != 0 {
            let start = rest.trailing_zeros();
            let end = (breaks & u64::MAX << start).trailing_zeros();
            let run = if end == 64 { rest } else { rest & ((1 << end) - 1) };
            rest &= !run;
            match line.start(start as u8) {
                (index, Some(step), _, _) => visit(run, (index << shift) + side, step << shift),
                (rest, None, value, place) => {
                    for (i, square) in bits_of(run).enumerate() {
                        let index = rest + line.term(value + i, place);
                        visit(1 << square, (index << shift) + side, 0);
                    }
                }
            }
        }
    }
}

impl IndexSpace {
    /// A placement, given as square numbers by slot, whose men are then moved one at a time;
    /// `en_passant` as in a placement.
    #[inline]
    pub fn cursor(
        &self,
        squares: &[u8; MAX_PIECES],
        turn: Color,
        en_passant: Option<Square>,
    ) -> Cursor<'_> {
        let p = self.men.load_squares(squares, turn, en_passant);
        Cursor { space: self, p }
    }

    /// The rule for the indices as one man walks, if there is one.
    #[inline(always)]
    fn line<'a>(&'a self, p: &'a OrderedPlacement, man: usize) -> Option<Line<'a>> {
        let IndexScheme::Combinadic(combinadic) = &self.scheme else { return None };
        let mut pawn_away;
        let mut codes = &p.squares;
        let mut en_passant_man = NONE;
        if p.en_passant != NONE {
            en_passant_man = self.men.en_passant_man(p)?;
            pawn_away = p.squares;
            pawn_away[usize::from(en_passant_man)] = p.en_passant & 7;
            codes = &pawn_away;
        }
        let mut line = combinadic.line(&self.men, &p.squares, codes, en_passant_man, man)?;
        if let Some(pawns) = &self.pawns {
            line.add(self.slice * pawns.number(&self.men, p)?);
        }
        Some(line)
    }

    /// The indices of the placements that differ only in the squares of the kings, run by run:
    /// calls `visit(white king, black king, len, index, step)` so that every canonical pair off
    /// the squares of `occupied` is in one run; the placement with the black king on square `black
    /// king + i` has the index `index + i * step`.
    ///
    /// `squares[slot]` are square numbers; those of the kings are ignored.
    pub fn visit_kings(
        &self,
        squares: &[u8; MAX_PIECES],
        turn: Color,
        en_passant: Option<Square>,
        occupied: u64,
        visit: &mut dyn FnMut(u8, u8, u8, u64, u64),
    ) {
        let men = &self.men;
        let mut p = men.load_squares(squares, turn, en_passant);
        let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
        let Some((weight, kings)) = self.free_kings() else {
            self.visit_king_pairs(p, occupied, visit);
            return;
        };

        // What the index is but for the kings, from the first pair that has one.
        let clear = |&(_, &(w, b)): &(usize, &(u8, u8))| occupied & (bit(w) | bit(b)) == 0;
        let base = kings.list().iter().enumerate().filter(clear).find_map(|(n, &(w, b))| {
            p.squares[white] = w;
            p.squares[black] = b;
            let index = self.encode_position(p)?;
            Some(index - self.sided(weight * n as u64))
        });

        let Some(base) = base else { return };
        let step = self.sided(weight);
        for &(number, w, blacks) in kings.runs() {
            if occupied & bit(w) != 0 {
                continue;
            }
            // The number of the pair with the black king on a1, if it were of the run.
            let number = u64::from(number).wrapping_sub(u64::from(blacks.trailing_zeros()));
            let mut rest = blacks & !occupied;
            while rest != 0 {
                let start = rest.trailing_zeros();
                let len = (rest >> start).trailing_ones();
                rest &= u64::MAX.checked_shl(start + len).unwrap_or(0);
                let index = base + step * number.wrapping_add(u64::from(start));
                visit(w, start as u8, len as u8, index, step);
            }
        }
    }

    /// The same, every pair by itself.
    fn visit_king_pairs(
        &self,
        mut p: OrderedPlacement,
        occupied: u64,
        visit: &mut dyn FnMut(u8, u8, u8, u64, u64),
    ) {
        let men = &self.men;
        let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
        // The white king and the rule for the black one while it stands there.
        let mut line = (NONE, None);
        for (w, b) in canonical_pairs(men).filter(|&(w, b)| occupied & (bit(w) | bit(b)) == 0) {
            p.squares[white] = w;
            p.squares[black] = b;
            if line.0 != w {
                line = (w, self.field_line(&p, black));
            }
            let index = match &line.1 {
                Some(line) => Some(self.sided(line.index(b)) + u64::from(self.side_bit && p.black)),
                None => self.encode_position(p),
            };
            if let Some(index) = index {
                visit(w, b, 1, index, 0);
            }
        }
    }

    /// The pairs of king squares in the order of their numbers, if these numbers are the lowest
    /// digit of an index but for the side to move: the pair with number `n` has the indices that
    /// leave `n` when the side is taken off and what remains is divided by the number of pairs.
    pub(crate) fn king_columns(&self) -> Option<&[(u8, u8)]> {
        match &self.scheme {
            IndexScheme::Combinadic(combinadic) => combinadic.low_kings().map(PairNumbers::list),
            _ => None,
        }
    }

    /// What a part of an index weighs beside a side to move.
    fn sided(&self, index: u64) -> u64 {
        if self.side_bit { 2 * index } else { index }
    }

    /// The same for the types with a digit or a field of bits for every man.
    fn field_line(&self, p: &OrderedPlacement, man: usize) -> Option<FieldLine<'_>> {
        let men = &self.men;
        if !self.side_bit && p.black {
            return None;
        }
        let mut codes = p.squares;
        let mut pair = (man, man);
        if matches!(self.scheme, IndexScheme::Naive(_) | IndexScheme::Simple(_)) {
            pair = men.arrange_others(&mut codes, man)?;
        }
        if p.en_passant != NONE {
            let pawn = men.en_passant_man(&OrderedPlacement { squares: codes, ..*p })?;
            codes[usize::from(pawn)] = p.en_passant & 7;
        }
        let mut line = match &self.scheme {
            IndexScheme::Naive(n) => n.line(&codes, man, pair)?,
            IndexScheme::Naive2(n) => n.line(&codes, man)?,
            IndexScheme::Simple(s) => s.line(&codes, man, pair),
            IndexScheme::Compact(c) => c.line(men, &p.squares, &codes, man)?,
            IndexScheme::Combinadic(_) => return None,
        };
        if let Some(pawns) = &self.pawns {
            line.add(self.slice * pawns.number(men, p)?);
        }
        Some(line)
    }

    /// The placements that differ in the square of one king, where the rest of an index does not
    /// depend on the kings. Returns whether it is so.
    fn visit_king(
        &self,
        p: &OrderedPlacement,
        man: usize,
        lanes: u64,
        visit: &mut dyn FnMut(u64, u64, u64),
    ) -> bool {
        let (men, mut p) = (&self.men, *p);
        let Some((weight, kings)) = self.free_kings().filter(|_| men.is_king(man)) else {
            return false;
        };
        let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
        let mut place = |lane: u8| {
            p.squares[man] = lane;
            let number = kings.number(p.squares[white], p.squares[black])?;
            Some((self.sided(weight * number), p))
        };

        let mut base = None;
        // Squares whose indices follow from each other: the first index, and how many there are.
        let (step, mut run, mut first, mut len) = (self.sided(weight), 0, 0, 0);

        for lane in bits_of(lanes) {
            let Some((digit, p)) = place(lane) else { continue };
            if base.is_none() {
                base = self.encode_position(p).map(|index| index - digit);
            }
            let Some(base) = base else { continue };
            let index = base + digit;
            if run != 0 && index != first + len * step {
                visit(run, first, step);
                run = 0;
            }
            if run == 0 {
                (first, len) = (index, 0);
            }
            run |= 1 << lane;
            len += 1;
        }

        if run != 0 {
            visit(run, first, step);
        }
        true
    }

    /// The weight of the kings' digit and their pairs, if the rest of an index does not depend on
    /// them.
    fn free_kings(&self) -> Option<(u64, &PairNumbers)> {
        match &self.scheme {
            IndexScheme::Combinadic(combinadic) => combinadic.free_kings(&self.men),
            IndexScheme::Compact(compact) => compact.free_kings(&self.men),
            _ => None,
        }
    }

    /// The slow way: every placement by itself.
    fn visit_each(
        &self,
        p: &OrderedPlacement,
        man: usize,
        lanes: u64,
        visit: &mut dyn FnMut(u64, u64, u64),
    ) {
        let mut p = *p;
        for lane in bits_of(lanes) {
            p.squares[man] = lane;
            if let Some(index) = self.encode_position(p) {
                visit(1 << lane, index, 0);
            }
        }
    }
}

/// The squares of a set, ascending.
#[inline(always)]
pub(crate) fn bits_of(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let square = set.trailing_zeros() as u8;
        let there = set != 0;
        set &= set.wrapping_sub(1);
        there.then_some(square)
    })
}

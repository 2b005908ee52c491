//! The types combinadic3, 4 and 5: a combination number for each group of like men, the first
//! group least significant, squares taken by certain earlier men left out (7.5).

use arrayvec::ArrayVec;
use hoffman_board::{Color, MAX_PIECES, PieceSlot};

use super::binomial::{binomial, largest_below};
use super::kings::PairNumbers;
use super::men::TableMen;
use super::position::{OrderedPlacement, Squares, bit, double_step_rank};
use super::simple::SquareCodes;
use super::{IndexError, IndexType, NONE, is_en_passant_code, times};

/// A digit of the index.
#[derive(Clone, Debug)]
enum Digit {
    /// The number of the king pair.
    Kings { radix: u64 },
    /// Men `first..first + len`; `radix` is `C(values, len)`.
    Group { first: usize, len: usize, radix: u64 },
}

/// What changes in an index as one man walks over the board, all others standing still.
#[derive(Clone, Debug)]
pub(super) struct WalkingMan {
    /// The weight of its group's digit, and the group.
    weight: u64,
    group: std::ops::Range<usize>,
    /// The men of its chain.
    chain: ArrayVec<u8, MAX_PIECES>,
    /// Men alone in their groups whose chains contain it, with the weights of their digits.
    dependents: ArrayVec<(u8, u64), MAX_PIECES>,
}

/// The indices of the placements that differ in the square of one man only.
///
/// With the man on `s`, `j` of its group's values being smaller than its own value `v`, the index
/// is `rest + weight * (C(v, j + 1) + sum)`, less the weights of the dependents that it stands
/// below; the sum is that of the others' terms, of which those above its own have moved up by one
/// place.
pub(super) struct Line<'a> {
    walk: &'a WalkingMan,
    codes: &'a SquareCodes,
    /// The squares of its chain.
    chain: u64,
    /// Where all men stand, and the one that can be taken en passant.
    squares: &'a Squares,
    en_passant_man: u8,
    /// The other values of its group, ascending. Lines are made for every row, and moved: they are
    /// small.
    mates: ArrayVec<u8, MAX_PIECES>,
    rest: u64,
}

impl Line<'_> {
    /// The index with the man on `square`, what a step to the next one adds, if that is always the
    /// same, its value and the place of that among those of the group.
    #[inline(always)]
    pub(super) fn start(&self, square: u8) -> (u64, Option<u64>, usize, usize) {
        let below = bit(square) - 1;
        let lower = (self.chain & below).count_ones() as usize;
        let value = usize::from(self.codes.number(square)).wrapping_sub(lower);
        let mut above = 0;
        for &(man, weight) in &self.walk.dependents {
            if bit(self.squares[usize::from(man)]) & below == 0 && man != self.en_passant_man {
                above += weight;
            }
        }
        let place = self.mates.iter().filter(|&&mate| usize::from(mate) < value).count();
        let mut rest = self.rest;
        for (k, &mate) in self.mates.iter().enumerate() {
            let k = if k < place { k + 1 } else { k + 2 };
            rest += self.walk.weight * binomial(usize::from(mate), k);
        }
        let rest = rest.wrapping_sub(above);
        if place == 0 {
            return (rest + self.walk.weight * value as u64, Some(self.walk.weight), value, 1);
        }
        (rest, None, value, place + 1)
    }

    /// The squares that its numbering leaves out.
    #[inline(always)]
    pub(super) fn left_out(&self) -> u64 {
        self.chain
    }

    /// Adds to all indices.
    pub(super) fn add(&mut self, index: u64) {
        self.rest += index;
    }

    /// What a value in a place of the group contributes.
    pub(super) fn term(&self, value: usize, place: usize) -> u64 {
        self.walk.weight * binomial(value, place)
    }
}

/// The combination number of a group's values, which it sorts; none if one is too large.
#[inline(always)]
fn group_number(values: &mut [usize]) -> Option<u64> {
    if let [value] = values {
        return Some(*value as u64);
    }
    values.sort_unstable();
    let mut number = 0;
    for (k, &value) in values.iter().enumerate() {
        if value > 64 {
            return None;
        }
        number += binomial(value, k + 1);
    }
    Some(number)
}

/// Combination numbers.
#[derive(Clone, Debug)]
pub(super) struct Combinadic {
    /// None in suicide chess.
    kings: Option<PairNumbers>,
    /// From the least significant one.
    digits: ArrayVec<Digit, MAX_PIECES>,
    codes: Vec<SquareCodes>,
    /// How many values a man can have.
    values: [usize; MAX_PIECES],
    /// The nearest earlier man with a range inside this one's; its chain goes on with that man's.
    under: [u8; MAX_PIECES],
    /// The first link of the chain of a man's group.
    chain: [u8; MAX_PIECES],
    size: u64,
    /// For each man, if the index changes simply as it walks.
    walks: Vec<Option<WalkingMan>>,
}

impl Combinadic {
    pub(super) fn new(index_type: IndexType, men: &TableMen) -> Result<Combinadic, IndexError> {
        let joined = Joined::new(index_type, men)?;
        let kings = (men.white_king != NONE).then(|| PairNumbers::new(men));
        let mut this = Combinadic {
            kings,
            digits: ArrayVec::new(),
            codes: Vec::new(),
            values: [0; MAX_PIECES],
            under: [NONE; MAX_PIECES],
            chain: [NONE; MAX_PIECES],
            size: 1,
            walks: Vec::new(),
        };

        for man in 0..men.count {
            let inside = |&j: &usize| joined.semilegal[j] & !joined.semilegal[man] == 0;
            this.under[man] = (0..man).rev().find(inside).map_or(NONE, |j| j as u8);
            this.chain[man] = this.under[joined.head(man)];
        }

        let mut man = 0;
        while man < men.count {
            let len = this.add_codes(men, &joined, index_type, man)?;
            if man == usize::from(men.white_king) {
                let radix = this.kings.as_ref().map_or(1, PairNumbers::count);
                this.size = times(this.size, radix)?;
                this.digits.push(Digit::Kings { radix });
            } else if man != usize::from(men.black_king) && !men.structured[man] {
                let values = this.values[man + len - 1];
                let radix = if values < 65 { binomial(values, len) } else { 0 };
                this.size = times(this.size, radix)?;
                this.digits.push(Digit::Group { first: man, len, radix });
            }
            man += len;
        }

        this.walks = (0..men.count).map(|man| this.walk_of(men, man)).collect();
        Ok(this)
    }

    fn walk_of(&self, men: &TableMen, man: usize) -> Option<WalkingMan> {
        let mut alone = [0_u64; MAX_PIECES];
        let mut own = None;
        let mut weight = 1;

        for digit in &self.digits {
            match *digit {
                Digit::Kings { radix } => weight *= radix,
                Digit::Group { first, len, radix } => {
                    let group = first..first + len;
                    if len == 1 {
                        alone[first] = weight;
                    }
                    if group.contains(&man) {
                        own = Some((weight, group));
                    }
                    weight *= radix;
                }
            }
        }

        let (weight, group) = own?;
        let mut dependents = ArrayVec::new();
        for other in (0..men.count).filter(|&m| self.chain_of(m).any(|c| c == man)) {
            if men.is_king(other) {
                continue;
            }
            if alone[other] == 0 {
                return None;
            }
            dependents.push((other as u8, alone[other]));
        }

        let chain = self.chain_of(man).map(|m| m as u8).collect();
        Some(WalkingMan { weight, group, chain, dependents })
    }

    /// The pairs of kings, if their number is the lowest digit.
    pub(super) fn low_kings(&self) -> Option<&PairNumbers> {
        let lowest = matches!(self.digits.first(), Some(Digit::Kings { .. }));
        self.kings.as_ref().filter(|_| lowest)
    }

    /// The weight of the king pair's digit and the pairs, if the rest of an index does not depend
    /// on where the kings stand.
    pub(super) fn free_kings(&self, men: &TableMen) -> Option<(u64, &PairNumbers)> {
        let kings = self.kings.as_ref()?;
        let listed = (0..men.count).filter(|&m| !men.is_king(m) && !men.structured[m]);
        for man in listed {
            if self.chain_of(man).any(|m| men.is_king(m)) {
                return None;
            }
        }
        let mut weight = 1;
        for digit in &self.digits {
            match *digit {
                Digit::Kings { .. } => return Some((weight, kings)),
                Digit::Group { radix, .. } => weight *= radix,
            }
        }
        None
    }

    /// Makes the code lists of an encoding group and returns its length.
    fn add_codes(
        &mut self,
        men: &TableMen,
        joined: &Joined,
        index_type: IndexType,
        first: usize,
    ) -> Result<usize, IndexError> {
        if men.is_king(first) || men.structured[first] {
            self.codes.push(SquareCodes::new(Vec::new()));
            return Ok(1);
        }

        if joined.prev[first] != NONE {
            let partner = men.slot(usize::from(joined.prev[first]));
            return Err(IndexError::NotAdjacent { index_type, slot: men.slot(first), partner });
        }

        let mut len = 0;
        let mut man = first;
        loop {
            let list = joined.codes(men, man);
            self.values[man] = list.len().saturating_sub(self.chain_of(man).count());
            self.codes.push(SquareCodes::new(list));
            len += 1;
            match joined.next[man] {
                NONE => return Ok(len),
                next if usize::from(next) == man + 1 => man += 1,
                next => {
                    let slot = men.slot(usize::from(next));
                    return Err(IndexError::NotAdjacent {
                        index_type,
                        slot,
                        partner: men.slot(man),
                    });
                }
            }
        }
    }

    /// The earlier men whose squares are left out of a man's numbering.
    fn chain_of(&self, man: usize) -> impl Iterator<Item = usize> + '_ {
        let link = |m: u8| (m != NONE).then_some(usize::from(m));
        std::iter::successors(link(self.chain[man]), move |&m| link(self.under[m]))
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// A white and a black pawn of one encoding group that can be taken for each other, so that
    /// some positions share an index or have none: White's may stand above Black's, or they have
    /// different codes, as the range has the double-step square of one of them only. Then no harm
    /// is done where Black's code stands for a square with no room for White below it.
    pub(super) fn clashing_pair(&self, men: &TableMen) -> Option<(PieceSlot, PieceSlot)> {
        self.digits.iter().find_map(|digit| match *digit {
            Digit::Kings { .. } => None,
            Digit::Group { first, len, .. } => {
                let black = (first + 1..first + len).find(|&m| men.color[m] != men.color[first])?;
                (first..black)
                    .find(|&white| self.clash(men, white, black))
                    .map(|white| (men.slot(white), men.slot(black)))
            }
        })
    }

    /// Whether a white and a black pawn can be taken for each other.
    fn clash(&self, men: &TableMen, white: usize, black: usize) -> bool {
        let (more, fewer) = (self.codes[black].len(), self.codes[white].len());
        let steps = men.legal[black] & double_step_rank(Color::Black);
        let first = men.legal[white].trailing_zeros();
        // The highest of them is the one with most room below.
        let below = steps != 0 && first < steps.ilog2();
        let blockers = std::iter::successors(Some(white), |&m| {
            Some(usize::from(men.blocker[m])).filter(|&next| next < men.count && next != m)
        });
        let stays_below = blockers.take(men.count + 1).any(|m| m == black)
            || men.legal[white].checked_ilog2() < Some(men.legal[black].trailing_zeros());
        fewer > more || more > fewer && below || !stays_below
    }

    pub(super) fn encode(
        &self,
        men: &TableMen,
        squares: &Squares,
        codes: &Squares,
        en_passant_man: u8,
    ) -> Option<u64> {
        let mut values = self.values_of(men, squares, codes, en_passant_man, MAX_PIECES);
        let mut index = 0;
        let mut weight = 1;
        for digit in &self.digits {
            match *digit {
                Digit::Kings { radix } => {
                    index += weight * self.kings_number(men, squares)?;
                    weight *= radix;
                }
                Digit::Group { first, len, radix } => {
                    index += weight * group_number(&mut values[first..first + len])?;
                    weight *= radix;
                }
            }
        }

        Some(index)
    }

    /// The number of the king pair.
    #[inline(always)]
    fn kings_number(&self, men: &TableMen, squares: &Squares) -> Option<u64> {
        let king = |man: u8| squares[usize::from(man)];
        self.kings.as_ref()?.number(king(men.white_king), king(men.black_king))
    }

    /// The indices of the placements in which all men but `man` stand on `squares`; none where
    /// they do not follow a simple rule.
    #[inline(always)]
    pub(super) fn line<'a>(
        &'a self,
        men: &TableMen,
        squares: &'a Squares,
        codes: &Squares,
        en_passant_man: u8,
        man: usize,
    ) -> Option<Line<'a>> {
        let walk = self.walks.get(man)?.as_ref()?;
        if man == usize::from(en_passant_man) {
            return None;
        }
        let mut values = self.values_of(men, squares, codes, en_passant_man, man);
        let mut rest = 0;
        let mut mates: ArrayVec<u8, MAX_PIECES> = ArrayVec::new();
        let mut weight = 1;

        for digit in &self.digits {
            match *digit {
                Digit::Kings { radix } => {
                    rest += weight * self.kings_number(men, squares)?;
                    weight *= radix;
                }
                Digit::Group { first, len, radix } => {
                    if first == walk.group.start {
                        for m in (first..first + len).filter(|&m| m != man) {
                            mates.push(u8::try_from(values[m]).ok().filter(|&v| v <= 64)?);
                        }
                        mates.sort_unstable();
                    } else {
                        rest += weight * group_number(&mut values[first..first + len])?;
                    }
                    weight *= radix;
                }
            }
        }

        let squares_of = |m: u8| bit(squares[usize::from(m)]);
        let chain = walk.chain.iter().fold(0, |set, &m| set | squares_of(m));
        let codes = &self.codes[man];
        Some(Line { walk, codes, chain, squares, en_passant_man, mates, rest })
    }

    /// The value of every man, as if `absent` stood nowhere; its own means nothing.
    #[inline]
    fn values_of(
        &self,
        men: &TableMen,
        squares: &Squares,
        codes: &Squares,
        en_passant_man: u8,
        absent: usize,
    ) -> [usize; MAX_PIECES] {
        // `taken[m]`: the squares of man m and of its chain.
        let mut taken = [0_u64; MAX_PIECES];
        let mut values = [0_usize; MAX_PIECES];
        for man in 0..men.count {
            let chain = self.chain[man];
            let number = self.codes[man].number(codes[man]);
            values[man] = usize::from(number);
            if chain != NONE && man != usize::from(en_passant_man) {
                let lower = taken[usize::from(chain)] & (bit(squares[man]) - 1);
                values[man] = usize::from(number).wrapping_sub(lower.count_ones() as usize);
            }
            let under = self.under[man];
            let own = if man == absent { 0 } else { bit(squares[man]) };
            taken[man] = own | if under == NONE { 0 } else { taken[usize::from(under)] };
        }
        values
    }

    pub(super) fn decode(
        &self,
        men: &TableMen,
        index: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let opponent = p.turn().other();
        let mut rest = index;
        let mut values = [0_usize; MAX_PIECES];
        let mut en_passant_man = NONE;

        for digit in &self.digits {
            match *digit {
                Digit::Kings { radix } => {
                    let (white, black) = self.kings.as_ref()?.squares(rest % radix)?;
                    rest /= radix;
                    p.squares[usize::from(men.white_king)] = white;
                    p.squares[usize::from(men.black_king)] = black;
                }
                Digit::Group { first, len, radix } => {
                    let mut number = rest % radix;
                    rest /= radix;
                    for k in (0..len).rev() {
                        let value = largest_below(number, k + 1, self.values[first + k])?;
                        number -= binomial(value, k + 1);
                        values[first + k] = value;
                        let code = self.codes[first + k].get(value)?;
                        if men.is_pawn(first + k) && is_en_passant_code(code) {
                            if en_passant_man != NONE {
                                return None;
                            }
                            en_passant_man = (first + k) as u8;
                            p.squares[first + k] = p.double_step(opponent, code)?;
                        }
                    }
                }
            }
        }

        self.place(men, &values, en_passant_man, p)?;
        if en_passant_man != NONE {
            self.raise(men, usize::from(en_passant_man), p)?;
        }
        men.arrange(&mut p.squares)
    }

    /// Puts men on the squares of their values, counting past the squares of their chains.
    fn place(
        &self,
        men: &TableMen,
        values: &[usize; MAX_PIECES],
        en_passant_man: u8,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let mut taken = [0_u64; MAX_PIECES];
        for man in 0..men.count {
            let is_placed =
                men.is_king(man) || men.structured[man] || man == usize::from(en_passant_man);
            if !is_placed {
                let mut number = values[man];
                let chain = self.chain[man];
                let mut busy = if chain == NONE { 0 } else { taken[usize::from(chain)] };
                while busy != 0 {
                    // A square that is no code has the number 255 and is passed over.
                    let s = busy.trailing_zeros() as u8;
                    number += usize::from(usize::from(self.codes[man].number(s)) <= number);
                    busy &= busy - 1;
                }
                p.squares[man] = self.codes[man].get(number)?;
            }
            let under = self.under[man];
            taken[man] =
                bit(p.squares[man]) | if under == NONE { 0 } else { taken[usize::from(under)] };
        }
        Some(())
    }

    /// Moves the en passant pawn, whose code is the lowest of its group, up to its place.
    fn raise(&self, men: &TableMen, pawn: usize, p: &mut OrderedPlacement) -> Option<()> {
        let end = self.digits.iter().find_map(|digit| match *digit {
            Digit::Group { first, len, .. } if (first..first + len).contains(&pawn) => {
                Some(first + len)
            }
            _ => None,
        })?;
        let mut man = pawn;
        while man + 1 < end && p.squares[man] > p.squares[man + 1] {
            p.squares.swap(man, man + 1);
            man += 1;
        }
        (men.color[man] != p.turn()).then_some(())
    }
}

/// The groups for encoding: those of like men, opposing plus pawns that block each other joined.
struct Joined {
    prev: [u8; MAX_PIECES],
    next: [u8; MAX_PIECES],
    semilegal: [u64; MAX_PIECES],
}

impl Joined {
    fn new(index_type: IndexType, men: &TableMen) -> Result<Joined, IndexError> {
        let mut this = Joined { prev: men.prev, next: men.next, semilegal: men.semilegal };
        for white in 0..men.count {
            let black = usize::from(men.blocker[white]);
            let is_joined = men.color[white] == Color::White
                && black < men.count
                && men.color[black] == Color::Black
                && men.plus[white]
                && men.plus[black]
                && usize::from(men.blocker[black]) == white;
            if !is_joined {
                continue;
            }
            if men.prev[black] != NONE || men.next[black] != NONE {
                let reason = "with opposed plus pawns of which Black's are doubled";
                return Err(IndexError::TypeNotAllowed { index_type, reason });
            }
            if black < white || this.next[white] != NONE {
                return Err(IndexError::NotAdjacent {
                    index_type,
                    slot: men.slot(black),
                    partner: men.slot(white),
                });
            }
            this.next[white] = black as u8;
            this.prev[black] = white as u8;
            let head = this.head(white);
            let mut union = 0;
            let mut members: ArrayVec<usize, MAX_PIECES> = ArrayVec::new();
            let mut man = head;
            while man != usize::from(NONE) && !members.is_full() {
                union |= this.semilegal[man];
                members.push(man);
                man = usize::from(this.next[man]);
            }
            for m in members {
                this.semilegal[m] = union;
            }
        }

        Ok(this)
    }

    fn head(&self, man: usize) -> usize {
        let mut head = man;
        while self.prev[head] != NONE {
            head = usize::from(self.prev[head]);
        }
        head
    }

    /// The codes of a man ascending: for a pawn, the en passant codes come first.
    fn codes(&self, men: &TableMen, man: usize) -> Vec<u8> {
        let squares = self.semilegal[man];
        let steps = if men.is_pawn(man) { squares & double_step_rank(men.color[man]) } else { 0 };
        let columns = (steps >> 24 | steps >> 32) & 0xff;
        (0..64).filter(|&s| (squares | columns) & bit(s) != 0).collect()
    }
}

//! Men, boards and attacks. Squares are numbers, a1 = 0, h1 = 7, a2 = 8; sets of squares are words.

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// White.
    White,
    /// Black.
    Black,
}

impl Color {
    /// The other side.
    pub const fn other(self) -> Color {
        match self {
            Color::White => Color::Black,
            Color::Black => Color::White,
        }
    }
}

/// What a man is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A pawn.
    Pawn,
    /// A knight.
    Knight,
    /// A bishop.
    Bishop,
    /// A rook.
    Rook,
    /// A queen.
    Queen,
    /// A king.
    King,
}

impl Kind {
    /// All kinds, in the order of their numbers in a file.
    pub const ALL: [Kind; 6] =
        [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

    /// The letter, as in the name of an ending.
    pub const fn letter(self) -> char {
        match self {
            Kind::Pawn => 'P',
            Kind::Knight => 'N',
            Kind::Bishop => 'B',
            Kind::Rook => 'R',
            Kind::Queen => 'Q',
            Kind::King => 'K',
        }
    }

    /// The kind of a letter, of either case.
    pub fn of_letter(letter: char) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter() == letter.to_ascii_uppercase())
    }

    pub(crate) const fn is_slider(self) -> bool {
        matches!(self, Kind::Bishop | Kind::Rook | Kind::Queen)
    }
}

/// A man: its colour and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Man {
    /// The colour.
    pub color: Color,
    /// The kind.
    pub kind: Kind,
}

impl Man {
    /// The same man of the other side.
    #[must_use]
    pub const fn swapped(self) -> Man {
        Man { color: self.color.other(), kind: self.kind }
    }
}

const fn steps(square: u8, deltas: &[(i8, i8)]) -> u64 {
    let (file, rank) = ((square & 7) as i8, (square >> 3) as i8);
    let mut set = 0;
    let mut i = 0;
    while i < deltas.len() {
        let (f, r) = (file + deltas[i].0, rank + deltas[i].1);
        if f >= 0 && f < 8 && r >= 0 && r < 8 {
            set |= 1 << (r * 8 + f);
        }
        i += 1;
    }
    set
}

const fn steps_of_all(deltas: &[(i8, i8)]) -> [u64; 64] {
    let mut sets = [0; 64];
    let mut square = 0;
    while square < 64 {
        sets[square as usize] = steps(square, deltas);
        square += 1;
    }
    sets
}

/// The eight directions as steps in files and ranks, which are those of a king.
pub(crate) const LINES: [(i8, i8); 8] =
    [(1, 0), (0, 1), (1, 1), (-1, 1), (-1, 0), (0, -1), (-1, -1), (1, -1)];

const fn ray(square: u8, direction: usize) -> u64 {
    let (df, dr) = LINES[direction];
    let (mut f, mut r) = ((square & 7) as i8 + df, (square >> 3) as i8 + dr);
    let mut set = 0;
    while f >= 0 && f < 8 && r >= 0 && r < 8 {
        set |= 1 << (r * 8 + f);
        f += df;
        r += dr;
    }
    set
}

const fn all_rays() -> [[u64; 64]; 8] {
    let mut rays = [[0; 64]; 8];
    let mut direction = 0;
    while direction < 8 {
        let mut square = 0;
        while square < 64 {
            rays[direction][square as usize] = ray(square, direction);
            square += 1;
        }
        direction += 1;
    }
    rays
}

/// The first four directions lead to higher squares.
static RAYS: [[u64; 64]; 8] = all_rays();
/// Steps of a knight in files and ranks.
pub(crate) const KNIGHT_STEPS: [(i8, i8); 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
static KNIGHT: [u64; 64] = steps_of_all(&KNIGHT_STEPS);
static KING: [u64; 64] = steps_of_all(&LINES);
static PAWN: [[u64; 64]; 2] =
    [steps_of_all(&[(-1, 1), (1, 1)]), steps_of_all(&[(-1, -1), (1, -1)])];

#[inline]
fn line(square: usize, direction: usize, occupied: u64) -> u64 {
    let ray = RAYS[direction][square];
    let blockers = ray & occupied;
    if blockers == 0 {
        return ray;
    }
    let first = if direction < 4 {
        blockers.trailing_zeros() as usize
    } else {
        63 - blockers.leading_zeros() as usize
    };
    ray ^ RAYS[direction][first & 63]
}

#[inline]
fn lines(square: usize, directions: [usize; 4], occupied: u64) -> u64 {
    directions.iter().fold(0, |set, &direction| set | line(square, direction, occupied))
}

/// The squares that a man attacks or defends, if men stand on `occupied`.
#[inline]
pub(crate) fn attacks(man: Man, square: u8, occupied: u64) -> u64 {
    let square = usize::from(square & 63);
    match man.kind {
        Kind::Pawn => PAWN[man.color as usize][square],
        Kind::Knight => KNIGHT[square],
        Kind::King => KING[square],
        Kind::Rook => lines(square, [0, 1, 4, 5], occupied),
        Kind::Bishop => lines(square, [2, 3, 6, 7], occupied),
        Kind::Queen => {
            lines(square, [0, 1, 4, 5], occupied) | lines(square, [2, 3, 6, 7], occupied)
        }
    }
}

/// The squares from which a man attacks a square.
#[inline]
pub(crate) fn attackers(man: Man, square: u8, occupied: u64) -> u64 {
    match man.kind {
        // A pawn is attacked from where a pawn of the other side would attack.
        Kind::Pawn => attacks(man.swapped(), square, occupied),
        _ => attacks(man, square, occupied),
    }
}

/// The squares strictly between two on a line; none if they are on no common line.
#[inline]
pub(crate) fn between(from: u8, to: u8) -> u64 {
    let (from, to) = (usize::from(from & 63), usize::from(to & 63));
    for direction in 0..8 {
        if RAYS[direction][from] >> to & 1 != 0 {
            return RAYS[direction][from] & !RAYS[direction][to] & !(1 << to);
        }
    }
    0
}

/// The squares of a set, ascending.
pub(crate) fn squares(set: u64) -> impl Iterator<Item = u8> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let square = (rest != 0).then(|| rest.trailing_zeros() as u8);
        rest &= rest.wrapping_sub(1);
        square
    })
}

/// A position: men, the side to move, and the square that a pawn has just jumped over. No castling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    colors: [u64; 2],
    kinds: [u64; 6],
    /// The side to move.
    pub turn: Color,
    /// The square that a pawn has jumped over with the last move.
    pub en_passant: Option<u8>,
}

impl Position {
    /// An empty board.
    pub const fn empty(turn: Color) -> Position {
        Position { colors: [0; 2], kinds: [0; 6], turn, en_passant: None }
    }

    /// Puts a man on a square (of 0 to 63), in the place of whatever stands there.
    pub fn put(&mut self, square: u8, man: Man) {
        self.remove(square);
        self.add(square, man);
    }

    fn add(&mut self, square: u8, man: Man) {
        let bit = 1 << (square & 63);
        self.colors[man.color as usize] |= bit;
        self.kinds[man.kind as usize] |= bit;
    }

    /// The same with one man more, on a square that is empty.
    #[must_use]
    pub fn with(&self, square: u8, man: Man) -> Position {
        let mut position = *self;
        position.add(square, man);
        position
    }

    /// The same after whoever stands on a square, if one is given, has left it, a man has come to
    /// another one, if one is given, in the place of whatever stands there, and the other side is
    /// to move. There is no right to take en passant.
    pub(crate) fn after(&self, from: Option<u8>, to: Option<(u8, Man)>) -> Position {
        let bit = |square: u8| 1_u64 << (square & 63);
        let keep = !(from.map_or(0, bit) | to.map_or(0, |(to, _)| bit(to)));
        let mut after = Position {
            colors: self.colors.map(|set| set & keep),
            kinds: self.kinds.map(|set| set & keep),
            turn: self.turn.other(),
            en_passant: None,
        };
        if let Some((to, man)) = to {
            after.add(to, man);
        }
        after
    }

    /// Takes away whatever stands on a square.
    pub fn remove(&mut self, square: u8) {
        let keep = !(1 << (square & 63));
        self.colors.iter_mut().chain(&mut self.kinds).for_each(|set| *set &= keep);
    }

    /// The same without a right to take en passant.
    #[must_use]
    pub fn without_en_passant(&self) -> Position {
        Position { en_passant: None, ..*self }
    }

    /// All squares that are taken.
    pub const fn occupied(&self) -> u64 {
        self.colors[0] | self.colors[1]
    }

    /// The squares of the men of a kind.
    pub const fn of(&self, man: Man) -> u64 {
        self.colors[man.color as usize] & self.kinds[man.kind as usize]
    }

    /// The squares of a side.
    pub const fn of_color(&self, color: Color) -> u64 {
        self.colors[color as usize]
    }

    /// The man on a square.
    pub fn man(&self, square: u8) -> Option<Man> {
        let bit = 1 << (square & 63);
        let color = if self.colors[0] & bit != 0 { Color::White } else { Color::Black };
        let kind = Kind::ALL.into_iter().find(|&kind| self.kinds[kind as usize] & bit != 0)?;
        (self.occupied() & bit != 0).then_some(Man { color, kind })
    }

    /// All men with their squares, in ascending order of squares.
    pub fn men(&self) -> impl Iterator<Item = (u8, Man)> + '_ {
        squares(self.occupied()).filter_map(|square| Some((square, self.man(square)?)))
    }

    /// The square of a king, if there is one.
    pub fn king(&self, color: Color) -> Option<u8> {
        squares(self.of(Man { color, kind: Kind::King })).next()
    }

    /// The men of a side that attack a square.
    pub(crate) fn attackers(&self, square: u8, by: Color) -> u64 {
        let occupied = self.occupied();
        Kind::ALL.into_iter().fold(0, |set, kind| {
            let man = Man { color: by, kind };
            let men = self.of(man);
            if men == 0 { set } else { set | men & attackers(man, square, occupied) }
        })
    }

    /// Whether the king of a side is attacked; never, if there is none.
    pub fn is_check(&self, color: Color) -> bool {
        self.king(color).is_some_and(|king| self.attackers(king, color.other()) != 0)
    }

    /// Whether it can be a position of chess: a king a side, no pawn on the first and last rank,
    /// and the side that is not to move is not in check. The square that was jumped over is of no
    /// matter if no pawn can take there.
    pub fn is_legal(&self) -> bool {
        let one_king = |color| self.of(Man { color, kind: Kind::King }).is_power_of_two();
        let pawns = self.kinds[Kind::Pawn as usize];
        one_king(Color::White)
            && one_king(Color::Black)
            && pawns & 0xff00_0000_0000_00ff == 0
            && !self.is_check(self.turn.other())
    }

    /// Whether a square is on the rank that pawns of the side not to move jump over.
    pub(crate) fn can_be_jumped(&self, square: u8) -> bool {
        square >> 3 == if self.turn == Color::White { 5 } else { 2 }
    }

    /// The same with the colours exchanged and the board turned upside down.
    #[must_use]
    pub fn swapped(&self) -> Position {
        let mut position = *self;
        position.colors.swap(0, 1);
        position.colors.iter_mut().chain(&mut position.kinds).for_each(|s| *s = s.swap_bytes());
        position.turn = self.turn.other();
        position.en_passant = self.en_passant.map(|square| square ^ 56);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks square by square.
    fn slow_attacks(man: Man, square: u8, occupied: u64) -> u64 {
        let directions: &[usize] = match man.kind {
            Kind::Rook => &[0, 1, 4, 5],
            Kind::Bishop => &[2, 3, 6, 7],
            _ => &[0, 1, 2, 3, 4, 5, 6, 7],
        };
        let mut set = 0;
        for &direction in directions {
            let (df, dr) = LINES[direction];
            let (mut f, mut r) = ((square & 7) as i8 + df, (square >> 3) as i8 + dr);
            while (0..8).contains(&f) && (0..8).contains(&r) {
                let bit = 1_u64 << (8 * r + f);
                set |= bit;
                if occupied & bit != 0 {
                    break;
                }
                f += df;
                r += dr;
            }
        }
        set
    }

    #[test]
    fn sliders_stop_at_the_first_man() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let occupied = random.u64(..) & random.u64(..);
            let square = random.u8(0..64);
            for kind in [Kind::Rook, Kind::Bishop, Kind::Queen] {
                let man = Man { color: Color::White, kind };
                let expected = slow_attacks(man, square, occupied);
                assert_eq!(attacks(man, square, occupied), expected);
            }
        }
    }

    #[test]
    fn between_excludes_both_ends() {
        assert_eq!(between(0, 3), 0b110);
        assert_eq!(between(3, 0), 0b110);
        assert_eq!(between(0, 27), 1 << 9 | 1 << 18);
        assert_eq!(between(0, 10), 0);
        assert_eq!(between(5, 5), 0);
    }

    #[test]
    fn pawns_jump_over_their_third_rank_only() {
        let men = [(7, 'K'), (49, 'P'), (39, 'k'), (48, 'p')];
        for turn in [Color::White, Color::Black] {
            let mut position = Position::empty(turn);
            for (square, letter) in men {
                let color = if letter.is_uppercase() { Color::White } else { Color::Black };
                position.put(square, Man { color, kind: Kind::of_letter(letter).unwrap() });
            }
            for square in 0..=255 {
                position.en_passant = Some(square);
                assert!(position.is_legal());
                let expect = |found: &crate::moves::Move| assert!(!found.en_passant, "{square}");
                crate::moves::legal_moves(&position, expect);
            }
        }
    }

    #[test]
    fn pawns_attack_from_where_they_are_attacked() {
        let pawn = Man { color: Color::White, kind: Kind::Pawn };
        for from in 8..56 {
            for to in squares(attacks(pawn, from, 0)) {
                assert_ne!(attackers(pawn, to, 0) >> from & 1, 0);
            }
        }
    }
}

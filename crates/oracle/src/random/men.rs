//! Random men on random squares.

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, PAWN_SQUARES, Role, Square, Variant};

use super::Maker;
use super::rng::Rng;
use super::spec::{PIECES, Pawngen, RandomMan, Restriction, Spec, count_structures};

impl Maker<'_> {
    pub(super) fn restricted_men(&mut self, spec: &mut Spec) {
        let count = self.rng.pick(&[2, 3, 3, 3, 4, 4, 4]);
        spec.men = self.men(count, Variant::Normal);
        self.place_alike(&mut spec.men);
    }

    pub(super) fn suicide_men(&mut self, spec: &mut Spec) {
        let count = self.rng.pick(&[2, 2, 3, 3, 3, 4]);
        spec.men = self.men(count, Variant::Suicide);
        if count == 2 && self.rng.chance(60) {
            if self.rng.chance(40) {
                spec.men[1].role = spec.men[0].role;
            }
            for man in &mut spec.men {
                man.place = Restriction::Anywhere;
            }
        }
        self.place_alike(&mut spec.men);
    }

    /// Men with random places; the kings first in normal chess.
    pub(super) fn men(&mut self, count: usize, variant: Variant) -> Vec<RandomMan> {
        let mut kinds: Vec<(Color, Role)> = match variant {
            Variant::Normal => vec![(Color::White, Role::King), (Color::Black, Role::King)],
            Variant::Suicide => {
                let role = |rng: &mut Rng| rng.pick(&Role::ALL);
                vec![(Color::White, role(&mut self.rng)), (Color::Black, role(&mut self.rng))]
            }
        };
        while kinds.len() < count {
            let role = match (variant, self.rng.below(10)) {
                (Variant::Suicide, 0) => Role::King,
                (_, 0..=3) => Role::Pawn,
                _ => self.rng.pick(&PIECES),
            };
            // Often the same as another one.
            let twin = self.rng.pick(&kinds);
            if twin.1 != Role::King && self.rng.chance(35) {
                kinds.push(twin);
            } else {
                kinds.push((self.rng.color(), role));
            }
        }
        let mut men = Vec::new();
        for (color, role) in kinds {
            men.push(RandomMan { color, role, place: self.place(color, role) });
        }
        men
    }

    pub(super) fn place(&mut self, color: Color, role: Role) -> Restriction {
        if role == Role::Pawn && self.rng.chance(30) {
            let rank = self.rng.range(1, 4);
            let file = self.rng.below(8);
            let start = Square::new((8 * color.fold_wb(rank, 7 - rank) + file) as u32);
            return Restriction::Plus(start);
        }
        let squares = self.squares(role);
        if squares == default_squares(role) {
            Restriction::Anywhere
        } else {
            Restriction::On(squares)
        }
    }

    /// Some squares that a man may stand on.
    pub(super) fn squares(&mut self, role: Role) -> Bitboard {
        let all = default_squares(role);
        let found = match self.rng.below(20) {
            0..=2 => Bitboard::from(self.rng.square_of(all)),
            3..=8 => {
                let count = self.rng.range(2, 9);
                (0..count).map(|_| self.rng.square_of(all)).collect()
            }
            9..=13 => {
                let (f1, f2) = (self.rng.below(8), self.rng.below(8));
                let (r1, r2) = (self.rng.below(8), self.rng.below(8));
                let inside = |s: &Square| {
                    let (rank, file) = (*s as usize / 8, *s as usize % 8);
                    (f1.min(f2)..=f1.max(f2)).contains(&file)
                        && (r1.min(r2)..=r1.max(r2)).contains(&rank)
                };
                all.into_iter().filter(inside).collect()
            }
            14 | 15 => self.rng.some_of(all, 50),
            16 => self.rng.some_of(all, 92),
            _ => all,
        };
        if found.is_empty() { all } else { found }
    }

    /// Gives men of one kind equal, overlapping or disjoint squares.
    pub(super) fn place_alike(&mut self, men: &mut [RandomMan]) {
        for i in 1..men.len() {
            let (before, rest) = men.split_at_mut(i);
            let man = &mut rest[0];
            let alike = before.iter().find(|m| (m.color, m.role) == (man.color, man.role));
            let Some(other) = alike else { continue };
            let (own, theirs) = (man.squares(), other.squares());
            let squares = match self.rng.below(8) {
                0 | 1 => theirs,
                2 => own | theirs,
                3 => own & theirs,
                4 => own & !theirs,
                5 | 6 => (0..self.rng.range(2, 9)).map(|_| self.rng.square_of(theirs)).collect(),
                _ => continue,
            };
            if squares.any() {
                man.place = if squares == default_squares(man.role) {
                    Restriction::Anywhere
                } else {
                    Restriction::On(squares)
                };
            }
        }
        sort(men);
    }

    /// Many pawns that do not move, and kings.
    pub(super) fn frozen_pawns(&mut self, spec: &mut Spec) {
        spec.men = self.men(self.rng.0 as usize % 2 + 2, Variant::Normal);
        spec.men.retain(|m| m.role != Role::Pawn);
        for man in &mut spec.men {
            man.place = Restriction::On(self.squares(man.role));
        }
        let mut free = PAWN_SQUARES;
        for _ in 0..self.rng.range(2, 6) {
            let square = self.rng.square_of(free);
            free.discard(square);
            let color = self.rng.color();
            let place = if self.rng.chance(15) {
                Restriction::Plus(square)
            } else {
                Restriction::On(square.into())
            };
            spec.men.push(RandomMan { color, role: Role::Pawn, place });
        }
        sort(&mut spec.men);
    }

    /// Some pawns of a side on a file and those beside it, on squares that are free.
    fn pawns_near(&mut self, file: usize, color: Color, most: usize, taken: Bitboard) -> Bitboard {
        let mut set = Bitboard::EMPTY;
        for _ in 0..self.rng.range(0, most) {
            let near = (file + self.rng.below(3)).saturating_sub(1).min(7);
            let rank = self.rng.range(1, 4);
            let square = Square::new((8 * color.fold_wb(rank, 7 - rank) + near) as u32);
            set |= Bitboard::from_square(square) & PAWN_SQUARES & !taken;
        }
        set
    }

    pub(super) fn pawn_structure(&mut self, spec: &mut Spec) {
        spec.men = self.men(2, Variant::Normal);
        for man in &mut spec.men {
            let squares = match self.rng.below(3) {
                0 => self.rng.some_of(Bitboard::FULL, 12),
                1 => self.squares(Role::King),
                _ => self.rng.some_of(Bitboard::FULL, 25),
            };
            if squares.any() {
                man.place = Restriction::On(squares);
            }
        }

        // Not only far from the goal, and close enough to meet.
        let file = self.rng.below(8);
        let white = self.pawns_near(file, Color::White, 3, Bitboard::EMPTY);
        let start = [white, self.pawns_near(file, Color::Black, 2, white)];
        let mut pawngen =
            Pawngen { start, required: [0; 2], queens: [0; 2], captures: [0; 2], part: None };
        for side in 0..2 {
            let count = start[side].count();
            if count > 0 && self.rng.chance(15) {
                pawngen.queens[side] = 1;
                let color = Color::ALL[side];
                if self.rng.chance(70) {
                    let place = self.place(color, Role::Queen);
                    spec.men.push(RandomMan { color, role: Role::Queen, place });
                }
            }
            let most = count - pawngen.queens[side];
            pawngen.required[side] = most - self.rng.below(2).min(most);
            if self.rng.chance(20) {
                pawngen.captures[side] = self.rng.range(1, 2);
            }
        }
        if self.rng.chance(20) {
            let (color, role) = (self.rng.color(), self.rng.pick(&PIECES));
            let place = Restriction::On(self.squares(role));
            spec.men.push(RandomMan { color, role, place });
        }
        spec.pawngen = Some(pawngen);
    }

    /// Takes squares away until there are few enough placements.
    pub(super) fn fit(&mut self, spec: &mut Spec, largest: u64) {
        let structures = spec.pawngen.as_ref().map_or(1, |p| count_structures(p).max(1));
        loop {
            let ways = spec
                .men
                .iter()
                .fold(structures as u64, |n, m| n.saturating_mul(m.squares().count() as u64));
            if ways <= largest {
                return;
            }
            let Some(man) = spec.men.iter_mut().max_by_key(|m| m.squares().count()) else { return };
            let squares = man.squares();
            if squares.count() == 1 {
                return;
            }
            // Mostly squares that lie together, so that there are moves between them.
            let edge = 1 + self.rng.below(7);
            let fewer = match self.rng.below(9) {
                0 | 1 => squares & below_rank(edge),
                2 | 3 => squares & !below_rank(edge),
                4 | 5 => squares & before_file(edge),
                6 | 7 => squares & !before_file(edge),
                _ => self.rng.some_of(squares, 70),
            };
            if fewer.any() && fewer != squares {
                man.place = Restriction::On(fewer);
            }
        }
    }
}

/// Puts like men side by side, pawns last and in board order, as plus pawns have to be.
pub(super) fn sort(men: &mut [RandomMan]) {
    let first = |m: &RandomMan| m.squares().first().map_or(0, |s| s as u8);
    men.sort_by_key(|m| {
        let pawn = m.role == Role::Pawn;
        (pawn, m.color == Color::Black, m.role, if pawn { first(m) } else { 0 })
    });
}

/// Makes ordinary pawns of plus pawns that are interchangeable with ordinary ones: which of them
/// may not pass which is not said anywhere, and the index types leave positions out that would be
/// possible.
pub(super) fn without_mixed_pawns(men: &mut [RandomMan]) {
    let ordinary: Vec<RandomMan> = men
        .iter()
        .filter(|m| m.role == Role::Pawn && !matches!(m.place, Restriction::Plus(_)))
        .filter(|m| m.squares().count() > 1)
        .copied()
        .collect();
    for man in men {
        let mixed = |m: &RandomMan| m.color == man.color && (m.squares() & man.squares()).any();
        if matches!(man.place, Restriction::Plus(_)) && ordinary.iter().any(mixed) {
            man.place = Restriction::On(man.squares());
        }
    }
}

/// The squares below a rank, counted from 0.
pub(super) fn below_rank(rank: usize) -> Bitboard {
    Square::ALL.into_iter().filter(|&s| (s as usize) < 8 * rank).collect()
}

/// The squares to the left of a file, counted from 0.
pub(super) fn before_file(file: usize) -> Bitboard {
    Square::ALL.into_iter().filter(|&s| s as usize % 8 < file).collect()
}

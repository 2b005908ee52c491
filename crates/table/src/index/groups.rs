//! Interchangeable men: how the squares of a group are dealt to its members, and where that is not
//! possible.

use arrayvec::ArrayVec;
use hoffman_board::{MAX_PIECES, PieceSlot};

use super::NONE;
use super::men::TableMen;
use super::position::{Squares, bit};

/// Interchangeable men (6.3).
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) members: ArrayVec<u8, MAX_PIECES>,
    /// Whether all members may stand on the same squares.
    pub(super) uniform: bool,
}

/// How many ways to place men are tried to see whether all are found again.
const MAX_DEALS: u64 = 300_000;

impl TableMen {
    pub(super) fn largest_group(&self) -> usize {
        self.groups
            .iter()
            .filter(|g| !self.structured[usize::from(g.members[0])])
            .map(|g| g.members.len())
            .max()
            .unwrap_or(1)
    }

    /// Whether men are linked with each other and numbered by the same squares.
    pub(super) fn are_one_group(&self, men: &[usize]) -> bool {
        let Some((&first, others)) = men.split_first() else { return true };
        let group = self.groups.iter().find(|g| g.members.contains(&(first as u8)));
        others.iter().all(|&man| {
            group.is_some_and(|g| g.members.contains(&(man as u8)))
                && self.semilegal[man] == self.semilegal[first]
        })
    }

    pub(super) fn has_like_listed_pawns(&self) -> bool {
        self.groups.iter().any(|g| {
            let head = usize::from(g.members[0]);
            self.is_pawn(head) && !self.structured[head]
        })
    }

    /// Two men of one kind and different groups whose squares overlap (D16).
    pub(super) fn intransitive_pair(&self) -> Option<(PieceSlot, PieceSlot)> {
        let group_of =
            |man: usize| self.groups.iter().position(|g| g.members.contains(&(man as u8)));
        for i in 0..self.count {
            for j in i + 1..self.count {
                if (self.color[i], self.role[i]) == (self.color[j], self.role[j])
                    && self.semilegal[i] & self.semilegal[j] != 0
                    && (group_of(i).is_none() || group_of(i) != group_of(j))
                {
                    return Some((self.slot(i), self.slot(j)));
                }
            }
        }
        None
    }

    /// A pawn and what it cannot pass, if dealing the squares of like men to them can break that
    /// order where another way to deal would keep it: such a position has no index.
    pub(super) fn misdealt_pair(&self) -> Option<(PieceSlot, PieceSlot)> {
        let groups_of = |men: &[u8]| {
            self.groups.iter().filter(|g| g.members.iter().any(|m| men.contains(m))).collect()
        };

        for &(pawn, blocker) in &self.blocked {
            // All men that the two have to do with, over groups and over others in the way.
            let mut men: Vec<u8> = vec![pawn, blocker];
            // A plus pawn with squares of its own ahead is its own blocker.
            men.dedup();
            loop {
                let groups: Vec<&Group> = groups_of(&men);
                let alike = groups.iter().flat_map(|g| g.members.iter().copied());
                let in_the_way = self.blocked.iter().flat_map(|&(p, b)| {
                    if men.contains(&p) || men.contains(&b) { vec![p, b] } else { Vec::new() }
                });
                let mut more: Vec<u8> =
                    alike.chain(in_the_way).chain(men.iter().copied()).collect();
                more.sort_unstable();
                more.dedup();
                if more.len() == men.len() {
                    break;
                }
                men = more;
            }
            let groups: Vec<&Group> = groups_of(&men);
            if groups.is_empty() {
                continue;
            }
            let pair = Some((self.slot(usize::from(pawn)), self.slot(usize::from(blocker))));
            let ways = men.iter().fold(1_u64, |ways, &m| {
                ways.saturating_mul(u64::from(self.legal[usize::from(m)].count_ones()))
            });
            if ways > MAX_DEALS {
                // Plus pawns alone are in board order, and so are the squares dealt to them.
                if men.iter().any(|&m| !self.plus[usize::from(m)]) {
                    return pair;
                }
                continue;
            }
            let mut squares: Squares = [NONE; MAX_PIECES];
            if self.is_misdealt(&men, &groups, 0, 0, &mut squares) {
                return pair;
            }
        }

        None
    }

    /// Whether some way to place the men from number `next` on cannot be found again by
    /// [`TableMen::arrange`].
    fn is_misdealt(
        &self,
        men: &[u8],
        groups: &[&Group],
        next: usize,
        taken: u64,
        squares: &mut Squares,
    ) -> bool {
        let in_order = |squares: &Squares| {
            self.blocked
                .iter()
                .filter(|(p, _)| men.contains(p))
                .all(|&pair| self.keeps(pair, squares))
        };

        let Some(&man) = men.get(next) else {
            if !in_order(squares) {
                return false;
            }
            let mut dealt = *squares;
            let found = groups.iter().all(|g| self.arrange_group(g, &mut dealt).is_some());
            return !found || !in_order(&dealt);
        };

        let mut free = self.legal[usize::from(man)] & !taken;
        while free != 0 {
            squares[usize::from(man)] = free.trailing_zeros() as u8;
            let taken = taken | (free & free.wrapping_neg());
            if self.is_misdealt(men, groups, next + 1, taken, squares) {
                return true;
            }
            free &= free - 1;
        }

        false
    }

    /// Whether a pawn has not passed what it cannot pass.
    pub(super) fn keeps(&self, (pawn, blocker): (u8, u8), squares: &Squares) -> bool {
        let (own, other) = (squares[usize::from(pawn)], squares[usize::from(blocker)]);
        self.color[usize::from(pawn)].fold_wb(own <= other, own >= other)
    }

    /// Deals the squares of each group to its members: ascending if that is legal, else in some
    /// legal way; none if there is none.
    pub(super) fn arrange(&self, squares: &mut Squares) -> Option<()> {
        for group in &self.groups {
            self.arrange_group(group, squares)?;
        }
        Some(())
    }

    /// The same for all groups but that of one man. Returns the slots of the two like men of that
    /// group, or its own twice; none if there are more, or they may not stand on the same squares.
    pub(super) fn arrange_others(
        &self,
        squares: &mut Squares,
        man: usize,
    ) -> Option<(usize, usize)> {
        let mut pair = (man, man);
        for group in &self.groups {
            if !group.members.iter().any(|&m| usize::from(m) == man) {
                self.arrange_group(group, squares)?;
                continue;
            }
            match *group.members {
                [_] => {}
                [a, b] if group.uniform => pair = (usize::from(a), usize::from(b)),
                _ => return None,
            }
        }
        Some(pair)
    }

    fn arrange_group(&self, group: &Group, squares: &mut Squares) -> Option<()> {
        let members = &group.members;
        for k in 1..members.len() {
            let mut j = k;
            while j > 0 && squares[usize::from(members[j - 1])] > squares[usize::from(members[j])] {
                squares.swap(usize::from(members[j - 1]), usize::from(members[j]));
                j -= 1;
            }
        }
        let stands = |m: &u8| self.legal[usize::from(*m)] & bit(squares[usize::from(*m)]) != 0;
        if group.uniform || members.iter().all(stands) {
            return Some(());
        }
        self.match_group(members, squares)
    }

    /// A perfect matching of members and squares by augmenting paths.
    fn match_group(&self, members: &[u8], squares: &mut Squares) -> Option<()> {
        let mut free: Squares = [0; MAX_PIECES];
        for (k, &m) in members.iter().enumerate() {
            free[k] = squares[usize::from(m)];
        }
        let free = &free[..members.len()];
        let legal: ArrayVec<u64, MAX_PIECES> =
            members.iter().map(|&m| self.legal[usize::from(m)]).collect();
        let mut owner = [NONE; MAX_PIECES];
        for member in 0..members.len() {
            if !augment(member, &legal, free, &mut owner, &mut 0) {
                return None;
            }
        }
        for (k, &s) in free.iter().enumerate() {
            squares[usize::from(members[usize::from(owner[k])])] = s;
        }
        Some(())
    }
}

/// Finds a square for a member, moving earlier members where needed.
fn augment(
    member: usize,
    legal: &[u64],
    squares: &[u8],
    owner: &mut Squares,
    visited: &mut u32,
) -> bool {
    for (k, &s) in squares.iter().enumerate() {
        if *visited & 1 << k != 0 || legal[member] & bit(s) == 0 {
            continue;
        }
        *visited |= 1 << k;
        if owner[k] == NONE || augment(usize::from(owner[k]), legal, squares, owner, visited) {
            owner[k] = member as u8;
            return true;
        }
    }
    false
}

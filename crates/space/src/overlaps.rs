//! Like pieces whose squares overlap without being equal.

use crate::layout::{FEW_SQUARES, Mover};

/// Like men whose squares overlap without being equal. A placement exists if the men can be told
/// apart in some way that puts each on a square of its own set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedGroup {
    /// The movers.
    pub movers: Vec<usize>,
    /// The squares of each man, in no particular order.
    pub squares: Vec<u64>,
    /// Of two or three men: for each placement of the others, the first one's square counting
    /// most, what [`MixedGroup::left_over`] says. Empty if there are more.
    beside: Vec<u64>,
}

impl MixedGroup {
    fn new(movers: Vec<usize>, squares: Vec<u64>) -> MixedGroup {
        let mut group = MixedGroup { movers, squares, beside: Vec::new() };
        let all = group.squares.iter().fold(0, |all, set| all | set);
        let among = |s: u8| all >> s & 1 != 0;
        let known = |stands: &[u8]| {
            let possible = stands.iter().all(|&s| among(s));
            if possible { group.left_over(&stands.iter().copied()) } else { 0 }
        };
        group.beside = match group.squares.len() {
            2 => (0..64).map(|s| known(&[s])).collect(),
            3 => (0..64).flat_map(|a| (0..64).map(move |b| [a, b])).map(|s| known(&s)).collect(),
            _ => Vec::new(),
        };
        group
    }

    /// The same for movers in another order, which names them by their numbers here.
    pub(crate) fn reordered(self, order: &[usize]) -> MixedGroup {
        let members = (0..order.len()).filter(|&m| self.movers.contains(&order[m]));
        MixedGroup { movers: members.collect(), ..self }
    }

    /// The squares for one more man of the group, the others standing on `stands`.
    #[inline]
    pub(crate) fn admitted(&self, stands: &(impl Iterator<Item = u8> + Clone)) -> u64 {
        if self.beside.is_empty() {
            return self.left_over(stands);
        }
        let place = stands.clone().fold(0, |place, s| place << 6 | usize::from(s));
        self.beside.get(place).copied().unwrap_or(0)
    }

    /// The squares of every piece that can be left over, the others standing on `stands`.
    fn left_over(&self, stands: &(impl Iterator<Item = u8> + Clone)) -> u64 {
        fn assign(
            squares: &[u64],
            mut stands: impl Iterator<Item = u8> + Clone,
            taken: u32,
        ) -> bool {
            let Some(first) = stands.next() else { return true };
            squares.iter().enumerate().any(|(i, set)| {
                taken >> i & 1 == 0
                    && set >> first & 1 != 0
                    && assign(squares, stands.clone(), taken | 1 << i)
            })
        }
        let spare = |i: usize| assign(&self.squares, stands.clone(), 1 << i);
        let sets = self.squares.iter().enumerate();
        sets.filter(|&(i, _)| spare(i)).fold(0, |all, (_, set)| all | set)
    }
}

/// Two like pieces, one of which may stand on some of the other's squares only. Each keeps its own
/// squares, so a placement with both of them on those of the narrow one has two places, and the
/// one that may go anywhere is said to be the wide one: a move of the narrow one off its squares,
/// while the other stands on one of them, exchanges their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// The piece with fewer squares, which is outer; the wide one is the lane.
    pub narrow: usize,
    /// Its squares.
    pub squares: u64,
    pub(crate) group: MixedGroup,
}

impl Twins {
    /// The squares of the wide man that count if every placement is to count once, the narrow one
    /// standing on a square.
    pub fn once(&self, narrow: u8) -> u64 {
        !self.squares | u64::MAX << narrow << 1
    }
}

/// Like men with overlapping squares, numbered by their order.
#[derive(Default)]
pub(crate) struct Groups {
    pub(crate) mixed: Vec<MixedGroup>,
    /// The narrow man and the wide one.
    pub(crate) twins: Option<(usize, usize, MixedGroup)>,
}

/// Gives like men with overlapping squares (taken as transitive) the union of their squares;
/// returns the groups in which that adds placements that do not exist. Twins keep their squares.
pub(crate) fn unite_groups(movers: &mut [Mover]) -> Groups {
    let own: Vec<u64> = movers.iter().map(|m| m.squares).collect();
    loop {
        let before = movers.to_vec();
        for a in 0..movers.len() {
            for b in 0..movers.len() {
                let like = movers[a].color == movers[b].color && movers[a].role == movers[b].role;
                if like && movers[a].squares & movers[b].squares != 0 {
                    movers[a].squares |= movers[b].squares;
                }
            }
        }
        if before == movers {
            break;
        }
    }

    let mut groups = Groups::default();
    let few = |m: usize| own[m].count_ones() <= FEW_SQUARES;
    for a in 0..movers.len() {
        let all = movers[a].squares;
        let members: Vec<usize> = (0..movers.len()).filter(|&b| movers[b] == movers[a]).collect();
        if members.first() != Some(&a) || members.iter().all(|&b| own[b] == all) {
            continue;
        }
        let group = MixedGroup::new(members.clone(), members.iter().map(|&b| own[b]).collect());
        let twins = match *members.as_slice() {
            [narrow, wide] if few(narrow) && own[wide] == all => Some((narrow, wide)),
            [wide, narrow] if few(narrow) && own[wide] == all => Some((narrow, wide)),
            _ => None,
        };
        match twins {
            Some((narrow, wide)) if !few(wide) && groups.twins.is_none() => {
                groups.twins = Some((narrow, wide, group));
            }
            _ => groups.mixed.push(group),
        }
    }

    if let Some((narrow, ..)) = groups.twins {
        movers[narrow].squares = own[narrow];
    }
    groups
}

#[cfg(test)]
mod tests {
    use hoffman_board::{Color, Role, Variant};

    use super::*;
    use crate::layout::Layout;

    /// Whether pieces can be told apart so that each stands on a square of its own set.
    fn exists(sets: &[u64], stands: &[u8]) -> bool {
        let Some((&first, rest)) = stands.split_first() else { return true };
        (0..sets.len()).any(|i| {
            let mut others = sets.to_vec();
            others.remove(i);
            sets[i] >> first & 1 != 0 && exists(&others, rest)
        })
    }

    /// Compares the squares that a layout admits with those of all ways to tell rooks apart.
    fn check(sets: &[u64]) {
        let mover = |color, role, squares| Mover { color, role, squares };
        let mut pieces: Vec<Mover> =
            Color::ALL.map(|color| mover(color, Role::King, u64::MAX)).to_vec();
        pieces.extend(sets.iter().map(|&set| mover(Color::White, Role::Rook, set)));
        let layout = Layout::restricted(&pieces, false, Variant::Normal);
        let rooks: Vec<usize> =
            (0..pieces.len()).filter(|&m| layout.movers()[m].role == Role::Rook).collect();
        let squares = 10_u8;
        for number in 0..usize::from(squares).pow(rooks.len() as u32) {
            let mut stands = vec![60; pieces.len()];
            let mut rest = number;
            for &rook in &rooks {
                stands[rook] = (rest % usize::from(squares)) as u8;
                rest /= usize::from(squares);
            }
            let placed: Vec<u8> = rooks.iter().map(|&rook| stands[rook]).collect();
            for &rook in &rooks {
                let admitted = layout.admitted(&stands, rook) >> stands[rook] & 1 != 0;
                assert_eq!(admitted, exists(sets, &placed), "{sets:x?}, {placed:?}, {rook}");
            }
        }
    }

    #[test]
    fn a_placement_is_there_if_some_way_to_tell_the_pieces_apart_has_it() {
        // Two that overlap, two of which one has all squares of the other, three in a chain, three
        // nested.
        check(&[0b0111, 0b1100]);
        check(&[0b0110, u64::MAX]);
        check(&[u64::MAX, 0b0110]);
        check(&[0b0011, 0b0110, 0b1100]);
        check(&[0b0001, 0b0111, 0b1_1111]);
        check(&[0b0011, 0b0011, 0b0110]);
    }
}

//! Pieces on squares that moves may not start from, or not lead to.
//!
//! Which quiet moves a piece has depends on its square there, and no solver of a slice knows that.
//! So a piece that stands on such a square is *posted*: a man with that square alone, whose slice
//! is another slice. It comes there and leaves as by any other move out of a slice.

use hoffman_board::{Color, FuturemoveKind, Material, Role, Square};
use hoffman_solve::Leaving;

use crate::key::{Key, SliceFamily};
use crate::slices::Slices;

/// A piece and its square.
type Man = (Color, Role, Square);

/// The posted pieces of a slice, in one word: ten bits each, in order. Of more than six the others
/// are left out, as a slice of so many pieces is too large to be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Posted(u64);

const BITS: u32 = 10;
const MOST: usize = 6;

impl Posted {
    pub(crate) fn of(men: impl IntoIterator<Item = Man>) -> Posted {
        let code = |(color, role, square): Man| {
            u64::from(color.is_white()) << 9 | (role as u64) << 6 | u64::from(u32::from(square))
        };
        let mut codes: Vec<u64> = men.into_iter().map(code).collect();
        codes.sort_unstable();
        Posted(codes.into_iter().take(MOST).fold(0, |all, code| all << BITS | code))
    }

    pub(crate) fn men(self) -> impl Iterator<Item = Man> {
        let codes = (0..MOST as u32).map(move |at| (self.0 >> (BITS * at)) as u32 & 0x3ff);
        codes.filter_map(|code| {
            let role = Role::ALL.get((code >> 6 & 7).checked_sub(1)? as usize)?;
            Some((Color::from_white(code >> 9 != 0), *role, Square::new(code & 63)))
        })
    }

    pub(crate) fn contains(self, man: Man) -> bool {
        self.men().any(|other| other == man)
    }

    fn with(self, man: Man) -> Posted {
        Posted::of(self.men().chain([man]))
    }

    fn without(self, man: Man) -> Posted {
        Posted::of(self.men().filter(|&other| other != man))
    }

    /// The pieces of a kind among them.
    fn of_kind(self, color: Color, role: Role) -> impl Iterator<Item = Man> {
        self.men().filter(move |man| (man.0, man.1) == (color, role))
    }
}

impl Slices {
    /// The slices that a move out of a slice may lead to, one most often; none if it only could be
    /// made by a piece that may not leave its square.
    pub(crate) fn targets(&self, from: &Key, leaving: &Leaving) -> Vec<Key> {
        let plain = Key::of(leaving.material, leaving.pawns);
        if !self.assumptions.excludes() {
            return vec![plain];
        }
        let mut found = Vec::new();
        for posted in self.posted_after(from.family.posted, leaving) {
            let key = Key { family: SliceFamily { posted, ..plain.family }, ..plain };
            let exists = fits(posted, &leaving.material) && self.has_squares(&key.family);
            if exists && key != *from && !found.contains(&key) {
                found.push(key);
            }
        }
        found
    }

    /// Whether all pieces that are not posted have squares to stand on. Else no position has them,
    /// and a slice of them would have no places for values.
    pub(crate) fn has_squares(&self, family: &SliceFamily) -> bool {
        let men = Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| (color, role)));
        let mut pieces = men.filter(|man| man.1 != Role::Pawn);
        pieces.all(|(color, role)| {
            let posted = family.posted.of_kind(color, role).count();
            let count = usize::from(*family.material.count.get(color).get(role));
            count <= posted || !self.assumptions.free_squares(color, role).is_empty()
        })
    }

    /// The posted pieces that there may be behind a move, whichever piece makes it and is taken.
    fn posted_after(&self, before: Posted, leaving: &Leaving) -> Vec<Posted> {
        let (color, kind) = (leaving.color, leaving.kind);
        let mut all = vec![before];
        if let FuturemoveKind::Capture { of, .. } = kind {
            let taken = before.of_kind(color.other(), of);
            all.extend(taken.map(|man| before.without(man)));
        }
        if let FuturemoveKind::Quiet(by, _) | FuturemoveKind::Capture { by, .. } = kind
            && by != Role::Pawn
        {
            let posted = before.of_kind(color, by).count();
            let others = usize::from(*leaving.material.count.get(color).get(by)) > posted;
            let goes = |man: &Man| !self.assumptions.is_from(color, by, man.2);
            let going: Vec<Man> = before.of_kind(color, by).filter(goes).collect();
            let left = |from: &Posted| -> Vec<Posted> {
                let stays = others.then_some(*from);
                going.iter().map(|&man| from.without(man)).chain(stays).collect()
            };
            all = all.iter().flat_map(left).collect();
        }
        all.iter().flat_map(|posted| self.when_landed(*posted, leaving)).collect()
    }

    /// The same when the piece that moves, or that a pawn becomes, has landed.
    fn when_landed(&self, posted: Posted, leaving: &Leaving) -> Vec<Posted> {
        let color = leaving.color;
        let (role, to) = match (leaving.kind, leaving.promoted) {
            (_, Some((_, role, to))) => (role, to),
            (FuturemoveKind::Quiet(role, to), _) if role != Role::Pawn => (role, to),
            (FuturemoveKind::Capture { by, .. }, _) if by != Role::Pawn => {
                // Anywhere.
                let posts = self.assumptions.posts(color, by).into_iter();
                return posts.map(|to| posted.with((color, by, to))).chain([posted]).collect();
            }
            _ => return vec![posted],
        };
        let is_post = self.assumptions.posts(color, role).contains(to);
        vec![if is_post { posted.with((color, role, to)) } else { posted }]
    }
}

/// Whether there are so many pieces, and no two of them on one square.
pub(crate) fn fits(posted: Posted, material: &Material) -> bool {
    let exists = |man: Man| {
        let alike = posted.of_kind(man.0, man.1).count();
        let here = posted.men().filter(|other| other.2 == man.2).count();
        here == 1 && alike <= usize::from(*material.count.get(man.0).get(man.1))
    };
    posted.men().all(exists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posted_pieces_are_read_back() {
        let king = (Color::White, Role::King, Square::E1);
        let rook = (Color::Black, Role::Rook, Square::A8);
        let both = Posted::of([king, rook]);
        assert_eq!(both, Posted::of([rook, king]));
        assert!(both.contains(king) && both.contains(rook) && both.men().count() == 2);
        assert_eq!(both.without(rook), Posted::of([king]));
        assert_eq!(both.without(rook).without(king), Posted::default());
        assert_eq!(Posted::of([king]).with(rook), both);
        assert!(!both.contains((Color::White, Role::King, Square::A8)));
    }
}

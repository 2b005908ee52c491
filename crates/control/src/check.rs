//! Conflicts that the text and the piece list show: symmetry, index types, prunes.
//!
//! Follows sections 2.4 and 2.7 of the behaviour and the list of defects of the file format: what
//! the original would write wrongly is refused in control files and still read in headers.

use hoffman_board::pieces::slot_images;
use hoffman_board::{Color, ListedPiece, PieceList, PieceSlot, Role, Symmetry, Variant};

use crate::error::{ControlError, Site};
use crate::location::{Slot, expect_pawn_numbers, slots, white_king_slot};
use crate::model::{ControlFile, IndexType, Strictness};

/// Checks what can be seen without the piece list: prunes and their enabling, pawn structures, and
/// what the index type and symmetry allow with them.
///
/// # Errors
///
/// The first conflict.
pub fn check_declarations(control: &ControlFile) -> Result<(), ControlError> {
    if control.mode == Strictness::Control {
        check_prunes(control)?;
    }
    check_pawngen(control)?;
    check_suicide(control)
}

fn check_prunes(control: &ControlFile) -> Result<(), ControlError> {
    let missing = control.prunes.iter().find(|p| !control.enables(p.color, p.effect));
    match missing {
        Some(prune) => Err(ControlError::PruneNotEnabled {
            site: control.site(prune.place, "prune"),
            color: prune.color,
            effect: prune.effect.name(),
        }),
        None => Ok(()),
    }
}

fn check_pawngen(control: &ControlFile) -> Result<(), ControlError> {
    let Some(pawngen) = &control.pawngen else { return Ok(()) };
    let site = || control.site(pawngen.place, "pawngen");
    let index = control.index_type();
    if matches!(index, IndexType::Simple | IndexType::Compact) {
        return Err(index_conflict(control.index_site(), index, "with <pawngen>"));
    }
    if let Some(symmetry) = control.symmetry().filter(|&symmetry| symmetry > 1) {
        let reason = "with <pawngen>; write symmetry=\"1\" or leave it out";
        return Err(ControlError::Symmetry { site: control.index_site(), symmetry, reason });
    }
    let ordinary = control.pieces.iter().find(|piece| piece.role == Role::Pawn);
    if let Some(pawn) = ordinary {
        return Err(ControlError::PawnBesidePawngen(control.site(pawn.place, "piece")));
    }
    expect_pawn_numbers(control)?;
    for color in Color::ALL {
        let side = pawngen.side(color);
        let need = side.pawns_required.unwrap_or(0).saturating_add(side.queens_required);
        let have = side.start.count() as u64;
        if control.mode == Strictness::Control && need > have {
            return Err(ControlError::PawngenImpossible { site: site(), color, have, need });
        }
    }
    Ok(())
}

fn check_suicide(control: &ControlFile) -> Result<(), ControlError> {
    if control.variant != Variant::Suicide {
        return Ok(());
    }
    let index = control.index_type();
    if !matches!(index, IndexType::Naive | IndexType::Simple | IndexType::Combinadic5) {
        let reason = "under suicide rules; use naive, simple or combinadic5";
        return Err(index_conflict(control.index_site(), index, reason));
    }
    match control.symmetry().filter(|&symmetry| symmetry > 1) {
        Some(symmetry) => {
            let reason = "under suicide rules; write symmetry=\"1\" or leave it out";
            Err(ControlError::Symmetry { site: control.index_site(), symmetry, reason })
        }
        None => Ok(()),
    }
}

/// The symmetry of a table whose control file names none: 1 with any restricted piece, pawn
/// structures or suicide rules, else 2 with pawns, else 8, or 4 for the naive index types.
pub fn automatic_symmetry(control: &ControlFile, pieces: &PieceList) -> u8 {
    let restricted = pieces.iter().any(ListedPiece::is_restricted);
    if restricted || control.pawngen.is_some() || control.variant == Variant::Suicide {
        1
    } else if pieces.iter().any(|piece| piece.role == Role::Pawn) {
        2
    } else if control.index_type().is_naive() {
        4
    } else {
        8
    }
}

/// Checks that the index type and the symmetry can number the pieces, and returns the symmetry: the
/// declared one or else the automatic one.
///
/// # Errors
///
/// The first conflict. In [`Strictness::Control`] also what can be read but must not be written any
/// more.
pub fn check_pieces(control: &ControlFile, pieces: &PieceList) -> Result<u8, ControlError> {
    let symmetry = control.symmetry().unwrap_or_else(|| automatic_symmetry(control, pieces));
    let check = Check { control, pieces, slots: slots(control) };
    check.symmetry(symmetry)?;
    check.groups()?;
    if control.index_type().is_combinadic() {
        check.king_first()?;
        check.encoding_groups()?;
    }
    if control.mode == Strictness::Control {
        check.writable()?;
    }
    Ok(symmetry)
}

/// What a combinadic index needs.
pub(crate) const NEIGHBOURS: &str = "unless identical pieces stand next to each other in the list";

fn index_conflict(site: Site, index: IndexType, reason: &'static str) -> ControlError {
    ControlError::Index { site, index: index.name(), reason }
}

/// A control file with its piece list.
struct Check<'a> {
    control: &'a ControlFile,
    pieces: &'a PieceList,
    slots: Vec<Slot>,
}

impl Check<'_> {
    /// Names the element of a man.
    fn site(&self, slot: PieceSlot) -> Site {
        let root = || self.control.site(self.control.root, "tablebase");
        self.slots.get(slot).map_or_else(root, |s| s.site(self.control))
    }

    fn conflict(&self, slot: PieceSlot, reason: &'static str) -> ControlError {
        index_conflict(self.site(slot), self.control.index_type(), reason)
    }

    fn symmetry(&self, symmetry: u8) -> Result<(), ControlError> {
        let refuse = |site, reason| Err(ControlError::Symmetry { site, symmetry, reason });
        if symmetry == 8 && self.control.index_type().is_naive() {
            return refuse(self.control.index_site(), "with index types naive and naive2");
        }
        if symmetry > 1 && self.control.pawngen.is_some() {
            return refuse(self.control.index_site(), "with <pawngen>");
        }
        if symmetry > 1 && self.control.variant == Variant::Suicide {
            return refuse(self.control.index_site(), "under suicide rules");
        }
        for (slot, piece) in self.pieces.iter().enumerate() {
            if symmetry > 2 && piece.role == Role::Pawn {
                return refuse(self.site(slot), "with pawns");
            }
            if symmetry > 1 && piece.plus {
                return refuse(self.site(slot), "with a plus pawn");
            }
        }
        let mirrors = [(2, Symmetry::H), (4, Symmetry::V), (8, Symmetry::D)];
        for (_, mirror) in mirrors.into_iter().filter(|&(ways, _)| symmetry >= ways) {
            if let Err(slot) = slot_images(self.pieces, mirror) {
                return refuse(self.site(slot), "with a piece whose squares do not have it");
            }
        }
        Ok(())
    }

    /// Groups of interchangeable men that the simpler index types cannot number.
    fn groups(&self) -> Result<(), ControlError> {
        let index = self.control.index_type();
        let pairs_only = matches!(index, IndexType::Naive2 | IndexType::Compact);
        let equal_only = index.is_naive() || index == IndexType::Simple;
        for (slot, piece) in self.pieces.iter().enumerate() {
            if pairs_only && piece.prev.is_some() && piece.next.is_some() {
                return Err(self.conflict(slot, "with more than two identical pieces"));
            }
            if equal_only && piece.legal != piece.semilegal {
                let reason = "with identical pieces on overlapping but different squares";
                return Err(self.conflict(slot, reason));
            }
        }
        Ok(())
    }

    /// The two combinadic types that put the white king first lose the black king if it stands
    /// there.
    fn king_first(&self) -> Result<(), ControlError> {
        let first = self.pieces.first().map(|piece| (piece.color, piece.role));
        let black_king = first == Some((Color::Black, Role::King));
        if black_king && self.control.index_type().moves_white_king_first() {
            let reason = "with the black king as first piece; list the white king before it";
            return Err(self.conflict(0, reason));
        }
        Ok(())
    }

    /// Whether two plus pawns block each other.
    fn opposed(&self, slot: PieceSlot) -> Option<PieceSlot> {
        let piece = self.pieces.get(slot)?;
        let other_slot = piece.blocker?;
        let other = self.pieces.get(other_slot)?;
        (other.blocker == Some(slot) && other.color != piece.color).then_some(other_slot)
    }

    /// Men that a combinadic index numbers together must be neighbours: interchangeable men and
    /// plus pawns that block each other.
    fn encoding_groups(&self) -> Result<(), ControlError> {
        let mut group: Vec<usize> = (0..self.pieces.len()).collect();
        for (slot, piece) in self.pieces.iter().enumerate() {
            let opposed = self.opposed(slot);
            let doubled = piece.prev.is_some() || piece.next.is_some();
            if opposed.is_some() && piece.color == Color::Black && doubled {
                let reason = "with opposed plus pawns of which Black's is doubled";
                return Err(self.conflict(slot, reason));
            }
            for other in [piece.prev, opposed].into_iter().flatten() {
                join(&mut group, slot, other);
            }
        }
        let order = self.numbering_order();
        let mut left: Vec<usize> = Vec::new();
        let mut current = None;
        for slot in order {
            let own = group.get(slot).copied();
            if own == current {
                continue;
            }
            left.extend(current);
            if own.is_some_and(|own| left.contains(&own)) {
                return Err(self.conflict(slot, NEIGHBOURS));
            }
            current = own;
        }
        Ok(())
    }

    /// The slots in the order in which they are numbered.
    fn numbering_order(&self) -> Vec<PieceSlot> {
        let mut order: Vec<PieceSlot> = (0..self.pieces.len()).collect();
        let swaps = self.control.index_type().moves_white_king_first();
        let king = white_king_slot(self.control).filter(|_| swaps);
        if let Some(king) = king.filter(|&king| king < order.len()) {
            order.swap(0, king);
        }
        order
    }

    /// What is read from old tables but not written any more, as positions would be lost.
    fn writable(&self) -> Result<(), ControlError> {
        for (slot, piece) in self.pieces.iter().enumerate() {
            if piece.legal.is_empty() {
                return Err(ControlError::NoSquareLeft(self.site(slot)));
            }
            let two_pawns = piece.role == Role::Pawn && piece.next.is_some();
            let in_index = self.control.pawngen.is_none();
            if two_pawns && in_index && self.control.index_type() == IndexType::Naive2 {
                let reason = "with two identical pawns, as en passant positions would be lost";
                return Err(self.conflict(slot, reason));
            }
        }
        self.transitive()
    }

    /// Identical men connected by overlaps must be one group of interchangeable men.
    fn transitive(&self) -> Result<(), ControlError> {
        let men = || self.pieces.iter().enumerate();
        let mut overlaps: Vec<usize> = (0..self.pieces.len()).collect();
        let mut linked = overlaps.clone();
        for (slot, piece) in men() {
            for (other_slot, other) in men().take(slot) {
                let alike = (other.color, other.role) == (piece.color, piece.role);
                if alike && (other.legal & piece.legal).any() {
                    join(&mut overlaps, slot, other_slot);
                }
            }
            if let Some(prev) = piece.prev {
                join(&mut linked, slot, prev);
            }
        }
        for (slot, _) in men() {
            for (other, _) in men().take(slot) {
                let same = |groups: &[usize]| groups.get(slot) == groups.get(other);
                if same(&overlaps) && !same(&linked) {
                    let other_line = self.site(other).line;
                    return Err(ControlError::NotTransitive { site: self.site(slot), other_line });
                }
            }
        }
        Ok(())
    }
}

/// Makes one group of the groups of two men.
fn join(groups: &mut [usize], one: PieceSlot, other: PieceSlot) {
    let (Some(&from), Some(&to)) = (groups.get(one), groups.get(other)) else { return };
    for group in groups.iter_mut().filter(|group| **group == from) {
        *group = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::resolve_pieces;

    fn check(mode: Strictness, inside: &str) -> Result<u8, ControlError> {
        let text = format!("<tablebase>{inside}</tablebase>");
        let control = ControlFile::parse(&text, "test", mode)?;
        check_declarations(&control)?;
        check_pieces(&control, &resolve_pieces(&control)?)
    }

    const KINGS: &str = "<piece color='white' type='king'/><piece color='black' type='king'/>";
    const ROOK: &str = "<piece color='white' type='rook'/>";
    const PAWN: &str = "<piece color='white' type='pawn'/>";

    #[test]
    fn the_symmetry_is_chosen() {
        let choose = |more: &str| check(Strictness::Control, &format!("{KINGS}{more}")).unwrap();
        assert_eq!(choose(""), 8);
        assert_eq!(choose("<index type='naive'/>"), 4);
        assert_eq!(choose(PAWN), 2);
        let rook = "<piece color='white' type='rook' location='a1 a2'/>";
        assert_eq!(choose(&format!("{rook}{PAWN}")), 1);
        let ranks = "<piece color='white' type='queen' location='d4 e4 d5 e5'/>";
        assert_eq!(choose(ranks), 1);
        assert_eq!(choose("<variant name='suicide'/>"), 1);
        assert_eq!(choose("<index type='compact' symmetry='2-way'/>"), 2);
    }

    #[test]
    fn restrictions_need_the_symmetry_of_the_table() {
        let choose = |symmetry: u8, squares: &str| {
            let rook = format!("<piece color='white' type='rook' location='{squares}'/>");
            let index = format!("<index type='combinadic5' symmetry='{symmetry}'/>");
            check(Strictness::Control, &format!("{index}{KINGS}{rook}"))
        };
        for (symmetry, squares) in [(2, "a1 h1"), (4, "a1 h1 a8 h8"), (8, "d4 e4 d5 e5")] {
            assert_eq!(choose(symmetry, squares).unwrap(), symmetry);
        }
        for (symmetry, squares) in [(2, "e1 e2"), (2, "a1 a8"), (4, "a1 h1"), (8, "d1 e1 d8 e8")] {
            let error = choose(symmetry, squares).unwrap_err();
            assert!(matches!(error, ControlError::Symmetry { .. }), "{error}");
        }
        // The square of the frozen rook is taken from the kings.
        assert!(choose(2, "d4").is_err());
    }

    #[test]
    fn the_white_king_may_separate_equals_if_it_changes_places() {
        let list = format!(
            "{ROOK}<piece color='white' type='king'/>{ROOK}<piece color='black' type='king'/>"
        );
        // The list of a control file would be put right.
        assert!(check(Strictness::Header, &list).is_err());
        assert!(check(Strictness::Header, &format!("<index type='combinadic4'/>{list}")).is_ok());
    }

    #[test]
    fn what_the_original_writes_wrongly_is_only_read() {
        let doubled = format!("<index type='naive2'/>{KINGS}{PAWN}{PAWN}");
        assert!(check(Strictness::Control, &doubled).is_err());
        assert!(check(Strictness::Header, &doubled).is_ok());
        let rook = |squares| format!("<piece color='white' type='rook' location='{squares}'/>");
        let overlap = format!("{KINGS}{}{}{}", rook("a1 a2"), rook("b1 b2"), rook("a1 b1"));
        assert!(matches!(
            check(Strictness::Control, &overlap),
            Err(ControlError::NotTransitive { .. })
        ));
        assert!(check(Strictness::Header, &overlap).is_ok());
    }

    #[test]
    fn types_that_crashed_are_refused() {
        let black_first = "<index type='combinadic3'/><piece color='black' type='king'/>\
             <piece color='white' type='king'/>";
        assert!(check(Strictness::Control, black_first).is_err());
        let suicide = format!("<variant name='suicide'/><index type='combinadic4'/>{KINGS}");
        assert!(check(Strictness::Control, &suicide).is_err());
        let pawn =
            |color, square| format!("<piece color='{color}' type='pawn' location='{square}+'/>");
        let opposed = |white: &str, black: &str| format!("{KINGS}{white}{black}");
        let (b2, b5, b7) = (pawn("white", "b2"), pawn("black", "b5"), pawn("black", "b7"));
        assert!(check(Strictness::Control, &opposed(&b2, &format!("{b5}{b7}"))).is_err());
        let doubled = format!("{b2}{}", pawn("white", "b4"));
        assert!(check(Strictness::Control, &opposed(&doubled, &b7)).is_ok());
    }
}

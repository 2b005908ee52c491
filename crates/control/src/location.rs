//! Locations and the piece list: plus pawns, interchangeable men and frozen pieces.
//!
//! The rules are those of sections 6.2 and 6.3 of the file format, literally, peculiarities
//! included: they decide the size of every table.

use hoffman_board::pieces::default_squares;
use hoffman_board::{
    Bitboard, Color, ListedPiece, MAX_PIECES, PAWN_SQUARES, PieceList, PieceSlot, Role, Square,
    Variant,
};

use crate::error::{ControlError, Site};
use crate::model::{ControlFile, PawngenElement, Place};

/// A `location` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) squares: Bitboard,
    pub(crate) plus: Option<Square>,
}

/// The squares on which the pawns of a `pawngen` element stand in some structure of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PawnMasks {
    /// White's pawns.
    pub white: Bitboard,
    /// Black's pawns.
    pub black: Bitboard,
}

/// Reads squares separated by blanks or not at all; the first may carry a plus sign.
fn parse_squares(text: &str) -> Option<Location> {
    let mut location = Location { squares: Bitboard::EMPTY, plus: None };
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, tail) = rest.split_at_checked(2)?;
        let square: Square = name.parse().ok()?;
        rest = tail;
        if let Some(tail) = rest.strip_prefix('+') {
            if location.squares.any() {
                return None;
            }
            location.plus = Some(square);
            rest = tail;
        }
        location.squares |= Bitboard::from(square);
        rest = rest.trim_start();
    }
    Some(location)
}

/// Reads the location of a piece. `site` names it for messages.
pub(crate) fn parse_location(
    text: &str,
    role: Role,
    site: impl Fn() -> Site,
) -> Result<Location, ControlError> {
    let whose = if role == Role::Pawn { "pawn" } else { "piece" };
    let refuse = |remedy| ControlError::Location { site: site(), whose, text: text.into(), remedy };
    let location = parse_squares(text).filter(|location| location.squares.any()).ok_or_else(|| {
        refuse("write squares separated by blanks, as in \"e1 f1\"; only the first may carry a plus")
    })?;
    if location.plus.is_some() && role != Role::Pawn {
        return Err(refuse("only pawns may carry a plus"));
    }
    if role == Role::Pawn && !(location.squares & !PAWN_SQUARES).is_empty() {
        return Err(refuse("pawns stand on ranks 2 to 7"));
    }
    Ok(location)
}

/// Reads the pawns of a starting structure, which may be none.
pub(crate) fn parse_pawn_squares(
    text: &str,
    site: impl Fn() -> Site,
) -> Result<Bitboard, ControlError> {
    let refuse =
        |remedy| ControlError::Location { site: site(), whose: "pawn", text: text.into(), remedy };
    let location = parse_squares(text)
        .filter(|location| location.plus.is_none())
        .ok_or_else(|| refuse("write squares separated by blanks, as in \"b2 c2\""))?;
    if (location.squares & !PAWN_SQUARES).any() {
        return Err(refuse("pawns stand on ranks 2 to 7"));
    }
    Ok(location.squares)
}

/// The piece list that a control file or a header describes.
///
/// # Errors
///
/// What section 2.3 of the behaviour refuses; [`ControlError::PawngenNotExpanded`] if there is a
/// `pawngen` element whose squares are not in the text, see [`resolve_pieces_with`].
pub fn resolve_pieces(control: &ControlFile) -> Result<PieceList, ControlError> {
    resolve_pieces_with(control, None)
}

/// The piece list, given the squares of the pawns of a `pawngen` element. Without them the squares
/// come from the header.
///
/// # Errors
///
/// As [`resolve_pieces`].
pub fn resolve_pieces_with(
    control: &ControlFile,
    masks: Option<PawnMasks>,
) -> Result<PieceList, ControlError> {
    let order = king_order(control);
    let mut men = list_men(control, masks)?;
    check_men(control, &men)?;
    if let Some(first) = order {
        men.swap(0, first);
    }
    let blockers = find_blockers(&men);
    check_plus_order(control, &men, &blockers)?;
    expand_plus_pawns(&mut men, &blockers);
    link_groups(&mut men);
    strip_frozen(control, &mut men)?;
    for (man, blocker) in men.iter_mut().zip(blockers) {
        man.piece.blocker = blocker;
    }
    if let Some(first) = order {
        restore_order(&mut men, first);
    }
    Ok(men.into_iter().map(|man| man.piece).collect())
}

/// The place of the white king if it changes places with the first piece before anything is
/// numbered. The numbering sees the list in that order, so grouping must see it too.
fn king_order(control: &ControlFile) -> Option<PieceSlot> {
    let swaps = control.index_type().moves_white_king_first();
    (swaps && control.variant == Variant::Normal).then(|| white_king_slot(control)).flatten()
}

/// Where the white king stands in the piece list.
pub(crate) fn white_king_slot(control: &ControlFile) -> Option<PieceSlot> {
    slots(control).iter().position(|slot| slot.role == Role::King && slot.color == Color::White)
}

/// A man of the list before its squares are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) color: Color,
    pub(crate) role: Role,
    pub(crate) place: Place,
    /// The position in [`ControlFile::pieces`]. None: a pawn of the pawngen element.
    pub(crate) element: Option<usize>,
}

impl Slot {
    /// Names the element for a message.
    pub(crate) fn site(&self, control: &ControlFile) -> Site {
        control.site(self.place, if self.element.is_some() { "piece" } else { "pawngen" })
    }
}

/// The men in the order of the list: the pieces, and the pawns of a pawngen element at its place,
/// of each colour at most one more than a table can have men.
pub(crate) fn slots(control: &ControlFile) -> Vec<Slot> {
    let mut slots = Vec::new();
    let pawns_at = control.pawngen.as_ref().map(|pawngen| pawngen.position);
    for position in 0..=control.pieces.len() {
        if let Some(pawngen) = control.pawngen.as_ref().filter(|_| pawns_at == Some(position)) {
            slots.extend(pawn_slots(pawngen));
        }
        if let Some(piece) = control.pieces.get(position) {
            let (color, role, place) = (piece.color, piece.role, piece.place);
            slots.push(Slot { color, role, place, element: Some(position) });
        }
    }
    slots
}

/// The pawns of a pawngen element, White's first.
fn pawn_slots(pawngen: &PawngenElement) -> impl Iterator<Item = Slot> {
    let place = pawngen.place;
    Color::ALL.into_iter().flat_map(move |color| {
        let required = pawngen.side(color).pawns_required.unwrap_or(0);
        let count = required.min(MAX_PIECES as u64 + 1) as usize;
        std::iter::repeat_n(Slot { color, role: Role::Pawn, place, element: None }, count)
    })
}

/// A man on its way into the list.
struct LocatedMan {
    piece: ListedPiece,
    slot: Slot,
    /// The start of a plus pawn.
    start: Option<Square>,
}

/// The men with the squares that the text names.
fn list_men(
    control: &ControlFile,
    masks: Option<PawnMasks>,
) -> Result<Vec<LocatedMan>, ControlError> {
    expect_pawn_numbers(control)?;
    let slots = slots(control);
    if let Some(extra) = slots.get(MAX_PIECES) {
        let site = extra.site(control);
        return Err(ControlError::TooManyPieces { site, count: slots.len() });
    }
    let mut men = Vec::new();
    for slot in slots {
        let mut piece = ListedPiece::unrestricted(slot.color, slot.role);
        let element = slot.element.and_then(|position| control.pieces.get(position));
        let squares = match element {
            Some(element) => element.squares,
            None => Some(pawn_mask(control, masks, slot)?),
        };
        let start = element.and_then(|element| element.plus);
        piece.legal = squares.unwrap_or(default_squares(slot.role));
        piece.plus = start.is_some();
        men.push(LocatedMan { piece, slot, start });
    }
    Ok(men)
}

/// Refuses a pawngen element that is still to be expanded into tables by their numbers of pawns.
pub(crate) fn expect_pawn_numbers(control: &ControlFile) -> Result<(), ControlError> {
    let Some(pawngen) = &control.pawngen else { return Ok(()) };
    match Color::ALL.into_iter().find(|&color| pawngen.side(color).pawns_required.is_none()) {
        Some(color) => Err(ControlError::PawnNumbersOpen {
            site: control.site(pawngen.place, "pawngen"),
            attribute: color.fold_wb("white-pawns-required", "black-pawns-required"),
        }),
        None => Ok(()),
    }
}

/// The squares of a pawn of the pawngen element.
fn pawn_mask(
    control: &ControlFile,
    masks: Option<PawnMasks>,
    slot: Slot,
) -> Result<Bitboard, ControlError> {
    let given = masks.map(|masks| slot.color.fold_wb(masks.white, masks.black));
    let in_text = control.pawngen.as_ref().and_then(|pawngen| pawngen.side(slot.color).legal);
    given.or(in_text).ok_or_else(|| ControlError::PawngenNotExpanded(slot.site(control)))
}

/// Checks the numbers of men and that pawns come from one source only.
fn check_men(control: &ControlFile, men: &[LocatedMan]) -> Result<(), ControlError> {
    let root = || control.site(control.root, "tablebase");
    for color in Color::ALL {
        let mut own = men.iter().filter(|man| man.slot.color == color).peekable();
        if own.peek().is_none() {
            return Err(ControlError::NoPiece { site: root(), color });
        }
    }
    for color in Color::ALL.into_iter().filter(|_| control.variant == Variant::Normal) {
        let own = |man: &&LocatedMan| man.slot.color == color && man.slot.role == Role::King;
        let count = men.iter().filter(own).count();
        if count != 1 {
            let extra = men.iter().filter(own).nth(1);
            let site = extra.map_or_else(root, |man| man.slot.site(control));
            return Err(ControlError::Kings { site, color, count });
        }
    }
    let mut pawns = men.iter().filter(|man| man.slot.role == Role::Pawn);
    match pawns.find(|man| control.pawngen.is_some() && man.slot.element.is_some()) {
        Some(man) => Err(ControlError::PawnBesidePawngen(man.slot.site(control))),
        None => Ok(()),
    }
}

/// The square one step ahead of a pawn, as long as it is on ranks 2 to 7.
fn step_ahead(color: Color, square: Square) -> Option<Square> {
    let ahead = square.offset(color.fold_wb(8, -8))?;
    PAWN_SQUARES.contains(ahead).then_some(ahead)
}

/// For each plus pawn, the first piece ahead on its file whose squares, apart from those already
/// passed, are just that one; of several on the same square the last. Uses the squares of the text.
fn find_blockers(men: &[LocatedMan]) -> Vec<Option<PieceSlot>> {
    let find = |man: &LocatedMan| {
        let start = man.start?;
        let mut rest = !Bitboard::from(start);
        let mut next = step_ahead(man.slot.color, start);
        while let Some(square) = next {
            let alone = Bitboard::from(square);
            let blocker = men.iter().rposition(|other| other.piece.legal & rest == alone);
            if blocker.is_some() {
                return blocker;
            }
            rest &= !alone;
            next = step_ahead(man.slot.color, square);
        }
        None
    };
    men.iter().map(find).collect()
}

/// Checks that doubled plus pawns stand in board order and opposed ones White's first.
fn check_plus_order(
    control: &ControlFile,
    men: &[LocatedMan],
    blockers: &[Option<PieceSlot>],
) -> Result<(), ControlError> {
    for (slot, (man, blocker)) in men.iter().zip(blockers).enumerate() {
        let Some(ahead) = *blocker else { continue };
        let Some(other) = men.get(ahead).filter(|other| other.piece.plus && ahead != slot) else {
            continue;
        };
        let in_board_order = man.slot.color.fold_wb(slot < ahead, ahead < slot);
        if other.slot.color == man.slot.color && !in_board_order {
            return Err(ControlError::DoubledOrder(man.slot.site(control)));
        }
        let mutual = blockers.get(ahead) == Some(&Some(slot));
        if other.slot.color != man.slot.color && mutual && !in_board_order {
            return Err(ControlError::OpposedOrder(man.slot.site(control)));
        }
    }
    Ok(())
}

/// Adds to each plus pawn the squares it can reach, up to its blocker. Repeated, as what a blocker
/// can reach decides how far the pawn behind it gets.
fn expand_plus_pawns(men: &mut [LocatedMan], blockers: &[Option<PieceSlot>]) {
    for _ in 0..men.len() {
        for slot in 0..men.len() {
            let Some(man) = men.get(slot) else { continue };
            let Some(start) = man.start else { continue };
            let color = man.slot.color;
            let mut legal = man.piece.legal;
            let blocker = blockers.get(slot).copied().flatten();
            let mut next = step_ahead(color, start);
            while let Some(square) = next {
                let other = blocker.filter(|&other| other != slot).and_then(|other| men.get(other));
                let in_the_way = other.map_or(legal, |other| other.piece.legal);
                let beyond = square.offset(color.fold_wb(8, -8));
                let passes = beyond.is_some_and(|beyond| in_the_way.contains(beyond));
                if blocker.is_some() && in_the_way.contains(square) && !passes {
                    break;
                }
                legal |= Bitboard::from(square);
                next = step_ahead(color, square);
            }
            if let Some(man) = men.get_mut(slot) {
                man.piece.legal = legal;
            }
        }
    }
}

/// Links each man to the last earlier one of its colour and kind that it overlaps, and widens both.
fn link_groups(men: &mut [LocatedMan]) {
    for slot in 0..men.len() {
        let (earlier, rest) = men.split_at_mut(slot);
        let Some(man) = rest.first_mut() else { continue };
        man.piece.semilegal = man.piece.legal;
        for (other_slot, other) in earlier.iter_mut().enumerate() {
            let alike = (other.slot.color, other.slot.role) == (man.slot.color, man.slot.role);
            if alike && (other.piece.semilegal & man.piece.semilegal).any() {
                man.piece.prev = Some(other_slot);
                other.piece.semilegal |= man.piece.semilegal;
                man.piece.semilegal = other.piece.semilegal;
            }
        }
        let prev = man.piece.prev.and_then(|prev| earlier.get_mut(prev));
        if let Some(prev) = prev {
            prev.piece.next = Some(slot);
        }
    }
}

/// Takes the squares of men that have only one from all others.
fn strip_frozen(control: &ControlFile, men: &mut [LocatedMan]) -> Result<(), ControlError> {
    let mut frozen = Bitboard::EMPTY;
    for man in men.iter() {
        if let Some(square) = man.piece.semilegal.single_square() {
            if frozen.contains(square) {
                let site = man.slot.site(control);
                return Err(ControlError::FrozenTogether { site, square });
            }
            frozen |= man.piece.semilegal;
        }
    }
    for man in men.iter_mut().filter(|man| (man.piece.semilegal & !frozen).any()) {
        man.piece.legal &= !frozen;
        man.piece.semilegal &= !frozen;
    }
    Ok(())
}

/// Puts the white king and the first piece back to their places in the text.
fn restore_order(men: &mut [LocatedMan], king: PieceSlot) {
    men.swap(0, king);
    let back = |slot: PieceSlot| match slot {
        0 => king,
        slot if slot == king => 0,
        slot => slot,
    };
    for man in men {
        man.piece.prev = man.piece.prev.map(back);
        man.piece.next = man.piece.next.map(back);
        man.piece.blocker = man.piece.blocker.map(back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Strictness;

    /// The piece list of a table with two kings and these further elements.
    fn resolve(elements: &str) -> Result<PieceList, ControlError> {
        let text = format!(
            "<tablebase><dtm/><piece color='white' type='king'/><piece color='black' type='king'/>\
             {elements}</tablebase>"
        );
        resolve_pieces(&ControlFile::parse(&text, "test", Strictness::Header)?)
    }

    fn squares(text: &str) -> Bitboard {
        parse_squares(text).unwrap().squares
    }

    #[test]
    fn locations_are_read() {
        assert_eq!(squares("e1 f1").count(), 2);
        assert_eq!(squares("e1f1"), squares(" e1  f1 "));
        let plus = parse_squares("b2+ b4").unwrap();
        assert_eq!(plus.plus, Some(Square::B2));
        for bad in ["a9", "a1,a2", "a", "A1", "a1 b2+", "é1", "+"] {
            assert!(parse_squares(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn opposed_plus_pawns_block_each_other() {
        let list = resolve(
            "<piece color='white' type='pawn' location='b2+'/>\
             <piece color='black' type='pawn' location='b7+'/>",
        )
        .unwrap();
        assert_eq!(list[2].legal, squares("b2 b3 b4 b5 b6"));
        assert_eq!(list[3].legal, squares("b7 b6 b5 b4 b3"));
        assert_eq!((list[2].blocker, list[3].blocker), (Some(3), Some(2)));
    }

    #[test]
    fn doubled_and_frozen_pawns_block() {
        let list = resolve(
            "<piece color='white' type='pawn' location='b2+'/>\
             <piece color='white' type='pawn' location='b4+'/>\
             <piece color='black' type='pawn' location='b6'/>",
        )
        .unwrap();
        assert_eq!(list[2].legal, squares("b2 b3 b4"));
        assert_eq!(list[3].legal, squares("b4 b5"));
        assert_eq!((list[2].blocker, list[3].blocker), (Some(3), Some(4)));
        assert_eq!((list[2].next, list[3].prev), (Some(3), Some(2)));
        assert_eq!(list[2].semilegal, squares("b2 b3 b4 b5"));
        assert_eq!(list[0].legal, !squares("b6"));
    }

    #[test]
    fn a_lone_plus_pawn_reaches_rank_seven() {
        let list = resolve("<piece color='black' type='pawn' location='c5+ d6'/>").unwrap();
        assert_eq!(list[2].legal, squares("c5 c4 c3 c2 d6"));
        assert_eq!(list[2].blocker, None);
    }

    #[test]
    fn identical_men_are_linked_to_the_last_they_overlap() {
        let list = resolve(
            "<piece color='white' type='rook' location='a1 a2'/>\
             <piece color='white' type='rook' location='b1 b2'/>\
             <piece color='white' type='rook' location='a1 b1'/>",
        )
        .unwrap();
        assert_eq!(list.iter().map(|p| p.prev).collect::<Vec<_>>()[2..], [None, None, Some(3)]);
        assert_eq!(list[2].semilegal, squares("a1 a2 b1"));
        assert_eq!(list[4].semilegal, squares("a1 a2 b1 b2"));
        assert_eq!((list[2].next, list[3].next), (None, Some(4)));
    }

    #[test]
    fn pawngen_pawns_stand_at_the_place_of_the_element() {
        let text = "<tablebase><pawngen white-pawn-locations='b2' black-pawn-locations='c7' \
             white-pawns-required='1' black-pawns-required='1'/><piece color='white' type='king'/>\
             <piece color='black' type='king'/></tablebase>";
        let control = ControlFile::parse(text, "test", Strictness::Control).unwrap();
        let error = resolve_pieces(&control).unwrap_err();
        assert!(matches!(error, ControlError::PawngenNotExpanded(_)));
        let masks = PawnMasks { white: squares("b2 b3"), black: squares("c7 c6") };
        let list = resolve_pieces_with(&control, Some(masks)).unwrap();
        assert_eq!((list[0].legal, list[1].legal), (masks.white, masks.black));
        assert_eq!(list[2].role, Role::King);
    }

    #[test]
    fn the_white_king_first_types_keep_the_order_of_the_text() {
        let text = "<tablebase><index type='combinadic4'/><piece color='white' type='queen'/>\
             <piece color='white' type='queen'/><piece color='white' type='king'/>\
             <piece color='black' type='king'/></tablebase>";
        let list =
            resolve_pieces(&ControlFile::parse(text, "t", Strictness::Control).unwrap()).unwrap();
        assert_eq!(list[2].role, Role::King);
        assert_eq!((list[1].next, list[0].prev), (Some(0), Some(1)));
    }
}

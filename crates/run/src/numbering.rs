//! The numbering of a control file's positions: its pieces, pawn structures and index space.

use hoffman_board::{
    Color, Format, FuturemoveKind, Material, Piece, PieceList, Role, Square, Variant,
};
use hoffman_control::{
    ControlFile, IndexDeclaration, IndexType, PawngenEdits, PawngenElement, check_pieces,
    resolve_pieces, resolve_pieces_with,
};
use hoffman_plan::pawngen::{self, Bounds, PawngenError};
use hoffman_table::Stop;
use hoffman_table::index::{IndexParams, IndexSpace, PawnStructure, PawnStructures};

use crate::error::RunError;
use crate::futuremoves::{futuremoves, prune_of};
use crate::memory::available_memory;

/// Index types that always store the side to move, the one that numbers the fewest positions first.
const WITH_SIDE_TO_MOVE: [IndexType; 3] =
    [IndexType::Combinadic3, IndexType::Simple, IndexType::Naive];

/// The index space of a control file and what it was made from.
pub(crate) struct Numbering {
    pub(crate) space: IndexSpace,
    pub(crate) symmetry: u8,
    /// All arrangements of the pawngen element, if there is one.
    pub(crate) structures: Option<PawnStructures>,
    masks: Option<hoffman_control::PawnMasks>,
}

impl Numbering {
    /// Numbers the positions of a control file's table. Where its prunes are not the same for both
    /// colours both sides to move are stored, see [`Numbering::with_side_to_move`].
    ///
    /// # Errors
    ///
    /// Pieces, pawn structures, index type and symmetry that do not go together.
    pub(crate) fn of(control: &ControlFile, stop: &Stop) -> Result<Numbering, RunError> {
        let numbering = Numbering::as_declared(control, stop)?;
        let material = Material::from_men(numbering.pieces().iter().map(|p| (p.color, p.role)));
        if numbering.space.has_side_bit() || !prunes_differ(control, &material) {
            return Ok(numbering);
        }
        Numbering::with_side_to_move(control, stop)
    }

    /// Numbers the positions of both sides, for a file whose index type would leave the side to
    /// move out: with an index type that cannot.
    ///
    /// # Errors
    ///
    /// Those of [`Numbering::of`].
    pub(crate) fn with_side_to_move(
        control: &ControlFile,
        stop: &Stop,
    ) -> Result<Numbering, RunError> {
        let numbered = |index_type| Numbering::with_type(control, index_type, stop);
        let [first, others @ ..] = WITH_SIDE_TO_MOVE;
        others.into_iter().fold(numbered(first), |found, other| found.or_else(|_| numbered(other)))
    }

    /// Numbers the positions with an index type, whatever the control file asks for.
    fn with_type(
        control: &ControlFile,
        index_type: IndexType,
        stop: &Stop,
    ) -> Result<Numbering, RunError> {
        let mut control = control.clone();
        let declared = IndexDeclaration {
            index_type,
            written: index_type.name().to_owned(),
            symmetry: None,
            on_root: false,
            place: control.root,
        };
        control.index.get_or_insert(declared).index_type = index_type;
        Numbering::as_declared(&control, stop)
    }

    /// Whether the index type is another one than the control file asks for, and why.
    pub(crate) fn notice(&self, control: &ControlFile) -> Option<String> {
        let (asked, used) = (control.index_type(), self.space.index_type());
        (asked != used).then(|| {
            format!(
                "{}: prunes or futurebases are not the same for both colours, so positions with either side \
                 to move are stored, with index type {} in place of {}",
                control.site(control.root, "tablebase"),
                used.name(),
                asked.name()
            )
        })
    }

    fn as_declared(control: &ControlFile, stop: &Stop) -> Result<Numbering, RunError> {
        let (pieces, structures, masks) = match &control.pawngen {
            None => (resolve_pieces(control)?, None, None),
            Some(element) => {
                let list = pawngen::all_arrangements(element, bounds(&|| stop.is_requested()))
                    .map_err(|e| pawngen_error(control, element, e))?;
                // Refuses what lies outside the list.
                pawngen::cut(element, list.len())
                    .map_err(|e| pawngen_error(control, element, e))?;
                let masks = pawngen::masks(&list);
                let pieces = resolve_pieces_with(control, Some(masks))?;
                let structures = structures(element, &list);
                (pieces, Some(structures), Some(masks))
            }
        };
        let symmetry = check_pieces(control, &pieces)?;
        let place = || control.origin.clone();
        let space = IndexSpace::new(IndexParams {
            index_type: control.index_type(),
            symmetry,
            variant: control.variant,
            format_is_flag: matches!(control.entry_format(), Format::Flag(_)),
            pieces,
            pawn_structures: structures.clone(),
        })
        .map_err(|source| RunError::Index { place: place(), source })?;
        space.check_writable().map_err(|source| RunError::Index { place: place(), source })?;
        Ok(Numbering { space, symmetry, structures, masks })
    }

    /// The men of the table.
    pub(crate) fn pieces(&self) -> &PieceList {
        self.space.pieces()
    }

    /// What the header says of the pawn structures.
    pub(crate) fn pawngen_edits(&self) -> Option<PawngenEdits> {
        let (structures, masks) = (self.structures.as_ref()?, self.masks?);
        Some(PawngenEdits { masks, structures: structures.list.len() as u64 })
    }
}

/// Whether the prunes treat the colours differently, whatever the futurebases are: a kind of move
/// is pruned in two ways, or stalemates are won by one side. What is said for one colour alone
/// stands for both.
fn prunes_differ(control: &ControlFile, material: &Material) -> bool {
    let stalemates =
        control.variant == Variant::Normal && control.stalemates_conceded_to().is_some();
    let differ = |kind: FuturemoveKind| {
        let [white, black] = Color::ALL.map(|color| prune_of(control, color, kind));
        white.is_some() && black.is_some() && white != black
    };
    stalemates || futuremoves(material, control.variant).iter().any(|m| differ(m.kind))
}

/// What a search for arrangements may take here.
pub(crate) fn bounds(is_stopped: &dyn Fn() -> bool) -> Bounds<'_> {
    Bounds { memory: available_memory().unwrap_or(u64::MAX) / 2, is_stopped }
}

pub(crate) fn pawngen_error(
    control: &ControlFile,
    element: &PawngenElement,
    error: PawngenError,
) -> RunError {
    if error == PawngenError::Stopped {
        return RunError::Interrupted { checkpoint: None };
    }
    let place = control.site(element.place, "pawngen").to_string();
    RunError::Pawngen { place, problem: error.to_string() }
}

/// The arrangements in the form of the file.
fn structures(element: &PawngenElement, list: &[pawngen::Arrangement]) -> PawnStructures {
    let pawns = |color: Color| element.side(color).pawns_required.unwrap_or(0) as usize;
    let first = element.position;
    let stored = |a: &pawngen::Arrangement| PawnStructure {
        white: hoffman_board::Bitboard(a.pawns.white),
        black: hoffman_board::Bitboard(a.pawns.black),
        en_passant: a.en_passant,
    };
    PawnStructures {
        slots: first..first + pawns(Color::White) + pawns(Color::Black),
        list: list.iter().map(stored).collect(),
        start: element.start as usize,
        count: element.count as usize,
    }
}

/// A position in FEN, counters left out.
pub(crate) fn fen(
    men: &[(Color, Role, Square)],
    turn: Color,
    en_passant: Option<Square>,
) -> String {
    let mut board = hoffman_board::shakmaty::Board::empty();
    for &(color, role, at) in men {
        board.set_piece_at(at, Piece { color, role });
    }
    let right = en_passant.map_or_else(|| "-".to_owned(), |s| s.to_string());
    format!("{board} {} - {right}", turn.char())
}

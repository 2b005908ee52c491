//! An open table with what its header says of its place among others: the men, what its values
//! prove, and whether it answers positions with the colours exchanged.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hoffman_board::{
    Color, Format, FuturemoveKind, ListedPiece, Material, Outcome, OutcomeBounds, Role, Square,
    Value, Variant,
};
use hoffman_control::{Assumption, Claims, ControlFile, Defect, FuturebaseElement, PruneEffect};
use hoffman_table::{EntryValue, PawnStructure, Table, TableError};

use crate::position::Position;

/// A table among others.
#[derive(Debug)]
pub struct OpenTable {
    table: Table,
    material: Material,
    /// Whether nothing is pruned in it and in what it was made from.
    is_plain: bool,
    /// What its header claims, the futurebases not at hand.
    header: Claims,
    /// The same with the futurebases that are at hand; see [`crate::collection::Collection`].
    pub(crate) claims: OnceLock<Claims>,
    /// The futurebases that its header names, if all are at hand.
    pub(crate) named: OnceLock<Arc<[Named]>>,
    is_own_image: OnceLock<bool>,
    assumptions: [Arc<[Assumption]>; 2],
}

/// A futurebase that the header of a table names.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The name in the header.
    pub(crate) name: String,
    /// Whether its colours are exchanged there.
    pub(crate) inverted: bool,
    /// The table; none if it is not at hand.
    pub(crate) member: Option<Arc<OpenTable>>,
}

impl Named {
    /// Whether a futurebase that is not at hand may hold these men, in the colours of the table
    /// that names it: its name does not say otherwise. `both`: whether it may be meant in either
    /// orientation.
    pub(crate) fn may_hold(&self, men: &Material, both: bool) -> bool {
        name_may_mean(&self.name, self.inverted, men, both)
    }

    /// Whether the futurebase, in its place, enables prunes of a colour's moves.
    pub(crate) fn enables(&self, color: Color, effect: PruneEffect) -> bool {
        let color = if self.inverted { color.other() } else { color };
        let member = self.member.as_ref();
        member.is_some_and(|member| member.table().control().enables(color, effect))
    }
}

/// Whether a futurebase of that name may hold these men, as far as the name tells: it does if it
/// is the name of an ending. `both`: in either orientation.
pub(crate) fn name_may_mean(name: &str, inverted: bool, men: &Material, both: bool) -> bool {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    let Some(Ok(named)) = stem.map(str::parse::<Material>) else { return true };
    let named = if inverted { named.swapped() } else { named };
    named == *men || both && named.swapped() == *men
}

impl OpenTable {
    pub(crate) fn new(table: Table) -> OpenTable {
        let control = table.control();
        let material = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
        let header = table.claims();
        let assumed = if header.is_exact() { Vec::new() } else { Assumption::of_header(control) };
        let swapped = assumed.iter().cloned().map(Assumption::swapped).collect();
        OpenTable {
            material,
            is_plain: control.prune_enables.is_empty() && control.prunes.is_empty(),
            header,
            claims: OnceLock::new(),
            named: OnceLock::new(),
            is_own_image: OnceLock::new(),
            assumptions: [assumed.into(), swapped],
            table,
        }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The men, in the table's colours.
    pub(crate) fn material(&self) -> &Material {
        &self.material
    }

    /// Whether no prunes are enabled in it, nor, then, in any futurebase behind it: its values are
    /// those of chess.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// What the header claims by itself.
    pub(crate) fn header_claims(&self) -> Claims {
        self.header
    }

    /// What the prunes of the table itself leave, all futurebases taken to be of chess.
    pub(crate) fn own_claims(&self) -> Claims {
        let control = self.table.control();
        let sound = Defect::of(control).map_or(Claims::EXACT, Defect::leaves);
        let claims = Claims::of_prunes(control).and(sound);
        if self.table.space().has_side_bit() { claims } else { claims.and(claims.swapped()) }
    }

    /// Whether it has every position of its men, each with its outcome in chess; with its distance
    /// to mate if that is asked for.
    pub fn is_complete(&self, with_distances: bool) -> bool {
        let table = &self.table;
        let tells = match table.codec().format() {
            Format::Dtm(_) => true,
            Format::Basic => !with_distances,
            Format::Dtc(_) | Format::Flag(_) => false,
        };
        let is_chess = table.variant() == Variant::Normal
            && self.is_plain
            && self.header.is_exact()
            && self.own_claims().is_exact()
            && Defect::of(table.control()).is_none();
        let is_bound = |man: &ListedPiece| man.is_restricted() || man.plus;
        let is_whole = table.space().pawn_structures().is_none();
        tells && is_chess && is_whole && !table.pieces().iter().any(is_bound)
    }

    /// In what the game of the table is not chess, as it is or with the colours exchanged; empty
    /// if its values are those of chess.
    pub fn assumptions(&self, inverted: bool) -> &Arc<[Assumption]> {
        &self.assumptions[usize::from(inverted)]
    }

    /// Whether the table answers positions with the colours exchanged too, because exchanging them
    /// gives the same game: it is plain, or all of its rules are the same for both sides.
    pub(crate) fn is_own_image(&self) -> bool {
        self.is_plain
            || !self.table.space().has_side_bit()
            || *self.is_own_image.get_or_init(|| {
                let control = self.table.control();
                men_are_alike(&self.table)
                    && futurebases_are_alike(control)
                    && prunes_are_alike(control)
            })
    }

    /// The index of a position, as it is or with the colours exchanged, and who is to move there;
    /// none if the table does not hold it.
    pub(crate) fn find(
        &self,
        position: &Position,
        en_passant: Option<Square>,
        inverted: bool,
    ) -> Option<(u64, Color)> {
        let men = position.men().map(|(square, color, role)| {
            if inverted {
                (square.flip_vertical(), color.other(), role)
            } else {
                (square, color, role)
            }
        });
        let turn = if inverted { position.turn.other() } else { position.turn };
        let en_passant = en_passant.map(|s| if inverted { s.flip_vertical() } else { s });
        let placement = self.table.place(men, turn, en_passant)?;
        Some((self.table.index(&placement)?, turn))
    }

    /// What the table says of a position that it holds at an index, see
    /// [`Table::value_unless_better`] if there is a limit. Whether the side not to move is in
    /// check is seen from the position: what an entry says about it counts for nothing (D1).
    pub(crate) fn value(
        &self,
        position: &Position,
        (index, turn): (u64, Color),
        limit: Option<Value>,
    ) -> Result<EntryValue, TableError> {
        if self.is_illegal(position) {
            return Ok(EntryValue::Illegal);
        }
        match limit {
            Some(limit) => self.table.value_unless_better(index, turn, limit),
            None => self.table.value(index, turn),
        }
    }

    /// The same as far as memory tells.
    pub(crate) fn cached_value(
        &self,
        position: &Position,
        index: u64,
        turn: Color,
    ) -> Option<EntryValue> {
        if self.is_illegal(position) {
            return Some(EntryValue::Illegal);
        }
        self.table.cached_value(index, turn)
    }

    fn is_illegal(&self, position: &Position) -> bool {
        self.table.variant() == Variant::Normal && position.is_opponent_in_check()
    }

    /// What the prunes of the table make of a move that leaves it, if they name it; the first that
    /// does counts. `mover` makes a move of this kind, in the table's colours.
    pub(crate) fn prune(&self, mover: Color, kind: FuturemoveKind) -> Option<PruneEffect> {
        let control = self.table.control();
        // Where one side to move is stored, White's moves stand for Black's.
        let mover = if self.table.space().has_side_bit() { mover } else { Color::White };
        // The parts of a pawn structure's table belong together: no prune stands in for a part
        // left out.
        if kind.is_pawn_step() && control.pawngen.is_some() {
            return None;
        }
        let prune = control.prunes.iter().find(|p| p.color == mover && p.matches(kind))?;
        Some(prune.effect)
    }
}

/// Whether every man has one of the other colour on the squares mirrored top to bottom.
fn men_are_alike(table: &Table) -> bool {
    let describe = |piece: &ListedPiece, swap: bool| {
        let squares = if swap { piece.legal.flip_vertical() } else { piece.legal };
        let color = if swap { piece.color.other() } else { piece.color };
        (color.is_white(), piece.role as u8, squares.0, piece.plus)
    };
    let sorted = |swap: bool| {
        let mut men: Vec<_> = table.pieces().iter().map(|piece| describe(piece, swap)).collect();
        men.sort_unstable();
        men
    };
    sorted(false) == sorted(true)
        && table.space().pawn_structures().is_none_or(structures_are_alike)
}

/// Whether every structure is there with the colours exchanged too.
fn structures_are_alike(structures: &[PawnStructure]) -> bool {
    let all: HashSet<&PawnStructure> = structures.iter().collect();
    structures.iter().all(|s| {
        let (white, black) = (s.black.flip_vertical(), s.white.flip_vertical());
        let en_passant = s.en_passant.map(Square::flip_vertical);
        all.contains(&PawnStructure { white, black, en_passant })
    })
}

/// Whether every futurebase is given with its own colours and with exchanged ones.
fn futurebases_are_alike(control: &ControlFile) -> bool {
    control.futurebases.iter().all(|one| {
        let is_twin = |other: &FuturebaseElement| {
            other.filename == one.filename && other.inverted != one.inverted
        };
        control.futurebases.iter().any(is_twin)
    })
}

/// Whether the prunes make the same of each kind of move of both colours, mirrored top to bottom.
fn prunes_are_alike(control: &ControlFile) -> bool {
    let verdict = |color: Color, kind: FuturemoveKind| {
        let prune = control.prunes.iter().find(|p| p.color == color && p.matches(kind));
        prune.map(|prune| prune.effect)
    };
    let alike = |white: FuturemoveKind, black: FuturemoveKind| {
        verdict(Color::White, white) == verdict(Color::Black, black)
    };
    let mut quiet = Role::ALL.into_iter().flat_map(|role| Square::ALL.map(|to| (role, to)));
    let quiet = quiet.all(|(role, to)| {
        let black = FuturemoveKind::Quiet(role, to.flip_vertical());
        alike(FuturemoveKind::Quiet(role, to), black)
    });
    let captures = std::iter::once(None).chain(Role::ALL.into_iter().map(Some));
    let promotions = captures.clone();
    let mut leaving = captures.flat_map(|capture| {
        let roles = promotions.clone();
        roles.flat_map(move |promotion| Role::ALL.into_iter().map(move |r| (r, capture, promotion)))
    });
    let others = leaving.all(|(role, capture, promotion)| {
        let quiet = capture.is_none() && promotion.is_none();
        let kind = FuturemoveKind::of_move(role, Square::A1, capture, promotion);
        quiet || alike(kind, kind)
    });
    control.stalemates_conceded_to().is_none() && quiet && others
}

/// What an entry says, seen from White; `turn` is to move. None of what is no result.
pub(crate) fn outcomes_of(value: EntryValue, turn: Color) -> Option<OutcomeBounds> {
    let (own, other) = (Outcome::won_by(turn), Outcome::won_by(turn.other()));
    let between = |a: Outcome, b: Outcome| OutcomeBounds { least: a.min(b), most: a.max(b) };
    Some(match value {
        EntryValue::Exact(Value::Win(_)) | EntryValue::Win => OutcomeBounds::exactly(own),
        EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => OutcomeBounds::exactly(other),
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => OutcomeBounds::exactly(Outcome::Draw),
        EntryValue::WinOrDraw => between(own, Outcome::Draw),
        EntryValue::DrawOrLoss => between(other, Outcome::Draw),
        EntryValue::Exact(Value::Illegal) | EntryValue::Illegal | EntryValue::Unknown => {
            return None;
        }
    })
}

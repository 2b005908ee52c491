//! A table under test: every entry compared with what its successors say.

use std::collections::HashMap;

use arrayvec::ArrayVec;
use hoffman_board::{
    ByColor, Color, Format, FuturemoveKind, MAX_PIECES, Material, Placement, Role, Square, Value,
    Variant,
};
use hoffman_control::{Claims, PruneEffect};
use hoffman_table::foreign::syzygy::SyzygyFolders;
use hoffman_table::rows::{Wanted, has_rows};
use hoffman_table::{EntryValue, RawEntry, SharedValues, Table, TableError};

use super::loaded::LoadedTable;
use super::men::{Men, SlotMove, fen, men_of};
use super::outcomes::{Best, Outcomes, Worth, words_of, words_of_exact};
use super::report::Difference;
use super::smaller::{Absent, Smaller, is_named_so};
use super::syzygy::{open_syzygy, probe_syzygy};
use super::tally::Tally;
use super::{LOOKED_UP, UNPACKED, VerifyError, VerifyExtent};

/// A smaller table that holds an ending, perhaps with the colours exchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) number: usize,
    pub(super) swapped: bool,
    /// Named in the header of the table under test, with these colours.
    named: bool,
}

/// A table under test with everything that its moves lead to.
pub(super) struct TestedTable<'a> {
    main: LoadedTable<'a>,
    smaller: Vec<LoadedTable<'a>>,
    /// By ending; there are so few that looking at all of them is quickest.
    holders: Vec<(Material, Vec<Holder>)>,
    /// Whether the squares of a piece have indices that follow from each other.
    pub(super) has_lines: bool,
    /// Futurebases that the header names and that were not found.
    pub(super) absent: &'a [Absent],
    pub(super) own: Material,
    pub(super) syzygy: Option<SyzygyFolders>,
    /// What the prunes make of the kinds of White's and Black's moves.
    prunes: ByColor<HashMap<FuturemoveKind, PruneEffect>>,
    /// What the values of the table prove of chess.
    pub(super) claims: Claims,
    /// Distances of moves out of the table do not count.
    pub(super) converts: bool,
    /// Only outcomes are compared.
    pub(super) outcomes_only: bool,
    /// Moves are not counted, so those that cannot be better than others need not be looked up; nor
    /// is a table missed that would be asked about them.
    sampled: bool,
}

/// An entry of the table with its position.
struct TestedEntry<'p> {
    index: u64,
    raw: RawEntry,
    /// What it says; none if it is damaged.
    stored: Option<EntryValue>,
    placement: &'p Placement,
}

impl TestedEntry<'_> {
    /// What it says of the outcome.
    fn outcomes(&self) -> Outcomes {
        self.stored.map_or(Outcomes::NONE, Outcomes::of)
    }
}

/// What is known of a move.
pub(super) enum Assessment {
    Worth(Worth),
    Missing(Material),
    /// Discarded. Where a futurebase has the men behind such moves, they spare their side mate and
    /// stalemate in a table with distances.
    Discarded {
        spares: bool,
    },
}

/// What the first prune of a colour's moves that names a kind makes of it.
fn prunes_of(table: &Table, color: Color) -> HashMap<FuturemoveKind, PruneEffect> {
    let prunes = &table.control().prunes;
    let first = |kind: FuturemoveKind| {
        let prune = prunes.iter().find(|p| p.color == color && p.matches(kind))?;
        Some((kind, prune.effect))
    };
    // In suicide chess a pawn may become a king.
    let kings = Role::ALL.into_iter().map(|of| FuturemoveKind::Capture {
        by: Role::Pawn,
        of,
        promotion: Some(Role::King),
    });
    let kinds = FuturemoveKind::all().chain(kings).chain([FuturemoveKind::Promotion(Role::King)]);
    if prunes.is_empty() { HashMap::new() } else { kinds.filter_map(first).collect() }
}

impl<'a> TestedTable<'a> {
    pub(super) fn new(
        table: &'a Table,
        smaller: &'a Smaller,
        options: &VerifyExtent<'_>,
    ) -> Result<TestedTable<'a>, VerifyError> {
        let (mut memory, mut none) = (options.memory, 0);
        let shared = options.shared.clone().unwrap_or_else(|| SharedValues::new(memory).into());
        let is_unpacked = |table: &Table| {
            let each = if table.is_unpacked_quickly() { UNPACKED } else { LOOKED_UP };
            options.sample.is_none_or(|n| table.space().size() <= n.saturating_mul(each))
        };
        let room = if is_unpacked(table) { &mut memory } else { &mut none };
        let main = LoadedTable::under_test(table, room, &shared)?;
        let own = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
        let behind = Wanted::behind(&own, [true; 2]);
        let mut holders: Vec<(Material, Vec<Holder>)> = Vec::new();
        let mut loaded = Vec::new();

        for (number, other) in smaller.tables.iter().enumerate() {
            let room = if is_unpacked(other) { &mut memory } else { &mut none };
            let ending = Material::from_men(other.pieces().iter().map(|p| (p.color, p.role)));
            // What is wanted of an ending that no move leads to is not known.
            let wanted = behind.get(&ending.normalized().0).cloned().unwrap_or_else(Wanted::all);
            loaded.push(LoadedTable::behind((other, &wanted), room, &shared)?);
            for (swapped, ending) in [(false, ending), (true, ending.swapped())] {
                let named = is_named_so(other, table, swapped);
                let holder = Holder { number, swapped, named };
                match holders.iter_mut().find(|(known, _)| *known == ending) {
                    Some((_, known)) => known.push(holder),
                    None => holders.push((ending, vec![holder])),
                }
            }
        }

        let converts = matches!(table.codec().format(), Format::Dtc(_));
        Ok(TestedTable {
            main,
            smaller: loaded,
            holders,
            has_lines: has_rows(table.space()) && table.space().has_side_bit(),
            absent: &smaller.absent,
            own,
            syzygy: open_syzygy(table, options)?,
            prunes: ByColor::new_with(|color| prunes_of(table, color)),
            claims: table.claims(),
            converts,
            outcomes_only: converts && is_original(table),
            sampled: options.sample.is_some_and(|n| n < table.space().size()),
        })
    }

    fn holders_of(&self, ending: &Material) -> &[Holder] {
        let found = self.holders.iter().find(|(known, _)| known == ending);
        found.map_or(&[], |(_, holders)| holders)
    }

    /// The smaller tables that are asked for an ending, one after the other: the futurebases that
    /// the header names, and others only where none of those has the men and no prune names the
    /// move.
    pub(super) fn asked(
        &self,
        ending: &Material,
        pruned: Option<PruneEffect>,
    ) -> impl Iterator<Item = Holder> + Clone {
        let holders = self.holders_of(ending);
        let only_named = pruned.is_some() || holders.iter().any(|holder| holder.named);
        holders.iter().copied().filter(move |holder| holder.named || !only_named)
    }

    /// The smaller tables by number.
    pub(super) fn smaller(&self) -> &[LoadedTable<'a>] {
        &self.smaller
    }

    pub(super) fn table(&self) -> &'a Table {
        self.main.table()
    }

    /// The table with its entries.
    pub(super) fn main(&self) -> &LoadedTable<'a> {
        &self.main
    }

    /// Whether a futurebase that the header names and that is not here may hold these men.
    fn may_be_missing(&self, ending: &Material) -> bool {
        let both = !self.table().space().has_side_bit();
        self.absent.iter().any(|named| named.may_hold(ending, both))
    }

    /// The value of a position for its player to move, out of the smaller tables: of the
    /// futurebases that the header names, in the colours in which it names them; of others only
    /// where none of those has the men. Of a value that is better than `limit`, see
    /// [`LoadedTable::value_at`].
    fn look_up(
        &self,
        ending: &Material,
        men: &[(Square, Color, Role)],
        turn: Color,
        jumped: Option<Square>,
        (pruned, limit): (Option<PruneEffect>, Option<Value>),
    ) -> Result<Option<EntryValue>, TableError> {
        for holder in self.asked(ending, pruned) {
            let Some(loaded) = self.smaller.get(holder.number) else { continue };
            let table = loaded.table();
            let placement = if holder.swapped {
                let men = men.iter().map(|&(s, c, r)| (s.flip_vertical(), c.other(), r));
                table.place(men, turn.other(), jumped.map(Square::flip_vertical))
            } else {
                table.place(men.iter().copied(), turn, jumped)
            };
            let Some(placement) = placement else { continue };
            if let Some(value) = loaded.value(&placement, limit)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// What a move is worth, and whether it leaves the table. If what is behind it is better than
    /// `limit` for the opponent, any worth will do of which that is true.
    fn assess(
        &self,
        placement: &mut Placement,
        step: &SlotMove,
        limit: Option<Value>,
    ) -> Result<(Assessment, bool), TableError> {
        if step.captured.is_none() && step.promotion.is_none() {
            let value = match step.index {
                Some(index) => Some(self.main.value_at(index, placement.turn.other(), limit)?),
                None => self.main.value_behind(placement, step, limit)?,
            };
            debug_assert!(
                limit.is_some() || value == self.main.value_behind(placement, step, limit)?
            );
            if let Some(value) = value {
                return Ok((Assessment::Worth(Worth::before(value)), false));
            }
        }
        // Distances to conversion say nothing of those behind it.
        let limit = limit.filter(|_| !self.converts);
        let assessment = self.assess_outside(placement, step, limit)?;
        Ok((assessment, true))
    }

    /// What a move is worth that leaves the table, see [`TestedTable::assess`].
    pub(super) fn assess_outside(
        &self,
        placement: &Placement,
        step: &SlotMove,
        limit: Option<Value>,
    ) -> Result<Assessment, TableError> {
        let (table, turn) = (self.table(), placement.turn);
        let mut ending = self.own;
        let mut men: ArrayVec<(Square, Color, Role), MAX_PIECES> = ArrayVec::new();
        let mut moved = None;
        let mut taken = None;

        for (slot, (square, color, role)) in men_of(table.pieces(), placement).enumerate() {
            if slot == step.slot {
                moved = Some(role);
                let now = step.promotion.unwrap_or(role);
                if now != role {
                    ending = ending.without(color, role).unwrap_or(ending).with(color, now);
                }
                men.push((step.to, color, now));
            } else if step.captured == Some(square) {
                taken = Some(role);
                ending = ending.without(color, role).unwrap_or(ending);
            } else {
                men.push((square, color, role));
            }
        }

        let kind = |moved| FuturemoveKind::of_move(moved, step.to, taken, step.promotion);
        let pruned = moved.and_then(|moved| self.pruned(turn, kind(moved)));
        if table.variant() == Variant::Normal && ending == Material::bare_kings() {
            if pruned.is_none() {
                return Ok(Assessment::Worth(Worth::exactly(Value::Draw)));
            }
        } else if men.iter().all(|&(_, color, _)| color == turn) {
            // In suicide chess the opponent of whoever takes the last man has won.
            return Ok(Assessment::Worth(Worth::exactly(Value::Loss(1))));
        }

        let known = (pruned, limit);
        let Some(value) = self.look_up(&ending, &men, turn.other(), step.jumped, known)? else {
            return Ok(self.unanswered(&ending, pruned));
        };
        let worth = Worth::before(value);
        Ok(Assessment::Worth(if self.converts { worth.converting() } else { worth }))
    }

    /// What a move is worth that leads to these men, in a position of which no table that is here
    /// has the value.
    pub(super) fn unanswered(&self, ending: &Material, pruned: Option<PruneEffect>) -> Assessment {
        match pruned {
            // A futurebase comes before a prune, and this one is not here to answer.
            Some(_) if self.may_be_missing(ending) => Assessment::Missing(ending.normalized().0),
            Some(PruneEffect::Concede) => Assessment::Worth(Worth::exactly(Value::Win(1))),
            Some(PruneEffect::Discard) => {
                let holders = self.holders_of(ending);
                Assessment::Discarded { spares: holders.iter().any(|holder| holder.named) }
            }
            None => Assessment::Missing(ending.normalized().0),
        }
    }

    /// The effect of the first prune that names a kind of move.
    pub(super) fn pruned(&self, turn: Color, kind: FuturemoveKind) -> Option<PruneEffect> {
        let prunes = self.prunes.get(turn);
        if prunes.is_empty() { None } else { prunes.get(&kind).copied() }
    }

    /// What stalemate is worth to the player to move.
    pub(super) fn stalemate(&self, turn: Color) -> Value {
        match self.table().control().stalemates_conceded_to() {
            None => Value::Draw,
            Some(winner) if winner == turn => Value::Win(1),
            Some(_) => Value::Loss(1),
        }
    }

    /// Compares one index. `steps` is scratch space.
    pub(super) fn check(
        &self,
        index: u64,
        tally: &mut Tally,
        steps: &mut Vec<SlotMove>,
    ) -> Result<(), TableError> {
        let table = self.table();
        let placement = table.space().decode(index);
        let raw = self.main.entry_at(index, placement.as_ref())?;
        tally.checked += 1;
        let Some(mut placement) = placement else {
            if raw != table.codec().undecodable() {
                let stored = format!("number {}", raw.0);
                tally.differ(index, None, stored, "no position".to_owned());
            }
            return Ok(());
        };

        let (variant, turn) = (table.variant(), placement.turn);
        let men = Men::new(table.pieces(), &placement);
        if variant == Variant::Normal && men.is_in_check(turn.other()) {
            tally.illegal += 1;
            if !self.is_stored_as_illegal(raw, turn) {
                let stored = self.stored_words(raw, turn);
                tally.differ(index, Some(self.fen(&placement)), stored, "illegal".to_owned());
            }
            return Ok(());
        }

        self.generate(&men, &placement, steps);
        let stored = table.codec().value(raw, turn);
        tally.count_legal(steps.is_empty() && variant == Variant::Suicide, stored, turn);
        self.find_indices(&placement, steps);
        let computed = self.recompute(&men, &mut placement, steps, tally)?;
        let entry = TestedEntry { index, raw, stored, placement: &placement };
        self.compare(&entry, computed, tally);

        if let Some(syzygy) = &self.syzygy {
            let usable = steps.iter().any(|s| s.en_passant);
            let en_passant = placement.en_passant.filter(|_| usable);
            let expected = probe_syzygy(syzygy, table.pieces(), &placement, en_passant);
            let proved = entry.outcomes().proved(self.claims, turn);
            tally.compare_syzygy(proved, expected, || {
                let stored = self.stored_words(raw, turn);
                let fen = Some(self.fen(&placement));
                Difference { index, fen, stored, computed: String::new() }
            });
        }
        Ok(())
    }

    /// Compares an entry with what its successors say.
    fn compare(&self, entry: &TestedEntry<'_>, computed: Worth, tally: &mut Tally) {
        let TestedEntry { index, raw, stored, placement } = *entry;
        let known = entry.outcomes();
        let agrees = match (stored, computed.exact) {
            (Some(EntryValue::Exact(stored)), Some(value)) if !self.outcomes_only => {
                stored == value
            }
            _ => known.meets(computed.outcomes),
        };
        if !agrees {
            let words = match computed.exact {
                Some(value) if self.table().codec().format().has_distance() => {
                    words_of_exact(value)
                }
                _ => computed.outcomes.words().to_owned(),
            };
            let stored = self.stored_words(raw, placement.turn);
            tally.differ(index, Some(self.fen(placement)), stored, words);
        } else if !tally.lacks_table && (computed.exact.is_none() || self.outcomes_only) {
            if computed.outcomes.is_within(known) {
                tally.outcome_only += 1;
            } else {
                tally.undetermined += 1;
            }
        }
    }

    /// Old basic tables hold a win where the player not to move is in check (D1).
    fn is_stored_as_illegal(&self, raw: RawEntry, turn: Color) -> bool {
        let codec = self.table().codec();
        raw == codec.store(Value::Illegal, turn)
            || codec.format() == Format::Basic && raw == codec.store(Value::Win(1), turn)
    }

    fn stored_words(&self, raw: RawEntry, turn: Color) -> String {
        match self.table().codec().value(raw, turn) {
            Some(value) => words_of(value),
            None => format!("number {}", raw.0),
        }
    }

    pub(super) fn fen(&self, placement: &Placement) -> String {
        fen(men_of(self.table().pieces(), placement), placement.turn, placement.en_passant)
    }

    /// The legal moves; in suicide chess only captures if there is one.
    pub(super) fn generate(&self, men: &Men, placement: &Placement, steps: &mut Vec<SlotMove>) {
        let (table, turn) = (self.table(), placement.turn);
        let exposed = men.exposed();
        steps.clear();
        for (slot, (from, color, role)) in men_of(table.pieces(), placement).enumerate() {
            if color == turn {
                men.steps(table.variant(), exposed, (slot, role, from), steps);
            }
        }
        if table.variant() == Variant::Suicide && steps.iter().any(|s| s.captured.is_some()) {
            steps.retain(|s| s.captured.is_some());
        }
    }

    /// Finds the indices behind the quiet moves of pieces man by man: where the kings stay, those
    /// of all his squares follow from one.
    fn find_indices(&self, placement: &Placement, steps: &mut [SlotMove]) {
        let space = self.table().space();
        if !self.has_lines {
            return;
        }
        let mut squares = [0; MAX_PIECES];

        for (own, &square) in squares.iter_mut().zip(&placement.squares) {
            *own = square as u8;
        }
        let cursor = space.cursor(&squares, placement.turn.other(), None);

        for steps in steps.chunk_by_mut(|a, b| a.slot == b.slot) {
            let Some(slot) = steps.first().map(|step| step.slot) else { continue };
            if matches!(self.table().pieces()[slot].role, Role::Pawn | Role::King) {
                continue;
            }
            let quiet = steps.iter().filter(|step| step.captured.is_none());
            let targets = quiet.fold(0, |all, step| all | 1_u64 << step.to as u32);
            let mut indices = [0; 64];
            cursor.visit_lane(slot, targets, |mut squares, index, step| {
                let mut index = index;
                while squares != 0 {
                    indices[squares.trailing_zeros() as usize] = index;
                    squares &= squares - 1;
                    index += step;
                }
            });
            for step in steps.iter_mut().filter(|step| step.captured.is_none()) {
                step.index = Some(indices[step.to as usize]);
            }
        }
    }

    fn recompute(
        &self,
        men: &Men,
        placement: &mut Placement,
        steps: &[SlotMove],
        tally: &mut Tally,
    ) -> Result<Worth, TableError> {
        let mut best = Best::new();
        let (mut missing, mut spared) = (false, 0);
        let mut leaving = 0;
        let last_man = men.of.get(placement.turn.other()).count() == 1;
        let decided = last_man && steps.iter().any(|s| s.captured.is_some());

        for step in steps {
            if self.sampled && best.is_settled(self.table().codec().format().has_distance()) {
                break;
            }
            let limit = if self.sampled { best.as_good_behind() } else { None };
            let (assessment, leaves) = self.assess(placement, step, limit)?;
            leaving += u64::from(leaves);
            match assessment {
                Assessment::Worth(worth) => best.take(worth),
                Assessment::Discarded { spares } => spared += u64::from(spares),
                Assessment::Missing(ending) => {
                    best.take(Worth::UNKNOWN);
                    missing = true;
                    if !tally.missing.contains(&ending) {
                        tally.missing.push(ending);
                    }
                }
            }
        }

        // Headers leave out positions that the capture of the last man decides.
        if !decided {
            tally.moves += u64::from(best.moves) + spared;
            tally.futuremoves += leaving;
        }

        tally.lacks_table = missing;
        tally.unverified += u64::from(missing);
        if best.moves > 0 {
            return Ok(best.worth());
        }
        if spared > 0 && self.table().control().discards_spare() {
            return Ok(Worth::exactly(Value::Draw));
        }
        if self.table().variant() == Variant::Suicide {
            return Ok(Worth::exactly(Value::Win(0)));
        }
        if men.is_in_check(placement.turn) {
            return Ok(Worth::exactly(Value::Loss(0)));
        }
        tally.stalemates += 1;
        Ok(Worth::exactly(self.stalemate(placement.turn)))
    }
}

/// Whether the original program made a table.
pub(super) fn is_original(table: &Table) -> bool {
    table.control().program().is_some_and(|p| p.starts_with("Hoffman Version"))
}

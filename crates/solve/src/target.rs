//! Targets: what an exit leads to, put together from views and from what is agreed for the rest.
//!
//! For a complete ending a target is one view. In an analysis several tables may each answer a
//! part of the moves, and what none of them answers is conceded, discarded or an error. A table
//! beats what is agreed, position by position: a code of 0 in a view means that the table does not
//! answer.

use arrayvec::ArrayVec;
use hoffman_board::{Color, FuturemoveKind, MAX_PIECES as MAX_MOVERS, Material, Role};
use hoffman_space::{Code, Layout, PawnSquares};

use crate::context::Context;
use crate::kernels::isa::{Isa, equal_mask, put_code, raise};
use crate::kernels::tables::Tables;
use crate::processor::for_processor;
use crate::steps::{Step, Way};
use crate::view::{PROMOTED, Section, View, fetch_view};

/// What a move is worth that no table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There is no such move: all are answered, or the others do not exist.
    Nothing,
    /// It wins in so many moves.
    Won(u16),
    /// It loses in so many moves: the last enemy man is taken in suicide chess, or that is all that
    /// is certain.
    Lost(u16),
    /// It draws.
    Drawn,
    /// It is left out of account, but because of it nothing else may be played: a discarded
    /// capture in suicide chess.
    Discarded,
    /// It is left out of account as well, but it is a move: a side without another is neither
    /// mated nor stalemated, and the position is drawn.
    Spared,
    /// Nothing is said; met only where another move of the same position is conceded.
    Unsaid,
}

/// Movers whose squares are the places of what is fetched, the last one fastest.
pub(crate) type Axes = ArrayVec<usize, MAX_MOVERS>;
/// Where men stand that do not change along a fetch: mover and square.
pub(crate) type Placed = ArrayVec<(usize, u8), { MAX_MOVERS + 1 }>;

/// What an exit leads to.
#[derive(Clone)]
pub(crate) struct ExitTarget<'a> {
    layers: Vec<View<'a>>,
    rest: Rest,
    /// Needed where there is a rest.
    after: Option<Box<After<'a>>>,
}

/// The men behind a move, to tell which positions are legal there.
#[derive(Clone)]
pub(crate) struct After<'a> {
    /// Mover (or [`PROMOTED`]), colour, role.
    men: Vec<(usize, Color, Role)>,
    /// The movers that they are, a bit each.
    movers: u64,
    /// The squares on which movers may stand whose place is not given.
    squares: [u64; MAX_MOVERS],
    promoted: Option<u8>,
    pawns: PawnSquares,
    /// The side that made the move.
    color: Color,
    /// What must not be; none in suicide chess.
    danger: Option<KingDanger>,
    /// The table that the move leaves, where a man can leave it for a square that others of it may
    /// stand on: positions that exist there are not behind the exit.
    outside: Option<&'a Layout>,
}

/// What may be a danger to the king of the side that made a move.
#[derive(Clone)]
struct KingDanger {
    /// The mover that is the king, and the one that is the enemy king.
    own: usize,
    other: usize,
    /// What enemy pawns attack.
    pawn_attacks: u64,
    /// The enemy's pieces: mover and role.
    pieces: ArrayVec<(usize, Role), { MAX_MOVERS + 1 }>,
}

impl KingDanger {
    fn new(
        tables: &Tables,
        men: &[(usize, Color, Role)],
        color: Color,
        pawns: PawnSquares,
    ) -> KingDanger {
        let enemy = color.other();
        let royal = |color: Color| {
            men.iter().find(|m| m.1 == color && m.2 == Role::King).map_or(PROMOTED, |m| m.0)
        };
        let pieces = men.iter().filter(|m| m.1 == enemy && m.2 != Role::King);
        KingDanger {
            own: royal(color),
            other: royal(enemy),
            pawn_attacks: tables.pawn_attacks(enemy, pawns.of(enemy)),
            pieces: pieces.map(|m| (m.0, m.2)).collect(),
        }
    }

    /// The squares of the last man for which the king is not attacked and does not touch the
    /// other, the other men standing on `stands[mover]`.
    fn safe(
        &self,
        tables: &Tables,
        stands: &[u8; MAX_MOVERS + 1],
        last: usize,
        occupied: u64,
    ) -> u64 {
        let KingDanger { own, other, pawn_attacks, .. } = *self;
        if own == last {
            let mut lanes = !pawn_attacks & !tables.reach(Role::King, stands[other]);
            for &(man, role) in &self.pieces {
                lanes &= !tables.attacks(role, stands[man], occupied);
            }
            return lanes;
        }

        let king = stands[own];
        if pawn_attacks >> king & 1 != 0 {
            return 0;
        }
        let mut lanes = u64::MAX;
        if other == last {
            lanes &= !tables.reach(Role::King, king);
        } else if tables.reach(Role::King, king) >> stands[other] & 1 != 0 {
            return 0;
        }

        for &(man, role) in &self.pieces {
            if man == last {
                lanes &= !tables.attacks(role, king, occupied);
                continue;
            }
            let from = stands[man];
            if tables.reach(role, from) >> king & 1 != 0 {
                let between = tables.between(from, king);
                if between & occupied == 0 {
                    lanes &= between;
                }
            }
        }
        lanes
    }
}

impl<'a> After<'a> {
    /// The men behind a step.
    pub(crate) fn new(context: &Context<'a>, step: &Step) -> After<'a> {
        let Step { color, change, pawns, .. } = *step;
        let movers = context.layout.movers().iter().enumerate();
        let men: Vec<(usize, Color, Role)> = movers
            .filter(|&(i, m)| change.captured != Some(i) && m.is_man())
            .map(|(i, m)| (i, m.color, m.role))
            .chain(change.promoted.map(|(color, role, _)| (PROMOTED, color, role)))
            .collect();
        let danger =
            (!context.suicide()).then(|| KingDanger::new(context.tables, &men, color, pawns));
        let mut squares = [u64::MAX; MAX_MOVERS];
        // A man that takes a mover stands where that one may stand.
        if !matches!(step.way, Way::Takes { .. }) {
            for (squares, mover) in squares.iter_mut().zip(context.layout.movers()) {
                *squares = mover.squares;
            }
        }
        let leaves = matches!(step.kind, FuturemoveKind::Quiet(role, _) if role != Role::Pawn);
        let mixed = leaves && context.layout.has_overlaps();
        After {
            movers: men.iter().fold(0, |movers, (mover, ..)| movers | 1 << mover),
            men,
            squares,
            promoted: change.promoted.map(|(_, _, square)| u8::from(square)),
            pawns,
            color,
            danger,
            outside: mixed.then_some(context.layout),
        }
    }

    /// The men and pawns behind the move.
    pub(crate) fn material(&self) -> Material {
        let mut material = Material::from_men(self.men.iter().map(|m| (m.1, m.2)));
        for color in Color::ALL {
            material.count.get_mut(color).pawn = self.pawns.of(color).count_ones() as u8;
        }
        material
    }

    /// Whether the other side has any man left.
    pub(crate) fn has_enemies(&self) -> bool {
        let enemy = self.color.other();
        self.pawns.of(enemy) != 0 || self.men.iter().any(|&(_, color, _)| color == enemy)
    }

    /// The squares of the last man for which the position is legal, the other men standing on
    /// `stands[mover]`.
    fn legal(&self, tables: &Tables, stands: &[u8; MAX_MOVERS + 1], last: usize) -> u64 {
        let mut occupied = self.pawns.occupied();
        for &(man, _, _) in self.men.iter().filter(|m| m.0 != last) {
            let bit = 1_u64 << stands[man];
            if occupied & bit != 0 {
                return 0;
            }
            occupied |= bit;
        }
        // A lane that is no man is nowhere.
        let mut lanes = if self.movers >> last & 1 != 0 { !occupied } else { u64::MAX };
        if let Some(danger) = &self.danger {
            lanes &= danger.safe(tables, stands, last, occupied);
        }
        if let Some(layout) = self.outside {
            lanes &= !layout.admitted(&stands[..layout.movers().len()], last);
        }
        lanes
    }

    /// Where men stand that do not move along a fetch.
    fn stands(&self, placed: &[(usize, u8)]) -> [u8; MAX_MOVERS + 1] {
        let mut stands = [0_u8; MAX_MOVERS + 1];
        for &(mover, square) in placed {
            stands[mover] = square;
        }
        if let Some(square) = self.promoted {
            stands[PROMOTED] = square;
        }
        stands
    }

    /// The squares of the last axis for which the position is legal, in one of `64^(axes - 1)`
    /// rows. Without axes there is one row, and bit 0 means that the position is legal.
    fn legal_row(
        &self,
        tables: &Tables,
        stands: &mut [u8; MAX_MOVERS + 1],
        axes: &[usize],
        row: usize,
    ) -> u64 {
        let Some((&last, dims)) = axes.split_last() else {
            // Any man can play the part of the last one; pawns alone are always legal.
            let Some(&(man, _, _)) = self.men.first() else { return 1 };
            return self.legal(tables, stands, man) >> stands[man] & 1;
        };
        for (i, &mover) in dims.iter().enumerate() {
            let square = (row >> (6 * (dims.len() - 1 - i)) & 63) as u8;
            if self.squares[mover] >> square & 1 == 0 {
                return 0;
            }
            stands[mover] = square;
        }
        self.legal(tables, stands, last) & self.squares[last]
    }
}

/// How a target is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// What the move is worth; 0 where there is none.
    Worth,
    /// Something else than 0 where the move is legal on the board.
    Legality,
    /// The same, but for moves that are left out of account and do not spare their side either.
    Played,
    /// A draw where the move is legal and nothing is said about it, else 0.
    Unsaid,
    /// A draw where the move is legal and spares its side, else 0.
    Spared,
    /// A draw where the move is legal and conceded, else 0.
    Conceded,
}

impl<'a> ExitTarget<'a> {
    /// A target that one view answers.
    pub(crate) fn view(view: View<'a>) -> ExitTarget<'a> {
        ExitTarget { layers: vec![view], rest: Rest::Nothing, after: None }
    }

    /// A target of views, the first to answer counts, and a rest. None if there is no such move.
    pub(crate) fn new(
        layers: Vec<View<'a>>,
        rest: Rest,
        after: After<'a>,
    ) -> Option<ExitTarget<'a>> {
        if layers.is_empty() && rest == Rest::Nothing {
            return None;
        }
        let needed = rest != Rest::Nothing || after.outside.is_some();
        Some(ExitTarget { layers, rest, after: needed.then(|| Box::new(after)) })
    }

    /// Whether there are moves about which nothing may be said.
    pub(crate) fn may_be_unsaid(&self) -> bool {
        self.rest == Rest::Unsaid
    }

    /// Whether there may be moves that are conceded.
    pub(crate) fn may_be_conceded(&self) -> bool {
        matches!(self.rest, Rest::Won(_))
    }

    /// Whether there may be moves that spare their side.
    pub(crate) fn may_spare(&self) -> bool {
        self.rest == Rest::Spared
    }

    /// The longest distance that can be met, in moves.
    pub(crate) fn max_moves(&self) -> u16 {
        let rest = match self.rest {
            Rest::Won(moves) | Rest::Lost(moves) => moves,
            _ => 1,
        };
        self.layers.iter().map(View::max_moves).fold(rest, u16::max)
    }

    /// Fills `out` with what the moves are worth to the side that makes them, as
    /// [`View::fetch`] does. `spare` is room of any size.
    #[inline(always)]
    pub(crate) fn fetch<C: Code>(
        &self,
        section: Section<'_>,
        reading: Reading,
        out: &mut [C],
        spare: &mut Vec<C>,
    ) {
        if let ([view], None) = (self.layers.as_slice(), &self.after) {
            fetch_view::<C>(view, section, out);
            return;
        }
        fetch_mixed::<C>(self, section, reading, out, spare);
    }

    /// See [`ExitTarget::fetch`], for more than one view.
    #[inline(always)]
    pub(crate) fn fetch_mixed<I: Isa, C: Code>(
        &self,
        section: Section<'_>,
        reading: Reading,
        out: &mut [C],
        spare: &mut Vec<C>,
    ) {
        self.fetch_layers::<I, C>(section, out, spare);
        let Some(after) = &self.after else { return };
        let code = self.fallback::<C>(reading);
        let clear = matches!(reading, Reading::Unsaid | Reading::Spared | Reading::Conceded);
        if !clear && after.outside.is_none() && code == C::ILLEGAL {
            return;
        }

        let (rows, single) = out.as_chunks_mut::<64>();
        let mut stands = after.stands(section.placed);
        for row in 0..1 << (6 * section.axes.len().saturating_sub(1)) {
            let legal = after.legal_row(section.tables, &mut stands, section.axes, row);
            // What a table says is not asked for, or does not count outside of the table that is
            // left.
            let void = match after.outside {
                _ if clear => u64::MAX,
                Some(_) => !legal,
                None => 0,
            };
            if let Some(row) = rows.get_mut(row) {
                let open = equal_mask::<I, C>(row, C::ILLEGAL);
                put_code::<I, C>(row, C::ILLEGAL, !open & void);
                put_code::<I, C>(row, code, open & legal);
            } else if let Some(out) = single.first_mut() {
                if *out == C::ILLEGAL {
                    *out = code.mask(legal & 1 != 0);
                } else if void & 1 != 0 {
                    *out = C::ILLEGAL;
                }
            }
        }
    }

    /// Fills `out` with what the first view says that answers, place by place.
    #[inline(always)]
    fn fetch_layers<I: Isa, C: Code>(
        &self,
        section: Section<'_>,
        out: &mut [C],
        spare: &mut Vec<C>,
    ) {
        let Some((first, more)) = self.layers.split_first() else {
            out.fill(C::ILLEGAL);
            return;
        };
        fetch_view::<C>(first, section, out);
        spare.resize(out.len(), C::ILLEGAL);
        for view in more {
            fetch_view::<C>(view, section, spare);
            let (rows, rest) = out.as_chunks_mut::<64>();
            let (others, other_rest) = spare.as_chunks::<64>();
            for (row, other) in rows.iter_mut().zip(others) {
                let open = equal_mask::<I, C>(row, C::ILLEGAL);
                raise::<I, C>(row, other, open);
            }
            for (out, &code) in rest.iter_mut().zip(other_rest) {
                if *out == C::ILLEGAL {
                    *out = code;
                }
            }
        }
    }

    /// What moves are worth that no view answers.
    fn fallback<C: Code>(&self, reading: Reading) -> C {
        match (self.rest, reading) {
            (Rest::Won(moves), Reading::Worth) => C::win(moves),
            (Rest::Lost(moves), Reading::Worth) => C::loss(moves),
            (Rest::Drawn, Reading::Worth) => C::DRAW,
            (Rest::Unsaid, Reading::Unsaid)
            | (Rest::Spared, Reading::Spared)
            | (Rest::Won(_), Reading::Conceded) => C::DRAW,
            (Rest::Nothing, _) | (Rest::Discarded, Reading::Played) => C::ILLEGAL,
            (_, Reading::Legality | Reading::Played) => C::DRAW,
            _ => C::ILLEGAL,
        }
    }
}

for_processor! {
    /// See [`ExitTarget::fetch_mixed`].
    fn fetch_mixed<C: Code>(
        target: &ExitTarget<'_>,
        section: Section<'_>,
        reading: Reading,
        out: &mut [C],
        spare: &mut Vec<C>,
    ),
    I => target.fetch_mixed::<I, C>(section, reading, out, spare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{Random, men_behind, position, written};
    use crate::kernels::tables::tables;
    use crate::steps::steps;

    /// Fetches a conceded move with some movers everywhere, and compares places with `shakmaty`.
    fn check(context: &Context<'_>, step: &Step, axes: &[usize], random: &mut Random) -> usize {
        let target = ExitTarget::new(Vec::new(), Rest::Won(1), After::new(context, step)).unwrap();
        let movers = 0..context.layout.movers().len();
        let others = movers.filter(|m| !axes.contains(m) && step.change.captured != Some(*m));
        let placed: Vec<_> = others.map(|m| (m, random.below(64) as u8)).collect();
        let section = Section { tables: tables(), placed: &placed, axes };
        let (mut out, turn) = (vec![0_u8; 1 << (6 * axes.len())], step.color.other());
        target.fetch(section, Reading::Worth, &mut out, &mut Vec::new());
        for _ in 0..60 {
            let place = random.below(out.len() as u64) as usize;
            let shift = |i: usize| 6 * (axes.len() - 1 - i);
            let along = axes.iter().enumerate().map(|(i, &m)| (m, (place >> shift(i) & 63) as u8));
            let stands = along.chain(placed.iter().copied());
            let men = men_behind(context.layout, stands, step.change, step.pawns);
            let expected = if position(&men, turn).is_some() { u8::win(1) } else { 0 };
            assert_eq!(out[place], expected, "{} after {}", written(&men, turn), step.kind);
        }
        out.iter().filter(|&&code| code != 0).count()
    }

    #[test]
    fn moves_are_conceded_where_they_are_legal() {
        let layout = Layout::new(&"KRPPvKNP".parse().unwrap());
        let pawns = PawnSquares { white: 1 << 49 | 1 << 26, black: 1 << 35 };
        let context = Context::new(&layout, pawns);
        let (mut random, mut found) = (Random(11), 0);
        for color in Color::ALL {
            for step in steps(&context, color, true) {
                let movers =
                    (0..layout.movers().len()).filter(|&m| step.change.captured != Some(m));
                let movers: Vec<usize> = movers.collect();
                for axes in [&movers[..0], &movers[..2], &movers[1..], &movers[2..]] {
                    found += check(&context, &step, axes, &mut random);
                }
            }
        }
        assert!(found > 1000, "{found} legal moves");
    }
}

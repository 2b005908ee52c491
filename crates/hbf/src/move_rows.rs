//! The best moves of a row of positions, which differ in the square of one man: side by side, as
//! far as they lead to rows again.

use crate::answer::{Asked, Lookup, Stored, answer};
use crate::board::{Color, Kind, Man, Position, attackers, attacks, between, squares};
use crate::code::{Code, DRAW, MATED, RANK_MASKS, before, outcome, squares_where};
use crate::encode::Source;

const LAST_RANKS: u64 = 0xff00_0000_0000_00ff;

/// What a pawn becomes.
const PROMOTIONS: [Kind; 4] = [Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight];

/// The codes of the best moves that were looked at, by lane square; 0 where there is none.
pub(crate) struct MoveRow<'a> {
    source: &'a dyn Source,
    /// The men but for the lane.
    fixed: Position,
    lane: Man,
    /// The squares of the lane that are looked at: those of legal positions, as long as better
    /// moves are looked for there.
    lanes: u64,
    /// Whether only outcomes are asked for.
    outcomes: bool,
    /// By lane square the code of a move behind which no better one is looked for.
    enough: [Code; 64],
    /// What a pawn becomes, as far as that is looked at.
    promotions: &'static [Kind],
    pub(crate) best: [Code; 64],
    scratch: [Code; 64],
}

impl<'a> MoveRow<'a> {
    /// Prepares for a row, of which perhaps only outcomes are asked for.
    pub(crate) fn new(
        source: &'a dyn Source,
        (fixed, lane, lanes): (&Position, Man, u64),
        outcomes: bool,
    ) -> MoveRow<'a> {
        let fixed = fixed.without_en_passant();
        let (enough, promotions) = ([Code::MAX; 64], &PROMOTIONS);
        let [best, scratch] = [[0; 64]; 2];
        MoveRow { source, fixed, lane, lanes, outcomes, enough, promotions, best, scratch }
    }

    /// Asks for no more than what the codes are at least: underpromotions are left out and, when
    /// all moves are looked at, all exits on squares where a quiet move is as good as `enough`.
    pub(crate) fn bound(&mut self, enough: &[Code; 64]) {
        self.enough = *enough;
        self.promotions = &PROMOTIONS[..1];
    }

    /// Who is to move.
    pub(crate) fn turn(&self) -> Color {
        self.fixed.turn
    }

    /// Looks at all moves. An error is a position whose code is not known.
    pub(crate) fn look_at_all(&mut self) -> Result<(), Position> {
        self.look_at_all_with(MoveRow::look_at_quiet_moves)
    }

    /// Looks at all moves, at the quiet ones of the pieces in a certain way.
    pub(crate) fn look_at_all_with(
        &mut self,
        quiet: impl FnOnce(&mut MoveRow<'a>) -> Result<(), Position>,
    ) -> Result<(), Position> {
        self.look_at_steps()?;
        quiet(self)?;
        self.lanes &= !self.settled();
        self.look_at_exits()?;
        let own = self.fixed.turn;
        for lane in squares(self.lanes & squares_where(|square| self.best[square] == 0)) {
            let position = self.fixed.with(lane, self.lane);
            self.best[usize::from(lane)] = if position.is_check(own) { MATED } else { DRAW };
        }
        self.tell();
        Ok(())
    }

    /// The squares for which no better move is looked for.
    fn settled(&self) -> u64 {
        squares_where(|square| self.best[square] >= self.enough[square])
    }

    /// Looks at the steps of all pawns that do not promote.
    fn look_at_steps(&mut self) -> Result<(), Position> {
        let pawn = Man { color: self.fixed.turn, kind: Kind::Pawn };
        for from in squares(self.fixed.of(pawn)) {
            self.steps_of_fixed(from, pawn)?;
        }
        if self.lane == pawn { self.steps_of_lane() } else { Ok(()) }
    }

    /// Looks at the moves of the other men that take nothing.
    fn look_at_quiet_moves(&mut self) -> Result<(), Position> {
        let own = self.fixed.turn;
        for from in squares(self.fixed.of_color(own)) {
            let Some(man) = self.fixed.man(from).filter(|man| man.kind != Kind::Pawn) else {
                continue;
            };
            let occupied = self.fixed.occupied();
            for to in squares(attacks(man, from, occupied) & !occupied) {
                let passed = if man.kind.is_slider() { between(from, to) } else { 0 };
                self.look_at_move((from, to, man), !(passed | 1 << to))?;
            }
        }
        if self.lane.color == own && self.lane.kind != Kind::Pawn {
            self.look_at_lane()?;
        }
        Ok(())
    }

    /// Looks at the move of a man other than the lane to a square, where the lane stands on one of
    /// these.
    pub(crate) fn look_at_move(
        &mut self,
        (from, to, man): (u8, u8, Man),
        lanes: u64,
    ) -> Result<(), Position> {
        let lanes = lanes & self.lanes;
        if lanes == 0 {
            return Ok(());
        }
        self.row(&self.fixed.after(Some(from), Some((to, man))), self.lane, lanes)
    }

    /// Takes codes of moves, if they are better. They may be anything off the lanes.
    pub(crate) fn take_row(&mut self, codes: &[Code; 64]) {
        for (best, &code) in self.best.iter_mut().zip(codes) {
            *best = (*best).max(code);
        }
    }

    /// Makes outcomes of the codes, if that is what is asked for: the best of moves stays the best.
    fn tell(&mut self) {
        if self.outcomes {
            self.best = self.best.map(outcome);
        }
    }

    /// Looks at all captures but those en passant, and all promotions. An error is a position whose
    /// code is not known.
    pub(crate) fn look_at_exits(&mut self) -> Result<(), Position> {
        let own = self.fixed.turn;
        for from in squares(self.fixed.of_color(own)) {
            let Some(man) = self.fixed.man(from) else { continue };
            self.captures_of_fixed(from, man)?;
            if self.lane.color != own {
                self.captures_of_lane(from, man)?;
            }
            if man.kind == Kind::Pawn {
                self.promotions_of_fixed(from, man)?;
            }
        }
        if self.lane.color == own {
            self.captures_by_lane()?;
            if self.lane.kind == Kind::Pawn {
                self.promotions_of_lane()?;
            }
        }
        self.tell();
        Ok(())
    }

    /// A man takes one of those that stay where they are.
    fn captures_of_fixed(&mut self, from: u8, man: Man) -> Result<(), Position> {
        let reached = attacks(man, from, self.fixed.occupied());
        for to in squares(reached & self.fixed.of_color(man.color.other())) {
            let blocked = if man.kind.is_slider() { between(from, to) } else { 0 };
            for arrived in self.arrivals(man, to) {
                self.row(
                    &self.fixed.after(Some(from), Some((to, arrived))),
                    self.lane,
                    self.lanes & !blocked,
                )?;
            }
        }
        Ok(())
    }

    /// A man takes the lane, wherever it reaches that.
    fn captures_of_lane(&mut self, from: u8, man: Man) -> Result<(), Position> {
        let reached = attacks(man, from, self.fixed.occupied()) & self.lanes;
        let last = if man.kind == Kind::Pawn { LAST_RANKS } else { 0 };
        let gone = self.fixed.after(Some(from), None);
        self.row(&gone, man, reached & !last)?;
        if reached & last != 0 {
            for &kind in self.promotions {
                self.row(&gone, Man { kind, ..man }, reached & last)?;
            }
        }
        Ok(())
    }

    fn promotions_of_fixed(&mut self, from: u8, man: Man) -> Result<(), Position> {
        let to = ahead(from, man.color);
        if 1 << to & LAST_RANKS & !self.fixed.occupied() == 0 {
            return Ok(());
        }
        for arrived in self.arrivals(man, to) {
            self.row(
                &self.fixed.after(Some(from), Some((to, arrived))),
                self.lane,
                self.lanes & !(1 << to),
            )?;
        }
        Ok(())
    }

    /// The lane takes: what is behind that does not depend on where it came from.
    fn captures_by_lane(&mut self) -> Result<(), Position> {
        let occupied = self.fixed.occupied();
        for to in squares(self.fixed.of_color(self.lane.color.other())) {
            let from = attackers(self.lane, to, occupied) & self.lanes;
            for arrived in self.arrivals(self.lane, to).filter(|_| from != 0) {
                self.arrive(&self.fixed.after(None, Some((to, arrived))), from)?;
            }
        }
        Ok(())
    }

    fn promotions_of_lane(&mut self) -> Result<(), Position> {
        let Man { color, .. } = self.lane;
        let to = all_ahead(self.lanes, color) & LAST_RANKS & !self.fixed.occupied();
        self.promotions.iter().try_for_each(|&kind| {
            self.advance_lane(Man { color, kind }, to, |to| ahead(to, color.other()))
        })
    }

    fn steps_of_fixed(&mut self, from: u8, man: Man) -> Result<(), Position> {
        let Some((to, jump)) = steps(from, man.color, self.fixed.occupied()) else { return Ok(()) };
        let free = self.lanes & !(1 << to);
        self.row(&self.fixed.after(Some(from), Some((to, man))), self.lane, free)?;
        let Some(jump) = jump else { return Ok(()) };
        let mut after = self.fixed.after(Some(from), Some((jump, man)));
        let free = free & !(1 << jump);
        // With an enemy pawn beside it there may be a right to take en passant.
        let enemy = Man { color: man.color.other(), kind: Kind::Pawn };
        let beside = all_beside(1 << jump);
        let with_right = match self.fixed.of(enemy) & beside {
            0 if self.lane == enemy => free & beside,
            0 => 0,
            _ => free,
        };
        self.row(&after, self.lane, free & !with_right)?;
        after.en_passant = Some(to);
        for lane in squares(with_right) {
            self.arrive_with_right(&after.with(lane, self.lane), 1 << lane)?;
        }
        Ok(())
    }

    /// What a man is on the square that it comes to.
    fn arrivals(&self, man: Man, to: u8) -> impl Iterator<Item = Man> + use<> {
        let promotes = man.kind == Kind::Pawn && 1_u64 << to & LAST_RANKS != 0;
        let (kinds, same) = if promotes { (self.promotions, None) } else { (&[][..], Some(man)) };
        kinds.iter().map(move |&kind| Man { kind, ..man }).chain(same)
    }

    /// Looks at the moves of the lane, a piece, in its own row.
    pub(crate) fn look_at_lane(&mut self) -> Result<(), Position> {
        let occupied = self.fixed.occupied();
        let after = self.fixed.after(None, None);
        let targets = !occupied & !checked(&after, self.lane);
        self.ask(&after, self.lane, targets)?;
        for lane in squares(self.lanes) {
            let reached = attacks(self.lane, lane, occupied) & targets;
            let best = squares(reached).map(|to| before(self.scratch[usize::from(to)])).max();
            self.best[usize::from(lane)] = self.best[usize::from(lane)].max(best.unwrap_or(0));
        }
        Ok(())
    }

    fn steps_of_lane(&mut self) -> Result<(), Position> {
        let color = self.lane.color;
        let (free, back) = (!self.fixed.occupied() & !LAST_RANKS, color.other());
        self.advance_lane(self.lane, all_ahead(self.lanes, color) & free, |to| ahead(to, back))?;

        let passed = all_ahead(self.lanes & first_rank(color), color) & free;
        let jumps = all_ahead(passed, color) & free;
        let from = |jump: u8| ahead(ahead(jump, back), back);
        let enemies = self.fixed.of(Man { color: back, kind: Kind::Pawn });
        let with_right = jumps & all_beside(enemies);
        self.advance_lane(self.lane, jumps & !with_right, from)?;
        for jump in squares(with_right) {
            let mut after = self.fixed.after(None, Some((jump, self.lane)));
            after.en_passant = Some(ahead(jump, back));
            self.arrive_with_right(&after, 1 << from(jump))?;
        }
        Ok(())
    }

    /// The lane, a pawn, comes to these squares and is this man there; `from` says where it came
    /// from.
    fn advance_lane(&mut self, man: Man, to: u64, from: impl Fn(u8) -> u8) -> Result<(), Position> {
        let after = self.fixed.after(None, None);
        let legal = to & !checked(&after, man);
        if legal == 0 {
            return Ok(());
        }
        self.ask(&after, man, legal)?;
        for to in squares(legal) {
            let best = &mut self.best[usize::from(from(to) & 63)];
            *best = (*best).max(before(self.scratch[usize::from(to)]));
        }
        Ok(())
    }

    /// The positions with the lane, or a man that took it, on these squares.
    fn row(&mut self, after: &Position, man: Man, lanes: u64) -> Result<(), Position> {
        let legal = lanes & !checked(after, man);
        if legal == 0 {
            return Ok(());
        }
        self.ask(after, man, legal)?;
        for (rank, set) in legal.to_le_bytes().into_iter().enumerate() {
            let masks = &RANK_MASKS[usize::from(set)];
            for file in 0..8 {
                let (square, mask) = (8 * rank + file, masks[file]);
                self.best[square] = self.best[square].max(before(self.scratch[square]) & mask);
            }
        }
        Ok(())
    }

    /// Looks up the codes of legal positions with a man on these squares.
    fn ask(&mut self, after: &Position, man: Man, legal: u64) -> Result<(), Position> {
        if after.occupied().is_power_of_two() {
            self.scratch = [DRAW; 64];
            return Ok(());
        }
        let unknown = self.source.row(after, man, legal, &mut self.scratch);
        squares(unknown).next().map_or(Ok(()), |square| Err(after.with(square, man)))
    }

    /// A position with a right to take en passant, behind the moves from some squares.
    fn arrive_with_right(&mut self, after: &Position, lanes: u64) -> Result<(), Position> {
        if after.is_check(after.turn.other()) {
            return Ok(());
        }
        let code = answer(&KnownSource(self.source), after, Asked::exactly(false))?;
        self.take(code, lanes);
        Ok(())
    }

    /// One position behind the moves from several squares.
    fn arrive(&mut self, after: &Position, lanes: u64) -> Result<(), Position> {
        if after.is_check(after.turn.other()) {
            return Ok(());
        }
        let code = match after.occupied().count_ones() {
            2 => DRAW,
            _ => self.source.code(after).ok_or(*after)?,
        };
        self.take(code, lanes);
        Ok(())
    }

    /// Takes the code of a position that can be reached from some squares.
    fn take(&mut self, code: Code, lanes: u64) {
        let code = before(code);
        for square in squares(lanes).map(usize::from) {
            self.best[square] = self.best[square].max(code);
        }
    }
}

/// What a source knows, as what is stored.
struct KnownSource<'a>(&'a dyn Source);

impl Lookup for KnownSource<'_> {
    type Error = Position;

    fn stored(&self, position: &Position, _: Asked) -> Result<Stored, Position> {
        self.0.code(position).map(Stored::Exactly).ok_or(*position)
    }
}

/// The lane squares with which the side that has moved is in check.
fn checked(after: &Position, man: Man) -> u64 {
    let moved = after.turn.other();
    let occupied = after.occupied();
    let king = if man.kind == Kind::King && man.color == moved { None } else { after.king(moved) };
    let Some(king) = king else { return attacked(after, man) };
    let mut checked = 0;
    for from in squares(after.attackers(king, after.turn)) {
        let line = after.man(from).is_some_and(|man| man.kind.is_slider());
        checked |= if line { !between(from, king) } else { u64::MAX };
    }
    if man.color == after.turn {
        checked |= attackers(man, king, occupied);
    }
    checked
}

/// The squares on which a king, which is not on the board, would be attacked.
fn attacked(after: &Position, king: Man) -> u64 {
    let occupied = after.occupied();
    squares(after.of_color(king.color.other()))
        .filter_map(|square| Some(attacks(after.man(square)?, square, occupied)))
        .fold(0, |set, reached| set | reached)
}

/// Where a pawn can step without promoting, and with two steps from its first rank.
fn steps(from: u8, color: Color, occupied: u64) -> Option<(u8, Option<u8>)> {
    let to = ahead(from, color);
    if 1 << to & (LAST_RANKS | occupied) != 0 {
        return None;
    }
    let jump = ahead(to, color);
    let jumps = first_rank(color) >> from & 1 != 0 && occupied >> jump & 1 == 0;
    Some((to, jumps.then_some(jump)))
}

/// The squares on the left and right of these.
const fn all_beside(set: u64) -> u64 {
    (set & !0x0101_0101_0101_0101) >> 1 | (set & !0x8080_8080_8080_8080) << 1
}

/// The square ahead of a pawn.
fn ahead(square: u8, color: Color) -> u8 {
    match color {
        Color::White => square.wrapping_add(8) & 63,
        Color::Black => square.wrapping_sub(8) & 63,
    }
}

/// The squares ahead of pawns.
fn all_ahead(pawns: u64, color: Color) -> u64 {
    match color {
        Color::White => pawns << 8,
        Color::Black => pawns >> 8,
    }
}

/// The rank from which pawns have two steps.
fn first_rank(color: Color) -> u64 {
    match color {
        Color::White => 0xff << 8,
        Color::Black => 0xff << 48,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen::to_fen;
    use crate::moves::{Move, exits, legal_moves};

    /// Codes by chance, the same for the same position.
    struct Mixed;

    impl Source for Mixed {
        fn code(&self, position: &Position) -> Option<Code> {
            let mixed = position.men().fold(position.turn as u64 + 7, |number, (square, man)| {
                let man = u64::from(square) << 4 | (man.kind as u64) << 1 | man.color as u64;
                (number ^ man).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
            });
            let legal = position.is_legal() && position.occupied().count_ones() > 2;
            legal.then_some(1 + (mixed % 65_535) as Code)
        }
    }

    /// The best exit, the best move, and the best one that is no underpromotion, move by move.
    fn slow(position: &Position) -> [Code; 3] {
        let code = |found: &Move| {
            let code = answer(&KnownSource(&Mixed), &found.after, Asked::exactly(false));
            before(code.expect("a legal position"))
        };
        let mut best = [0; 3];
        exits(position, |exit| best[0] = best[0].max(code(exit)));
        legal_moves(position, |found| {
            best[1] = best[1].max(code(found));
            if found.promotion.is_none_or(|kind| kind == Kind::Queen) {
                best[2] = best[2].max(code(found));
            }
        });
        if best[1] == 0 {
            let code = if position.is_check(position.turn) { MATED } else { DRAW };
            (best[1], best[2]) = (code, code);
        }
        best
    }

    #[test]
    fn rows_have_the_best_moves_of_their_positions() {
        let mut random = fastrand::Rng::with_seed(8);
        let (mut seen, mut with_exit) = (0, 0);
        for _ in 0..20_000 {
            let turn = if random.bool() { Color::White } else { Color::Black };
            let mut fixed = Position::empty(turn);
            for color in [Color::White, Color::Black] {
                fixed.put(random.u8(0..64), Man { color, kind: Kind::King });
            }
            let man = |random: &mut fastrand::Rng| Man {
                color: if random.bool() { Color::White } else { Color::Black },
                kind: Kind::ALL[random.usize(0..5)],
            };
            for _ in 0..random.usize(0..4) {
                // Pawns that are about to promote are there more often than they would be by
                // chance.
                let square = if random.bool() { random.u8(0..64) } else { random.u8(48..56) };
                let put = man(&mut random);
                fixed.put(if put.color == Color::Black { square ^ 56 } else { square }, put);
            }
            let lane = man(&mut random);
            let free = squares(!fixed.occupied());
            let lanes = free.filter(|&square| fixed.with(square, lane).is_legal());
            let lanes = lanes.fold(0_u64, |set, square| set | 1 << square);
            if lanes == 0 {
                continue;
            }
            let mut row = MoveRow::new(&Mixed, (&fixed, lane, lanes), false);
            row.look_at_exits().expect("all codes are known");
            let exits = row.best;
            row.look_at_all().expect("all codes are known");
            let enough = std::array::from_fn(|_| random.u16(1..));
            let mut bounded = MoveRow::new(&Mixed, (&fixed, lane, lanes), false);
            bounded.bound(&enough);
            bounded.look_at_all().expect("all codes are known");
            for square in squares(lanes) {
                let position = fixed.with(square, lane);
                let [exit, most, without] = slow(&position);
                let of = |best: &[Code; 64]| best[usize::from(square)];
                assert_eq!([of(&exits), of(&row.best)], [exit, most], "{}", to_fen(&position));
                let bound = of(&bounded.best);
                assert!(bound == without || (of(&enough)..without).contains(&bound));
                seen += 1;
                with_exit += u32::from(exit != 0);
            }
        }
        assert!(seen > 300_000 && with_exit > seen / 4, "{seen} {with_exit}");
    }
}

//! Legal moves.

use crate::board::{Color, Kind, Man, Position, attacks, squares};

/// A legal move and the position behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where the man came from.
    pub from: u8,
    /// Where it stands now.
    pub to: u8,
    /// What a pawn has become.
    pub promotion: Option<Kind>,
    /// Whether it took en passant.
    pub en_passant: bool,
    /// Whether a man was taken, or a pawn has promoted: the men are others than before.
    pub exit: bool,
    /// The position behind the move.
    pub after: Position,
}

const RANK_1: u64 = 0xff;
const RANK_8: u64 = 0xff << 56;

/// Which moves are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MoveFilter {
    All,
    /// Captures but for those en passant, and promotions.
    Exits,
    /// Captures en passant.
    EnPassant,
}

/// Calls `visit` with every legal move.
pub fn legal_moves(position: &Position, mut visit: impl FnMut(&Move)) {
    generate(position, MoveFilter::All, &mut visit);
}

/// Calls `visit` with every legal capture that is not en passant and every promotion.
pub fn exits(position: &Position, mut visit: impl FnMut(&Move)) {
    generate(position, MoveFilter::Exits, &mut visit);
}

/// Calls `visit` with every legal capture en passant.
pub fn en_passant_captures(position: &Position, mut visit: impl FnMut(&Move)) {
    generate(position, MoveFilter::EnPassant, &mut visit);
}

fn generate(position: &Position, asked: MoveFilter, visit: &mut dyn FnMut(&Move)) {
    let own = position.turn;
    let occupied = position.occupied();
    let enemies = position.of_color(own.other());
    let pawns = position.of(Man { color: own, kind: Kind::Pawn });
    if asked != MoveFilter::EnPassant {
        let targets = if asked == MoveFilter::All { !position.of_color(own) } else { enemies };
        for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King] {
            let man = Man { color: own, kind };
            for from in squares(position.of(man)) {
                for to in squares(attacks(man, from, occupied) & targets) {
                    play(position, (man, from, to), None, visit);
                }
            }
        }
        for from in squares(pawns) {
            pawn_moves(position, from, asked, visit);
        }
    }

    if asked == MoveFilter::Exits {
        return;
    }
    let can_be_taken = |&square: &u8| pawns != 0 && position.can_be_jumped(square);
    let Some(target) = position.en_passant.filter(can_be_taken) else { return };
    let enemy = Man { color: own.other(), kind: Kind::Pawn };

    // Without the pawn that has jumped there is nothing to take.
    if position.of(enemy) >> behind(target, own) & 1 == 0 || occupied >> (target & 63) & 1 != 0 {
        return;
    }

    for from in squares(attacks(enemy, target, occupied) & pawns) {
        let mut taken = *position;
        taken.remove(behind(target, own));
        play(&taken, (Man { color: own, kind: Kind::Pawn }, from, target), None, &mut |found| {
            visit(&Move { en_passant: true, exit: true, ..*found });
        });
    }
}

/// The square behind another one, from the view of a side.
fn behind(square: u8, color: Color) -> u8 {
    match color {
        Color::White => square.wrapping_sub(8) & 63,
        Color::Black => square.wrapping_add(8) & 63,
    }
}

fn pawn_moves(position: &Position, from: u8, asked: MoveFilter, visit: &mut dyn FnMut(&Move)) {
    let own = position.turn;
    let man = Man { color: own, kind: Kind::Pawn };
    let occupied = position.occupied();
    let ahead = behind(from, own.other());
    let mut targets = attacks(man, from, occupied) & position.of_color(own.other());
    let steps = !occupied & 1 << ahead;
    targets |= if asked == MoveFilter::All { steps } else { steps & (RANK_1 | RANK_8) };
    for to in squares(targets) {
        if 1 << to & (RANK_1 | RANK_8) == 0 {
            play(position, (man, from, to), None, visit);
            continue;
        }
        for kind in [Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight] {
            play(position, (man, from, to), Some(kind), visit);
        }
    }
    let start = if own == Color::White { 1 } else { 6 };
    let jump = behind(ahead, own.other());
    if asked == MoveFilter::All && from >> 3 == start && steps != 0 && occupied >> jump & 1 == 0 {
        play(position, (man, from, jump), None, &mut |found| {
            let mut found = *found;
            found.after.en_passant = Some(ahead);
            visit(&found);
        });
    }
}

/// Plays a move and shows it, if it leaves no king attacked.
fn play(
    position: &Position,
    (man, from, to): (Man, u8, u8),
    promotion: Option<Kind>,
    visit: &mut dyn FnMut(&Move),
) {
    let exit = promotion.is_some() || position.occupied() >> to & 1 != 0;
    let mut after = *position;
    after.remove(from);
    after.put(to, Man { color: man.color, kind: promotion.unwrap_or(man.kind) });
    after.en_passant = None;
    after.turn = position.turn.other();
    if !after.is_check(position.turn) {
        visit(&Move { from, to, promotion, en_passant: false, exit, after });
    }
}

/// Whether there is a legal move that is not en passant.
pub(crate) fn has_plain_move(position: &Position) -> bool {
    let plain = position.without_en_passant();
    let mut found = false;
    generate(&plain, MoveFilter::All, &mut |_| found = true);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen::parse_fen;

    fn count(position: &Position, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut sum = 0;
        legal_moves(position, |found| sum += count(&found.after, depth - 1));
        sum
    }

    /// Published counts; the positions have no castling rights that matter.
    #[test]
    fn move_counts_are_the_published_ones() {
        let start = parse_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1");
        let start = start.expect("the start");
        assert_eq!(count(&start, 3), 8902);
        let endgame = parse_fen("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1").expect("a position");
        assert_eq!(count(&endgame, 1), 14);
        assert_eq!(count(&endgame, 4), 43238);
    }
}

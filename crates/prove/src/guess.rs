//! What a slice is thought to be worth that is not open. Free to be wrong: it says where to look
//! first, never what is true.

use hoffman_board::{Color, Material, Outcome, Role};

/// From how much more material on a side is thought to win: in pawns where there are no pieces, and
/// where there are.
const PAWNS_AHEAD: i32 = 2;
const PIECES_AHEAD: i32 = 4;

/// The outcome that is likely.
pub(crate) fn outcome(material: &Material) -> Outcome {
    let worth = |color: Color| -> i32 {
        let men = material.count.get(color);
        let of = |role: Role, points: i32| points * i32::from(*men.get(role));
        of(Role::Queen, 9)
            + of(Role::Rook, 5)
            + of(Role::Bishop, 3)
            + of(Role::Knight, 3)
            + of(Role::Pawn, 1)
    };
    let pawns = |color: Color| i32::from(*material.count.get(color).get(Role::Pawn));
    let has_pieces = |color: Color| worth(color) > pawns(color);
    let ahead = worth(Color::White) - worth(Color::Black);
    let enough = if Color::ALL.into_iter().any(has_pieces) { PIECES_AHEAD } else { PAWNS_AHEAD };
    match ahead {
        _ if ahead >= enough => Outcome::WhiteWins,
        _ if ahead <= -enough => Outcome::BlackWins,
        _ => Outcome::Draw,
    }
}

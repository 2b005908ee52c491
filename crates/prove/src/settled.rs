//! Guesses where something is certain already.
//!
//! A strategy is followed only as far as it is not certain, so what lies behind that costs nothing.
//! With no moves left there the moves of a guess tell how much is still to be found out on the way,
//! and a strategy with the fewest needs the least.

use hoffman_board::Color;
use hoffman_space::{Code, Codes, EnPassantValues, SliceValues, outcome_number, side};

/// Codes are looked at so many at a time.
const PART: usize = 4096;

/// A guess with no moves left where one of the bounds tells who wins.
pub(crate) fn settled(
    mut guess: SliceValues,
    least: &SliceValues,
    most: &SliceValues,
) -> SliceValues {
    for turn in [Color::White, Color::Black] {
        let bounds = [least, most].map(|bound| &bound.codes[side(turn)]);
        settle(&mut guess.codes[side(turn)], turn, bounds);
    }
    let bounds = least.en_passant.iter().zip(&most.en_passant);
    for (EnPassantValues { square, codes }, (least, most)) in
        guess.en_passant.iter_mut().zip(bounds)
    {
        // White takes on the sixth rank.
        let turn = Color::from_white(*square >= 32);
        settle(codes, turn, [&least.codes, &most.codes]);
    }
    guess
}

/// The same of codes with a side to move.
fn settle(guess: &mut Codes, turn: Color, [least, most]: [&Codes; 2]) {
    let (against, favouring) = turn.fold_wb((least, most), (most, least));
    match guess {
        Codes::Narrow(codes) => settle_codes(codes, against, favouring),
        Codes::Wide(codes) => settle_codes(codes, against, favouring),
        // Those of a guess are changed before they are stored.
        Codes::Stored(_) => {}
    }
}

/// The same, given the bound against the side to move and that in its favour.
fn settle_codes<C: Code>(guess: &mut [C], against: &Codes, favouring: &Codes) {
    let (won, lost) = (C::win(1), C::loss(0));
    let (win, loss) = (outcome_number(won), outcome_number(lost));
    let mut parts = [[C::ILLEGAL; PART]; 2];
    for (at, guess) in (0..).step_by(PART).zip(guess.chunks_mut(PART)) {
        let [least, most] = parts.each_mut().map(|part| &mut part[..guess.len()]);
        against.read(at, least);
        favouring.read(at, most);
        for ((least, most), guess) in least.iter().zip(most.iter()).zip(guess) {
            // Without a way out, so that many are looked at at once.
            let settled = if outcome_number(*least) == win { won } else { *guess };
            *guess = if outcome_number(*most) == loss { lost } else { settled };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_has_no_moves_left() {
        let win = |moves| u8::win(moves);
        let loss = |moves| u8::loss(moves);
        let (draw, none) = (u8::DRAW, u8::ILLEGAL);
        let guess = [win(9), win(9), loss(7), loss(7), draw, none];
        let against = [win(1), loss(1), loss(1), loss(1), loss(1), none];
        let favouring = [win(1), win(1), loss(1), draw, win(1), none];
        let of = |codes: [u8; 6]| Codes::Narrow(codes.to_vec()).outcomes();
        let (against, favouring) = (of(against), of(favouring));

        let expected = [win(1), win(9), loss(0), loss(7), draw, none];
        let read = |codes: &Codes| {
            let mut read = [none; 6];
            codes.read(0, &mut read);
            read
        };
        let mut white = Codes::Narrow(guess.to_vec());
        settle(&mut white, Color::White, [&against, &favouring]);
        assert_eq!(read(&white), expected);
        let mut black = Codes::Wide(guess.map(u16::convert).to_vec());
        settle(&mut black, Color::Black, [&favouring, &against]);
        assert_eq!(read(&black), expected);
    }
}

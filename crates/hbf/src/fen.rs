//! Positions as text.

use crate::board::{Color, Kind, Man, Position};

/// Reads a position from the first four fields of a FEN. None if it is none, or has castling
/// rights.
pub fn parse_fen(text: &str) -> Option<Position> {
    let mut fields = text.split_whitespace();
    let (board, turn) = (fields.next()?, fields.next()?);
    let turn = match turn {
        "w" => Color::White,
        "b" => Color::Black,
        _ => return None,
    };
    let mut position = Position::empty(turn);
    let mut rank = 8_u8;

    for row in board.split('/') {
        rank = rank.checked_sub(1)?;
        let mut file = 0_u8;
        for letter in row.chars() {
            if let Some(gap) = letter.to_digit(10) {
                file = file.checked_add(gap as u8)?;
                continue;
            }
            let color = if letter.is_uppercase() { Color::White } else { Color::Black };
            let man = Man { color, kind: Kind::of_letter(letter)? };
            if file > 7 {
                return None;
            }
            position.put(8 * rank + file, man);
            file += 1;
        }
        if file != 8 {
            return None;
        }
    }

    if fields.next().is_some_and(|castling| castling != "-") || rank != 0 {
        return None;
    }
    position.en_passant = match fields.next() {
        None | Some("-") => None,
        Some(square) => Some(parse_square(square)?),
    };
    Some(position)
}

fn parse_square(text: &str) -> Option<u8> {
    match *text.as_bytes() {
        [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Some(8 * (rank - b'1') + file - b'a'),
        _ => None,
    }
}

/// The position as a FEN of four fields.
pub fn to_fen(position: &Position) -> String {
    let mut text = String::new();
    for rank in (0..8).rev() {
        let mut gap = 0;
        for file in 0..8 {
            let Some(man) = position.man(8 * rank + file) else {
                gap += 1;
                continue;
            };
            if gap > 0 {
                text.push_str(&gap.to_string());
                gap = 0;
            }
            let letter = man.kind.letter();
            text.push(if man.color == Color::White { letter } else { letter.to_ascii_lowercase() });
        }
        if gap > 0 {
            text.push_str(&gap.to_string());
        }
        text.push(if rank > 0 { '/' } else { ' ' });
    }

    text.push(if position.turn == Color::White { 'w' } else { 'b' });
    text.push_str(" - ");
    match position.en_passant {
        None => text.push('-'),
        Some(square) => {
            text.push(char::from(b'a' + (square & 7)));
            text.push(char::from(b'1' + (square >> 3 & 7)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fen_round_trips() {
        for fen in ["8/8/8/8/Pp6/1K6/1R6/k7 b - a3", "4k3/8/8/8/8/8/8/4K2R w - -"] {
            let position = parse_fen(fen).expect("a position");
            assert_eq!(to_fen(&position), fen);
            assert_eq!(position.swapped().swapped(), position);
        }
        for bad in ["", "8/8 w - -", "9/8/8/8/8/8/8/8 w - -", "8/8/8/8/8/8/8/8 w K -", "x w - -"] {
            assert_eq!(parse_fen(bad), None, "{bad}");
        }
    }
}

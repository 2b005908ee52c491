//! Certificates by hand: a right one, and what is found in wrong ones.

use std::collections::BTreeMap;

use hoffman_certificate::{Choice, Claim, Claimed, check, write};
use shakmaty::Color;

const MATE_IN_TWO: &str = "7k/8/5K2/8/8/8/8/6Q1 b - -";

/// A king in the corner, and a queen that mates after its only move.
fn right() -> Claim {
    let choices = [("8/7k/5K2/8/8/8/8/6Q1 w - -", "g1g7", 1)];
    claim(Claimed::Wins(1), &choices)
}

fn claim(claimed: Claimed, choices: &[(&str, &str, u16)]) -> Claim {
    let choice = |&(epd, m, moves): &(&str, &str, u16)| {
        let m = (m != "-").then(|| m.to_owned());
        (epd.to_owned(), Choice { m, moves })
    };
    let choices: BTreeMap<String, Choice> = choices.iter().map(choice).collect();
    Claim { side: Color::White, claimed, choices }
}

fn checked(position: &str, claim: Claim) -> Result<(Claimed, usize), String> {
    let file = write(Vec::new(), position, &[claim]).unwrap();
    let checked = check(file.as_slice()).map_err(|error| error.to_string())?;
    let (side, claimed, positions) = checked.claims[0];
    assert_eq!((side, checked.position.as_str()), (Color::White, position));
    Ok((claimed, positions))
}

#[test]
fn a_right_certificate_is_right() {
    assert_eq!(checked(MATE_IN_TWO, right()), Ok((Claimed::Wins(1), 1)));
}

#[test]
fn what_is_wrong_is_found() {
    let here = "8/7k/5K2/8/8/8/8/6Q1 w - -";
    let wins = |choices: &[(&str, &str, u16)]| claim(Claimed::Wins(1), choices);
    for (wrong, line, why) in [
        (claim(Claimed::Wins(0), &[(here, "g1g7", 1)]), 3, "takes 1 moves, not 0"),
        (wins(&[]), 3, "has no move"),
        (wins(&[(here, "g1g7", 0)]), 4, "a win takes a move at least"),
        (wins(&[(here, "g1g6", 1)]), 4, "has no move"),
        (wins(&[(here, "-", 1)]), 4, "a move is missing"),
        (wins(&[(here, "g1h3", 1)]), 4, "'g1h3'"),
        (wins(&[(here, "rubbish", 1)]), 4, "'rubbish'"),
        (wins(&[("8/7k/5K2/8/8/8/8/6Q1 b - -", "h7h8", 1)]), 4, "the other side is to move"),
        (wins(&[("8/7k/6K1/8/8/8/8/6Q1 w - -", "g1g2", 1)]), 4, "8/7k/6K1"),
        (wins(&[("8/8", "g1g2", 1)]), 4, "it is not a position of four fields"),
        (claim(Claimed::Holds, &[(here, "g1g7", 1)]), 4, "moves are not counted"),
    ] {
        let error = checked(MATE_IN_TWO, wrong).unwrap_err();
        assert!(error.starts_with(&format!("line {line}: ")) && error.contains(why), "{error}");
    }
}

/// Stalemate is no win, and a hold ends in it.
#[test]
fn stalemate_draws() {
    let before = "7k/8/5K2/8/8/8/8/6Q1 w - -";
    let choice = [(before, "g1g6", 1)];
    let error = checked(before, claim(Claimed::Wins(1), &choice)).unwrap_err();
    assert!(error.contains("stalemate"), "{error}");
    let stalemated = "8/8/8/8/8/5k2/5p2/5K2 w - -";
    let hold = claim(Claimed::Holds, &[(stalemated, "-", 0)]);
    assert_eq!(checked(stalemated, hold), Ok((Claimed::Holds, 1)));
    let mated = "8/8/8/8/8/6k1/6q1/6K1 w - -";
    let error = checked(mated, claim(Claimed::Holds, &[(mated, "-", 0)])).unwrap_err();
    assert!(error.contains("a move is missing"), "{error}");
}

/// Of damaged bytes some say nothing; no others go unseen.
#[test]
fn damage_is_found() {
    let good = write(Vec::new(), MATE_IN_TWO, &[right()]).unwrap();
    let expected = check(good.as_slice()).unwrap();
    let mut found = 0;
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            match check(bad.as_slice()) {
                Ok(checked) => assert_eq!(checked, expected),
                Err(_) => found += 1,
            }
        }
        assert!(check(&good[..at]).is_err(), "{at} bytes");
    }
    // Time and system in the header of gzip mean nothing to anybody.
    assert!(found >= 8 * (good.len() - 10), "{found} of {}", 8 * good.len());
}

#[test]
fn what_is_no_certificate_is_refused() {
    for text in ["", "hello\n", "hoffman-certificate 1\nposition x\n"] {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, text.as_bytes()).unwrap();
        assert!(check(gz.finish().unwrap().as_slice()).is_err(), "{text}");
        assert!(check(text.as_bytes()).is_err(), "{text}");
    }
}

/// The checkers read one format: what one of them accepts the other one does.
#[test]
fn numbers_and_positions_are_written_in_one_way() {
    let mut text = String::new();
    let good = write(Vec::new(), MATE_IN_TWO, &[right()]).unwrap();
    let mut unpacked = flate2::read::GzDecoder::new(good.as_slice());
    std::io::Read::read_to_string(&mut unpacked, &mut text).unwrap();
    assert!(check(good.as_slice()).is_ok());

    for (part, other) in [
        ("wins 1", "wins +1"),
        ("wins 1", "wins 65537"),
        ("end 1", "end 01"),
        ("g1g7 1", "g1g7 01x"),
        (" b - -", " b - - 0 1"),
        (" b - -", " b Q -"),
    ] {
        let changed = text.replacen(part, other, 1);
        assert_ne!(changed, text, "{part}");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, changed.as_bytes()).unwrap();
        assert!(check(gz.finish().unwrap().as_slice()).is_err(), "{changed}");
    }
}

//! Published counts and longest mates of all endings of three to five men.

use hoffman_board::Material;

use crate::table::WdlCounts;

/// Facts about an ending as published by the Syzygy and Prophet projects. The stronger side is
/// White.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownStats {
    /// The name, as `KQvKR`.
    pub name: &'static str,
    /// The ending.
    pub material: Material,
    /// White to move: positions up to board symmetry (with pawns: half the board), identical men
    /// counted as different, legal positions only, without en passant. The fifty-move rule is
    /// ignored.
    pub white: WdlCounts,
    /// Black to move.
    pub black: WdlCounts,
    /// White's longest win with White to move.
    pub longest_white_win: Option<Longest>,
    /// Black's longest win with Black to move.
    pub longest_black_win: Option<Longest>,
}

/// The length of a longest win for the winner to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest {
    /// In plies.
    pub plies: u16,
    /// In the winner's moves.
    pub moves: u16,
}

/// The facts of all 145 endings.
pub fn known_stats() -> Vec<KnownStats> {
    include_str!("../data/known-stats.csv").lines().skip(1).map(parsed).collect()
}

/// The facts of one ending of three to five men.
pub fn known_stats_of(material: &Material) -> Option<KnownStats> {
    let (material, _) = material.normalized();
    known_stats().into_iter().find(|known| known.material == material)
}

fn parsed(line: &'static str) -> KnownStats {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |i: usize| fields[i].parse::<u64>().expect("a count");
    let counts = |i: usize, legal: usize| {
        let counts = WdlCounts { wins: number(i), draws: number(i + 1), losses: number(i + 2) };
        assert_eq!(counts.legal(), number(legal), "{line}");
        counts
    };
    let longest = |i: usize| {
        (!fields[i].is_empty())
            .then(|| Longest { plies: number(i) as u16, moves: number(i + 1) as u16 })
    };
    KnownStats {
        name: fields[0],
        material: fields[0].parse().expect("an ending"),
        white: counts(1, 7),
        black: counts(4, 8),
        longest_white_win: longest(9),
        longest_black_win: longest(11),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_ending() {
        let known = known_stats();
        assert_eq!(known.len(), 145);
        for facts in known {
            assert!(facts.material.is_normalized(), "{}", facts.name);
            assert_eq!(facts.material.to_string(), facts.name);
            for longest in [facts.longest_white_win, facts.longest_black_win].into_iter().flatten()
            {
                assert_eq!(longest.plies, 2 * longest.moves - 1);
            }
        }
    }
}

//! What one position can reach: for every ending behind it, the squares that each pawn can get to.
//!
//! Sets are taken pawn by pawn: a table holds all combinations of its pawns' squares. That is more than
//! the position can reach when pawns hinder each other, never less.

use std::collections::BTreeMap;

use hoffman_board::{Color, Material, Role};

use crate::ending::{Job, MaterialKey, PROMOTIONS};
use crate::part::{Part, ways};

/// The jobs behind a position given by its material and its pawns, each after what it needs.
pub fn reachable(material: &Material, pawns: &[(Color, u64)]) -> Vec<Job> {
    let mut found: BTreeMap<MaterialKey, Part> = BTreeMap::new();
    let mut work = vec![(*material, Part::new(pawns.iter().copied()))];
    while let Some((material, part)) = work.pop() {
        let (normal, swapped) = material.normalized();
        let part = if swapped { part.swapped() } else { part };
        let key = MaterialKey(normal);
        let united = match found.get(&key) {
            Some(known) if known.covers(&part) => continue,
            Some(known) => unite(known, &part),
            None if normal.is_symmetric() => unite(&part, &part.swapped()),
            None => part,
        };
        let united = if normal.is_symmetric() { unite(&united, &united.swapped()) } else { united };
        work.extend(successors(&normal, &united));
        found.insert(key, united);
    }
    found
        .into_iter()
        .map(|(key, part)| {
            let whole = part.is_whole();
            Job { material: key.0, part: (!whole).then_some(part) }
        })
        .collect()
}

/// The smallest part that covers both, pawn by pawn.
fn unite(a: &Part, b: &Part) -> Part {
    Part::new(a.pawns.iter().zip(&b.pawns).map(|(&(color, set), &(_, other))| (color, set | other)))
}

/// Everything one capture or promotion away.
fn successors(material: &Material, part: &Part) -> Vec<(Material, Part)> {
    let mut all = Vec::new();
    let pieces = |color: Color| {
        PROMOTIONS.into_iter().filter(move |&role| *material.count.get(color).get(role) > 0)
    };
    let without = |skip: usize| {
        part.pawns.iter().enumerate().filter(move |&(i, _)| i != skip).map(|(_, &pawn)| pawn)
    };
    for color in Color::ALL {
        for role in pieces(color) {
            all.extend(material.without(color, role).map(|m| (m, part.clone())));
        }
    }
    for (i, &(color, set)) in part.pawns.iter().enumerate() {
        let Some(pawnless) = material.without(color, Role::Pawn) else { continue };
        all.push((pawnless, Part::new(without(i))));
        let last = color.fold_wb(0x00ff_0000_0000_0000, 0x0000_0000_0000_ff00);
        let (ready, still) = (set & last, set & !last);
        if ready != 0 {
            for promoted in PROMOTIONS {
                let queen = pawnless.with(color, promoted);
                all.push((queen, Part::new(without(i))));
                for victim in pieces(color.other()) {
                    let captured = queen.without(color.other(), victim);
                    all.extend(captured.map(|m| (m, Part::new(without(i)))));
                }
            }
        }
        let forward = color.fold_wb(still << 8, still >> 8);
        let beside =
            (forward & !0x0101_0101_0101_0101) >> 1 | (forward & !0x8080_8080_8080_8080) << 1;
        if beside == 0 {
            continue;
        }
        for victim in pieces(color.other()) {
            let pawns = part.pawns.iter().enumerate();
            let pawns = pawns.map(|(j, &(c, s))| (c, if j == i { ways(c, beside) } else { s }));
            let pawns = Part::new(pawns);
            all.extend(material.without(color.other(), victim).map(|m| (m, pawns)));
        }
        for (j, &(victim, there)) in part.pawns.iter().enumerate() {
            if victim == color {
                continue;
            }
            // An en passant victim is taken on the square it jumped over.
            let passed = color.fold_wb(there << 8, there >> 8);
            let to = beside & (there | passed);
            if to == 0 {
                continue;
            }
            let left = part.pawns.iter().enumerate().filter(|&(k, _)| k != j);
            let pawns = left.map(|(k, &(c, s))| (c, if k == i { ways(c, to) } else { s }));
            all.extend(material.without(victim, Role::Pawn).map(|m| (m, Part::new(pawns))));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(material: &str, pawns: &[(Color, u64)]) -> Vec<String> {
        let jobs = reachable(&material.parse().unwrap(), pawns);
        jobs.iter().map(Job::file_name).collect()
    }

    #[test]
    fn lucena_needs_one_slice_and_pawnless_endings() {
        let files = names("KRPvKR", &[(Color::White, 1 << 49)]);
        for file in ["krpkr-b7.htb", "kpkr-b7.htb", "krpk-b7.htb", "kpk-b7.htb"] {
            let file = if file == "kpkr-b7.htb" { "krkp-b2.htb" } else { file };
            assert!(files.contains(&file.to_owned()), "{file} of {files:?}");
        }
        assert!(files.contains(&"kqrkr.htb".to_owned()));
        assert_eq!(files.last().unwrap(), "krpkr-b7.htb");
    }

    #[test]
    fn a_capture_changes_the_file() {
        let files = names("KPvKR", &[(Color::White, 1 << 9)]);
        assert!(files.contains(&"kpk-a3+b2+c3+.htb".to_owned()), "{files:?}");
    }

    #[test]
    fn pawns_take_pawns() {
        let files = names("KPvKP", &[(Color::White, 1 << 12), (Color::Black, 1 << 51)]);
        assert!(files.iter().any(|f| f.starts_with("kpkp-")), "{files:?}");
        assert!(files.iter().any(|f| f.starts_with("kpk-")), "{files:?}");
    }
}

//! What one position can reach: for every ending behind it, the squares that each pawn can get to.
//!
//! Sets are taken pawn by pawn: a table holds all combinations of its pawns' squares. That is more
//! than the position can reach when pawns hinder each other, never less.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hoffman_board::{Color, Material, Role};
use hoffman_space::{Orientation, PawnSquares};

use crate::ending::{EndingJob, MaterialKey, PROMOTIONS};
use crate::part::{Part, ways};

/// The jobs behind a position given by its material and its pawns, each after what it needs.
pub fn reachable(material: &Material, pawns: &[(Color, u64)]) -> Vec<EndingJob> {
    let found = walk(material, pawns, true, usize::MAX).found;
    let job = |(key, part): (MaterialKey, Part)| {
        let whole = part.is_whole();
        EndingJob { material: key.0, part: (!whole).then_some(part) }
    };
    found.into_iter().map(job).collect()
}

/// How many steps are made before an [`Extent`] is given up: about a second.
const STEPS: usize = 60_000;

/// How much lies behind a position, without a list of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    /// Endings, the position's own among them.
    pub endings: usize,
    /// Whether these are all: there may be more than can be counted at once.
    pub complete: bool,
    /// Positions of their tables, both sides to move, at most.
    pub positions: f64,
    /// The ending with the most positions, and how many.
    pub largest: (Material, f64),
}

/// Counts what lies behind a position, with promotions or as if no pawn could promote.
pub fn extent(material: &Material, pawns: &[(Color, u64)], promotions: bool) -> Extent {
    let Reachable { found, complete } = walk(material, pawns, promotions, STEPS);
    let sizes = found.iter().map(|(key, part)| (key.0, positions(&key.0, part)));
    let largest = sizes.clone().max_by(|a, b| a.1.total_cmp(&b.1));
    Extent {
        endings: found.len(),
        complete,
        positions: sizes.map(|(_, positions)| positions).sum(),
        largest: largest.unwrap_or((*material, 0.0)),
    }
}

/// The positions of a part, at most.
fn positions(material: &Material, part: &Part) -> f64 {
    let movers = (material.men() - part.pawns.len()) as i32;
    // Without pawns the kings stand in 462 ways that are not images of each other.
    let placements =
        if part.pawns.is_empty() { 462.0 * 64_f64.powi(movers - 2) } else { 64_f64.powi(movers) };
    let mut structures = 1.0;
    let mut like = 0;
    for (i, pawn) in part.pawns.iter().enumerate() {
        like = if i > 0 && part.pawns[i - 1] == *pawn { like + 1 } else { 1 };
        structures *= f64::from(pawn.1.count_ones()) / f64::from(like);
    }
    2.0 * placements * structures
}

/// What can be reached, and whether that is all.
struct Reachable {
    found: BTreeMap<MaterialKey, Part>,
    complete: bool,
}

/// Goes through everything behind a position, in at most so many steps.
fn walk(material: &Material, pawns: &[(Color, u64)], promotions: bool, steps: usize) -> Reachable {
    let mut found: BTreeMap<MaterialKey, Part> = BTreeMap::new();
    let mut work = vec![(*material, Part::new(pawns.iter().copied()))];
    let mut left = steps;
    while let Some((material, part)) = work.pop() {
        let Some(rest) = left.checked_sub(1) else { return Reachable { found, complete: false } };
        left = rest;
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
        work.extend(successors(&normal, &united, promotions));
        found.insert(key, united);
    }
    Reachable { found, complete: true }
}

/// The smallest part that covers both, pawn by pawn.
fn unite(a: &Part, b: &Part) -> Part {
    Part::new(a.pawns.iter().zip(&b.pawns).map(|(&(color, set), &(_, other))| (color, set | other)))
}

/// The pawn structures, with all their images, that captures and promotions out of a part lead to,
/// by endings with their stronger side White.
pub fn structures_behind(
    material: &Material,
    part: &Part,
) -> HashMap<Material, BTreeSet<PawnSquares>> {
    let mut found: HashMap<Material, BTreeSet<PawnSquares>> = HashMap::new();
    for (behind, part) in successors(material, part, true) {
        let (normal, swapped) = behind.normalized();
        let part = if swapped { part.swapped() } else { part };
        let structures = found.entry(normal).or_default();
        for structure in part.structures() {
            for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
                if !swap || normal.is_symmetric() {
                    structures.insert(structure.oriented(Orientation { swap, mirror }));
                }
            }
        }
    }
    found
}

/// Everything one capture or, if wanted, promotion away.
fn successors(material: &Material, part: &Part, promotions: bool) -> Vec<(Material, Part)> {
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
        if ready != 0 && promotions {
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
    use hoffman_space::Layout;

    use super::*;

    fn names(material: &str, pawns: &[(Color, u64)]) -> Vec<String> {
        let jobs = reachable(&material.parse().unwrap(), pawns);
        jobs.iter().map(EndingJob::file_name).collect()
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
    fn much_is_counted_without_a_list() {
        let pawns = [(Color::White, 1 << 9), (Color::White, 1 << 10), (Color::Black, 1 << 50)];
        let material: Material = "KPPvKP".parse().unwrap();
        let all = extent(&material, &pawns, true);
        let jobs = reachable(&material, &pawns);
        assert!(all.complete && all.endings == jobs.len());
        // The tables of the jobs hold no more.
        let held: usize = jobs
            .iter()
            .filter(|job| job.material.men() < 5)
            .map(|job| 2 * Layout::new(&job.material).len() * job.slices().len())
            .sum();
        assert!(all.positions > held as f64);
        let race = extent(&material, &pawns, false);
        assert!(race.endings < all.endings && race.positions < all.positions / 10.0);

        // Seven pawns a side: nobody waits for the end of that.
        let rank =
            |rank: u32, color: Color| (0..7).map(move |file| (color, 1 << (8 * rank + file)));
        let pawns: Vec<_> = rank(1, Color::White).chain(rank(6, Color::Black)).collect();
        let material: Material = "KPPPPPPPvKPPPPPPP".parse().unwrap();
        let all = extent(&material, &pawns, true);
        assert!(!all.complete && all.positions > 1e16, "{all:?}");
    }

    #[test]
    fn structures_behind_a_part_are_few() {
        let material: Material = "KPPvKP".parse().unwrap();
        let part = Part::of_name(&material, "a2+-b2+-g7+").unwrap();
        let behind = structures_behind(&material, &part);
        // One of the pawns is a queen, and the others are on their files, or on the images of
        // these.
        assert_eq!(behind[&"KQPvKP".parse().unwrap()].len(), 2 * (36 + 36));
        assert_eq!(behind[&"KPPvKQ".parse().unwrap()].len(), 2 * 36);
        assert!(behind[&"KPPvK".parse().unwrap()].len() < 200);
    }

    #[test]
    fn pawns_take_pawns() {
        let files = names("KPvKP", &[(Color::White, 1 << 12), (Color::Black, 1 << 51)]);
        assert!(files.iter().any(|f| f.starts_with("kpkp-")), "{files:?}");
        assert!(files.iter().any(|f| f.starts_with("kpk-")), "{files:?}");
    }
}

//! Complete endings: what they lead to, and a list of jobs in which everything comes after what it
//! needs.

use std::collections::BTreeSet;

use hoffman_board::material::NAMING_ORDER;
use hoffman_board::{Color, Material, Role};
use hoffman_space::PawnSquares;

use crate::part::Part;

/// The roles a pawn can become.
pub const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// One table to be solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingJob {
    /// The ending, stronger side White.
    pub material: Material,
    /// The pawn squares, if it is a part of the ending only.
    pub part: Option<Part>,
}

impl EndingJob {
    /// The job of a name such as `KRPvKR-b7` or `krpkr-b7.htb`; none if that is not the name of a
    /// part of an ending whose stronger side is named first.
    pub fn of_part(name: &str) -> Option<EndingJob> {
        let stem = name.strip_suffix(".htb").or_else(|| name.strip_suffix(".hbf")).unwrap_or(name);
        let (ending, part) = stem.split_once('-')?;
        let material: Material = ending.parse().ok()?;
        let is_normal = material.normalized().0 == material;
        let part = Part::of_name(&material, part).filter(|_| is_normal)?;
        Some(EndingJob { material, part: Some(part) })
    }

    /// The slices of the table, in normal form.
    pub fn slices(&self) -> BTreeSet<PawnSquares> {
        let swappable = self.material.is_symmetric();
        let structures = match &self.part {
            Some(part) => part.structures(),
            None => Part::whole(&self.material).structures(),
        };
        structures.into_iter().map(|s| s.normalized(swappable).0).collect()
    }

    /// How many slices the table has, without a list of them where it is whole.
    pub fn slice_count(&self) -> u64 {
        if self.part.is_some() {
            return self.slices().len() as u64;
        }
        let pawns = |color| u64::from(*self.material.count.get(color).get(Role::Pawn));
        let (white, black) = (pawns(Color::White), pawns(Color::Black));
        // Structures that are images of each other are one, and so are counted by what the images
        // leave as it is, after Burnside. Files change places in pairs of squares.
        let all = choose(48, white) * choose(48 - white, black);
        let mirrored = if white % 2 == 0 && black % 2 == 0 {
            choose(24, white / 2) * choose(24 - white / 2, black / 2)
        } else {
            0
        };
        if !self.material.is_symmetric() {
            return all.midpoint(mirrored);
        }
        // With the colours exchanged ranks change places, or squares by half a turn.
        let swapped = choose(24, white) << white;
        (all + mirrored + 2 * swapped) / 4
    }

    /// The file name without directory: `krpkr.htb`, `krpkr-b7.htb`.
    pub fn file_name(&self) -> String {
        match &self.part {
            Some(part) => format!("{}-{part}.htb", self.material.stem()),
            None => format!("{}.htb", self.material.stem()),
        }
    }
}

/// In how many ways some of many can be chosen.
fn choose(many: u64, some: u64) -> u64 {
    (0..some).fold(1, |ways, taken| ways * (many - taken) / (taken + 1))
}

/// The endings (stronger side White) that captures and promotions lead to directly.
pub fn dependencies(material: &Material) -> BTreeSet<MaterialKey> {
    material.exits().into_iter().map(|(_, m)| MaterialKey(m.normalized().0)).collect()
}

/// A material ordered by its name, smaller endings first: for sorted sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialKey(pub Material);

impl PartialOrd for MaterialKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MaterialKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |m: &Material| {
            let pawns = m.count.white.pawn + m.count.black.pawn;
            (m.men(), pawns, m.to_string())
        };
        key(&self.0).cmp(&key(&other.0))
    }
}

/// The jobs for complete endings and everything they lead to. Endings with fewer men come first,
/// among them those with fewer pawns, so that every job comes after what it needs.
pub fn complete(materials: impl IntoIterator<Item = Material>) -> Vec<EndingJob> {
    let mut wanted: Vec<Material> = materials.into_iter().map(|m| m.normalized().0).collect();
    let mut seen = BTreeSet::new();
    while let Some(material) = wanted.pop() {
        if seen.insert(MaterialKey(material)) {
            wanted.extend(dependencies(&material).into_iter().map(|key| key.0));
        }
    }
    seen.into_iter().map(|key| EndingJob { material: key.0, part: None }).collect()
}

/// The same jobs, with parts by the files of their pawns before each ending that has pawns and so
/// many men or more.
pub fn with_parts(jobs: Vec<EndingJob>, men: usize) -> Vec<EndingJob> {
    let mut all = Vec::new();
    for job in jobs {
        if job.part.is_none() && job.material.men() >= men {
            let parts = Part::by_files(&job.material).into_iter();
            all.extend(parts.map(|part| EndingJob { material: job.material, part: Some(part) }));
        }
        all.push(job);
    }
    all
}

/// All endings with up to `men` men, bare kings included.
pub fn all_endings(men: usize) -> Vec<Material> {
    let mut all = vec![Material::bare_kings()];
    let mut last = all.clone();
    for _ in 2..men {
        let mut next = BTreeSet::new();
        for material in &last {
            for color in Color::ALL {
                for role in NAMING_ORDER {
                    next.insert(MaterialKey(material.with(color, role).normalized().0));
                }
            }
        }
        last = next.into_iter().map(|key| key.0).collect();
        all.extend(&last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_145_endings_of_three_to_five_men() {
        assert_eq!(all_endings(5).len(), 146);
        assert_eq!(all_endings(4).len(), 36);
    }

    #[test]
    fn jobs_come_after_what_they_need() {
        let jobs = complete(["KPPvKP".parse().unwrap()]);
        for (at, job) in jobs.iter().enumerate() {
            for needed in dependencies(&job.material) {
                assert!(jobs[..at].iter().any(|j| j.material == needed.0), "{}", job.material);
            }
        }
        assert_eq!(jobs.last().map(EndingJob::file_name).as_deref(), Some("kppkp.htb"));
    }

    #[test]
    fn names_of_parts_are_read() {
        for name in ["KRPvKR-b7", "krpkr-b7", "krpkr-b7.htb", "krpkr-b7.hbf"] {
            let job = EndingJob::of_part(name).unwrap();
            assert_eq!(job.file_name(), "krpkr-b7.htb");
        }
        for name in ["krpkr", "krkrp-b7", "x-b7", "kqk-b7", "krpkr-all", "krpkr-b9"] {
            assert!(EndingJob::of_part(name).is_none(), "{name}");
        }
    }

    #[test]
    fn slices_are_counted() {
        for (name, slices) in [
            ("KRvK", 1),
            ("KRvKR", 1),
            ("KPPPvK", 8648),
            ("KPvK", 24),
            ("KPPvK", 576),
            ("KPvKP", 588),
            ("KRPvKP", 1128),
        ] {
            let job = EndingJob { material: name.parse().unwrap(), part: None };
            assert_eq!(job.slices().len(), slices, "{name}");
            assert_eq!(job.slice_count(), slices as u64, "{name}");
        }
    }
}

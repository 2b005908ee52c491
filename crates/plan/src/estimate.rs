//! What a job costs in memory, before it is begun.

use hoffman_space::Layout;

use crate::ending::Job;

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// What remains of the job: its values.
    pub values: u64,
    /// What solving its largest slice takes besides.
    pub working: u64,
}

/// Estimates a job. Solving needs, per position of a slice and side, two bits of planes, about four of
/// logs and three of events; per position of the table one byte of value a side.
pub fn estimate(job: &Job) -> Estimate {
    let positions = Layout::new(&job.material).len() as u64;
    let slices = job.slices().len() as u64;
    Estimate { values: 2 * positions * slices, working: 2 * positions * 5 / 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_men_take_a_quarter_gigabyte() {
        let job = Job { material: "KQRvKR".parse().unwrap(), part: None };
        assert_eq!(estimate(&job).values, 462 * 64 * 64 * 64 * 2);
    }
}

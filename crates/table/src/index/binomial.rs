//! Binomial coefficients, and the number of a combination.

/// The most men a group can have.
const MAX_MEN: usize = 16;
/// The most codes a man can have, plus one.
const MAX_CODES: usize = 65;

static TABLE: [[u64; MAX_CODES]; MAX_MEN + 1] = table();

const fn table() -> [[u64; MAX_CODES]; MAX_MEN + 1] {
    let mut t = [[0; MAX_CODES]; MAX_MEN + 1];
    let mut n = 0;
    while n < MAX_CODES {
        t[0][n] = 1;
        n += 1;
    }
    let mut k = 1;
    while k <= MAX_MEN {
        let mut n = 1;
        while n < MAX_CODES {
            t[k][n] = t[k - 1][n - 1] + t[k][n - 1];
            n += 1;
        }
        k += 1;
    }
    t
}

/// `C(n, k)` for `n <= 64`, `k <= 16`; 0 if `k > n`.
pub(super) fn binomial(n: usize, k: usize) -> u64 {
    TABLE[k][n]
}

/// The largest `v < limit` with `C(v, k) <= rest`; none if `limit` is 0.
pub(super) fn largest_below(rest: u64, k: usize, limit: usize) -> Option<usize> {
    if k == 1 {
        return Some((rest as usize).min(limit.checked_sub(1)?));
    }
    TABLE[k][..limit].partition_point(|&c| c <= rest).checked_sub(1)
}

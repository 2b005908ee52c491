//! Operations on a row of 64 codes, plain and for one family of processors.

use hoffman_space::Code;

/// The codes of a row.
pub(crate) type Row<C> = [C; 64];

/// What a processor can do for whole rows of bytes.
pub(crate) trait Isa {
    /// The places where a byte equals `code`.
    fn equal(row: &[u8; 64], code: u8) -> u64;
    /// `row[i] = max(row[i], other[i])` where bit `i` of `mask` is set.
    fn max(row: &mut [u8; 64], other: &[u8; 64], mask: u64);
    /// `row[i] = max(row[i], code)` where bit `i` of `mask` is set.
    fn max_splat(row: &mut [u8; 64], code: u8, mask: u64);
    /// `row[i] = code` where bit `i` of `mask` is set.
    fn put(row: &mut [u8; 64], code: u8, mask: u64);
    /// `out[i] = row[image[i]]`.
    fn permute(row: &[u8; 64], image: &[u8; 64]) -> [u8; 64];
}

/// Any processor.
pub(crate) struct Portable;

impl Isa for Portable {
    #[inline(always)]
    fn equal(row: &[u8; 64], code: u8) -> u64 {
        equal(row, code)
    }

    #[inline(always)]
    fn max(row: &mut [u8; 64], other: &[u8; 64], mask: u64) {
        max(row, other, mask);
    }

    #[inline(always)]
    fn max_splat(row: &mut [u8; 64], code: u8, mask: u64) {
        max(row, &[code; 64], mask);
    }

    #[inline(always)]
    fn put(row: &mut [u8; 64], code: u8, mask: u64) {
        put(row, code, mask);
    }

    #[inline(always)]
    fn permute(row: &[u8; 64], image: &[u8; 64]) -> [u8; 64] {
        permute(row, image)
    }
}

#[inline(always)]
fn equal<C: Code>(row: &Row<C>, code: C) -> u64 {
    let mut mask = 0;
    for (i, &c) in row.iter().enumerate() {
        mask |= u64::from(c == code) << i;
    }
    mask
}

#[inline(always)]
fn max<C: Code>(row: &mut Row<C>, other: &Row<C>, mask: u64) {
    if mask == u64::MAX {
        for i in 0..64 {
            row[i] = row[i].max(other[i]);
        }
        return;
    }
    for i in 0..64 {
        row[i] = row[i].max(other[i].mask(mask >> i & 1 != 0));
    }
}

#[inline(always)]
fn put<C: Code>(row: &mut Row<C>, code: C, mask: u64) {
    let mut rest = mask;
    while rest != 0 {
        row[rest.trailing_zeros() as usize & 63] = code;
        rest &= rest - 1;
    }
}

#[inline(always)]
fn permute<C: Code>(row: &Row<C>, image: &[u8; 64]) -> Row<C> {
    let mut out = [C::default(); 64];
    for i in 0..64 {
        out[i] = row[image[i] as usize & 63];
    }
    out
}

/// The places where a code equals `code`.
#[inline(always)]
pub(crate) fn equal_mask<I: Isa, C: Code>(row: &Row<C>, code: C) -> u64 {
    match C::as_bytes(row) {
        Some(bytes) => I::equal(bytes, code.to_u8()),
        None => equal(row, code),
    }
}

/// Raises a row to at least another where `mask` allows.
#[inline(always)]
pub(crate) fn raise<I: Isa, C: Code>(row: &mut Row<C>, other: &Row<C>, mask: u64) {
    match C::as_bytes(other) {
        Some(other) => {
            if let Some(row) = C::as_bytes_mut(row) {
                I::max(row, other, mask);
            }
        }
        None => max(row, other, mask),
    }
}

/// Raises the places of `mask` to at least `code`.
#[inline(always)]
pub(crate) fn raise_to<I: Isa, C: Code>(row: &mut Row<C>, code: C, mask: u64) {
    match C::as_bytes_mut(row) {
        Some(row) => I::max_splat(row, code.to_u8(), mask),
        None => max(row, &[code; 64], mask),
    }
}

/// Sets the places of `mask` to `code`.
#[inline(always)]
pub(crate) fn put_code<I: Isa, C: Code>(row: &mut Row<C>, code: C, mask: u64) {
    match C::as_bytes_mut(row) {
        Some(row) => I::put(row, code.to_u8(), mask),
        None => put(row, code, mask),
    }
}

/// Rows as columns: `out[i][k] = row(k)[i]`.
#[inline(always)]
pub(crate) fn transposed<C: Code>(row: impl Fn(usize) -> Row<C>) -> [Row<C>; 64] {
    let mut out = [[C::default(); 64]; 64];
    for eight in 0..8 {
        let mut rows: [Row<C>; 8] = std::array::from_fn(|i| row(8 * eight + i));
        let narrow = exchange_bytes::<C>(&mut rows);
        for (i, row) in rows.iter().enumerate() {
            for k in 0..8 {
                for j in 0..8 {
                    if narrow {
                        out[8 * k + i][8 * eight + j] = row[8 * k + j];
                    } else {
                        out[8 * k + j][8 * eight + i] = row[8 * k + j];
                    }
                }
            }
        }
    }
    out
}

/// Makes rows of columns in each of eight squares of eight rows, if codes are bytes, and says
/// whether they are.
#[inline(always)]
fn exchange_bytes<C: Code>(rows: &mut [Row<C>; 8]) -> bool {
    let mut words = [[0_u64; 8]; 8];
    for (words, row) in words.iter_mut().zip(&*rows) {
        let Some(row) = C::as_bytes(row) else { return false };
        let (row, _) = row.as_chunks::<8>();
        for (word, bytes) in words.iter_mut().zip(row) {
            *word = u64::from_le_bytes(*bytes);
        }
    }

    // Halves of the squares, quarters of the halves, and so on: the upper right one with the lower
    // left one.
    for (apart, bits, mask) in
        [(4, 32, 0xffff_ffff), (2, 16, 0xffff_0000_ffff), (1, 8, 0xff_00ff_00ff_00ff_u64)]
    {
        for i in (0..8).filter(|i| i & apart == 0) {
            for k in 0..8 {
                let other = (words[i][k] >> bits ^ words[i + apart][k]) & mask;
                words[i + apart][k] ^= other;
                words[i][k] ^= other << bits;
            }
        }
    }

    for (words, row) in words.iter().zip(rows) {
        let Some(row) = C::as_bytes_mut(row) else { return false };
        let (row, _) = row.as_chunks_mut::<8>();
        for (word, bytes) in words.iter().zip(row) {
            *bytes = word.to_le_bytes();
        }
    }
    true
}

/// The codes rearranged: `out[i] = row[image[i]]`.
#[inline(always)]
pub(crate) fn rearranged<I: Isa, C: Code>(row: &Row<C>, image: &[u8; 64]) -> Row<C> {
    let mut out = [C::default(); 64];
    match (C::as_bytes(row), C::as_bytes_mut(&mut out)) {
        (Some(row), Some(out)) => *out = I::permute(row, image),
        _ => out = permute(row, image),
    }
    out
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    //! AVX-512. The only intrinsics of the project.
    #![allow(unsafe_code)]

    use std::arch::x86_64::{
        _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_mask_max_epu8, _mm512_mask_mov_epi8,
        _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_storeu_si512,
    };

    use super::Isa;

    /// Processors with AVX-512 F, BW and VBMI. Only [`crate::processor`] names it, inside
    /// functions compiled for these features and called after a check that the processor has them.
    pub(crate) struct Avx512;

    // SAFETY of all blocks below: loads and stores cover exactly the 64 bytes of the array behind
    // the reference, unaligned forms are used, and the instructions exist wherever `Avx512` is
    // used.
    impl Isa for Avx512 {
        #[inline(always)]
        fn equal(row: &[u8; 64], code: u8) -> u64 {
            // SAFETY: see above.
            unsafe {
                _mm512_cmpeq_epi8_mask(
                    _mm512_loadu_si512(row.as_ptr().cast()),
                    _mm512_set1_epi8(code as i8),
                )
            }
        }

        #[inline(always)]
        fn max(row: &mut [u8; 64], other: &[u8; 64], mask: u64) {
            // SAFETY: see above.
            unsafe {
                let old = _mm512_loadu_si512(row.as_ptr().cast());
                let new = _mm512_loadu_si512(other.as_ptr().cast());
                _mm512_storeu_si512(
                    row.as_mut_ptr().cast(),
                    _mm512_mask_max_epu8(old, mask, old, new),
                );
            }
        }

        #[inline(always)]
        fn max_splat(row: &mut [u8; 64], code: u8, mask: u64) {
            // SAFETY: see above.
            unsafe {
                let old = _mm512_loadu_si512(row.as_ptr().cast());
                let new = _mm512_set1_epi8(code as i8);
                _mm512_storeu_si512(
                    row.as_mut_ptr().cast(),
                    _mm512_mask_max_epu8(old, mask, old, new),
                );
            }
        }

        #[inline(always)]
        fn put(row: &mut [u8; 64], code: u8, mask: u64) {
            // SAFETY: see above.
            unsafe {
                let old = _mm512_loadu_si512(row.as_ptr().cast());
                let new = _mm512_set1_epi8(code as i8);
                _mm512_storeu_si512(row.as_mut_ptr().cast(), _mm512_mask_mov_epi8(old, mask, new));
            }
        }

        #[inline(always)]
        fn permute(row: &[u8; 64], image: &[u8; 64]) -> [u8; 64] {
            let mut out = [0; 64];
            // SAFETY: see above.
            unsafe {
                let index = _mm512_loadu_si512(image.as_ptr().cast());
                let bytes = _mm512_loadu_si512(row.as_ptr().cast());
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_permutexvar_epi8(index, bytes));
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let number = |k: usize, i: usize| (k * 64 + i) * 37 % 251;
        let narrow = transposed(|k| std::array::from_fn(|i| number(k, i) as u8));
        let wide = transposed(|k| std::array::from_fn(|i| 300 + number(k, i) as u16));
        for (i, k) in (0..64).flat_map(|i| (0..64).map(move |k| (i, k))) {
            assert_eq!(usize::from(narrow[i][k]), number(k, i));
            assert_eq!(usize::from(wide[i][k]), 300 + number(k, i));
        }
    }
}

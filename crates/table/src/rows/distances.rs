//! The stored distances of a table, one number an index, before they are packed: in memory, or in
//! pages.

use hoffman_pages::{Page, PageFile};
use hoffman_space::Code;

/// The stored distances of a table, one number an index.
#[derive(Debug)]
pub enum Distances {
    /// All between -128 and 127.
    Narrow(Vec<i8>),
    /// Wider ones.
    Wide(Vec<i16>),
}

impl Distances {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Distances::Narrow(d) => d.len(),
            Distances::Wide(d) => d.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How many numbers a page, and a piece of what is made at a time, has. Small pieces find room
/// where pages were before; a large one would not, and the system would have to give more.
pub(super) const PIECE: usize = 1 << 16;

/// The stored distances of a table in pages, one number an index.
#[derive(Debug)]
pub struct StoredDistances {
    file: PageFile,
    /// The pages in order, each with the number of entries in it.
    pages: Vec<(Page, usize)>,
    wide: bool,
}

impl StoredDistances {
    /// No numbers yet, of the width `W`.
    pub(super) fn new<W: Code>(file: PageFile) -> StoredDistances {
        StoredDistances { file, pages: Vec::new(), wide: W::WIDE }
    }

    /// Takes the next numbers, of the width that it was made for.
    pub(super) fn push<N: bytemuck::Pod>(&mut self, piece: &[N]) {
        let mut words = vec![0_u64; size_of_val(piece).div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..piece.len()].copy_from_slice(piece);
        self.pages.push((self.file.append(words), piece.len()));
    }

    /// Gives all numbers to `f`, in order, in portions of a multiple of eight (but for the last
    /// one).
    ///
    /// # Errors
    ///
    /// Those of `f`.
    pub fn for_each<E>(&self, mut f: impl FnMut(&[i16]) -> Result<(), E>) -> Result<(), E> {
        let mut numbers = Vec::new();
        for &(page, len) in &self.pages {
            let words = self.file.read(page);
            numbers.clear();
            if self.wide {
                let wide: &[i16] = bytemuck::cast_slice(&words);
                numbers.extend_from_slice(&wide[..len]);
            } else {
                let narrow: &[i8] = bytemuck::cast_slice(&words);
                numbers.extend(narrow[..len].iter().map(|&n| i16::from(n)));
            }
            f(&numbers)?;
        }
        Ok(())
    }
}

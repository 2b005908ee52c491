//! What the work on a block sees of a slice: its own part of planes and logs and those of its
//! neighbours, borrowed from memory or read from pages.

use std::ops::Deref;

use hoffman_pages::Words;

use crate::blocks::Neighbour;
use crate::sets::{Log, PositionSet};

/// A block's part of a plane.
pub(crate) enum LoadedPlane<'s> {
    Borrowed(&'s [u64]),
    Page(Words),
}

impl Deref for LoadedPlane<'_> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            LoadedPlane::Borrowed(words) => words,
            LoadedPlane::Page(words) => words,
        }
    }
}

/// A set of positions of a block.
pub(crate) enum LoadedSet<'s> {
    Borrowed(PositionSet<'s>),
    /// Rows and masks in a page, as [`pack`] puts them there.
    List(Words),
    /// A plane in a page.
    Plane(Words),
}

impl LoadedSet<'_> {
    pub(crate) const EMPTY: LoadedSet<'static> = LoadedSet::Borrowed(PositionSet::EMPTY);

    pub(crate) fn get(&self) -> PositionSet<'_> {
        match self {
            LoadedSet::Borrowed(set) => *set,
            LoadedSet::List(words) => unpack(words),
            LoadedSet::Plane(words) => PositionSet::new(&[], &[], Some(words)),
        }
    }
}

/// Packs rows and masks into the words of a page.
pub(crate) fn pack(positions: PositionSet<'_>) -> Vec<u64> {
    let len = positions.len();
    let mut words = vec![0; 1 + len + len.div_ceil(2)];
    words[0] = len as u64;
    words[1..=len].copy_from_slice(positions.masks());
    let rows: &mut [u32] = bytemuck::cast_slice_mut(&mut words[1 + len..]);
    rows[..len].copy_from_slice(positions.rows());
    words
}

/// The rows and masks in a page.
fn unpack(words: &[u64]) -> PositionSet<'_> {
    let Some((&len, rest)) = words.split_first() else { return PositionSet::EMPTY };
    // A page that could not be read is zeros.
    let (masks, rows) = rest.split_at((len as usize).min(rest.len()));
    let rows: &[u32] = bytemuck::cast_slice(rows);
    PositionSet::new(&rows[..masks.len().min(rows.len())], masks, None)
}

/// One side's plane: all of it, or the parts of a block and of its neighbours.
pub(crate) enum Planes<'a> {
    All(&'a [u64]),
    Near { here: LoadedPlane<'a>, neighbours: Vec<LoadedPlane<'a>> },
}

impl Planes<'_> {
    #[inline(always)]
    pub(crate) fn here(&self, number: usize, rows: usize) -> &[u64] {
        match self {
            Planes::All(words) => &words[number * rows..(number + 1) * rows],
            Planes::Near { here, .. } => here,
        }
    }

    /// That of the `i`-th neighbour.
    #[inline(always)]
    pub(crate) fn neighbour(&self, i: usize, neighbour: &Neighbour, rows: usize) -> &[u64] {
        match self {
            Planes::All(words) => {
                let start = neighbour.block as usize * rows;
                &words[start..start + rows]
            }
            Planes::Near { neighbours, .. } => &neighbours[i],
        }
    }
}

/// One side's frontiers, in the same way.
pub(crate) enum Frontiers<'a> {
    All(&'a [Log]),
    Near { here: LoadedSet<'a>, neighbours: Vec<LoadedSet<'a>> },
}

impl Frontiers<'_> {
    #[inline(always)]
    pub(crate) fn here(&self, number: usize) -> PositionSet<'_> {
        match self {
            Frontiers::All(logs) => logs[number].frontier(),
            Frontiers::Near { here, .. } => here.get(),
        }
    }

    /// That of the `i`-th neighbour.
    #[inline(always)]
    pub(crate) fn neighbour(&self, i: usize, neighbour: &Neighbour) -> PositionSet<'_> {
        match self {
            Frontiers::All(logs) => logs[neighbour.block as usize].frontier(),
            Frontiers::Near { neighbours, .. } => neighbours[i].get(),
        }
    }
}

//! A table of arrangements in parts: stretches of its list, and which of them need which others.
//!
//! Of all moves only steps of pawns lead from arrangement to arrangement of one table. So a part
//! needs those parts that its pawns step into, and parts that need each other are one.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use hoffman_board::Color;
use hoffman_space::PawnSquares;

use super::{Arrangement, ahead, last_rank, moved, singles};

/// Arrangements that follow each other in the list, and are solved without the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PawnStretch {
    /// Their numbers in the list.
    pub numbers: Range<usize>,
    /// The stretches that their pawns step into, by their places among all stretches.
    pub needs: Vec<usize>,
}

/// Cuts a range of a list of arrangements into about as many parts as are asked for, of about as
/// many placements of the pawns: fewer where there are not so many, or where parts would need each
/// other. Each comes after those that it needs. Arrangements of one placement, with an en passant
/// square and without, stay together.
pub fn divide(list: &[Arrangement], range: Range<usize>, parts: usize) -> Vec<PawnStretch> {
    let end = range.end;
    let is_first = |&at: &usize| at == range.start || list[at].pawns != list[at - 1].pawns;
    let placements: Vec<usize> = range.clone().filter(is_first).collect();
    let parts = parts.clamp(1, placements.len().max(1));
    let share = |part: usize| part * placements.len() / parts;
    let mut starts: Vec<usize> = (0..parts).map(share).collect();
    let steps = steps_between(placements.iter().map(|&at| list[at].pawns));

    let needs = loop {
        let needs = needs_of(&starts, &steps);
        match ring(&needs) {
            // What lies between them becomes one part with them.
            Some((first, last)) => drop(starts.drain(first + 1..=last)),
            None => break needs,
        }
    };

    let bounds = starts.iter().filter_map(|&start| placements.get(start).copied());
    let bounds: Vec<usize> = bounds.chain([end]).collect();
    let order = in_order(&needs);
    let mut places = vec![0; order.len()];
    for (place, &part) in order.iter().enumerate() {
        places[part] = place;
    }
    let stretch = |&part: &usize| {
        let mut needs: Vec<usize> = needs[part].iter().map(|&needed| places[needed]).collect();
        needs.sort_unstable();
        PawnStretch { numbers: bounds[part]..bounds[part + 1], needs }
    };
    order.iter().filter(|&&part| part + 1 < bounds.len()).map(stretch).collect()
}

/// For every placement those that a pawn's step leads to, by their places in the list.
fn steps_between(placements: impl Iterator<Item = PawnSquares> + Clone) -> Vec<Vec<usize>> {
    let places: HashMap<PawnSquares, usize> =
        placements.clone().enumerate().map(|(place, pawns)| (pawns, place)).collect();
    let steps = |pawns: PawnSquares| {
        let of_color = |color: Color| {
            singles(pawns.of(color) & !last_rank(color)).flat_map(move |from| {
                let once = ahead(color, from) & !pawns.occupied();
                let on_second = from & last_rank(color.other()) != 0;
                let twice = if on_second { ahead(color, once) & !pawns.occupied() } else { 0 };
                [once, twice].into_iter().filter(|&to| to != 0).map(move |to| (color, from, to))
            })
        };
        let all = Color::ALL.into_iter().flat_map(of_color);
        let all = all.map(|(color, from, to)| moved(pawns, color, from, to));
        all.filter_map(|pawns| places.get(&pawns).copied()).collect()
    };
    placements.map(steps).collect()
}

/// What each part needs, of parts that begin at these placements.
fn needs_of(starts: &[usize], steps: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let part_of = |placement: usize| starts.partition_point(|&start| start <= placement) - 1;
    let mut needs = vec![BTreeSet::new(); starts.len()];
    for (placement, targets) in steps.iter().enumerate() {
        let own = part_of(placement);
        let others = targets.iter().map(|&target| part_of(target)).filter(|&part| part != own);
        needs[own].extend(others);
    }
    needs
}

/// Two parts that need each other, perhaps by way of others, the one that comes first in the list
/// first.
fn ring(needs: &[BTreeSet<usize>]) -> Option<(usize, usize)> {
    // A ring leads upwards somewhere.
    let upwards = (0..needs.len())
        .flat_map(|part| needs[part].range(part + 1..).map(move |&needed| (part, needed)));
    upwards.into_iter().find(|&(part, needed)| reaches(needs, needed, part))
}

/// Whether a part needs another one, perhaps by way of others.
fn reaches(needs: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; needs.len()];
    let mut open = vec![from];
    while let Some(part) = open.pop() {
        if part == to {
            return true;
        }
        if !std::mem::replace(&mut seen[part], true) {
            open.extend(&needs[part]);
        }
    }
    false
}

/// The parts, each after those that it needs, otherwise in the order of the list.
fn in_order(needs: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut done = vec![false; needs.len()];
    let mut order = Vec::with_capacity(needs.len());
    let is_next =
        |part: &usize, done: &[bool]| !done[*part] && needs[*part].iter().all(|&n| done[n]);
    while let Some(part) = (0..needs.len()).find(|part| is_next(part, &done)) {
        done[part] = true;
        order.push(part);
    }
    order
}

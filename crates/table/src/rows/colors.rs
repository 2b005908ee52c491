//! Values with Black to move that follow from those with White to move.

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::Color;
use hoffman_space::{
    Code, Codes, Layout, Mover, Orientation, PawnSquares, SliceValues, TableValues,
};
use rayon::prelude::*;

/// Derives the values with Black to move from those with White to move, colours exchanged: for
/// tables without a side to move whose pieces may stand everywhere. The codes have the width `C`.
pub(super) fn fill_black<C: Code>(values: &mut TableValues) {
    let TableValues { layout, slices, .. } = values;
    let layout: &Layout = layout;
    let partners: Vec<usize> =
        (0..layout.movers().len()).map(|m| partner(layout.movers(), m)).collect();
    let from: HashMap<PawnSquares, Arc<SliceValues>> =
        slices.iter().filter_map(|(s, slot)| Some((*s, slot.get()?.clone()))).collect();
    let swap = Orientation { swap: true, mirror: false };
    for (structure, slot) in slices {
        let image = from.get(&structure.oriented(swap));
        let (Some(slice), Some(image)) = (slot.get_mut().map(Arc::make_mut), image) else {
            continue;
        };
        slice.codes[1] = exchanged::<C>(layout, &partners, &image.codes[0]);
        for right in slice.en_passant.iter_mut().filter(|right| right.square < 32) {
            if let Some(other) = image.en_passant.iter().find(|o| o.square == right.square ^ 56) {
                right.codes = exchanged::<C>(layout, &partners, &other.codes);
            }
        }
    }
}

/// The mover of the other colour that a mover becomes.
fn partner(movers: &[Mover], mover: usize) -> usize {
    let own = movers[mover];
    let like = |color: Color| {
        let is_like = move |&other: &usize| {
            let other = movers[other];
            (other.color, other.role) == (color, own.role)
        };
        (0..movers.len()).filter(is_like)
    };
    let rank = like(own.color).take_while(|&other| other != mover).count();
    like(own.color.other()).nth(rank).unwrap_or(mover)
}

/// The codes of the positions with colours exchanged.
fn exchanged<C: Code>(layout: &Layout, partners: &[usize], codes: &Codes) -> Codes {
    let mut own = vec![C::ILLEGAL; codes.len()];
    codes.read(0, &mut own);
    let place = |offset: usize| -> usize {
        let squares = partners.iter().enumerate().map(|(m, partner)| {
            let square = (offset / layout.stride(m) % 64) as u8;
            layout.place(*partner, square ^ 56)
        });
        squares.flatten().sum()
    };
    let code = |offset: usize| own.get(place(offset)).copied().unwrap_or_default();
    C::into_codes((0..own.len()).into_par_iter().map(code).collect())
}

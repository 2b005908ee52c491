//! How a stream would do, tried on a sample.

use crate::board::{Color, Man};
use crate::encode::{EncodeError, EncodeOptions, Sides, Source};
use crate::material::Material;
use crate::plan::plan_sides;
use crate::sample::{Sampler, tiles_all_over};
use crate::symbols::Desk;
use crate::tile::{self, TilePart};
use crate::workers::Crew;

/// Cells that a model is tried on, if there are so many that it was not made from.
const SAMPLE: usize = 500_000;

/// How a stream does on a sample.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Trial {
    /// Men besides the kings, outer ones first.
    pub order: Vec<Man>,
    /// The side to move.
    pub turn: Color,
    /// What the stream is expected to take, its model included and its directory not.
    pub bytes: u64,
    /// Cells of the whole stream, as far as the sample tells.
    pub cells: f64,
    /// Leaves of the two trees.
    pub leaves: [usize; 2],
    /// Seconds for making the model; nanoseconds a cell for the source, for encoding, and for
    /// decoding.
    pub times: [f64; 4],
}

/// Tries streams on a sample, without writing the table. `clock` gives seconds.
///
/// # Errors
/// As [`encode_ending`].
#[doc(hidden)]
pub fn try_ending(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<Trial>, EncodeError> {
    let sampler = Sampler { source, options, crew: Crew::ALONE };
    let mut trials = Vec::new();
    for turn in [Color::White, Color::Black] {
        if turn == Color::Black && material.is_symmetric() {
            break;
        }
        let outcomes = options.distances == Sides::Neither;
        let begun = clock();
        let plans = plan_sides(material, sampler, ((&[turn], outcomes), false))?;
        let Some(plan) = plans.into_iter().next() else { continue };
        let stream = plan.stream();
        // Of a small table there is nothing else to try the model on.
        let mut order = tiles_all_over(stream.space).chain(tiles_all_over(stream.space));
        let (_, trained) = sampler.train(stream, &mut order, options.training)?;
        let planned = clock() - begun;
        let (model_bytes, model) = trained.written(&plan.space)?;
        model.prepare(plan.space.tiles());
        let begun = clock();
        let (sample, share) = sampler.sample(stream, &mut order, SAMPLE)?;
        let mut desk = Desk::new();
        let filled = clock();
        let mut packed = Vec::new();
        for (tile, values) in &sample {
            packed.push(desk.encode(stream, &model, (*tile, values)));
        }
        let encoded = clock();
        let mut cells = 0_u64;
        for ((tile, _), bytes) in sample.iter().zip(&packed) {
            tile::decode(stream, &model, bytes, (*tile, TilePart::Whole), &mut desk.rows);
            let legal = &desk.rows.legal[..usize::from(plan.space.rows())];
            cells += legal.iter().map(|row| u64::from(row.count_ones())).sum::<u64>();
        }
        let data: usize = packed.iter().map(Vec::len).sum();
        let times = [filled - begun, encoded - filled, clock() - encoded];
        let [fill, encode, decode] = times.map(|seconds| seconds * 1e9 / cells.max(1) as f64);
        trials.push(Trial {
            order: plan.space.men()[2..].to_vec(),
            turn,
            bytes: (data as f64 / share) as u64 + model_bytes.len() as u64,
            cells: cells as f64 / share,
            leaves: trained.leaves,
            times: [planned, fill, encode, decode],
        });
    }
    Ok(trials)
}

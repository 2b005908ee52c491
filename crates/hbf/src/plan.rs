//! Which streams a file gets, and in which order of men: by trial.

use crate::board::{Color, Kind};
use crate::cells::Space;
use crate::encode::{EncodeError, EncodeOptions, Sides};
use crate::material::Material;
use crate::sample::Sampler;
use crate::tile::Stream;
use crate::workers::{Crew, WorkerThreads, in_order};

/// A stream that is to be written.
pub(crate) struct Plan {
    pub(crate) space: Space,
    pub(crate) order: Vec<u8>,
    pub(crate) turn: Color,
    pub(crate) outcomes: bool,
    /// What the stream takes, as far as a trial tells; 0 if none was made.
    bits: f64,
}

impl Plan {
    pub(crate) fn stream(&self) -> Stream<'_> {
        Stream { space: &self.space, turn: self.turn, outcomes: self.outcomes }
    }
}

/// The streams that are asked for.
pub(crate) fn plan_streams(
    material: &Material,
    sampler: Sampler<'_>,
) -> Result<Vec<Plan>, EncodeError> {
    let options = sampler.options;
    let mut all = Vec::new();
    for (outcomes, sides) in [(false, options.distances), (true, options.outcomes)] {
        let turns: &[Color] = match (sides, material.is_symmetric()) {
            (Sides::Neither, _) => &[],
            (_, true) => &[Color::White],
            (_, false) => &[Color::White, Color::Black],
        };
        // Of one side there is nothing to choose.
        let smaller = sides == Sides::Smaller && turns.len() > 1;
        let mut plans = plan_sides(material, sampler, ((turns, outcomes), smaller))?;
        if smaller {
            plans.sort_by(|a, b| a.bits.total_cmp(&b.bits));
            plans.truncate(1);
        }
        all.extend(plans);
    }
    Ok(all)
}

/// Cells that an order of men is judged by first, and as many that its model is made from; those
/// that are about as good as the best one are judged again by more cells. With fewer of a large
/// table it is chance which order seems to be the best one.
fn trial_cells(options: &EncodeOptions) -> [usize; 2] {
    let first = (options.training / 8).clamp(20_000, 60_000);
    [first, (options.training / 8).max(first)]
}

/// How much larger a stream may seem to be than the best one and be tried again.
const ABOUT_AS_GOOD: f64 = 1.08;

/// Chooses the order of men for each of these sides to move by trial; if sides are `compared`,
/// there is one even of a single order.
pub(crate) fn plan_sides(
    material: &Material,
    sampler: Sampler<'_>,
    ((turns, outcomes), compared): ((&[Color], bool), bool),
) -> Result<Vec<Plan>, EncodeError> {
    let rows = if material.men().len() > 1 { sampler.options.rows } else { 1 };
    let mut plans = Vec::new();
    for &turn in turns {
        for order in orders(material, turn) {
            let space = Space::new(material, &order, rows);
            let space = space.ok_or_else(|| EncodeError::Ending(material.clone()))?;
            plans.push(Plan { space, order, turn, outcomes, bits: 0.0 });
        }
    }

    for (round, cells) in trial_cells(sampler.options).into_iter().enumerate() {
        let is_choice = |turn: Color| of_side(&plans, turn).count() > 1;
        let is_tried = |plan: &Plan| round == 0 && compared || is_choice(plan.turn);
        let tried: Vec<usize> = (0..plans.len()).filter(|&at| is_tried(&plans[at])).collect();
        let streams: Vec<Stream<'_>> = tried.iter().map(|&at| plans[at].stream()).collect();
        let bits = try_streams(&streams, sampler, cells)?;
        tried.into_iter().zip(bits).for_each(|(at, bits)| plans[at].bits = bits);

        let least = [Color::White, Color::Black]
            .map(|turn| of_side(&plans, turn).map(|plan| plan.bits).fold(f64::MAX, f64::min));
        plans.retain(|plan| plan.bits <= ABOUT_AS_GOOD * least[plan.turn as usize]);
    }

    // The best one of each side comes before the others.
    plans.sort_by(|a, b| (a.turn as u8).cmp(&(b.turn as u8)).then(a.bits.total_cmp(&b.bits)));
    plans.dedup_by_key(|plan| plan.turn);
    Ok(plans)
}

fn of_side(plans: &[Plan], turn: Color) -> impl Iterator<Item = &Plan> {
    plans.iter().filter(move |plan| plan.turn == turn)
}

/// The bits that these streams take, as far as trials with models from so many cells tell. Of these
/// so many are made at a time that they take no more memory than the one that is made in the end.
fn try_streams(
    streams: &[Stream<'_>],
    sampler: Sampler<'_>,
    cells: usize,
) -> Result<Vec<f64>, EncodeError> {
    let alone = Crew { workers: &WorkerThreads(1), ..sampler.crew };
    let alone = Sampler { crew: alone, ..sampler };
    let mut all = Vec::new();
    for some in streams.chunks((sampler.options.training / cells).max(1)) {
        let bits = |at: u64| alone.try_stream(some[at as usize], cells);
        in_order(sampler.crew, some.len() as u64, bits, |bits| {
            all.push(bits);
            Ok::<_, EncodeError>(())
        })?;
    }
    Ok(all)
}

/// Orders of men that are worth a trial: all with few men, else those with a man of the side to
/// move as lane.
fn orders(material: &Material, turn: Color) -> Vec<Vec<u8>> {
    let men = material.men();
    let mut orders: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..men.len() {
        let mut longer = Vec::new();
        for order in &orders {
            for man in 0..men.len() as u8 {
                // Like men stay in order: the others are the same.
                let like = |other: u8| men[usize::from(other)] == men[usize::from(man)];
                let open_before = (0..man).any(|other| like(other) && !order.contains(&other));
                if !order.contains(&man) && !open_before {
                    longer.push([&order[..], &[man]].concat());
                }
            }
        }
        orders = longer;
    }

    if orders.len() > 6 {
        let of = |man: &u8| men[usize::from(*man)];
        let place = |man: &u8| {
            let man = of(man);
            (man.kind != Kind::Pawn, man.kind == Kind::Knight, man.color == turn)
        };
        orders.retain(|order| {
            let lane_moves = order.last().is_some_and(|man| of(man).color == turn);
            order[..order.len() - 1].is_sorted_by_key(place) && lane_moves
        });
        orders.truncate(6);
    }
    orders
}

//! One number that changes when a result changes.
//!
//! Like the signature of Stockfish, it goes into commit messages. It depends on the values and
//! their index numbers, on nothing else: not on threads, nor on how values are kept in memory.

use std::sync::Arc;

use hoffman_board::{Format, Material};
use hoffman_control::{
    ControlFile, Strictness, check_pieces, control_for_material, resolve_pieces,
};
use hoffman_plan::{all_endings, complete};
use hoffman_run::RunError;
use hoffman_solve::{SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;
use hoffman_table::rows::{Distances, encode};
use hoffman_table::{IndexParams, IndexSpace, Stop};

use crate::error::Error;

/// What is solved besides all endings of three men.
const ENDINGS: [&str; 4] = ["KQvKR", "KPvKP", "KBNvK", "KRvKP"];

/// Solves small endings on the threads of the pool that it is called in, and returns a number that
/// changes when one of their values does.
///
/// # Errors
/// There is too little memory.
pub fn signature() -> Result<u64, Error> {
    let mut chosen = all_endings(3);
    for name in ENDINGS {
        chosen.push(name.parse()?);
    }
    let mut tables = Tables::default();
    for job in complete(chosen.iter().copied()) {
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: true, keep: true, ..SolveOptions::default() };
        solve_table(&mut values, &tables, &options, &|| ()).map_err(RunError::from)?;
        tables.insert(job.material, Arc::new(values));
    }
    let mut signature = SignatureHash::default();
    for material in &chosen {
        if let Some(values) = tables.get(material) {
            add_statistics(values, &mut signature)?;
        }
    }
    Ok(signature.0)
}

/// Adds how often each distance occurs among the indices of a table, and the counts of its header.
fn add_statistics(values: &TableValues, signature: &mut SignatureHash) -> Result<(), RunError> {
    let space = index_space(&values.material)?;
    let (distances, counts) = encode(&space, values, Format::Dtm(None), &Stop::default())
        .map_err(|source| RunError::Rows { place: values.material.to_string(), source })?;
    let occurrences = match distances {
        Distances::Narrow(all) => occurrences(all.into_iter().map(i16::from)),
        Distances::Wide(all) => occurrences(all.into_iter()),
    };
    for (distance, &n) in (0..).zip(&occurrences).filter(|&(_, &n)| n > 0) {
        signature.add(distance);
        signature.add(n);
    }
    let moves = counts.moves.unwrap_or_default();
    for n in [counts.indices, counts.pntm_mated, counts.legal, counts.white_wins, counts.black_wins]
    {
        signature.add(n);
    }
    for n in [moves.stalemates, moves.moves, moves.futuremoves] {
        signature.add(n);
    }
    Ok(())
}

fn index_space(material: &Material) -> Result<IndexSpace, RunError> {
    let text = control_for_material(material, Format::Dtm(None));
    let control = ControlFile::parse(&text, &material.stem(), Strictness::Control)?;
    let pieces = resolve_pieces(&control)?;
    let params = IndexParams {
        index_type: control.index_type(),
        symmetry: check_pieces(&control, &pieces)?,
        variant: control.variant,
        format_is_flag: matches!(control.entry_format(), Format::Flag(_)),
        pieces,
        pawn_structures: None,
    };
    let place = material.to_string();
    IndexSpace::new(params).map_err(|source| RunError::Index { place, source })
}

/// How often each distance occurs, by the bits of its number.
fn occurrences(distances: impl Iterator<Item = i16>) -> Vec<u64> {
    let mut found = vec![0; 1 << 16];
    for distance in distances {
        if let Some(n) = found.get_mut(usize::from(distance.cast_unsigned())) {
            *n += 1;
        }
    }
    found
}

/// A hash of numbers: FNV-1a, a number at a time.
struct SignatureHash(u64);

impl Default for SignatureHash {
    fn default() -> SignatureHash {
        SignatureHash(0xcbf2_9ce4_8422_2325)
    }
}

impl SignatureHash {
    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

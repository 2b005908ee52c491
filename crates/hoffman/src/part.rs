//! An ending without pawns, solved by several processes at the same time.

use std::path::PathBuf;
use std::time::Duration;

use hoffman_board::Material;
use hoffman_plan::EndingJob;
use hoffman_run::{Depth, EndingShare, ending_inputs};

use crate::error::Error;
use crate::event::{Event, Relay};
use crate::one::graph_alone;
use crate::options::Options;

/// The part of one of several processes that solve an ending without pawns together: some of the
/// pairs of kings.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PartOfKings {
    /// The ending.
    pub ending: Material,
    /// Which process, counted from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// How long it waits for what another one has to tell, every time.
    pub patience: Duration,
}

/// A part that was solved.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SolvedPart {
    /// The file of its values.
    pub path: PathBuf,
    /// How many pairs of kings it has, of 462.
    pub pairs: usize,
    /// Of how many pairs of other processes it had to know.
    pub around: usize,
    /// What was exchanged; none if the file was there.
    pub exchange: Option<Exchanged>,
}

/// What one process and the others told each other.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Exchanged {
    /// How many passes there were.
    pub passes: u64,
    /// How many of them an earlier run of the same process had done.
    pub recalled: u64,
    /// Bytes of files that it wrote.
    pub written: u64,
    /// Bytes that it read of files, its own among them if it was begun again.
    pub read: u64,
    /// How long it waited for others.
    pub waited: Duration,
}

impl PartOfKings {
    /// Process `number` of so many, counted from 1, which waits for others an hour.
    pub fn new(ending: Material, number: usize, of: usize) -> PartOfKings {
        PartOfKings { ending, number, of, patience: Duration::from_hours(1) }
    }

    /// The same with another time that it waits.
    pub fn patience(self, patience: Duration) -> PartOfKings {
        PartOfKings { patience, ..self }
    }
}

/// Solves the part of one process, from tables that must be there, while other processes solve the
/// others: all of them have to be at work at the same time, and to see the same folder.
/// [`crate::OneTable::of_ending_in_parts`] makes one table of all parts.
///
/// # Errors
/// A table is not there, or another process has told nothing for too long
/// ([`Error::is_temporary`]); the ending has pawns; a file in the folder is damaged or of something
/// else; those of [`crate::build`].
pub fn solve_part(
    part: PartOfKings,
    options: &Options,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<SolvedPart, Error> {
    let relay = Relay::new(progress);
    let PartOfKings { ending, number, of, patience } = part;
    let job = EndingJob { material: ending.normalized().0, part: None };
    let mut table = options.folder().join(job.file_name());
    options.named(&mut table);
    let share = EndingShare::new(&ending, (number, of), &table)?;
    let graph = graph_alone(job, options);
    let run = options.run(&relay);
    let report = options.install(|| {
        let inputs = ending_inputs(&graph, Depth::Whole, &options.workplace())?;
        Ok(hoffman_run::solve_part(&share, &graph, inputs, patience, &run)?)
    })?;
    let [pairs, seen] = report.pairs;
    let exchange = report.traffic.map(|traffic| Exchanged {
        passes: traffic.passes,
        recalled: traffic.recalled,
        written: traffic.written,
        read: traffic.read,
        waited: traffic.waited,
    });
    Ok(SolvedPart { path: report.path, pairs, around: seen - pairs, exchange })
}

//! Building in a simulated storage, and comparing what came out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hoffman_plan::{Graph, complete};
use hoffman_run::{MadeTable, RunError, RunOptions, Silent, Workplace, build_endings, generate};
use hoffman_store::Simulated;
use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;

/// A workplace in a storage; with checkpoints after every slice or none.
pub(crate) fn workplace(storage: &Simulated, checkpoints: bool) -> Workplace {
    let checkpoint_every = Duration::from_secs(if checkpoints { 0 } else { 3600 });
    Workplace { storage: Arc::new(storage.clone()), checkpoint_every, ..Workplace::default() }
}

/// Builds endings in the folder `t`, one operation after the other.
pub(crate) fn build_in(workplace: &Workplace, endings: &[&str]) -> Result<usize, RunError> {
    build_as("htb", workplace, endings)
}

/// The same in files with an extension.
pub(crate) fn build_as(
    extension: &str,
    workplace: &Workplace,
    endings: &[&str],
) -> Result<usize, RunError> {
    let jobs = complete(endings.iter().map(|name| name.parse().unwrap()).collect::<Vec<_>>());
    let mut graph = Graph::of_endings(&jobs, Path::new("t"));
    for node in &mut graph.nodes {
        node.output.set_extension(extension);
    }
    let options = RunOptions::new(&Silent, workplace.clone());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| build_endings(&graph, &options)).map(|report| report.made.len())
}

/// Carries out the control file `t/c.xml`.
pub(crate) fn generate_in(workplace: &Workplace) -> Result<MadeTable, RunError> {
    let options = RunOptions::new(&Silent, workplace.clone());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| generate(Path::new("t/c.xml"), None, &options))
}

/// All entries of a table; the error if it is not whole.
pub(crate) fn entries(storage: &Simulated, path: &Path) -> Result<Vec<i16>, String> {
    let options = SourceOptions { storage: Arc::new(storage.clone()), ..SourceOptions::default() };
    let mut table = Table::open(path, options).map_err(|e| e.to_string())?;
    table.check_length().map_err(|e| e.to_string())?;
    let mut numbers = vec![0; table.space().size() as usize];
    table.read_entries(0, &mut numbers).map_err(|e| e.to_string())?;
    Ok(numbers)
}

/// A pawn one step from promotion: its control file and futurebases.
pub(crate) fn promotion() -> Simulated {
    let storage = Simulated::default();
    build_in(&workplace(&storage, false), &["KQvK", "KRvK"]).unwrap();
    let control = "<?xml version=\"1.0\"?>\n<tablebase>
   <dtm/>
   <prune-enable color=\"white\" type=\"discard\"/>
   <piece color=\"white\" type=\"king\"/>
   <piece color=\"black\" type=\"king\"/>
   <piece color=\"white\" type=\"pawn\" location=\"b6 b7\"/>
   <futurebase filename=\"t/kk.htb\"/>
   <futurebase filename=\"t/kqk.htb\"/>
   <futurebase filename=\"t/krk.htb\"/>
   <prune color=\"white\" move=\"P=B\" type=\"discard\"/>
   <prune color=\"white\" move=\"P=N\" type=\"discard\"/>
   <output filename=\"t/b7.htb\"/>
</tablebase>\n";
    storage.put(Path::new("t/c.xml"), control.as_bytes());
    storage
}

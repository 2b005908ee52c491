//! Which tables that are there are solved again: their values take many times as long to read as to
//! find.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use hoffman_plan::{EndingJob, Graph};
use hoffman_table::Table;

use crate::cost::memory_of_endings;
use crate::error::RunError;
use crate::memory::available_memory;
use crate::options::RunOptions;
use crate::sequence::sparing;
use crate::values::is_quickly_solved;

/// Of the files that are `present` those that are solved again with what is to be made: files that
/// lean on others, as far as they are needed as a whole, and those that these need in turn. None
/// where memory is bounded or too little.
pub(crate) fn solved_again(
    graph: &Graph<EndingJob>,
    todo: &[usize],
    present: &HashMap<usize, PathBuf>,
    options: &RunOptions<'_>,
) -> Result<BTreeSet<usize>, RunError> {
    let workplace = &options.workplace;
    if workplace.memory.is_some() || workplace.pages.is_some() {
        return Ok(BTreeSet::new());
    }
    let leans = |at: usize| {
        let Some(path) = present.get(&at) else { return Ok(false) };
        Ok(Table::open(path, workplace.source_options())?.leans())
    };
    let again = leaning_behind(graph, todo, leans)?;

    let all = sparing(graph, &with(todo, &again));
    let needed = memory_of_endings(graph, &all, (options.write, workplace.format()));
    // Small ones are not read in any case.
    let is_small = |&at: &usize| is_quickly_solved(&graph.nodes[at].source.material);
    if again.iter().all(is_small) || available_memory().is_some_and(|free| needed > free) {
        return Ok(BTreeSet::new());
    }
    for &at in &again {
        tracing::info!(material = %graph.nodes[at].source.material, "is solved instead of read");
    }
    Ok(again)
}

/// The nodes that are to be made and those that are solved again, by their numbers.
pub(crate) fn with(todo: &[usize], again: &BTreeSet<usize>) -> Vec<usize> {
    let all: BTreeSet<usize> = todo.iter().chain(again).copied().collect();
    all.into_iter().collect()
}

/// The nodes that some need as a whole and that lean on others, and what these need in
/// turn, as far as it leans.
fn leaning_behind(
    graph: &Graph<EndingJob>,
    todo: &[usize],
    leans: impl Fn(usize) -> Result<bool, RunError>,
) -> Result<BTreeSet<usize>, RunError> {
    let is_whole = |at: usize| {
        let node = &graph.nodes[at];
        node.source.part.is_none() && !graph.is_joined(node)
    };
    // A part takes few of the values of what it needs.
    let whole: Vec<usize> = todo.iter().copied().filter(|&at| is_whole(at)).collect();
    let mut open: Vec<usize> = graph.needed_by(&whole).into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(at) = open.pop() {
        if is_whole(at) && !found.contains(&at) && leans(at)? {
            found.insert(at);
            open.extend(graph.nodes[at].needed());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hoffman_plan::complete;

    use super::*;

    #[test]
    fn what_leans_is_solved_again_as_far_as_it_is_needed() {
        let jobs = complete(["KQPvKP".parse().unwrap()]);
        let graph = Graph::of_endings(&jobs, Path::new(""));
        let number = |name: &str| graph.find(&name.to_lowercase().replace('v', "")).unwrap();
        let again = |todo: &[&str], not_leaning: &[&str]| -> BTreeSet<usize> {
            let todo: Vec<usize> = todo.iter().map(|name| number(name)).collect();
            let leans = |at: usize| {
                Ok(!todo.contains(&at) && !not_leaning.iter().any(|name| number(name) == at))
            };
            leaning_behind(&graph, &todo, leans).unwrap()
        };
        let all = again(&["KQPvKP"], &[]);
        assert_eq!(all.len(), graph.nodes.len() - 1);
        // What is behind files that can be read is not looked at.
        let with_files = again(&["KQPvKP"], &["KQPvKQ", "KQBvKP"]);
        assert!(!with_files.contains(&number("KQPvKQ")));
        assert!(!with_files.contains(&number("KQBvKQ")) && all.contains(&number("KQBvKQ")));
        // Of what is made as well, too.
        let two = again(&["KQPvKP", "KQPvKQ", "KQBvKP"], &[]);
        assert!(two.contains(&number("KQBvKQ")) && !two.contains(&number("KQPvKQ")));
        assert!(again(&["KQvK"], &["KvK"]).is_empty());
    }
}

//! In which order tables are made, so that few values are held at a time.

use hoffman_plan::{EndingJob, Graph};

/// From how many bytes of values on a table is solved alone, with all threads.
pub(crate) const LARGE: u64 = 64 << 20;

/// Nodes that are to be made, small ones that need no large one first, as they come. Of the others
/// next is always what leaves the fewest values to be held, with all that it needs before it.
pub(crate) fn sparing(graph: &Graph<EndingJob>, todo: &[usize]) -> Vec<usize> {
    let mut sequence = EndingSequence::new(graph, todo);
    for &at in todo {
        let is_ready = graph.nodes[at].needed().all(|needed| sequence.done[needed]);
        if graph.nodes[at].positions() < LARGE && is_ready {
            sequence.push(at);
        }
    }
    while sequence.order.len() < todo.len() {
        let rest = todo.iter().filter(|&&at| !sequence.done[at]);
        let chains = rest.map(|&at| sequence.chain(at));
        let Some(best) = chains.min_by_key(|chain| sequence.held_by(chain)) else { break };
        for at in best {
            sequence.push(at);
        }
    }
    sequence.order
}

struct EndingSequence<'g> {
    graph: &'g Graph<EndingJob>,
    /// What is to be made and needs a node, by its number.
    users: Vec<Vec<usize>>,
    /// What is there or comes before the next one, by number.
    done: Vec<bool>,
    order: Vec<usize>,
}

impl EndingSequence<'_> {
    fn new<'g>(graph: &'g Graph<EndingJob>, todo: &[usize]) -> EndingSequence<'g> {
        let mut users = vec![Vec::new(); graph.nodes.len()];
        let mut done = vec![true; graph.nodes.len()];
        for &at in todo {
            done[at] = false;
            for needed in graph.nodes[at].needed() {
                users[needed].push(at);
            }
        }
        EndingSequence { graph, users, done, order: Vec::new() }
    }

    fn push(&mut self, at: usize) {
        self.done[at] = true;
        self.order.push(at);
    }

    /// A node behind all that it needs and is not there yet.
    fn chain(&self, at: usize) -> Vec<usize> {
        let mut chain = Vec::new();
        self.add_to_chain(at, &mut chain);
        chain
    }

    fn add_to_chain(&self, at: usize, chain: &mut Vec<usize>) {
        if self.done[at] || chain.contains(&at) {
            return;
        }
        for needed in self.graph.nodes[at].needed() {
            self.add_to_chain(needed, chain);
        }
        chain.push(at);
    }

    /// How many values more are to be held once a chain is made: its own that are needed later,
    /// less those that nothing needs then any more.
    fn held_by(&self, chain: &[usize]) -> i64 {
        let positions = |at: usize| self.graph.nodes[at].positions() as i64;
        let is_needed = |at: usize| {
            self.users[at].iter().any(|&user| !self.done[user] && !chain.contains(&user))
        };
        let own: i64 = chain.iter().filter(|&&at| is_needed(at)).map(|&at| positions(at)).sum();
        let before = self.graph.needed_by(chain).into_iter().filter(|&at| self.done[at]);
        let freed: i64 = before.filter(|&at| !is_needed(at)).map(positions).sum();
        own - freed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use hoffman_plan::{all_endings, complete};

    use super::*;

    /// The most values that are held at a time, if nothing is dropped that is needed later.
    fn most_held(graph: &Graph<EndingJob>, order: &[usize]) -> u64 {
        let mut held: HashSet<usize> = HashSet::new();
        let mut most = 0;
        for (number, &at) in order.iter().enumerate() {
            assert!(graph.nodes[at].needed().all(|needed| held.contains(&needed)), "{at}");
            held.insert(at);
            most = most.max(held.iter().map(|&at| graph.nodes[at].positions()).sum());
            let later = graph.needed_by(&order[number + 1..]);
            held.retain(|at| later.contains(at));
        }
        most
    }

    #[test]
    fn what_is_needed_comes_first_and_less_is_held() {
        let graph = Graph::of_endings(&complete(all_endings(5)), Path::new(""));
        let todo: Vec<usize> = (0..graph.nodes.len()).collect();
        let order = sparing(&graph, &todo);
        let all: HashSet<usize> = order.iter().copied().collect();
        assert_eq!((order.len(), all.len()), (todo.len(), todo.len()));
        let [before, now] = [&todo, &order].map(|order| most_held(&graph, order));
        assert!(now * 3 < before * 2, "{now} of {before} positions");
    }

    #[test]
    fn small_tables_keep_their_order() {
        let graph = Graph::of_endings(&complete(all_endings(4)), Path::new(""));
        let todo: Vec<usize> = (3..graph.nodes.len()).collect();
        assert_eq!(sparing(&graph, &todo), todo);
    }
}

//! The graph of jobs: what is made from what. Complete endings, what a position needs, control
//! files, and the tables of an expansion are all such graphs; who builds, plans or writes a
//! Makefile reads them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use hoffman_board::Material;
use hoffman_space::Layout;

use crate::ending::{EndingJob, dependencies};
use crate::estimate::Resources;

/// Nodes in an order in which each comes after those that it needs.
#[derive(Clone, Debug)]
pub struct Graph<S> {
    /// The nodes.
    pub nodes: Vec<Node<S>>,
}

/// Something to be made.
#[derive(Clone, Debug)]
pub struct Node<S> {
    /// The file; of a control file that stands for a family of tables, a pattern.
    pub output: PathBuf,
    /// What it is made from.
    pub inputs: Vec<Input>,
    /// What it takes, where that is known.
    pub resources: Option<Resources>,
    /// What it is made by: an ending, a control file, or the text of one.
    pub source: S,
}

/// A file that something is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// That of the node with this number.
    Made(usize),
    /// One that is there.
    Given(PathBuf),
}

/// Two nodes that need each other, directly or by way of others, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// One of them.
    pub node: usize,
    /// One that it needs.
    pub needed: usize,
}

impl Graph<EndingJob> {
    /// The graph of jobs, each of which comes after those that it needs, with their files in a
    /// folder. An ending some of whose parts are among them is joined from these.
    pub fn of_endings(jobs: &[EndingJob], dir: &Path) -> Graph<EndingJob> {
        let numbers: HashMap<_, _> =
            jobs.iter().enumerate().map(|(number, job)| (job.material, number)).collect();
        let mut parts: HashMap<Material, Vec<usize>> = HashMap::new();
        for (number, job) in jobs.iter().enumerate().filter(|(_, job)| job.part.is_some()) {
            parts.entry(job.material).or_default().push(number);
        }
        let needed = |job: &EndingJob| -> Vec<usize> {
            if let Some(parts) = parts.get(&job.material).filter(|_| job.part.is_none()) {
                return parts.clone();
            }
            let behind = dependencies(&job.material).into_iter();
            behind.filter_map(|key| numbers.get(&key.0).copied()).collect()
        };
        let node = |job: &EndingJob| {
            let slices = job.slice_count();
            Node {
                output: dir.join(job.file_name()),
                inputs: needed(job).into_iter().map(Input::Made).collect(),
                resources: Some(Resources { layout: Layout::new(&job.material), slices }),
                source: job.clone(),
            }
        };
        Graph { nodes: jobs.iter().map(node).collect() }
    }
}

impl Graph<EndingJob> {
    /// Whether the table of a node is joined from those of its parts.
    pub fn is_joined(&self, node: &Node<EndingJob>) -> bool {
        let is_part = |needed: usize| {
            let other = &self.nodes[needed].source;
            other.part.is_some() && other.material == node.source.material
        };
        node.source.part.is_none() && node.needed().next().is_some_and(is_part)
    }
}

impl<S> Graph<S> {
    /// Puts nodes into an order in which each comes after those that it needs, otherwise as given.
    ///
    /// # Errors
    ///
    /// Two need each other.
    pub fn sorted(nodes: Vec<Node<S>>) -> Result<Graph<S>, Ring> {
        let mut visit = Visit {
            nodes: &nodes,
            states: vec![NodeState::New; nodes.len()],
            order: Vec::with_capacity(nodes.len()),
        };
        (0..nodes.len()).try_for_each(|at| visit.enter(at))?;

        let mut places = vec![0; nodes.len()];
        for (place, &number) in visit.order.iter().enumerate() {
            places[number] = place;
        }
        let mut sorted: Vec<(usize, Node<S>)> = places.iter().copied().zip(nodes).collect();
        sorted.sort_by_key(|&(place, _)| place);
        Ok(Graph { nodes: sorted.into_iter().map(|(_, node)| node.renumbered(&places)).collect() })
    }

    /// The numbers of the nodes that some of them need.
    pub fn needed_by(&self, some: &[usize]) -> HashSet<usize> {
        some.iter().flat_map(|&at| self.nodes[at].needed()).collect()
    }

    /// The numbers of the nodes that some of them need, and of those that these need, and so on.
    pub fn all_behind(&self, some: &[usize]) -> HashSet<usize> {
        let mut found = self.needed_by(some);
        let mut open: Vec<usize> = found.iter().copied().collect();
        while let Some(at) = open.pop() {
            open.extend(self.nodes[at].needed().filter(|&needed| found.insert(needed)));
        }
        found
    }

    /// The number of the node whose file has a name: a path, the name of a file, or that without
    /// its ending.
    pub fn find(&self, name: &str) -> Option<usize> {
        let is_meant = |node: &Node<S>| {
            let parts = [node.output.file_name(), node.output.file_stem()];
            node.output == Path::new(name) || parts.contains(&Some(name.as_ref()))
        };
        self.nodes.iter().position(is_meant)
    }

    /// The names of the files, the first and the last of many.
    pub fn names(&self) -> String {
        let name = |node: &Node<S>| node.output.display().to_string();
        match self.nodes.as_slice() {
            [first, .., last] if self.nodes.len() > 8 => {
                format!("{} of them, from {} to {}", self.nodes.len(), name(first), name(last))
            }
            nodes => nodes.iter().map(name).collect::<Vec<_>>().join(", "),
        }
    }

    /// A node and those that it needs, itself last: what has to be there to make it alone.
    pub fn alone(&self, at: usize) -> Graph<S>
    where
        S: Clone,
    {
        let mut needed = Vec::new();
        let mut last = self.nodes[at].clone();
        for input in &mut last.inputs {
            if let Input::Made(number) = input {
                needed.push(Node { inputs: Vec::new(), ..self.nodes[*number].clone() });
                *number = needed.len() - 1;
            }
        }
        needed.push(last);
        Graph { nodes: needed }
    }

    /// The file of an input.
    pub fn file<'g>(&'g self, input: &'g Input) -> &'g Path {
        match input {
            Input::Made(number) => &self.nodes[*number].output,
            Input::Given(path) => path,
        }
    }
}

impl<S> Node<S> {
    /// The node in a list in which the others are at these places.
    fn renumbered(mut self, places: &[usize]) -> Node<S> {
        for input in &mut self.inputs {
            if let Input::Made(number) = input {
                *number = places[*number];
            }
        }
        self
    }

    /// The numbers of the nodes that it needs.
    pub fn needed(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Made(number) => Some(*number),
            Input::Given(_) => None,
        })
    }

    /// The positions that are solved for it, both sides to move, where that is known.
    pub fn positions(&self) -> u64 {
        self.resources.as_ref().map_or(0, Resources::values)
    }
}

/// How far a walk through the graph is with a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeState {
    New,
    /// What it needs is being looked at.
    Entered,
    Done,
}

/// A walk that puts down each node after those that it needs.
struct Visit<'n, S> {
    nodes: &'n [Node<S>],
    states: Vec<NodeState>,
    order: Vec<usize>,
}

impl<S> Visit<'_, S> {
    fn enter(&mut self, at: usize) -> Result<(), Ring> {
        if self.states[at] == NodeState::Done {
            return Ok(());
        }
        self.states[at] = NodeState::Entered;
        let nodes = self.nodes;
        for needed in nodes[at].needed() {
            if self.states[needed] == NodeState::Entered {
                return Err(Ring { node: at, needed });
            }
            self.enter(needed)?;
        }
        self.states[at] = NodeState::Done;
        self.order.push(at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::{complete, with_parts};

    fn node(name: &'static str, inputs: Vec<Input>) -> Node<()> {
        Node { output: name.into(), inputs, resources: None, source: () }
    }

    #[test]
    fn nodes_come_after_what_they_need_and_otherwise_as_given() {
        let given = || Input::Given("x".into());
        let nodes = vec![
            node("a", vec![Input::Made(2), given()]),
            node("b", vec![]),
            node("c", vec![Input::Made(3)]),
            node("d", vec![]),
        ];
        let graph = Graph::sorted(nodes).unwrap();
        let names: Vec<_> = graph.nodes.iter().map(|n| n.output.to_str().unwrap()).collect();
        assert_eq!(names, ["d", "c", "a", "b"]);
        let needs = |at: usize| -> Vec<&Path> {
            graph.nodes[at].inputs.iter().map(|input| graph.file(input)).collect()
        };
        assert_eq!(needs(1), [Path::new("d")]);
        assert_eq!(needs(2), [Path::new("c"), Path::new("x")]);
        let alone = graph.alone(2);
        let names: Vec<_> = alone.nodes.iter().map(|n| n.output.to_str().unwrap()).collect();
        assert_eq!(names, ["c", "a"]);
        assert_eq!(alone.nodes[1].inputs, [Input::Made(0), given()]);
    }

    #[test]
    fn a_ring_is_found() {
        let nodes = vec![node("a", vec![Input::Made(1)]), node("b", vec![Input::Made(0)])];
        assert_eq!(Graph::sorted(nodes).unwrap_err(), Ring { node: 1, needed: 0 });
    }

    #[test]
    fn an_ending_is_joined_from_its_parts() {
        let jobs = with_parts(complete(["KPvK".parse().unwrap()]), 3);
        let graph = Graph::of_endings(&jobs, Path::new("t"));
        let inputs = |at: usize| -> Vec<&str> {
            let node = &graph.nodes[at];
            node.inputs.iter().map(|input| graph.file(input).to_str().unwrap()).collect()
        };
        let last = graph.nodes.len() - 1;
        let parts = ["t/kpk-a2+.htb", "t/kpk-b2+.htb", "t/kpk-c2+.htb", "t/kpk-d2+.htb"];
        assert_eq!(inputs(last), parts);
        assert_eq!(
            inputs(last - 1),
            ["t/kk.htb", "t/kbk.htb", "t/knk.htb", "t/kqk.htb", "t/krk.htb"]
        );
        let joined = graph.nodes.iter().filter(|node| graph.is_joined(node));
        assert_eq!(joined.count(), 1);
    }

    #[test]
    fn endings_need_what_their_moves_lead_to() {
        let jobs = complete(["KPvK".parse().unwrap()]);
        let graph = Graph::of_endings(&jobs, Path::new("t"));
        let last = graph.nodes.last().unwrap();
        let files: Vec<_> =
            last.inputs.iter().map(|i| graph.file(i).to_str().unwrap().to_owned()).collect();
        assert_eq!(files, ["t/kk.htb", "t/kbk.htb", "t/knk.htb", "t/kqk.htb", "t/krk.htb"]);
        assert!(last.needed().all(|needed| needed < graph.nodes.len() - 1));
        assert_eq!(last.positions(), 24 * 2 * 64 * 64);
    }
}

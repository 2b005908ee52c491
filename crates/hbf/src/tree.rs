//! Decision trees that choose a distribution. See docs/hbf.md, 9.

use crate::board::squares;
use crate::range::{RangePart, distribution};
use crate::rows::{Tests, WORDS};
use crate::side_by_side::MASKS;

const LEAF: u16 = u16::MAX;
/// A tree of a file has no more of them.
pub(crate) const MAX_LEAVES: usize = 32767;
const MAX_DEPTH: usize = 64;

/// In the place of a child: the rest is the number of a leaf.
const IS_LEAF: u16 = 1 << 15;

/// The number of the leaf that a child is; none if it is an inner node.
#[inline]
pub(crate) fn child_leaf(child: u16) -> Option<u16> {
    (child & IS_LEAF != 0).then_some(child & !IS_LEAF)
}

/// Room for twice as many sets of cells as there can be.
const QUEUE: usize = 128;

/// The bit of the lane square.
const OF_LANE: u8 = 64;

/// Small, as the whole tree should stay in the first-level cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
struct TreeNode {
    /// The word of the test, and its bit.
    word: u16,
    bit: u8,
    children: [u16; 2],
}

/// A tree whose leaves are distributions of `N` symbols.
#[derive(Debug)]
pub(crate) struct Tree<const N: usize> {
    nodes: Vec<TreeNode>,
    /// The tests of the nodes by their numbers.
    tests: Vec<u16>,
    leaves: Vec<[u16; N]>,
    /// Of each leaf and symbol the frequencies of the symbols before.
    below: Vec<[u16; N]>,
    root: u16,
}

impl<const N: usize> Tree<N> {
    /// Reads a tree that may use the first `count` tests. None if it is none, or does not fill the
    /// bytes.
    pub(crate) fn parse(bytes: &[u8], tests: Tests, count: usize) -> Option<Tree<N>> {
        let mut tree = Tree {
            nodes: Vec::new(),
            tests: Vec::new(),
            leaves: Vec::new(),
            below: Vec::new(),
            root: 0,
        };
        // Children that are still to come: the node and which of its two; and how deep they are.
        let mut open: Vec<(Option<(usize, usize)>, usize)> = vec![(None, 0)];
        let mut rest = bytes;

        while let Some((parent, depth)) = open.pop() {
            let (&[low, high], behind) = rest.split_first_chunk()?;
            rest = behind;
            let test = u16::from_le_bytes([low, high]);
            let this = if test == LEAF {
                if tree.leaves.len() >= MAX_LEAVES {
                    return None;
                }
                let (leaf, behind) = rest.split_at_checked(N - 1)?;
                rest = behind;
                let frequencies = distribution(leaf)?;
                let mut sum = 0_u16;
                let below = frequencies.map(|frequency| {
                    sum = sum.wrapping_add(frequency);
                    sum.wrapping_sub(frequency)
                });
                tree.leaves.push(frequencies);
                tree.below.push(below);
                (tree.leaves.len() - 1) as u16 | IS_LEAF
            } else {
                let (word, bit) = tests.bit(usize::from(test));
                let number = tree.nodes.len();
                let full = depth >= MAX_DEPTH || number >= MAX_LEAVES;
                if usize::from(test) >= count || full {
                    return None;
                }
                tree.tests.push(test);
                tree.nodes.push(TreeNode { word, bit, children: [0; 2] });
                open.extend([1, 0].map(|child| (Some((number, child)), depth + 1)));
                number as u16
            };
            match parent {
                None => tree.root = this,
                Some((node, child)) => tree.nodes.get_mut(node)?.children[child] = this,
            }
        }
        rest.is_empty().then_some(tree)
    }

    /// The test and the children of each inner node; see [`child_leaf`].
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (u16, [u16; 2])> {
        self.tests.iter().zip(&self.nodes).map(|(&test, node)| (test, node.children))
    }

    pub(crate) fn root(&self) -> u16 {
        self.root
    }

    /// The number of the leaf that a cell comes to.
    #[inline]
    pub(crate) fn leaf(&self, words: &[u64; WORDS], lane: usize) -> usize {
        let mut at = self.root;
        while let Some(&TreeNode { word, bit, children }) = self.nodes.get(usize::from(at)) {
            let shift = if bit == OF_LANE { lane as u8 } else { bit };
            let is_one = words[usize::from(word) % WORDS] >> (shift & 63) & 1 != 0;
            // Not loaded from the place that the bit says: the next node would wait for the word,
            // which takes twice as long.
            at = std::hint::select_unpredictable(is_one, children[1], children[0]);
        }
        usize::from(at & !IS_LEAF)
    }

    /// The number of the leaf that a cell comes to, if `masks` has all tests as sets of lane
    /// squares.
    pub(crate) fn leaf_of(&self, masks: &[u64; MASKS], lane: usize) -> usize {
        let mut at = self.root;
        while let Some(node) = self.nodes.get(usize::from(at)) {
            let test = usize::from(self.tests[usize::from(at)]) % MASKS;
            let is_one = masks[test] >> (lane & 63) & 1 != 0;
            at = if is_one { node.children[1] } else { node.children[0] };
        }
        usize::from(at & !IS_LEAF)
    }

    /// The leaves that cells of a row come to: cells that go the same way go together.
    pub(crate) fn leaves(&self, masks: &[u64; MASKS], cells: u64, leaf_of: &mut [u16; 64]) {
        // Sets are disjoint, so there are never more than 64 that have cells. Those that are empty
        // are written, too, and then overwritten by the next one: a branch for them would be hard
        // to foresee. Inner nodes are in the first half, leaves in the second one.
        let mut sets = [(0_u16, 0_u64); 2 * QUEUE];
        let (mut first, mut behind, mut found) = (0, 0, 0);
        let mut children = [(self.root, cells), (self.root, 0)];

        loop {
            for (at, set) in children {
                let is_leaf = at & IS_LEAF != 0;
                let place = if is_leaf { QUEUE + found } else { behind % QUEUE };
                sets[place % (2 * QUEUE)] = (at, set);
                let counts = usize::from(set != 0);
                behind += counts & usize::from(!is_leaf);
                found += counts & usize::from(is_leaf);
            }
            if first == behind {
                break;
            }
            let (at, set) = sets[first % QUEUE];
            first += 1;
            let Some(node) = self.nodes.get(usize::from(at)) else { break };
            let test = usize::from(self.tests[usize::from(at)]) % MASKS;
            let ones = set & masks[test];
            children = [(node.children[0], set ^ ones), (node.children[1], ones)];
        }

        for (leaf, set) in &sets[QUEUE..QUEUE + found % QUEUE] {
            for lane in squares(*set) {
                leaf_of[usize::from(lane & 63)] = leaf & !IS_LEAF;
            }
        }
    }

    /// The part of the range that a symbol has at a leaf.
    #[inline]
    pub(crate) fn part(&self, leaf: usize, symbol: usize) -> RangePart {
        RangePart::between(self.below[leaf][symbol], self.leaves[leaf][symbol])
    }

    /// The distribution of a leaf.
    #[inline]
    pub(crate) fn distribution(&self, leaf: usize) -> &[u16; N] {
        &self.leaves[leaf]
    }
}

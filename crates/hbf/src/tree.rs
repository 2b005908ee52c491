//! Decision trees that choose a distribution. See docs/hbf.md, 9.

use crate::range::distribution;
use crate::rows::{Tests, WORDS};

const LEAF: u16 = u16::MAX;
const MAX_LEAVES: usize = 65535;
const MAX_DEPTH: usize = 64;

/// In the place of a child: the rest is the number of a leaf.
const IS_LEAF: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Node {
    word: u16,
    /// 64 is the lane square.
    bit: u8,
    children: [u32; 2],
}

/// A tree whose leaves are distributions of `N` symbols.
#[derive(Debug)]
pub(crate) struct Tree<const N: usize> {
    nodes: Vec<Node>,
    leaves: Vec<[u16; N]>,
    root: u32,
}

impl<const N: usize> Tree<N> {
    /// Reads a tree that may use the first `count` tests. None if it is none, or does not fill the bytes.
    pub(crate) fn parse(bytes: &[u8], tests: Tests, count: usize) -> Option<Tree<N>> {
        let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new(), root: 0 };
        // Children that are still to come: the node and which of its two.
        let mut open: Vec<Option<(usize, usize)>> = vec![None];
        let mut rest = bytes;
        while let Some(parent) = open.pop() {
            let (&[low, high], behind) = rest.split_first_chunk()?;
            rest = behind;
            let test = u16::from_le_bytes([low, high]);
            let this = if test == LEAF {
                let (leaf, behind) = rest.split_at_checked(N - 1)?;
                rest = behind;
                tree.leaves.push(distribution(leaf)?);
                (tree.leaves.len() - 1) as u32 | IS_LEAF
            } else {
                let (word, bit) = tests.bit(usize::from(test));
                let number = tree.nodes.len();
                if usize::from(test) >= count || open.len() >= MAX_DEPTH {
                    return None;
                }
                tree.nodes.push(Node { word, bit, children: [0; 2] });
                open.extend([Some((number, 1)), Some((number, 0))]);
                number as u32
            };
            match parent {
                None => tree.root = this,
                Some((node, child)) => tree.nodes.get_mut(node)?.children[child] = this,
            }
        }
        (rest.is_empty() && tree.leaves.len() <= MAX_LEAVES).then_some(tree)
    }

    /// The number of the leaf that a cell comes to.
    #[inline]
    pub(crate) fn leaf(&self, words: &[u64; WORDS], lane: usize) -> usize {
        let mut at = self.root;
        while let Some(node) = self.nodes.get(at as usize) {
            let shift = if node.bit == 64 { lane as u8 } else { node.bit };
            let bit = words[usize::from(node.word) % WORDS] >> (shift & 63) & 1;
            at = node.children[bit as usize];
        }
        (at & !IS_LEAF) as usize
    }

    /// The distribution of a leaf.
    #[inline]
    pub(crate) fn distribution(&self, leaf: usize) -> &[u16; N] {
        &self.leaves[leaf]
    }
}

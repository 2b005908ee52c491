//! What a stream of cells is predicted with. See docs/hbf.md, 9.

use crate::cells::Space;
use crate::plain::PlainLeaves;
use crate::range::distribution;
use crate::rows::{ModelFrame, Tests};
use crate::tree::Tree;

/// Symbols of a cell: four candidates and a miss.
pub(crate) const CELL_SYMBOLS: usize = 5;
pub(crate) const MISS: usize = 4;

/// Symbols of the distance of a miss.
pub(crate) const MISS_SYMBOLS: usize = 25;

/// Contexts and symbols of the class of a miss.
pub(crate) const CLASS_CONTEXTS: usize = 16;
pub(crate) const CLASSES: usize = 3;

/// The number of the codec of cells.
pub(crate) const CELL_CODEC: u8 = 1;

const TREES_AT: usize = 66;

/// The largest model that is read.
pub(crate) const MAX_MODEL: u64 = 16 << 20;

/// A model as it is used.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) frame: ModelFrame,
    /// The distance of a loss and a win before any was missed.
    pub(crate) last: [u16; 2],
    pub(crate) classes: [[u16; CLASSES]; CLASS_CONTEXTS],
    pub(crate) cells: Tree<CELL_SYMBOLS>,
    pub(crate) misses: Tree<MISS_SYMBOLS>,
    /// If the model is plain.
    pub(crate) plain: Option<PlainLeaves>,
}

/// The parts of a model as they are written.
#[derive(Clone, Debug)]
pub(crate) struct ModelParts {
    pub(crate) frame: ModelFrame,
    pub(crate) last: [u16; 2],
    pub(crate) classes: [[u8; CLASSES - 1]; CLASS_CONTEXTS],
    pub(crate) cells: Vec<u8>,
    pub(crate) misses: Vec<u8>,
}

impl ModelParts {
    /// The bytes of section `MODL`.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let order = self.frame.order.iter().rev().fold(0, |bits, &place| bits << 2 | place & 3);
        let mut bytes = vec![CELL_CODEC, order];
        bytes.extend(self.frame.default.to_le_bytes());
        bytes.extend(self.frame.thresholds.iter().flat_map(|t| t.to_le_bytes()));
        bytes.extend(self.last.iter().flat_map(|moves| moves.to_le_bytes()));
        bytes.extend(self.classes.as_flattened());
        for tree in [&self.cells, &self.misses] {
            bytes.extend((tree.len() as u32).to_le_bytes());
        }
        bytes.extend(&self.cells);
        bytes.extend(&self.misses);
        bytes
    }
}

/// Who decodes fewer tiles is faster without a table of leaves.
const TILES_FOR_TABLE: u64 = 1 << 10;

impl Model {
    /// Prepares for decoding so many tiles.
    pub(crate) fn prepare(&self, tiles: u64) {
        if tiles >= TILES_FOR_TABLE {
            self.plain.iter().for_each(PlainLeaves::prepare);
        }
    }

    /// Reads section `MODL`. None if it is damaged.
    pub(crate) fn parse(bytes: &[u8], space: &Space) -> Option<Model> {
        let number = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let length =
            |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
        if *bytes.first()? != CELL_CODEC {
            return None;
        }
        let packed = *bytes.get(1)?;
        let order = [packed & 3, packed >> 2 & 3, packed >> 4 & 3, packed >> 6];
        if order.iter().fold(0, |set, &place| set | 1 << place) != 0b1111 {
            return None;
        }

        let mut thresholds = [0; 9];
        for (k, threshold) in thresholds.iter_mut().enumerate() {
            *threshold = number(4 + 2 * k)?;
        }
        let mut classes = [[0; CLASSES]; CLASS_CONTEXTS];

        for (k, class) in classes.iter_mut().enumerate() {
            *class = distribution(bytes.get(26 + 2 * k..28 + 2 * k)?)?;
        }
        let default = number(2)?;
        let frame = ModelFrame::new(order, default, thresholds);
        let (first, second) = (length(58)?, length(62)?);
        let (cells, misses) = bytes.get(TREES_AT..)?.split_at_checked(first)?;
        if misses.len() != second || default == 0 {
            return None;
        }

        let tests = Tests::of(space);
        let cells = Tree::parse(cells, tests, tests.count(false))?;
        let misses = Tree::parse(misses, tests, tests.count(true))?;
        let of_misses = |(test, _): (u16, _)| usize::from(test) >= tests.count(false);
        let plain =
            if misses.nodes().all(of_misses) { PlainLeaves::of(&cells, tests) } else { None };
        Some(Model { frame, last: [number(22)?, number(24)?], classes, cells, misses, plain })
    }
}

//! What a build holds in memory for the endings that come later.

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::Material;
use hoffman_table::rows::Wanted;

use super::{Build, group_end};
use crate::aside::CompressedValues;
use crate::cost::{BESIDE, memory_of_group};
use crate::memory::available_memory;
use crate::values::wanted_by;

/// From how many bytes of values on it makes room if they are put aside.
const MAKES_ROOM: u64 = 4 << 20;

impl Build<'_> {
    /// Keeps of what was made those values alone that later nodes want: of five men only positions
    /// with a promoted man on the last rank, and one side to move.
    pub(super) fn keep_wanted(&mut self, later: &[usize]) {
        let wanted = wanted_by(self.graph, later);
        let held: Vec<Material> = self.tables.keys().copied().collect();
        for material in held {
            // What was read for others may be less than what is wanted now.
            let is_more = |wanted: &&Wanted| match self.loaded.get(&material) {
                Some(loaded) => loaded != *wanted && loaded.covers(wanted),
                None => true,
            };
            if let Some(wanted) = wanted.get(&material).filter(is_more) {
                self.keep_part(material, wanted);
            }
        }
    }

    /// Keeps of the values of an ending, which are there, those that are wanted, whatever their
    /// pawns.
    pub(super) fn keep_part(&mut self, material: Material, wanted: &Wanted) {
        if *wanted == Wanted::all() || !self.options.workplace.format().has_distance() {
            return;
        }
        let Some(values) = self.tables.remove(&material) else { return };
        match Arc::try_unwrap(values) {
            Ok(values) => {
                self.tables.insert(material, Arc::new(wanted.part_of(values)));
                self.loaded.insert(material, wanted.clone());
            }
            Err(shared) => _ = self.tables.insert(material, shared),
        }
    }

    /// Drops what no later node needs, and of the rest what the next ones leave no room for.
    pub(super) fn forget_unneeded(&mut self, later: &[usize]) {
        let mut next_use = HashMap::new();
        for (number, &at) in later.iter().enumerate().rev() {
            let materials = self.graph.nodes[at].needed();
            next_use.extend(materials.map(|n| (self.graph.nodes[n].source.material, number)));
        }
        self.tables.retain(|material, _| next_use.contains_key(material));
        self.aside.retain(|material, _| next_use.contains_key(material));
        self.loaded.retain(|material, _| next_use.contains_key(material));
        if !self.options.write || later.is_empty() {
            return;
        }

        // Under pressure what is needed last is put aside, and dropped if that is not enough: it is
        // read back from its file then, which takes long. Small ones make no room.
        let mut held: Vec<(bool, usize, Material)> = Vec::new();
        for (material, table) in &self.tables {
            let number = next_use.get(material).copied().unwrap_or(0);
            held.push((table.bytes() as u64 >= MAKES_ROOM, number, *material));
        }
        held.sort_unstable_by_key(|&(is_large, number, _)| (is_large, number));
        let mut total = self.held_bytes();
        let limit = self.free_memory(total).map_or(u64::MAX, |free| {
            let group = &later[..group_end(self.graph, later, 0)];
            let is_held = |material: &Material| self.tables.contains_key(material);
            let format = self.options.workplace.format();
            let next = memory_of_group(self.graph, group, format, is_held);
            // Some is left to others, who may need it before this is looked at again.
            ((free + total) / 8 * 7).saturating_sub(next)
        });
        while let Some((_, _, material)) = held.pop().filter(|_| total > limit) {
            let compressed = self.tables.remove(&material).and_then(|v| CompressedValues::of(&v));
            match compressed {
                Some(values) => _ = self.aside.insert(material, values),
                None => _ = self.loaded.remove(&material),
            }
            total = self.held_bytes();
        }
        let last = |material: &Material| next_use.get(material).copied();
        while let Some(material) = self.aside.keys().copied().max_by_key(last)
            && total > limit
        {
            self.aside.remove(&material);
            self.loaded.remove(&material);
            total = self.held_bytes();
        }
    }

    /// What all values take that are in memory.
    fn held_bytes(&self) -> u64 {
        let tables = self.tables.values().map(|table| table.bytes() as u64);
        let aside = self.aside.values().map(|values| values.bytes() as u64);
        tables.chain(aside).sum()
    }

    /// The memory that may be taken yet, if the values that are held take so much: what is free,
    /// and no more than a bound leaves. What the allocator keeps of freed memory is used again, so
    /// what the process takes now says nothing.
    fn free_memory(&self, held: u64) -> Option<u64> {
        let free = available_memory();
        let bound = self.options.workplace.memory.filter(|_| self.pages.is_none());
        let Some(bound) = bound else { return free };
        let left = bound.bytes.saturating_sub(BESIDE + held);
        Some(free.map_or(left, |free| free.min(left)))
    }
}

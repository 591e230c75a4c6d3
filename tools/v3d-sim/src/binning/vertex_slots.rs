//! Slots: the places of vertices in a table, found by their indices.

use std::collections::HashMap;

/// Indices below this have an entry in a table, others in a map.
const TABLE_INDICES: u32 = 1 << 16;
/// No slot.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// The slot of each vertex, by its index.
#[derive(Debug, Default)]
pub(crate) struct VertexSlots {
    table: Vec<u32>,
    map: HashMap<u32, u32>,
}

impl VertexSlots {
    /// The slot of a vertex. One that has none gets `next`, which no vertex has.
    #[inline]
    pub(crate) fn slot(&mut self, index: u32, next: u32) -> u32 {
        let slot = if index < TABLE_INDICES {
            let place = index as usize;
            if place >= self.table.len() {
                self.table.resize(place + 1, NO_SLOT);
            }
            &mut self.table[place]
        } else {
            self.map.entry(index).or_insert(NO_SLOT)
        };
        if *slot == NO_SLOT {
            *slot = next;
        }
        *slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_keeps_its_slot() {
        let mut slots = VertexSlots::default();
        let mut check = |index, next, expected| assert_eq!(slots.slot(index, next), expected, "{index}");
        for (index, slot) in [(5, 0), (0xffff, 1), (0x1_0000, 2), (u32::MAX, 3)] {
            check(index, slot, slot);
        }
        for (index, slot) in [(5, 0), (0xffff, 1), (0x1_0000, 2), (u32::MAX, 3)] {
            check(index, 4, slot);
        }
        check(0, 4, 4);
    }
}

//! The caller's buffer objects.

use std::collections::BTreeMap;
use std::ops::Range;

/// The buffers that are known, by their first bytes.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    ends: BTreeMap<u32, u32>,
}

impl Buffers {
    /// Adds a buffer of `size` bytes at `start`. Earlier ones that overlap with it must have been freed, and are removed.
    pub fn add(&mut self, start: u32, size: u32) {
        let end = start.saturating_add(size);
        while let Some((&before, &before_end)) = self.ends.range(..end).next_back()
            && before_end > start
        {
            self.ends.remove(&before);
        }
        if size > 0 {
            self.ends.insert(start, end);
        }
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of each buffer, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u32>> {
        self.ends.iter().map(|(&start, &end)| start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(added: &[(u32, u32)], expected: &[Range<u32>]) {
        let mut buffers = Buffers::default();
        for &(start, size) in added {
            buffers.add(start, size);
        }
        assert_eq!(buffers.ranges().collect::<Vec<_>>(), expected, "{added:?}");
    }

    /// One range, as a list.
    fn one(range: std::ops::Range<u32>) -> [std::ops::Range<u32>; 1] {
        [range]
    }

    #[test]
    fn a_new_buffer_replaces_those_that_it_overlaps_with() {
        check(&[(0, 16), (32, 16)], &[0..16, 32..48]);
        check(&[(0, 16), (16, 16)], &[0..16, 16..32]);
        check(&[(0, 16), (32, 16), (15, 1)], &[15..16, 32..48]);
        check(&[(0, 16), (32, 16), (16, 16)], &[0..16, 16..32, 32..48]);
        check(&[(0, 16), (32, 16), (8, 32)], &one(8..40));
        check(&[(0, 64), (16, 16)], &one(16..32));
        check(&[(16, 16), (0, 64)], &one(0..64));
        check(&[(16, 16), (16, 0)], &one(16..32));
        check(&[(u32::MAX - 1, 16)], &one(u32::MAX - 1..u32::MAX));
    }
}

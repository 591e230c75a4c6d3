//! Memory that the CPU shares with the GPU, word by word
//!
//! Such memory changes without the compiler knowing, and is mapped non-cacheable. Every access is one load or store of 32 or 64 bits:
//! relaxed atomics, which are plain `ldr` and `str`. The code that starts the GPU orders them
//! ([`crate::arch::cpu::complete_memory_accesses`]).

use core::{
    ops::Range,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

#[cfg(target_os = "none")]
use super::layout;

/// A range of shared memory.
#[derive(Clone, Copy, Debug)]
pub struct SharedWords {
    words: &'static [AtomicU32],
}

impl SharedWords {
    /// The GPU pool. Everything in it belongs to whoever asked; there is one asker, the platform of the driver.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn gpu_pool() -> Self {
        Self::of_mapped_range(layout::gpu_pool())
    }

    /// The memory that keeps its contents over a warm reset.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn persistent() -> Self {
        Self::of_mapped_range(layout::persistent())
    }

    /// The memory of the boot trace.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn boot_trace() -> Self {
        Self::of_mapped_range(layout::boot_trace())
    }

    /// A range that the map has as shared memory: the fixed ones above, and the firmware's framebuffer.
    #[cfg(target_os = "none")]
    pub(crate) fn of_mapped_range(range: Range<usize>) -> Self {
        let words = range.len() / 4;
        assert!(range.start.is_multiple_of(4), "shared memory is made of words");
        // SAFETY: callers pass ranges that are mapped read-write for ever and that hold nothing else: linker.ld keeps the fixed
        // ones free, and the framebuffer is mapped by its owner just before, which fails if anything else is there. Atomics may
        // change behind the compiler's back.
        Self { words: unsafe { core::slice::from_raw_parts(range.start as *const AtomicU32, words) } }
    }

    /// Memory on the developer's machine, for tests.
    #[must_use]
    pub fn from_words(words: &'static [AtomicU32]) -> Self {
        Self { words }
    }

    /// The address of the first word.
    #[must_use]
    pub fn address(&self) -> usize {
        self.words.as_ptr() as usize
    }

    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u32> {
        self.words.get(index).map(|word| word.load(Ordering::Relaxed))
    }

    /// Stores a word; says whether there was a place for it.
    pub fn set(&self, index: usize, value: u32) -> bool {
        match self.words.get(index) {
            Some(word) => {
                word.store(value, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// The words as the atomics that they are.
    #[must_use]
    pub fn atomics(&self) -> &'static [AtomicU32] {
        self.words
    }

    /// The words of `range`, cut off at the end of memory.
    pub fn iter(&self, range: Range<usize>) -> impl Iterator<Item = u32> + use<> {
        let end = range.end.min(self.words.len());
        let start = range.start.min(end);
        self.words[start..end].iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Stores `value` in all words of `range`, cut off at the end of memory.
    pub fn fill(&self, range: Range<usize>, value: u32) {
        let end = range.end.min(self.words.len());
        let start = range.start.min(end);
        for word in &self.words[start..end] {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Stores words from `index` on; what is beyond the end of memory is not stored. Where both sides are aligned to 8 bytes, words are stored two by two.
    #[inline]
    pub fn store_words(&self, index: usize, words: &[u32]) {
        let to = self.words.get(index..).unwrap_or_default();
        let count = to.len().min(words.len());
        let (to, words) = (&to[..count], &words[..count]);
        let [last, to_last] = match pairs(to, words) {
            Some((pairs, values)) => {
                let ((pairs, pairs_left), (values, values_left)) = (pairs.as_chunks::<8>(), values.as_chunks::<8>());
                for (pairs, &values) in pairs.iter().zip(values) {
                    // All are loaded before the first is stored: the compiler has to assume that they may be the same.
                    pairs.iter().zip(values).for_each(|(pair, value)| pair.store(value, Ordering::Relaxed));
                }
                pairs_left.iter().zip(values_left).for_each(|(pair, &value)| pair.store(value, Ordering::Relaxed));
                [count & !1, count]
            }
            None => [0, count],
        };
        to[last..to_last].iter().zip(&words[last..]).for_each(|(to, &word)| to.store(word, Ordering::Relaxed));
    }

    /// Stores bytes from byte `offset` on; what is beyond the end of memory is not stored.
    pub fn store_bytes(&self, offset: usize, bytes: &[u8]) {
        let mut offset = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let index = offset / 4;
            let (words, tail) = rest.as_chunks();
            if offset.is_multiple_of(4) && !words.is_empty() {
                // The kernel's target has no unaligned loads: words that are aligned in the source, too, cost a fourth.
                match bytemuck::try_cast_slice::<[u8; 4], u32>(words) {
                    Ok(words) => self.store_words(index, words),
                    Err(_) => {
                        let to = self.words.get(index..).unwrap_or_default();
                        to.iter().zip(words).for_each(|(to, word)| {
                            to.store(u32::from_le_bytes(*word), Ordering::Relaxed);
                        });
                    }
                }
                (offset, rest) = (offset + 4 * words.len(), tail);
                continue;
            }
            let Some(word) = self.get(index) else { return };
            let mut word = word.to_le_bytes();
            let part = rest.len().min(4 - offset % 4);
            word[offset % 4..offset % 4 + part].copy_from_slice(&rest[..part]);
            self.set(index, u32::from_le_bytes(word));
            (offset, rest) = (offset + part, &rest[part..]);
        }
    }

    /// Loads bytes from byte `offset` on; what is beyond the end of memory reads 0.
    pub fn load_bytes(&self, offset: usize, bytes: &mut [u8]) {
        let mut offset = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let word = self.get(offset / 4).unwrap_or(0).to_le_bytes();
            let part = rest.len().min(4 - offset % 4);
            let (now, later) = rest.split_at_mut(part);
            now.copy_from_slice(&word[offset % 4..offset % 4 + part]);
            (offset, rest) = (offset + part, later);
        }
    }
}

/// Both as pairs of words, if both are aligned to 8 bytes: as many as the shorter one has.
#[inline]
fn pairs<'a>(to: &'a [AtomicU32], words: &'a [u32]) -> Option<(&'a [AtomicU64], &'a [u64])> {
    let count = to.len().min(words.len()) / 2;
    let (to, words) = (to.as_ptr().cast::<AtomicU64>(), words.as_ptr().cast::<u64>());
    if !to.is_aligned() || !words.is_aligned() {
        return None;
    }
    // SAFETY: both are aligned, and there are twice as many words of half the size. Eight bytes of shared memory are an atomic of 64 bits as well as two of
    // 32: each has all values of its bits, and is changed through shared references only. One core stores here, and no store is interrupted by one to the
    // same words.
    Some(unsafe { (core::slice::from_raw_parts(to, count), core::slice::from_raw_parts(words, count)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stored_from_any_to_any_alignment() {
        let values: Vec<u32> = (100..140).collect();
        for (from, index, count) in
            (0..3).flat_map(|from| (0..4).flat_map(move |index| (0..24).map(move |count| (from, index, count))))
        {
            let words: Vec<AtomicU32> = (0..25).map(AtomicU32::new).collect();
            let memory = SharedWords::from_words(words.leak());
            memory.store_words(index, &values[from..from + count]);
            let expected = (0..25usize).map(|at| match at.checked_sub(index) {
                Some(stored) if stored < count => 100 + (from + stored) as u32,
                _ => at as u32,
            });
            assert!(memory.iter(0..25).eq(expected), "{count} words from {from} to {index}");
        }
    }

    #[test]
    fn bytes_go_in_and_come_out_at_any_offset() {
        for offset in 0..6 {
            for count in 0..12 {
                let words: Vec<AtomicU32> = (0..5).map(|_| AtomicU32::new(0xeeee_eeee)).collect();
                let memory = SharedWords::from_words(words.leak());
                let bytes: Vec<u8> = (1..=count).collect();
                memory.store_bytes(offset, &bytes);
                let mut all = [0; 24];
                memory.load_bytes(0, &mut all);
                let mut expected = [0xee; 24];
                expected[20..].fill(0);
                expected[offset..offset + bytes.len()].copy_from_slice(&bytes);
                assert_eq!(all, expected, "{count} bytes at {offset}");
                let mut back = vec![0; bytes.len()];
                memory.load_bytes(offset, &mut back);
                assert_eq!(back, bytes);
            }
        }
    }

    #[test]
    fn nothing_is_touched_beyond_the_end() {
        let memory = SharedWords::from_words(vec![AtomicU32::new(0), AtomicU32::new(0)].leak());
        memory.store_bytes(6, &[1, 2, 3, 4, 5, 6, 7]);
        memory.store_words(1, &[5, 6]);
        assert_eq!(memory.get(1), Some(5));
        memory.store_words(3, &[5]);
        memory.fill(1..9, 7);
        assert_eq!(memory.iter(0..9).collect::<Vec<_>>(), [0, 7]);
        assert!(!memory.set(2, 1));
        assert_eq!(memory.get(2), None);
    }
}

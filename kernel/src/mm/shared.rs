//! Memory that is shared between the CPU and the VideoCore, accessed by words
//!
//! The GPU and the firmware change this memory without the compiler's knowledge, and it is mapped non-cacheable. Each access is a load or store of 32 or 64
//! bits by a relaxed atomic, which is a plain `ldr` or `str`. The code that starts the GPU or sends a message orders them
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
    /// The GPU pool. Only the driver's platform uses it.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn gpu_pool() -> Self {
        Self::of_mapped_range(layout::gpu_pool())
    }

    /// Memory whose contents survive a warm reset.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn persistent() -> Self {
        Self::of_mapped_range(layout::persistent())
    }

    /// Memory of the boot trace.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn boot_trace() -> Self {
        Self::of_mapped_range(layout::boot_trace())
    }

    /// Memory of the messages to the firmware. Only the mailbox uses it.
    #[cfg(target_os = "none")]
    #[must_use]
    pub fn messages() -> Self {
        Self::of_mapped_range(layout::messages())
    }

    /// A range that is mapped as shared memory: one of the fixed ranges above, or the firmware's framebuffer.
    #[cfg(target_os = "none")]
    pub(crate) fn of_mapped_range(range: Range<usize>) -> Self {
        let words = range.len() / 4;
        assert!(range.start.is_multiple_of(4), "shared memory is made of words");
        // SAFETY: callers pass ranges that are permanently mapped read-write and contain nothing else: linker.ld reserves the fixed ranges, and the framebuffer
        // has just been mapped by its owner, which fails if the range is mapped already. Other agents may change atomics at any time.
        Self { words: unsafe { core::slice::from_raw_parts(range.start as *const AtomicU32, words) } }
    }

    /// Memory on the host, for tests.
    #[must_use]
    pub fn from_words(words: &'static [AtomicU32]) -> Self {
        Self { words }
    }

    /// The words of `range`, limited to the end of memory.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.words.len());
        Self { words: &self.words[range.start.min(end)..end] }
    }

    /// Address of the first word.
    #[must_use]
    pub fn address(&self) -> usize {
        self.words.as_ptr() as usize
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u32> {
        self.words.get(index).map(|word| word.load(Ordering::Relaxed))
    }

    /// Stores a word; returns whether `index` is inside the range.
    pub fn set(&self, index: usize, value: u32) -> bool {
        match self.words.get(index) {
            Some(word) => {
                word.store(value, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// The words as atomics.
    #[must_use]
    pub fn atomics(&self) -> &'static [AtomicU32] {
        self.words
    }

    /// The words of `range`, limited to the end of memory.
    pub fn iter(&self, range: Range<usize>) -> impl Iterator<Item = u32> + use<> {
        let end = range.end.min(self.words.len());
        let start = range.start.min(end);
        self.words[start..end].iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Stores `value` in all words of `range`, limited to the end of memory.
    pub fn fill(&self, range: Range<usize>, value: u32) {
        let end = range.end.min(self.words.len());
        let start = range.start.min(end);
        for word in &self.words[start..end] {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Stores words from `index` on, up to the end of memory. If both sides are aligned to 8 bytes, they are stored in blocks of 64 bytes on the board, and
    /// in pairs elsewhere.
    #[inline(always)]
    pub fn store_words(&self, index: usize, words: &[u32]) {
        let to = self.words.get(index..).unwrap_or_default();
        let Some(to) = to.get(..words.len()) else {
            return Self::store_pairs(to, &words[..to.len()]);
        };
        #[cfg(all(target_arch = "aarch64", target_os = "none"))]
        if (to.as_ptr() as usize | words.as_ptr() as usize).is_multiple_of(8) {
            // SAFETY: both slices have as many words, and both are aligned to 8 bytes.
            unsafe { store_aligned(to, words.as_ptr(), words.len()) };
            return;
        }
        Self::store_pairs(to, words);
    }

    /// The same for memory and words of one length.
    fn store_pairs(to: &[AtomicU32], words: &[u32]) {
        let count = words.len();
        let [last, to_last] = match pairs(to, words) {
            Some((pairs, values)) => {
                let ((pairs, pairs_left), (values, values_left)) = (pairs.as_chunks::<8>(), values.as_chunks::<8>());
                for (pairs, &values) in pairs.iter().zip(values) {
                    // All are loaded before the first is stored, since the compiler has to assume that the slices overlap.
                    pairs.iter().zip(values).for_each(|(pair, value)| pair.store(value, Ordering::Relaxed));
                }
                pairs_left.iter().zip(values_left).for_each(|(pair, &value)| pair.store(value, Ordering::Relaxed));
                [count & !1, count]
            }
            None => [0, count],
        };
        to[last..to_last].iter().zip(&words[last..]).for_each(|(to, &word)| to.store(word, Ordering::Relaxed));
    }

    /// Stores bytes from byte `offset` on, up to the end of memory.
    pub fn store_bytes(&self, offset: usize, bytes: &[u8]) {
        let mut offset = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let index = offset / 4;
            let (words, tail) = rest.as_chunks();
            if offset.is_multiple_of(4) && !words.is_empty() {
                // The kernel's target does not use unaligned loads: copying words that are also aligned in the source takes a fourth of the time.
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

    /// Loads bytes from byte `offset` on; bytes beyond the end of memory read as 0.
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

/// Copies `count` words with registers of 128 bits: six instructions for each 64 bytes instead of eighteen.
///
/// # Safety
/// `to` has `count` words, `words` points to `count` words, and both are aligned to 8 bytes.
#[cfg(all(target_arch = "aarch64", target_os = "none"))]
#[inline(always)]
unsafe fn store_aligned(to: &[AtomicU32], words: *const u32, count: usize) {
    // SAFETY: the caller guarantees the lengths, so that all accesses are inside of the slices. Both are normal memory, where registers of 128 bits need no
    // alignment of their own. Each word is stored once; other agents may see a part of the words, as with single stores. Only one core stores here.
    unsafe {
        core::arch::asm!(
            "cbz {blocks}, 3f",
            "2:",
            "ldp {low:q}, {high:q}, [{words}], #32",
            "ldp {lower:q}, {higher:q}, [{words}], #32",
            "subs {blocks}, {blocks}, #1",
            "stp {low:q}, {high:q}, [{to}], #32",
            "stp {lower:q}, {higher:q}, [{to}], #32",
            "b.ne 2b",
            "3:",
            "tbz {count}, #3, 7f",
            "ldp {low:q}, {high:q}, [{words}], #32",
            "stp {low:q}, {high:q}, [{to}], #32",
            "7:",
            "tbz {count}, #2, 4f",
            "ldr {low:q}, [{words}], #16",
            "str {low:q}, [{to}], #16",
            "4:",
            "tbz {count}, #1, 5f",
            "ldr {low:d}, [{words}], #8",
            "str {low:d}, [{to}], #8",
            "5:",
            "tbz {count}, #0, 6f",
            "ldr {low:s}, [{words}]",
            "str {low:s}, [{to}]",
            "6:",
            blocks = inout(reg) count / 16 => _,
            count = in(reg) count,
            words = inout(reg) words => _,
            to = inout(reg) to.as_ptr() => _,
            low = out(vreg) _,
            high = out(vreg) _,
            lower = out(vreg) _,
            higher = out(vreg) _,
            options(nostack),
        );
    }
}

/// Both slices as pairs of words, if both are aligned to 8 bytes; both are as long as the shorter one.
#[inline]
fn pairs<'a>(to: &'a [AtomicU32], words: &'a [u32]) -> Option<(&'a [AtomicU64], &'a [u64])> {
    let count = to.len().min(words.len()) / 2;
    let (to, words) = (to.as_ptr().cast::<AtomicU64>(), words.as_ptr().cast::<u64>());
    if !to.is_aligned() || !words.is_aligned() {
        return None;
    }
    // SAFETY: both are aligned, and the lengths are halved. Eight bytes of shared memory can be accessed as one atomic of 64 bits or two of 32: all bit
    // patterns are valid, and they are changed only through shared references. Only one core stores here, and no store is interrupted by a store to the same
    // words.
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

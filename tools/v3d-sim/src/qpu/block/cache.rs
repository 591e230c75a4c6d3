//! The code cache: decoded blocks by address, shared between host threads.
//!
//! The cache corresponds to the instruction cache of the hardware: software that changes code clears it. Drivers clear it before every job without changing
//! code, so clearing only sets blocks aside; a block is used again if memory still holds the same words.

use super::Block;
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::{CodeSize, EngineKind};
use crate::simd::SimdDispatch;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of instructions in the cache: about 5 MiB, and 4 to 13 MiB more if all of them are translated (120 to 400 bytes each [measured]). When a
/// program that jumps to ever new addresses reaches the maximum, the cache is emptied.
const MAX_CACHED_INSTRUCTIONS: usize = 1 << 15;

/// Decoded blocks by address, shared between host threads.
#[derive(Debug)]
pub struct CodeCache {
    decoded: RwLock<Decoded>,
    generation: AtomicU64,
    engine: EngineKind,
    simd: SimdDispatch,
    translates_eagerly: bool,
}

/// Blocks by the address of their first instruction.
#[derive(Debug, Default)]
struct Decoded {
    /// Valid: memory holds them.
    blocks: HashMap<u32, Arc<Block>>,
    /// Set aside by a clear: memory may have changed.
    aside: HashMap<u32, Arc<Block>>,
    /// Instructions of both.
    instructions: usize,
}

impl Default for CodeCache {
    fn default() -> Self {
        Self::new()
    }
}

impl CodeCache {
    /// An empty cache, for the best engine that the host has.
    pub fn new() -> Self {
        Self::for_engine(EngineKind::best())
    }

    /// An empty cache for an engine, which has to be [available](EngineKind::is_available); else the best one serves.
    pub fn for_engine(engine: EngineKind) -> Self {
        let engine = if engine.is_available() { engine } else { EngineKind::best() };
        let generation = AtomicU64::new(next_generation());
        Self { decoded: RwLock::default(), generation, engine, simd: engine.simd(), translates_eagerly: false }
    }

    /// The same cache, but blocks are translated before they are first executed, instead of when they are hot.
    #[must_use]
    pub fn translating_eagerly(self) -> Self {
        Self { translates_eagerly: true, ..self }
    }

    /// The engine that executes its blocks.
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// The SIMD level of the units around that engine.
    pub(crate) fn simd(&self) -> SimdDispatch {
        self.simd
    }

    /// How much host code the translations of all its blocks are.
    pub fn code_size(&self) -> CodeSize {
        let decoded = self.decoded.read().unwrap_or_else(PoisonError::into_inner);
        decoded.blocks.values().chain(decoded.aside.values()).map(|block| block.code_size()).sum()
    }

    /// Invalidates all blocks: memory may have changed.
    pub fn clear(&self) {
        let mut decoded = self.decoded.write().unwrap_or_else(PoisonError::into_inner);
        let Decoded { blocks, aside, .. } = &mut *decoded;
        aside.extend(blocks.drain());
        self.generation.store(next_generation(), Relaxed);
    }

    /// Drops all blocks: some may not be what memory holds.
    #[cfg(feature = "threads")]
    pub(crate) fn forget(&self) {
        *self.decoded.write().unwrap_or_else(PoisonError::into_inner) = Decoded::default();
        self.generation.store(next_generation(), Relaxed);
    }

    /// A number that no other state of any cache has.
    pub fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// The block that begins at an address, decoded if need be.
    pub fn block(&self, memory: Memory<'_>, address: u32) -> Result<Arc<Block>, OutOfMemory> {
        if let Some(block) = self.decoded.read().unwrap_or_else(PoisonError::into_inner).blocks.get(&address) {
            return Ok(Arc::clone(block));
        }
        let mut decoded = self.decoded.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = decoded.blocks.get(&address) {
            return Ok(Arc::clone(block));
        }
        let earlier = decoded.aside.remove(&address);
        decoded.instructions -= earlier.as_ref().map_or(0, |block| block.instructions.len());
        let block = match earlier.filter(|block| block.is_in(memory)) {
            Some(block) => block,
            None => Arc::new(Block::decode(memory, address, self.engine, self.translates_eagerly)?),
        };
        if decoded.instructions + block.instructions.len() > MAX_CACHED_INSTRUCTIONS {
            *decoded = Decoded::default();
        }
        decoded.instructions += block.instructions.len();
        decoded.blocks.insert(address, Arc::clone(&block));
        Ok(block)
    }
}

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::test_words::{END, NOP, READS_RA14, memory_of};
    use v3d_hw::BusAddr;

    /// Whether a block survives a clear, after a word of memory was changed.
    fn check_cleared(changed: Option<(u32, u64)>, expected: bool) {
        let owned = memory_of(64, &[NOP, NOP, NOP, END, NOP, NOP, NOP, NOP]);
        let memory = owned.view();
        let cache = CodeCache::new();
        let before = cache.block(memory, 0).unwrap();
        assert!(Arc::ptr_eq(&before, &cache.block(memory, 0).unwrap()));
        if let Some((at, word)) = changed {
            memory.write(BusAddr(at), &word.to_le_bytes()).unwrap();
        }
        let generation = cache.generation();
        cache.clear();
        assert_ne!(cache.generation(), generation);
        let after = cache.block(memory, 0).unwrap();
        assert_eq!(Arc::ptr_eq(&before, &after), expected, "{changed:x?}");
        assert!(after.is_in(memory));
        assert_eq!(cache.decoded.read().unwrap().instructions, after.instructions.len());
    }

    #[test]
    fn a_block_survives_a_clear_if_memory_still_holds_it() {
        check_cleared(None, true);
        check_cleared(Some((0, READS_RA14)), false);
        check_cleared(Some((40, READS_RA14)), false);
        // After the delay slots of the program's end.
        check_cleared(Some((48, READS_RA14)), true);
    }
}

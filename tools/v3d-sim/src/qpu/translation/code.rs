//! Translated code in executable memory.

use super::frame::Calls;
use super::translator::Translation;
use crate::qpu::CodeSize;
use crate::qpu::isa::registers::RegisterSet;
use memmap2::{Mmap, MmapMut};
use std::sync::OnceLock;

/// Whether the host supports executable memory. On macOS with AArch64 it would have to be mapped in another way, which is left out: code is interpreted there.
pub(super) fn is_executable() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let is_possible = || MmapMut::map_anon(1).and_then(MmapMut::make_exec).is_ok();
    !cfg!(all(target_os = "macos", target_arch = "aarch64")) && *FOUND.get_or_init(is_possible)
}

/// Translated code in executable memory.
#[derive(Debug)]
pub(super) struct Code {
    /// The code; its first byte is the entry for all segments.
    pub(super) memory: Mmap,
    segments: Vec<Option<u32>>,
    /// How much code it is.
    pub(super) size: CodeSize,
    /// The functions that it calls.
    pub(super) calls: Calls,
    /// What the block may read, executed from its first instruction on, before it has written it.
    pub(super) first_reads: RegisterSet,
}

impl Code {
    /// Copies a translation to executable memory. Fails if the host provides none.
    pub(super) fn new(translation: Translation, calls: Calls, first_reads: RegisterSet) -> std::io::Result<Self> {
        let Translation { bytes, segments, size } = translation;
        let mut memory = MmapMut::map_anon(bytes.len())?;
        memory.copy_from_slice(&bytes);
        let memory = memory.make_exec()?;
        // Instructions have a cache of their own, which does not see what was written.
        #[cfg(target_arch = "aarch64")]
        dynasmrt::cache_control::synchronize_icache(&memory);
        Ok(Self { memory, segments, size, calls, first_reads })
    }

    /// Must precede every execution. Another thread may have written the code: instructions that this one has fetched ahead are dropped.
    #[inline(always)]
    pub(super) fn prepare(&self) {
        #[cfg(target_arch = "aarch64")]
        dynasmrt::cache_control::prepare_for_execution(&self.memory);
    }

    /// Offset of the segment that begins at an instruction.
    #[inline]
    pub(super) fn segment(&self, index: usize) -> Option<u32> {
        *self.segments.get(index)?
    }
}

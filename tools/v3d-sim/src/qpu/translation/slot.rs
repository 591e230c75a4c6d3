//! The translation of a block, and the count of executions that lead to it.

use super::code::Code;
use crate::qpu::isa::registers::RegisterSet;
use crate::qpu::{CodeSize, EngineKind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Instructions of a block that are executed before it is translated: their cost is about that of the translation.
const HOT_INSTRUCTIONS: u32 = 20_000;

/// The translation of a block, and the count of executions that lead to it.
#[derive(Debug)]
pub(in crate::qpu) struct TranslationSlot {
    /// What it is translated for.
    pub(super) engine: EngineKind,
    /// Set when the block was translated; `None` inside means that it cannot be translated.
    pub(super) code: OnceLock<Option<Code>>,
    /// Instructions of the block that have been executed without a translation.
    pub(super) executed: AtomicU32,
}

impl TranslationSlot {
    /// No translation yet. `eager`: the block counts as hot from the start.
    pub(in crate::qpu) fn new(engine: EngineKind, eager: bool) -> Self {
        Self { engine, code: OnceLock::new(), executed: AtomicU32::new(if eager { HOT_INSTRUCTIONS } else { 0 }) }
    }

    /// How much code the translation is, if there is one.
    pub(in crate::qpu) fn size(&self) -> CodeSize {
        self.code.get().and_then(Option::as_ref).map_or(CodeSize::default(), |code| code.size)
    }

    /// What the block may read, executed from its first instruction on, before it has written it.
    #[inline]
    pub(in crate::qpu) fn first_reads(&self) -> Option<RegisterSet> {
        Some(self.code.get()?.as_ref()?.first_reads)
    }

    /// Whether the block has been executed often enough to be translated.
    #[inline]
    pub(super) fn is_hot(&self) -> bool {
        self.executed.load(Relaxed) >= HOT_INSTRUCTIONS
    }
}

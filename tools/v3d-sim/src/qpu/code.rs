//! Decoded programs, kept by address.
//!
//! A program is decoded in stretches that end where execution cannot fall through: after the delay slots of a program end or of an unconditional
//! branch. Two stretches may overlap. What the instruction cache is for the hardware this is for the model: software that changes code clears it.

use super::fault::Rules;
use super::micro_op::{Kind, MicroOp, Touches};
use crate::memory::{Memory, OutOfMemory};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::ReadSource;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition, INSTRUCTION_BYTES, Signal, THREAD_DELAY_SLOTS};

/// Most instructions of a stretch.
const LONGEST: usize = 1024;
/// Most instructions that are kept: some 16 MiB of them. Programs that jump to ever new places begin anew then.
const MOST_KEPT: usize = 1 << 17;

/// An instruction in its place, with what its predecessors in memory mean for it.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The instruction.
    pub op: MicroOp,
    /// Rules broken with the two instructions before it in memory, if those are what was executed before it.
    pub hazards: Rules,
    /// The instruction is [plain](MicroOp::plain), and harmless to its neighbours, provided that it follows its predecessors in memory.
    pub plain: bool,
    /// The next instruction reads what this one writes, or may do so: old values have to be kept.
    pub keeps: bool,
    /// A later instruction consumes what this one leaves on a port.
    pub latches: bool,
}

/// A stretch of decoded instructions.
#[derive(Debug)]
pub struct Stretch {
    /// Address of the first instruction, without alias bits.
    pub start: u32,
    /// The instructions.
    pub ops: Vec<Placed>,
}

impl Stretch {
    /// Decodes from an address on.
    fn decode(memory: Memory<'_>, start: u32) -> Result<Self, OutOfMemory> {
        let mut ops: Vec<Placed> = Vec::new();
        let mut last = LONGEST;
        while ops.len() <= last && ops.len() < LONGEST {
            let at = BusAddr(start.wrapping_add(ops.len() as u32 * INSTRUCTION_BYTES));
            let word = match (memory.word(at), memory.word(BusAddr(at.0.wrapping_add(4)))) {
                (Ok(low), Ok(high)) => u64::from(high) << 32 | u64::from(low),
                // What lies outside of memory is a fault only if it is executed.
                (Err(_), _) | (_, Err(_)) if !ops.is_empty() => break,
                (Err(error), _) | (_, Err(error)) => return Err(error),
            };
            let op = MicroOp::decode(word);
            if last == LONGEST {
                if matches!(op.signal, Signal::ProgramEnd | Signal::LoadColorEnd) {
                    last = ops.len() + THREAD_DELAY_SLOTS as usize;
                }
                if matches!(op.kind, Kind::Branch { condition: BranchCondition::Always, .. }) {
                    last = ops.len() + BRANCH_DELAY_SLOTS as usize;
                }
            }
            ops.push(Placed { op, hazards: Rules::default(), plain: false, keeps: false, latches: false });
        }
        // What a port shows that reads nothing is left there by the instruction before that has read something.
        for i in 0..ops.len() {
            for (port, source) in [ops[i].op.port_a, ops[i].op.port_b].into_iter().enumerate() {
                if source == Some(ReadSource::Nop)
                    && let Some(last) = ops.iter_mut().take(i).rev().find(|placed| placed.op.latches[port].is_some())
                {
                    last.latches = true;
                }
            }
        }
        let touches = |ops: &[Placed], i: Option<usize>| {
            i.and_then(|i| ops.get(i)).map_or(Touches::default(), |placed| placed.op.touches)
        };
        for i in 0..ops.len() {
            let op = ops[i].op;
            let hazards = op.hazards(&touches(&ops, i.checked_sub(1)), &touches(&ops, i.checked_sub(2)));
            // What follows the last instruction is not known here.
            let keeps = i + 1 == ops.len() || op.touches.writes & touches(&ops, Some(i + 1)).reads != 0;
            ops[i].hazards = hazards;
            ops[i].keeps = keeps;
            ops[i].plain = op.plain && hazards.is_empty() && !keeps && !ops[i].latches;
        }
        Ok(Self { start, ops })
    }

    /// Which instruction of the stretch is at an address.
    pub fn index_of(&self, address: u32) -> Option<usize> {
        let index = address.checked_sub(self.start)? / INSTRUCTION_BYTES;
        (address % INSTRUCTION_BYTES == self.start % INSTRUCTION_BYTES && (index as usize) < self.ops.len())
            .then_some(index as usize)
    }
}

/// Decoded programs by address, shared between host threads.
#[derive(Debug)]
pub struct CodeCache {
    decoded: RwLock<Decoded>,
    generation: AtomicU64,
}

/// Stretches by the address of their first instruction, and how many instructions they are.
#[derive(Debug, Default)]
struct Decoded {
    stretches: HashMap<u32, Arc<Stretch>>,
    instructions: usize,
}

impl Default for CodeCache {
    fn default() -> Self {
        Self::new()
    }
}

impl CodeCache {
    /// Nothing decoded yet.
    pub fn new() -> Self {
        Self { decoded: RwLock::default(), generation: AtomicU64::new(next_generation()) }
    }

    /// Forgets everything: memory may have changed.
    pub fn clear(&self) {
        *self.decoded.write().unwrap_or_else(PoisonError::into_inner) = Decoded::default();
        self.generation.store(next_generation(), Relaxed);
    }

    /// A number that no other state of any cache has.
    pub fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// The stretch that begins at an address.
    pub fn stretch(&self, memory: Memory<'_>, address: u32) -> Result<Arc<Stretch>, OutOfMemory> {
        if let Some(stretch) = self.decoded.read().unwrap_or_else(PoisonError::into_inner).stretches.get(&address) {
            return Ok(Arc::clone(stretch));
        }
        let stretch = Arc::new(Stretch::decode(memory, address)?);
        let mut decoded = self.decoded.write().unwrap_or_else(PoisonError::into_inner);
        if decoded.instructions + stretch.ops.len() > MOST_KEPT {
            *decoded = Decoded::default();
        }
        decoded.instructions += stretch.ops.len();
        decoded.stretches.insert(address, Arc::clone(&stretch));
        Ok(stretch)
    }
}

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Relaxed)
}

//! The register cache: which vector registers of the host hold registers of the QPU.
//!
//! A QPU register is written through to memory, from which the next segment loads it, with two exceptions: a register that is overwritten before the end of its
//! segment is saved only when its host register is needed, or before a call, if it is read again; and the intermediate results of one instruction are discarded
//! after it.

use crate::qpu::isa::registers::{self, RegisterIndex};
use std::cmp::Reverse;

/// Registers whose values are used within one instruction only.
const INSTRUCTION_LOCAL: [RegisterIndex; 7] = [
    registers::PORT_A,
    registers::PORT_B,
    registers::UNPACKED,
    registers::IMMEDIATE,
    registers::RESULT_ADD,
    registers::RESULT_MUL,
    registers::COEFFICIENTS,
];

/// The state of the cache at a point of the code.
#[derive(Clone, Debug)]
pub(super) struct RegisterCache {
    /// The host registers that serve as cache. The others hold intermediate values and constants.
    pool: &'static [u8],
    holders: [Option<u8>; 256],
    /// QPU registers whose value in memory is outdated.
    dirty: Vec<RegisterIndex>,
    /// The time of each host register's last use.
    last_used: [u32; 32],
    now: u32,
    /// The time at which the current micro-op began: what it has used stays.
    begun: u32,
}

impl RegisterCache {
    /// An empty cache in some registers of the host.
    pub(super) fn new(pool: &'static [u8]) -> Self {
        Self { pool, holders: [None; 256], dirty: Vec::new(), last_used: [0; 32], now: 0, begun: 0 }
    }

    /// The host registers that serve as cache from now on; it is empty.
    pub(super) fn set_pool(&mut self, pool: &'static [u8]) {
        self.pool = pool;
    }

    /// Empties the cache, once memory is up to date. What it does from there on depends on what it is asked for alone.
    pub(super) fn clear(&mut self) {
        debug_assert!(self.dirty.is_empty(), "{:?} would be lost", self.dirty);
        *self = Self::new(self.pool);
    }

    /// The host register that holds a QPU register.
    pub(super) fn get(&mut self, register: RegisterIndex) -> Option<u8> {
        let number = self.holders[usize::from(register)]?;
        self.touch(number);
        Some(number)
    }

    /// Another micro-op begins.
    pub(super) fn begin_micro_op(&mut self) {
        self.begun = self.now;
    }

    /// A host register for a new value: of those that the micro-op has not used, the one whose QPU registers are read last, if they are read at all, and of
    /// several the least recently used one. `next_read`: the index of the micro-op that reads a register next. The cache forgets the contents; returns those
    /// that are not in memory yet and must be saved first.
    pub(super) fn take(&mut self, next_read: impl Fn(RegisterIndex) -> Option<usize>) -> (u8, Vec<RegisterIndex>) {
        let mut next_reads = [usize::MAX; 32];
        for (register, holder) in self.holders.iter().enumerate() {
            if let Some(number) = *holder
                && let Some(next) = next_read(register as RegisterIndex)
            {
                let known = &mut next_reads[usize::from(number)];
                *known = (*known).min(next);
            }
        }
        let order = |number: &u8| {
            let (next, last) = (next_reads[usize::from(*number)], self.last_used[usize::from(*number)]);
            let is_in_use = last > self.begun;
            (is_in_use, Reverse(if is_in_use { 0 } else { next }), last)
        };
        let number = self.pool.iter().copied().min_by_key(order).unwrap_or(0);
        let is_held = |register: &RegisterIndex| self.holders[usize::from(*register)] == Some(number);
        let (displaced, kept) = self.dirty.iter().copied().partition(is_held);
        self.dirty = kept;
        for holder in &mut self.holders {
            *holder = holder.filter(|&held| held != number);
        }
        self.touch(number);
        (number, displaced)
    }

    /// A host register holds the same value as memory.
    pub(super) fn insert_clean(&mut self, register: RegisterIndex, number: u8) {
        self.holders[usize::from(register)] = Some(number);
        self.dirty.retain(|&dirty| dirty != register);
    }

    /// A host register holds a new value; the value in memory is outdated.
    pub(super) fn insert_dirty(&mut self, register: RegisterIndex, number: u8) {
        self.insert_clean(register, number);
        self.dirty.push(register);
    }

    /// The registers whose values in memory are outdated, with their host registers; from now on they count as saved.
    pub(super) fn take_dirty(&mut self) -> Vec<(RegisterIndex, u8)> {
        let dirty = std::mem::take(&mut self.dirty);
        dirty.into_iter().filter_map(|register| Some((register, self.holders[usize::from(register)]?))).collect()
    }

    /// Marks a host register as the first to be reused.
    pub(super) fn release(&mut self, number: u8) {
        self.last_used[usize::from(number)] = 0;
    }

    /// Whether a register is used within one instruction only.
    pub(super) fn is_instruction_local(register: RegisterIndex) -> bool {
        INSTRUCTION_LOCAL.contains(&register)
    }

    /// Forgets the intermediate results of an instruction at its end.
    pub(super) fn end_instruction(&mut self) {
        self.dirty.retain(|register| !INSTRUCTION_LOCAL.contains(register));
        for register in INSTRUCTION_LOCAL {
            self.holders[usize::from(register)] = None;
        }
    }

    fn touch(&mut self, number: u8) {
        self.now += 1;
        self.last_used[usize::from(number)] = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28, 29, 30, 31];

    /// A cache of registers 0 to 24, which fill it, and their host registers.
    fn full() -> (RegisterCache, Vec<u8>) {
        let mut cache = RegisterCache::new(POOL);
        let numbers = (0..POOL.len() as RegisterIndex)
            .map(|register| {
                let (number, displaced) = cache.take(|_| None);
                assert!(displaced.is_empty());
                cache.insert_clean(register, number);
                number
            })
            .collect();
        (cache, numbers)
    }

    #[test]
    fn the_least_recently_used_register_is_taken() {
        let (mut cache, numbers) = full();
        assert_eq!(cache.get(0), Some(numbers[0]));
        assert_eq!(cache.take(|_| None), (numbers[1], vec![]));
        assert_eq!(cache.get(1), None);
        assert_eq!(cache.get(0), Some(numbers[0]));
        cache.clear();
        assert_eq!(cache.get(0), None);
    }

    #[test]
    fn the_register_that_is_read_last_is_taken() {
        let (mut cache, numbers) = full();
        cache.begin_micro_op();
        // Register 3 is read after all others, and what is not read any more is of no use.
        let next_read = |register: RegisterIndex| Some(if register == 3 { 1000 } else { 50 + usize::from(register) });
        assert_eq!(cache.take(next_read), (numbers[3], vec![]));
        assert_eq!(cache.take(|register| next_read(register).filter(|_| register != 7)), (numbers[7], vec![]));
        // The micro-op uses the register that would be next.
        assert_eq!(cache.get(24), Some(numbers[24]));
        assert_eq!(cache.take(next_read), (numbers[23], vec![]));
        cache.begin_micro_op();
        assert_eq!(cache.take(|register| next_read(register).filter(|_| register < 24)), (numbers[3], vec![]));
        assert_eq!(cache.take(next_read), (numbers[7], vec![]));
    }

    #[test]
    fn dirty_registers_are_returned_when_their_host_register_is_taken() {
        let (mut cache, numbers) = full();
        cache.insert_dirty(0, numbers[0]);
        // A second register with the same value, and a register whose first value is not needed.
        cache.insert_dirty(100, numbers[0]);
        cache.insert_dirty(101, numbers[0]);
        cache.insert_dirty(101, numbers[1]);
        assert_eq!(cache.take(|_| None), (numbers[0], vec![0, 100]));
        assert_eq!(cache.take_dirty(), [(101, numbers[1])]);
        assert_eq!(cache.take(|_| None), (numbers[1], vec![]));
    }

    #[test]
    fn instruction_local_values_are_not_saved() {
        let (mut cache, numbers) = full();
        cache.insert_dirty(registers::RESULT_ADD, numbers[3]);
        cache.insert_dirty(7, numbers[3]);
        cache.end_instruction();
        assert_eq!(cache.get(registers::RESULT_ADD), None);
        assert_eq!(cache.take_dirty(), [(7, numbers[3])]);
    }
}

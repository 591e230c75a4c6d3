//! The coherence check of a guest: its barriers, and what its CPU caches, at each access to the V3D's registers.
//!
//! The model checks the V3D's own caches ([`v3d_sim::device::coherence`]). What the CPU caches is read from the guest's tables again at each start, because
//! they may have changed. The first start comes before its shared memory is known, so a barrier that is missing there alone is not noticed.

use crate::barriers::{Barrier, Barriers};
use crate::cpu_caches::{TranslationRegisters, UnknownTables};
use crate::device::Device;
use std::sync::{Mutex, MutexGuard, PoisonError};
use v3d_sim::{Memory, Register};

/// Registers whose writes may start something.
const STARTS: [Register; 6] =
    [Register::CT0EA, Register::CT1EA, Register::CT0CS, Register::CT1CS, Register::BPOS, Register::SRQPC];
/// Registers that tell what is done.
const STATUS: [Register; 8] = [
    Register::BFC,
    Register::RFC,
    Register::INTCTL,
    Register::CT0CS,
    Register::CT1CS,
    Register::PCS,
    Register::SRQCS,
    Register::DBQITC,
];

/// The check's state, which changes with each access to memory by vCPU 0.
#[derive(Debug, Default)]
pub(crate) struct Coherence {
    barriers: Mutex<Barriers>,
    /// Why it is not known what the CPU caches, if that was reported.
    unknown: Mutex<Option<UnknownTables>>,
}

impl Coherence {
    fn barriers(&self) -> MutexGuard<'_, Barriers> {
        self.barriers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An access of vCPU 0 to a virtual address.
    pub(crate) fn access(&self, address: u64, is_store: bool) {
        if is_store { self.barriers().store(address) } else { self.barriers().load(address) }
    }

    /// A barrier of vCPU 0.
    pub(crate) fn barrier(&self, barrier: Barrier) {
        self.barriers().barrier(barrier);
    }

    /// A load from the V3D's register at an offset.
    pub(crate) fn register_read(&self, offset: u32) {
        if let Some(register) = Register::from_offset(offset).filter(|register| STATUS.contains(register)) {
            self.barriers().status(register.name());
        }
    }

    /// A store to the V3D's register at an offset, before the device carries it out.
    pub(crate) fn register_write(
        &self,
        device: &mut Device,
        memory: &Memory<'_>,
        offset: u32,
        registers: impl FnOnce() -> TranslationRegisters,
    ) {
        let Some(register) = Register::from_offset(offset).filter(|register| STARTS.contains(register)) else { return };
        let mut barriers = self.barriers();
        barriers.start(register.name());
        for missing in barriers.take_missing() {
            device.tell(&missing);
        }
        match registers().map(memory.words()) {
            Ok(map) => {
                barriers.set_shared(map.uncached);
                device.set_cpu_cached(map.cached);
            }
            Err(why) => {
                let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
                if unknown.replace(why) != Some(why) {
                    device.tell(&why);
                }
            }
        }
    }
}

//! Whether the guest's CPU orders its accesses to shared memory and to the V3D's registers with barriers.
//!
//! QEMU executes all accesses in program order. A Cortex-A53 may perform a store to normal memory after a later store to a register, so the V3D can start
//! before its list is complete; and it may perform a load before an earlier load of a status register, so it can get data from before the V3D was done. A
//! barrier in between prevents both: DSB or DMB for the outer shareable domain or the full system.
//!
//! The check follows vCPU 0's accesses to normal memory that is not cached, which is what it shares with the V3D and the firmware, its barriers, and the
//! registers that start something or tell that it is done.
//!
//! # Sources
//! ARM DDI 0487, B2.3 (ordering), C6.2 (DMB, DSB: encodings and the meaning of CRm), K13 (examples with mailboxes).

use std::fmt;
use std::ops::Range;

/// Which accesses a barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// Earlier loads before later accesses.
    Loads,
    /// Earlier stores before later stores.
    Stores,
    /// All.
    All,
}

impl Barrier {
    /// The barrier that an instruction is, if it reaches as far as the V3D.
    pub(crate) const fn of(instruction: u32) -> Option<Self> {
        const DSB: u32 = 0xd503_309f;
        const DMB: u32 = 0xd503_30bf;
        const CRM: u32 = 0xf << 8;
        if instruction & !CRM != DSB && instruction & !CRM != DMB {
            return None;
        }
        match instruction >> 8 & 0xf {
            0b1111 | 0b0011 => Some(Self::All),
            0b1110 | 0b0010 => Some(Self::Stores),
            0b1101 | 0b0001 => Some(Self::Loads),
            _ => None,
        }
    }
}

/// A missing barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingBarrier {
    /// A register that starts something was written after a store.
    BeforeStart { register: &'static str, stored: u64 },
    /// Memory was read after a register that tells what is done.
    AfterStatus { register: &'static str, loaded: u64 },
}

impl fmt::Display for MissingBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeStart { register, stored } => write!(
                f,
                "barrier: {register} is written, and no DSB or DMB stands between it and the CPU's store to {stored:#010x}"
            ),
            Self::AfterStatus { register, loaded } => write!(
                f,
                "barrier: {register} was read, and no DSB or DMB stands between it and the CPU's load from {loaded:#010x}"
            ),
        }
    }
}

/// What vCPU 0 has done since its last barrier.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    /// Virtual ranges of normal memory that is not cached.
    shared: Vec<Range<u64>>,
    /// The first store to such memory.
    stored: Option<u64>,
    /// The last status register that was read.
    status: Option<&'static str>,
    missing: Vec<MissingBarrier>,
}

impl Barriers {
    /// The greatest number of missing barriers that are kept until they are taken.
    const KEPT: usize = 16;

    /// Sets the ranges of memory that is normal and not cached.
    pub(crate) fn set_shared(&mut self, shared: Vec<Range<u64>>) {
        self.shared = shared;
    }

    fn is_shared(&self, address: u64) -> bool {
        self.shared.iter().any(|range| range.contains(&address))
    }

    /// A store.
    pub(crate) fn store(&mut self, address: u64) {
        if self.stored.is_none() && self.is_shared(address) {
            self.stored = Some(address);
        }
    }

    /// A load.
    pub(crate) fn load(&mut self, address: u64) {
        if let Some(register) = self.status
            && self.is_shared(address)
        {
            self.status = None;
            self.report(MissingBarrier::AfterStatus { register, loaded: address });
        }
    }

    /// A barrier.
    pub(crate) fn barrier(&mut self, barrier: Barrier) {
        if barrier != Barrier::Loads {
            self.stored = None;
        }
        if barrier != Barrier::Stores {
            self.status = None;
        }
    }

    /// A write to a register that starts something.
    pub(crate) fn start(&mut self, register: &'static str) {
        if let Some(stored) = self.stored.take() {
            self.report(MissingBarrier::BeforeStart { register, stored });
        }
    }

    /// A read of a register that tells what is done.
    pub(crate) fn status(&mut self, register: &'static str) {
        self.status = Some(register);
    }

    fn report(&mut self, missing: MissingBarrier) {
        if self.missing.len() < Self::KEPT && !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Takes the missing barriers that were found since the last call.
    pub(crate) fn take_missing(&mut self) -> Vec<MissingBarrier> {
        std::mem::take(&mut self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barriers() -> Barriers {
        let mut barriers = Barriers::default();
        barriers.set_shared(vec![0x1000..0x2000, 0x8000..0x9000]);
        barriers
    }

    /// Words by the encodings of C6.2.
    #[test]
    fn barriers_that_reach_the_v3d_are_known() {
        for (word, expected) in [
            (0xd503_3f9f, Some(Barrier::All)),    // dsb sy
            (0xd503_3e9f, Some(Barrier::Stores)), // dsb st
            (0xd503_3d9f, Some(Barrier::Loads)),  // dsb ld
            (0xd503_3fbf, Some(Barrier::All)),    // dmb sy
            (0xd503_33bf, Some(Barrier::All)),    // dmb osh
            (0xd503_32bf, Some(Barrier::Stores)), // dmb oshst
            (0xd503_31bf, Some(Barrier::Loads)),  // dmb oshld
            (0xd503_3b9f, None),                  // dsb ish
            (0xd503_379f, None),                  // dsb nsh
            (0xd503_3fdf, None),                  // isb
            (0xd503_201f, None),                  // nop
            (0xf940_0020, None),                  // ldr x0, [x1]
        ] {
            assert_eq!(Barrier::of(word), expected, "{word:08x}");
        }
    }

    #[test]
    fn a_start_needs_a_barrier_after_the_last_store() {
        for (barrier, is_missing) in
            [(None, true), (Some(Barrier::Loads), true), (Some(Barrier::Stores), false), (Some(Barrier::All), false)]
        {
            let mut barriers = barriers();
            // Not shared.
            barriers.store(0x0ff8);
            barriers.store(0x8ff8);
            barriers.store(0x1000);
            barrier.into_iter().for_each(|barrier| barriers.barrier(barrier));
            barriers.store(0x2000);
            barriers.start("CT1EA");
            let missing = MissingBarrier::BeforeStart { register: "CT1EA", stored: 0x8ff8 };
            assert_eq!(barriers.take_missing(), is_missing.then_some(missing).as_slice(), "{barrier:?}");
            barriers.start("CT0EA");
            assert_eq!(barriers.take_missing(), [], "reported twice");
        }
    }

    #[test]
    fn data_needs_a_barrier_after_the_status() {
        for (barrier, is_missing) in
            [(None, true), (Some(Barrier::Stores), true), (Some(Barrier::Loads), false), (Some(Barrier::All), false)]
        {
            let mut barriers = barriers();
            barriers.load(0x1000);
            barriers.status("RFC");
            barrier.into_iter().for_each(|barrier| barriers.barrier(barrier));
            barriers.load(0x2000);
            barriers.load(0x1ffc);
            let missing = MissingBarrier::AfterStatus { register: "RFC", loaded: 0x1ffc };
            assert_eq!(barriers.take_missing(), is_missing.then_some(missing).as_slice(), "{barrier:?}");
            barriers.load(0x1ffc);
            assert_eq!(barriers.take_missing(), [], "reported twice");
        }
    }

    #[test]
    fn what_is_missing_is_told_with_its_place() {
        let mut barriers = barriers();
        barriers.store(0x1004);
        barriers.start("SRQPC");
        barriers.status("SRQCS");
        barriers.load(0x8000);
        let told: Vec<String> = barriers.take_missing().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "barrier: SRQPC is written, and no DSB or DMB stands between it and the CPU's store to 0x00001004",
                "barrier: SRQCS was read, and no DSB or DMB stands between it and the CPU's load from 0x00008000",
            ]
        );
    }
}

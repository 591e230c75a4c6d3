//! The interrupt handler: acknowledges causes, and feeds the binner with memory.
//!
//! The V3D asserts its line for four causes: a frame is rendered, tile lists are flushed, the binner is out of memory, the binner has used overspill memory.
//! The first two only have to be acknowledged, because the counters RFC and BFC tell which jobs are done. An out-of-memory interrupt has to be served while the
//! CPU does something else: the binner stalls until BPOA and BPOS name a new block. The driver therefore offers blocks in advance with [`Interrupts::offer`],
//! and the handler gives them to the binner.
//!
//! All state is atomic and no function waits: the handler may interrupt any operation of the driver.
//!
//! # Polling
//! Before [`Interrupts::arm`], INTENA is never written, and the V3D does not assert its line: on boards the firmware also receives the interrupt, and was seen
//! to stop working because of it [aros]. INTCTL also latches masked causes [aros], so polling with [`Interrupts::service`] misses none.
//!
//! # Surprises
//! - OUTOMEM is an edge latch in INTCTL, but is set again while the cause persists; PCS.BMOOM shows whether it does [linux vc4_irq.c] [aros].
//! - BMOOM is also set from a reset until the binner first gets memory, which needs none before a list is binned [bm docs/DRIVERS.md]. A block is therefore
//!   given only while a list is binned.
//! - If there is no block to give, the interrupt must be disabled, or it would be raised again for ever. The same applies if OUTOMEM stays set although the
//!   binner needs no memory, as after power-on [linux vc4_v3d.c]: it is enabled again when the next list is binned.
//!
//! # Sources
//! [AG p.88-89, p.95-96], [linux vc4_irq.c]

use crate::platform::RegisterAccess;
use crate::platform::register_access::flags;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use v3d_hw::registers::Register;
use v3d_hw::registers::interrupt::{Intctl, Intdis, Intena};
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::{BusAddr, Layout};

/// Number of blocks of overflow memory that can be offered at once.
pub const OVERFLOW_SLOTS: usize = 8;

/// State that the interrupt handler shares with the driver.
///
/// Create one, `static` or not, pass it to the driver, and call [`Interrupts::service`] whenever the V3D asserts its line.
#[derive(Debug)]
pub struct Interrupts {
    /// Address and size of each block; a size of 0 marks an empty slot.
    slots: [(AtomicU32, AtomicU32); OVERFLOW_SLOTS],
    /// Index of the next block to give, which only increases.
    given: AtomicU32,
    /// Index of the next slot to fill, which only increases.
    offered: AtomicU32,
    served: AtomicU32,
    starved: AtomicBool,
    /// Set while a block is being given: the handler may have interrupted the driver while it does that.
    feeding: AtomicBool,
    /// Whether the V3D may assert its line.
    armed: AtomicBool,
    /// Whether out-of-memory interrupts are disabled until the next list is binned.
    stale: AtomicBool,
    /// Whether a list is being binned, so that the binner may need memory.
    binning: AtomicBool,
}

impl Default for Interrupts {
    fn default() -> Self {
        Self::new()
    }
}

impl Interrupts {
    /// The initial state: no blocks offered.
    pub const fn new() -> Self {
        Self {
            slots: [const { (AtomicU32::new(0), AtomicU32::new(0)) }; OVERFLOW_SLOTS],
            given: AtomicU32::new(0),
            offered: AtomicU32::new(0),
            served: AtomicU32::new(0),
            starved: AtomicBool::new(false),
            feeding: AtomicBool::new(false),
            armed: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            binning: AtomicBool::new(false),
        }
    }

    /// Acknowledges interrupts and supplies the binner if it is out of memory. Returns the causes.
    ///
    /// Called from the interrupt handler, and from the driver itself when it polls.
    pub fn service(&self, registers: &impl RegisterAccess) -> Intctl {
        let word = registers.read(Register::INTCTL);
        let causes = Intctl::from_word(word);
        if word != 0 {
            registers.write(Register::INTCTL, word);
            self.served.fetch_add(1, Ordering::AcqRel);
        }
        if causes.int_outomem || self.binner_needs_memory(registers) {
            self.feed(registers);
        }
        causes
    }

    /// Gives the next block to the binner, if it needs one and no other call is doing that.
    ///
    /// BPOA and BPOS must be written together: a handler between the two writes that also wrote both would give one block twice.
    fn feed(&self, registers: &impl RegisterAccess) {
        if self.feeding.swap(true, Ordering::AcqRel) {
            return;
        }
        if self.binner_needs_memory(registers) {
            self.hand_over(registers);
        } else if Intctl::from_word(registers.read(Register::INTCTL)).int_outomem {
            // It was acknowledged, is set again, and no memory is needed.
            self.stale.store(true, Ordering::Release);
            self.mask_overflow(registers);
        }
        self.feeding.store(false, Ordering::Release);
    }

    /// Whether a list is being binned that waits for memory.
    fn binner_needs_memory(&self, registers: &impl RegisterAccess) -> bool {
        self.binning.load(Ordering::Acquire) && Pcs::from_word(registers.read(Register::PCS)).bmoom
    }

    fn mask_overflow(&self, registers: &impl RegisterAccess) {
        registers.write(Register::INTDIS, flags(Intdis { di_outomem: true, ..Intdis::default() }));
    }

    /// Called before a list is binned: an out-of-memory interrupt may have a cause again.
    pub(crate) fn binning_begins(&self, registers: &impl RegisterAccess) {
        self.binning.store(true, Ordering::Release);
        if self.stale.swap(false, Ordering::AcqRel) {
            self.enable(registers);
        }
    }

    /// Called when a list has been binned, and at a reset.
    pub(crate) fn binning_ends(&self) {
        self.binning.store(false, Ordering::Release);
    }

    /// Writes the next block to BPOA and BPOS, or records that there is none.
    fn hand_over(&self, registers: &impl RegisterAccess) {
        match self.take() {
            Some((address, bytes)) => {
                registers.write(Register::BPOA, address.0);
                registers.write(Register::BPOS, bytes);
                registers.write(Register::INTCTL, flags(Intctl { int_outomem: true, ..Intctl::default() }));
                self.enable(registers);
            }
            None => {
                self.starved.store(true, Ordering::Release);
                self.mask_overflow(registers);
            }
        }
    }

    fn take(&self) -> Option<(BusAddr, u32)> {
        let given = self.given.load(Ordering::Acquire);
        let (address, size) = &self.slots[given as usize % OVERFLOW_SLOTS];
        let bytes = size.swap(0, Ordering::AcqRel);
        if bytes == 0 {
            return None;
        }
        self.given.store(given.wrapping_add(1), Ordering::Release);
        Some((BusAddr(address.load(Ordering::Acquire)), bytes))
    }

    /// Offers a block of overflow memory. `false` if all slots are in use.
    pub fn offer(&self, address: BusAddr, bytes: u32) -> bool {
        let offered = self.offered.load(Ordering::Acquire);
        let (slot_address, slot_bytes) = &self.slots[offered as usize % OVERFLOW_SLOTS];
        if bytes == 0 || slot_bytes.load(Ordering::Acquire) != 0 {
            return false;
        }
        slot_address.store(address.0, Ordering::Release);
        slot_bytes.store(bytes, Ordering::Release);
        self.offered.store(offered.wrapping_add(1), Ordering::Release);
        true
    }

    /// Number of blocks that were given to the binner since the start, modulo 2^32, in the order in which they were offered.
    pub fn blocks_given(&self) -> u32 {
        self.given.load(Ordering::Acquire)
    }

    /// Number of interrupts that were served since the start, modulo 2^32.
    pub fn served(&self) -> u32 {
        self.served.load(Ordering::Acquire)
    }

    /// Whether the binner needed memory when there was none; the call clears the state. The out-of-memory interrupt is then disabled until
    /// [`Interrupts::enable`].
    pub fn take_starved(&self) -> bool {
        self.starved.swap(false, Ordering::AcqRel)
    }

    /// Withdraws all blocks that were offered and not given, before a reset.
    pub fn withdraw(&self) {
        while self.take().is_some() {}
    }

    /// Lets the V3D assert its line from now on, also after resets.
    pub fn arm(&self, registers: &impl RegisterAccess) {
        self.armed.store(true, Ordering::Release);
        self.enable(registers);
    }

    /// Keeps the V3D from asserting its line from now on. Latched causes are kept, for polling.
    pub fn disarm(&self, registers: &impl RegisterAccess) {
        self.armed.store(false, Ordering::Release);
        registers.write(Register::INTDIS, ALL);
    }

    /// Enables the interrupts that the driver uses, if the V3D may assert its line: frame done, flush done, out of memory.
    pub fn enable(&self, registers: &impl RegisterAccess) {
        if self.armed.load(Ordering::Acquire) {
            registers.write(Register::INTENA, used());
        }
    }

    /// Disables all interrupts of the V3D and clears latched causes.
    pub fn disable(&self, registers: &impl RegisterAccess) {
        registers.write(Register::INTDIS, ALL);
        registers.write(Register::INTCTL, ALL);
    }
}

/// All four causes.
const ALL: u32 = Intctl::DEFINED as u32;

/// The causes that the driver uses. SPILLUSE only says that a given block is in use, and is left out.
fn used() -> u32 {
    flags(Intena { ei_spilluse: false, ei_outomem: true, ei_fldone: true, ei_frdone: true })
}

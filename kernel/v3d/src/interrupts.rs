//! The interrupt handler: acknowledges causes, and feeds the binner with memory.
//!
//! The V3D raises its line for four causes: a frame is rendered, tile lists are flushed, the binner is out of memory, the binner
//! has used overspill memory. Done-interrupts only have to be acknowledged, because the counters RFC and BFC say which jobs are done. An
//! out-of-memory interrupt has to be served while the CPU does something else: the binner stalls until BPOA and BPOS name a
//! new block. So the driver offers blocks beforehand with [`Interrupts::offer`], and the handler hands them over.
//!
//! All state is atomic and no function waits: the handler may interrupt any operation of the driver.
//!
//! # Polling
//! Until [`Interrupts::arm`] INTENA is never written, and the V3D does not drive its line at all: on boards the firmware listens to it, too, and was
//! seen to die of it [aros]. INTCTL latches causes that are masked all the same [aros], so that a poll by [`Interrupts::service`] misses
//! none of them.
//!
//! # Surprises
//! - OUTOMEM is an edge latch in INTCTL, but comes back while the cause is there; PCS.BMOOM tells whether it is [linux vc4_irq.c] [aros].
//! - With no block to give, the interrupt must be disabled, or it would come again at once and for ever. So it must if OUTOMEM stays up although the
//!   binner lacks nothing, as after power-on [linux vc4_v3d.c]: it is enabled again when the next list is binned.
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

/// How many blocks of overflow memory can lie ready for the handler.
pub const OVERFLOW_SLOTS: usize = 8;

/// What the interrupt handler shares with the driver.
///
/// Make one, `static` or not, give it to the driver, and call [`Interrupts::service`] whenever the V3D raises its line.
#[derive(Debug)]
pub struct Interrupts {
    /// Address and size of each block; a size of 0 marks an empty slot.
    slots: [(AtomicU32, AtomicU32); OVERFLOW_SLOTS],
    /// Index of the next block to hand over, counted up for ever.
    given: AtomicU32,
    /// Index of the next slot to fill, counted up for ever.
    offered: AtomicU32,
    served: AtomicU32,
    starved: AtomicBool,
    /// Set while a block is being handed over: the handler may have interrupted the driver in the middle of doing so.
    feeding: AtomicBool,
    /// Whether the V3D may drive its line.
    armed: AtomicBool,
    /// Whether out-of-memory interrupts are off until the next list is binned.
    stale: AtomicBool,
}

impl Default for Interrupts {
    fn default() -> Self {
        Self::new()
    }
}

impl Interrupts {
    /// Nothing offered, nothing served.
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
        }
    }

    /// Acknowledges what the V3D raised and feeds the binner if it is out of memory. Returns the causes that were found.
    ///
    /// Called from the interrupt handler, and from the driver itself when it polls.
    pub fn service(&self, registers: &impl RegisterAccess) -> Intctl {
        let word = registers.read(Register::INTCTL);
        let causes = Intctl::from_word(word);
        if word != 0 {
            registers.write(Register::INTCTL, word);
            self.served.fetch_add(1, Ordering::AcqRel);
        }
        if causes.int_outomem || Pcs::from_word(registers.read(Register::PCS)).bmoom {
            self.feed(registers);
        }
        causes
    }

    /// Hands the next block to the binner, if it needs one and no other call is doing that.
    ///
    /// BPOA and BPOS have to be written together: a handler that came between the two writes and wrote both would leave one block named twice.
    fn feed(&self, registers: &impl RegisterAccess) {
        if self.feeding.swap(true, Ordering::AcqRel) {
            return;
        }
        if Pcs::from_word(registers.read(Register::PCS)).bmoom {
            self.hand_over(registers);
        } else if Intctl::from_word(registers.read(Register::INTCTL)).int_outomem {
            // It was acknowledged, is up again, and nothing lacks.
            self.stale.store(true, Ordering::Release);
            self.mask_overflow(registers);
        }
        self.feeding.store(false, Ordering::Release);
    }

    fn mask_overflow(&self, registers: &impl RegisterAccess) {
        registers.write(Register::INTDIS, flags(Intdis { di_outomem: true, ..Intdis::default() }));
    }

    /// A list is about to be binned: what was up before without a cause may get one.
    pub(crate) fn binning_begins(&self, registers: &impl RegisterAccess) {
        if self.stale.swap(false, Ordering::AcqRel) {
            self.enable(registers);
        }
    }

    /// Writes the next block into BPOA and BPOS, or notes that there is none.
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

    /// Lays a block of overflow memory ready. `false` if all slots are taken.
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

    /// How many blocks were handed to the binner since the start, modulo 2^32, in the order in which they were offered.
    pub fn blocks_given(&self) -> u32 {
        self.given.load(Ordering::Acquire)
    }

    /// How many interrupts were served since the start, modulo 2^32.
    pub fn served(&self) -> u32 {
        self.served.load(Ordering::Acquire)
    }

    /// Whether the binner asked for memory when there was none to give; asking clears the answer. The out-of-memory interrupt
    /// is disabled then until [`Interrupts::enable`].
    pub fn take_starved(&self) -> bool {
        self.starved.swap(false, Ordering::AcqRel)
    }

    /// Takes back all blocks that were offered and not given, for a V3D that is reset.
    pub fn withdraw(&self) {
        while self.take().is_some() {}
    }

    /// Lets the V3D drive its line from now on, after resets, too.
    pub fn arm(&self, registers: &impl RegisterAccess) {
        self.armed.store(true, Ordering::Release);
        self.enable(registers);
    }

    /// Keeps the V3D off its line from now on. Latched causes stay latched, for polling.
    pub fn disarm(&self, registers: &impl RegisterAccess) {
        self.armed.store(false, Ordering::Release);
        registers.write(Register::INTDIS, ALL);
    }

    /// Enables the interrupts that the driver uses, if the V3D may drive its line: frame done, flush done, out of memory.
    pub fn enable(&self, registers: &impl RegisterAccess) {
        if self.armed.load(Ordering::Acquire) {
            registers.write(Register::INTENA, used());
        }
    }

    /// Disables all interrupts of the V3D and forgets what is latched.
    pub fn disable(&self, registers: &impl RegisterAccess) {
        registers.write(Register::INTDIS, ALL);
        registers.write(Register::INTCTL, ALL);
    }
}

/// All four causes.
const ALL: u32 = Intctl::DEFINED as u32;

/// What the driver uses. SPILLUSE is left out: it says only that a block that was given is in use.
fn used() -> u32 {
    flags(Intena { ei_spilluse: false, ei_outomem: true, ei_fldone: true, ei_frdone: true })
}

//! Interrupts of the ARM cores' own block: timers, mailboxes between cores, counters of the cores and of the bus
//!
//! The block also routes the interrupts of the peripherals to one of the cores. The kernel uses nothing else of it, so everything else is switched off: an
//! interrupt that the firmware has left enabled here would have no handler and would be raised for ever.
//!
//! # Sources
//! QA7 rev 3.4, chapters 3 and 4.

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_structs,
    registers::{ReadOnly, ReadWrite, WriteOnly},
};

use crate::mmio::Mmio;

register_structs! {
    /// The block's registers; arrays have one for each core.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => _control),
        (0x0c => pub gpu_interrupts_routing: ReadWrite<u32>),
        (0x10 => _performance_monitor_routing_set),
        (0x14 => pub performance_monitor_routing_clear: WriteOnly<u32>),
        (0x18 => _reserved),
        (0x30 => pub axi_outstanding_interrupt: ReadWrite<u32>),
        (0x34 => pub local_timer_control: ReadWrite<u32>),
        (0x38 => _local_timer_flags),
        (0x40 => pub timers_control: [ReadWrite<u32>; 4]),
        (0x50 => pub mailboxes_control: [ReadWrite<u32>; 4]),
        (0x60 => pub irq_source: [ReadOnly<u32>; 4]),
        (0x70 => @END),
    }
}

/// All cores' counters, as IRQ and as FIQ.
const ALL_PERFORMANCE_MONITORS: u32 = 0xff;

/// The block.
#[derive(Debug)]
pub struct CoreInterrupts {
    registers: Mmio<Registers>,
}

impl CoreInterrupts {
    /// The block.
    #[must_use]
    pub fn new(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }

    /// Disables the interrupts of all cores, and routes those of the peripherals to core 0's IRQ.
    pub fn quiesce(&self) {
        let Registers { timers_control, mailboxes_control, .. } = &*self.registers;
        self.registers.gpu_interrupts_routing.set(0);
        self.registers.performance_monitor_routing_clear.set(ALL_PERFORMANCE_MONITORS);
        self.registers.axi_outstanding_interrupt.set(0);
        self.registers.local_timer_control.set(0);
        for control in timers_control.iter().chain(mailboxes_control) {
            control.set(0);
        }
    }

    /// What raises core 0's IRQ: its timers (bits 3:0), its mailboxes (7:4), the peripherals (8), its counters (9), the bus (10), the local timer (11).
    #[must_use]
    pub fn pending(&self) -> u32 {
        self.registers.irq_source[0].get()
    }
}

//! The addresses of the blocks, as the ARM sees them
//!
//! # Sources
//! BCM2835 ARM Peripherals, 1.2.3 and chapters 5, 7, 12; [linux bcm2835.dtsi, bcm2836.dtsi, bcm2837.dtsi]; [AG section 10] for the V3D.

use v3d::hw::BusAddr;

use crate::{bus::Bus, waiting};

/// Where a chip's peripherals begin, and where the VideoCore sees the ARM's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peripherals {
    /// ARM physical address of the first one; all memory is below it.
    pub base: u32,
    /// The alias of the VideoCore's address space in which it sees what the ARM sees. On a BCM2835 the ARM's own accesses go through the VideoCore's second
    /// cache, so the VideoCore has to use it too; on the others they do not, so it must not [linux bcm2835.dtsi, bcm2836.dtsi: dma-ranges].
    pub alias: u32,
}

impl Peripherals {
    /// Pi 1, Zero, Zero W.
    pub const BCM2835: Self = Self { base: 0x2000_0000, alias: 0x4000_0000 };
    /// Pi 2.
    pub const BCM2836: Self = Self { base: 0x3f00_0000, alias: BusAddr::UNCACHED };
    /// Pi 3, Zero 2 W, and newer boards of the Pi 2.
    pub const BCM2837: Self = Self { base: 0x3f00_0000, alias: BusAddr::UNCACHED };

    /// A physical address of memory as the VideoCore sees it.
    pub const fn bus_address(self, address: u32) -> BusAddr {
        BusAddr(address & BusAddr::OFFSET_MASK | self.alias)
    }

    /// The 1 MHz timer.
    pub const fn system_timer(self) -> u32 {
        self.base + 0x0000_3000
    }

    /// The bridges between the V3D and the bus.
    pub const fn async_bridge(self) -> u32 {
        self.base + 0x0000_a000
    }

    /// The interrupt controller; the V3D's interrupt is its line 10.
    pub const fn interrupt_controller(self) -> u32 {
        self.base + 0x0000_b200
    }

    /// The mailboxes to and from the firmware.
    pub const fn mailbox(self) -> u32 {
        self.base + 0x0000_b880
    }

    /// Power domains and reset.
    pub const fn power(self) -> u32 {
        self.base + 0x0010_0000
    }

    /// Clocks.
    pub const fn clock_manager(self) -> u32 {
        self.base + 0x0010_1000
    }

    /// UART0, a PL011.
    pub const fn uart0(self) -> u32 {
        self.base + 0x0020_1000
    }

    /// The Arasan controller of SD cards, EMMC.
    pub const fn emmc(self) -> u32 {
        self.base + 0x0030_0000
    }

    /// The V3D.
    pub const fn v3d(self) -> u32 {
        self.base + 0x00c0_0000
    }

    /// The time since the boot in microseconds, by the system timer.
    pub fn now_us(self, bus: &impl Bus) -> u64 {
        let (low, high) = (self.system_timer() + 4, self.system_timer() + 8);
        loop {
            let (before, now, after) = (bus.load(high), bus.load(low), bus.load(high));
            // The low word may have run over in between.
            if before == after {
                return u64::from(before) << 32 | u64::from(now);
            }
        }
    }

    /// Waits, looking at the system timer.
    pub fn spin_for_us(self, bus: &impl Bus, time_us: u64) {
        waiting::spin_for_us(|| self.now_us(bus), time_us);
    }
}

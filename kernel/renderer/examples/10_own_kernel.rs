//! Step 10: a kernel of one's own.
//!
//! The kernel is the package `own-kernel` in the guide's folder, which boots on a Pi Zero, 2 and 3. Its `kernel_main` needs only a [`Bus`](bcm283x::Bus):
//! loads and stores of physical addresses. On a Pi they are the CPU's; here they access the model's registers and memory, so that the same `kernel_main` runs
//! on the host.

use core::cell::Cell;

use bcm283x::{Bus, Chip, Peripherals, Pool, framebuffer::Allocation};
use own_kernel::{FRAMES, SIZE_PX, kernel_main};
use v3d::hw::registers::Register;
use v3d::platform::{GpuMemory, Power, RegisterAccess, Time};
use v3d_host::{Config, Model, Picture};

/// Physical addresses of the peripherals of a Raspberry Pi 3.
const PERIPHERALS: Peripherals = Peripherals::BCM2837;
/// Memory that belongs to the GPU's driver.
const POOL: Pool = Pool { address: 0x0100_0000, bytes: 8 << 20 };
/// The answer of the firmware's mailbox to a request for a framebuffer: one page, behind the pool.
pub const DISPLAY: Allocation = Allocation {
    address: (POOL.address + POOL.bytes) as usize,
    pages: 1,
    width: SIZE_PX[0],
    height: SIZE_PX[1],
    pitch_bytes: 4 * SIZE_PX[0],
};

/// A bus that is connected to the model: registers at the V3D's addresses, memory at physical addresses, the clock, and the reset.
#[derive(Debug)]
pub struct HostBus {
    /// The model.
    pub model: Model,
    /// Whether the slave and the master bridge are stopped: 1 if so.
    stopped: [Cell<u32>; 2],
}

/// Physical address of the model's memory.
const MEMORY: u32 = 0x0010_0000;
const MEMORY_END: u32 = PERIPHERALS.base;
/// The V3D's registers.
const V3D: u32 = PERIPHERALS.v3d();
const V3D_LAST: u32 = V3D + 0xfff;
/// The system timer's count of microseconds.
const TIMER_LOW: u32 = PERIPHERALS.system_timer() + 4;
const TIMER_HIGH: u32 = PERIPHERALS.system_timer() + 8;
/// The power manager's register for the graphics; bit 6 = 0 holds the V3D in reset.
const PM_GRAFX: u32 = PERIPHERALS.power() + 0x10c;
const V3DRSTN: u32 = 1 << 6;
/// The bridges between V3D and bus: writing bit 0 requests a stop, bit 1 reads 1 when it is stopped. The register behind them reads "bdrg".
const V3D_SLAVE: u32 = PERIPHERALS.async_bridge() + 0x08;
const V3D_MASTER: u32 = PERIPHERALS.async_bridge() + 0x0c;
const BRIDGE_ID: u32 = PERIPHERALS.async_bridge() + 0x20;

impl Bus for HostBus {
    fn load(&self, address: u32) -> u32 {
        let [slave, master] = &self.stopped;
        match address {
            MEMORY..MEMORY_END => self.model.load_word(address - MEMORY),
            V3D..=V3D_LAST => Register::from_offset(address - V3D).map_or(0, |register| self.model.read(register)),
            TIMER_LOW => self.model.now_us() as u32,
            TIMER_HIGH => (self.model.now_us() >> 32) as u32,
            PM_GRAFX => V3DRSTN,
            V3D_SLAVE => slave.get() * 0b11,
            V3D_MASTER => master.get() * 0b11,
            BRIDGE_ID => u32::from_be_bytes(*b"brdg"),
            _ => 0,
        }
    }

    fn store(&self, address: u32, word: u32) {
        let [slave, master] = &self.stopped;
        match address {
            MEMORY..MEMORY_END => self.model.store_word(address - MEMORY, word),
            V3D..=V3D_LAST => {
                if let Some(register) = Register::from_offset(address - V3D) {
                    self.model.write(register, word);
                }
            }
            V3D_SLAVE => slave.set(word & 1),
            V3D_MASTER => master.set(word & 1),
            // A reset during transfers would hang the bus.
            PM_GRAFX if word & V3DRSTN == 0 && slave.get() & master.get() == 1 => {
                // The model can be reset at any time.
                let _ = self.model.reset();
            }
            _ => {}
        }
    }

    /// The model has no caches, and executes everything in order.
    fn complete(&self) {}
}

/// A chip whose bus is the model's.
pub fn host_chip() -> Chip<HostBus> {
    let bytes = DISPLAY.address as u32 + DISPLAY.pitch_bytes * DISPLAY.height - MEMORY;
    let bus = HostBus { model: Model::new(bytes, Config::default()), stopped: [Cell::new(0), Cell::new(0)] };
    Chip::new(bus, PERIPHERALS, POOL)
}

/// What the display shows.
pub fn shown(chip: &Chip<HostBus>) -> Picture {
    let Allocation { width, height, .. } = DISPLAY;
    let pixel = |n: u32| chip.bus().load(DISPLAY.page_address(0) + 4 * n).to_le_bytes();
    Picture { width_px: width, height_px: height, pixels: (0..width * height).map(pixel).collect() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chip = host_chip();
    v3d_host::begin(&chip.bus().model)?;
    kernel_main(&chip, &DISPLAY, FRAMES, |_| {})?;
    v3d_host::show_picture(&chip.bus().model, &shown(&chip), "10_own_kernel")?;
    Ok(())
}

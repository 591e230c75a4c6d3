//! The V3D driver's platform on this board: registers, GPU memory, time, power and interrupt
//!
//! [`V3dPlatform`] implements the four traits of `v3d::platform` with the chip's registers, a pool of non-cacheable memory, the core's counter with the system
//! timer's tick as the alarm, and the reset through the bus bridges. The interrupt handler and the driver share the single instance.
//!
//! # Detecting completion
//! The driver reads the V3D's counters whenever a wait ends, so an interrupt only makes it read them earlier. Without interrupts
//! ([`V3dPlatform::use_interrupt`] enables them), a wait is a short pause between two polls, and the V3D never asserts its interrupt line. The firmware also
//! receives that interrupt if it was started without a device tree, and its mailbox was seen to stop answering after V3D interrupts [aros].
//!
//! # Sources
//! [AG section 10] for the registers.

use core::sync::atomic::{AtomicBool, Ordering};

use spin::Once;
use tock_registers::interfaces::{Readable, Writeable};
use v3d::{
    hw::{ArmPhys, BusAddr, registers::Register},
    interrupts::Interrupts,
    platform::{GpuMemory, Power, PowerError, RegisterAccess, Time},
};

use crate::{
    arch::{clock, cpu, interrupt_mask},
    board::{
        interrupt_controller, interrupt_lines,
        power::{GraphicsPower, PowerStatus, ResetError},
        v3d_registers::RegisterWindow,
    },
    irq_lock::IrqLock,
    mm::shared::SharedWords,
    mmio::Mmio,
};

/// Pause between two polls, in microseconds: short compared with a frame, long compared with a register access.
const PAUSE_US: u64 = 2;

/// The board as the V3D driver sees it.
#[derive(Debug)]
pub struct V3dPlatform {
    registers: Mmio<RegisterWindow>,
    pool: SharedWords,
    power: IrqLock<GraphicsPower>,
    /// Set by the interrupt handler, cleared by a wait.
    raised: AtomicBool,
    polling: AtomicBool,
}

static PLATFORM: Once<V3dPlatform> = Once::new();

/// State that the interrupt handler shares with the driver.
pub static INTERRUPTS: Interrupts = Interrupts::new();

impl V3dPlatform {
    /// Takes ownership of the V3D's registers and power control. Only the first call has an effect; later ones return the same platform.
    pub fn install(registers: Mmio<RegisterWindow>, power: GraphicsPower) -> &'static Self {
        PLATFORM.call_once(|| Self {
            registers,
            pool: SharedWords::gpu_pool(),
            power: IrqLock::new(power),
            raised: AtomicBool::new(false),
            polling: AtomicBool::new(true),
        })
    }

    /// The platform, if it has been installed.
    #[must_use]
    pub fn installed() -> Option<&'static Self> {
        PLATFORM.get()
    }

    /// Enables the V3D's interrupt; from now on, waits sleep until it is raised.
    pub fn use_interrupt(&'static self) {
        interrupt_controller::enable(interrupt_lines::V3D, || {
            if let Some(platform) = PLATFORM.get() {
                INTERRUPTS.service(platform);
                platform.raised.store(true, Ordering::Relaxed);
            }
        });
        self.polling.store(false, Ordering::Relaxed);
        INTERRUPTS.arm(self);
    }

    /// Disables the V3D's interrupt; from now on, waits poll.
    pub fn poll(&self) {
        INTERRUPTS.disarm(self);
        interrupt_controller::disable(interrupt_lines::V3D);
        self.polling.store(true, Ordering::Relaxed);
    }

    /// Current values of the power and bridge registers.
    #[must_use]
    pub fn power_status(&self) -> PowerStatus {
        self.power.lock().status()
    }

    /// Whether waits poll instead of sleeping.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.polling.load(Ordering::Relaxed)
    }

    /// The pool's memory, by words.
    #[must_use]
    pub fn pool(&self) -> SharedWords {
        self.pool
    }
}

impl RegisterAccess for V3dPlatform {
    fn read(&self, register: Register) -> u32 {
        let value = self.registers.words[register.offset() as usize / 4].get();
        // Loads of data that the V3D wrote before it changed the register must not be executed earlier.
        cpu::complete_memory_accesses();
        value
    }

    fn write(&self, register: Register, value: u32) {
        // The V3D may fetch data that was stored earlier as soon as the register is written.
        cpu::complete_memory_accesses();
        self.registers.words[register.offset() as usize / 4].set(value);
    }
}

impl GpuMemory for V3dPlatform {
    fn base(&self) -> BusAddr {
        // The pool is below 256 MiB, see linker.ld.
        ArmPhys(self.pool.address() as u32).to_bus()
    }

    fn bytes(&self) -> u32 {
        (self.pool.len() * 4) as u32
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.pool.store_bytes(offset as usize, bytes);
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        self.pool.load_bytes(offset as usize, bytes);
    }

    fn store_word(&self, offset: u32, word: u32) {
        self.pool.set(offset as usize / 4, word);
    }

    fn store_words(&self, offset: u32, words: &[u32]) {
        self.pool.store_words(offset as usize / 4, words);
    }

    fn load_word(&self, offset: u32) -> u32 {
        self.pool.get(offset as usize / 4).unwrap_or(0)
    }

    fn zero(&self, offset: u32, count: u32) {
        let (start, end) = (offset as usize, offset as usize + count as usize);
        if start.is_multiple_of(4) && end.is_multiple_of(4) {
            self.pool.fill(start / 4..end / 4, 0);
        } else {
            for offset in start..end {
                self.pool.store_bytes(offset, &[0]);
            }
        }
    }
}

impl Time for V3dPlatform {
    fn now_us(&self) -> u64 {
        clock::now_us()
    }

    fn wait_until(&self, deadline_us: u64) {
        if self.is_polling() {
            // The driver handles the V3D's state at its next poll; the pause leaves the bus to the V3D.
            clock::spin_for_us(PAUSE_US);
            return;
        }
        // Interrupts are masked, so an interrupt after the check still ends the sleep, as does the timer's tick: deadlines are met to within a tick.
        let previous = interrupt_mask::mask();
        if !self.raised.swap(false, Ordering::Relaxed) && clock::now_us() < deadline_us {
            cpu::wait_for_interrupt();
        }
        interrupt_mask::restore(previous);
    }
}

impl Power for V3dPlatform {
    fn reset(&self) -> Result<(), PowerError> {
        self.power.lock().reset_v3d().map_err(|error| {
            PowerError(match error {
                ResetError::NoBridges(_) => "there are no bus bridges to stop",
                ResetError::Stuck { stopping: true, .. } => "a bus bridge does not stop",
                ResetError::Stuck { stopping: false, .. } => "a bus bridge does not start again",
            })
        })
    }
}

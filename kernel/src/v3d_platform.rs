//! The platform of the V3D driver on this board: registers, GPU memory, time, power and interrupt
//!
//! [`V3dPlatform`] implements the four traits of `v3d::platform`: registers of the chip, a pool of non-cacheable memory, the core's counter with the
//! system timer's tick as the alarm, and the reset through the bus bridges. The interrupt handler and the driver share the one instance.
//!
//! # Completion
//! The driver reads the counters whenever a wait ends, so that an interrupt is only a reason to read them earlier. Without interrupts
//! ([`V3dPlatform::use_interrupt`] enables them) a wait is a short pause between two polls, and the engine never drives its line: firmware that was
//! started without a device tree listens to it, too, and its mailbox was seen to die of V3D interrupts [aros].
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

/// How long a wait without interrupts pauses, in microseconds: short against a frame, long against an access of a register.
const PAUSE_US: u64 = 2;

/// The board as the V3D driver sees it.
#[derive(Debug)]
pub struct V3dPlatform {
    registers: Mmio<RegisterWindow>,
    pool: SharedWords,
    power: IrqLock<GraphicsPower>,
    /// Set by the interrupt handler, taken by a wait.
    raised: AtomicBool,
    polling: AtomicBool,
}

static PLATFORM: Once<V3dPlatform> = Once::new();

/// What the interrupt handler shares with the driver.
pub static INTERRUPTS: Interrupts = Interrupts::new();

impl V3dPlatform {
    /// Takes the 3D engine's share of the board. The first call counts; later ones get the same platform.
    pub fn install(registers: Mmio<RegisterWindow>, power: GraphicsPower) -> &'static Self {
        PLATFORM.call_once(|| Self {
            registers,
            pool: SharedWords::gpu_pool(),
            power: IrqLock::new(power),
            raised: AtomicBool::new(false),
            polling: AtomicBool::new(true),
        })
    }

    /// The platform, if it was installed.
    #[must_use]
    pub fn installed() -> Option<&'static Self> {
        PLATFORM.get()
    }

    /// Waits for interrupts from now on, and lets the engine drive its line.
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

    /// Polls from now on; the engine no longer drives its interrupt line.
    pub fn poll(&self) {
        INTERRUPTS.disarm(self);
        interrupt_controller::disable(interrupt_lines::V3D);
        self.polling.store(true, Ordering::Relaxed);
    }

    /// What the registers of power and bus bridges read.
    #[must_use]
    pub fn power_status(&self) -> PowerStatus {
        self.power.lock().status()
    }

    /// Whether waits poll instead of sleeping.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.polling.load(Ordering::Relaxed)
    }

    /// The pool's memory, word by word.
    #[must_use]
    pub fn pool(&self) -> SharedWords {
        self.pool
    }
}

impl RegisterAccess for V3dPlatform {
    fn read(&self, register: Register) -> u32 {
        let value = self.registers.words[register.offset() as usize / 4].get();
        // What the engine wrote before it changed the register must not be loaded ahead of it.
        cpu::complete_memory_accesses();
        value
    }

    fn write(&self, register: Register, value: u32) {
        // The engine may fetch what was stored before as soon as the register is written.
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
            // The driver serves the engine at its next look; in between the bus is the engine's.
            clock::spin_for_us(PAUSE_US);
            return;
        }
        // Masked, an interrupt that comes after the test still ends the sleep. So does the timer's tick: a deadline is met to
        // within one.
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

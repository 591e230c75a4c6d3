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
//! # Access
//! An access to a register of a V3D without a clock never ends, so registers are accessed only from [`V3dPlatform::open`] on, which the bring-up calls when it
//! has seen the clock run. Before, they read as those of a V3D without power, and writes have no effect.
//!
//! # Sources
//! [AG section 10] for the registers; [piegpu] for the reset by the firmware; raspberrypi/linux issue 7155 for accesses without a clock.

use core::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use spin::{Mutex, MutexGuard, Once};
use tock_registers::interfaces::{Readable, Writeable};
use v3d::{
    hw::{
        ArmPhys, BusAddr,
        registers::{Register, UNPOWERED_VALUE},
    },
    interrupts::Interrupts,
    platform::{GpuMemory, Named, Names, Power, PowerError, RegisterAccess, Time},
};

use crate::{
    arch::{clock, cpu, interrupt_mask},
    board::{
        boot_requests,
        firmware::BehindMailbox,
        interrupt_controller, interrupt_lines,
        power::{GraphicsPower, PowerSequenceError, PowerStatus},
        v3d_registers::RegisterWindow,
    },
    gpu::ClockCheck,
    irq_lock::IrqLock,
    mm::shared::SharedWords,
    mmio::Mmio,
};

/// Pause between two measurements of the V3D's clock.
pub const CLOCK_PAUSE_US: u64 = 5_000;
/// Pause between two polls, in microseconds: short compared with a frame, long compared with a register access.
const PAUSE_US: u64 = 2;
/// Most names of allocations, and of other things, that are kept for captures: some megabytes of the heap.
const MOST_NAMES: usize = 1 << 14;

/// The board as the V3D driver sees it.
#[derive(Debug)]
pub struct V3dPlatform {
    registers: Mmio<RegisterWindow>,
    pool: SharedWords,
    power: IrqLock<GraphicsPower>,
    /// Set by the interrupt handler, cleared by a wait.
    raised: AtomicBool,
    polling: AtomicBool,
    /// Whether registers may be accessed.
    is_open: AtomicBool,
    /// Whether they may be accessed although it is not known that the V3D has a clock.
    is_unchecked: AtomicBool,
    /// Whether names are kept, for captures. They are not unless they are asked for: each draw would take several times as long.
    keeps_names: AtomicBool,
    /// Interrupt handlers name nothing, so that interrupts go on while they are printed.
    names: Mutex<Names>,
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
            is_open: AtomicBool::new(false),
            is_unchecked: AtomicBool::new(false),
            keeps_names: AtomicBool::new(false),
            names: Mutex::new(Names::new(MOST_NAMES)),
        })
    }

    /// The platform, if it has been installed.
    #[must_use]
    pub fn installed() -> Option<&'static Self> {
        PLATFORM.get()
    }

    /// Allows accesses to registers: the V3D's clock runs, or whoever asked for it takes the risk.
    pub fn open(&self, check: ClockCheck) {
        self.is_unchecked.store(check == ClockCheck::None, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// Whether registers may be accessed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Powers the V3D up by the power block's registers, if the firmware has not, and releases its reset. `clock` asks the firmware to switch the V3D's clock
    /// on or off. The registers are those of a board.
    ///
    /// # Errors
    /// When the domain does not come up, or a bridge does not start.
    pub fn power_up(&self, clock: impl Fn(bool)) -> Result<(), PowerSequenceError> {
        if !self.power_status().is_up() {
            clock(false);
            let is_up = self.power.lock().power_up();
            clock(true);
            is_up?;
        }
        let mut power = self.power.lock();
        power.enable_clock();
        power.release()
    }

    /// Resets the V3D through the firmware.
    fn reset_by_firmware(&self) -> Result<(), PowerError> {
        boot_requests::restart_qpus(&BehindMailbox)
            .map_err(|_| PowerError("neither the bus bridges nor the firmware can reset the V3D"))?;
        // The firmware may have switched the clock off with the QPUs.
        let clock = boot_requests::switch_v3d_on(&BehindMailbox)
            .and_then(|()| boot_requests::measured_v3d_clock_hz(&BehindMailbox, || clock::spin_for_us(CLOCK_PAUSE_US)));
        match clock {
            Ok(_) => Ok(()),
            Err(_) if self.is_unchecked.load(Ordering::Relaxed) => Ok(()),
            Err(error) => {
                self.is_open.store(false, Ordering::Relaxed);
                log::error!("the V3D is left alone from now on: {error}");
                Err(PowerError("the V3D has no clock after the reset by the firmware"))
            }
        }
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

    /// Keeps the names of what is put into the pool from now on, or forgets them all and keeps none.
    pub fn keep_names(&self, keep: bool) {
        self.keeps_names.store(keep, Ordering::Relaxed);
        if !keep {
            *self.names.lock() = Names::new(MOST_NAMES);
        }
    }

    /// Whether names are kept.
    #[must_use]
    pub fn keeps_names(&self) -> bool {
        self.keeps_names.load(Ordering::Relaxed)
    }

    /// The names that have been kept.
    pub fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock()
    }

    #[cold]
    #[inline(never)]
    fn note_name(&self, address: BusAddr, what: Named, name: fmt::Arguments<'_>) {
        self.names.lock().set(address, what, name);
    }

    /// The pool's memory, by words.
    #[must_use]
    pub fn pool(&self) -> SharedWords {
        self.pool
    }
}

impl RegisterAccess for V3dPlatform {
    fn read(&self, register: Register) -> u32 {
        if !self.is_open() {
            return UNPOWERED_VALUE;
        }
        let value = self.registers.words[register.offset() as usize / 4].get();
        // Loads of data that the V3D wrote before it changed the register must not be executed earlier.
        cpu::complete_memory_accesses();
        value
    }

    fn write(&self, register: Register, value: u32) {
        if !self.is_open() {
            return;
        }
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

    #[inline(always)]
    fn store_words(&self, offset: u32, words: &[u32]) {
        self.pool.store_words(offset as usize / 4, words);
    }

    #[inline(always)]
    fn name(&self, address: BusAddr, what: Named, name: fmt::Arguments<'_>) {
        if self.keeps_names() {
            self.note_name(address, what, name);
        }
    }

    #[inline(always)]
    fn keeps_names(&self) -> bool {
        Self::keeps_names(self)
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
    /// Resets the V3D through the power block. Where that fails, the firmware is asked to: after a time-out a reset of the control list threads alone is not
    /// enough, every later job times out as well [piegpu].
    fn reset(&self) -> Result<(), PowerError> {
        let result = self.power.lock().reset_v3d();
        result.or_else(|error| {
            log::info!("the V3D is reset by the firmware: {error}");
            self.reset_by_firmware()
        })
    }
}

//! The model as the driver's machine: registers, memory, a clock of its own.
//!
//! Time goes on only when somebody looks at the clock or waits, so nothing depends on how fast the host is.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

use v3d::Interrupts;
use v3d::hw::BusAddr;
use v3d::hw::registers::Register;
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};
use v3d_sim::{Config, Fault, Memory, V3d};

/// The machine.
#[derive(Debug)]
pub(crate) struct Model {
    v3d: RefCell<V3d>,
    config: Config,
    words: Vec<AtomicU32>,
    now_us: Cell<u64>,
    pub(crate) interrupts: Interrupts,
    /// Whether the interrupt line is connected.
    pub(crate) line: Cell<bool>,
    /// The next write to this register finds the V3D just reset, once.
    pub(crate) reset_before: Cell<Option<Register>>,
    /// Whether the board can reset the V3D.
    pub(crate) resettable: Cell<bool>,
}

impl Model {
    /// A machine with so many bytes of GPU memory.
    pub(crate) fn new(bytes: u32, config: Config) -> Self {
        let words = (0..(Self::OFFSET + bytes) / 4).map(|_| AtomicU32::new(0)).collect();
        let (v3d, now_us) = (RefCell::new(V3d::new(config)), Cell::new(1));
        let (line, reset_before, resettable) = (Cell::new(true), Cell::new(None), Cell::new(true));
        Self { v3d, config, words, now_us, interrupts: Interrupts::new(), line, reset_before, resettable }
    }

    /// Where GPU memory begins: not at 0, so that a null address is a wild one.
    const OFFSET: u32 = 0x10_0000;

    /// What the model has to complain about since the last call.
    pub(crate) fn take_faults(&self) -> Vec<Fault> {
        self.v3d.borrow_mut().take_faults()
    }

    fn memory(&self) -> Memory<'_> {
        Memory::new(&self.words)
    }
}

impl RegisterAccess for Model {
    fn read(&self, register: Register) -> u32 {
        self.v3d.borrow_mut().read(&self.memory(), register.offset())
    }

    fn write(&self, register: Register, value: u32) {
        if self.reset_before.get() == Some(register) {
            self.reset_before.set(None);
            *self.v3d.borrow_mut() = V3d::new(self.config);
        }
        self.v3d.borrow_mut().write(&self.memory(), register.offset(), value);
    }
}

impl GpuMemory for Model {
    fn base(&self) -> BusAddr {
        BusAddr(BusAddr::UNCACHED | Self::OFFSET)
    }

    fn bytes(&self) -> u32 {
        self.words.len() as u32 * 4 - Self::OFFSET
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.memory().write(self.base() + offset, bytes).unwrap();
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        self.memory().read(self.base() + offset, bytes).unwrap();
    }

    fn store_word(&self, offset: u32, word: u32) {
        self.words[((Self::OFFSET + offset) / 4) as usize].store(word, Ordering::Relaxed);
    }

    fn load_word(&self, offset: u32) -> u32 {
        self.words[((Self::OFFSET + offset) / 4) as usize].load(Ordering::Relaxed)
    }
}

impl Time for Model {
    fn now_us(&self) -> u64 {
        self.now_us.set(self.now_us.get() + 1);
        self.now_us.get()
    }

    fn wait_until(&self, deadline_us: u64) {
        if self.line.get() && self.v3d.borrow().interrupt() {
            self.interrupts.service(self);
        } else {
            self.now_us.set(deadline_us.max(self.now_us.get()));
        }
    }
}

impl Power for Model {
    fn reset(&self) -> Result<(), PowerError> {
        if !self.resettable.get() {
            return Err(PowerError("there is nothing to reset it with"));
        }
        *self.v3d.borrow_mut() = V3d::new(self.config);
        Ok(())
    }
}

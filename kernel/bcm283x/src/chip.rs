//! The chip as the driver sees it: V3D registers, a pool of memory, the system timer, power and reset
//!
//! [`Chip`] implements the four traits of [`v3d::platform`] on a [`Bus`]. It polls: a wait is a short pause between two looks at the V3D's registers. A kernel
//! that sleeps until the V3D's interrupt (line 10 of the interrupt controller) implements the traits for a type of its own, hands all but
//! [`Time::wait_until`] on to a chip, and calls [`Interrupts::service`](v3d::Interrupts::service) from its handler.

use core::fmt;

use v3d::{
    hw::{
        BusAddr,
        registers::{Register, UNPOWERED_VALUE},
    },
    platform::{GpuMemory, Power, PowerError, RegisterAccess, Time},
};

use crate::{
    boot_requests::{self, ClockError},
    bus::Bus,
    firmware::Firmware,
    peripherals::Peripherals,
    power::{GraphicsPower, PowerRegister, PowerRegisters, PowerSequenceError, PowerStatus},
};

/// Pause between two looks at the V3D, in microseconds: short compared with a frame, long compared with a register access.
const PAUSE_US: u64 = 2;
/// Pause between two measurements of the V3D's clock.
const CLOCK_PAUSE_US: u64 = 5_000;

/// Memory that belongs to the GPU's driver: not cached, used by nothing else, and below 256 MiB, since the binner's tile memory must be in one such part of the
/// address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// ARM physical address, a multiple of 4096.
    pub address: u32,
    /// Size in bytes, a multiple of 4.
    pub bytes: u32,
}

/// A chip behind a bus.
#[derive(Debug)]
pub struct Chip<B> {
    bus: B,
    peripherals: Peripherals,
    pool: Pool,
}

/// Why the V3D cannot be used. None of its registers was accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PowerOnError {
    /// It is not known that the V3D has a clock, and an access without one never ends.
    Clock(ClockError),
    /// The power domain does not come up.
    Power(PowerSequenceError),
}

impl fmt::Display for PowerOnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(error) => error.fmt(f),
            Self::Power(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PowerOnError {}

impl<B: Bus> Chip<B> {
    /// A chip with its peripherals and this pool.
    pub const fn new(bus: B, peripherals: Peripherals, pool: Pool) -> Self {
        Self { bus, peripherals, pool }
    }

    /// The bus.
    pub const fn bus(&self) -> &B {
        &self.bus
    }

    /// Where the peripherals are.
    pub const fn peripherals(&self) -> Peripherals {
        self.peripherals
    }

    /// Has the firmware switch on the V3D's clock and power, powers the domain up itself where the firmware has not, and returns the measured rate of the clock
    /// in hertz. To be called before [`Driver::bring_up`](v3d::Driver::bring_up): an access to a V3D without a clock never ends.
    ///
    /// # Errors
    /// When the V3D has no clock, or no power.
    pub fn power_on(&self, firmware: &impl Firmware) -> Result<u32, PowerOnError> {
        let pause = || self.peripherals.spin_for_us(&self.bus, CLOCK_PAUSE_US);
        let measure = || boot_requests::measured_v3d_clock_hz(firmware, pause).map_err(PowerOnError::Clock);
        boot_requests::switch_v3d_on(firmware).map_err(PowerOnError::Clock)?;
        let mut rate_hz = measure()?;
        let status = self.power_status();
        // QEMU has no such registers, and its V3D needs no power.
        if status.is_a_boards() && status.obstacle().is_some() {
            let mut power = GraphicsPower::new(self);
            let switch_clock = |on| boot_requests::set_v3d_clock_state(firmware, on).map_err(PowerOnError::Clock);
            if !status.is_up() {
                switch_clock(false)?;
                let is_up = power.power_up();
                switch_clock(true)?;
                is_up.map_err(PowerOnError::Power)?;
            }
            power.enable_clock();
            power.release().map_err(PowerOnError::Power)?;
            rate_hz = measure()?;
        }
        if self.read(Register::IDENT0) == UNPOWERED_VALUE {
            // Firmware that does not know the request leaves the V3D as it is, which its identity shows.
            let _ = boot_requests::enable_qpus(firmware);
        }
        Ok(rate_hz)
    }

    /// The registers of the V3D's power domain.
    pub fn power_status(&self) -> PowerStatus {
        GraphicsPower::new(self).status()
    }
}

impl<B: Bus> PowerRegisters for &Chip<B> {
    fn now_us(&self) -> u64 {
        Time::now_us(*self)
    }

    fn read(&self, register: PowerRegister) -> u32 {
        self.bus.load(self.address_of(register))
    }

    fn write(&self, register: PowerRegister, value: u32) {
        self.bus.store(self.address_of(register), value);
    }
}

impl<B> Chip<B> {
    const fn address_of(&self, register: PowerRegister) -> u32 {
        match register {
            PowerRegister::Grafx => self.peripherals.power() + 0x10c,
            PowerRegister::Clock => self.peripherals.clock_manager() + 0x38,
            PowerRegister::BridgeId => self.peripherals.async_bridge() + 0x20,
            PowerRegister::Slave => self.peripherals.async_bridge() + 0x08,
            PowerRegister::Master => self.peripherals.async_bridge() + 0x0c,
        }
    }

    /// The part of `bytes` that is inside of the pool from `offset` on, as a number of bytes.
    const fn inside(&self, offset: u32, bytes: usize) -> usize {
        let left = self.pool.bytes.saturating_sub(offset) as usize;
        if bytes < left { bytes } else { left }
    }
}

impl<B: Bus> RegisterAccess for Chip<B> {
    fn read(&self, register: Register) -> u32 {
        let value = self.bus.load(self.peripherals.v3d() + register.offset());
        // Loads of what the V3D wrote before it changed the register must not come earlier.
        self.bus.complete();
        value
    }

    fn write(&self, register: Register, value: u32) {
        // The V3D may fetch what was stored before as soon as the register is written.
        self.bus.complete();
        self.bus.store(self.peripherals.v3d() + register.offset(), value);
    }
}

impl<B: Bus> GpuMemory for Chip<B> {
    fn base(&self) -> BusAddr {
        self.peripherals.bus_address(self.pool.address)
    }

    fn bytes(&self) -> u32 {
        self.pool.bytes
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        let mut at = offset;
        let mut rest = &bytes[..self.inside(offset, bytes.len())];
        while !rest.is_empty() {
            let word = self.pool.address + at / 4 * 4;
            let first = (at % 4) as usize;
            let count = rest.len().min(4 - first);
            // A whole word needs not be loaded.
            let mut value = if count == 4 { [0; 4] } else { self.bus.load(word).to_le_bytes() };
            value[first..first + count].copy_from_slice(&rest[..count]);
            self.bus.store(word, u32::from_le_bytes(value));
            (at, rest) = (at + count as u32, &rest[count..]);
        }
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        let count = self.inside(offset, bytes.len());
        bytes[count..].fill(0);
        let mut at = offset;
        let mut rest = &mut bytes[..count];
        while !rest.is_empty() {
            let first = (at % 4) as usize;
            let count = rest.len().min(4 - first);
            let value = self.bus.load(self.pool.address + at / 4 * 4).to_le_bytes();
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&value[first..first + count]);
            (at, rest) = (at + count as u32, later);
        }
    }

    fn store_words(&self, offset: u32, words: &[u32]) {
        let count = self.inside(offset, 4 * words.len()) / 4;
        self.bus.store_words(self.pool.address + offset, &words[..count]);
    }
}

impl<B: Bus> Time for Chip<B> {
    fn now_us(&self) -> u64 {
        self.peripherals.now_us(&self.bus)
    }

    fn wait_until(&self, _deadline_us: u64) {
        self.peripherals.spin_for_us(&self.bus, PAUSE_US);
    }
}

impl<B: Bus> Power for Chip<B> {
    /// Resets the V3D between its bridges. Without them, as in QEMU, there is no reset.
    fn reset(&self) -> Result<(), PowerError> {
        GraphicsPower::new(self).reset_v3d().map_err(|error| match error {
            PowerSequenceError::NoBridges(_) => PowerError("there are no bus bridges, between which a V3D is reset"),
            _ => PowerError("a bus bridge of the V3D does not follow"),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Memory from the pool on, word by word.
    struct Memory(RefCell<Vec<u32>>);

    const POOL: Pool = Pool { address: 0x0100_0000, bytes: 16 };

    impl Bus for Memory {
        fn load(&self, address: u32) -> u32 {
            self.0.borrow()[(address - POOL.address) as usize / 4]
        }

        fn store(&self, address: u32, word: u32) {
            self.0.borrow_mut()[(address - POOL.address) as usize / 4] = word;
        }

        fn complete(&self) {}
    }

    /// Bytes at any offset are those of an array, and nothing behind the pool is touched: the bus has a word more than the pool.
    #[test]
    fn bytes_are_stored_and_loaded_at_any_offset() {
        for offset in 0..20u32 {
            for count in 0..20usize {
                let chip = Chip::new(Memory(RefCell::new(vec![0xeeee_eeee; 5])), Peripherals::BCM2836, POOL);
                let bytes: Vec<u8> = (1..=count as u8).collect();
                chip.store(offset, &bytes);
                let mut expected = [0xee; 20];
                for (at, &byte) in (offset as usize..16).zip(&bytes) {
                    expected[at] = byte;
                }
                let found: Vec<u8> = chip.bus().0.borrow().iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(found, expected, "{count} bytes at {offset}");
                let mut back = vec![0xaa; count];
                chip.load(offset, &mut back);
                let inside = count.min(16usize.saturating_sub(offset as usize));
                assert_eq!(back[..inside], bytes[..inside]);
                assert!(back[inside..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn the_pool_is_seen_at_an_address_of_the_bus() {
        let chip = Chip::new(Memory(RefCell::new(vec![0; 5])), Peripherals::BCM2835, POOL);
        // [linux bcm2835.dtsi, bcm2836.dtsi]: dma-ranges.
        assert_eq!((chip.base(), chip.bytes()), (BusAddr(0x4100_0000), 16));
        let chip = Chip::new(chip.bus, Peripherals::BCM2836, POOL);
        assert_eq!(chip.base(), BusAddr(0xc100_0000));
    }
}

//! Power and reset of the V3D: the PM block's GRAFX register, the V3D's clock, and the bridges to the bus
//!
//! The firmware powers the V3D up on request, on most boards. On a Zero 2 W its requests have no effect on the domain: PM_GRAFX reads 0x1000, both bridges 7,
//! and the V3D's registers 0xdeadbeef, until the ARM powers the domain up itself [zephyr]. It does so as Linux does on every board: it closes the power switch,
//! with little current first, waits for the voltage, repairs the memories, and ends the isolation. Then it releases the reset and starts the bridges.
//!
//! The ARM can also reset a hung V3D: it stops the slave and the master bridge, so that no transfer is cut in half, drives V3DRSTN low and high again, and
//! starts the bridges in the opposite order.
//!
//! # Surprises
//! The V3D's clock must be off while the domain powers up, or POWOK never comes; a level of the current takes up to 3 ms [zephyr], not the 3 us that Linux
//! waits.
//!
//! PM_GRAFX reads 0 on no board, but in QEMU. There the bridges are not looked at: `raspi0` and `raspi1ap` have nothing at their addresses, and a load from
//! there ends in a data abort. [measured]
//!
//! # Sources
//! [linux drivers/pmdomain/bcm/bcm2835-power.c], [lk], [zephyr].

use core::fmt;

use crate::waiting;

/// What every write needs in its bits 31:24 to have an effect.
const PASSWORD: u32 = 0x5a00_0000;

/// Bits of PM_GRAFX, the power domain of the graphics.
mod grafx {
    /// How much current may flow while the power switch closes, 3.5, 5, 10 or 20 mA: the lowest bit of two.
    pub(super) const INRUSH: u32 = 1 << 13;
    /// 0 holds V3D in reset.
    pub(super) const V3DRSTN: u32 = 1 << 6;
    /// Ends the isolation of the domain's signals: the domain is functional.
    pub(super) const ISFUNC: u32 = 1 << 5;
    /// The memories are repaired.
    pub(super) const MRDONE: u32 = 1 << 4;
    /// Starts the repair of the memories.
    pub(super) const MEMREP: u32 = 1 << 3;
    /// Ends the electrical isolation of the domain.
    pub(super) const ISPOW: u32 = 1 << 2;
    /// The power switch is closed and the voltage is stable.
    pub(super) const POWOK: u32 = 1 << 1;
    /// Requests that the power switch be closed.
    pub(super) const POWUP: u32 = 1 << 0;
}

/// Bits of the control of a clock.
mod clock {
    /// The clock is still running.
    pub(super) const BUSY: u32 = 1 << 7;
    /// Enables the clock.
    pub(super) const ENABLE: u32 = 1 << 4;
}

/// Bits of the control of a bridge.
mod bridge {
    /// The bridge has stopped.
    pub(super) const ACK: u32 = 1 << 1;
    /// Requests that the bridge stop.
    pub(super) const REQ_STOP: u32 = 1 << 0;
}

/// A register of the power block, of the clock manager, or of the bridges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerRegister {
    /// PM_GRAFX, at 0x10c of the power block.
    Grafx,
    /// CM_V3DCTL, at 0x38 of the clock manager.
    Clock,
    /// The bridges' ID, at 0x20 of the bridges.
    BridgeId,
    /// V3D_S_CTRL, at 0x08 of the bridges.
    Slave,
    /// V3D_M_CTRL, at 0x0c of the bridges.
    Master,
}

/// Access to the registers, and a clock.
pub trait PowerRegisters {
    /// A time in microseconds.
    fn now_us(&self) -> u64;

    /// The register's value.
    fn read(&self, register: PowerRegister) -> u32;

    /// Writes the register.
    fn write(&self, register: PowerRegister, value: u32);
}

/// Value of the bridges' ID register: "bdrg" in reverse.
const BRIDGE_ID: u32 = 0x6272_6467;
/// How long a bridge may take to stop or start.
const BRIDGE_TIMEOUT_US: u64 = 1000;
/// How long the voltage may take to become stable at one level of the current.
const POWER_TIMEOUT_US: u64 = 3000;
/// How long the repair of the memories may take: Linux waits for 1 us, which leaves no room for a bus at work.
const REPAIR_TIMEOUT_US: u64 = 1000;
/// How long the clock may take to stop.
const CLOCK_TIMEOUT_US: u64 = 1000;

/// Why the V3D could not be powered up or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PowerSequenceError {
    /// The bridges' ID register has another value.
    NoBridges(u32),
    /// The voltage did not become stable at any level of the current.
    NoPower,
    /// The memories were not repaired in time.
    NoRepair,
    /// A bridge did not stop or start in time.
    Stuck {
        /// The bridge.
        bridge: &'static str,
        /// Whether it was told to stop.
        stopping: bool,
    },
}

impl fmt::Display for PowerSequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBridges(id) => write!(f, "no bus bridges: their ID reads {id:#010x}"),
            Self::NoPower => f.write_str("the power domain of V3D does not come up (POWOK)"),
            Self::NoRepair => f.write_str("the memories of V3D are not repaired (MRDONE)"),
            Self::Stuck { bridge, stopping } => {
                write!(f, "the {bridge} bridge of V3D does not {}", if *stopping { "stop" } else { "start" })
            }
        }
    }
}

impl core::error::Error for PowerSequenceError {}

/// Values of the power and bridge registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerStatus {
    /// PM_GRAFX.
    pub grafx: u32,
    /// The bridges' ID.
    pub bridge_id: u32,
    /// V3D_S_CTRL.
    pub slave: u32,
    /// V3D_M_CTRL.
    pub master: u32,
}

impl PowerStatus {
    /// Whether the registers are those of a board. QEMU has none, and reads 0.
    #[must_use]
    pub fn is_a_boards(&self) -> bool {
        self.bridge_id == BRIDGE_ID
    }

    /// Whether the power switch of the domain is closed.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.grafx & grafx::POWUP != 0
    }

    /// Why the V3D cannot work, according to these registers.
    #[must_use]
    pub fn obstacle(&self) -> Option<&'static str> {
        let bridge_is_stopped = |word: u32| word & bridge::ACK != 0;
        if !self.is_a_boards() {
            return Some("the bus bridges' ID register has another value");
        }
        if self.grafx & grafx::POWOK == 0 {
            return Some("the graphics are not powered (POWOK)");
        }
        if self.grafx & grafx::V3DRSTN == 0 {
            return Some("V3D is held in reset (V3DRSTN)");
        }
        match (bridge_is_stopped(self.slave), bridge_is_stopped(self.master)) {
            (true, _) => Some("the slave bridge is stopped"),
            (_, true) => Some("the master bridge is stopped"),
            _ => None,
        }
    }
}

impl fmt::Display for PowerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grafx, bridge_id, slave, master } = self;
        write!(
            f,
            "PM_GRAFX {grafx:#010x}, bridges' ID {bridge_id:#010x}, V3D_S_CTRL {slave:#x}, V3D_M_CTRL {master:#x}"
        )
    }
}

/// Power and reset of the V3D.
#[derive(Debug)]
pub struct GraphicsPower<R> {
    registers: R,
}

impl<R: PowerRegisters> GraphicsPower<R> {
    /// Control of the V3D's power domain.
    pub const fn new(registers: R) -> Self {
        Self { registers }
    }

    /// Current values of the power and bridge registers.
    #[must_use]
    pub fn status(&self) -> PowerStatus {
        let read = |register| self.registers.read(register);
        let grafx = read(PowerRegister::Grafx);
        // See "Surprises" above.
        if grafx == 0 {
            return PowerStatus { grafx, bridge_id: 0, slave: 0, master: 0 };
        }
        PowerStatus {
            grafx,
            bridge_id: read(PowerRegister::BridgeId),
            slave: read(PowerRegister::Slave),
            master: read(PowerRegister::Master),
        }
    }

    /// Closes the domain's power switch, which is open, and ends its isolation.
    ///
    /// The caller has asked the firmware to switch the V3D's clock off, and has it switched on afterwards. If the firmware does not switch it off, this does.
    ///
    /// # Errors
    /// When the voltage does not become stable, or the memories are not repaired. The domain is then off.
    pub fn power_up(&mut self) -> Result<(), PowerSequenceError> {
        const MOST_CURRENT: u32 = 3 * grafx::INRUSH;
        self.stop_clock();
        let is_up = (0..=3).any(|level| {
            self.change(PowerRegister::Grafx, MOST_CURRENT, (level * grafx::INRUSH) | grafx::POWUP);
            self.comes_true(POWER_TIMEOUT_US, || self.is_set(PowerRegister::Grafx, grafx::POWOK))
        });
        let open_switch = || self.change(PowerRegister::Grafx, MOST_CURRENT | grafx::POWUP, 0);
        if !is_up {
            open_switch();
            return Err(PowerSequenceError::NoPower);
        }
        self.change(PowerRegister::Grafx, 0, grafx::ISPOW);
        self.change(PowerRegister::Grafx, 0, grafx::MEMREP);
        if !self.comes_true(REPAIR_TIMEOUT_US, || self.is_set(PowerRegister::Grafx, grafx::MRDONE)) {
            self.change(PowerRegister::Grafx, grafx::ISPOW, 0);
            open_switch();
            return Err(PowerSequenceError::NoRepair);
        }
        self.change(PowerRegister::Grafx, 0, grafx::ISFUNC);
        Ok(())
    }

    /// Stops the V3D's clock. A clock that goes on is no error here: then the voltage does not become stable.
    fn stop_clock(&self) {
        if self.is_set(PowerRegister::Clock, clock::ENABLE) {
            self.change(PowerRegister::Clock, clock::ENABLE, 0);
        }
        let _ = self.comes_true(CLOCK_TIMEOUT_US, || !self.is_set(PowerRegister::Clock, clock::BUSY));
    }

    /// Enables the V3D's clock if the firmware, which was asked to, has not.
    pub fn enable_clock(&mut self) {
        if !self.is_set(PowerRegister::Clock, clock::ENABLE) {
            self.change(PowerRegister::Clock, 0, clock::ENABLE);
        }
    }

    /// Releases the V3D's reset and starts its bridges. The domain is powered, and the V3D's clock runs.
    ///
    /// # Errors
    /// When there are no bridges, or one does not start.
    pub fn release(&mut self) -> Result<(), PowerSequenceError> {
        self.check_bridges()?;
        self.change(PowerRegister::Grafx, 0, grafx::V3DRSTN);
        self.spin_for_us(1);
        self.start(PowerRegister::Master).and_then(|()| self.start(PowerRegister::Slave))
    }

    fn check_bridges(&self) -> Result<(), PowerSequenceError> {
        let id = self.status().bridge_id;
        if id == BRIDGE_ID { Ok(()) } else { Err(PowerSequenceError::NoBridges(id)) }
    }

    /// Resets the V3D: all its registers return to their power-on values.
    ///
    /// # Errors
    /// When there are no bridges, or one does not stop or start. If one does not stop, the V3D is not reset, as in Linux: a reset in the middle of a transfer
    /// could hang the bus.
    pub fn reset_v3d(&mut self) -> Result<(), PowerSequenceError> {
        self.check_bridges()?;
        if let Err(error) = self.stop(PowerRegister::Slave) {
            // The request is withdrawn; a second failure would add no information.
            let _ = self.start(PowerRegister::Slave);
            return Err(error);
        }
        if let Err(error) = self.stop(PowerRegister::Master) {
            let _ = self.start(PowerRegister::Master);
            let _ = self.start(PowerRegister::Slave);
            return Err(error);
        }
        self.change(PowerRegister::Grafx, grafx::V3DRSTN, 0);
        self.spin_for_us(1);
        self.release()
    }

    fn stop(&self, bridge: PowerRegister) -> Result<(), PowerSequenceError> {
        self.change(bridge, 0, bridge::REQ_STOP);
        self.follows(bridge, true)
    }

    fn start(&self, bridge: PowerRegister) -> Result<(), PowerSequenceError> {
        self.change(bridge, bridge::REQ_STOP, 0);
        self.follows(bridge, false)
    }

    /// Waits until a bridge has stopped or started.
    fn follows(&self, bridge: PowerRegister, stopping: bool) -> Result<(), PowerSequenceError> {
        let name = if bridge == PowerRegister::Slave { "slave" } else { "master" };
        if self.comes_true(BRIDGE_TIMEOUT_US, || self.is_set(bridge, bridge::ACK) == stopping) {
            Ok(())
        } else {
            Err(PowerSequenceError::Stuck { bridge: name, stopping })
        }
    }

    fn is_set(&self, register: PowerRegister, bit: u32) -> bool {
        self.registers.read(register) & bit != 0
    }

    /// Writes a register with bits cleared and then bits set.
    fn change(&self, register: PowerRegister, clear: u32, set: u32) {
        let value = self.registers.read(register) & 0x00ff_ffff;
        self.registers.write(register, PASSWORD | value & !clear | set);
    }

    /// Whether a condition comes true within `limit_us` microseconds.
    fn comes_true(&self, limit_us: u64, condition: impl Fn() -> bool) -> bool {
        waiting::comes_true(|| self.registers.now_us(), limit_us, condition)
    }

    fn spin_for_us(&self, time_us: u64) {
        waiting::spin_for_us(|| self.registers.now_us(), time_us);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// Registers of a board whose domain comes up at a level of the current, and whose bridges follow or do not.
    struct Board {
        now_us: Cell<u64>,
        grafx: Cell<u32>,
        clock: Cell<u32>,
        bridges: [Cell<u32>; 2],
        /// The level of the current at which the voltage becomes stable; 4 if it never does.
        level: u32,
        repairs: bool,
        follow: [bool; 2],
        written: RefCell<Vec<(PowerRegister, u32)>>,
    }

    impl Board {
        fn new() -> Self {
            Self {
                now_us: Cell::new(0),
                grafx: Cell::new(0x1000),
                clock: Cell::new(0x91),
                bridges: [Cell::new(3), Cell::new(3)],
                level: 2,
                repairs: true,
                follow: [true; 2],
                written: RefCell::default(),
            }
        }
    }

    impl PowerRegisters for &Board {
        fn now_us(&self) -> u64 {
            self.now_us.set(self.now_us.get() + 1);
            self.now_us.get()
        }

        fn read(&self, register: PowerRegister) -> u32 {
            match register {
                PowerRegister::Grafx => self.grafx.get(),
                PowerRegister::Clock => self.clock.get(),
                PowerRegister::BridgeId => 0x6272_6467,
                PowerRegister::Slave => self.bridges[0].get(),
                PowerRegister::Master => self.bridges[1].get(),
            }
        }

        fn write(&self, register: PowerRegister, value: u32) {
            assert_eq!(value >> 24, 0x5a, "{register:?} is written without the password");
            let value = value & 0xff_ffff;
            self.written.borrow_mut().push((register, value));
            let bridge = |number: usize| {
                let acknowledged = if self.follow[number] { value << 1 & 2 } else { self.bridges[number].get() & 2 };
                self.bridges[number].set(value & 1 | acknowledged);
            };
            match register {
                PowerRegister::Grafx => {
                    let is_enough = value >> 13 & 3 >= self.level && self.clock.get() & 0x80 == 0;
                    // A voltage that is stable stays so.
                    let is_stable = value & 1 != 0 && (is_enough || self.grafx.get() & 2 != 0);
                    let is_repaired = value & 8 != 0 && self.repairs;
                    self.grafx.set(value & !0x12 | u32::from(is_stable) << 1 | u32::from(is_repaired) << 4);
                }
                PowerRegister::Clock => self.clock.set(if value & 0x10 != 0 { value | 0x80 } else { value & !0x80 }),
                PowerRegister::BridgeId => {}
                PowerRegister::Slave => bridge(0),
                PowerRegister::Master => bridge(1),
            }
        }
    }

    /// As on a Zero 2 W: PM_GRAFX 0x1000, and a clock that runs [zephyr].
    #[test]
    fn a_domain_that_is_off_is_powered_up() {
        let board = Board::new();
        let mut power = GraphicsPower::new(&board);
        assert!(!power.status().is_up());
        assert_eq!(power.power_up(), Ok(()));
        assert_eq!(board.clock.get() & 0x90, 0, "the clock is off while the domain comes up");
        power.enable_clock();
        assert_eq!(board.clock.get() & 0x90, 0x90);
        assert_eq!(power.release(), Ok(()));
        assert_eq!(power.status().obstacle(), None);
        assert_eq!(board.grafx.get() & 0x7f, 0x7f);
    }

    /// As in QEMU, where a load from the bridges' addresses may end in an abort.
    #[test]
    fn bridges_are_not_looked_at_where_there_is_no_power_block() {
        struct Nothing;

        impl PowerRegisters for Nothing {
            fn now_us(&self) -> u64 {
                0
            }

            fn read(&self, register: PowerRegister) -> u32 {
                assert_eq!(register, PowerRegister::Grafx);
                0
            }

            fn write(&self, register: PowerRegister, value: u32) {
                panic!("{register:?} is written with {value:#x}");
            }
        }

        let mut power = GraphicsPower::new(Nothing);
        assert!(!power.status().is_a_boards());
        assert_eq!(power.reset_v3d(), Err(PowerSequenceError::NoBridges(0)));
    }

    #[test]
    fn what_does_not_come_is_named_and_the_switch_is_opened() {
        for (board, expected) in [
            (Board { level: 4, ..Board::new() }, PowerSequenceError::NoPower),
            (Board { repairs: false, ..Board::new() }, PowerSequenceError::NoRepair),
        ] {
            assert_eq!(GraphicsPower::new(&board).power_up(), Err(expected));
            assert_eq!(board.grafx.get() & 1, 0, "{expected}");
        }
    }

    /// No transfer may be under way when the reset comes.
    #[test]
    fn a_reset_comes_between_bridges_that_have_stopped() {
        let board = Board { bridges: [Cell::new(0), Cell::new(0)], grafx: Cell::new(0x7f), ..Board::new() };
        assert_eq!(GraphicsPower::new(&board).reset_v3d(), Ok(()));
        let written: Vec<_> =
            board.written.borrow().iter().map(|&(register, value)| (register, value & 0x41)).collect();
        use PowerRegister::{Grafx, Master, Slave};
        assert_eq!(written, [(Slave, 1), (Master, 1), (Grafx, 1), (Grafx, 0x41), (Master, 0), (Slave, 0)]);

        let stuck = Board { bridges: [Cell::new(0), Cell::new(0)], follow: [true, false], ..Board::new() };
        let error = PowerSequenceError::Stuck { bridge: "master", stopping: true };
        assert_eq!(GraphicsPower::new(&stuck).reset_v3d(), Err(error));
        assert!(stuck.written.borrow().iter().all(|&(register, _)| register != Grafx), "the V3D is not reset");
    }
}

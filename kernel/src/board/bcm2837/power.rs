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
//! # Sources
//! [linux drivers/pmdomain/bcm/bcm2835-power.c], [lk], [zephyr].

use core::fmt;

use tock_registers::{
    interfaces::{ReadWriteable, Readable},
    register_bitfields, register_structs,
    registers::{ReadOnly, ReadWrite},
};

use crate::{arch::clock, mmio::Mmio};

register_bitfields! { u32,
    /// The power domain of the graphics.
    GRAFX [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// How much current may flow while the power switch closes: 3.5, 5, 10 or 20 mA.
        INRUSH OFFSET(13) NUMBITS(2) [],
        /// 0 holds V3D in reset.
        V3DRSTN OFFSET(6) NUMBITS(1) [],
        /// Ends the isolation of the domain's signals: the domain is functional.
        ISFUNC OFFSET(5) NUMBITS(1) [],
        /// The memories are repaired.
        MRDONE OFFSET(4) NUMBITS(1) [],
        /// Starts the repair of the memories.
        MEMREP OFFSET(3) NUMBITS(1) [],
        /// Ends the electrical isolation of the domain.
        ISPOW OFFSET(2) NUMBITS(1) [],
        /// The power switch is closed and the voltage is stable.
        POWOK OFFSET(1) NUMBITS(1) [],
        /// Requests that the power switch be closed.
        POWUP OFFSET(0) NUMBITS(1) [],
    ],
    /// Control of a clock.
    CLOCK [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// The clock is still running.
        BUSY OFFSET(7) NUMBITS(1) [],
        /// Enables the clock.
        ENABLE OFFSET(4) NUMBITS(1) [],
    ],
    /// Control of a bridge.
    BRIDGE [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// The bridge has stopped.
        ACK OFFSET(1) NUMBITS(1) [],
        /// Requests that the bridge stop.
        REQ_STOP OFFSET(0) NUMBITS(1) [],
    ],
}

register_structs! {
    /// The graphics' registers of the power block.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub Registers {
        (0x000 => _others),
        (0x10c => pub grafx: ReadWrite<u32, GRAFX::Register>),
        (0x110 => @END),
    }
}

register_structs! {
    /// The V3D's part of the clock manager.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub ClockRegisters {
        (0x00 => _others),
        (0x38 => pub v3dctl: ReadWrite<u32, CLOCK::Register>),
        (0x3c => @END),
    }
}

register_structs! {
    /// The asynchronous bridges.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub BridgeRegisters {
        (0x00 => _others),
        (0x08 => pub v3d_s_ctrl: ReadWrite<u32, BRIDGE::Register>),
        (0x0c => pub v3d_m_ctrl: ReadWrite<u32, BRIDGE::Register>),
        (0x10 => _reserved),
        (0x20 => pub id: ReadOnly<u32>),
        (0x24 => @END),
    }
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
        self.grafx & GRAFX::POWUP::SET.value != 0
    }

    /// Why the V3D cannot work, according to these registers.
    #[must_use]
    pub fn obstacle(&self) -> Option<&'static str> {
        let bridge_is_stopped = |word: u32| word & BRIDGE::ACK::SET.value != 0;
        if !self.is_a_boards() {
            return Some("the bus bridges' ID register has another value");
        }
        if self.grafx & GRAFX::POWOK::SET.value == 0 {
            return Some("the graphics are not powered (POWOK)");
        }
        if self.grafx & GRAFX::V3DRSTN::SET.value == 0 {
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
pub struct GraphicsPower {
    power: Mmio<Registers>,
    clock: Mmio<ClockRegisters>,
    bridges: Mmio<BridgeRegisters>,
}

impl GraphicsPower {
    /// Control of the V3D's power domain.
    #[must_use]
    pub fn new(power: Mmio<Registers>, clock: Mmio<ClockRegisters>, bridges: Mmio<BridgeRegisters>) -> Self {
        Self { power, clock, bridges }
    }

    /// Current values of the power and bridge registers.
    #[must_use]
    pub fn status(&self) -> PowerStatus {
        PowerStatus {
            grafx: self.power.grafx.get(),
            bridge_id: self.bridges.id.get(),
            slave: self.bridges.v3d_s_ctrl.get(),
            master: self.bridges.v3d_m_ctrl.get(),
        }
    }

    /// Closes the domain's power switch, which is open, and ends its isolation.
    ///
    /// The caller has asked the firmware to switch the V3D's clock off, and has it switched on afterwards. If the firmware does not switch it off, this does.
    ///
    /// # Errors
    /// When the voltage does not become stable, or the memories are not repaired. The domain is then off.
    pub fn power_up(&mut self) -> Result<(), PowerSequenceError> {
        let grafx = &self.power.grafx;
        self.stop_clock();
        let is_up = (0..=3).any(|level| {
            grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::INRUSH.val(level) + GRAFX::POWUP::SET);
            comes_true(POWER_TIMEOUT_US, || grafx.is_set(GRAFX::POWOK))
        });
        if !is_up {
            grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::INRUSH.val(0) + GRAFX::POWUP::CLEAR);
            return Err(PowerSequenceError::NoPower);
        }
        grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::ISPOW::SET);
        grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::MEMREP::SET);
        if !comes_true(REPAIR_TIMEOUT_US, || grafx.is_set(GRAFX::MRDONE)) {
            grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::ISPOW::CLEAR);
            grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::INRUSH.val(0) + GRAFX::POWUP::CLEAR);
            return Err(PowerSequenceError::NoRepair);
        }
        grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::ISFUNC::SET);
        Ok(())
    }

    /// Stops the V3D's clock. A clock that goes on is no error here: then the voltage does not become stable.
    fn stop_clock(&self) {
        let control = &self.clock.v3dctl;
        if control.is_set(CLOCK::ENABLE) {
            control.modify(CLOCK::PASSWORD::Correct + CLOCK::ENABLE::CLEAR);
        }
        let _ = comes_true(CLOCK_TIMEOUT_US, || !control.is_set(CLOCK::BUSY));
    }

    /// Enables the V3D's clock if the firmware, which was asked to, has not.
    pub fn enable_clock(&mut self) {
        if !self.clock.v3dctl.is_set(CLOCK::ENABLE) {
            self.clock.v3dctl.modify(CLOCK::PASSWORD::Correct + CLOCK::ENABLE::SET);
        }
    }

    /// Releases the V3D's reset and starts its bridges. The domain is powered, and the V3D's clock runs.
    ///
    /// # Errors
    /// When there are no bridges, or one does not start.
    pub fn release(&mut self) -> Result<(), PowerSequenceError> {
        self.check_bridges()?;
        self.power.grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::V3DRSTN::SET);
        clock::spin_for_us(1);
        start(&self.bridges.v3d_m_ctrl, "master").and_then(|()| start(&self.bridges.v3d_s_ctrl, "slave"))
    }

    fn check_bridges(&self) -> Result<(), PowerSequenceError> {
        let id = self.bridges.id.get();
        if id == BRIDGE_ID { Ok(()) } else { Err(PowerSequenceError::NoBridges(id)) }
    }

    /// Resets the V3D: all its registers return to their power-on values.
    ///
    /// # Errors
    /// When there are no bridges, or one does not stop or start. If one does not stop, the V3D is not reset, as in Linux: a reset in the middle of a transfer
    /// could hang the bus.
    pub fn reset_v3d(&mut self) -> Result<(), PowerSequenceError> {
        self.check_bridges()?;
        if let Err(error) = stop(&self.bridges.v3d_s_ctrl, "slave") {
            // The request is withdrawn; a second failure would add no information.
            let _ = start(&self.bridges.v3d_s_ctrl, "slave");
            return Err(error);
        }
        if let Err(error) = stop(&self.bridges.v3d_m_ctrl, "master") {
            let _ = start(&self.bridges.v3d_m_ctrl, "master");
            let _ = start(&self.bridges.v3d_s_ctrl, "slave");
            return Err(error);
        }
        self.power.grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::V3DRSTN::CLEAR);
        clock::spin_for_us(1);
        self.release()
    }
}

fn stop(bridge: &ReadWrite<u32, BRIDGE::Register>, name: &'static str) -> Result<(), PowerSequenceError> {
    bridge.modify(BRIDGE::PASSWORD::Correct + BRIDGE::REQ_STOP::SET);
    wait(bridge, true).map_err(|()| PowerSequenceError::Stuck { bridge: name, stopping: true })
}

fn start(bridge: &ReadWrite<u32, BRIDGE::Register>, name: &'static str) -> Result<(), PowerSequenceError> {
    bridge.modify(BRIDGE::PASSWORD::Correct + BRIDGE::REQ_STOP::CLEAR);
    wait(bridge, false).map_err(|()| PowerSequenceError::Stuck { bridge: name, stopping: false })
}

fn wait(bridge: &ReadWrite<u32, BRIDGE::Register>, stopped: bool) -> Result<(), ()> {
    if comes_true(BRIDGE_TIMEOUT_US, || bridge.is_set(BRIDGE::ACK) == stopped) { Ok(()) } else { Err(()) }
}

/// Whether a condition comes true within `limit_us` microseconds.
fn comes_true(limit_us: u64, condition: impl Fn() -> bool) -> bool {
    let end = clock::now_us() + limit_us;
    while !condition() {
        if clock::now_us() > end {
            return false;
        }
    }
    true
}

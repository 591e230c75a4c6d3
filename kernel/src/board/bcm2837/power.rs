//! Power and reset of the V3D: the PM block's GRAFX register and the bridges to the bus
//!
//! The firmware powers the V3D up on request. The ARM can reset a hung V3D itself: it stops the slave and the master bridge, so that no transfer is cut in
//! half, drives V3DRSTN low and high again, and starts the bridges in the opposite order.
//!
//! # Sources
//! [linux drivers/pmdomain/bcm/bcm2835-power.c], [lk].

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
        /// 0 holds V3D in reset.
        V3DRSTN OFFSET(6) NUMBITS(1) [],
        /// The domain is functional.
        ISFUNC OFFSET(5) NUMBITS(1) [],
        /// The power switch is closed and the voltage is stable.
        POWOK OFFSET(1) NUMBITS(1) [],
        /// Requests that the power switch be closed.
        POWUP OFFSET(0) NUMBITS(1) [],
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

/// Why the V3D could not be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetError {
    /// The bridges' ID register has another value.
    NoBridges(u32),
    /// A bridge did not stop or start in time.
    Stuck {
        /// The bridge.
        bridge: &'static str,
        /// Whether it was told to stop.
        stopping: bool,
    },
}

impl fmt::Display for ResetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBridges(id) => write!(f, "no bus bridges: their ID reads {id:#010x}"),
            Self::Stuck { bridge, stopping } => {
                write!(f, "the {bridge} bridge of V3D does not {}", if *stopping { "stop" } else { "start" })
            }
        }
    }
}

impl core::error::Error for ResetError {}

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
    /// Why the V3D cannot work, according to these registers.
    #[must_use]
    pub fn obstacle(&self) -> Option<&'static str> {
        let bridge_is_stopped = |word: u32| word & BRIDGE::ACK::SET.value != 0;
        if self.bridge_id != BRIDGE_ID {
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
    bridges: Mmio<BridgeRegisters>,
}

impl GraphicsPower {
    /// Control of the V3D's power domain.
    #[must_use]
    pub fn new(power: Mmio<Registers>, bridges: Mmio<BridgeRegisters>) -> Self {
        Self { power, bridges }
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

    /// Resets the V3D: all its registers return to their power-on values.
    ///
    /// # Errors
    /// When there are no bridges, or one does not stop or start. If one does not stop, the V3D is not reset, as in Linux: a reset in the middle of a transfer
    /// could hang the bus.
    pub fn reset_v3d(&mut self) -> Result<(), ResetError> {
        let id = self.bridges.id.get();
        if id != BRIDGE_ID {
            return Err(ResetError::NoBridges(id));
        }
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
        self.power.grafx.modify(GRAFX::PASSWORD::Correct + GRAFX::V3DRSTN::SET);
        start(&self.bridges.v3d_m_ctrl, "master").and_then(|()| start(&self.bridges.v3d_s_ctrl, "slave"))
    }
}

fn stop(bridge: &ReadWrite<u32, BRIDGE::Register>, name: &'static str) -> Result<(), ResetError> {
    bridge.modify(BRIDGE::PASSWORD::Correct + BRIDGE::REQ_STOP::SET);
    wait(bridge, true).map_err(|()| ResetError::Stuck { bridge: name, stopping: true })
}

fn start(bridge: &ReadWrite<u32, BRIDGE::Register>, name: &'static str) -> Result<(), ResetError> {
    bridge.modify(BRIDGE::PASSWORD::Correct + BRIDGE::REQ_STOP::CLEAR);
    wait(bridge, false).map_err(|()| ResetError::Stuck { bridge: name, stopping: false })
}

fn wait(bridge: &ReadWrite<u32, BRIDGE::Register>, stopped: bool) -> Result<(), ()> {
    let end = clock::now_us() + BRIDGE_TIMEOUT_US;
    while bridge.is_set(BRIDGE::ACK) != stopped {
        if clock::now_us() > end {
            return Err(());
        }
    }
    Ok(())
}

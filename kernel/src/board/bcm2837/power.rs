//! The registers of the V3D's power domain, clock and bridges on this board

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_structs,
    registers::{ReadOnly, ReadWrite},
};

use bcm283x::power::{PowerRegister, PowerRegisters};
pub use bcm283x::power::{PowerSequenceError, PowerStatus};

use crate::{arch::clock, mmio::Mmio};

register_structs! {
    /// The graphics' registers of the power block.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub Registers {
        (0x000 => _others),
        (0x10c => pub grafx: ReadWrite<u32>),
        (0x110 => @END),
    }
}

register_structs! {
    /// The V3D's part of the clock manager.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub ClockRegisters {
        (0x00 => _others),
        (0x38 => pub v3dctl: ReadWrite<u32>),
        (0x3c => @END),
    }
}

register_structs! {
    /// The asynchronous bridges.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub BridgeRegisters {
        (0x00 => _others),
        (0x08 => pub v3d_s_ctrl: ReadWrite<u32>),
        (0x0c => pub v3d_m_ctrl: ReadWrite<u32>),
        (0x10 => _reserved),
        (0x20 => pub id: ReadOnly<u32>),
        (0x24 => @END),
    }
}

/// Power and reset of this board's V3D.
pub type GraphicsPower = bcm283x::power::GraphicsPower<HardwareRegisters>;

/// The three blocks' registers, with the core's clock.
#[derive(Debug)]
pub struct HardwareRegisters {
    /// The power block.
    pub power: Mmio<Registers>,
    /// The clock manager.
    pub clock: Mmio<ClockRegisters>,
    /// The bridges.
    pub bridges: Mmio<BridgeRegisters>,
}

impl PowerRegisters for HardwareRegisters {
    fn now_us(&self) -> u64 {
        clock::now_us()
    }

    fn read(&self, register: PowerRegister) -> u32 {
        match register {
            PowerRegister::Grafx => self.power.grafx.get(),
            PowerRegister::Clock => self.clock.v3dctl.get(),
            PowerRegister::BridgeId => self.bridges.id.get(),
            PowerRegister::Slave => self.bridges.v3d_s_ctrl.get(),
            PowerRegister::Master => self.bridges.v3d_m_ctrl.get(),
        }
    }

    fn write(&self, register: PowerRegister, value: u32) {
        match register {
            PowerRegister::Grafx => self.power.grafx.set(value),
            PowerRegister::Clock => self.clock.v3dctl.set(value),
            // It is read-only.
            PowerRegister::BridgeId => {}
            PowerRegister::Slave => self.bridges.v3d_s_ctrl.set(value),
            PowerRegister::Master => self.bridges.v3d_m_ctrl.set(value),
        }
    }
}

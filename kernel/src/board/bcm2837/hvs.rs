//! The hardware video scaler (HVS), which composes the picture that the display shows
//!
//! The firmware programs it. The kernel only reads how many frames it has shown: an image of the display's vertical blanking that needs neither an interrupt
//! nor the firmware.
//!
//! # Surprises
//! QEMU has no HVS, and an access to it ends in an external abort. It is therefore only read where the V3D's bus bridges answer as a board's do.
//!
//! # Sources
//! [linux vc4_regs.h] for the register; [piegpu], where channel 1, which shows HDMI under the firmware, counts 60 frames a second.

use spin::Once;
use tock_registers::{interfaces::Readable, register_bitfields, register_structs, registers::ReadOnly};

use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Status of a channel.
    DISPSTAT [
        /// Frames shown, modulo 64.
        FRAME_COUNT OFFSET(12) NUMBITS(6) [],
    ],
}

register_structs! {
    /// The part of the HVS that the kernel uses.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub Registers {
        (0x00 => _others),
        (0x58 => pub dispstat1: ReadOnly<u32, DISPSTAT::Register>),
        (0x5c => @END),
    }
}

static HVS: Once<Mmio<Registers>> = Once::new();

/// Makes the HVS of this board known; only the first call has an effect.
pub fn install(registers: Mmio<Registers>) {
    HVS.call_once(|| registers);
}

/// Number of frames that the display has shown, modulo 64; `None` on a machine without an HVS. It stands still where channel 1 shows nothing.
#[must_use]
pub fn frame_count() -> Option<u32> {
    HVS.get().map(|registers| registers.dispstat1.read(DISPSTAT::FRAME_COUNT))
}

//! Power and reset of the V3D's block.
//!
//! The firmware switches the clock and the power domain before the driver starts. A hung V3D is reset without the firmware: stop the two bridges to the bus
//! (slave, then master), pulse the reset line in the power manager, start the bridges again [linux bcm2835-power.c]. Where that is not possible, the firmware
//! does it: ENABLE_QPU with 0, then with 1 [piegpu]. This depends on the board, so it is a trait.
//!
//! # Surprises
//! A reset of the two control list threads (CTRSTA) does not end a hang: every later job times out as well [piegpu].

use core::fmt;

/// Resets the V3D.
pub trait Power {
    /// Resets the V3D to its power-on state: all registers have their reset values, nothing is running.
    fn reset(&self) -> Result<(), PowerError>;
}

/// Why the V3D could not be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerError(
    /// The step that failed, as a sentence without a full stop.
    pub &'static str,
);

impl fmt::Display for PowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for PowerError {}

//! Bringing up the V3D: clock, power, identity
//!
//! The firmware enables the V3D's power domain and clock on request; then IDENT0 must read "V3D" and version 2. It reads 0 if the chip has no V3D (as in QEMU),
//! and 0xDEADBEEF without power. Only in the latter case is the firmware asked to enable the QPUs, which also detaches the V3D from the firmware's own driver.
//! Then the V3D is reset, because the firmware may have used it and some registers are defined only after a reset, and the driver takes it over.
//!
//! # Sources
//! [AG p.96-97] identity, [asurati] [linux] properties.

use core::fmt;

use renderer::{Device, Pass};
use v3d::{
    Driver, Error, Limits,
    hw::registers::{Register, UNPOWERED_VALUE},
    identity::Identity,
    platform::{Power, RegisterAccess},
};

use crate::{
    board::{boot_requests, firmware::BehindMailbox},
    boot_progress::reach,
    boot_trace::Stage,
    mm::layout,
    v3d_platform::{INTERRUPTS, V3dPlatform},
};

/// The driver of the board's V3D.
pub type Gpu = Driver<'static, V3dPlatform>;
/// The driver, shared between scenes.
pub type GpuDevice = Device<'static, V3dPlatform>;
/// A pass of a frame.
pub type GpuPass<'f> = Pass<'f, 'static, V3dPlatform>;

/// Why the V3D cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BringUpError {
    /// The firmware has kept memory that is reserved for the GPU pool.
    PoolNotOurs {
        /// End of the ARM's memory.
        arm_end_exclusive: u64,
    },
    /// The V3D is absent, without power, or of another version; or the driver cannot initialise it.
    Driver(Error),
}

impl fmt::Display for BringUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoolNotOurs { arm_end_exclusive } => write!(
                f,
                "the firmware has left the ARM memory up to {arm_end_exclusive:#x} only, and the GPU pool ends at {:#x}: a \
                 smaller gpu_mem in config.txt helps",
                layout::gpu_pool().end
            ),
            Self::Driver(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BringUpError {}

impl From<Error> for BringUpError {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// Brings up the V3D, with its interrupts disabled.
///
/// # Errors
/// When there is no V3D, or no memory for it.
pub fn bring_up(platform: &'static V3dPlatform) -> Result<Gpu, BringUpError> {
    match boot_requests::switch_v3d_on(&BehindMailbox) {
        Ok(rate_hz) => log::info!("V3D clock {} MHz", rate_hz / 1_000_000),
        Err(error) => log::info!("V3D clock and power are left as they are: {error}"),
    }
    reach(Stage::V3dPower);
    if platform.read(Register::IDENT0) == UNPOWERED_VALUE {
        match boot_requests::enable_qpus(&BehindMailbox) {
            Ok(status) => log::info!("V3D had no power; asked to enable the QPUs, the firmware answers {status}"),
            Err(error) => log::info!("V3D has no power, and the QPUs cannot be enabled: {error}"),
        }
    }
    Identity::read(platform).map_err(Error::Identity)?;
    reach(Stage::V3dIdentity);
    check_pool()?;
    log::info!("before the reset: {}", platform.power_status());
    match platform.reset() {
        Ok(()) => log::info!("V3D is reset"),
        Err(error) => log::info!("V3D is not reset: {error}"),
    }
    reach(Stage::V3dReset);
    Ok(Driver::bring_up(platform, &INTERRUPTS, Limits::default())?)
}

/// Checks that the pool, whose address is fixed at link time, is inside the ARM's memory, whose size is set at boot. If the firmware does not tell the size, it
/// is assumed to suffice.
fn check_pool() -> Result<(), BringUpError> {
    match boot_requests::arm_memory_end_exclusive(&BehindMailbox) {
        Some(arm_end_exclusive) if (layout::gpu_pool().end as u64) > arm_end_exclusive => {
            Err(BringUpError::PoolNotOurs { arm_end_exclusive })
        }
        _ => Ok(()),
    }
}

//! Bringing up the V3D: clock, power, identity
//!
//! An access to a register of a V3D without a clock never ends: only the watchdog ends it, with a reset of the chip. So the firmware is first asked for the
//! power domain and the clock; then the clock's rate must be measured, and the power block must show no obstacle, or else the ARM powers the domain up itself;
//! only then is IDENT0 read. It must be "V3D" and version 2. It is 0 if the chip has no V3D (as in QEMU), and 0xDEADBEEF without power: the firmware is then
//! asked to enable the QPUs, which also detaches the V3D from the firmware's own driver. Then the V3D is reset, because the firmware may have used it and some
//! registers are defined only after a reset, and the driver takes it over.
//!
//! # Sources
//! [AG p.96-97] identity, [asurati] [linux] properties, [zephyr] power; raspberrypi/linux issue 7155 for the clock.

pub mod v3d_platform;

use core::fmt;

use renderer::{Device, Pass};
use v3d::{
    Driver, Error, Limits,
    hw::registers::{Register, UNPOWERED_VALUE},
    identity::Identity,
    platform::{Power, RegisterAccess},
};

use crate::{
    arch::clock,
    board::{
        boot_requests::{self, ClockError},
        firmware::BehindMailbox,
        power::PowerSequenceError,
    },
    boot::{options::BootOptions, progress::reach, trace::BootStage},
    gpu::v3d_platform::{CLOCK_PAUSE_US, INTERRUPTS, V3dPlatform},
    mm::layout,
    println,
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
    /// It is not known that the V3D has a clock; no register was accessed.
    Clock(ClockError),
    /// The V3D's power domain could not be powered up; no register was accessed.
    Power(PowerSequenceError),
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
            Self::Clock(error) => {
                write!(f, "the V3D is left alone, since an access without a clock never ends: {error}")
            }
            Self::Power(error) => write!(f, "the V3D is left alone: {error}"),
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

/// What must be known of the V3D's clock before registers are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockCheck {
    /// The firmware measures a rate.
    Measured,
    /// Nothing: whoever asked for it takes the risk that the first access never ends.
    None,
}

/// Brings up the V3D, prints its identity, and enables its interrupts if the command line says so.
///
/// # Errors
/// When there is no V3D, no clock, no power, or no memory for it.
pub fn start(
    platform: &'static V3dPlatform,
    check: ClockCheck,
    options: BootOptions,
) -> Result<GpuDevice, BringUpError> {
    let gpu = bring_up(platform, check)?;
    println!("{}", gpu.identity());
    if options.v3d_interrupts {
        log::info!("the command line enables the V3D's interrupts");
        platform.use_interrupt();
    }
    Ok(Device::new(gpu))
}

/// Brings up the V3D, with its interrupts disabled.
fn bring_up(platform: &'static V3dPlatform, check: ClockCheck) -> Result<Gpu, BringUpError> {
    reach(BootStage::V3dStart);
    let clock = boot_requests::switch_v3d_on(&BehindMailbox).and_then(|()| measured_clock_hz());
    match (clock, check) {
        (Ok(rate_hz), _) => log::info!("V3D clock {}.{:03} MHz, measured", rate_hz / 1_000_000, rate_hz / 1000 % 1000),
        (Err(error), ClockCheck::Measured) => return Err(BringUpError::Clock(error)),
        (Err(error), ClockCheck::None) => log::warn!("{error}; the V3D is tried nevertheless"),
    }
    let status = platform.power_status();
    if status.is_a_boards() {
        log::info!("before the reset: {status}");
        if let Some(obstacle) = status.obstacle() {
            power_up(platform, check, obstacle)?;
        }
    }
    platform.open(check);
    reach(BootStage::V3dPower);
    if platform.read(Register::IDENT0) == UNPOWERED_VALUE {
        match boot_requests::enable_qpus(&BehindMailbox) {
            Ok(status) => log::info!("V3D had no power; asked to enable the QPUs, the firmware answers {status}"),
            Err(error) => log::info!("V3D has no power, and the QPUs cannot be enabled: {error}"),
        }
    }
    Identity::read(platform).map_err(Error::Identity)?;
    reach(BootStage::V3dIdentity);
    check_pool()?;
    match platform.reset() {
        Ok(()) => log::info!("V3D is reset"),
        Err(error) => log::info!("V3D is not reset: {error}"),
    }
    reach(BootStage::V3dReset);
    Ok(Driver::bring_up(platform, &INTERRUPTS, Limits::default())?)
}

fn measured_clock_hz() -> Result<u32, ClockError> {
    boot_requests::measured_v3d_clock_hz(&BehindMailbox, || clock::spin_for_us(CLOCK_PAUSE_US))
}

/// Powers the V3D's domain up, which the firmware has not done, and checks the clock again, which was off meanwhile.
fn power_up(platform: &'static V3dPlatform, check: ClockCheck, obstacle: &str) -> Result<(), BringUpError> {
    log::info!("the firmware has not powered the V3D up: {obstacle}");
    let switch_clock = |on| {
        if let Err(error) = boot_requests::set_v3d_clock_state(&BehindMailbox, on) {
            log::info!("{error}");
        }
    };
    platform.power_up(switch_clock).map_err(BringUpError::Power)?;
    log::info!("V3D is powered up: {}", platform.power_status());
    match (measured_clock_hz(), check) {
        (Err(error), ClockCheck::Measured) => Err(BringUpError::Clock(error)),
        _ => Ok(()),
    }
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

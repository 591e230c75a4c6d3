//! Waking the 3D engine: clock, power, identity
//!
//! The firmware starts the engine's clock and power domain when asked; then IDENT0 must read "V3D" and version 2. A chip
//! without the engine (QEMU's) reads 0, one without power 0xDEADBEEF. The engine is then reset, because the firmware may have
//! used it and some registers are only right directly after a reset, and handed to its driver.
//!
//! # Sources
//! [AG p.96-97] identity, [asurati] [linux] properties.

use v3d::{Driver, Error, Limits, identity::Identity, platform::Power};

use crate::{
    bcm2837::{
        firmware,
        property::{
            EnableQpu, GetMaxClockRate, Message, NewClockRate, PropertyError, SetClockRate, SetDomainState, clock,
            domain,
        },
    },
    machine::Gpu,
    v3d_platform::{INTERRUPTS, V3dPlatform},
};

/// The clock to ask for when the firmware does not say how fast the engine may run.
const USUAL_CLOCK_HZ: u32 = 300_000_000;

/// Wakes the engine.
///
/// # Errors
/// When the engine is absent, without power, or not a V3D of version 2; or when the driver cannot get it ready.
pub fn bring_up(platform: &'static V3dPlatform) -> Result<Gpu, Error> {
    match switch_on() {
        Ok(clock) => log::info!("V3D clock {} MHz", clock.rate_hz / 1_000_000),
        Err(error) => log::info!("V3D clock and power are left as they are: {error}"),
    }
    Identity::read(platform)?;
    match platform.reset() {
        Ok(()) => log::debug!("V3D is reset"),
        Err(error) => log::info!("V3D is not reset: {error}"),
    }
    let driver = Driver::bring_up(platform, &INTERRUPTS, Limits::default())?;
    platform.use_interrupt();
    Ok(driver)
}

/// Clock, power domain and QPUs, through the firmware.
fn switch_on() -> Result<NewClockRate, PropertyError> {
    let fastest = firmware::ask(&GetMaxClockRate { clock: clock::V3D }).map(|clock| clock.rate_hz).unwrap_or(0);
    let rate_hz = if fastest == 0 { USUAL_CLOCK_HZ } else { fastest };

    let mut message = Message::new();
    let domain = message.push(&SetDomainState { domain: domain::V3D, on: 1 })?;
    let clock = message.push(&SetClockRate { clock: clock::V3D, rate_hz, skip_turbo: 0 })?;
    let qpu = message.push(&EnableQpu { enable: 1 })?;
    firmware::exchange(&mut message)?;
    if let Err(error) = message.answer(&domain) {
        log::debug!("{error}");
    }
    if let Err(error) = message.answer(&qpu) {
        log::debug!("{error}");
    }
    message.answer(&clock)
}

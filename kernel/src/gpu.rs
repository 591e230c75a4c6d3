//! Waking the 3D engine: clock, power, identity
//!
//! The firmware starts the engine's clock and power domain when asked; then IDENT0 must read "V3D" and version 2. A chip
//! without the engine (QEMU's) reads 0, one without power 0xDEADBEEF. The engine is then reset, because the firmware may have
//! used it and some registers are only right directly after a reset, and what the firmware may have left in caches and in
//! the QPU scheduler's reservations is cleared.
//!
//! # Sources
//! [AG p.96-97] identity, [linux vc4_v3d.c] caches, [asurati] [linux] properties, [aros] reservations.

use v3d::{
    hw::{
        Layout,
        registers::{
            Register,
            cache::{L2cactl, Slcactl},
        },
    },
    identity::{Identity, IdentityError},
    platform::{Power, RegisterAccess},
};

use crate::{
    bcm2837::{
        firmware,
        property::{
            EnableQpu, GetMaxClockRate, Message, NewClockRate, PropertyError, SetClockRate, SetDomainState, clock,
            domain,
        },
    },
    v3d_platform::{INTERRUPTS, V3dPlatform},
};

/// The clock to ask for when the firmware does not say how fast the engine may run.
const USUAL_CLOCK_HZ: u32 = 300_000_000;

/// Wakes the engine.
///
/// # Errors
/// When the engine is absent, without power, or not a V3D of version 2.
pub fn bring_up(platform: &'static V3dPlatform) -> Result<Identity, IdentityError> {
    match switch_on() {
        Ok(clock) => log::info!("V3D clock {} MHz", clock.rate_hz / 1_000_000),
        Err(error) => log::info!("V3D clock and power are left as they are: {error}"),
    }
    let identity = Identity::read(platform)?;
    match platform.reset() {
        Ok(()) => log::debug!("V3D is reset"),
        Err(error) => log::info!("V3D is not reset: {error}"),
    }
    INTERRUPTS.disable(platform);
    clear_what_the_firmware_left(platform);
    platform.use_interrupt();
    Ok(identity)
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

/// Empties the engine's caches and takes back reservations of QPUs.
fn clear_what_the_firmware_left(registers: &impl RegisterAccess) {
    let level_2 = L2cactl { l2cclr: true, ..L2cactl::from_word(0) };
    let slices = Slcactl { t1ccs: 0xf, t0ccs: 0xf, uccs: 0xf, iccs: 0xf };
    // All values fit their fields.
    registers.write(Register::L2CACTL, level_2.to_word().unwrap_or(0));
    registers.write(Register::SLCACTL, slices.to_word().unwrap_or(0));
    registers.write(Register::SQRSV0, 0);
    registers.write(Register::SQRSV1, 0);
}

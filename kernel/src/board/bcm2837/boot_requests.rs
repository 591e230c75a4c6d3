//! Requests to the firmware during boot, and defaults for missing answers
//!
//! Any request may remain unanswered or have an implausible answer: the kernel then assumes the firmware's usual settings.
//!
//! # Sources
//! [asurati] [linux] for the properties; raspberrypi.com documentation, "config.txt", for the usual clocks.

use alloc::string::String;

use super::{
    firmware::Firmware,
    property::{
        EnableQpu, GetArmMemory, GetClockRate, GetCommandLine, GetMaxClockRate, Message, PropertyError, SetClockRate,
        SetDomainState, clock, domain,
    },
};

/// The PL011's clock if the firmware does not tell it.
const PL011_CLOCK_HZ: u32 = 48_000_000;
/// The core clock with `enable_uart=1`.
const CORE_CLOCK_HZ: u32 = 250_000_000;
/// The V3D clock to request if the firmware does not tell its maximum.
const V3D_CLOCK_HZ: u32 = 300_000_000;
/// An upper bound of every clock of the chip; a higher answer is ignored.
const MAX_CLOCK_HZ: u32 = 2_000_000_000;

/// The rate, if a clock of this chip can have it.
fn plausible(rate_hz: u32) -> Option<u32> {
    (1..=MAX_CLOCK_HZ).contains(&rate_hz).then_some(rate_hz)
}

/// Sets the PL011's clock; returns its rate in hertz.
pub fn pl011_clock_hz(firmware: &impl Firmware) -> u32 {
    let set = firmware.ask(&SetClockRate { clock: clock::UART, rate_hz: PL011_CLOCK_HZ, skip_turbo: 0 });
    set.ok().and_then(|clock| plausible(clock.rate_hz)).unwrap_or(PL011_CLOCK_HZ)
}

/// Rate of the core clock in hertz, from which the mini UART derives its baud rate.
pub fn core_clock_hz(firmware: &impl Firmware) -> u32 {
    let rate = firmware.ask(&GetClockRate { clock: clock::CORE });
    rate.ok().and_then(|clock| plausible(clock.rate_hz)).unwrap_or(CORE_CLOCK_HZ)
}

/// Sets the ARM's clock to its maximum, since the firmware starts it at its minimum; returns the rate in hertz.
///
/// # Errors
/// When the firmware does not set it.
pub fn raise_arm_clock(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    let fastest = firmware.ask(&GetMaxClockRate { clock: clock::ARM })?.rate_hz;
    let rate_hz = plausible(fastest).ok_or(PropertyError::NotAnswered("GetMaxClockRate"))?;
    Ok(firmware.ask(&SetClockRate { clock: clock::ARM, rate_hz, skip_turbo: 0 })?.rate_hz)
}

/// Switches on the V3D's power domain and clock; returns the clock's rate in hertz. The firmware's answer about the power domain is logged.
///
/// # Errors
/// When the firmware does not set the clock. The V3D is then in the state in which the firmware left it.
pub fn switch_v3d_on(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    let fastest = firmware.ask(&GetMaxClockRate { clock: clock::V3D }).ok().and_then(|clock| plausible(clock.rate_hz));

    let mut message = Message::new();
    let domain = message.push(&SetDomainState { domain: domain::V3D, on: 1 })?;
    let rate_hz = fastest.unwrap_or(V3D_CLOCK_HZ);
    let clock = message.push(&SetClockRate { clock: clock::V3D, rate_hz, skip_turbo: 0 })?;
    firmware.exchange(&mut message)?;
    match message.answer(&domain) {
        Ok(domain) => log::info!("V3D power domain {}: state {}", domain.domain, domain.on),
        Err(error) => log::info!("V3D power domain is left as it is: {error}"),
    }
    message.answer(&clock).map(|clock| clock.rate_hz)
}

/// Asks the firmware to enable the QPUs for the ARM; returns its status, which is 0 on success.
///
/// # Errors
/// When the firmware does not know the request.
pub fn enable_qpus(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    firmware.ask(&EnableQpu { enable: 1 }).map(|enabled| enabled.status)
}

/// The text of cmdline.txt, as much of it as fits into a message; empty if the firmware does not return it.
pub fn command_line(firmware: &impl Firmware) -> String {
    let Ok(line) = firmware.ask(&GetCommandLine) else { return String::new() };
    let end = line.bytes.iter().position(|&byte| byte == 0).unwrap_or(line.bytes.len());
    String::from_utf8_lossy(&line.bytes[..end]).into_owned()
}

/// End of the ARM's part of memory, if the firmware tells it.
pub fn arm_memory_end_exclusive(firmware: &impl Firmware) -> Option<u64> {
    let arm = firmware.ask(&GetArmMemory {}).ok()?;
    (arm.size_bytes != 0).then(|| u64::from(arm.base) + u64::from(arm.size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::bcm2837::firmware::double::{Behaviour, Double, USELESS};

    /// A Pi 3B's answers; tags are written as numbers, as in the firmware's wiki.
    fn answer(tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0003_0004, [clock, _]) => Some(vec![*clock, if *clock == 3 { 1_200_000_000 } else { 400_000_000 }]),
            (0x0003_0002, [clock, _]) => Some(vec![*clock, 400_000_000]),
            (0x0003_8002, [clock, rate, _]) => Some(vec![*clock, *rate]),
            (0x0003_8030, [domain, on]) => Some(vec![*domain, *on]),
            (0x0003_0012, _) => Some(vec![0]),
            (0x0001_0005, _) => Some(vec![0, 0x3b00_0000]),
            // "one two" and its terminating zero.
            (0x0005_0001, _) => Some(vec![0x2065_6e6f, 0x006f_7774]),
            _ => None,
        }
    }

    #[test]
    fn a_firmware_that_answers_is_believed() {
        let firmware = Double::new(Behaviour::Answers, answer);
        assert_eq!(pl011_clock_hz(&firmware), 48_000_000);
        assert_eq!(core_clock_hz(&firmware), 400_000_000);
        assert_eq!(raise_arm_clock(&firmware), Ok(1_200_000_000));
        assert_eq!(switch_v3d_on(&firmware), Ok(400_000_000));
        assert_eq!(arm_memory_end_exclusive(&firmware), Some(0x3b00_0000));
        assert_eq!(enable_qpus(&firmware), Ok(0));
        assert_eq!(command_line(&firmware), "one two");
        assert_eq!(firmware.tags.borrow().iter().filter(|&&tag| tag == 0x0003_0012).count(), 1, "QPUs only on request");
    }

    /// With a firmware that is silent, refuses, or answers nonsense, the serial port still has a usable clock, and no clock is set to 0 Hz.
    #[test]
    fn without_a_useful_firmware_the_usual_is_assumed() {
        for behaviour in USELESS {
            let firmware = Double::new(behaviour, answer);
            assert_eq!(pl011_clock_hz(&firmware), 48_000_000, "{behaviour:?}");
            assert_eq!(core_clock_hz(&firmware), 250_000_000, "{behaviour:?}");
            assert!(raise_arm_clock(&firmware).is_err(), "{behaviour:?}");
            let answers_something = matches!(behaviour, Behaviour::Ones | Behaviour::Zeros);
            assert_eq!(switch_v3d_on(&firmware).is_ok(), answers_something, "{behaviour:?}");
            assert_eq!(enable_qpus(&firmware).is_ok(), answers_something, "{behaviour:?}");
            let line = command_line(&firmware);
            assert!(line.is_empty() || behaviour == Behaviour::Ones, "{behaviour:?}: {line}");
            let end = arm_memory_end_exclusive(&firmware);
            assert_eq!(end.is_some(), behaviour == Behaviour::Ones, "{behaviour:?}");
        }
    }

    /// A firmware that stops answering between the two messages of a request.
    #[test]
    fn a_firmware_may_die_in_the_middle() {
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(raise_arm_clock(&firmware), Err(PropertyError::Timeout));
        assert_eq!(firmware.tags.borrow().as_slice(), [0x0003_0004], "the rate was asked, and nothing was set");
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(switch_v3d_on(&firmware), Err(PropertyError::Timeout));
    }
}

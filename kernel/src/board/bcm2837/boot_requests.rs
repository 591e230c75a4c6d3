//! Requests of the boot to the firmware, and the defaults where no answer comes
//!
//! Every request here may go unanswered, or be answered with nonsense: the kernel then goes on with what the firmware usually sets.
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

/// The clock of the PL011 unless the firmware says otherwise.
const PL011_CLOCK_HZ: u32 = 48_000_000;
/// The core clock that `enable_uart=1` fixes.
const CORE_CLOCK_HZ: u32 = 250_000_000;
/// The clock to ask for when the firmware does not say how fast the 3D engine may run.
const V3D_CLOCK_HZ: u32 = 300_000_000;
/// No clock of the chip is faster: an answer above it is none.
const MAX_CLOCK_HZ: u32 = 2_000_000_000;

/// What a clock can run at.
fn plausible(rate_hz: u32) -> Option<u32> {
    (1..=MAX_CLOCK_HZ).contains(&rate_hz).then_some(rate_hz)
}

/// Sets the PL011's clock; the rate in hertz that it has.
pub fn pl011_clock_hz(firmware: &impl Firmware) -> u32 {
    let set = firmware.ask(&SetClockRate { clock: clock::UART, rate_hz: PL011_CLOCK_HZ, skip_turbo: 0 });
    set.ok().and_then(|clock| plausible(clock.rate_hz)).unwrap_or(PL011_CLOCK_HZ)
}

/// The core clock in hertz, which the mini UART divides.
pub fn core_clock_hz(firmware: &impl Firmware) -> u32 {
    let rate = firmware.ask(&GetClockRate { clock: clock::CORE });
    rate.ok().and_then(|clock| plausible(clock.rate_hz)).unwrap_or(CORE_CLOCK_HZ)
}

/// Has the ARM run as fast as it may: the firmware starts it at its lowest. The rate in hertz that was set.
///
/// # Errors
/// When the firmware does not do it.
pub fn raise_arm_clock(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    let fastest = firmware.ask(&GetMaxClockRate { clock: clock::ARM })?.rate_hz;
    let rate_hz = plausible(fastest).ok_or(PropertyError::NotAnswered("GetMaxClockRate"))?;
    Ok(firmware.ask(&SetClockRate { clock: clock::ARM, rate_hz, skip_turbo: 0 })?.rate_hz)
}

/// Switches the 3D engine's power domain and clock on; the clock's rate in hertz. What the firmware answers of the domain is logged.
///
/// # Errors
/// When the firmware does not set the clock. The engine is then as the firmware left it.
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

/// Has the firmware enable the QPUs for the ARM; the status that it answers, 0 if it worked.
///
/// # Errors
/// When the firmware does not know how.
pub fn enable_qpus(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    firmware.ask(&EnableQpu { enable: 1 }).map(|enabled| enabled.status)
}

/// The words of cmdline.txt, as far as they have room in a message; none if the firmware does not tell.
pub fn command_line(firmware: &impl Firmware) -> String {
    let Ok(line) = firmware.ask(&GetCommandLine) else { return String::new() };
    let end = line.bytes.iter().position(|&byte| byte == 0).unwrap_or(line.bytes.len());
    String::from_utf8_lossy(&line.bytes[..end]).into_owned()
}

/// Where the ARM's part of memory ends, if the firmware tells.
pub fn arm_memory_end_exclusive(firmware: &impl Firmware) -> Option<u64> {
    let arm = firmware.ask(&GetArmMemory {}).ok()?;
    (arm.size_bytes != 0).then(|| u64::from(arm.base) + u64::from(arm.size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::bcm2837::firmware::double::{Behaviour, Double, USELESS};

    /// A Pi 3B's answers; tags by their numbers, as the firmware's wiki has them.
    fn answer(tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0003_0004, [clock, _]) => Some(vec![*clock, if *clock == 3 { 1_200_000_000 } else { 400_000_000 }]),
            (0x0003_0002, [clock, _]) => Some(vec![*clock, 400_000_000]),
            (0x0003_8002, [clock, rate, _]) => Some(vec![*clock, *rate]),
            (0x0003_8030, [domain, on]) => Some(vec![*domain, *on]),
            (0x0003_0012, _) => Some(vec![0]),
            (0x0001_0005, _) => Some(vec![0, 0x3b00_0000]),
            // "one two", and the zero that ends it.
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

    /// Silence, refusal and nonsense: the serial port still has a clock that it can be divided from, and nobody runs at 0 Hz.
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

    /// A firmware that dies between the two messages of a request.
    #[test]
    fn a_firmware_may_die_in_the_middle() {
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(raise_arm_clock(&firmware), Err(PropertyError::Timeout));
        assert_eq!(firmware.tags.borrow().as_slice(), [0x0003_0004], "the rate was asked, and nothing was set");
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(switch_v3d_on(&firmware), Err(PropertyError::Timeout));
    }
}

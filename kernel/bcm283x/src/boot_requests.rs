//! Requests to the firmware during boot, and defaults for missing answers
//!
//! Any request may remain unanswered or have an implausible answer: the kernel then assumes the firmware's usual settings. The V3D's clock is the exception: an
//! access to a register of a V3D without a clock never ends and stops the bus [raspberrypi/linux issue 7155], so nothing is assumed about it. Newer firmware
//! leaves it off until it is asked for.
//!
//! # Sources
//! [asurati] [linux] for the properties; raspberrypi.com documentation, "config.txt", for the usual clocks; raspberrypi/linux issue 7155 for the clock of the
//! V3D; raspberrypi/firmware issue 1123 for measurements of 0 Hz of a clock that runs.

use core::fmt;

use crate::{
    firmware::Firmware,
    property::{
        CommandLine, EnableQpu, GetArmMemory, GetClockRate, GetCommandLine, GetMaxClockRate, GetMeasuredClockRate,
        PropertyError, SetClockRate, SetClockState, SetDomainState, clock, domain,
    },
};

/// The PL011's clock if the firmware does not tell it.
const PL011_CLOCK_HZ: u32 = 48_000_000;
/// The core clock with `enable_uart=1`.
const CORE_CLOCK_HZ: u32 = 250_000_000;
/// The highest clock of the SD controller under the firmware: with it, the card's clock is at most what it should be [linux bcm2835-clk.c and firmware, 250
/// MHz].
const EMMC_CLOCK_HZ: u32 = 250_000_000;
/// The V3D clock to request if the firmware does not tell its maximum.
const V3D_CLOCK_HZ: u32 = 300_000_000;
/// An upper bound of every clock of the chip; a higher answer is ignored.
const MAX_CLOCK_HZ: u32 = 2_000_000_000;
/// How often the V3D's clock is measured before it counts as stopped: of a V3D at work, some firmware measures 0 Hz now and then.
const MEASUREMENTS: u32 = 8;

/// The rate, if a clock of this chip can have it.
fn plausible(rate_hz: u32) -> Option<u32> {
    (1..=MAX_CLOCK_HZ).contains(&rate_hz).then_some(rate_hz)
}

/// Sets the PL011's clock; returns its rate in hertz.
pub fn pl011_clock_hz(firmware: &impl Firmware) -> u32 {
    let set = firmware.ask(&SetClockRate { clock: clock::UART, rate_hz: PL011_CLOCK_HZ, skip_turbo: 0 });
    set.ok().and_then(|clock| plausible(clock.rate_hz)).unwrap_or(PL011_CLOCK_HZ)
}

/// Rate of the core clock in hertz, from which the mini UART derives its baud rate: as measured, or else as set. A clock that is set to a rate need not have
/// it: the firmware scales the core clock with the load.
pub fn core_clock_hz(firmware: &impl Firmware) -> u32 {
    rate_hz(firmware, clock::CORE).unwrap_or(CORE_CLOCK_HZ)
}

/// Switches the clock of the SD controller on; returns its rate in hertz, or the highest that it has been seen with.
pub fn emmc_clock_hz(firmware: &impl Firmware) -> u32 {
    // A clock that the firmware does not switch may run all the same: it has loaded the kernel from the card.
    let _ = firmware.ask(&SetClockState { clock: clock::EMMC, on: 1 });
    rate_hz(firmware, clock::EMMC).unwrap_or(EMMC_CLOCK_HZ)
}

/// Rate of a clock in hertz: as measured, or else as set.
fn rate_hz(firmware: &impl Firmware, clock: u32) -> Option<u32> {
    let measured = firmware.ask(&GetMeasuredClockRate { clock }).ok();
    measured
        .and_then(|clock| plausible(clock.rate_hz))
        .or_else(|| firmware.ask(&GetClockRate { clock }).ok().and_then(|clock| plausible(clock.rate_hz)))
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

/// Why it is not known that the V3D has a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockError {
    /// The firmware says that there is no such clock.
    Absent,
    /// The firmware measures 0 Hz, or a rate that no clock of this chip has.
    Stopped {
        /// What it measures, in hertz.
        measured_hz: u32,
    },
    /// The firmware does not measure it.
    NotMeasured(PropertyError),
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("the firmware says that V3D has no clock"),
            Self::Stopped { measured_hz: 0 } => f.write_str("the clock of V3D is off: the firmware measures 0 Hz"),
            Self::Stopped { measured_hz } => write!(f, "the firmware measures {measured_hz} Hz for the clock of V3D"),
            Self::NotMeasured(error) => write!(f, "it is not known whether V3D has a clock: {error}"),
        }
    }
}

impl core::error::Error for ClockError {}

/// Requests the V3D's power domain and its clock, at its highest rate. What the firmware answers is logged; whether the clock then runs is found by
/// [`measured_v3d_clock_hz`].
///
/// The rate is always requested: with ENABLE_QPU alone, registers of a Pi 3 were read and lists ended, and nothing was shaded [rpi-hal].
///
/// # Errors
/// When the firmware says that there is no such clock.
pub fn switch_v3d_on(firmware: &impl Firmware) -> Result<(), ClockError> {
    let fastest = firmware.ask(&GetMaxClockRate { clock: clock::V3D }).ok().and_then(|clock| plausible(clock.rate_hz));
    let rate_hz = fastest.unwrap_or(V3D_CLOCK_HZ);
    match firmware.ask(&SetDomainState { domain: domain::V3D, on: 1 }) {
        Ok(domain) => log::info!("V3D power domain {}: state {}", domain.domain, domain.on),
        Err(error) => log::info!("V3D power domain is left as it is: {error}"),
    }
    match firmware.ask(&SetClockRate { clock: clock::V3D, rate_hz, skip_turbo: 0 }) {
        Ok(clock) => log::info!("V3D clock set to {} MHz", clock.rate_hz / 1_000_000),
        Err(error) => log::info!("the rate of the V3D clock is left as it is: {error}"),
    }
    set_v3d_clock_state(firmware, true)
}

/// Switches the V3D's clock on or off. What the firmware answers is logged.
///
/// # Errors
/// When the firmware says that there is no such clock.
pub fn set_v3d_clock_state(firmware: &impl Firmware, on: bool) -> Result<(), ClockError> {
    const ON: u32 = 1;
    const ABSENT: u32 = 2;
    let word = if on { "on" } else { "off" };
    match firmware.ask(&SetClockState { clock: clock::V3D, on: on.into() }) {
        Ok(answer) if answer.state & ABSENT != 0 => return Err(ClockError::Absent),
        Ok(answer) if (answer.state & ON != 0) == on => log::info!("V3D clock switched {word}"),
        Ok(answer) => log::info!("V3D clock is not switched {word}: state {}", answer.state),
        Err(error) => log::info!("V3D clock cannot be switched {word}: {error}"),
    }
    Ok(())
}

/// The measured rate of the V3D's clock in hertz. It is measured again, after a `pause`, while it is 0.
///
/// # Errors
/// When the clock stands still, or the firmware does not measure it. No register of the V3D may then be accessed.
pub fn measured_v3d_clock_hz(firmware: &impl Firmware, pause: impl Fn()) -> Result<u32, ClockError> {
    let mut measured_hz = 0;
    for _ in 0..MEASUREMENTS {
        let measured = firmware.ask(&GetMeasuredClockRate { clock: clock::V3D });
        measured_hz = measured.map_err(ClockError::NotMeasured)?.rate_hz;
        if let Some(rate_hz) = plausible(measured_hz) {
            return Ok(rate_hz);
        }
        pause();
    }
    Err(ClockError::Stopped { measured_hz })
}

/// Asks the firmware to enable the QPUs for the ARM; returns its status, which is 0 on success.
///
/// # Errors
/// When the firmware does not know the request.
pub fn enable_qpus(firmware: &impl Firmware) -> Result<u32, PropertyError> {
    firmware.ask(&EnableQpu { enable: 1 }).map(|enabled| enabled.status)
}

/// Disables the QPUs and enables them again, which resets a V3D that has hung [piegpu].
///
/// # Errors
/// When the firmware does not know the request, or one of them has another status than 0.
pub fn restart_qpus(firmware: &impl Firmware) -> Result<(), PropertyError> {
    for enable in [0, 1] {
        let status = firmware.ask(&EnableQpu { enable })?.status;
        if status != 0 {
            return Err(PropertyError::Refused(status));
        }
    }
    Ok(())
}

/// The command line: the firmware's own words, then those of cmdline.txt.
///
/// # Errors
/// When the firmware does not return it.
pub fn command_line(firmware: &impl Firmware) -> Result<CommandLine, PropertyError> {
    firmware.ask(&GetCommandLine)
}

/// End of the ARM's part of memory, if the firmware tells it.
pub fn arm_memory_end_exclusive(firmware: &impl Firmware) -> Option<u64> {
    let arm = firmware.ask(&GetArmMemory {}).ok()?;
    (arm.size_bytes != 0).then(|| u64::from(arm.base) + u64::from(arm.size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firmware::double::{Behaviour, Double, USELESS};

    /// A Pi 3B's answers; tags are written as numbers, as in the firmware's wiki.
    fn answer(tag: u32, request: &[u32]) -> Option<Vec<u32>> {
        match (tag, request) {
            (0x0003_0004, [clock, _]) => Some(vec![*clock, if *clock == 3 { 1_200_000_000 } else { 400_000_000 }]),
            (0x0003_0002, [clock, _]) => Some(vec![*clock, 400_000_000]),
            (0x0003_0047, [clock, _]) => Some(vec![*clock, if *clock == 4 { 250_000_496 } else { 299_999_000 }]),
            (0x0003_8001, [clock, on]) => Some(vec![*clock, *on]),
            (0x0003_8002, [clock, rate, _]) => Some(vec![*clock, *rate]),
            (0x0003_8030, [domain, on]) => Some(vec![*domain, *on]),
            (0x0003_0012, _) => Some(vec![0]),
            (0x0001_0005, _) => Some(vec![0, 0x3b00_0000]),
            // "one two" and its terminating zero.
            (0x0005_0001, _) => Some(vec![0x2065_6e6f, 0x006f_7774]),
            _ => None,
        }
    }

    /// The measured rate of the V3D's clock, and how often it was measured.
    fn measure(firmware: &Double) -> (Result<u32, ClockError>, usize) {
        let rate = measured_v3d_clock_hz(firmware, || {});
        (rate, firmware.tags.borrow().iter().filter(|&&tag| tag == 0x0003_0047).count())
    }

    #[test]
    fn a_firmware_that_answers_is_believed() {
        let firmware = Double::new(Behaviour::Answers, answer);
        assert_eq!(pl011_clock_hz(&firmware), 48_000_000);
        assert_eq!(raise_arm_clock(&firmware), Ok(1_200_000_000));
        assert_eq!(switch_v3d_on(&firmware), Ok(()));
        assert_eq!(measure(&firmware), (Ok(299_999_000), 1));
        assert_eq!(arm_memory_end_exclusive(&firmware), Some(0x3b00_0000));
        assert_eq!(enable_qpus(&firmware), Ok(0));
        assert_eq!(firmware.tags.borrow().iter().filter(|&&tag| tag == 0x0003_0012).count(), 1, "QPUs only on request");
        assert_eq!(restart_qpus(&firmware), Ok(()));
    }

    /// The firmware of a board of 2025 leaves the clock off until it receives SET_CLOCK_STATE with clock 5, state 1.
    #[test]
    fn the_v3ds_clock_is_switched_on_and_not_only_set() {
        let firmware = Double::new(Behaviour::Answers, |tag, request| match (tag, request) {
            (0x0003_8001, [5, 1]) => Some(vec![5, 1]),
            (0x0003_8001, _) => panic!("another state is requested: {request:?}"),
            _ => answer(tag, request),
        });
        assert_eq!(switch_v3d_on(&firmware), Ok(()));
        let tags = firmware.tags.borrow();
        let position = |tag| tags.iter().position(|&other| other == tag);
        assert!(position(0x0003_8030) < position(0x0003_8001) && position(0x0003_8001).is_some(), "{tags:x?}");
        assert!(position(0x0003_8002).is_some(), "the rate is set, too");
    }

    #[test]
    fn without_a_measured_rate_the_v3d_has_no_clock() {
        let stopped = Double::new(Behaviour::Answers, |tag, request| match tag {
            0x0003_0047 => Some(vec![5, 0]),
            _ => answer(tag, request),
        });
        assert_eq!(measure(&stopped), (Err(ClockError::Stopped { measured_hz: 0 }), 8));
        let unmeasured = Double::new(
            Behaviour::Answers,
            |tag, request| if tag == 0x0003_0047 { None } else { answer(tag, request) },
        );
        let unknown = ClockError::NotMeasured(PropertyError::NotAnswered("GetMeasuredClockRate"));
        assert_eq!(measure(&unmeasured), (Err(unknown), 1));
        let absent = Double::new(Behaviour::Answers, |tag, request| match tag {
            0x0003_8001 => Some(vec![5, 2]),
            _ => answer(tag, request),
        });
        assert_eq!(switch_v3d_on(&absent), Err(ClockError::Absent));
    }

    /// Firmware of 2019 measured 0 Hz now and then while the V3D was at work [raspberrypi/firmware issue 1123].
    #[test]
    fn a_single_measurement_of_0_hz_is_repeated() {
        thread_local! {
            static MEASURED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
        }
        let firmware = Double::new(Behaviour::Answers, |tag, request| match tag {
            0x0003_0047 => {
                MEASURED.set(MEASURED.get() + 1);
                Some(vec![5, if MEASURED.get() < 3 { 0 } else { 250_000_000 }])
            }
            _ => answer(tag, request),
        });
        assert_eq!(measure(&firmware), (Ok(250_000_000), 3));
    }

    /// The mini UART's divisor follows the clock that runs, not the one that was set.
    #[test]
    fn the_core_clock_is_the_measured_one() {
        assert_eq!(core_clock_hz(&Double::new(Behaviour::Answers, answer)), 250_000_496);
        let unmeasured = Double::new(
            Behaviour::Answers,
            |tag, request| if tag == 0x0003_0047 { None } else { answer(tag, request) },
        );
        assert_eq!(core_clock_hz(&unmeasured), 400_000_000);
    }

    /// The words of cmdline.txt come after the firmware's own, which measure up to 312 bytes on boards.
    #[test]
    fn a_command_line_of_300_bytes_is_read_to_its_last_word() {
        const LAST_WORD: &str = "v3d.interrupts=on";
        let firmware = Double::new(Behaviour::Answers, |_, request| {
            let line = format!("{:a<1$} {LAST_WORD}", "", 299 - LAST_WORD.len());
            let mut bytes = line.into_bytes();
            bytes.resize(4 * request.len(), 0);
            Some(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
        });
        let line = command_line(&firmware).unwrap();
        assert_eq!(line.text().len(), 300);
        assert!(line.text().ends_with(LAST_WORD) && !line.is_cut_off());
        let short = Double::new(Behaviour::Answers, answer);
        let short = command_line(&short).unwrap();
        assert_eq!((short.text().as_str(), short.length_bytes), ("one two", 8));
    }

    /// With a firmware that is silent, refuses, or answers nonsense, the serial port still has a usable clock, no clock is set to 0 Hz, and the V3D is not
    /// believed to have a clock.
    #[test]
    fn without_a_useful_firmware_the_usual_is_assumed() {
        for behaviour in USELESS {
            let firmware = Double::new(behaviour, answer);
            assert_eq!(pl011_clock_hz(&firmware), 48_000_000, "{behaviour:?}");
            assert_eq!(core_clock_hz(&firmware), 250_000_000, "{behaviour:?}");
            assert!(raise_arm_clock(&firmware).is_err(), "{behaviour:?}");
            // All ones also say that there is no such clock.
            assert_eq!(switch_v3d_on(&firmware).is_err(), behaviour == Behaviour::Ones, "{behaviour:?}");
            assert!(measure(&firmware).0.is_err(), "{behaviour:?}");
            let answers_something = matches!(behaviour, Behaviour::Ones | Behaviour::Zeros);
            assert_eq!(enable_qpus(&firmware).is_ok(), answers_something, "{behaviour:?}");
            assert_eq!(restart_qpus(&firmware).is_ok(), behaviour == Behaviour::Zeros, "{behaviour:?}");
            let line = command_line(&firmware).map_or(String::new(), |line| line.text());
            assert!(line.chars().all(|c| c == '\u{fffd}' || c == '\0'), "{behaviour:?}: {line}");
            let end = arm_memory_end_exclusive(&firmware);
            assert_eq!(end.is_some(), behaviour == Behaviour::Ones, "{behaviour:?}");
        }
    }

    /// A firmware that stops answering between two messages.
    #[test]
    fn a_firmware_may_die_in_the_middle() {
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(raise_arm_clock(&firmware), Err(PropertyError::Timeout));
        assert_eq!(firmware.tags.borrow().as_slice(), [0x0003_0004], "the rate was asked, and nothing was set");
        let firmware = Double::new(Behaviour::Dies { after: 1 }, answer);
        assert_eq!(restart_qpus(&firmware), Err(PropertyError::Timeout));
    }
}

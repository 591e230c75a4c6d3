//! Power, clock and reset of the V3D, and the watchdog: the registers that QEMU's raspi3b lacks.
//!
//! The state exists on every machine, because the firmware's properties change it. Its registers answer only with the behaviour [`Board`](Behaviour::Board);
//! without it the V3D is powered from the beginning, as kernels for QEMU expect.
//!
//! # Sources
//! `drivers/pmdomain/bcm/bcm2835-power.c`, `drivers/clk/bcm/clk-bcm2835.c`, `drivers/watchdog/bcm2835_wdt.c` and `drivers/gpu/drm/vc4/vc4_regs.h` of Linux;
//! jetpax/zephyr's V3D driver for a Zero 2 W: the values before power-up, the clock that must be off meanwhile, 0xdeadbeef without power.

use crate::display::hvs;
use crate::firmware::{Behaviour, Behaviours};
use std::time::{Duration, Instant};

/// Writes take effect only with this in the top byte.
const PASSWORD: u32 = 0x5a00_0000;
const PASSWORD_MASK: u32 = 0xff00_0000;

/// Registers of the power block.
const RSTC: u64 = 0x1c;
const RSTS: u64 = 0x20;
const WDOG: u64 = 0x24;
const GRAFX: u64 = 0x10c;

/// RSTC after a reset, the field that selects the action at zero, and the full reset.
const RSTC_RESET: u32 = 0x102;
const WRCFG: u32 = 0x30;
const FULL_RESET: u32 = 0x20;
/// WDOG counts in 1/65536 seconds.
const WDOG_TIME: u32 = 0xf_ffff;
const WDOG_HZ: u64 = 65536;

/// Bits of PM_GRAFX.
const POWUP: u32 = 1 << 0;
const POWOK: u32 = 1 << 1;
const ISPOW: u32 = 1 << 2;
const MEMREP: u32 = 1 << 3;
const MRDONE: u32 = 1 << 4;
const ISFUNC: u32 = 1 << 5;
const V3DRSTN: u32 = 1 << 6;
const ENAB: u32 = 1 << 12;
const INRUSH: u32 = 3 << 13;
/// Those that software writes.
const GRAFX_WRITABLE: u32 = POWUP | ISPOW | MEMREP | ISFUNC | V3DRSTN | INRUSH;
/// A domain that works.
const GRAFX_UP: u32 = ENAB | V3DRSTN | ISFUNC | MRDONE | MEMREP | ISPOW | POWOK | POWUP;
/// The lowest current (10 mA) at which this domain's voltage becomes stable: a board may need more than the first level.
const ENOUGH_INRUSH: u32 = 2 << 13;

/// Registers of the bridges.
const V3D_S_CTRL: u64 = 0x08;
const V3D_M_CTRL: u64 = 0x0c;
const BRIDGE_ID: u64 = 0x20;
const BRIDGE_ID_VALUE: u32 = 0x6272_6467;
/// Bits of a bridge: a request to stop, its acknowledgement, nothing is under way.
const REQ_STOP: u32 = 1 << 0;
const ACK: u32 = 1 << 1;
const EMPTY: u32 = 1 << 2;

/// Bits of the V3D's clock control.
const CLOCK_ENABLE: u32 = 1 << 4;
const CLOCK_BUSY: u32 = 1 << 7;

/// What becomes of an access to a register of the V3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is answered.
    Answered,
    /// The V3D has no power: reads give 0xdeadbeef.
    Unpowered,
    /// It never ends.
    Endless,
}

/// A bridge between the V3D and the bus.
#[derive(Clone, Copy, Debug, Default)]
struct Bridge {
    is_stopped: bool,
}

impl Bridge {
    fn read(self) -> u32 {
        EMPTY | if self.is_stopped { REQ_STOP | ACK } else { 0 }
    }

    fn write(&mut self, word: u32) {
        if word & PASSWORD_MASK == PASSWORD {
            self.is_stopped = word & REQ_STOP != 0;
        }
    }
}

/// The state of the V3D's power, and of the watchdog.
#[derive(Debug)]
pub(crate) struct GraphicsPower {
    behaviours: Behaviours,
    clock_is_on: bool,
    grafx: u32,
    slave: Bridge,
    master: Bridge,
    rstc: u32,
    rsts: u32,
    wdog: u32,
    /// When the countdown ends.
    expires: Option<Instant>,
    since: Instant,
}

impl GraphicsPower {
    /// The state after power-on.
    pub(crate) fn new(behaviours: Behaviours) -> Self {
        let is_off = behaviours.has(Behaviour::Board);
        let bridge = Bridge { is_stopped: is_off };
        Self {
            behaviours,
            clock_is_on: !behaviours.has(Behaviour::GatedClock) && !behaviours.has(Behaviour::NoClock),
            grafx: if is_off { ENAB } else { GRAFX_UP },
            slave: bridge,
            master: bridge,
            rstc: RSTC_RESET,
            rsts: 0,
            wdog: 0,
            expires: None,
            since: Instant::now(),
        }
    }

    /// Whether the V3D's clock runs.
    pub(crate) fn clock_is_on(&self) -> bool {
        self.clock_is_on
    }

    /// Switches the V3D's clock.
    pub(crate) fn switch_clock(&mut self, on: bool) {
        self.clock_is_on = on;
    }

    /// The firmware powers the domain up or down, where it does.
    pub(crate) fn request_by_firmware(&mut self, on: bool) {
        if !self.behaviours.has(Behaviour::Board) || self.behaviours.has(Behaviour::ByHand) {
            return;
        }
        self.grafx = if on { GRAFX_UP } else { ENAB };
        (self.slave.is_stopped, self.master.is_stopped) = (!on, !on);
    }

    /// What becomes of an access to a register of the V3D.
    pub(crate) fn access(&self) -> Access {
        let is_up = self.grafx & GRAFX_UP == GRAFX_UP && !self.slave.is_stopped;
        match () {
            () if !self.clock_is_on || self.behaviours.has(Behaviour::Frozen) => Access::Endless,
            () if is_up => Access::Answered,
            () => Access::Unpowered,
        }
    }

    /// Whether the watchdog is counting.
    pub(crate) fn watchdog_counts(&self) -> bool {
        self.expires.is_some()
    }

    /// Whether the watchdog has expired at this time.
    pub(crate) fn has_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }

    /// A load from the power block.
    pub(crate) fn read_power(&self, offset: u64) -> u32 {
        match offset {
            RSTC => self.rstc,
            RSTS => self.rsts,
            WDOG => self.wdog,
            GRAFX => self.grafx,
            _ => 0,
        }
    }

    /// A store to the power block at this time. Returns whether it has put the V3D into reset.
    pub(crate) fn write_power(&mut self, offset: u64, word: u32, now: Instant) -> bool {
        if word & PASSWORD_MASK != PASSWORD {
            return false;
        }
        let word = word & !PASSWORD_MASK;
        match offset {
            RSTC => self.rstc = word,
            RSTS => self.rsts = word,
            WDOG => self.wdog = word & WDOG_TIME,
            GRAFX => return self.write_grafx(word),
            _ => return false,
        }
        if offset != RSTS {
            let time = Duration::from_micros(u64::from(self.wdog) * 1_000_000 / WDOG_HZ);
            self.expires = (self.rstc & WRCFG == FULL_RESET).then_some(now + time);
        }
        false
    }

    fn write_grafx(&mut self, word: u32) -> bool {
        let before = self.grafx;
        let mut grafx = before & !GRAFX_WRITABLE | word & GRAFX_WRITABLE;
        if grafx & POWUP == 0 {
            grafx &= !(POWOK | MRDONE);
        } else if !self.clock_is_on && grafx & INRUSH >= ENOUGH_INRUSH {
            grafx |= POWOK;
        }
        if grafx & (POWOK | ISPOW | MEMREP) == POWOK | ISPOW | MEMREP {
            grafx |= MRDONE;
        }
        self.grafx = grafx;
        before & V3DRSTN != 0 && grafx & V3DRSTN == 0
    }

    /// A load from the bridges.
    pub(crate) fn read_bridges(&self, offset: u64) -> u32 {
        match offset {
            V3D_S_CTRL => self.slave.read(),
            V3D_M_CTRL => self.master.read(),
            BRIDGE_ID => BRIDGE_ID_VALUE,
            _ => 0,
        }
    }

    /// A store to the bridges.
    pub(crate) fn write_bridges(&mut self, offset: u64, word: u32) {
        match offset {
            V3D_S_CTRL => self.slave.write(word),
            V3D_M_CTRL => self.master.write(word),
            _ => {}
        }
    }

    /// A load from the V3D's clock control.
    pub(crate) fn read_clock(&self) -> u32 {
        if self.clock_is_on { CLOCK_ENABLE | CLOCK_BUSY } else { 0 }
    }

    /// A store to the V3D's clock control.
    pub(crate) fn write_clock(&mut self, word: u32) {
        if word & PASSWORD_MASK == PASSWORD {
            self.clock_is_on = word & CLOCK_ENABLE != 0 && !self.behaviours.has(Behaviour::NoClock);
        }
    }

    /// A load from the HVS at this time.
    pub(crate) fn read_hvs(&self, offset: u64, now: Instant) -> u32 {
        hvs::read_under_firmware(offset, now.duration_since(self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(words: &str) -> GraphicsPower {
        GraphicsPower::new(if words.is_empty() { Behaviours::default() } else { Behaviours::parse(words).unwrap() })
    }

    #[test]
    fn without_behaviours_the_v3d_is_there_from_the_beginning() {
        assert_eq!(power("").access(), Access::Answered);
        for (words, access) in [
            ("gated-clock", Access::Endless),
            ("no-clock", Access::Endless),
            ("frozen", Access::Endless),
            ("board", Access::Unpowered),
            ("board+gated-clock", Access::Endless),
        ] {
            assert_eq!(power(words).access(), access, "{words}");
        }
    }

    /// The values that a Zero 2 W showed before and after its domain was powered up [zephyr].
    #[test]
    fn a_boards_registers_are_those_of_a_domain_that_is_off() {
        let mut power = power("board");
        let read = |power: &GraphicsPower| {
            (power.read_power(0x10c), power.read_bridges(0x08), power.read_bridges(0x0c), power.read_bridges(0x20))
        };
        assert_eq!(read(&power), (0x1000, 7, 7, 0x6272_6467));
        power.request_by_firmware(true);
        assert_eq!((read(&power), power.access()), ((0x107f, 4, 4, 0x6272_6467), Access::Answered));
        let mut by_hand = self::power("board+by-hand");
        by_hand.request_by_firmware(true);
        assert_eq!(read(&by_hand), (0x1000, 7, 7, 0x6272_6467));
    }

    /// Linux's order of stores, by hand.
    #[test]
    fn the_domain_comes_up_only_without_a_clock_and_with_enough_current() {
        let mut power = power("board+by-hand");
        let now = Instant::now();
        let store = |power: &mut GraphicsPower, bits: u32| {
            power.write_power(0x10c, 0x5a00_0000 | bits, now);
            power.read_power(0x10c)
        };
        // With the clock on, POWOK never comes; without the password nothing happens.
        assert_eq!(store(&mut power, 0x7001), 0x7001);
        power.write_power(0x10c, 0, now);
        assert_eq!(power.read_power(0x10c), 0x7001);
        power.switch_clock(false);
        assert_eq!([0x1001, 0x3001, 0x5001].map(|bits| store(&mut power, bits)), [0x1001, 0x3001, 0x5003]);
        assert_eq!([0x5005, 0x500d, 0x502d].map(|bits| store(&mut power, bits)), [0x5007, 0x501f, 0x503f]);
        power.switch_clock(true);
        assert_eq!((store(&mut power, 0x506d), power.access()), (0x507f, Access::Unpowered));
        for bridge in [0x0c, 0x08] {
            power.write_bridges(bridge, 0x5a00_0006);
        }
        assert_eq!(power.access(), Access::Answered);
        assert!(power.write_power(0x10c, 0x5a00_502d, now), "V3DRSTN is low: the V3D is reset");
        assert_eq!(power.access(), Access::Unpowered);
        assert!(!power.write_power(0x10c, 0x5a00_506d, now));
    }

    #[test]
    fn the_watchdog_counts_from_each_store_of_a_full_reset() {
        let mut power = power("board");
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        assert_eq!(power.read_power(0x1c), 0x102);
        power.write_power(0x24, 0x5a01_0000, now);
        assert!(!power.watchdog_counts(), "RSTC selects no action");
        power.write_power(0x1c, 0x5a00_0122, now);
        assert!(power.watchdog_counts() && !power.has_expired(after(999)) && power.has_expired(after(1000)));
        power.write_power(0x24, 0x5a01_0000, after(900));
        assert!(!power.has_expired(after(1899)) && power.has_expired(after(1900)));
        power.write_power(0x1c, 0x5a00_0102, after(950));
        assert!(!power.watchdog_counts());
    }

    #[test]
    fn the_count_of_frames_has_6_bits_and_60_a_second() {
        let power = power("board");
        let count = |ms| power.read_hvs(0x58, power.since + Duration::from_millis(ms));
        assert_eq!([0, 17, 1000, 1067, 1084].map(count), [0, 1 << 12, 60 << 12, 0, 1 << 12]);
        assert_eq!(power.read_hvs(0x48, power.since + Duration::from_millis(17)), 0);
    }

    #[test]
    fn the_clock_is_also_switched_by_its_register() {
        let mut power = power("board");
        assert_eq!(power.read_clock(), 0x90);
        power.write_clock(0x80);
        assert_eq!(power.read_clock(), 0x90, "no password");
        power.write_clock(0x5a00_0000);
        assert_eq!((power.read_clock(), power.clock_is_on()), (0, false));
    }
}

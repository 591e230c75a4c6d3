//! The green activity LED: a status display that needs neither cable nor screen
//!
//! Its pin differs from board to board, so it stays dark until the firmware has returned the board's revision.
//!
//! # Sources
//! [linux bcm2837-rpi-3-b-plus.dts, bcm2837-rpi-3-a-plus.dts, bcm2837-rpi-zero-2-w.dts, bcm2836-rpi-2-b.dts] for the pins and their polarity; the 3B's expander
//! is controlled by the firmware, pin 130 [linux gpio-raspberrypi-exp.c]. Not tried on boards.

use super::revision::Model;

/// How the LED is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// A pin of the chip.
    Pin {
        /// Its number.
        number: u8,
        /// Whether a low level lights it.
        active_low: bool,
    },
    /// A pin of the board's expander, which the firmware sets.
    Expander {
        /// Its number, counted from 128.
        number: u32,
    },
}

/// How this board's LED is controlled, if that is known.
#[must_use]
pub const fn wiring(model: Model) -> Option<Wiring> {
    match model {
        Model::Pi3B => Some(Wiring::Expander { number: 130 }),
        Model::Pi3BPlus | Model::Pi3APlus => Some(Wiring::Pin { number: 29, active_low: false }),
        Model::Zero2W => Some(Wiring::Pin { number: 29, active_low: true }),
        Model::Pi2B => Some(Wiring::Pin { number: 47, active_low: false }),
        Model::ComputeModule3 | Model::ComputeModule3Plus | Model::Other(_) => None,
    }
}

#[cfg(target_os = "none")]
pub use led::{ActLed, blink, install, show_life, toggle};

/// The LED of this board.
#[cfg(target_os = "none")]
mod led {
    use super::{Model, Wiring, wiring};
    use crate::{
        arch::clock,
        board::{
            firmware,
            gpio::{self, Registers},
            property::SetGpioState,
        },
        irq_lock::IrqLock,
        mmio::Mmio,
    };

    /// Half the period of blinking while the kernel runs.
    const HALF_PERIOD_US: u64 = 500_000;
    /// Duration of a counted flash, and of the pause after it.
    const FLASH_US: u64 = 250_000;

    /// The LED and its state.
    #[derive(Debug)]
    pub struct ActLed {
        gpio: Mmio<Registers>,
        wiring: Wiring,
        is_on: bool,
        changed_us: u64,
    }

    static LED: IrqLock<Option<ActLed>> = IrqLock::new(None);

    /// Initialises the LED of this board; returns whether there is one that the kernel can control.
    pub fn install(gpio: Mmio<Registers>, model: Model) -> bool {
        let Some(wiring) = wiring(model) else { return false };
        if let Wiring::Pin { number, .. } = wiring {
            gpio::make_output(&gpio, number);
        }
        *LED.lock() = Some(ActLed { gpio, wiring, is_on: false, changed_us: 0 });
        set(false)
    }

    /// Switches it. After a failed request the firmware is not asked again.
    fn set(on: bool) -> bool {
        let expander = {
            let mut guard = LED.lock();
            let Some(led) = guard.as_mut() else { return false };
            (led.is_on, led.changed_us) = (on, clock::now_us());
            match led.wiring {
                Wiring::Pin { number, active_low } => {
                    gpio::set_output(&led.gpio, number, on != active_low);
                    return true;
                }
                Wiring::Expander { number } => number,
            }
        };
        // The lock is released: an exchange takes up to milliseconds.
        let done =
            firmware::ask(&SetGpioState { pin: expander, state: on.into() }).is_ok_and(|answer| answer.status == 0);
        if !done {
            *LED.lock() = None;
        }
        done
    }

    /// Toggles the LED, as the boot does at each stage.
    pub fn toggle() {
        let is_on = LED.lock().as_ref().map(|led| led.is_on);
        if let Some(is_on) = is_on {
            set(!is_on);
        }
    }

    /// Toggles the LED if the last change was half a second ago. Must not be called from interrupt handlers.
    pub fn show_life() {
        let is_due = LED.lock().as_ref().is_some_and(|led| clock::now_us() >= led.changed_us + HALF_PERIOD_US);
        if is_due {
            toggle();
        }
    }

    /// Flashes this number of times, and calls `between` repeatedly while it waits.
    pub fn blink(times: u32, mut between: impl FnMut()) {
        for _ in 0..times {
            for on in [true, false] {
                if !set(on) {
                    return;
                }
                clock::spin_for_us(FLASH_US);
            }
            between();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::revision::Revision;

    /// Codes from the table of the manufacturer's documentation, pins from Linux's device trees.
    #[test]
    fn boards_have_their_leds_at_different_pins() {
        let cases = [
            (0xa0_2082, Some(Wiring::Expander { number: 130 })),
            (0xa0_20d3, Some(Wiring::Pin { number: 29, active_low: false })),
            (0x90_20e0, Some(Wiring::Pin { number: 29, active_low: false })),
            (0x90_2120, Some(Wiring::Pin { number: 29, active_low: true })),
            (0xa0_2042, Some(Wiring::Pin { number: 47, active_low: false })),
            (0xa0_20a0, None),
            (0xc0_3111, None),
        ];
        for (code, expected) in cases {
            assert_eq!(wiring(Revision(code).model()), expected, "{code:x}");
        }
    }
}

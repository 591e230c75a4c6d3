//! The green LED beside the power LED: the one sign of life that needs neither cable nor screen
//!
//! Where it is differs from board to board, so that it is dark until the firmware has said which board this is.
//!
//! # Sources
//! [linux bcm2837-rpi-3-b-plus.dts, bcm2837-rpi-3-a-plus.dts, bcm2837-rpi-zero-2-w.dts, bcm2836-rpi-2-b.dts] for the pins and which level lights it;
//! the 3B's expander is the firmware's, pin 130 [linux gpio-raspberrypi-exp.c]. None of it was tried here.

use super::revision::Model;

/// How the LED is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// A pin of the chip.
    Pin {
        /// Its number.
        number: u8,
        /// Whether low is on.
        active_low: bool,
    },
    /// A pin of the board's expander, which the firmware sets.
    Expander {
        /// Its number, counted from 128.
        number: u32,
    },
}

/// How this board's LED is reached, if that is known.
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

    /// Half a period of the sign of life.
    const HALF_PERIOD_US: u64 = 500_000;
    /// How long a counted flash and the dark after it last.
    const FLASH_US: u64 = 250_000;

    /// The LED with what it is reached by.
    #[derive(Debug)]
    pub struct ActLed {
        gpio: Mmio<Registers>,
        wiring: Wiring,
        is_on: bool,
        changed_us: u64,
    }

    static LED: IrqLock<Option<ActLed>> = IrqLock::new(None);

    /// Takes the LED of this board, and says whether there is one that can be reached.
    pub fn install(gpio: Mmio<Registers>, model: Model) -> bool {
        let Some(wiring) = wiring(model) else { return false };
        if let Wiring::Pin { number, .. } = wiring {
            gpio::make_output(&gpio, number);
        }
        *LED.lock() = Some(ActLed { gpio, wiring, is_on: false, changed_us: 0 });
        set(false)
    }

    /// Switches it. A firmware that does not do it is not asked again.
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
        // The lock is open: an exchange takes up to milliseconds.
        let done =
            firmware::ask(&SetGpioState { pin: expander, state: on.into() }).is_ok_and(|answer| answer.status == 0);
        if !done {
            *LED.lock() = None;
        }
        done
    }

    /// Changes it: the boot does so at each stage.
    pub fn toggle() {
        let is_on = LED.lock().as_ref().map(|led| led.is_on);
        if let Some(is_on) = is_on {
            set(!is_on);
        }
    }

    /// Changes it if it was not for half a second. Not from interrupt handlers.
    pub fn show_life() {
        let is_due = LED.lock().as_ref().is_some_and(|led| clock::now_us() >= led.changed_us + HALF_PERIOD_US);
        if is_due {
            toggle();
        }
    }

    /// Flashes so many times, `between` each two.
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

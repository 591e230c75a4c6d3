//! `selftest board` without a key, for a board without a serial cable
//!
//! The word `selftest.after=N` in cmdline.txt, which is on the card, asks for it: if nothing is received on the serial line within N seconds after the boot,
//! the test runs, and the screen then shows its report, a part at a time. A key ends the wait and the display of the report, and is read by the shell.
//!
//! # A board that hangs
//! Nobody may be there to press a reset button, so the watchdog restarts a board that hangs in a step. The boot trace keeps the steps in which that happened
//! ([`crate::boot::trace`]): the next run leaves them out, so that after some restarts there is a report. Power-off forgets them.

use super::{
    report_screen,
    selftest_board::{self, Steps},
    session::{CommandResult, Session},
};
use crate::{
    arch::clock,
    board::{act_led, watchdog},
    boot::progress,
    println,
    terminal::console,
};

/// Waits for a key, tests the board if none comes, and shows the report until one does.
///
/// # Errors
/// When steps failed, or there is no display for the report.
pub(super) fn run(session: &mut Session, seconds: u32) -> CommandResult {
    println!(
        "In {seconds} s `selftest board` starts, and the screen then shows its report. A key on the serial line prevents it."
    );
    if is_key_pressed_within(session, seconds) {
        return Ok(());
    }
    // Some emulators restart the machine as soon as the watchdog is armed.
    let may_arm = !progress::trace().watchdog_is_useless();
    if may_arm {
        session.watchdog.arm(watchdog::MAX_MS);
    }
    let tested = selftest_board::selftest(session, Steps::WithoutThoseThatHung);
    // Whoever finds the report on the card needs neither cable nor display. A card that is missing, full or protected does not matter.
    if let Err(why) = selftest_board::save_report(session, None) {
        println!("{why}");
    }
    if may_arm {
        session.watchdog.disarm();
    }
    let shown = report_screen::show_in_turn(session);
    tested.and(shown)
}

/// Whether a key is pressed in this time. It stays in the input.
fn is_key_pressed_within(session: &mut Session, seconds: u32) -> bool {
    let end_us = clock::now_us() + u64::from(seconds) * 1_000_000;
    while clock::now_us() < end_us {
        session.watchdog.sign_of_life();
        act_led::show_life();
        if console::wait_for_input() {
            return true;
        }
    }
    false
}

//! The last report of `selftest board` on the screen, a part at a time, as text and as a QR code

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::session::{CommandResult, Session};
use crate::{
    arch::clock,
    board::act_led,
    println,
    report::{Report, report_page},
    terminal::console,
};

/// How long a part is shown: enough to point a phone at it.
const SHOWN_US: u64 = 15_000_000;

/// Shows a part of the report, until the console draws or a scene runs. Parts are counted from 1.
pub(super) fn show_part(session: &Session, number: usize) -> CommandResult {
    let parts = parts(session)?;
    let index = number.checked_sub(1).filter(|index| *index < parts.len());
    let index = index.ok_or_else(|| format!("the report has parts 1 to {}", parts.len()))?;
    draw(session, &parts[index], "`selftest code N` shows part N.")?;
    println!("part {number} of {} is on the screen", parts.len());
    Ok(())
}

/// Shows all parts in turn, until a key is pressed, which stays in the input; then the console has the screen again.
pub(super) fn show_in_turn(session: &mut Session) -> CommandResult {
    let parts = parts(session)?;
    println!("the report's parts are shown in turn: {}", parts.len());
    let remark = match parts.len() {
        1 => "A key on the serial line ends this.",
        _ => "The next part follows after 15 s. A key on the serial line ends this.",
    };
    for part in parts.iter().cycle() {
        draw(session, part, remark)?;
        let end_us = clock::now_us() + SHOWN_US;
        while clock::now_us() < end_us {
            session.watchdog.sign_of_life();
            act_led::show_life();
            if console::wait_for_input() {
                console::return_screen();
                return Ok(());
            }
        }
    }
    Ok(())
}

fn parts(session: &Session) -> Result<Vec<String>, String> {
    let report = session.last_report.as_ref().map(Report::parts);
    report.ok_or_else(|| "there is no report yet: `selftest board` makes one".to_string())
}

fn draw(session: &Session, part: &str, remark: &str) -> CommandResult {
    let pages = session.framebuffer.as_ref().ok_or("there is no display")?;
    console::detach_screen();
    let mut page = pages.page(console::shown_page());
    report_page::draw(&mut page, part, remark).map_err(|error| error.to_string())
}

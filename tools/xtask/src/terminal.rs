//! The user's terminal as the keyboard of the kernel's shell.
//!
//! The kernel edits its own lines and echoes what is typed, so the terminal hands over each key as it is pressed and
//! echoes nothing. Ctrl-C stays with this program: it ends the session; so does Ctrl-T where there is a screen to save.
//! Modes are set with `stty`, which every Unix has.

use crate::console::Keyboard;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};

/// Ctrl-T: no terminal of Linux and none of the kernel's shell has another use for it.
const SAVE_KEY: u8 = 0x14;

/// The terminal in single-key mode; dropping it brings the old mode back.
pub(crate) struct SingleKeys {
    old_mode: String,
}

impl SingleKeys {
    /// Switches standard input, which must be a terminal, and sends every key to the kernel from now on; but for Ctrl-T, if
    /// there is something to `save`.
    pub(crate) fn connect(keyboard: Keyboard, save: Option<impl Fn() + Send + 'static>) -> Result<Self> {
        let old_mode = stty(&["-g"])?;
        stty(&["-icanon", "-echo", "min", "1"])?;
        std::thread::spawn(move || {
            let mut keys = [0; 256];
            while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut keys) {
                let sent = match &save {
                    Some(save) => deal_out(&keys[..count], |keys| keyboard.press(keys), save),
                    None => keyboard.press(&keys[..count]),
                };
                if sent.is_err() {
                    break;
                }
            }
        });
        Ok(Self { old_mode: old_mode.trim().to_owned() })
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        if stty(&[&self.old_mode]).is_err() {
            eprintln!("the terminal's mode could not be restored; type: stty sane");
        }
    }
}

/// Sends keys on, and saves at each Ctrl-T between them.
fn deal_out(keys: &[u8], mut press: impl FnMut(&[u8]) -> Result<()>, save: impl Fn()) -> Result<()> {
    let mut parts = keys.split(|key| *key == SAVE_KEY);
    if let Some(first) = parts.next().filter(|part| !part.is_empty()) {
        press(first)?;
    }
    for part in parts {
        save();
        if !part.is_empty() {
            press(part)?;
        }
    }
    Ok(())
}

/// Runs `stty` on standard input.
fn stty(arguments: &[&str]) -> Result<String> {
    let output = Command::new("stty")
        .args(arguments)
        .stdin(Stdio::inherit())
        .output()
        .context("stty, which sets the terminal's mode, cannot be started")?;
    if !output.status.success() {
        bail!("stty {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn every_key_goes_its_way_in_order() {
        for (keys, expected) in [
            (&b"help\r"[..], "help\r|"),
            (b"\x14", "SAVE|"),
            (b"a\x14\x14b", "a|SAVE|SAVE|b|"),
            (b"\x14mem\r", "SAVE|mem\r|"),
        ] {
            let happened = RefCell::new(String::new());
            let note = |what: &str| {
                happened.borrow_mut().push_str(what);
                happened.borrow_mut().push('|');
            };
            let press = |part: &[u8]| {
                note(std::str::from_utf8(part)?);
                Ok(())
            };
            deal_out(keys, press, || note("SAVE")).unwrap();
            assert_eq!(happened.into_inner(), expected);
        }
    }
}

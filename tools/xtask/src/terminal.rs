//! Connects the user's terminal to the kernel's shell.
//!
//! The kernel edits lines and echoes input itself, so the terminal sends each key when it is pressed and echoes nothing. Ctrl-C is handled by this program and
//! ends the session; Ctrl-T saves the screen, if there is one. `stty` sets the terminal's modes.

use crate::console::Keyboard;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};

/// Ctrl-T, which neither Linux terminals nor the kernel's shell use.
const SAVE_KEY: u8 = 0x14;

/// The terminal in single-key mode; dropping it restores the previous mode.
pub(crate) struct SingleKeys {
    old_mode: String,
}

impl SingleKeys {
    /// Sets the mode of standard input, which must be a terminal, and sends every key to the kernel from now on, except for Ctrl-T if `save` is given.
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

/// Sends keys, and calls `save` for each Ctrl-T between them.
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

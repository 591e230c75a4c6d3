//! The user's terminal as the keyboard of the kernel's shell.
//!
//! The kernel edits its own lines and echoes what is typed, so the terminal hands over each key as it is pressed and
//! echoes nothing. Ctrl-C stays with this program: it ends the session. Modes are set with `stty`, which every Unix has.

use crate::console::Keyboard;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};

/// The terminal in single-key mode; dropping it brings the old mode back.
pub(crate) struct SingleKeys {
    old_mode: String,
}

impl SingleKeys {
    /// Switches standard input, which must be a terminal, and sends every key to the kernel from now on.
    pub(crate) fn connect(keyboard: Keyboard) -> Result<Self> {
        let old_mode = stty(&["-g"])?;
        stty(&["-icanon", "-echo", "min", "1"])?;
        std::thread::spawn(move || {
            let mut keys = [0; 256];
            while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut keys) {
                if keyboard.press(&keys[..count]).is_err() {
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

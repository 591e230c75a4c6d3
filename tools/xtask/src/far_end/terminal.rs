//! Connects the user's terminal to the kernel's shell.
//!
//! The kernel edits lines and echoes input itself, so the terminal sends each key when it is pressed and echoes nothing. Ctrl-C and Ctrl-T, which saves the
//! screen if there is one, are handled by this program. `stty` sets the terminal's modes.

use crate::far_end::console::Keyboard;
use crate::interrupt;
use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};

/// Ctrl-T, which neither Linux terminals nor the kernel's shell use.
const SAVE_KEY: u8 = 0x14;
/// Ctrl-C.
pub(crate) const CONTROL_C: u8 = 0x03;
/// Ends the report of released keys, in case that the kernel has asked for it and was ended meanwhile.
const REPORT_NO_RELEASES: &str = "\x1b[<u";

/// What keys do that are not sent to the kernel.
pub(crate) struct Actions {
    /// Ctrl-T; without it, the key is sent to the kernel.
    pub(crate) save: Option<Box<dyn Fn() + Send>>,
    /// Ctrl-C.
    pub(crate) stop: Box<dyn Fn() + Send>,
}

/// The terminal in single-key mode; dropping it restores the previous mode.
pub(crate) struct SingleKeys {
    old_mode: String,
}

impl SingleKeys {
    /// Sets the mode of standard input, which must be a terminal, and sends every key to the kernel from now on, except for those of `actions`.
    pub(crate) fn connect(keyboard: Keyboard, actions: Actions) -> Result<Self> {
        let old_mode = stty(&["-g"])?;
        stty(&["-icanon", "-echo", "min", "1", "intr", "undef"])?;
        std::thread::spawn(move || {
            if pass_on(std::io::stdin(), |keys| keyboard.press(keys), &actions) == Ended::Input {
                // The terminal is gone. SIGHUP, which says so, may be ignored: `nohup` does that.
                interrupt::request();
            }
        });
        Ok(Self { old_mode: old_mode.trim().to_owned() })
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        print!("{REPORT_NO_RELEASES}");
        if stty(&[&self.old_mode]).is_err() {
            eprintln!("the terminal's mode could not be restored; type: stty sane");
        }
    }
}

/// Why keys are not passed on any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// There are no more of them.
    Input,
    /// The kernel takes no more.
    Kernel,
}

/// Passes keys on until there are no more, or until they cannot be sent.
fn pass_on(mut input: impl Read, mut press: impl FnMut(&[u8]) -> Result<()>, actions: &Actions) -> Ended {
    let mut keys = [0; 256];
    loop {
        match input.read(&mut keys) {
            Ok(0) => return Ended::Input,
            Ok(count) if deal_out(&keys[..count], &mut press, actions).is_err() => return Ended::Kernel,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A terminal that has vanished.
            Err(_) => return Ended::Input,
        }
    }
}

/// Sends keys, and does what the keys between them say.
fn deal_out(keys: &[u8], mut press: impl FnMut(&[u8]) -> Result<()>, actions: &Actions) -> Result<()> {
    let action = |key: u8| match key {
        SAVE_KEY => actions.save.as_ref(),
        CONTROL_C => Some(&actions.stop),
        _ => None,
    };
    for part in keys.split_inclusive(|key| action(*key).is_some()) {
        let (sent, act) = match part.split_last() {
            Some((last, before)) if action(*last).is_some() => (before, action(*last)),
            _ => (part, None),
        };
        if !sent.is_empty() {
            press(sent)?;
        }
        if let Some(act) = act {
            act();
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
    use std::sync::{Arc, Mutex};

    #[test]
    fn every_key_goes_its_way_in_order() {
        for (keys, expected) in [
            (&b"help\r"[..], "help\r|"),
            (b"\x14", "SAVE|"),
            (b"a\x14\x14b", "a|SAVE|SAVE|b|"),
            (b"\x14mem\r", "SAVE|mem\r|"),
            (b"q\x03\x14", "q|STOP|SAVE|"),
        ] {
            let happened = Arc::new(Mutex::new(String::new()));
            let note = |what: &'static str| {
                let happened = Arc::clone(&happened);
                Box::new(move || *happened.lock().unwrap() += what)
            };
            let actions = Actions { save: Some(note("SAVE|")), stop: note("STOP|") };
            let press = |part: &[u8]| {
                *happened.lock().unwrap() += &format!("{}|", std::str::from_utf8(part)?);
                Ok(())
            };
            deal_out(keys, press, &actions).unwrap();
            assert_eq!(*happened.lock().unwrap(), expected);
        }
    }

    /// Reads, one after the other, and then an error: EIO is what a terminal gives that has vanished.
    struct Vanishing(Vec<std::io::Result<&'static [u8]>>);

    impl Read for Vanishing {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let part = if self.0.is_empty() { Err(std::io::Error::from_raw_os_error(5)) } else { self.0.remove(0) }?;
            to[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn a_terminal_that_vanishes_ends_the_keys() {
        let actions = Actions { save: None, stop: Box::new(|| ()) };
        let ended = |reads: Vec<std::io::Result<&'static [u8]>>, takes: bool| {
            let mut sent = Vec::new();
            let press = |keys: &[u8]| {
                sent.extend_from_slice(keys);
                if takes { Ok(()) } else { bail!("the kernel has ended") }
            };
            (pass_on(Vanishing(reads), press, &actions), sent)
        };
        let interrupted = || Err(ErrorKind::Interrupted.into());
        assert_eq!(ended(vec![Ok(b"he"), interrupted(), Ok(b"lp\n")], true), (Ended::Input, b"help\n".to_vec()));
        assert_eq!(ended(vec![Ok(b"x"), Ok(b""), Ok(b"y")], true), (Ended::Input, b"x".to_vec()));
        assert_eq!(ended(vec![Ok(b"x"), Ok(b"y")], false), (Ended::Kernel, b"x".to_vec()));
    }
}

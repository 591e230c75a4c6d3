//! Ctrl-C and termination: remembered, so that waits end and everything is cleaned up in order.

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on Ctrl-C, SIGTERM and SIGHUP only set a flag. Called before the first machine is started.
///
/// What was ignored when this program started stays so: scripts start what runs beside them without SIGINT, and `nohup` without
/// SIGHUP. The others end it all the same.
pub(crate) fn watch() -> Result<()> {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_signals(&status));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if ignored & 1 << (signal - 1) == 0 {
            let flag = Arc::clone(&REQUESTED);
            signal_hook::flag::register(signal, flag).with_context(|| format!("signal {signal} cannot be caught"))?;
        }
    }
    Ok(())
}

/// The signals that a process ignores, as Linux tells in its `status`: bit 0 is signal 1.
fn ignored_signals(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

/// An error if the user asked to end.
pub(crate) fn check() -> Result<()> {
    if requested() {
        bail!("interrupted");
    }
    Ok(())
}

/// Whether the user asked to end.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        // Of a process under `nohup`, started by a shell script in the background: SIGHUP, SIGINT and SIGQUIT.
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000007\nSigCgt:\t0000000000000000\n";
        assert_eq!(ignored_signals(status), 0b111);
        assert_eq!(ignored_signals(""), 0);
    }
}

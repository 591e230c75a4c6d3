//! Ctrl-C and termination set a flag, so that waits end and cleanup runs.

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on Ctrl-C, SIGTERM and SIGHUP only set a flag. Called before the first machine is started.
///
/// Signals that were ignored when this program started stay ignored: a shell script starts background processes with SIGINT ignored, and `nohup` ignores
/// SIGHUP.
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

/// The signals that a process ignores, according to its `status` file in /proc: bit 0 is signal 1.
fn ignored_signals(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

/// Fails if the user has interrupted.
pub(crate) fn check() -> Result<()> {
    if requested() {
        bail!("interrupted");
    }
    Ok(())
}

/// Interrupts, as a signal does.
pub(crate) fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Whether the user has interrupted.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        // A process under `nohup`, started in the background by a shell script: SIGHUP, SIGINT and SIGQUIT.
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000007\nSigCgt:\t0000000000000000\n";
        assert_eq!(ignored_signals(status), 0b111);
        assert_eq!(ignored_signals(""), 0);
    }
}

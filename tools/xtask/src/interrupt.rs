//! Ctrl-C and termination: remembered, so that waiting ends and everything is put away in order.

use anyhow::{Result, bail};
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, SIGTERM and SIGHUP only set a flag. Called once, before the first machine is started.
pub(crate) fn watch() -> Result<()> {
    ctrlc::try_set_handler(|| REQUESTED.store(true, Ordering::Relaxed)).or_else(|error| match error {
        ctrlc::Error::MultipleHandlers => Ok(()),
        other => Err(other.into()),
    })
}

/// An error if the user asked to end.
pub(crate) fn check() -> Result<()> {
    if REQUESTED.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}

/// Whether the user asked to end.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

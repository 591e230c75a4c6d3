//! A board that is connected by a serial cable.
//!
//! The kernel's console uses 115200 baud, 8 data bits, no parity, 1 stop bit, and no flow control. `stty` configures the line and disables hang-up on close, so
//! that opening the device afterwards neither hangs up nor drops bytes.

use crate::far_end::console::Console;
use anyhow::{Context, Result, bail};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Baud rate of the kernel's console.
const BAUD: &str = "115200";

/// Opens the serial device. Every received byte is also written to each of `copies`.
pub(crate) fn open(device: &Path, copies: Vec<Box<dyn Write + Send>>) -> Result<Console> {
    let line = OpenOptions::new().read(true).write(true).open(device).with_context(|| {
        format!("cannot open {} (on Debian, serial devices are for members of the group dialout)", device.display())
    })?;
    let output = Command::new("stty")
        .arg("-F")
        .arg(device)
        .args([BAUD, "raw", "-echo", "-hupcl", "clocal", "cread", "cs8", "-parenb", "-cstopb", "-crtscts"])
        .output()
        .context("stty, which configures the serial line, cannot be started")?;
    if !output.status.success() {
        bail!("{} is not a serial line: {}", device.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    let writer = line.try_clone()?;
    Ok(Console::new(line, writer, copies))
}

//! QEMU's machine protocol, as far as it is needed here.
//!
//! Messages are JSON objects, one per line, over a Unix socket. QEMU sends a greeting; `qmp_capabilities` ends the negotiation. Events between answers are
//! ignored.
//!
//! # Sources
//! QEMU's `docs/interop/qmp-spec.txt`; `screendump` of `qapi/ui.json`, `pmemsave` and `system_reset` of
//! `qapi/machine.json`, `eject` of `qapi/block.json`.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection after negotiation.
#[derive(Debug)]
pub(crate) struct Qmp {
    stream: BufReader<UnixStream>,
}

impl Qmp {
    /// Connects to QEMU's socket.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("QEMU's control socket cannot be reached")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut qmp = Self { stream: BufReader::new(stream) };
        if qmp.message()?.get("QMP").is_none() {
            bail!("QEMU's control socket did not greet");
        }
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Writes the displayed screen to a PPM file.
    pub(crate) fn screendump(&mut self, ppm: &Path) -> Result<()> {
        let path = ppm.to_str().context("the path of the screen dump is not UTF-8")?;
        self.execute("screendump", json!({ "filename": path })).map(drop)
    }

    /// Writes physical memory to a file.
    pub(crate) fn save_memory(&mut self, address: u64, bytes: usize, file: &Path) -> Result<()> {
        let path = file.to_str().context("the path of the memory's file is not UTF-8")?;
        self.execute("pmemsave", json!({ "val": address, "size": bytes, "filename": path })).map(drop)
    }

    /// Resets the machine; memory is preserved.
    pub(crate) fn reset(&mut self) -> Result<()> {
        self.execute("system_reset", json!({})).map(drop)
    }

    /// Removes the medium of a drive, also if the guest is using it.
    pub(crate) fn eject(&mut self, drive: &str) -> Result<()> {
        self.execute("eject", json!({ "device": drive, "force": true })).map(drop)
    }

    fn execute(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let request = json!({ "execute": command, "arguments": arguments });
        writeln!(self.stream.get_mut(), "{request}")?;
        loop {
            let mut message = self.message()?;
            if let Some(error) = message.get("error") {
                bail!("QEMU refuses {command}: {}", error["desc"].as_str().unwrap_or("without a reason"));
            }
            if let Some(answer) = message.get_mut("return") {
                return Ok(answer.take());
            }
        }
    }

    fn message(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).context("QEMU's control socket does not answer")? == 0 {
            bail!("QEMU closed its control socket");
        }
        serde_json::from_str(&line).context("QEMU's control socket did not send JSON")
    }
}

//! Child processes end with this program, however it ends.
//!
//! Values that are dropped end their processes. A program that is killed drops nothing, so a shell waits beside each process
//! at the end of a pipe: it reads a line when all went well, and the end of the pipe when this program is gone; then it kills.

use anyhow::{Context, Result};
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// What the shell does: `$1` is the process. It does not end with this program's terminal, and prints nothing.
const SCRIPT: &str = "trap '' HUP INT TERM; read -r line || kill -KILL \"$1\"";

/// Kills a process when this program ends without a word.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Watches over the process of this number.
    pub(crate) fn over(process: u32) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(process.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sh, which ends QEMU when this program is killed, cannot be started")?;
        Ok(Self { shell })
    }

    /// The process has ended, and its number may be another's soon.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            // It fails only if the shell was killed, which has the same effect.
            let _ = writeln!(pipe);
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    #[test]
    fn the_end_of_the_pipe_kills() {
        let mut process = sleeper();
        let mut watchdog = Watchdog::over(process.id()).unwrap();
        // What happens when this program is killed: its end of the pipe is closed, and nothing was written.
        drop(watchdog.shell.stdin.take());
        assert_eq!(process.wait().unwrap().signal(), Some(9));
        watchdog.dismiss();
    }

    #[test]
    fn a_line_does_not() {
        let mut process = sleeper();
        Watchdog::over(process.id()).unwrap().dismiss();
        assert_eq!(process.try_wait().unwrap(), None);
        process.kill().unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }
}

//! Ends child processes when this program ends, for any reason.
//!
//! Dropped values end their processes, but a killed program drops nothing. A shell therefore waits for each process at the end of a pipe: it reads a line after
//! a normal end, and the end of the pipe if this program has been killed; then it kills the process.

use anyhow::{Context, Result};
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// The shell's script, where `$1` is the process. It ignores the terminal's signals, and prints nothing.
const SCRIPT: &str = "trap '' HUP INT TERM; read -r line || kill -KILL \"$1\"";

/// Kills a process if this program ends without dismissing it.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Watches the process with this number.
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

    /// The process has ended, and its number may be reused.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            // Fails only if the shell was killed, which has the same effect.
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
        // If this program is killed, its end of the pipe is closed and nothing has been written.
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

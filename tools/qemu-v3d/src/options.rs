//! The plugin's arguments: `faults=FILE`, `trace=FILE`, `mailbox=silent`, `mailbox=dies`, `stuck-uart=KEYS`.

use std::fmt;
use std::path::PathBuf;

/// When the firmware's mailbox stops answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It never answers.
    FromPowerOn,
    /// It answers until the V3D raises its interrupt for the first time, as one stack was seen to do on a board [aros].
    FromFirstInterrupt,
}

/// The arguments after the plugin's file name in QEMU's `-plugin`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The file for the model's faults; standard error if absent.
    pub(crate) faults: Option<PathBuf>,
    /// The file for register accesses; none if absent.
    pub(crate) trace: Option<PathBuf>,
    /// When the mailbox stops answering; never if absent.
    pub(crate) mailbox: Option<Silence>,
    /// Input to a serial port that never sends; if absent, the port is QEMU's own.
    pub(crate) stuck_uart: Option<String>,
}

/// An argument that the plugin does not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownArgument(String);

impl fmt::Display for UnknownArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no argument \"{}\"; there are faults=FILE, trace=FILE, mailbox=silent, mailbox=dies and stuck-uart=KEYS",
            self.0
        )
    }
}

impl Options {
    /// Parses arguments of the form `name=value`, as QEMU passes them.
    pub(crate) fn parse<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Result<Self, UnknownArgument> {
        let mut options = Self::default();
        for argument in arguments {
            let argument = argument.as_ref();
            match argument.split_once('=') {
                Some(("faults", file)) => options.faults = Some(file.into()),
                Some(("trace", file)) => options.trace = Some(file.into()),
                Some(("mailbox", "silent")) => options.mailbox = Some(Silence::FromPowerOn),
                Some(("mailbox", "dies")) => options.mailbox = Some(Silence::FromFirstInterrupt),
                Some(("stuck-uart", keys)) => options.stuck_uart = Some(keys.to_owned()),
                _ => return Err(UnknownArgument(argument.to_owned())),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments() {
        let options = Options::parse(["trace=t.log", "faults=a=b"]).unwrap();
        assert_eq!(options.trace, Some("t.log".into()));
        assert_eq!(options.faults, Some("a=b".into()));
        for (argument, mailbox) in
            [("mailbox=silent", Silence::FromPowerOn), ("mailbox=dies", Silence::FromFirstInterrupt)]
        {
            assert_eq!(Options::parse([argument]).unwrap().mailbox, Some(mailbox));
        }
        assert_eq!(Options::parse(["stuck-uart=fail panic"]).unwrap().stuck_uart.as_deref(), Some("fail panic"));
        assert_eq!(Options::parse::<&str>([]).unwrap(), Options::default());
    }

    #[test]
    fn unknown_argument_is_named() {
        for argument in ["ram=x", "mailbox=x"] {
            let error = Options::parse([argument]).unwrap_err();
            let expected = format!(
                "no argument \"{argument}\"; there are faults=FILE, trace=FILE, mailbox=silent, mailbox=dies and stuck-uart=KEYS"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}

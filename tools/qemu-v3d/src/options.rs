//! The plugin's arguments: `faults=FILE` and `trace=FILE`.

use std::fmt;
use std::path::PathBuf;

/// What the user wrote behind the plugin's file name in QEMU's `-plugin`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Where the model's faults go; standard error if absent.
    pub(crate) faults: Option<PathBuf>,
    /// Where register accesses are recorded; nowhere if absent.
    pub(crate) trace: Option<PathBuf>,
}

/// An argument that the plugin does not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownArgument(String);

impl fmt::Display for UnknownArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no argument \"{}\"; there are faults=FILE and trace=FILE", self.0)
    }
}

impl Options {
    /// Reads arguments of the form `name=value`, as QEMU hands them over.
    pub(crate) fn parse<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Result<Self, UnknownArgument> {
        let mut options = Self::default();
        for argument in arguments {
            let argument = argument.as_ref();
            match argument.split_once('=') {
                Some(("faults", file)) => options.faults = Some(file.into()),
                Some(("trace", file)) => options.trace = Some(file.into()),
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
    fn both_arguments() {
        let options = Options::parse(["trace=t.log", "faults=a=b"]).unwrap();
        assert_eq!(options.trace, Some("t.log".into()));
        assert_eq!(options.faults, Some("a=b".into()));
        assert_eq!(Options::parse::<&str>([]).unwrap(), Options::default());
    }

    #[test]
    fn unknown_argument_is_named() {
        let error = Options::parse(["ram=x"]).unwrap_err();
        assert_eq!(error.to_string(), "no argument \"ram=x\"; there are faults=FILE and trace=FILE");
    }
}

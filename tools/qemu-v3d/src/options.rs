//! The plugin's arguments: machine, files, simulated failures, coherence check.

use crate::display::edid::Mode;
use crate::firmware::{Behaviours, Properties, UnknownBehaviour};
use crate::machine::{MACHINES, Soc};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use v3d_sim::qpu::{EngineError, EngineKind};

/// When the firmware's mailbox stops answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It never answers.
    FromPowerOn,
    /// It answers until the V3D raises its interrupt for the first time, as one stack was seen to do on a board [aros].
    FromFirstInterrupt,
}

/// How long the guest waits at a register access for a job, before this runs beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause(Option<Duration>);

impl Pause {
    /// Until the job has ended.
    pub(crate) const FOREVER: Self = Self(None);

    /// The time, as one that can be added to the present.
    pub(crate) fn limit(self) -> Duration {
        /// More than QEMU runs.
        const FOREVER: Duration = Duration::from_secs(1 << 32);
        self.0.unwrap_or(FOREVER)
    }

    /// A number of milliseconds, or `forever`.
    fn parse(text: &str) -> Option<Self> {
        if text == "forever" {
            return Some(Self::FOREVER);
        }
        Some(Self(Some(Duration::from_millis(text.parse::<u32>().ok()?.into()))))
    }
}

impl Default for Pause {
    /// As long as most frames take.
    fn default() -> Self {
        Self(Some(Duration::from_millis(10)))
    }
}

/// The screen that is connected to HDMI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Monitor(Option<Mode>);

impl Monitor {
    /// There is no display at all.
    pub(crate) const OFF: Self = Self(None);

    /// The mode that the screen prefers; `None` if there is no display.
    pub(crate) const fn mode(self) -> Option<Mode> {
        self.0
    }

    /// A mode's name, or `off`.
    fn parse(text: &str) -> Option<Self> {
        if text == "off" { Some(Self::OFF) } else { Mode::parse(text).map(|mode| Self(Some(mode))) }
    }
}

impl Default for Monitor {
    fn default() -> Self {
        Self(Some(Mode::DEFAULT))
    }
}

/// The arguments after the plugin's file name in QEMU's `-plugin`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The system on a chip of the machine that was named; the one that QEMU has if absent.
    pub(crate) soc: Option<Soc>,
    /// The file for the model's faults; standard error if absent.
    pub(crate) faults: Option<PathBuf>,
    /// The file for register accesses; none if absent.
    pub(crate) trace: Option<PathBuf>,
    /// When the mailbox stops answering; never if absent.
    pub(crate) mailbox: Option<Silence>,
    /// How the firmware and the board around it differ from QEMU's.
    pub(crate) firmware: Behaviours,
    /// Input to a serial port that never sends; if absent, the port is QEMU's own.
    pub(crate) stuck_uart: Option<String>,
    /// Whether the model checks caches.
    pub(crate) coherence: bool,
    /// Maximum number of instructions of a list or program before it counts as hung; the model's own if absent.
    pub(crate) budget: Option<u64>,
    /// What executes QPU programs; the fastest that the host has if absent.
    pub(crate) engine: Option<EngineKind>,
    /// How long the guest waits for a job.
    pub(crate) pause: Pause,
    /// The folder for the guest's jobs; none are captured if absent.
    pub(crate) capture: Option<PathBuf>,
    /// Only jobs in which the model finds faults, or that hang, are captured.
    pub(crate) faulty_alone: bool,
    /// The firmware's properties that are added to QEMU's.
    pub(crate) properties: Properties,
    /// The screen.
    pub(crate) monitor: Monitor,
}

/// An argument that the plugin does not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnknownArgument {
    /// The argument.
    Argument(String),
    /// A word of `firmware=`.
    Behaviour(UnknownBehaviour),
    /// An engine that does not exist, or that the host does not have.
    Engine(EngineError),
    /// `capture=` and `coherence=check`.
    Together,
}

impl fmt::Display for UnknownArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(argument) => write!(
                f,
                "no argument \"{argument}\"; there are machine=auto, machine={}, faults=FILE, trace=FILE, mailbox=silent, mailbox=dies, \
                 mailbox=none, mailbox={}, firmware=WORD+WORD, capture=DIR, captured=all|faulty, display=off|{}, \
                 stuck-uart=KEYS, coherence=check, budget=INSTRUCTIONS, engine={} and pause=MILLISECONDS|forever",
                MACHINES.map(|(name, _)| name).join("|"),
                Properties::WORDS.join("+"),
                Mode::ALL.map(|mode| mode.name).join("|"),
                EngineKind::ALL.map(|kind| kind.name()).join("|"),
            ),
            Self::Behaviour(unknown) => unknown.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::Together => f.write_str("capture=DIR and coherence=check each watch memory, and do not go together"),
        }
    }
}

impl Options {
    /// Parses arguments of the form `name=value`, as QEMU passes them.
    pub(crate) fn parse<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Result<Self, UnknownArgument> {
        let mut options = Self::default();
        let soc_of = |machine: &str| MACHINES.into_iter().find(|(name, _)| *name == machine).map(|(_, soc)| soc);
        for argument in arguments {
            let argument = argument.as_ref();
            match argument.split_once('=') {
                Some(("machine", "auto")) => options.soc = None,
                Some(("machine", name)) if let Some(soc) = soc_of(name) => options.soc = Some(soc),
                Some(("faults", file)) => options.faults = Some(file.into()),
                Some(("trace", file)) => options.trace = Some(file.into()),
                Some(("mailbox", "silent")) => options.mailbox = Some(Silence::FromPowerOn),
                Some(("mailbox", "dies")) => options.mailbox = Some(Silence::FromFirstInterrupt),
                Some(("firmware", words)) => {
                    options.firmware = Behaviours::parse(words).map_err(UnknownArgument::Behaviour)?;
                }
                Some(("stuck-uart", keys)) => options.stuck_uart = Some(keys.to_owned()),
                Some(("coherence", "check")) => options.coherence = true,
                Some(("budget", number)) if let Some(budget) = number.parse().ok().filter(|&budget| budget > 0) => {
                    options.budget = Some(budget);
                }
                Some(("engine", name)) => options.engine = Some(name.parse().map_err(UnknownArgument::Engine)?),
                Some(("mailbox", words)) if let Some(properties) = Properties::parse(words) => {
                    options.properties = properties;
                }
                Some(("capture", folder)) if !folder.is_empty() => options.capture = Some(folder.into()),
                Some(("captured", "all")) => options.faulty_alone = false,
                Some(("captured", "faulty")) => options.faulty_alone = true,
                Some(("display", name)) if let Some(monitor) = Monitor::parse(name) => options.monitor = monitor,
                Some(("pause", time)) if let Some(pause) = Pause::parse(time) => options.pause = pause,
                _ => return Err(UnknownArgument::Argument(argument.to_owned())),
            }
        }
        if options.coherence && options.capture.is_some() {
            return Err(UnknownArgument::Together);
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firmware::{Behaviour, Property};

    #[test]
    fn all_arguments() {
        let options = Options::parse(["trace=t.log", "faults=a=b"]).unwrap();
        assert_eq!(options.trace, Some("t.log".into()));
        assert_eq!(options.faults, Some("a=b".into()));
        for (argument, soc) in
            [("machine=auto", None), ("machine=raspi1ap", Some(Soc::Bcm2835)), ("machine=raspi3b", Some(Soc::Bcm2837))]
        {
            assert_eq!(Options::parse([argument]).unwrap().soc, soc);
        }
        for (argument, mailbox) in
            [("mailbox=silent", Silence::FromPowerOn), ("mailbox=dies", Silence::FromFirstInterrupt)]
        {
            assert_eq!(Options::parse([argument]).unwrap().mailbox, Some(mailbox));
        }
        let firmware = Options::parse(["firmware=two-pages+board"]).unwrap().firmware;
        assert!(
            firmware.has(Behaviour::TwoPages) && firmware.has(Behaviour::Board) && !firmware.has(Behaviour::Frozen)
        );
        assert_eq!(Options::parse(["stuck-uart=fail panic"]).unwrap().stuck_uart.as_deref(), Some("fail panic"));
        assert!(Options::parse(["coherence=check"]).unwrap().coherence);
        assert_eq!(Options::parse(["budget=20000000"]).unwrap().budget, Some(20_000_000));
        assert_eq!(Options::parse(["engine=vectors"]).unwrap().engine, Some(EngineKind::Vectors));
        for (argument, limit) in [("pause=0", 0), ("pause=250", 250)] {
            assert_eq!(Options::parse([argument]).unwrap().pause.limit(), Duration::from_millis(limit));
        }
        let options = Options::parse(["capture=jobs", "captured=faulty"]).unwrap();
        assert_eq!((options.capture, options.faulty_alone), (Some("jobs".into()), true));
        let error = Options::parse(["capture=jobs", "coherence=check"]).unwrap_err().to_string();
        assert!(error.contains("do not go together"), "{error}");
        let properties = |argument: &str| Options::parse([argument]).unwrap().properties;
        assert_eq!(properties("mailbox=v3d+domains+expander+clocks"), Properties::default());
        assert!(
            properties("mailbox=domains").has(Property::Domains) && !properties("mailbox=domains").has(Property::V3d)
        );
        assert!(!properties("mailbox=none").has(Property::Clocks));
        let mode = |argument: &str| Options::parse([argument]).unwrap().monitor.mode().map(|mode| mode.name);
        assert_eq!(
            (mode("display=off"), mode("display=1024x768"), mode("pause=0")),
            (None, Some("1024x768"), Some("1280x720"))
        );
        assert_eq!(Options::parse(["pause=forever"]).unwrap().pause, Pause::FOREVER);
        assert_eq!(Options::parse::<&str>([]).unwrap(), Options::default());
    }

    #[test]
    fn unknown_argument_is_named() {
        for argument in [
            "ram=x",
            "mailbox=x",
            "machine=raspi4b",
            "coherence=x",
            "budget=0",
            "pause=",
            "pause=-1",
            "display=1280x1024",
        ] {
            let error = Options::parse([argument]).unwrap_err();
            let expected = format!(
                "no argument \"{argument}\"; there are machine=auto, machine=raspi0|raspi1ap|raspi2b|raspi3ap|raspi3b, faults=FILE, \
                 trace=FILE, mailbox=silent, mailbox=dies, mailbox=none, mailbox=v3d+domains+expander+clocks, firmware=WORD+WORD, \
                 capture=DIR, captured=all|faulty, display=off|640x480|800x600|1024x768|1280x720|1920x1080, \
                 stuck-uart=KEYS, coherence=check, budget=INSTRUCTIONS, engine=reference|vectors|avx2|neon|avx512 and \
                 pause=MILLISECONDS|forever"
            );
            assert_eq!(error.to_string(), expected);
        }
        let error = Options::parse(["engine=sse"]).unwrap_err().to_string();
        assert!(error.contains("no engine \"sse\""), "{error}");
        let error = Options::parse(["firmware=kind"]).unwrap_err().to_string();
        assert!(error.contains("no behaviour \"kind\""), "{error}");
    }
}

//! A running kernel: in QEMU, or on a board that is connected by a serial line.

pub(crate) mod blocks;
pub(crate) mod board;
pub(crate) mod card;
pub(crate) mod console;
pub(crate) mod machine;
pub(crate) mod packed;
pub(crate) mod qemu;
pub(crate) mod qmp;
pub(crate) mod terminal;

use self::console::Console;
use self::qemu::Qemu;
use crate::build;
use crate::setup;
use crate::workspace::Workspace;
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit from power-on to the prompt in QEMU.
const BOOT_PATIENCE: Duration = Duration::from_secs(600);

/// A kernel and the connection to it.
pub(crate) enum FarEnd {
    Board(Console),
    Qemu(Box<Qemu>),
}

impl FarEnd {
    /// Connects to the board at this device, or starts QEMU if there is none.
    pub(crate) fn connect(workspace: &Workspace, device: Option<&Path>) -> Result<Self> {
        if let Some(device) = device {
            let console = board::open(device, Vec::new())?;
            console.wait_prompt(Instant::now() + Duration::from_secs(10))?;
            return Ok(Self::Board(console));
        }
        setup::qemu()?.check_plugin()?;
        let (kernel, plugin) = build::kernel_and_plugin(workspace, build::ShaderCompiler::Included)?;
        let options = qemu::Options::with_v3d(&kernel.image, &plugin);
        let machine = Qemu::start(options, workspace.scratch()?)?;
        machine.console.wait_ready(Instant::now() + BOOT_PATIENCE)?;
        Ok(Self::Qemu(Box::new(machine)))
    }

    pub(crate) fn console(&self) -> &Console {
        match self {
            Self::Board(console) => console,
            Self::Qemu(machine) => &machine.console,
        }
    }

    /// Fails if the model has reported faults.
    pub(crate) fn check_faults(&self) -> Result<()> {
        match self {
            Self::Board(_) => Ok(()),
            Self::Qemu(machine) => machine.check_faults(),
        }
    }
}

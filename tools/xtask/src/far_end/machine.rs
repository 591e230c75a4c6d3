//! QEMU's machines to which the plugin adds a V3D.

use crate::target_board;
use anyhow::{Context, Result};

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// QEMU's name for it.
    pub(crate) name: &'static str,
    /// The file that the firmware of such a board starts [raspberrypi.com config.txt, kernel].
    pub(crate) image: &'static str,
    /// Whether that file has 64-bit code.
    pub(crate) is_64_bit: bool,
}

/// The machine for this repository's kernel.
pub(crate) const RASPI3B: Machine = Machine { name: target_board::QEMU_MACHINE, image: "kernel8.img", is_64_bit: true };

/// All machines.
pub(crate) const MACHINES: [Machine; 5] = [
    RASPI3B,
    Machine { name: "raspi3ap", ..RASPI3B },
    Machine { name: "raspi2b", image: "kernel7.img", is_64_bit: false },
    Machine { name: "raspi1ap", image: "kernel.img", is_64_bit: false },
    Machine { name: "raspi0", image: "kernel.img", is_64_bit: false },
];

impl Machine {
    /// How a board's firmware starts a kernel without other settings: 64-bit ones at 0x80000, others at 0x8000 [raspberrypi.com config.txt, kernel_address].
    pub(crate) const fn as_firmware_starts_it(self) -> Start {
        if self.is_64_bit { Start::Kernel } else { Start::At(0x8000) }
    }

    /// The machine of this name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        MACHINES.into_iter().find(|machine| machine.name == name).with_context(|| {
            let names = MACHINES.map(|machine| machine.name).join(", ");
            format!("there is no machine {name}; there are: {names}")
        })
    }
}

/// How QEMU starts an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// This repository's kernel: as the next, but cores 1 to 3, which it does not use, sleep, and the screen has its resolution from the start.
    Own,
    /// As QEMU starts kernels: 64-bit ones at 0x80000, others at 0x10000 like a Linux kernel, on one core.
    Kernel,
    /// Core 0 starts at this address, where the file is loaded; all others start at 0, as without firmware.
    At(u64),
}

//! Every machine to which the plugin adds a V3D: registers and interrupt are where each system on a chip has them.
//!
//! A program in machine code, which any machine of its kind runs from any address, sends the bytes of IDENT0 to the serial port, bins an empty list, and waits
//! until the interrupt controller shows the V3D's interrupt as pending.

use super::Built;
use crate::far_end::machine::{MACHINES, Machine, Start};
use crate::far_end::qemu::{Options, Qemu};
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The bytes of IDENT0, 0x02443356 [AG p.97], and bits 15:8 of IRQ pending 1, in which the V3D is bit 10 [BCM2835 ARM Peripherals, 7.5].
const EXPECTED: [u8; 5] = [0x56, 0x33, 0x44, 0x02, 0x04];

/// Time limit for a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The 64-bit program; addresses of the V3D, of UART0 and of the interrupt controller follow it, and then the list.
const PROGRAM_64: [u32; 22] = [
    0x1800_02c0, //       ldr  w0, v3d
    0x1800_02c1, //       ldr  w1, uart
    0x1800_02c2, //       ldr  w2, controller
    0xb940_0003, //       ldr  w3, [x0]          IDENT0
    0x5280_0084, //       mov  w4, 4
    0xb900_0023, // byte: str  w3, [x1]          DR
    0x5308_7c63, //       lsr  w3, w3, 8
    0x7100_0484, //       subs w4, w4, 1
    0x54ff_ffa1, //       b.ne byte
    0x5280_0043, //       mov  w3, 2             binning is done
    0xb900_3403, //       str  w3, [x0, 0x34]    INTENA
    0x5280_8003, //       mov  w3, 1 << 10       the V3D
    0xb900_1043, //       str  w3, [x2, 0x10]    enable IRQs 1
    0x1000_0183, //       adr  x3, list
    0xb901_1003, //       str  w3, [x0, 0x110]   CT0CA
    0x1100_4863, //       add  w3, w3, 18        its end
    0xb901_0803, //       str  w3, [x0, 0x108]   CT0EA
    0xb940_0443, // wait: ldr  w3, [x2, 4]       IRQ pending 1
    0x34ff_ffe3, //       cbz  w3, wait
    0x5308_7c63, //       lsr  w3, w3, 8
    0xb900_0023, //       str  w3, [x1]
    0x1400_0000, //       b    .
];

/// The 32-bit program, likewise.
const PROGRAM_32: [u32; 23] = [
    0xe59f_0054, //       ldr  r0, v3d
    0xe59f_1054, //       ldr  r1, uart
    0xe59f_2054, //       ldr  r2, controller
    0xe590_3000, //       ldr  r3, [r0]
    0xe3a0_4004, //       mov  r4, 4
    0xe581_3000, // byte: str  r3, [r1]
    0xe1a0_3423, //       lsr  r3, r3, 8
    0xe254_4001, //       subs r4, r4, 1
    0x1aff_fffb, //       bne  byte
    0xe3a0_3002, //       mov  r3, 2
    0xe580_3034, //       str  r3, [r0, 0x34]
    0xe3a0_3b01, //       mov  r3, 1 << 10
    0xe582_3010, //       str  r3, [r2, 0x10]
    0xe28f_302c, //       adr  r3, list
    0xe580_3110, //       str  r3, [r0, 0x110]
    0xe283_3012, //       add  r3, r3, 18
    0xe580_3108, //       str  r3, [r0, 0x108]
    0xe592_3004, // wait: ldr  r3, [r2, 4]
    0xe353_0000, //       cmp  r3, 0
    0x0aff_fffc, //       beq  wait
    0xe1a0_3423, //       lsr  r3, r3, 8
    0xe581_3000, //       str  r3, [r1]
    0xeaff_fffe, //       b    .
];

/// Tile Binning Mode Configuration for one tile with 64 KiB of tile allocation memory at 1 MiB and initialised tile state at 2 MiB, Start Tile Binning, Flush
/// [AG p.68, p.71].
const LIST: [u8; 18] = [0x70, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0x20, 0, 1, 1, 0x04, 0x06, 0x04];

/// The ARM's address of the first peripheral [BCM2835 ARM Peripherals, 1.2.3] [linux bcm2836.dtsi, bcm2837.dtsi].
fn peripherals(machine: Machine) -> u32 {
    if machine.image == "kernel.img" { 0x2000_0000 } else { 0x3f00_0000 }
}

fn image(machine: Machine) -> Vec<u8> {
    let base = peripherals(machine);
    let program: &[u32] = if machine.is_64_bit { &PROGRAM_64 } else { &PROGRAM_32 };
    let addresses = [base + 0xc0_0000, base + 0x20_1000, base + 0xb200];
    let words = program.iter().chain(&addresses).flat_map(|word| word.to_le_bytes());
    words.chain(LIST).collect()
}

/// Runs the program on every machine; on those with 32 bits also in QEMU's program for these.
pub(super) fn every_machine(workspace: &Workspace, built: &Built) -> Result<String> {
    let narrow = narrow_qemu();
    let mut done = Vec::new();
    for machine in MACHINES {
        let also = narrow.as_deref().filter(|_| !machine.is_64_bit);
        for program in std::iter::once(None).chain(also.map(Some)) {
            run(workspace, built.plugin()?, machine, program).with_context(|| machine.name)?;
            done.push(match program {
                Some(program) => format!("{} in {}", machine.name, program.display()),
                None => machine.name.to_owned(),
            });
        }
    }
    Ok(done.join(", "))
}

fn run(workspace: &Workspace, plugin: &Path, machine: Machine, program: Option<&Path>) -> Result<()> {
    let scratch = workspace.scratch()?;
    let (file, sent) = (scratch.path().join(machine.image), scratch.path().join("sent"));
    std::fs::write(&file, image(machine))?;
    let copies: Vec<Box<dyn std::io::Write + Send>> = vec![Box::new(File::create(&sent)?)];
    let options = Options { program, machine, start: Start::Kernel, copies, ..Options::with_v3d(&file, plugin) };
    let mut qemu = Qemu::start(options, scratch)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let bytes = std::fs::read(&sent)?;
        if bytes.len() >= EXPECTED.len() {
            ensure!(bytes == EXPECTED, "the program sends {bytes:x?} instead of {EXPECTED:x?}");
            return qemu.check_faults();
        }
        if Instant::now() > deadline {
            bail!("the program has sent {bytes:x?} instead of {EXPECTED:x?}");
        }
        qemu.check_running()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `qemu-system-arm`, which comes with `qemu-system-aarch64`, if it is where that is.
fn narrow_qemu() -> Option<PathBuf> {
    let program = setup::qemu_program();
    let name = program.file_name()?.to_str()?;
    let narrow = program.with_file_name(name.strip_suffix("aarch64")?.to_owned() + "arm");
    let found = Command::new(&narrow).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(narrow)
}

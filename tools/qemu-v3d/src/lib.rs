//! QEMU plugin: the V3D model behind the raspi3b registers.
//!
//! QEMU's `raspi3b` machine has no V3D: loads from 0x3FC0_0000 answer 0 out of an "unimplemented device". This library
//! is loaded into QEMU with `-plugin` and puts a register block of its own over that hole. A guest load or store of a
//! V3D register becomes a call of the model (crate `v3d-sim`), which reads and writes guest RAM directly, executes what
//! the store starts before the store returns, and answers with the level of the V3D interrupt line (GPU interrupt 10).
//!
//! ```text
//! qemu-system-aarch64 -M raspi3b -kernel kernel8.img -plugin libqemu_v3d.so[,faults=FILE][,trace=FILE][,mailbox=silent|dies][,stuck-uart=KEYS]
//! ```
//!
//! * `faults=FILE`: the file for faults that the model reports, one per line; the default is standard error.
//! * `trace=FILE`: the file for register accesses, one per line: the number of instructions that vCPU 0 had executed, the register, the direction, the value
//!   (`81234 CT1EA <- 0xc8001000`).
//! * `mailbox=silent`: the firmware's mailbox takes words and never answers; `mailbox=dies`: it stops answering at the V3D's first interrupt. Both test how a
//!   kernel handles failures of its firmware.
//! * `stuck-uart=KEYS`: the serial port's transmit FIFO stays full, as without a clock; KEYS and a carriage return arrive as input.
//!
//! QEMU's plugin interface alone cannot add a device, so the plugin calls QEMU's internal device functions. Debian builds QEMU with loadable modules, and such
//! a binary exports its whole symbol table. All functions are looked up when the plugin is installed; if one is missing, the plugin reports it and QEMU ends.
//! One library serves QEMU 7.2 to 11.1: the [version](version) that it declares is chosen when it is loaded, and layouts are compared before they are used.
//!
//! Because it is linked to QEMU's internals at run time, this crate is GPL-2.0-or-later.
//!
//! # Sources
//! Plugin ABI: QEMU's `include/qemu/qemu-plugin.h`; device functions: `include/exec/memory.h`,
//! `include/hw/qdev-core.h`, `include/hw/irq.h` of QEMU 7.2. Tried on Debian's 7.2.22, 10.0.13 and 11.1.3.
#![deny(unsafe_code)]

mod device;
#[allow(unsafe_code, reason = "QEMU's C ABI: the one module that crosses into the emulator")]
mod ffi;
mod options;
mod raspi3b;
mod version;

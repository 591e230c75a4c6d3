//! QEMU plugin: the V3D model behind the registers of QEMU's Raspberry Pi machines.
//!
//! QEMU's machines `raspi0` to `raspi3b` have no V3D: loads from its registers answer 0 out of an "unimplemented device". This library
//! is loaded into QEMU with `-plugin` and puts a register block of its own over that hole. A guest load or store of a
//! V3D register becomes a call of the model (crate `v3d-sim`), which reads and writes guest RAM directly, and answers
//! with the level of the V3D interrupt line (GPU interrupt 10).
//!
//! ```text
//! qemu-system-aarch64 -M raspi3b -kernel kernel8.img \
//!     -plugin libqemu_v3d.so[,machine=NAME][,faults=FILE][,trace=FILE][,mailbox=silent|dies|WORD+WORD]\
//!         [,firmware=WORD+WORD][,stuck-uart=KEYS][,coherence=check][,budget=N][,engine=KIND]\
//!         [,pause=MS][,capture=DIR][,captured=all|faulty][,display=off|WIDTHxHEIGHT]
//! ```
//!
//! * `machine=NAME`: the [machine](machine), one of `raspi0`, `raspi1ap`, `raspi2b`, `raspi3ap` and `raspi3b`, which tells where the registers are.
//!   The default, `machine=auto`, is the machine that QEMU was started with.
//! * `faults=FILE`: the file for faults that the model reports, one per line; the default is standard error.
//! * `trace=FILE`: the file for register accesses, one per line: seconds since QEMU was started, the number of instructions that vCPU 0 had executed, the
//!   register, the direction, the value (`1.250342 81234 CT1EA <- 0xc8001000`).
//! * `mailbox=silent`: the firmware's mailbox takes words and never answers; `mailbox=dies`: it stops answering at the V3D's first interrupt. Both test how a
//!   kernel handles failures of its firmware.
//! * `mailbox=WORD+WORD`: which properties are answered that QEMU's firmware does not know: `v3d` (the V3D's clock and ENABLE_QPU), `domains` (power domains),
//!   `expander` (the GPIO expander), `clocks` (the list of clocks). The default is all of them; `none` leaves all of them out.
//! * `firmware=WORD+WORD`: how the firmware, and the board around it, differ from QEMU's. Each word is a behaviour that was seen on a board, or one that a
//!   kernel must survive; any number of them combine:
//!
//!   | word | behaviour |
//!   |---|---|
//!   | `command-line` | the command line has 300 bytes: the firmware's words first, `v3d.interrupts=on` last |
//!   | `pitch16` | the framebuffer's pitch is that of 16-bit pixels, although its depth is 32 |
//!   | `two-pages` | the virtual framebuffer has at most twice the lines of the display |
//!   | `slow-vsync` | the property that waits for the vertical blanking is answered after a second, and nothing else meanwhile |
//!   | `gated-clock` | the V3D's clock is off until SET_CLOCK_STATE switches it on |
//!   | `no-clock` | the V3D's clock is off and stays off |
//!   | `frozen` | an access to a register of the V3D never ends, although the firmware measures the rate of its clock |
//!   | `stray-interrupt` | a doorbell of the basic bank and a mailbox between the cores are asserted, and enabled at the first message and at each framebuffer |
//!   | `board` | the registers that QEMU lacks answer as a board's: PM_GRAFX 0x1000 and bridges 7 until the domain is powered up, a watchdog that counts, the V3D's clock control, the HVS' count of frames |
//!   | `by-hand` | as `board`, and the firmware's requests do not power the domain up, as on a Zero 2 W |
//!
//!   Without any of them, the firmware answers the properties of the V3D's clock and power that QEMU's does not know.
//! * `stuck-uart=KEYS`: the serial port's transmit FIFO stays full, as without a clock; KEYS and a carriage return arrive as input.
//! * `coherence=check`: the plugin reports what works in QEMU, which has no caches, and fails on a board. These are reads of what a cache of the V3D may
//!   hold in an older state, because the guest has not cleared it; accesses to memory that the guest's translation tables map as cached; and starts or
//!   results without a barrier between the CPU's accesses to memory and to registers. Guest and V3D are then several times slower.
//! * `budget=N`: how many instructions the shaders of a list, or a user program, may execute before it counts as hung; the default is 5 billion for a list and
//!   1 billion for a program.
//! * `engine=KIND`: what executes QPU programs, `reference`, `vectors`, `avx2`, `neon` or `avx512`; the default is the fastest that the host has. All have the
//!   same results.
//! * `pause=MS`: how many milliseconds the guest waits at most for what a register write has started, the default is 10. What takes longer is executed by a
//!   thread of its own while the guest goes on: registers show how far it is, and the interrupt comes at its end. A guest that makes
//!   more than 64 loads in close succession is taken to poll: each further load waits for 2 ms at most, so that the host's cores are left to the job. With
//!   `pause=forever` and with `coherence=check` everything has ended when a write returns.
//! * `capture=DIR`: writes each job that the guest starts to a folder `DIR/job-000001` and so on, for `v3d replay`, `dump`, `debug` and `stats`; with
//!   `captured=faulty` only those in which the model finds faults, and those during which the V3D is reset. Programs that are started without a list are no
//!   jobs. The V3D is several times slower meanwhile, and a folder takes seconds to write if the job's memory lies far apart, as Linux' does.
//!
//! * `display=WIDTHxHEIGHT`: the mode that the screen on HDMI prefers: 640x480, 800x600, 1024x768, 1280x720 (the default) or 1920x1080. The HVS, the pixel
//!   valves and HDMI are [modelled](display), as far as Linux' driver vc4 uses them for RGB: QEMU's window shows the guest's picture as soon as the
//!   guest has set a mode. `display=off` leaves QEMU's machine as it is: these registers read 0.
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

mod barriers;
mod capture;
mod coherence;
mod cpu_caches;
mod device;
mod display;
#[allow(unsafe_code, reason = "QEMU's C ABI: the one module that crosses into the emulator")]
mod ffi;
mod firmware;
mod machine;
mod options;
mod polling;
mod power;
mod version;
mod worker;

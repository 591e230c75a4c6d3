//! Facts of the board that the tools need.
//!
//! The kernel's own description is kernel/src/board/raspberry_pi_3, with the memory split in linker.ld.

/// QEMU's name of the machine.
pub(crate) const QEMU_MACHINE: &str = "raspi3b";

/// The clock of the processor in MHz: a Pi 3B's.
pub(crate) const ARM_CLOCK_MHZ: u64 = 1200;

/// Where the firmware puts a 64-bit kernel [raspberrypi.com config.txt, kernel_address].
pub(crate) const LOAD_ADDRESS: u64 = 0x8_0000;

/// Where the kernel keeps its log over a warm reset, and the bytes of it.
pub(crate) const PERSISTENT_LOG: (u64, usize) = (0x0400_0000, 0x2_0000);

/// Where the kernel keeps the trace of its boot.
pub(crate) const BOOT_TRACE: u64 = 0x0402_0000;

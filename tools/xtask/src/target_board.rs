//! Properties of the board that the tools need.
//!
//! The kernel's own definitions are in kernel/src/board/raspberry_pi_3, and the memory split in linker.ld.

/// QEMU's name for the machine.
pub(crate) const QEMU_MACHINE: &str = "raspi3b";

/// Clock of the processor in MHz, as on a Pi 3B.
pub(crate) const ARM_CLOCK_MHZ: u64 = 1200;

/// Address to which the firmware loads a 64-bit kernel [raspberrypi.com config.txt, kernel_address].
pub(crate) const LOAD_ADDRESS: u64 = 0x8_0000;

/// Address and size of the log that survives a warm reset.
pub(crate) const PERSISTENT_LOG: (u64, usize) = (0x0400_0000, 0x2_0000);

/// Address of the boot trace.
pub(crate) const BOOT_TRACE: u64 = 0x0402_0000;

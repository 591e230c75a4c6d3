//! Identity of the V3D: IDENT0, IDENT1, IDENT2.
//!
//! A powered V3D of the VideoCore IV answers `"V3D"` and technology version 2 in IDENT0. Without power the bus answers 0xdeadbeef, and where there
//! is no V3D at all (QEMU without a model) 0. The other two registers tell how much of everything this one has.
//!
//! # Sources
//! [AG p.96-97], [asurati] for the unpowered value.

use crate::platform::RegisterAccess;
use core::fmt;
use v3d_hw::Layout;
use v3d_hw::registers::identity::{Ident0, Ident1, Ident2};
use v3d_hw::registers::{IDENT0_VALUE, Register, UNPOWERED_VALUE};

/// What this V3D has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// Technology version.
    pub version: u8,
    /// Revision.
    pub revision: u8,
    /// Slices.
    pub slices: u8,
    /// QPUs, all slices together.
    pub qpus: u32,
    /// TMUs, all slices together.
    pub tmus: u32,
    /// Semaphores of the QPUs.
    pub semaphores: u8,
    /// VPM in bytes.
    pub vpm_bytes: u32,
    /// Whether 64-bit colour is supported.
    pub hdr: bool,
    /// Tile buffer: 0 quarter, 1 half, 2 full size.
    pub tile_buffer_size: u8,
    /// Whether the tile buffer can be double-buffered.
    pub tile_buffer_double: bool,
    /// Whether the varyings memory has its full size.
    pub varyings_memory_full: bool,
}

/// Why there is no usable V3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityError {
    /// IDENT0 reads 0: there is nothing at the address.
    Absent,
    /// IDENT0 reads 0xdeadbeef: the V3D has no power or no clock.
    Unpowered,
    /// IDENT0 reads something else.
    Unknown(u32),
    /// IDENT1 says that it has no slices or no QPUs.
    Empty(u32),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is no V3D: IDENT0 reads 0"),
            Self::Unpowered => write!(f, "the V3D has no power: IDENT0 reads {UNPOWERED_VALUE:#x}"),
            Self::Unknown(value) => {
                write!(f, "not a V3D of the VideoCore IV: IDENT0 reads {value:#010x}, not {IDENT0_VALUE:#010x}")
            }
            Self::Empty(value) => write!(f, "a V3D without QPUs: IDENT1 reads {value:#010x}"),
        }
    }
}

impl core::error::Error for IdentityError {}

impl Identity {
    /// Reads and checks the identity registers.
    pub fn read(registers: &impl RegisterAccess) -> Result<Self, IdentityError> {
        match registers.read(Register::IDENT0) {
            IDENT0_VALUE => {}
            0 => return Err(IdentityError::Absent),
            UNPOWERED_VALUE => return Err(IdentityError::Unpowered),
            other => return Err(IdentityError::Unknown(other)),
        }
        Self::decode(IDENT0_VALUE, registers.read(Register::IDENT1), registers.read(Register::IDENT2))
    }

    fn decode(ident0: u32, ident1: u32, ident2: u32) -> Result<Self, IdentityError> {
        let zero = Ident0::from_word(ident0);
        let one = Ident1::from_word(ident1);
        let two = Ident2::from_word(ident2);
        if one.nslc == 0 || one.qups == 0 {
            return Err(IdentityError::Empty(ident1));
        }
        Ok(Self {
            version: zero.tver,
            revision: one.rev,
            slices: one.nslc,
            qpus: u32::from(one.nslc) * u32::from(one.qups),
            tmus: u32::from(one.nslc) * u32::from(one.tups),
            semaphores: one.nsem,
            vpm_bytes: 1024 * if one.vpmsz == 0 { 16 } else { u32::from(one.vpmsz) },
            hdr: one.hdrt != 0,
            tile_buffer_size: two.tlbsz,
            tile_buffer_double: two.tlbdb != 0,
            varyings_memory_full: two.vrisz != 0,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, revision, slices, qpus, tmus, semaphores, .. } = self;
        let tile_buffer = match self.tile_buffer_size {
            0 => "quarter",
            1 => "half",
            2 => "full",
            _ => "unknown",
        };
        write!(
            f,
            "V3D {version}.{revision}: {slices} slices, {qpus} QPUs, {tmus} TMUs, {} KiB VPM, {semaphores} semaphores, {tile_buffer} tile buffer{}{}, \
             {} varyings memory",
            self.vpm_bytes / 1024,
            if self.tile_buffer_double { ", double-buffered" } else { "" },
            if self.hdr { ", HDR" } else { "" },
            if self.varyings_memory_full { "full" } else { "half" },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// IDENT1 as a Pi 3's V3D gives it, taken apart by hand: 12 KiB, 16 semaphores, 2 TMUs and 4 QPUs in each of 3 slices, revision 1.
    #[test]
    fn the_fields_of_a_pi_add_up() {
        let identity = Identity::decode(IDENT0_VALUE, 0xc010_2431, 0x0000_0121).unwrap();
        assert_eq!((identity.slices, identity.qpus, identity.tmus), (3, 12, 6));
        assert_eq!((identity.vpm_bytes, identity.semaphores, identity.revision), (12288, 16, 1));
        assert!(identity.varyings_memory_full && identity.tile_buffer_double && !identity.hdr);
        assert!(identity.to_string().starts_with("V3D 2.1: 3 slices, 12 QPUs, 6 TMUs, 12 KiB VPM, 16 semaphores"));
    }

    #[test]
    fn a_vpm_size_of_0_means_16_kib() {
        assert_eq!(Identity::decode(IDENT0_VALUE, 0x0010_2431, 0).map(|identity| identity.vpm_bytes), Ok(16384));
        assert_eq!(Identity::decode(IDENT0_VALUE, 0xc010_2001, 0), Err(IdentityError::Empty(0xc010_2001)));
    }
}

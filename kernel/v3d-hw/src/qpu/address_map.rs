//! The register address map: what stands behind the 64 addresses of each file [AG p.37-38].

/// Registers of a file: their addresses are those below.
pub const REGISTERS: u8 = 32;

/// Whether an address is that of a register of its file.
pub const fn is_register(address: u8) -> bool {
    address < REGISTERS
}

/// The address at which nothing is read or written, in either file.
pub const NOP: u8 = 39;

/// Whether a write address means the same in both files. 40, which is empty, counts as if it did not, as in vc4asm.
pub const fn is_written_in_either_file(address: u8) -> bool {
    address >= 32 && !matches!(address, 37 | 40 | 41 | 42 | 49 | 50)
}

/// Whether a read address has a meaning, and the same in both files.
pub const fn is_read_in_either_file(address: u8) -> bool {
    matches!(address, 32 | 35 | NOP | 48 | 51)
}

/// A register file, or the half of the map that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// Register file A.
    A,
    /// Register file B.
    B,
}

/// What a read address reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadSource {
    /// A register of the file, 0 to 31.
    Register(u8),
    /// The next uniform.
    Uniform,
    /// The next varying; its C coefficient goes to r5.
    Varying,
    /// The element's number.
    ElementNumber,
    /// The QPU's number.
    QpuNumber,
    /// Nothing is read. The value is that of an unmapped address: the element number (A), the QPU number (B) [AG p.24].
    Nop,
    /// X coordinate of the pixel.
    XPixelCoord,
    /// Y coordinate of the pixel.
    YPixelCoord,
    /// Multisample mask of the pixel.
    MsFlags,
    /// Whether the primitive is back facing.
    RevFlag,
    /// The next vector of the VPM.
    VpmRead,
    /// Whether a DMA load is under way.
    VpmLdBusy,
    /// Whether a DMA store is under way.
    VpmStBusy,
    /// Waits for the DMA load.
    VpmLdWait,
    /// Waits for the DMA store.
    VpmStWait,
    /// Waits for the mutex and takes it.
    MutexAcquire,
    /// An address that the map leaves empty.
    Unmapped(u8),
}

/// What a write address writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteTarget {
    /// A register of the file, 0 to 31.
    Register(u8),
    /// Accumulator 0 to 3.
    Accumulator(u8),
    /// Disables the swapping of TMUs.
    TmuNoSwap,
    /// r5, from pixel 0 of each quad.
    R5PerQuad,
    /// r5, from element 0.
    R5Replicated,
    /// Interrupts the host.
    HostInterrupt,
    /// Nothing.
    Nop,
    /// A new address of the uniforms, from element 0.
    UniformsAddress,
    /// X coordinate of the quad.
    QuadX,
    /// Y coordinate of the quad.
    QuadY,
    /// Multisample mask.
    MsFlags,
    /// Back facing flag.
    RevFlag,
    /// Stencil set-up of the tile buffer.
    TlbStencilSetup,
    /// Z to the tile buffer: Z and stencil tests.
    TlbZ,
    /// Colour to the next multisample.
    TlbColorMs,
    /// Colour to all multisamples.
    TlbColorAll,
    /// Alpha mask to the tile buffer.
    TlbAlphaMask,
    /// A vector to the VPM.
    VpmWrite,
    /// VPM read and DMA load set-up.
    VpmVcdRdSetup,
    /// VPM write and DMA store set-up.
    VpmVcdWrSetup,
    /// Address of a DMA load, which starts it.
    VpmLdAddr,
    /// Address of a DMA store, which starts it.
    VpmStAddr,
    /// Releases the mutex.
    MutexRelease,
    /// 1/x to r4.
    SfuRecip,
    /// 1/sqrt(x) to r4.
    SfuRecipSqrt,
    /// 2^x to r4.
    SfuExp,
    /// log2(x) to r4.
    SfuLog,
    /// A coordinate to TMU 0 or 1.
    Tmu {
        /// 0 or 1.
        unit: u8,
        /// Which coordinate.
        coordinate: TmuCoordinate,
    },
}

/// A TMU's coordinate registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TmuCoordinate {
    /// S; starts the lookup.
    S,
    /// T.
    T,
    /// R: third coordinate of cube maps, or the border colour.
    R,
    /// B: LOD bias.
    B,
}

impl ReadSource {
    /// What `address` (0 to 63) reads in `file`.
    pub const fn of(file: File, address: u8) -> Self {
        let a = matches!(file, File::A);
        match address {
            0..=31 => Self::Register(address),
            32 => Self::Uniform,
            35 => Self::Varying,
            38 if a => Self::ElementNumber,
            38 => Self::QpuNumber,
            39 => Self::Nop,
            41 if a => Self::XPixelCoord,
            41 => Self::YPixelCoord,
            42 if a => Self::MsFlags,
            42 => Self::RevFlag,
            48 => Self::VpmRead,
            49 if a => Self::VpmLdBusy,
            49 => Self::VpmStBusy,
            50 if a => Self::VpmLdWait,
            50 => Self::VpmStWait,
            51 => Self::MutexAcquire,
            _ => Self::Unmapped(address),
        }
    }

    /// The address that reads it, in its file.
    #[inline]
    pub const fn address(self) -> u8 {
        match self {
            Self::Register(address) | Self::Unmapped(address) => address,
            Self::Uniform => 32,
            Self::Varying => 35,
            Self::ElementNumber | Self::QpuNumber => 38,
            Self::Nop => NOP,
            Self::XPixelCoord | Self::YPixelCoord => 41,
            Self::MsFlags | Self::RevFlag => 42,
            Self::VpmRead => 48,
            Self::VpmLdBusy | Self::VpmStBusy => 49,
            Self::VpmLdWait | Self::VpmStWait => 50,
            Self::MutexAcquire => 51,
        }
    }
}

impl WriteTarget {
    /// What `address` writes in `file`; bits above 5:0 are ignored.
    pub const fn of(file: File, address: u8) -> Self {
        let a = matches!(file, File::A);
        let address = address & 63;
        match address {
            0..=31 => Self::Register(address),
            32..=35 => Self::Accumulator(address - 32),
            36 => Self::TmuNoSwap,
            37 if a => Self::R5PerQuad,
            37 => Self::R5Replicated,
            38 => Self::HostInterrupt,
            39 => Self::Nop,
            40 => Self::UniformsAddress,
            41 if a => Self::QuadX,
            41 => Self::QuadY,
            42 if a => Self::MsFlags,
            42 => Self::RevFlag,
            43 => Self::TlbStencilSetup,
            44 => Self::TlbZ,
            45 => Self::TlbColorMs,
            46 => Self::TlbColorAll,
            47 => Self::TlbAlphaMask,
            48 => Self::VpmWrite,
            49 if a => Self::VpmVcdRdSetup,
            49 => Self::VpmVcdWrSetup,
            50 if a => Self::VpmLdAddr,
            50 => Self::VpmStAddr,
            51 => Self::MutexRelease,
            52 => Self::SfuRecip,
            53 => Self::SfuRecipSqrt,
            54 => Self::SfuExp,
            55 => Self::SfuLog,
            _ => Self::Tmu {
                unit: (address - 56) / 4,
                coordinate: match address % 4 {
                    0 => TmuCoordinate::S,
                    1 => TmuCoordinate::T,
                    2 => TmuCoordinate::R,
                    _ => TmuCoordinate::B,
                },
            },
        }
    }

    /// The address that writes it, in its file.
    #[inline]
    pub const fn address(self) -> u8 {
        match self {
            Self::Register(number) => number,
            Self::Accumulator(number) => 32 + number,
            Self::TmuNoSwap => 36,
            Self::R5PerQuad | Self::R5Replicated => 37,
            Self::HostInterrupt => 38,
            Self::Nop => NOP,
            Self::UniformsAddress => 40,
            Self::QuadX | Self::QuadY => 41,
            Self::MsFlags | Self::RevFlag => 42,
            Self::TlbStencilSetup => 43,
            Self::TlbZ => 44,
            Self::TlbColorMs => 45,
            Self::TlbColorAll => 46,
            Self::TlbAlphaMask => 47,
            Self::VpmWrite => 48,
            Self::VpmVcdRdSetup | Self::VpmVcdWrSetup => 49,
            Self::VpmLdAddr | Self::VpmStAddr => 50,
            Self::MutexRelease => 51,
            Self::SfuRecip => 52,
            Self::SfuRecipSqrt => 53,
            Self::SfuExp => 54,
            Self::SfuLog => 55,
            Self::Tmu { unit, coordinate } => {
                let number = match coordinate {
                    TmuCoordinate::S => 0,
                    TmuCoordinate::T => 1,
                    TmuCoordinate::R => 2,
                    TmuCoordinate::B => 3,
                };
                56 + 4 * unit + number
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_differ_between_the_files() {
        let differ: Vec<u8> =
            (0..64).filter(|&address| WriteTarget::of(File::A, address) != WriteTarget::of(File::B, address)).collect();
        assert_eq!(differ, [37, 41, 42, 49, 50]);
        let differ: Vec<u8> =
            (0..64).filter(|&address| ReadSource::of(File::A, address) != ReadSource::of(File::B, address)).collect();
        assert_eq!(differ, [38, 41, 42, 49, 50]);
    }

    #[test]
    fn everything_is_found_at_its_address() {
        for (file, address) in (0..64).flat_map(|address| [(File::A, address), (File::B, address)]) {
            assert_eq!(ReadSource::of(file, address).address(), address);
            assert_eq!(WriteTarget::of(file, address).address(), address);
        }
    }

    #[test]
    fn addresses_that_are_the_same_in_both_files() {
        for address in 0..64 {
            let (a, b) = (WriteTarget::of(File::A, address), WriteTarget::of(File::B, address));
            let same = a == b && !matches!(a, WriteTarget::Register(_)) && address != 40;
            assert_eq!(is_written_in_either_file(address), same, "written: {address}");
            let (a, b) = (ReadSource::of(File::A, address), ReadSource::of(File::B, address));
            let same = a == b && !matches!(a, ReadSource::Register(_) | ReadSource::Unmapped(_));
            assert_eq!(is_read_in_either_file(address), same, "read: {address}");
        }
    }

    #[test]
    fn tmu_addresses_are_those_of_table_14() {
        let tmu = |unit, coordinate| WriteTarget::Tmu { unit, coordinate };
        assert_eq!(WriteTarget::of(File::A, 56), tmu(0, TmuCoordinate::S));
        assert_eq!(WriteTarget::of(File::B, 59), tmu(0, TmuCoordinate::B));
        assert_eq!(WriteTarget::of(File::A, 61), tmu(1, TmuCoordinate::T));
        assert_eq!(WriteTarget::of(File::B, 62), tmu(1, TmuCoordinate::R));
    }
}

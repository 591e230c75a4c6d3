//! What stands behind register addresses and signals: a row for each.
//!
//! A row says which unit is accessed, whether that is one of the closely coupled peripherals of which an instruction may access one, which stream moves on by
//! an element, which stages have the unit, and when a result can be used.
//!
//! # Sources
//! [AG p.22-24, p.29, p.37-38, p.47-52]; [mesa vc4_qpu_emit.c], [vc4asm] and [brcm glsl_allocator_4.c] for the writes that take a condition.

use super::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use super::{SFU_LATENCY, Signal};

/// A unit outside of a QPU's register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peripheral {
    /// The stream of uniforms.
    Uniforms,
    /// The varyings interpolator.
    Varyings,
    /// Places of pixels and quads, the multisample mask, and the side that a primitive shows.
    Pixels,
    /// The tile buffer with its scoreboard.
    TileBuffer,
    /// The special functions unit.
    Sfu,
    /// A texture and memory lookup unit.
    Tmu(u8),
    /// Which of two TMUs a number means.
    TmuSwap,
    /// The vertex pipe memory.
    Vpm,
    /// The DMA between the vertex pipe memory and memory.
    VpmDma,
    /// The mutex of all QPUs.
    Mutex,
    /// The semaphores of all QPUs.
    Semaphores,
    /// The host, which is interrupted.
    Host,
}

/// A queue that an access moves on by an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Uniforms, read in order.
    Uniforms,
    /// Varyings, read in order.
    Varyings,
    /// Vectors that are read from the VPM.
    VpmReads,
    /// Vectors that are written to the VPM.
    VpmWrites,
    /// Parameters of a TMU's lookups. All but those of direct lookups take a uniform.
    TmuParameters(u8),
    /// Results of a TMU's lookups.
    TmuResults(u8),
    /// Samples of a pixel whose colours are read one by one.
    ColorReads,
    /// Samples of a pixel whose colours are written one by one.
    ColorWrites,
}

/// Stages of which programs may access a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stages(u8);

impl Stages {
    /// Fragment shaders.
    pub const FRAGMENT: Self = Self(1);
    /// Vertex and coordinate shaders.
    pub const VERTEX: Self = Self(2);
    /// User programs.
    pub const USER: Self = Self(4);
    /// All programs.
    pub const ALL: Self = Self(7);
    /// All but fragment shaders: the VPM's queues are those of the varyings [AG p.52].
    pub const NOT_FRAGMENT: Self = Self(6);

    /// Whether all stages of `other` are among them.
    pub const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a read address or a signal accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRow {
    /// The unit; none for registers and what a QPU has by itself.
    pub peripheral: Option<Peripheral>,
    /// It is a closely coupled peripheral, of which an instruction may access one [AG p.37].
    pub is_coupled: bool,
    /// What moves on.
    pub stream: Option<Stream>,
    /// Stages whose programs have it.
    pub stages: Stages,
}

impl AccessRow {
    /// Nothing outside of the QPU.
    const NONE: Self = Self { peripheral: None, is_coupled: false, stream: None, stages: Stages::ALL };

    const fn of(peripheral: Peripheral, stages: Stages) -> Self {
        Self { peripheral: Some(peripheral), stages, ..Self::NONE }
    }

    const fn moving(self, stream: Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    const fn coupled(self) -> Self {
        Self { is_coupled: true, ..self }
    }
}

/// What a condition does to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conditional {
    /// Elements in which it does not hold are left out.
    PerElement,
    /// The unit is told all the same, and gets undefined data where it does not hold [vc4asm].
    Ignored,
}

/// What a write address accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetRow {
    /// The unit and what moves on.
    pub access: AccessRow,
    /// What a condition does.
    pub conditional: Conditional,
    /// Instructions from this one to the first that can read the result in the QPU; 0 if nothing comes back by itself.
    pub latency: u32,
}

impl TargetRow {
    const fn per_element(access: AccessRow) -> Self {
        Self { access, conditional: Conditional::PerElement, latency: 0 }
    }

    const fn unconditional(access: AccessRow) -> Self {
        Self { access, conditional: Conditional::Ignored, latency: 0 }
    }

    const fn after(self, latency: u32) -> Self {
        Self { latency, ..self }
    }
}

impl ReadSource {
    /// The row.
    #[inline]
    pub const fn row(self) -> AccessRow {
        use Stages as S;
        match self {
            Self::Register(_) | Self::ElementNumber | Self::QpuNumber | Self::Nop | Self::Unmapped(_) => {
                AccessRow::NONE
            }
            Self::Uniform => AccessRow::of(Peripheral::Uniforms, S::ALL).moving(Stream::Uniforms),
            Self::Varying => AccessRow::of(Peripheral::Varyings, S::FRAGMENT).moving(Stream::Varyings),
            Self::XPixelCoord | Self::YPixelCoord | Self::MsFlags | Self::RevFlag => {
                AccessRow::of(Peripheral::Pixels, S::FRAGMENT)
            }
            Self::VpmRead => AccessRow::of(Peripheral::Vpm, S::NOT_FRAGMENT).moving(Stream::VpmReads),
            Self::VpmLdBusy | Self::VpmStBusy | Self::VpmLdWait | Self::VpmStWait => {
                AccessRow::of(Peripheral::VpmDma, S::NOT_FRAGMENT)
            }
            Self::MutexAcquire => AccessRow::of(Peripheral::Mutex, S::ALL).coupled(),
        }
    }
}

impl WriteTarget {
    /// The row.
    #[inline]
    pub const fn row(self) -> TargetRow {
        use Stages as S;
        const TILE: AccessRow = AccessRow::of(Peripheral::TileBuffer, S::FRAGMENT).coupled();
        const PIXELS: AccessRow = AccessRow::of(Peripheral::Pixels, S::FRAGMENT);
        const VPM: AccessRow = AccessRow::of(Peripheral::Vpm, S::NOT_FRAGMENT);
        match self {
            // There is no forwarding from the register files [AG p.18].
            Self::Register(_) => TargetRow::per_element(AccessRow::NONE).after(2),
            Self::Accumulator(_) | Self::R5PerQuad | Self::R5Replicated => {
                TargetRow::per_element(AccessRow::NONE).after(1)
            }
            Self::Nop => TargetRow::per_element(AccessRow::NONE),
            Self::TmuNoSwap => TargetRow::unconditional(AccessRow::of(Peripheral::TmuSwap, S::ALL)),
            Self::HostInterrupt => TargetRow::per_element(AccessRow::of(Peripheral::Host, S::ALL)),
            Self::UniformsAddress => TargetRow::unconditional(AccessRow::of(Peripheral::Uniforms, S::ALL)),
            Self::QuadX | Self::QuadY => TargetRow::unconditional(PIXELS),
            Self::MsFlags | Self::RevFlag => TargetRow::per_element(PIXELS),
            Self::TlbStencilSetup | Self::TlbAlphaMask => TargetRow::unconditional(TILE),
            Self::TlbZ | Self::TlbColorAll => TargetRow::per_element(TILE),
            Self::TlbColorMs => TargetRow::per_element(TILE.moving(Stream::ColorWrites)),
            Self::VpmWrite => TargetRow::unconditional(VPM.moving(Stream::VpmWrites)),
            // The addresses are also those of DMA's set-ups.
            Self::VpmVcdRdSetup | Self::VpmVcdWrSetup => TargetRow::unconditional(VPM),
            Self::VpmLdAddr | Self::VpmStAddr => {
                TargetRow::unconditional(AccessRow::of(Peripheral::VpmDma, S::NOT_FRAGMENT))
            }
            Self::MutexRelease => TargetRow::unconditional(AccessRow::of(Peripheral::Mutex, S::ALL)),
            Self::SfuRecip | Self::SfuRecipSqrt | Self::SfuExp | Self::SfuLog => {
                TargetRow::unconditional(AccessRow::of(Peripheral::Sfu, S::ALL).coupled()).after(SFU_LATENCY)
            }
            Self::Tmu { unit, .. } => {
                let tmu = AccessRow::of(Peripheral::Tmu(unit), S::ALL).coupled();
                TargetRow::unconditional(tmu.moving(Stream::TmuParameters(unit)))
            }
        }
    }

    /// Whether it is a unit outside of the QPU.
    #[inline]
    pub const fn is_peripheral(self) -> bool {
        self.row().access.peripheral.is_some()
    }

    /// Whether it is a unit that is told of a write in all elements, whatever the condition.
    #[inline]
    pub const fn ignores_condition(self) -> bool {
        self.is_peripheral() && matches!(self.row().conditional, Conditional::Ignored)
    }

    /// Whether it is r5, which both files have at one address with different meanings.
    #[inline]
    pub const fn is_r5(self) -> bool {
        matches!(self, Self::R5PerQuad | Self::R5Replicated)
    }

    /// Whether both are the same register or unit: all writes to r5 are, and there are no others in which the file makes a difference.
    pub fn is_same(self, other: Self) -> bool {
        self == other || self.is_r5() && other.is_r5()
    }

    /// Whether a write of this coordinate starts a lookup.
    #[inline]
    pub const fn starts_lookup(self) -> bool {
        matches!(self, Self::Tmu { coordinate: TmuCoordinate::S, .. })
    }

    /// Whether it is written to the SFU.
    #[inline]
    pub const fn is_sfu(self) -> bool {
        matches!(self.row().access.peripheral, Some(Peripheral::Sfu))
    }

    /// Whether samples of the tile buffer are written, for which the scoreboard is waited. The set-up of the stencil test is no such access: Mesa begins
    /// fragment shaders with it [mesa vc4_qpu_schedule.c].
    #[inline]
    pub const fn writes_samples(self) -> bool {
        matches!(self, Self::TlbZ | Self::TlbColorMs | Self::TlbColorAll | Self::TlbAlphaMask)
    }

    /// Whether the tile buffer or its set-up is written.
    #[inline]
    pub const fn is_tile_buffer(self) -> bool {
        matches!(self.row().access.peripheral, Some(Peripheral::TileBuffer))
    }

    /// Whether colours of samples are written, which goes together with a read of them in one access [AG p.37, p.48].
    #[inline]
    pub const fn writes_color(self) -> bool {
        matches!(self, Self::TlbColorMs | Self::TlbColorAll)
    }
}

impl Signal {
    /// The row.
    #[inline]
    pub const fn row(self) -> AccessRow {
        const TILE: AccessRow = AccessRow::of(Peripheral::TileBuffer, Stages::FRAGMENT);
        match self {
            Self::ScoreboardWait => TILE,
            // Outside of fragment shaders it does no harm.
            Self::ScoreboardUnlock => AccessRow::of(Peripheral::TileBuffer, Stages::ALL),
            Self::LoadCoverage | Self::LoadAlpha => TILE.coupled(),
            Self::LoadColor | Self::LoadColorEnd => TILE.coupled().moving(Stream::ColorReads),
            Self::LoadTmu0 => AccessRow::of(Peripheral::Tmu(0), Stages::ALL).coupled().moving(Stream::TmuResults(0)),
            Self::LoadTmu1 => AccessRow::of(Peripheral::Tmu(1), Stages::ALL).coupled().moving(Stream::TmuResults(1)),
            _ => AccessRow::NONE,
        }
    }

    /// Whether it loads r4, for the next instruction [AG p.29].
    #[inline]
    pub const fn loads_r4(self) -> bool {
        self.row().is_coupled
    }

    /// The TMU whose oldest result it loads.
    #[inline]
    pub const fn loads_tmu(self) -> Option<u8> {
        match self.row().stream {
            Some(Stream::TmuResults(unit)) => Some(unit),
            _ => None,
        }
    }

    /// Whether it loads r4 from the tile buffer.
    #[inline]
    pub const fn loads_tile(self) -> bool {
        self.loads_r4() && matches!(self.row().peripheral, Some(Peripheral::TileBuffer))
    }

    /// Whether it loads a colour, which goes together with a write of colour in one access [AG p.37, p.48].
    #[inline]
    pub const fn loads_color(self) -> bool {
        matches!(self, Self::LoadColor | Self::LoadColorEnd)
    }

    /// Whether the program ends, after two more instructions.
    #[inline]
    pub const fn ends_program(self) -> bool {
        matches!(self, Self::ProgramEnd | Self::LoadColorEnd)
    }

    /// Whether the QPU goes on with its other thread, after two more instructions.
    #[inline]
    pub const fn switches_threads(self) -> bool {
        matches!(self, Self::ThreadSwitch | Self::LastThreadSwitch)
    }
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use super::*;

    fn addresses(has: impl Fn(TargetRow) -> bool) -> Vec<u8> {
        (0..64).filter(|&address| has(WriteTarget::of(File::A, address).row())).collect()
    }

    /// The guide's list: TMU, TLB and SFU writes; reads by signals, and of the mutex [AG p.37].
    #[test]
    fn closely_coupled_peripherals_are_those_of_the_guide() {
        assert_eq!(addresses(|row| row.access.is_coupled), (43..=47).chain(52..=63).collect::<Vec<_>>());
        let read = |address| ReadSource::of(File::B, address).row().is_coupled;
        assert_eq!((0..64).filter(|&address| read(address)).collect::<Vec<_>>(), [51]);
        let signals: Vec<u8> =
            Signal::ALL.iter().filter(|signal| signal.loads_r4()).map(|signal| signal.code()).collect();
        assert_eq!(signals, [7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn results_come_when_the_guide_says() {
        // Register files, accumulators, r5, and the SFU's for the third instruction [AG p.17-18, p.23].
        assert_eq!(addresses(|row| row.latency == 2), (0..32).collect::<Vec<_>>());
        assert_eq!(addresses(|row| row.latency == 1), [32, 33, 34, 35, 37]);
        assert_eq!(addresses(|row| row.latency == 3), [52, 53, 54, 55]);
    }

    #[test]
    fn stages_have_their_units() {
        let only = |stages| addresses(|row| row.access.stages == stages);
        assert_eq!(only(Stages::FRAGMENT), (41..=47).collect::<Vec<_>>());
        assert_eq!(only(Stages::NOT_FRAGMENT), [48, 49, 50]);
        assert!(!Stages::NOT_FRAGMENT.include(Stages::FRAGMENT) && Stages::ALL.include(Stages::NOT_FRAGMENT));
    }
}

//! Values of expressions: numbers, registers, per-element constants, labels.

use v3d_hw::qpu::WriteTarget;

use crate::code::Code;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
    /// A register, perhaps rotated, perhaps with a pack or unpack suffix.
    Register(Register),
    /// Two bits for each of the 16 elements.
    PerElement(PerElement),
    /// A label plus a number of bytes.
    Label {
        /// Number of the label.
        id: u32,
        /// Bytes added to its address.
        addend: i64,
    },
    /// The distance between two labels.
    Distance(Distance),
}

impl Value {
    /// The kind of value, for diagnostics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Register(register) if register.access.semaphore() => "a semaphore",
            Self::Register(_) => "a register",
            Self::PerElement(_) => "a per-element constant",
            Self::Label { .. } => "a label",
            Self::Distance(_) => "a distance between labels",
        }
    }
}

/// The distance from one label to another, plus a number of bytes. It keeps the labels, so that it can be computed again when code has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Number of the label at its end.
    pub to: u32,
    /// Number of the label at its start.
    pub from: u32,
    /// Bytes added to it.
    pub addend: i64,
    /// The sum in bytes, by the addresses that are known where it is computed.
    pub bytes: i64,
}

impl Distance {
    /// The distance plus a number of bytes.
    #[must_use]
    pub const fn plus(self, by: i64) -> Self {
        Self { addend: self.addend.wrapping_add(by), bytes: self.bytes.wrapping_add(by), ..self }
    }

    /// The distance in the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        let Self { to, from, addend, bytes } = self;
        Self { to: from, from: to, addend: addend.wrapping_neg(), bytes: bytes.wrapping_neg() }
    }
}

/// A constant with two bits for each element, in the form of the immediate field [AG p.33].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerElement {
    /// High bits in 31:16, low bits in 15:0.
    pub bits: u32,
    /// Whether the elements are signed.
    pub sign: Sign,
}

/// The range of the elements of a per-element constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// -2 to 1: at least one is negative.
    Signed,
    /// All are 0 or 1.
    Either,
    /// 0 to 3: at least one is above 1.
    Unsigned,
}

/// The files that a register is in, and how it can be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access(pub u8);

impl Access {
    /// In register file A.
    pub const A: Self = Self(1);
    /// In register file B.
    pub const B: Self = Self(2);
    /// In both.
    pub const AB: Self = Self(3);
    /// Can be read through a register file.
    pub const READ: Self = Self(4);
    /// Can be written.
    pub const WRITE: Self = Self(8);
    /// A semaphore to be released.
    pub const RELEASE: Self = Self(16);
    /// A semaphore to be acquired.
    pub const ACQUIRE: Self = Self(32);

    /// The union of both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in `self`.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it is a semaphore.
    pub const fn semaphore(self) -> bool {
        self.0 & (Self::RELEASE.0 | Self::ACQUIRE.0) != 0
    }

    /// Whether the register is the same in both files.
    pub const fn either_file(self) -> bool {
        self.has(Self::AB)
    }
}

/// The rotation of a register operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// None.
    #[default]
    None,
    /// Upwards by 1 to 15 elements.
    Up(u8),
    /// Upwards by r5.
    UpByR5,
    /// Downwards by r5, which is possible for sources only.
    DownByR5,
}

impl Rotation {
    /// The rotation as a number: 0 to 15 upwards, 16 upwards by r5, -16 downwards by r5.
    pub const fn number(self) -> i8 {
        match self {
            Self::None => 0,
            Self::Up(by) => by as i8,
            Self::UpByR5 => 16,
            Self::DownByR5 => -16,
        }
    }

    /// The rotation for a number.
    pub const fn from_number(number: i8) -> Self {
        match number {
            0 => Self::None,
            16 => Self::UpByR5,
            -16 => Self::DownByR5,
            other => match other & 15 {
                0 => Self::None,
                by => Self::Up(by as u8),
            },
        }
    }

    /// Rotates further by `amount` elements; an error after a rotation by r5.
    pub fn plus(self, amount: i64) -> Result<Self, Code> {
        let now = match self {
            Self::None => 0,
            Self::Up(by) => i64::from(by),
            Self::UpByR5 | Self::DownByR5 => return Err(Code::RotationTwice),
        };
        Ok(match now.wrapping_add(amount) & 15 {
            0 => Self::None,
            by => Self::Up(by as u8),
        })
    }
}

/// Whether a pack or unpack works on integers or floats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Number {
    /// Determined by the instruction.
    #[default]
    Any,
    /// Integers.
    Int,
    /// Floats.
    Float,
}

/// Whether a suffix is a pack, an unpack, or either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Determined by the place: a pack at a target, an unpack at a source.
    #[default]
    ByPlace,
    /// Pack.
    Pack,
    /// Unpack.
    Unpack,
}

/// A pack or unpack suffix: `.16a`, `.8abcdsf`, `.unpack8d` …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackSuffix {
    /// Mode as in the pack field for register file A [AG p.31]; bit 3 is saturation. 0 means no suffix.
    pub mode: u8,
    /// Integers or floats.
    pub number: Number,
    /// Pack or unpack.
    pub direction: Direction,
}

impl PackSuffix {
    /// Whether there is no suffix.
    pub const fn is_none(self) -> bool {
        self.mode == 0
    }
}

/// A register operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Address, 0 to 63; the number for semaphores.
    pub address: u8,
    /// The files that it is in, and how it can be accessed.
    pub access: Access,
    /// Rotation.
    pub rotation: Rotation,
    /// Pack or unpack suffix.
    pub pack: PackSuffix,
}

impl Register {
    /// A register without rotation or suffix.
    pub const fn new(address: u8, access: Access) -> Self {
        let pack = PackSuffix { mode: 0, number: Number::Any, direction: Direction::ByPlace };
        Self { address, access, rotation: Rotation::None, pack }
    }

    /// The operand `-`: nothing is read or written.
    pub const NOP: Self = Self::new(NOP, Access::AB.and(Access::READ).and(Access::WRITE));

    /// The properties that both have, component by component, as macros compare registers.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self {
            address: self.address & other.address,
            access: Access(self.access.0 & other.access.0),
            rotation: Rotation::from_number(self.rotation.number() & other.rotation.number()),
            pack: PackSuffix { mode: self.pack.mode & other.pack.mode, ..PackSuffix::default() },
        }
    }

    /// The register whose address is `by` higher.
    pub fn offset(self, by: i64) -> Result<Self, Code> {
        let limit = if self.access.semaphore() { 15 } else { 63 };
        match i64::from(self.address).checked_add(by) {
            Some(address @ 0..=63) if address <= limit => Ok(Self { address: address as u8, ..self }),
            _ => Err(Code::RegisterNumberOutOfRange),
        }
    }

    /// Whether this is r5 as a source, without rotation or suffix.
    pub fn is_r5(self) -> bool {
        self == Self::new(WriteTarget::R5PerQuad.address(), Access::AB)
    }
}

pub use v3d_hw::qpu::address_map::NOP;

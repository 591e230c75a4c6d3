//! Bit fields as the guide prints them: one table, from it type and codec.
//!
//! Every structure of the hardware that is up to 128 bits wide is one [`layout!`](crate::layout!) table. Wider ones (the GL shader
//! record) are sequences of such tables. A table that overlaps itself or leaves its word does not compile.

use core::fmt;

/// A structure of the hardware made of bit fields.
pub trait Layout: Copy + PartialEq {
    /// Name as the guide prints it.
    const TITLE: &'static str;
    /// Width in bits, a multiple of 8 for everything that stands in memory.
    const BITS: u32;
    /// The fields in the order of the table.
    const FIELDS: &'static [Field];

    /// The fields put together; an error names the first value that does not fit its field.
    fn to_bits(&self) -> Result<u128, FieldError>;

    /// The fields taken apart. Every bit pattern has a meaning; bits outside all fields are ignored.
    fn from_bits(bits: u128) -> Self;

    /// Width in bytes.
    const BYTES: usize = (Self::BITS / 8) as usize;

    /// Mask of the bits that belong to a field; the others are reserved or unused.
    const DEFINED: u128 = {
        let mut mask = 0;
        let mut i = 0;
        while i < Self::FIELDS.len() {
            mask |= mask_of(Self::FIELDS[i].width()) << Self::FIELDS[i].lo;
            i += 1;
        }
        mask
    };

    /// The value as a 32-bit word; bits above 31 are cut off, so this is for layouts of at most 32 bits.
    fn to_word(&self) -> Result<u32, FieldError> {
        Ok(self.to_bits()? as u32)
    }

    /// Decodes a 32-bit word.
    fn from_word(word: u32) -> Self {
        Self::from_bits(u128::from(word))
    }

    /// Writes the value, little-endian, to the start of `bytes`; `bytes` must hold at least [`Layout::BYTES`], else
    /// nothing is written and the answer is `None`.
    fn write_to(&self, bytes: &mut [u8]) -> Result<Option<usize>, FieldError> {
        let bits = self.to_bits()?.to_le_bytes();
        Ok(bytes.get_mut(..Self::BYTES).map(|target| {
            target.copy_from_slice(&bits[..Self::BYTES]);
            Self::BYTES
        }))
    }

    /// Reads the value, little-endian, from the start of `bytes`; `None` if they are too few.
    fn read_from(bytes: &[u8]) -> Option<Self> {
        let source = bytes.get(..Self::BYTES)?;
        let mut bits = [0; 16];
        bits[..Self::BYTES].copy_from_slice(source);
        Some(Self::from_bits(u128::from_le_bytes(bits)))
    }
}

/// One row of a layout table.
#[derive(Clone, Copy)]
pub struct Field {
    /// Name, lower case.
    pub name: &'static str,
    /// Highest bit.
    pub hi: u32,
    /// Lowest bit.
    pub lo: u32,
    /// What the guide says of it.
    pub doc: &'static str,
    /// Whether it is a bus address, or a distance between two.
    pub is_address: bool,
    /// Prints the meaning of the field's bits.
    pub describe: fn(bits: u64, width: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl Field {
    /// Width in bits.
    pub const fn width(&self) -> u32 {
        self.hi - self.lo + 1
    }

    /// The field's bits out of a whole word, right-aligned.
    pub const fn extract(&self, word: u128) -> u64 {
        (word >> self.lo & mask_of(self.width())) as u64
    }

    /// The meaning of the field in a whole word, as text.
    pub fn meaning(&self, word: u128) -> Meaning<'_> {
        Meaning { field: self, bits: self.extract(word) }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.hi, self.lo, self.name)
    }
}

/// The bits of one field, printed as what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    field: &'a Field,
    bits: u64,
}

impl fmt::Display for Meaning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.field.describe)(self.bits, self.field.width(), f)
    }
}

/// A raw word printed field by field, `{ name: meaning, … }`.
#[derive(Clone, Copy, Debug)]
pub struct Explained {
    /// The rows of the table.
    pub fields: &'static [Field],
    /// The word.
    pub bits: u128,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, field) in self.fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma} {}: {}", field.name, field.meaning(self.bits))?;
        }
        f.write_str(" }")
    }
}

/// A value that does not fit the field it is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The layout's title.
    pub layout: &'static str,
    /// The field's name.
    pub field: &'static str,
    /// The value, sign-extended.
    pub value: i64,
    /// Highest bit of the field.
    pub hi: u32,
    /// Lowest bit of the field.
    pub lo: u32,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, field, value, hi, lo } = self;
        write!(f, "{layout}: {value:#x} does not fit field {field} (bits {hi}:{lo})")
    }
}

impl core::error::Error for FieldError {}

/// A type that can stand in a bit field.
pub trait FieldType: Copy + PartialEq {
    /// Whether it is a bus address, or a distance between two.
    const IS_ADDRESS: bool = false;

    /// The value as bits, negative numbers sign-extended; only the field's width of them is stored.
    fn to_field(self) -> u64;

    /// The value of `width` bits, which stand right-aligned in `bits`.
    fn from_field(bits: u64, width: u32) -> Self;

    /// Whether a field of `width` bits can hold this value.
    #[inline]
    fn fits(self, width: u32) -> bool {
        Self::from_field(self.to_field() & mask_of(width) as u64, width) == self
    }

    /// The value as an error message names it.
    fn named(self) -> i64 {
        self.to_field() as i64
    }

    /// Prints the value.
    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A mask of the `width` lowest bits.
#[inline]
pub const fn mask_of(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Prints the bits of a field of type `T`; the function that [`Field::describe`] points to.
pub fn describe<T: FieldType>(bits: u64, width: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    T::from_field(bits, width).describe(f)
}

/// One value as it stands in its place of the word, or `None` if it does not fit.
#[inline]
pub fn put<T: FieldType>(value: T, hi: u32, lo: u32) -> Option<u128> {
    let width = hi - lo + 1;
    value.fits(width).then(|| (u128::from(value.to_field()) & mask_of(width)) << lo)
}

/// Takes one value out of its place.
#[inline]
pub fn get<T: FieldType>(word: u128, hi: u32, lo: u32) -> T {
    let width = hi - lo + 1;
    T::from_field((word >> lo & mask_of(width)) as u64, width)
}

/// Refuses, at compile time, tables whose fields overlap or leave the word.
pub const fn check(fields: &[Field], bits: u32) {
    let mut used = 0u128;
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        assert!(field.lo <= field.hi && field.hi < bits, "a field leaves its word");
        let mask = mask_of(field.width()) << field.lo;
        assert!(used & mask == 0, "fields overlap");
        used |= mask;
        i += 1;
    }
}

macro_rules! unsigned_field {
    ($($ty:ty),*) => {$(
        impl FieldType for $ty {
            #[inline]
            fn to_field(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn from_field(bits: u64, _width: u32) -> Self {
                bits as $ty
            }

            fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self < 10 { write!(f, "{self}") } else { write!(f, "{self} ({self:#x})") }
            }
        }
    )*};
}

macro_rules! signed_field {
    ($($ty:ty),*) => {$(
        impl FieldType for $ty {
            #[inline]
            fn to_field(self) -> u64 {
                i64::from(self) as u64
            }

            #[inline]
            fn from_field(bits: u64, width: u32) -> Self {
                let unused = 64 - width;
                ((bits << unused) as i64 >> unused) as $ty
            }

            fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    )*};
}

unsigned_field!(u8, u16, u32, u64);
signed_field!(i8, i16, i32);

impl FieldType for bool {
    fn to_field(self) -> u64 {
        u64::from(self)
    }

    fn from_field(bits: u64, _width: u32) -> Self {
        bits != 0
    }

    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self { "yes" } else { "no" })
    }
}

/// A float is compared by its bits, so that NaN and the two zeros survive a round trip.
impl FieldType for f32 {
    fn to_field(self) -> u64 {
        u64::from(self.to_bits())
    }

    fn from_field(bits: u64, _width: u32) -> Self {
        f32::from_bits(bits as u32)
    }

    fn fits(self, width: u32) -> bool {
        width == 32
    }

    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Describes a structure of the hardware by its bit fields; see the crate's documentation.
///
/// ```
/// v3d_hw::layout! {
///     /// Depth Offset [AG p.70].
///     pub struct Example: 32 bits "Example" {
///         /// Units.
///         31:16 units: u16,
///         /// Factor.
///         15:0 factor: u16,
///     }
/// }
/// use v3d_hw::Layout;
/// assert_eq!(Example { units: 1, factor: 2 }.to_word(), Ok(0x0001_0002));
/// ```
#[macro_export]
macro_rules! layout {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $bits:literal bits $title:literal {
            $( $(#[doc = $doc:literal])+ $hi:literal:$lo:literal $field:ident: $ty:ty ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        ///
        #[doc = concat!("# Bits\n*", $title, "*, ", $bits, " bits. What no row names is reserved or unused.\n")]
        ///
        /// | bits | field | meaning |
        /// |---|---|---|
        $( #[doc = concat!("| ", $hi, ":", $lo, " | `", stringify!($field), "` | ", $($doc,)+ " |")] )*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $(
                #[doc = concat!("Bits ", $hi, ":", $lo, ".")]
                $(#[doc = $doc])+
                pub $field: $ty,
            )*
        }

        const _: () = $crate::layout::check(<$name as $crate::layout::Layout>::FIELDS, $bits);

        impl $crate::layout::Layout for $name {
            const TITLE: &'static str = $title;
            const BITS: u32 = $bits;
            const FIELDS: &'static [$crate::layout::Field] = &[
                $( $crate::layout::Field {
                    name: stringify!($field),
                    hi: $hi,
                    lo: $lo,
                    doc: concat!($($doc,)+),
                    is_address: <$ty as $crate::layout::FieldType>::IS_ADDRESS,
                    describe: $crate::layout::describe::<$ty>,
                }, )*
            ];

            #[inline]
            #[allow(unused_mut, reason = "a layout may have no fields")]
            fn to_bits(&self) -> ::core::result::Result<u128, $crate::layout::FieldError> {
                let mut word = 0;
                $(
                    match $crate::layout::put(self.$field, $hi, $lo) {
                        Some(bits) => word |= bits,
                        None => return Err($crate::layout::FieldError {
                            layout: $title,
                            field: stringify!($field),
                            value: $crate::layout::FieldType::named(self.$field),
                            hi: $hi,
                            lo: $lo,
                        }),
                    }
                )*
                Ok(word)
            }

            #[inline]
            #[allow(unused_variables, reason = "a layout may have no fields")]
            fn from_bits(bits: u128) -> Self {
                Self { $( $field: $crate::layout::get(bits, $hi, $lo), )* }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str($title)?;
                #[allow(unused_mut, unused_assignments, reason = "a layout may have no fields")]
                let mut separator = " {";
                $(
                    ::core::write!(f, "{separator} {}: ", stringify!($field))?;
                    $crate::layout::FieldType::describe(self.$field, f)?;
                    separator = ",";
                )*
                f.write_str(if separator == "," { " }" } else { "" })
            }
        }
    };
}

/// Names the values of a coded field. With `_ => Reserved` codes without a name are kept as they are; without it all codes must be named.
#[macro_export]
macro_rules! codes {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $width:literal bits {
            $( $(#[doc = $doc:literal])+ $code:literal => $variant:ident $text:literal ),* ,
            _ => Reserved $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )*
            /// A code that the guide gives no meaning; always one that has no other name here.
            Reserved(u8),
        }

        impl $name {
            /// All codes with a name, in their order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// Width of the code in bits.
            pub const WIDTH: u32 = $width;

            /// The code.
            #[inline]
            pub const fn code(self) -> u8 {
                match self {
                    $( Self::$variant => $code, )*
                    Self::Reserved(code) => code,
                }
            }

            /// The value of a code.
            #[inline]
            pub const fn from_code(code: u8) -> Self {
                match code {
                    $( $code => Self::$variant, )*
                    other => Self::Reserved(other),
                }
            }

            /// The name as text, "reserved" for codes without a meaning.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::Reserved(_) => "reserved",
                }
            }
        }

        $crate::codes!(@impls $name $width);
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $width:literal bits {
            $( $(#[doc = $doc:literal])+ $code:literal => $variant:ident $text:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant = $code, )*
        }

        const _: () = assert!($name::ALL.len() == 1 << $width, "not all codes have a name");

        impl $name {
            /// All values, in the order of their codes.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// Width of the code in bits.
            pub const WIDTH: u32 = $width;

            /// The code.
            #[inline]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The value of a code; bits above the code's width are ignored.
            #[inline]
            pub const fn from_code(code: u8) -> Self {
                match code & ((1 << $width) - 1) {
                    $( $code => Self::$variant, )*
                    _ => Self::ALL[0],
                }
            }

            /// The name as text.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )*
                }
            }
        }

        $crate::codes!(@impls $name $width);
    };
    (@impls $name:ident $width:literal) => {
        impl Default for $name {
            fn default() -> Self {
                Self::from_code(0)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::layout::FieldType for $name {
            #[inline]
            fn to_field(self) -> u64 {
                u64::from(self.code())
            }

            #[inline]
            fn from_field(bits: u64, _width: u32) -> Self {
                Self::from_code(bits as u8)
            }

            fn describe(self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, "{} ({})", self.name(), self.code())
            }
        }
    };
}

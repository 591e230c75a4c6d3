//! A program as scalar values in SSA form: each value is a word of 32 bits, computed once, in all 16 elements.
//!
//! Control flow is structured: both sides of an `if` are computed and selected by masks, and a loop is a pair of marks in the sequence of computations.
//! Booleans are masks: 0, or all bits set. The mask of active elements is a value like others.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use hashbrown::HashMap;

use naga::Span;
use v3d_hw::qpu::{AddOp, MulOp};

/// A value of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) u32);

impl Value {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// The relation of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Equal as floats; the two zeros are equal.
    FloatEqual,
    /// Not equal as floats.
    FloatNotEqual,
    /// Less, as floats.
    FloatLess,
    /// Not less, as floats.
    FloatNotLess,
    /// Greater magnitude, as floats.
    MagnitudeGreater,
    /// Not greater magnitude, as floats.
    MagnitudeNotGreater,
    /// Equal bits.
    Equal,
    /// Different bits.
    NotEqual,
    /// Less, as signed integers.
    SignedLess,
    /// Not less, as signed integers.
    SignedNotLess,
    /// Less, as unsigned integers.
    UnsignedLess,
    /// Not less, as unsigned integers.
    UnsignedNotLess,
}

impl Relation {
    /// The complementary relation.
    pub const fn inverse(self) -> Self {
        match self {
            Self::FloatEqual => Self::FloatNotEqual,
            Self::FloatNotEqual => Self::FloatEqual,
            Self::FloatLess => Self::FloatNotLess,
            Self::FloatNotLess => Self::FloatLess,
            Self::MagnitudeGreater => Self::MagnitudeNotGreater,
            Self::MagnitudeNotGreater => Self::MagnitudeGreater,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::SignedLess => Self::SignedNotLess,
            Self::SignedNotLess => Self::SignedLess,
            Self::UnsignedLess => Self::UnsignedNotLess,
            Self::UnsignedNotLess => Self::UnsignedLess,
        }
    }

    /// Whether it is true for two words.
    pub fn holds(self, a: u32, b: u32) -> bool {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        match self {
            Self::FloatEqual => x == y,
            Self::FloatNotEqual => x != y,
            Self::FloatLess => x < y,
            Self::FloatNotLess => x >= y,
            Self::MagnitudeGreater => x.abs() > y.abs(),
            Self::MagnitudeNotGreater => x.abs() <= y.abs(),
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::SignedLess => (a as i32) < b as i32,
            Self::SignedNotLess => a as i32 >= b as i32,
            Self::UnsignedLess => a < b,
            Self::UnsignedNotLess => a >= b,
        }
    }
}

/// Functions of the special function unit [AG p.24].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// 1 / x.
    Recip,
    /// 1 / sqrt(x).
    RecipSqrt,
    /// 2^x.
    Exp,
    /// log2(x).
    Log,
}

/// An input of a program that is not in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Given {
    /// W of the fragment, in ra15 at the start.
    FragmentW,
    /// Z of the fragment as 24 bits, in rb15.
    FragmentZ,
    /// X of the pixel.
    PixelX,
    /// Y of the pixel.
    PixelY,
    /// Nonzero where the primitive is back-facing.
    BackFacing,
    /// Covered samples, one bit each.
    Samples,
    /// Index of the element, 0 to 15.
    Element,
    /// Index of the workgroup along one of three axes.
    Workgroup(u8),
    /// Index of the program's 16 invocations in the workgroup.
    Part,
}

/// A component of a word that is unpacked to a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedComponent {
    /// A byte: 0 to 255 as 0 to 1.
    Byte(u8),
    /// Half of the word as a 16-bit float.
    Half(u8),
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant.
    Const(u32),
    /// A word of the uniforms: an index into [`Program::words`].
    Uniform(u32),
    /// A component of the varyings.
    Varying(u32),
    /// A component of the varyings that is not interpolated.
    FlatVarying(u32),
    /// The position in a point, horizontally or vertically, which the hardware provides before the varyings of the vertices.
    PointCoordinate(u8),
    /// A word of the vertex.
    Attribute(u32),
    /// An input that is not in a stream.
    Given(Given),
    /// An operation of the add ALU.
    Add(AddOp, Value, Value),
    /// An operation of the mul ALU.
    Mul(MulOp, Value, Value),
    /// A function of the special function unit.
    Special(Special, Value),
    /// A component of a word, unpacked to a float.
    Unpack(PackedComponent, Value),
    /// A float between 0 and 1, packed to all four bytes.
    PackAll(Value),
    /// A word with one byte replaced by a packed float between 0 and 1.
    PackByte(u8, Value, Value),
    /// A float as an integer in one half of a word; the other half is 0, or that of another word.
    PackInteger(u8, Option<Value>, Value),
    /// A float as a 16-bit float in one half of a word; the other half is 0, or that of another word.
    PackHalf(u8, Option<Value>, Value),
    /// A comparison; the result is a mask.
    Compare(Relation, Value, Value),
    /// A select: the second operand where the first is not 0, else the third.
    Select(Value, Value, Value),
    /// The value of the element so many places before, within 16.
    Rotate(u8, Value),
    /// A value that is rotated by so many places, and then in all elements what it is in the first one, or in the first one of each quad.
    Copies {
        /// Of each quad.
        by_quad: bool,
        /// Places.
        places: u8,
        /// The value.
        from: Value,
    },
    /// A row of the VPM, by the word that sets the read up, as it is at one time: the time goes on with all that may change the VPM.
    VpmRow(Value, u32),
    /// A value that a loop carries from one iteration to the next.
    Carried(u32, u32),
    /// A loop-carried value, after the loop.
    Left(u32, u32),
    /// The result of a texture lookup: an index into [`Program::lookups`].
    Texture(u32),
    /// The word at an address in read-only memory.
    Fetch(Value),
    /// A memory access: an index into [`Program::accesses`].
    Access(u32),
    /// Writes a word to the VPM.
    Output(Value),
    /// Writes the colour of a fragment program; of half floats, red and green.
    Color(Value),
    /// Writes the half floats blue and alpha of a fragment program's colour.
    BlueAlpha(Value),
    /// The mask of elements that are not discarded.
    Keep(Value),
    /// Writes the depth of a fragment program, as 24 bits.
    Depth(Value),
}

impl Op {
    /// Its operands.
    pub fn operands(&self) -> Vec<Value> {
        let (operands, count) = self.few_operands();
        operands[..count].to_vec()
    }

    /// Its operands, and how many they are.
    const fn few_operands(&self) -> ([Value; 3], usize) {
        match *self {
            Self::Const(_)
            | Self::Uniform(_)
            | Self::Varying(_)
            | Self::FlatVarying(_)
            | Self::PointCoordinate(_)
            | Self::Attribute(_)
            | Self::Given(_)
            | Self::Carried(..)
            | Self::Left(..)
            | Self::Texture(_)
            | Self::Access(_) => ([Value(0); 3], 0),
            Self::Special(_, a)
            | Self::Unpack(_, a)
            | Self::PackAll(a)
            | Self::PackInteger(_, None, a)
            | Self::PackHalf(_, None, a)
            | Self::Rotate(_, a)
            | Self::Copies { from: a, .. }
            | Self::VpmRow(a, _)
            | Self::Fetch(a)
            | Self::Output(a)
            | Self::Color(a)
            | Self::BlueAlpha(a)
            | Self::Keep(a)
            | Self::Depth(a) => ([a; 3], 1),
            Self::Add(op, a, _) if op.is_unary() => ([a; 3], 1),
            Self::Add(_, a, b)
            | Self::Mul(_, a, b)
            | Self::PackByte(_, a, b)
            | Self::PackInteger(_, Some(a), b)
            | Self::PackHalf(_, Some(a), b)
            | Self::Compare(_, a, b) => ([a, b, b], 2),
            Self::Select(a, b, c) => ([a, b, c], 3),
        }
    }

    /// The operands of [`Self::operands`], to be replaced; those of operations of one operand that is written twice are both there.
    fn operands_mut(&mut self) -> Vec<&mut Value> {
        match self {
            Self::Const(_)
            | Self::Uniform(_)
            | Self::Varying(_)
            | Self::FlatVarying(_)
            | Self::PointCoordinate(_)
            | Self::Attribute(_)
            | Self::Given(_)
            | Self::Carried(..)
            | Self::Left(..)
            | Self::Texture(_)
            | Self::Access(_) => Vec::new(),
            Self::Special(_, a)
            | Self::Unpack(_, a)
            | Self::PackAll(a)
            | Self::PackInteger(_, None, a)
            | Self::PackHalf(_, None, a)
            | Self::Rotate(_, a)
            | Self::Copies { from: a, .. }
            | Self::VpmRow(a, _)
            | Self::Fetch(a)
            | Self::Output(a)
            | Self::Color(a)
            | Self::BlueAlpha(a)
            | Self::Keep(a)
            | Self::Depth(a) => vec![a],
            Self::Add(_, a, b)
            | Self::Mul(_, a, b)
            | Self::PackByte(_, a, b)
            | Self::PackInteger(_, Some(a), b)
            | Self::PackHalf(_, Some(a), b)
            | Self::Compare(_, a, b) => vec![a, b],
            Self::Select(a, b, c) => vec![a, b, c],
        }
    }

    /// The same operation of other operands, as [`Self::operands`] has them.
    pub(crate) fn with_operands(mut self, operands: &[Value]) -> Self {
        let places = self.operands_mut();
        let padded = operands.iter().chain(core::iter::repeat_n(operands.last(), usize::MAX).flatten());
        places.into_iter().zip(padded).for_each(|(place, operand)| *place = *operand);
        self
    }

    /// Whether it must be executed even if its value is not used.
    pub const fn has_effect(&self) -> bool {
        matches!(self, Self::Output(_) | Self::Color(_) | Self::BlueAlpha(_) | Self::Keep(_) | Self::Depth(_))
    }
}

/// A word in the stream of uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamWord {
    /// A component of a field.
    Field {
        /// Index into [`Interface::fields`](crate::interface::Interface).
        field: u32,
        /// Component.
        index: u32,
    },
    /// A component of the viewport, which the renderer fills in.
    Viewport(Viewport),
    /// The index of the instance, which the renderer fills in.
    Instance,
    /// A constant.
    Constant(u32),
    /// The address of a byte of a storage buffer.
    Buffer {
        /// Index into the interface's buffers.
        buffer: u32,
        /// Bytes from its start.
        offset: u32,
    },
    /// Number of elements of the runtime-sized array at the end of a storage buffer.
    Length(u32),
    /// The address of a byte of the memory of the workgroup in main memory.
    WorkgroupMemory(u32),
    /// The address of a byte of the memory of the workgroup in the VPM, 64 bytes a row.
    VpmMemory(u32),
    /// What whoever starts a compute program says about the share of the work that is this program's.
    Share(Share),
    /// The address of a word of this stream, by index. Before the pass `link` the index is the number of a loop, for the first word that it reads.
    OwnAddress(u32),
    /// A parameter word of a texture.
    Texture {
        /// Index into the interface's textures.
        texture: u32,
        /// Number of the parameter.
        parameter: u8,
        /// The kind of sampling.
        sampling: Sampling,
    },
    /// The size of a texture's level; of the last level if there are fewer.
    TextureSize {
        /// Index into the interface's textures.
        texture: u32,
        /// Width or height.
        axis: Axis,
        /// Level.
        level: u8,
        /// The numeric format.
        form: SizeForm,
    },
    /// The number of levels of a texture.
    TextureLevels {
        /// Index into the interface's textures.
        texture: u32,
    },
}

impl StreamWord {
    /// Whether it is a parameter of a lookup.
    pub const fn is_texture_parameter(&self) -> bool {
        matches!(self, Self::Texture { .. })
    }

    /// The texture that it belongs to.
    pub const fn texture(&self) -> Option<u32> {
        match *self {
            Self::Texture { texture, .. } | Self::TextureSize { texture, .. } | Self::TextureLevels { texture } => {
                Some(texture)
            }
            _ => None,
        }
    }
}

/// The filters and levels of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// The texture's filters, at the quad's level of detail; b is a bias.
    Automatic,
    /// The texture's filters, at the level of detail b.
    Level,
    /// The nearest texel, at the quad's level of detail; b is a bias.
    Nearest,
    /// The nearest texel of level b.
    Texel,
}

/// A side of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Width in texels.
    Width,
    /// Height in texels.
    Height,
}

/// The numeric format of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeForm {
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// Its reciprocal, as a float.
    Inverse,
}

/// A part of the description of a run of a compute program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// Index of the first workgroup along one of three axes.
    First(u8),
    /// Index of the first 16 invocations in it.
    Part,
    /// Number of iterations.
    Iterations,
    /// The first of four rows of the VPM for this program.
    Row,
    /// Number of workgroups along one of three axes.
    Count(u8),
    /// The address of the stream's first word that is read in each iteration.
    Stream,
}

/// The transformation from normalised device coordinates to screen coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Viewport {
    /// Half of the width in 1/16 pixel.
    HalfWidth,
    /// Half of the height in 1/16 pixel.
    HalfHeight,
    /// Zs = Zc / Wc * scale + offset.
    ZScale,
    /// Zs = Zc / Wc * scale + offset.
    ZOffset,
}

/// A texture lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Index into the interface's textures.
    pub texture: u32,
    /// Filters and levels.
    pub sampling: Sampling,
    /// s and t.
    pub place: [Value; 2],
    /// r of a cube map.
    pub r: Option<Value>,
    /// Bias of the level of detail, or the level itself.
    pub bias: Option<Value>,
}

/// An atomic operation, executed under the mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atomic {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    ExclusiveOr,
    /// Bitwise or.
    InclusiveOr,
    /// Signed minimum.
    SignedMin,
    /// Signed maximum.
    SignedMax,
    /// Unsigned minimum.
    UnsignedMin,
    /// Unsigned maximum.
    UnsignedMax,
    /// Replacement by the new word.
    Exchange,
    /// Replacement by the new word if the old one has the expected value.
    CompareExchange,
}

/// Writable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A storage buffer, by its index in the interface.
    Buffer(u32),
    /// What the invocations of a workgroup share, in main memory.
    Workgroup,
    /// The same in the VPM: an address counts bytes, 64 a row.
    Vpm,
}

/// An access to writable memory. Addresses are 0 in inactive elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads one word. If the program may have written it before, the TMUs' caches must be bypassed.
    Load {
        /// The memory.
        memory: Memory,
        /// A valid address in all elements.
        address: Value,
        /// The address, 0 in inactive elements; `None` if caches may be used.
        uncached: Option<Value>,
    },
    /// Stores up to four adjacent words.
    Store {
        /// The memory.
        memory: Memory,
        /// The address of the first word.
        address: Value,
        /// The words.
        words: Vec<Value>,
        /// The stride in bytes between elements if all are stored at once.
        stride: u32,
    },
    /// A row of the workgroup's memory in the VPM.
    StoreRow {
        /// The word that sets the write up, or a read.
        setup: Value,
        /// The words.
        word: Value,
        /// The elements whose words are stored; `None` for all of them.
        mask: Option<Value>,
    },
    /// A word is changed, element after element; the value is the old word.
    Atomic {
        /// The memory.
        memory: Memory,
        /// The operation.
        function: Atomic,
        /// The address of the word.
        address: Value,
        /// The other operand.
        data: Value,
        /// The expected word, for a compare and exchange.
        compare: Value,
    },
    /// All programs of the workgroup come here before one of them goes on.
    Barrier {
        /// Where the memory of the workgroup is.
        memory: Memory,
    },
    /// The memory of the workgroup becomes 0, from the address on.
    Clear {
        /// Where the memory is.
        memory: Memory,
        /// Address.
        address: Value,
        /// Number of lines of 64 bytes.
        lines: u32,
    },
}

impl Access {
    /// Its operands.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Self::Load { address, uncached, .. } => vec![uncached.unwrap_or(*address)],
            Self::Store { address, words, .. } => core::iter::once(*address).chain(words.iter().copied()).collect(),
            Self::Atomic { function: Atomic::CompareExchange, address, data, compare, .. } => {
                vec![*address, *data, *compare]
            }
            Self::Atomic { address, data, .. } => vec![*address, *data],
            Self::StoreRow { setup, word, mask } => [*setup, *word].into_iter().chain(*mask).collect(),
            Self::Barrier { .. } => Vec::new(),
            Self::Clear { address, .. } => vec![*address],
        }
    }

    /// All its operands, to be replaced.
    fn operands_mut(&mut self) -> Vec<&mut Value> {
        match self {
            Self::Load { address, uncached, .. } => core::iter::once(address).chain(uncached).collect(),
            Self::Store { address, words, .. } => core::iter::once(address).chain(words).collect(),
            Self::Atomic { address, data, compare, .. } => vec![address, data, compare],
            Self::StoreRow { setup, word, mask } => [setup, word].into_iter().chain(mask).collect(),
            Self::Barrier { .. } => Vec::new(),
            Self::Clear { address, .. } => vec![address],
        }
    }

    /// The memory that it writes.
    pub const fn written(&self) -> Option<Memory> {
        match self {
            Self::Store { memory, .. } | Self::Atomic { memory, .. } => Some(*memory),
            Self::StoreRow { .. } => Some(Memory::Vpm),
            _ => None,
        }
    }
}

/// A loop, repeated while `again` is nonzero in any element.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// The loop-carried values.
    pub carried: Vec<Carried>,
    /// The mask of elements that execute another iteration.
    pub again: Option<Value>,
    /// Its source location.
    pub span: Span,
}

/// A loop-carried value.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value in an iteration.
    pub value: Value,
    /// Its initial value.
    pub init: Value,
    /// Its value for the next iteration, and after the loop.
    pub next: Value,
    /// Its value for the next iteration, if it is not used after the loop: elements that have left the loop need not keep theirs.
    pub next_inside: Value,
}

/// A step in the sequence of computations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A value is computed.
    Compute(Value),
    /// A loop's iteration begins.
    Begin(u32),
    /// A loop's iteration ends.
    End(u32),
}

/// A computation, with its source location.
#[derive(Clone, Copy, Debug)]
pub struct Computation {
    /// The operation.
    pub op: Op,
    /// Its source location.
    pub span: Span,
    /// Whether the result is known to be 0 or all ones.
    pub(crate) is_mask: bool,
    /// Whether it is a sum, a difference or a product of the source, which may be reassociated; not one of a sequence that depends on the order of roundings.
    pub(crate) is_free: bool,
}

/// A program of one stage.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Computations, by value.
    pub values: Vec<Computation>,
    /// The sequence of computations.
    pub steps: Vec<Step>,
    /// Loops.
    pub loops: Vec<Loop>,
    /// Lookups of textures.
    pub lookups: Vec<Lookup>,
    /// Accesses to writable memory.
    pub accesses: Vec<Access>,
    /// The uniform words.
    pub words: Vec<StreamWord>,
    pub(crate) known: HashMap<(Op, u32), Value>,
    pub(crate) log: Vec<(Op, u32)>,
    /// Open loops, innermost last.
    pub(crate) open: Vec<u32>,
    pub(crate) here: Span,
    /// What is computed now is [free](Computation::is_free).
    pub(crate) free: bool,
    /// Number of steps of lowering so far, including discarded attempts.
    pub(crate) work: u64,
    /// Counts what may change the VPM: stores, barriers, and begins and ends of loops.
    pub(crate) vpm_time: u32,
    /// Numbers of [`Self::words`].
    pub(crate) numbers: HashMap<StreamWord, u32>,
}

impl Program {
    /// The computation of a value.
    pub fn op(&self, value: Value) -> Op {
        self.values.get(value.index()).map_or(Op::Const(0), |computation| computation.op)
    }

    /// Renumbers varyings.
    pub(crate) fn map_varyings(&mut self, number: impl Fn(u32) -> u32) {
        for computation in &mut self.values {
            if let Op::Varying(old) | Op::FlatVarying(old) = &mut computation.op {
                *old = number(*old);
            }
        }
    }

    /// Replaces values wherever they are used.
    pub(crate) fn replace_uses(&mut self, replacement: &HashMap<Value, Value>) {
        let replace = |value: &mut Value| {
            if let Some(other) = replacement.get(value) {
                *value = *other;
            }
        };
        self.values.iter_mut().flat_map(|computation| computation.op.operands_mut()).for_each(replace);
        for lookup in &mut self.lookups {
            lookup.place.iter_mut().chain(&mut lookup.r).chain(&mut lookup.bias).for_each(replace);
        }
        self.accesses.iter_mut().flat_map(Access::operands_mut).for_each(replace);
        for data in &mut self.loops {
            for Carried { value: _, init, next, next_inside } in &mut data.carried {
                [init, next, next_inside].into_iter().for_each(replace);
            }
            data.again.iter_mut().for_each(replace);
        }
    }

    /// The value of a constant; `None` if it is not one.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match self.op(value) {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Whether a value must be computed even if it is not used.
    pub fn has_effect(&self, value: Value) -> bool {
        match self.op(value) {
            Op::Access(number) => !matches!(self.accesses.get(number as usize), Some(Access::Load { .. }) | None),
            op => op.has_effect(),
        }
    }

    /// Calls for each operand of a value, including those of its lookup or access.
    pub(crate) fn each_operand(&self, value: Value, call: impl FnMut(Value)) {
        match self.op(value) {
            op @ (Op::Texture(_) | Op::Access(_)) => self.operands(&op).into_iter().for_each(call),
            op => {
                let (operands, count) = op.few_operands();
                operands.into_iter().take(count).for_each(call);
            }
        }
    }

    /// All operands of an operation, including those of its lookup or access.
    pub fn operands(&self, op: &Op) -> Vec<Value> {
        match op {
            Op::Texture(number) => self
                .lookups
                .get(*number as usize)
                .map_or(Vec::new(), |lookup| lookup.place.into_iter().chain(lookup.r).chain(lookup.bias).collect()),
            Op::Access(number) => self.accesses.get(*number as usize).map_or(Vec::new(), Access::operands),
            other => other.operands(),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut depth = 1;
        for step in &self.steps {
            match *step {
                Step::Compute(value) => {
                    let op = self.op(value);
                    let mut line = format!("{:width$}{value} = {op:?}", "", width = 2 * depth);
                    if let Op::Uniform(word) = op {
                        write!(line, " {:?}", self.words.get(word as usize))?;
                    }
                    if let Op::Texture(number) = op {
                        write!(line, " {:?}", self.lookups.get(number as usize))?;
                    }
                    if let Op::Access(number) = op {
                        write!(line, " {:?}", self.accesses.get(number as usize))?;
                    }
                    writeln!(f, "{}", line.replace("Value(", "").replace("))", ")").replace("), ", ", "))?;
                }
                Step::Begin(number) => {
                    writeln!(f, "{:width$}loop {number} {{", "", width = 2 * depth)?;
                    depth += 1;
                    for (index, carried) in self.loops[number as usize].carried.iter().enumerate() {
                        let Carried { value, init, next, .. } = carried;
                        writeln!(f, "{:width$}{value} = carried {index}: {init}, then {next}", "", width = 2 * depth)?;
                    }
                }
                Step::End(number) => {
                    depth -= 1;
                    let again = self.loops[number as usize].again.map_or_else(String::new, |again| again.to_string());
                    writeln!(f, "{:width$}}} again while any {again}", "", width = 2 * depth)?;
                }
            }
        }
        Ok(())
    }
}

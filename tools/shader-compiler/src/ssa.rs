//! A program as scalar values: every value is computed once, in all 16 elements, and is a word of 32 bits.
//!
//! Control flow is structure, not jumps: what an `if` chooses between is computed on both sides and selected, and a loop is a pair of marks in the order
//! of computation. Booleans are masks: 0, or all bits set. So that which elements take part in something is a value like others.

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

/// What a comparison asks of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same number as a float; the two zeros are equal.
    FloatEqual,
    /// Another number as a float.
    FloatNotEqual,
    /// Less as a float.
    FloatLess,
    /// Not less as a float.
    FloatNotLess,
    /// A greater magnitude as a float.
    MagnitudeGreater,
    /// No greater magnitude as a float.
    MagnitudeNotGreater,
    /// The same bits.
    Equal,
    /// Other bits.
    NotEqual,
    /// Less as a signed integer.
    SignedLess,
    /// Not less as a signed integer.
    SignedNotLess,
    /// Less as an unsigned integer.
    UnsignedLess,
    /// Not less as an unsigned integer.
    UnsignedNotLess,
}

impl Relation {
    /// The relation that holds where this one does not.
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

    /// Whether it holds between two words.
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

/// An input of a program that no stream delivers.
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
    /// Not 0 where the primitive faces away.
    BackFacing,
    /// Samples that are covered, one bit each.
    Samples,
    /// Number of the element, 0 to 15.
    Element,
    /// Number of the workgroup along one of three axes.
    Workgroup(u8),
    /// Which 16 invocations of the workgroup the program is for.
    Part,
}

/// Part of a word that is unpacked to a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedComponent {
    /// A byte, 0 to 255 as 0 to 1.
    Byte(u8),
    /// Half of the word as a 16-bit float.
    Half(u8),
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A number that is known.
    Const(u32),
    /// A word of the uniforms: an index into [`Program::words`].
    Uniform(u32),
    /// A component of the varyings.
    Varying(u32),
    /// The same of one that is not interpolated.
    FlatVarying(u32),
    /// The place in a point: across and down, which the hardware gives before the varyings of the vertices.
    PointCoordinate(u8),
    /// A word of the vertex.
    Attribute(u32),
    /// An input that no stream delivers.
    Given(Given),
    /// An operation of the add ALU.
    Add(AddOp, Value, Value),
    /// An operation of the mul ALU.
    Mul(MulOp, Value, Value),
    /// A function of the special function unit.
    Special(Special, Value),
    /// A float out of a part of a word.
    Unpack(PackedComponent, Value),
    /// A float between 0 and 1 in all four bytes.
    PackAll(Value),
    /// The word with a float between 0 and 1 in one byte.
    PackByte(u8, Value, Value),
    /// A float as an integer in a half of the word, 0 in the other; or in the other half of a word.
    PackInteger(u8, Option<Value>, Value),
    /// A float as a 16-bit float in a half of the word; likewise.
    PackHalf(u8, Option<Value>, Value),
    /// A mask.
    Compare(Relation, Value, Value),
    /// The second where the first is not 0, else the third.
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
    /// A row of the VPM, by the word that sets the read up. It is what it was at the same time before: times are counted by [`Program::vpm_time`].
    VpmRow(Value, u32),
    /// A value that a loop carries from one iteration to the next.
    Carried(u32, u32),
    /// The same behind the loop.
    Left(u32, u32),
    /// A texture's word: an index into [`Program::lookups`].
    Texture(u32),
    /// The word at an address in memory that nobody writes.
    Fetch(Value),
    /// An access of memory: an index into [`Program::accesses`].
    Access(u32),
    /// A word for the VPM.
    Output(Value),
    /// The colour that a fragment program leaves; of half floats red and green.
    Color(Value),
    /// The half floats blue and alpha of the colour that a fragment program leaves.
    BlueAlpha(Value),
    /// A mask of the elements that are not discarded.
    Keep(Value),
    /// The depth that a fragment program leaves, as 24 bits.
    Depth(Value),
}

impl Op {
    /// The values that it is computed from.
    pub fn operands(&self) -> Vec<Value> {
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
            Self::Add(op, a, _) if op.is_unary() => vec![a],
            Self::Add(_, a, b)
            | Self::Mul(_, a, b)
            | Self::PackByte(_, a, b)
            | Self::PackInteger(_, Some(a), b)
            | Self::PackHalf(_, Some(a), b)
            | Self::Compare(_, a, b) => vec![a, b],
            Self::Select(a, b, c) => vec![a, b, c],
        }
    }

    /// Whether it must be done even if nobody uses its value.
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
    /// What whoever draws fills in.
    Viewport(Viewport),
    /// The number of the instance, which whoever draws fills in, too.
    Instance,
    /// Always the same.
    Constant(u32),
    /// The address of a byte of a storage buffer.
    Buffer {
        /// Index into the interface's buffers.
        buffer: u32,
        /// Bytes from its start.
        offset: u32,
    },
    /// Elements of the array at the end of a storage buffer.
    Length(u32),
    /// The address of a byte of the memory of the workgroup in main memory.
    WorkgroupMemory(u32),
    /// The address of a byte of the memory of the workgroup in the VPM, 64 bytes a row.
    VpmMemory(u32),
    /// What whoever starts a compute program says about the share of the work that is this program's.
    Share(Share),
    /// The address of a word of this stream, by its index. Before the pass `link` it is the first word that a loop reads, by the loop's number.
    OwnAddress(u32),
    /// A parameter word of a texture.
    Texture {
        /// Index into the interface's textures.
        texture: u32,
        /// Number of the parameter.
        parameter: u8,
        /// What the lookup is.
        sampling: Sampling,
    },
    /// The size of a texture's level, or of the last one if there are fewer.
    TextureSize {
        /// Index into the interface's textures.
        texture: u32,
        /// Width or height.
        axis: Axis,
        /// Level.
        level: u8,
        /// As what kind of number.
        form: SizeForm,
    },
    /// How many levels a texture has.
    TextureLevels {
        /// Index into the interface's textures.
        texture: u32,
    },
}

impl StreamWord {
    /// Whether a lookup takes it as a parameter.
    pub const fn is_texture_parameter(&self) -> bool {
        matches!(self, Self::Texture { .. })
    }

    /// The texture that it is something of.
    pub const fn texture(&self) -> Option<u32> {
        match *self {
            Self::Texture { texture, .. } | Self::TextureSize { texture, .. } | Self::TextureLevels { texture } => {
                Some(texture)
            }
            _ => None,
        }
    }
}

/// What a lookup does with filters and levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Filters as the texture is bound, at the quad's level of detail; b is added to it.
    Automatic,
    /// Filters as the texture is bound; b is the level of detail.
    Level,
    /// One texel of the level nearest to the quad's level of detail; b is added to that.
    Nearest,
    /// One texel of the level that b says.
    Texel,
}

/// A side of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Texels across.
    Width,
    /// Texels up.
    Height,
}

/// As what a size is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeForm {
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// One over it as a float.
    Inverse,
}

/// The share of one run of a compute program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// Number of the first workgroup along one of three axes.
    First(u8),
    /// Which 16 invocations of it come first.
    Part,
    /// How often the program begins anew.
    Iterations,
    /// The first of four rows of the VPM that are this program's.
    Row,
    /// Workgroups along one of three axes.
    Count(u8),
    /// The address of the stream's first word that is read each iteration.
    Stream,
}

/// How normalised device coordinates become screen coordinates.
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

/// A lookup of a texture.
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

/// What happens to words in memory under the mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atomic {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Both have the bit.
    And,
    /// One of both has the bit.
    ExclusiveOr,
    /// At least one has the bit.
    InclusiveOr,
    /// The smaller signed integer.
    SignedMin,
    /// The greater signed integer.
    SignedMax,
    /// The smaller unsigned integer.
    UnsignedMin,
    /// The greater unsigned integer.
    UnsignedMax,
    /// The new word.
    Exchange,
    /// The new word where the old one is as expected.
    CompareExchange,
}

/// Memory that programs write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A storage buffer, by its index in the interface.
    Buffer(u32),
    /// What the invocations of a workgroup share, in main memory.
    Workgroup,
    /// The same in the VPM: an address counts bytes, 64 a row.
    Vpm,
}

/// An access of memory that others write, or this program does. Addresses are 0 in elements that take no part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// One word. Where the program may have written it before, the TMUs' caches must not answer.
    Load {
        /// Whose.
        memory: Memory,
        /// A valid address in all elements.
        address: Value,
        /// The address, 0 in elements that take no part; `None` if the caches may answer.
        uncached: Option<Value>,
    },
    /// Up to four words one behind the other.
    Store {
        /// Whose.
        memory: Memory,
        /// Of the first word.
        address: Value,
        /// The words.
        words: Vec<Value>,
        /// Bytes from an element's words to the next one's if all go to memory at once.
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
        /// Whose.
        memory: Memory,
        /// What happens to it.
        function: Atomic,
        /// Of the word.
        address: Value,
        /// The other operand.
        data: Value,
        /// The expected word.
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
        /// Lines of 64 bytes.
        lines: u32,
    },
}

impl Access {
    /// The values that it looks at.
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

    /// The memory that it writes.
    pub const fn written(&self) -> Option<Memory> {
        match self {
            Self::Store { memory, .. } | Self::Atomic { memory, .. } => Some(*memory),
            Self::StoreRow { .. } => Some(Memory::Vpm),
            _ => None,
        }
    }
}

/// A loop: it goes on while `again` is not 0 in any element.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// What it carries: at the start, and for the next iteration.
    pub carried: Vec<Carried>,
    /// Elements that take another iteration.
    pub again: Option<Value>,
    /// The source.
    pub span: Span,
}

/// A value that a loop carries.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value in an iteration.
    pub value: Value,
    /// Before the first iteration.
    pub init: Value,
    /// For the next iteration, and behind the loop.
    pub next: Value,
    /// For the next iteration, if nobody looks at the value behind the loop: elements that have left it need not keep theirs.
    pub next_inside: Value,
}

/// The order of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A value is computed.
    Compute(Value),
    /// A loop's iteration begins.
    Begin(u32),
    /// A loop's iteration ends.
    End(u32),
}

/// A value's computation and where in the source it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Computation {
    /// What is computed.
    pub op: Op,
    /// The source.
    pub span: Span,
}

/// A program of one stage.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Computations, by value.
    pub values: Vec<Computation>,
    /// Their order.
    pub steps: Vec<Step>,
    /// Loops.
    pub loops: Vec<Loop>,
    /// Lookups of textures.
    pub lookups: Vec<Lookup>,
    /// Accesses of memory that is written.
    pub accesses: Vec<Access>,
    /// Words that uniforms can be.
    pub words: Vec<StreamWord>,
    pub(crate) known: HashMap<(Op, u32), Value>,
    pub(crate) log: Vec<(Op, u32)>,
    /// Loops that are open, innermost last.
    pub(crate) open: Vec<u32>,
    pub(crate) here: Span,
    /// How much has been done, also for what was given up again.
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

    /// Gives varyings other numbers.
    pub(crate) fn map_varyings(&mut self, number: impl Fn(u32) -> u32) {
        for computation in &mut self.values {
            if let Op::Varying(old) | Op::FlatVarying(old) = &mut computation.op {
                *old = number(*old);
            }
        }
    }

    /// The number that a value is, if it is known.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match self.op(value) {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Whether a value must be computed even if nobody uses it.
    pub fn has_effect(&self, value: Value) -> bool {
        match self.op(value) {
            Op::Access(number) => !matches!(self.accesses.get(number as usize), Some(Access::Load { .. }) | None),
            op => op.has_effect(),
        }
    }

    /// All values that an operation looks at, those of its lookup among them.
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

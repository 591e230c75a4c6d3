//! A shader's interface: uniforms, attributes, varyings, textures, threads.
//!
//! The hardware does not know these names: a shader reads a stream of uniforms, a number of varyings, and rows of the VPM. The directives `.stage`,
//! `.threads`, `.uniform`, `.attribute`, `.varying` and `.texture` declare them in the order in which the shader reads them, so that the checker can compare
//! both, and the code that feeds the shader can be generated. `.semaphore` declares how often a program acquires and releases a semaphore, for code that
//! starts several programs.

use alloc::string::String;
use alloc::vec::Vec;

use crate::source::Span;

/// The pipeline stage that a program is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The source does not say.
    #[default]
    Unknown,
    /// Fragment shader.
    Fragment,
    /// Vertex shader.
    Vertex,
    /// Coordinate shader.
    Coordinate,
    /// User program, started by the host through SRQPC.
    User,
}

impl Stage {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("fragment", Self::Fragment),
        ("vertex", Self::Vertex),
        ("coordinate", Self::Coordinate),
        ("user", Self::User),
    ];
}

/// Type of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniformType {
    /// 32-bit float.
    Float,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
    /// 2 floats.
    Vec2,
    /// 3 floats.
    Vec3,
    /// 4 floats.
    Vec4,
    /// 9 floats.
    Mat3,
    /// 16 floats.
    Mat4,
    /// A colour, 8 bits a channel.
    Color,
    /// A bus address.
    Address,
    /// A texture parameter word; it is read by a write to a TMU register, not by the program [AG p.39].
    Texture,
    /// A VPM or DMA set-up word.
    Setup,
}

impl UniformType {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("float", Self::Float),
        ("int", Self::Int),
        ("uint", Self::Uint),
        ("vec2", Self::Vec2),
        ("vec3", Self::Vec3),
        ("vec4", Self::Vec4),
        ("mat3", Self::Mat3),
        ("mat4", Self::Mat4),
        ("color", Self::Color),
        ("address", Self::Address),
        ("texture", Self::Texture),
        ("setup", Self::Setup),
    ];

    /// Words of the uniform stream that one value takes.
    pub const fn words(self) -> u32 {
        match self {
            Self::Vec2 => 2,
            Self::Vec3 => 3,
            Self::Vec4 => 4,
            Self::Mat3 => 9,
            Self::Mat4 => 16,
            _ => 1,
        }
    }

    /// The name in the source.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, ty)| *ty == self).map_or("", |(name, _)| name)
    }
}

/// A uniform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: UniformType,
    /// Array length.
    pub count: u32,
    /// First word in the stream.
    pub offset_words: u32,
    /// Where it is declared.
    pub span: Span,
}

impl Uniform {
    /// Words in the stream.
    pub const fn words(&self) -> u32 {
        self.count.saturating_mul(self.ty.words())
    }
}

/// Type of an attribute's components in memory. The words in the VPM have the same bits as those in memory; it is up to the shader to convert them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AttributeKind {
    /// 32-bit float.
    #[default]
    F32,
    /// 16-bit float, which reads of register file A unpack [AG p.31].
    F16,
    /// Signed integer of 8 bits.
    I8,
    /// Unsigned integer of 8 bits, which reads of register file A unpack for integer operations [AG p.31].
    U8,
    /// Signed integer of 16 bits, which reads of register file A unpack for integer operations [AG p.31].
    I16,
    /// Unsigned integer of 16 bits.
    U16,
    /// Signed integer of 32 bits.
    I32,
    /// Unsigned integer of 32 bits.
    U32,
    /// 0 to 255, meant as 0 to 1, which reads of register file A unpack for float operations [AG p.31].
    Unorm8,
    /// -127 to 127, meant as -1 to 1.
    Snorm8,
    /// 0 to 65,535, meant as 0 to 1.
    Unorm16,
    /// -32,767 to 32,767, meant as -1 to 1.
    Snorm16,
}

impl AttributeKind {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("f32", Self::F32),
        ("f16", Self::F16),
        ("i8", Self::I8),
        ("u8", Self::U8),
        ("i16", Self::I16),
        ("u16", Self::U16),
        ("i32", Self::I32),
        ("u32", Self::U32),
        ("unorm8", Self::Unorm8),
        ("snorm8", Self::Snorm8),
        ("unorm16", Self::Unorm16),
        ("snorm16", Self::Snorm16),
    ];

    /// Bytes of a component.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::I16 | Self::U16 | Self::Unorm16 | Self::Snorm16 => 2,
            Self::I8 | Self::U8 | Self::Unorm8 | Self::Snorm8 => 1,
        }
    }

    /// The name in the source.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// A vertex attribute: components that are packed into whole words, in the VPM as in the vertex in memory, the first in the lowest bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Components.
    pub components: u32,
    /// Type of a component.
    pub kind: AttributeKind,
    /// Number of words before it.
    pub offset_words: u32,
    /// Where it is declared.
    pub span: Span,
}

impl Attribute {
    /// Words in the VPM and in memory.
    pub const fn words(&self) -> u32 {
        self.components.saturating_mul(self.kind.bytes()).div_ceil(4)
    }
}

/// A varying: a number of 32-bit components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Name.
    pub name: String,
    /// 32-bit components.
    pub components: u32,
    /// Number of components before it.
    pub offset: u32,
    /// Where it is declared.
    pub span: Span,
}

/// The primitives that a fragment shader draws. Points and lines have implicit varyings, which the shader reads before the declared ones [mesa
/// vc4_program.c]: x and y in a point, or the position across a line's width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrimitiveKind {
    /// Triangles.
    #[default]
    Triangles,
    /// Lines: one implicit varying.
    Lines,
    /// Points: two implicit varyings, each from 0 to 1: to the right, and from the row with the highest address to the one with the lowest.
    Points,
}

impl PrimitiveKind {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] =
        &[("triangles", Self::Triangles), ("lines", Self::Lines), ("points", Self::Points)];

    /// Number of implicit varyings, before the declared ones.
    pub const fn own_varyings(self) -> u32 {
        match self {
            Self::Triangles => 0,
            Self::Lines => 1,
            Self::Points => 2,
        }
    }
}

/// Layout of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureKind {
    /// Looked up by s and t.
    TwoDimensional,
    /// Texels of 64 bits (RGBA64), looked up by s and t, with two results a lookup: red and green, blue and alpha.
    TwoDimensional64,
    /// A cube map, looked up by s, t and r.
    Cube,
    /// A child image: a part of a two-dimensional texture, looked up by s and t, with r and b written as 0 [AG p.40].
    Child,
}

impl TextureKind {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] =
        &[("2d", Self::TwoDimensional), ("2d64", Self::TwoDimensional64), ("cube", Self::Cube), ("child", Self::Child)];

    /// The name in the source.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// The parameter words of a texture in the stream of uniforms: each write of a coordinate takes one [AG p.39].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureWords {
    /// Layout of the texture.
    pub kind: TextureKind,
    /// Lookups also write a bias of the level of detail, which takes another word.
    pub bias: bool,
    /// Number of lookups; their words follow each other.
    pub lookups: u32,
    /// First word in the stream.
    pub offset_words: u32,
}

impl TextureWords {
    /// Words of one lookup: parameters 0 and 1; with a cube map or a bias also parameter 2; with both also parameter 3. A child image has all four.
    pub const fn lookup_words(self) -> u32 {
        let bias = self.bias as u32;
        match self.kind {
            TextureKind::TwoDimensional | TextureKind::TwoDimensional64 => 2 + bias,
            TextureKind::Cube => 3 + bias,
            TextureKind::Child => 4,
        }
    }

    /// Words in the stream.
    pub const fn words(self) -> u32 {
        self.lookups.saturating_mul(self.lookup_words())
    }
}

/// A texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Name.
    pub name: String,
    /// TMU, 0 or 1.
    pub unit: u8,
    /// Its words in the stream of uniforms; `None` if the source declares them itself, as uniforms of type `texture`.
    pub words: Option<TextureWords>,
    /// Where it is declared.
    pub span: Span,
}

/// An entry of the stream of uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamItem<'i> {
    /// A uniform.
    Uniform(&'i Uniform),
    /// The parameter words of a texture.
    Texture(&'i Texture, TextureWords),
}

impl StreamItem<'_> {
    /// First word in the stream.
    pub const fn offset_words(&self) -> u32 {
        match self {
            Self::Uniform(uniform) => uniform.offset_words,
            Self::Texture(_, words) => words.offset_words,
        }
    }

    /// Words in the stream.
    pub const fn words(&self) -> u32 {
        match self {
            Self::Uniform(uniform) => uniform.words(),
            Self::Texture(_, words) => words.words(),
        }
    }
}

/// A program's accesses to a semaphore from start to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemaphoreUse {
    /// Number, 0 to 15.
    pub number: u8,
    /// How often it is acquired: the program waits until it is not 0, and decrements it.
    pub acquires: u32,
    /// How often it is released: incremented.
    pub releases: u32,
    /// Where it is declared.
    pub span: Span,
}

/// How a fragment shader ends. A program that leaves its colour in registers has no end: instructions that write the tile buffer and end the program are
/// appended later, and the checker appends the shortest possible ones. rb15 must still hold the fragment's depth then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// The program writes to the tile buffer and ends itself.
    #[default]
    Own,
    /// `.output color`: it leaves the colour in r0, red in the lowest byte.
    Color,
    /// `.output half_color`: it leaves the colour in r0 (red, green) and r1 (blue, alpha) as half floats, the first of two in the lower half.
    HalfColor,
}

impl Output {
    /// The names in the source.
    pub const NAMED: &'static [(&'static str, Self)] = &[("color", Self::Color), ("half_color", Self::HalfColor)];
}

/// The interface of a shader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Stage.
    pub stage: Stage,
    /// Number of threads per QPU: 1 or 2; `None` if it is not declared.
    pub threads: Option<u8>,
    /// How a fragment shader ends.
    pub output: Output,
    /// The primitives that a fragment shader draws, if declared; otherwise triangles.
    pub primitive: Option<PrimitiveKind>,
    /// A coordinate or vertex shader writes the size of a point in pixels after 1/Wc.
    pub point_size: bool,
    /// Uniforms in the order in which they are read.
    pub uniforms: Vec<Uniform>,
    /// Attributes in the order in which they stand in the VPM.
    pub attributes: Vec<Attribute>,
    /// Varyings in the order in which they are read or written.
    pub varyings: Vec<Components>,
    /// Textures in the order of their declarations; [`Interface::stream`] contains those whose parameters are among the uniforms.
    pub textures: Vec<Texture>,
    /// Semaphores.
    pub semaphores: Vec<SemaphoreUse>,
}

impl Interface {
    /// Number of words in the uniform stream, including texture parameters.
    pub fn uniform_words(&self) -> u32 {
        let uniforms = self.uniforms.last().map_or(0, |last| last.offset_words.saturating_add(last.words()));
        let textures = self.textures.iter().rev().find_map(|texture| texture.words);
        uniforms.max(textures.map_or(0, |last| last.offset_words.saturating_add(last.words())))
    }

    /// The entries of the uniform stream, in the order in which they are read.
    pub fn stream(&self) -> Vec<StreamItem<'_>> {
        let textures = self.textures.iter().filter_map(|texture| Some(StreamItem::Texture(texture, texture.words?)));
        let mut stream: Vec<_> = self.uniforms.iter().map(StreamItem::Uniform).chain(textures).collect();
        stream.sort_by_key(StreamItem::offset_words);
        stream
    }

    /// Words of all attributes.
    pub fn attribute_words(&self) -> u32 {
        self.attributes.last().map_or(0, |last| last.offset_words.saturating_add(last.words()))
    }

    /// Components of all varyings.
    pub fn varying_components(&self) -> u32 {
        self.varyings.last().map_or(0, |last| last.offset.saturating_add(last.components))
    }

    /// Whether lookups by this TMU have two results, as with textures of 64 bits per texel. All textures of a TMU are alike in this.
    pub fn has_two_results(&self, unit: usize) -> bool {
        let is_64_bit =
            |texture: &Texture| texture.words.is_some_and(|words| words.kind == TextureKind::TwoDimensional64);
        self.textures.iter().any(|texture| usize::from(texture.unit) == unit && is_64_bit(texture))
    }

    /// Number of varyings that a fragment shader reads: the implicit ones of the primitive, and those that are declared.
    pub fn varyings_read(&self) -> u32 {
        self.varying_components() + self.primitive.unwrap_or_default().own_varyings()
    }

    /// Whether nothing at all is declared.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

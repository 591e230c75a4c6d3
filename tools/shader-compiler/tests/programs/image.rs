//! A texture in the memory of a test, and as a simple table for a sampler in double precision.

use shader_compiler::ssa::{Axis, Sampling, SizeForm, StreamWord};
use v3d_hw::layout::Layout;
use v3d_hw::texture::{CubeMapStride, MagFilter, MinFilter, Parameter0, Parameter1, ParameterType, TextureType, Wrap};
use v3d_hw::tiling;
use v3d_hw::{Aligned, BusAddr};
use v3d_sim::memory::Memory;
use v3d_sim::random::Random;

/// Address of level 0; the smaller levels are below it, and the faces of a cube map have a constant stride.
const BASE: u32 = 0x1_1000;
const FACE_BYTES: u32 = 0x1000;

/// A texture with four bytes per texel and all levels, with repeat wrap modes and trilinear filtering.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Texels of each level of each face, row by row.
    faces: Vec<Vec<Vec<u32>>>,
}

impl Image {
    /// A texture of random texels.
    pub(crate) fn random(width: u32, height: u32, faces: u32) -> Self {
        let levels = width.max(height).ilog2() + 1;
        let mut random = Random::named("texels");
        let mut level = |number: u32| {
            let texels = (width >> number).max(1) * (height >> number).max(1);
            (0..texels).map(|_| random.next_u64() as u32).collect::<Vec<u32>>()
        };
        let faces = (0..faces).map(|_| (0..levels).map(&mut level).collect()).collect();
        Self { width, height, faces }
    }

    /// Writes it to memory.
    pub(crate) fn put(&self, memory: Memory<'_>) {
        for (face, levels) in (0..).zip(&self.faces) {
            let mut start = BASE + FACE_BYTES * face;
            for (number, texels) in (0..).zip(levels) {
                let [width, height] = self.size(number);
                let format = tiling::level_format(width, height, 32).unwrap();
                if number > 0 {
                    start -= tiling::image_bytes(format, width, height, 32).unwrap() as u32;
                }
                for (place, &texel) in (0..).zip(texels) {
                    let offset = tiling::pixel_offset_bits(format, width, 32, place % width, place / width).unwrap();
                    memory.set_word(BusAddr(start + (offset / 8) as u32), texel).unwrap();
                }
            }
        }
    }

    /// Width and height of a level.
    pub(crate) fn size(&self, level: u32) -> [u32; 2] {
        [self.width, self.height].map(|side| (side >> level).max(1))
    }

    pub(crate) fn levels(&self) -> u32 {
        self.faces[0].len() as u32
    }

    /// A uniform word that describes it.
    pub(crate) fn word(&self, word: StreamWord) -> u32 {
        match word {
            StreamWord::Texture { parameter, sampling, .. } => self.parameters(sampling)[usize::from(parameter)],
            StreamWord::TextureSize { axis, level, form, .. } => {
                let side = self.size(u32::from(level).min(self.levels() - 1))[usize::from(axis == Axis::Height)];
                match form {
                    SizeForm::Integer => side,
                    SizeForm::Float => (side as f32).to_bits(),
                    SizeForm::Inverse => (1.0 / side as f32).to_bits(),
                }
            }
            StreamWord::TextureLevels { .. } => self.levels(),
            _ => panic!("{word:?} is not a texture's"),
        }
    }

    fn parameters(&self, sampling: Sampling) -> [u32; 4] {
        let cube = self.faces.len() == 6;
        let (type_low, type_high) = TextureType::Rgba8888.split();
        let (mag_filter, min_filter) = match sampling {
            Sampling::Automatic | Sampling::Level => (MagFilter::Linear, MinFilter::LinMipLin),
            Sampling::Nearest | Sampling::Texel => (MagFilter::Nearest, MinFilter::NearMipNear),
        };
        let parameter_0 = Parameter0 {
            base: Aligned(BusAddr(BASE)),
            cswiz: 0,
            cube_map: cube,
            flip_y: false,
            type_low,
            mip_levels_minus_1: self.levels() as u8 - 1,
        };
        let parameter_1 = Parameter1 {
            type_high,
            height: self.height as u16,
            etc_flip: false,
            width: self.width as u16,
            mag_filter,
            min_filter,
            wrap_t: Wrap::Repeat,
            wrap_s: Wrap::Repeat,
        };
        let by_b = matches!(sampling, Sampling::Level | Sampling::Texel);
        let parameter_2 = CubeMapStride {
            ptype: if cube || by_b { ParameterType::CubeMapStride } else { ParameterType::NotUsed },
            stride: Aligned(BusAddr(if cube { FACE_BYTES } else { 0 })),
            disable_lod: by_b,
        };
        [parameter_0.to_word().unwrap(), parameter_1.to_word().unwrap(), parameter_2.to_word().unwrap(), 0]
    }

    /// A texel of a level, repeated beyond its edges.
    pub(crate) fn texel(&self, face: usize, level: u32, x: i64, y: i64) -> u32 {
        let [width, height] = self.size(level).map(i64::from);
        self.faces[face][level as usize][(y.rem_euclid(height) * width + x.rem_euclid(width)) as usize]
    }

    /// Column and row of the lower left texel of a footprint in a level, and the weights of the others.
    pub(crate) fn footprint(&self, level: u32, place: [f32; 2]) -> ([i64; 2], [f64; 2]) {
        let size = self.size(level);
        let at: [f64; 2] = std::array::from_fn(|axis| f64::from(place[axis]) * f64::from(size[axis]) - 0.5);
        (at.map(|at| at.floor() as i64), at.map(|at| at - at.floor()))
    }

    /// A channel, 0 to 1, interpolated between the four texels around a position.
    pub(crate) fn linear(&self, face: usize, level: u32, place: [f32; 2], channel: usize) -> f64 {
        let ([x, y], [right, up]) = self.footprint(level, place);
        let at = |x, y| channel_of(self.texel(face, level, x, y), channel);
        let low = at(x, y) * (1.0 - right) + at(x + 1, y) * right;
        let high = at(x, y + 1) * (1.0 - right) + at(x + 1, y + 1) * right;
        low * (1.0 - up) + high * up
    }

    /// The same, interpolated between the levels around a level of detail.
    pub(crate) fn trilinear(&self, face: usize, detail: f64, place: [f32; 2], channel: usize) -> f64 {
        let last = self.levels() - 1;
        let detail = detail.clamp(0.0, f64::from(last));
        let first = detail.floor() as u32;
        let near = self.linear(face, first, place, channel);
        let far = self.linear(face, (first + 1).min(last), place, channel);
        near + (far - near) * detail.fract()
    }
}

/// A channel of a texel, 0 to 1.
pub(crate) fn channel_of(texel: u32, channel: usize) -> f64 {
    f64::from(texel.to_le_bytes()[channel]) / 255.0
}

/// The depth in a texel of 24 bits of depth and 8 other bits.
pub(crate) fn depth_of(texel: u32) -> f64 {
    f64::from(texel >> 8) / 16_777_215.0
}

//! The renderer's own programs, assembled from the folder `shaders`; see `tests/own_programs.rs`.

/// `flat`, see its source for what it does.
pub mod flat {
const FRAGMENT_CODE: [u64; 4] = [0x100009e7158e7d80, 0xe0020867ff000000, 0x10020827079e7b40, 0x10020827159e7040];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "flat.frag.qasm", lines: &[10, 11, 12, 13], uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 1> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `flat_points`, see its source for what it does.
pub mod flat_points {
const FRAGMENT_CODE: [u64; 6] = [0x100009e7158e7d80, 0x100009e7158e7d80, 0x100009e7158e7d80, 0xe0020867ff000000, 0x10020827079e7b40,
0x10020827159e7040];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "flat_points.frag.qasm", lines: &[9, 10, 11, 12, 13, 14],
uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 1> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single,
shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN).of(shader_interface::PrimitiveKind::Points);
}
/// `glyph`, see its source for what it does.
pub mod glyph {
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `atlas`: two-dimensional texture, looked up by TMU 0.
pub atlas: shader_interface::Texture2d,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 2;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
self.atlas.push(stream, 1, 2);
}
}
const FRAGMENT_CODE: [u64; 21] = [0x100049e0203e303e, 0x10024821213e317e, 0x10020867019e7340, 0x10020e67159e7240, 0x10020e27159e7000,
0x100049e0203e303e, 0x100240a1213e317e, 0x100240e0213e337e, 0x10024121213e317e, 0x10024160213e337e, 0x100241a1213e317e, 0x100201e7019e7340,
0xa00009e7009e7000, 0x1f0049e0200a7026, 0x10020827010e7180, 0xd0020827039e01c0, 0xd0020867049c01c0, 0x114049e020127031, 0x115049e020167031,
0x116049e0201a7031, 0x117049e0201e7031];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "glyph.frag.qasm", lines: &[0, 0, 0, 0, 0, 18, 19, 20, 21, 22,
23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33], uniforms: &["atlas[0]", "atlas[1]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 8> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `shape`, see its source for what it does.
pub mod shape {
const FRAGMENT_CODE: [u64; 44] = [0x100049e0203e303e, 0x10024021213e317e, 0x10024060213e337e, 0x100248a1213e317e, 0x100248e0213e337e,
0x100240a1213e317e, 0x100240e0213e337e, 0x10024121213e317e, 0x10024160213e337e, 0x100241a1213e317e, 0x100201e7019e7340, 0x1002082706027d80,
0x1002086706067d80, 0x10020827029e7080, 0x10020867029e72c0, 0x100208a7049e7040, 0xd00208a7039c05c0, 0xd0020827049c01c0, 0xd0024860249c03c0,
0x100049e1209e7009, 0x10020827019e7040, 0xe00208672b8cbccc, 0x10020827049e7040, 0x10020d67159e7000, 0x100009e7009e7000, 0x100009e7009e7000,
0x100049e1209e7004, 0x100049e3209e7009, 0x100208e7029e70c0, 0x100049e3209e701c, 0xd00049e3209ef01f, 0x10020867019e72c0, 0x10020867019e7280,
0x10020867020a7380, 0x10020867010e7380, 0x10020867069e7240, 0x10020867020e7380, 0xd0020867029efe40, 0xd0020867039e03c0, 0xd0020867049c03c0,
0x114049e020127031, 0x115049e020167031, 0x116049e0201a7031, 0x117049e0201e7031];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "shape.frag.qasm", lines: &[16, 17, 18, 19, 20, 21, 22, 23, 24,
25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60],
uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 10> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `smooth_alpha`, see its source for what it does.
pub mod smooth_alpha {
const FRAGMENT_CODE: [u64; 8] = [0x100049e3203e303e, 0x100248e1213e377e, 0x10024862213e337e, 0x100248a0213e357e, 0xd1424020219e015f,
0xd15049e0209e000f, 0xd16049e0209e0017, 0xd17049e020020037];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "smooth_alpha.frag.qasm", lines: &[8, 9, 10, 11, 12, 13, 14, 15],
uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 4> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `smooth_half`, see its source for what it does.
pub mod smooth_half {
const FRAGMENT_CODE: [u64; 7] = [0x100049e0203e303e, 0x10124021213e317e, 0x10224022213e337e, 0x10124063213e357e, 0x1022406081027776,
0x100009e7009e7000, 0x1002086715067d80];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "smooth_half.frag.qasm", lines: &[10, 11, 12, 13, 14, 15, 16],
uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 4> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::HalfColor).with_origin(&FRAGMENT_ORIGIN);
}
/// `texture_level`, see its source for what it does.
pub mod texture_level {
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `level`: float.
pub level: f32,
/// `source`: two-dimensional texture, looked up by TMU 0.
pub source: shader_interface::Texture2d,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 4;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
shader_interface::UniformValue::push(&self.level, stream);
self.source.push(stream, 1, 3);
}
}
const FRAGMENT_CODE: [u64; 9] = [0x100208a715827d80, 0x100049e0203e303e, 0x10024821213e317e, 0x10020867019e7340, 0x10020e67159e7240,
0x10020ee7159e7480, 0x10020e27159e7000, 0xa00009e7009e7000, 0x10020827159e7900];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "texture_level.frag.qasm", lines: &[13, 0, 0, 0, 15, 16, 17, 18,
19], uniforms: &["level", "source[0]", "source[1]", "source[2]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 2> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `texture_level_half`, see its source for what it does.
pub mod texture_level_half {
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `level`: float.
pub level: f32,
/// `source`: two-dimensional texture of half floats, looked up by TMU 0.
pub source: shader_interface::Texture2d64,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 4;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
shader_interface::UniformValue::push(&self.level, stream);
self.source.push(stream, 1, 3);
}
}
const FRAGMENT_CODE: [u64; 11] = [0x100208a715827d80, 0x100049e0203e303e, 0x10024821213e317e, 0x10020867019e7340, 0x10020e67159e7240,
0x10020ee7159e7480, 0x10020e27159e7000, 0xa00009e7009e7000, 0x10020827159e7900, 0xa00009e7009e7000, 0x10020867159e7900];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "texture_level_half.frag.qasm", lines: &[12, 0, 0, 0, 14, 15, 16,
17, 18, 19, 20], uniforms: &["level", "source[0]", "source[1]", "source[2]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 2> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::HalfColor).with_origin(&FRAGMENT_ORIGIN);
}
/// `textured`, see its source for what it does.
pub mod textured {
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `image`: two-dimensional texture, looked up by TMU 0.
pub image: shader_interface::Texture2d,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 2;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
self.image.push(stream, 1, 2);
}
}
const FRAGMENT_CODE: [u64; 7] = [0x100049e0203e303e, 0x10024821213e317e, 0x10020867019e7340, 0x10020e67159e7240, 0x10020e27159e7000,
0xa00009e7009e7000, 0x10020827159e7900];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "textured.frag.qasm", lines: &[0, 0, 0, 0, 0, 12, 13],
uniforms: &["image[0]", "image[1]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 2> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}
/// `tinted`, see its source for what it does.
pub mod tinted {
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `image`: two-dimensional texture, looked up by TMU 0.
pub image: shader_interface::Texture2d,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 2;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
self.image.push(stream, 1, 2);
}
}
const FRAGMENT_CODE: [u64; 15] = [0x100049e0203e303e, 0x10024821213e317e, 0x10020867019e7340, 0x10020e67159e7240, 0x10020e27159e7000,
0x100049e0203e303e, 0x10024821213e317e, 0xd1424863219e0347, 0x100049e0203e303e, 0xd1524823219e014f, 0x100049e1203e303e, 0xd1624863219e0347,
0xd17049e3209e000f, 0xa00009e7009e7000, 0x100049e0609e7023];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "tinted.frag.qasm", lines: &[0, 0, 0, 0, 0, 15, 16, 17, 18, 19,
20, 21, 22, 23, 24], uniforms: &["image[0]", "image[1]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 6> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}

//! The renderer's own programs, assembled from the folder `shaders`; see `tests/own_programs.rs`.

/// `sprite`, see its source for what it does.
pub mod sprite {
/// One vertex in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
}
impl shader_interface::VertexData for Vertex {
const BYTES: usize = 4;
fn push(&self, words: &mut shader_interface::alloc::vec::Vec<u32>) {
self.push_numbered(0, words);
}
fn push_numbered(&self, number: u32, words: &mut shader_interface::alloc::vec::Vec<u32>) {
words.push(number);
}
}
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct Uniforms {
/// `pixel`.
pub pixel: [f32; 2],
/// `texel`.
pub texel: [f32; 2],
/// `slope`.
pub slope: [f32; 2],
/// `offset`.
pub offset: [f32; 2],
/// `sprites`.
pub sprites: shader_interface::Storage<u32>,
}
impl shader_interface::VertexUniforms for Uniforms {
const COORDINATE_READS_THE_SAME: bool = false;
const WORDS: usize = 82;
#[inline(always)]
fn push_vertex(&self, stream: &mut shader_interface::UniformStream<'_>) {
stream.word(self.sprites.elements(0, 4));
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.floats(&[self.pixel[0]]);
stream.word(self.sprites.address().0);
stream.floats(&[self.pixel[1]]);
stream.word(self.sprites.address().0);
stream.floats(&[self.slope[1], self.offset[1]]);
stream.word(0x3e22f983);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0xffff);
stream.word(0x10);
stream.word(0x4203202d);
stream.word(0x4203202d);
stream.word(0xc294f4be);
stream.word(0xc294f4be);
stream.word(0xffff);
stream.word(0x42a2bbd0);
stream.word(0x42a2bbd0);
stream.word(0xc225532a);
stream.word(0xc225532a);
stream.word(0x40c90ecb);
stream.word(0x40c90ecb);
stream.word(0x10);
stream.word(0x4b000000);
stream.word(0x4b000000);
stream.floats(&[self.pixel[0]]);
stream.word(0xbf800000);
stream.floats(&[self.pixel[1]]);
stream.word(0xbf800000);
stream.word(0xbf800000);
stream.floats_of(&[stream.viewport().half_width, stream.viewport().half_height, stream.viewport().z_offset, self.texel[0], self.texel[1],
self.slope[0], self.offset[0]], &[self.texel[0], self.texel[1], self.slope[0], self.offset[0]]);
self.sprites.keep(0, 4, stream);
}
#[inline(always)]
fn push_coordinate(&self, stream: &mut shader_interface::UniformStream<'_>) {
stream.word(self.sprites.elements(0, 4));
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.word(self.sprites.address().0);
stream.floats(&[self.pixel[0], self.pixel[1]]);
stream.word(0x3e22f983);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0x4b400000);
stream.word(0xffff);
stream.word(0x10);
stream.word(0x4203202d);
stream.word(0x4203202d);
stream.word(0xc294f4be);
stream.word(0xc294f4be);
stream.word(0x42a2bbd0);
stream.word(0x42a2bbd0);
stream.word(0xc225532a);
stream.word(0xc225532a);
stream.word(0x40c90ecb);
stream.word(0x40c90ecb);
stream.word(0x4b000000);
stream.floats(&[self.pixel[0]]);
stream.word(0x4b000000);
stream.word(0xbf800000);
stream.floats(&[self.pixel[1]]);
stream.word(0xbf800000);
stream.word(0xbf800000);
stream.floats_of(&[stream.viewport().half_width, stream.viewport().half_height, stream.viewport().z_offset], &[]);
self.sprites.keep(0, 4, stream);
}
}
const COORDINATE_CODE: [u64; 117] = [0xe0020c6700101a00, 0xd00208270d801dc0, 0xd00248a18ec02df6, 0xd00208a7119c35c0, 0x100208e7129e7400,
0xd00200270c9c15c0, 0xd00208e7139c0ec0, 0x1002006712027180, 0xd00200270c9c2e80, 0xd00208e7119c27c0, 0xd00200a713040f80, 0x1002006712027180,
0xd00200270c9c3e80, 0x10020e270c827780, 0xd00208e711082dc0, 0xd00200a713040f80, 0xa002006712027180, 0xd00200270c9c45c0, 0x10020e270c827cc0,
0xd00208e711082dc0, 0xd002006713040f80, 0x1002002712027180, 0x10020e270c827cc0, 0xd00208e711042dc0, 0xd002002713000f80, 0x10020e270c827cc0,
0xd00208e711002dc0, 0x10020e270c827cc0, 0xd00208a70c9c65c0, 0x10020827129e7080, 0xd0020827139c0e00, 0xd0020827119c21c0, 0x10020e270c827c00,
0xd00208270e9c13c0, 0xd0020867149c13c0, 0xd0020827149c1e00, 0x10020867089e7240, 0x10020827089e7000, 0xd00202e7029ef3c0, 0xd0020227029ef1c0,
0x100200e706827d80, 0x100200a706827d80, 0xe0021c6700001a00, 0xa0020067159e7900, 0xa0020027159e7900, 0xa0020167159e7900, 0xa00201a7159e7900,
0xa00049e220827026, 0xd0020827019ee5c0, 0xd00208e7019efe80, 0xd0020867019efe00, 0x100208e701827cc0, 0x1002086701827380, 0x100208e702827780,
0x1002086702827380, 0x100201e7029e74c0, 0x10020127029e7040, 0x1002584a341e09f6, 0x100258092e1209f6, 0x100248e2282a027e, 0x1002486028260037,
0x100248a3212e0e9e, 0x10024822212a01f2, 0x100248a021260eb0, 0x10024822212a01f2, 0x100248a021260eb0, 0x10024822212a01f2, 0x1002482221260eb0,
0x100248a1212205ce, 0x100049e0201e7030, 0xd002416322140e33, 0x100049e1201a7031, 0x100049e220127032, 0x100059c4209e701a, 0x100049c02016700e,
0x100049e0209e7018, 0x100248a121100dca, 0x100208a701067c80, 0xd0024821219e4057, 0x1002082701027c00, 0xd0020067019efe40, 0xd00049e1209e4007,
0x1002082707067d80, 0xd0020027019efe40, 0x10020867089e7000, 0x100229e702067c40, 0x1002082707027d80, 0xd0080867029e03c0, 0x100229e706060dc0,
0x1003882188067036, 0xd00269e12202cc0f, 0xd0084821228201ce, 0x100229e706020dc0, 0x10038060810203f6, 0xd00049e0209ec007, 0xd002486235800fc6,
0xd00269e095040dbf, 0xd003002181820eb6, 0xd00229e702040f80, 0xd00329e195020dbf, 0x10084821350e0fce, 0xd00229e702000f80, 0xd0080827159e0fc0,
0x100049e0200a7006, 0xd00049e1209ea00f, 0xd00248602106ac47, 0x1002483081027c09, 0x10024c213582700e, 0x1012402027827246, 0xd0224030879c003f,
0xd0020c27159e0fc0, 0x10020c2715027d80, 0x10020c2715827d80, 0xd0020c27159e0fc0, 0x300009e7009e7000, 0x100009e7009e7000, 0x100009e7009e7000];
const VERTEX_CODE: [u64; 168] = [0xe0020c6700101a00, 0xd00208270d801dc0, 0xd00248638ec02df6, 0xd0020867119c33c0, 0x100208a7129e7200,
0xd00200270c9c13c0, 0xd00208a7139c0e80, 0x1002006712027180, 0xd00200270c9c2e40, 0xd00208a7119c25c0, 0xd00200a713040f80, 0x1002006712027180,
0xd00200270c9c3e40, 0x10020e270c827580, 0xd00208a711082dc0, 0xd00200a713040f80, 0xa002006712027180, 0xd00200270c9c43c0, 0x10020e270c827c80,
0xd00208a711082dc0, 0xd002006713040f80, 0x1002002712027180, 0x10020e270c827c80, 0xd00208a711042dc0, 0xd002002713000f80, 0x10020e270c827c80,
0xd00208a711002dc0, 0x10020e270c827c80, 0xd00208a70c9c63c0, 0x100208a7129e7080, 0xd00208a7139c0e80, 0xd00208a7119c25c0, 0x10020e270c827c80,
0xd00208a70e9c17c0, 0xd00208e7149c17c0, 0xd00208a7149c1e80, 0x10020227089e76c0, 0x100208e7089e7480, 0xd00204a70222fdc0, 0xd0020367029ef7c0,
0xd00208a70c9c53c0, 0x100208a7129e7080, 0xd00208a7139c0e80, 0xd00208a7119c25c0, 0x1002006706827d80, 0x10020e270c827c80, 0x1002002706827d80,
0xd00208670c9c73c0, 0x10020827129e7040, 0xd0020827139c0e00, 0xe0021c6700001a00, 0xd0020827119c21c0, 0x10020e270c827c00, 0xa00202a7159e7900,
0xa00201a7159e7900, 0x100059c520827026, 0x100059c420827026, 0xa00202e7159e7900, 0xa00201e7159e7900, 0xa00049e120827026, 0xd0020827019ee3c0,
0xd00208a7019efe40, 0xd00200a7019efe00, 0x100208a701827c80, 0x100200a7010a0dc0, 0x100208a702827580, 0x100200a7020a0dc0, 0x10020267029e7280,
0x100200e7020a7180, 0x100248a1342609f6, 0x1002580c2e0e09f6, 0x10025890288274b1, 0x1002580228320037, 0xa002042701420f80, 0x10025002210a0dd8,
0x1002442334420f0e, 0x100059d120300037, 0x100248c0214a0ed6, 0x1002506321460dcb, 0x100248e021360ec6, 0x100059cd20301037, 0x1002486328427d8b,
0x1002106701360dc0, 0x1002580d211e0ef0, 0x100049e320301037, 0x10025809212607f0, 0x100049e3202c0037, 0x100248002e0e09f0, 0xd002508322240f9e,
0x10024d23352c0d9f, 0x1002580c28342037, 0x100049c120340037, 0x100208e701327780, 0x10020327012a7cc0, 0x100208e7010c1dc0, 0xd00059c320324037,
0x100201a7011a7cc0, 0xd0020467010eff80, 0xd00049e3201a4037, 0x100200e707467d80, 0xd0024423212efef4, 0x10020367080e7d80, 0x100200e707427d80,
0xd002422222220ef2, 0x100202a7080e7d80, 0x100200e7019e7280, 0x100200a7010a7180, 0x1002082715467d80, 0x100229e702367180, 0xd008036702360dc0,
0x100229e706827180, 0x100c0367159e7000, 0x1002082715427d80, 0x100229e7022a7180, 0xd00802a7022a0dc0, 0x100229e706827180, 0xd00c42a03536c037,
0x1002482322320187, 0xd00049e1202ac037, 0x10025886221803b8, 0x10024241212607f2, 0x100049e0209c2038, 0x100202a701181dc0, 0x100049e2209c003a,
0x100241a0212a70b4, 0x10024d21351e0d8f, 0xd002422121220e46, 0x10020827019e7040, 0xd00248622c1c8e34, 0xd002588c221a0eb4, 0xd0020867149d03c0,
0xa00049e220327032, 0x100208a701327c80, 0xd00248c12c2c8eb1, 0xd0021027149d0ec0, 0x100229e716281f80, 0x10044821351c0277, 0xd00269e1961803bf,
0x100281e2810c01bf, 0xd00269e095240dbf, 0x100301a1810a05bf, 0xd00229e702240f80, 0xd90300e1849e093f, 0x100229e715227d80, 0x1008482135060fce,
0xd00229e702200f80, 0xdb0300a0849e093f, 0x1d02406024027906, 0xdf024021249ea90f, 0xd00248602126ac47, 0x1002482121220c0f, 0x1012422027827246,
0x10220227079e7000, 0x100009e7009e7000, 0x10020c2715227d80, 0x10020c2715827d80, 0xd0020c27159e0fc0, 0x100049f0201e0037, 0x100049f0201a0037,
0x10020c2701160f80, 0x10020c2701120f80, 0x10020c27150e7d80, 0x10020c27150a7d80, 0x10020c2715067d80, 0x10020c2715027d80, 0x300009e7009e7000,
0x100009e7009e7000, 0x100009e7009e7000];
static COORDINATE_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "sprite.wgsl", lines: &[0, 34, 32, 32, 34, 34, 34, 34, 35, 34,
34, 35, 35, 34, 34, 35, 35, 36, 34, 35, 35, 36, 35, 35, 36, 35, 36, 36, 37, 37, 37, 37, 37, 33, 33, 33, 33, 33, 38, 38, 47, 47, 0, 34, 35, 35, 36,
39, 39, 39, 39, 39, 39, 39, 39, 39, 39, 28, 28, 28, 28, 39, 39, 39, 39, 39, 39, 39, 39, 39, 40, 38, 39, 40, 40, 40, 40, 40, 40, 40, 42, 42, 42, 42,
42, 42, 42, 42, 42, 42, 42, 42, 42, 46, 42, 47, 47, 46, 47, 47, 47, 47, 47, 47, 47, 47, 47, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31],
uniforms: &["elements of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites",
"address of byte 0 of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites", "pixel[0]", "pixel[1]", "constant", "constant",
"constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant",
"constant", "constant", "constant", "constant", "pixel[0]", "constant", "constant", "pixel[1]", "constant", "constant", "viewport_half_width",
"viewport_half_height", "viewport_z_offset"] };
static VERTEX_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "sprite.wgsl", lines: &[0, 34, 32, 32, 34, 34, 34, 34, 35, 34, 34,
35, 35, 34, 34, 35, 35, 36, 34, 35, 35, 36, 35, 35, 36, 35, 36, 36, 37, 37, 37, 37, 37, 33, 33, 33, 33, 33, 38, 38, 48, 48, 48, 48, 47, 48, 47, 50,
50, 50, 0, 50, 50, 34, 35, 49, 49, 35, 36, 39, 39, 39, 39, 39, 39, 39, 39, 39, 39, 28, 28, 28, 28, 39, 39, 28, 39, 39, 39, 39, 39, 28, 39, 39, 39,
39, 38, 28, 40, 44, 28, 40, 40, 40, 40, 42, 40, 42, 42, 42, 42, 42, 42, 44, 42, 48, 48, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 43, 42, 43, 46, 44,
44, 44, 44, 44, 46, 44, 44, 44, 44, 44, 44, 44, 44, 44, 44, 44, 48, 47, 48, 47, 50, 47, 47, 47, 50, 50, 50, 47, 47, 31, 31, 31, 31, 31, 31, 31, 31,
31, 31, 31, 31, 31, 31, 31, 31, 31], uniforms: &["elements of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites",
"address of byte 0 of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites", "address of byte 0 of sprites", "pixel[0]",
"address of byte 0 of sprites", "pixel[1]", "address of byte 0 of sprites", "slope[1]", "offset[1]", "constant", "constant", "constant", "constant",
"constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant", "constant",
"constant", "constant", "constant", "constant", "constant", "pixel[0]", "constant", "pixel[1]", "constant", "constant", "viewport_half_width",
"viewport_half_height", "viewport_z_offset", "texel[0]", "texel[1]", "slope[0]", "offset[0]"] };
/// Coordinate and vertex shader.
pub const SHADING: shader_interface::VertexShading<Vertex, Uniforms, 8> = shader_interface::VertexShading::new(&VERTEX_CODE, &COORDINATE_CODE, &[
shader_interface::Attribute { name: "index", bytes: 4, memory_offset: 0, vertex_offset: 0, coordinate_offset: Some(0) },
]).with_origins(&VERTEX_ORIGIN, &COORDINATE_ORIGIN);
/// Uniforms in the order in which they are declared.
#[derive(Clone, Debug)]
pub struct FragmentUniforms {
/// `white`.
pub white: f32,
/// `atlas`: two-dimensional texture.
pub atlas: shader_interface::Texture2d,
}
impl shader_interface::UniformData for FragmentUniforms {
const WORDS: usize = 5;
#[inline(always)]
fn push(&self, stream: &mut shader_interface::UniformStream<'_>) {
stream.word(self.atlas.words()[0]);
stream.word(self.atlas.words()[1]);
stream.floats(&[self.white, self.white, self.white]);
self.atlas.push(stream, 0, 0);
}
}
const FRAGMENT_CODE: [u64; 19] = [0x100049e0203e303e, 0x10024821213e317e, 0x60025840213e337e, 0x10020e67159e7240, 0x1002403881027d40,
0xa00049e0203e303e, 0x1f02482121027174, 0x10024860213e307e, 0x10024822213e317e, 0x190208e704827980, 0x113248e0219e7543, 0x100049e2203e303e,
0x1b02006704827980, 0x10025880213e357e, 0xd152486024040e5e, 0x1d0208e704827980, 0x1162402021027d53, 0xd0020867039e0e40, 0x117049e020027031];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "sprite.wgsl", lines: &[0, 0, 0, 54, 0, 0, 0, 55, 0, 56, 0, 0,
56, 0, 55, 56, 0, 55, 53], uniforms: &["parameter 0 of atlas, Automatic", "parameter 1 of atlas, Automatic", "white[0]", "white[0]", "white[0]"] };
const HALF_FRAGMENT_CODE: [u64; 23] = [0x100049e0203e303e, 0x10024821213e317e, 0x60025840213e337e, 0x10020e67159e7240, 0x1002403881027d40,
0xa00049e0203e303e, 0x1f02482121027174, 0x100248a0213e307e, 0x10024821213e317e, 0x10024863213e337e, 0x100258c2213e377e, 0xd00208a7049c0e80,
0x1902002704827980, 0x1d02006704827980, 0x100200a7010a7d40, 0xd012580023020e86, 0x1b0208a704827980, 0x101059c12006701e, 0x102059c0209e700a,
0x102059c1200a7030, 0x100009e7009e7000, 0x1002086715067d80, 0x1002082715027d80];
static HALF_FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "sprite.wgsl", lines: &[0, 0, 0, 54, 0, 0, 0, 55, 0, 0, 0,
55, 56, 56, 0, 55, 56, 53, 53, 53, 53, 53, 53], uniforms: &["parameter 0 of atlas, Automatic", "parameter 1 of atlas, Automatic", "white[0]",
"white[0]", "white[0]"] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<FragmentUniforms, 8> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Dual,
shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN).with_half_color(&HALF_FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Dual).with_half_origin(&HALF_FRAGMENT_ORIGIN);
}
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

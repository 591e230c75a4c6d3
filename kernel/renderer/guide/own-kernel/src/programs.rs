//! The kernel's programs, made of the folder `shaders`; see `tests/own_programs.rs`.

/// `transformed`, see its source for what it does.
pub mod transformed {
/// One vertex in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
/// `position`.
pub position: [f32; 3],
/// `color`.
pub color: [f32; 3],
}
impl shader_interface::VertexData for Vertex {
const BYTES: usize = 24;
fn push(&self, words: &mut shader_interface::alloc::vec::Vec<u32>) {
shader_interface::push_attribute(&self.position, words);
shader_interface::push_attribute(&self.color, words);
}
}
/// Uniforms in the order in which they are declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniforms {
/// `matrix`.
pub matrix: [f32; 16],
}
impl shader_interface::VertexUniforms for Uniforms {
const COORDINATE_READS_THE_SAME: bool = true;
const WORDS: usize = 20;
#[inline(always)]
fn push_vertex(&self, stream: &mut shader_interface::UniformStream<'_>) {
stream.floats_of(&[self.matrix[0], self.matrix[1], self.matrix[2], self.matrix[12], self.matrix[13], self.matrix[14], self.matrix[4],
self.matrix[15], self.matrix[5], self.matrix[6], self.matrix[8], self.matrix[9], self.matrix[3], stream.viewport().half_width, self.matrix[10],
self.matrix[7], stream.viewport().half_height, self.matrix[11], stream.viewport().z_scale, stream.viewport().z_offset], &[self.matrix[0],
self.matrix[1], self.matrix[2], self.matrix[12], self.matrix[13], self.matrix[14], self.matrix[4], self.matrix[15], self.matrix[5], self.matrix[6],
self.matrix[8], self.matrix[9], self.matrix[3], self.matrix[10], self.matrix[7], self.matrix[11]]);
}
#[inline(always)]
fn push_coordinate(&self, stream: &mut shader_interface::UniformStream<'_>) {
stream.floats_of(&[self.matrix[0], self.matrix[1], self.matrix[2], self.matrix[12], self.matrix[13], self.matrix[14], self.matrix[4],
self.matrix[15], self.matrix[5], self.matrix[6], self.matrix[8], self.matrix[9], self.matrix[3], stream.viewport().half_width, self.matrix[10],
self.matrix[7], stream.viewport().half_height, self.matrix[11], stream.viewport().z_scale, stream.viewport().z_offset], &[self.matrix[0],
self.matrix[1], self.matrix[2], self.matrix[12], self.matrix[13], self.matrix[14], self.matrix[4], self.matrix[15], self.matrix[5], self.matrix[6],
self.matrix[8], self.matrix[9], self.matrix[3], self.matrix[10], self.matrix[7], self.matrix[11]]);
}
}
const COORDINATE_CODE: [u64; 31] = [0xe0020c6700301a00, 0xe0021c6700001a00, 0x1002402035c20db7, 0x100240a235c20db7, 0x1002406135c20db7,
0x100248a0210200b7, 0x100248e1210a0477, 0x1002482121060077, 0x1002482121020077, 0x1002082701827c00, 0x10024d22350a0037, 0x10024862210602b7,
0x10025840210202b7, 0x100049e2200a0037, 0x100258c221827cc4, 0x1002588021020c9f, 0x10025c01350606f7, 0xd00208e7020a1f80, 0x1002484021827c63,
0x100248e22106058f, 0x1002487081827cc9, 0x10024c233500027e, 0x10124022279c06fa, 0x102240212782748e, 0x10024c20359c0039, 0x10020c2715027d80,
0x10020c2701827180, 0x10020c27159c0fc0, 0x300009e7009e7000, 0x100009e7009e7000, 0x100009e7009e7000];
const VERTEX_CODE: [u64; 34] = [0xe0020c6700601a00, 0xe0021c6700001a00, 0x100248a035c20db7, 0x1002486335c20db7, 0x1002408035c20db7,
0x10025801218270d6, 0x10024020218001ce, 0x1002082701067c00, 0x100049e3200a0037, 0x10025801218270d6, 0x1002082701827c00, 0x10024d233582700e,
0x100059c3200a0037, 0x1002588121060cd7, 0x10024862210e058f, 0x1002482321020f84, 0xd00258c022821ec6, 0x100049e0200a0037, 0x1002488021067ca3,
0x1002086701827c40, 0x100248222100043e, 0x101240212782748e, 0x1002482121800c39, 0x1022402027827246, 0x100049e0209c0038, 0x10020c2715027d80,
0x10020c2701827180, 0x10020c27159c0fc0, 0x10020c2715c27d80, 0x10020c2715c27d80, 0x10020c2715c27d80, 0x300009e7009e7000, 0x100009e7009e7000,
0x100009e7009e7000];
static COORDINATE_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "transformed.wgsl", lines: &[0, 0, 0, 0, 0, 12, 12, 12, 12, 12,
11, 12, 12, 12, 12, 12, 11, 11, 12, 12, 12, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11], uniforms: &["matrix[0]", "matrix[1]", "matrix[2]", "matrix[12]",
"matrix[13]", "matrix[14]", "matrix[4]", "matrix[15]", "matrix[5]", "matrix[6]", "matrix[8]", "matrix[9]", "matrix[3]", "viewport_half_width",
"matrix[10]", "matrix[7]", "viewport_half_height", "matrix[11]", "viewport_z_scale", "viewport_z_offset"] };
static VERTEX_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "transformed.wgsl", lines: &[0, 0, 0, 0, 0, 12, 12, 12, 12, 12, 12,
11, 12, 12, 12, 12, 11, 12, 12, 12, 12, 11, 12, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11], uniforms: &["matrix[0]", "matrix[1]", "matrix[2]",
"matrix[12]", "matrix[13]", "matrix[14]", "matrix[4]", "matrix[15]", "matrix[5]", "matrix[6]", "matrix[8]", "matrix[9]", "matrix[3]",
"viewport_half_width", "matrix[10]", "matrix[7]", "viewport_half_height", "matrix[11]", "viewport_z_scale", "viewport_z_offset"] };
/// Coordinate and vertex shader.
pub const SHADING: shader_interface::VertexShading<Vertex, Uniforms, 3> = shader_interface::VertexShading::new(&VERTEX_CODE, &COORDINATE_CODE, &[
shader_interface::Attribute { name: "position", bytes: 12, memory_offset: 0, vertex_offset: 0, coordinate_offset: Some(0) },
shader_interface::Attribute { name: "color", bytes: 12, memory_offset: 12, vertex_offset: 12, coordinate_offset: None },
]).with_origins(&VERTEX_ORIGIN, &COORDINATE_ORIGIN);
}
/// `smooth`, see its source for what it does.
pub mod smooth {
const FRAGMENT_CODE: [u64; 7] = [0x100049e3203e303e, 0x100248e1213e377e, 0x10024862213e337e, 0xd13248a0219e057f, 0xd14049e0209e001f,
0xd15049e0209e000f, 0xd16049e0209e0017];
static FRAGMENT_ORIGIN: shader_interface::Origin = shader_interface::Origin { file: "smooth.frag.qasm", lines: &[13, 14, 15, 16, 17, 18, 19],
uniforms: &[] };
/// The fragment shader.
pub const FRAGMENT: shader_interface::Fragment<shader_interface::NoUniforms, 3> = shader_interface::Fragment::new(&FRAGMENT_CODE,
shader_interface::v3d_hw::control_list::Threading::Single, shader_interface::Ending::Color).with_origin(&FRAGMENT_ORIGIN);
}

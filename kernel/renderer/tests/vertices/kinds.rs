//! Every type of attribute, read by a program that is assembled here and drawn as a colour.

use qpu_shaders::{
    Attribute, AttributeComponent, NoUniforms, UniformStream, VertexData, VertexShading, VertexUniforms, f16,
    push_attribute, smooth,
};
use renderer::{Mesh, Pipeline, PipelineDescriptor, Primitive};

use crate::scene::{Picture, Random, bands, device, model};

/// Number of values of each type that are drawn.
const BANDS: usize = 16;
/// A product of 24 bits is truncated, 8 bits are rounded.
const ROUNDING: f64 = 1.0;

/// A vertex with three components of one type.
struct Vertex<C> {
    position: [f32; 2],
    value: [C; 3],
}

impl<C: AttributeComponent> VertexData for Vertex<C> {
    const BYTES: usize = 8 + 4 * 3usize.div_ceil(C::IN_A_WORD);

    fn push(&self, words: &mut Vec<u32>) {
        push_attribute(&self.position, words);
        push_attribute(&self.value, words);
    }
}

struct Viewport;

impl VertexUniforms for Viewport {
    const WORDS: usize = 4;

    fn push_vertex(&self, stream: &mut UniformStream<'_>) {
        stream.float(stream.viewport().half_width);
        stream.float(stream.viewport().half_height);
    }

    fn push_coordinate(&self, stream: &mut UniformStream<'_>) {
        self.push_vertex(stream);
    }
}

/// Assembles and checks a program, which lives as long as the test.
pub(crate) fn program(source: String) -> &'static [u64] {
    let source = qpu::Source::new("kinds", source);
    let assembly = qpu::assemble(&[source], &qpu::Options::default()).expect("assembles");
    let found = qpu::check::check_assembly(&assembly);
    assert!(!found.has_errors(), "{found}");
    assembly.words.leak()
}

const SCREEN: &str =
    "mov ra0, vpm\nmov ra1, vpm\nfmul r0, ra0, unif\nfmul r1, ra1, unif\nftoi ra8.16a, r0\nftoi ra8.16b, r1\n";

fn setup(words: usize) -> String {
    format!(
        ".include <vc4.qinc>\nmov vr_setup, vpm_setup({words}, 1, h32(0))\nmov vw_setup, vpm_setup(0, 1, h32(0))\nnop\nnop\n"
    )
}

/// Draws three components of one type; `read` is the code that reads them from the VPM and leaves them in ra16, ra17 and ra18, the colour's red, green and
/// blue. `meant` is the expected value of a component.
fn check<C: AttributeComponent>(kind: &str, read: &str, any: impl Fn(u32) -> C, meant: impl Fn(C) -> f64) {
    let words = Vertex::<C>::BYTES / 4;
    let uniforms = ".uniform viewport_half_width, float\n.uniform viewport_half_height, float\n";
    let coordinate = program(format!(
        ".stage coordinate\n.attribute position, 2\n{uniforms}{}{SCREEN}mov vpm, ra0\nmov vpm, ra1\nmov vpm, 0\n\
         mov vpm, 1.0\nmov vpm, ra8\nmov vpm, 0.5\nmov vpm, 1.0\nthrend\nnop\nnop",
        setup(2)
    ));
    let vertex = program(format!(
        ".stage vertex\n.attribute position, 2\n.attribute value, 3, {kind}\n.varying shade, 3\n{uniforms}{}{SCREEN}{read}\nnop\n\
         mov vpm, ra8\nmov vpm, 0.5\nmov vpm, 1.0\nmov vpm, ra16\nmov vpm, ra17\nmov vpm, ra18\nthrend\nnop\nnop",
        setup(words)
    ));
    let attribute = |name, bytes: usize, offset: usize, coordinate_offset| Attribute {
        name,
        bytes: bytes as u16,
        memory_offset: offset as u32,
        vertex_offset: offset as u8,
        coordinate_offset,
    };
    let attributes =
        vec![attribute("position", 8, 0, Some(0)), attribute("value", Vertex::<C>::BYTES - 8, 8, None)].leak();
    let shading: VertexShading<Vertex<C>, Viewport, 3> = VertexShading::new(vertex, coordinate, attributes);

    let mut random = Random::new(7);
    let values: Vec<[C; 3]> = (0..BANDS).map(|_| [0; 3].map(|_| any(random.bits()))).collect();
    let vertices: Vec<_> =
        bands(BANDS).into_iter().map(|(position, band)| Vertex { position, value: values[band] }).collect();
    let model = model();
    let device = device(&model);
    let pipeline = Pipeline::new(&device, &PipelineDescriptor::new("kind", &shading, &smooth::FRAGMENT)).unwrap();
    let mesh = Mesh::new(&device, "bands", Primitive::Triangles, &vertices).unwrap();
    let picture = Picture::draw(&model, &device, (4 * BANDS as u32, 2), |pass| {
        pass.draw(&pipeline, &mesh, &Viewport, &NoUniforms).unwrap();
    });
    for (band, value) in values.iter().enumerate() {
        let [red, green, blue] = value.map(|component| 255.0 * meant(component).clamp(0.0, 1.0));
        picture.assert_near((4 * band as u32 + 1, 0), [red, green, blue, 255.0], ROUNDING);
    }
}

/// Reads words into ra9 and the following registers, then moves each component to its register with the given instruction.
fn unpacked(words: usize, moves: [&str; 3]) -> String {
    let reads: String = (9..9 + words).map(|register| format!("mov ra{register}, vpm\n")).collect();
    format!("{reads}nop\n{}", moves.join("\n"))
}

/// Components as integers, scaled so that the greatest value is 1.
fn scaled(words: usize, moves: [&str; 3], greatest: f32) -> String {
    let scale = (16..19).map(|register| {
        format!("itof r0, ra{register}\nldi r1, {:#x}\nfmul ra{register}, r0, r1", (1.0 / greatest).to_bits())
    });
    format!("{}\nnop\n{}", unpacked(words, moves), scale.collect::<Vec<_>>().join("\n"))
}

#[test]
fn floats_of_32_bits() {
    let read = "mov ra16, vpm\nmov ra17, vpm\nmov ra18, vpm";
    check("f32", read, |bits| bits as f32 / (1 << 24) as f32, f64::from);
}

#[test]
fn floats_of_16_bits() {
    let moves = ["fmul ra16, ra9.16a, 1.0", "fmul ra17, ra9.16b, 1.0", "fmul ra18, ra10.16a, 1.0"];
    // Multiples of 1/1024 are exact in 16 bits.
    let any = |bits: u32| f16::from_f32((bits % 1025) as f32 / 1024.0);
    check("f16", &unpacked(2, moves), any, f64::from);
}

#[test]
fn bytes_of_all_meanings() {
    let floats = ["fmul ra16, ra9.8a, 1.0", "fmul ra17, ra9.8b, 1.0", "fmul ra18, ra9.8c, 1.0"];
    check("unorm8", &unpacked(1, floats), |bits| bits as u8, |value| f64::from(value) / 255.0);
    let integers = ["mov ra16, ra9.8a", "mov ra17, ra9.8b", "mov ra18, ra9.8c"];
    check("u8", &scaled(1, integers, 200.0), |bits| bits as u8, |value| f64::from(value) / 200.0);
    let signed = [
        "shl r0, ra9, 12; nop\nshl r0, r0, 12\nasr ra16, r0, 12; nop\nnop\nasr ra16, ra16, 12",
        "shl r0, ra9, 8; nop\nshl r0, r0, 8\nasr ra17, r0, 12; nop\nnop\nasr ra17, ra17, 12",
        "shl r0, ra9, 8\nasr ra18, r0, 12\nnop\nasr ra18, ra18, 12",
    ];
    check("snorm8", &scaled(1, signed, 127.0), |bits| bits as i8, |value| f64::from(value) / 127.0);
    check("i8", &scaled(1, signed, 100.0), |bits| bits as i8, |value| f64::from(value) / 100.0);
}

#[test]
fn sixteen_bits_of_all_meanings() {
    let signed = ["mov ra16, ra9.16a", "mov ra17, ra9.16b", "mov ra18, ra10.16a"];
    check("i16", &scaled(2, signed, 30_000.0), |bits| bits as i16, |value| f64::from(value) / 30_000.0);
    check("snorm16", &scaled(2, signed, 32_767.0), |bits| bits as i16, |value| f64::from(value) / 32_767.0);
    let unsigned = ["ldi r0, 0xffff\nand ra16, ra9, r0", "shr r1, ra9, 8\nshr ra17, r1, 8", "and ra18, ra10, r0"];
    check("u16", &scaled(2, unsigned, 60_000.0), |bits| bits as u16, |value| f64::from(value) / 60_000.0);
    check("unorm16", &scaled(2, unsigned, 65_535.0), |bits| bits as u16, |value| f64::from(value) / 65_535.0);
}

#[test]
fn integers_of_32_bits() {
    let words = ["mov ra16, ra9", "mov ra17, ra10", "mov ra18, ra11"];
    // The greatest is a power of two, so that its reciprocal is exact.
    let greatest = 1u32 << 30;
    let any = |bits: u32| (bits << 7) as i32;
    check("i32", &scaled(3, words, greatest as f32), any, |value| f64::from(value) / f64::from(greatest));
    let any = |bits: u32| bits << 6;
    check("u32", &scaled(3, words, greatest as f32), any, |value| f64::from(value) / f64::from(greatest));
}

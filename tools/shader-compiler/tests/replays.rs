//! Captured frames drawn by programs of this compiler, compared with the references of the captures.
//!
//! The captured job is loaded, its shader records are changed to the programs that the capture's WGSL source compiles to, and the model renders it. Uniforms
//! are copied from the captured streams, by their meaning.

use std::path::Path;

use shader_compiler::interface::Stage;
use shader_compiler::ssa::{StreamWord, Viewport};
use shader_compiler::{Compiled, Options, compile};
use shader_interface::tail::{Depth, TailState};
use v3d_hw::control_list::{ClipperXyScaling, ClipperZScaleOffset, GlShaderState, Record};
use v3d_hw::shader_record::{AttributeArray, GlFragment, GlVertex, gl};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::Config;
use v3d_sim::V3d;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::{End, run_job};
use v3d_sim::memory::Memory;

/// Memory that no captured job uses.
const FREE: u32 = 24 << 20;

/// A capture whose programs are replaced, with the positions of its uniforms in the captured streams.
struct Capture {
    name: &'static str,
    /// For each uniform of the vertex stage the positions of its numbers, in the order of the source; matrices in row-major order.
    vertex: &'static [&'static [usize]],
    /// The same for the fragment stage.
    fragment: &'static [&'static [usize]],
    /// The texture's parameters, in the fragment stage.
    texture: &'static [usize],
    /// For each attribute of the source the index of its array in the captured shader record.
    arrays: &'static [u32],
}

const PLAIN: Capture = Capture { name: "", vertex: &[], fragment: &[], texture: &[0, 1], arrays: &[0, 1, 2] };

/// The two matrices in the captured vertex program of `gears`; that of `lit_textured` has the same order.
const PROJECTION_BEFORE_NORMALS: [usize; 16] = [2, 3, 10, 15, 4, 5, 8, 17, 6, 7, 11, 19, 0, 1, 9, 12];
const VIEW_AFTER_NORMALS: [usize; 12] = [29, 30, 35, 38, 31, 32, 36, 39, 33, 34, 37, 40];

/// Three lights in the captured fragment program of `lit_textured`: a coordinate of the varying, which identifies the axis, is subtracted from each number,
/// and three squared differences are summed, which identifies the light: (-3, 1, -2), (0, -3, -1) and (2, 2, -1). Another order of the lights would affect
/// rounding only.
const LIGHTS: [usize; 9] = [10, 3, 1, 11, 4, 5, 7, 0, 2];

/// In the captured vertex programs the sums of four products are w, x, y and z, which the reciprocal and the viewport's scales identify, and varyings.
const CAPTURES: [Capture; 14] = [
    Capture { name: "tri_rgb", ..PLAIN },
    Capture { name: "tri_flat", fragment: &[&[0, 1, 2, 3]], ..PLAIN },
    Capture { name: "tri_persp", ..PLAIN },
    Capture { name: "varyings8", ..PLAIN },
    Capture { name: "frag_coord", fragment: &[&[1, 4]], ..PLAIN },
    Capture { name: "loop_mandelbrot", ..PLAIN },
    Capture { name: "math_exp", ..PLAIN },
    Capture { name: "discard_alpha", ..PLAIN },
    Capture { name: "tex_linear", ..PLAIN },
    Capture { name: "tex_cube", texture: &[27, 28, 29], ..PLAIN },
    Capture { name: "cube_depth", vertex: &[&[2, 3, 11, 13, 4, 5, 10, 15, 6, 7, 12, 17, 0, 1, 8, 9]], ..PLAIN },
    Capture {
        name: "grid_mesh",
        vertex: &[&[19, 18, 25, 30, 21, 20, 27, 29, 23, 22, 28, 33, 16, 17, 24, 26]],
        ..PLAIN
    },
    Capture {
        name: "lit_textured",
        vertex: &[&PROJECTION_BEFORE_NORMALS, &VIEW_AFTER_NORMALS],
        fragment: &[&[], &[], &LIGHTS],
        texture: &[8, 9],
        arrays: &[0, 2, 1],
    },
    Capture {
        name: "gears",
        vertex: &[&PROJECTION_BEFORE_NORMALS, &VIEW_AFTER_NORMALS],
        fragment: &[&[], &[], &[14, 16, 13]],
        ..PLAIN
    },
];

/// A job in memory, with room for programs.
struct Replay<'m> {
    memory: Memory<'m>,
    free: u32,
    scaling: ClipperXyScaling,
    depth: ClipperZScaleOffset,
}

impl Replay<'_> {
    fn bits<L: Layout>(&self, at: u32) -> L {
        let words = (0..L::BYTES as u32 / 4).map(|word| self.memory.word(BusAddr(at + 4 * word)).unwrap());
        L::from_bits(words.enumerate().fold(0, |bits, (at, word)| bits | u128::from(word) << (32 * at)))
    }

    fn set_bits<L: Layout>(&self, at: u32, part: &L) {
        let bits = part.to_bits().unwrap();
        for word in 0..L::BYTES as u32 / 4 {
            self.memory.set_word(BusAddr(at + 4 * word), (bits >> (32 * word)) as u32).unwrap();
        }
    }

    /// Writes words to unused memory.
    fn place(&mut self, words: impl IntoIterator<Item = u32>) -> BusAddr {
        let start = self.free.next_multiple_of(64);
        self.free = start;
        for word in words {
            self.memory.set_word(BusAddr(self.free), word).unwrap();
            self.free += 4;
        }
        BusAddr(start)
    }

    /// Code and uniforms of a program.
    fn program(&mut self, program: &Compiled, capture: &Capture, captured: BusAddr) -> [BusAddr; 2] {
        let word_of = |number: usize| self.memory.word(captured + 4 * number as u32).unwrap();
        let stream: Vec<u32> = program
            .interface
            .stream
            .iter()
            .map(|word| match *word {
                StreamWord::Constant(bits) => bits,
                StreamWord::Viewport(Viewport::HalfWidth) => self.scaling.half_width.to_bits(),
                StreamWord::Viewport(Viewport::HalfHeight) => self.scaling.half_height.to_bits(),
                StreamWord::Viewport(Viewport::ZScale) => self.depth.scale.to_bits(),
                StreamWord::Viewport(Viewport::ZOffset) => self.depth.offset.to_bits(),
                StreamWord::Field { field, index } => {
                    let places = if program.stage == Stage::Fragment { capture.fragment } else { capture.vertex };
                    word_of(places[field as usize][index as usize])
                }
                StreamWord::Texture { parameter, .. } => word_of(capture.texture[parameter as usize]),
                other => panic!("{}: {other:?}", capture.name),
            })
            .collect();
        let code = self.place(program.words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
        [code, self.place(stream)]
    }

    /// Whether a shader record has the attributes that these programs read. A frame may use other programs as well.
    fn has_attributes(&self, record: u32, arrays: u8, capture: &Capture, programs: &[Compiled]) -> bool {
        let attributes = &programs[0].interface.attributes;
        attributes.len() == usize::from(arrays)
            && capture.arrays.iter().zip(attributes).all(|(number, attribute)| {
                let array: AttributeArray = self.bits(record + gl::ATTRIBUTES + gl::ATTRIBUTE_BYTES * number);
                u32::from(array.bytes_minus_1) + 1 == 4 * attribute.components
            })
    }

    /// Changes the programs of a shader record.
    fn replace(&mut self, record: u32, capture: &Capture, programs: &[Compiled]) {
        let of = |stage| programs.iter().find(|program| program.stage == stage).unwrap();
        let (coordinate, vertex, fragment) = (of(Stage::Coordinate), of(Stage::Vertex), of(Stage::Fragment));
        let old: GlFragment = self.bits(record + gl::FRAGMENT);
        let [code, uniforms] = self.program(fragment, capture, old.uniforms);
        let (varyings, threading) = (fragment.interface.varyings as u8, fragment.interface.threading);
        self.set_bits(record + gl::FRAGMENT, &GlFragment { uniforms, code, varyings, threading, ..old });
        let attributes = &vertex.interface.attributes;
        let captured = self.bits::<GlVertex>(record + gl::VERTEX).uniforms;
        for (program, at) in [(vertex, gl::VERTEX), (coordinate, gl::COORDINATE)] {
            let old: GlVertex = self.bits(record + at);
            let [code, uniforms] = self.program(program, capture, captured);
            let is_read = |number: &usize| {
                program.stage == Stage::Vertex || attributes[*number].coordinate_offset_words.is_some()
            };
            let select =
                (0..attributes.len()).filter(is_read).fold(0, |bits, number| bits | 1 << capture.arrays[number]);
            let bytes = 4 * program.interface.attribute_words(program.stage) as u8;
            let new = GlVertex { uniforms, code, attributes_bytes: bytes, attribute_select: select, ..old };
            self.set_bits(record + at, &new);
        }
        for (number, attribute) in capture.arrays.iter().zip(attributes) {
            let at = record + gl::ATTRIBUTES + gl::ATTRIBUTE_BYTES * number;
            let old: AttributeArray = self.bits(at);
            let offset = |words: u32| 4 * words as u8;
            let new = AttributeArray {
                coordinate_vpm_offset: offset(attribute.coordinate_offset_words.unwrap_or(0)),
                vertex_vpm_offset: offset(attribute.offset_words),
                ..old
            };
            self.set_bits(at, &new);
        }
    }
}

/// The records of a list.
fn records(memory: Memory<'_>, start: u32, end: u32) -> Vec<Record> {
    let byte = |at: u32| (memory.word(BusAddr(at & !3)).unwrap() >> (8 * (at % 4))) as u8;
    let bytes: Vec<u8> = (start..end).map(byte).collect();
    let (mut at, mut records) = (0, Vec::new());
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).unwrap();
        at += record.bytes();
        records.push(record);
    }
    records
}

fn check(capture: &Capture) {
    let name = capture.name;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = JobFolder::open(&tests.join("../v3d-sim/tests/captures").join(name)).unwrap();
    let source = std::fs::read_to_string(tests.join("tests/captures").join(name).with_extension("wgsl")).unwrap();
    let [job] = folder.jobs() else { panic!("{name}: {} jobs", folder.jobs().len()) };
    let memory = folder.image(job).unwrap();
    let records = records(memory.view(), job.bin_ct0ca, job.bin_ct0ea);
    let (mut scaling, mut depth, mut end) = (None, None, TailState::PLAIN);
    for record in &records {
        match *record {
            Record::ClipperXyScaling(record) => scaling = Some(record),
            Record::ClipperZScaleOffset(record) => depth = Some(record),
            // The code for all depth tests is the same; this record selects the test.
            Record::ConfigurationBits(record) if record.z_updates => end.depth = Depth::LESS,
            _ => {}
        }
    }
    let programs = compile(&source, name, &Options::default()).unwrap();
    let programs: Vec<Compiled> = programs.into_iter().map(|program| program.with_end(&end).unwrap()).collect();
    let mut replay = Replay { memory: memory.view(), free: FREE, scaling: scaling.unwrap(), depth: depth.unwrap() };
    let mut replaced = 0;
    for record in &records {
        if let Record::GlShaderState(GlShaderState { address, attribute_arrays, .. }) = record
            && replay.has_attributes(address.0.0, *attribute_arrays, capture, &programs)
        {
            replay.replace(address.0.0, capture, &programs);
            replaced += 1;
        }
    }
    assert!(replaced > 0, "{name} has shaders");
    let mut device = V3d::new(Config { sample_positions: folder.reference_sample_positions(), ..Config::default() });
    assert_eq!(run_job(&mut device, memory.view(), job), End::Done, "{name}");
    assert_eq!(device.take_faults(), [], "{name}");
    let picture = folder.picture(memory.view()).unwrap();
    let difference = picture.difference(&folder.reference().unwrap()).unwrap();
    let expected = folder.expected_difference().unwrap();
    assert!(difference.is_within(&expected), "{name}: {difference:?}, expected {expected:?}");
}

#[test]
fn captured_frames_look_the_same_with_programs_of_this_compiler() {
    CAPTURES.iter().for_each(check);
    let sources = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")).unwrap();
    let sources = sources.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "wgsl"));
    assert_eq!(sources.count(), CAPTURES.len(), "each source is drawn");
}

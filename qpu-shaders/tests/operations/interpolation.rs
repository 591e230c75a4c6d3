//! Interpolation: parameters and interpolation modes in fragment shaders, compared with the document's formula.
//!
//! The triangles have perspective; I and J are computed from their vertices in double precision.

mod fragment;

use fragment::{SIZE, Vertex};

use crate::case::uses_of_alus;
use crate::effects::Effects;
use crate::machine;
use crate::table::{Answer, Cost, Document, LargestError, Row};

/// Maximum error, which is a few units in the last place of the values in the vertices.
const BOUND: f64 = 5e-6;
/// Values at the three vertices.
const VALUES: [f32; 3] = [3.0, -1.5, 7.25];
/// Reciprocals of the vertices' 1/Wc.
const W: [f32; 3] = [1.0, 2.5, 4.0];
/// Positions of the vertices in 1/16 pixel, not on pixel centres.
const CORNERS: [[[i16; 2]; 3]; 3] =
    [[[37, 51], [905, 130], [303, 871]], [[900, 20], [11, 333], [666, 999]], [[5, 5], [1000, 77], [990, 300]]];

/// Barycentric coordinates of vertices 1 and 2 on the screen, at a position in 1/16 pixel.
fn linear([v0, v1, v2]: [[i16; 2]; 3], [x, y]: [f64; 2]) -> [f64; 2] {
    let from_first = |[x, y]: [f64; 2]| [x - f64::from(v0[0]), y - f64::from(v0[1])];
    let cross = |[ax, ay]: [f64; 2], [bx, by]: [f64; 2]| ax * by - ay * bx;
    let [a, b] = [v1, v2].map(|vertex| from_first(vertex.map(f64::from)));
    let at = from_first([x, y]);
    [cross(at, b) / cross(a, b), cross(a, at) / cross(a, b)]
}

/// The same, perspective-correct.
fn perspective(corners: [[i16; 2]; 3], place: [f64; 2]) -> [f64; 2] {
    let [i, j] = linear(corners, place);
    let shares = [(1.0 - i - j) / f64::from(W[0]), i / f64::from(W[1]), j / f64::from(W[2])];
    let sum: f64 = shares.iter().sum();
    [shares[1] / sum, shares[2] / sum]
}

/// The document's P0 + I * P10 + J * P20.
fn formula([i, j]: [f64; 2]) -> f64 {
    let [p0, v1, v2] = VALUES.map(f64::from);
    p0 + i * (v1 - p0) + j * (v2 - p0)
}

/// The centre of a pixel.
fn middle(x: u32, y: u32) -> [f64; 2] {
    [x, y].map(|at| f64::from(16 * at + 8))
}

/// The mean position of a pixel's samples that are inside; `None` where an edge is too close to one.
fn centroid(corners: [[i16; 2]; 3], x: u32, y: u32) -> Option<[f64; 2]> {
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for (right, up) in [(10, 2), (2, 6), (14, 10), (6, 14)] {
        let place = [f64::from(16 * x + right), f64::from(16 * y + up)];
        let [i, j] = linear(corners, place);
        let least = i.min(j).min(1.0 - i - j);
        if least.abs() < 1e-9 {
            return None;
        }
        if least > 0.0 {
            sum = [sum[0] + place[0], sum[1] + place[1]];
            count += 1.0;
        }
    }
    Some(sum.map(|sum| sum / count))
}

/// An interpolation mode, with the varyings that it needs.
struct Way {
    document: Document,
    operation: &'static str,
    name: &'static str,
    /// Instructions before the operation.
    before: String,
    /// The values of each varying at the vertices.
    varyings: Vec<[f32; 3]>,
    /// One bit for each varying that is flat.
    flat: u32,
    /// Whether pixels have four samples.
    samples: bool,
}

impl Way {
    fn new(document: Document, operation: &'static str, name: &'static str, varyings: Vec<[f32; 3]>) -> Self {
        Self { document, operation, name, before: String::new(), varyings, flat: 0, samples: false }
    }

    fn program(&self, calls: &str) -> Vec<u64> {
        let calls = format!("{}; {calls}", self.before).replace("; ", "\n    ");
        // The result is written to all samples of a pixel, so that their mean is the result.
        let all_samples = "mov r1, ms_flags\n    mov.setf -, r1\n    mov r1, 15\n    mov.ifnz ms_flags, r1";
        let all_samples = if self.samples { all_samples } else { "" };
        let end = "nop\n    sbwait\n    mov tlbc, r0\n    thrend\n    nop\n    sbdone";
        let text =
            format!(".include \"operations/interpolation.qinc\"\n    nop\n    {calls}\n    {all_samples}\n    {end}\n");
        let assembly = machine::assemble(self.name, &text).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        machine::check(&assembly).unwrap_or_else(|found| panic!("{}: {found}", self.name));
        assembly.words
    }

    /// Draws the triangles, and compares each pixel with the value expected for its triangle, column and row.
    fn row(&self, expected: impl Fn([[i16; 2]; 3], u32, u32) -> Option<f64>) -> Row {
        // Every varying has to be read: those that are not read before the operation are read by it, or by the instruction that replaces it.
        let in_its_place = if self.before.contains("interpolate") { "mov r0, 0" } else { "mov r0, vary" };
        let (with, without) = (self.program(self.name), self.program(in_its_place));
        let (mut error, mut cost) = (0.0f64, None);
        for corners in CORNERS {
            let vertices = [0, 1, 2].map(|n| Vertex {
                place: corners[n],
                w: W[n],
                varyings: self.varyings.iter().map(|varying| varying[n]).collect(),
            });
            let drawn = |words: &[u64]| fragment::draw(words, &[0.5f32.to_bits()], &vertices, self.flat, self.samples);
            let (picture, nothing) = (drawn(&with), drawn(&without));
            let mut compared = 0;
            for (x, y, word) in picture.pixels() {
                let Some(expected) = expected(corners, x, y) else { continue };
                let difference = (f64::from(f32::from_bits(word)) - expected).abs();
                assert!(difference < BOUND, "{}: ({x}, {y}) is {}, not {expected}", self.name, f32::from_bits(word));
                error = error.max(difference);
                compared += 1;
            }
            assert!(compared > u32::from(SIZE) * 2, "{}: only {compared} pixels", self.name);
            // In the other program, one instruction replaces the operation.
            let batches = nothing.cycles / (4 * without.len() as u64);
            let instructions = (with.len() - without.len() + 1) as u64;
            let [add, mul] = {
                let (with, without) = (uses_of_alus(&with), uses_of_alus(&without));
                [with.0 + 1 - without.0, with.1 - without.1]
            };
            let cycles = (picture.cycles - nothing.cycles).div_ceil(batches) + 4;
            let effects = Effects::of(self.name, ".include \"operations/interpolation.qinc\"", self.name);
            let effects = effects.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            cost = Some(Cost { instructions, cycles, bound: 4 * add.max(mul), effects });
        }
        let error = if error == 0.0 { LargestError::Exact } else { LargestError::Absolute(error) };
        let cost = cost.unwrap_or_else(|| panic!("{} has drawn nothing", self.name));
        let answer = Answer::Built { name: self.name.to_owned(), file: "interpolation.qinc", cost, error };
        Row { document: self.document, operation: self.operation.to_owned(), answer }
    }
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let [v0, v1, v2] = VALUES;
    let seen = |corners, x, y| Some(formula(perspective(corners, middle(x, y))));
    let way = |operation, name| Way::new(Document::Interpolation, operation, name, vec![VALUES]);
    let core = |operation, name| Way { document: Document::Instructions, ..way(operation, name) };
    let times_w = [0, 1, 2].map(|n| VALUES[n] * W[n]);
    let at_centroid = |corners, x, y| Some(formula(perspective(corners, centroid(corners, x, y)?)));
    let centroid = |way: Way| Way { samples: true, before: "interpolation_centroid; nop".to_owned(), ..way };
    // Parameters are the same at all vertices, so that they are flat whichever vertex is used.
    let parameters = "interpolate_flat; mov ra16, r0; interpolate_flat; mov ra17, r0; interpolate_flat; mov ra18, r0; \
                      interpolate; mov ra19, r0; interpolate; mov ra20, r0; nop";
    let with_parameters = |operation, name, before: String| Way {
        before,
        varyings: vec![[v0; 3], [v1 - v0; 3], [v2 - v0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        flat: 0b111,
        ..way(operation, name)
    };
    let first_step = |corners, x, y| {
        let [i, _] = perspective(corners, middle(x, y));
        Some(formula([i, 0.0]))
    };
    let two_steps = format!("{parameters}; interpolation_p1");
    let parameter = |operation, varying: f32| {
        let way = Way { varyings: vec![[9.0, 9.0, varying]], flat: 1, ..way(operation, "interpolate_flat") };
        way.row(move |_, _, _| Some(f64::from(varying)))
    };
    vec![
        with_parameters("V_INTERP_P1_F32", "interpolation_p1", parameters.to_owned()).row(first_step),
        with_parameters("V_INTERP_P2_F32", "interpolation_p2", two_steps).row(seen),
        way("V_INTERP_MOV_F32 P0", "interpolate_flat").row(|_, _, _| Some(f64::from(VALUES[0]))),
        parameter("V_INTERP_MOV_F32 P10", v1 - v0),
        parameter("V_INTERP_MOV_F32 P20", v2 - v0),
        way("both, I and J in space", "interpolate").row(seen),
        Way { varyings: vec![times_w], ..way("both, I and J on the screen", "interpolate_linear") }
            .row(|corners, x, y| Some(formula(linear(corners, middle(x, y))))),
        centroid(way("both, I and J at the centroid", "interpolate_centroid")).row(at_centroid),
        core("interp", "interpolate").row(seen),
        core("interp SRC", "interpolate_times unif").row(|corners, x, y| Some(0.5 * seen(corners, x, y)?)),
        centroid(core("interp cent", "interpolate_centroid")).row(at_centroid),
        Way { flat: 1, ..core("interp flat", "interpolate_flat") }.row(|_, _, _| Some(f64::from(VALUES[2]))),
    ]
}

//! Samples and gathers: each combination in the document, compared with a sampler in double precision.

use v3d_hw::texture::TextureType;
use v3d_sim::memory::OwnedMemory;

use super::image::{Filters, Image, Level};
use super::machine::{Elements, MEMORY_BYTES, Operation, bits, floats};
use super::sampler::{channel, depth, footprint, level_of_detail, linear, nearest_level, trilinear};
use crate::samples::Random;
use crate::table::{Cost, LargestError};

/// The source of the level of detail: in the document's names, and in image_lod.qinc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Implicit,
    Biased,
    Explicit,
    Zero,
    Gradients,
    CoarseGradients,
}

impl Detail {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Implicit, "", "image_implicit"),
        (Self::Biased, "_B", "image_biased"),
        (Self::Explicit, "_L", "image_explicit"),
        (Self::Zero, "_LZ", "image_zero"),
        (Self::Gradients, "_D", "image_gradients"),
        (Self::CoarseGradients, "_CD", "image_coarse_gradients"),
    ];
}

/// One of the document's operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    gather: bool,
    compare: bool,
    detail: Detail,
    clamp: bool,
    offset: bool,
    /// Interpolated between two levels by the program, if the TMU cannot do it.
    between: bool,
}

impl Variant {
    /// All operations: a clamp is combined with computed levels of detail only, and gathers have no gradients.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for n in 0..16 {
            let [gather, compare, clamp, offset] = [0, 1, 2, 3].map(|bit| n >> bit & 1 == 1);
            for (detail, ..) in Detail::ALL {
                let gradients = matches!(detail, Detail::Gradients | Detail::CoarseGradients);
                let given = matches!(detail, Detail::Explicit | Detail::Zero);
                if clamp && given || gather && gradients {
                    continue;
                }
                let variant = Self { gather, compare, detail, clamp, offset, between: false };
                all.push(variant);
                if !gather && (compare || offset) {
                    all.push(Self { between: true, ..variant });
                }
            }
        }
        all
    }

    /// A sample without other features.
    pub(super) fn plain(detail: Detail) -> Self {
        Self { gather: false, compare: false, detail, clamp: false, offset: false, between: false }
    }

    fn part(self, place: impl Fn(&(Detail, &'static str, &'static str)) -> &'static str) -> &'static str {
        Detail::ALL.iter().find(|(detail, ..)| *detail == self.detail).map_or("", place)
    }

    /// The document's name.
    pub(super) fn name(self) -> String {
        let part = |is: bool, name: &'static str| if is { name } else { "" };
        let operation = if self.gather { "IMAGE_GATHER4" } else { "IMAGE_SAMPLE" };
        let (compare, clamp, offset) = (part(self.compare, "_C"), part(self.clamp, "_CL"), part(self.offset, "_O"));
        format!("{operation}{compare}{}{clamp}{offset}", self.part(|row| row.1))
    }

    /// The call of the macro.
    pub(super) fn call(self) -> String {
        let operation = match (self.gather, self.between) {
            (true, _) => "image_gather",
            (false, true) => "image_sample_between",
            (false, false) => "image_sample",
        };
        let [compare, clamp, offset] = [self.compare, self.clamp, self.offset].map(u32::from);
        format!("{operation} {compare}, {}, {clamp}, {offset}", self.part(|row| row.2))
    }

    /// Whether it looks up four texels, instead of one that the TMU has interpolated.
    fn takes_four(self) -> bool {
        self.gather || self.compare
    }

    /// Whether the TMU computes the level of detail.
    fn is_automatic(self) -> bool {
        let by_itself = matches!(self.detail, Detail::Implicit | Detail::Biased);
        by_itself && !self.clamp && !self.offset && !self.takes_four()
    }

    /// The uniforms after the resource.
    fn lookups(self, image: &Image) -> Vec<u32> {
        let filters = match (self.takes_four(), self.offset) {
            (true, _) => Filters::NEAREST,
            (false, true) => Filters::LINEAR,
            (false, false) => Filters::TRILINEAR,
        };
        let [first, second, level] = image.lookup(TextureType::Rgba8888, filters);
        match (self.is_automatic(), self.detail) {
            (true, Detail::Implicit) => vec![first, second],
            (true, _) => vec![first, second, 0],
            (false, _) => {
                let (lookups, levels) = (if self.takes_four() { 4 } else { 1 }, if self.between { 2 } else { 1 });
                [first, second, level].repeat(lookups * levels)
            }
        }
    }
}

/// The inputs of a run of 16 elements.
struct Inputs {
    place: [[f32; 16]; 2],
    detail: [f32; 16],
    clamp: [f32; 16],
    gradients: [[f32; 16]; 4],
    offset: [[i32; 2]; 16],
    reference: [f32; 16],
}

impl Inputs {
    /// Four quads, each with its own position, derivatives and levels; gradients, offsets and references differ within quads.
    fn random(random: &mut Random, image: &Image) -> Self {
        let size = [image.levels[0].width as f32, image.levels[0].height as f32];
        let change = |random: &mut Random| {
            let (texels, angle) = (random.within(-1.0, 4.0).exp2(), random.within(0.0, std::f32::consts::TAU));
            [texels * angle.cos() / size[0], texels * angle.sin() / size[1]]
        };
        let mut inputs = Self {
            place: [[0.0; 16]; 2],
            detail: [0.0; 16],
            clamp: [0.0; 16],
            gradients: [[0.0; 16]; 4],
            offset: [[0; 2]; 16],
            reference: [0.0; 16],
        };
        for quad in 0..4 {
            let first = [random.within(-1.5, 2.5), random.within(-1.5, 2.5)];
            let (right, down) = (change(random), change(random));
            let (detail, clamp) = (random.within(-2.0, 3.0), random.within(0.0, 4.0));
            for n in 0..4 {
                let element = 4 * quad + n;
                for axis in 0..2 {
                    let right = if n & 1 == 1 { right[axis] } else { 0.0 };
                    let down = if n & 2 == 2 { down[axis] } else { 0.0 };
                    inputs.place[axis][element] = first[axis] + right + down;
                }
                (inputs.detail[element], inputs.clamp[element]) = (detail, clamp);
                let (x, y) = (change(random), change(random));
                for (n, value) in [x[0], x[1], y[0], y[1]].into_iter().enumerate() {
                    inputs.gradients[n][element] = value;
                }
                inputs.offset[element] = [0, 1].map(|_| random.below(64) as i32 - 32);
                inputs.reference[element] = random.within(0.0, 1.0);
            }
        }
        inputs
    }

    fn registers(&self) -> Vec<Elements> {
        let packed = self.offset.map(|[x, y]| x as u32 & 63 | (y as u32 & 63) << 8);
        let [ds_dx, dt_dx, ds_dy, dt_dy] = self.gradients.map(bits);
        let [s, t] = self.place.map(bits);
        vec![s, t, bits(self.detail), bits(self.clamp), ds_dx, dt_dx, ds_dy, dt_dy, packed, bits(self.reference)]
    }

    fn place(&self, element: usize) -> [f32; 2] {
        [self.place[0][element], self.place[1][element]]
    }

    /// The level of detail of an element.
    fn detail(&self, variant: Variant, image: &Image, element: usize) -> f64 {
        let first = element & !3;
        let change = |to: usize| [0, 1].map(|axis| self.place[axis][first + to] - self.place[axis][first]);
        let gradients = |of: usize| {
            let [ds_dx, dt_dx, ds_dy, dt_dy] = self.gradients.map(|gradient| gradient[of]);
            level_of_detail(image, [ds_dx, dt_dx], [ds_dy, dt_dy])
        };
        let given = f64::from(self.detail[element]);
        let detail = match variant.detail {
            Detail::Implicit => level_of_detail(image, change(1), change(2)),
            Detail::Biased => level_of_detail(image, change(1), change(2)) + given,
            Detail::Explicit => given,
            Detail::Zero => 0.0,
            Detail::Gradients => gradients(element),
            Detail::CoarseGradients => gradients(first),
        };
        if variant.clamp { detail.max(f64::from(self.clamp[element])) } else { detail }
    }

    /// The expected results of an element; `None` where rounding decides between two levels, texels or outcomes of a comparison.
    fn expected(&self, variant: Variant, image: &Image, element: usize, chosen: usize) -> Option<[f64; 4]> {
        let (place, detail) = (self.place(element), self.detail(variant, image, element));
        if variant.between {
            let last = image.levels.len() - 1;
            let detail = detail.clamp(0.0, last as f64);
            let first = detail.floor() as usize;
            let of_level = |number: usize| self.of_level(variant, &image.levels[number.min(last)], element, chosen);
            let (near, far) = (of_level(first)?, of_level(first + 1)?);
            return Some(std::array::from_fn(|n| near[n] + (far[n] - near[n]) * detail.fract()));
        }
        if !variant.takes_four() && !variant.offset {
            return trilinear(image, place, detail);
        }
        self.of_level(variant, nearest_level(image, detail)?, element, chosen)
    }

    /// The same for one level.
    fn of_level(&self, variant: Variant, level: &Level, element: usize, chosen: usize) -> Option<[f64; 4]> {
        let place = self.place(element);
        let moved = if variant.offset { self.offset[element] } else { [0, 0] };
        if !variant.takes_four() {
            return linear(level, place, moved);
        }
        let footprint = footprint(level, place, moved)?;
        let texels = footprint.gather(level);
        if !variant.compare {
            return Some(texels.map(|texel| channel(texel, chosen)));
        }
        let reference = f64::from(self.reference[element]);
        if texels.iter().any(|&texel| (depth(texel) - reference).abs() < 1e-6) {
            return None;
        }
        let passed = texels.map(|texel| if reference <= depth(texel) { 1.0 } else { 0.0 });
        Some(if variant.gather { passed } else { [footprint.blend(passed), 0.0, 0.0, 0.0] })
    }

    /// The level of detail as defined for IMAGE_GET_LOD.
    fn two_details(&self, image: &Image, element: usize) -> [f64; 2] {
        let detail = self.detail(Variant::plain(Detail::Implicit), image, element);
        [detail.clamp(0.0, image.levels.len() as f64 - 1.0), detail]
    }
}

/// Levels of random texels.
fn image() -> (Image, OwnedMemory) {
    let mut random = Random::named("texels of samples");
    let image = Image::new(32, [64, 32], 6, |_, _, _| u64::from(random.next()));
    let memory = OwnedMemory::new(MEMORY_BYTES);
    image.put(&memory);
    (image, memory)
}

const INPUTS: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const COMPARE: &str = ".macro image_compare, target\nimage_compare_less_or_equal target\n.endm\n";
/// Number of runs of 16 elements for each variant.
const RUNS: usize = 8;

/// Runs an operation on random inputs; returns its cost, and the maximum error, which must be within the bound.
fn compare(
    name: &str,
    operation: &Operation,
    uniforms: &[u32],
    bound: f64,
    expected: impl Fn(&Inputs, &Image, usize) -> Option<Vec<f64>>,
) -> (Cost, LargestError) {
    let (image, memory) = image();
    let mut random = Random::named(name);
    let (mut error, mut compared) = (0.0f64, 0);
    for _ in 0..RUNS {
        let inputs = Inputs::random(&mut random, &image);
        let outcome = operation.run(&memory, &inputs.registers(), uniforms);
        let out = outcome.out.map(floats);
        let expected = (0..16).filter_map(|element| Some((element, expected(&inputs, &image, element)?)));
        for (element, expected) in expected {
            compared += 1;
            for (n, (out, expected)) in out.iter().zip(expected).enumerate() {
                let difference = (f64::from(out[element]) - expected).abs();
                assert!(
                    difference <= bound,
                    "{name}: element {element}, result {n} is {} instead of {expected}",
                    out[element]
                );
                error = error.max(difference);
            }
        }
    }
    assert!(compared > 8 * RUNS, "{name}: only {compared} of {} elements are compared", 16 * RUNS);
    let cost = operation.cost(&memory, &Inputs::random(&mut random, &image).registers(), uniforms);
    (cost, if error == 0.0 { LargestError::Exact } else { LargestError::Absolute(error) })
}

/// Checks a variant, and measures it.
pub(super) fn check(variant: Variant) -> (Cost, LargestError) {
    let name = variant.name();
    let chosen = name.len() % 4;
    let mut calls = variant.call();
    if variant.gather && !variant.compare {
        calls += "\n";
        calls += ["image_channel_red", "image_channel_green", "image_channel_blue", "image_channel_alpha"][chosen];
    }
    let operation = Operation::new(&name, &INPUTS, COMPARE, "image_resource", &calls);
    let (image, _) = image();
    let uniforms = [&image.resource()[..], &variant.lookups(&image)].concat();
    // The TMU's weights have 8 bits on each axis and between levels; results that are computed in floats are more accurate.
    let bound = match (variant.takes_four(), variant.gather) {
        (false, _) => 0.02,
        // Levels of detail by the SFU have an error of about 1e-5.
        (true, false) => 1e-4,
        (true, true) => 1e-6,
    };
    let results = if variant.compare && !variant.gather { 1 } else { 4 };
    compare(&name, &operation, &uniforms, bound, |inputs, image, element| {
        inputs.expected(variant, image, element, chosen).map(|expected| expected[..results].to_vec())
    })
}

/// Checks IMAGE_GET_LOD, and measures it.
pub(super) fn check_get_lod() -> (Cost, LargestError) {
    let operation = Operation::new("IMAGE_GET_LOD", &INPUTS, "", "image_resource", "image_get_lod");
    let (image, _) = image();
    compare("IMAGE_GET_LOD", &operation, &image.resource(), 0.002, |inputs, image, element| {
        Some(inputs.two_details(image, element).to_vec())
    })
}

/// A comparison of a reference and a depth.
type Comparison = fn(f32, f32) -> bool;

/// Each comparison of a reference with a depth: less, equal and greater.
#[test]
fn references_compare_as_the_functions_say() {
    let functions: [(&str, Comparison); 8] = [
        ("less", |reference, depth| reference < depth),
        ("less_or_equal", |reference, depth| reference <= depth),
        ("greater", |reference, depth| reference > depth),
        ("greater_or_equal", |reference, depth| reference >= depth),
        ("equal", |reference, depth| reference == depth),
        ("not_equal", |reference, depth| reference != depth),
        ("always", |_, _| true),
        ("never", |_, _| false),
    ];
    let depths: [u32; 4] = [0, 0x40_0000, 0x80_0001, 0xff_ffff];
    let image = Image::new(32, [4, 4], 1, |_, x, _| u64::from(depths[x as usize] << 8 | 0x5a));
    let memory = OwnedMemory::new(MEMORY_BYTES);
    image.put(&memory);
    let as_float = |depth: u32| depth as f32 * (1.0 / 16_777_215.0);
    // Element n compares the row's depth n / 4 with the texel's depth n % 4.
    let place = |n: usize| (n % 4) as f32 / 4.0 + 0.25;
    let s = std::array::from_fn(|n| place(n).to_bits());
    let t = [0.5f32.to_bits(); 16];
    let references: [f32; 16] = std::array::from_fn(|n| as_float(depths[n / 4]));
    let lookups = image.lookup(TextureType::Rgba8888, Filters::NEAREST).repeat(4);
    let uniforms = [&image.resource()[..], &lookups].concat();
    for (name, function) in functions {
        let compare = format!(".macro image_compare, target\nimage_compare_{name} target\n.endm\n");
        let gather = "image_gather 1, image_zero, 0, 0";
        let operation = Operation::new(name, &[0, 1, 9], &compare, "image_resource", gather);
        let outcome = operation.run(&memory, &[s, t, bits(references)], &uniforms);
        // (0, 0) is the left texel, number n % 4; (1, 0) the next one.
        for (result, step) in [(3, 0), (2, 1)] {
            for (n, result) in floats(outcome.out[result]).into_iter().enumerate() {
                let expected = function(references[n], as_float(depths[(n % 4 + step) % 4]));
                assert_eq!(result, f32::from(u8::from(expected)), "{name}, element {n}, column {step}");
            }
        }
    }
}

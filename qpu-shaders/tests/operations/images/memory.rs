//! Loads, stores and queries, compared with the image's table of texels.

use v3d_hw::BusAddr;
use v3d_hw::texture::TextureType;
use v3d_sim::memory::OwnedMemory;

use super::image::{Filters, Image, LEVEL_WORDS};
use super::machine::{Elements, MEMORY_BYTES, Operation, floats};
use crate::machine;
use crate::samples::Random;
use crate::table::{Cost, LargestError};

/// The conversion of a texel by a load.
#[derive(Clone, Copy, Debug)]
enum Conversion {
    /// Four channels of 8 bits as floats.
    Bytes,
    /// Four channels of 16-bit float.
    Halves,
    /// 5, 6 and 5 bits as floats, and 1.0.
    Rgb565,
    /// The texel unchanged, in 32-bit words.
    Raw,
    /// The same, sign-extended.
    Signed,
}

/// A load: bits of a texel, texture type of the lookup, conversion.
const LOADS: [(u32, TextureType, Conversion); 10] = [
    (32, TextureType::Rgba8888, Conversion::Bytes),
    (16, TextureType::Rgb565, Conversion::Rgb565),
    (64, TextureType::Rgba64, Conversion::Halves),
    (32, TextureType::Rgba8888, Conversion::Raw),
    (16, TextureType::S16, Conversion::Raw),
    (8, TextureType::S8, Conversion::Raw),
    (64, TextureType::Rgba64, Conversion::Raw),
    (32, TextureType::Rgba8888, Conversion::Signed),
    (16, TextureType::S16, Conversion::Signed),
    (8, TextureType::S8, Conversion::Signed),
];

impl Conversion {
    fn calls(self, bits: u32) -> String {
        match self {
            Self::Bytes | Self::Rgb565 => "image_unpack".to_owned(),
            Self::Halves => "image_unpack_halves".to_owned(),
            Self::Raw if bits == 64 => "mov ra16, r4\nldtmu0\nmov ra17, r4".to_owned(),
            Self::Raw => "mov ra16, r4".to_owned(),
            Self::Signed => format!("image_sign_extend {bits}"),
        }
    }

    /// The results as bits.
    fn expected(self, bits: u32, texel: u64) -> Vec<u32> {
        let share = |value: u64, most: u32| (value as u32 & most) as f32 / most as f32;
        match self {
            Self::Bytes => texel.to_le_bytes()[..4].iter().map(|&byte| (f32::from(byte) / 255.0).to_bits()).collect(),
            // 5 and 6 bits may be widened to 8 in different ways, with an error of up to half a step of 8 bits.
            Self::Rgb565 => {
                [share(texel >> 11, 31), share(texel >> 5, 63), share(texel, 31), 1.0].map(f32::to_bits).to_vec()
            }
            Self::Halves => (0..4).map(|n| half(texel >> (16 * n) & 0xffff).to_bits()).collect(),
            Self::Raw if bits == 64 => vec![texel as u32, (texel >> 32) as u32],
            Self::Raw => vec![texel as u32],
            Self::Signed => vec![((texel << (64 - bits)) as i64 >> (64 - bits)) as u32],
        }
    }

    fn bound(self) -> f32 {
        if matches!(self, Self::Rgb565) { 0.003 } else { 1e-7 }
    }
}

/// A normal number of 16-bit float, by its definition.
fn half(bits: u64) -> f32 {
    let sign = if bits >> 15 & 1 == 1 { -1.0 } else { 1.0 };
    sign * (1.0 + (bits & 0x3ff) as f32 / 1024.0) * ((bits >> 10 & 31) as f32 - 15.0).exp2()
}

/// Random texels of an image: as half floats all are normal numbers.
fn texel(random: &mut Random, bits: u32) -> u64 {
    match bits {
        64 => (0..4).fold(0, |texel, _| {
            let exponent = 1 + random.below(30);
            texel << 16 | u64::from(random.below(2) << 15 | exponent << 10 | random.below(1024))
        }),
        _ => u64::from(random.next()) & ((1 << bits) - 1),
    }
}

/// An image in T-format with LT-format in small levels; its sides differ.
fn image(bits: u32, random: &mut Random) -> (Image, OwnedMemory) {
    let size = if bits == 64 { [32, 64] } else { [128, 64] };
    let image = Image::new(bits, size, 5, |_, _, _| texel(random, bits));
    let memory = OwnedMemory::new(MEMORY_BYTES);
    image.put(&memory);
    (image, memory)
}

/// Columns, rows and levels of 16 different texels.
fn places(random: &mut Random, image: &Image, mip: bool) -> [Elements; 3] {
    let mut places: Vec<[u32; 3]> = Vec::new();
    while places.len() < 16 {
        let level = if mip { random.below(image.levels.len() as u32) } else { 0 };
        let size = &image.levels[level as usize];
        let place = [random.below(size.width), random.below(size.height), level];
        if !places.contains(&place) {
            places.push(place);
        }
    }
    [0, 1, 2].map(|part| std::array::from_fn(|n| places[n][part]))
}

/// The maximum cost of the variants of an operation.
#[derive(Default)]
struct Costliest(Option<Cost>);

impl Costliest {
    fn add(&mut self, cost: Cost) {
        let costliest = self.0.filter(|known| known.cycles >= cost.cycles).unwrap_or(cost);
        let effects = self.0.map_or(cost.effects, |known| known.effects.union(cost.effects));
        self.0 = Some(Cost { effects, ..costliest });
    }

    fn get(self, error: f32) -> (Cost, LargestError) {
        let error = if error == 0.0 { LargestError::Exact } else { LargestError::Absolute(f64::from(error)) };
        (self.0.unwrap_or_else(|| panic!("there is no form of the operation")), error)
    }
}

/// Checks the loads of an operation, given by its name with the suffixes of the document.
pub(super) fn check_load(name: &str) -> (Cost, LargestError) {
    let mip = name.contains("_MIP");
    let (mut costliest, mut error) = (Costliest::default(), 0.0f32);
    for (bits, texture_type, conversion) in LOADS {
        let suits = match conversion {
            Conversion::Raw => name.ends_with("_PCK"),
            Conversion::Signed => name.ends_with("_SGN"),
            _ => !name.contains("_PCK"),
        };
        if !suits {
            continue;
        }
        let mut random = Random::named(&format!("{name}, {bits} bits"));
        let (image, memory) = image(bits, &mut random);
        let calls = format!("image_load {}\n{}", u32::from(mip), conversion.calls(bits));
        let operation = Operation::new(name, &[0, 1, 2], "", "image_resource", &calls);
        let uniforms = [&image.resource()[..], &image.lookup(texture_type, Filters::NEAREST)].concat();
        costliest.add(operation.cost(&memory, &places(&mut random, &image, mip), &uniforms));
        for _ in 0..6 {
            let places = places(&mut random, &image, mip);
            let outcome = operation.run(&memory, &places, &uniforms);
            for n in 0..16 {
                let [x, y, level] = places.map(|part| part[n]);
                let expected = conversion.expected(bits, image.levels[level as usize].texel(x, y));
                for (result, expected) in expected.into_iter().enumerate() {
                    let found = outcome.out[result][n];
                    let difference = (f32::from_bits(found) - f32::from_bits(expected)).abs();
                    let place = format!("{name}: {bits} bits, ({x}, {y}) of level {level}, result {result}");
                    match conversion {
                        Conversion::Raw | Conversion::Signed => assert_eq!(found, expected, "{place}"),
                        _ => {
                            assert!(difference <= conversion.bound(), "{place}: {found:x}, {expected:x}");
                            error = error.max(difference);
                        }
                    }
                }
            }
        }
    }
    costliest.get(error)
}

/// Checks the stores of an operation, given by its name: only the stored texels change.
pub(super) fn check_store(name: &str) -> (Cost, LargestError) {
    let (mip, raw) = (name.contains("_MIP"), name.ends_with("_PCK"));
    let mut costliest = Costliest::default();
    for (bits, micro) in [(32, "2, 2, 2"), (16, "3, 2, 1"), (8, "3, 3, 0")] {
        if !raw && bits != 32 {
            continue;
        }
        let mut random = Random::named(&format!("{name}, {bits} bits"));
        let convert = if raw { "nop\nmov r0, ra16" } else { "image_pack" };
        let mip = u32::from(mip);
        let calls = format!("image_level_words {mip}\nimage_address {micro}\n{convert}\nimage_scatter 5, {bits}");
        let operation = Operation::new(name, &[0, 1, 2, 16, 17, 18, 19], "", "", &calls);
        for _ in 0..3 {
            let (mut image, memory) = image(bits, &mut random);
            let [x, y, level] = places(&mut random, &image, mip == 1);
            let stored: [Elements; 4] = if raw {
                [std::array::from_fn(|_| random.next()), [0; 16], [0; 16], [0; 16]]
            } else {
                [0; 4].map(|_: u32| std::array::from_fn(|_| random.within(-0.5, 1.5).to_bits()))
            };
            let [s0, s1, s2, s3] = stored;
            let inputs = [x, y, level, s0, s1, s2, s3];
            operation.run(&memory, &inputs, &[LEVEL_WORDS]);
            // The same texels once more.
            costliest.add(operation.cost(&memory, &inputs, &[LEVEL_WORDS]));
            for n in 0..16 {
                let texel = if raw {
                    u64::from(s0[n]) & ((1u64 << bits) - 1)
                } else {
                    let channels = stored.map(|channel| floats(channel)[n]);
                    let byte = |value: f32| (f64::from(value.clamp(0.0, 1.0)) * 255.0 + 0.5).floor() as u8;
                    u64::from(u32::from_le_bytes(channels.map(byte)))
                };
                let level = &mut image.levels[level[n] as usize];
                level.texels[(y[n] * level.width + x[n]) as usize] = texel;
            }
            for (number, level) in (0..).zip(&image.levels) {
                for y in 0..level.height {
                    for x in 0..level.width {
                        let (found, expected) = (image.load(&memory, number, x, y), level.texel(x, y));
                        assert_eq!(found, expected, "{name}: {bits} bits, ({x}, {y}) of level {number}");
                    }
                }
            }
        }
    }
    costliest.get(0.0)
}

/// Width, height, depth and levels, of each level.
pub(super) fn check_get_resource(name: &str) -> (Cost, LargestError) {
    let operation = Operation::new(name, &[2], "", "image_resource", "image_get_resource");
    let memory = OwnedMemory::new(MEMORY_BYTES);
    let levels: Elements = std::array::from_fn(|n| n as u32 % 12);
    let outcome = operation.run(&memory, &[levels], &[1024, 300, 10]);
    for (n, level) in levels.into_iter().enumerate() {
        let expected = [(1024 >> level).max(1), (300 >> level).max(1), 1, 11];
        assert_eq!(outcome.out.map(|out| out[n]), expected, "{name}: level {level}");
    }
    (operation.cost(&memory, &[levels], &[1024, 300, 10]), LargestError::Exact)
}

/// Four QPUs store repeatedly to different addresses through the same VPM row.
#[test]
fn qpus_store_through_one_row() {
    const QPUS: u32 = 4;
    const TIMES: u32 = 5;
    let text = ".include <vc4.qinc>
        .include \"operations/image_memory.qinc\"
        shl r0, elem_num, 2
        add ra26, r0, unif
        mov ra16, unif
        mov ra31, unif
        nop
        :again
        ldi r0, 64
        add ra26, ra26, r0
        add ra16, ra16, 1
        nop
        mov r0, ra16
        image_scatter 5, 32
        mov r0, ra31
        sub.setf ra31, r0, 1
        brr.anynz -, r:again
        nop
        nop
        nop
        thrend
        nop
        nop
";
    let assembly = machine::assemble("several QPUs", text).unwrap();
    machine::check(&assembly).unwrap();
    let place = |qpu: u32| machine::DATA + 64 * (TIMES + 1) * qpu;
    let uniforms: Vec<Vec<u32>> = (0..QPUS).map(|qpu| vec![place(qpu), 100 * qpu, TIMES]).collect();
    let run = machine::run(&assembly.words, &[], place(QPUS) as usize, &uniforms).unwrap();
    for (qpu, round) in (0..QPUS).flat_map(|qpu| (1..=TIMES).map(move |round| (qpu, round))) {
        for element in 0..16 {
            let word = run.memory.view().word(BusAddr(place(qpu) + 64 * round + 4 * element)).unwrap();
            assert_eq!(word, 100 * qpu + round, "QPU {qpu}, round {round}, element {element}");
        }
    }
}

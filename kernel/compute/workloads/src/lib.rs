//! Every operation once, with a result that the CPU checks: run by the kernel's scene, measured by the benchmark.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::f64::consts::TAU;
use core::fmt;

use compute::{Error, Image, Neighbour, Session, View, Work};
use v3d::Platform;

/// An operation on data of a certain size.
#[derive(Clone, Copy, Debug)]
pub struct Workload<P> {
    /// The operation and its size.
    pub name: &'static str,
    /// Runs the operation and checks the result.
    pub run: fn(&mut Session<'_, '_, '_, P>) -> Result<(), Problem>,
}

/// Why a workload failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The operation returned an error.
    Refused(Error),
    /// An element of the result is wrong.
    Wrong {
        /// Its index.
        at: usize,
        /// Its value.
        found: f64,
        /// The expected value.
        expected: f64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Wrong { at, found, expected } => write!(f, "element {at} is {found}, not {expected}"),
        }
    }
}

impl core::error::Error for Problem {}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// All workloads.
pub fn all<P: Platform>() -> Vec<Workload<P>> {
    alloc::vec![
        Workload { name: "copy 1 MiB", run: copy },
        Workload { name: "fill 1 MiB", run: fill },
        Workload { name: "sum of 2^18 i32", run: sum },
        Workload { name: "prefix sum of 2^17 u32", run: prefix_sum },
        Workload { name: "sort 2^14 keys", run: sort },
        Workload { name: "sort 2^14 pairs", run: sort_pairs },
        Workload { name: "sgemm 96 x 96 x 192", run: sgemm },
        Workload { name: "fft 2^12", run: fft },
        Workload { name: "fft 2^12, inverse, 4 signals", run: inverse_fft },
        Workload { name: "fft 256 x 64", run: fft_2d },
        Workload { name: "convolve 256 x 128, 3 x 3", run: convolve },
        Workload { name: "resample 256 x 128 to 400 x 200", run: resample },
        Workload { name: "yuv to rgb 512 x 256", run: yuv_to_rgb },
        Workload { name: "histogram of 2^18 bytes", run: histogram },
        Workload { name: "mandelbrot 256 x 192", run: mandelbrot },
        Workload { name: "life 1024 x 512, 4 generations", run: life },
    ]
}

/// An operation's cost on the model at the last measurement: `cargo bench -p compute` writes the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modelled {
    /// Instructions of all QPUs.
    pub instructions: u64,
    /// Cycles in which QPUs were busy, by the estimate of the model's clock.
    pub cycles: u64,
}

/// The measured cost of the workload with this name.
pub fn modelled(name: &str) -> Option<Modelled> {
    let mut rows = include_str!("modelled.tsv").lines().map(|line| line.split('\t'));
    let mut row = rows.find(|row| row.clone().next() == Some(name))?.skip(1);
    let mut number = || row.next()?.parse().ok();
    Some(Modelled { instructions: number()?, cycles: number()? })
}

/// A pseudorandom word that depends only on `index`.
fn word(index: usize) -> u32 {
    let mut word = (index as u32).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    word ^= word >> 15;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^ word >> 13
}

/// A pseudorandom float from -1 to 1.
fn float(index: usize) -> f32 {
    word(index) as i32 as f32 / 2_147_483_648.0
}

/// Compares numbers with a tolerance of `bound`.
fn compare(found: impl Iterator<Item = f64>, expected: impl Iterator<Item = f64>, bound: f64) -> Result<(), Problem> {
    match found.zip(expected).enumerate().find(|(_, (found, expected))| (found - expected).abs() > bound) {
        Some((at, (found, expected))) => Err(Problem::Wrong { at, found, expected }),
        None => Ok(()),
    }
}

fn words_are(found: &[u32], expected: impl Iterator<Item = u32>) -> Result<(), Problem> {
    compare(found.iter().map(|&word| f64::from(word)), expected.map(f64::from), 0.0)
}

fn copy<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let words: Vec<u32> = (0..1 << 18).map(word).collect();
    let (source, mut target) = (gpu.array(&words)?, gpu.undefined(words.len())?);
    gpu.copy(&source, &mut target)?;
    words_are(&gpu.read(&target)?, words.into_iter())
}

fn fill<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let mut target = gpu.undefined(1 << 18)?;
    gpu.fill(&mut target, 0x1234_5678u32)?;
    words_are(&gpu.read(&target)?, core::iter::repeat(0x1234_5678))
}

fn sum<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let words: Vec<i32> = (0..1 << 18).map(|index| word(index) as i32).collect();
    let source = gpu.array(&words)?;
    let found = [gpu.sum(&source)?, gpu.least(&source)?.unwrap_or(0), gpu.greatest(&source)?.unwrap_or(0)];
    let sum = words.iter().fold(0i32, |sum, &word| sum.wrapping_add(word));
    let expected = [sum, words.iter().copied().min().unwrap_or(0), words.iter().copied().max().unwrap_or(0)];
    compare(found.into_iter().map(f64::from), expected.into_iter().map(f64::from), 0.0)
}

fn prefix_sum<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let words: Vec<u32> = (0..1 << 17).map(word).collect();
    let (source, mut target) = (gpu.array(&words)?, gpu.undefined(words.len())?);
    gpu.prefix_sum(&source, &mut target)?;
    let sums = words.iter().scan(0u32, |sum, &word| {
        *sum = sum.wrapping_add(word);
        Some(*sum)
    });
    words_are(&gpu.read(&target)?, sums)
}

fn sort<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let mut words: Vec<u32> = (0..1 << 14).map(word).collect();
    let mut keys = gpu.array(&words)?;
    gpu.sort(&mut keys)?;
    words.sort_unstable();
    words_are(&gpu.read(&keys)?, words.into_iter())
}

fn sort_pairs<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    // Some keys are equal.
    let mut pairs: Vec<(u32, u32)> = (0..1 << 14).map(|index| (word(index) >> 20, index as u32)).collect();
    let (words, places): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
    let (mut keys, mut values) = (gpu.array(&words)?, gpu.array(&places)?);
    gpu.sort_pairs(&mut keys, &mut values)?;
    pairs.sort_unstable();
    words_are(&gpu.read(&keys)?, pairs.iter().map(|pair| pair.0))?;
    words_are(&gpu.read(&values)?, pairs.iter().map(|pair| pair.1))
}

/// Number of iterations of z² + c from z = 0 with |z| <= 2.
fn escape(re: f32, im: f32, most: u32) -> u32 {
    let mut z = [0.0f32; 2];
    (0..most)
        .find(|_| {
            let [x, y] = z.map(|part| part * part);
            let product = z[0] * z[1];
            z = [x - y + re, 2.0 * product + im];
            x + y > 4.0
        })
        .unwrap_or(most)
}

fn mandelbrot<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const WIDTH: usize = 256;
    const HEIGHT: usize = 192;
    const MAX_ITERATIONS: u32 = 64;
    let palette: Vec<u32> = (0..=MAX_ITERATIONS).collect();
    let palette = gpu.array(&palette)?;
    let mut image = gpu.undefined_image(WIDTH, HEIGHT)?;
    let view = View { left: -2.2, top: -1.2, pixel: 0.0125 };
    gpu.mandelbrot(view, &palette, &mut image)?;
    let at = |index: usize, first: f32| view.pixel * index as f32 + first;
    let expected = |pixel: usize| escape(at(pixel % WIDTH, view.left), at(pixel / WIDTH, view.top), MAX_ITERATIONS);
    let found = gpu.read_image(&image)?;
    // Ten operations per iteration, whose number is not known in advance.
    let iterations = found.iter().map(|&count| u64::from(count)).sum::<u64>();
    gpu.account(Work { operations: 10 * iterations, ..Work::NONE });
    // Near the set's border rounding decides: one pixel in a hundred may differ.
    let differ: Vec<usize> = (0..found.len()).filter(|&pixel| found[pixel] != expected(pixel)).collect();
    match differ.first() {
        Some(&at) if differ.len() > found.len() / 100 => {
            Err(Problem::Wrong { at, found: f64::from(found[at]), expected: f64::from(expected(at)) })
        }
        _ => Ok(()),
    }
}

/// One generation of life, cell by cell.
fn generation(alive: &[bool], width: usize) -> Vec<bool> {
    let height = alive.len() / width;
    (0..alive.len())
        .map(|cell| {
            let rows = [height - 1, 0, 1].map(|down| (cell / width + down) % height * width);
            let columns = [width - 1, 0, 1].map(|right| (cell % width + right) % width);
            let around = rows.iter().flat_map(|row| columns.iter().map(move |column| row + column));
            let count = around.filter(|&other| alive[other]).count();
            count == 3 || count == 4 && alive[cell]
        })
        .collect()
}

fn life<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const WIDTH: usize = 1024;
    const HEIGHT: usize = 512;
    let words: Vec<u32> = (0..WIDTH / 32 * HEIGHT).map(|index| word(index) & word(!index)).collect();
    let mut life = gpu.life(&words, WIDTH, HEIGHT)?;
    gpu.live(&mut life, 4)?;
    let mut alive: Vec<bool> = (0..WIDTH * HEIGHT).map(|cell| words[cell / 32] >> (cell % 32) & 1 == 1).collect();
    (0..4).for_each(|_| alive = generation(&alive, WIDTH));
    let expected = alive.chunks(32).map(|cells| cells.iter().rev().fold(0, |word, &cell| word << 1 | u32::from(cell)));
    words_are(&gpu.read_life(&life)?, expected)
}

fn sgemm<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const ROWS: usize = 96;
    const DEPTH: usize = 96;
    const COLUMNS: usize = 192;
    let a: Vec<f32> = (0..ROWS * DEPTH).map(float).collect();
    let b: Vec<f32> = (0..DEPTH * COLUMNS).map(|index| float(index + a.len())).collect();
    let [left, right] = [gpu.matrix(&a, ROWS, DEPTH)?, gpu.matrix(&b, DEPTH, COLUMNS)?];
    let mut product = gpu.matrix(&alloc::vec![0.0; ROWS * COLUMNS], ROWS, COLUMNS)?;
    gpu.sgemm(1.0, &left, &right, 0.0, &mut product)?;
    let term = |row: usize, column: usize, k: usize| f64::from(a[row * DEPTH + k]) * f64::from(b[k * COLUMNS + column]);
    let expected = (0..ROWS * COLUMNS).map(|at| (0..DEPTH).map(|k| term(at / COLUMNS, at % COLUMNS, k)).sum::<f64>());
    compare(gpu.read_matrix(&product)?.into_iter().map(f64::from), expected, 1e-4)
}

/// The sum of two waves, whose transform has two lines and is 0 elsewhere.
fn waves(length: usize) -> Vec<[f32; 2]> {
    let wave = |index: usize, turns: usize| TAU * (index * turns % length) as f64 / length as f64;
    (0..length)
        .map(|index| {
            let [one, other] = [wave(index, 3), wave(index, length - 100)];
            [libm::cos(one) + 0.5 * libm::cos(other), libm::sin(one) + 0.5 * libm::sin(other)].map(|part| part as f32)
        })
        .collect()
}

/// The transform of [`waves`], times `scale`.
fn lines(length: usize, scale: f64) -> impl Iterator<Item = f64> {
    (0..2 * length).map(move |part| match (part / 2, part % 2) {
        (3, 0) => scale * length as f64,
        (line, 0) if line == length - 100 => 0.5 * scale * length as f64,
        _ => 0.0,
    })
}

fn parts(points: &[[f32; 2]]) -> impl Iterator<Item = f64> {
    points.iter().flatten().map(|&part| f64::from(part))
}

fn fft<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const LENGTH: usize = 1 << 12;
    let mut signal = gpu.signal(&waves(LENGTH), LENGTH)?;
    gpu.fft(&mut signal)?;
    compare(parts(&gpu.read_signal(&signal)?), lines(LENGTH, 1.0), 0.02)
}

fn inverse_fft<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const LENGTH: usize = 1 << 12;
    // The inverse transform negates frequencies.
    let turned: Vec<[f32; 2]> = waves(LENGTH).into_iter().map(|[re, im]| [re, -im]).collect();
    let mut signals = gpu.signal(&turned.repeat(4), LENGTH)?;
    gpu.inverse_fft(&mut signals)?;
    let spectrum = lines(LENGTH, 1.0 / LENGTH as f64);
    let all: Vec<f64> = spectrum.collect::<Vec<f64>>().repeat(4);
    compare(parts(&gpu.read_signal(&signals)?), all.into_iter(), 5e-6)
}

fn fft_2d<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const WIDTH: usize = 256;
    const HEIGHT: usize = 64;
    // All rows are equal, so the spectrum is in the first row.
    let mut plane = gpu.signal(&waves(WIDTH).repeat(HEIGHT), WIDTH)?;
    gpu.fft_2d(&mut plane)?;
    let expected = lines(WIDTH, HEIGHT as f64).chain(core::iter::repeat_n(0.0, 2 * WIDTH * (HEIGHT - 1)));
    compare(parts(&gpu.read_signal(&plane)?), expected, 0.1)
}

/// Width and height of the picture that is filtered.
const PICTURE: [usize; 2] = [256, 128];

fn picture<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(Vec<u32>, Image), Error> {
    let [width, height] = PICTURE;
    let pixels: Vec<u32> = (0..width * height).map(word).collect();
    let image = gpu.image(&pixels, width, height)?;
    Ok((pixels, image))
}

/// A channel of a pixel, with coordinates clamped to the edges.
fn channel(pixels: &[u32], x: i32, y: i32, channel: usize) -> f64 {
    let [width, height] = PICTURE;
    let [x, y] = [x.clamp(0, width as i32 - 1), y.clamp(0, height as i32 - 1)].map(|place| place as usize);
    f64::from(pixels[y * width + x] >> (8 * channel) & 255)
}

/// Compares all channels of all pixels of a picture of this width; rounding may differ by 1.
fn pixels_are(found: &[u32], width: usize, expected: impl Fn(i32, i32, usize) -> f64) -> Result<(), Problem> {
    let places = (0..4 * found.len()).map(|at| ((at / 4 % width) as i32, (at / 4 / width) as i32, at % 4));
    let channels = found.iter().flat_map(|pixel| pixel.to_le_bytes().map(f64::from));
    compare(channels, places.map(|(x, y, channel)| expected(x, y, channel).clamp(0.0, 255.0)), 0.51)
}

fn convolve<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    // A sharpening kernel.
    let neighbours: Vec<Neighbour> = (0..9)
        .map(|at| Neighbour { right: at % 3 - 1, down: at / 3 - 1, weight: if at == 4 { 1.8 } else { -0.1 } })
        .collect();
    let (pixels, source) = picture(gpu)?;
    let mut target = gpu.undefined_image(PICTURE[0], PICTURE[1])?;
    gpu.convolve(&source, &neighbours, 0.0, &mut target)?;
    pixels_are(&gpu.read_image(&target)?, PICTURE[0], |x, y, which| {
        let part = |near: &Neighbour| f64::from(near.weight) * channel(&pixels, x + near.right, y + near.down, which);
        neighbours.iter().map(part).sum()
    })
}

fn resample<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const WIDTH: usize = 400;
    const HEIGHT: usize = 200;
    let (pixels, source) = picture(gpu)?;
    let mut target = gpu.undefined_image(WIDTH, HEIGHT)?;
    gpu.resample(&source, &mut target)?;
    let place = |at: i32, from: usize, to: usize| ((f64::from(at) + 0.5) * from as f64 / to as f64 - 0.5).max(0.0);
    pixels_are(&gpu.read_image(&target)?, WIDTH, |x, y, which| {
        let [u, v] = [place(x, PICTURE[0], WIDTH), place(y, PICTURE[1], HEIGHT)];
        let [left, top] = [u as i32, v as i32];
        let [right, down] = [u - f64::from(left), v - f64::from(top)];
        let row = |y| channel(&pixels, left, y, which) * (1.0 - right) + channel(&pixels, left + 1, y, which) * right;
        row(top) * (1.0 - down) + row(top + 1) * down
    })
}

fn yuv_to_rgb<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    const WIDTH: usize = 512;
    const HEIGHT: usize = 256;
    let plane = |from: usize, bytes: usize| (from..from + bytes).map(|at| word(at) as u8).collect::<Vec<u8>>();
    let [y, u, v] = [plane(0, WIDTH * HEIGHT), plane(1, WIDTH * HEIGHT / 4), plane(2, WIDTH * HEIGHT / 4)];
    let planes = gpu.planes([&y, &u, &v], WIDTH, HEIGHT)?;
    let mut target = gpu.undefined_image(WIDTH, HEIGHT)?;
    gpu.yuv_to_rgb(&planes, &mut target)?;
    pixels_are(&gpu.read_image(&target)?, WIDTH, |x, line, channel| {
        let [x, line] = [x, line].map(|place| place as usize);
        let chroma = line / 2 * (WIDTH / 2) + x / 2;
        let y = 255.0 / 219.0 * (f64::from(y[line * WIDTH + x]) - 16.0);
        // By definition: U and V have a range of 112 to either side; weights are 0.299, 0.587 and 0.114.
        let [u, v] = [u[chroma], v[chroma]].map(|part| 255.0 / 112.0 * (f64::from(part) - 128.0));
        match channel {
            0 => y + 0.701 * v,
            1 => y - 0.114 / 0.587 * 0.886 * u - 0.299 / 0.587 * 0.701 * v,
            2 => y + 0.886 * u,
            _ => 255.0,
        }
    })
}

fn histogram<P: Platform>(gpu: &mut Session<'_, '_, '_, P>) -> Result<(), Problem> {
    let words: Vec<u32> = (0..1 << 16).map(word).collect();
    let source = gpu.array(&words)?;
    let mut expected = [0u32; 256];
    words.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| expected[usize::from(byte)] += 1);
    words_are(&gpu.histogram(&source)?, expected.into_iter())
}

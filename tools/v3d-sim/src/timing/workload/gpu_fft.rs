//! GPU_FFT: Fourier transforms as user programs, whose author published their times on a Raspberry Pi 1 [hello_fft].
//!
//! The programs are not part of this repository. They are in raspberrypi/userland, in the folder `hex` of hello_fft, as words in hexadecimal. The uniforms are
//! those that `gpu_fft.c` there makes. Samples and twiddle factors are 0 here: no program branches or addresses memory by them, so that times do not depend on
//! them.
//!
//! Sizes up to 2^14 are run twice, and the second run counts, since the chip's cache holds some of what the first one used. [`CALL_MS`] is added.

use super::WorkloadError;
use crate::memory::OwnedMemory;
use crate::{Config, Register, V3d};
use v3d_hw::registers::qps::Srqcs;
use v3d_hw::{BusAddr, Layout};

/// Clock of the V3D of a Raspberry Pi 1.
pub const CLOCK_MHZ: u32 = 250;
/// What a call takes beside the programs, in milliseconds: the difference between the published times of one transform and of one in a batch of ten.
pub const CALL_MS: f64 = 0.015;
/// Transforms in a batch.
pub const BATCH: u32 = 10;

/// QPUs that the programs are made for.
const QPUS: u32 = 8;
/// The alias of memory that goes through the chip's cache.
const CACHED: u32 = 0x4000_0000;
/// First address that is used.
const START: u32 = 0x1000;
/// Sizes up to this are run twice.
const WARM_LOG2: u8 = 14;
/// A complex number.
const COMPLEX_BYTES: u32 = 8;

/// A transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Logarithm of the number of points.
    pub log2: u8,
    /// Published time in milliseconds.
    pub alone_ms: f64,
    /// Published time of a transform in a batch of ten.
    pub in_batch_ms: Option<f64>,
    /// Vectors of twiddle factors that all QPUs share, and further ones of each.
    twiddles: (u32, u32),
}

const fn transform(log2: u8, alone_ms: f64, in_batch_ms: Option<f64>, shared: u32, each: u32) -> Transform {
    Transform { log2, alone_ms, in_batch_ms, twiddles: (shared, each) }
}

/// All transforms.
pub const TRANSFORMS: [Transform; 15] = [
    transform(8, 0.033, Some(0.017), 2, 1),
    transform(9, 0.049, Some(0.029), 3, 1),
    transform(10, 0.070, Some(0.049), 4, 2),
    transform(11, 0.12, Some(0.11), 6, 2),
    transform(12, 0.25, Some(0.27), 3, 1),
    transform(13, 0.61, Some(0.66), 4, 1),
    transform(14, 1.2, Some(1.2), 5, 1),
    transform(15, 3.5, Some(3.3), 6, 2),
    transform(16, 7.0, None, 8, 2),
    transform(17, 17.0, None, 5, 1),
    transform(18, 43.0, None, 6, 2),
    transform(19, 97.0, None, 7, 2),
    transform(20, 194.0, None, 8, 2),
    transform(21, 388.0, None, 10, 2),
    transform(22, 786.0, None, 12, 2),
];

/// The words in the text of a file, or `None` if there is something else in it.
pub fn words(text: &str) -> Option<Vec<u32>> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    let numbers = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| u32::from_str_radix(number.strip_prefix("0x")?, 16).ok()).collect()
}

impl Transform {
    /// The name of its program's file.
    pub fn file(&self) -> String {
        let points = 1_u32 << self.log2;
        if points < 1024 { format!("shader_{points}.hex") } else { format!("shader_{}k.hex", points / 1024) }
    }

    /// Milliseconds for one transform of a number that are executed together.
    pub fn run(&self, program: &[u32], jobs: u32) -> Result<f64, WorkloadError> {
        let data_bytes = (COMPLEX_BYTES << self.log2 | 4095) + 1;
        let (shared, each) = self.twiddles;
        let vector = 16 * COMPLEX_BYTES;
        let code = START + 2 * jobs * data_bytes;
        let twiddles = code + 4 * program.len() as u32;
        let uniforms = twiddles + vector * (shared + QPUS * each);
        let uniform_words = 5 + 2 * jobs;
        let end = uniforms + 4 * QPUS * uniform_words;

        let owned = OwnedMemory::new(end as usize);
        let memory = owned.view();
        let put = |at: u32, words: &mut dyn Iterator<Item = u32>| {
            (at..).step_by(4).zip(words).try_for_each(|(at, word)| memory.set_word(BusAddr(at), word))
        };
        put(code, &mut program.iter().copied())?;
        for qpu in 0..QPUS {
            let buffers =
                (0..jobs).flat_map(|job| [job, job + jobs].map(|buffer| (START + data_bytes * buffer) | CACHED));
            let first = [twiddles, twiddles + vector * (shared + qpu * each)].map(|at| at | CACHED);
            let mut words = first.into_iter().chain([qpu]).chain(buffers).chain([0, u32::from(qpu == 0)]);
            put(uniforms + 4 * uniform_words * qpu, &mut words)?;
        }

        let mut v3d = V3d::new(Config { estimate: true, clock_mhz: CLOCK_MHZ, ..Config::default() });
        let write = |v3d: &mut V3d, register: Register, value| v3d.write(&memory, register.offset(), value);
        write(&mut v3d, Register::VPMBASE, 16);
        write(&mut v3d, Register::SRQUL, 1024);
        let (mut before, mut cycles) = (0, 0);
        for _ in 0..if self.log2 <= WARM_LOG2 { 2 } else { 1 } {
            write(&mut v3d, Register::L2CACTL, 4);
            write(&mut v3d, Register::SLCACTL, u32::MAX);
            write(&mut v3d, Register::SRQCS, 1 << 7 | 1 << 8 | 1 << 16);
            for qpu in 0..QPUS {
                write(&mut v3d, Register::SRQUA, (uniforms + 4 * uniform_words * qpu) | CACHED);
                write(&mut v3d, Register::SRQPC, code | CACHED);
            }
            let status = Srqcs::from_word(v3d.read(&memory, Register::SRQCS.offset()));
            if u32::from(status.qpurqcc) != QPUS {
                return Err(WorkloadError::Programs);
            }
            let now = v3d.counters().elapsed_cycles();
            (before, cycles) = (now, now - before);
        }
        match v3d.take_faults().into_iter().next() {
            Some(fault) => Err(WorkloadError::Fault(fault)),
            None => Ok((cycles as f64 / f64::from(1000 * CLOCK_MHZ) + CALL_MS) / f64::from(jobs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_words_and_comments() {
        assert_eq!(words("0x00000040, 0xe00217a7, // mov\n\n0xF, // 7, 8\n"), Some(vec![0x40, 0xe002_17a7, 15]));
        assert_eq!(words("0x1, 2,"), None);
        assert_eq!(words("0x1, 0xfffffffff,"), None);
    }
}

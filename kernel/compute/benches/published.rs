//! Compares transforms and matrix products with published programs. `cargo bench -p compute --bench published`
//!
//! GPU_FFT 3.0 [raspberrypi/userland, hello_fft]: times are those of its documentation, of a Raspberry Pi 1 with the chip's cache in use; instructions are
//! those that the published programs execute in this project's model, summed over the 8 QPUs. py-videocore's `sgemm.py` [nineties/py-videocore]: instructions
//! of its inner loop, counted in its source, and the 8 GFLOP/s that its README states.

use compute::{Compute, Session};
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

/// The base-2 logarithm of the number of points, GPU_FFT's time in milliseconds, and its instructions if they were
/// counted.
const GPU_FFT: [(u32, f64, Option<u64>); 13] = [
    (8, 0.033, Some(3_900)),
    (9, 0.049, Some(8_314)),
    (10, 0.070, Some(14_272)),
    (11, 0.12, Some(27_184)),
    (12, 0.25, Some(80_804)),
    (13, 0.61, Some(155_780)),
    (14, 1.2, Some(301_148)),
    (15, 3.5, Some(554_036)),
    (16, 7.0, Some(1_112_380)),
    (17, 17.0, None),
    (18, 43.0, Some(5_948_808)),
    (19, 97.0, None),
    (20, 194.0, Some(23_420_552)),
];
/// Instructions of `sgemm.py` for a column of A and 64 columns of B.
const SGEMM_LOOP: f64 = 67.0 / 64.0;
/// Sizes of the product that `sgemm.py` measures.
const SGEMM: [usize; 3] = [96, 363, 3072];
/// Cycles per millisecond.
const CYCLES: f64 = 250_000.0;

/// Instructions and cycles of one operation, including its set-up.
fn cost(bytes: u32, operation: impl FnOnce(&mut Session<'_, '_, '_, Model>)) -> (u64, u64) {
    let machine = Model::new(bytes, Config { estimate: true, ..Config::default() });
    let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).expect("there is memory");
    operation(&mut Compute::new().on(&mut driver));
    machine.programs_cost()
}

fn main() {
    println!(
        "{:8} {:>12} {:>9} | {:>12} {:>9} | {:>6} {:>6}",
        "points", "instructions", "ms", "GPU_FFT", "ms", "instr.", "time"
    );
    for (log2, published_ms, published) in GPU_FFT {
        let (instructions, cycles) = cost(64 << 20, |gpu| {
            let mut signal = gpu.signal(&vec![[1.0, 0.0]; 1 << log2], 1 << log2).expect("a supported length");
            gpu.fft(&mut signal).expect("the programs end");
        });
        let ms = cycles as f64 / CYCLES;
        let (counted, share) = match published {
            Some(count) => (count.to_string(), format!("{:.2}", instructions as f64 / count as f64)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let time = ms / published_ms;
        println!("2^{log2:<6} {instructions:12} {ms:9.3} | {counted:>12} {published_ms:9.3} | {share:>6} {time:6.2}");
    }
    let [rows, depth, columns] = SGEMM;
    let (instructions, cycles) = cost(64 << 20, |gpu| {
        let a = gpu.matrix(&vec![1.0; rows * depth], rows, depth).expect("a supported size");
        let b = gpu.matrix(&vec![1.0; depth * columns], depth, columns).expect("a supported size");
        let mut c = gpu.matrix(&vec![1.0; rows * columns], rows, columns).expect("a supported size");
        gpu.sgemm(1.0, &a, &b, 1.0, &mut c).expect("the programs end");
    });
    let flops = (2 * rows * depth * columns + 3 * rows * columns) as f64;
    let inner = SGEMM_LOOP * (rows / 16 * depth * columns) as f64;
    println!(
        "sgemm {rows} x {depth} x {columns}: {instructions} instructions, {:.2} times those of sgemm.py's inner loop; {:.3} ms, {:.1} GFLOP/s (published: 8)",
        instructions as f64 / inner,
        cycles as f64 / CYCLES,
        flops / (cycles as f64 / CYCLES) / 1e6
    );
}

//! Instructions a second, single thread: `cargo bench -p qpu`.
//!
//! The program consists of all captured shaders, repeated: real code with all kinds of instructions. Each figure is the best of several rounds, in processor
//! time of the thread if the system reports it (Linux), else in elapsed time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use qpu::disassembler::Style;
use qpu::{Interface, Options, Source, assemble, disassemble};

/// Minimum duration of a measurement.
const ROUND: Duration = Duration::from_millis(200);
const ROUNDS: usize = 10;
/// Words of the assembled program.
const LENGTH: usize = 100_000;

fn captured_words() -> Vec<u64> {
    let lines = include_str!("../tests/captured/shaders.txt").lines();
    lines
        .filter_map(|line| line.strip_prefix("  "))
        .flat_map(|line| line.split(' '))
        .map(|word| u64::from_str_radix(word, 16).expect("the file has words"))
        .collect()
}

/// Time of this thread so far.
fn now(start: Instant) -> Duration {
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Prints the best rate of `work`, which processes `instructions` instructions at a time.
fn measure(name: &str, instructions: usize, mut work: impl FnMut()) {
    // With `cargo bench -p qpu -- assemble` only that is measured.
    if std::env::args().skip(1).any(|wanted| !wanted.starts_with('-') && wanted != name) {
        return;
    }
    let mut best = 0.0f64;
    for _ in 0..ROUNDS {
        let clock = Instant::now();
        let start = now(clock);
        let mut done = 0;
        while now(clock) - start < ROUND {
            work();
            done += instructions;
        }
        best = best.max(done as f64 / (now(clock) - start).as_secs_f64());
    }
    println!("{name:<12} {:>8.2} million instructions/s", best / 1e6);
}

fn main() {
    let captured = captured_words();
    let words: Vec<u64> = captured.iter().copied().cycle().take(LENGTH).collect();
    let text = disassemble(&words, Style::default());
    println!("{LENGTH} instructions, {} bytes of source", text.len());
    let source = [Source::new("bench", text)];
    measure("assemble", LENGTH, || {
        let assembly = assemble(black_box(&source), &Options::default());
        assert_eq!(assembly.map(|assembly| assembly.words.len()).ok(), Some(LENGTH));
    });
    measure("disassemble", LENGTH, || {
        black_box(disassemble(black_box(&words), Style::default()));
    });
    // One shader after the other: a program is cut off at its first end.
    let mut programs: Vec<&[u64]> = Vec::new();
    let mut start = 0;
    for end in 0..captured.len() {
        if captured[end] >> 60 == 3 {
            let after = (end + 3).min(captured.len());
            programs.push(&captured[start..after]);
            start = after;
        }
    }
    let checked = programs.iter().map(|program| program.len()).sum();
    let interface = Interface::default();
    measure("check", checked, || {
        for program in &programs {
            black_box(qpu::check::check(black_box(program), &[], &interface));
        }
    });
}

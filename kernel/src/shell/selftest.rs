//! The command `selftest`: compares registers, QPU arithmetic and pictures with recorded results

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use v3d::{Error, hw::vpm::ROW_WORDS, pool::Buffer, user_program::UserProgram};

use super::{
    scene,
    session::{CommandResult, NO_V3D, Session},
};
use crate::{
    arch::{clock, memory_copy, register_survival},
    board::{framebuffer::DEFAULT_SIZE, interrupt_controller, interrupt_lines, watchdog::Watchdog},
    gpu::Gpu,
    println,
    scenes::SCENES,
    selftest::{
        alu_program::{self, OPERATIONS, RESULT_BYTES},
        alu_vectors::{self, Operation, Vector, flag},
        pictures,
    },
};

/// Time limit of a program; it takes milliseconds on the model and microseconds on a board.
const LIMIT_US: u64 = 2_000_000;
/// Number of differences that are printed one by one.
const TOLD: usize = 20;

/// Initial value of the result's bytes, so that a program that stores nothing does not pass.
const UNTOUCHED: u8 = 0xa5;

pub(super) fn selftest(session: &mut Session, print_vectors: bool) -> CommandResult {
    processor()?;
    let mut tally = Tally::default();
    let told = if print_vectors { Told::Results } else { Told::Operations };
    arithmetic(session, &mut tally, told)?;
    pictures(session, &mut tally)?;
    println!("{} passed, {} failed", tally.passed, tally.failed);
    match tally.failed {
        0 => Ok(()),
        failed => Err(format!("{failed} of {} comparisons failed", tally.passed + failed)),
    }
}

/// Compares the QPUs' two ALUs with recorded results; returns a summary.
pub(super) fn arithmetic_in_short(session: &mut Session) -> Result<String, String> {
    let mut tally = Tally::default();
    arithmetic(session, &mut tally, Told::Differences)?;
    let remark = format!("{} of {} results as recorded", tally.passed, tally.passed + tally.failed);
    if tally.failed == 0 { Ok(remark) } else { Err(remark) }
}

/// One user program of a few operations.
pub(super) fn one_program(session: &mut Session) -> Result<String, String> {
    let gpu = &mut *session.gpu()?;
    let vectors: Vec<Vector> = alu_vectors::all().take(OPERATIONS).collect();
    let result = gpu.allocate(RESULT_BYTES, 64).map_err(|error| error.to_string())?;
    let rows = run(gpu, &vectors, &result).map_err(|error| error.to_string())?;
    let mut differences =
        vectors.iter().zip(rows).filter_map(|(vector, [value, flags])| difference(vector, value, flags));
    match differences.next() {
        None => Ok(format!("the program has ended and stored {} correct results", vectors.len())),
        Some(first) => Err(format!("{first}, and {} more are wrong", differences.count())),
    }
}

/// What is printed of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Results that are not as recorded.
    Differences,
    /// These, and a line for each operation.
    Operations,
    /// These, and each result.
    Results,
}

/// Number of passed and failed comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
}

/// Compares the QPUs' two ALUs with recorded results.
fn arithmetic(session: &mut Session, tally: &mut Tally, told: Told) -> CommandResult {
    let Session { gpu, watchdog, .. } = session;
    let device = gpu.as_ref().map_err(|_| NO_V3D)?;
    let gpu = &mut *device.driver().map_err(|error| error.to_string())?;
    let (used_before, _) = gpu.pool_use();
    let result = gpu.allocate(RESULT_BYTES, 64).map_err(|error| error.to_string())?;
    let answer = compare_all(gpu, &result, watchdog, told);
    drop(result);
    let (passed, failed) = answer?;
    tally.passed += passed;
    tally.failed += failed;
    let (used_after, _) = gpu.pool_use();
    if used_after != used_before {
        return Err(format!("{} bytes of GPU memory were not freed", used_after.abs_diff(used_before)));
    }
    Ok(())
}

/// Draws the first picture of each scene twice, and compares both with the recorded one.
fn pictures(session: &mut Session, tally: &mut Tally) -> CommandResult {
    let size = session.framebuffer.map_or(DEFAULT_SIZE, |pages| (pages.width, pages.height));
    for entry in SCENES {
        let crcs = [scene::first_picture(session, entry)?, scene::first_picture(session, entry)?];
        let recorded = pictures::recorded(entry.name).filter(|_| size == pictures::SIZE);
        let verdict = match recorded {
            _ if crcs[0] != crcs[1] => Err(format!("and {:08X} when it was drawn again", crcs[1])),
            Some(recorded) if recorded != crcs[0] => Err(format!("instead of {recorded:08X}")),
            Some(_) => Ok("as recorded"),
            None => Ok("the same twice; there is no recorded picture"),
        };
        match verdict {
            Ok(remark) => {
                tally.passed += 1;
                println!("{:12} {:08X}  {remark}", entry.name, crcs[0]);
            }
            Err(remark) => {
                tally.failed += 1;
                println!("{:12} {:08X}  {remark}", entry.name, crcs[0]);
            }
        }
    }
    Ok(())
}

/// Checks copies of memory, and that interrupts occur and preserve the interrupted code's registers.
fn processor() -> CommandResult {
    /// Number of interrupts to wait for, and the time limit, which allows for an emulator on a busy machine.
    const INTERRUPTS: u64 = 3;
    const PATIENCE_US: u64 = 3_000_000;
    const WINDOW_US: u64 = 20_000;

    let copies = memory_copy::check_copies().map_err(|(from, to, length)| {
        format!("copying {length} bytes within a buffer from {from} to {to} leaves other bytes than expected")
    })?;
    println!("{copies} copies of memory are right");
    let before = interrupt_controller::count(interrupt_lines::SYSTEM_TIMER);
    let end_us = clock::now_us() + PATIENCE_US;
    let mut survived = true;
    let mut interrupts = 0;
    while interrupts < INTERRUPTS && clock::now_us() < end_us {
        survived &= register_survival::simd_registers_survive(WINDOW_US);
        interrupts = interrupt_controller::count(interrupt_lines::SYSTEM_TIMER) - before;
    }
    println!("{interrupts} interrupts while all FP/SIMD registers were in use");
    if interrupts < INTERRUPTS {
        return Err("the timer does not interrupt".to_string());
    }
    if survived { Ok(()) } else { Err("FP/SIMD registers do not survive interrupts".to_string()) }
}

/// Runs all vectors and counts passed and failed ones.
fn compare_all(
    gpu: &mut Gpu,
    result: &Buffer,
    watchdog: &mut Watchdog,
    printed: Told,
) -> Result<(usize, usize), String> {
    let vectors: Vec<Vector> = alu_vectors::all().collect();
    let mut told = 0;
    let (mut passed, mut failed) = (0, 0);
    // An operation's rows are contiguous in the table, so each operation is reported at its last row.
    let mut start = 0;
    while let Some(first) = vectors.get(start) {
        let count = vectors[start..].iter().take_while(|vector| vector.name == first.name).count();
        let group = &vectors[start..start + count];
        let mut right = 0;
        for batch in group.chunks(OPERATIONS) {
            let rows = run(gpu, batch, result).map_err(|error| format!("{}: {error}", first.name))?;
            watchdog.sign_of_life();
            for (vector, [value, flags]) in batch.iter().zip(rows) {
                if let (Told::Results, Some(value), Some(flags)) = (printed, value, flags) {
                    print_vector(vector, value, flags);
                }
                match difference(vector, value, flags) {
                    None => right += 1,
                    Some(difference) if told < TOLD => {
                        told += 1;
                        println!("{difference}");
                    }
                    Some(_) => {}
                }
            }
        }
        let unit = match first.operation {
            Operation::Add(_) => "add ALU, results and flags",
            Operation::Mul(_) => "mul ALU, results",
        };
        if printed != Told::Differences {
            println!("{:8} {right:4} of {count:4}  {unit}", first.name);
        }
        passed += right;
        failed += count - right;
        start += count;
    }
    Ok((passed, failed))
}

/// Prints a result as a row of the table of recorded results; the column of the saturated result is left empty.
fn print_vector(vector: &Vector, value: u32, flags: u32) {
    let Vector { name, operands: [a, b], .. } = vector;
    let letters = [(flag::N, "n"), (flag::C, "c"), (flag::Z, "z")];
    let set: String = letters.iter().filter(|(bit, _)| flags & bit != 0).map(|&(_, letter)| letter).collect();
    let set = if set.is_empty() { "-" } else { &set };
    println!("vector\t{name}\t{a:08x}\t{b:08x}\t{value:08x}\t?\t{set}");
}

/// The value on which all 16 elements agree, if they do.
type Row = Option<u32>;

/// Runs one program; returns for each vector the row of its results and the row of its flags.
fn run(gpu: &mut Gpu, vectors: &[Vector], result: &Buffer) -> Result<Vec<[Row; 2]>, Error> {
    let program = alu_program::assemble(vectors, result.address()).map_err(Error::Field)?;
    let platform = gpu.platform();
    result.region().store(platform, 0, &[UNTOUCHED; RESULT_BYTES as usize])?;
    let code = gpu.upload(&program.code, 8)?;
    let uniforms = gpu.upload(&program.uniforms, 4)?;
    gpu.run_programs(&[user_program(&code, &uniforms, &program)], LIMIT_US)?;

    let mut bytes = vec![0; RESULT_BYTES as usize];
    result.region().load(platform, 0, &mut bytes)?;
    let rows: Vec<Row> = bytes.chunks(ROW_WORDS as usize * 4).map(row).collect();
    Ok(rows.as_chunks::<2>().0.iter().take(vectors.len()).copied().collect())
}

fn user_program(code: &Buffer, uniforms: &Buffer, program: &alu_program::Program) -> UserProgram {
    UserProgram {
        code: code.address(),
        uniforms: uniforms.address(),
        // At most 68 words, see `alu_program`.
        uniform_count: (program.uniforms.len() / 4) as u16,
    }
}

fn row(bytes: &[u8]) -> Row {
    let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let first = words.next()?;
    words.all(|word| word == first).then_some(first)
}

/// How the result differs from the recorded vector, as a sentence.
fn difference(vector: &Vector, value: Row, flags: Row) -> Option<String> {
    let Vector { name, operands: [a, b], result, .. } = vector;
    let what = format!("{name} {a:08x} {b:08x}");
    match (value, flags) {
        (Some(value), _) if value != *result => Some(format!("{what}: {value:08x} instead of {result:08x}")),
        (Some(_), Some(flags)) => match vector.flags {
            Some(expected) if expected != flags => {
                Some(format!("{what}: flags {flags:03b} (c z n) instead of {expected:03b}"))
            }
            _ => None,
        },
        _ => Some(format!("{what}: the elements do not agree")),
    }
}

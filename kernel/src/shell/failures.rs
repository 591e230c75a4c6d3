//! The command `fail`: deliberate failures, each of which ends in a report on the console

use alloc::{string::ToString, vec, vec::Vec};

use v3d::{
    Error, Job,
    hw::{ArmPhys, control_list::Record},
    record_list::{ControlList, RecordList},
    user_program::UserProgram,
};

use super::{
    board::{reboot, tell_storms},
    session::{CommandResult, Session},
};
use crate::{
    arch::{clock, provoke},
    boot::progress,
    gpu::Gpu,
    print, println,
    shell::command::Failure,
    tick,
};

/// Duration of the interrupt storm: some ticks.
const STORM_US: u64 = 50_000;

pub(super) fn fail(session: &mut Session, failure: Failure) -> CommandResult {
    match failure {
        Failure::Panic => panic!("requested on the console"),
        Failure::NullPointer => provoke::write_to_null(),
        Failure::StackOverflow => provoke::overflow_stack(),
        Failure::WriteToConstant => provoke::write_to_constant(),
        Failure::Handler => {
            provoke::overflow_stack_in_next_tick();
            clock::spin_for_us(1_000_000);
        }
        Failure::Job => return hang(session, run_waiting_list),
        Failure::Program => return hang(session, run_waiting_program),
        Failure::Cached => return run_cached_program(session),
        Failure::Storm => {
            tick::storm(STORM_US);
            tell_storms();
            return Ok(());
        }
        Failure::Step(step) => {
            progress::trace().ask_to_hang_in_step(step);
            println!("the next `selftest board` halts in step {step}");
            return Ok(());
        }
        Failure::Boot(stage) => {
            progress::trace().ask_to_hang(stage);
            println!("the next boot halts in stage {}, \"{}\"", stage as u32, stage.name());
            return reboot(session);
        }
    }
    Err("the expected failure did not happen".into())
}

/// Starts work that never ends, and waits until the driver gives it up.
fn hang(session: &mut Session, work: fn(&mut Gpu) -> Result<(), Error>) -> CommandResult {
    let mut gpu = session.gpu()?;
    let outcome = work(&mut gpu);
    let reports = gpu.take_reports();
    drop(gpu);
    for report in reports {
        print!("{report}");
        session.failed_submission = Some(report.submission);
    }
    match outcome {
        Err(error @ (Error::JobFailed { .. } | Error::ProgramsTimedOut { .. })) => {
            println!("the driver gave it up: {error}");
            Ok(())
        }
        Err(error) => Err(error.to_string()),
        Ok(()) => Err("work that never ends has ended".into()),
    }
}

/// A rendering list that waits for a binning list that does not exist.
fn run_waiting_list(gpu: &mut Gpu) -> Result<(), Error> {
    let mut list = RecordList::new();
    list.push(Record::WaitOnSemaphore);
    list.push(Record::Nop);
    let buffer = gpu.upload(&list.encode()?, 16)?;
    let rendering = ControlList { start: buffer.address(), end_exclusive: buffer.region().end_exclusive() };
    let fence = gpu.submit_with(Job { binning: None, rendering }, vec![buffer.owner()]);
    gpu.wait(fence)
}

/// A user program that waits for a semaphore that is never incremented.
fn run_waiting_program(gpu: &mut Gpu) -> Result<(), Error> {
    /// Semaphore 0 is decremented; then the program ends, with its two delay slots [AG p.26, p.33].
    const PROGRAM: [u64; 4] =
        [0xe800_09e7_0000_0010, 0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000];
    const LIMIT_US: u64 = 200_000;

    let code: Vec<u8> = PROGRAM.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = gpu.upload(&code, 64)?;
    let program = UserProgram { code: buffer.address(), uniforms: buffer.address(), uniform_count: 0 };
    gpu.run_programs(&[program], LIMIT_US)
}

/// A user program that ends at once, in memory that the CPU caches.
fn run_cached_program(session: &mut Session) -> CommandResult {
    /// A program end with its two delay slots, among the kernel's constants.
    static PROGRAM: [u64; 3] = [0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000];
    const LIMIT_US: u64 = 200_000;

    let code = ArmPhys((&raw const PROGRAM).addr() as u32).to_bus();
    let program = UserProgram { code, uniforms: code, uniform_count: 0 };
    session.gpu()?.run_programs(&[program], LIMIT_US).map_err(|error| error.to_string())?;
    println!("the V3D has executed a program at {code}, which the CPU caches");
    Ok(())
}

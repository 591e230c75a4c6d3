//! Overflow memory of jobs that are in flight together, step by step.

#[path = "double/engine.rs"]
#[allow(dead_code, reason = "other tests use the rest of the double")]
mod engine;

use engine::{Behaviour, Engine};
use v3d::hw::BusAddr;
use v3d::record_list::ControlList;
use v3d::{Driver, Error, Failure, Job, Limits};

const BLOCK: u32 = 4096;

fn lists(n: u32) -> [BusAddr; 2] {
    [BusAddr(0x0010_0000 + 0x100 * n), BusAddr(0x0090_0000 + 0x100 * n)]
}

fn job(n: u32) -> Job {
    let list = |start: BusAddr| ControlList { start, end_exclusive: start + 0x80 };
    let [binning, rendering] = lists(n);
    Job { binning: Some(list(binning)), rendering: list(rendering) }
}

/// Three jobs of five blocks each where there are eight, one after the other, then all in flight; with and without interrupts.
fn three_jobs_of_five(pool_blocks: u32, max_overflow_blocks: u32) {
    let limits = Limits { overflow_block_bytes: BLOCK, overflow_blocks: 2, max_overflow_blocks, ..Limits::default() };
    for (overlap, line) in [(false, true), (true, true), (true, false)] {
        let engine = Engine::new((pool_blocks * BLOCK) as usize);
        engine.line.set(line);
        engine.interrupts.arm(&engine);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, limits).unwrap();
        let mut fences = Vec::new();
        for n in 1..=3 {
            engine.script(lists(n)[0], &[Behaviour::Takes(5)]);
            engine.script(lists(n)[1], &[Behaviour::Ends(40)]);
            let fence = driver.submit(job(n));
            if !overlap {
                assert_eq!(driver.wait(fence), Ok(()), "one after the other");
            }
            fences.push(fence);
        }
        let answers: Vec<_> = fences.into_iter().map(|fence| driver.wait(fence)).collect();
        assert!(answers.iter().all(Result::is_ok), "all in flight: {overlap}: {answers:?}");
        assert_eq!((driver.statistics().resets, driver.take_reports()), (0, Vec::new()));
        assert_eq!(driver.pool_use().0, 2 * BLOCK, "blocks do not come back");
    }
}

/// The binner waits for the end of the job before, which holds the blocks.
#[test]
fn jobs_in_flight_that_fit_one_by_one_within_the_limit_are_all_done() {
    three_jobs_of_five(64, 8);
}

#[test]
fn jobs_in_flight_that_fit_one_by_one_within_the_pool_are_all_done() {
    // The gap behind each block costs another page: eight blocks fit.
    three_jobs_of_five(16, 64);
}

#[test]
fn a_job_that_never_fits_is_dropped_beside_another_one_too() {
    let limits =
        Limits { overflow_block_bytes: BLOCK, overflow_blocks: 2, max_overflow_blocks: 8, ..Limits::default() };
    for first_takes in [0, 5] {
        let engine = Engine::new(1 << 20);
        engine.interrupts.arm(&engine);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, limits).unwrap();
        engine.script(lists(1)[0], &[Behaviour::Takes(first_takes)]);
        engine.script(lists(1)[1], &[Behaviour::Ends(40)]);
        engine.script(lists(2)[0], &[Behaviour::Takes(9)]);
        let (first, second, third) = (driver.submit(job(1)), driver.submit(job(2)), driver.submit(job(3)));
        assert_eq!(driver.wait(first), Ok(()));
        let failure = Failure::OutOfBinnerMemory;
        assert_eq!(driver.wait(second), Err(Error::JobFailed { fence: second, failure }));
        assert_eq!(driver.wait(third), Ok(()));
        assert_eq!(driver.pool_use().0, 2 * BLOCK);
    }
}

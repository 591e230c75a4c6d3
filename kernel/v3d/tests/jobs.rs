//! The driver's scheduling and recovery, step by step.

#[path = "double/engine.rs"]
#[allow(dead_code, reason = "other tests use the rest of the double")]
mod engine;

use engine::{Behaviour, Engine, Event};
use v3d::hw::BusAddr;
use v3d::hw::registers::Register;
use v3d::platform::{RegisterAccess, Time};
use v3d::record_list::ControlList;
use v3d::user_program::UserProgram;
use v3d::{Driver, Error, Failure, Fence, Job, Limits};

/// Addresses of the lists of job `n`.
fn lists(n: u32) -> [BusAddr; 2] {
    [BusAddr(0x0010_0000 + 0x100 * n), BusAddr(0x0090_0000 + 0x100 * n)]
}

fn job(n: u32) -> Job {
    let list = |start: BusAddr| ControlList { start, end_exclusive: start + 0x80 };
    let [binning, rendering] = lists(n);
    Job { binning: Some(list(binning)), rendering: list(rendering) }
}

fn limits() -> Limits {
    Limits { overflow_block_bytes: 4096, overflow_blocks: 2, max_overflow_blocks: 8, ..Limits::default() }
}

fn driver(engine: &Engine) -> Driver<'_, Engine> {
    engine.interrupts.arm(engine);
    Driver::bring_up(engine, &engine.interrupts, limits()).unwrap()
}

#[test]
fn binning_overlaps_the_rendering_of_the_job_before() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    engine.script(lists(1)[1], &[Behaviour::Ends(10)]);
    let first = driver.submit(job(1));
    let second = driver.submit(job(2));
    assert!(first < second);
    driver.wait(second).unwrap();
    let [bin_1, render_1] = lists(1);
    let [bin_2, render_2] = lists(2);
    let expected = [
        Event::Starts(0, bin_1),
        Event::Starts(1, render_1),
        Event::Ends(0, bin_1),
        Event::Starts(0, bin_2),
        Event::Ends(0, bin_2),
        Event::Ends(1, render_1),
        Event::Starts(1, render_2),
        Event::Ends(1, render_2),
    ];
    assert_eq!(*engine.events.borrow(), expected);
    assert_eq!((driver.statistics().jobs_done, driver.statistics().resets), (2, 0));
}

/// Until interrupts are enabled, the V3D's line is never asserted; jobs end and the binner gets its memory all the same.
#[test]
fn polling_leaves_the_line_alone() {
    let engine = Engine::new(1 << 20);
    let mut driver = Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap();
    engine.script(lists(2)[0], &[Behaviour::Takes(3)]);
    for n in 1..=3 {
        let fence = driver.submit(job(n));
        driver.wait(fence).unwrap();
    }
    assert_eq!(engine.taken.borrow().len(), 3);
    assert_eq!(driver.statistics().jobs_done, 3);
    assert_eq!(engine.enables.get(), 0, "INTENA was written");

    engine.interrupts.arm(&engine);
    assert_eq!(engine.read(Register::INTENA), 0b0111);
    engine.interrupts.disarm(&engine);
    assert_eq!(engine.read(Register::INTENA), 0);
}

/// OUTOMEM is set without BMOOM, as after power-on: it interrupts once, and again for the next list that needs memory.
#[test]
fn an_out_of_memory_interrupt_without_a_cause_is_masked() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    engine.keep_out_of_memory_up();
    let mut served = 0;
    while engine.raised() {
        engine.interrupts.service(&engine);
        served += 1;
        assert!(served < 10, "the interrupt never ends");
    }
    assert_eq!(engine.read(Register::INTENA), 0b0011);
    engine.out_of_memory_is_stuck.set(false);
    engine.script(lists(1)[0], &[Behaviour::Takes(2)]);
    let fence = driver.submit(job(1));
    driver.wait(fence).unwrap();
    assert_eq!(engine.taken.borrow().len(), 2);
    assert_eq!(engine.read(Register::INTENA), 0b0111);
}

/// PCS reads 0x104 in a job that only renders: BMOOM is set from the reset until the binner first gets memory [bm docs/DRIVERS.md].
#[test]
fn bmoom_before_the_first_binning_is_no_request_for_memory() {
    for (armed, stuck) in [(false, false), (true, false), (true, true)] {
        let engine = Engine::new(1 << 20);
        engine.lacks_first_memory.set(true);
        let mut driver =
            if armed { driver(&engine) } else { Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap() };
        if stuck {
            engine.keep_out_of_memory_up();
        }
        let [_, rendering] = lists(1);
        engine.script(rendering, &[Behaviour::NeverWaits(5)]);
        let fence = driver.submit(Job { binning: None, ..job(1) });
        driver.wait(fence).unwrap();
        assert!(engine.lacks_first_memory.get(), "memory was given: armed {armed}, stuck {stuck}");
        assert_eq!(driver.statistics().overflow_blocks, 0);
        engine.out_of_memory_is_stuck.set(false);
        engine.script(lists(2)[0], &[Behaviour::Takes(2)]);
        let fence = driver.submit(job(2));
        driver.wait(fence).unwrap();
        // One more may have been offered before the list's first record gave the binner memory.
        assert_eq!(engine.taken.borrow().len(), 2);
        assert!(driver.statistics().overflow_blocks <= 3);
    }
}

/// What boards read while idle, and while they work well [bm reports].
#[test]
fn the_debug_registers_of_a_healthy_board_are_no_sign_of_a_hang() {
    let engine = Engine::new(1 << 20);
    engine.constants.borrow_mut().extend([
        (Register::FDBGO, 6),
        (Register::FDBGB, 0x18),
        (Register::FDBGS, 0x3147),
        (Register::ERRSTAT, 0x3000),
    ]);
    let mut driver = driver(&engine);
    for n in 0..8 {
        let fence = driver.submit(job(n));
        driver.wait(fence).unwrap();
    }
    let statistics = driver.statistics();
    assert_eq!((statistics.jobs_done, statistics.resets, statistics.error_bits), (8, 0, 0));
    assert_eq!(driver.take_reports(), []);
    // A report has them all, and says of VCMRE what is known.
    engine.script(lists(1)[1], &[Behaviour::Hangs, Behaviour::Ends(1)]);
    let fence = driver.submit(job(1));
    driver.wait(fence).unwrap();
    let report = driver.take_reports()[0].to_string();
    assert!(report.contains("vertices in NV mode were drawn, for which boards set it without a failure"), "{report}");
}

/// CTRUN clears when a thread has read its list; BFC and RFC count later [rpi-hal].
#[test]
fn a_job_ends_when_its_frame_is_counted_and_not_when_its_thread_stops() {
    for thread in 0..2 {
        let engine = Engine::new(1 << 20);
        let mut driver = driver(&engine);
        engine.script(lists(1)[thread], &[Behaviour::CountsLate(7)]);
        let (first, second) = (driver.submit(job(1)), driver.submit(job(2)));
        let mut polls = 0;
        while !driver.is_done(first) {
            engine.wait_until(engine.now_us() + 1000);
            polls += 1;
            assert!(polls < 50);
        }
        assert!(polls >= 8, "thread {thread}: done after {polls} polls");
        driver.wait(second).unwrap();
        assert_eq!((driver.statistics().jobs_done, driver.statistics().resets), (2, 0));
    }
}

/// A render job of one second was seen to be legal [piegpu]: as long as it makes progress, it is not stopped.
#[test]
fn a_job_of_a_second_that_makes_progress_is_not_stopped() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    let steps = 1_000_000 / limits().poll_interval_us as u32;
    engine.script(lists(0)[1], &[Behaviour::Ends(steps)]);
    let fence = driver.submit(job(0));
    driver.wait(fence).unwrap();
    assert_eq!((driver.statistics().resets, driver.take_reports().len()), (0, 0));
    assert!(driver.statistics().last_rendering_us >= 900_000, "{}", driver.statistics().last_rendering_us);
}

/// BFC and RFC have 8 bits: for a driver that subtracts them, job 256 looks like job 0.
#[test]
fn counters_may_wrap() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    for n in 0..1000 {
        let fence = driver.submit(job(n % 7));
        driver.wait(fence).unwrap();
    }
    assert_eq!(driver.statistics().jobs_done, 1000);
}

#[test]
fn a_lost_interrupt_costs_only_time() {
    let engine = Engine::new(1 << 20);
    engine.line.set(false);
    let mut driver = driver(&engine);
    engine.script(lists(2)[0], &[Behaviour::Takes(3)]);
    for n in 0..4 {
        let fence = driver.submit(job(n));
        driver.wait(fence).unwrap();
    }
    assert_eq!((driver.statistics().jobs_done, driver.statistics().overflow_blocks), (4, 3));
}

#[test]
fn a_job_that_hangs_once_is_tried_again() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    engine.script(lists(1)[1], &[Behaviour::Hangs, Behaviour::Ends(1)]);
    let fences: Vec<Fence> = (0..4).map(|n| driver.submit(job(n))).collect();
    fences.iter().for_each(|&fence| driver.wait(fence).unwrap());
    let reports = driver.take_reports();
    assert_eq!(reports.len(), 1);
    assert_eq!((reports[0].fence, reports[0].failure, reports[0].dropped), (Some(fences[1]), Failure::Hang, false));
    let text = reports[0].to_string();
    for name in ["CT1CA", "PCS", "ERRSTAT", "FDBGS", "job 2: the V3D made no progress"] {
        assert!(text.contains(name), "{name} is missing in\n{text}");
    }
    assert_eq!((driver.statistics().jobs_done, driver.statistics().jobs_dropped), (4, 0));
}

#[test]
fn a_job_that_hangs_twice_is_dropped_and_the_next_goes_on() {
    for (thread, behaviour, failure) in [
        (0, Behaviour::Hangs, Failure::Hang),
        (1, Behaviour::Hangs, Failure::Hang),
        (0, Behaviour::Loops, Failure::TooLong),
        (1, Behaviour::Loops, Failure::TooLong),
        (0, Behaviour::Fails, Failure::ControlListError(v3d::hw::registers::Thread::Binning)),
        (1, Behaviour::Fails, Failure::ControlListError(v3d::hw::registers::Thread::Rendering)),
    ] {
        let engine = Engine::new(1 << 20);
        let mut driver = driver(&engine);
        engine.script(lists(1)[thread], &[behaviour]);
        let fences: Vec<Fence> = (0..4).map(|n| driver.submit(job(n))).collect();
        assert_eq!(driver.wait(fences[3]), Ok(()), "{behaviour:?} on thread {thread}");
        assert_eq!(driver.wait(fences[1]), Err(Error::JobFailed { fence: fences[1], failure }));
        assert_eq!((driver.wait(fences[0]), driver.wait(fences[2])), (Ok(()), Ok(())));
        let statistics = driver.statistics();
        assert_eq!((statistics.jobs_done, statistics.jobs_dropped, statistics.resets), (3, 1, 2));
        assert_eq!(driver.take_reports().len(), 2);
    }
}

#[test]
fn limits_can_be_set_while_the_driver_runs() {
    let time_of_a_hang = |times: u64| {
        let engine = Engine::new(1 << 20);
        let mut driver = driver(&engine);
        let usual = driver.limits();
        driver.set_limits(Limits { hang_us: usual.hang_us * times, ..usual });
        engine.script(lists(0)[0], &[Behaviour::Hangs, Behaviour::Ends(1)]);
        let fence = driver.submit(job(0));
        driver.wait(fence).unwrap();
        assert_eq!(driver.statistics().retries, 1);
        engine.now_us()
    };
    let (usual, longer) = (time_of_a_hang(1), time_of_a_hang(3));
    assert!((2 * usual..4 * usual).contains(&longer), "{usual} us became {longer} us");
}

#[test]
fn a_board_that_cannot_reset_still_gets_its_threads_reset() {
    let engine = Engine::new(1 << 20);
    engine.resettable.set(false);
    let mut driver = driver(&engine);
    engine.script(lists(0)[0], &[Behaviour::Fails, Behaviour::Ends(1)]);
    let fence = driver.submit(job(0));
    driver.wait(fence).unwrap();
    assert_eq!((driver.statistics().resets, driver.statistics().failed_resets), (1, 1));
}

#[test]
fn the_binner_gets_more_blocks_than_lie_ready_and_they_come_back() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    let (used, _) = driver.pool_use();
    engine.script(lists(0)[0], &[Behaviour::Takes(7)]);
    let fence = driver.submit(job(0));
    driver.wait(fence).unwrap();
    let mut taken = engine.taken.borrow().clone();
    assert_eq!(taken.len(), 7);
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 7, "a block was given twice");
    assert!(taken.iter().all(|address| address >> 28 == Engine::BASE.0 >> 28));
    assert_eq!(driver.pool_use().0, used);
}

#[test]
fn a_binner_that_wants_more_than_there_is_loses_its_job() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    engine.script(lists(0)[0], &[Behaviour::Takes(9)]);
    let greedy = driver.submit(job(0));
    let modest = driver.submit(job(1));
    let failure = Failure::OutOfBinnerMemory;
    assert_eq!(driver.wait(greedy), Err(Error::JobFailed { fence: greedy, failure }));
    assert_eq!(driver.wait(modest), Ok(()));
    assert_eq!(driver.pool_use().0, 2 * 4096);
}

#[test]
fn user_programs_and_frames_are_never_under_way_at_once() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    engine.script(lists(0)[1], &[Behaviour::Ends(20)]);
    driver.submit(job(0));
    let program = UserProgram { code: BusAddr(0xc100_8000), uniforms: BusAddr(0xc100_9000), uniform_count: 4 };
    // The test double asserts that no thread runs when a program starts.
    driver.run_programs(&[program; 12], 100_000).unwrap();
    assert_eq!(driver.statistics().programs_done, 12);
    assert_eq!(driver.run_programs(&[program; 17], 1), Err(Error::TooManyPrograms(17)));
    engine.programs_end.set(false);
    let error = driver.run_programs(&[program; 2], 100_000).unwrap_err();
    assert_eq!(error, Error::ProgramsTimedOut { completed: 0, requested: 2 });
    let fence = driver.submit(job(1));
    assert_eq!(driver.wait(fence), Ok(()));
}

/// A capture of a job has the programs before it run again, with the uniforms that they had.
#[test]
fn memory_of_user_programs_is_kept_until_the_next_job_is_done() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    let used = driver.pool_use().0;
    let run = |driver: &mut Driver<'_, Engine>| {
        let uniforms = driver.allocate(4096, 4096).unwrap();
        let program = UserProgram { code: BusAddr(0xc100_8000), uniforms: uniforms.address(), uniform_count: 4 };
        driver.run_programs_with(&[program], vec![uniforms.owner()], 100_000).unwrap();
        driver.pool_use().0 - used
    };
    // Those of earlier programs are not.
    assert_eq!((run(&mut driver), run(&mut driver)), (4096, 4096));
    let fence = driver.submit(job(0));
    assert_eq!(driver.pool_use().0, used + 4096);
    driver.wait(fence).unwrap();
    assert_eq!(driver.pool_use().0, used);
    assert_eq!(run(&mut driver), 4096);
    driver.wait_until_idle();
    assert_eq!(driver.pool_use().0, used);
}

#[test]
fn the_last_16_jobs_are_known() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    assert_eq!(driver.recent_job(0), None);
    for n in 0..20 {
        let fence = driver.submit(job(n));
        driver.wait(fence).unwrap();
    }
    assert_eq!(driver.recent_job(0), driver.last_job());
    let known: Vec<_> = (0..20).map_while(|later| driver.recent_job(later)).collect();
    assert_eq!(known, (4..20).rev().map(job).collect::<Vec<_>>());
}

#[test]
fn there_is_no_driver_without_a_v3d() {
    let engine = Engine::new(1 << 20);
    engine.ident0.set(0);
    let error = Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap_err();
    assert_eq!(error.to_string(), "there is no V3D: IDENT0 reads 0");
    engine.ident0.set(0xdead_beef);
    let error = Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap_err();
    assert!(error.to_string().contains("no power"));
}

#[test]
fn nobody_waits_for_a_job_that_does_not_exist() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    let other = Engine::new(1 << 20);
    let mut busier = Driver::bring_up(&other, &other.interrupts, limits()).unwrap();
    let fence = busier.submit(job(0));
    assert_eq!(driver.wait(fence), Err(Error::UnknownFence(fence)));
    assert_eq!(driver.wait(Fence::NONE), Ok(()));
}

/// 100,000 jobs, up to three in flight, with a fault every 50: only those that fail twice are dropped, and no memory is lost.
#[test]
fn a_long_life_with_faults_every_50_jobs() {
    let engine = Engine::new(1 << 20);
    let mut driver = driver(&engine);
    let mut random = oorandom::Rand32::new(7);
    let (mut dropped, mut in_flight) = (Vec::new(), std::collections::VecDeque::new());
    let mut failed = Vec::new();
    for n in 0..100_000u32 {
        let slot = n % 4;
        let [binning, rendering] = lists(slot);
        engine.script(binning, &[Behaviour::Ends(1)]);
        engine.script(rendering, &[Behaviour::Ends(1 + n % 3)]);
        let mut doomed = false;
        if n % 50 == 49 {
            let fault = [Behaviour::Hangs, Behaviour::Loops, Behaviour::Fails][random.rand_range(0..3) as usize];
            let list = [binning, rendering][random.rand_range(0..2) as usize];
            doomed = random.rand_range(0..2) == 0;
            engine.script(list, if doomed { &[Behaviour::Fails; 1] } else { &[Behaviour::Hangs, Behaviour::Ends(1)] });
            if !doomed && fault == Behaviour::Fails {
                engine.script(list, &[Behaviour::Fails, Behaviour::Ends(1)]);
            }
        } else if n % 50 == 20 {
            engine.script(binning, &[Behaviour::Takes(1 + n % 5)]);
        }
        let fence = driver.submit(job(slot));
        if doomed {
            dropped.push(fence);
        }
        in_flight.push_back(fence);
        if in_flight.len() == 3 {
            let oldest = in_flight.pop_front().unwrap();
            if driver.wait(oldest).is_err() {
                failed.push(oldest);
            }
        }
        engine.events.borrow_mut().clear();
        engine.taken.borrow_mut().clear();
        driver.take_reports();
    }
    failed.extend(in_flight.into_iter().filter(|&fence| driver.wait(fence).is_err()));
    assert_eq!(failed, dropped);
    assert!(dropped.len() > 500, "too few faults for a test: {}", dropped.len());
    assert_eq!(driver.statistics().jobs_done + driver.statistics().jobs_dropped, 100_000);
    assert_eq!(driver.pool_use().0, 2 * 4096);
}

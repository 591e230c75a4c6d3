//! What a job leaves in the control list threads is cleared before the next one, step by step.

#[path = "double/engine.rs"]
#[allow(dead_code, reason = "other tests use the rest of the double")]
mod engine;

use engine::{Behaviour, Engine, Event};
use v3d::hw::BusAddr;
use v3d::record_list::ControlList;
use v3d::{Driver, Fence, Job, Limits};

fn lists(n: u32) -> [BusAddr; 2] {
    [BusAddr(0x0010_0000 + 0x100 * n), BusAddr(0x0090_0000 + 0x100 * n)]
}

fn job(n: u32) -> Job {
    let list = |start: BusAddr| ControlList { start, end_exclusive: start + 0x80 };
    let [binning, rendering] = lists(n);
    Job { binning: Some(list(binning)), rendering: list(rendering) }
}

/// Whether each of the jobs was rendered only after it had been binned, by the last start of either.
fn each_waited(engine: &Engine, jobs: impl Iterator<Item = u32>) -> bool {
    let events = engine.events.borrow();
    let last = |event| events.iter().rposition(|other| *other == event);
    jobs.map(lists).all(|[binning, rendering]| {
        let (binned, rendered) = (last(Event::Ends(0, binning)), last(Event::Ends(1, rendering)));
        binned.is_some() && binned < rendered
    })
}

/// A job leaves its increment of the semaphore: the rendering lists of the jobs behind it do not run ahead of their binners, in whatever order the threads end.
#[test]
fn an_increment_that_a_job_leaves_is_not_the_next_job_s() {
    for (binning, rendering, together) in
        [(1, 1, true), (1, 1, false), (1, 9, true), (9, 1, true), (5, 30, true), (30, 5, true), (9, 1, false)]
    {
        let engine = Engine::new(1 << 20);
        engine.interrupts.arm(&engine);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, Limits::default()).unwrap();
        engine.script(lists(0)[0], &[Behaviour::Ends(binning)]);
        engine.script(lists(0)[1], &[Behaviour::NeverWaits(rendering)]);
        for n in 1..4 {
            engine.script(lists(n)[0], &[Behaviour::Ends(12)]);
            engine.script(lists(n)[1], &[Behaviour::Ends(2)]);
        }
        let mut last = driver.submit(job(0));
        if !together {
            driver.wait(last).unwrap();
        }
        for n in 1..4 {
            last = driver.submit(job(n));
        }
        driver.wait(last).unwrap();
        let case = (binning, rendering, together);
        assert!(each_waited(&engine, 1..4), "{case:?}: {:?}", engine.events.borrow());
        let statistics = driver.statistics();
        assert_eq!((statistics.jobs_done, statistics.resets, statistics.threads_cleared), (4, 0, 1), "{case:?}");
    }
}

/// The semaphore has three bits: more increments than it can count would be lost, and with them the jobs.
#[test]
fn no_more_jobs_are_binned_ahead_than_the_semaphore_counts() {
    let engine = Engine::new(1 << 20);
    let mut driver = Driver::bring_up(&engine, &engine.interrupts, Limits::default()).unwrap();
    engine.script(lists(0)[1], &[Behaviour::Ends(60)]);
    let fences: Vec<Fence> = (0..12).map(|n| driver.submit(job(n))).collect();
    fences.into_iter().for_each(|fence| driver.wait(fence).unwrap());
    assert!(each_waited(&engine, 0..12));
    let statistics = driver.statistics();
    assert_eq!((statistics.jobs_done, statistics.resets, statistics.threads_cleared), (12, 0, 0));
}

/// A thread that waits behind the end of its frame is in nobody's way for ever: the V3D is reset, and no job is blamed.
#[test]
fn a_thread_that_runs_on_behind_its_frame_is_stopped() {
    let engine = Engine::new(1 << 20);
    let mut driver = Driver::bring_up(&engine, &engine.interrupts, Limits::default()).unwrap();
    engine.script(lists(0)[1], &[Behaviour::RunsOn]);
    engine.script(lists(1)[1], &[Behaviour::NeverWaits(1)]);
    let first = driver.submit(Job { binning: None, ..job(0) });
    let second = driver.submit(Job { binning: None, ..job(1) });
    let third = driver.submit(job(2));
    assert_eq!((driver.wait(first), driver.wait(second), driver.wait(third)), (Ok(()), Ok(()), Ok(())));
    let reports = driver.take_reports();
    assert_eq!(reports.iter().map(|report| report.fence).collect::<Vec<_>>(), [None]);
}

/// Two jobs in flight make no progress, one of them through no fault of its own: each is tried again by itself, and only the one that hangs then is dropped.
#[test]
fn of_two_jobs_that_hang_the_one_that_hangs_alone_is_dropped() {
    for (guilty, list) in [(0, 1), (1, 0)] {
        let engine = Engine::new(1 << 20);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, Limits::default()).unwrap();
        // Job 0 is rendered while job 1 is binned. The guilty one hangs whenever it runs; it keeps the other from getting on once.
        engine.script(lists(guilty)[list], &[Behaviour::Hangs]);
        engine.script(lists(1 - guilty)[1 - list], &[Behaviour::Hangs, Behaviour::Ends(1)]);
        let fences = [driver.submit(job(0)), driver.submit(job(1)), driver.submit(job(2))];
        let answers = fences.map(|fence| driver.wait(fence).is_ok());
        assert_eq!(answers, [guilty != 0, guilty != 1, true]);
        let statistics = driver.statistics();
        assert_eq!((statistics.jobs_done, statistics.jobs_dropped, statistics.resets), (2, 1, 3));
    }
}

/// On a board whose CTSEMA were something else, jobs would still run.
#[test]
fn a_status_that_cannot_be_cleared_is_ignored() {
    let engine = Engine::new(1 << 20);
    engine.stuck_semaphore.set(Some(3));
    let mut driver = Driver::bring_up(&engine, &engine.interrupts, Limits::default()).unwrap();
    for n in 0..10 {
        let fence = driver.submit(job(n));
        driver.wait(fence).unwrap();
    }
    assert_eq!((driver.statistics().jobs_done, driver.statistics().threads_cleared), (10, 1));
}

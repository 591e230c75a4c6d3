//! Memory that a hung program may still access.

#[path = "double/engine.rs"]
#[allow(dead_code, reason = "other tests use the rest of the double")]
mod engine;

use engine::{Behaviour, Engine};
use v3d::hw::BusAddr;
use v3d::record_list::ControlList;
use v3d::user_program::UserProgram;
use v3d::{Driver, Job, Limits};

const POOL_BYTES: u32 = 1 << 20;

fn limits() -> Limits {
    Limits { overflow_block_bytes: 4096, overflow_blocks: 2, max_overflow_blocks: 8, ..Limits::default() }
}

/// Whether memory at `start` is ever allocated again.
fn is_used_again(driver: &mut Driver<'_, Engine>, start: BusAddr) -> bool {
    let mut held = Vec::new();
    while let Ok(buffer) = driver.allocate(4096, 64) {
        held.push(buffer);
    }
    held.iter().any(|buffer| {
        let (first, end) = (buffer.address(), buffer.region().end_exclusive());
        (first..end).contains(&start)
    })
}

/// The code and uniforms of a user program that hangs, dropped by their owner afterwards.
#[test]
fn the_memory_of_a_hung_program_is_kept_until_a_reset_works() {
    for (resettable, is_lost) in [(true, false), (false, false), (true, true)] {
        let engine = Engine::new(POOL_BYTES as usize);
        engine.resettable.set(resettable);
        engine.reset_is_lost.set(is_lost);
        engine.programs_end.set(false);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap();
        let code = driver.allocate(4096, 64).unwrap();
        let start = code.address();
        let program = UserProgram { code: start, uniforms: start, uniform_count: 0 };
        assert!(driver.run_programs(&[program], 10_000).is_err());
        drop(code);
        let has_worked = resettable && !is_lost;
        assert_eq!(driver.statistics().failed_resets, u64::from(!has_worked));
        assert_eq!(is_used_again(&mut driver, start), has_worked, "{resettable}, {is_lost}");
        // The next time that a reset is needed it works.
        engine.resettable.set(true);
        engine.reset_is_lost.set(false);
        assert!(driver.run_programs(&[program], 10_000).is_err());
        assert!(is_used_again(&mut driver, start));
    }
}

/// The same for a job that is dropped, with what it owns and with the blocks that its binner has been given.
#[test]
fn the_memory_of_a_hung_job_is_kept_until_a_reset_works() {
    for resettable in [true, false] {
        let engine = Engine::new(POOL_BYTES as usize);
        engine.resettable.set(resettable);
        engine.interrupts.arm(&engine);
        let mut driver = Driver::bring_up(&engine, &engine.interrupts, limits()).unwrap();
        let lists = driver.allocate(8192, 64).unwrap();
        let (start, owner) = (lists.address(), lists.owner());
        drop(lists);
        let list = |offset| ControlList { start: start + offset, end_exclusive: start + offset + 0x80 };
        engine.script(start, &[Behaviour::Takes(2)]);
        engine.script(start + 4096, &[Behaviour::Hangs]);
        let fence = driver.submit_with(Job { binning: Some(list(0)), rendering: list(4096) }, vec![owner]);
        assert!(driver.wait(fence).is_err());
        let blocks = engine.taken.borrow().clone();
        assert!(!blocks.is_empty());
        assert_eq!(is_used_again(&mut driver, start), resettable, "the lists");
        assert!(resettable || blocks.iter().all(|block| !is_used_again(&mut driver, BusAddr(*block))), "the blocks");
        // Later jobs have other memory.
        engine.resettable.set(true);
        let next = driver.allocate(8192, 64).unwrap().address();
        let list = |offset| ControlList { start: next + offset, end_exclusive: next + offset + 0x80 };
        engine.script(next, &[Behaviour::Takes(3)]);
        engine.script(next + 4096, &[Behaviour::Ends(1)]);
        let fence = driver.submit(Job { binning: Some(list(0)), rendering: list(4096) });
        assert_eq!(driver.wait(fence), Ok(()));
    }
}

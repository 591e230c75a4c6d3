//! The work of a validation, and the memory that it takes.

use super::heap::most_taken;
use super::scene::{NOP, Scene, add, branch, word};
use v3d::hw::control_list::{GlShaderState, Record, Threading};
use v3d::hw::qpu::{AddOp, Alu, Mux, Signal};
use v3d::record_list::ControlList;
use v3d::validator::{self, MAX_HEAP_BYTES, MAX_WORK, Reason, Span};

/// Prepends shader states to the job's binning list.
fn with_states(scene: &mut Scene, states: impl Iterator<Item = GlShaderState>) {
    let binning = scene.job.binning.unwrap();
    let bytes = scene.load(binning.start, (binning.end_exclusive - binning.start) as usize);
    // After the configuration, the start of binning and the list format, which have 16, 1 and 2 bytes.
    let mut list = bytes[..19].to_vec();
    for state in states {
        let record = Record::GlShaderState(state);
        list.extend(&record.encode().unwrap()[..record.bytes()]);
    }
    list.extend(&bytes[19..]);
    let start = scene.pool_start() + 0x12_0000;
    scene.store(start, &list);
    scene.job.binning = Some(ControlList { start, end_exclusive: start + list.len() as u32 });
}

fn work(scene: &Scene) -> Result<u32, validator::Refusal> {
    validator::check_with(&scene.pool, &scene.rights, &scene.job, MAX_WORK)
}

/// All three programs have the maximum length.
fn with_long_programs() -> Scene {
    let scene = Scene::new();
    let mut words = vec![NOP; 60_000];
    words.extend([word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP]);
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let place = scene.pool_start();
    scene.store(place, &code);
    for at in [16, 28] {
        scene.store(scene.record() + at, &place.0.to_le_bytes());
    }
    scene
}

/// A megabyte of states of 5 bytes with programs of maximum length: each program is followed once.
#[test]
fn states_that_name_one_record_cost_a_unit_each() {
    const STATES: u32 = 200_000;
    let mut scene = with_long_programs();
    let before = work(&scene).unwrap();
    assert!((60_000..62_000).contains(&before), "{before}");
    let state = GlShaderState { address: scene.record().into(), extended: false, attribute_arrays: 3 };
    with_states(&mut scene, (0..STATES).map(|_| state));
    assert_eq!(work(&scene), Ok(before + STATES));
}

/// The same with a record for each: programs and uniforms are the same.
#[test]
fn records_that_name_one_program_do_not_follow_it_again() {
    const RECORDS: u32 = 10_000;
    let mut scene = with_long_programs();
    let before = work(&scene).unwrap();
    let record = scene.load(scene.record(), 64);
    let at = |n: u32| scene.pool_start() + 0x8_0000 + 64 * n;
    for n in 0..RECORDS {
        scene.store(at(n), &record);
    }
    let states: Vec<_> =
        (0..RECORDS).map(|n| GlShaderState { address: at(n).into(), extended: false, attribute_arrays: 3 }).collect();
    with_states(&mut scene, states.into_iter());
    // One unit for the state, and one each for the record and its three arrays.
    assert_eq!(work(&scene), Ok(before + RECORDS * 5));
}

/// Programs that differ are followed each, until the limit.
#[test]
fn too_much_work_is_refused() {
    let mut scene = with_long_programs();
    let record = scene.load(scene.record(), 64);
    let at = |n: u32| scene.pool_start() + 0x8_0000 + 64 * n;
    for n in 0..100 {
        scene.store(at(n), &record);
        // Each starts an instruction later.
        scene.store(at(n) + 16, &(scene.pool_start() + 8 * n).0.to_le_bytes());
    }
    let states: Vec<_> =
        (0..100).map(|n| GlShaderState { address: at(n).into(), extended: false, attribute_arrays: 3 }).collect();
    with_states(&mut scene, states.into_iter());
    let refusal = work(&scene).unwrap_err();
    assert_eq!(refusal.reason, Reason::Value("the job takes more work to check than a job may"));
    assert_eq!(refusal.record, "GL Shader State");
    // Only the limit decides.
    assert!(validator::check_with(&scene.pool, &scene.rights, &scene.job, 7_000_000).is_ok());
}

/// A program that reads 1,800 uniforms, and 480 records that enter it at another instruction each: 55 KB of input.
fn with_much_to_remember() -> Scene {
    const LENGTH: u32 = 1800;
    let mut scene = Scene::new();
    let read = word(add(AddOp::Or, 39, [Mux::B, Mux::B]));
    let mut words = vec![read; LENGTH as usize];
    words.extend([word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP]);
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let base = scene.pool_start();
    scene.store(base, &code);
    let record = scene.load(scene.record(), 60);
    let at = |n: u32| base + 0x8_0000 + 64 * n;
    for n in 0..480 {
        let mut changed = record.clone();
        // No varyings.
        changed[3] = 0;
        for (place, entry) in [(4, 3 * n), (16, 3 * n + 1), (28, 3 * n + 2)] {
            changed[place..place + 4].copy_from_slice(&(base + 8 * (entry % LENGTH)).0.to_le_bytes());
            changed[place + 4..place + 8].copy_from_slice(&(base + 0x10_0000).0.to_le_bytes());
        }
        scene.store(at(n), &changed);
    }
    let state = |n| GlShaderState { address: at(n).into(), extended: false, attribute_arrays: 3 };
    with_states(&mut scene, (0..480).map(state));
    scene
}

fn whole_pool(scene: &Scene) -> [Span; 1] {
    [Span { address: scene.pool_start(), bytes: scene.end() - scene.pool_start() }]
}

/// It took 59 MiB to check.
#[test]
fn too_much_to_remember_is_refused() {
    let scene = with_much_to_remember();
    let why = Reason::Value("the job takes more memory to check than a job may");
    let (answer, most) = most_taken(usize::MAX, || scene.check());
    assert_eq!(answer.map_err(|refusal| (refusal.record, refusal.reason)), Err(("GL Shader State", why)));
    assert!((MAX_HEAP_BYTES / 2..2 * MAX_HEAP_BYTES).contains(&most), "{most} bytes");
    let (answer, most) =
        most_taken(usize::MAX, || validator::survey(&scene.pool, &whole_pool(&scene), &scene.job).map(|_| ()));
    assert_eq!(answer.map_err(|refusal| refusal.reason), Err(why));
    assert!(most < 2 * MAX_HEAP_BYTES, "{most} bytes");
}

/// A heap that is nearly full is no reason to stop the kernel.
#[test]
fn a_full_heap_is_an_error() {
    let scene = with_much_to_remember();
    for limit in [0, 1 << 10, 60 << 10, 100 << 10, 1 << 20, 3 << 20] {
        let (answer, _) = most_taken(limit, || scene.check());
        let why = Reason::Value("there is no memory left to check the job");
        assert_eq!(answer.map_err(|refusal| refusal.reason), Err(why), "{limit} bytes");
    }
    let scene = Scene::new();
    assert_eq!(most_taken(100 << 10, || scene.check()).0, Ok(()));
}

/// A list as long as memory is read piece by piece, and so are uniforms that a program reads in a loop.
#[test]
fn long_lists_and_uniforms_take_no_memory() {
    let mut scene = Scene::new();
    let bytes = 3_000_000;
    scene.store(scene.pool_start(), &vec![Record::Nop.info().code; bytes as usize]);
    let list = ControlList { start: scene.pool_start(), end_exclusive: scene.pool_start() + bytes };
    let (answer, most) = most_taken(usize::MAX, || {
        let (binning, rendering) = (scene.job.binning, scene.job.rendering);
        scene.job.binning = Some(list);
        let first = scene.check();
        (scene.job.binning, scene.job.rendering) = (None, list);
        let second = scene.check();
        (scene.job.binning, scene.job.rendering) = (binning, rendering);
        (first, second)
    });
    assert!(answer.0.is_err() && answer.1.is_err());
    assert!(most < 70_000, "{most} bytes");
    // `bra -4; nop; nop; nop` around a read, until the uniforms come to memory that the job may not read.
    let read = word(add(AddOp::Or, 39, [Mux::B, Mux::B]));
    scene.set_fragment(Threading::Single, &[read, branch(false, -5), NOP, NOP, NOP], &[0; 4]);
    let spans = whole_pool(&scene);
    let (answer, most) = most_taken(usize::MAX, || validator::survey(&scene.pool, &spans, &scene.job).map(|_| ()));
    assert!(answer.is_err());
    assert!(most < 2 * MAX_HEAP_BYTES, "{most} bytes");
}

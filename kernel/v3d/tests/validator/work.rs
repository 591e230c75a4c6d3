//! The work of a validation.

use super::scene::{NOP, Scene, word};
use v3d::hw::control_list::{GlShaderState, Record};
use v3d::hw::qpu::{Alu, Signal};
use v3d::record_list::ControlList;
use v3d::validator::{self, MAX_WORK, Reason};

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

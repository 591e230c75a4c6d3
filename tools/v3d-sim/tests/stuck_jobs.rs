//! Jobs that never end: the report names what they wait for, and shows the registers.

use v3d_hw::BusAddr;
use v3d_sim::job::run::{End, run_job};
use v3d_sim::job::{Job, UserProgram};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, V3d};

/// Runs a job on memory with these bytes at 0x1000, and compares the report of its end, up to the registers.
fn check(bytes: &[u8], job: Job, expected: &[&str]) {
    let memory = OwnedMemory::new(0x4000);
    memory.view().write(BusAddr(0x1000), bytes).unwrap();
    let End::Stuck(why) = run_job(&mut V3d::new(Config::default()), memory.view(), &job) else {
        panic!("{expected:?}: the job ends");
    };
    let told: Vec<&str> = why.lines().filter(|line| !line.contains(" = 0x")).map(str::trim_start).collect();
    assert_eq!(told, expected);
    assert!(why.contains("ERRSTAT = "), "{why}");
}

fn empty_job() -> Job {
    serde_json::from_str(r#"{ "mem": "", "arena_size": 16384 }"#).unwrap()
}

fn program(source: &str) -> Vec<u8> {
    let program = qpu::assemble(&[qpu::Source::new("stuck.qasm", source)], &qpu::Options::default()).unwrap();
    program.halves().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn user_programs_say_what_they_wait_for() {
    let user = UserProgram { pc: 0x1000, uniforms: 0x2000, uniforms_length: 1 };
    let job = |programs, host_interrupts| Job { user_programs: vec![user; programs], host_interrupts, ..empty_job() };
    check(
        &program("nop\nsacq -, 3\nthrend\nnop\nnop"),
        job(1, None),
        &["of 1 user programs 0 have ended", "QPU 11 at 0x00001008 waits for semaphore 3 to be raised"],
    );
    check(&program("nop\nthrend\nnop\nnop"), job(2, Some(1)), &["of 1 host interrupts 0 have come"]);
    let waiting = program("sacq -, 0\nthrend\nnop\nnop");
    let qpus: Vec<String> =
        (0..12).map(|qpu| format!("QPU {qpu} at 0x00001000 waits for semaphore 0 to be raised")).collect();
    let mut expected =
        vec!["of 29 user programs 0 have ended", "programs have been requested while the queue was full, and are lost"];
    expected.extend(qpus.iter().map(String::as_str));
    expected.push("16 queued");
    check(&waiting, job(29, None), &expected);
}

#[test]
fn threads_say_what_they_wait_for() {
    // Codes of records: 0 Halt, 1 NOP, 8 Wait on Semaphore; 255 is unassigned.
    let rendering = |length: u32| Job { render_ct1ca: 0x1000, render_ct1ea: 0x1000 + length, ..empty_job() };
    let no_frame = "a frame has been rendered 0 times, and not 1";
    check(&[1, 8], rendering(2), &[no_frame, "thread 1 at 0x00001001 waits for thread 0 to raise its semaphore"]);
    check(&[1, 0, 1], rendering(3), &[no_frame, "thread 1 has come to the Halt before 0x00001002"]);
    check(&[1, 255], rendering(2), &[no_frame, "thread 1 has been stopped by the record at 0x00001001"]);
    check(&[1, 1], rendering(2), &[no_frame]);
    let both = Job { has_bin: true, bin_ct0ca: 0x1000, bin_ct0ea: 0x1001, ..rendering(1) };
    check(
        &[8],
        both,
        &[
            "binning has been flushed 0 times, and not 1",
            no_frame,
            "thread 0 at 0x00001000 waits for thread 1 to raise its semaphore",
            "thread 1 at 0x00001000 waits for thread 0 to raise its semaphore",
        ],
    );
}

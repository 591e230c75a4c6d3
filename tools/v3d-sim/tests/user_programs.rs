//! Jobs that start user programs in the same way as a driver.

use v3d_hw::BusAddr;
use v3d_sim::job::run::{End, run_job};
use v3d_sim::job::{Job, UserProgram};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, V3d};

/// Adds two uniforms in each element, stores the vector through the VPM, and interrupts the host.
const ADD_AND_STORE: &str = "
    mov r0, unif
    add r0, r0, unif
    ldi vw_setup, 0x1a00    # horizontal, 32 bits, row 0
    mov vpm, r0
    ldi vw_setup, 0x80904000 # one row of 16 words from row 0
    mov vw_addr, unif
    read vw_wait
    mov irq, 1
    thrend
    nop
    nop
";

fn assemble(memory: &OwnedMemory, at: u32) {
    let source = qpu::Source::new("add_and_store.qasm", ADD_AND_STORE);
    let program = qpu::assemble(&[source], &qpu::Options::default()).unwrap();
    for (i, half) in (0..).zip(program.halves()) {
        memory.view().set_word(BusAddr(at + 4 * i), half).unwrap();
    }
}

#[test]
fn a_job_of_user_programs_is_done_when_all_have_ended() {
    let memory = OwnedMemory::new(0x4000);
    assemble(&memory, 0x1000);
    let mut programs = Vec::new();
    for number in 0..3 {
        let uniforms = 0x2000 + 16 * number;
        for (i, word) in (0..).zip([100 * (number + 1), number, 0x3000 + 64 * number]) {
            memory.view().set_word(BusAddr(uniforms + 4 * i), word).unwrap();
        }
        programs.push(UserProgram { pc: 0x1000, uniforms, uniforms_length: 3 });
    }
    let job: Job = serde_json::from_str(r#"{ "mem": "", "arena_size": 16384, "host_interrupts": 3 }"#).unwrap();
    let job = Job { user_programs: programs, ..job };
    let mut device = V3d::new(Config::default());
    assert_eq!(run_job(&mut device, memory.view(), &job), End::Done);
    assert_eq!(device.take_faults(), []);
    for number in 0..3 {
        for element in 0..16 {
            let at = BusAddr(0x3000 + 64 * number + 4 * element);
            assert_eq!(memory.view().word(at), Ok(100 * (number + 1) + number));
        }
    }
    // Interrupts that do not come leave the job unfinished.
    let more = Job { host_interrupts: Some(13), ..job };
    assert!(matches!(run_job(&mut V3d::new(Config::default()), memory.view(), &more), End::Stuck(_)));
}

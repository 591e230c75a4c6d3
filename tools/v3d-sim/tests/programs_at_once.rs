//! User programs on several host threads do what they do one after another, whatever they have in common.

use std::thread;
use v3d_hw::BusAddr;
use v3d_sim::device::beside::Work;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::random::Random;
use v3d_sim::{Config, Register, V3d};

/// Each program has the uniforms `count`, `from`, `to` and `value`, and is at its index times 0x400.
const PROGRAMS: [&str; 9] = [
    // Maps lines: loads words, adds a value, stores them through row `qpu_num`.
    "
    mov ra0, unif
    mov r0, unif
    shl r1, elem_num, 2
    add ra1, r0, r1
    mov ra2, unif
    mov ra3, unif
    mov r2, qpu_num
    ldi r0, 0x1a00
    add rb0, r0, r2
    shl r1, r2, 7
    ldi r0, 0x80904000
    add rb1, r0, r1
:line
    mov t0s, ra1
    mov vw_setup, rb0
    mov r1, 8
    shl r1, r1, 3
    nop
    add ra1, ra1, r1
    nop; ldtmu0
    add vpm, r4, ra3
    mov vw_setup, rb1
    mov vw_addr, ra2
    read vw_wait
    add ra2, ra2, r1
    sub.setf ra0, ra0, 1
    brr.anynz -, :line
    nop
    nop
    nop
",
    // Counts, and stores nothing.
    "
    mov r0, unif
    spin 12
",
    "
    srel -, 3
    mov r0, unif
    srel -, 4
",
    "
    mov r0, unif
    sacq -, 3
    mov r1, unif
    ldi vw_setup, 0x1a05
    mov vpm, unif
    ldi vw_setup, 0x80904280
    mov vw_addr, r1
    read vw_wait
",
    // Adds to a row of the VPM, which each program of this kind leaves to the next.
    "
    mov r0, unif
    mov r0, unif
    ldi vr_setup, 0x101a05
    nop
    nop
    nop
    mov r2, vpm
    ldi vw_setup, 0x1a05
    add vpm, r2, 1
    ldi vw_setup, 0x80904280
    mov vw_addr, unif
    read vw_wait
",
    // Adds to a word under the mutex.
    "
    mov r0, unif
    mov ra0, unif
    mov r1, unif
    read mutex
    mov r3, unif
    ldi vr_setup, 0x80011000
    mov vr_addr, ra0
    read vr_wait
    ldi vr_setup, 0x101a00
    nop
    nop
    nop
    add r2, vpm, r3
    ldi vw_setup, 0x1a00
    mov vpm, r2
    ldi vw_setup, 0x80814000
    mov vw_addr, ra0
    read vw_wait
    mov mutex, 0
",
    // Stores with the set-up that the last program has left.
    "
    mov r0, unif
    mov r0, unif
    mov vw_addr, unif
    read vw_wait
    mov irq, 1
",
    // Writes columns, in bytes, and stores them as rows.
    "
    mov ra0, unif
    mov r0, unif
    mov ra1, unif
    mov r2, unif
    ldi vw_setup, 0x10100
    mov vpm, r2
    add vpm, r2, 3
    add vpm, r2, 7
    mov vpm, elem_num
    ldi vw_setup, 0x80104000
    mov vw_addr, ra1
    read vw_wait
",
    // All programs meet at a barrier, and each goes on for some time.
    "
    srel -, 8
    mov r0, unif
    sacq -, 9
    spin 13
    mov r0, unif
    mov r1, unif
    ldi vw_setup, 0x1a07
    add vpm, elem_num, unif
    ldi vw_setup, 0x80904380
    mov vw_addr, r1
    read vw_wait
",
];
/// Ends the wait of four programs of the last kind.
const RELEASE: &str = "
    mov r0, unif
    .rep i, 4
    srel -, 9
    .endr
    spin 13
";
/// What all of them begin with.
const MACROS: &str = "
.include <vc4.qinc>

# Loops 2^bits times as often as r0 says. Clobbers: ra0.
.macro spin, bits
    shl ra0, r0, bits
    nop
:1
    sub.setf ra0, ra0, 1
    brr.anynz -, r:1
    nop
    nop
    nop
.endm
";
const CODE_BYTES: u32 = 0x400;
const UNIFORMS: u32 = 0x4000;
const DATA: u32 = 0x5000;
const MEMORY_BYTES: u32 = 0x8000;

/// A machine after power-on, with the programs and some data.
fn machine(parallel: bool) -> (OwnedMemory, V3d) {
    let memory = OwnedMemory::new(MEMORY_BYTES as usize);
    for (number, source) in (0..).zip(PROGRAMS.into_iter().chain([RELEASE])) {
        let text = format!("{MACROS}\n{source}\n    thrend\n    nop\n    nop\n");
        let program = qpu::assemble(&[qpu::Source::new("program", &text)], &qpu::Options::default());
        let program = program.unwrap_or_else(|problems| panic!("program {number}: {:?}", problems.list));
        for (half, n) in program.halves().zip(0..) {
            memory.view().set_word(BusAddr(CODE_BYTES * number + 4 * n), half).unwrap();
        }
    }
    for at in (DATA..MEMORY_BYTES).step_by(4) {
        memory.view().set_word(BusAddr(at), at.wrapping_mul(0x9e37_79b9) >> 7).unwrap();
    }
    let mut device = V3d::new(Config { parallel, instruction_budget: 1 << 19, ..Config::default() });
    device.write(&memory.view(), Register::VPMBASE.offset(), 16);
    (memory, device)
}

/// Requests of random programs with random uniforms, which are written to memory.
fn requests(random: &mut Random, memory: &OwnedMemory) -> Vec<(Register, u32)> {
    let mut writes = Vec::new();
    let count = 1 + random.below(20);
    // In most cases all are of one or two kinds, and access lines of their own.
    let kinds = [random.below(10), random.below(10)];
    let apart = random.below(4) != 0;
    for number in 0..count {
        let kind = if random.below(8) == 0 { random.below(10) } else { kinds[random.below(2) as usize] };
        let uniforms = UNIFORMS + 64 * number;
        let lines = 1 + random.below(6);
        let mut line = |spread: u32| match apart {
            true => DATA + 64 * (6 * number + random.below(1)),
            false => DATA + 64 * random.below(spread),
        };
        let (from, to) = (line(100), line(100));
        // Now and then a program stores to another's uniforms or code, or beyond memory.
        let to = match random.below(60) {
            0 => UNIFORMS + 64 * random.below(20),
            1 => CODE_BYTES * random.below(10) + 0x40,
            2 => MEMORY_BYTES - 32,
            _ => to,
        };
        for (n, word) in (0..).zip([lines, from, to, number]) {
            memory.view().set_word(BusAddr(uniforms + 4 * n), word).unwrap();
        }
        let length = if random.below(30) == 0 { 2 } else { 1024 };
        writes.extend([(Register::SRQUL, length), (Register::SRQUA, uniforms)]);
        writes.push((Register::SRQPC, CODE_BYTES * kind));
    }
    writes
}

/// Everything that can be seen of a machine.
fn state(memory: &OwnedMemory, device: &mut V3d) -> (Vec<u8>, Vec<u32>, String) {
    let registers = [Register::SRQCS, Register::SRQUA, Register::SRQUL, Register::DBQITC, Register::ERRSTAT];
    let registers = registers.map(|register| device.read(&memory.view(), register.offset()));
    let stalls = device.stalls(&memory.view());
    let seen = format!("{:?}\n{stalls:?}\n{:?}", device.take_faults(), device.counters());
    (memory.to_bytes(), registers.to_vec(), seen)
}

/// Does the same on two machines, several times, and compares their states.
fn check(seed: u64, cases: u64, write_other: impl Fn(&OwnedMemory, &mut V3d, &[(Register, u32)])) {
    for case in 0..cases {
        let mut random = Random::new(seed, case);
        let (memory, mut device) = machine(false);
        let (other_memory, mut other) = machine(true);
        for round in 0..3 {
            let mut copy = random.clone();
            let writes = requests(&mut random, &memory);
            requests(&mut copy, &other_memory);
            for &(register, value) in &writes {
                device.write(&memory.view(), register.offset(), value);
            }
            write_other(&other_memory, &mut other, &writes);
            let (expected, found) = (state(&memory, &mut device), state(&other_memory, &mut other));
            assert!(found == expected, "case {case}, round {round}: {writes:x?}\n{:#?}\n{:#?}", found.2, expected.2);
        }
    }
}

#[test]
fn programs_that_are_requested_together_do_what_they_do_one_after_another() {
    check(1, 400, |memory, device, writes| device.write_all(&memory.view(), writes));
}

/// Requests come while earlier ones are executed.
#[test]
fn programs_that_are_requested_beside_others_do_what_they_do_one_after_another() {
    check(2, 200, |memory, device, writes| {
        thread::scope(|scope| {
            let run = |mut work: Work| {
                scope.spawn(move || {
                    work.run(&memory.view());
                    work
                })
            };
            let mut running = None;
            for &(register, value) in writes {
                if let Some(work) = device.post(&memory.view(), register.offset(), value) {
                    running = Some(run(work));
                }
            }
            while let Some(work) = running.take() {
                running = device.finish(&memory.view(), work.join().unwrap()).map(run);
            }
        });
    });
}

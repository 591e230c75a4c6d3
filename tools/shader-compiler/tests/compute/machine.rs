//! Compute programs on the QPUs of the model, with buffers that a test gives.

use shader_compiler::interface::{Stage, TRANSFER_ROWS, Workgroups};
use shader_compiler::ssa::{Share, StreamWord};
use shader_compiler::{Compiled, Options, compile};
use v3d_hw::BusAddr;
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::CodeCache;
use v3d_sim::qpu::qps::{Environment, Qps};

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x4_0000;
const UNIFORM_BYTES: u32 = 0x1000;
const WORKGROUP_MEMORY: u32 = 0x8_0000;
const BUFFERS: u32 = 0x10_0000;
const MEMORY: usize = 0x40_0000;
/// The words before and after each buffer, which must not change.
const FENCE: u32 = 0xfe9c_e000;
const FENCE_WORDS: u32 = 64;
const QPUS: u32 = 12;
/// Rows of the VPM that programs can address.
const ROWS: u32 = 64;
/// Instructions of a program.
const MOST: u64 = 1 << 24;

/// The results of a run.
pub(crate) struct Run {
    /// The buffers afterwards.
    pub(crate) buffers: Vec<Vec<u32>>,
    /// Instructions of all QPUs together.
    pub(crate) instructions: u64,
}

/// The compute program of a source.
pub(crate) fn program(source: &str) -> Compiled {
    let programs = compile(source, "test.wgsl", &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    programs.into_iter().find(|program| program.stage == Stage::Compute).unwrap()
}

/// A program as text.
pub(crate) fn text(program: &Compiled) -> String {
    format!("{}\n{}", program.ssa, qpu::disassemble(&program.words, qpu::disassembler::Style { offsets: true }))
}

/// The workgroup, part and number of iterations of each program.
fn shares(program: &Compiled, groups: [u32; 3]) -> Vec<(u32, u32, u32)> {
    let all = groups.iter().product::<u32>();
    let parts = program.interface.workgroups.parts;
    if program.interface.workgroups.together {
        return (0..parts).map(|part| (0, part, all)).collect();
    }
    let iterations = all * parts;
    let programs = iterations.min(QPUS).min(ROWS / own_rows(program));
    (0..programs)
        .map(|number| {
            let (first, end) = (number * iterations / programs, (number + 1) * iterations / programs);
            (first / parts, first % parts, end - first)
        })
        .collect()
}

/// Rows of the VPM of each program: four for DMA, and those of its workgroup, unless that is several programs together.
fn own_rows(program: &Compiled) -> u32 {
    let Workgroups { together, vpm_rows, .. } = program.interface.workgroups;
    TRANSFER_ROWS + if together { 0 } else { vpm_rows }
}

/// Runs a program; fields are the words of the uniforms' fields.
pub(crate) fn run(program: &Compiled, groups: [u32; 3], fields: &[Vec<u32>], buffers: &[Vec<u32>]) -> Run {
    let memory = OwnedMemory::new(MEMORY);
    let view = memory.view();
    let set = |at: u32, word: u32| view.set_word(BusAddr(at), word).unwrap();
    for (at, word) in (0..).zip(program.words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])) {
        set(CODE + 4 * at, word);
    }
    let mut addresses = Vec::new();
    let mut next = BUFFERS;
    for buffer in buffers {
        (0..FENCE_WORDS).for_each(|at| set(next + 4 * at, FENCE + at));
        next += 4 * FENCE_WORDS;
        addresses.push(next);
        (0..).zip(buffer).for_each(|(at, word)| set(next + 4 * at, *word));
        next += 4 * buffer.len() as u32;
        (0..FENCE_WORDS).for_each(|at| set(next + 4 * at, FENCE + at));
        next = (next + 4 * FENCE_WORDS).next_multiple_of(64);
    }
    let mut programs = Qps::new(QPUS as u8, 12);
    programs.reserve_vpm(16);
    let interface = &program.interface;
    let memory_bytes = interface.workgroups.memory_bytes;
    for (number, (group, part, iterations)) in (0..).zip(shares(program, groups)) {
        let stream = UNIFORMS + UNIFORM_BYTES * number;
        assert!(4 * interface.stream.len() < UNIFORM_BYTES as usize);
        for (at, &word) in (0..).zip(&interface.stream) {
            let word = match word {
                StreamWord::Field { field, index } => fields[field as usize][index as usize],
                StreamWord::Constant(bits) => bits,
                StreamWord::Buffer { buffer, offset } => addresses[buffer as usize] + offset,
                StreamWord::Length(buffer) => {
                    let given = &interface.buffers[buffer as usize];
                    (4 * buffers[buffer as usize].len() as u32 - given.fixed_bytes) / given.stride_bytes
                }
                StreamWord::WorkgroupMemory(offset) => {
                    let own = if interface.workgroups.together { 0 } else { number };
                    WORKGROUP_MEMORY + own * memory_bytes + offset
                }
                StreamWord::VpmMemory(offset) => {
                    let Workgroups { together, parts, .. } = interface.workgroups;
                    let row = if together { TRANSFER_ROWS * parts } else { own_rows(program) * number + TRANSFER_ROWS };
                    64 * row + offset
                }
                StreamWord::OwnAddress(number) => stream + 4 * number,
                StreamWord::Share(share) => match share {
                    Share::First(0) => group % groups[0],
                    Share::First(1) => group / groups[0] % groups[1],
                    Share::First(_) => group / groups[0] / groups[1],
                    Share::Part => part,
                    Share::Iterations => iterations,
                    Share::Row => own_rows(program) * number,
                    Share::Count(axis) => groups[usize::from(axis)],
                    Share::Stream => stream + 24,
                },
                other => panic!("{other:?} is no word of a compute program"),
            };
            set(stream + 4 * at, word);
        }
        programs.set_length(1024);
        programs.set_uniforms(BusAddr(stream));
        programs.request(BusAddr(CODE));
    }
    let (mut faults, mut counters) = (FaultLog::default(), Counters::default());
    let (code, supervision) = (&CodeCache::new(), &Supervision::default());
    let environment = Environment { memory: view, code, budget: MOST, supervision };
    programs.run(&environment, &mut faults, &mut counters);
    let shown = || text(program);
    assert!(!programs.is_waiting(), "{:?}\n{}", programs.stalls(view), shown());
    assert_eq!(faults.faults(), [], "{}", shown());
    assert_eq!(programs.shared.semaphores, [0; 16], "semaphores are as they were");
    assert_eq!(programs.shared.mutex, None);
    let get = |at: u32| view.word(BusAddr(at)).unwrap();
    let mut after = Vec::new();
    for (&address, buffer) in addresses.iter().zip(buffers) {
        let end = address + 4 * buffer.len() as u32;
        for at in 0..FENCE_WORDS {
            assert_eq!(get(address - 4 * FENCE_WORDS + 4 * at), FENCE + at, "before a buffer\n{}", shown());
            assert_eq!(get(end + 4 * at), FENCE + at, "behind a buffer\n{}", shown());
        }
        after.push((address..end).step_by(4).map(get).collect());
    }
    let instructions = counters.programs().map(|(_, events)| events.instructions).sum();
    Run { buffers: after, instructions }
}

/// Floats as words.
pub(crate) fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

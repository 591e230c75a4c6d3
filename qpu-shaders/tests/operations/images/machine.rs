//! Runs an image operation in the model: inputs in registers, an image in memory, results from registers.

use v3d_hw::BusAddr;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::isa::registers::{FILE_A, RegisterIndex};
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::qps::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu};
use v3d_sim::timing::trace::Invocation;
use v3d_sim::timing::{self, TimingModel};

use crate::case::uses_of_alus;
use crate::effects::Effects;
use crate::machine;
use crate::table::Cost;

/// A value for each of the 16 elements.
pub(super) type Elements = [u32; 16];

/// Size of memory in bytes; images are in its first half.
pub(super) const MEMORY_BYTES: usize = 1 << 18;
const CODE: u32 = 0x3_0000;
const UNIFORMS: u32 = 0x3_8000;
const INPUTS: u32 = 0x3_9000;

/// An assembled operation.
pub(super) struct Operation {
    name: String,
    words: Vec<u64>,
    /// The same program without the operation, but with the instructions before it.
    without: Vec<u64>,
    /// Registers of file A that are its inputs.
    inputs: Vec<u8>,
    effects: Effects,
}

/// The results of a run.
pub(super) struct Outcome {
    /// Registers ra16 to ra19.
    pub(super) out: [Elements; 4],
    /// Instructions that were executed.
    instructions: u64,
    /// Cycles, estimated by the model's clock.
    cycles: u64,
}

impl Operation {
    /// Assembles macro calls in a loop, after instructions that load registers of file A from memory. The instructions `before` them in the loop are not
    /// counted.
    pub(super) fn new(name: &str, inputs: &[u8], definitions: &str, before: &str, calls: &str) -> Self {
        let mut includes = ".include <vc4.qinc>\n".to_owned();
        for file in ["image", "image_lod", "image_sample", "image_memory", "image_atomic"] {
            includes += &format!(".include \"operations/{file}.qinc\"\n");
        }
        includes += definitions;
        let assembly = |calls: &str| {
            let text = format!("{includes}\n{}", program(inputs, before, calls));
            machine::assemble(name, &text).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let with = assembly(calls);
        let mut findings = qpu::check::check_assembly(&with);
        // The checker expects one result per lookup; textures of type RGBA64 have two, and calls that load the second one have a load of their own.
        let has_two_results = calls.contains("image_unpack_halves") || calls.contains("ldtmu0");
        findings.list.retain(|finding| !(has_two_results && finding.code == qpu::Code::TmuWithoutRequest));
        assert_eq!(findings.count(), (0, 0), "{name}: {findings}");
        let effects = Effects::of(name, &includes, calls).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (words, without) = (with.words, assembly("").words);
        Self { name: name.to_owned(), words, without, inputs: inputs.to_vec(), effects }
    }

    /// Runs it once. The run must end without a fault.
    pub(super) fn run(&self, memory: &OwnedMemory, inputs: &[Elements], uniforms: &[u32]) -> Outcome {
        self.repeat(&self.words, 1, memory, inputs, uniforms)
    }

    /// Runs one of the programs several times, with the same uniforms each time.
    fn repeat(
        &self,
        words: &[u64],
        times: u32,
        memory: &OwnedMemory,
        inputs: &[Elements],
        uniforms: &[u32],
    ) -> Outcome {
        let name = &self.name;
        assert_eq!(self.inputs.len(), inputs.len(), "{name}");
        let view = memory.view();
        let store = |at: u32, word: u32| view.set_word(BusAddr(at), word).unwrap();
        for (n, word) in (0..).zip(words) {
            store(CODE + 8 * n, *word as u32);
            store(CODE + 8 * n + 4, (word >> 32) as u32);
        }
        let mut stream = vec![times];
        for (n, elements) in (0..).zip(inputs) {
            let at = INPUTS + 64 * n;
            stream.push(at);
            (0..).zip(elements).for_each(|(element, &value)| store(at + 4 * element, value));
        }
        stream.extend(uniforms.repeat(times as usize));
        (0..).zip(&stream).for_each(|(n, &word)| store(UNIFORMS + 4 * n, word));
        let mut shared = Shared::new(12);
        shared.vpm.set_window(64);
        let (mut setup, mut qpu) = (Setup::default(), Qpu::new());
        qpu.start(&Launch {
            pc: BusAddr(CODE),
            uniforms: BusAddr(UNIFORMS),
            uniforms_limit: Some(stream.len() as u32),
            record: Some(Invocation::UserProgram { qpu: 0 }),
            ..Launch::default()
        });
        let mut io = UserIo { qpu: 0, shared: &mut shared, setup: &mut setup };
        let exit = qpu.run(&mut io, view, &CodeCache::new(), &mut 100_000);
        let faults = qpu.take_faults();
        assert_eq!((exit, faults.faults()), (Exit::Ended, &[][..]), "{name}");
        let mut timing_model = TimingModel::new(timing::Machine::default());
        qpu.counters.take_traces().into_iter().for_each(|trace| timing_model.submit(trace));
        let out = std::array::from_fn(|n| {
            let Lanes(elements) = *qpu.registers().at(FILE_A + 16 + n as RegisterIndex);
            elements
        });
        Outcome { out, instructions: qpu.executed(), cycles: timing_model.take_estimate().elapsed }
    }

    /// The cost of one use: the additional cost of later iterations of a loop, without the loop itself. The first ones wait for the instruction cache.
    pub(super) fn cost(&self, memory: &OwnedMemory, inputs: &[Elements], uniforms: &[u32]) -> Cost {
        const FEW: u32 = 2;
        const MANY: u32 = 6;
        let added = |words: &[u64], count: fn(&Outcome) -> u64| {
            let [few, many] = [FEW, MANY].map(|times| count(&self.repeat(words, times, memory, inputs, uniforms)));
            many - few
        };
        let each = |count: fn(&Outcome) -> u64| {
            let (with, without) = (added(&self.words, count), added(&self.without, count));
            with.saturating_sub(without).div_ceil(u64::from(MANY - FEW))
        };
        let ((add, mul), (no_add, no_mul)) = (uses_of_alus(&self.words), uses_of_alus(&self.without));
        Cost {
            instructions: each(|outcome| outcome.instructions),
            cycles: each(|outcome| outcome.cycles),
            bound: 4 * (add - no_add).max(mul - no_mul),
            effects: self.effects,
        }
    }
}

/// The loop around the calls.
fn program(inputs: &[u8], before: &str, calls: &str) -> String {
    let mut text = "    mov ra31, unif\n".to_owned();
    for input in inputs {
        text += "    shl r0, elem_num, 2\n    add r0, r0, unif\n    mov t0s, r0\n    ldtmu0\n";
        text += &format!("    mov ra{input}, r4\n");
    }
    text += &format!("    nop\n:again\n{before}\n{calls}\n    mov r0, ra31\n    sub.setf ra31, r0, 1\n");
    text + "    brr.anynz -, r:again\n    nop\n    nop\n    nop\n    thrend\n    nop\n    nop\n"
}

/// The bits of floats.
pub(super) fn bits(values: [f32; 16]) -> Elements {
    values.map(f32::to_bits)
}

/// The floats of bits.
pub(super) fn floats(elements: Elements) -> [f32; 16] {
    elements.map(f32::from_bits)
}

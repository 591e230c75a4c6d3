//! Dumps of programs, and of the uniforms that they read.
//!
//! A program is shown up to the delay slots of its end. The uniforms are those of a run without branches; a program that branches may read others, or
//! fewer.

use super::{Dump, ProgramUses, named};
use crate::qpu::block;
use qpu_text::Text;
use v3d_hw::qpu::accesses::{Accesses, Read, Write};
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{INSTRUCTION_BYTES, Instruction, THREAD_DELAY_SLOTS};
use v3d_hw::texture::{CubeMapStride, Parameter0, Parameter1};
use v3d_hw::{BusAddr, Layout};

/// Maximum number of instructions of a program that are shown.
const SHOWN_INSTRUCTIONS: u32 = 8192;

/// The reader of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// An operand of the instruction at this address.
    Operand(BusAddr),
    /// Texture parameter of a TMU, by the instruction at this address.
    Parameter { at: BusAddr, unit: u8, number: u32 },
}

/// The instructions of a program, each with its address and word.
pub(crate) fn instructions(
    memory: crate::memory::Memory<'_>,
    start: BusAddr,
) -> impl Iterator<Item = (BusAddr, u64, Instruction)> {
    let mut left = SHOWN_INSTRUCTIONS;
    let mut at = start;
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let word = block::fetch(memory, at).ok()?;
        let instruction = Instruction::decode(word);
        if instruction.signal().ends_program() {
            left = left.min(THREAD_DELAY_SLOTS);
        }
        let shown = (at, word, instruction);
        at = at + INSTRUCTION_BYTES;
        Some(shown)
    })
}

/// The peripherals that an instruction reads and writes, which register numbers alone do not show.
fn shown(accesses: &Accesses) -> String {
    let mut shown = Vec::new();
    for Read { source, .. } in accesses.read() {
        if !matches!(source, ReadSource::Register(_)) {
            shown.push(format!("reads {source:?}"));
        }
    }
    for Write { target, .. } in &accesses.writes {
        match target {
            WriteTarget::Register(_) | WriteTarget::Accumulator(_) | WriteTarget::Nop => {}
            WriteTarget::Tmu { unit, coordinate } => shown.push(format!("writes {coordinate:?} of TMU {unit}")),
            target => shown.push(format!("writes {target:?}")),
        }
    }
    shown.join(", ")
}

/// Adds the readers of uniforms in an instruction to `readers`; `tmu_writes` counts the writes of the lookups in preparation.
fn add_readers(at: BusAddr, accesses: &Accesses, tmu_writes: &mut [u32; 2], readers: &mut Vec<Reader>) {
    if accesses.reads(ReadSource::Uniform) {
        readers.push(Reader::Operand(at));
    }
    for write in &accesses.writes {
        let WriteTarget::Tmu { unit, coordinate } = write.target else { continue };
        let Some(count) = tmu_writes.get_mut(usize::from(unit)) else { continue };
        let last = coordinate == TmuCoordinate::S;
        if !last || *count > 0 {
            readers.push(Reader::Parameter { at, unit, number: *count });
        }
        *count = if last { 0 } else { *count + 1 };
    }
}

impl Dump<'_> {
    pub(super) fn program(&mut self, start: BusAddr, uses: &ProgramUses) {
        let kinds: Vec<_> = uses.uses.iter().map(|(kind, _)| *kind).collect();
        let mut kinds = kinds;
        kinds.dedup();
        let name = named(self.names.program(start));
        self.title(format_args!("{} at {start}{name}", kinds.join(", ")));
        let memory = self.memory;
        let (mut readers, mut tmu_writes) = (Vec::new(), [0; 2]);
        let mut last = None;
        for (at, word, instruction) in instructions(memory, start) {
            let line = self.names.line(at);
            if let Some(line) = line.filter(|_| line != last) {
                self.line(format_args!("                {line}"));
            }
            last = line;
            let (text, accesses) = (Text(word), instruction.accesses());
            let shown = shown(&accesses);
            if shown.is_empty() {
                self.line(format_args!("{at}  {word:016x}  {text}"));
            } else {
                self.line(format_args!("{at}  {word:016x}  {text:44} # {shown}"));
            }
            add_readers(at, &accesses, &mut tmu_writes, &mut readers);
        }
        for &(kind, uniforms) in &uses.uses {
            self.uniforms(kind, (start, BusAddr(uniforms)), &readers);
        }
    }

    fn uniforms(&mut self, kind: &str, (code, start): (BusAddr, BusAddr), readers: &[Reader]) {
        if readers.is_empty() {
            return;
        }
        self.title(format_args!("uniforms at {start} for the {kind} above"));
        for (number, reader) in readers.iter().enumerate() {
            let at = start + 4 * number as u32;
            let word = match self.memory.word(at) {
                Ok(word) => word,
                Err(error) => {
                    self.line(format_args!("{at}  {error}"));
                    return;
                }
            };
            let name = named(self.names.uniform(code, number as u32));
            match *reader {
                Reader::Operand(by) => {
                    self.line(format_args!("{at}  {word:#010x} {:<14?} read at {by}{name}", f32::from_bits(word)));
                }
                Reader::Parameter { at: by, unit, number } => {
                    self.line(format_args!("{at}  {word:#010x} TMU {unit}, parameter {number}, taken at {by}{name}"));
                    let fields = match number {
                        0 => Parameter0::FIELDS,
                        1 => Parameter1::FIELDS,
                        _ => CubeMapStride::FIELDS,
                    };
                    self.fields(fields, u128::from(word));
                }
            }
        }
    }
}

//! Pass `link`: adds prologue, epilogue and routines to a compute program.
//!
//! A compute program executes one iteration for each 16 invocations of its share, as a loop around the whole program: the stream of uniforms is reread in
//! each iteration.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;

use naga::Span;
use qpu::{Assembly, Source};
use v3d_hw::qpu::{BranchCondition, Instruction, ReadSource, address_map};

use crate::diagnostic::{Result, fault};
use crate::encode::{Line, branch};
use crate::routine::{LINK, Routine};
use crate::ssa::{Share, StreamWord};

/// Adds prologue, epilogue and routines to a program, and resolves its calls. `parts` is the number of iterations of a workgroup.
pub(crate) fn link(
    program: Vec<Line>,
    calls: &[(usize, usize)],
    routines: &[Routine],
    parts: u32,
) -> Result<Vec<Line>> {
    let mut begin =
        [Share::First(0), Share::First(1), Share::First(2), Share::Part, Share::Iterations, Share::Row].into_iter();
    let mut end = [Share::Count(0), Share::Count(1), Share::Stream].into_iter();
    let mut lines = lines("prologue.qasm", include_str!("routine/prologue.qasm"), &[], &mut begin)?;
    let iteration = lines.len();
    lines.extend(program);
    let text = include_str!("routine/epilogue.qasm");
    lines.extend(self::lines("epilogue.qasm", text, &[("parts", parts)], &mut end)?);
    // The program's end has three instructions; before it is the branch to the next iteration, with three delay slots.
    let again = lines.len().saturating_sub(7);
    set(&mut lines, again, branch(again, iteration, BranchCondition::AnyZClear, address_map::NOP));
    let mut starts = Vec::new();
    for routine in routines {
        starts.push(lines.len());
        let (name, text, defines) = routine.source();
        lines.extend(self::lines(name, text, &defines, &mut core::iter::empty())?);
    }
    for &(at, routine) in calls {
        let at = iteration + at;
        let target = starts.get(routine).copied().unwrap_or(at);
        set(&mut lines, at, branch(at, target, BranchCondition::Always, LINK));
    }
    Ok(lines)
}

fn set(lines: &mut [Line], at: usize, instruction: Instruction) {
    if let Some(line) = lines.get_mut(at) {
        line.instruction = instruction;
    }
}

/// Assembles a text. Its reads of uniforms are these words, in order.
fn lines(
    name: &str,
    text: &str,
    defines: &[(&str, u32)],
    shares: &mut dyn Iterator<Item = Share>,
) -> Result<Vec<Line>> {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let options = qpu::Options { defines, ..qpu::Options::default() };
    let Assembly { words, .. } = match qpu::assemble(&[Source::new(name, text)], &options) {
        Ok(assembly) => assembly,
        Err(diagnostics) => return fault(Span::default(), diagnostics),
    };
    let line = |word: u64| {
        let instruction = Instruction::decode(word);
        let reads = instruction.accesses().reads(ReadSource::Uniform);
        let reads = if reads { shares.next().map(StreamWord::Share) } else { None };
        Line { instruction, span: Span::default(), reads }
    };
    Ok(words.into_iter().map(line).collect())
}

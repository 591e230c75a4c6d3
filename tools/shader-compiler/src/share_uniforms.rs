//! One stream of uniforms for coordinate and vertex shader.
//!
//! A program takes its uniforms one after the other, so they are in memory in the order in which its instructions read them. If the vertex shader first reads
//! what the coordinate shader reads, in the same order, a draw writes one stream for both instead of two.

use crate::diagnostic::Result;
use crate::machine::Machine;
use crate::order::waits;
use crate::schedule::{Scheduled, orders, schedule};
use crate::ssa::StreamWord;

/// Instructions that both programs together may have more than with streams of their own. A stream of its own costs the CPU two instructions or more for each
/// word at each draw; an instruction of a vertex shader costs a QPU four cycles for 16 vertices.
const MOST_MORE: usize = 2;

/// The instructions of coordinate and vertex shader.
///
/// # Errors
/// There are not enough registers for one of them: with the line where that is so.
pub(crate) fn schedule_both(coordinate: &Machine, vertex: &Machine) -> Result<[Scheduled; 2]> {
    let apart = [schedule(coordinate)?, schedule(vertex)?];
    let mut shared: Option<[Scheduled; 2]> = None;
    let mut tried: Vec<Vec<StreamWord>> = Vec::new();
    for first in orders(coordinate).flatten().filter(|order| order.lines.len() == apart[0].lines.len()) {
        let stream = first.stream();
        if tried.contains(&stream) {
            continue;
        }
        if let Some(Ok(second)) = reading_first(vertex, &stream).map(|vertex| schedule(&vertex))
            && shared.as_ref().is_none_or(|[_, shortest]| second.lines.len() < shortest.lines.len())
        {
            shared = Some([first, second]);
        }
        tried.push(stream);
    }
    let length = |both: &[Scheduled; 2]| both.iter().map(|one| one.lines.len()).sum::<usize>();
    Ok(shared.filter(|shared| length(shared) <= length(&apart) + MOST_MORE).unwrap_or(apart))
}

/// A program that reads these words of the uniforms before all others, in this order; `None` if it has loops, or cannot.
fn reading_first(machine: &Machine, words: &[StreamWord]) -> Option<Machine> {
    let [block] = machine.blocks.as_slice() else { return None };
    let count = block.operations.len();
    let reads: Vec<Option<StreamWord>> = block.operations.iter().map(|operation| operation.uniform()).collect();
    // The reading operations that each operation depends on.
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(count);
    for waits in waits(&block.operations, machine.registers as usize) {
        let mut own = vec![false; count];
        for on in waits.iter().map(|wait| wait.on) {
            own.iter_mut().zip(&before[on]).for_each(|(own, other)| *own |= other);
            own[on] |= reads[on].is_some();
        }
        before.push(own);
    }
    let mut order: Vec<usize> = Vec::new();
    let mut has_read = vec![false; count];
    for word in words {
        let may_read = |at: usize| before[at].iter().zip(&has_read).all(|(before, has_read)| has_read | !before);
        let next = (0..count).find(|&at| !has_read[at] && reads[at] == Some(*word) && may_read(at))?;
        has_read[next] = true;
        order.push(next);
    }
    let later = (0..count).filter(|&at| reads[at].is_some() && !has_read[at]);
    let uniform_order = order
        .windows(2)
        .map(|pair| (pair[1], pair[0]))
        .chain(later.zip(order.iter().copied().last().into_iter().cycle()));
    let uniform_order = uniform_order.collect();
    let mut machine = machine.clone();
    machine.blocks[0].uniform_order = uniform_order;
    Some(machine)
}

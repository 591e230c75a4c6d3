//! Pass `share-uniforms`: one stream of uniforms for coordinate and vertex shader.
//!
//! A program reads its uniforms in sequence, so they are in memory in the order in which its instructions read them. If the vertex shader first reads the
//! uniforms of the coordinate shader, in the same order, a draw writes one stream for both instead of two.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use v3d_hw::control_list::Threading;

use crate::machine::{Block, Machine};
use crate::order::{Dependence, dependences, order};
use crate::schedule::{Effort, Scheduled, is_long, schedule_within};
use crate::ssa::StreamWord;

/// Maximum number of instructions that the vertex shader may gain by sharing. A separate stream costs the CPU at least two instructions per word and draw; an
/// instruction of a vertex shader costs a QPU four cycles for 16 vertices.
const MAX_ADDED_INSTRUCTIONS: usize = 4;

/// Replaces the schedules of coordinate and vertex shader by schedules that share a stream, if there are any.
pub(crate) fn share_uniforms(coordinate: &mut Vec<Scheduled>, machine: &Machine, vertex: &mut Vec<Scheduled>) {
    let effort = Effort::new();
    let Some(length) = vertex.first().map(Scheduled::len) else { return };
    let mut shared: Option<(usize, Scheduled)> = None;
    let mut tried: Vec<Vec<StreamWord>> = Vec::new();
    for (number, first) in coordinate.iter().enumerate().take(streams_to_try(machine)) {
        let stream = first.stream();
        let limit = shared.as_ref().map_or(length + MAX_ADDED_INSTRUCTIONS + 1, |(_, shortest)| shortest.len());
        if limit <= length {
            break;
        }
        if tried.contains(&stream) {
            continue;
        }
        if let Some(machine) = reading_first(machine, &stream)
            && let Some(second) = schedule_within(&machine, &order(&machine, false), &effort, limit)
        {
            shared = Some((number, second));
        }
        tried.push(stream);
    }
    if let Some((number, second)) = shared {
        *coordinate = vec![coordinate.swap_remove(number)];
        *vertex = vec![second];
    }
}

/// Number of streams to try, for each of which the vertex shader is scheduled anew.
fn streams_to_try(vertex: &Machine) -> usize {
    if is_long(vertex) { 1 } else { usize::MAX }
}

/// The program with these uniforms read before all others, in this order; `None` if it has loops, or if that is not possible.
fn reading_first(machine: &Machine, words: &[StreamWord]) -> Option<Machine> {
    let [block] = machine.blocks.as_slice() else { return None };
    let count = block.operations.len();
    let reads: Vec<Option<StreamWord>> = block.operations.iter().map(|operation| operation.uniform()).collect();
    // For each operation the reading operations that it depends on, as bits.
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(count);
    let graph = dependences(&block.operations, machine.registers as usize, Threading::Single);
    for list in &graph {
        let mut own = vec![0u64; count.div_ceil(64)];
        for on in list.iter().map(|edge| edge.on) {
            own.iter_mut().zip(&before[on]).for_each(|(own, other)| *own |= other);
            own[on / 64] |= u64::from(reads[on].is_some()) << (on % 64);
        }
        before.push(own);
    }
    let mut order: Vec<usize> = Vec::new();
    let mut has_read = vec![0u64; count.div_ceil(64)];
    for word in words {
        let may_read = |at: usize| before[at].iter().zip(&has_read).all(|(before, has_read)| before & !has_read == 0);
        let next = (0..count).find(|&at| reads[at] == Some(*word) && !order.contains(&at) && may_read(at))?;
        has_read[next / 64] |= 1 << (next % 64);
        order.push(next);
    }
    let later = (0..count).filter(|&at| reads[at].is_some() && !order.contains(&at));
    let last = order.last().copied();
    let pairs = order.windows(2).map(|pair| (pair[1], pair[0])).chain(later.filter_map(|at| Some((at, last?))));
    Some(in_order(machine, block, &graph, pairs.collect()))
}

/// A program of one block with additional dependences, given as pairs of the later and the earlier operation.
fn in_order(machine: &Machine, block: &Block, graph: &[Vec<Dependence>], pairs: Vec<(usize, usize)>) -> Machine {
    let count = block.operations.len();
    let mut followers = vec![Vec::new(); count];
    let mut open = vec![0usize; count];
    let depends = graph.iter().enumerate().flat_map(|(at, list)| list.iter().map(move |edge| (at, edge.on)));
    for (at, on) in depends.chain(pairs.iter().copied()) {
        followers[on].push(at);
        open[at] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..count).filter(|&at| open[at] == 0).map(Reverse).collect();
    let mut place = vec![0; count];
    let mut operations = Vec::with_capacity(count);
    while let Some(Reverse(at)) = ready.pop() {
        place[at] = operations.len();
        operations.push(block.operations[at].clone());
        for &next in &followers[at] {
            open[next] -= 1;
            if open[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    let uniform_order = pairs.into_iter().map(|(at, on)| (place[at], place[on])).collect();
    Machine { blocks: vec![Block { operations, uniform_order, ..block.clone() }], ..machine.clone() }
}

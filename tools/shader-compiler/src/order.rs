//! Pass `order`: the dependence graph of each basic block, and in which order its operations had best be issued.
//!
//! Nothing moves here. The scheduler takes the operations whose dependences are met in the order of one of three ranks, which are computed here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Write;
use hashbrown::HashSet;

use v3d_hw::control_list::Threading;
use v3d_hw::qpu::BRANCH_DELAY_SLOTS;

use crate::machine::{Block, End, Machine, Operation, Register, Target};

mod dependences;
mod lower_bound;
mod thread_phases;

pub(crate) use dependences::{Carrier, Dependence, LOOKUP_LATENCY, dependences};
pub(crate) use lower_bound::Slots;
use lower_bound::lower_bound;
pub(crate) use thread_phases::ThreadPhases;

/// Depths are not told apart from this one on: no [`Heuristic`](crate::schedule) looks further ahead than 16 cycles, and each cycle has to update them.
pub(crate) const MAX_DEPTH: usize = 20;

/// An operation that comes after another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    pub(crate) at: usize,
    /// Cycles between the two that the hardware demands.
    pub(crate) cycles: usize,
    /// Cycles after which the successor does not stall.
    pub(crate) latency: usize,
}

/// What is known of a block before anything of it is scheduled: the same for all heuristics.
#[derive(Clone, Debug)]
pub(crate) struct BlockOrder {
    pub(crate) successors: Vec<Vec<Successor>>,
    /// For each operation those that it comes after, with the cycles after which it does not stall.
    pub(crate) predecessors: Vec<Vec<(usize, usize)>>,
    /// Cycles from the block's start to each operation, at least, up to [`MAX_DEPTH`].
    pub(crate) depths: Vec<usize>,
    /// Rank by the critical path: cycles from each operation to the block's end.
    pub(crate) heights: Vec<usize>,
    /// The same if reads of the uniforms are as critical as the reads that must come after them.
    pub(crate) heights_with_uniforms: Vec<usize>,
    /// Instructions from each operation to the block's end, at least.
    pub(crate) least: Vec<usize>,
    /// Rank by register pressure: places in an order in which operands are computed right before their use, the subtree that needs most registers first.
    pub(crate) pressure_ranks: Vec<usize>,
    /// Rank by live values: places in an order that is made from the end, each time with the operation that leaves the fewest values alive before it.
    pub(crate) live_ranks: Vec<usize>,
    /// Operations with the registers that they read, by register.
    pub(crate) users: Vec<(Register, usize)>,
    /// Instructions that the block has at least, its branch among them.
    pub(crate) lower_bound: usize,
    /// For two threads: the phases between switches in which operations can be.
    pub(crate) phases: Option<ThreadPhases>,
}

/// The orders of all blocks of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ordered {
    pub(crate) single: Vec<BlockOrder>,
    /// For two threads of a QPU; `None` if the program cannot be for two.
    pub(crate) dual: Option<Vec<BlockOrder>>,
}

/// The orders of a program's blocks; for two threads only if that is asked for.
pub(crate) fn order(machine: &Machine, for_two_threads: bool) -> Ordered {
    let of = |threading| -> Option<Vec<BlockOrder>> {
        machine.blocks.iter().map(|block| BlockOrder::new(block, machine.registers as usize, threading)).collect()
    };
    let dual = for_two_threads.then(|| of(Threading::Dual)).flatten();
    Ordered { single: of(Threading::Single).unwrap_or_default(), dual }
}

impl BlockOrder {
    /// `None` if the block cannot be for two threads.
    fn new(block: &Block, registers: usize, threading: Threading) -> Option<Self> {
        let operations = block.operations.as_slice();
        let count = operations.len();
        let mut graph = dependences(operations, registers, threading);
        let natural: Vec<usize> = graph.iter().map(Vec::len).collect();
        for &(at, on) in &block.uniform_order {
            graph[at].push(Dependence { on, cycles: 1, latency: 1, carrier: Carrier::Register });
        }
        let phases = match threading {
            Threading::Single => None,
            Threading::Dual => Some(ThreadPhases::new(operations, &graph)?),
        };
        let mut successors: Vec<Vec<Successor>> = vec![Vec::new(); count];
        let mut is_natural: Vec<Vec<bool>> = vec![Vec::new(); count];
        let mut predecessors = Vec::with_capacity(count);
        let mut depths = vec![0; count];
        let mut users = Vec::new();
        for (at, list) in graph.iter().enumerate() {
            for (number, edge) in list.iter().enumerate() {
                let latency = edge.latency.max(edge.cycles);
                successors[edge.on].push(Successor { at, cycles: edge.cycles, latency });
                is_natural[edge.on].push(number < natural[at]);
                depths[at] = MAX_DEPTH.min(depths[at].max(depths[edge.on] + latency));
            }
            predecessors.push(list.iter().map(|edge| (edge.on, edge.latency.max(edge.cycles))).collect());
            users.extend(operations[at].reads().map(|register| (register, at)));
        }
        users.sort_unstable();
        users.dedup();
        let mut least = vec![0; count];
        for (at, list) in successors.iter().enumerate().rev() {
            // The copy to r0 at the end is left out if the colour is there already.
            let own = usize::from(operations[at].target != Target::Color);
            least[at] = list.iter().map(|next| least[next.at] + next.cycles).max().unwrap_or(0).max(own);
        }
        let tested = match block.end {
            End::Again(_) => operations.iter().rposition(|operation| operation.sets_flags),
            End::Falls | End::Calls(_) => None,
        };
        let heights_with_uniforms = heights(&successors, tested, |_, _| true);
        let heights = heights(&successors, tested, |at, number| is_natural[at][number]);
        let pressure_ranks = pressure_ranks(&predecessors);
        let live_ranks = live_ranks(block, &successors, &predecessors);
        let path = least.iter().copied().max().unwrap_or(0);
        let lower_bound = lower_bound(block, path, tested.map_or(0, |at| path_to(at, &graph)));
        Some(Self {
            successors,
            predecessors,
            depths,
            heights,
            heights_with_uniforms,
            least,
            pressure_ranks,
            live_ranks,
            users,
            lower_bound,
            phases,
        })
    }
}

/// Instructions of the longest chain that ends with an operation.
fn path_to(at: usize, graph: &[Vec<Dependence>]) -> usize {
    let mut paths: Vec<usize> = Vec::with_capacity(at + 1);
    for list in &graph[..=at] {
        paths.push(list.iter().map(|edge| paths[edge.on] + edge.cycles).max().unwrap_or(1).max(1));
    }
    paths[at]
}

/// The length of the longest chain of operations that begins with each, over those edges that count. A branch back follows what was tested last, and has delay
/// slots for other operations of the block.
fn heights(successors: &[Vec<Successor>], tested: Option<usize>, counts: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut heights = vec![0; successors.len()];
    for (at, list) in successors.iter().enumerate().rev() {
        // Each operation adds one to its latency, so that of two chains of the same latency the one with more operations is the longer.
        let chains = list.iter().enumerate().filter(|(number, _)| counts(at, *number));
        let chains = chains.map(|(_, next)| heights[next.at] + next.latency - usize::from(next.cycles == 0));
        let slots = if tested == Some(at) { BRANCH_DELAY_SLOTS as usize } else { 0 };
        heights[at] = 1 + chains.max().unwrap_or(0).max(slots);
    }
    heights
}

/// The place of each operation in a depth-first order of the graph, the operand whose subtree needs most registers first (Sethi and Ullman's numbering, as if
/// no value was used twice).
fn pressure_ranks(predecessors: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let mut registers = vec![0usize; predecessors.len()];
    let mut sorted: Vec<Vec<usize>> = Vec::with_capacity(predecessors.len());
    for (at, list) in predecessors.iter().enumerate() {
        let mut operands: Vec<usize> = list.iter().map(|&(on, _)| on).collect();
        operands.sort_unstable();
        operands.dedup();
        operands.sort_by_key(|&on| Reverse(registers[on]));
        registers[at] = operands.iter().enumerate().map(|(kept, &on)| registers[on] + kept).max().unwrap_or(0).max(1);
        sorted.push(operands);
    }
    let mut has_successor = vec![false; predecessors.len()];
    sorted.iter().flatten().for_each(|&on| has_successor[on] = true);
    let (mut rank, mut next) = (vec![None; predecessors.len()], 0);
    for root in (0..predecessors.len()).filter(|&at| !has_successor[at]) {
        let mut open = vec![(root, 0)];
        while let Some((at, number)) = open.pop() {
            if rank[at].is_some() {
                continue;
            }
            if let Some(&on) = sorted[at].get(number) {
                open.push((at, number + 1));
                open.push((on, 0));
            } else {
                rank[at] = Some(next);
                next += 1;
            }
        }
    }
    rank.into_iter().map(|rank| rank.unwrap_or(next)).collect()
}

/// The place of each operation in a bottom-up order. Of the operations whose successors are all placed, the one comes next that adds the fewest live values:
/// an operand that no later operation reads becomes live, and the result is no longer live.
fn live_ranks(block: &Block, successors: &[Vec<Successor>], predecessors: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let operations = block.operations.as_slice();
    let mut open: Vec<usize> = successors.iter().map(Vec::len).collect();
    let mut live: HashSet<Register> = block.kept.iter().copied().collect();
    let mut ready: Vec<usize> = (0..operations.len()).filter(|&at| open[at] == 0).collect();
    let mut ranks = vec![0; operations.len()];
    for place in (0..operations.len()).rev() {
        let added = |at: usize| {
            let mut read: Vec<Register> = operations[at].reads().filter(|register| !live.contains(register)).collect();
            read.dedup();
            read.len() as isize - operations[at].writes().map_or(0, |register| isize::from(live.contains(&register)))
        };
        // Of several the one that comes last in the source.
        let next =
            ready.iter().enumerate().min_by_key(|(_, at)| (added(**at), Reverse(**at))).map(|(number, _)| number);
        let Some(at) = next.map(|number| ready.swap_remove(number)) else { break };
        ranks[at] = place;
        if let Some(register) = operations[at].writes() {
            live.remove(&register);
        }
        live.extend(operations[at].reads());
        for &(on, _) in &predecessors[at] {
            open[on] -= 1;
            if open[on] == 0 {
                ready.push(on);
            }
        }
    }
    ranks
}

/// The graph for people: each operation with its ranks and what it comes after.
pub(crate) fn dump(machine: &Machine, ordered: &Ordered) -> String {
    let mut text = String::new();
    for (number, (block, order)) in machine.blocks.iter().zip(&ordered.single).enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "block {number}, {} instructions at least", order.lower_bound);
        for (at, operation) in block.operations.iter().enumerate() {
            let after: Vec<String> =
                order.predecessors[at].iter().map(|(on, cycles)| format!("{on}+{cycles}")).collect();
            let (height, rank) = (order.heights[at], order.pressure_ranks[at]);
            let _ = writeln!(
                text,
                "  {at:4}  {:40}  # height {height}, rank {rank}; after {}",
                Operation::to_string(operation),
                after.join(" ")
            );
        }
    }
    text
}

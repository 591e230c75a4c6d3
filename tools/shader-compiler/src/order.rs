//! Pass `order`: the dependence graph of each basic block, and priorities for its operations.
//!
//! Nothing is reordered here. The scheduler issues ready operations by one of the ranks that are computed here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::cmp::Reverse;
use core::fmt::Write;
use core::ops::Range;
use hashbrown::HashSet;

use v3d_hw::control_list::Threading;
use v3d_hw::qpu::BRANCH_DELAY_SLOTS;

use crate::bundle::kind;
use crate::machine::{Block, End, Machine, Operation, Register, Target};

mod dependences;
mod lists;
mod lower_bound;
mod thread_phases;

pub(crate) use dependences::{Carrier, Dependence, LOOKUP_LATENCY, dependences};
pub(crate) use lists::Lists;
pub(crate) use lower_bound::Slots;
use lower_bound::lower_bound;
pub(crate) use thread_phases::ThreadPhases;

/// A successor in the dependence graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    pub(crate) at: usize,
    /// Minimum distance in cycles.
    pub(crate) cycles: usize,
    /// Distance in cycles at which the successor does not stall.
    pub(crate) latency: usize,
    /// It is a dependence of the program, and not of the block's order of uniforms.
    is_natural: bool,
    /// The successor can be in the same instruction, and read the stream's element that the operation moves to a register.
    pub(crate) may_share: bool,
}

/// Properties of a block that do not depend on the schedule or the heuristic.
#[derive(Clone, Debug)]
pub(crate) struct BlockOrder {
    pub(crate) successors: Lists<Successor>,
    /// For each operation its predecessors, with the distance in cycles at which it does not stall.
    pub(crate) predecessors: Lists<(usize, usize)>,
    /// Rank by the critical path: cycles from each operation to the block's end.
    pub(crate) heights: Vec<usize>,
    /// The same with reads of uniforms as critical as the reads that must follow them.
    pub(crate) heights_with_uniforms: Vec<usize>,
    /// Lower bound of the instructions from each operation to the block's end.
    pub(crate) least: Vec<usize>,
    /// The results of [`BlockOrder::pressure_ranks`] and [`BlockOrder::live_ranks`], which few programs need.
    pressure_ranks: OnceCell<Vec<usize>>,
    live_ranks: OnceCell<Vec<usize>>,
    /// Operations with the registers that they read, sorted by register.
    pub(crate) users: Vec<(Register, usize)>,
    /// For each operation the part of `users` with the register that it writes.
    pub(crate) result_users: Vec<Range<usize>>,
    /// The [kind] of each operation.
    pub(crate) kinds: Vec<u8>,
    /// Slots of instructions that each operation takes.
    pub(crate) slots: Vec<Slots>,
    /// Lower bound of the block's instructions, including its branch.
    pub(crate) lower_bound: usize,
    /// For two threads: in which phases between switches each operation can be.
    pub(crate) phases: Option<ThreadPhases>,
}

/// The orders of all blocks of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ordered {
    pub(crate) single: Vec<BlockOrder>,
    /// For two threads of a QPU; `None` if that is not possible.
    pub(crate) dual: Option<Vec<BlockOrder>>,
}

/// Computes the orders of a program's blocks; those for two threads only on request.
pub(crate) fn order(machine: &Machine, for_two_threads: bool) -> Ordered {
    let of = |threading| -> Option<Vec<BlockOrder>> {
        machine.blocks.iter().map(|block| BlockOrder::new(block, machine.registers as usize, threading)).collect()
    };
    let dual = for_two_threads.then(|| of(Threading::Dual)).flatten();
    Ordered { single: of(Threading::Single).unwrap_or_default(), dual }
}

impl BlockOrder {
    /// `None` if the block cannot be scheduled for two threads.
    fn new(block: &Block, registers: usize, threading: Threading) -> Option<Self> {
        let operations = block.operations.as_slice();
        let count = operations.len();
        let mut graph = dependences(operations, registers, threading);
        let natural: Vec<usize> = graph.iter().map(Vec::len).collect();
        for &(at, on) in &block.uniform_order {
            graph[at].push(Dependence { on, cycles: 1, latency: 1, carrier: Carrier::Register, may_share: false });
        }
        let phases = match threading {
            Threading::Single => None,
            Threading::Dual => Some(ThreadPhases::new(operations, &graph)?),
        };
        let mut edges: Vec<(usize, Successor)> = Vec::new();
        let mut predecessors = Lists::with_capacity(count);
        let mut users = Vec::new();
        for (at, list) in graph.iter().enumerate() {
            for (number, edge) in list.iter().enumerate() {
                let latency = edge.latency.max(edge.cycles);
                let is_natural = number < natural[at];
                let &Dependence { on, cycles, may_share, .. } = edge;
                edges.push((on, Successor { at, cycles, latency, is_natural, may_share }));
            }
            predecessors.push(list.iter().map(|edge| (edge.on, edge.latency.max(edge.cycles))));
            users.extend(operations[at].reads().map(|register| (register, at)));
        }
        users.sort_unstable();
        users.dedup();
        let result_users = operations.iter().map(|operation| {
            operation.writes().map_or(0..0, |register| {
                let start = users.partition_point(|&(other, _)| other < register);
                start..start + users[start..].iter().take_while(|&&(other, _)| other == register).count()
            })
        });
        let result_users: Vec<Range<usize>> = result_users.collect();
        let successors = Lists::of_pairs(count, &edges);
        let mut least = vec![0; count];
        for (at, list) in successors.iter().enumerate().rev() {
            // The final copy to r0 is not needed if the colour is there already.
            let own = usize::from(operations[at].target != Target::Color);
            let cycles = |next: &Successor| if next.may_share { 0 } else { next.cycles };
            least[at] = list.iter().map(|next| least[next.at] + cycles(next)).max().unwrap_or(0).max(own);
        }
        let tested = match block.end {
            End::Again(_) => operations.iter().rposition(|operation| operation.sets_flags),
            End::Falls | End::Calls(_) => None,
        };
        let heights_with_uniforms = heights(&successors, tested, |_| true);
        let heights = heights(&successors, tested, |next| next.is_natural);
        let path = least.iter().copied().max().unwrap_or(0);
        let mut slots: Vec<Slots> = operations.iter().map(Slots::of).collect();
        for (at, own) in slots.iter_mut().enumerate() {
            // The only operation that uses a moved element can read it itself.
            let users = &users[result_users[at].clone()];
            let reads_itself =
                |&(_, user): &(Register, usize)| successors.of(at).iter().any(|next| next.at == user && next.may_share);
            if operations[at].moved_element().is_some() && matches!(users, [user] if reads_itself(user)) {
                own.without_move();
            }
        }
        let lower_bound = lower_bound(block.end, &slots, path, tested.map_or(0, |at| path_to(at, &graph)));
        Some(Self {
            successors,
            predecessors,
            heights,
            heights_with_uniforms,
            least,
            pressure_ranks: OnceCell::new(),
            live_ranks: OnceCell::new(),
            users,
            result_users,
            kinds: operations.iter().map(|operation| kind(operation.work) as u8).collect(),
            slots,
            lower_bound,
            phases,
        })
    }

    /// Rank by register pressure: positions in an order that computes operands right before their use, the subtree that needs most registers first.
    pub(crate) fn pressure_ranks(&self) -> &[usize] {
        self.pressure_ranks.get_or_init(|| pressure_ranks(&self.predecessors))
    }

    /// Rank by live values: positions in an order that is constructed from the end, each time choosing the operation that leaves the fewest values live
    /// before it.
    pub(crate) fn live_ranks(&self, block: &Block) -> &[usize] {
        self.live_ranks.get_or_init(|| live_ranks(block, &self.successors, &self.predecessors))
    }
}

/// Length in instructions of the longest chain that ends with an operation.
fn path_to(at: usize, graph: &[Vec<Dependence>]) -> usize {
    let mut paths: Vec<usize> = Vec::with_capacity(at + 1);
    for list in &graph[..=at] {
        paths.push(
            list.iter()
                .map(|edge| paths[edge.on] + if edge.may_share { 0 } else { edge.cycles })
                .max()
                .unwrap_or(1)
                .max(1),
        );
    }
    paths[at]
}

/// For each operation the length of the longest chain that begins with it, along edges selected by `counts`. A loop's branch follows the operation that sets
/// its flags, and has delay slots for other operations of the block.
fn heights(successors: &Lists<Successor>, tested: Option<usize>, counts: impl Fn(&Successor) -> bool) -> Vec<usize> {
    let mut heights = vec![0; successors.len()];
    for (at, list) in successors.iter().enumerate().rev() {
        // Each operation counts one more than its latency, so that of two chains with the same latency the one with more operations is longer.
        let chains = list.iter().filter(|next| counts(next));
        let chains = chains.map(|next| heights[next.at] + next.latency - usize::from(next.cycles == 0));
        let slots = if tested == Some(at) { BRANCH_DELAY_SLOTS as usize } else { 0 };
        heights[at] = 1 + chains.max().unwrap_or(0).max(slots);
    }
    heights
}

/// The position of each operation in a depth-first order of the graph, the operand whose subtree needs most registers first (Sethi-Ullman numbering, ignoring
/// that values can be used twice).
fn pressure_ranks(predecessors: &Lists<(usize, usize)>) -> Vec<usize> {
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

/// The position of each operation in a bottom-up order. Of the operations whose successors are all placed, the next one is that with the fewest additional
/// live values: an operand that no later operation reads becomes live, and the result is no longer live.
fn live_ranks(block: &Block, successors: &Lists<Successor>, predecessors: &Lists<(usize, usize)>) -> Vec<usize> {
    let operations = block.operations.as_slice();
    let mut open: Vec<usize> = successors.iter().map(<[_]>::len).collect();
    let mut live: HashSet<Register> = block.kept.iter().copied().collect();
    let mut ready: Vec<usize> = (0..operations.len()).filter(|&at| open[at] == 0).collect();
    let mut ranks = vec![0; operations.len()];
    for place in (0..operations.len()).rev() {
        let added = |at: usize| {
            let mut read: Vec<Register> = operations[at].reads().filter(|register| !live.contains(register)).collect();
            read.dedup();
            read.len() as isize - operations[at].writes().map_or(0, |register| isize::from(live.contains(&register)))
        };
        // Ties are broken in favour of the last one in the source.
        let next =
            ready.iter().enumerate().min_by_key(|(_, at)| (added(**at), Reverse(**at))).map(|(number, _)| number);
        let Some(at) = next.map(|number| ready.swap_remove(number)) else { break };
        ranks[at] = place;
        if let Some(register) = operations[at].writes() {
            live.remove(&register);
        }
        live.extend(operations[at].reads());
        for &(on, _) in predecessors.of(at) {
            open[on] -= 1;
            if open[on] == 0 {
                ready.push(on);
            }
        }
    }
    ranks
}

/// The graph as text: each operation with its ranks and predecessors.
pub(crate) fn dump(machine: &Machine, ordered: &Ordered) -> String {
    let mut text = String::new();
    for (number, (block, order)) in machine.blocks.iter().zip(&ordered.single).enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "block {number}, {} instructions at least", order.lower_bound);
        for (at, operation) in block.operations.iter().enumerate() {
            let after: Vec<String> =
                order.predecessors.of(at).iter().map(|(on, cycles)| format!("{on}+{cycles}")).collect();
            let (height, rank) = (order.heights[at], order.pressure_ranks()[at]);
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

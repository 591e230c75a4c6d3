//! The operations of a block that are not issued yet, and the first cycle in which each can be.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::cmp::Reverse;
use core::ops::Range;

use super::heuristic::{Heuristic, Rank};
use crate::machine::{Block, Operation, Register, Work};
use crate::order::{BlockOrder, Slots};

/// The depth of an operation as it was after some number of operations were issued.
#[derive(Clone, Copy, Default)]
struct KnownDepth {
    issued: usize,
    depth: usize,
    /// It is not less than `depth`, and exact if it is below this.
    horizon: usize,
}

/// The part of a block that is not issued yet.
pub(super) struct ReadyList<'p> {
    operations: &'p [Operation],
    order: &'p BlockOrder,
    heights: &'p [usize],
    /// Operations with a replaced operand.
    changed: Vec<Option<Box<Operation>>>,
    /// Registers of replaced operands, each with the operation that reads it.
    replaced: Vec<(Register, usize)>,
    issued: Vec<bool>,
    /// The operations in an order that saves registers, if they are ranked by one; and the number of those that are issued at its start.
    sequence: Option<Vec<usize>>,
    done: usize,
    /// Number of operations that are not issued.
    pub(super) left: usize,
    /// Slots that these operations use.
    slots: Slots,
    /// For each operation the number of predecessors that are not issued.
    open: Vec<usize>,
    /// For each operation the first cycle in which it can be issued, and the first in which it does not stall, given the predecessors that are issued.
    earliest: Vec<usize>,
    good: Vec<usize>,
    /// For each operation the cycle to which it was put off.
    put_off: Vec<usize>,
    /// Operations without predecessors that are not issued, by rank.
    ready: Vec<usize>,
    /// Operations that have become ready since [`ReadyList::forget_fresh`].
    fresh: Vec<usize>,
    /// Depths that were asked for.
    depths: Vec<Cell<KnownDepth>>,
    /// Operations are ranked by their height.
    is_by_height: bool,
    /// Their ranks in an order that saves registers; without one, they are ranked by their position.
    ranks: Option<&'p [usize]>,
    /// For two threads: number of operations that still need flags, r5 or TMU parameters as others have left them.
    bound: usize,
}

impl<'p> ReadyList<'p> {
    pub(super) fn new(block: &'p Block, order: &'p BlockOrder, heuristic: Heuristic) -> Self {
        let Heuristic { rank, urgent_uniforms, .. } = heuristic;
        let operations = block.operations.as_slice();
        let count = operations.len();
        let open: Vec<usize> = order.predecessors.iter().map(<[_]>::len).collect();
        let mut slots = Slots::default();
        order.slots.iter().for_each(|own| slots.add(*own));
        let ranks = match rank {
            Rank::Pressure => Some(order.pressure_ranks()),
            Rank::Live => Some(order.live_ranks(block)),
            Rank::CriticalPath | Rank::Source => None,
        };
        let mut list = Self {
            operations,
            order,
            heights: if urgent_uniforms { &order.heights_with_uniforms } else { &order.heights },
            changed: (0..count).map(|_| None).collect(),
            replaced: Vec::new(),
            issued: vec![false; count],
            sequence: ranks.map(inverse),
            done: 0,
            left: count,
            slots,
            open,
            earliest: vec![0; count],
            good: vec![0; count],
            put_off: vec![0; count],
            ready: Vec::new(),
            fresh: Vec::new(),
            depths: vec![Cell::default(); count],
            is_by_height: rank == Rank::CriticalPath,
            ranks,
            bound: 0,
        };
        let mut ready: Vec<usize> = (0..count).filter(|&at| list.open[at] == 0).collect();
        ready.sort_by_key(|&at| list.rank(at));
        list.ready = ready;
        list
    }

    /// The sort key of ready operations: lower keys are tried first.
    fn rank(&self, at: usize) -> (Reverse<usize>, usize) {
        let height = if self.is_by_height { self.heights[at] } else { 0 };
        (Reverse(height), self.ranks.map_or(at, |ranks| ranks[at]))
    }

    pub(super) fn operation(&self, at: usize) -> &Operation {
        self.changed[at].as_deref().unwrap_or(&self.operations[at])
    }

    /// The [kind](crate::bundle::kind) of an operation.
    pub(super) fn kind(&self, at: usize) -> usize {
        usize::from(self.order.kinds[at])
    }

    /// Whether an operation reads a uniform; `false` if it may do so no longer, because an operand was replaced.
    pub(super) fn reads_uniform(&self, at: usize) -> bool {
        self.order.slots[at].reads_uniform() && self.changed[at].is_none()
    }

    /// Whether an operation accesses a unit of which an instruction accesses one only.
    pub(super) fn accesses_unit(&self, at: usize) -> bool {
        self.order.slots[at].accesses_unit()
    }

    /// An operation cannot be issued before a cycle, unless it is replaced.
    pub(super) fn put_off(&mut self, at: usize, cycle: usize) {
        self.put_off[at] = cycle;
    }

    pub(super) fn is_put_off(&self, at: usize, now: usize) -> bool {
        self.put_off[at] > now
    }

    /// Number of operations of the block.
    pub(super) fn count(&self) -> usize {
        self.operations.len()
    }

    /// The first operation that is not issued, in the order that saves registers if there is one.
    pub(super) fn first(&self) -> Option<usize> {
        let at = |place: usize| self.sequence.as_ref().map_or(place, |sequence| sequence[place]);
        (self.done < self.count()).then(|| at(self.done))
    }

    /// Operations that can be issued in this cycle, after `switched` thread switches; by rank.
    pub(super) fn candidates(&self, now: usize, switched: usize) -> impl Iterator<Item = usize> {
        self.ready.iter().copied().filter(move |&at| self.earliest[at] <= now && self.first_phase(at) <= switched)
    }

    /// Adds the operations that can be issued in this cycle to a list, by rank.
    pub(super) fn list_candidates(&self, now: usize, switched: usize, list: &mut Vec<usize>) {
        list.reserve(self.ready.len());
        for &at in &self.ready {
            if self.earliest[at] <= now && self.first_phase(at) <= switched {
                list.push(at);
            }
        }
    }

    /// Whether an operation can be issued in this cycle.
    pub(super) fn may_go(&self, at: usize, now: usize, switched: usize) -> bool {
        !self.issued[at] && self.open[at] == 0 && self.earliest[at] <= now && self.first_phase(at) <= switched
    }

    /// Whether threads are switched in this block.
    pub(super) const fn has_phases(&self) -> bool {
        self.order.phases.is_some()
    }

    pub(super) fn is_issued(&self, at: usize) -> bool {
        self.issued[at]
    }

    fn first_phase(&self, at: usize) -> usize {
        self.order.phases.as_ref().map_or(0, |phases| phases.first[at])
    }

    /// Whether an operation is expected after the next thread switch, given the number of switches so far; with `early`, if it can be.
    pub(super) fn is_behind_switch(&self, at: usize, switched: usize, early: bool) -> bool {
        let Some(phases) = &self.order.phases else { return false };
        phases.first[at] > switched || early && phases.last[at] > switched
    }

    /// Whether lookups wait for the next thread switch, given the number of switches so far, and no other lookup has to be requested before.
    pub(super) fn awaits_switch(&self, switched: usize) -> bool {
        let Some(phases) = &self.order.phases else { return false };
        let is_load = |at: usize| self.operation(at).work == Work::LoadTexture && phases.first[at] > switched;
        let may_ask = |&at: &usize| !self.issued[at] && phases.first[at] <= switched;
        self.ready.iter().any(|&at| is_load(at)) && !phases.requests.iter().any(may_ask)
    }

    /// Whether a thread switch would lose flags, r5 or parameters of a lookup.
    pub(super) fn is_bound(&self) -> bool {
        self.bound > 0
    }

    /// Whether a ready operation would stall in this cycle.
    pub(super) fn waits_at(&self, at: usize, now: usize) -> bool {
        self.good[at] > now
    }

    /// Remaining operations that read a register.
    pub(super) fn users(&self, register: Register) -> impl Iterator<Item = usize> {
        let users = &self.order.users;
        let start = users.partition_point(|&(other, _)| other < register);
        let count = users[start..].iter().take_while(|&&(other, _)| other == register).count();
        self.users_among(start..start + count, register)
    }

    /// Remaining operations that read the register that an operation writes.
    pub(super) fn users_of_result(&self, at: usize, register: Register) -> impl Iterator<Item = usize> {
        self.users_among(self.order.result_users[at].clone(), register)
    }

    fn users_among(&self, planned: Range<usize>, register: Register) -> impl Iterator<Item = usize> {
        let planned = self.order.users[planned].iter();
        let replaced = self.replaced.iter().filter(move |&&(other, _)| other == register);
        let reads = move |at: usize| match &self.changed[at] {
            None => true,
            Some(operation) => operation.reads_of(register) > 0,
        };
        planned.chain(replaced).map(|&(_, at)| at).filter(move |&at| !self.issued[at] && reads(at))
    }

    /// Lower bound of the cycles for the remaining predecessors of an operation, up to a horizon.
    pub(super) fn depth(&self, at: usize, horizon: usize) -> usize {
        if self.open[at] == 0 || horizon == 0 {
            return 0;
        }
        let issued = self.count() - self.left;
        let known = self.depths[at].get();
        if known.issued == issued && (known.depth < known.horizon || horizon <= known.depth) {
            return known.depth.min(horizon);
        }
        let mut depth = 0;
        for &(on, latency) in self.order.predecessors.of(at) {
            if self.issued[on] {
                continue;
            }
            depth = depth.max(latency + self.depth(on, horizon.saturating_sub(latency)));
            if depth >= horizon {
                depth = horizon;
                break;
            }
        }
        self.depths[at].set(KnownDepth { issued, depth, horizon });
        depth
    }

    /// Operations that wait for an operation only, to read the stream's element that it moves to a register: they can share its instruction.
    pub(super) fn sharers(&self, at: usize, now: usize, switched: usize) -> impl Iterator<Item = usize> {
        let successors = self.order.successors.of(at);
        let edges = |other: usize| successors.iter().filter(|next| next.at == other).count();
        let sharers = successors.iter().enumerate().filter(move |&(number, next)| {
            next.may_share
                && successors[..number].iter().all(|before| before.at != next.at)
                && self.changed[next.at].is_none()
                && self.open[next.at] == edges(next.at)
                && self.earliest[next.at] <= now
                && self.first_phase(next.at) <= switched
        });
        sharers.map(|(_, next)| next.at)
    }

    /// Operations that have become ready since [`ReadyList::forget_fresh`].
    pub(super) fn fresh(&self) -> &[usize] {
        &self.fresh
    }

    pub(super) fn forget_fresh(&mut self) {
        self.fresh.clear();
    }

    /// Lower bound of the instructions for the remaining operations.
    pub(super) fn least(&self) -> usize {
        self.ready.iter().map(|&at| self.order.least[at]).max().unwrap_or(0).max(self.slots.instructions())
    }

    pub(super) fn issue(&mut self, at: usize, now: usize) {
        self.issued[at] = true;
        self.left -= 1;
        while let Some(first) = self.first()
            && self.issued[first]
        {
            self.done += 1;
        }
        self.slots.remove(self.order.slots[at]);
        self.ready.retain(|&other| other != at);
        let order = self.order;
        if let Some(phases) = &order.phases {
            self.bound += phases.kept_for[at];
            self.bound -= phases.keeps[at];
        }
        for next in order.successors.of(at) {
            self.earliest[next.at] = self.earliest[next.at].max(now + next.cycles);
            self.good[next.at] = self.good[next.at].max(now + next.latency);
            self.open[next.at] -= 1;
            if self.open[next.at] == 0 {
                let rank = self.rank(next.at);
                let place = self.ready.partition_point(|&other| self.rank(other) < rank);
                self.ready.insert(place, next.at);
                self.fresh.push(next.at);
            }
        }
    }

    /// Replaces an operation by one that reads another register.
    pub(super) fn replace(&mut self, at: usize, operation: Operation, register: Register) {
        self.changed[at] = Some(Box::new(operation));
        self.put_off[at] = 0;
        self.replaced.push((register, at));
    }

    /// Undoes the last replacement; returns the replacing operation.
    pub(super) fn take_back(&mut self, at: usize, before: Operation) -> Operation {
        self.replaced.pop();
        self.put_off[at] = 0;
        let after = self.changed[at].replace(Box::new(before.clone()));
        after.map_or(before, |after| *after)
    }
}

/// For each position the operation with this rank.
fn inverse(ranks: &[usize]) -> Vec<usize> {
    let mut operations: Vec<usize> = (0..ranks.len()).collect();
    operations.sort_by_key(|&at| ranks[at]);
    operations
}

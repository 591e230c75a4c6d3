//! A block in the making: which operations are left, and when each of them may go.

use std::cmp::Reverse;

use v3d_hw::control_list::Threading;

use super::scheduler::Order;
use super::stages::Stages;
use crate::machine::{Block, Operation, Register, Target, Work};
use crate::order::{Through, Wait, waits};

/// Depths are not told apart from this one on.
const DEEP: usize = 20;

/// An operation that waits for another.
#[derive(Clone, Copy)]
struct Follower {
    at: usize,
    cycles: usize,
    better: usize,
    /// The other becomes as urgent as this one.
    is_urgent: bool,
}

/// What is known of a block before anything of it is scheduled: the same for all policies.
pub(super) struct Plan<'m> {
    pub(super) operations: &'m [Operation],
    followers: Vec<Vec<Follower>>,
    /// For each operation the others that it waits for, with cycles.
    predecessors: Vec<Vec<(usize, usize)>>,
    depths: Vec<usize>,
    /// The longest chain of operations that wait for each, the better the more it matters.
    urgency: Vec<usize>,
    /// Instructions from each operation to the block's end, at least.
    least: Vec<usize>,
    /// Places in an order in which what an operation needs comes right before it.
    late: Vec<usize>,
    /// Operations with the registers that they read, by register.
    users: Vec<(Register, usize)>,
    /// For two threads: where operations stand among the switches.
    stages: Option<Stages>,
}

impl<'m> Plan<'m> {
    /// With `urgent_uniforms`, a read of the uniforms is as urgent as those that must come after it.
    ///
    /// `None` if the block cannot be for two threads.
    pub(super) fn new(block: &'m Block, registers: usize, urgent_uniforms: bool, threading: Threading) -> Option<Self> {
        let operations = block.operations.as_slice();
        let count = operations.len();
        let mut followers = vec![Vec::new(); count];
        let mut predecessors = Vec::with_capacity(count);
        let mut depths = vec![0; count];
        let mut users = Vec::new();
        let mut waits = waits(operations, registers, threading);
        let values: Vec<usize> = waits.iter().map(Vec::len).collect();
        for &(at, on) in &block.uniform_order {
            waits[at].push(Wait { on, cycles: 1, better: 1, through: Through::Register });
        }
        let stages = match threading {
            Threading::Single => None,
            Threading::Dual => Some(Stages::new(operations, &waits)?),
        };
        for (at, list) in waits.iter().enumerate() {
            for (number, wait) in list.iter().enumerate() {
                let better = wait.better.max(wait.cycles);
                let is_urgent = urgent_uniforms || number < values[at];
                followers[wait.on].push(Follower { at, cycles: wait.cycles, better, is_urgent });
                depths[at] = DEEP.min(depths[at].max(depths[wait.on] + better));
            }
            predecessors.push(list.iter().map(|wait| (wait.on, wait.better.max(wait.cycles))).collect());
            users.extend(operations[at].reads().map(|register| (register, at)));
        }
        users.sort_unstable();
        users.dedup();
        let (mut urgency, mut least) = (vec![0; count], vec![0; count]);
        for (at, followers) in followers.iter().enumerate().rev() {
            // An operation counts beside the cycles that others wait for it: of two chains the one with more of them is longer.
            let chains = followers.iter().filter(|next: &&Follower| next.is_urgent);
            let chains = chains.map(|next| urgency[next.at] + next.better - usize::from(next.cycles == 0));
            urgency[at] = 1 + chains.max().unwrap_or(0);
            // The colour may be where it is to go already.
            let own = usize::from(operations[at].target != Target::Color);
            least[at] = followers.iter().map(|next| least[next.at] + next.cycles).max().unwrap_or(0).max(own);
        }
        let late = late_order(&predecessors);
        Some(Self { operations, followers, predecessors, depths, urgency, least, late, users, stages })
    }

    /// Instructions that the block has at least.
    pub(super) fn least(&self) -> usize {
        self.least.iter().copied().max().unwrap_or(0)
    }
}

/// The place of each operation in an order in which what it needs comes right before it, what takes most registers first.
fn late_order(predecessors: &[Vec<(usize, usize)>]) -> Vec<usize> {
    // Registers that it takes to compute each, as if nothing was used twice.
    let mut takes = vec![0usize; predecessors.len()];
    let mut sorted: Vec<Vec<usize>> = Vec::with_capacity(predecessors.len());
    for (at, list) in predecessors.iter().enumerate() {
        let mut needed: Vec<usize> = list.iter().map(|&(on, _)| on).collect();
        needed.sort_unstable();
        needed.dedup();
        needed.sort_by_key(|&on| Reverse(takes[on]));
        takes[at] = needed.iter().enumerate().map(|(kept, &on)| takes[on] + kept).max().unwrap_or(0).max(1);
        sorted.push(needed);
    }
    let mut is_needed = vec![false; predecessors.len()];
    sorted.iter().flatten().for_each(|&on| is_needed[on] = true);
    let (mut place, mut next) = (vec![None; predecessors.len()], 0);
    for end in (0..predecessors.len()).filter(|&at| !is_needed[at]) {
        let mut open = vec![(end, 0)];
        while let Some((at, number)) = open.pop() {
            if place[at].is_some() {
                continue;
            }
            if let Some(&on) = sorted[at].get(number) {
                open.push((at, number + 1));
                open.push((on, 0));
            } else {
                place[at] = Some(next);
                next += 1;
            }
        }
    }
    place.into_iter().map(|place| place.unwrap_or(next)).collect()
}

/// What is left of a block.
pub(super) struct Pending<'p> {
    plan: &'p Plan<'p>,
    /// Operations of which an operand was replaced.
    changed: Vec<Option<Box<Operation>>>,
    /// Registers of replaced operands, with the operation that reads each.
    replaced: Vec<(Register, usize)>,
    issued: Vec<bool>,
    /// Operations that are not issued.
    pub(super) left: usize,
    /// How many each operation waits for that are not issued.
    open: Vec<usize>,
    /// The first cycle in which each operation may go, and the first in which that is good, as far as what it waits for is issued.
    earliest: Vec<usize>,
    good: Vec<usize>,
    /// Operations that wait for nothing that is not issued, the first to be tried first.
    ready: Vec<usize>,
    /// For each operation the cycles that what it waits for needs at least, up to [`DEEP`].
    depths: Vec<usize>,
    order: Order,
    /// For two threads: operations that still need flags, r5 or a TMU as others have left them.
    unmovable: usize,
}

impl<'p> Pending<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, order: Order) -> Self {
        let count = plan.operations.len();
        let open: Vec<usize> = plan.predecessors.iter().map(Vec::len).collect();
        let ready = (0..count).filter(|&at| open[at] == 0).collect();
        let mut pending = Self {
            plan,
            changed: (0..count).map(|_| None).collect(),
            replaced: Vec::new(),
            issued: vec![false; count],
            left: count,
            open,
            earliest: vec![0; count],
            good: vec![0; count],
            ready,
            depths: plan.depths.clone(),
            order,
            unmovable: 0,
        };
        let mut ready = std::mem::take(&mut pending.ready);
        ready.sort_by_key(|&at| pending.rank(at));
        Self { ready, ..pending }
    }

    /// What is tried first has the lowest.
    fn rank(&self, at: usize) -> (Reverse<usize>, usize) {
        match self.order {
            Order::Urgency => (Reverse(self.plan.urgency[at]), at),
            Order::Source => (Reverse(0), at),
            Order::Late => (Reverse(0), self.plan.late[at]),
        }
    }

    pub(super) fn operation(&self, at: usize) -> &Operation {
        self.changed[at].as_deref().unwrap_or(&self.plan.operations[at])
    }

    /// How many operations the block has.
    pub(super) fn count(&self) -> usize {
        self.plan.operations.len()
    }

    /// The first operation that is not issued.
    pub(super) fn first(&self) -> Option<usize> {
        if self.order == Order::Late {
            return (0..self.count()).filter(|&at| !self.issued[at]).min_by_key(|&at| self.plan.late[at]);
        }
        self.issued.iter().position(|issued| !issued)
    }

    /// Operations for which everything that they wait for was done long enough ago, after so many switches of threads; the first to be tried first.
    pub(super) fn candidates(&self, now: usize, switched: usize) -> impl Iterator<Item = usize> {
        self.ready.iter().copied().filter(move |&at| self.earliest[at] <= now && self.first_stage(at) <= switched)
    }

    /// Whether an operation may go in this cycle.
    pub(super) fn may_go(&self, at: usize, now: usize, switched: usize) -> bool {
        !self.issued[at] && self.open[at] == 0 && self.earliest[at] <= now && self.first_stage(at) <= switched
    }

    fn first_stage(&self, at: usize) -> usize {
        self.plan.stages.as_ref().map_or(0, |stages| stages.first[at])
    }

    /// Whether an operation is expected behind the next switch of threads, after so many; with `early`, if it may be.
    pub(super) fn is_behind_switch(&self, at: usize, switched: usize, early: bool) -> bool {
        let Some(stages) = &self.plan.stages else { return false };
        stages.first[at] > switched || early && stages.last[at] > switched
    }

    /// Whether lookups wait for the next switch of threads, after so many, and nothing else is to be looked up before.
    pub(super) fn awaits_switch(&self, switched: usize) -> bool {
        let Some(stages) = &self.plan.stages else { return false };
        let is_load = |at: usize| self.operation(at).work == Work::LoadTexture && stages.first[at] > switched;
        let may_ask = |&at: &usize| !self.issued[at] && stages.first[at] <= switched;
        self.ready.iter().any(|&at| is_load(at)) && !stages.requests.iter().any(may_ask)
    }

    /// Whether a switch of threads would lose flags, r5 or parameters of a lookup.
    pub(super) fn is_bound(&self) -> bool {
        self.unmovable > 0
    }

    /// Whether what a ready operation waits for takes longer than this.
    pub(super) fn waits_at(&self, at: usize, now: usize) -> bool {
        self.good[at] > now
    }

    /// Operations to come that read a register.
    pub(super) fn users(&self, register: Register) -> impl Iterator<Item = usize> {
        let users = &self.plan.users;
        let start = users.partition_point(|&(other, _)| other < register);
        let planned = users[start..].iter().take_while(move |&&(other, _)| other == register);
        let replaced = self.replaced.iter().filter(move |&&(other, _)| other == register);
        let reads = move |at: usize| match &self.changed[at] {
            None => true,
            Some(operation) => operation.reads().any(|read| read == register),
        };
        planned.chain(replaced).map(|&(_, at)| at).filter(move |&at| !self.issued[at] && reads(at))
    }

    pub(super) fn depth(&self, at: usize) -> usize {
        self.depths[at]
    }

    /// Instructions that what is left takes, at least.
    pub(super) fn least(&self) -> usize {
        self.ready.iter().map(|&at| self.plan.least[at]).max().unwrap_or(0)
    }

    pub(super) fn issue(&mut self, at: usize, now: usize) {
        self.issued[at] = true;
        self.left -= 1;
        self.ready.retain(|&other| other != at);
        let plan = self.plan;
        if let Some(stages) = &plan.stages {
            self.unmovable += stages.kept_for[at];
            self.unmovable -= stages.keeps[at];
        }
        for next in &plan.followers[at] {
            self.earliest[next.at] = self.earliest[next.at].max(now + next.cycles);
            self.good[next.at] = self.good[next.at].max(now + next.better);
            self.open[next.at] -= 1;
            if self.open[next.at] == 0 {
                let rank = self.rank(next.at);
                let place = self.ready.partition_point(|&other| self.rank(other) < rank);
                self.ready.insert(place, next.at);
            }
        }
        self.lower(at, self.depths[at]);
    }

    /// Computes depths anew of what waits for an operation that is issued, or whose depth was this before.
    fn lower(&mut self, at: usize, before: usize) {
        let plan = self.plan;
        for next in &plan.followers[at] {
            let old = self.depths[next.at];
            if DEEP.min(before + next.better) < old {
                // Another is deeper.
                continue;
            }
            let open = plan.predecessors[next.at].iter().filter(|(on, _)| !self.issued[*on]);
            let depth = open.map(|&(on, cycles)| self.depths[on] + cycles).max().unwrap_or(0).min(DEEP);
            if depth != old {
                self.depths[next.at] = depth;
                self.lower(next.at, old);
            }
        }
    }

    /// Replaces an operation by one that reads another register.
    pub(super) fn replace(&mut self, at: usize, operation: Operation, register: Register) {
        self.changed[at] = Some(Box::new(operation));
        self.replaced.push((register, at));
    }

    /// Undoes the last replacement; the operation that was there instead.
    pub(super) fn take_back(&mut self, at: usize, before: Operation) -> Operation {
        self.replaced.pop();
        let after = self.changed[at].replace(Box::new(before.clone()));
        after.map_or(before, |after| *after)
    }
}

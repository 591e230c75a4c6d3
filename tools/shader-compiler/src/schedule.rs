//! Order and registers: list scheduling for both ALUs, in which each result gets its place when it is computed.
//!
//! At each cycle the operation with the longest chain of others behind it goes first, and another that fits into the same instruction goes with it. Since
//! places are known by then, whether two operations fit is no guess. An operand that stands in the way, in the same file as another or in r4, is moved when
//! nothing better can be done. There is no memory that a register could be saved to: if none is free, that is an error.
//!
//! | file | what |
//! |---|---|
//! | `scheduler` | the cycles of a program |
//! | `pending` | which operations of a block are left, and when each may go |
//! | `places` | where results go |
//! | `obstacles` | how what stands in the way of an operation is removed |
//! | `stages` | for two threads: which operations come before which switch |
//! | `threads` | switches of threads |

use std::cell::Cell;
use std::collections::VecDeque;

use naga::Span;
use v3d_hw::control_list::Threading;

use crate::diagnostic::{Result, fault};
use crate::encode::Line;
use crate::limit::Limit;
use crate::machine::{Block, End, Machine, Work};
use crate::order::TEXTURE;
use crate::ssa::StreamWord;

mod obstacles;
mod pending;
mod places;
mod scheduler;
mod stages;
mod threads;

use pending::Plan;
use scheduler::{Order, Policy, Scheduler};

/// What is tried.
const POLICIES: [Policy; 8] = [
    Policy { order: Order::Urgency, soon: 8, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 8, uses: 2, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 8, uses: 3, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 4, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 4, uses: 2, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 16, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 16, uses: 2, early_switch: false, makes_room: false },
    Policy { order: Order::Source, soon: 8, uses: u32::MAX, early_switch: false, makes_room: false },
];

/// What is tried for two threads.
const DUAL_POLICIES: [Policy; 6] = [
    Policy { order: Order::Urgency, soon: 8, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 8, uses: u32::MAX, early_switch: true, makes_room: false },
    Policy { order: Order::Urgency, soon: 8, uses: 3, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 4, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Urgency, soon: 16, uses: u32::MAX, early_switch: false, makes_room: false },
    Policy { order: Order::Source, soon: 8, uses: u32::MAX, early_switch: true, makes_room: false },
];

/// What is tried where none of these finds enough registers.
const FRUGAL_POLICIES: [Policy; 6] = [
    Policy { order: Order::Source, soon: 8, uses: u32::MAX, early_switch: false, makes_room: true },
    Policy { order: Order::Late, soon: 8, uses: u32::MAX, early_switch: false, makes_room: true },
    Policy { order: Order::Source, soon: 4, uses: 2, early_switch: false, makes_room: true },
    Policy { order: Order::Late, soon: 4, uses: 2, early_switch: false, makes_room: true },
    Policy { order: Order::Urgency, soon: 8, uses: u32::MAX, early_switch: false, makes_room: true },
    Policy { order: Order::Urgency, soon: 4, uses: 2, early_switch: false, makes_room: true },
];

/// Operations that may still be tried in instructions, for all orders of a program.
#[derive(Debug)]
pub(crate) struct Effort(Cell<u64>);

impl Effort {
    /// What a program may take.
    pub(crate) const MOST: u64 = 1 << 24;

    pub(crate) const fn new() -> Self {
        Self(Cell::new(Self::MOST))
    }

    /// Counts attempts.
    fn spend(&self, attempts: usize) {
        self.0.set(self.0.get().saturating_sub(attempts as u64));
    }

    fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// The instructions of a machine's blocks.
pub(crate) struct Scheduled {
    pub(crate) lines: Vec<Line>,
    /// Places of calls, which are left empty, with the routine that is called; three instructions behind each are executed before it.
    pub(crate) calls: Vec<(usize, usize)>,
}

impl Scheduled {
    /// The words of the uniforms, in the order in which they are read.
    pub(crate) fn stream(&self) -> Vec<StreamWord> {
        self.lines.iter().filter_map(|line| line.reads).collect()
    }
}

/// The instructions of a program: of several orders the shortest.
///
/// # Errors
/// There are not enough registers: with the line where that is so.
pub(crate) fn schedule(machine: &Machine, effort: &Effort) -> Result<Scheduled> {
    let found = try_orders(machine, effort, Threading::Single, usize::MAX, false)?;
    found.into_iter().next().map_or_else(|| fault(Span::default(), "no schedule was tried"), Ok)
}

/// The instructions of a program in all orders that are as short as the shortest.
///
/// # Errors
/// There are not enough registers: with the line where that is so.
pub(crate) fn shortest_orders(machine: &Machine, effort: &Effort) -> Result<Vec<Scheduled>> {
    try_orders(machine, effort, Threading::Single, usize::MAX, true)
}

/// The instructions of a program, if they can be fewer than this.
pub(crate) fn schedule_within(machine: &Machine, effort: &Effort, limit: usize) -> Option<Scheduled> {
    try_orders(machine, effort, Threading::Single, limit, false).ok()?.into_iter().next()
}

/// Instructions in the time of a lookup whose texels are in memory: 9 if the TMU's cache has them, 3 more from the L2 cache, and 8 from the chip's own [vc4cl].
const LOOKUP: usize = TEXTURE + 3 + 8;

/// The instructions of a fragment program, for two threads if that takes less time than waiting for lookups as one.
///
/// # Errors
/// There are not enough registers: with the line where that is so.
pub(crate) fn schedule_fragment(machine: &Machine, effort: &Effort) -> Result<(Scheduled, Threading)> {
    // What two threads take must not be missing for one.
    let Some(dual) = schedule_threads(machine, &Effort::new()) else {
        return Ok((schedule(machine, effort)?, Threading::Single));
    };
    Ok(match schedule_within(machine, effort, dual.lines.len()) {
        Some(single) if single.lines.len() + waiting(&single.lines) < dual.lines.len() => (single, Threading::Single),
        _ => (dual, Threading::Dual),
    })
}

/// Instructions in whose time a program for one thread waits for lookups.
fn waiting(lines: &[Line]) -> usize {
    let (mut asked, mut waited) = (VecDeque::new(), 0);
    for (at, line) in lines.iter().enumerate() {
        let accesses = line.instruction.accesses();
        if accesses.written().any(|write| write.target.starts_lookup()) {
            asked.push_back(at + waited);
        }
        if accesses.signal.loads_tmu().is_some()
            && let Some(since) = asked.pop_front()
        {
            waited += (since + LOOKUP).saturating_sub(at + waited);
        }
    }
    waited
}

/// The instructions of a fragment program for two threads, of which one goes on while the other waits for a lookup.
///
/// `None` if it has no lookups, or lookups in loops, or if half of the registers are not enough.
fn schedule_threads(machine: &Machine, effort: &Effort) -> Option<Scheduled> {
    let looks_up = |block: &Block| block.operations.iter().any(|operation| operation.work == Work::LoadTexture);
    let is_repeated = |at: usize| {
        let mut later = machine.blocks[at..].iter();
        later.any(|block| matches!(block.end, End::Again(head) if head <= at))
    };
    let mut looks = machine.blocks.iter().enumerate().filter(|(_, block)| looks_up(block)).peekable();
    looks.peek()?;
    if looks.any(|(at, _)| is_repeated(at)) {
        return None;
    }
    try_orders(machine, effort, Threading::Dual, usize::MAX, false).ok()?.into_iter().next()
}

/// The shortest order below a limit, or all that are as short: those that take few registers only if no other does.
fn try_orders(
    machine: &Machine,
    effort: &Effort,
    threading: Threading,
    limit: usize,
    all: bool,
) -> Result<Vec<Scheduled>> {
    let policies = if threading == Threading::Dual { &DUAL_POLICIES[..] } else { &POLICIES };
    match try_policies(machine, effort, threading, limit, all, policies) {
        Err(refusal) if refusal.is_for(&Limit::REGISTERS) && threading == Threading::Single => {
            try_policies(machine, effort, threading, limit, all, &FRUGAL_POLICIES)
        }
        tried => tried,
    }
}

/// The same by some policies.
fn try_policies(
    machine: &Machine,
    effort: &Effort,
    threading: Threading,
    limit: usize,
    all: bool,
    policies: &[Policy],
) -> Result<Vec<Scheduled>> {
    let mut found: Vec<Scheduled> = Vec::new();
    let mut refusal = Ok(());
    let is_ordered = machine.blocks.iter().any(|block| !block.uniform_order.is_empty());
    for urgent_uniforms in [false, true].into_iter().take(1 + usize::from(is_ordered)) {
        let registers = machine.registers as usize;
        let plan = |block| Plan::new(block, registers, urgent_uniforms, threading);
        let Some(plans) = machine.blocks.iter().map(plan).collect::<Option<Vec<_>>>() else { continue };
        // Policies that would do what another has done.
        let mut alike: Vec<Policy> = Vec::new();
        for &policy in policies {
            if alike.contains(&policy) {
                continue;
            }
            let shortest = found.first().map(|order| order.lines.len());
            let limit = shortest.map_or(limit, |length| length + usize::from(all));
            let mut scheduler = Scheduler::new(machine, effort, threading, policy, policies, limit);
            match scheduler.run(&plans) {
                Ok(true) => {
                    let order = Scheduled { lines: scheduler.lines, calls: scheduler.calls };
                    if shortest.is_some_and(|length| order.lines.len() < length) {
                        found.clear();
                    }
                    found.push(order);
                }
                Ok(false) => {}
                Err(reason) => refusal = Err(reason),
            }
            alike.extend(scheduler.alike);
        }
    }
    if found.is_empty() {
        refusal?;
    }
    Ok(found)
}

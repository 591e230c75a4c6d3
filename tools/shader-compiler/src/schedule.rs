//! Pass `schedule`: combines the operations of each block to instructions of both ALUs, on virtual registers.
//!
//! A list scheduler issues operations by rank, pairs them, and assigns each result to a bank: an accumulator, file A or file B. Banks are a part of
//! scheduling, because latencies and read ports depend on them; the register within the bank is left to the pass `allocate`. The scheduler never keeps more
//! values live in a bank than it has registers. An operand that cannot be read together with the others is copied to another bank. There is no memory for
//! spilling: if no bank has a free register, that is an error.
//!
//! A move of a stream's next element (a word of the VPM, a varying, a uniform) to a register leaves the other ALU free for an operation that uses the element
//! and need not wait for the register, since both ALUs can select what one port reads. An operation that is the only one to use the element reads it itself,
//! and the move is dropped.
//!
//! No heuristic is the best for all programs, so some are tried, and the shortest schedule is kept. An order of operations that needs more registers than there
//! are is not tried again with other banks: for none of 615 programs did that help [measured].
//!
//! | file | contents |
//! |---|---|
//! | `heuristic` | the heuristics, and tuning constants |
//! | `list_scheduler` | the main loop over cycles |
//! | `ready_list` | the operations of a block that are not issued, and when each can be |
//! | `bank_choice` | the bank of a result |
//! | `copies` | copies from bank to bank |
//! | `delay_slots` | branches and calls, with instructions in their delay slots |
//! | `thread_switch` | thread switches |
//! | `occupancy` | the bank of each value, and the live ranges |

use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt::Write;

use naga::Span;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::WriteTarget;
use v3d_hw::qpu::address_map::TmuCoordinate;

use crate::bundle::{Bank, Bundle, Destination, Placed, PlacedOperand, Through};
use crate::diagnostic::{Result, fault};
use crate::limit::Limit;
use crate::machine::{End, Machine};
use crate::order::{LOOKUP_LATENCY, Ordered};
use crate::ssa::StreamWord;

mod bank_choice;
mod copies;
mod delay_slots;
mod heuristic;
mod list_scheduler;
mod occupancy;
mod ready_list;
mod thread_switch;

use heuristic::{Heuristic, Rank};
use list_scheduler::Scheduler;
pub(crate) use occupancy::{ACCUMULATORS, FILE_REGISTERS, KEPT_FREE, LiveRange};

/// The remaining budget of attempts to place an operation, for all heuristics of a program.
#[derive(Debug)]
pub(crate) struct Effort(Cell<u64>);

impl Effort {
    /// The budget of a program, which corresponds to a few seconds.
    pub(crate) const MOST: u64 = 1 << 24;

    pub(crate) const fn new() -> Self {
        Self(Cell::new(Self::MOST))
    }

    /// Consumes attempts.
    fn spend(&self, attempts: usize) {
        self.0.set(self.0.get().saturating_sub(attempts as u64));
    }

    fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// An instruction of a schedule.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all slots are bundles, and few exist at a time")]
pub(crate) enum Slot {
    Bundle(Bundle),
    /// A branch back to an instruction, taken as long as any element has its zero flag clear; three delay slots follow.
    Branch {
        to: usize,
    },
    /// A call of one of [`Machine::routines`]; three delay slots follow.
    Call {
        routine: usize,
    },
}

impl Slot {
    fn span(&self) -> Option<Span> {
        match self {
            Self::Bundle(bundle) => bundle.span(),
            _ => None,
        }
    }
}

/// The instructions of a program, with live ranges instead of registers.
#[derive(Clone, Debug)]
pub(crate) struct Scheduled {
    pub(crate) slots: Vec<Slot>,
    pub(crate) ranges: Vec<LiveRange>,
    /// The first reserved register of each file.
    pub(crate) reserved_from: u8,
    pub(crate) threading: Threading,
    /// Only heuristics that save registers found a schedule.
    pub(crate) is_crowded: bool,
}

impl Scheduled {
    /// The uniforms, in the order in which they are read.
    pub(crate) fn stream(&self) -> Vec<StreamWord> {
        let bundles = self.slots.iter().filter_map(|slot| match slot {
            Slot::Bundle(bundle) => bundle.uniform(),
            _ => None,
        });
        bundles.collect()
    }

    /// Calls: index of the instruction, and routine.
    pub(crate) fn calls(&self) -> Vec<(usize, usize)> {
        let calls = self.slots.iter().enumerate().filter_map(|(at, slot)| match *slot {
            Slot::Call { routine } => Some((at, routine)),
            _ => None,
        });
        calls.collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }
}

/// The shortest schedule of a program for one thread; with `keeps_all` all schedules of that length, in the order of the heuristics.
///
/// # Errors
/// When there are not enough registers, with the line where they run out.
pub(crate) fn schedule(
    machine: &Machine,
    ordered: &Ordered,
    effort: &Effort,
    keeps_all: bool,
) -> Result<Vec<Scheduled>> {
    let search = Search { machine, ordered, effort, threading: Threading::Single, limit: usize::MAX, keeps_all };
    let found = search.run()?;
    if found.is_empty() { fault(Span::default(), "no schedule was tried") } else { Ok(found) }
}

/// The shortest schedule of a program, if it has fewer instructions than `limit`.
pub(crate) fn schedule_within(
    machine: &Machine,
    ordered: &Ordered,
    effort: &Effort,
    limit: usize,
) -> Option<Scheduled> {
    let search = Search { machine, ordered, effort, threading: Threading::Single, limit, keeps_all: false };
    search.run().ok()?.into_iter().next()
}

/// Latency of a lookup whose texels are in memory: 9 cycles on a hit in the TMU's cache, 3 more from the L2 cache, and 8 more from memory [vc4cl].
const LOOKUP_CYCLES: usize = LOOKUP_LATENCY + 3 + 8;

/// The schedule of a fragment program: for two threads if that takes fewer cycles than one thread with its stalls.
///
/// # Errors
/// When there are not enough registers, with the line where they run out.
pub(crate) fn schedule_fragment(machine: &Machine, ordered: &Ordered, effort: &Effort) -> Result<Scheduled> {
    // The attempts for two threads must not reduce the budget for one.
    let Some(dual) = schedule_for_two(machine, ordered, &Effort::new()) else {
        return Ok(schedule(machine, ordered, effort, false)?.swap_remove(0));
    };
    Ok(match schedule_within(machine, ordered, effort, dual.len()) {
        Some(single) if single.len() + stalls(&single.slots) < dual.len() => single,
        _ => dual,
    })
}

/// Cycles for which a single-threaded program stalls for lookups.
fn stalls(slots: &[Slot]) -> usize {
    let (mut requests, mut stalled) = (VecDeque::new(), 0);
    for (at, slot) in slots.iter().enumerate() {
        let Slot::Bundle(bundle) = slot else { continue };
        let starts_lookup = |placed: &Placed| {
            let starts = WriteTarget::Tmu { unit: 0, coordinate: TmuCoordinate::S };
            matches!(placed.destination, Destination::Address(_, target) if target == starts)
        };
        if bundle.operations().any(starts_lookup) {
            requests.push_back(at + stalled);
        }
        if bundle.load.is_some()
            && let Some(since) = requests.pop_front()
        {
            stalled += (since + LOOKUP_CYCLES).saturating_sub(at + stalled);
        }
    }
    stalled
}

/// The schedule of a fragment program for two threads, one of which runs while the other waits for a lookup.
///
/// `None` if it has no lookups, or lookups in loops, or if half of the registers are not enough.
fn schedule_for_two(machine: &Machine, ordered: &Ordered, effort: &Effort) -> Option<Scheduled> {
    let is_repeated = |at: usize| {
        let mut later = machine.blocks[at..].iter();
        later.any(|block| matches!(block.end, End::Again(head) if head <= at))
    };
    let mut looks = machine.blocks.iter().enumerate().filter(|(_, block)| block.looks_up()).peekable();
    looks.peek()?;
    if looks.any(|(at, _)| is_repeated(at)) {
        return None;
    }
    let search = Search { machine, ordered, effort, threading: Threading::Dual, limit: usize::MAX, keeps_all: false };
    search.run().ok()?.into_iter().next()
}

/// Whether a program has so many operations that fewer schedules of it are tried.
pub(crate) fn is_long(machine: &Machine) -> bool {
    let operations: usize = machine.blocks.iter().map(|block| block.operations.len()).sum();
    operations > heuristic::LONG
}

/// The loop over heuristics.
#[derive(Clone, Copy)]
struct Search<'m> {
    machine: &'m Machine,
    ordered: &'m Ordered,
    effort: &'m Effort,
    threading: Threading,
    /// Only schedules with fewer instructions than this are accepted.
    limit: usize,
    /// Keep all of the shortest schedules, and not only the first.
    keeps_all: bool,
}

impl Search<'_> {
    /// The shortest schedule below the limit, or all of that length. Heuristics that save registers are tried only if no other has enough registers.
    fn run(self) -> Result<Vec<Scheduled>> {
        let blocks = &self.machine.blocks;
        let heuristics = match self.threading {
            Threading::Dual => &heuristic::DUAL[..],
            Threading::Single if blocks.iter().any(|block| !block.uniform_order.is_empty()) => &heuristic::SHARED,
            Threading::Single => &heuristic::SINGLE,
        };
        let most = if is_long(self.machine) { heuristic::FEW } else { heuristics.len() };
        match self.run_with(&heuristics[..most]) {
            Err(refusal) if refusal.is_for(&Limit::REGISTERS) && self.threading == Threading::Single => {
                let mut found = self.run_with(&heuristic::FRUGAL)?;
                found.iter_mut().for_each(|scheduled| scheduled.is_crowded = true);
                Ok(found)
            }
            tried => tried,
        }
    }

    fn run_with(self, heuristics: &[Heuristic]) -> Result<Vec<Scheduled>> {
        let Self { machine, ordered, effort, threading, .. } = self;
        let orders = match threading {
            Threading::Single => Some(&ordered.single),
            Threading::Dual => ordered.dual.as_ref(),
        };
        let Some(orders) = orders else { return Ok(Vec::new()) };
        let mut found: Vec<Scheduled> = Vec::new();
        let mut refusal = Ok(());
        // Heuristics that would have made the same decisions as another one.
        let mut alike: Vec<Heuristic> = Vec::new();
        // Orders that need more registers than there are, whatever banks are chosen.
        let mut crowded: Vec<Rank> = Vec::new();
        for &heuristic in heuristics {
            if alike.contains(&heuristic) || crowded.contains(&heuristic.rank) {
                continue;
            }
            let shortest = found.first().map(Scheduled::len);
            let limit = shortest.map_or(self.limit, |length| length + usize::from(self.keeps_all));
            let mut scheduler = Scheduler::new(machine, effort, threading, heuristic, heuristics, limit);
            let outcome = scheduler.run(orders);
            alike.append(&mut scheduler.alike);
            match outcome {
                Ok(true) => {
                    let scheduled = scheduler.finish();
                    if shortest.is_some_and(|length| scheduled.len() < length) {
                        found.clear();
                    }
                    found.push(scheduled);
                }
                Ok(false) => {}
                Err(reason) => {
                    if reason.is_for(&Limit::REGISTERS) && !heuristic.evicts {
                        crowded.push(heuristic.rank);
                    }
                    // The error is that of the first heuristic.
                    if refusal.is_ok() {
                        refusal = Err(reason);
                    }
                }
            }
        }
        if found.is_empty() {
            refusal?;
        }
        Ok(found)
    }
}

/// The instructions as text: `l` are live ranges, with their banks.
pub(crate) fn dump(scheduled: &Scheduled) -> String {
    let mut text = String::new();
    for (at, slot) in scheduled.slots.iter().enumerate() {
        let line = match slot {
            Slot::Bundle(bundle) => {
                let operations: Vec<String> = bundle.operations().map(placed_name).collect();
                let mut line = if operations.is_empty() { "nop".to_owned() } else { operations.join("; ") };
                if let Some(signal) = bundle.thread {
                    line += &format!("; {signal:?}");
                }
                line
            }
            Slot::Branch { to } => format!("branch.anyzc {to}"),
            Slot::Call { routine } => format!("call routine {routine}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {at:4}  {line}");
    }
    text
}

fn placed_name(placed: &Placed) -> String {
    let range = |bank: Bank, range: crate::bundle::RangeId| format!("{}.l{}", bank.name(), range.0);
    let operands = placed.operands().iter().map(|operand| match *operand {
        PlacedOperand::Range(bank, of, v3d_hw::qpu::Unpack::None) => range(bank, of),
        PlacedOperand::Range(bank, of, unpack) => format!("{}.{unpack:?}", range(bank, of)),
        PlacedOperand::Small(code) => format!("small {code}"),
        PlacedOperand::Fixed(file, address) => format!("{file:?}{address}"),
        PlacedOperand::Either(address, Through::Shared) => format!("the same port {address}"),
        PlacedOperand::Either(address, _) => format!("port {address}"),
        PlacedOperand::R5 => "r5".to_owned(),
    });
    let target = match placed.destination {
        Destination::Nothing => "-".to_owned(),
        Destination::Range(bank, of) => range(bank, of),
        Destination::Address(_, target) => format!("{target:?}"),
    };
    let operands: Vec<String> = operands.collect();
    crate::machine::described(placed.work, &target, &operands, placed.condition, placed.sets_flags, placed.pack)
}

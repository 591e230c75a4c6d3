//! Pass `allocate`: a register for each live range.
//!
//! The scheduler ensures that the live ranges of a bank never exceed its registers. Live ranges are intervals of instructions, and a linear scan colours
//! intervals with no more registers than are live at once. It scans backward, so that the one range with a fixed register, the colour in r0 at the end, is
//! allocated before the ranges that are live at the same time.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::bundle::{Bank, RangeId};
use crate::diagnostic::{Result, fault};
use crate::schedule::{ACCUMULATORS, FILE_REGISTERS, KEPT_FREE, LiveRange, Scheduled};

/// The register of each live range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocation {
    numbers: Vec<Option<u8>>,
}

impl Allocation {
    /// The register of a range within its bank; `None` for r4, and for a range that is never read.
    pub(crate) fn number(&self, range: RangeId) -> Option<u8> {
        self.numbers.get(range.index()).copied().flatten()
    }
}

/// Registers for the live ranges of a schedule.
pub(crate) fn allocate(scheduled: &Scheduled) -> Result<Allocation> {
    let mut numbers = vec![None; scheduled.ranges.len()];
    for bank in [Bank::Accumulator, Bank::A, Bank::B] {
        allocate_bank(scheduled, bank, &mut numbers)?;
    }
    Ok(Allocation { numbers })
}

fn allocate_bank(scheduled: &Scheduled, bank: Bank, numbers: &mut [Option<u8>]) -> Result<()> {
    let registers: Vec<u8> = match bank {
        Bank::Accumulator => (0..ACCUMULATORS as u8).collect(),
        _ => (0..scheduled.reserved_from.min(FILE_REGISTERS)).filter(|number| !KEPT_FREE.contains(number)).collect(),
    };
    let last = scheduled.slots.len();
    let end = |range: &LiveRange| range.end.unwrap_or(last);
    let mut ranges: Vec<(usize, &LiveRange)> = scheduled.ranges.iter().enumerate().collect();
    ranges.retain(|(_, range)| range.bank == bank && end(range) > range.start);
    // The colour comes first among those that live until the end.
    ranges.sort_by_key(|(_, range)| (core::cmp::Reverse(end(range)), !range.is_color));
    // For each register the start of the range that was allocated to it last: it is free for ranges that end there or before.
    let mut starts = vec![usize::MAX; usize::from(FILE_REGISTERS)];
    for (at, range) in ranges {
        let is_free = |number: &&u8| starts[usize::from(**number)] >= end(range);
        let wanted = if range.is_color { registers.first().filter(is_free) } else { registers.iter().find(is_free) };
        let Some(&number) = wanted else {
            return fault(Default::default(), "more live ranges than registers");
        };
        starts[usize::from(number)] = range.start;
        numbers[at] = Some(number);
    }
    Ok(())
}

/// The live ranges with their registers, as text.
pub(crate) fn dump(scheduled: &Scheduled, allocation: &Allocation) -> String {
    let mut text = String::new();
    for (at, range) in scheduled.ranges.iter().enumerate() {
        let name = match (range.bank, allocation.number(RangeId(at as u32))) {
            (Bank::R4, _) => "r4".to_owned(),
            (_, None) => "-".to_owned(),
            (Bank::Accumulator, Some(number)) => format!("r{number}"),
            (bank, Some(number)) => format!("r{}{number}", bank.name()),
        };
        let end = range.end.unwrap_or(scheduled.slots.len());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:6} v{:<4} {name:5} {}..{end}", format!("l{at}"), range.register.0, range.start);
    }
    text
}

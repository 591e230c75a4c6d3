//! Semaphores: a program's accesses, compared with its interface.
//!
//! A semaphore is shared by all QPUs, and a single program does not show whether another one releases what it acquires. Therefore only what the source
//! declares by `.semaphore` is checked: the number of accesses on each path from start to end.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::count::{Count, UNBOUNDED};
use super::flow::{Node, Pending};
use super::{Findings, Program};
use crate::code::Code;
use crate::interface::SemaphoreUse;

/// Number of joins at a node after which counts are widened to unbounded.
const WIDEN_AFTER: u8 = 8;

/// Accesses on all paths to a place: acquires, releases.
type Accesses = [Count; 2];

impl Program<'_> {
    pub(super) fn check_semaphores(&self, findings: &mut Findings) {
        let declared = &self.interface.semaphores;
        if declared.is_empty() {
            return;
        }
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            let Some((number, _)) = self.facts[at].accesses.semaphore else { continue };
            if !declared.iter().any(|semaphore| semaphore.number == number) {
                findings.warning(Code::SemaphoreBalance, at, format!("the interface does not have semaphore {number}"));
            }
        }
        for semaphore in declared {
            self.count_accesses(semaphore, findings);
        }
    }

    fn count_accesses(&self, semaphore: &SemaphoreUse, findings: &mut Findings) {
        let accesses = self.accesses(semaphore.number);
        for node in self.flow.nodes() {
            let (Pending::End(_, 2), Some(before)) = (self.flow.pending(node), accesses[self.flow.index(node)]) else {
                continue;
            };
            let at = self.flow.at(node);
            let found = self.after(before, at, semaphore.number);
            for (count, declared, what) in
                [(found[0], semaphore.acquires, "acquired"), (found[1], semaphore.releases, "released")]
            {
                let Count { min, max } = count;
                let times = match (u32::from(min), max) {
                    (min, _) if min > declared => min,
                    (_, max) if max != UNBOUNDED && u32::from(max) < declared => u32::from(max),
                    _ => continue,
                };
                let number = semaphore.number;
                let message = format!("semaphore {number} is {what} {times} times, the interface says {declared}");
                findings.error(Code::SemaphoreBalance, at, message);
            }
        }
    }

    /// Accesses to a semaphore before each reachable node.
    fn accesses(&self, number: u8) -> Vec<Option<Accesses>> {
        let mut accesses: Vec<Option<Accesses>> = vec![None; self.flow.table_len()];
        let mut joins = vec![0u8; self.flow.table_len()];
        let mut work: Vec<Node> = Vec::new();
        for (entry_number, &entry) in self.flow.entries().iter().enumerate() {
            accesses[self.flow.index(entry)] = Some([if entry_number == 0 { Count::ZERO } else { Count::ANY }; 2]);
            work.push(entry);
        }
        while let Some(node) = work.pop() {
            let Some(before) = accesses[self.flow.index(node)] else { continue };
            let after = self.after(before, self.flow.at(node), number);
            for next in self.flow.successors(node).iter() {
                let index = self.flow.index(next);
                let joined = match accesses[index] {
                    None => after,
                    Some(known) => {
                        joins[index] = joins[index].saturating_add(1);
                        let widen = joins[index] > WIDEN_AFTER;
                        [known[0].join(after[0], widen), known[1].join(after[1], widen)]
                    }
                };
                if accesses[index] != Some(joined) {
                    accesses[index] = Some(joined);
                    work.push(next);
                }
            }
        }
        accesses
    }

    fn after(&self, [acquires, releases]: Accesses, at: usize, number: u8) -> Accesses {
        match self.facts[at].accesses.semaphore {
            Some((other, true)) if other == number => [acquires.add(1, 1), releases],
            Some((other, false)) if other == number => [acquires, releases.add(1, 1)],
            _ => [acquires, releases],
        }
    }
}

//! Fills delay slots of branches that are still empty with instructions from behind the branch.
//!
//! * From the target: the first instructions at the target are copied into the slots, and the branch goes to the instruction after them. The loop of a backward
//!   branch becomes shorter by them.
//! * From the path that is not taken: its first instructions are moved into the slots, if no other path leads there.
//!
//! Slots are executed on both paths. An instruction of one path of a conditional branch may therefore write only registers that are not live on the other
//! path, and may access no peripheral. At the end of a program, and where it is not known what comes next, all registers count as live.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::BRANCH_DELAY_SLOTS;

use super::effects::{Effects, Set};
use super::{Layout, Line, NOP, Program, keeps_distances};
use crate::check::facts::{BranchFact, Facts};
use crate::check::flow::{Flow, Node, Pending};

/// A branch with its delay slots.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Index of its block.
    block: usize,
    /// Index of its target among the program's.
    target: usize,
    fact: BranchFact,
}

/// Where instructions for the slots come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// The target.
    Taken,
    /// The instructions after the delay slots.
    NotTaken,
}

impl Program<'_> {
    /// Fills the slots of all branches to known places.
    pub(super) fn fill_from_behind(&mut self) {
        for block in 0..self.blocks.len() {
            let Some(place) = self.branch_at(block) else { continue };
            let is_loop = place.fact.distance.is_some_and(|distance| distance < 0);
            // A loop's start is executed most often, so it comes first; otherwise the code that the branch skips.
            let paths = if is_loop { [Path::Taken, Path::NotTaken] } else { [Path::NotTaken, Path::Taken] };
            for path in paths {
                while self.take_one(place, path) {}
            }
        }
    }

    /// The branch of a block, if its slots may be changed.
    fn branch_at(&self, at: usize) -> Option<Place> {
        let block = self.blocks.get(at).filter(|block| block.fixed && !block.kept)?;
        let (first, slots) = block.lines.split_first()?;
        let fact = Facts::of(first.word).branch?;
        let is_plain = |line: &Line| {
            let facts = Facts::of(line.word);
            facts.branch.is_none() && !facts.signal().ends_program() && !facts.signal().switches_threads()
        };
        let target = self.targets.iter().position(|target| target.branch == first.origin)?;
        (slots.len() == BRANCH_DELAY_SLOTS as usize && slots.iter().all(is_plain)).then_some(Place {
            block: at,
            target,
            fact,
        })
    }

    /// Puts the next instruction of a path into the first empty slot, if that changes nothing.
    fn take_one(&mut self, place: Place, path: Path) -> bool {
        let lines = &self.blocks[place.block].lines;
        let empty = lines.iter().rev().take_while(|line| line.word == NOP).count();
        if empty == 0 {
            return false;
        }
        // The branch itself is no nop.
        let slot = lines.len() - empty;
        let target = self.targets[place.target];
        let from = match path {
            Path::Taken => self.blocks.iter().position(|block| block.start == target.start),
            Path::NotTaken => self.only_reached_past(place).then_some(place.block + 1),
        };
        let Some(from) = from.filter(|&from| !self.blocks[from].fixed && !self.blocks[from].kept) else {
            return false;
        };
        let next = if path == Path::Taken { target.skip } else { 0 };
        let Some(&line) = self.blocks[from].lines.get(next) else { return false };
        if !place.fact.always && !self.is_harmless(line, place, path) {
            return false;
        }
        let before = (self.blocks[place.block].lines.clone(), self.blocks[from].lines.clone());
        self.blocks[place.block].lines[slot] = line;
        match path {
            Path::Taken => self.targets[place.target].skip += 1,
            Path::NotTaken => drop(self.blocks[from].lines.remove(0)),
        }
        let kept = self.keeps_distances_after(place) && self.is_sound();
        if !kept {
            (self.blocks[place.block].lines, self.blocks[from].lines) = before;
            self.targets[place.target].skip = target.skip;
        }
        kept
    }

    /// Whether the block after a branch is executed only if that is not taken.
    fn only_reached_past(&self, place: Place) -> bool {
        let Some(next) = self.blocks.get(place.block + 1) else { return false };
        let is_target = self.targets.iter().any(|target| target.start == next.start)
            || self.arrivals.binary_search(&next.start).is_ok()
            || next.lines.first().is_none_or(|line| line.info.target);
        !place.fact.always && !place.fact.links && !is_target
    }

    /// Whether an instruction of one path changes nothing on the other.
    fn is_harmless(&self, line: Line, place: Place, path: Path) -> bool {
        let effects = Effects::of(line.word);
        let Layout { words, places, .. } = self.layout();
        let target = self.targets[place.target];
        let other = match path {
            Path::Taken => places[self.blocks[place.block].start] + self.blocks[place.block].lines.len(),
            Path::NotTaken => places[target.start] + target.skip,
        };
        effects.touches_registers_only() && effects.writes() & needed_at(&words, &self.entries(&places), other) == 0
    }

    /// Whether all minimum distances over the branch are kept, on both paths.
    fn keeps_distances_after(&self, place: Place) -> bool {
        let target = self.targets[place.target];
        let taken = self.blocks.iter().find(|block| block.start == target.start);
        let taken = taken.map(|block| block.lines.get(target.skip..).unwrap_or_default());
        let not_taken = self.blocks.get(place.block + 1).map(|block| &block.lines[..]);
        let before = place.block.checked_sub(1).and_then(|at| self.blocks.get(at)).map(|block| &block.lines[..]);
        let branch = &self.blocks[place.block].lines;
        [taken, not_taken].into_iter().all(|path| {
            let lines = before.unwrap_or_default().iter().chain(branch).chain(path.unwrap_or_default());
            keeps_distances(lines)
        })
    }
}

/// Registers and flags whose values the code from a word on may use: those that are live there, by backward data-flow analysis.
fn needed_at(words: &[u64], entries: &[usize], word: usize) -> Set {
    let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
    let effects: Vec<Effects> = words.iter().map(|&word| Effects::of(word)).collect();
    let flow = Flow::with_entries(&facts, entries);
    let nodes: Vec<Node> = flow.nodes().collect();
    let mut needed: Vec<Set> = vec![0; flow.table_len()];
    let is_unknown = |node: Node| {
        let goes_anywhere = match flow.pending(node) {
            Pending::Branch(at, BRANCH_DELAY_SLOTS) => facts[at].branch.is_none_or(|branch| branch.distance.is_none()),
            _ => false,
        };
        let successors = flow.successors(node);
        goes_anywhere || successors.falls_off || successors.iter().next().is_none()
    };
    loop {
        let mut changed = false;
        for &node in nodes.iter().rev() {
            let after = match is_unknown(node) {
                true => Set::MAX,
                false => flow.successors(node).iter().fold(0, |all, next| all | needed[flow.index(next)]),
            };
            let before = effects[flow.at(node)].needed_before(after);
            changed |= core::mem::replace(&mut needed[flow.index(node)], before) != before;
        }
        if !changed {
            break;
        }
    }
    // Nothing is known of a word that is reached as a delay slot only, or not at all.
    let at = nodes.iter().find(|&&node| flow.at(node) == word && flow.pending(node) == Pending::None);
    at.map_or(Set::MAX, |&node| needed[flow.index(node)])
}

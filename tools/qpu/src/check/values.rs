//! Rules about the abstract state before an instruction.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::accesses::register_bit;
use v3d_hw::qpu::{ReadSource, Signal, WriteTarget};

use super::count::UNBOUNDED;
use super::facts::{Facts, Register};
use super::flow::{Node, Pending};
use super::state::{FREE, HELD, LAST, NOT_LAST, NOT_YET, State};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::interface::Stage;

/// Number of joins at a node after which counts are widened to unbounded.
const WIDEN_AFTER: u8 = 8;

impl Program<'_> {
    pub(super) fn check_values(&self, states: &[Option<State>], findings: &mut Findings) {
        for node in self.flow.nodes() {
            let Some(state) = &states[self.flow.index(node)] else { continue };
            let at = self.flow.at(node);
            let facts = &self.facts[at];
            self.unwritten(at, facts, state, findings);
            self.peripherals(at, facts, state, findings);
            if matches!(self.flow.pending(node), Pending::End(_, 2)) {
                self.at_end(at, &state.after(at, facts, self.interface), findings);
            }
        }
    }

    /// The abstract state before each node, over all paths.
    pub(super) fn states(&self) -> Vec<Option<State>> {
        let mut states: Vec<Option<State>> = vec![None; self.flow.table_len()];
        let mut joins = vec![0u8; self.flow.table_len()];
        let mut work: Vec<Node> = Vec::new();
        for (number, &entry) in self.flow.entries().iter().enumerate() {
            let state = if number == 0 { State::start() } else { State::unknown() };
            states[self.flow.index(entry)] = Some(state);
            work.push(entry);
        }
        while let Some(node) = work.pop() {
            let Some(state) = states[self.flow.index(node)] else { continue };
            let at = self.flow.at(node);
            let after = state.after(at, &self.facts[at], self.interface);
            for next in self.flow.successors(node).iter() {
                let index = self.flow.index(next);
                if let Some(before) = &mut states[index] {
                    joins[index] = joins[index].saturating_add(1);
                    let joined = before.join(&after, joins[index] > WIDEN_AFTER);
                    if *before == joined {
                        continue;
                    }
                    *before = joined;
                } else {
                    states[index] = Some(after);
                }
                work.push(next);
            }
        }
        states
    }

    fn unwritten(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        if facts.needs_only(state.registers, state.accumulators) && state.flags {
            return;
        }
        for (register, _) in facts.registers_read() {
            let Register::InFile(file, number) = register else { continue };
            if register_bit(file, number) & facts.registers_needed & !state.registers != 0 {
                findings.warning(Code::NeverWritten, at, format!("{register} is read, but nothing has written it"));
            }
        }
        for number in 0..6 {
            let bit = 1 << number;
            if facts.accumulators_needed & !state.accumulators & bit == 0 {
                continue;
            }
            let loading = facts.signal().loads_r4() || state.requests.iter().any(|requests| requests.min() > 0);
            if number == 4 && loading {
                let message = "r4 is read before the result is loaded";
                findings.error(Code::R4BeforeLoad, at, message);
            } else if state.lost & bit != 0 {
                let message = format!("r{number} does not survive the thread switch");
                findings.error(Code::LostOverThreadSwitch, at, message);
            } else {
                findings.warning(Code::NeverWritten, at, format!("r{number} is read, but nothing has written it"));
            }
        }
        if facts.accesses.reads_flags() && !state.flags {
            if state.lost_flags {
                findings.error(Code::LostOverThreadSwitch, at, "the flags do not survive the thread switch");
            } else {
                findings.warning(Code::NeverWritten, at, "a condition is used, but nothing has set the flags");
            }
        }
    }

    fn peripherals(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        self.lookups(at, facts, state, findings);
        if facts.accesses.accesses_tile_buffer() && state.scoreboard == HELD {
            findings.error(Code::TlbAfterUnlock, at, "the tile buffer is accessed after the scoreboard is unlocked");
        }
        if self.threaded && facts.locks_scoreboard() && state.switched & LAST == 0 {
            let message = "the tile buffer is accessed before the last thread switch".to_owned();
            findings.add(self.without_last_switch(), Code::TlbBeforeLastSwitch, at, None, message);
        }
        if facts.signal().switches_threads() {
            if state.switched == LAST {
                findings.error(Code::SwitchAfterLast, at, "a thread switch after the last one");
            }
            if self.interface.threads == Some(1) {
                findings.error(Code::SwitchUnthreaded, at, "a thread switch in a program for one thread");
            }
        }
        self.mutex(at, facts, state, findings);
        if self.interface.stage != Stage::Fragment {
            self.vpm(at, facts, state, findings);
        }
    }

    /// Severity of a missing `lthrsw`: Broadcom's shaders of OpenVG never mark the last switch, and all programs that share a QPU switch equally often.
    fn without_last_switch(&self) -> Severity {
        let says = self.facts.iter().any(|facts| facts.signal() == Signal::LastThreadSwitch);
        if says { Severity::Error } else { Severity::Warning }
    }

    fn mutex(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        let unsure = state.mutex == FREE | HELD;
        if facts.reads(ReadSource::MutexAcquire) {
            if state.mutex == HELD {
                findings.error(Code::MutexBalance, at, "the mutex is taken twice");
            } else if unsure {
                findings.warning(Code::MutexUnsure, at, "the mutex is taken, and on another path it is taken already");
            }
        }
        if facts.writes_to(WriteTarget::MutexRelease) {
            if state.mutex == FREE {
                findings.error(Code::MutexBalance, at, "the mutex is released, but was not taken");
            } else if unsure {
                findings.warning(Code::MutexUnsure, at, "the mutex is released, but not taken on every path");
            }
        }
    }

    fn vpm(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        if facts.reads(ReadSource::VpmRead) {
            if !state.vpm_setup {
                findings.error(Code::VpmReadWithoutSetup, at, "the VPM is read, but no read was set up");
            } else if state.vpm_vectors.max == 0 {
                findings.error(
                    Code::VpmReadBeyondSetup,
                    at,
                    "the VPM is read, but all that was set up is read already",
                );
            }
        }
        if facts.writes_to(WriteTarget::VpmWrite) && !state.vpm_write_setup {
            findings.error(Code::VpmWriteWithoutSetup, at, "the VPM is written, but no write was set up");
        }
        if facts.sets_up_vpm_read() && state.vpm_blocks.min() >= 2 {
            findings.error(Code::VpmQueueFull, at, "a third VPM read is set up while two are not read yet");
        }
    }

    fn at_end(&self, at: usize, state: &State, findings: &mut Findings) {
        if state.mutex == HELD {
            findings.error(Code::MutexBalance, at, "the program ends with the mutex taken");
        } else if state.mutex == FREE | HELD {
            findings.warning(Code::MutexUnsure, at, "the program ends with the mutex taken on one of the paths");
        }
        if state.tile_accessed && state.scoreboard == FREE {
            findings.error(Code::ScoreboardNotUnlocked, at, "the program ends without unlocking the scoreboard");
        }
        if state.vpm_vectors.min > 0 {
            let message = format!("the program ends with {} vectors of the VPM not read", state.vpm_vectors.min);
            findings.warning(Code::VpmReadLeft, at, message);
        }
        if self.threaded && state.switched == NOT_LAST {
            let message = "the program ends without a last thread switch".to_owned();
            findings.add(self.without_last_switch(), Code::LastSwitchMissing, at, None, message);
        }
        if self.interface.threads == Some(2) && state.switched & NOT_YET != 0 {
            let message = if state.switched == NOT_YET {
                "the program is for two threads and ends without a thread switch"
            } else {
                "the program is for two threads and ends without a thread switch on one of the paths"
            };
            findings.warning(Code::NeverSwitches, at, message);
        }
        self.lookups_at_end(at, state, findings);
        let interface = self.interface;
        let declared = interface.uniform_words();
        if declared > 0 && state.uniforms.max != UNBOUNDED {
            let wrong = state.uniforms.exact().is_some_and(|read| u32::from(read) != declared)
                || u32::from(state.uniforms.min) > declared;
            if wrong {
                let read = state.uniforms.min;
                let message = format!("{read} words of uniforms are read, the interface has {declared}");
                findings.error(Code::UniformCount, at, message);
            }
        }
        let declared = interface.attribute_words();
        let shades_vertices = matches!(interface.stage, Stage::Vertex | Stage::Coordinate);
        if shades_vertices && !interface.attributes.is_empty() && state.vpm_reads.max != UNBOUNDED {
            let wrong = state.vpm_reads.exact().is_some_and(|read| u32::from(read) != declared)
                || u32::from(state.vpm_reads.min) > declared;
            if wrong {
                let read = state.vpm_reads.min;
                let message = format!("{read} words of attributes are read, the interface has {declared}");
                findings.error(Code::AttributeCount, at, message);
            }
        }
        let declared = interface.varyings_read();
        if interface.stage == Stage::Fragment && state.varyings.max != UNBOUNDED {
            let wrong = state.varyings.exact().is_some_and(|read| u32::from(read) != declared)
                || u32::from(state.varyings.min) > declared;
            if wrong && !(declared == 0 && state.varyings.min == 0) {
                let read = state.varyings.min;
                let message = format!("{read} varyings are read, the interface has {declared}");
                findings.error(Code::VaryingCount, at, message);
            }
        }
    }
}

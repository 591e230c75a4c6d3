//! Rules about lookups of the TMUs, over all paths.
//!
//! The FIFO between a QPU and a TMU is shared by the QPU's two threads [AG p.40]. Each result must therefore be loaded between the first and the second
//! thread switch after its request: outside of that, results of the other thread may precede it in the FIFO. The parameters of a request use the same FIFO,
//! so no switch may come between them.

use alloc::format;

use v3d_hw::qpu::{ReadSource, WriteTarget};

use super::facts::Facts;
use super::state::{FREE, HELD, State};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;

/// Label for the place of a parameter, in findings at another instruction.
const PARAMETER: &str = "a parameter is written here";

impl Program<'_> {
    pub(super) fn lookups(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        if let Some(unit) = facts.signal().loads_tmu() {
            let index = usize::from(unit);
            if state.requests[index].max() == 0 {
                findings.error(Code::TmuWithoutRequest, at, format!("TMU {unit} was not asked for anything"));
            } else if self.threaded && state.requests_before_switch[index].max == 0 {
                let message = format!("a result of TMU {unit} is loaded without a thread switch after its request");
                findings.error(Code::TmuResultWithoutSwitch, at, message);
            }
        }
        if facts.writes_tmu() {
            self.tmu_writes(at, facts, state, findings);
        }
        if facts.writes_to(WriteTarget::TmuNoSwap) && state.tmu_used {
            findings.error(Code::NoSwapAfterTmu, at, "TMU swap is changed after a TMU was used");
        }
        if self.threaded && state.switches_behind() {
            self.switch(at, &state.before_switch(at, facts, self.interface), findings);
        }
    }

    /// Applies the rules at an instruction after which the other thread continues; `state` is the state after it.
    fn switch(&self, at: usize, state: &State, findings: &mut Findings) {
        for unit in 0..2 {
            if state.requests_before_switch[unit].min > 0 {
                let message = format!("a result of TMU {unit} is left in its FIFO over a second thread switch");
                findings.error(Code::TmuResultOverSwitch, at, message);
            }
            if state.parameters[unit] == HELD {
                let message = format!("a thread switch between the parameters of a request to TMU {unit}");
                let related = state.parameter_at[unit].map(|parameter| (parameter, PARAMETER));
                findings.add(Severity::Error, Code::TmuParametersOverSwitch, at, related, message);
            }
        }
    }

    fn tmu_writes(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        for write in facts.accesses.written() {
            let WriteTarget::Tmu { unit, .. } = write.target else { continue };
            let direct = write.target.starts_lookup() && state.parameters[usize::from(unit)] & FREE != 0;
            if facts.reads(ReadSource::Uniform) && !direct {
                findings.error(Code::UniformWithTmuWrite, at, "a uniform is read together with a TMU write");
            }
        }
        for unit in (0..2u8).filter(|&unit| facts.starts_lookup(unit)) {
            let room = if self.threaded { 4 } else { 8 };
            let slots = state.requests[usize::from(unit)].min_size() + state.request_slots(usize::from(unit));
            if slots > room {
                let message = format!("the requests to TMU {unit} under way take {slots} slots of {room}");
                findings.error(Code::TmuFifoFull, at, message);
            }
            // A write of s alone is a direct memory lookup, which uses no texture.
            let texture = state.parameters[usize::from(unit)] == HELD;
            let textures = &self.interface.textures;
            if texture && !textures.is_empty() && textures.iter().all(|texture| texture.unit != unit) {
                let message = format!("the interface has no texture on TMU {unit}");
                findings.error(Code::TextureNotDeclared, at, message);
            }
        }
    }

    pub(super) fn lookups_at_end(&self, at: usize, state: &State, findings: &mut Findings) {
        for unit in 0..2 {
            let count = state.requests[unit].min();
            if count > 0 {
                let message = format!("the program ends with {count} results of TMU {unit} not loaded");
                findings.warning(Code::TmuResultLeft, at, message);
            }
            if state.parameters[unit] == HELD {
                let message = format!(
                    "no s follows this parameter of TMU {unit}: only s, which is written last, starts a lookup"
                );
                findings.error(Code::TmuParameterWithoutS, state.parameter_at[unit].unwrap_or(at), message);
            }
        }
    }
}

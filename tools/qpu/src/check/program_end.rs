//! Rules around the end of the program [AG p.21, p.37].

use v3d_hw::qpu::access::Peripheral;
use v3d_hw::qpu::{ReadSource, WriteTarget};

use super::flow::Pending;
use super::state::State;
use super::{Findings, Program};
use crate::code::Code;

impl Program<'_> {
    pub(super) fn check_end(&self, states: &[Option<State>], findings: &mut Findings) {
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            let facts = &self.facts[at];
            if self.flow.successors(node).falls_off {
                findings.error(Code::RunsOffTheEnd, at, "execution runs off the end of the program");
            }
            let pending = self.flow.pending(node);
            let ending = match pending {
                Pending::End(end, _) => end,
                _ if facts.signal().ends_program() => at,
                _ => continue,
            };
            let what = "the program ends here";
            let is_stream = |unit: Option<Peripheral>| {
                matches!(unit, Some(Peripheral::Varyings | Peripheral::Vpm | Peripheral::VpmDma))
            };
            let reads = facts.accesses.read().map(|read| read.source.row().peripheral);
            let writes = facts.accesses.written().map(|write| write.target.row().access.peripheral);
            let state = states[self.flow.index(node)].as_ref();
            if facts.reads(ReadSource::Uniform) || reads.chain(writes).any(is_stream) {
                let message = "uniform, varying or VPM access in the last three instructions";
                findings.error_after(Code::AccessAtEnd, at, ending, what, message);
            } else if state.is_some_and(|state| state.takes_uniform(facts)) {
                let message = "a write to a TMU takes a uniform in the last three instructions";
                findings.error_after(Code::AccessAtEnd, at, ending, what, message);
            }
            if facts.accesses.accesses_register_14() {
                let message = "location 14 is used in the last three instructions";
                findings.error_after(Code::Register14AtEnd, at, ending, what, message);
            }
            if facts.signal().ends_program() && facts.accesses.registers_written() != 0 {
                findings.error(Code::WriteAtEnd, at, "the instruction that ends the program writes to a register file");
            }
            if matches!(pending, Pending::End(_, 2)) && facts.writes_to(WriteTarget::TlbZ) {
                findings.error_after(Code::TlbZAtEnd, at, ending, what, "a Z write in the last instruction");
            }
            if matches!(pending, Pending::End(..)) && facts.signal().switches_threads() {
                findings.error_after(Code::AccessAtEnd, at, ending, what, "a thread switch after the program's end");
            }
        }
    }
}

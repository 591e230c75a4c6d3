//! Rules around the end of the program [AG p.21, p.37].

use super::flow::Pending;
use super::{Findings, Program};
use crate::code::Code;

impl Program<'_> {
    pub(super) fn check_end(&self, findings: &mut Findings) {
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            let facts = &self.facts[at];
            if self.flow.successors(node).falls_off {
                findings.error(Code::RunsOffTheEnd, at, "execution runs off the end of the program");
            }
            let pending = self.flow.pending(node);
            let ending = match pending {
                Pending::End(end, _) => end,
                _ if facts.ends() => at,
                _ => continue,
            };
            let what = "the program ends here";
            let io = |address: u8| matches!(address, 48..=50);
            let reads = [facts.read_a, facts.read_b].into_iter().flatten();
            if reads.clone().any(|address| matches!(address, 32 | 35) || io(address)) || facts.written().any(io) {
                let message = "uniform, varying or VPM access in the last three instructions";
                findings.error_after(Code::AccessAtEnd, at, ending, what, message);
            }
            if reads.chain(facts.written()).any(|address| address == 14) {
                let message = "location 14 is used in the last three instructions";
                findings.error_after(Code::Register14AtEnd, at, ending, what, message);
            }
            if facts.ends() && facts.written().any(|address| address < 32) {
                findings.error(Code::WriteAtEnd, at, "the instruction that ends the program writes to a register file");
            }
            if matches!(pending, Pending::End(_, 2)) && facts.writes_to(44) {
                findings.error_after(Code::TlbZAtEnd, at, ending, what, "a Z write in the last instruction");
            }
            if matches!(pending, Pending::End(..)) && facts.switches_thread() {
                findings.error_after(Code::AccessAtEnd, at, ending, what, "a thread switch after the program's end");
            }
        }
    }
}

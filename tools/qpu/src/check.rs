//! Checks programs against the rules of the hardware, along every path of execution.
//!
//! The QPU has no interlocks for most latencies: an instruction that reads too early gets the old value. The checker follows all paths through the program,
//! delay slots included, and reports a rule that is broken on one of them. Rules about values (what was written, how many uniforms were read) are reported
//! only if they are broken on *every* path to the instruction, so that there are no false positives.
//!
//! | file | rules |
//! |---|---|
//! | [`facts`] | what one instruction reads, writes and triggers |
//! | [`flow`] | which instruction follows which |
//! | `instruction` | within one instruction |
//! | `sequence` | between instructions a few steps apart |
//! | `delay_slots` | delay slots that look forgotten |
//! | `program_end` | around the end of the program |
//! | `state`, `queue`, `values` | data-flow analysis: registers and FIFOs when an instruction is reached |
//! | `lookups` | lookups of the TMUs, and how two threads share them |
//! | `semaphore` | accesses to semaphores, against the interface |
//! | `doubtful` | rules on which sources disagree: reported only on request |
//!
//! # Sources
//! [AG p.37] is the list of restrictions; the sources of other rules stand with their codes (`qpu explain CODE`).

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::assembler::{Assembly, WordInfo};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::disassembler::{Style, disassemble};
use crate::interface::{Interface, Output};
use crate::source::{Source, Span};

mod count;
mod delay_slots;
mod doubtful;
pub mod facts;
pub mod flow;
mod instruction;
mod lookups;
mod program_end;
mod queue;
mod semaphore;
mod sequence;
mod state;
mod values;

use facts::Facts;
use flow::Flow;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Code.
    pub code: Code,
    /// Error, or warning.
    pub severity: Severity,
    /// Index of the word.
    pub at: usize,
    /// Index of another word that is involved, with a label for it.
    pub related: Option<(usize, &'static str)>,
    /// The message: one sentence.
    pub message: String,
}

/// The program and its analyses, as the rules use them.
struct Program<'p> {
    facts: &'p [Facts],
    flow: &'p Flow,
    interface: &'p Interface,
    /// The source's hints for each word; empty without a source.
    info: &'p [WordInfo],
    /// Whether two threads share the register files.
    threaded: bool,
}

/// Findings without duplicates.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    fn add(
        &mut self,
        severity: Severity,
        code: Code,
        at: usize,
        related: Option<(usize, &'static str)>,
        message: String,
    ) {
        if !self
            .list
            .iter()
            .rev()
            .take(64)
            .any(|finding| finding.at == at && finding.code == code && finding.message == message)
        {
            self.list.push(Finding { code, severity, at, related, message });
        }
    }

    fn error(&mut self, code: Code, at: usize, message: impl Into<String>) {
        self.add(Severity::Error, code, at, None, message.into());
    }

    fn warning(&mut self, code: Code, at: usize, message: impl Into<String>) {
        self.add(Severity::Warning, code, at, None, message.into());
    }

    fn error_after(&mut self, code: Code, at: usize, first: usize, what: &'static str, message: impl Into<String>) {
        self.add(Severity::Error, code, at, Some((first, what)), message.into());
    }
}

/// Which rules are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Rules on which all sources agree.
    #[default]
    Sure,
    /// Also rules on which sources disagree, as warnings.
    All,
}

/// Checks a program. `info` says which words are data; without it all words are instructions.
pub fn check(words: &[u64], info: &[WordInfo], interface: &Interface) -> Vec<Finding> {
    check_by(Rules::Sure, words, info, interface)
}

/// The instructions that are appended to a program that leaves its colour in registers, before it is checked: `mov tlbc, r0`, `mov tlbc, r1` if the colour
/// has two words, `thrend`, `nop`, `sbdone`.
const fn end_behind(output: Output) -> &'static [u64] {
    match output {
        Output::Own => &[],
        Output::Color => &[0x1002_0ba7_159e_7000, 0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x5000_09e7_009e_7000],
        Output::HalfColor => &[
            0x1002_0ba7_159e_7000,
            0x1002_0ba7_159e_7240,
            0x3000_09e7_009e_7000,
            0x1000_09e7_009e_7000,
            0x5000_09e7_009e_7000,
        ],
    }
}

/// Checks a program by some of the rules.
pub fn check_by(rules: Rules, words: &[u64], info: &[WordInfo], interface: &Interface) -> Vec<Finding> {
    check_from(&[], rules, words, info, interface)
}

/// Checks a program that can also be entered at other words than its first, such as the targets of branches to computed addresses.
pub(crate) fn check_from(
    entries: &[usize],
    rules: Rules,
    words: &[u64],
    info: &[WordInfo],
    interface: &Interface,
) -> Vec<Finding> {
    let end = end_behind(interface.output);
    let facts: Vec<Facts> = words
        .iter()
        .chain(end)
        .enumerate()
        .map(|(at, &word)| Facts { data: info.get(at).is_some_and(|info| info.data), ..Facts::of(word) })
        .collect();
    let flow = Flow::with_entries(&facts, entries);
    let switches = facts.iter().any(|facts| facts.signal().switches_threads());
    let threaded = interface.threads.map_or(switches, |threads| threads == 2);
    let program = Program { facts: &facts, flow: &flow, interface, info, threaded };
    let mut findings = Findings::default();
    program.check_instructions(&mut findings);
    program.check_sequences(&mut findings);
    program.check_delay_slots(&mut findings);
    let states = program.states();
    program.check_end(&states, &mut findings);
    program.check_values(&states, &mut findings);
    program.check_semaphores(&mut findings);
    if rules == Rules::All {
        program.check_doubtful(&states, &mut findings);
    }
    for finding in &mut findings.list {
        // The appended end has no word of its own: a finding there is reported at the program's last instruction.
        finding.at = finding.at.min(words.len().saturating_sub(1));
    }
    findings.list.sort_by_key(|finding| (finding.at, finding.code));
    findings.list
}

/// Checks an assembled program; places are those of its sources.
pub fn check_assembly(assembly: &Assembly) -> Diagnostics {
    check_assembly_by(Rules::Sure, assembly)
}

/// Checks an assembled program by some of the rules.
pub fn check_assembly_by(rules: Rules, assembly: &Assembly) -> Diagnostics {
    let findings = check_by(rules, &assembly.words, &assembly.info, &assembly.interface);
    let spans: Vec<Span> = assembly.info.iter().map(|info| info.span).collect();
    let mut diagnostics = diagnostics(findings, &spans, assembly.warnings.sources.clone());
    diagnostics.list.retain(|found| found.severity == Severity::Error || !assembly.allowed.contains(&found.code));
    diagnostics
}

/// Checks words without a source; places refer to their disassembly.
pub fn check_words(words: &[u64], interface: &Interface) -> Diagnostics {
    check_words_by(Rules::Sure, words, interface)
}

/// The same with a chosen set of rules.
pub fn check_words_by(rules: Rules, words: &[u64], interface: &Interface) -> Diagnostics {
    let findings = check_by(rules, words, &[], interface);
    let text = disassemble(words, Style { offsets: true });
    let mut spans = Vec::with_capacity(words.len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with(':') {
            let code = line.split("  #").next().unwrap_or(line).trim_end();
            spans.push(Span { file: 0, start, end: start + code.len() as u32 });
        }
        start += line.len() as u32;
    }
    diagnostics(findings, &spans, vec![Source::new("disassembly", text)])
}

fn diagnostics(findings: Vec<Finding>, spans: &[Span], sources: Vec<Source>) -> Diagnostics {
    let place = |at: usize| spans.get(at).copied();
    let list = findings
        .into_iter()
        .map(|finding| {
            let Finding { code, severity, at, related, message } = finding;
            let related = related.and_then(|(at, what)| Some((place(at)?, what.to_owned()))).into_iter().collect();
            let help = code.explanation().to_owned();
            Diagnostic { code, severity, message, span: place(at), related, help: Some(help) }
        })
        .collect();
    Diagnostics { list, sources }
}

//! Puts a tail behind a program, and ends both.
//!
//! The end takes no instruction of its own where the last ones leave room for it: the signal "program end" goes to the third from the end, because its two
//! delay slots are executed, and "scoreboard unlock" to the last, together with the write of the colour. Broadcom's compiler ends programs like this on every
//! chip after the first revision of the BCM2708 [brcm glsl_allocator_4.c, without HW-1637], the guide's list of restrictions allows it [AG p.37], and Mesa
//! appends two instructions instead. As in Broadcom's programs, the scoreboard is not first waited for by the last instructions: an earlier one has the signal
//! "wait for scoreboard".
//!
//! Z must not be written near the end: the flags of its test would be written back to a quad of the next program [brcm HW-2806]. So the write of Z moves up
//! between the program's last instructions, if these do not depend on it, and needs no nops behind it:
//!
//! ```text
//!     fadd r3, r3, r1                 mov tlbz, rb15
//!     fmul r0.8as, r1, r2             fadd r3, r3, r1
//!     fmul r0.8bs, r1, r3             fmul r0.8as, r1, r2
//!     fmul r0.8cs, r2, r3             fmul r0.8bs, r1, r3; thrend
//!     mov tlbz, rb15                  fmul r0.8cs, r2, r3
//!     mov tlbc, r0                    mov tlbc, r0; sbdone
//!     nop
//!     nop; thrend
//!     nop
//!     nop; sbdone
//! ```
//!
//! It stays behind requests to the TMUs and their results: other programs would wait for the pixels as long as a lookup takes. Broadcom's scheduler places the
//! wait behind the last lookup, too [brcm glsl_scheduler_4.c].

use alloc::vec::Vec;
use v3d_hw::qpu::{
    Accesses, Alu, BRANCH_DELAY_SLOTS, Condition, File, Hazard, INSTRUCTION_BYTES, Instruction, MulOp, Mux, ReadSource,
    Signal, THREAD_DELAY_SLOTS, WriteTarget, accesses::Write, accesses::register_bit, address_sets,
};

use super::{DEPTH_REGISTER, Tail};

/// Instructions from a write of Z to the program's last.
const AFTER_Z: usize = Hazard::EndAfterTlbZ.distance() as usize;
/// Instructions of a fragment shader before it may wait for the scoreboard.
const BEFORE_SCOREBOARD: usize = Hazard::ScoreboardAfterStart.between() as usize;
/// Maximum number of instructions from one that waits for the scoreboard to the one that ends the program.
const MAX_AHEAD: usize = 8;
/// Instructions from the one that ends the program to the last.
const END_SLOTS: usize = THREAD_DELAY_SLOTS as usize;
/// Instructions from a branch to the first behind its delay slots.
const BEHIND_BRANCH: usize = 1 + BRANCH_DELAY_SLOTS as usize;

/// [`Alu::NOP`] as a word.
const NOP: u64 = 0x1000_09e7_009e_7000;
/// `mov tlbz, rb15`, as tails have it.
const WRITE_Z: Alu =
    Alu { waddr_mul: WriteTarget::TlbZ.address(), raddr_b: DEPTH_REGISTER, mul_a: Mux::B, mul_b: Mux::B, ..MOVE_R0 };
/// `mov tlbc, r0`, as tails have it.
const WRITE_COLOR: Alu = Alu { waddr_mul: WriteTarget::TlbColorAll.address(), ..MOVE_R0 };
/// A move of r0 to nowhere.
const MOVE_R0: Alu =
    Alu { op_mul: MulOp::V8min, cond_mul: Condition::Always, mul_a: Mux::R0, mul_b: Mux::R0, ..Alu::NOP };

/// A program with its tail and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Instructions.
    pub words: Vec<u64>,
    /// Instructions of the program alone.
    program: usize,
    /// Index of the write of Z that stands between instructions of the program.
    inserted: Option<usize>,
}

impl Joined {
    /// The index that an instruction had in the program; none for one of the tail.
    pub fn place_in_program(&self, at: usize) -> Option<usize> {
        let place = match self.inserted {
            Some(inserted) if inserted == at => return None,
            Some(inserted) if inserted < at => at - 1,
            _ => at,
        };
        (place < self.program).then_some(place)
    }
}

impl Tail {
    /// The program, the tail behind it, and the end of both.
    pub fn append_to(&self, program: &[u64]) -> Joined {
        let straight = start_of_straight_line_code(program);
        let direct = if self.writes_color_only() { with_color_written(program, straight) } else { None };
        let inserted = self.place_of_z(program, straight, direct.is_some());
        let mut words = [program, &self.words].concat();
        if let Some(at) = inserted {
            words[at..=program.len()].rotate_right(1);
        }
        if let Some(word) = direct
            && (inserted.is_some() || self.words.len() == 1)
        {
            words.pop();
            words.pop();
            words.push(word);
        }
        end(&mut words, straight);
        Joined { words, program: program.len(), inserted }
    }

    /// Whether it only writes the colour in r0 to the tile buffer and, perhaps, Z before.
    fn writes_color_only(&self) -> bool {
        match self.words[..] {
            [color] => is(color, WRITE_COLOR),
            [z, color] => is(z, WRITE_Z) && is(color, WRITE_COLOR),
            _ => false,
        }
    }

    /// Where in the program the write of Z goes, if the tail begins with it: far enough from the end, or as far as the program's last instructions allow.
    /// `is_direct`: the tail's write of the colour takes no instruction.
    fn place_of_z(&self, program: &[u64], straight: usize, is_direct: bool) -> Option<usize> {
        if !is(*self.words.first()?, WRITE_Z) {
            return None;
        }
        let behind = self.words.len() - 1 - usize::from(is_direct);
        let highest = program.len().saturating_sub(AFTER_Z.saturating_sub(behind)).max(straight).max(BEFORE_SCOREBOARD);
        let mut found = None;
        for at in (highest..program.len()).rev() {
            if !may_follow_z(&accesses(program[at])) {
                break;
            }
            // What was rotated can be read later than other results.
            let is_fresh = program[at.saturating_sub(2)..at].iter().any(|&word| writes_depth(&accesses(word)));
            if !is_fresh && !follows_delay(program, at) {
                found = Some(at);
            }
        }
        found
    }
}

fn is(word: u64, alu: Alu) -> bool {
    Instruction::decode(word) == Instruction::Alu(alu)
}

fn accesses(word: u64) -> Accesses {
    Instruction::decode(word).accesses()
}

/// Whether an instruction has delay slots.
fn has_delay_slots(accesses: &Accesses) -> bool {
    accesses.branch.is_some() || accesses.signal.switches_threads()
}

/// Whether an instruction at an index is, or may be, in the delay slots of another.
fn follows_delay(words: &[u64], at: usize) -> bool {
    words[at.saturating_sub(BEHIND_BRANCH - 1)..at].iter().any(|&word| has_delay_slots(&accesses(word)))
}

fn writes_depth(accesses: &Accesses) -> bool {
    accesses.registers_written() & register_bit(File::B, DEPTH_REGISTER) != 0
}

/// Whether an instruction does the same behind a write of Z as before it: it touches nothing that the test reads or changes, does not wait for other programs
/// or for a lookup, and has no delay slots.
fn may_follow_z(accesses: &Accesses) -> bool {
    let waits = accesses.semaphore.is_some()
        || accesses.reads(ReadSource::MutexAcquire)
        || accesses.signal.loads_tmu().is_some()
        || accesses.signal == Signal::ScoreboardWait;
    let writes_unit = accesses.written().any(|write| write.target.is_peripheral() && !write.target.is_sfu());
    !waits
        && !writes_unit
        && !accesses.reads(ReadSource::MsFlags)
        && !accesses.signal.loads_tile()
        && !writes_depth(accesses)
        && !has_delay_slots(accesses)
}

/// Whether an instruction may be one of a program's last three [AG p.22, p.37]: it takes nothing from the streams of the next program, and no result of it
/// arrives there.
fn may_be_near_the_end(accesses: &Accesses) -> bool {
    let takes = accesses.takes_uniform()
        || accesses.reads(ReadSource::Varying)
        || accesses.writes_any(address_sets::TMU)
        || accesses.writes_to(WriteTarget::UniformsAddress);
    let arrives_later = accesses.writes_any(address_sets::SFU);
    let shares = accesses.semaphore.is_some() || accesses.reads(ReadSource::MutexAcquire);
    !takes && !arrives_later && !shares && !accesses.accesses_register_14() && !has_delay_slots(accesses)
}

/// The index from which a program is straight-line code: there is no branch and no delay slot from it on, and no branch jumps past it. The program's length, if
/// a branch leads to an address in a register.
fn start_of_straight_line_code(program: &[u64]) -> usize {
    let mut start = 0;
    for (at, &word) in program.iter().enumerate() {
        let Instruction::Branch(branch) = Instruction::decode(word) else { continue };
        let behind = at + BEHIND_BRANCH;
        let target = (behind as i64 + i64::from(branch.immediate) / i64::from(INSTRUCTION_BYTES)).max(0) as usize;
        if branch.reg || !branch.rel || target > program.len() {
            return program.len();
        }
        start = start.max(target).max(behind);
    }
    start
}

/// The program's last instruction, if it computes a whole colour, with the tile buffer instead of r0 as its target.
fn with_color_written(program: &[u64], straight: usize) -> Option<u64> {
    let at = program.len().checked_sub(1)?;
    let Instruction::Alu(alu) = Instruction::decode(program[at]) else { return None };
    let accesses = Instruction::Alu(alu).accesses();
    let is_color = |write: &Write| write.happens() && write.target == WriteTarget::Accumulator(0);
    let alone = accesses.coupled_accesses() == 0 && accesses.written().all(|write| !write.target.is_peripheral());
    let is_plain =
        alu.pack == 0 && accesses.rotation.is_none() && matches!(alu.sig, Signal::None | Signal::SmallImmediate);
    if at < straight.max(BEFORE_SCOREBOARD) || !alone || !is_plain || follows_delay(program, at) {
        return None;
    }
    let color = WriteTarget::TlbColorAll.address();
    let changed = match &accesses.writes {
        [add, mul] if is_color(add) && !is_color(mul) && add.replaces() => Alu { waddr_add: color, ..alu },
        [add, mul] if is_color(mul) && !is_color(add) && mul.replaces() => Alu { waddr_mul: color, ..alu },
        _ => return None,
    };
    Instruction::Alu(changed).encode().ok()
}

/// Puts the signals of the end into the first instructions that can have them, and appends instructions that do nothing where none can.
fn end(words: &mut Vec<u64>, straight: usize) {
    let from = words.len().saturating_sub(AFTER_Z);
    let z = words.iter().skip(from).rposition(|&word| accesses(word).writes_to(WriteTarget::TlbZ));
    let after_z = z.map_or(0, |z| (from + z + AFTER_Z).saturating_sub(END_SLOTS));
    let waits = |accesses: Accesses| accesses.accesses_samples() || accesses.signal == Signal::ScoreboardWait;
    let first_wait = words.iter().position(|&word| waits(accesses(word)));
    let mut at = words.len().saturating_sub(END_SLOTS + 1).max(straight).max(after_z);
    loop {
        while words.len() <= at + END_SLOTS {
            words.push(NOP);
        }
        let needs_wait = first_wait.is_some_and(|first| first > at);
        if let Some(signalled) = with_signals_of_end(words, at, straight, needs_wait) {
            signalled.into_iter().for_each(|(place, word)| words[place] = word);
            return;
        }
        at += 1;
    }
}

/// The instructions that get a signal, with it, if the program can end at an index: the one that ends it, the last one, which unlocks the scoreboard, and an
/// earlier one that waits for the scoreboard if that `needs_wait`.
fn with_signals_of_end(words: &[u64], at: usize, straight: usize, needs_wait: bool) -> Option<Vec<(usize, u64)>> {
    let last = at + END_SLOTS;
    let fit = words[at..=last].iter().all(|&word| may_be_near_the_end(&accesses(word)));
    if !fit || follows_delay(words, at) || accesses(words[at]).registers_written() != 0 {
        return None;
    }
    let ends = [(Signal::None, Signal::ProgramEnd), (Signal::LoadColor, Signal::LoadColorEnd)];
    let unlocks = [(Signal::None, Signal::ScoreboardUnlock)];
    let mut signalled = Vec::from([(at, with_signal(words[at], &ends)?), (last, with_signal(words[last], &unlocks)?)]);
    if needs_wait {
        signalled.push(place_of_wait(words, at, straight)?);
    }
    Some(signalled)
}

/// The last instruction before the end that can wait for the scoreboard, behind all lookups and not far away: its index and its word with the signal.
fn place_of_wait(words: &[u64], end: usize, straight: usize) -> Option<(usize, u64)> {
    let first = straight.max(BEFORE_SCOREBOARD).max(end.saturating_sub(MAX_AHEAD));
    for place in (first..end).rev() {
        let word = words[place];
        if let Some(word) = with_signal(word, &[(Signal::None, Signal::ScoreboardWait)])
            && !follows_delay(words, place)
        {
            return Some((place, word));
        }
        let accesses = accesses(word);
        if accesses.signal.loads_tmu().is_some() || has_delay_slots(&accesses) {
            return None;
        }
    }
    None
}

/// An ALU instruction with another signal, by pairs of the signal that it has and the one that it gets.
fn with_signal(word: u64, pairs: &[(Signal, Signal)]) -> Option<u64> {
    let Instruction::Alu(alu) = Instruction::decode(word) else { return None };
    let &(_, sig) = pairs.iter().find(|(before, _)| *before == alu.sig)?;
    Instruction::Alu(Alu { sig, ..alu }).encode().ok()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::tests::{expect_no_errors, words as assembled};
    use super::super::{Depth, TailState};
    use super::*;

    const PLAIN: TailState = TailState::PLAIN;
    const DEPTH: TailState = TailState { depth: Depth::LESS, ..PLAIN };

    /// Compares what is made of a program with `expected`, and asks the checker about it.
    fn check(source: &str, state: TailState, expected: &str) {
        let program = assembled(source);
        let joined = state.build().unwrap().append_to(&program);
        let shown = |words: &[u64]| qpu::disassemble(words, qpu::disassembler::Style::default());
        let wanted = assembled(expected);
        assert!(joined.words == wanted, "\n{}is not\n{}", shown(&joined.words), shown(&wanted));
        expect_no_errors(&joined.words, 1, &state);
        let places: Vec<usize> = (0..joined.words.len()).filter_map(|at| joined.place_in_program(at)).collect();
        assert!(places.is_sorted() && places.iter().all(|place| *place < program.len()), "{places:?}");
    }

    #[test]
    fn the_last_instructions_carry_the_signals_of_the_end() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2";
        let check = |program: &str, expected: &str| {
            check(&[start, program].concat(), PLAIN, &[start, expected].concat());
        };
        check(
            "\nfmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, r3",
            "; sbwait\nfmul r0.8asf, r1, r2; thrend\nfmul r0.8bsf, r1, r3\nmmov tlbc, r0; sbdone",
        );
        // A small immediate, a register of a file, a uniform, and a request to a TMU stand in the way.
        check(
            "\nfmul r0.8asf, r1, 1.0\nfmul r0.8bsf, r1, r3",
            "; sbwait\nfmul r0.8asf, r1, 1.0\nfmul r0.8bsf, r1, r3; thrend\nmmov tlbc, r0\nsbdone",
        );
        check(
            "\nmov rb1, r1\nfmul r0.8bsf, r1, r3",
            "\nmov rb1, r1; sbwait\nfmul r0.8bsf, r1, r3; thrend\nmmov tlbc, r0\nsbdone",
        );
        check(
            "\nfmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, unif",
            "\nfmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, unif\nmmov tlbc, r0; thrend\nnop\nsbdone",
        );
        // Nothing waits for the scoreboard before a lookup.
        check(
            "\nmov t0s, r1\nldtmu0\nfmul r0.8bsf, r4, r2",
            "\nmov t0s, r1\nldtmu0\nfmul r0.8bsf, r4, r2\nmmov tlbc, r0; thrend\nnop\nsbdone",
        );
        // So do register 14, a request to the SFU, the address of the uniforms, and a semaphore, whose instruction has no room for a signal.
        let (before, after) = ("\nfmul r0.8asf, r1, r2", "\nfmul r0.8bsf, r1, r3");
        let whole = [before, "; thrend", after, "\nmmov tlbc, r0; sbdone"].concat();
        let late = [after, "; thrend\nmmov tlbc, r0\nsbdone"].concat();
        for kept in ["\nmov r3, ra14", "\nmov recip, r1", "\nmov unif_addr, r1"] {
            check(&[kept, before, after].concat(), &[kept, "; sbwait", &whole].concat());
            check(&[before, kept, after].concat(), &[before, kept, "; sbwait", &late].concat());
        }
        let kept = "\nsacq -, 1";
        check(&[kept, before, after].concat(), &["; sbwait", kept, &whole].concat());
        check(&[before, kept, after].concat(), &[before, "; sbwait", kept, &late].concat());
    }

    #[test]
    fn a_whole_colour_is_written_to_the_tile_buffer_by_what_computes_it() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\nfadd r2, r1, r2";
        let end = "; sbwait\nfadd r3, r3, r2; thrend\nfadd.setf r3, r3, r2\n";
        let check = |last: &str, state, expected: &str| {
            check(&[start, "\nfadd r3, r3, r2\nfadd.setf r3, r3, r2\n", last].concat(), state, expected);
        };
        for (last, written) in [
            ("v8muld r0, r1, r3", "v8muld tlbc, r1, r3"),
            ("add r0, r1, r3; v8muld r2, r1, r1", "add tlbc, r1, r3; v8muld r2, r1, r1"),
        ] {
            check(last, PLAIN, &[start, end, written, "; sbdone"].concat());
            let z = "mov r1, 1.0\nmov r2, 2.0\nmmov tlbz, rb15\nfadd r3, r1, r2\nfadd r2, r1, r2\nfadd r3, r3, r2; thrend\nfadd.setf r3, r3, r2\n";
            check(last, DEPTH, &[z, written, "; sbdone"].concat());
        }
        // A byte of it, some elements of it, what is rotated, and what two operations write.
        let end = "\nfadd r3, r3, r2; sbwait\nfadd.setf r3, r3, r2; thrend\n";
        for last in [
            "fmul r0.8csf, r1, r3",
            "v8muld.ifz r0, r1, r3",
            "add.ifz r0, r1, r3; v8muld.ifnz r0, r1, r1",
            "mov r0, r1 << 3",
        ] {
            check(last, PLAIN, &[start, end, last, "\nmmov tlbc, r0; sbdone"].concat());
        }
    }

    #[test]
    fn z_is_written_between_the_last_instructions() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\n";
        let [third, second, last] =
            ["fadd r3, r3, r2\nfadd r3, r3, r1\n", "fmul r0.8asf, r1, r2", "\nfmul r0.8bsf, r1, r3"];
        let (z, end) = ("mmov tlbz, rb15\n", "\nmmov tlbc, r0; sbdone");
        check(
            &[start, third, second, last].concat(),
            DEPTH,
            &[start, z, third, second, "; thrend", last, end].concat(),
        );
        // What it must stay behind: a depth of the program, the mask of samples, what changes the pixels, and what waits.
        let behind = "mmov tlbz, rb15\nfmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, r3\nmmov tlbc, r0; thrend\nnop\nsbdone";
        for kept in ["mov ms_mask, r1\n", "mov r3, ms_mask\n", "mov quad_x, r1\n", "sacq -, 1\n"] {
            check(&[start, third, kept, second, last].concat(), DEPTH, &[start, third, kept, behind].concat());
        }
        let fresh =
            "fmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, r3\nmmov tlbz, rb15\nmmov tlbc, r0\nnop\nthrend\nnop\nsbdone";
        check(
            &[start, third, "mov rb15, r1\n", second, last].concat(),
            DEPTH,
            &[start, third, "mov rb15, r1\n", fresh].concat(),
        );
        let lookup = "mov t0s, r1\nldtmu0\nfmul r0.8asf, r4, r2";
        let expected = "mov t0s, r1\nldtmu0\nmmov tlbz, rb15\nfmul r0.8asf, r4, r2\nmmov tlbc, r0\nthrend\nnop\nsbdone";
        check(&[start, lookup].concat(), DEPTH, &[start, expected].concat());
    }

    #[test]
    fn branches_and_thread_switches_keep_the_end_behind_them() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\n";
        let branch = "fadd.setf r3, r3, r2\nbrr.anyz -, :end\nnop\nnop\nnop\n";
        let skipped = "fadd r3, r3, r2\nfadd r3, r3, r1\nfmul r0.8asf, r1, r2\n";
        // Of what a branch jumps to, the first can have the end's first signal, and Z can stand before it.
        let last = "fmul r0.8bsf, r1, r3";
        let program = [start, branch, skipped, ":end\n", last].concat();
        let plain = [start, branch, skipped, ":end\n", last, "\nmmov tlbc, r0; thrend\nnop\nsbdone"].concat();
        check(&program, PLAIN, &plain);
        let depth = [":end\nmmov tlbz, rb15\n", last, "\nmmov tlbc, r0\nnop; thrend\nnop\nsbdone"].concat();
        check(&program, DEPTH, &[start, branch, skipped, &depth].concat());
        // A colour that a branch can jump past is not written by what computes it.
        let program = [start, branch, skipped, "v8muld r0, r1, r3\n:end"].concat();
        let joined = PLAIN.build().unwrap().append_to(&assembled(&program));
        assert_eq!(joined.words[..12], assembled(&program));
        // The end stays behind a switch of threads. What is computed in the last two instructions before it takes effect would be lost.
        for at in 0..4 {
            let mut lines = std::vec!["nop"; 6];
            lines[at] = "nop; lthrsw";
            let program = ["mov ra1, 1.0\nnop\nnop\n", &lines.join("\n"), "\nv8muld r0, ra1, ra1"].concat();
            for state in [PLAIN, DEPTH] {
                let joined = state.build().unwrap().append_to(&assembled(&program));
                let switch = 3 + at;
                let moved = joined.words.iter().position(|&word| accesses(word).accesses_samples()).unwrap();
                let end = joined.words.iter().position(|&word| accesses(word).signal.ends_program()).unwrap();
                assert!(moved > switch + END_SLOTS && end > switch + END_SLOTS, "{at} {state:?}");
                expect_no_errors(&joined.words, 2, &state);
            }
        }
    }

    /// A program that writes Z itself, with an empty tail.
    #[test]
    fn the_end_keeps_away_from_a_write_of_z_in_the_program() {
        let program = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\nmmov tlbz, rb15";
        let none = TailState { color_mask: 0, ..PLAIN };
        check(program, none, &[program, "\nnop\nnop\nnop; thrend\nnop\nsbdone"].concat());
    }

    #[test]
    fn instructions_of_the_program_are_found_again() {
        let program = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\nfadd r3, r3, r2\nfadd r3, r3, r1\nfmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, r3";
        let joined = DEPTH.build().unwrap().append_to(&assembled(program));
        let places: Vec<Option<usize>> = (0..joined.words.len()).map(|at| joined.place_in_program(at)).collect();
        let own = [Some(0), Some(1), Some(2), None, Some(3), Some(4), Some(5), Some(6), None];
        assert_eq!(places, own);
        assert_eq!(PLAIN.build().unwrap().append_to(&assembled(program)).place_in_program(6), Some(6));
    }
}

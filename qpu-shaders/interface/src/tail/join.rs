//! Puts a tail behind a program, and ends both.
//!
//! The end takes no instruction of its own where the last ones leave room for it: the signal "program end" goes to the third from the end, because its two
//! delay slots are executed, and "scoreboard unlock" to the last, together with the write of the colour. Broadcom's compiler ends programs like this on every
//! chip after the first revision of the BCM2708 [brcm glsl_allocator_4.c, without HW-1637], the guide's list of restrictions allows it [AG p.37], and Mesa
//! appends two instructions instead.
//!
//! Z must not be written near the end (HW-2806). It moves up between the program's last instructions, which need it as little as it needs them, instead of
//! being followed by instructions that do nothing:
//!
//! ```text
//!     fmul r0.8as, r1, r2             fmul r0.8as, r1, r2
//!     fmul r0.8bs, r1, r3             mov tlbz, rb15
//!     fmul r0.8cs, r1, ra1            fmul r0.8bs, r1, r3
//!     fmul r0.8ds, r1, ra2            fmul r0.8cs, r1, ra1
//!     mov tlbz, rb15                  fmul r0.8ds, r1, ra2; thrend
//!     nop                             nop
//!     nop                             mov tlbc, r0; sbdone
//!     mov tlbc, r0; thrend
//!     nop
//!     sbdone
//! ```

use alloc::vec::Vec;
use v3d_hw::qpu::{
    Accesses, Alu, BRANCH_DELAY_SLOTS, Condition, File, Hazard, Instruction, MulOp, Mux, ReadSource, Signal,
    THREAD_DELAY_SLOTS, WriteTarget, accesses::Write, accesses::register_bit, address_sets,
};

use super::Tail;

/// Instructions from a write of Z to the program's last.
const AFTER_Z: usize = Hazard::EndAfterTlbZ.distance() as usize;
/// Instructions of a fragment shader before it may wait for the scoreboard.
const BEFORE_SCOREBOARD: usize = Hazard::ScoreboardAfterStart.between() as usize;
/// Instructions from the one that ends the program to the last.
const END_SLOTS: usize = THREAD_DELAY_SLOTS as usize;
/// Instructions from a branch to the first that it can leave out.
const BRANCH_REACH: usize = 1 + BRANCH_DELAY_SLOTS as usize;

/// An instruction that does nothing.
const NOP: u64 = 0x1000_09e7_009e_7000;

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

/// What an instruction accesses, and what follows from that for the end.
struct Placed {
    accesses: Accesses,
}

impl Placed {
    fn of(word: u64) -> Self {
        Self { accesses: Instruction::decode(word).accesses() }
    }

    /// Whether it has delay slots, among which nothing may be put.
    fn has_slots(&self) -> bool {
        self.accesses.branch.is_some() || self.accesses.signal.switches_threads()
    }

    /// Whether it does the same after a write of Z as before it, which reads and writes nothing but `DEPTH` and the tile buffer.
    fn ignores_z(&self) -> bool {
        let pixels = [ReadSource::MsFlags, ReadSource::RevFlag];
        !pixels.iter().any(|&source| self.accesses.reads(source))
            && !self.accesses.writes_to(WriteTarget::MsFlags)
            && !self.accesses.writes_to(WriteTarget::RevFlag)
            && !self.accesses.accesses_tile_buffer()
            && !self.writes_depth()
            && !self.has_slots()
    }

    fn writes_depth(&self) -> bool {
        let depth = register_bit(File::B, super::DEPTH_REGISTER);
        self.accesses.registers_written() & depth != 0
    }

    /// Whether it may be one of a program's last three [AG p.37]. Requests to a TMU take uniforms.
    fn may_be_near_the_end(&self) -> bool {
        let takes = self.accesses.takes_uniform()
            || self.accesses.reads(ReadSource::Varying)
            || self.accesses.writes_any(address_sets::TMU);
        !takes && !self.accesses.accesses_register_14() && !self.has_slots()
    }
}

/// The first instruction that all branches of a program leave alone: none leads behind it. `None` if one leads to a register's address.
fn first_behind_branches(program: &[u64]) -> Option<usize> {
    let mut first = 0;
    for (at, &word) in program.iter().enumerate() {
        let Instruction::Branch(branch) = Instruction::decode(word) else { continue };
        if branch.reg || !branch.rel {
            return None;
        }
        let bytes = (at + BRANCH_REACH) as i64 * 8 + i64::from(branch.immediate);
        first = first.max(usize::try_from(bytes / 8).ok()?).max(at + BRANCH_REACH);
    }
    Some(first)
}

impl Tail {
    /// The program, the tail behind it, and the end of both.
    pub fn append_to(&self, program: &[u64]) -> Joined {
        let mut words = [program, &self.words].concat();
        // Between the target of the last branch and the end, all instructions are executed one after the other.
        let straight = first_behind_branches(program).unwrap_or(program.len());
        let inserted = self.place_between(program, straight);
        if let Some(at) = inserted {
            words[at..=program.len()].rotate_right(1);
        }
        let z = inserted.or(self.z.map(|z| program.len() + z));
        write_color_directly(&mut words, straight);
        end(&mut words, straight, z);
        Joined { words, program: program.len(), inserted }
    }

    /// Where the write of Z that the tail begins with can stand in the program instead, so that nothing need follow it before the end.
    fn place_between(&self, program: &[u64], straight: usize) -> Option<usize> {
        let z_alone = Instruction::decode(*self.words.first()?) == Instruction::Alu(WRITE_Z);
        // The instructions behind Z are those of the tail, and as many of the program as are missing.
        let behind = AFTER_Z.saturating_sub(self.words.len() - 1);
        let at = program.len().checked_sub(behind)?;
        if !z_alone || behind == 0 || at < straight.max(BEFORE_SCOREBOARD) {
            return None;
        }
        let is_free = program[at..].iter().all(|&word| Placed::of(word).ignores_z());
        let before = &program[at.saturating_sub(BRANCH_REACH - 1)..at];
        let slots = before.iter().any(|&word| Placed::of(word).has_slots());
        let fresh = Placed::of(program[at - 1]).writes_depth();
        (is_free && !slots && !fresh).then_some(at)
    }
}

/// `mov tlbz, rb15`, as tails have it.
const WRITE_Z: Alu = Alu {
    waddr_mul: WriteTarget::TlbZ.address(),
    raddr_b: super::DEPTH_REGISTER,
    mul_a: Mux::B,
    mul_b: Mux::B,
    ..MOVE_R0
};
/// `mov tlbc, r0`.
const WRITE_COLOR: Alu = Alu { waddr_mul: WriteTarget::TlbColorAll.address(), ..MOVE_R0 };
/// A move of r0 to nowhere.
const MOVE_R0: Alu =
    Alu { op_mul: MulOp::V8min, cond_mul: Condition::Always, mul_a: Mux::R0, mul_b: Mux::R0, ..Alu::NOP };

/// Where the last operation of the program computes a whole colour, it writes that to the tile buffer and not to r0.
fn write_color_directly(words: &mut Vec<u64>, straight: usize) {
    let [.., before, last] = words.as_slice() else { return };
    let at = words.len() - 2;
    let Instruction::Alu(mut alu) = Instruction::decode(*before) else { return };
    let accesses = Instruction::Alu(alu).accesses();
    let [add, mul] = &accesses.writes;
    let is_r0 = |write: &&Write| write.happens() && write.target == WriteTarget::Accumulator(0);
    let writers = [add, mul].into_iter().filter(is_r0).count();
    let alone = accesses.coupled_accesses() == 0 && accesses.written().all(|write| !write.target.is_peripheral());
    if Instruction::decode(*last) != Instruction::Alu(WRITE_COLOR)
        || at < straight.max(BEFORE_SCOREBOARD)
        || writers != 1
        || !alone
        || alu.pack != 0
    {
        return;
    }
    let color = WriteTarget::TlbColorAll.address();
    if is_r0(&add) && add.replaces() {
        alu.waddr_add = color;
    } else if is_r0(&mul) && mul.replaces() {
        alu.waddr_mul = color;
    } else {
        return;
    }
    if let Ok(word) = Instruction::Alu(alu).encode() {
        words.truncate(at);
        words.push(word);
    }
}

/// Puts the two signals of the end into the first instructions that can have them, and appends instructions that do nothing where none can.
fn end(words: &mut Vec<u64>, straight: usize, z: Option<usize>) {
    let mut at = words.len().saturating_sub(END_SLOTS + 1).max(straight);
    if let Some(z) = z {
        at = at.max((z + AFTER_Z).saturating_sub(END_SLOTS));
    }
    loop {
        while words.len() <= at + END_SLOTS {
            words.push(NOP);
        }
        if let Some((first, last)) = ended(words, at) {
            words[at] = first;
            words[at + END_SLOTS] = last;
            return;
        }
        at += 1;
    }
}

/// The instruction that ends the program at an index, and the last one after it, with their signals.
fn ended(words: &[u64], at: usize) -> Option<(u64, u64)> {
    let slots = &words[at.saturating_sub(BRANCH_REACH - 1)..at];
    if slots.iter().any(|&word| Placed::of(word).has_slots()) {
        return None;
    }
    let last_three = &words[at..=at + END_SLOTS];
    if !last_three.iter().all(|&word| Placed::of(word).may_be_near_the_end()) {
        return None;
    }
    let first = Placed::of(words[at]);
    if first.accesses.registers_written() != 0 {
        return None;
    }
    let signalled = |word, from: &[(Signal, Signal)]| {
        let Instruction::Alu(alu) = Instruction::decode(word) else { return None };
        let &(_, sig) = from.iter().find(|(before, _)| *before == alu.sig)?;
        Instruction::Alu(Alu { sig, ..alu }).encode().ok()
    };
    let ends = [(Signal::None, Signal::ProgramEnd), (Signal::LoadColor, Signal::LoadColorEnd)];
    let first = signalled(words[at], &ends)?;
    let last = signalled(words[at + END_SLOTS], &[(Signal::None, Signal::ScoreboardUnlock)])?;
    Some((first, last))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use qpu::Interface;
    use qpu::interface::Stage;

    use super::super::blend::Blend;
    use super::super::{Depth, TailState};
    use super::*;

    const PLAIN: TailState = TailState::PLAIN;
    const DEPTH: TailState = TailState { depth: Depth::LESS, ..PLAIN };

    fn assembled(source: &str) -> Vec<u64> {
        qpu::assemble(&[qpu::Source::new("program", source)], &qpu::Options::default()).unwrap().words
    }

    /// Compares what is made of a program with `expected`, and asks the checker about it.
    fn check(source: &str, state: TailState, expected: &str) {
        let program = assembled(source);
        let joined = state.build().unwrap().append_to(&program);
        let shown = |words: &[u64]| qpu::disassemble(words, qpu::disassembler::Style::default());
        let wanted = assembled(expected);
        assert!(joined.words == wanted, "\n{}is not\n{}", shown(&joined.words), shown(&wanted));
        let interface = Interface { stage: Stage::Fragment, threads: Some(1), ..Interface::default() };
        let found = qpu::check::check_words(&joined.words, &interface);
        assert!(!found.has_errors(), "{found}");
        let places: Vec<usize> = (0..joined.words.len()).filter_map(|at| joined.place_in_program(at)).collect();
        assert!(places.is_sorted() && places.iter().all(|place| *place < program.len()), "{places:?}");
    }

    #[test]
    fn the_last_instructions_carry_the_signals_of_the_end() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\n";
        let check = |program: &str, expected: &str| {
            check(&[start, program].concat(), PLAIN, &[start, expected].concat());
        };
        check(
            "fmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, r3",
            "fmul r0.8asf, r1, r2; thrend\nfmul r0.8bsf, r1, r3\nmmov tlbc, r0; sbdone",
        );
        // A small immediate, a register of a file, a uniform, and a request to a TMU stand in the way.
        check(
            "fmul r0.8asf, r1, 1.0\nfmul r0.8bsf, r1, r3",
            "fmul r0.8asf, r1, 1.0\nfmul r0.8bsf, r1, r3; thrend\nmmov tlbc, r0\nsbdone",
        );
        check("mov rb1, r1\nfmul r0.8bsf, r1, r3", "mov rb1, r1\nfmul r0.8bsf, r1, r3; thrend\nmmov tlbc, r0\nsbdone");
        check(
            "fmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, unif",
            "fmul r0.8asf, r1, r2\nfmul r0.8bsf, r1, unif\nmmov tlbc, r0; thrend\nnop\nsbdone",
        );
        check(
            "mov t0s, r1\nldtmu0\nfmul r0.8bsf, r4, r2",
            "mov t0s, r1\nldtmu0\nfmul r0.8bsf, r4, r2; thrend\nmmov tlbc, r0\nsbdone",
        );
    }

    #[test]
    fn a_whole_colour_is_written_to_the_tile_buffer_by_what_computes_it() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2; thrend\nfadd r3, r3, r2\n";
        let check = |last: &str, expected: &str| {
            let program = [&start.replace("; thrend", ""), last].concat();
            check(&program, PLAIN, &[start, expected].concat());
        };
        check("v8muld r0, r1, r3", "v8muld tlbc, r1, r3; sbdone");
        check("add r0, r1, r3; v8muld r2, r1, r1", "add tlbc, r1, r3; v8muld r2, r1, r1; sbdone");
        // A byte of it, and some elements of it.
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\nfadd.setf r3, r3, r2; thrend\n";
        for last in ["fmul r0.8csf, r1, r3", "v8muld.ifz r0, r1, r3"] {
            let program = [&start.replace("; thrend", ""), last].concat();
            super::tests::check(&program, PLAIN, &[start, last, "\nmmov tlbc, r0; sbdone"].concat());
        }
    }

    #[test]
    fn z_is_written_between_the_last_instructions() {
        let start = "mov r1, 1.0\nmov r2, 2.0\nfadd r3, r1, r2\n";
        let [third, second, last] =
            ["fadd r3, r3, r2\nfadd r3, r3, r1\n", "fmul r0.8asf, r1, r2", "\nfmul r0.8bsf, r1, r3"];
        let program = [start, third, second, last].concat();
        let end = "\nmmov tlbc, r0; sbdone";
        check(&program, DEPTH, &[start, "mmov tlbz, rb15\n", third, second, "; thrend", last, end].concat());
        // What it must stay behind: a depth of the program, the mask of samples, delay slots, and the target of a branch.
        let append = "\nmmov tlbz, rb15\nmmov tlbc, r0\nnop\nthrend\nnop\nsbdone";
        for kept in ["mov rb15, r1\n", "mov ms_mask, r1\n", "mov r3, ms_mask\n"] {
            let program = [start, third, kept, second, last].concat();
            check(&program, DEPTH, &[&program, append].concat());
        }
        let switch = std::format!("{start}nop; lthrsw\n{third}mov r3, r1\n{second}{last}");
        let joined = DEPTH.build().unwrap().append_to(&assembled(&switch));
        assert_eq!(joined.inserted, None);
        let branch = "fadd.setf r3, r3, r2\nbrr.anyz -, :end\nnop\nnop\nnop\n";
        let program = [start, branch, third, second, "\n:end", last].concat();
        check(&program, DEPTH, &[&program, append].concat());
        // Blending has instructions enough behind it.
        let blend = TailState { blend: Blend::PREMULTIPLIED, ..DEPTH };
        let joined = blend.build().unwrap().append_to(&assembled(&[start, third, second, last].concat()));
        assert_eq!(joined.inserted, None);
    }
}

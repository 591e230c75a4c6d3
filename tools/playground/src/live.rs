//! Live registers: those whose value is read later, before each instruction of a program.
//!
//! A backward data-flow analysis over instructions, repeated until nothing changes, since loops lead backwards. Branches take effect after their three delay
//! slots, program ends and thread switches after two instructions [AG p.20, p.34].

use v3d_hw::qpu::accesses::{Write, accumulators, register_bit};
use v3d_hw::qpu::{Accesses, BRANCH_DELAY_SLOTS, BranchCondition, INSTRUCTION_BYTES, Instruction, Signal, WriteTarget};

/// Instructions that are executed after one with a program end or a thread switch, before that takes effect [AG p.20].
const SIGNAL_DELAY_SLOTS: usize = 2;

/// A set of registers: A 0 to 31, B 0 to 31, r0 to r5, the flags.
type Set = u128;

/// The bit of r0.
const ACCUMULATORS: u32 = 64;
/// The bit of the flags.
const FLAGS: u32 = ACCUMULATORS + accumulators::FLAGS.trailing_zeros();

/// What one instruction does to the set.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    read: Set,
    replaced: Set,
}

fn set(registers: u64, accumulators: u8) -> Set {
    Set::from(registers) | Set::from(accumulators) << ACCUMULATORS
}

impl Effect {
    fn of(accesses: &Accesses) -> Self {
        let replaced = accesses.written().filter(|write| write.replaces()).fold(0, |bits, write: &Write| {
            bits | match write.target {
                WriteTarget::Register(number) => register_bit(write.file, number),
                _ => 0,
            }
        });
        Self {
            read: set(accesses.registers_read(), accesses.accumulators_read() | accesses.rotated),
            replaced: set(replaced, accesses.accumulators_replaced()),
        }
    }

    /// What is live before the instruction if `after` is live behind it.
    fn before(self, after: Set) -> Set {
        after & !self.replaced | self.read
    }
}

/// The names of the registers that are live before each instruction of a program, and of the flags. None if a branch leads to an address that the program's
/// text does not tell.
pub fn live(words: &[u64]) -> Option<Vec<Vec<String>>> {
    let instructions: Vec<Instruction> = words.iter().map(|&word| Instruction::decode(word)).collect();
    let accesses: Vec<Accesses> = instructions.iter().map(Instruction::accesses).collect();
    let effects: Vec<Effect> = accesses.iter().map(Effect::of).collect();
    let successors: Vec<Vec<usize>> =
        (0..words.len()).map(|at| successors(&instructions, at)).collect::<Option<_>>()?;
    // Accumulators and flags keep no value through a thread switch.
    let kept: Vec<Set> = (0..words.len())
        .map(|at| {
            let switch = at.checked_sub(SIGNAL_DELAY_SLOTS).map(|at| accesses[at].signal);
            let switches = matches!(switch, Some(Signal::ThreadSwitch | Signal::LastThreadSwitch));
            if switches { Set::from(u64::MAX) } else { Set::MAX }
        })
        .collect();
    let mut before = vec![0; words.len()];
    loop {
        let mut changed = false;
        for at in (0..words.len()).rev() {
            let after = successors[at].iter().fold(0, |live, &next| live | before.get(next).copied().unwrap_or(0));
            let live = effects[at].before(after & kept[at]);
            changed |= std::mem::replace(&mut before[at], live) != live;
        }
        if !changed {
            break;
        }
    }
    Some(before.into_iter().map(names).collect())
}

/// The instructions that may follow one; an index behind the last one is none.
fn successors(instructions: &[Instruction], at: usize) -> Option<Vec<usize>> {
    let ends = at.checked_sub(SIGNAL_DELAY_SLOTS).is_some_and(|at| instructions[at].signal().ends_program());
    if ends {
        return Some(Vec::new());
    }
    let branch = at.checked_sub(BRANCH_DELAY_SLOTS as usize).map(|at| &instructions[at]);
    let Some(Instruction::Branch(branch)) = branch else { return Some(vec![at + 1]) };
    if !branch.rel || branch.reg {
        return None;
    }
    let target = usize::try_from(at as i64 + 1 + i64::from(branch.immediate) / i64::from(INSTRUCTION_BYTES)).ok()?;
    let falls_through = (branch.cond_br != BranchCondition::Always).then_some(at + 1);
    Some([Some(target), falls_through].into_iter().flatten().collect())
}

fn names(live: Set) -> Vec<String> {
    let mut names = Vec::new();
    for bit in (0..Set::BITS).filter(|bit| live >> bit & 1 != 0) {
        names.push(match bit {
            0..32 => format!("ra{bit}"),
            32..64 => format!("rb{}", bit - 32),
            FLAGS => "flags".to_owned(),
            _ => format!("r{}", bit - ACCUMULATORS),
        });
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use qpu::{Options, Source, assemble};

    fn check(source: &str, expected: &[&str]) {
        let assembly = assemble(&[Source::new("test", source)], &Options::default()).expect("a correct program");
        let live = live(&assembly.words).expect("branches to known places");
        let found: Vec<String> = live.iter().map(|names| names.join(" ")).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn a_value_is_live_from_its_write_to_its_last_read() {
        check(
            "ldi ra1, 1\nldi r1, 2\nadd r0, ra1, r1\nmov vpm, r0\nthrend\nnop\nnop\n",
            &["", "ra1", "ra1 r1", "r0", "", "", ""],
        );
    }

    #[test]
    fn what_only_some_elements_or_bytes_of_are_replaced_stays_live() {
        check(
            "sub.setf -, r1, r2\nldi.ifz ra3, 1\nnop\nmov vpm, ra3\nthrend\nnop\nnop\n",
            &["ra3 r1 r2", "ra3 flags", "ra3", "ra3", "", "", ""],
        );
    }

    #[test]
    fn what_the_next_round_of_a_loop_reads_is_live_at_its_end() {
        check(
            "ldi r0, 9\n:loop\nsub.setf r0, r0, 1\nbrr.anynz -, :loop\nnop\nadd r1, r1, ra2\nnop\nmov vpm, r1\nthrend\nnop\nnop\n",
            &["ra2 r1", "ra2 r0 r1", "ra2 r0 r1 flags", "ra2 r0 r1", "ra2 r0 r1", "ra2 r0 r1", "r1", "", "", ""],
        );
    }

    #[test]
    fn nothing_is_said_of_a_branch_to_an_address_in_a_register() {
        let source = "bra -, ra1\nnop\nnop\nnop\nthrend\nnop\nnop\n";
        let assembly = assemble(&[Source::new("test", source)], &Options::default()).expect("a correct program");
        assert_eq!(live(&assembly.words), None);
    }
}

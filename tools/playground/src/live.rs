//! Live registers: those whose value is read later, before each instruction of a program.
//!
//! A backward data-flow analysis over the checker's control-flow graph, repeated until nothing changes, since loops lead backwards.

use qpu::check::facts::{Facts, Register};
use qpu::check::flow::{Flow, Node, Pending};
use v3d_hw::qpu::accesses::{accumulators, register_bit};
use v3d_hw::qpu::{File, Signal, THREAD_DELAY_SLOTS, WriteTarget};

/// A set of registers: A 0 to 31, B 0 to 31, r0 to r5, the flags.
type Set = u128;

/// The bit of r0.
const ACCUMULATORS: u32 = 64;
/// The bit of the flags.
const FLAGS: u32 = ACCUMULATORS + accumulators::FLAGS.trailing_zeros();

fn set(registers: u64, accumulators: u8) -> Set {
    Set::from(registers) | Set::from(accumulators) << ACCUMULATORS
}

/// What one instruction does to the set.
#[derive(Clone, Copy, Debug)]
struct Effect {
    read: Set,
    replaced: Set,
}

impl Effect {
    fn of(facts: &Facts) -> Self {
        let accesses = &facts.accesses;
        let replaced = accesses.written().filter(|write| write.replaces()).fold(0, |bits, write| match write.target {
            WriteTarget::Register(number) => bits | register_bit(write.file, number),
            _ => bits,
        });
        let flags = accesses.accumulators_read() & accumulators::FLAGS;
        Self {
            read: set(facts.registers_needed, facts.accumulators_needed | flags),
            replaced: set(replaced, accesses.accumulators_replaced()),
        }
    }
}

/// The names of the registers that are live before each instruction of a program, and of the flags. A branch to an address in a register is a routine's return,
/// to behind any of the calls. None if there are such branches and no calls.
pub fn live(words: &[u64]) -> Option<Vec<Vec<String>>> {
    let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
    let is_return = |at: usize| facts[at].branch.is_some_and(|branch| branch.distance.is_none());
    let effects: Vec<Effect> = facts.iter().map(Effect::of).collect();
    // Accumulators and flags keep no value through a thread switch.
    let switches = |at: usize| {
        let signal = at.checked_sub(THREAD_DELAY_SLOTS as usize).map(|at| facts[at].signal());
        matches!(signal, Some(Signal::ThreadSwitch | Signal::LastThreadSwitch))
    };
    let flow = Flow::of(&facts);
    let nodes: Vec<Node> = flow.nodes().collect();
    let behind_calls = flow.entries().get(1..).unwrap_or_default();
    let returns = |node: Node| matches!(flow.pending(node), Pending::Branch(at, 3) if is_return(at));
    if behind_calls.is_empty() && nodes.iter().any(|&node| returns(node)) {
        return None;
    }
    let mut before: Vec<Set> = vec![0; flow.table_len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &node in nodes.iter().rev() {
            let at = flow.at(node);
            let returned = if returns(node) { behind_calls } else { &[] };
            let after = flow.successors(node).iter().chain(returned.iter().copied());
            let after = after.fold(0, |live, next| live | before[flow.index(next)]);
            let kept = if switches(at) { after & set(u64::MAX, 0) } else { after };
            let Effect { read, replaced } = effects[at];
            let live = kept & !replaced | read;
            changed |= std::mem::replace(&mut before[flow.index(node)], live) != live;
        }
    }
    let mut live = vec![0; words.len()];
    for node in nodes {
        live[flow.at(node)] |= before[flow.index(node)];
    }
    Some(live.into_iter().map(names).collect())
}

fn names(live: Set) -> Vec<String> {
    let name = |bit: u32| match bit {
        0..32 => Register::InFile(File::A, bit as u8).to_string(),
        32..64 => Register::InFile(File::B, bit as u8 - 32).to_string(),
        FLAGS => "flags".to_owned(),
        _ => format!("r{}", bit - ACCUMULATORS),
    };
    (0..Set::BITS).filter(|bit| live >> bit & 1 != 0).map(name).collect()
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

    /// What is read behind a call is live in the routine, and what that reads before the call.
    #[test]
    fn a_routine_returns_to_behind_its_call() {
        check(
            "ldi r1, 1\nbrr ra31, :routine\nldi ra2, 2\nnop\nnop\nmov vpm, r1\nthrend\nnop\nnop\n\
             :routine\nbra -, ra31\nmov vpm, ra2\nnop\nnop\n",
            &["", "r1", "ra31 r1", "ra2 ra31 r1", "ra2 ra31 r1", "r1", "", "", "", "ra2 ra31 r1", "ra2 r1", "r1", "r1"],
        );
    }

    #[test]
    fn nothing_is_said_of_a_branch_to_an_address_in_a_register() {
        let source = "bra -, ra1\nnop\nnop\nnop\nthrend\nnop\nnop\n";
        let assembly = assemble(&[Source::new("test", source)], &Options::default()).expect("a correct program");
        assert_eq!(live(&assembly.words), None);
    }
}

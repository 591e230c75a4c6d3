//! Resources that QPUs share, and reports to the host: several QPUs at a time, each with its own program.

use crate::case::uses_of_alus;
use crate::effects::Effects;
use crate::machine::{self, DATA, Run};
use crate::table::{Answer, Cost, Document, LargestError, Row};
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;

const FILE: &str = "shared.qinc";
/// QPUs of the Pi.
const QPUS: u32 = 12;
/// Bytes for the results of each QPU.
const ROOM: u32 = 0x400;

/// Stores r0 through the VPM row with the QPU's number, and ends; uniforms: the number, an address.
const STORE: &str = "
    mov r2, unif
    ldi r3, 0x1a00
    add vw_setup, r3, r2
    mov vpm, r0
    shl r2, r2, 7
    ldi r3, 2 << 30 | 1 << 23 | 16 << 16 | 1 << 14
    add vw_setup, r3, r2
    ldi vw_setup, 3 << 30
    mov vw_addr, unif
    read vw_wait
    thrend
    nop
    nop
";
/// Adds a uniform five times to row 20 of the VPM; when all QPUs have done so, stores the row. The next uniform identifies the barrier's members.
const ADD_TO_SHARED: &str = "
    mov ra1, unif
    .rep i, 5
    lock_word 20
    add r0, r0, ra1
    unlock_word 20
    .endr
    mov r0, unif
    bar_sync 0, 12
    lock_word 20
    unlock_word 20
";
/// Stores its number, and the number plus one after it.
const REPORTS: &str = "
    mov r0, unif
    mov r1, unif
    brkpt 3
    ldi r2, 64
    add r1, r1, r2
    add r0, r0, 1
    trap 4
";
/// Two vertices in each element, with the number of the QPU; another one, in odd elements of a second primitive.
const VERTICES: &str = "
    mov sa1, unif
    mov sa0, 0
    .rep i, 3
    mov r0, elem_num
    add r1, elem_num, i
    mov r2, qpu_num
    .if i == 2
    and r0, elem_num, 1
    restart_if
    mov r0, elem_num
    .endif
    emit 8, 64
    .endr
    mov irq, 1
    thrend
    nop
    nop
";

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let shared = |name: &str, line: &str| {
        let program = format!("{ADD_TO_SHARED}{STORE}");
        let sum = |_| vec![5 * (1..=QPUS).sum::<u32>(); LANES];
        row(name, line, &program, |number, at| vec![number + 1, number, number, at], QPUS, sum)
    };
    let physid = format!("mov_physid{STORE}");
    let report = |number: u32| [vec![number; LANES], vec![number + 1; LANES]].concat();
    let emitted = |number| (0..LANES as u32).flat_map(|element| stream(number, element)).collect();
    vec![
        row("mov physid", "mov_physid", &physid, |number, at| vec![number, at], QPUS, |number| vec![number; LANES]),
        shared("mov lock CDST DST s[]", "lock_word 20"),
        shared("mov unlock s[] SRC", "unlock_word 20"),
        shared("bar sync", "bar_sync 0, 12"),
        row("brkpt", "brkpt 3", REPORTS, |number, at| vec![number, at], QPUS, report),
        row("trap", "trap 4", REPORTS, |number, at| vec![number, at], QPUS, report),
        row("emit", "emit 8, 64", VERTICES, |_, at| vec![at], QPUS, emitted),
        row("restart", "restart_if", VERTICES, |_, at| vec![at], QPUS, emitted),
    ]
}

/// The vertices that one element of a QPU writes.
fn stream(qpu: u32, element: u32) -> Vec<u32> {
    let third = if element % 2 == 1 { 0 } else { 2 };
    vec![0, element, element, qpu, 1, element, element + 1, qpu, third, element, element + 2, qpu, 0, 0, 0, 0]
}

/// A row for a program on several QPUs, whose results are in memory afterwards. The cost of `line` is that of one use without contention.
fn row(
    operation: &str,
    line: &str,
    program: &str,
    uniforms: impl Fn(u32, u32) -> Vec<u32>,
    qpus: u32,
    expected: impl Fn(u32) -> Vec<u32>,
) -> Row {
    let at = |number: u32| DATA + number * ROOM;
    let checked = || -> Result<Cost, String> {
        let assembly = machine::assemble(line, &format!(".include \"operations/{FILE}\"\n{program}"))?;
        machine::check(&assembly)?;
        let lists: Vec<Vec<u32>> = (0..qpus).map(|number| uniforms(number, at(number))).collect();
        let run = machine::run(&assembly.words, &[], (qpus * ROOM) as usize, &lists)?;
        for number in 0..qpus {
            for (word, expected) in (0..).zip(expected(number)) {
                let found =
                    run.memory.view().word(BusAddr(at(number) + 4 * word)).map_err(|error| error.to_string())?;
                if found != expected {
                    return Err(format!("word {word} of QPU {number} is {found:#x}, not {expected:#x}"));
                }
            }
        }
        cost(line)
    };
    let answer = match checked() {
        Ok(cost) => Answer::Built { name: line.to_owned(), file: FILE, cost, error: LargestError::Exact },
        Err(why) => Answer::Wrong(format!("{line} {why}")),
    };
    Row { document: Document::Instructions, operation: operation.to_owned(), answer }
}

/// The cost of one use on one QPU: the additional cost of a second use.
fn cost(line: &str) -> Result<Cost, String> {
    // A lock has to be unlocked, a barrier for twelve QPUs cannot be executed alone, and nothing follows a trap: such lines are replaced by stand-ins, with
    // the number of instructions that these have less.
    let (alone, too_few) = match line {
        "lock_word 20" => ("lock_word 20\nmov mutex, 0", -1),
        "unlock_word 20" => ("read mutex\nunlock_word 20", -1),
        "bar_sync 0, 12" => ("bar_sync 0, 1", 22),
        "trap 4" => ("brkpt 4", 3),
        other => (other, 0),
    };
    let run = |uses: usize| -> Result<(Run, Vec<u64>), String> {
        let before = "mov r0, 0\nmov r1, unif\nmov sa0, 0\nmov sa1, r1\nmov r2, 0\n";
        let uses = format!("{alone}\n").repeat(uses);
        let text = format!(".include \"operations/{FILE}\"\n{before}{uses}thrend\nnop\nnop\n");
        let words = machine::assemble(line, &text)?.words;
        Ok((machine::run(&words, &[], ROOM as usize, &[vec![DATA]])?, words))
    };
    let ((one, one_words), (two, two_words)) = (run(1)?, run(2)?);
    let (one_uses, two_uses) = (uses_of_alus(&one_words), uses_of_alus(&two_words));
    Ok(Cost {
        instructions: (two.instructions - one.instructions).saturating_add_signed(too_few),
        cycles: (two.cycles - one.cycles).saturating_add_signed(4 * too_few),
        bound: 4 * (two_uses.0 - one_uses.0).max(two_uses.1 - one_uses.1),
        effects: Effects::of(line, &format!(".include \"operations/{FILE}\""), line)?,
    })
}

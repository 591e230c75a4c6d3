//! What a job would cost on a chip, as a line of JSON.
//!
//! | member | meaning |
//! |---|---|
//! | `job` | number |
//! | `width`, `height` | of what it draws to, in pixels; 0 if it renders nothing |
//! | `draws`, `vertices`, `primitives`, `pixels` | how many; a pixel counts once for each primitive that covers it |
//! | `instructions` | of all QPUs |
//! | `cycles` | from the start to the end of all work, as the timing model estimates them |
//! | `busiest` | the unit that is busy in most of them |
//! | `units` | cycles in which a unit is busy; for QPUs and TMUs each of them on average |
//! | `programs` | objects, as follows |
//!
//! | member of a program | meaning |
//! |---|---|
//! | `code` | hash of its instructions: the same program has the same one wherever it is in memory |
//! | `kind` | kind of shader |
//! | `words` | instructions in memory |
//! | `starts`, `instructions`, `cycles` | batches of 16 elements, instructions executed, cycles of QPUs |
//! | `waits` | cycles in which it waits, by what it waits for |

use serde_json::{Map, Value as Json, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use v3d_hw::BusAddr;
use v3d_hw::qpu::{INSTRUCTION_BYTES, Instruction, THREAD_DELAY_SLOTS};
use v3d_sim::counters::{BusyCycles, Counters};
use v3d_sim::job::Job;
use v3d_sim::timing::Stall;
use v3d_sim::{Memory, dump};

/// Most instructions of a program that are hashed.
const MOST_WORDS: u32 = 8192;

/// The line for a job, with the counts since it started and the memory that it has left.
pub fn line(number: u32, job: &Job, counters: &Counters, memory: Memory<'_>) -> String {
    let survey = dump::survey(job, memory);
    let (mut pixels, mut instructions, mut programs) = (0, 0, Vec::new());
    for (_, tile) in counters.tiles() {
        pixels += tile.pixels;
    }
    for (code, events) in counters.programs() {
        let (code_hash, words) = identity(memory, code);
        let kinds = survey.program_kinds.get(&code.0).into_iter().flatten().copied();
        let mut waits = Map::new();
        for stall in Stall::ALL.iter().filter(|&&stall| events.stalls.get(stall) > 0) {
            waits.insert(stall.name().to_owned(), json!(events.stalls.get(*stall)));
        }
        instructions += events.instructions;
        programs.push(json!({
            "code": code_hash, "kind": kinds.collect::<Vec<_>>().join(", "), "words": words, "starts": events.starts,
            "instructions": events.instructions, "cycles": events.cycles, "waits": waits,
        }));
    }
    let units = units(counters);
    let busiest = units.iter().rev().max_by_key(|(_, cycles)| *cycles).map(|(unit, _)| *unit);
    let (width, height) = survey.rendering_mode.map_or((0, 0), |mode| (mode.width, mode.height));
    let units: Map<String, Json> = units.iter().map(|(unit, cycles)| ((*unit).to_owned(), json!(cycles))).collect();
    json!({
        "job": number, "width": width, "height": height, "draws": survey.draws, "vertices": survey.vertices,
        "primitives": counters.primitives(), "pixels": pixels, "instructions": instructions,
        "cycles": counters.elapsed_cycles(), "busiest": busiest, "units": units, "programs": programs,
    })
    .to_string()
}

/// Hash and number of a program's instructions, up to the delay slots of its end.
fn identity(memory: Memory<'_>, code: BusAddr) -> (String, u32) {
    let (mut hasher, mut words, mut left, mut at) = (DefaultHasher::new(), 0, MOST_WORDS, code);
    while left > 0
        && let (Ok(low), Ok(high)) = (memory.word(at), memory.word(at + 4))
    {
        let word = u64::from(high) << 32 | u64::from(low);
        word.hash(&mut hasher);
        words += 1;
        left -= 1;
        if Instruction::decode(word).signal().ends_program() {
            left = left.min(THREAD_DELAY_SLOTS);
        }
        at = at + INSTRUCTION_BYTES;
    }
    (format!("{:08x}", hasher.finish() as u32), words)
}

/// Cycles in which each unit is busy.
fn units(counters: &Counters) -> [(&'static str, u64); 9] {
    let BusyCycles { qpus, ptb, pse, fep, tlb, tmus, vpm, loads, stores, memory } = counters.busy_cycles();
    [
        ("QPUs", qpus),
        ("PTB", ptb),
        ("PSE", pse),
        ("FEP", fep),
        ("TLB", tlb),
        ("TMUs", tmus),
        ("VPM", vpm),
        ("VPM DMA", loads + stores),
        ("memory", memory),
    ]
}

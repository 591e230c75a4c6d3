//! Suites of sequences of jobs on one V3D.
//!
//! Whatever ran before it, a good job stores what it stores on a V3D that has just been reset.
//! Good jobs are captured ones at other addresses, and one whose binner runs out of memory. The jobs between them are hostile: the validator would refuse most
//! of them, and the driver runs them all the same. They leave behind what a job can leave: raised semaphores, return addresses, pipeline state, clear values,
//! tile contents, QPU registers, a mutex, hung threads.
//!
//! `cargo test --workspace --test job_sequences -- --suite semaphores --range 0..1000` runs other cases than `cargo xtask test`.

mod hostile;
#[path = "../validator/scene.rs"]
#[allow(dead_code, reason = "the validator's tests use the rest of the scene")]
mod scene;
mod world;

use hostile::Hostile;
use oorandom::Rand64;
use std::ops::Range;
use std::process::ExitCode;
use world::World;

/// Usual range of each suite.
const USUAL: Range<u64> = 0..12;
/// Batches of jobs of a sequence. The jobs of a batch are in flight together.
const BATCHES: u32 = 8;

/// A kind of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suite {
    /// Hostile jobs break the rules of semaphores and of the control list threads.
    Semaphores,
    /// Hostile jobs leave state: of the pipeline, of the tile buffer, of QPUs.
    State,
    /// Both, and the board cannot reset the V3D; no job hangs.
    WithoutReset,
}

impl Suite {
    const ALL: [(Self, &str); 3] =
        [(Self::Semaphores, "semaphores"), (Self::State, "state"), (Self::WithoutReset, "without-reset")];

    fn hostile(self) -> Vec<Hostile> {
        let all = Hostile::ALL.iter().copied();
        match self {
            Self::Semaphores => all.filter(|kind| kind.breaks_threads()).collect(),
            Self::State => all.filter(|kind| !kind.breaks_threads()).collect(),
            Self::WithoutReset => all.filter(|kind| !kind.hangs()).collect(),
        }
    }
}

/// Number of good jobs that a sequence has checked, or the first that was wrong.
fn sequence(worlds: &World, suite: Suite, case: u64) -> Result<u32, String> {
    let seed = Suite::ALL.iter().position(|(other, _)| *other == suite).unwrap_or(0) as u128 + 1;
    let mut random = Rand64::new(seed << 64 | u128::from(case));
    let kinds = suite.hostile();
    let machine = worlds.machine();
    machine.model.resettable.set(suite != Suite::WithoutReset);
    let (mut driver, _jobs) = machine.driver();
    let (mut checked, mut story) = (0, Vec::new());
    for _ in 0..BATCHES {
        let (mut fences, mut used) = (Vec::new(), Vec::new());
        *machine.model.held.borrow_mut() = (random.rand_range(0..2) == 0).then(Vec::new);
        for _ in 0..1 + random.rand_range(0..4) {
            if random.rand_range(0..2) == 0 {
                let kind = kinds[random.rand_range(0..kinds.len() as u64) as usize];
                story.push(format!("{kind:?}"));
                hostile::run(kind, &machine, &mut driver);
                continue;
            }
            let slot = random.rand_range(0..worlds.jobs.len() as u64) as usize;
            if used.contains(&slot) {
                continue;
            }
            used.push(slot);
            let good = &worlds.jobs[slot];
            story.push(good.name.clone());
            good.restore(&machine.model);
            fences.push((slot, driver.submit(good.job)));
        }
        for (slot, fence) in fences {
            let good = &worlds.jobs[slot];
            driver.wait(fence).map_err(|error| format!("{story:?}: {}: {error}", good.name))?;
            if let Some(place) = good.difference(&machine.model) {
                return Err(format!("{story:?}: {}: another result at {place}", good.name));
            }
            checked += 1;
        }
        driver.wait_until_idle();
        driver.take_reports();
        if !machine.others_are_untouched() {
            return Err(format!("{story:?}: memory that is no job's was written"));
        }
    }
    let resets = driver.statistics().resets;
    if suite == Suite::WithoutReset && resets > 0 {
        return Err(format!("{story:?}: {resets} resets, although no job hangs by itself"));
    }
    Ok(checked)
}

/// Suites and their names.
type Suites = Vec<(Suite, &'static str)>;

fn arguments() -> Result<(Suites, Range<u64>), String> {
    let (mut suites, mut range) = (Suite::ALL.to_vec(), USUAL);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--suite" => {
                let name = value()?;
                suites.retain(|(_, own)| *own == name);
                if suites.is_empty() {
                    let names = Suite::ALL.map(|(_, name)| name).join(", ");
                    return Err(format!("there is no suite \"{name}\"; there are {names}"));
                }
            }
            "--range" => {
                let text = value()?;
                let bounds = text.split_once("..").and_then(|(low, high)| Some(low.parse().ok()?..high.parse().ok()?));
                range = bounds.ok_or(format!("\"{text}\" is no range: LO..HI"))?;
            }
            // Those of the usual test harness.
            _ => {}
        }
    }
    Ok((suites, range))
}

fn main() -> ExitCode {
    let (suites, range) = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let world = World::new();
    let mut failed = false;
    for (suite, name) in suites {
        let (mut jobs, mut wrong) = (0, 0);
        for case in range.clone() {
            match sequence(&world, suite, case) {
                Ok(checked) => jobs += checked,
                Err(why) => {
                    wrong += 1;
                    println!("suite {name}, case {case}: {why}");
                }
            }
        }
        let cases = range.end.saturating_sub(range.start);
        println!("suite {name}: {cases} sequences, {jobs} good jobs compared, {wrong} sequences with a wrong one");
        // A sequence without good jobs proves nothing.
        failed |= wrong > 0 || u64::from(jobs) < cases;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

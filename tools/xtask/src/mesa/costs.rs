//! The tables of `mesa stats`, from the lines that the library writes for each job.

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// The clock for which the model estimates cycles, in MHz: the one that the firmware of a Raspberry Pi names.
const CLOCK_MHZ: f64 = 250.0;
/// Jobs that are shown one by one.
const SHOWN_JOBS: usize = 40;

/// Sums for a program of the QPUs.
#[derive(Default)]
struct Program {
    kind: String,
    words: u64,
    starts: u64,
    instructions: u64,
    cycles: u64,
    waits: BTreeMap<String, u64>,
}

/// The tables, for lines of JSON.
pub(super) fn tables(lines: &str) -> Result<String> {
    let jobs: Vec<Json> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .context("the library's file of costs is damaged")?;
    ensure!(!jobs.is_empty(), "the program has drawn nothing with this Mesa: has it a window, or another driver?");
    let mut out = String::new();
    writeln!(
        out,
        "{:>6} {:>11} {:>6} {:>9} {:>9} {:>13} {:>12} {:>8}  busiest",
        "job", "size", "draws", "vertices", "pixels", "instructions", "cycles", "ms"
    )?;
    for job in jobs.iter().take(SHOWN_JOBS) {
        let number = |member: &str| job[member].as_u64().unwrap_or(0);
        let size = format!("{}x{}", number("width"), number("height"));
        let (cycles, busiest) = (number("cycles"), job["busiest"].as_str().unwrap_or("-"));
        let (draws, vertices, pixels, instructions) =
            (number("draws"), number("vertices"), number("pixels"), number("instructions"));
        let (job, ms) = (number("job"), milliseconds(cycles));
        writeln!(
            out,
            "{job:>6} {size:>11} {draws:>6} {vertices:>9} {pixels:>9} {instructions:>13} {cycles:>12} {ms:>8.3}  {busiest}"
        )?;
    }
    if jobs.len() > SHOWN_JOBS {
        writeln!(out, "{:>6} {} more jobs", "", jobs.len() - SHOWN_JOBS)?;
    }
    let sum = |member: &str| jobs.iter().map(|job| job[member].as_u64().unwrap_or(0)).sum::<u64>();
    let (cycles, count) = (sum("cycles"), jobs.len());
    let mean = milliseconds(cycles) / count as f64;
    writeln!(
        out,
        "\n{count} jobs: {} instructions, {cycles} cycles; {mean:.3} ms a job at {CLOCK_MHZ} MHz",
        sum("instructions")
    )?;
    programs(&jobs, &mut out)?;
    writeln!(
        out,
        "\nCycles are estimates of the model's timing. A job is one submission to the V3D, usually a frame."
    )?;
    Ok(out)
}

fn milliseconds(cycles: u64) -> f64 {
    cycles as f64 / CLOCK_MHZ / 1000.0
}

fn programs(jobs: &[Json], out: &mut String) -> Result<()> {
    let mut programs: HashMap<&str, Program> = HashMap::new();
    for of_job in jobs.iter().filter_map(|job| job["programs"].as_array()).flatten() {
        let number = |member: &str| of_job[member].as_u64().unwrap_or(0);
        let program = programs.entry(of_job["code"].as_str().unwrap_or("?")).or_default();
        program.kind = of_job["kind"].as_str().unwrap_or("?").to_owned();
        program.words = number("words");
        program.starts += number("starts");
        program.instructions += number("instructions");
        program.cycles += number("cycles");
        for (cause, cycles) in of_job["waits"].as_object().into_iter().flatten() {
            *program.waits.entry(cause.clone()).or_default() += cycles.as_u64().unwrap_or(0);
        }
    }
    let all: u64 = programs.values().map(|program| program.cycles).sum();
    let mut sorted: Vec<_> = programs.into_iter().collect();
    sorted.sort_by_key(|(code, program)| (std::cmp::Reverse(program.cycles), *code));
    writeln!(
        out,
        "\n{:10} {:20} {:>6} {:>9} {:>13} {:>13} {:>6}  bound by",
        "program", "kind", "words", "batches", "instructions", "QPU cycles", "share"
    )?;
    for (code, program) in sorted {
        let Program { kind, words, starts, instructions, cycles, waits } = program;
        let share = 100.0 * cycles as f64 / all.max(1) as f64;
        let waiting: u64 = waits.values().sum();
        let longest = waits.iter().max_by_key(|(_, cycles)| **cycles);
        let bound = match longest {
            // More than half of the time passes with executing instructions.
            Some((cause, most)) if 2 * waiting > cycles => format!("waiting for {cause}, {most} cycles"),
            _ => format!("instructions; {waiting} cycles of waiting"),
        };
        writeln!(
            out,
            "{code:10} {kind:20} {words:>6} {starts:>9} {instructions:>13} {cycles:>13} {share:>5.1}%  {bound}"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_all_jobs_are_summed() {
        let line = r#"{"job":1,"width":64,"height":64,"draws":1,"vertices":3,"pixels":100,"instructions":50,"cycles":300000,"busiest":"QPUs",
            "programs":[{"code":"aa","kind":"fragment shader","words":9,"starts":2,"instructions":50,"cycles":90,"waits":{"TMU":60}}]}"#;
        let line = line.replace('\n', "");
        let tables = tables(&format!("{line}\n{line}\n")).unwrap();
        assert!(tables.contains("2 jobs: 100 instructions, 600000 cycles; 1.200 ms a job at 250 MHz"), "{tables}");
        let row = tables.lines().find(|line| line.starts_with("aa")).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words[3..], ["9", "4", "100", "180", "100.0%", "waiting", "for", "TMU,", "120", "cycles"], "{row}");
    }

    #[test]
    fn a_program_without_jobs_is_told() {
        assert!(tables("").unwrap_err().to_string().contains("drawn nothing"));
        assert!(tables("{").is_err());
    }
}

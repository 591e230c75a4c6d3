//! `cargo xtask selftest`: runs the kernel's self-test, and saves its results as new records.
//!
//! The kernel's command `selftest vectors` prints its results: a line for each operation on two operands, and the CRC-32 of each scene's first picture. The
//! files that are written here have the format of the recorded results, which they can replace: `alu_op_flags.tsv` in the model's tests, and the kernel's
//! `pictures.tsv`.

pub(crate) mod board_report;

use crate::far_end::FarEnd;
use crate::far_end::console::Console;
use crate::interrupt;
use crate::selftest::board_report::Report;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask selftest [board] [--board DEVICE] [--save DIR]

Runs QPU programs and draws scenes on a kernel, in QEMU or on a board that is connected by a serial line, and compares the results with
recorded ones. With --save, the results are also written to DIR/alu_op_flags.tsv and DIR/pictures.tsv. Exit status 0 if all are as recorded.

`selftest board` tests a board step by step, from the first register access to a frame with interrupts; with --save, its report is written
to DIR/report.txt, and its last job to the folder DIR/job.
";

/// Time limit for boot and all comparisons; over a serial line, printing the results takes half a minute.
const PATIENCE: Duration = Duration::from_secs(600);

/// The table of recorded ALU results, relative to the workspace.
pub(crate) const ALU_TABLE: &str = "tools/v3d-sim/tests/vectors/alu_op_flags.tsv";

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut device, mut folder): (Option<PathBuf>, Option<PathBuf>) = (None, None);
    let mut by_steps = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Long("board") => device = Some(arguments.value()?.into()),
            Long("save") => folder = Some(arguments.value()?.into()),
            Value(word) if word == "board" => by_steps = true,
            other => return Err(other.unexpected().into()),
        }
    }
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    let far_end = FarEnd::connect(&workspace, device.as_deref())?;
    if by_steps {
        report(far_end.console(), folder.as_deref())?;
        return far_end.check_faults();
    }
    let results = Results::ask(far_end.console())?;
    far_end.check_faults()?;
    println!("{}", results.table.join("\n"));
    if let Some(folder) = folder {
        let records = workspace.root.join(ALU_TABLE);
        let records =
            std::fs::read_to_string(&records).with_context(|| format!("cannot read {}", records.display()))?;
        results.save(&folder, &records)?;
        println!("{}: {} results, {} pictures", folder.display(), results.vectors.len(), results.pictures.len());
    }
    match results.failure {
        None => Ok(()),
        Some(sentence) => bail!("the kernel says: {sentence}"),
    }
}

/// Runs the kernel's test of a board, and prints its report as it arrives.
fn report(console: &Console, folder: Option<&Path>) -> Result<()> {
    let report = Report::ask(console, |line| println!("{line}"))?;
    if let Some(folder) = folder {
        let remark = report.save(console, folder)?;
        println!("{}: report.txt; job: {remark}", folder.display());
    }
    match report.failure {
        None => Ok(()),
        Some(sentence) => bail!("the kernel says: {sentence}"),
    }
}

/// An operation on two operands, and its result.
#[derive(Debug, PartialEq, Eq)]
struct Vector {
    /// Operation and operands, as in the table.
    key: [String; 3],
    result: String,
    flags: String,
}

/// The output of a self-test.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Results {
    /// Its lines, except for results.
    pub(crate) table: Vec<String>,
    vectors: Vec<Vector>,
    /// Name of each scene, and the CRC-32 of its picture.
    pictures: Vec<(String, String)>,
    /// The kernel's error, if a comparison failed.
    pub(crate) failure: Option<String>,
}

impl Results {
    /// Runs the self-test.
    pub(crate) fn ask(console: &Console) -> Result<Self> {
        let reply = console.command("selftest", " vectors", Instant::now() + PATIENCE, |_| {})?;
        Self::read(&reply.lines, reply.result.err())
    }

    fn read(lines: &[String], failure: Option<String>) -> Result<Self> {
        let mut results = Self { table: Vec::new(), vectors: Vec::new(), pictures: Vec::new(), failure };
        for line in lines {
            let Some(row) = line.strip_prefix("vector\t") else {
                results.pictures.extend(picture(line));
                results.table.push(line.clone());
                continue;
            };
            let columns: Vec<&str> = row.split('\t').collect();
            let &[name, a, b, result, _, flags] = columns.as_slice() else {
                bail!("a result has not six columns: {line}");
            };
            let key = [name, a, b].map(str::to_owned);
            results.vectors.push(Vector { key, result: result.to_owned(), flags: flags.to_owned() });
        }
        ensure!(!results.vectors.is_empty(), "the kernel prints no results");
        Ok(results)
    }

    /// Writes both files. The column of the saturated result, which the kernel does not compute, is taken from `records`.
    pub(crate) fn save(&self, folder: &Path, records: &str) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let write = |name: &str, text: String| whole_file::write(&folder.join(name), text.as_bytes());
        write("alu_op_flags.tsv", self.alu_table(records)?)?;
        let rows: String = self.pictures.iter().map(|(name, crc)| format!("{name}\t{crc}\n")).collect();
        write("pictures.tsv", format!("#scene\tCRC-32 of its first picture at 1280x720\n{rows}"))
    }

    fn alu_table(&self, records: &str) -> Result<String> {
        let heading = records.lines().next().context("the table of records is empty")?;
        let mut saturated = HashMap::new();
        for row in records.lines().skip(1) {
            let columns: Vec<&str> = row.split('\t').collect();
            if let &[name, a, b, _, value, _] = columns.as_slice() {
                saturated.insert([name, a, b], value);
            }
        }
        let mut text = format!("{heading}\n");
        for Vector { key, result, flags } in &self.vectors {
            let [name, a, b] = [&key[0], &key[1], &key[2]].map(String::as_str);
            let value =
                saturated.get(&[name, a, b]).with_context(|| format!("there is no record of {name} {a} {b}"))?;
            text += &format!("{name}\t{a}\t{b}\t{result}\t{value}\t{flags}\n");
        }
        Ok(text)
    }
}

/// Name and CRC-32 in a line such as `triangle     C75C9AFA  as recorded`.
fn picture(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    let (name, crc) = (words.next()?, words.next()?);
    let is_sum = crc.len() == 8 && crc.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_lowercase());
    is_sum.then(|| (name.to_owned(), crc.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: &str = "#op\ta\tb\n\
        add\t00000001\t7fffffff\t80000000\t7fffffff\tn\n\
        not\t00000000\t00000000\tffffffff\tffffffff\tn\n";

    fn results(lines: &[&str]) -> Result<Results> {
        Results::read(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>(), None)
    }

    #[test]
    fn results_become_records() {
        let told = [
            "3 interrupts while all FP/SIMD registers were in use",
            "vector\tadd\t00000001\t7fffffff\t80000001\t?\tnc",
            "add        0 of    1  add ALU, results and flags",
            "triangle     C75C9AFA  as recorded",
        ];
        let results = results(&told).unwrap();
        assert_eq!(results.table, [told[0], told[2], told[3]]);
        assert_eq!(results.pictures, [("triangle".to_owned(), "C75C9AFA".to_owned())]);
        let table = results.alu_table(RECORDS).unwrap();
        assert_eq!(table, "#op\ta\tb\nadd\t00000001\t7fffffff\t80000001\t7fffffff\tnc\n");
    }

    #[test]
    fn what_is_no_result_is_told() {
        let error = |lines| format!("{:#}", results(lines).unwrap_err());
        assert!(error(&["triangle     C75C9AFA  as recorded"]).contains("no results"));
        assert!(error(&["vector\tadd\t1"]).contains("six columns"));
        let unknown = results(&["vector\txor\t00000001\t00000002\t00000003\t?\t-"]).unwrap();
        assert!(format!("{:#}", unknown.alu_table(RECORDS).unwrap_err()).contains("xor 00000001 00000002"));
    }
}

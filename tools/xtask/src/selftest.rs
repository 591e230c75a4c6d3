//! `cargo xtask selftest`: the kernel's comparison of the V3D with records, and its results as new records.
//!
//! The kernel's command `selftest vectors` prints what came out, one line for each operation on two operands, and the CRC-32 of each scene's
//! first picture. The files written here have the form of those that are compared with, so that they can take their place:
//! `alu_op_flags.tsv` beside the model's tests, and the kernel's `pictures.tsv`.

use crate::board_report::Report;
use crate::console::Console;
use crate::far_end::FarEnd;
use crate::interrupt;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask selftest [board] [--board DEVICE] [--save DIR]

Has the kernel run known QPU programs and draw known scenes, in QEMU or on the board at the end of a serial line, and prints its table of passes.
With --save, what came out is written to DIR/alu_op_flags.tsv and DIR/pictures.tsv, right or wrong. Exit status 0 if everything was as recorded.

With the word `board`, the kernel goes through a board step by step, from the first register to a frame by interrupt; with --save, its report is
written to DIR/report.txt, and its last job to the folder DIR/job.
";

/// For boot and for all comparisons; over a serial line, the results alone take half a minute.
const PATIENCE: Duration = Duration::from_secs(600);

/// The table that the ALUs' results are compared with, relative to the workspace.
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

/// Has the kernel go through a board, and prints its report as it comes.
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

/// One operation on two operands.
#[derive(Debug, PartialEq, Eq)]
struct Vector {
    /// Operation and operands, as in the table.
    key: [String; 3],
    result: String,
    flags: String,
}

/// What the kernel told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Results {
    /// The lines for people.
    pub(crate) table: Vec<String>,
    vectors: Vec<Vector>,
    /// Name of the scene, and the CRC-32.
    pictures: Vec<(String, String)>,
    /// What the kernel was not content with.
    pub(crate) failure: Option<String>,
}

impl Results {
    /// Has the kernel do it.
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
        ensure!(!results.vectors.is_empty(), "the kernel tells no results");
        Ok(results)
    }

    /// Writes both files. The column of the saturated result, which the kernel does not compute, is that of `records`.
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

/// Name and CRC-32 in a line `triangle     C75C9AFA  as recorded`.
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

//! Results of cases: shards, files, and their comparison with what is expected.

use super::suite::Outcome;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// A part of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// The first is 1.
    number: usize,
    of: usize,
}

impl Shard {
    /// All cases.
    pub(super) const ALL: Self = Self { number: 1, of: 1 };

    pub(super) fn parse(text: &str) -> Result<Self> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => bail!("--shard takes I/N with I from 1 to N, which {text} is not"),
        }
    }

    /// Every N-th case: neighbours take about the same time.
    pub(super) fn part(self, cases: Vec<String>) -> Vec<String> {
        cases.into_iter().skip(self.number - 1).step_by(self.of).collect()
    }

    fn file_name(self) -> String {
        format!("shard-{}-of-{}.tsv", self.number, self.of)
    }
}

/// The results of a shard: a file to which each process' results are added, so that nothing is lost by an interruption.
#[derive(Debug)]
pub(super) struct Results {
    file: File,
    known: BTreeMap<String, String>,
}

impl Results {
    /// Opens the shard's file; without `resume` it starts empty, and so does the folder if there is only one shard.
    pub(super) fn open(folder: &Path, shard: Shard, resume: bool) -> Result<Self> {
        let path = folder.join(shard.file_name());
        let text = if resume { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        if !resume && shard == Shard::ALL {
            for (_, file) in shard_files(folder)? {
                fs::remove_file(&file)?;
            }
        }
        // A line that an interruption has cut is left out.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        crate::whole_file::write(&path, whole.as_bytes())?;
        let file =
            File::options().append(true).open(&path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { file, known: parse(whole) })
    }

    pub(super) fn has(&self, case: &str) -> bool {
        self.known.contains_key(case)
    }

    pub(super) fn add(&mut self, outcomes: &[Outcome]) -> Result<()> {
        let lines: String = outcomes.iter().map(|outcome| format!("{}\t{}\n", outcome.case, outcome.result)).collect();
        self.file.write_all(lines.as_bytes()).context("the results cannot be written")
    }
}

fn shard_files(folder: &Path) -> Result<Vec<(String, std::path::PathBuf)>> {
    let entries = fs::read_dir(folder).with_context(|| format!("there is no folder {}", folder.display()))?;
    let files = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?.to_owned();
        (name.starts_with("shard-") && name.ends_with(".tsv")).then_some((name, path))
    });
    Ok(files.collect())
}

/// The results of all shards in a folder.
pub(super) fn read_all(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (_, file) in shard_files(folder)? {
        all.extend(parse(&fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?));
    }
    Ok(all)
}

fn parse(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(case, result)| (case.to_owned(), result.to_owned())).collect()
}

/// How many cases have each result.
pub(super) fn counts(results: &BTreeMap<String, String>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results.values() {
        *counts.entry(result).or_default() += 1;
    }
    let lines: String = counts.iter().map(|(result, count)| format!("{count:>8} {result}\n")).collect();
    format!("{:>8} cases\n{lines}", results.len())
}

/// Whether a result is as good as a pass: there are also warnings, and cases for what the driver does not have.
fn is_good(result: &str) -> bool {
    matches!(result, "Pass" | "NotSupported" | "QualityWarning" | "CompatibilityWarning" | "Waiver" | "Skip" | "Warn")
}

/// A sentence for each case with another result than expected. A case that is in no row is expected to pass.
pub(super) fn differences(results: &BTreeMap<String, String>, expected: &str) -> Result<Vec<String>> {
    let mut rows = BTreeMap::new();
    for line in expected.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        ensure!(cells.len() == 4, "a row of the expected failures has {} cells, and not 4: {line}", cells.len());
        rows.insert(cells[0], (cells[1], cells[2], cells[3]));
    }
    let mut differences = Vec::new();
    for (case, result) in results {
        let (model, boards, reason) = rows.get(case.as_str()).copied().unwrap_or(("Pass", "Pass", "not in the list"));
        if is_good(result) != is_good(model) || !is_good(result) && result != model {
            differences.push(format!("{case}: {result}, and {model} is expected; on boards {boards} ({reason})"));
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_each_case_once() {
        let cases: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let parts = ["1/3", "2/3", "3/3"].map(|shard| Shard::parse(shard).unwrap().part(cases.clone()));
        assert_eq!(parts.each_ref().map(Vec::len), [4, 3, 3]);
        let mut all = parts.concat();
        all.sort();
        assert_eq!(all, cases);
        for wrong in ["0/3", "4/3", "3", "a/b", "1/0"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn other_results_than_expected_are_told() {
        let expected = "# comment\na\tFail\tFail\tas on boards\nb\tPass\tFail\tunknown\n";
        let check = |results: &[(&str, &str)], parts: &[&str]| {
            let results = results.iter().map(|(case, result)| ((*case).to_owned(), (*result).to_owned())).collect();
            let found = differences(&results, expected).unwrap();
            assert_eq!(found.len(), parts.len(), "{found:?}");
            assert!(found.iter().zip(parts).all(|(found, part)| found.starts_with(part)), "{found:?}");
        };
        check(&[("a", "Fail"), ("b", "Pass"), ("c", "NotSupported"), ("d", "QualityWarning")], &[]);
        check(&[("a", "Pass"), ("b", "Fail")], &["a: Pass, and Fail is expected", "b: Fail, and Pass is expected"]);
        check(&[("a", "Crash"), ("c", "Crash")], &["a: Crash, and Fail", "c: Crash, and Pass"]);
        assert!(differences(&BTreeMap::new(), "a\tFail\n").is_err());
    }

    #[test]
    fn an_interrupted_shard_goes_on() {
        let folder = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let outcome = |case: &str| Outcome { case: case.to_owned(), result: "Pass".to_owned() };
        let shard = Shard::parse("2/2").unwrap();
        Results::open(&folder, shard, false).unwrap().add(&[outcome("x")]).unwrap();
        let path = folder.join(shard.file_name());
        fs::write(&path, fs::read_to_string(&path).unwrap() + "cut").unwrap();
        let mut again = Results::open(&folder, shard, true).unwrap();
        assert!(again.has("x") && !again.has("cut"));
        again.add(&[outcome("y")]).unwrap();
        Results::open(&folder, Shard::parse("1/2").unwrap(), true).unwrap().add(&[outcome("z")]).unwrap();
        let all = read_all(&folder).unwrap();
        assert_eq!(all.into_keys().collect::<Vec<_>>(), ["x", "y", "z"]);
        fs::remove_dir_all(folder).unwrap();
    }
}

//! The table of operations: rows, the documents' own lists of names, and `OPERATIONS.md`.

use crate::effects::Effects;
use crate::special_values;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::path::PathBuf;

/// A document whose operations the library implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Document {
    /// The instructions of a unified shader core: arithmetic and control.
    Instructions,
    /// Operations that are in no document.
    Beside,
    /// The image instructions of another GPU.
    Images,
    /// The interpolation instructions of the same GPU.
    Interpolation,
}

impl Document {
    const ALL: [Self; 4] = [Self::Instructions, Self::Beside, Self::Images, Self::Interpolation];

    /// Its heading in `OPERATIONS.md`.
    const fn title(self) -> &'static str {
        match self {
            Self::Instructions => "Arithmetic and control",
            Self::Beside => "Other operations",
            Self::Images => "Images",
            Self::Interpolation => "Interpolation",
        }
    }

    /// The names of its operations, one per line; lines that begin with `#` name the source.
    const fn list(self) -> &'static str {
        match self {
            Self::Instructions => include_str!("documents/instructions.txt"),
            Self::Beside => include_str!("documents/beside.txt"),
            Self::Images => include_str!("documents/images.txt"),
            Self::Interpolation => include_str!("documents/interpolation.txt"),
        }
    }

    fn operations(self) -> impl Iterator<Item = &'static str> {
        self.list().lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// What an operation costs in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Number of executed instructions; the mean over the samples if it depends on the operands.
    pub(crate) instructions: u64,
    /// Cycles by the model's clock, rounded.
    pub(crate) cycles: u64,
    /// Minimum number of cycles for which the busier ALU is needed; for programs with loops, for one iteration.
    pub(crate) bound: u64,
    /// Registers and units.
    pub(crate) effects: Effects,
}

/// The maximum error of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LargestError {
    /// No error.
    Exact,
    /// Units in the last place of the exact result.
    Ulp(f64),
    /// The absolute difference.
    Absolute(f64),
}

impl fmt::Display for LargestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Ulp(ulp) => write!(f, "{ulp:.2} ULP"),
            Self::Absolute(difference) => write!(f, "{difference:.2e}"),
        }
    }
}

/// The implementation of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// A macro in `operations/`, with its measurements.
    Built {
        /// The macro, with its modifiers.
        name: String,
        /// The file that has it.
        file: &'static str,
        cost: Cost,
        error: LargestError,
    },
    /// Not implemented, and the reason.
    Absent(&'static str),
    /// Implemented incorrectly.
    Wrong(String),
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) document: Document,
    /// The document's own name.
    pub(crate) operation: String,
    pub(crate) answer: Answer,
}

impl Row {
    /// An operation that is not possible on this chip.
    pub(crate) fn absent(document: Document, operation: &str, reason: &'static str) -> Self {
        Self { document, operation: operation.to_owned(), answer: Answer::Absent(reason) }
    }
}

/// Of rows of one operation with different modifiers, one that is wrong, or else the one with the highest cost.
pub(crate) fn costliest(rows: impl IntoIterator<Item = Row>) -> Row {
    let instructions = |row: &Row| match &row.answer {
        Answer::Built { cost, .. } => cost.instructions,
        Answer::Absent(_) => 0,
        Answer::Wrong(_) => u64::MAX,
    };
    rows.into_iter().max_by_key(instructions).unwrap_or_else(|| panic!("there is no row"))
}

/// Of rows of one operation, one that is wrong, or else the first.
pub(crate) fn first_if_right<const N: usize>(rows: [Row; N]) -> Row {
    let mut rows = Vec::from(rows);
    let wrong = rows.iter().position(|row| matches!(row.answer, Answer::Wrong(_)));
    rows.swap_remove(wrong.unwrap_or(0))
}

/// Fails if any row is wrong, and reports all that are.
pub(crate) fn all_are_right(rows: &[Row]) {
    let wrong = rows.iter().filter_map(|row| match &row.answer {
        Answer::Wrong(why) => Some(format!("{}: {why}\n", row.operation)),
        _ => None,
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} operations are wrong:\n{}", wrong.len(), wrong.concat());
}

/// Fails if a document's list and the rows differ.
pub(crate) fn compare_with_documents(rows: &[Row]) {
    for document in Document::ALL {
        let listed: BTreeSet<&str> = document.operations().collect();
        let answered: BTreeSet<&str> =
            rows.iter().filter(|row| row.document == document).map(|row| row.operation.as_str()).collect();
        let missing: Vec<_> = listed.difference(&answered).collect();
        let unknown: Vec<_> = answered.difference(&listed).collect();
        assert!(missing.is_empty(), "{document:?}: operations without a row: {missing:#?}");
        assert!(
            unknown.is_empty(),
            "{document:?}: rows of operations that the document's list does not have: {unknown:#?}"
        );
    }
}

/// Compares `OPERATIONS.md` with the rows, or writes it. Sweeps, with more arguments than the file's figures are measured on, are printed.
pub(crate) fn compare_with_file(rows: &[Row]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("OPERATIONS.md");
    let text = text(rows);
    if std::env::var_os("OPERATIONS_SWEEP").is_some() {
        println!("{text}");
        return;
    }
    if std::env::var_os("UPDATE_OPERATIONS").is_some() {
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = text.lines().zip(file.lines().chain(std::iter::repeat(""))).find(|(now, then)| now != then);
    if let Some((now, then)) = difference {
        panic!("OPERATIONS.md says\n{then}\nand the measured line is\n{now}\nUPDATE_OPERATIONS=1 regenerates the file");
    }
    assert_eq!(text.len(), file.len(), "OPERATIONS.md has lines at its end that no row has");
}

const INTRODUCTION: &str = include_str!("introduction.txt");

fn text(rows: &[Row]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for document in Document::ALL {
        let of_document: Vec<&Row> = rows.iter().filter(|row| row.document == document).collect();
        let _ = write!(
            text,
            "\n## {}\n\n| operation | name here | file | instructions | cycles | bound | largest error | takes | overwrites | units, hazards |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
            document.title()
        );
        for row in &of_document {
            let Row { operation, answer, .. } = row;
            if let Answer::Built { name, file, cost, error } = answer {
                let Cost { instructions, cycles, bound, effects } = cost;
                let scratch = !file.starts_with("image") && *file != "interpolation.qinc";
                let [takes, overwrites, hazards] =
                    [effects.taken(scratch), effects.overwritten(scratch), effects.hazards(scratch)];
                let _ = writeln!(
                    text,
                    "| `{operation}` | `{name}` | {file} | {instructions} | {cycles} | {bound} | {error} | {takes} | {overwrites} | {hazards} |"
                );
            }
        }
        let absent = of_document.iter().filter_map(|row| match row.answer {
            Answer::Absent(reason) => Some((&row.operation, reason)),
            _ => None,
        });
        let lines: String = absent.map(|(operation, reason)| format!("| `{operation}` | {reason} |\n")).collect();
        if !lines.is_empty() {
            let _ = write!(text, "\n| not implemented | reason |\n|---|---|\n{lines}");
        }
    }
    text += &special_values::tables();
    text
}

//! The table of Mesa's counts, `tests/captures/mesa.tsv`.

use std::path::PathBuf;

use shader_interface::tail::{Depth, TailState};

/// A captured frame's programs.
pub(crate) struct Row {
    /// The name of the capture, and of the source.
    pub(crate) name: String,
    /// Instructions of Mesa's coordinate, vertex and fragment program.
    pub(crate) counts: [usize; 3],
    /// The state whose code Mesa's fragment program contains.
    pub(crate) state: TailState,
    /// The same programs in WGSL.
    pub(crate) source: String,
}

/// The folder of the table and the sources.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(folder().join("mesa.tsv")).expect("the table of Mesa's counts");
    table.lines().filter(|row| !row.starts_with('#')).map(row).collect()
}

fn row(row: &str) -> Row {
    let &[name, coordinate, vertex, fragment, state] = row.split('\t').collect::<Vec<_>>().as_slice() else {
        panic!("not five columns: {row}");
    };
    let counts = [coordinate, vertex, fragment].map(|count| count.parse().expect("a number of instructions"));
    let depth = match state {
        "opaque" => Depth::NONE,
        "depth" => Depth::LESS,
        other => panic!("{name}: {other} is no state"),
    };
    let source = std::fs::read_to_string(folder().join(name).with_extension("wgsl")).expect("a source of each row");
    Row { name: name.to_owned(), counts, state: TailState { depth, ..TailState::PLAIN }, source }
}

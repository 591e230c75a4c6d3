//! The library in `operations/`: each operation of the documents is executed in the model, checked and measured.
//!
//! Each module has the rows of one topic, and compares the results of the macros with plain Rust. `OPERATIONS.md` is generated from the rows, and this test
//! fails if it differs, or if a document has an operation without a row: `UPDATE_OPERATIONS=1 cargo test -p qpu-shaders --test operations` regenerates it.
#![forbid(unsafe_code)]

mod bits;
mod case;
mod control;
mod convert;
mod double;
mod effects;
mod example;
mod float;
mod fma;
mod functions;
mod images;
mod integer;
mod interpolation;
mod machine;
mod multiply;
mod quad;
mod samples;
mod shared;
mod special;
mod special_values;
mod table;

use table::Row;

/// Topics, each with the function that computes its rows. They are independent of each other.
const TOPICS: &[fn() -> Vec<Row>] = &[
    images::rows,
    interpolation::rows,
    float::rows,
    double::rows,
    fma::rows,
    shared::rows,
    quad::rows,
    convert::rows,
    integer::rows,
    multiply::rows,
    bits::rows,
    functions::rows,
    control::rows,
    special::rows,
];

#[test]
fn every_operation_has_a_row_and_computes_what_its_document_says() {
    let rows: Vec<Row> = std::thread::scope(|scope| {
        let running: Vec<_> = TOPICS.iter().map(|topic| scope.spawn(topic)).collect();
        running
            .into_iter()
            .flat_map(|topic| topic.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    table::all_are_right(&rows);
    table::compare_with_documents(&rows);
    table::compare_with_file(&rows);
}

//! The workloads that boards were timed with: their shaders, and what the model makes of some of them.
//!
//! `UPDATE_WORDS=1 cargo test -p v3d-sim --test workloads` assembles the shaders into `words.rs` anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use v3d_sim::timing::workload::Workload;
use v3d_sim::timing::workload::rows::ROWS;
use v3d_sim::timing::workload::scene::Scene;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/timing/workload")
}

/// The file `words.rs`, as it is made of the sources.
fn words() -> String {
    let mut out = String::from(
        "//! Shaders of the workloads as words, assembled from the sources in the folder `shaders`.\n\
         //!\n\
         //! `UPDATE_WORDS=1 cargo test -p v3d-sim --test workloads` writes this file anew.\n",
    );
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(folder().join("shaders")).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    for path in sources {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let assembly = qpu::assemble(&[qpu::Source::new(name, &text)], &qpu::Options::default())
            .unwrap_or_else(|diagnostics| panic!("{name}: {diagnostics:?}"));
        let halves: Vec<u32> = assembly.halves().collect();
        writeln!(out, "\n/// `shaders/{name}.qasm`.\npub const {}: &[u64] = &[", name.to_uppercase()).unwrap();
        for [low, high] in halves.as_chunks().0 {
            let half = |word: u32| format!("{:04x}_{:04x}", word >> 16, word & 0xffff);
            writeln!(out, "    0x{}_{},", half(*high), half(*low)).unwrap();
        }
        out += "];\n";
    }
    out
}

#[test]
fn the_words_of_the_workloads_are_those_of_their_sources() {
    let path = folder().join("words.rs");
    let made = words();
    if std::env::var_os("UPDATE_WORDS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == made, "words.rs is not made of the folder shaders: UPDATE_WORDS=1 writes it");
}

/// A board that draws textured quads with such a program draws them right [bm].
#[test]
fn a_program_that_reads_two_of_three_varyings_draws() {
    let rows = ROWS.iter().find(|workload| workload.row == 5).unwrap();
    let workload = Workload { scene: Scene { varyings: 3, ..rows.scene }, ..*rows };
    // The triangles share the pixels of their diagonal at most in their quads.
    assert_eq!(workload.run().unwrap().pixels, 400 * 240);
}

#[test]
fn every_row_is_a_workload_of_its_own() {
    let mut numbers: Vec<u8> = ROWS.iter().map(|workload| workload.row).collect();
    assert!(numbers.is_sorted());
    numbers.dedup();
    assert_eq!(numbers.len(), ROWS.len());
    for workload in ROWS {
        assert!((workload.scene.vertices)().len().is_multiple_of(3), "row {}", workload.row);
        assert!(!workload.measured.is_empty(), "row {}", workload.row);
        assert!(workload.measured.iter().all(|measured| 0.0 < measured.us.0 && measured.us.0 <= measured.us.1));
    }
}

/// The rows that are modelled fastest, and with them each cost that was fitted to a row and can be seen in these.
#[test]
fn the_model_takes_as_long_as_a_board() {
    for row in [1, 2, 3, 5, 6] {
        let workload = ROWS.iter().find(|workload| workload.row == row).unwrap();
        let modelled = workload.run().unwrap();
        for measured in workload.measured {
            let ratio = modelled.ratio(measured);
            assert!((0.9..=1.1).contains(&ratio), "row {row}, {}: {ratio:.2}", measured.part.name());
        }
    }
}

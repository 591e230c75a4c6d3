//! The captured frames' shaders in WGSL: their numbers of instructions, compared with Mesa's.

use shader_compiler::{Compiled, Options, compile, qasm};

use crate::mesa::{self, Row};

/// Bounds of the geometric means: coordinate, vertex, fragment, and fragment with `fast_math`. They are the current values, so that a regression is noticed.
const MEANS: [f64; 4] = [0.832, 0.878, 0.665, 0.604];
/// Bound for each program.
const MOST: f64 = 1.0;

/// Prints the table: `cargo test -p shader-compiler captures -- --nocapture`.
#[test]
fn instruction_counts_stay_near_mesas() {
    let mut logarithms = [const { Vec::new() }; 4];
    println!("{:16} {:>20} {:>20} {:>20} {:>20}", "ours/Mesa's", "coordinate", "vertex", "fragment", "fast");
    for Row { name, counts, state, source } in mesa::rows() {
        // Mesa uses the special function unit's results for exponentials and logarithms, as `fast_math` does.
        let mut programs = compile(&source, &name, &Options::default()).unwrap();
        let [coordinate, vertex, _] = programs.as_slice() else { panic!("{name}: {} programs", programs.len()) };
        assert!(vertex.interface.stream.starts_with(&coordinate.interface.stream), "{name}: a stream for each shader");
        programs.extend(compile(&source, &name, &Options { fast_math: true, ..Options::default() }).unwrap().pop());
        let mut line = format!("{name:16}");
        let programs: Vec<Compiled> = programs.into_iter().map(|program| program.with_end(&state).unwrap()).collect();
        for (column, program) in programs.iter().enumerate() {
            let stage = column.min(2);
            let own = program.words.len();
            let ratio = own as f64 / counts[stage] as f64;
            assert!(ratio <= MOST, "{name}: {own} instructions, Mesa {}", counts[stage]);
            logarithms[column].push(ratio.ln());
            line += &format!(" {own:6} {:6} {ratio:6.2}", counts[stage]);
        }
        println!("{line}");
    }
    for (list, bound) in logarithms.into_iter().zip(MEANS) {
        let mean = (list.iter().sum::<f64>() / list.len() as f64).exp();
        println!("geometric mean {mean:.3}");
        assert!(mean <= bound, "geometric mean {mean}, bound {bound}");
    }
}

#[test]
fn emitted_assembly_assembles_to_the_same_words() {
    for entry in std::fs::read_dir(mesa::folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wgsl") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for program in compile(&source, "test.wgsl", &Options::default()).unwrap() {
            let text = qasm(&program, &source);
            let assembled = qpu::assemble(&[qpu::Source::new("test.qasm", &text)], &qpu::Options::default());
            let assembled = assembled.unwrap_or_else(|diagnostics| panic!("{diagnostics}\n{text}"));
            assert_eq!(assembled.words, program.words, "{text}");
            let found = qpu::check::check_assembly(&assembled);
            assert!(!found.has_errors(), "{found}\n{text}");
        }
    }
}

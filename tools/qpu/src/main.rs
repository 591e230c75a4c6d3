//! Command `qpu`.
//!
//! Assembles the files that it is given and prints the words, low half first.
#![forbid(unsafe_code)]

fn main() -> anyhow::Result<()> {
    let sources: Vec<qpu::Source> = std::env::args().skip(1).map(qpu::Source::read).collect::<Result<_, _>>()?;
    match qpu::assemble(&sources, &qpu::Options::default()) {
        Ok(assembly) => {
            eprint!("{}", assembly.warnings);
            for word in assembly.words {
                println!("0x{:08x}, 0x{:08x},", word as u32, word >> 32);
            }
        }
        Err(diagnostics) => {
            eprint!("{diagnostics}");
            std::process::exit(1);
        }
    }
    Ok(())
}

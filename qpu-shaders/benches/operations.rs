//! Prints the cost of operations: instructions, cycles of the model's clock, and the lower bound by ALU use.
//!
//! The model's cycles do not depend on this machine's speed, so nothing is executed here: the figures are those of `OPERATIONS.md`, which `cargo test -p
//! qpu-shaders --test operations` measures and checks. `cargo bench -p qpu-shaders -- cvt` prints the rows that contain `cvt`.

/// The table that the tests write.
const TABLE: &str = include_str!("../OPERATIONS.md");

fn main() {
    // Cargo passes `--bench` to every benchmark.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("{:<44}{:<56}{:>12}{:>8}{:>8}  largest error", "operation", "macro", "instructions", "cycles", "bound");
    for line in TABLE.lines().filter(|line| wanted.iter().all(|word| line.contains(word.as_str()))) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if let [_, operation, name, _, instructions, cycles, bound, error, ..] = cells[..]
            && instructions.parse::<u64>().is_ok()
        {
            println!("{operation:<44}{name:<56}{instructions:>12}{cycles:>8}{bound:>8}  {error}");
        }
    }
}

//! What the operations cost: instructions, cycles of the model's clock, and the bound of their recipes.
//!
//! The model computes cycles without looking at this machine's clock, so there is nothing to repeat: the figures are those of `OPERATIONS.md`, which
//! `cargo test -p qpu-shaders --test operations` measures and holds up to date. `cargo bench -p qpu-shaders -- cvt` prints what has `cvt` in its row.

/// The table that the tests write.
const TABLE: &str = include_str!("../OPERATIONS.md");

fn main() {
    // Cargo itself hands `--bench` to what it runs.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("{:<44}{:<56}{:>12}{:>8}{:>8}  largest error", "operation", "macro", "instructions", "cycles", "bound");
    for line in TABLE.lines().filter(|line| wanted.iter().all(|word| line.contains(word.as_str()))) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if let [_, operation, name, _, instructions, cycles, bound, error, _] = cells[..]
            && instructions.parse::<u64>().is_ok()
        {
            println!("{operation:<44}{name:<56}{instructions:>12}{cycles:>8}{bound:>8}  {error}");
        }
    }
}

//! Measures every operation on the model: instructions, cycles and the ratio to its bound. `cargo bench -p compute`
//!
//! Cycles are estimates of the model's clock (`v3d-sim`, `timing/costs.rs`) from the start of programs to their end, without the CPU's work between two runs.
//! Arguments select operations by parts of their names; without one, the table `workloads/src/modelled.tsv` is written anew, from which the kernel takes the
//! figures it prints.

use compute::{Compute, Work};
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

fn main() {
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut table = String::from("#workload\tinstructions\tcycles of the model's clock\n");
    println!("{:32} {:>12} {:>10} {:>9}  bound", "operation", "instructions", "cycles", "us");
    for workload in compute_workloads::all::<Model>().iter().filter(|workload| workload.name.contains(&part)) {
        let machine = Model::new(32 << 20, Config { estimate: true, ..Config::default() });
        let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).expect("there is memory");
        let mut compute = Compute::new();
        let mut gpu = compute.on(&mut driver);
        if let Err(problem) = (workload.run)(&mut gpu) {
            println!("{:32} {problem}", workload.name);
            continue;
        }
        let (bound, at_least) = gpu.take_work().bound();
        let (instructions, cycles) = machine.programs_cost();
        println!(
            "{:32} {instructions:12} {cycles:10} {:9}  {:.0} % of what {bound} allows",
            workload.name,
            Work::microseconds(cycles),
            100.0 * at_least as f64 / cycles as f64
        );
        table += &format!("{}\t{instructions}\t{cycles}\n", workload.name);
        for fault in machine.take_faults() {
            println!("{:32} {fault}", "");
        }
    }
    if part.is_empty() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/src/modelled.tsv");
        std::fs::write(path, table).expect("the table can be written");
    }
}

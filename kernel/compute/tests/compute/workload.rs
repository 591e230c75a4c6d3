//! The workloads of the kernel and the benchmark.

use compute::Compute;
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

/// Results are correct, and the table of modelled costs has the number of instructions that these programs execute.
#[test]
fn every_operation_has_the_result_that_the_cpu_expects_at_the_cost_of_the_table() {
    for workload in compute_workloads::all::<Model>() {
        let machine = Model::new(32 << 20, Config::default());
        let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).unwrap();
        assert_eq!((workload.run)(&mut Compute::new().on(&mut driver)), Ok(()), "{}", workload.name);
        assert_eq!(machine.take_faults(), [], "{}", workload.name);
        let (instructions, _) = machine.programs_cost();
        let table = compute_workloads::modelled(workload.name).map(|row| row.instructions);
        assert_eq!(table, Some(instructions), "{}: `cargo bench -p compute` writes the table anew", workload.name);
    }
}

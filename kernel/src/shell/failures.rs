//! Failing on purpose: each way ends in a report on the console, which tests look for

use alloc::string::ToString;

use v3d::{
    Driver, Error, Job, Platform,
    hw::{BusAddr, control_list::Branch},
    record_list::{ControlList, RecordList},
};

use super::{command::Failure, run::Answer};
use crate::{
    arch::{clock, provoke},
    machine::Machine,
    print, println,
};

pub(super) fn fail(machine: &mut Machine, failure: Failure) -> Answer {
    match failure {
        Failure::Panic => panic!("asked for on the console"),
        Failure::NullPointer => provoke::write_to_null(),
        Failure::StackOverflow => provoke::overflow_stack(),
        Failure::WriteToConstant => provoke::write_to_constant(),
        Failure::Handler => {
            provoke::overflow_stack_in_next_tick();
            clock::spin_for_us(1_000_000);
        }
        Failure::Job => return hang(machine),
    }
    Err("nothing happened, although it should have".into())
}

/// Has the engine run a rendering list that goes round in a circle, until the driver gives it up.
fn hang(machine: &mut Machine) -> Answer {
    let gpu = machine.gpu()?;
    let outcome = run_circle(gpu);
    for report in gpu.take_reports() {
        print!("{report}");
    }
    match outcome {
        Err(Error::JobFailed { failure, .. }) => {
            println!("the job was given up: {failure}");
            Ok(())
        }
        Err(error) => Err(error.to_string()),
        Ok(()) => Err("the list without an end has ended".into()),
    }
}

fn run_circle<P: Platform>(gpu: &mut Driver<'_, P>) -> Result<(), Error> {
    // A branch to itself; its own address is known once the memory is.
    let branch = |address: BusAddr| {
        let mut list = RecordList::new();
        list.push(Branch { address });
        list.encode()
    };
    let length = branch(BusAddr(0))?.len() as u32;
    let buffer = gpu.allocate(length, 16)?;
    let start = buffer.address();
    let encoded = branch(start);
    let outcome = encoded.and_then(|bytes| buffer.region().store(gpu.platform(), 0, &bytes)).and_then(|()| {
        let rendering = ControlList { start, end_exclusive: start + length };
        let fence = gpu.submit(Job { binning: None, rendering });
        gpu.wait(fence)
    });
    gpu.free(buffer);
    outcome
}

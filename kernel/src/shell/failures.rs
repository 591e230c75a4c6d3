//! Failing on purpose: each way ends in a report on the console, which tests look for

use super::{command::Failure, run::Answer};
use crate::arch::{clock, provoke};

pub(super) fn fail(failure: Failure) -> Answer {
    match failure {
        Failure::Panic => panic!("asked for on the console"),
        Failure::NullPointer => provoke::write_to_null(),
        Failure::StackOverflow => provoke::overflow_stack(),
        Failure::WriteToConstant => provoke::write_to_constant(),
        Failure::Handler => {
            provoke::overflow_stack_in_next_tick();
            clock::spin_for_us(1_000_000);
        }
    }
    Err("nothing happened, although it should have".into())
}

//! Failing on purpose: each way ends in a report on the console, which tests look for

use super::{command::Failure, run::Answer};
use crate::arch::provoke;

pub(super) fn fail(failure: Failure) -> Answer {
    match failure {
        Failure::Panic => panic!("asked for on the console"),
        Failure::NullPointer => provoke::write_to_null(),
        Failure::StackOverflow => provoke::overflow_stack(),
        Failure::WriteToConstant => provoke::write_to_constant(),
    }
    Err("nothing happened, although it should have".into())
}

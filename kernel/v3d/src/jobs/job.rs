//! Jobs and submissions.

use crate::jobs::user_program::UserProgram;
use crate::lists::record_list::ControlList;
use alloc::vec::Vec;

/// One frame's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// What thread 0 executes; none if nothing is binned.
    pub binning: Option<ControlList>,
    /// What thread 1 executes.
    pub rendering: ControlList,
}

/// What was started last: user programs, the job that was submitted after them, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// The programs that ran together, if no other job was submitted since.
    pub programs: Vec<UserProgram>,
    /// The job, if it was submitted after the programs.
    pub job: Option<Job>,
}

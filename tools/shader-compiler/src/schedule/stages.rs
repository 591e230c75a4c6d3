//! Where the operations of a block stand among switches of threads.

use crate::machine::{Operation, Target};
use crate::order::{Through, Wait};

/// The stages of a block between switches of threads, by how many switches have come before.
pub(super) struct Stages {
    /// The first stage in which each operation can be, and the last in which that is useful: a lookup is asked for before its switch.
    pub(super) first: Vec<usize>,
    pub(super) last: Vec<usize>,
    /// Parameters of lookups.
    pub(super) requests: Vec<usize>,
    /// How many operations need what each leaves in flags, r5 or a TMU in the same stage, and from how many each needs that.
    pub(super) kept_for: Vec<usize>,
    pub(super) keeps: Vec<usize>,
}

impl Stages {
    /// `None` if there is no order in which what both threads share lives between two switches only.
    pub(super) fn new(operations: &[Operation], waits: &[Vec<Wait>]) -> Option<Self> {
        let count = operations.len();
        let is_request = |at: &usize| matches!(operations[*at].target, Target::Texture(..) | Target::Memory);
        let requests: Vec<usize> = (0..count).filter(is_request).collect();
        let mut first = vec![0; count];
        loop {
            let mut is_done = true;
            for at in 0..count {
                for wait in &waits[at] {
                    first[at] = first[at].max(first[wait.on] + usize::from(wait.through == Through::Lookup));
                }
            }
            for (at, wait) in waits.iter().enumerate().flat_map(|(at, list)| list.iter().map(move |wait| (at, wait))) {
                if wait.through == Through::Unmovable && first[wait.on] < first[at] {
                    first[wait.on] = first[at];
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
            // Each round moves something behind another switch, of which there is one for each lookup at most.
            if first.iter().any(|&stage| stage > requests.len()) {
                return None;
            }
        }
        let end = first.iter().copied().max().unwrap_or(0);
        let mut last = vec![end; count];
        let (mut kept_for, mut keeps) = (vec![0; count], vec![0; count]);
        for (at, list) in waits.iter().enumerate().rev() {
            if is_request(&at) {
                last[at] = first[at];
            }
            for wait in list {
                last[wait.on] = last[wait.on].min(last[at]);
                if wait.through == Through::Unmovable {
                    kept_for[wait.on] += 1;
                    keeps[at] += 1;
                }
            }
        }
        Some(Self { first, last, requests, kept_for, keeps })
    }
}

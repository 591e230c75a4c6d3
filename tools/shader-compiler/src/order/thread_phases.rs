//! The phases of a block for two threads: the code between two thread switches.
//!
//! A phase has the number of the switches before it.

use alloc::vec;
use alloc::vec::Vec;

use super::dependences::{Carrier, Dependence};
use crate::machine::{Operation, Target};

/// The phases in which each operation of a block can be.
#[derive(Clone, Debug)]
pub(crate) struct ThreadPhases {
    /// For each operation the first possible phase, and the last useful one: a lookup is requested before the switch that waits for it.
    pub(crate) first: Vec<usize>,
    pub(crate) last: Vec<usize>,
    /// Operations that write parameters of lookups.
    pub(crate) requests: Vec<usize>,
    /// For each operation, how many others need the flags, r5 or lookup parameters that it sets, in the same phase; and on how many it depends in that way.
    pub(crate) kept_for: Vec<usize>,
    pub(crate) keeps: Vec<usize>,
}

impl ThreadPhases {
    /// `None` if in every order flags, r5 or parameters of lookups would have to live across a switch: the threads share them.
    pub(crate) fn new(operations: &[Operation], dependences: &[Vec<Dependence>]) -> Option<Self> {
        let count = operations.len();
        let is_request = |at: &usize| matches!(operations[*at].target, Target::Texture(..) | Target::Memory);
        let requests: Vec<usize> = (0..count).filter(is_request).collect();
        let mut first = vec![0; count];
        loop {
            let mut is_done = true;
            for at in 0..count {
                for edge in &dependences[at] {
                    first[at] = first[at].max(first[edge.on] + usize::from(edge.carrier == Carrier::Lookup));
                }
            }
            for (at, list) in dependences.iter().enumerate() {
                for edge in list.iter().filter(|edge| edge.carrier == Carrier::Fixed) {
                    if first[edge.on] < first[at] {
                        first[edge.on] = first[at];
                        is_done = false;
                    }
                }
            }
            if is_done {
                break;
            }
            // Each iteration moves an operation to a later phase, and there are at most as many switches as lookups.
            if first.iter().any(|&phase| phase > requests.len()) {
                return None;
            }
        }
        let end = first.iter().copied().max().unwrap_or(0);
        let mut last = vec![end; count];
        let (mut kept_for, mut keeps) = (vec![0; count], vec![0; count]);
        for (at, list) in dependences.iter().enumerate().rev() {
            if is_request(&at) {
                last[at] = first[at];
            }
            for edge in list {
                last[edge.on] = last[edge.on].min(last[at]);
                if edge.carrier == Carrier::Fixed {
                    kept_for[edge.on] += 1;
                    keeps[at] += 1;
                }
            }
        }
        Some(Self { first, last, requests, kept_for, keeps })
    }
}

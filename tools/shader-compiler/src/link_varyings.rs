//! Links the varyings of the vertex and the fragment shader of one source.
//!
//! The hardware passes all varyings of the vertices to each fragment in order, and a fragment shader must read all of them. So the vertex shader does not
//! write components that the fragment shader does not use, and the remaining ones are renumbered.

use alloc::format;
use alloc::vec::Vec;

use naga::Span;

use crate::diagnostic::{Result, mistake};
use crate::ssa::{Op, Program, Step};

/// A varying of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Varying {
    pub(crate) location: u32,
    pub(crate) components: u32,
    /// It is not interpolated.
    pub(crate) flat: bool,
}

/// The varyings of a stage, whose components are numbered in the order of the locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Varyings {
    declared: Vec<Varying>,
    /// The components that are passed from vertex to fragment, in ascending order.
    kept: Vec<u32>,
}

impl Varyings {
    /// All components of these varyings, which are in the order of their locations.
    pub(crate) fn all(declared: Vec<Varying>) -> Self {
        let components = declared.iter().map(|varying| varying.components).sum();
        Self { declared, kept: (0..components).collect() }
    }

    /// Number of components that are passed.
    pub(crate) fn components(&self) -> u32 {
        self.kept.len() as u32
    }

    /// The components that are passed.
    pub(crate) fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// A bit for each component that is passed and not interpolated.
    pub(crate) fn flat(&self) -> u32 {
        let of_each = self.declared.iter().flat_map(|varying| (0..varying.components).map(|_| varying.flat));
        let flat: Vec<bool> = of_each.collect();
        let bits =
            self.kept.iter().zip(0..).filter(|(number, _)| flat.get(**number as usize).is_some_and(|flat| *flat));
        bits.fold(0, |bits, (_, at)| bits | 1 << at)
    }

    /// Keeps the components that a fragment shader uses, and renumbers them in the program.
    pub(crate) fn keep_used(&mut self, program: &mut Program) {
        let used: Vec<u32> = program
            .steps
            .iter()
            .filter_map(|step| match *step {
                Step::Compute(value) => varying_of(&program.op(value)),
                _ => None,
            })
            .collect();
        self.kept.retain(|number| used.contains(number));
        let kept = &self.kept;
        program.map_varyings(|number| kept.iter().position(|&other| other == number).map_or(number, |at| at as u32));
    }

    /// Keeps the components that the fragment shader of the same source uses.
    ///
    /// # Errors
    /// When the vertex shader does not write one of the fragment shader's varyings, or writes another type.
    pub(crate) fn keep_read_by(&mut self, fragment: &Self, span: Span) -> Result<()> {
        let mut kept = Vec::new();
        let mut first = 0;
        for read in &fragment.declared {
            let numbers = first..first + read.components;
            first = numbers.end;
            let Some(at) = self.declared.iter().position(|written| written.location == read.location) else {
                return mistake(
                    span,
                    format!(
                        "the fragment shader reads @location({}), which the vertex shader does not write",
                        read.location
                    ),
                );
            };
            let written = self.declared[at];
            if written.components != read.components {
                return mistake(
                    span,
                    format!(
                        "the vertex shader writes {} components to @location({}), and the fragment shader reads {}",
                        written.components, read.location, read.components
                    ),
                );
            }
            if written.flat != read.flat {
                return mistake(
                    span,
                    format!("@location({}) is flat in one stage, and interpolated in the other", read.location),
                );
            }
            let start: u32 = self.declared[..at].iter().map(|varying| varying.components).sum();
            let travel = numbers.clone().filter(|number| fragment.kept.contains(number));
            kept.extend(travel.map(|number| start + number - numbers.start));
        }
        self.kept = kept;
        Ok(())
    }
}

/// The number of the varying that an operation reads.
fn varying_of(op: &Op) -> Option<u32> {
    match *op {
        Op::Varying(number) | Op::FlatVarying(number) => Some(number),
        _ => None,
    }
}

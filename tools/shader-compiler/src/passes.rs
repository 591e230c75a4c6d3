//! The list of passes, from naga's intermediate representation to instruction words.
//!
//! Each row is one pass: a file or folder with one entry function. Programs of one source are compiled together: a coordinate shader with its vertex shader.
//! Two loops are around passes, both bounded: `schedule` tries the heuristics of `schedule/heuristic.rs` and keeps the shortest schedule, and a program that
//! needs more registers than there are is compiled again in a frugal mode (see [`crate::compile`]).

use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnostic::Result;
use crate::unit::{Request, Unit};

/// A pass, with its dump.
#[derive(Debug)]
pub struct Pass {
    /// Its name, as in `--emit after=`.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub purpose: &'static str,
    pub(crate) run: Run,
    /// Prints its result.
    pub(crate) dump: fn(&Unit) -> String,
}

/// The input of a pass.
#[derive(Debug)]
pub(crate) enum Run {
    /// The first pass: starts with an entry point.
    Begin(fn(&Request<'_>) -> Result<Unit>),
    /// The program of one stage.
    Each(fn(&mut Unit) -> Result<()>),
    /// The programs that share attributes and uniforms: those of the coordinate and the vertex shader, or one of another stage.
    Together(fn(&mut [Unit]) -> Result<()>),
}

/// All passes, in order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "lower",
        purpose: "Lowers functions to scalar values in SSA form: inlines calls, unrolls loops, folds constants, eliminates common subexpressions.",
        run: Run::Begin(Unit::lower),
        dump: Unit::dump_values,
    },
    Pass {
        name: "merge-masks",
        purpose: "Merges comparisons into the masks that are their only use, by the peepholes with a condition on uses.",
        run: Run::Each(Unit::merge_masks),
        dump: Unit::dump_values,
    },
    Pass {
        name: "eliminate-dead",
        purpose: "Removes values and loops that no output depends on.",
        run: Run::Each(Unit::eliminate_dead),
        dump: Unit::dump_values,
    },
    Pass {
        name: "meld-arms",
        purpose: "Computes once what both sides of a select compute of different operands, which are selected instead.",
        run: Run::Each(Unit::meld_arms),
        dump: Unit::dump_values,
    },
    Pass {
        name: "regroup",
        purpose: "Reassociates sums and products of fragment and compute shaders: common factors, constant factors, and pairs that occur several times.",
        run: Run::Each(Unit::regroup),
        dump: Unit::dump_values,
    },
    Pass {
        name: "hoist-invariants",
        purpose: "Moves loop-invariant code out of loops, unless the program needs the registers.",
        run: Run::Each(Unit::hoist_invariants),
        dump: Unit::dump_values,
    },
    Pass {
        name: "check-vertex-loops",
        purpose: "Refuses loops of vertex shaders that elements without a vertex could keep from ending.",
        run: Run::Each(Unit::check_vertex_loops),
        dump: Unit::dump_values,
    },
    Pass {
        name: "link-varyings",
        purpose: "Removes varyings that the fragment shader does not read.",
        run: Run::Each(Unit::link_varyings),
        dump: Unit::dump_values,
    },
    Pass {
        name: "place-attributes",
        purpose: "Assigns words of the VPM to the attributes that the coordinate and the vertex shader read.",
        run: Run::Together(Unit::place_attributes),
        dump: Unit::dump_attributes,
    },
    Pass {
        name: "select",
        purpose: "Chooses operations of the QPU's ALUs and units for values, on virtual registers, in basic blocks.",
        run: Run::Each(Unit::select),
        dump: Unit::dump_machine,
    },
    Pass {
        name: "order",
        purpose: "Builds the dependence graph of each block, and ranks its operations by critical path and by register pressure.",
        run: Run::Each(Unit::order),
        dump: Unit::dump_order,
    },
    Pass {
        name: "schedule",
        purpose: "Packs operations into instructions, and assigns each live range to a bank: accumulators, file A or file B.",
        run: Run::Each(Unit::schedule),
        dump: Unit::dump_schedule,
    },
    Pass {
        name: "share-uniforms",
        purpose: "Makes the vertex shader read the coordinate shader's uniforms first, so that one stream serves both.",
        run: Run::Together(Unit::share_uniforms),
        dump: Unit::dump_schedule,
    },
    Pass {
        name: "allocate",
        purpose: "Assigns each live range to a register of its bank, by a linear scan.",
        run: Run::Each(Unit::allocate),
        dump: Unit::dump_allocation,
    },
    Pass {
        name: "encode",
        purpose: "Encodes instructions, whose registers are known now, as words.",
        run: Run::Each(Unit::encode),
        dump: Unit::dump_lines,
    },
    Pass {
        name: "link",
        purpose: "Adds the program's end; to compute programs also the prologue, routines, and branches to them.",
        run: Run::Each(Unit::link),
        dump: Unit::dump_lines,
    },
];

/// Receives the result of each pass for each stage: the pass, the stage's name, and a function that prints the result.
pub type Watch<'w> = dyn FnMut(&'static Pass, &'static str, &dyn Fn() -> String) + Send + 'w;

/// Runs all passes on these entry points.
pub(crate) fn run_passes(requests: &[Request<'_>], watch: &mut Watch<'_>) -> Result<Vec<Unit>> {
    let mut units: Vec<Unit> = Vec::new();
    for pass in PASSES {
        match pass.run {
            Run::Begin(begin) => {
                for request in requests {
                    units.push(begin(request)?);
                }
            }
            Run::Each(each) => units.iter_mut().try_for_each(each)?,
            Run::Together(together) => together(&mut units)?,
        }
        for unit in &units {
            watch(pass, unit.stage.name(), &|| (pass.dump)(unit));
        }
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashbrown::HashSet;

    #[test]
    fn each_pass_has_a_name_of_its_own_and_a_sentence() {
        let names: HashSet<&str> = PASSES.iter().map(|pass| pass.name).collect();
        assert_eq!(names.len(), PASSES.len());
        for pass in PASSES {
            assert!(pass.purpose.ends_with('.') && pass.purpose.len() > 20, "{}", pass.name);
        }
        assert!(matches!(PASSES[0].run, Run::Begin(_)));
        assert_eq!(PASSES.iter().filter(|pass| matches!(pass.run, Run::Begin(_))).count(), 1);
    }
}

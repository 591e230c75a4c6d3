//! What a frame or a run of a compute shader costs, as the timing model estimates it.

use serde::Serialize;
use v3d_host::Model;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_hw::tile_buffer::tile_size_px;
use v3d_sim::counters::{BusyCycles, Counters};
use v3d_sim::timing::{Stall, Stalls};

/// The clock that the firmware names, and the one that boards were measured at [bm].
const CLOCKS_MHZ: [u32; 2] = [250, 300];

/// Counts of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramCost {
    /// Its kind.
    pub kind: String,
    /// Its address.
    pub address: u32,
    /// Invocations, each for 16 elements.
    pub starts: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Estimated cycles in which it occupied QPUs.
    pub cycles: u64,
    /// Cycles of waiting, by what was waited for.
    pub stalls: Vec<(&'static str, u64)>,
    /// The same for each instruction that was executed.
    pub code: Vec<InstructionCost>,
}

/// Counts of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InstructionCost {
    /// Its number in the program.
    pub number: u32,
    /// How often it was executed.
    pub executed: u64,
    /// Cycles of waiting, by what was waited for.
    pub stalls: Vec<(&'static str, u64)>,
}

/// What a frame or a run costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// Its programs.
    pub programs: Vec<ProgramCost>,
    /// Estimated cycles from the start to the end.
    pub cycles: u64,
    /// Milliseconds at 250 and at 300 MHz.
    pub milliseconds: [f64; 2],
    /// Busy cycles of units, the busiest first.
    pub units: Vec<(&'static str, u64)>,
    /// Tiles: column, row, primitives, pixels shaded, instructions.
    pub tiles: Vec<[u64; 5]>,
    /// Width and height of a tile in pixels.
    pub tile_px: [u32; 2],
    /// The lists and what they refer to, in words.
    pub lists: String,
}

/// Stalls by what was waited for, those that there were.
fn named(stalls: &Stalls) -> Vec<(&'static str, u64)> {
    let all = Stall::ALL.into_iter().map(|stall| (stall.name(), stalls.get(stall)));
    all.filter(|(_, cycles)| *cycles > 0).collect()
}

/// What the frame has cost that the model has drawn.
pub fn of_frame(model: &Model) -> Costs {
    let survey = model.survey();
    let kind = |address: u32| {
        let kinds = survey.program_kinds.get(&address);
        kinds.map(|kinds| kinds.iter().copied().collect::<Vec<_>>().join(", ")).unwrap_or_default()
    };
    let tile_px = survey
        .rendering_mode
        .map_or([64; 2], |mode| tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer).into());
    Costs { tile_px, lists: model.dump(), ..counted(model, kind) }
}

/// What the run of a compute shader has cost.
pub fn of_compute(model: &Model) -> Costs {
    counted(model, |_| "compute shader".to_owned())
}

fn counted(model: &Model, kind: impl Fn(u32) -> String) -> Costs {
    model.counted(|counters: &Counters| {
        let program = |(address, events): (v3d_hw::BusAddr, &v3d_sim::counters::ProgramEvents)| {
            // Its instructions are those before the next program.
            let next = counters.programs().map(|(start, _)| start.0).find(|&start| start > address.0);
            let own = address.0..next.unwrap_or(u32::MAX);
            let code = counters
                .instructions()
                .filter(|(at, _)| own.contains(&at.0))
                .map(|(at, cost)| InstructionCost {
                    number: (at.0 - address.0) / INSTRUCTION_BYTES,
                    executed: cost.executed,
                    stalls: named(&cost.stalls),
                })
                .collect();
            ProgramCost {
                kind: kind(address.0),
                address: address.0,
                starts: events.starts,
                instructions: events.instructions,
                cycles: events.cycles,
                stalls: named(&events.stalls),
                code,
            }
        };
        let cycles = counters.elapsed_cycles();
        let BusyCycles { qpus, ptb, pse, fep, tlb, tmus, vpm, loads, stores, memory } = counters.busy_cycles();
        let mut units = vec![
            ("QPUs", qpus),
            ("TMUs", tmus),
            ("VPM", vpm),
            ("VCD", loads),
            ("VDW", stores),
            ("PTB", ptb),
            ("PSE", pse),
            ("FEP", fep),
            ("TLB", tlb),
            ("memory", memory),
        ];
        units.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
        let tiles = counters.tiles().map(|((column, row), events)| {
            [u64::from(column), u64::from(row), events.primitives, events.pixels, events.instructions]
        });
        Costs {
            programs: counters.programs().map(program).collect(),
            cycles,
            milliseconds: CLOCKS_MHZ.map(|mhz| cycles as f64 / f64::from(mhz) / 1000.0),
            units,
            tiles: tiles.collect(),
            ..Costs::default()
        }
    })
}

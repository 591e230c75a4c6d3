//! The program of one stage while it is compiled, with the result of each pass.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use naga::Span;
use qpu::interface as checked;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::{Alu, Instruction, Signal};

use crate::allocate::{self, Allocation, allocate};
use crate::budget::Budget;
use crate::diagnostic::{Result, refuse_with};
use crate::eliminate_dead::eliminate_dead;
use crate::encode::{Line, encode};
use crate::hoist_invariants::hoist_invariants;
use crate::interface::{Attribute, Interface, Stage, Workgroups};
use crate::limit::Limit;
use crate::link::link;
use crate::link_varyings::Varyings;
use crate::lower::entry::{Entry, entry_span};
use crate::lower::{Lowering, SourceModule, lower};
use crate::machine::{self, Machine};
use crate::meld_arms::meld_arms;
use crate::order::{self, Ordered, order};
use crate::regroup::regroup;
use crate::rewrites::merge_masks;
use crate::schedule::{self, Effort, Scheduled, schedule, schedule_fragment};
use crate::select_instructions::{Streams, select_instructions};
use crate::share_uniforms::share_uniforms;
use crate::ssa::{Op, Program, Step, StreamWord};
use crate::vertex_loops;

/// Maximum number of varying components that the hardware interpolates.
const MAX_VARYINGS: u32 = 32;

/// A request to compile an entry point for one stage.
#[derive(Clone, Copy)]
pub(crate) struct Request<'s> {
    pub(crate) source: &'s SourceModule<'s>,
    /// Index of the entry point in the module.
    pub(crate) entry: usize,
    pub(crate) stage: Stage,
    /// The vertex shader is in the same source, and writes the varyings that the fragment shader reads.
    pub(crate) is_linked: bool,
    /// Compile for one thread only.
    pub(crate) one_thread: bool,
}

/// The program of one stage. Results of later passes are empty.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) stage: Stage,
    is_linked: bool,
    is_frugal: bool,
    /// Maximum number of computations.
    most_computations: usize,
    one_thread: bool,
    entry: Entry,
    /// The span of the entry point.
    span: Span,
    /// The interface, as far as it is known.
    pub(crate) interface: Interface,
    pub(crate) ssa: Program,
    streams: Streams,
    machine: Machine,
    ordered: Ordered,
    /// The shortest schedules; one after the pass `share-uniforms`.
    schedules: Vec<Scheduled>,
    allocation: Allocation,
    pub(crate) lines: Vec<Line>,
}

impl Unit {
    pub(crate) fn lower(request: &Request<'_>) -> Result<Self> {
        let Request { source, entry: index, stage, is_linked, one_thread } = *request;
        let (lowering, entry) = lower(source, index, stage)?;
        let Lowering { fields, textures, buffers, workgroups, program: ssa, .. } = lowering;
        let interface = Interface {
            fields,
            textures,
            attributes: Vec::new(),
            varyings: 0,
            flat_varyings: 0,
            stream: Vec::new(),
            writes_depth: entry.writes_depth,
            discards: entry.discards,
            points: entry.points,
            point_size: entry.point_size,
            half_color: source.half_color && stage == Stage::Fragment,
            buffers,
            workgroups,
            threading: Threading::Single,
        };
        let span = entry_span(source.text, &source.module.entry_points[index]);
        Ok(Self {
            stage,
            is_linked,
            is_frugal: source.is_frugal,
            most_computations: source.budget.computations,
            one_thread,
            entry,
            span,
            interface,
            ssa,
            streams: Streams::default(),
            machine: Machine::default(),
            ordered: Ordered::default(),
            schedules: Vec::new(),
            allocation: Allocation::default(),
            lines: Vec::new(),
        })
    }

    pub(crate) fn merge_masks(&mut self) -> Result<()> {
        merge_masks(&mut self.ssa);
        Ok(())
    }

    pub(crate) fn eliminate_dead(&mut self) -> Result<()> {
        eliminate_dead(&mut self.ssa);
        Ok(())
    }

    pub(crate) fn meld_arms(&mut self) -> Result<()> {
        meld_arms(&mut self.ssa);
        Ok(())
    }

    pub(crate) fn regroup(&mut self) -> Result<()> {
        if matches!(self.stage, Stage::Fragment | Stage::Compute) && regroup(&mut self.ssa) {
            eliminate_dead(&mut self.ssa);
        }
        Ok(())
    }

    pub(crate) fn hoist_invariants(&mut self) -> Result<()> {
        if !self.is_frugal {
            hoist_invariants(&mut self.ssa);
        }
        Ok(())
    }

    pub(crate) fn check_vertex_loops(&mut self) -> Result<()> {
        match self.stage {
            Stage::Coordinate | Stage::Vertex => vertex_loops::check(&self.ssa),
            Stage::Fragment | Stage::Compute => Ok(()),
        }
    }

    pub(crate) fn link_varyings(&mut self) -> Result<()> {
        if self.stage == Stage::Fragment && self.is_linked {
            self.entry.varyings.keep_used(&mut self.ssa);
        }
        let components = self.entry.varyings.components();
        if components > MAX_VARYINGS {
            let count = format_args!("{components}, at most {MAX_VARYINGS}");
            return refuse_with(self.ssa.here, &Limit::VARYING_COUNT, count);
        }
        (self.interface.varyings, self.interface.flat_varyings) = (components, self.entry.varyings.flat());
        Ok(())
    }

    pub(crate) fn place_attributes(units: &mut [Self]) -> Result<()> {
        let coordinate = units.iter().find(|unit| unit.stage == Stage::Coordinate);
        let attributes = coordinate.map_or_else(Vec::new, Self::attributes);
        let arrays = attribute_arrays(&attributes);
        for unit in units {
            if arrays > shader_interface::Attribute::MAX_ARRAYS {
                let count = format_args!("{arrays} arrays, at most {}", shader_interface::Attribute::MAX_ARRAYS);
                return refuse_with(unit.span, &Limit::ATTRIBUTE_COUNT, count);
            }
            unit.interface.attributes.clone_from(&attributes);
            unit.streams = Streams {
                attributes: match unit.stage {
                    Stage::Fragment | Stage::Compute => Vec::new(),
                    Stage::Vertex => attributes.iter().flat_map(numbers).collect(),
                    Stage::Coordinate => {
                        let read = attributes.iter().filter(|attribute| attribute.coordinate_offset_words.is_some());
                        read.flat_map(numbers).collect()
                    }
                },
                own_varyings: if unit.entry.points { checked::PrimitiveKind::Points.own_varyings() } else { 0 },
                varyings: if unit.stage == Stage::Fragment { unit.interface.varyings } else { 0 },
                outputs: matches!(unit.stage, Stage::Coordinate | Stage::Vertex),
                parts: unit.interface.workgroups.parts,
            };
        }
        Ok(())
    }

    /// The attributes with their positions in the VPM; a coordinate shader has those of which it reads any component.
    fn attributes(&self) -> Vec<Attribute> {
        let is_read = |attribute: &Attribute| {
            self.ssa.steps.iter().any(|step| match *step {
                Step::Compute(value) => {
                    matches!(self.ssa.op(value), Op::Attribute(number) if numbers(attribute).contains(&number))
                }
                _ => false,
            })
        };
        let mut offset = 0;
        let place = |attribute: &Attribute| {
            let own = is_read(attribute).then_some(offset);
            offset += if own.is_some() { attribute.words() } else { 0 };
            Attribute { coordinate_offset_words: own, ..attribute.clone() }
        };
        self.entry.attributes.iter().map(place).collect()
    }

    pub(crate) fn select(&mut self) -> Result<()> {
        check_length(&self.ssa, self.most_computations)?;
        self.machine = select_instructions(&self.ssa, &self.streams, self.is_frugal);
        Ok(())
    }

    fn may_have_two_threads(&self) -> bool {
        self.stage == Stage::Fragment && !self.one_thread
    }

    pub(crate) fn order(&mut self) -> Result<()> {
        self.ordered = order(&self.machine, self.may_have_two_threads() && self.machine.looks_up());
        Ok(())
    }

    pub(crate) fn schedule(&mut self) -> Result<()> {
        let effort = Effort::new();
        self.schedules = if self.may_have_two_threads() {
            vec![schedule_fragment(&self.machine, &self.ordered, &effort)?]
        } else {
            schedule(&self.machine, &self.ordered, &effort, self.stage == Stage::Coordinate)?
        };
        if let Some(first) = self.schedules.first() {
            self.interface.threading = first.threading;
        }
        Ok(())
    }

    pub(crate) fn share_uniforms(units: &mut [Self]) -> Result<()> {
        if let [coordinate, vertex] = units {
            share_uniforms(&mut coordinate.schedules, &vertex.machine, &mut vertex.schedules);
        }
        units.iter_mut().for_each(|unit| unit.schedules.truncate(1));
        Ok(())
    }

    pub(crate) fn allocate(&mut self) -> Result<()> {
        if let Some(scheduled) = self.schedules.first() {
            self.allocation = allocate(scheduled)?;
        }
        Ok(())
    }

    pub(crate) fn encode(&mut self) -> Result<()> {
        if let Some(scheduled) = self.schedules.first() {
            self.lines = encode(scheduled, &self.allocation);
        }
        Ok(())
    }

    pub(crate) fn link(&mut self) -> Result<()> {
        if self.stage == Stage::Compute {
            let Workgroups { together, parts, .. } = self.interface.workgroups;
            let calls = self.schedules.first().map_or_else(Vec::new, Scheduled::calls);
            let lines = core::mem::take(&mut self.lines);
            self.lines = link(lines, &calls, &self.machine.routines, if together { 1 } else { parts })?;
        }
        end(self.stage, &mut self.lines);
        self.interface.stream = self.lines.iter().filter_map(|line| line.reads).collect();
        resolve_own_addresses(&mut self.interface.stream);
        Ok(())
    }

    /// The varyings that a fragment shader reads.
    pub(crate) const fn varyings(&self) -> &Varyings {
        &self.entry.varyings
    }

    /// Lower bound of the program's instructions, for any number of registers: the sum of its blocks, and the code that `link` adds.
    pub(crate) fn lower_bound(&self) -> usize {
        let scheduled = self.schedules.first().map_or(0, Scheduled::len);
        let blocks: usize = self.ordered.single.iter().map(|block| block.lower_bound).sum();
        blocks + self.lines.len().saturating_sub(scheduled)
    }

    /// Whether only heuristics that save registers found a schedule.
    pub(crate) fn is_crowded(&self) -> bool {
        self.schedules.iter().any(|scheduled| scheduled.is_crowded)
    }

    /// Number of words of attributes that the program reads.
    pub(crate) fn attribute_words(&self) -> u32 {
        self.streams.attributes.len() as u32
    }

    pub(crate) fn dump_values(&self) -> String {
        self.ssa.to_string()
    }

    pub(crate) fn dump_attributes(&self) -> String {
        let line = |attribute: &Attribute| {
            let coordinate = attribute.coordinate_offset_words.map_or("-".to_owned(), |words| words.to_string());
            format!(
                "  {}: word {} of the vertex, {coordinate} of the coordinates\n",
                attribute.name, attribute.offset_words
            )
        };
        self.interface.attributes.iter().map(line).collect()
    }

    pub(crate) fn dump_machine(&self) -> String {
        machine::dump(&self.machine)
    }

    pub(crate) fn dump_order(&self) -> String {
        order::dump(&self.machine, &self.ordered)
    }

    pub(crate) fn dump_schedule(&self) -> String {
        self.schedules.first().map_or_else(String::new, schedule::dump)
    }

    pub(crate) fn dump_allocation(&self) -> String {
        self.schedules.first().map_or_else(String::new, |scheduled| allocate::dump(scheduled, &self.allocation))
    }

    pub(crate) fn dump_lines(&self) -> String {
        let words: Vec<u64> = self.lines.iter().filter_map(|line| line.instruction.encode().ok()).collect();
        qpu::disassemble(&words, qpu::disassembler::Style { offsets: true })
    }
}

/// The number of arrays that a pipeline needs for attributes.
fn attribute_arrays(attributes: &[Attribute]) -> usize {
    let mut arrays: Vec<shader_interface::Attribute> = attributes
        .iter()
        .map(|attribute| shader_interface::Attribute {
            name: "",
            bytes: 4 * attribute.words() as u16,
            memory_offset: 4 * attribute.offset_words,
            vertex_offset: 4 * attribute.offset_words as u8,
            coordinate_offset: attribute.coordinate_offset_words.map(|words| 4 * words as u8),
        })
        .collect();
    shader_interface::Attribute::share_arrays(&mut arrays)
}

/// Fails for a program that would take long to schedule.
fn check_length(program: &Program, most: usize) -> Result<()> {
    let computed = program.steps.iter().filter_map(|step| match *step {
        Step::Compute(value) => Some(value),
        Step::Begin(_) | Step::End(_) => None,
    });
    let count = computed.clone().count();
    if count <= most {
        return Ok(());
    }
    let spans = computed.skip(most).map(|value| program.values[value.index()].span);
    let span = spans.chain([program.here]).find(Span::is_defined).unwrap_or_default();
    if most == Budget::LARGE.computations {
        return refuse_with(span, &Limit::PROGRAM_SIZE, count);
    }
    refuse_with(span, &Limit::PROGRAM_SIZE, format_args!("{count}, and here at most {most}"))
}

fn numbers(attribute: &Attribute) -> core::ops::Range<u32> {
    attribute.offset_words..attribute.offset_words + attribute.words()
}

/// Replaces the number of a loop by the index of the first word that it reads, which follows the first of the two words with its address.
fn resolve_own_addresses(stream: &mut [StreamWord]) {
    let mut first = hashbrown::HashMap::new();
    for (at, word) in (0..).zip(stream) {
        if let StreamWord::OwnAddress(number) = word {
            *number = *first.entry(*number).or_insert(at + 1);
        }
    }
}

/// Appends the end of a program.
fn end(stage: Stage, lines: &mut Vec<Line>) {
    let span = lines.last().map_or(Span::default(), |line| line.span);
    let line = |sig| Line { instruction: Instruction::Alu(Alu { sig, ..Alu::NOP }), span, reads: None };
    match stage {
        Stage::Fragment => {
            // The first two instructions must not wait for the tile buffer [AG p.37].
            while lines.len() < 2 {
                lines.push(line(Signal::None));
            }
        }
        Stage::Compute => {}
        _ => lines.extend([Signal::ProgramEnd, Signal::None, Signal::None].map(line)),
    }
}

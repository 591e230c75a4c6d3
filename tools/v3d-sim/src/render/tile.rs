//! A unit of rendering: one tile, or several that share what the tile buffer contains.
//!
//! A unit is a list of operations that begins with a known tile buffer. It is executed by a worker, which has a tile buffer and a quad processor of
//! its own, and yields what its stores write.
//!
//! # Inferences
//! - Batches hold quads of one primitive list. How far silicon's batches reach across lists is not known, and no picture shows it.

use super::cap::{self, CoverageReading};
use super::early_z;
use super::fep::{CoveredBlock, Rasterising, Sampling, place_in_block};
use super::fragment::{Batch, FragmentIo, FragmentState, NewQuad, quads_in};
use super::load::Load;
use super::pixel_trace::{self, Event, PixelTrace, Sample};
use super::pse::{Coefficients, Discarded, PixelRect, Primitive, SetupState};
use super::store::{Store, Stored, tile_rect};
use super::tlb::{ClearValues, Shape, Tlb, ZTest};
use super::vertices::DrawList;
use super::{RenderError, RenderFault, WaveJob};
use crate::counters::{Counters, TileEvents};
use crate::fault::FaultLog;
use crate::lanes::{Lanes, Mask};
use crate::qpu::{self, Exit, Launch, Qpu};
use crate::simd::vectors::Vectors;
use crate::simd::{SimdDispatch, SimdTask};
use crate::state::{Fragment, PipelineState};
use crate::timing::trace::Invocation;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{CoverageUpdate, Oversample, Threading, TileBufferSelect, TileRenderingMode};
use v3d_hw::primitive_list::ListPrimitive;
use v3d_hw::qpu::LANES;
use v3d_hw::registers::performance::CounterSource;

/// Coefficients from which on a batch is shaded, full or not.
const MAX_COEFFICIENTS: usize = 8192;

/// The content of the tile buffer when a unit starts.
#[derive(Debug)]
pub enum Start {
    /// Unknown.
    Undefined,
    /// Just cleared.
    Cleared {
        /// The values that fill it.
        values: ClearValues,
        /// With double buffering, the values that fill the other half.
        other: ClearValues,
    },
    /// Left by an earlier part of the same unit, in the same tile.
    Kept {
        /// The tile buffer, or both.
        buffers: Buffers,
        /// Column and row of the tile.
        tile: (u8, u8),
    },
}

/// The tile buffer; with double buffering, both halves.
#[derive(Debug)]
pub struct Buffers {
    /// In use.
    pub current: Box<Tlb>,
    /// The other half, once it has been used.
    pub other: Option<Box<Tlb>>,
}

/// A primitive list with its state.
#[derive(Debug)]
pub struct Draw {
    /// The primitives.
    pub list: DrawList,
    /// The state in effect.
    pub state: PipelineState,
}

/// One operation of a unit.
#[derive(Debug)]
pub enum Op {
    /// Tile Coordinates.
    Begin {
        /// Column and row.
        tile: (u8, u8),
    },
    /// A load.
    Load(Load),
    /// A primitive list.
    Draw(Box<Draw>),
    /// A store, and the values with which it clears.
    Store {
        /// The record.
        store: Store,
        /// Clear values at its place.
        clear: ClearValues,
        /// Double buffering: the two halves are swapped behind it.
        swap: bool,
    },
}

/// Operations that are executed one after the other, by one worker.
#[derive(Debug)]
pub struct Unit {
    /// The content of the tile buffer at the start.
    pub start: Start,
    /// The content of the tile buffer is needed at the end.
    pub keep: bool,
    /// There were Tile Coordinates.
    pub in_tile: bool,
    ops: Vec<(BusAddr, Op)>,
}

impl Unit {
    /// A unit without operations.
    pub const fn new(start: Start) -> Self {
        Self { start, keep: false, in_tile: false, ops: Vec::new() }
    }

    /// Adds an operation, with the address of its record.
    pub fn push(&mut self, at: BusAddr, op: Op) {
        self.ops.push((at, op));
    }

    /// Whether it has no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Its stores, with the tiles that they store.
    pub fn stores(&self) -> impl Iterator<Item = ((u8, u8), &Store)> {
        let mut tile = match self.start {
            Start::Kept { tile, .. } => tile,
            _ => (0, 0),
        };
        self.ops.iter().filter_map(move |(_, op)| match op {
            Op::Begin { tile: begun } => {
                tile = *begun;
                None
            }
            Op::Store { store, .. } => Some((tile, store)),
            _ => None,
        })
    }
}

/// Results of a unit.
#[derive(Debug, Default)]
pub struct UnitResult {
    /// The bytes of its stores, in order.
    pub stored: Vec<(BusAddr, Stored)>,
    /// Counts.
    pub counters: Counters,
    /// Faults.
    pub faults: FaultLog,
    /// Instructions executed.
    pub instructions: u64,
    /// Pixels shaded, once for each primitive that covers them.
    pub pixels: u64,
    /// Trace of the watched pixel.
    pub pixel_trace: PixelTrace,
    /// The tile buffer and its tile, if they are needed.
    pub kept: Option<(Buffers, (u8, u8))>,
}

/// A worker: executes units.
#[derive(Debug)]
pub struct Worker {
    qpu: Qpu,
    tlb: Box<Tlb>,
    /// The other half of a double-buffered tile buffer, once a unit has used both.
    other: Option<Box<Tlb>>,
    batch: Batch,
    coefficients: Vec<Coefficients>,
    clipped: Vec<f32>,
    blocks: Vec<CoveredBlock>,
}

impl Worker {
    /// A worker with a tile buffer.
    pub fn new(mode: &TileRenderingMode) -> Self {
        Self {
            qpu: Qpu::new(),
            tlb: Box::new(Tlb::new(shape_of(mode))),
            other: None,
            batch: Batch::default(),
            coefficients: Vec::new(),
            clipped: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Executes a unit.
    pub fn execute(&mut self, unit: Unit, job: &WaveJob<'_>) -> UnitResult {
        let mut result = UnitResult::default();
        let (mut tile, mut defined, mut other_values) = ((0, 0), true, None);
        match unit.start {
            Start::Kept { buffers, tile: kept } => {
                (self.tlb, self.other, tile) = (buffers.current, buffers.other, kept);
            }
            Start::Cleared { values, other } => {
                self.clear_all(&values, job);
                other_values = Some(other);
                self.other = None;
            }
            Start::Undefined => {
                self.clear_all(&ClearValues::default(), job);
                defined = false;
                self.other = None;
            }
        }
        self.tlb.set_shape(shape_of(&job.mode));
        let mut budget = job.limit;
        for (at, op) in unit.ops {
            let done = match op {
                Op::Begin { tile: begun } => {
                    tile = begun;
                    let (column, row) = begun;
                    self.note(at, tile, job, &mut result, |_| Event::TileBegins { column, row });
                    Ok(())
                }
                Op::Load(load) => {
                    defined = true;
                    let done = load.execute(&job.mode, tile, &mut self.tlb, job.memory).map_err(RenderError::from);
                    self.note(at, tile, job, &mut result, Event::Loaded);
                    done
                }
                Op::Draw(draw) => {
                    if !std::mem::replace(&mut defined, true) {
                        result.faults.report(RenderFault { at, error: RenderError::NeverCleared });
                    }
                    let before = budget;
                    let quads = result.counters.get(CounterSource::FepQuads);
                    let pixels = result.pixels;
                    let drawn = self.draw(at, &draw, tile, job, &mut budget, &mut result);
                    let events = TileEvents {
                        lists: 1,
                        primitives: draw.list.len() as u64,
                        quads: result.counters.get(CounterSource::FepQuads) - quads,
                        pixels: result.pixels - pixels,
                        instructions: before - budget,
                    };
                    result.counters.add_tile(tile, events);
                    drawn
                }
                Op::Store { store, clear, swap } => {
                    if !std::mem::replace(&mut defined, true) && stores_something(&store) {
                        result.faults.report(RenderFault { at, error: RenderError::NeverCleared });
                    }
                    let mut stored = Stored::default();
                    let collected = stored.collect(&store, &job.mode, tile, &self.tlb);
                    result.counters.add_tile_store(stored.byte_count() as u64);
                    result.stored.push((at, stored));
                    if stores_something(&store) {
                        self.note(at, tile, job, &mut result, Event::Stored);
                    }
                    self.clear_after(&store, &clear);
                    self.note(at, tile, job, &mut result, Event::Cleared);
                    if swap {
                        self.swap(other_values.unwrap_or(clear), job);
                    }
                    collected.map_err(RenderError::from)
                }
            };
            if let Err(error) = done {
                result.faults.report(RenderFault { at, error });
            }
        }
        result.instructions = job.limit - budget;
        result.counters.add(CounterSource::QpuFragmentCycles, result.instructions * qpu::INSTRUCTION_CYCLES);
        result.counters.merge(std::mem::take(&mut self.qpu.counters));
        if unit.keep {
            if job.mode.double_buffer
                && let Some(values) = other_values
            {
                // The other half, even if it has not been used yet.
                self.swap(values, job);
                self.swap(values, job);
            }
            let next = Box::new(Tlb::new(self.tlb.shape()));
            let current = std::mem::replace(&mut self.tlb, next);
            result.kept = Some((Buffers { current, other: self.other.take() }, tile));
        }
        result
    }

    /// Adds an event of the watched pixel, if it is in the tile, made of the pixel's content.
    fn note(
        &self,
        at: BusAddr,
        tile: (u8, u8),
        job: &WaveJob<'_>,
        result: &mut UnitResult,
        event: impl FnOnce(Vec<Sample>) -> Event,
    ) {
        let Some((x, y)) = job.watched else { return };
        let shape = self.tlb.shape();
        let rect = tile_rect(tile, (shape.width_px, shape.height_px));
        let (inner_x, inner_y) = (i64::from(x) - i64::from(rect.x0), i64::from(y) - i64::from(rect.y0));
        let inside = |inner: i64, size: u32| (0..i64::from(size)).contains(&inner);
        if inside(inner_x, shape.width_px) && inside(inner_y, shape.height_px) {
            let samples =
                pixel_trace::samples(&self.tlb, shape.pixel(inner_x as u32, inner_y as u32), job.mode.vg_mask);
            result.pixel_trace.note(at, event(samples));
        }
    }

    /// Switches to the other half of the tile buffer, which contains `values` if it has not been used yet.
    fn swap(&mut self, values: ClearValues, job: &WaveJob<'_>) {
        let used = self.other.take();
        let unused = used.is_none();
        let next = used.unwrap_or_else(|| Box::new(Tlb::new(self.tlb.shape())));
        self.other = Some(std::mem::replace(&mut self.tlb, next));
        self.tlb.set_shape(shape_of(&job.mode));
        if unused {
            self.clear_all(&values, job);
        }
    }

    fn clear_all(&mut self, values: &ClearValues, job: &WaveJob<'_>) {
        self.tlb.set_shape(shape_of(&job.mode));
        self.tlb.clear_color(values);
        self.tlb.clear_zs(values);
        // Even in a mode without an alpha mask: the tile may stay open until a mode with one, and must not show what this worker did before.
        self.tlb.clear_vg_mask(values);
    }

    fn clear_after(&mut self, store: &Store, values: &ClearValues) {
        let clears = store.clears();
        if clears.color {
            self.tlb.clear_color(values);
        }
        if clears.zs {
            self.tlb.clear_zs(values);
        }
        if clears.vg_mask {
            self.tlb.clear_vg_mask(values);
        }
    }

    fn draw(
        &mut self,
        at: BusAddr,
        draw: &Draw,
        tile: (u8, u8),
        job: &WaveJob<'_>,
        budget: &mut u64,
        result: &mut UnitResult,
    ) -> Result<(), RenderError> {
        let Draw { list, state } = draw;
        let shader = state.shader.as_ref().ok_or(RenderError::NoShader)?;
        let configuration = state.configuration;
        let shape = self.tlb.shape();
        let places = job.sample_places;
        let sampling = match configuration.oversample {
            Oversample::None => Sampling::Centre,
            Oversample::X4 => Sampling::Four(places),
            Oversample::X16 => Sampling::Sixteen(places),
            Oversample::Reserved(_) => return Err(RenderError::Oversample),
        };
        if shape.multisample && matches!(sampling, Sampling::Sixteen(_)) {
            return Err(RenderError::Oversample);
        }
        if shape.multisample && configuration.coverage_pipe {
            return Err(RenderError::CoverageInMultisample);
        }
        let whole_tile = tile_rect(tile, (shape.width_px, shape.height_px));
        let clip = state.clip_window;
        let (left, bottom) = (i32::from(clip.left), i32::from(clip.bottom));
        let window = whole_tile.intersect(PixelRect {
            x0: left,
            y0: bottom,
            x1: left + i32::from(clip.width),
            y1: bottom + i32::from(clip.height),
        });
        if window.is_empty() {
            return Ok(());
        }
        let setup = SetupState {
            configuration,
            depth_offset: state.depth_offset,
            flat: state.flat_shade,
            line_width: state.line_width,
            rht_boundary: i32::from(state.rht_x_boundary) + i32::from(state.viewport_offset.x),
        };
        let fragment = shader.fragment();
        let implicit = match list.primitive() {
            ListPrimitive::Points => 2,
            ListPrimitive::Lines => 1,
            _ => 0,
        };
        let fragment_state = FragmentState {
            passing: configuration.depth_test.into(),
            z_test: ZTest { function: configuration.depth_test, update: configuration.z_updates },
            varyings: usize::from(fragment.varyings) + implicit,
            vg_mask: job.mode.vg_mask,
            coverage: CoverageReading::of(&configuration),
            tile: (whole_tile.x0, whole_tile.y0),
        };
        let vertices = job.vertices;
        let Self { qpu, tlb, batch, coefficients, clipped, blocks, .. } = self;
        let z_limits = (f64::from(state.z_clipping.minimum), f64::from(state.z_clipping.maximum));
        coefficients.clear();
        batch.clear();
        let mut shading = Shading {
            at,
            qpu,
            tlb,
            batch,
            coefficients: Vec::new(),
            first: 0,
            index: 0,
            rasterised: result.counters.get(CounterSource::FepQuads),
            fragment,
            state: fragment_state,
            // In coverage mode there is no Z to compare with.
            early_z: configuration.early_z && !job.mode.disable_early_z && !job.mode.coverage_mode,
            sampling,
            whole_pixels: !matches!(sampling, Sampling::Centre) && !shape.multisample,
            coverage: configuration.coverage_pipe.then_some(configuration.coverage_update),
            tile: (whole_tile.x0, whole_tile.y0),
            job,
            budget,
            result,
        };
        std::mem::swap(&mut shading.coefficients, coefficients);
        let mut outcome = Ok(());
        for index in 0..list.len() {
            if shading.coefficients.len() > MAX_COEFFICIENTS {
                shading.shade();
            }
            if shading.batch.is_empty() {
                shading.coefficients.clear();
            }
            shading.first = shading.coefficients.len();
            shading.index = index;
            let primitive = vertices.with_primitive(list, index, state, job.memory, clipped, |corners, point_size| {
                let [v0, v1, _] = corners;
                match list.primitive() {
                    ListPrimitive::Points => setup.point(v0, point_size, &mut shading.coefficients),
                    ListPrimitive::Lines => setup.line([v0, v1], &mut shading.coefficients),
                    ListPrimitive::Rht => setup.rht([v0, v1]),
                    _ => setup.triangle(corners, &mut shading.coefficients),
                }
            });
            match primitive {
                Ok(Ok(primitive)) => {
                    shading.result.counters.add(CounterSource::FepPrimitives, 1);
                    blocks.clear();
                    let rasterising = Rasterising { primitive: &primitive, window, sampling, z_limits, blocks };
                    SimdDispatch::new().run(Drawing { rasterising, shading: &mut shading });
                }
                Ok(Err(Discarded::Culled)) => shading.result.counters.add(CounterSource::PsePrimitivesReversed, 1),
                Ok(Err(Discarded::Degenerate)) => {}
                Err(error) => outcome = Err(error.into()),
            }
        }
        shading.shade();
        std::mem::swap(&mut shading.coefficients, coefficients);
        outcome
    }
}

/// Whether a store writes anything to memory.
fn stores_something(store: &Store) -> bool {
    !matches!(store, Store::General(general) if general.buffer == TileBufferSelect::None)
}

/// The division of the tile buffer in a rendering mode.
pub fn shape_of(mode: &TileRenderingMode) -> Shape {
    Shape::new(mode.multisample, mode.color_64_bit, mode.double_buffer)
}

/// The primitives of one draw in FEP and QPU.
struct Shading<'a, 'j> {
    at: BusAddr,
    qpu: &'a mut Qpu,
    tlb: &'a mut Tlb,
    batch: &'a mut Batch,
    coefficients: Vec<Coefficients>,
    /// Index of the current primitive's coefficients.
    first: usize,
    /// Number of the current primitive in its list.
    index: usize,
    /// Quads found up to the last batch.
    rasterised: u64,
    fragment: Fragment,
    state: FragmentState,
    early_z: bool,
    sampling: Sampling,
    /// The rasteriser tests samples that the tile buffer does not have: each of them counts for the pixel.
    whole_pixels: bool,
    /// Primitives go to the coverage pipe, with this update mode.
    coverage: Option<CoverageUpdate>,
    /// Screen coordinates of the tile.
    tile: (i32, i32),
    job: &'a WaveJob<'j>,
    budget: &'a mut u64,
    result: &'a mut UnitResult,
}

/// A primitive that is being rasterised into batches.
struct Drawing<'d, 'a, 'j> {
    rasterising: Rasterising<'d>,
    shading: &'d mut Shading<'a, 'j>,
}

impl SimdTask for Drawing<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { mut rasterising, shading } = self;
        rasterising.run::<V>();
        if rasterising.blocks.is_empty() {
            shading.result.counters.add(CounterSource::FepPrimitivesWithoutPixels, 1);
        }
        for block in rasterising.blocks.iter() {
            shading.block::<V>(rasterising.primitive, block);
        }
    }
}

impl Shading<'_, '_> {
    /// Tests the quads of a block, and adds those that are left to the batch.
    #[inline(always)]
    fn block<V: Vectors>(&mut self, primitive: &Primitive, block: &CoveredBlock) {
        let (x, y) = (block.x - self.tile.0, block.y - self.tile.1);
        let first = self.tlb.shape().block(x as u32, y as u32);
        let mut masks = block.samples;
        V::blend(&mut masks, &Lanes::default(), !block.within_limits);
        if self.coverage.is_some() {
            self.accumulate(primitive, block, &masks, first);
            return;
        }
        if self.whole_pixels {
            masks = masks.map(|mask| if mask == 0 { 0 } else { 0xf });
        }
        let mut visible = self.visible::<V>(first, block, &masks);
        let mut quads = quads_in(block.pixels);
        while quads != 0 {
            let lane = quads.trailing_zeros() as usize;
            quads &= quads - 1;
            self.result.counters.add(CounterSource::FepQuads, 1);
            let watched = if self.job.watched.is_some() { self.watched_in(block, lane) } else { None };
            if let Some(watched) = watched {
                self.note_covered(primitive, block, &masks, watched);
            }
            let pixel = first + lane;
            if self.batch.contains(pixel) {
                self.shade();
                visible = self.visible::<V>(first, block, &masks);
            }
            if let Some(watched) = watched
                && masks.0[watched] != 0
                && visible.0.0[watched] == 0
            {
                self.note(Event::Hidden);
            }
            let pixels = visible.1 >> lane & 0xf;
            if pixels == 0 {
                self.result.counters.add(CounterSource::FepQuadsClipped, 1);
                continue;
            }
            self.result.pixels += u64::from(pixels.count_ones());
            let (masks_left, reverse, coefficients) = (&visible.0, primitive.reverse, self.first);
            self.batch.push(&NewQuad { block, lane, masks: masks_left, pixel, reverse, coefficients });
            if self.batch.is_full() {
                self.shade();
                if quads != 0 {
                    visible = self.visible::<V>(first, block, &masks);
                }
            }
        }
    }

    /// The masks of a block without samples that early Z rejects, and the pixels that have any left.
    #[inline(always)]
    fn visible<V: Vectors>(&self, pixel: usize, block: &CoveredBlock, masks: &Lanes) -> (Lanes, Mask) {
        let visible = if self.early_z {
            early_z::visible::<V>(self.tlb, self.state.passing, pixel, &block.z, masks)
        } else {
            *masks
        };
        (visible, !V::zero(&visible))
    }

    /// Records that a primitive covers the watched pixel, an element of a block.
    #[cold]
    fn note_covered(&mut self, primitive: &Primitive, block: &CoveredBlock, masks: &Lanes, element: usize) {
        self.note(Event::Covered {
            primitive: self.index,
            mask: block.samples.0[element] as u16,
            reverse: primitive.reverse,
            z: block.z.0[element],
            w: f32::from_bits(block.w.0[element]),
        });
        if masks.0[element] == 0 {
            self.note(Event::OutsideZLimits);
        }
    }

    /// Adds a block to the coverage of its pixels, as far as Z does not exclude them.
    #[inline(never)]
    fn accumulate(&mut self, primitive: &Primitive, block: &CoveredBlock, left: &Lanes, first: usize) {
        let Some(update) = self.coverage else { return };
        for lane in (0..LANES).step_by(4).filter(|lane| block.pixels >> lane & 0xf != 0) {
            self.result.counters.add(CounterSource::FepQuads, 1);
            let watched = self.watched_in(block, lane);
            if let Some(watched) = watched {
                self.note_covered(primitive, block, left, watched);
            }
            if left.0[lane..lane + 4] == [0; 4] {
                self.result.counters.add(CounterSource::FepQuadsClipped, 1);
                continue;
            }
            for element in (lane..lane + 4).filter(|&element| left.0[element] != 0) {
                let samples = cap::samples_of(block.samples.0[element] as u16, self.sampling);
                if let Some(coverage) = self.tlb.zs.get_mut(first + element) {
                    *coverage = cap::accumulate(*coverage, samples, update, primitive.reverse);
                }
            }
            if let Some(watched) = watched.filter(|&watched| left.0[watched] != 0) {
                let samples = pixel_trace::samples(self.tlb, first + watched, self.state.vg_mask);
                self.note(Event::CoverageAccumulated(samples));
            }
        }
    }

    /// Runs the fragment shader for the batch, which is empty afterwards.
    #[inline(never)]
    fn shade(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let launch = Launch {
            pc: self.fragment.code,
            uniforms: self.fragment.uniforms,
            uniforms_limit: None,
            ra15: self.batch.w,
            rb15: self.batch.z,
            threading: match self.fragment.threading {
                Threading::Dual => qpu::Threading::Threaded,
                Threading::Single => qpu::Threading::Single,
            },
            qpu: 0,
            record: self.job.record.then(|| self.invocation()),
        };
        self.qpu.start(&launch);
        let watched = self.watched_in_batch();
        if let Some((element, _)) = watched {
            self.note(Event::Program { code: self.fragment.code, element });
        }
        let UnitResult { counters, faults, pixel_trace, .. } = &mut *self.result;
        let mut io = FragmentIo::new(self.tlb, self.batch, &self.coefficients, counters, self.state);
        let exit = match watched {
            None => self.qpu.run(&mut io, self.job.memory, self.job.code, self.budget),
            Some((element, _)) => pixel_trace.run(self.at, element, self.qpu, &mut io, self.job, self.budget),
        };
        let unread = io.unread_varyings();
        let error = match exit {
            Exit::Ended if unread > 0 => Some(RenderError::VaryingsUnread(unread)),
            Exit::Ended => None,
            Exit::Stalled => Some(RenderError::Deadlock),
            Exit::OutOfBudget => Some(RenderError::OutOfBudget),
        };
        if let Some(error) = error {
            faults.report(RenderFault { at: self.at, error });
        }
        faults.merge(self.qpu.take_faults());
        if let Some((_, pixel)) = watched {
            let samples = pixel_trace::samples(self.tlb, pixel, self.state.vg_mask);
            self.note(Event::Shaded(samples));
        }
        self.batch.clear();
    }

    /// The invocation of the batch, for the timing model.
    #[cold]
    fn invocation(&mut self) -> Invocation {
        let found = self.result.counters.get(CounterSource::FepQuads);
        let rasterised = found - std::mem::replace(&mut self.rasterised, found);
        let (x, y) = self.tile;
        // A tile is at least 32 pixels wide and high, and has at most 1024 quads.
        let tile = (((y as u32 / 32) << 7) | (x as u32 / 32)) * 1024;
        let quads = self.batch.pixels().map(|pixel| pixel.map_or(Invocation::NO_QUAD, |pixel| tile + pixel as u32 / 4));
        Invocation::Fragments {
            quads,
            varyings: self.state.varyings as u32,
            threaded: self.fragment.threading == Threading::Dual,
            rasterised: rasterised as u32,
        }
    }

    #[cold]
    fn note(&mut self, event: Event) {
        self.result.pixel_trace.note(self.at, event);
    }

    /// The watched element of a block, if it belongs to the quad that begins with `lane` and is covered.
    #[cold]
    fn watched_in(&self, block: &CoveredBlock, lane: usize) -> Option<usize> {
        let (x, y) = self.job.watched?;
        let watched = |element: &usize| {
            let (column, row) = place_in_block(*element);
            ((block.x + column) as u32, (block.y + row) as u32) == (x, y)
        };
        (lane..lane + 4).find(watched).filter(|element| block.pixels >> element & 1 == 1)
    }

    /// The watched element of the batch, if there is one, and its pixel's number in the tile buffer.
    fn watched_in_batch(&self) -> Option<(usize, usize)> {
        let (x, y) = self.job.watched?;
        let (x, y) = (x.checked_sub(self.tile.0 as u32)?, y.checked_sub(self.tile.1 as u32)?);
        let shape = self.tlb.shape();
        if x >= shape.width_px || y >= shape.height_px {
            return None;
        }
        let pixel = shape.pixel(x, y);
        self.batch.element_of(pixel).map(|element| (element, pixel))
    }
}

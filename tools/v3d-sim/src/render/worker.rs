//! Workers: each executes units of rendering with a tile buffer and a quad processor of its own.

use super::cap::CoverageReading;
use super::fep::{CoveredBlock, Rasterising, Sampling};
use super::fragment::{Batch, FragmentState};
use super::hidden_surfaces::{Deferral, HiddenSurfaces, Reason, Units};
use super::pixel_trace::{self, Event, Sample};
use super::pse::{Coefficients, Discarded, PixelRect, SetupState};
use super::shading::{Drawing, FrontCount, MAX_COEFFICIENTS, Shading};
use super::store::{Room, Store, tile_rect};
use super::tlb::{ClearValues, Shape, Tlb, ZTest};
use super::unit::{Buffers, Draw, Op, Start, Unit, UnitResult};
use super::{RenderError, RenderFault, WaveJob};
use crate::binning::vcm::reuse::VertexBatch;
use crate::counters::{Counters, TileEvents};
use crate::qpu::{self, Qpu};
use crate::timing::trace::{TileMove, Work};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{Oversample, TileBufferSelect, TileRenderingMode};
use v3d_hw::primitive_list::ListPrimitive;
use v3d_hw::registers::Thread;
use v3d_hw::registers::performance::CounterSource;

/// A worker: executes units.
#[derive(Debug)]
pub struct Worker {
    qpu: Qpu,
    tlb: Box<Tlb>,
    /// The other half of a double-buffered tile buffer, once a unit has used both.
    other: Option<Box<Tlb>>,
    /// Boxed, since it is exchanged for another one.
    batch: Box<Batch>,
    /// Batches whose programs have not run yet.
    pub(super) hidden: HiddenSurfaces,
    coefficients: Vec<Coefficients>,
    clipped: Vec<f32>,
    blocks: Vec<CoveredBlock>,
    front: FrontCount,
    room: Room,
    /// Counts of its units, except for those of the QPU.
    counters: Counters,
}

impl Worker {
    /// A worker with a tile buffer.
    pub fn new(mode: &TileRenderingMode) -> Self {
        Self {
            qpu: Qpu::new(),
            tlb: Box::new(Tlb::new(shape_of(mode))),
            other: None,
            batch: Box::default(),
            hidden: HiddenSurfaces::default(),
            coefficients: Vec::new(),
            clipped: Vec::new(),
            blocks: Vec::new(),
            front: FrontCount::default(),
            room: Room::default(),
            counters: Counters::default(),
        }
    }

    /// Drops what programs have left.
    pub fn reset(&mut self) {
        self.qpu = Qpu::new();
    }

    /// Takes the counts of the units executed since the last call.
    pub fn take_counters(&mut self) -> Counters {
        let mut counters = std::mem::take(&mut self.counters);
        counters.merge(self.qpu.take_counters());
        counters
    }

    /// Executes a unit.
    pub fn execute(&mut self, mut unit: Unit, job: &WaveJob<'_>) -> UnitResult {
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
        self.hidden.begin(job.number);
        self.front = FrontCount::after(self.counters.get(CounterSource::FepQuads));
        let mut budget = job.limit;
        for (at, op) in unit.ops.drain(..) {
            if job.supervision.is_stopped(Thread::Rendering) {
                break;
            }
            job.supervision.reach(Thread::Rendering, at);
            if !matches!(op, Op::Draw(_)) {
                self.shade_deferred(job, &mut result);
            }
            let done = match op {
                Op::Begin { tile: begun } => {
                    tile = begun;
                    let (column, row) = begun;
                    self.record(at, tile, job, &mut result, |_| Event::TileBegins { column, row });
                    Ok(())
                }
                Op::Load(load) => {
                    defined = true;
                    let done = load.execute(&job.mode, tile, &mut self.tlb, job.memory).map_err(RenderError::from);
                    let pieces = if job.record { load.pieces(&job.mode, tile, self.tlb.shape()) } else { 0 };
                    self.move_tile(load.moves_samples(), pieces, false, job);
                    self.record(at, tile, job, &mut result, Event::Loaded);
                    done
                }
                Op::Draw(draw) => {
                    if !std::mem::replace(&mut defined, true) {
                        result.faults.report(RenderFault { at, error: RenderError::NeverCleared });
                    }
                    let before = budget;
                    let quads = self.counters.get(CounterSource::FepQuads);
                    let pixels = result.pixels;
                    let drawn = self.draw(at, &draw, tile, job, &mut budget, &mut result);
                    let events = TileEvents {
                        lists: 1,
                        primitives: draw.list.len() as u64,
                        quads: self.counters.get(CounterSource::FepQuads) - quads,
                        pixels: result.pixels - pixels,
                        instructions: before - budget,
                    };
                    self.counters.add_tile(tile, events);
                    drawn
                }
                Op::Store { store, clear, swap } => {
                    if !std::mem::replace(&mut defined, true) && stores_something(&store) {
                        result.faults.report(RenderFault { at, error: RenderError::NeverCleared });
                    }
                    let mut stored = job.spare.take();
                    let collected = stored.collect(&store, &job.mode, tile, &self.tlb, &mut self.room);
                    self.counters.add_tile_store(stored.byte_count() as u64);
                    result.stored.push((at, stored));
                    if stores_something(&store) {
                        self.record(at, tile, job, &mut result, Event::Stored);
                        self.move_tile(store.moves_samples(), 0, swap, job);
                    }
                    self.clear_after(&store, &clear);
                    self.record(at, tile, job, &mut result, Event::Cleared);
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
        self.shade_deferred(job, &mut result);
        result.instructions = job.limit - budget;
        self.counters.add(CounterSource::QpuFragmentCycles, result.instructions * qpu::INSTRUCTION_CYCLES);
        result.work = self.qpu.counters.take_work();
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
        result.ops = unit.ops;
        result
    }

    /// Runs the programs of batches that are not hidden: the tile buffer is read.
    fn shade_deferred(&mut self, job: &WaveJob<'_>, result: &mut UnitResult) {
        let Self { qpu, tlb, hidden, .. } = self;
        hidden.shade(Reason::Needed, Units { qpu, tlb, job, result }, &[]);
    }

    /// Passes a load or store on to the timing model: of each sample, or of each pixel. A load reads a number of contiguous pieces of memory.
    fn move_tile(&mut self, samples: bool, pieces: u32, swap: bool, job: &WaveJob<'_>) {
        if !job.record {
            return;
        }
        let shape = self.tlb.shape();
        let each = if samples && shape.multisample { 4 } else { 1 };
        let front = self.front.take(self.counters.get(CounterSource::FepQuads));
        let quads = (shape.pixels() * each / 4) as u32;
        self.qpu.counters.add_work(Work::Move(TileMove { front, quads, pieces, swap }));
    }

    /// Adds an event of the watched pixel, if it is in the tile, made of the pixel's content.
    fn record(
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
            result.pixel_trace.record(at, event(samples));
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
        let positions = job.sample_positions;
        let sampling = match configuration.oversample {
            Oversample::None => Sampling::Centre,
            Oversample::X4 => Sampling::Four(positions),
            Oversample::X16 => Sampling::Sixteen(positions),
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
            z_test: ZTest {
                function: configuration.depth_test,
                update: configuration.z_updates,
                early_update: configuration.early_z_updates,
            },
            varyings: usize::from(fragment.varyings) + implicit,
            vg_mask: job.mode.vg_mask,
            coverage: CoverageReading::of(&configuration),
            tile: (whole_tile.x0, whole_tile.y0),
            simd: job.code.simd(),
        };
        let vertices = job.vertices;
        let Self { qpu, tlb, batch, hidden, coefficients, clipped, blocks, front, counters, .. } = self;
        let z_limits = (f64::from(state.z_clipping.minimum), f64::from(state.z_clipping.maximum));
        coefficients.clear();
        batch.clear();
        let deferral = match job.watched.is_some() || job.record {
            true => Deferral::Never,
            false => hidden.deferral(&(fragment, fragment_state.varyings)),
        };
        let mut shading = Shading {
            at,
            qpu,
            tlb,
            batch,
            hidden,
            deferral,
            coefficients: Vec::new(),
            first: 0,
            index: 0,
            front,
            shader: Some(shader.address()).filter(|shader| shader.0 != 0),
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
            counters,
            result,
        };
        std::mem::swap(&mut shading.coefficients, coefficients);
        let mut outcome = Ok(());
        let (batches, program) = if job.record { vertices.batches(list) } else { (Vec::new(), None) };
        let mut batches = batches.into_iter().peekable();
        for index in 0..list.len() {
            if job.record {
                shading.front.primitives += 1;
                while let Some(VertexBatch { lines, .. }) = batches.next_if(|batch| batch.first_primitive <= index) {
                    match program {
                        Some(trace) => shading.qpu.counters.add_trace(trace.for_vertices(lines)),
                        None => shading.front.lines += lines,
                    }
                }
            }
            if shading.coefficients.len() > MAX_COEFFICIENTS {
                shading.shade();
                shading.shade_deferred(Reason::Needed);
            }
            if shading.batch.is_empty() && !shading.hidden.is_drawing() {
                shading.coefficients.clear();
            }
            shading.first = shading.coefficients.len();
            shading.index = index;
            let mut corners_of_triangle = None;
            let primitive = vertices.with_primitive(list, index, state, job.memory, clipped, |corners, point_size| {
                let [v0, v1, _] = corners;
                match list.primitive() {
                    ListPrimitive::Points => setup.point(v0, point_size, &mut shading.coefficients),
                    ListPrimitive::Lines => setup.line([v0, v1], &mut shading.coefficients),
                    ListPrimitive::Rht => setup.rht([v0, v1]),
                    _ => {
                        corners_of_triangle = job.watched.map(|_| corners.map(|corner| (corner.x, corner.y)));
                        setup.triangle(corners, &mut shading.coefficients)
                    }
                }
            });
            match primitive {
                Ok(Ok(primitive)) => {
                    shading.counters.add(CounterSource::FepPrimitives, 1);
                    blocks.clear();
                    let rasterising = Rasterising { primitive: &primitive, window, sampling, z_limits, blocks };
                    job.code.simd().run(Drawing { rasterising, shading: &mut shading });
                }
                Ok(Err(Discarded::Culled)) => {
                    shading.counters.add(CounterSource::PsePrimitivesReversed, 1);
                    if let Some(corners) = corners_of_triangle {
                        shading.record_culled(corners, window, configuration.forward_facing);
                    }
                }
                Ok(Err(Discarded::Degenerate)) => {}
                Ok(Err(Discarded::CrossesBoundary)) => outcome = Err(RenderError::RhtBoundary),
                Err(error) => outcome = Err(error.into()),
            }
        }
        shading.shade();
        shading.hidden.end_draw(&mut shading.coefficients);
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

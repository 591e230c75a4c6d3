//! Rendering: tiles of a frame, from primitives to stored pixels [AG p.46, p.65-71].
//!
//! Thread 1 of the CLE hands over rendering records and primitive lists in order. Nothing is drawn at once: the renderer divides the stream into
//! *units*, each of which begins where the content of the tile buffer is known, that is behind a store that clears all of it. Units are independent
//! of each other, so a *wave* of them is executed on several host threads, and their stores go to memory in the order of the list, or in any order if
//! each is of another tile of the frame buffer.
//! A wave ends where order matters: before a load of memory that an earlier store of the wave writes, at the end of a frame, when the rendering mode
//! changes, and whenever the CLE asks for it (semaphores, end of the list). A wave also has a maximum of units. So the result does not depend on the
//! number of host threads.
//!
//! Vertices are shaded once for all tiles of a wave, in batches of 16, just before its tiles. The silicon shades them again for every tile.
//!
//! # What a tile is
//! | record | effect |
//! |---|---|
//! | Tile Rendering Mode Configuration | how the tile buffer is divided, default frame buffer |
//! | Clear Colors | values for the following clears |
//! | Load | remembered; at most one |
//! | Tile Coordinates | begins the tile; the remembered load happens |
//! | primitives | are drawn with the state of their place in the list |
//! | Store | writes to memory, then clears |
//!
//! # Surprises
//! A tile is cleared only when it is stored. After Clear Colors the first tile still has the old values, unless a dummy tile (Tile Coordinates and a
//! store of kind "none") comes first [linux vc4_render_cl.c] [asurati]. Linux' dummy tile even precedes the first Tile Rendering Mode Configuration.
//!
//! With double buffering a store clears the half that it stores, and the next tile is drawn to the other half: what a store does not clear comes back
//! with the tile after the next, unless the store says "disable swap" [AG p.67]. The guide does not say what the second half contains at first; here
//! the first clear fills both.
//!
//! # Sources
//! [AG p.46-47], [AG p.65-71], [linux vc4_render_cl.c].

pub mod cap;
pub mod early_z;
pub mod fep;
pub mod fragment;
mod hidden_surfaces;
pub mod load;
pub mod pixel;
pub mod pixel_trace;
pub mod pse;
mod shading;
pub mod store;
pub mod surface;
pub mod tlb;
pub mod unit;
pub mod vertices;
pub mod worker;

pub use crate::fault::rendering::{RenderError, RenderFault};

use crate::binning::primitive_list::Primitive;
use crate::binning::vcm::UndefinedElements;
use crate::counters::Counters;
use crate::device::supervision::Supervision;
use crate::fault::FaultLog;
use crate::memory::Memory;
use crate::qpu::{CodeCache, CodeSize, EngineKind};
use crate::state::PipelineState;
use crate::threads::{lock, map_all};
use fep::SamplePositions;
use load::Load;
use pixel_trace::PixelTrace;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use store::{Clears, MoveError, SpareBuffers, Store, Stored};
use surface::Surface;
use tlb::ClearValues;
use unit::{Draw, Op, Start, ThreadUse, Unit, UnitResult};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{PrimitiveListFormat, TileRecord, TileRenderingMode};
use v3d_hw::primitive_list::ListPrimitive;
use v3d_hw::registers::Thread;
use vertices::Vertices;
use worker::Worker;

/// Maximum number of units in a wave.
const WAVE_UNITS: usize = 512;
/// Primitives from which on a wave is executed.
const WAVE_PRIMITIVES: usize = 1 << 20;
/// Operations from which on a wave is executed.
const WAVE_OPERATIONS: usize = 1 << 16;
/// Stores from which on a wave is executed: their data wait in the host's memory.
const WAVE_STORES: usize = 512;
/// Units of a wave that leave traces before the timing model takes these.
const TRACED_UNITS: usize = 16;
/// Shader records from which on a wave is executed.
const WAVE_VERTEX_SETS: usize = 256;

/// What rendering works on and reports to.
#[derive(Debug)]
pub struct Context<'a> {
    /// Guest memory.
    pub memory: Memory<'a>,
    /// Events are added here.
    pub counters: &'a mut Counters,
    /// Faults are reported here.
    pub faults: &'a mut FaultLog,
    /// Instructions that may still be executed.
    pub budget: &'a mut u64,
    /// How far the list is, and whether it is to stop.
    pub supervision: &'a Supervision,
}

/// Options of rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Tiles are rendered, and vertices shaded, on several host threads.
    pub parallel: bool,
    /// Positions of the samples in multisample mode.
    pub sample_positions: SamplePositions,
    /// The pixel to trace, by column and row in memory.
    pub watched: Option<(u32, u32)>,
    /// What elements of a batch without a vertex contain.
    pub undefined: UndefinedElements,
    /// What executes shaders.
    pub engine: EngineKind,
}

/// The renderer.
#[derive(Debug)]
pub struct Renderer {
    config: Config,
    mode: Option<TileRenderingMode>,
    clear: ClearValues,
    pending_load: Option<(BusAddr, Load)>,
    /// The last primitives that were shaded have varyings.
    interpolating: bool,
    /// Z of the tile was loaded sample by sample, and not cleared since.
    zs_restored: bool,
    other_half: Half,
    open: Unit,
    wave: Vec<Unit>,
    collected: Collected,
    vertices: Vertices,
    code: CodeCache,
    /// Boxed, since a worker has the samples of a tile and is taken and returned for each row of tiles.
    workers: Mutex<Vec<Box<Worker>>>,
    spare: SpareBuffers,
    /// Room for the operations of units.
    spare_ops: Vec<Vec<(BusAddr, Op)>>,
    frames: u32,
    /// Waves executed so far.
    waves: u64,
    /// The frame's two-threaded programs.
    thread_use: ThreadUse,
    /// The frame's dithering has been reported.
    dithering_reported: bool,
    pixel_trace: PixelTrace,
}

impl Renderer {
    /// A renderer just after reset.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            mode: None,
            clear: ClearValues::default(),
            pending_load: None,
            interpolating: false,
            zs_restored: false,
            other_half: Half::Unused,
            open: Unit::new(Start::Undefined),
            wave: Vec::new(),
            collected: Collected::default(),
            vertices: Vertices::default(),
            code: CodeCache::for_engine(config.engine),
            workers: Mutex::default(),
            spare: SpareBuffers::default(),
            spare_ops: Vec::new(),
            frames: 0,
            waves: 0,
            thread_use: ThreadUse::default(),
            dithering_reported: false,
            pixel_trace: PixelTrace::default(),
        }
    }

    /// Resets everything except decoded programs and buffers, which cannot be observed.
    pub fn reset(&mut self) {
        self.code.clear();
        self.vertices.clear();
        lock(&self.workers).iter_mut().for_each(|worker| worker.reset());
        *self = Self {
            code: std::mem::take(&mut self.code),
            vertices: std::mem::take(&mut self.vertices),
            workers: std::mem::take(&mut self.workers),
            spare: std::mem::take(&mut self.spare),
            spare_ops: std::mem::take(&mut self.spare_ops),
            ..Self::new(self.config)
        };
    }

    /// Takes the number of frames completed since the last call.
    pub fn take_frames(&mut self) -> u32 {
        std::mem::take(&mut self.frames)
    }

    /// Takes the trace of the watched pixel since the last call.
    pub fn take_pixel_trace(&mut self) -> PixelTrace {
        std::mem::take(&mut self.pixel_trace)
    }

    /// How much host code its programs have been translated to.
    pub fn code_size(&self) -> CodeSize {
        self.code.code_size()
    }

    /// Invalidates decoded programs: when the instruction caches are cleared, and when a list starts.
    pub fn clear_code(&mut self) {
        self.code.clear();
    }

    /// Executes a record of the tile buffer.
    pub fn record(&mut self, at: BusAddr, record: TileRecord, context: &mut Context<'_>) {
        match record {
            TileRecord::TileRenderingMode(mode) => {
                self.finish(context);
                self.mode = Some(mode);
                self.other_half = Half::Unused;
                self.dithering_reported = false;
            }
            TileRecord::ClearColors(colors) => self.clear = colors.into(),
            TileRecord::TileCoordinates(tile) => self.begin_tile(at, (tile.column, tile.row), context),
            TileRecord::StoreResolved => self.store(at, Store::Resolved { end_of_frame: false }, context),
            TileRecord::StoreResolvedEndOfFrame => self.store(at, Store::Resolved { end_of_frame: true }, context),
            TileRecord::StoreFullResolution(store) => self.store(at, Store::FullResolution(store), context),
            TileRecord::StoreGeneral(store) => self.store(at, Store::General(store), context),
            TileRecord::LoadFullResolution(load) => self.load(at, Load::FullResolution(load), context),
            TileRecord::LoadGeneral(load) => self.load(at, Load::General(load), context),
        }
    }

    /// Draws a primitive list with the current state. `at` is the record that begins the list.
    pub fn draw(
        &mut self,
        at: BusAddr,
        format: PrimitiveListFormat,
        primitives: &[Primitive],
        state: &Arc<PipelineState>,
        context: &mut Context<'_>,
    ) {
        if primitives.is_empty() {
            return;
        }
        if state.clip_window.width == 0 || state.clip_window.height == 0 {
            context.faults.report(RenderFault { at, error: RenderError::EmptyClipWindow });
        }
        let drawn = self.check_tile().and_then(|()| self.vertices.draw(format, primitives, state));
        match drawn {
            Ok(list) => {
                self.check_varyings(at, format, state, context);
                self.check_early_z(at, state, context);
                self.collected.primitives += primitives.len();
                self.push(at, Op::Draw(Draw { list, state: Arc::clone(state) }));
                self.finish_if_large(context);
            }
            Err(error) => context.faults.report(RenderFault { at, error }),
        }
    }

    /// Reports coverage right behind varyings.
    fn check_varyings(
        &mut self,
        at: BusAddr,
        format: PrimitiveListFormat,
        state: &PipelineState,
        context: &mut Context<'_>,
    ) {
        if state.configuration.coverage_pipe {
            if self.interpolating {
                context.faults.report(RenderFault { at, error: RenderError::CoverageAfterVaryings });
            }
        } else {
            let own = state.shader.as_ref().is_some_and(|shader| shader.fragment().varyings > 0);
            self.interpolating = own || matches!(format.primitive, ListPrimitive::Points | ListPrimitive::Lines);
        }
    }

    /// Reports early Z where silicon has nothing to compare with.
    fn check_early_z(&self, at: BusAddr, state: &PipelineState, context: &mut Context<'_>) {
        let tests = self.mode.is_some_and(|mode| mode.multisample && !mode.disable_early_z);
        if tests && state.configuration.early_z && self.zs_restored {
            context.faults.report(RenderFault { at, error: RenderError::EarlyZAfterLoad });
        }
    }

    fn push(&mut self, at: BusAddr, op: Op) {
        self.collected.operations += 1;
        self.collected.stores += usize::from(matches!(op, Op::Store { .. }));
        self.open.push(at, op);
    }

    /// Executes the wave if it has reached a limit.
    fn finish_if_large(&mut self, context: &mut Context<'_>) {
        let Collected { primitives, operations, stores } = self.collected;
        if self.wave.len() >= WAVE_UNITS
            || primitives >= WAVE_PRIMITIVES
            || operations >= WAVE_OPERATIONS
            || stores >= WAVE_STORES
            || self.vertices.sets() >= WAVE_VERTEX_SETS
        {
            self.finish(context);
        }
    }

    fn check_tile(&self) -> Result<(), RenderError> {
        match (self.mode, self.open.in_tile) {
            (None, _) => Err(RenderError::NoMode),
            (_, false) => Err(RenderError::NoTile),
            _ => Ok(()),
        }
    }

    fn begin_tile(&mut self, at: BusAddr, tile: (u8, u8), context: &mut Context<'_>) {
        let load = self.pending_load.take();
        let Some(mode) = self.mode else {
            if load.is_some() {
                context.faults.report(RenderFault { at, error: RenderError::NoMode });
            }
            self.open.in_tile = true;
            return;
        };
        if let Some((_, load)) = &load
            && self.wave_writes(load, tile, &mode)
        {
            self.finish(context);
        }
        self.open.in_tile = true;
        self.push(at, Op::Begin { tile });
        if let Some((at, load)) = load {
            self.zs_restored |= load.restores_zs();
            self.push(at, Op::Load(load));
        }
        self.finish_if_large(context);
    }

    fn load(&mut self, at: BusAddr, load: Load, context: &mut Context<'_>) {
        if self.pending_load.replace((at, load)).is_some() {
            context.faults.report(RenderFault { at, error: RenderError::LoadPending });
        }
    }

    /// Whether a load reads what a store of the wave may write.
    fn wave_writes(&self, load: &Load, tile: (u8, u8), mode: &TileRenderingMode) -> bool {
        let (start, end) = load.extent(mode);
        let image: Option<Surface> = load.image(mode);
        self.wave.iter().chain([&self.open]).flat_map(Unit::stores).any(|(stored_tile, store)| {
            // The same image, another tile.
            if image.is_some() && image == store.surface(mode) && stored_tile != tile {
                return false;
            }
            let (store_start, store_end) = store.extent(mode);
            start < store_end && store_start < end
        })
    }

    fn store(&mut self, at: BusAddr, store: Store, context: &mut Context<'_>) {
        let checked = match self.check_tile() {
            Err(RenderError::NoMode) if self.open.in_tile && store.is_none() => Ok(()),
            checked => checked,
        };
        if let Err(error) = checked {
            context.faults.report(RenderFault { at, error });
            return;
        }
        let Some(mode) = self.mode else {
            self.open = self.new_unit(self.start_without_mode(&store));
            if store.ends_frame() {
                self.end_frame(at, context.faults);
            }
            return;
        };
        if store.dithers(&mode) && !std::mem::replace(&mut self.dithering_reported, true) {
            context.faults.report(RenderFault { at, error: RenderError::Dithered });
        }
        let swap = mode.double_buffer && !mode.multisample && !store.keeps_buffer();
        self.push(at, Op::Store { store, clear: self.clear, swap });
        let clears = store.clears();
        self.zs_restored &= !clears.zs;
        let all = clears.color && clears.zs && (clears.vg_mask || !mode.vg_mask);
        let stored = if all { Half::Cleared(self.clear) } else { Half::InUse };
        let other = match self.other_half {
            Half::Unused if all => stored,
            other => other,
        };
        let (next, other) = if swap { (other, stored) } else { (stored, other) };
        self.other_half = other;
        if let Half::Cleared(values) = next
            && let Some(other) = if mode.double_buffer { other.values() } else { Some(values) }
        {
            let next = self.new_unit(Start::Cleared { values, other });
            self.wave.push(std::mem::replace(&mut self.open, next));
        }
        if store.ends_frame() {
            self.finish(context);
            self.end_frame(at, context.faults);
        } else {
            self.finish_if_large(context);
        }
    }

    /// A unit without operations, with the room of an earlier one.
    fn new_unit(&mut self, start: Start) -> Unit {
        Unit::with_room(start, self.spare_ops.pop().unwrap_or_default())
    }

    /// The content of the tile buffer after a store of nothing, before it is known how the buffer is divided. Every buffer that there may be must be cleared.
    fn start_without_mode(&self, store: &Store) -> Start {
        let Clears { color, zs, vg_mask } = store.clears();
        if color && zs && vg_mask { Start::Cleared { values: self.clear, other: self.clear } } else { Start::Undefined }
    }

    /// Ends a frame with the store at `at`.
    fn end_frame(&mut self, at: BusAddr, faults: &mut FaultLog) {
        self.frames += 1;
        self.dithering_reported = false;
        if let ThreadUse { never: Some(never), switches: Some(switches) } = std::mem::take(&mut self.thread_use) {
            faults.report(RenderFault { at, error: RenderError::MixedThreading { never, switches } });
        }
    }

    /// Executes the wave.
    pub fn finish(&mut self, context: &mut Context<'_>) {
        let Some(mode) = self.mode else { return };
        if !self.open.is_empty() {
            let mut next = self.new_unit(Start::Undefined);
            next.in_tile = self.open.in_tile;
            let mut open = std::mem::replace(&mut self.open, next);
            open.keep = true;
            self.wave.push(open);
        }
        if self.wave.is_empty() {
            return;
        }
        let wave = std::mem::take(&mut self.wave);
        let in_any_order = stores_are_apart(&wave);
        self.collected = Collected::default();
        self.vertices.shade(&self.code, context, &self.config);
        let limit = (*context.budget / wave.len() as u64).max(1);
        self.waves += 1;
        let job = WaveJob {
            number: self.waves,
            mode,
            memory: context.memory,
            vertices: &self.vertices,
            code: &self.code,
            limit,
            sample_positions: self.config.sample_positions,
            watched: self.config.watched,
            record: context.counters.has_timing(),
            supervision: context.supervision,
            spare: &self.spare,
        };
        let workers = &self.workers;
        let execute = |unit: Unit| {
            let mut worker = lock(workers).pop().unwrap_or_else(|| Box::new(Worker::new(&mode)));
            let result = worker.execute(unit, &job);
            lock(workers).push(worker);
            result
        };
        let (mut results, mut rest) = (Vec::with_capacity(wave.len()), wave.into_iter());
        let part = if job.record { TRACED_UNITS } else { rest.len() };
        while rest.len() > 0 {
            let units: Vec<Unit> = rest.by_ref().take(part).collect();
            let first = results.len();
            let is_parallel = self.config.parallel && units.len() > 1;
            results.extend(map_all(units, is_parallel, || (), |(), unit| execute(unit)));
            for work in results[first..].iter_mut().flat_map(|result| result.work.drain(..)) {
                context.counters.add_work(work);
            }
        }
        for worker in lock(workers).iter_mut() {
            context.counters.merge(worker.take_counters());
        }
        // What had been stored when a stop is noticed depends on the host's speed: nothing is.
        let is_stopped = context.supervision.is_stopped(Thread::Rendering);
        let is_parallel = self.config.parallel && in_any_order && results.len() > 1;
        let (memory, spare) = (context.memory, &self.spare);
        let write = |mut result: UnitResult| {
            let stored = std::mem::take(&mut result.stored);
            let apply = |(at, stored): (BusAddr, Stored)| {
                let applied = stored.apply(memory);
                spare.give_back(stored);
                Some((at, applied.err()?))
            };
            let outside: Vec<_> = stored.into_iter().filter(|_| !is_stopped).filter_map(apply).collect();
            (result, outside)
        };
        for (result, outside) in map_all(results, is_parallel, || (), |(), result| write(result)) {
            // A tile that has used up its share holds a program that does not end.
            let left = context.budget.saturating_sub(result.instructions);
            *context.budget = if result.instructions < limit { left } else { 0 };
            self.spare_ops.push(result.ops);
            context.faults.merge(result.faults);
            self.thread_use.merge(result.thread_use);
            self.pixel_trace.append(result.pixel_trace);
            if is_stopped {
                *context.budget = 0;
                continue;
            }
            for (at, error) in outside {
                let error = RenderError::Move(MoveError::Memory(error));
                context.faults.report(RenderFault { at, error });
            }
            if let Some((buffers, tile)) = result.kept {
                self.open.start = Start::Kept { buffers, tile };
            }
        }
        self.vertices.clear();
    }
}

/// Whether the order of a wave's stores makes no difference: each stores another tile to the frame buffer.
fn stores_are_apart(wave: &[Unit]) -> bool {
    let mut tiles = HashSet::new();
    let mut stores = wave.iter().flat_map(Unit::stores);
    stores.all(|(tile, store)| store.is_none() || matches!(store, Store::Resolved { .. }) && tiles.insert(tile))
}

/// The known content of one half of a double-buffered tile buffer.
#[derive(Clone, Copy, Debug)]
enum Half {
    /// Unused in this rendering mode.
    Unused,
    /// It contains these values.
    Cleared(ClearValues),
    /// Pixels have been drawn.
    InUse,
}

impl Half {
    /// The values that fill it, if nothing has been drawn.
    fn values(self) -> Option<ClearValues> {
        match self {
            Self::Cleared(values) => Some(values),
            Self::Unused | Self::InUse => None,
        }
    }
}

/// Size of a wave.
#[derive(Clone, Copy, Debug, Default)]
struct Collected {
    primitives: usize,
    operations: usize,
    stores: usize,
}

/// What all units of a wave share.
#[derive(Debug)]
pub struct WaveJob<'a> {
    /// Number of the wave.
    pub number: u64,
    /// Rendering mode.
    pub mode: TileRenderingMode,
    /// Guest memory.
    pub memory: Memory<'a>,
    /// Shaded vertices of the wave.
    pub vertices: &'a Vertices,
    /// Decoded programs.
    pub code: &'a CodeCache,
    /// Maximum number of instructions of one unit.
    pub limit: u64,
    /// Positions of the samples.
    pub sample_positions: SamplePositions,
    /// The pixel to trace.
    pub watched: Option<(u32, u32)>,
    /// Programs leave traces for the timing model.
    pub record: bool,
    /// How far the list is, and whether it is to stop.
    pub supervision: &'a Supervision,
    /// Buffers for what is stored.
    pub spare: &'a SpareBuffers,
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::Layout;
    use v3d_hw::control_list::StoreGeneral;

    /// Stores of one tile each, in units of their own.
    fn check(stores: &[((u8, u8), Store)], expected: bool) {
        let unit = |(tile, store): &((u8, u8), Store)| {
            let mut unit = Unit::new(Start::Undefined);
            unit.push(BusAddr(0), Op::Begin { tile: *tile });
            unit.push(BusAddr(0), Op::Store { store: *store, clear: ClearValues::default(), swap: false });
            unit
        };
        let wave: Vec<Unit> = stores.iter().map(unit).collect();
        assert_eq!(stores_are_apart(&wave), expected, "{stores:?}");
    }

    #[test]
    fn stores_of_different_tiles_to_the_frame_buffer_are_apart() {
        let resolved = Store::Resolved { end_of_frame: false };
        let general = |bits| Store::General(StoreGeneral::from_bits(bits));
        let (nothing, color) = (general(0), general(1));
        check(&[((0, 0), resolved), ((1, 0), resolved), ((0, 1), resolved)], true);
        check(&[((0, 0), nothing), ((0, 0), resolved), ((1, 0), resolved)], true);
        check(&[((0, 0), resolved), ((1, 0), resolved), ((0, 0), resolved)], false);
        check(&[((0, 0), resolved), ((1, 0), color)], false);
    }
}

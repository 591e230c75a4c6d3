//! Shading: the primitives of one draw, from the rasteriser through batches to the fragment shader.
//!
//! # Inferences
//! - Batches hold quads of one primitive list. How far silicon's batches reach across lists is not known, and no picture shows it.
//! - A program may end before it has read all varyings of its record: what is left is gone. The guide demands that all are read [AG p.51], but a program
//!   that reads two of three draws right on boards [bm].

use super::cap::{self};
use super::early_z;
use super::fep::{CoveredBlock, Rasterising, Sampling, pixel_in_block};
use super::fragment::{Batch, Fate, FragmentIo, FragmentState, NewQuad, Samples, quads_in};
use super::hidden_surfaces::{Deferral, HiddenSurfaces, Reason, Units};
use super::pixel_trace::{self, Event};
use super::pse::{Coefficients, PixelRect, Primitive};
use super::tlb::Tlb;
use super::unit::UnitResult;
use super::{RenderError, RenderFault, WaveJob};
use crate::binning::ptb::watch::covers;
use crate::counters::Counters;
use crate::qpu::block::effects::Effects;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::qpu::repetition::Relaunch;
use crate::qpu::{self, Exit, Launch, Qpu};
use crate::simd::SimdTask;
use crate::simd::vectors::Vectors;
use crate::state::Fragment;
use crate::timing::trace::{FrontWork, Invocation};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{CoverageUpdate, Threading};
use v3d_hw::qpu::LANES;
use v3d_hw::registers::Thread;
use v3d_hw::registers::performance::CounterSource;

/// The primitives of one draw in FEP and QPU.
pub(super) struct Shading<'a, 'j> {
    pub(super) at: BusAddr,
    pub(super) qpu: &'a mut Qpu,
    pub(super) tlb: &'a mut Tlb,
    pub(super) batch: &'a mut Box<Batch>,
    /// Batches whose programs have not run yet.
    pub(super) hidden: &'a mut HiddenSurfaces,
    /// Whether batches wait before the program runs for them.
    pub(super) deferral: Deferral,
    pub(super) coefficients: Vec<Coefficients>,
    /// Index of the current primitive's coefficients.
    pub(super) first: usize,
    /// Number of the current primitive in its list.
    pub(super) index: usize,
    /// What led to the next batch, for the timing model.
    pub(super) front: &'a mut FrontCount,
    /// Address of the draw's shader record.
    pub(super) shader: Option<BusAddr>,
    pub(super) fragment: Fragment,
    pub(super) state: FragmentState,
    pub(super) early_z: bool,
    pub(super) sampling: Sampling,
    /// The rasteriser tests samples that the tile buffer does not have: each of them counts for the pixel.
    pub(super) whole_pixels: bool,
    /// Primitives go to the coverage pipe, with this update mode.
    pub(super) coverage: Option<CoverageUpdate>,
    /// Screen coordinates of the tile.
    pub(super) tile: (i32, i32),
    pub(super) job: &'a WaveJob<'j>,
    pub(super) budget: &'a mut u64,
    pub(super) counters: &'a mut Counters,
    pub(super) result: &'a mut UnitResult,
}

/// Counts what the units in front of the QPUs do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrontCount {
    pub(super) lines: u32,
    pub(super) primitives: u32,
    /// Quads found until the counts were taken last.
    quads: u64,
}

impl FrontCount {
    /// Nothing, after so many quads.
    pub(super) fn after(quads: u64) -> Self {
        Self { quads, ..Self::default() }
    }

    /// Takes the counts; `quads` have been found so far.
    pub(super) fn take(&mut self, quads: u64) -> FrontWork {
        let Self { lines, primitives, quads: before } = std::mem::replace(self, Self { quads, ..Self::default() });
        FrontWork { lines, primitives, quads: (quads - before) as u32 }
    }
}

/// What early Z leaves of a block.
struct Visible {
    /// The masks without the samples that it rejects.
    masks: Lanes,
    /// The pixels that have any left.
    pixels: Mask,
    /// The pixels of which it rejects samples that the Z test would not.
    wrongly_hidden: Mask,
}

/// A primitive that is being rasterised into batches.
pub(super) struct Drawing<'d, 'a, 'j> {
    pub(super) rasterising: Rasterising<'d>,
    pub(super) shading: &'d mut Shading<'a, 'j>,
}

impl SimdTask for Drawing<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { mut rasterising, shading } = self;
        rasterising.run::<V>();
        if rasterising.blocks.is_empty() {
            shading.counters.add(CounterSource::FepPrimitivesWithoutPixels, 1);
        }
        for block in rasterising.blocks.iter() {
            shading.block::<V>(rasterising.primitive, block);
        }
    }
}

/// The depth test of a batch whose program runs later, and the counts of its writes; returns the samples that are left.
struct TestInAdvance<'s, 'a, 'j> {
    shading: &'s mut Shading<'a, 'j>,
    effects: Effects,
}

impl SimdTask for TestInAdvance<'_, '_, '_> {
    type Output = Samples;

    #[inline(always)]
    fn run<V: Vectors>(self) -> Samples {
        let Shading { tlb, batch, counters, state, .. } = self.shading;
        FragmentIo::new(tlb, batch, &[], counters, state).write_in_advance::<V>(self.effects)
    }
}

/// A batch that may have the program that ran last. Its start values are copied in the vectors that translated code loads them in.
struct Again<'s, 'a, 'j>(&'s mut Shading<'a, 'j>);

impl SimdTask for Again<'_, '_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vectors>(self) -> bool {
        self.0.shade_again()
    }
}

impl Shading<'_, '_> {
    /// Tests the quads of a block, and adds those that are left to the batch.
    #[inline(always)]
    pub(super) fn block<V: Vectors>(&mut self, primitive: &Primitive, block: &CoveredBlock) {
        let (x, y) = (block.x - self.tile.0, block.y - self.tile.1);
        let first = self.tlb.shape().block(x as u32, y as u32);
        let mut masks = block.samples;
        if block.within_limits != ALL {
            V::blend(&mut masks, &Lanes::default(), !block.within_limits);
        }
        if self.coverage.is_some() {
            self.accumulate(primitive, block, &masks, first);
            return;
        }
        if self.whole_pixels {
            masks = masks.map(|mask| if mask == 0 { 0 } else { 0xf });
        }
        let mut visible = self.early_test::<V>(first, block, &masks);
        let mut quads = quads_in(block.pixels);
        let nobody_asks = self.job.watched.is_none() && visible.wrongly_hidden == 0;
        // What is visible does not change before all of the block is in batches, unless a program moves its quads here meanwhile: these do not count.
        let is_settled = nobody_asks && !self.batch.has_quad_of(first);
        if is_settled && visible.pixels == 0 {
            let hidden = u64::from(quads.count_ones());
            self.counters.add(CounterSource::FepQuads, hidden);
            self.counters.add(CounterSource::FepQuadsClipped, hidden);
            return;
        }
        let w = Lanes::from_f32(primitive.w_over_block(block.distance.0, block.distance.1));
        let (reverse, coefficients) = (primitive.reverse, self.first);
        // Its lane and its masks, which are those before early Z, are replaced in each use.
        let of_lane = NewQuad { block, lane: 0, masks: &masks, w: &w, pixel: first, reverse, coefficients };
        if is_settled && self.batch.is_empty() && quads_in(visible.pixels) == quads_in(ALL) {
            // All of a block is a batch.
            self.counters.add(CounterSource::FepQuads, 4);
            self.result.pixels += u64::from(visible.pixels.count_ones());
            self.batch.fill(&NewQuad { masks: &visible.masks, ..of_lane });
            self.shade();
            return;
        }
        if is_settled {
            let seen = quads_in(visible.pixels);
            self.counters.add(CounterSource::FepQuads, u64::from(quads.count_ones()));
            self.counters.add(CounterSource::FepQuadsClipped, u64::from((quads & !seen).count_ones()));
            self.result.pixels += u64::from(visible.pixels.count_ones());
            let mut left = seen;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                self.batch.push(&NewQuad { lane, masks: &visible.masks, pixel: first + lane, ..of_lane });
                if self.batch.is_full() {
                    self.shade();
                }
            }
            return;
        }
        while quads != 0 {
            let lane = quads.trailing_zeros() as usize;
            quads &= quads - 1;
            self.counters.add(CounterSource::FepQuads, 1);
            let watched = if self.job.watched.is_some() { self.watched_in(block, lane) } else { None };
            if let Some(watched) = watched {
                self.record_covered(primitive, block, &masks, watched);
            }
            let pixel = first + lane;
            if self.batch.contains(pixel) {
                self.shade();
                visible = self.early_test::<V>(first, block, &masks);
            }
            if visible.wrongly_hidden >> lane & 0xf != 0 {
                self.result.faults.report(RenderFault { at: self.at, error: RenderError::EarlyZOutOfDate });
            }
            if let Some(watched) = watched
                && masks.0[watched] != 0
                && visible.masks.0[watched] == 0
            {
                self.record(if visible.wrongly_hidden >> watched & 1 == 1 {
                    Event::WronglyHidden
                } else {
                    Event::Hidden
                });
            }
            let pixels = visible.pixels >> lane & 0xf;
            if pixels == 0 {
                self.counters.add(CounterSource::FepQuadsClipped, 1);
                continue;
            }
            self.result.pixels += u64::from(pixels.count_ones());
            self.batch.push(&NewQuad { lane, masks: &visible.masks, pixel, ..of_lane });
            if self.batch.is_full() {
                self.shade();
                if quads != 0 {
                    visible = self.early_test::<V>(first, block, &masks);
                }
            }
        }
    }

    /// The early Z test of a block, if the draw has one.
    #[inline(always)]
    fn early_test<V: Vectors>(&self, pixel: usize, block: &CoveredBlock, masks: &Lanes) -> Visible {
        let covered = block.pixels & block.within_limits;
        if !self.early_z {
            return Visible { masks: *masks, pixels: covered, wrongly_hidden: 0 };
        }
        let (tlb, test, z) = (&*self.tlb, self.state.passing, &block.z);
        let (visible, pixels) = early_z::visible::<V>(tlb, test, pixel, z, masks, covered);
        // Without early depths of its own a tile is tested against the Z buffer itself.
        let wrongly_hidden = match tlb.early.words() {
            Some(_) => early_z::wrongly_hidden::<V>(tlb, test, pixel, z, masks, &visible),
            None => 0,
        };
        Visible { masks: visible, pixels, wrongly_hidden }
    }

    /// Records that a primitive covers the watched pixel, an element of a block.
    #[cold]
    pub(super) fn record_covered(
        &mut self,
        primitive: &Primitive,
        block: &CoveredBlock,
        masks: &Lanes,
        element: usize,
    ) {
        self.record(Event::Covered {
            primitive: self.index,
            mask: block.samples.0[element] as u16,
            reverse: primitive.reverse,
            z: block.z.0[element],
            w: primitive.w_over_block(block.distance.0, block.distance.1)[element],
            shader: self.shader,
        });
        if masks.0[element] == 0 {
            self.record(Event::OutsideZLimits);
        }
    }

    /// Records that a triangle is culled that covers the watched pixel, which the window has to contain.
    #[cold]
    pub(super) fn record_culled(&mut self, corners: [(i32, i32); 3], window: PixelRect, reverse: bool) {
        let Some((x, y)) = self.job.watched else { return };
        let is_inside = (i64::from(window.x0)..i64::from(window.x1)).contains(&i64::from(x))
            && (i64::from(window.y0)..i64::from(window.y1)).contains(&i64::from(y));
        if is_inside && covers(&corners.map(|(x, y)| (i64::from(x), i64::from(y))), (x, y)) {
            self.record(Event::Culled { primitive: self.index, reverse, shader: self.shader });
        }
    }

    /// Adds a block to the coverage of its pixels, as far as Z does not exclude them.
    #[inline(never)]
    pub(super) fn accumulate(&mut self, primitive: &Primitive, block: &CoveredBlock, left: &Lanes, first: usize) {
        let Some(update) = self.coverage else { return };
        for lane in (0..LANES).step_by(4).filter(|lane| block.pixels >> lane & 0xf != 0) {
            self.counters.add(CounterSource::FepQuads, 1);
            let watched = self.watched_in(block, lane);
            if let Some(watched) = watched {
                self.record_covered(primitive, block, left, watched);
            }
            if left.0[lane..lane + 4] == [0; 4] {
                self.counters.add(CounterSource::FepQuadsClipped, 1);
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
                self.record(Event::CoverageAccumulated(samples));
            }
        }
    }

    /// Runs the fragment shader for the batch, which is empty afterwards.
    #[inline(never)]
    pub(super) fn shade(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        match self.deferral {
            Deferral::Possible(effects) if *self.budget > effects.instructions => self.defer(effects),
            Deferral::Unknown(tries) => {
                self.shade_deferred(Reason::Learning);
                self.qpu.forget_textures();
                let faults = self.result.faults.total();
                self.run_program();
                self.deferral = match self.result.faults.total() == faults {
                    true => self.learn(tries),
                    false => Deferral::Never,
                };
            }
            _ => {
                if !self.hidden.is_empty() {
                    self.shade_deferred(Reason::Needed);
                }
                self.run_program();
            }
        }
    }

    /// Tests the depths of the batch, whose program runs later, if it does.
    #[inline(never)]
    fn defer(&mut self, effects: Effects) {
        if self.hidden.is_full() && !self.hidden.make_room(self.tlb.shape()) {
            self.shade_deferred(Reason::Needed);
        }
        *self.budget -= effects.instructions;
        let left = self.state.simd.run(TestInAdvance { shading: self, effects });
        let samples = if effects.color_words > 0 { left } else { Samples::NONE };
        self.hidden.add(self.at, &self.fragment, &self.state, effects, self.batch, samples);
        self.batch.clear();
    }

    /// Runs the programs of batches that are not hidden.
    #[cold]
    pub(super) fn shade_deferred(&mut self, reason: Reason) {
        let units = Units { qpu: self.qpu, tlb: self.tlb, job: self.job, result: self.result };
        self.hidden.shade(reason, units, &self.coefficients);
    }

    /// What is known of the program after it has run.
    #[cold]
    fn learn(&mut self, tries: u32) -> Deferral {
        let WaveJob { memory, code, .. } = *self.job;
        // A limited view of memory notes what is read.
        if memory.words().is_empty() {
            return Deferral::Never;
        }
        let Some(program) = self.qpu.repeatable(code) else { return Deferral::after(tries + 1) };
        let words = self.tlb.shape().color_words() as u32;
        let is_whole = |effects: &Effects| effects.color_words == words || effects.color_words == 0;
        let effects = program.effects.filter(|effects| is_whole(effects) && self.qpu.lookups_cannot_fail(memory));
        self.hidden.learn((self.fragment, self.state.varyings), effects)
    }

    /// Runs the fragment shader for the batch, which is empty afterwards.
    #[inline(always)]
    fn run_program(&mut self) {
        if self.job.watched.is_none() && !self.job.record && self.state.simd.run(Again(self)) {
            self.batch.clear();
            return;
        }
        let record = self.job.record.then(|| self.invocation());
        let launch = Launch { record, ..relaunch(&self.fragment, self.batch).launch() };
        self.qpu.start(&launch);
        let watched = self.watched_in_batch();
        if let Some((element, _)) = watched {
            self.record(Event::Program { code: self.fragment.code, element });
        }
        let pixel_trace = &mut self.result.pixel_trace;
        let mut io = FragmentIo::new(self.tlb, self.batch, &self.coefficients, self.counters, &self.state);
        io.fate = watched.map(|(element, _)| Fate::new(element));
        let exit = match watched {
            None => {
                let WaveJob { memory, code, supervision, .. } = *self.job;
                supervision.run(Thread::Rendering, self.qpu, &mut io, memory, code, self.budget)
            }
            Some((element, _)) => pixel_trace.run(self.at, element, self.qpu, &mut io, self.job, self.budget),
        };
        if let Some(fate) = io.fate.take() {
            let is_discarded = fate.is_discarded();
            let events = fate.tests.into_iter().chain(is_discarded.then_some(Event::Discarded));
            events.for_each(|event| pixel_trace.record(self.at, event));
        }
        self.finish(exit);
        if let Some((_, pixel)) = watched {
            let samples = pixel_trace::samples(self.tlb, pixel, self.state.vg_mask);
            self.record(Event::Shaded(samples));
        }
        self.batch.clear();
    }

    /// Runs the fragment shader for the batch if it is the program that ran last; whether it is.
    #[inline(always)]
    fn shade_again(&mut self) -> bool {
        let WaveJob { memory, code, supervision, .. } = *self.job;
        if !self.qpu.restart(&relaunch(&self.fragment, self.batch), code) {
            return false;
        }
        let mut io = FragmentIo::new(self.tlb, self.batch, &self.coefficients, self.counters, &self.state);
        let exit = supervision.rerun(Thread::Rendering, self.qpu, &mut io, memory, code, self.budget);
        self.finish(exit);
        true
    }

    /// Reports what became of the fragment shader.
    fn finish(&mut self, exit: Exit) {
        report_exit(self.qpu, exit, self.at, self.job, self.result);
        if exit == Exit::Ended && self.fragment.threading == Threading::Dual {
            self.result.thread_use.note(self.fragment.code, self.qpu.has_switched_threads());
        }
    }

    /// The invocation of the batch, for the timing model.
    #[cold]
    pub(super) fn invocation(&mut self) -> Invocation {
        let front = self.front.take(self.counters.get(CounterSource::FepQuads));
        let (x, y) = self.tile;
        // A tile is at least 32 pixels wide and high, and has at most 1024 quads.
        let tile = (((y as u32 / 32) << 7) | (x as u32 / 32)) * 1024;
        let quads = self.batch.pixels().map(|pixel| pixel.map_or(Invocation::NO_QUAD, |pixel| tile + pixel as u32 / 4));
        Invocation::Fragments {
            quads,
            varyings: self.state.varyings as u32,
            threaded: self.fragment.threading == Threading::Dual,
            front,
        }
    }

    #[cold]
    pub(super) fn record(&mut self, event: Event) {
        self.result.pixel_trace.record(self.at, event);
    }

    /// The watched element of a block, if it belongs to the quad that begins with `lane` and is covered.
    #[cold]
    pub(super) fn watched_in(&self, block: &CoveredBlock, lane: usize) -> Option<usize> {
        let (x, y) = self.job.watched?;
        let watched = |element: &usize| {
            let (column, row) = pixel_in_block(*element);
            ((block.x + column) as u32, (block.y + row) as u32) == (x, y)
        };
        (lane..lane + 4).find(watched).filter(|element| block.pixels >> element & 1 == 1)
    }

    /// The watched element of the batch, if there is one, and its pixel's number in the tile buffer.
    pub(super) fn watched_in_batch(&self) -> Option<(usize, usize)> {
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

/// How a fragment shader starts for a batch.
#[inline(always)]
pub(super) const fn relaunch<'b>(fragment: &Fragment, batch: &'b Batch) -> Relaunch<'b> {
    let threading = match fragment.threading {
        Threading::Dual => qpu::Threading::Threaded,
        Threading::Single => qpu::Threading::Single,
    };
    Relaunch { pc: fragment.code, uniforms: fragment.uniforms, ra15: &batch.w, rb15: &batch.z, threading }
}

/// Reports what became of a fragment shader.
#[inline]
pub(super) fn report_exit(qpu: &mut Qpu, exit: Exit, at: BusAddr, job: &WaveJob<'_>, result: &mut UnitResult) {
    let error = match exit {
        // Varyings that it has not read are dropped: programs that leave some draw on boards [bm] [PeterLemon Line].
        Exit::Ended => None,
        Exit::Stalled => Some(RenderError::Deadlock),
        Exit::OutOfBudget if job.supervision.is_stopped(Thread::Rendering) => Some(RenderError::Stopped),
        Exit::OutOfBudget => Some(RenderError::OutOfBudget),
    };
    if let Some(error) = error {
        result.faults.report(RenderFault { at, error });
    }
    if qpu.has_faults() {
        result.faults.merge(qpu.take_faults());
    }
}

/// Coefficients from which on a batch is shaded, full or not.
pub(super) const MAX_COEFFICIENTS: usize = 8192;

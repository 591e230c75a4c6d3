//! Hidden surface removal: fragments that later ones overwrite are not shaded.
//!
//! Unlike the chip, the model can wait until it knows which pixels of a tile are overwritten before anything reads them. A batch whose program does nothing but
//! write its depths and its colours ([`Effects`]) is tested against the Z buffer at its place, but deferred: the program runs only when its colours are needed,
//! that is before a program that may read them or that may leave some as they are, and before the tile is stored. Then batches are looked at from the last to
//! the first, and those of which all samples have been overwritten by later ones are left out.
//!
//! The result is the same: what the tile buffer contains whenever it is read, and the counters, which include the programs left out. Faults of such a program
//! would be lost, so it has to be one that cannot have any: of an earlier batch with the same program and the same uniforms it is known that there was none,
//! and its textures are all in memory. While a pixel is watched, a timing model runs or reads of memory are noted, every batch is shaded at its place.

use super::WaveJob;
use super::fragment::{Batch, FragmentIo, FragmentState, Samples};
use super::pse::Coefficients;
use super::shading::{relaunch, report_exit};
use super::tlb::{Shape, Tlb, ZTest};
use super::unit::UnitResult;
use crate::counters::Counters;
use crate::qpu::block::effects::Effects;
use crate::qpu::{Qpu, Varying};
use crate::simd::SimdTask;
use crate::simd::vectors::Vectors;
use crate::state::Fragment;
use v3d_hw::BusAddr;
use v3d_hw::control_list::CompareFunction;
use v3d_hw::qpu::LANES;
use v3d_hw::registers::Thread;

/// Batches from which on those that are hidden are looked for. A tile has at most 256 without an overlap.
const MAX_BATCHES: usize = 512;
/// Batches that may be left then; if there are more, all of them are shaded.
const MAX_VISIBLE: usize = MAX_BATCHES / 2;
/// What it costs the host to defer a batch, as a number of instructions of a program.
const DEFERRING: u64 = 20;
/// What it costs to start a program and to interpolate its varyings, in the same unit.
const STARTING: u64 = 30;
/// Batches from which on it is known how many of a program's are hidden.
const MANY: u64 = 512;
/// Programs that are known at a time.
const MAX_PROGRAMS: usize = 64;
/// Batches of a draw after which its program is not tried again to learn what it does.
const MAX_TRIES: u32 = 3;

/// What makes programs the same: the program itself, and the varyings of its primitives.
type Program = (Fragment, usize);

/// Whether the batches of a draw are deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deferral {
    /// Not known yet, after a number of batches for which the program ran.
    Unknown(u32),
    /// The program runs at once for each batch.
    Never,
    /// They are. The program has these effects, if it runs.
    Possible(Effects),
}

impl Deferral {
    /// After the program has run so many times without becoming known.
    pub(super) const fn after(tries: u32) -> Self {
        if tries < MAX_TRIES { Self::Unknown(tries) } else { Self::Never }
    }
}

/// The state of one draw's batches.
#[derive(Debug)]
struct Draw {
    /// Its place in the list.
    at: BusAddr,
    fragment: Fragment,
    /// Its state, without a depth test.
    state: FragmentState,
    effects: Effects,
    /// Those of its primitives, once all of them have been drawn.
    coefficients: Vec<Coefficients>,
    /// Its batches.
    added: u64,
    /// Those for which its program has not run and will not.
    hidden: u64,
}

/// A batch whose program has not run yet.
#[derive(Debug, Default)]
struct DeferredBatch {
    draw: usize,
    /// Those that have passed the depth test.
    samples: Samples,
    batch: Box<Batch>,
}

/// How many of a program's batches are hidden, whatever its uniforms are.
#[derive(Clone, Copy, Debug)]
struct HiddenShare {
    code: BusAddr,
    batches: u64,
    hidden: u64,
}

/// Batches whose programs have not run yet, of one tile.
#[derive(Debug, Default)]
pub(super) struct HiddenSurfaces {
    draws: Vec<Draw>,
    /// The first of them are in use.
    batches: Vec<DeferredBatch>,
    count: usize,
    /// The last draw may get more batches.
    is_drawing: bool,
    /// The effects of programs, if they are known.
    programs: Vec<(Program, Option<Effects>)>,
    /// The wave to which they belong.
    wave: u64,
    /// Of this wave and earlier ones, which count less.
    shares: Vec<HiddenShare>,
    /// The samples of each block of 16 pixels that later batches write.
    covered: Vec<Samples>,
    /// Room for the varyings of a batch.
    varyings: Vec<Varying>,
    /// Room for coefficients.
    spare: Vec<Vec<Coefficients>>,
    /// What the units count a second time.
    counted: Counters,
}

/// Why deferred batches are shaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Their colours are needed.
    Needed,
    /// A program has to run to become known: in other tiles more of them will be hidden.
    Learning,
}

/// The units that a batch is shaded with.
pub(super) struct Units<'u, 'j> {
    pub(super) qpu: &'u mut Qpu,
    pub(super) tlb: &'u mut Tlb,
    pub(super) job: &'u WaveJob<'j>,
    pub(super) result: &'u mut UnitResult,
}

impl HiddenSurfaces {
    /// Begins a unit of a wave: of another wave's programs nothing is known.
    pub(super) fn begin(&mut self, wave: u64) {
        if self.wave != wave {
            self.wave = wave;
            self.programs.clear();
            // So each wave tries again for some batches.
            for HiddenShare { batches, hidden, .. } in &mut self.shares {
                (*batches, *hidden) = (*batches * 7 / 8, *hidden * 7 / 8);
            }
        }
    }

    /// Whether the batches of a draw with this program are deferred.
    pub(super) fn deferral(&self, program: &Program) -> Deferral {
        match self.programs.iter().find(|(known, _)| known == program) {
            None => Deferral::Unknown(0),
            Some((_, effects)) => self.deferral_with(program, *effects),
        }
    }

    /// Notes the effects of a program. `None`: it must run for each batch.
    pub(super) fn learn(&mut self, program: Program, effects: Option<Effects>) -> Deferral {
        if self.programs.len() < MAX_PROGRAMS {
            self.programs.push((program, effects));
        }
        self.deferral_with(&program, effects)
    }

    fn deferral_with(&self, (fragment, _): &Program, effects: Option<Effects>) -> Deferral {
        let worthwhile = effects.filter(|effects| self.is_worthwhile(fragment.code, effects));
        worthwhile.map_or(Deferral::Never, Deferral::Possible)
    }

    /// Whether so many batches of a program are hidden that it pays to defer all of them.
    fn is_worthwhile(&self, code: BusAddr, effects: &Effects) -> bool {
        let mut shares = self.shares.iter();
        shares.find(|share| share.code == code).is_none_or(|HiddenShare { batches, hidden, .. }| {
            *batches < MANY || hidden * (STARTING + effects.instructions) >= batches * DEFERRING
        })
    }

    /// Counts batches of a program that were deferred, and those of them that were hidden.
    fn count_hidden(&mut self, code: BusAddr, batches: u64, hidden: u64) {
        if let Some(known) = self.shares.iter_mut().find(|share| share.code == code) {
            (known.batches, known.hidden) = (known.batches + batches, known.hidden + hidden);
        } else {
            if self.shares.len() >= MAX_PROGRAMS {
                self.shares.clear();
            }
            self.shares.push(HiddenShare { code, batches, hidden });
        }
    }

    /// Whether no batches are deferred.
    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Whether batches of the current draw are deferred.
    pub(super) const fn is_drawing(&self) -> bool {
        self.is_drawing
    }

    /// Adds a batch, of the current draw, whose depths have been tested. The batch is another one afterwards.
    #[inline]
    pub(super) fn add(
        &mut self,
        at: BusAddr,
        fragment: &Fragment,
        state: &FragmentState,
        effects: Effects,
        batch: &mut Box<Batch>,
        samples: Samples,
    ) {
        if !self.is_drawing {
            let z_test = ZTest { function: CompareFunction::Always, update: false, early_update: false };
            let state = FragmentState { z_test, passing: z_test.function.into(), ..*state };
            let coefficients = self.spare.pop().unwrap_or_default();
            self.draws.push(Draw { at, fragment: *fragment, state, effects, coefficients, added: 0, hidden: 0 });
            self.is_drawing = true;
        }
        let draw = self.draws.len() - 1;
        self.draws[draw].added += 1;
        if samples == Samples::NONE {
            self.draws[draw].hidden += 1;
            return;
        }
        if self.count == self.batches.len() {
            self.batches.push(DeferredBatch::default());
        }
        let deferred = &mut self.batches[self.count];
        (deferred.draw, deferred.samples) = (draw, samples);
        std::mem::swap(&mut deferred.batch, batch);
        self.count += 1;
    }

    /// Whether there is no room for another batch before [`Self::make_room`].
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.count >= MAX_BATCHES
    }

    /// Drops the hidden batches; whether that makes room.
    pub(super) fn make_room(&mut self, shape: Shape) -> bool {
        self.drop_hidden(shape);
        self.count <= MAX_VISIBLE
    }

    /// Drops the hidden batches. Of those that are left no two have a sample in common.
    fn drop_hidden(&mut self, shape: Shape) {
        self.covered.clear();
        self.covered.resize(shape.pixels() / LANES, Samples::NONE);
        for DeferredBatch { draw, samples, batch } in self.batches[..self.count].iter_mut().rev() {
            let left = batch.hide(*samples, &mut self.covered);
            if left == Samples::NONE {
                self.draws[*draw].hidden += 1;
            } else if left != *samples {
                batch.keep_samples(left, shape);
            }
            *samples = left;
        }
        let mut kept = 0;
        for index in 0..self.count {
            if self.batches[index].samples != Samples::NONE {
                self.batches.swap(kept, index);
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Ends the current draw, whose coefficients are kept if they are needed: then they are exchanged for room.
    pub(super) fn end_draw(&mut self, coefficients: &mut Vec<Coefficients>) {
        if std::mem::take(&mut self.is_drawing)
            && let Some(draw) = self.draws.last_mut()
        {
            std::mem::swap(&mut draw.coefficients, coefficients);
        }
    }

    /// Shades all batches that are not hidden. `current`: the coefficients of the current draw.
    #[inline]
    pub(super) fn shade(&mut self, reason: Reason, units: Units<'_, '_>, current: &[Coefficients]) {
        if self.draws.is_empty() {
            return;
        }
        units.job.code.simd().run(ShadeAll { surfaces: self, reason, units, current });
    }

    /// Drops all batches.
    fn drop_all(&mut self) {
        self.count = 0;
        self.is_drawing = false;
        for mut draw in self.draws.drain(..) {
            draw.coefficients.clear();
            self.spare.push(draw.coefficients);
        }
    }
}

/// Shades what is not hidden.
struct ShadeAll<'s, 'u, 'j> {
    surfaces: &'s mut HiddenSurfaces,
    reason: Reason,
    units: Units<'u, 'j>,
    current: &'s [Coefficients],
}

impl SimdTask for ShadeAll<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { surfaces, reason, units: Units { qpu, tlb, job, result }, current } = self;
        surfaces.drop_hidden(tlb.shape());
        let current_draw = if surfaces.is_drawing { surfaces.draws.len().checked_sub(1) } else { None };
        let HiddenSurfaces { draws, batches, count, varyings, counted, .. } = &mut *surfaces;
        for DeferredBatch { draw: number, batch, .. } in &mut batches[..*count] {
            let draw = &draws[*number];
            let coefficients = if current_draw == Some(*number) { current } else { &draw.coefficients };
            batch.exchange_varyings(varyings);
            let WaveJob { memory, code, supervision, .. } = *job;
            // Its instructions have been taken from the budget already.
            let mut budget = 2 * draw.effects.instructions;
            let launch = relaunch(&draw.fragment, batch);
            let exit = if qpu.restart(&launch, code) {
                let mut io = FragmentIo::new(tlb, batch, coefficients, counted, &draw.state);
                supervision.rerun(Thread::Rendering, qpu, &mut io, memory, code, &mut budget)
            } else {
                qpu.start(&launch.launch());
                let mut io = FragmentIo::new(tlb, batch, coefficients, counted, &draw.state);
                supervision.run(Thread::Rendering, qpu, &mut io, memory, code, &mut budget)
            };
            report_exit(qpu, exit, draw.at, job, result);
            batch.exchange_varyings(varyings);
        }
        for number in 0..surfaces.draws.len() {
            let Draw { fragment: Fragment { code, .. }, effects, added, hidden, .. } = surfaces.draws[number];
            if reason == Reason::Needed {
                surfaces.count_hidden(code, added, hidden);
            }
            if hidden > 0 {
                qpu.count_left_out(code, hidden, &effects);
            }
        }
        surfaces.drop_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Context, Renderer};
    use crate::counters::Counters;
    use crate::device::supervision::Supervision;
    use crate::fault::FaultLog;
    use crate::memory::OwnedMemory;
    use crate::primitive_list::Primitive;
    use crate::qpu::{CodeCache, EngineKind};
    use crate::random::Random;
    use crate::state::{NvShader, PipelineState, Shader};
    use crate::threads::lock;
    use std::sync::Arc;
    use v3d_hw::control_list::{
        ClearColors, ClipWindow, CompareFunction, ConfigurationBits, FrameBufferFormat, MemoryFormat, Oversample,
        PrimitiveListFormat, Record, RecordGroup, StoreFullResolution, StoreGeneral, Threading, TileBufferSelect,
        TileCoordinates, TileRenderingMode,
    };
    use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
    use v3d_hw::shader_record::NvShaderRecord;
    use v3d_hw::{BusAddr, Layout};

    const MEMORY: usize = 0x10_0000;
    const FRAME: u32 = 0x8_0000;
    /// Where tiles are stored sample by sample, with their depths.
    const TILES: u32 = 0xa_0000;
    const TEXTURE: u32 = 0x1_0000;
    const SIZE: u16 = 96;
    const DRAWS: u32 = 14;

    /// Programs, of which the first four may be left out. They begin with a colour in r0 that depends on the pixel, on a uniform and on a varying.
    const PROGRAMS: [&str; 18] = [
        "mov tlbz, rb15\nnop\nmov tlbc, r0",
        "mov tlbc, r0",
        "mov tlbz, rb15",
        "add r1, r1, 8\nitof r1, r1\nfmul r1, r1, 1/128\nmov t0t, r1\nmov t0s, r1\nnop\nldtmu0\nmov r0, r4\nmov tlbz, rb15\nmov tlbc, r0",
        "mov r2, rb15\nmov rb15, r0\nnop\nmov tlbz, rb15\nmov tlbc, r0",
        "mov tlbz, rb15\nloadc\nadd r0, r0, r4\nmov tlbc, r0",
        "mov.setf -, r0\nmov tlbz, rb15\nmov.ifns tlbc, r0",
        "mov.setf -, r0\nmov.ifnc tlbz, rb15\nmov tlbc, r0",
        "mov ms_flags, 5\nnop\nnop\nmov tlbz, rb15\nmov tlbc, r0",
        "mov tlbc, r0\nmov tlbz, rb15",
        "mov r2, ms_flags\nadd r0, r0, r2\nmov tlbc, r0",
        "mov tlb_stencil, unif\nnop\nmov tlbz, rb15\nmov tlbc, r0",
        "mov t0s, r1\nnop\nldtmu0\nmov tlbz, rb15\nmov tlbc, r0",
        "mov tlbz, r1\nmov tlbc, r0",
        "mov tlbz, rb15\nnop\nmov tlbm, r0",
        "fadd r2, vary, r5\nmov tlbz, rb15\nmov tlbc, r0",
        "mov tlbz, rb15\nnop\nmov tlbc, r0\nmov tlbc, r0",
        "mov tlbz, rb15\nloadc\nadd r2, r0, r4\nmov tlbm, r2\nloadc\nmov tlbm, r4\nloadc\nadd r2, r0, r4\nmov tlbm, r2\nloadc\nmov tlbm, r4",
    ];

    /// Draws of a frame, each of which is in all tiles.
    struct Frame {
        mode: TileRenderingMode,
        draws: Vec<(Arc<PipelineState>, Primitive)>,
    }

    /// A random frame, and its programs, vertices and uniforms in memory.
    fn frame(random: &mut Random, memory: &OwnedMemory) -> Frame {
        let mut at = 0x1000;
        let mut put = |words: &[u32]| {
            let start = at;
            for word in words {
                memory.view().set_word(BusAddr(at), *word).unwrap();
                at += 4;
            }
            at = at.next_multiple_of(16);
            BusAddr(start)
        };
        let programs = PROGRAMS.map(|body| {
            let text = format!(
                "mov r1, x_coord\nadd r0, r1, unif\nfadd r2, vary, r5\nxor r0, r0, r2\nnop\n{body}\nthrend\nnop\nsbdone"
            );
            let assembly = qpu::assemble(&[qpu::Source::new("test", &text)], &qpu::Options::default());
            put(&assembly.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).halves().collect::<Vec<_>>())
        });
        // Most frames use few programs, so that their batches hide each other.
        let few: Vec<u32> = (0..1 + random.below(3)).map(|_| random.below(4)).collect();
        let others = [1, 6, 1000][random.below(3) as usize];
        // Some have more batches than may wait.
        let is_deep = others == 1000 && random.below(2) == 0;
        let draws = (0..if is_deep { 40 } else { 1 + random.below(DRAWS) }).map(|_| {
            let number = match random.below(others) {
                0 => random.below(PROGRAMS.len() as u32),
                _ => few[random.below(few.len() as u32) as usize],
            };
            // A texture of 64x32 texels, RGBA8888: in memory, or half of it behind.
            let base = if random.below(3) == 0 { MEMORY as u32 - 0x1000 } else { TEXTURE };
            let parameters = [base, 32 << 20 | 64 << 8];
            let color = random.next_u64() as u32;
            let uniforms = match number {
                3 => vec![color, parameters[0], parameters[1]],
                11 => vec![color, 3 << 30 | 3 << 28 | 7 << 16 | 0xff],
                _ => vec![color],
            };
            let uniforms = put(&uniforms);
            let large = random.below(3) != 0;
            let corners = (0..3).map(|corner| {
                let place = |random: &mut Random| match large {
                    true => random.within(-200..300),
                    false => random.within(0..i32::from(SIZE)),
                };
                let (x, y) = match (large, corner) {
                    (true, 0) => (-random.within(0..60), -random.within(0..60)),
                    _ => (place(random), place(random)),
                };
                let (x, y) = (16 * x + random.within(0..16), 16 * y + random.within(0..16));
                let z = random.below(9) as f32 / 8.0;
                let varying = random.below(100) as f32;
                [x as u32 & 0xffff | (y as u32) << 16, z.to_bits(), 1.0f32.to_bits(), varying.to_bits()]
            });
            let corners: Vec<[u32; 4]> = corners.collect();
            let vertices = put(corners.as_flattened());
            let record = NvShaderRecord {
                vertices,
                code: programs[number as usize],
                uniforms,
                varyings: 1,
                stride: 16,
                threading: Threading::Single,
                ..NvShaderRecord::default()
            };
            let functions = [CompareFunction::Always, CompareFunction::LessOrEqual, CompareFunction::Less];
            let any = CompareFunction::ALL[random.below(8) as usize];
            let function = if random.below(4) == 0 { any } else { functions[random.below(3) as usize] };
            let early = random.below(2) == 0 && function != CompareFunction::Always;
            let configuration = ConfigurationBits {
                forward_facing: true,
                reverse_facing: true,
                depth_test: function,
                z_updates: random.below(4) != 0,
                early_z: early,
                early_z_updates: early,
                oversample: if random.below(2) == 0 { Oversample::X4 } else { Oversample::None },
                ..ConfigurationBits::default()
            };
            let state = PipelineState {
                configuration,
                clip_window: ClipWindow { left: 0, bottom: 0, width: SIZE, height: SIZE },
                shader: Some(Shader::Nv(Arc::new(NvShader { address: BusAddr(0), record }))),
                ..PipelineState::default()
            };
            (Arc::new(state), Primitive { vertices: [0, 1, 2], clipped: None })
        });
        let draws = draws.collect();
        let mode = TileRenderingMode {
            address: BusAddr(FRAME),
            width: SIZE,
            height: SIZE,
            color_format: FrameBufferFormat::Rgba8888,
            memory_format: MemoryFormat::Raster,
            multisample: random.below(2) == 0,
            ..TileRenderingMode::from_bits(0)
        };
        Frame { mode, draws }
    }

    fn record(renderer: &mut Renderer, record: Record, context: &mut Context<'_>) {
        let RecordGroup::Tile(record) = record.group() else { panic!("a record of the tile buffer") };
        renderer.record(BusAddr(1), record, context);
    }

    /// Renders a frame twice with an engine; returns memory, counters and faults, and how many batches were left out.
    fn render(frame: &Frame, memory: &OwnedMemory, engine: EngineKind) -> (Vec<u32>, Counters, String, u64) {
        let mut renderer = Renderer::new(Config { engine, ..Config::default() });
        renderer.code = CodeCache::for_engine(engine).translating_eagerly();
        (FRAME..MEMORY as u32).step_by(4).for_each(|at| memory.view().set_word(BusAddr(at), 0).unwrap());
        let (mut counters, mut faults, mut budget) = (Counters::default(), FaultLog::default(), 10_000_000);
        let supervision = Supervision::default();
        for is_resolved in [true, false] {
            let mut context = Context {
                memory: memory.view(),
                counters: &mut counters,
                faults: &mut faults,
                budget: &mut budget,
                supervision: &supervision,
            };
            let clear = ClearColors { color: 0x1234_5678_1234_5678, z: 0xff_ffff, ..ClearColors::default() };
            let nothing = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
            let begin = TileCoordinates { column: 0, row: 0 };
            for start in [clear.into(), frame.mode.into(), begin.into(), nothing.into()] {
                record(&mut renderer, start, &mut context);
            }
            let tiles = SIZE.div_ceil(if frame.mode.multisample { 32 } else { 64 }) as u8;
            for (row, column) in (0..tiles).flat_map(|row| (0..tiles).map(move |column| (row, column))) {
                let format =
                    PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
                record(&mut renderer, TileCoordinates { row, column }.into(), &mut context);
                for ((state, primitive), at) in frame.draws.iter().zip(10..) {
                    renderer.draw(BusAddr(at), format, std::slice::from_ref(primitive), state, &mut context);
                }
                let address = BusAddr(TILES + 0x8000 * u32::from(row * tiles + column));
                let samples = StoreFullResolution { address: address.into(), ..StoreFullResolution::from_bits(0) };
                let store = if is_resolved { Record::StoreResolved } else { samples.into() };
                record(&mut renderer, store, &mut context);
            }
            renderer.finish(&mut context);
        }
        let hidden = lock(&renderer.workers)
            .iter()
            .flat_map(|worker| worker.hidden.shares.iter().map(|known| known.hidden))
            .sum();
        let words = memory.view().words().iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
        (words, counters, format!("{} faults: {:?}", faults.total(), faults.faults()), hidden)
    }

    /// Whether and how much is left out can only be seen in the time that it takes.
    #[test]
    fn frames_are_those_of_the_reference_engine() {
        let engine = EngineKind::best();
        let mut all_hidden = 0;
        for case in 0..150 {
            let mut random = Random::new(27, case);
            let memory = OwnedMemory::new(MEMORY);
            for texel in 0..64 * 32 {
                memory.view().set_word(BusAddr(TEXTURE + 4 * texel), random.next_u64() as u32).unwrap();
            }
            let frame = frame(&mut random, &memory);
            let expected = render(&frame, &memory, EngineKind::Reference);
            let found = render(&frame, &memory, engine);
            assert!(found.0 == expected.0, "case {case}: memory");
            assert_eq!((&found.1, &found.2), (&expected.1, &expected.2), "case {case}");
            all_hidden += found.3;
        }
        assert_eq!(all_hidden > 2000, engine.translates(), "{all_hidden} batches were left out");
    }
}

//! The units around a fragment shader: quads, varyings, tile buffer [AG p.46-52].
//!
//! The FEP collects up to four quads, of one or several primitives with the same state, into a batch of 16 fragments. The batch's coordinates, masks,
//! Z and W are the start values of the program; its varyings come through a FIFO; its writes to the tile buffer go to the pixels of its quads.
//!
//! The multisample mask selects the samples of a write. The Z and stencil test of a TLB_Z write clears the bits of samples that fail, and so masks
//! all colour writes after it. Without multisampling, a mask other than 0 selects the pixel.
//!
//! # Scoreboard
//! The model executes the batches of a tile one after the other, so a wait for the scoreboard never stalls. A batch never has the same quad twice.
//!
//! # Inferences
//! - A TLB write under a condition leaves the other elements' pixels and masks as they are.
//! - The stencil set-up is selected for each pixel by its facing, as the guide says [AG p.48]. Silicon applies one of the two to the whole batch
//!   (HW-2924) [AG p.109]; which one is not known, so a Z write for which it matters is reported.
//! - QUAD_X and QUAD_Y are in the register map, while the text says that pixel coordinates cannot be written [AG p.47, p.49]. Here they move quads:
//!   element 0 of each quad is the column or row of its first pixel on the screen, without the lowest bit. Varyings, Z, W and masks do not change.
//! - An alpha mask write takes bits 7:0 of each element, since Broadcom's driver fills the mask with 0xff [brcm vg_hw_4.c]; a read returns the mask
//!   in all four bytes, since its shaders multiply colours by it byte by byte [brcm vg_shader_fd_4.c.qasm].

mod batch;

pub use crate::fault::rendering::TileBufferError;
pub(in crate::render) use batch::Samples;
pub use batch::{Batch, NewQuad};

use super::cap::CoverageReading;
use super::pixel_trace::Event;
use super::pse::{Coefficients, STEPS};
use super::tlb::{Outcome, Passing, Shape, StencilTest, Tlb, ZTest, gather, scatter, test_sample};
use crate::counters::Counters;
use crate::qpu::block::effects::Effects;
use crate::qpu::io::{SECOND_WORD_BYTES, SMALL_VARYING, TileAccess};
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::qpu::{Io, IoError, Varying, Wait};
use crate::simd::vectors::{SIGN, Vectors};
use crate::simd::words::Words;
use crate::simd::{SimdDispatch, SimdTask};
use batch::BATCH_QUADS;
use v3d_hw::Layout;
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::tile_buffer::{StencilConfiguration, StencilSelect, StencilWriteMasks};

/// Position in a stream of samples and their words.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    sample: usize,
    word: usize,
}

impl Cursor {
    /// The position; advances it by a word.
    fn next(&mut self, shape: Shape) -> Result<Self, TileBufferError> {
        let at = *self;
        if at.sample >= shape.samples() {
            return Err(TileBufferError::SampleBeyondLast(at.sample, shape.samples()));
        }
        self.word += 1;
        if self.word == shape.color_words() {
            (self.sample, self.word) = (self.sample + 1, 0);
        }
        Ok(at)
    }
}

/// The state in which a batch's program starts.
#[derive(Clone, Copy, Debug)]
pub struct FragmentState {
    /// Z test.
    pub z_test: ZTest,
    /// The comparison of the Z test.
    pub passing: Passing,
    /// Varyings of each fragment.
    pub varyings: usize,
    /// There is an alpha mask buffer.
    pub vg_mask: bool,
    /// How coverage is read.
    pub coverage: CoverageReading,
    /// Screen coordinates of the tile.
    pub tile: (i32, i32),
    /// The vectors in which the units compute.
    pub(crate) simd: SimdDispatch,
}

/// The units behind a fragment shader's register map.
#[derive(Debug)]
pub struct FragmentIo<'a> {
    tlb: &'a mut Tlb,
    batch: &'a mut Batch,
    coefficients: &'a [Coefficients],
    counters: &'a mut Counters,
    state: &'a FragmentState,
    next_varying: usize,
    front: Option<StencilTest>,
    back: Option<StencilTest>,
    read: Cursor,
    written: Cursor,
    written_all: usize,
    /// What becomes of the watched element, if there is one.
    pub(super) fate: Option<Fate>,
}

/// What a program does with one element.
#[derive(Clone, Debug, PartialEq)]
pub struct Fate {
    /// The element.
    pub element: usize,
    /// Tests of its samples, as events of the pixel.
    pub tests: Vec<Event>,
    /// The program has written it.
    pub written: bool,
    /// The program has tested or written others, but not it.
    pub left_out: bool,
}

impl Fate {
    /// That of an element at the start.
    pub const fn new(element: usize) -> Self {
        Self { element, tests: Vec::new(), written: false, left_out: false }
    }

    /// Whether the program has discarded it.
    pub const fn is_discarded(&self) -> bool {
        self.left_out && self.tests.is_empty() && !self.written
    }
}

impl<'a> FragmentIo<'a> {
    /// The units at the start of a batch; the batch serves one program only.
    #[inline(always)]
    pub fn new(
        tlb: &'a mut Tlb,
        batch: &'a mut Batch,
        coefficients: &'a [Coefficients],
        counters: &'a mut Counters,
        state: &'a FragmentState,
    ) -> Self {
        Self {
            tlb,
            batch,
            coefficients,
            counters,
            state,
            next_varying: 0,
            front: None,
            back: None,
            read: Cursor::default(),
            written: Cursor::default(),
            written_all: 0,
            fate: None,
        }
    }

    /// Notes the tests of the watched element that a write of Z makes, before it does.
    #[cold]
    fn note_tests(&mut self, value: &Lanes, mask: Mask) {
        let Some(fate) = &mut self.fate else { return };
        let element = fate.element;
        let (Some(&flags), Some(&z)) = (self.batch.flags.0.get(element), value.0.get(element)) else { return };
        if mask >> element & 1 == 0 {
            fate.left_out = true;
            return;
        }
        let Some(quad) = self.batch.quads.get(element / 4) else { return };
        let stencil = if self.batch.reverse >> element & 1 == 0 { &self.front } else { &self.back };
        let shape = self.tlb.shape();
        for sample in (0..shape.samples()).filter(|sample| !shape.multisample || flags >> sample & 1 == 1) {
            let index = self.tlb.zs_index(quad.pixel + element % 4, sample);
            let Some(&zs) = self.tlb.zs.get(index) else { continue };
            let z = z & 0xff_ffff;
            let outcome = test_sample(&mut { zs }, z, self.state.z_test, stencil.as_ref());
            fate.tests.push(Event::Tested { sample, z, zs, outcome });
        }
    }

    /// Notes whether a write of colour reaches the watched element.
    #[cold]
    fn note_write(&mut self, mask: Mask) {
        let Some(fate) = &mut self.fate else { return };
        match self.batch.flags.0.get(fate.element) {
            Some(flags) if mask >> fate.element & 1 == 1 && flags & 0xf != 0 => fate.written = true,
            _ => fate.left_out = true,
        }
    }

    /// Does what a program with these effects does: tests and writes the depths with which it starts, and counts its writes of colour. Returns the
    /// samples that are left.
    #[inline(always)]
    pub(super) fn write_in_advance<V: Vectors>(&mut self, effects: Effects) -> Samples {
        if effects.writes_depths {
            let value = self.batch.z;
            DepthTest { io: self, value: &value, mask: ALL }.run::<V>();
        }
        let reached = !V::zero(&self.samples_reached::<V>(ALL));
        if effects.color_words > 0 {
            self.counters.add(CounterSource::TlbQuadsWritten, count_quads(reached));
        }
        self.batch.samples::<V>(self.tlb.shape())
    }

    /// Moves quads along x (0) or y (1) to the coordinates in their first elements.
    fn move_quads(&mut self, axis: usize, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let shape = self.tlb.shape();
        let mut result = Ok(());
        for q in (0..self.batch.count).filter(|q| mask >> (4 * q) & 1 == 1) {
            let quad = &mut self.batch.quads[q];
            let mut screen = quad.screen;
            screen[axis] = value.0[4 * q] & !1;
            let [x, y] = screen;
            let inner = (i64::from(x) - i64::from(self.state.tile.0), i64::from(y) - i64::from(self.state.tile.1));
            if !(0..i64::from(shape.width_px)).contains(&inner.0) || !(0..i64::from(shape.height_px)).contains(&inner.1)
            {
                result = Err(TileBufferError::QuadOutside { x, y }.into());
                continue;
            }
            quad.pixel = shape.pixel(inner.0 as u32, inner.1 as u32);
            quad.screen = screen;
            self.batch.moved = true;
        }
        result
    }

    /// Whether a Z write to these elements needs both stencil set-ups, and they differ.
    fn mixes_stencils(&self, mask: Mask) -> bool {
        let facing = |reverse| {
            let mut lanes = 0..4 * self.batch.count;
            lanes.any(|lane| self.reached(lane, mask) != 0 && (self.batch.reverse >> lane & 1 == 1) == reverse)
        };
        // The destination of a set-up is no part of what it does.
        let meaning = |test: Option<StencilTest>| {
            test.map(|mut test| {
                test.configuration.select = StencilSelect::Both;
                test
            })
        };
        meaning(self.front) != meaning(self.back) && facing(false) && facing(true)
    }

    /// The mask of the samples that a colour write to an element reaches, 0 for none.
    #[inline(always)]
    fn reached(&self, lane: usize, mask: Mask) -> u32 {
        if mask >> lane & 1 == 1 { self.batch.flags.0[lane] & 0xf } else { 0 }
    }

    /// The masks of the samples that a write reaches.
    #[inline(always)]
    fn samples_reached<V: Vectors>(&self, mask: Mask) -> Lanes {
        let mut samples = self.batch.flags.map(|flags| flags & 0xf);
        V::blend(&mut samples, &Lanes::default(), !(mask & self.batch.elements()));
        samples
    }

    /// Writes a word of colour to one sample (or to all) of the pixels.
    #[inline]
    fn write_color(&mut self, value: &Lanes, mask: Mask, sample: Option<usize>, word: usize) {
        if self.fate.is_some() {
            self.note_write(mask);
        }
        if self.reaches_all(mask) {
            let samples = match sample {
                _ if !self.tlb.shape().multisample => 0..1,
                Some(sample) => sample..sample + 1,
                None => 0..4,
            };
            for sample in samples {
                let word_indices = self.word_indices(self.tlb.color_index(0, sample, word));
                scatter(&mut self.tlb.color, word_indices, 0..BATCH_QUADS, value);
            }
            if word == 0 {
                self.counters.add(CounterSource::TlbQuadsWritten, BATCH_QUADS as u64);
            }
            return;
        }
        self.state.simd.run(ColorWrite { io: self, value, mask, sample, word });
    }

    /// Whether a write to these elements reaches all samples of all pixels of four quads.
    #[inline]
    fn reaches_all(&self, mask: Mask) -> bool {
        let Batch { count, moved, flags, .. } = &*self.batch;
        if mask != ALL || (*count, *moved) != (BATCH_QUADS, false) {
            return false;
        }
        if self.tlb.shape().multisample {
            return flags.0.iter().fold(0xf, |all, flags| all & flags) == 0xf;
        }
        flags.0.iter().fold(true, |all, flags| all & (flags & 0xf != 0))
    }

    /// Offsets of the words of all quads from that of pixel 0.
    #[inline(always)]
    fn word_indices(&self, plane: usize) -> [usize; BATCH_QUADS] {
        self.batch.quads.map(|quad| plane + quad.pixel)
    }
}

/// The lowest bit of every quad that has an element in a mask.
#[inline(always)]
pub const fn quads_in(elements: Mask) -> Mask {
    (elements | elements >> 1 | elements >> 2 | elements >> 3) & 0x1111
}

/// Number of quads with an element in a mask.
#[inline(always)]
const fn count_quads(elements: Mask) -> u64 {
    // The four bits are added up in the highest four.
    (quads_in(elements).wrapping_mul(0x1111) >> 12) as u64
}

/// Interpolates all varyings of a batch: A and B over the pixels.
struct Interpolation<'b> {
    batch: &'b mut Batch,
    coefficients: &'b [Coefficients],
    varyings: usize,
}

impl SimdTask for Interpolation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { batch, coefficients, varyings } = self;
        batch.varyings.resize(varyings, Varying::default());
        let Batch { count, quads, distance: [columns, rows], varyings, .. } = &mut *batch;
        let count = *count;
        // Quads that are not there have no distance and, below, no slope, so that their varyings are 0.
        let mut distances = [[0.0; BATCH_QUADS]; 2];
        for quad in 0..BATCH_QUADS {
            let is_used = quad < count;
            distances[0][quad] = if is_used { columns[quad] } else { 0.0 };
            distances[1][quad] = if is_used { rows[quad] } else { 0.0 };
        }
        let first = quads[0].coefficients;
        let same = count == BATCH_QUADS && quads.iter().all(|quad| quad.coefficients == first);
        let magnitude = V::Words::splat(!SIGN);
        let mut largest = V::Words::splat(0);
        for (number, varying) in varyings.iter_mut().enumerate() {
            // Each call has its own slopes: in registers, not in memory that is read at once after it is written.
            if same {
                let Coefficients { a, b, c } = coefficients.get(first + number).copied().unwrap_or_default();
                varying.value = V::planes(&[[a; BATCH_QUADS], [b; BATCH_QUADS]], &distances, f64::from(STEPS));
                varying.coefficients = Lanes::splat(c);
            } else {
                let [p, q, r, s] = quads.map(|quad| coefficients.get(quad.coefficients + number));
                let of = |quad: usize, found: Option<&Coefficients>| match found {
                    Some(&of_quad) if quad < count => of_quad,
                    _ => Coefficients::default(),
                };
                let [p, q, r, s] = [of(0, p), of(1, q), of(2, r), of(3, s)];
                varying.value = V::planes(&[[p.a, q.a, r.a, s.a], [p.b, q.b, r.b, s.b]], &distances, f64::from(STEPS));
                for (elements, c) in varying.coefficients.0.as_chunks_mut::<4>().0.iter_mut().zip([p.c, q.c, r.c, s.c])
                {
                    *elements = [c; 4];
                }
            }
            largest = V::Words::max_signed(largest, V::Words::and(V::Words::load(&varying.value), magnitude));
            largest = V::Words::max_signed(largest, V::Words::and(V::Words::load(&varying.coefficients), magnitude));
        }
        batch.interpolated = true;
        // The highest bit is set from the limit on.
        let beyond = V::Words::store(V::Words::add(largest, V::Words::splat(SIGN - SMALL_VARYING)));
        batch.small_varyings = V::negative(&beyond) == 0;
    }
}

/// A write of a word of colour to one sample of the pixels, or to all.
struct ColorWrite<'w, 'a> {
    io: &'w mut FragmentIo<'a>,
    value: &'w Lanes,
    mask: Mask,
    sample: Option<usize>,
    word: usize,
}

impl SimdTask for ColorWrite<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { io, value, mask, sample, word } = self;
        let shape = io.tlb.shape();
        let reached = io.samples_reached::<V>(mask);
        let samples = if shape.multisample { sample.map_or(0..4, |sample| sample..sample + 1) } else { 0..1 };
        for sample in samples {
            // Samples that the tile buffer does not have stand for the pixel.
            let bits = if shape.multisample { 1 << sample } else { 0xf };
            let word_indices = io.word_indices(io.tlb.color_index(0, sample, word));
            let untouched = V::zero(&reached.map(|samples| samples & bits));
            let count = io.batch.count;
            // Quads in the same position are written one after the other.
            let at_once = if io.batch.moved { 1 } else { BATCH_QUADS };
            for first in (0..count).step_by(at_once) {
                let mut colors = *value;
                if untouched != 0 {
                    V::blend(&mut colors, &gather(&io.tlb.color, word_indices), untouched);
                }
                scatter(&mut io.tlb.color, word_indices, first..count.min(first + at_once), &colors);
            }
        }
        if word == 0 {
            io.counters.add(CounterSource::TlbQuadsWritten, count_quads(!V::zero(&reached)));
        }
    }
}

/// The Z test of pixels without a stencil test.
struct DepthTest<'w, 'a> {
    io: &'w mut FragmentIo<'a>,
    value: &'w Lanes,
    mask: Mask,
}

impl SimdTask for DepthTest<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { io, value, mask } = self;
        let shape = io.tlb.shape();
        let (passing, z_test) = (io.state.passing, io.state.z_test);
        let z = value.map(|z| z & 0xff_ffff);
        let reached = io.samples_reached::<V>(mask);
        let mut left = Lanes::default();
        for sample in 0..shape.samples() {
            let bits = if shape.multisample { 1 << sample } else { 0xf };
            let word_indices = io.word_indices(io.tlb.zs_index(0, sample));
            let mut zs = gather(&io.tlb.zs, word_indices);
            let tested = reached.map(|samples| samples & bits);
            let passed = passing.of::<V>(&z, &zs) & !V::zero(&tested);
            let with_sample = left.zip(tested, |left, tested| left | tested);
            V::blend(&mut left, &with_sample, passed);
            if z_test.update && passed != 0 {
                let Tlb { zs: stored, early, .. } = &mut *io.tlb;
                if let Some(early) = early.written_with(stored, z_test) {
                    let mut depths = gather(early, word_indices);
                    V::blend(&mut depths, &z.map(|z| z << 8), passed);
                    scatter(early, word_indices, 0..io.batch.count, &depths);
                }
                let new = z.zip(zs, |z, zs| z << 8 | zs & 0xff);
                V::blend(&mut zs, &new, passed);
                scatter(stored, word_indices, 0..io.batch.count, &zs);
            }
        }
        let tested = !V::zero(&reached);
        V::blend(&mut io.batch.flags, &left, tested);
        let passed = count_quads(!V::zero(&left));
        io.counters.add(CounterSource::TlbQuadsPassed, passed);
        io.counters.add(CounterSource::TlbQuadsFailed, count_quads(tested) - passed);
    }
}

impl Io for FragmentIo<'_> {
    fn varying(&mut self) -> Result<Varying, IoError> {
        let next = self.varyings_ahead().first().copied();
        self.next_varying += usize::from(next.is_some());
        next.ok_or(IoError::VaryingsExhausted(self.state.varyings as u32))
    }

    #[inline]
    fn varyings_ahead(&mut self) -> &[Varying] {
        if !self.batch.interpolated {
            let varyings = self.state.varyings;
            self.state.simd.run(Interpolation { batch: self.batch, coefficients: self.coefficients, varyings });
        }
        self.batch.varyings.get(self.next_varying..).unwrap_or_default()
    }

    #[inline]
    fn has_small_varyings(&self) -> bool {
        self.batch.interpolated && self.batch.small_varyings
    }

    #[inline]
    fn take_varyings(&mut self, count: usize) {
        self.next_varying += count;
    }

    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Ok(self.batch.screen(0))
    }

    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Ok(self.batch.screen(1))
    }

    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Ok(self.batch.flags)
    }

    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes(std::array::from_fn(|lane| u32::from(self.batch.reverse >> lane & 1))))
    }

    fn set_ms_flags(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        // Quads that are not there have no samples, whatever is written.
        self.batch.flags = self.batch.flags.select(value.map(|flags| flags & 0xf), mask & self.batch.elements());
        Ok(())
    }

    fn set_rev_flag(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let bits = (0..).zip(value.0).fold(0, |bits, (lane, flag)| bits | ((flag & 1) as Mask) << lane);
        self.batch.reverse = self.batch.reverse & !mask | bits & mask;
        Ok(())
    }

    fn tlb_stencil_setup(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        // The set-up belongs to the batch: the highest element with the condition provides it.
        let Some(lane) = (0..16).rev().find(|lane| mask >> lane & 1 == 1) else { return Ok(()) };
        let word = value.0[lane];
        let configuration = StencilConfiguration::from_word(word);
        let test = StencilTest { configuration, write_mask: configuration.write_mask.mask() };
        match configuration.select {
            StencilSelect::WriteMasks => {
                let masks = StencilWriteMasks::from_word(word);
                for (side, write_mask) in [(&mut self.front, masks.front), (&mut self.back, masks.back)] {
                    if let Some(test) = side {
                        test.write_mask = write_mask;
                    }
                }
            }
            StencilSelect::Front => self.front = Some(test),
            StencilSelect::Back => self.back = Some(test),
            StencilSelect::Both => (self.front, self.back) = (Some(test), Some(test)),
        }
        Ok(())
    }

    fn tlb_z(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let shape = self.tlb.shape();
        let (front, back, z_test) = (self.front, self.back, self.state.z_test);
        if self.fate.is_some() {
            self.note_tests(value, mask);
        }
        if front.is_none() && back.is_none() && !self.batch.moved {
            self.state.simd.run(DepthTest { io: self, value, mask });
            return Ok(());
        }
        let mixed = self.mixes_stencils(mask);
        for (q, quad) in self.batch.quads[..self.batch.count].iter().enumerate() {
            let (mut covered, mut passed, mut stencil_passed) = (false, false, false);
            for element in 0..4 {
                let lane = q * 4 + element;
                let flags = self.batch.flags.0[lane] & 0xf;
                if flags == 0 || mask >> lane & 1 == 0 {
                    continue;
                }
                covered = true;
                let stencil = if self.batch.reverse >> lane & 1 == 0 { front.as_ref() } else { back.as_ref() };
                let z = value.0[lane] & 0xff_ffff;
                let pixel = quad.pixel + element;
                let mut left = 0;
                if shape.multisample {
                    for sample in (0..4).filter(|sample| flags >> sample & 1 == 1) {
                        let index = self.tlb.zs_index(pixel, sample);
                        match self.tlb.test_sample(index, z, z_test, stencil) {
                            Outcome::Passed => left |= 1 << sample,
                            Outcome::ZFailed => stencil_passed = true,
                            Outcome::StencilFailed => {}
                        }
                    }
                } else {
                    match self.tlb.test_sample(pixel, z, z_test, stencil) {
                        Outcome::Passed => left = flags,
                        Outcome::ZFailed => stencil_passed = true,
                        Outcome::StencilFailed => {}
                    }
                }
                self.batch.flags.0[lane] = left;
                passed |= left != 0;
            }
            if covered {
                self.counters.add(
                    match (passed, stencil_passed) {
                        (true, _) => CounterSource::TlbQuadsPassed,
                        (false, true) => CounterSource::TlbQuadsFailed,
                        (false, false) => CounterSource::TlbQuadsStencilFailed,
                    },
                    1,
                );
            }
        }
        if mixed { Err(TileBufferError::MixedStencil.into()) } else { Ok(()) }
    }

    fn tlb_color_ms(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let at = self.written.next(self.tlb.shape())?;
        self.write_color(value, mask, Some(at.sample), at.word);
        Ok(())
    }

    fn tlb_color_all(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let word = self.written_all & (self.tlb.shape().color_words() - 1);
        self.written_all += 1;
        self.write_color(value, mask, None, word);
        Ok(())
    }

    fn tlb_alpha_mask(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        if !self.state.vg_mask {
            return Err(TileBufferError::MaskDisabled.into());
        }
        let shape = self.tlb.shape();
        for (q, quad) in self.batch.quads[..self.batch.count].iter().enumerate() {
            for element in 0..4 {
                let lane = q * 4 + element;
                let samples = self.reached(lane, mask);
                if samples == 0 {
                    continue;
                }
                for sample in (0..shape.samples()).filter(|s| !shape.multisample || samples >> s & 1 == 1) {
                    let index = self.tlb.zs_index(quad.pixel + element, sample);
                    self.tlb.vg_mask[index] = value.0[lane] as u8;
                }
            }
        }
        Ok(())
    }

    fn load_color(&mut self) -> Result<Lanes, IoError> {
        let at = self.read.next(self.tlb.shape())?;
        let mut value = Lanes::default();
        for (q, quad) in self.batch.quads[..self.batch.count].iter().enumerate() {
            let index = self.tlb.color_index(quad.pixel, at.sample, at.word);
            if let Some(colors) = self.tlb.color.get(index..index + 4) {
                value.0[q * 4..q * 4 + 4].copy_from_slice(colors);
            }
        }
        Ok(value)
    }

    fn load_coverage(&mut self) -> Result<Lanes, IoError> {
        if self.tlb.shape().multisample {
            return Err(TileBufferError::CoverageInMultisample.into());
        }
        let reading = self.state.coverage;
        let mut value = Lanes::default();
        let (mut covered, mut empty) = (0, 0);
        for (q, quad) in self.batch.quads[..self.batch.count].iter().enumerate() {
            let Some(pixels) = self.tlb.zs.get_mut(quad.pixel..quad.pixel + 4) else { continue };
            if pixels.iter().any(|&coverage| coverage != 0) {
                covered += 1;
            } else {
                empty += 1;
            }
            for (element, coverage) in pixels.iter_mut().enumerate() {
                let lane = q * 4 + element;
                value.0[lane] = reading.value(*coverage);
                if !reading.leave && self.batch.flags.0[lane] & 0xf != 0 {
                    *coverage = 0;
                }
            }
        }
        // The guide speaks of coverage where it is accumulated and read, so that is what is counted here; that colour writes do not count is a guess.
        self.counters.add(CounterSource::TlbQuadsCovered, covered);
        self.counters.add(CounterSource::TlbQuadsNoCoverage, empty);
        Ok(value)
    }

    fn set_quad_x(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.move_quads(0, value, mask)
    }

    fn set_quad_y(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.move_quads(1, value, mask)
    }

    fn load_alpha(&mut self) -> Result<Lanes, IoError> {
        if !self.state.vg_mask {
            return Err(TileBufferError::MaskDisabled.into());
        }
        let mut value = Lanes::default();
        for (q, quad) in self.batch.quads[..self.batch.count].iter().enumerate() {
            for element in 0..4 {
                let index = self.tlb.zs_index(quad.pixel + element, 0);
                value.0[q * 4 + element] = u32::from(self.tlb.vg_mask[index]) * 0x0101_0101;
            }
        }
        Ok(value)
    }

    #[inline]
    fn tile_access(&mut self, access: &mut TileAccess) {
        let shape = self.tlb.shape();
        if self.batch.moved || self.fate.is_some() {
            *access = TileAccess::NONE;
            return;
        }
        let ZTest { update, early_update, .. } = self.state.z_test;
        // Depths that early Z has of its own are written by the unit.
        let early_follows = self.tlb.early.words().is_none() && early_update;
        let tests_depth = self.front.is_none() && self.back.is_none() && (!update || early_follows);
        let (colors, zs) = (self.tlb.color.as_mut_ptr(), self.tlb.zs.as_mut_ptr());
        // The number of pixels is a power of two: four words from there on are within the plane of a sample, whatever a batch says.
        let places = self.batch.quads.map(|quad| quad.pixel & (shape.pixels() - 4));
        let none = self.tlb.no_quads.as_mut_ptr();
        // Member by member: a whole structure would be copied in vectors, which wait for the stores of its members.
        for (quad, place) in places.into_iter().enumerate() {
            let is_there = quad < self.batch.count;
            let (colors, zs, place) = if is_there { (colors, zs, place) } else { (none, none, 4 * quad) };
            access.colors[quad] = colors.wrapping_add(place);
            access.zs[quad] = zs.wrapping_add(place);
        }
        access.flags = &raw mut self.batch.flags;
        access.sample_bytes = shape.pixels() * size_of::<u32>();
        access.samples = shape.samples() as u32;
        access.first_sample = if shape.multisample { 1 } else { 0xf };
        let words = shape.color_words();
        access.color_words = words as u32;
        // Several words of several samples are left to the unit.
        access.color_readable = if words == 1 || !shape.multisample { (shape.samples() * words) as u32 } else { 0 };
        access.color_read = (self.read.sample * words + self.read.word) as u32;
        access.color_stride = if words == 1 { access.sample_bytes } else { SECOND_WORD_BYTES };
        access.samples_writable = if words == 1 { access.samples } else { 0 };
        access.samples_written = self.written.sample as u32;
        access.color_written = self.written_all as u32;
        access.tests_depth = tests_depth.into();
        access.passing = self.state.passing.words();
        access.updates = if update { !0 } else { 0 };
        (access.quads_written, access.quads_passed, access.quads_failed) = (0, 0, 0);
    }

    #[inline]
    fn note_tile_access(&mut self, access: &TileAccess) {
        if access.color_words == 0 {
            return;
        }
        let words = self.tlb.shape().color_words();
        let read = access.color_read as usize;
        self.read = Cursor { sample: read / words, word: read % words };
        self.written_all = access.color_written as usize;
        if access.samples_writable != 0 {
            self.written = Cursor { sample: access.samples_written as usize, word: 0 };
        }
        for (source, quads) in [
            (CounterSource::TlbQuadsWritten, access.quads_written),
            (CounterSource::TlbQuadsPassed, access.quads_passed),
            (CounterSource::TlbQuadsFailed, access.quads_failed),
        ] {
            if quads != 0 {
                self.counters.add(source, quads.into());
            }
        }
    }

    #[inline]
    fn has_scoreboard_alone(&self) -> bool {
        true
    }

    fn scoreboard_wait(&mut self) -> Result<Wait, IoError> {
        Ok(Wait::Ready)
    }

    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl From<TileBufferError> for IoError {
    fn from(error: TileBufferError) -> Self {
        Self::TileBuffer(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::lanes::ALL;
    use crate::qpu::test_words::memory_of;
    use crate::qpu::{CodeCache, EngineKind, Exit, Launch, Qpu};
    use crate::random::Random;
    use v3d_hw::control_list::CompareFunction;
    use v3d_hw::qpu::{AddOp, Alu, Condition, LANES, Mux, Signal};

    /// A generator of numbers below a limit.
    fn numbers(seed: u64) -> impl FnMut(u32) -> u32 {
        let mut random = Random::new(0, seed);
        move |limit| random.below(limit)
    }

    /// A batch of up to four quads in different positions, with flags as a program may have written them.
    fn batch(next: &mut impl FnMut(u32) -> u32, shape: Shape) -> Batch {
        let mut batch = Batch { count: 1 + next(4) as usize, ..Batch::default() };
        let quads = shape.pixels() as u32 / 16;
        for (number, quad) in batch.quads.iter_mut().enumerate() {
            quad.pixel = 4 * (number as u32 * quads + next(quads)) as usize;
            quad.coefficients = 3 * next(2) as usize;
        }
        batch.flags = if next(4) == 0 { Lanes::splat(15) } else { Lanes(std::array::from_fn(|_| next(16) * next(2))) };
        for distance in batch.distance.as_flattened_mut() {
            *distance = f64::from(next(2000)) - 1000.0;
        }
        batch
    }

    /// The state of a batch without varyings, with a depth test.
    fn tested(z_test: ZTest) -> FragmentState {
        FragmentState {
            z_test,
            passing: z_test.function.into(),
            varyings: 0,
            vg_mask: false,
            coverage: CoverageReading::default(),
            tile: (0, 0),
            simd: SimdDispatch::new(),
        }
    }

    /// Writes to all pixels at once leave the same as writes one after the other, which happen after quads were moved.
    #[test]
    fn all_pixels_at_once_are_pixels_one_by_one() {
        let mut next = numbers(1);
        let functions = CompareFunction::ALL;
        let (mut changed, mut early_changed) = (0, 0);
        for round in 0..4000 {
            let shape = Shape::new(next(2) == 1, next(4) == 0, false);
            let function = functions[round % 8];
            let state = tested(ZTest { function, update: next(4) != 0, early_update: next(2) == 0 });
            let mut tlb = Tlb::new(shape);
            tlb.zs.iter_mut().for_each(|zs| *zs = next(4) << 8 | next(256));
            if next(2) == 0 {
                tlb.early.written_with(&tlb.zs, ZTest { early_update: false, update: true, ..state.z_test });
                tlb.zs.iter_mut().for_each(|zs| *zs = next(4) << 8 | next(256));
            }
            let before = tlb.early.words().copied();
            let at_once = batch(&mut next, shape);
            let one_by_one = Batch { moved: true, ..at_once.clone() };
            let z = Lanes(std::array::from_fn(|_| next(4) | next(2) << 24));
            let color = Lanes(std::array::from_fn(|_| next(u32::MAX)));
            let masks = [next(0x10000) as Mask | if next(2) == 0 { ALL } else { 0 }, next(0x10000) as Mask];
            let results = [at_once, one_by_one].map(|mut batch| {
                let (mut tlb, mut counters) = (tlb.clone(), Counters::default());
                let mut io = FragmentIo::new(&mut tlb, &mut batch, &[], &mut counters, &state);
                io.tlb_z(&z, masks[0]).unwrap();
                io.tlb_color_all(&color, masks[1]).unwrap();
                io.tlb_color_ms(&color.map(|color| !color), masks[0]).unwrap();
                // Without updates silicon keeps the depths, with updates it follows Z.
                let early = tlb.early.words().map(|words| words.map(|word| word >> 8));
                (tlb.zs, tlb.color, early, batch.flags, counters)
            });
            assert!(results[0] == results[1], "round {round}: {function:?}, {shape:?}");
            changed += usize::from(results[0].0 != tlb.zs) + usize::from(results[0].1 != tlb.color);
            early_changed += usize::from(results[0].2 != before.map(|words| words.map(|word| word >> 8)));
        }
        assert!(changed > 4000, "the suite changes something: {changed}");
        assert!(early_changed > 800, "the suite changes early depths: {early_changed}");
    }

    /// A program that tests depths, reads all words of colour and writes them back changed.
    fn program(color_words: usize) -> Vec<u64> {
        const TLB_Z: u8 = 44;
        const TLB_COLOR_ALL: u8 = 46;
        const R0: u8 = 32;
        let from = |waddr_add, mux| Alu {
            op_add: AddOp::Xor,
            cond_add: Condition::Always,
            raddr_a: 15,
            raddr_b: 15,
            waddr_add,
            add_a: mux,
            add_b: mux,
            ..Alu::NOP
        };
        let mut program = vec![Alu::NOP; 3];
        program.push(Alu { op_add: AddOp::Or, ..from(TLB_Z, Mux::A) });
        for word in 0..color_words as u8 {
            program.push(Alu { sig: Signal::LoadColor, ..Alu::NOP });
            program.push(Alu { add_a: Mux::R4, ..from(R0 + word, Mux::B) });
        }
        program.extend(
            [Mux::R0, Mux::R1]
                .map(|mux| Alu { op_add: AddOp::Or, ..from(TLB_COLOR_ALL, mux) })
                .iter()
                .take(color_words),
        );
        program.extend([Alu::NOP, Alu { sig: Signal::ProgramEnd, ..Alu::NOP }, Alu::NOP, Alu::NOP]);
        program.iter().map(|alu| alu.to_bits().unwrap() as u64).collect()
    }

    /// Translated code, which accesses samples itself where it can, leaves the same in the tile buffer as the unit.
    #[test]
    fn translated_code_accesses_samples_as_the_unit_does() {
        let mut next = numbers(3);
        let kinds =
            [EngineKind::Avx2, EngineKind::Neon, EngineKind::Avx512].into_iter().filter(|kind| kind.is_available());
        let engines: Vec<_> = kinds.map(|kind| CodeCache::for_engine(kind).translating_eagerly()).collect();
        let functions = CompareFunction::ALL;
        let (mut full, mut changed) = (0, 0);
        for round in 0..1500 {
            let shape = Shape::new(next(2) == 0, next(2) == 0, false);
            let function = functions[round % functions.len()];
            let state = tested(ZTest { function, update: next(4) != 0, early_update: next(3) != 0 });
            let mut tlb = Tlb::new(shape);
            tlb.zs.iter_mut().for_each(|zs| *zs = next(4) << 8 | next(256));
            tlb.color.iter_mut().for_each(|color| *color = next(u32::MAX));
            let mut batch = batch(&mut next, shape);
            batch.count = if next(4) == 0 { batch.count } else { BATCH_QUADS };
            batch.flags = batch.flags.select(Lanes::default(), !batch.elements());
            full += u32::from(batch.count == BATCH_QUADS);
            let words = program(shape.color_words());
            let owned = memory_of(4096, &words);
            let launch = Launch {
                ra15: Lanes(std::array::from_fn(|_| next(4) | next(2) << 24)),
                rb15: Lanes(std::array::from_fn(|_| next(u32::MAX))),
                ..Launch::default()
            };
            let run = |code: Option<&CodeCache>| {
                let (mut tlb, mut batch, mut counters) = (tlb.clone(), batch.clone(), Counters::default());
                let mut io = FragmentIo::new(&mut tlb, &mut batch, &[], &mut counters, &state);
                let mut qpu = Qpu::new();
                qpu.start(&launch);
                let (exit, translated) = match code {
                    Some(code) => (qpu.run(&mut io, owned.view(), code, &mut 100), qpu.translated()),
                    None => (qpu.run_reference(&mut io, owned.view(), &CodeCache::new(), &mut 100), 0),
                };
                assert_eq!((exit, qpu.take_faults().faults()), (Exit::Ended, &[][..]), "round {round}");
                assert!(
                    code.is_none() || translated > 5,
                    "round {round}: {translated} instructions in translated code"
                );
                let early = tlb.early.words().map(|words| words.map(|word| word >> 8));
                (tlb.zs, tlb.color, early, batch.flags, counters)
            };
            let expected = run(None);
            changed += u32::from(expected.0 != tlb.zs) + u32::from(expected.1 != tlb.color);
            for code in &engines {
                assert!(run(Some(code)) == expected, "round {round}, {}: {function:?}, {shape:?}", code.engine());
                code.clear();
            }
        }
        assert!(full > 1000 && changed > 1500, "{full} full batches, {changed} changes");
    }

    /// A quad's varying is that of its own primitive, and 0 where there is no quad.
    #[test]
    fn varyings_are_those_of_each_quad_alone() {
        let mut next = numbers(2);
        for _ in 0..500 {
            let mut batch = batch(&mut next, Shape::new(false, false, false));
            let mut number = || (f64::from(next(2001)) - 1000.0) / 7e3;
            let coefficients: Vec<Coefficients> =
                (0..6).map(|i| Coefficients { a: number(), b: number(), c: 1000 + i }).collect();
            let number = 2;
            SimdDispatch::new().run(Interpolation { batch: &mut batch, coefficients: &coefficients, varyings: 3 });
            let Varying { value, coefficients: c } = batch.varyings[number];
            for lane in 0..LANES {
                let quad = &batch.quads[lane / 4];
                let Coefficients { a, b, c: of_quad } = coefficients[quad.coefficients + number];
                let first = a * batch.distance[0][lane / 4] + b * batch.distance[1][lane / 4];
                let (a, b) = (a * 16.0, b * 16.0);
                let interpolated = [first, first + a, first + b, first + a + b][lane % 4] as f32;
                let expected = if lane / 4 < batch.count { (interpolated.to_bits(), of_quad) } else { (0, 0) };
                assert_eq!((value.0[lane], c.0[lane]), expected, "element {lane} of {batch:?}");
            }
        }
    }
}

//! What a fragment shader is connected to: quads, varyings, tile buffer [AG p.46-52].
//!
//! The FEP collects up to four quads, of one or several primitives that share their state, into a batch of 16 fragments. The batch's coordinates, masks, Z and
//! W are the start values of the program; its varyings wait in a FIFO; its writes to the tile buffer go to the pixels of its quads.
//!
//! The multisample mask decides which samples a write reaches. The Z and stencil test of a TLB_Z write clears the bits of samples that
//! fail, and so decides about all colour writes after it. Without multisampling, a mask other than 0 stands for the pixel.
//!
//! # Scoreboard
//! The model runs the batches of a tile one after the other, so a wait for the scoreboard never stalls. A batch never has the same quad twice.
//!
//! # Inferences
//! - A TLB write under a condition leaves the other elements' pixels and masks as they are.
//! - The stencil set-up is chosen for each pixel by its facing, as the guide's text has it [AG p.48]. Silicon applies one of the two to the whole batch
//!   (HW-2924) [AG p.109]; which one is not known, so a Z write for which it matters is reported.
//! - QUAD_X and QUAD_Y are in the register map, while the text says that pixel coordinates cannot be written [AG p.47, p.49]. Here they move quads: element 0
//!   of each quad gives the column or row of its first pixel on the screen, the lowest bit aside. Varyings, Z, W and masks stay as they are.
//! - An alpha mask write takes bits 7:0 of each element, since Broadcom's driver fills the mask with 0xff [brcm vg_hw_4.c]; a read yields the mask in all
//!   four bytes, since its shaders multiply colours by it byte by byte [brcm vg_shader_fd_4.c.qasm].

use super::cap::CoverageReading;
use super::pse::{Coefficients, Primitive, STEPS};
use super::tlb::{self, Outcome, Shape, StencilTest, Tlb, ZTest};
use crate::counters::Counters;
use crate::lanes::{Lanes, Mask};
use crate::qpu::{Io, IoError, Wait};
use v3d_hw::Layout;
use v3d_hw::control_list::CompareFunction;
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::tile_buffer::{StencilConfiguration, StencilSelect, StencilWriteMasks};

/// Quads of a batch.
pub const BATCH_QUADS: usize = 4;

/// A use of the tile buffer that the guide leaves undefined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TileBufferError {
    /// More samples are read or written than a pixel has.
    #[error("colour of sample {0} is accessed, but a pixel has only {1}")]
    SampleBeyondLast(usize, usize),
    /// Coverage has no meaning with multisampling.
    #[error("coverage is read in multisample mode")]
    CoverageInMultisample,
    /// A quad is moved to where there are no pixels; it stays where it is.
    #[error("a quad is moved to column {x}, row {y}, outside of the tile")]
    QuadOutside {
        /// Column on the screen.
        x: u32,
        /// Row on the screen.
        y: u32,
    },
    /// Both facings in a batch whose stencil set-up differs between them.
    #[error(
        "front and back facing quads of one batch are tested by different stencil set-ups: silicon applies one of them to the whole batch (HW-2924)"
    )]
    MixedStencil,
    /// The alpha mask buffer is not enabled by the rendering mode.
    #[error("the alpha mask is accessed, but the rendering mode does not enable it")]
    MaskDisabled,
}

/// One quad of a batch.
#[derive(Clone, Copy, Debug, Default)]
struct Quad {
    /// Number of its first pixel in the tile buffer.
    pixel: usize,
    /// Where its primitive's coefficients begin.
    coefficients: usize,
    /// Distance of its first pixel's centre from the primitive's origin, in 1/16 pixel.
    distance: (f64, f64),
}

/// Up to four quads that are shaded together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    count: usize,
    quads: [Quad; BATCH_QUADS],
    x: Lanes,
    y: Lanes,
    flags: Lanes,
    reverse: Lanes,
    /// Depth of each pixel, 24 bits: rb15 of the program.
    pub z: Lanes,
    /// W of each pixel: ra15 of the program.
    pub w: Lanes,
}

/// A quad as the rasteriser and the interpolators of Z and W hand it over.
#[derive(Clone, Copy, Debug)]
pub struct NewQuad {
    /// Screen coordinates of its first pixel.
    pub screen: (u32, u32),
    /// Number of its first pixel in the tile buffer.
    pub pixel: usize,
    /// Multisample masks.
    pub masks: [u32; 4],
    /// Depth of each pixel, 24 bits.
    pub z: [u32; 4],
    /// W of each pixel.
    pub w: [f32; 4],
    /// Where its primitive's coefficients begin.
    pub coefficients: usize,
}

impl Batch {
    /// Whether there is no quad in it.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether another quad would not fit.
    pub const fn is_full(&self) -> bool {
        self.count == BATCH_QUADS
    }

    /// Whether the quad that begins with this pixel is in it.
    pub fn contains(&self, pixel: usize) -> bool {
        self.quads[..self.count].iter().any(|quad| quad.pixel == pixel)
    }

    /// The element of the pixel with this number, if it is in the batch, and not only beside a pixel of its quad that is covered.
    pub fn element_of(&self, pixel: usize) -> Option<usize> {
        let quads = self.quads[..self.count].iter();
        let element = quads.enumerate().find(|(_, quad)| quad.pixel == pixel & !3).map(|(i, _)| 4 * i + pixel % 4)?;
        (self.flags.0[element] != 0).then_some(element)
    }

    /// The numbers of its quads' first pixels.
    pub fn pixels(&self) -> [Option<usize>; BATCH_QUADS] {
        std::array::from_fn(|i| self.quads[..self.count].get(i).map(|quad| quad.pixel))
    }

    /// Takes all quads out.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a quad; a full batch ignores it.
    #[inline]
    pub fn push(&mut self, primitive: &Primitive, new: &NewQuad) {
        let Some(quad) = self.quads.get_mut(self.count) else { return };
        let (x, y) = new.screen;
        *quad = Quad { pixel: new.pixel, coefficients: new.coefficients, distance: centre_distance(primitive, x, y) };
        for element in 0..4 {
            let lane = self.count * 4 + element;
            self.x.0[lane] = x + (element as u32 & 1);
            self.y.0[lane] = y + (element as u32 >> 1);
            self.flags.0[lane] = new.masks[element];
            self.reverse.0[lane] = u32::from(primitive.reverse);
            self.z.0[lane] = new.z[element];
            self.w.0[lane] = new.w[element].to_bits();
        }
        self.count += 1;
    }
}

/// Distance of a pixel's centre from the origin of a primitive's planes, in 1/16 pixel.
#[inline]
pub fn centre_distance(primitive: &Primitive, x: u32, y: u32) -> (f64, f64) {
    let distance = |pixel: u32, origin: i32| (i64::from(pixel) * i64::from(STEPS) + 8 - i64::from(origin)) as f64;
    (distance(x, primitive.origin.0), distance(y, primitive.origin.1))
}

/// Position in a stream of samples and their words.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    sample: usize,
    word: usize,
}

impl Cursor {
    /// The position, which then advances by a word.
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

/// The state that a batch's program starts with.
#[derive(Clone, Copy, Debug)]
pub struct FragmentState {
    /// Z test.
    pub z_test: ZTest,
    /// Varyings of each fragment.
    pub varyings: usize,
    /// The alpha mask buffer exists.
    pub vg_mask: bool,
    /// How coverage is read.
    pub coverage: CoverageReading,
    /// Screen coordinates of the tile.
    pub tile: (i32, i32),
}

/// The units behind the register map of a fragment shader.
#[derive(Debug)]
pub struct FragmentIo<'a> {
    tlb: &'a mut Tlb,
    batch: &'a Batch,
    quads: [Quad; BATCH_QUADS],
    /// Columns and rows of the pixels.
    screen: [Lanes; 2],
    coefficients: &'a [Coefficients],
    counters: &'a mut Counters,
    state: FragmentState,
    flags: Lanes,
    reverse: Lanes,
    next_varying: usize,
    front: Option<StencilTest>,
    back: Option<StencilTest>,
    read: Cursor,
    written: Cursor,
    written_all: usize,
}

impl<'a> FragmentIo<'a> {
    /// The units as they are when a batch starts.
    pub fn new(
        tlb: &'a mut Tlb,
        batch: &'a Batch,
        coefficients: &'a [Coefficients],
        counters: &'a mut Counters,
        state: FragmentState,
    ) -> Self {
        Self {
            tlb,
            batch,
            quads: batch.quads,
            screen: [batch.x, batch.y],
            coefficients,
            counters,
            state,
            flags: batch.flags,
            reverse: batch.reverse,
            next_varying: 0,
            front: None,
            back: None,
            read: Cursor::default(),
            written: Cursor::default(),
            written_all: 0,
        }
    }

    /// Varyings that the program has not read.
    pub fn unread_varyings(&self) -> usize {
        self.state.varyings.saturating_sub(self.next_varying)
    }

    /// Moves quads along x (0) or y (1) to the coordinates in their first elements.
    fn move_quads(&mut self, axis: usize, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let shape = self.tlb.shape();
        let mut result = Ok(());
        for q in (0..self.batch.count).filter(|q| mask >> (4 * q) & 1 == 1) {
            let mut screen = self.screen.map(|lanes| lanes.0[4 * q]);
            screen[axis] = value.0[4 * q] & !1;
            let [x, y] = screen;
            let inner = (i64::from(x) - i64::from(self.state.tile.0), i64::from(y) - i64::from(self.state.tile.1));
            if !(0..i64::from(shape.width_px)).contains(&inner.0) || !(0..i64::from(shape.height_px)).contains(&inner.1)
            {
                result = Err(TileBufferError::QuadOutside { x, y }.into());
                continue;
            }
            self.quads[q].pixel = shape.pixel(inner.0 as u32, inner.1 as u32);
            for element in 0..4 {
                self.screen[0].0[4 * q + element] = x + (element as u32 & 1);
                self.screen[1].0[4 * q + element] = y + (element as u32 >> 1);
            }
        }
        result
    }

    /// Whether a Z write to these elements needs both stencil set-ups, which differ.
    fn mixes_stencils(&self, mask: Mask) -> bool {
        let facing = |reverse| {
            (0..4 * self.batch.count)
                .any(|lane| self.reached(lane, mask) != 0 && (self.reverse.0[lane] != 0) == reverse)
        };
        // where a set-up went to is not part of what it does
        let meaning = |test: Option<StencilTest>| {
            test.map(|mut test| {
                test.configuration.select = StencilSelect::Both;
                test
            })
        };
        meaning(self.front) != meaning(self.back) && facing(false) && facing(true)
    }

    /// The mask of the samples that a colour write to an element reaches, 0 if it reaches none.
    #[inline(always)]
    fn reached(&self, lane: usize, mask: Mask) -> u32 {
        if mask >> lane & 1 == 1 { self.flags.0[lane] & 0xf } else { 0 }
    }

    /// Writes a word of colour to one sample (or to all) of the pixels.
    #[inline(always)]
    fn write_color(&mut self, value: &Lanes, mask: Mask, sample: Option<usize>, word: usize) {
        let multisample = self.tlb.shape().multisample;
        let mut quads_written = 0;
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            let lanes = q * 4..q * 4 + 4;
            let reached: [u32; 4] = std::array::from_fn(|element| self.reached(q * 4 + element, mask));
            if reached == [0; 4] {
                continue;
            }
            quads_written += 1;
            if !multisample {
                let index = self.tlb.color_index(quad.pixel, 0, word);
                let Some(colors) = self.tlb.color.get_mut(index..index + 4) else { continue };
                for ((color, &new), reached) in colors.iter_mut().zip(&value.0[lanes]).zip(reached) {
                    *color = if reached == 0 { *color } else { new };
                }
                continue;
            }
            for (element, samples) in reached.into_iter().enumerate() {
                for s in (0..4).filter(|s| samples >> s & 1 == 1 && sample.is_none_or(|only| only == *s)) {
                    let index = self.tlb.color_index(quad.pixel + element, s, word);
                    self.tlb.color[index] = value.0[q * 4 + element];
                }
            }
        }
        if word == 0 {
            self.counters.add(CounterSource::TlbQuadsWritten, quads_written);
        }
    }

    /// The Z test of pixels with one sample each and without a stencil test.
    #[inline(always)]
    fn test_z(&mut self, value: &Lanes, mask: Mask, passes: impl Fn(u32, u32) -> bool) {
        let update = self.state.z_test.update;
        let (mut passed, mut failed) = (0, 0);
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            let Some(zs) = self.tlb.zs.get_mut(quad.pixel..quad.pixel + 4) else { continue };
            let (mut any, mut any_passed) = (false, false);
            for (element, zs) in zs.iter_mut().enumerate() {
                let lane = q * 4 + element;
                let tested = self.flags.0[lane] & 0xf != 0 && mask >> lane & 1 == 1;
                let z = value.0[lane] & 0xff_ffff;
                let pass = passes(z, *zs >> 8);
                if tested && !pass {
                    self.flags.0[lane] = 0;
                }
                if tested && pass && update {
                    *zs = z << 8 | *zs & 0xff;
                }
                any |= tested;
                any_passed |= tested && pass;
            }
            passed += u64::from(any_passed);
            failed += u64::from(any && !any_passed);
        }
        self.counters.add(CounterSource::TlbQuadsPassed, passed);
        self.counters.add(CounterSource::TlbQuadsFailed, failed);
    }
}

impl Io for FragmentIo<'_> {
    #[inline]
    fn varying(&mut self) -> Result<(Lanes, [u32; 4]), IoError> {
        if self.next_varying >= self.state.varyings {
            return Err(IoError::VaryingsExhausted(self.state.varyings as u32));
        }
        let (mut value, mut c) = (Lanes::default(), [0; 4]);
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            let Some(coefficients) = self.coefficients.get(quad.coefficients + self.next_varying) else { continue };
            let step = f64::from(STEPS);
            let first = coefficients.a * quad.distance.0 + coefficients.b * quad.distance.1;
            let (a, b) = (coefficients.a * step, coefficients.b * step);
            for (lane, v) in value.0[q * 4..q * 4 + 4].iter_mut().zip([first, first + a, first + b, first + a + b]) {
                *lane = (v as f32).to_bits();
            }
            c[q] = coefficients.c;
        }
        self.next_varying += 1;
        Ok((value, c))
    }

    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Ok(self.screen[0])
    }

    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Ok(self.screen[1])
    }

    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Ok(self.flags)
    }

    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Ok(self.reverse)
    }

    fn set_ms_flags(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.flags = self.flags.select(value.map(|flags| flags & 0xf), mask);
        Ok(())
    }

    fn set_rev_flag(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.reverse = self.reverse.select(value.map(|flag| flag & 1), mask);
        Ok(())
    }

    fn tlb_stencil_setup(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        // the set-up is one for the batch: the highest element that the condition lets through is as good as any
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
        if front.is_none() && back.is_none() && !shape.multisample {
            match z_test.function {
                CompareFunction::Never => self.test_z(value, mask, |_, _| false),
                CompareFunction::Less => self.test_z(value, mask, |new, stored| new < stored),
                CompareFunction::Equal => self.test_z(value, mask, |new, stored| new == stored),
                CompareFunction::LessOrEqual => self.test_z(value, mask, |new, stored| new <= stored),
                CompareFunction::Greater => self.test_z(value, mask, |new, stored| new > stored),
                CompareFunction::NotEqual => self.test_z(value, mask, |new, stored| new != stored),
                CompareFunction::GreaterOrEqual => self.test_z(value, mask, |new, stored| new >= stored),
                CompareFunction::Always => self.test_z(value, mask, |_, _| true),
            }
            return Ok(());
        }
        let mixed = self.mixes_stencils(mask);
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            let (mut covered, mut passed, mut stencil_passed) = (false, false, false);
            for element in 0..4 {
                let lane = q * 4 + element;
                let flags = self.flags.0[lane] & 0xf;
                if flags == 0 || mask >> lane & 1 == 0 {
                    continue;
                }
                covered = true;
                let stencil = if self.reverse.0[lane] == 0 { front.as_ref() } else { back.as_ref() };
                let z = value.0[lane] & 0xff_ffff;
                let pixel = quad.pixel + element;
                let mut left = 0;
                if shape.multisample {
                    for sample in (0..4).filter(|sample| flags >> sample & 1 == 1) {
                        let index = self.tlb.zs_index(pixel, sample);
                        match tlb::test_sample(&mut self.tlb.zs[index], z, z_test, stencil) {
                            Outcome::Passed => left |= 1 << sample,
                            Outcome::ZFailed => stencil_passed = true,
                            Outcome::StencilFailed => {}
                        }
                    }
                } else {
                    match tlb::test_sample(&mut self.tlb.zs[pixel], z, z_test, stencil) {
                        Outcome::Passed => left = flags,
                        Outcome::ZFailed => stencil_passed = true,
                        Outcome::StencilFailed => {}
                    }
                }
                self.flags.0[lane] = left;
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
        let word = self.written_all % self.tlb.shape().color_words();
        self.written_all += 1;
        self.write_color(value, mask, None, word);
        Ok(())
    }

    fn tlb_alpha_mask(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        if !self.state.vg_mask {
            return Err(TileBufferError::MaskDisabled.into());
        }
        let shape = self.tlb.shape();
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
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
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
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
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            let Some(pixels) = self.tlb.zs.get_mut(quad.pixel..quad.pixel + 4) else { continue };
            if pixels.iter().any(|&coverage| coverage != 0) {
                covered += 1;
            } else {
                empty += 1;
            }
            for (element, coverage) in pixels.iter_mut().enumerate() {
                let lane = q * 4 + element;
                value.0[lane] = reading.value(*coverage);
                if !reading.leave && self.flags.0[lane] & 0xf != 0 {
                    *coverage = 0;
                }
            }
        }
        // The guide speaks of coverage where it is accumulated and read, and that is what is counted here; that colour writes do not count is a guess.
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
        for (q, quad) in self.quads[..self.batch.count].iter().enumerate() {
            for element in 0..4 {
                let index = self.tlb.zs_index(quad.pixel + element, 0);
                value.0[q * 4 + element] = u32::from(self.tlb.vg_mask[index]) * 0x0101_0101;
            }
        }
        Ok(value)
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

//! Textures: samples, gathers, comparisons, single texels, and what programs ask about a texture.
//!
//! The TMU takes s and t between 0 and 1, for a cube map the direction divided by its largest component [AG p.44], and takes its parameters from the
//! uniforms. Its result is a word with four bytes, red in the lowest. Formats, filters and wrapping are the parameters': the renderer fills them in. What
//! the TMU does not do itself is made of lookups of single texels at their centres, which no filter changes: gathers, and comparisons of depths, blended
//! by the place between four texels. A depth texture has the 24 bits of a depth above 8 of a stencil in each texel; its samples and loads are single texels.

use naga::{Expression, Handle, ImageClass, ImageQuery, SampleLevel, ScalarKind, Span, TypeInner};
use v3d_hw::qpu::AddOp;

use super::level_of_detail::Extent;
use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, refuse};
use crate::limit::Limit;
use crate::ssa::{Axis, Lookup, Op, Part, Relation, Sampling, SizeForm, StreamWord, Value};

/// A texture that is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    pub(super) number: u32,
    pub(super) cube: bool,
    pub(super) depth: bool,
}

/// Where the level of detail of a lookup comes from.
pub(super) enum Detail {
    /// From the quad.
    Automatic,
    /// From the quad, and so much more.
    Biased(Value),
    /// It is this.
    Exactly(Value),
}

/// The four texels around a place: centres of their columns and rows, and the shares of the second ones.
struct Footprint {
    columns: [Value; 2],
    rows: [Value; 2],
    shares: [Value; 2],
}

impl<'m> Lowering<'m> {
    pub(super) fn image(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<Vec<Value>> {
        match frame.function.expressions[handle].clone() {
            Expression::ImageSample {
                image,
                gather,
                coordinate,
                array_index,
                offset,
                level,
                depth_ref,
                clamp_to_edge,
                ..
            } => {
                let texture = self.texture(frame, image, state, span)?;
                if array_index.is_some() {
                    return refuse(span, &Limit::TEXTURE_ARRAY);
                }
                let offset = match offset {
                    Some(offset) => Some(self.offset(frame, offset, state, span)?),
                    None => None,
                };
                let reference = match depth_ref {
                    Some(reference) => Some(self.scalar(frame, reference, state)?),
                    None => None,
                };
                let mut place = self.scalars_at(frame, coordinate, state)?;
                if clamp_to_edge {
                    place = self.clamped_to_edge(texture, &place);
                }
                if let Some(component) = gather {
                    let depths = reference.is_some() || texture.depth;
                    let texels = self.four_texels(texture, &place, offset, span)?.1;
                    return Ok(texels
                        .map(|word| match (depths, reference) {
                            (true, Some(reference)) => self.compared(word, reference),
                            (true, None) => self.depth_of(word),
                            _ => self.program.value(Op::Unpack(Part::Byte(component as u8), word)),
                        })
                        .to_vec());
                }
                if let Some(reference) = reference {
                    return Ok(vec![self.comparing_sample(texture, &place, offset, reference, span)?]);
                }
                let detail = match level {
                    SampleLevel::Auto => Detail::Automatic,
                    SampleLevel::Zero => Detail::Exactly(self.program.bits(0)),
                    SampleLevel::Bias(bias) => Detail::Biased(self.scalar(frame, bias, state)?),
                    SampleLevel::Exact(level) => {
                        let kind = self.kind_of(frame, level);
                        let level = self.scalar(frame, level, state)?;
                        Detail::Exactly(if kind == ScalarKind::Float { level } else { self.float_of(level) })
                    }
                    SampleLevel::Gradient { x, y } => {
                        let x = self.scalars_at(frame, x, state)?;
                        let y = self.scalars_at(frame, y, state)?;
                        Detail::Exactly(self.detail_of_gradients(texture, &place, &x, &y))
                    }
                };
                let (place, detail) = match offset {
                    Some(offset) => self.moved(texture, &place, offset, detail, span)?,
                    None => (place, detail),
                };
                self.sample(texture, &place, detail, texture.depth, span)
            }
            Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
                let texture = self.texture(frame, image, state, span)?;
                if array_index.is_some() || sample.is_some() {
                    return refuse(span, &Limit::TEXTURE_ARRAY);
                }
                let place = self.scalars_at(frame, coordinate, state)?;
                let level = match level {
                    Some(level) => self.scalar(frame, level, state)?,
                    None => self.program.bits(0),
                };
                let Extent { level, inverse, .. } = self.extent(texture, level);
                let half = self.program.float(0.5);
                let mut centre = Vec::new();
                for (at, inverse) in place.into_iter().zip(inverse) {
                    let at = self.float_of(at);
                    let at = self.program.fadd(at, half);
                    centre.push(self.program.fmul(at, inverse));
                }
                let level = self.float_of(level);
                self.sample(texture, &centre, Detail::Exactly(level), true, span)
            }
            Expression::ImageQuery { image, query } => {
                let texture = self.texture(frame, image, state, span)?;
                match query {
                    ImageQuery::Size { level } => {
                        let level = match level {
                            Some(level) => self.scalar(frame, level, state)?,
                            None => self.program.bits(0),
                        };
                        Ok(self.dimensions(texture, level).to_vec())
                    }
                    ImageQuery::NumLevels => Ok(vec![self.levels(texture)]),
                    _ => refuse(span, &Limit::TEXTURE_ARRAY),
                }
            }
            _ => fault(span, "an unknown operation of textures"),
        }
    }

    /// A texture that can be looked up.
    fn texture(
        &mut self,
        frame: &mut Frame<'m>,
        image: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<Image> {
        let TypeInner::Image { dim, arrayed, class } = *self.type_of(frame, image) else {
            return fault(span, "a texture is expected here");
        };
        if !matches!(dim, naga::ImageDimension::D2 | naga::ImageDimension::Cube) {
            return refuse(span, &Limit::TEXTURE_DIMENSION);
        }
        if arrayed {
            return refuse(span, &Limit::TEXTURE_ARRAY);
        }
        let depth = match class {
            ImageClass::Sampled { kind: ScalarKind::Float, multi: false } => false,
            ImageClass::Depth { multi: false } => true,
            ImageClass::Sampled { multi: true, .. } | ImageClass::Depth { multi: true } => {
                return refuse(span, &Limit::TEXTURE_SAMPLES);
            }
            ImageClass::Storage { .. } => return refuse(span, &Limit::TEXTURE_STORE),
            ImageClass::Sampled { .. } | ImageClass::External => return refuse(span, &Limit::TEXTURE_KIND),
        };
        match self.operand(frame, image, state)? {
            Lowered::Image(number) => Ok(Image { number, cube: dim == naga::ImageDimension::Cube, depth }),
            _ => fault(span, "a texture is expected here"),
        }
    }

    /// An offset in texels, which is known.
    fn offset(
        &mut self,
        frame: &mut Frame<'m>,
        offset: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<[Value; 2]> {
        let known: Vec<Option<u32>> =
            self.scalars_at(frame, offset, state)?.into_iter().map(|texels| self.program.constant(texels)).collect();
        match known.as_slice() {
            [Some(x), Some(y)] => Ok([*x, *y].map(|texels| self.program.float(texels as i32 as f32))),
            _ => refuse(span, &Limit::TEXTURE_OFFSET),
        }
    }

    /// A place that is at least half a texel from each edge.
    fn clamped_to_edge(&mut self, texture: Image, place: &[Value]) -> Vec<Value> {
        let zero = self.program.bits(0);
        let inverse = self.extent(texture, zero).inverse;
        let (half, one) = (self.program.float(0.5), self.program.float(1.0));
        let pairs = place.iter().zip(inverse);
        pairs
            .map(|(&at, inverse)| {
                let margin = self.program.fmul(inverse, half);
                let end = self.program.fsub(one, margin);
                let at = self.program.alu(AddOp::Fmax, at, margin);
                self.program.alu(AddOp::Fmin, at, end)
            })
            .collect()
    }

    /// A sample: four channels, or one depth.
    fn sample(
        &mut self,
        texture: Image,
        place: &[Value],
        detail: Detail,
        one_texel: bool,
        span: Span,
    ) -> Result<Vec<Value>> {
        let word = self.look_up(texture, place, detail, one_texel, span)?;
        if texture.depth {
            return Ok(vec![self.depth_of(word)]);
        }
        Ok((0..4).map(|byte| self.program.value(Op::Unpack(Part::Byte(byte), word))).collect())
    }

    /// The word that one lookup gives; of one texel, or filtered as the texture is bound.
    fn look_up(
        &mut self,
        texture: Image,
        place: &[Value],
        detail: Detail,
        one_texel: bool,
        span: Span,
    ) -> Result<Value> {
        if !self.program.open.is_empty() {
            return refuse(span, &Limit::LOOKUP_IN_LOOP);
        }
        let (place, r) = match (texture.cube, place) {
            (false, [s, t]) => ([*s, *t], None),
            (true, [s, t, r]) => {
                let largest = self.largest(&[*s, *t, *r]);
                let inverse = self.program.recip(largest);
                let [s, t, r] = [*s, *t, *r].map(|value| self.program.fmul(value, inverse));
                ([s, t], Some(r))
            }
            _ => return fault(span, "coordinates of another number than the texture has"),
        };
        let (sampling, bias) = match (detail, one_texel) {
            (Detail::Automatic, false) => (Sampling::Automatic, None),
            (Detail::Biased(bias), false) => (Sampling::Automatic, Some(bias)),
            (Detail::Exactly(level), false) => (Sampling::Level, Some(level)),
            (Detail::Automatic, true) => (Sampling::Nearest, None),
            (Detail::Biased(bias), true) => (Sampling::Nearest, Some(bias)),
            (Detail::Exactly(level), true) => (Sampling::Texel, Some(level)),
        };
        Ok(self.program.lookup(Lookup { texture: texture.number, sampling, place, r, bias }))
    }

    /// The greatest magnitude.
    pub(super) fn largest(&mut self, values: &[Value; 3]) -> Value {
        let largest = self.program.alu(AddOp::Fmaxabs, values[0], values[1]);
        self.program.alu(AddOp::Fmaxabs, largest, values[2])
    }

    /// The texels around a place in level 0, from the lower left against the sun: (0, 1), (1, 1), (1, 0), (0, 0).
    fn four_texels(
        &mut self,
        texture: Image,
        place: &[Value],
        offset: Option<[Value; 2]>,
        span: Span,
    ) -> Result<(Footprint, [Value; 4])> {
        if texture.cube {
            return refuse(span, &Limit::CUBE_GATHER);
        }
        let zero = self.program.bits(0);
        let Extent { size, inverse, .. } = self.extent(texture, zero);
        let half = self.program.float(0.5);
        let mut axes = Vec::new();
        for axis in 0..2 {
            let at = self.program.fmul(place[axis], size[axis]);
            let mut at = self.program.fsub(at, half);
            if let Some(offset) = offset {
                at = self.program.fadd(at, offset[axis]);
            }
            let whole = self.floor(at);
            let share = self.program.fsub(at, whole);
            let centre = self.program.fadd(whole, half);
            let first = self.program.fmul(centre, inverse[axis]);
            let second = self.program.fadd(first, inverse[axis]);
            axes.push(([first, second], share));
        }
        let footprint = Footprint { columns: axes[0].0, rows: axes[1].0, shares: [axes[0].1, axes[1].1] };
        let mut texels = [zero; 4];
        for (texel, (column, row)) in texels.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
            let place = [footprint.columns[column], footprint.rows[row]];
            *texel = self.look_up(texture, &place, Detail::Exactly(zero), true, span)?;
        }
        Ok((footprint, texels))
    }

    /// The share of what is around a place that a reference depth passes; of a cube map the one texel there.
    fn comparing_sample(
        &mut self,
        texture: Image,
        place: &[Value],
        offset: Option<[Value; 2]>,
        reference: Value,
        span: Span,
    ) -> Result<Value> {
        if texture.cube {
            let zero = self.program.bits(0);
            let word = self.look_up(texture, place, Detail::Exactly(zero), true, span)?;
            return Ok(self.compared(word, reference));
        }
        let (Footprint { shares: [x, y], .. }, texels) = self.four_texels(texture, place, offset, span)?;
        let [low_left, low_right, high_right, high_left] = texels.map(|word| self.compared(word, reference));
        let low = self.mixed(low_left, low_right, x);
        let high = self.mixed(high_left, high_right, x);
        Ok(self.mixed(high, low, y))
    }

    /// 1 where a reference is not farther than the depth in a texel, else 0.
    fn compared(&mut self, word: Value, reference: Value) -> Value {
        let depth = self.depth_of(word);
        let (one, zero) = (self.program.float(1.0), self.program.bits(0));
        let passes = self.program.compare(Relation::FloatNotLess, depth, reference);
        self.program.select(passes, one, zero)
    }

    /// The depth in a texel: bits 31:8, all of which are 1.
    fn depth_of(&mut self, word: Value) -> Value {
        let (by, scale) = (self.program.bits(8), self.program.float(1.0 / 16_777_215.0));
        let depth = self.program.alu(AddOp::Shr, word, by);
        let depth = self.float_of(depth);
        self.program.fmul(depth, scale)
    }

    /// Width and height of a level.
    fn dimensions(&mut self, texture: Image, level: Value) -> [Value; 2] {
        let size = |lowering: &mut Self, axis, level| {
            let word = StreamWord::TextureSize { texture: texture.number, axis, level, form: SizeForm::Integer };
            lowering.program.uniform(word)
        };
        if let Some(level) = self.program.constant(level) {
            let level = level.min(u32::from(u8::MAX)) as u8;
            return [Axis::Width, Axis::Height].map(|axis| size(self, axis, level));
        }
        let level = self.level_within(texture, level);
        let one = self.program.bits(1);
        [Axis::Width, Axis::Height].map(|axis| {
            let whole = size(self, axis, 0);
            let smaller = self.program.alu(AddOp::Shr, whole, level);
            self.program.alu(AddOp::Max, smaller, one)
        })
    }
}

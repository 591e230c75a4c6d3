//! Textures: samples, gathers, comparisons, single texels, and queries.
//!
//! The TMU takes s and t between 0 and 1, for a cube map the direction divided by its largest component [AG p.44], and reads its parameters from the
//! uniforms. Its result is a word with four bytes, red in the lowest. Formats, filters and wrap modes are in the parameters, which the renderer fills in.
//! Operations that the TMU does not have are composed of lookups of single texels at their centres, where filters have no effect: gathers, and depth
//! comparisons, interpolated between four texels. A depth texture has 24 bits of depth above 8 bits of stencil in each texel; its samples and loads are
//! single texels.

use alloc::vec;
use alloc::vec::Vec;

use naga::{Expression, Handle, ImageClass, ImageQuery, SampleLevel, ScalarKind, Span, TypeInner};
use v3d_hw::qpu::AddOp;

use super::level_of_detail::Extent;
use super::lookup::{Detail, Image, Request};
use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, refuse};
use crate::limit::Limit;
use crate::ssa::{Axis, Op, PackedComponent, SizeForm, StreamWord, Value};

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
                    Some(_) if texture.cube => return refuse(span, &Limit::CUBE_OFFSET),
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
                    let texels = self.footprint(texture, &place, offset, span)?.texels;
                    return Ok(texels
                        .map(|word| match (depths, reference) {
                            (true, Some(reference)) => self.compared(word, reference),
                            (true, None) => self.depth_of(word),
                            _ => self.program.value(Op::Unpack(PackedComponent::Byte(component as u8), word)),
                        })
                        .to_vec());
                }
                if let Some(reference) = reference {
                    let footprint = self.footprint(texture, &place, offset, span)?;
                    return Ok(vec![self.comparing_sample(&footprint, reference)]);
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
                    Some(offset) => self.moved(texture, &place, offset, detail),
                    None => (place, detail),
                };
                self.sample(Request { texture, place: &place, detail, one_texel: texture.depth }, span)
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
                let detail = Detail::Exactly(self.float_of(level));
                self.sample(Request { texture, place: &centre, detail, one_texel: true }, span)
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

    /// A constant offset in texels.
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

    /// A position that is clamped to half a texel from each edge.
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
    fn sample(&mut self, request: Request<'_>, span: Span) -> Result<Vec<Value>> {
        let word = self.look_up(request, span)?;
        if request.texture.depth {
            return Ok(vec![self.depth_of(word)]);
        }
        Ok((0..4).map(|byte| self.program.value(Op::Unpack(PackedComponent::Byte(byte), word))).collect())
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

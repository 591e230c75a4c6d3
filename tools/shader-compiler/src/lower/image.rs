//! Lookups of textures.
//!
//! The TMU takes s and t between 0 and 1, for a cube map the direction divided by its largest component [AG p.44], and takes its parameters from the
//! uniforms. Its result is a word with four bytes, red in the lowest. Formats, filters and wrapping are the parameters': the renderer fills them in.

use naga::{Expression, Handle, ImageClass, ImageQuery, SampleLevel, ScalarKind, Span, TypeInner};
use v3d_hw::qpu::AddOp;

use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, refuse};
use crate::ssa::{Lookup, Op, Part, StreamWord, Value};

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
                if gather.is_some() {
                    return refuse(
                        span,
                        "textureGather: the TMU gives filtered colours, not the four that they are made of",
                    );
                }
                if array_index.is_some() {
                    return refuse(span, "arrays of textures do not exist: each lookup has its own parameter words");
                }
                if depth_ref.is_some() {
                    return refuse(span, "comparing lookups: the TMU compares nothing");
                }
                if offset.is_some() || clamp_to_edge {
                    return refuse(
                        span,
                        "lookups with an offset in texels, or clamped to the edge by the lookup itself",
                    );
                }
                let place = self.scalars_at(frame, coordinate, state)?;
                let bias = match level {
                    SampleLevel::Auto => None,
                    SampleLevel::Bias(bias) => Some(self.scalar(frame, bias, state)?),
                    SampleLevel::Zero | SampleLevel::Exact(_) => {
                        return refuse(
                            span,
                            "a level of detail of its own: the parameters say whether b is a bias or a level, and the renderer says a bias",
                        );
                    }
                    SampleLevel::Gradient { .. } => {
                        return refuse(span, "gradients: the TMU finds the level of detail by itself");
                    }
                };
                self.sample(texture, &place, bias, span)
            }
            Expression::ImageLoad { .. } => refuse(
                span,
                "textureLoad: the TMU takes coordinates between 0 and 1; sample with a sampler that does not filter",
            ),
            Expression::ImageQuery { query: ImageQuery::Size { .. }, .. } => {
                refuse(span, "textureDimensions: give the size as a uniform")
            }
            _ => refuse(span, "questions about levels, layers and samples: give the number as a uniform"),
        }
    }

    /// The number of a texture that can be looked up.
    fn texture(
        &mut self,
        frame: &mut Frame<'m>,
        image: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<u32> {
        if let TypeInner::Image { dim, arrayed, class } = self.type_of(frame, image) {
            if !matches!(dim, naga::ImageDimension::D2 | naga::ImageDimension::Cube) {
                return refuse(
                    span,
                    "textures of one or three dimensions: the TMU has two-dimensional ones and cube maps",
                );
            }
            if *arrayed {
                return refuse(span, "arrays of textures do not exist: each lookup has its own parameter words");
            }
            match class {
                ImageClass::Sampled { kind: ScalarKind::Float, multi: false } => {}
                ImageClass::Depth { .. } => return refuse(span, "depth textures: the TMU gives colours"),
                _ => return refuse(span, "only textures of floats with one sample can be looked up"),
            }
        }
        match self.operand(frame, image, state)? {
            Lowered::Image(number) => Ok(number),
            _ => refuse(span, "a texture is expected here"),
        }
    }

    fn sample(&mut self, texture: u32, place: &[Value], bias: Option<Value>, span: Span) -> Result<Vec<Value>> {
        if !self.program.open.is_empty() {
            return refuse(
                span,
                "a lookup inside of a loop that cannot be unrolled: its parameters are read once from the uniforms",
            );
        }
        let cube = self.textures.get(texture as usize).is_some_and(|texture| texture.cube);
        let (place, r) = match (cube, place) {
            (false, [s, t]) => ([*s, *t], None),
            (true, [s, t, r]) => {
                let largest = self.program.alu(AddOp::Fmaxabs, *s, *t);
                let largest = self.program.alu(AddOp::Fmaxabs, largest, *r);
                let inverse = self.program.recip(largest);
                let [s, t, r] = [*s, *t, *r].map(|value| self.program.fmul(value, inverse));
                ([s, t], Some(r))
            }
            _ => return refuse(span, "coordinates of another number than the texture has"),
        };
        let word = self.program.lookup(Lookup { texture, place, r, bias });
        // The words that the lookup takes from the stream belong to the program's.
        for parameter in 0..2 + u8::from(r.is_some()) + u8::from(bias.is_some()) {
            self.program.uniform(StreamWord::Texture { texture, parameter });
        }
        Ok((0..4).map(|byte| self.program.value(Op::Unpack(Part::Byte(byte), word))).collect())
    }
}

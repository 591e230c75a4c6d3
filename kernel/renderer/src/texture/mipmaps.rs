//! Mip levels, each rendered by the GPU from the previous level.

use shader_interface::{Fragment, NoUniforms, UniformData};
use v3d::Platform;

use super::{MagFilter, MinFilter, Sampler, Texture, TextureType, Wrap};
use crate::error::Error;
use crate::frame::Frame;
use crate::mesh::Primitive;
use crate::pass::PassDescriptor;
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::programs::{texture_level, texture_level_half};
use crate::shaded_vertex::ShadedVertex;
use crate::target::Target;

/// Bilinear filtering within one level.
const SAMPLER: Sampler =
    Sampler { wrap_s: Wrap::Clamp, wrap_t: Wrap::Clamp, mag: MagFilter::Linear, min: MinFilter::LinMipNear };

impl Texture {
    /// Renders all levels but the first, each from the previous one, in passes of this frame.
    ///
    /// Along a side with an even number of texels, each new texel is the mean of those it covers. Along an odd side, texels are interpolated, and the weight
    /// of those at the end is smaller, which OpenGL ES 2 allows.
    ///
    /// # Errors
    /// When passes cannot render to texels of its type, or memory runs out.
    pub fn generate_mipmaps<P: Platform>(&self, frame: &mut Frame<'_, P>) -> Result<(), Error> {
        if self.layout().texture_type() == TextureType::Rgba64 {
            let source = self.bind_64_for_levels(&SAMPLER)?;
            let uniforms = |level| texture_level_half::FragmentUniforms { level, source: source.clone() };
            return self.draw_levels(frame, &texture_level_half::FRAGMENT, uniforms);
        }
        let source = self.bind_for_levels(&SAMPLER)?;
        let uniforms = |level| texture_level::FragmentUniforms { level, source: source.clone() };
        self.draw_levels(frame, &texture_level::FRAGMENT, uniforms)
    }

    /// Renders all levels but the first with a fragment shader whose uniforms depend on the number of the source level.
    fn draw_levels<P: Platform, F: UniformData>(
        &self,
        frame: &mut Frame<'_, P>,
        fragment: &Fragment<F, 2>,
        uniforms: impl Fn(f32) -> F,
    ) -> Result<(), Error> {
        let descriptor = PipelineDescriptor::new(self.label(), Shading::PreShaded, fragment);
        let pipeline = Pipeline::new(frame.device(), &descriptor)?;
        for level in 1..self.layout().levels() {
            // The target level differs from the level that is sampled, although the binding refers to the memory of both.
            let target = self.0.target(level, false)?;
            let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0; 4]))?;
            let (vertices, uniforms) = (whole(&target), uniforms((level - 1) as f32));
            pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &vertices, &NoUniforms, &uniforms)?;
        }
        Ok(())
    }
}

/// A quad that covers a target, with texture coordinates: the first row in memory has t = 0.
fn whole(target: &Target) -> [ShadedVertex<2>; 4] {
    let viewport = target.viewport();
    [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(x, y): (f32, f32)| {
        let uv = [0.5 + 0.5 * x, 0.5 - 0.5 * y];
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, uv)
    })
}

//! Clearing a part of a target that ends inside tiles.
//!
//! The hardware clears whole tiles. If the part of a target ends inside tiles, these are loaded instead, and the pixels of the part are cleared with a draw,
//! which is restricted by the clip window. A draw that sets depths turns early Z off for the pass's other draws ([`v3d::binning_list`]); a part of whole
//! tiles does not need it.

use alloc::rc::Rc;
use alloc::vec::Vec;
use shader_interface::NoUniforms;
use v3d::Platform;

use super::Pass;
use crate::device::Device;
use crate::error::Error;
use crate::mesh::Primitive;
use crate::pipeline::state::{Compare, Depth};
use crate::pipeline::stencil::{Stencil, StencilChange, StencilSide};
use crate::pipeline::{Pipeline, PipelineDescriptor, Shading};
use crate::programs::{smooth_alpha, smooth_half};
use crate::shaded_vertex::ShadedVertex;
use crate::target::Format;

/// Number of pipelines in the cache: more stencil values than that are rarely used for clearing.
const KEPT: usize = 8;

/// What is cleared by a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PartClear {
    /// The colour, unless it is kept: red, green, blue, alpha.
    pub(super) color: Option<[f32; 4]>,
    /// Depth and stencil, unless they are kept or never stored.
    pub(super) depth_and_stencil: Option<(f32, u8)>,
}

/// The pipeline state that the clear requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClearState {
    is_half: bool,
    has_color: bool,
    stencil: Option<u8>,
}

type ClearPipeline = Pipeline<ShadedVertex<4>, NoUniforms, NoUniforms>;

/// A cache of pipelines for clears, oldest first.
#[derive(Debug, Default)]
pub(crate) struct ClearPipelines(Vec<(ClearState, Rc<ClearPipeline>)>);

impl ClearPipelines {
    /// The pipeline with this state, created on first use.
    fn of<P: Platform>(&mut self, device: &Device<'_, P>, kind: ClearState) -> Result<Rc<ClearPipeline>, Error> {
        if let Some((_, pipeline)) = self.0.iter().find(|(known, _)| *known == kind) {
            return Ok(pipeline.clone());
        }
        let pipeline = Rc::new(kind.pipeline(device)?);
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push((kind, pipeline.clone()));
        Ok(pipeline)
    }
}

impl ClearState {
    fn pipeline<P: Platform>(self, device: &Device<'_, P>) -> Result<ClearPipeline, Error> {
        let fragment = if self.is_half { &smooth_half::FRAGMENT } else { &smooth_alpha::FRAGMENT };
        let mut descriptor = PipelineDescriptor::new("clear of a part", Shading::PreShaded, fragment);
        if !self.has_color {
            descriptor.color_mask = [0; 4];
        }
        if let Some(reference) = self.stencil {
            descriptor.depth = Depth { test: Compare::Always, write: true };
            let pass = StencilChange::Replace;
            descriptor.stencil = Some(Stencil::both(StencilSide { reference, pass, ..StencilSide::KEEP }));
        }
        Pipeline::new(device, &descriptor)
    }
}

impl<P: Platform> Pass<'_, '_, P> {
    /// Clears what the pass cannot clear by tiles, because they contain other pixels too.
    pub(crate) fn clear_part(&mut self) -> Result<(), Error> {
        let Some(PartClear { color, depth_and_stencil }) = self.recording.part_clear else { return Ok(()) };
        let target = &self.recording.target;
        let kind = ClearState {
            is_half: target.format() == Format::Rgba16Float,
            has_color: color.is_some(),
            stencil: depth_and_stencil.map(|(_, stencil)| stencil),
        };
        let viewport = target.viewport();
        let depth = depth_and_stencil.map_or(1.0, |(depth, _)| depth);
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y)| {
            ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, color.unwrap_or([0.0; 4]))
        });
        let pipeline = self.device.frames()?.clear_pipelines.of(self.device, kind)?;
        self.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &NoUniforms)
    }
}

//! Pictures of textures, drawn by the renderer on the model.

use qpu_shaders::{Fragment, NoUniforms, UniformData};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Depth, Device, Format, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading, Target, TargetDescriptor,
    unorm,
};
use v3d::hw::tiling::Tiling;
pub(crate) use v3d_host::Model;
use v3d_sim::Config;

pub(crate) fn model() -> Model {
    Model::new(8 << 20, Config::default())
}

pub(crate) fn device(model: &Model) -> Device<'_, Model> {
    model.device().unwrap()
}

pub(crate) fn target(device: &Device<'_, Model>, (width_px, height_px): (u32, u32), tiling: Tiling) -> Target {
    let descriptor = TargetDescriptor { label: "picture", width_px, height_px, format: Format::Rgba8888, tiling };
    Target::new(device, &descriptor).unwrap()
}

/// A rectangle over the whole target. Its varyings are `first` in the top left corner of the picture, and increase by `right` and `down` to the opposite
/// edges.
pub(crate) fn rectangle<const N: usize>(
    target: &Target,
    first: [f32; N],
    right: [f32; N],
    down: [f32; N],
) -> [ShadedVertex<N>; 4] {
    let viewport = target.viewport();
    [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(x, y): (f32, f32)| {
        let varyings = std::array::from_fn(|i| first[i] + right[i] * x + down[i] * y);
        let (x, y) = (2.0 * x - 1.0, 1.0 - 2.0 * y);
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, varyings)
    })
}

/// The part of a texture that a picture shows: coordinates of the top left corner, and their increase to the right and downwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) size: (u32, u32),
    pub(crate) first: [f32; 2],
    pub(crate) extent: [f32; 2],
}

impl View {
    /// The whole texture, one pixel for each texel.
    pub(crate) fn whole(width: u32, height: u32) -> Self {
        Self { size: (width, height), first: [0.0, 0.0], extent: [1.0, 1.0] }
    }

    /// Texture coordinates of the centre of a pixel.
    pub(crate) fn place(&self, x: u32, y: u32) -> [f64; 2] {
        let along = |at: u32, size: u32, axis: usize| {
            f64::from(self.first[axis]) + f64::from(self.extent[axis]) * (f64::from(at) + 0.5) / f64::from(size)
        };
        [along(x, self.size.0, 0), along(y, self.size.1, 1)]
    }

    /// All pixels, row by row.
    pub(crate) fn pixels(&self) -> impl Iterator<Item = (u32, u32)> {
        let (width, height) = self.size;
        (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }
}

/// Draws a rectangle and reads it back. The model must not report any faults.
pub(crate) fn draw<F: UniformData>(
    model: &Model,
    device: &Device<'_, Model>,
    fragment: &Fragment<F, 2>,
    uniforms: &F,
    view: View,
) -> Vec<[u8; 4]> {
    let target = target(device, view.size, Tiling::Raster);
    let [u, v] = view.extent;
    draw_varyings(model, device, fragment, uniforms, &target, (view.first, [u, 0.0], [0.0, v]))
}

/// The same for any number of varyings: their values in the top left corner, and their increase to the right and downwards.
pub(crate) fn draw_varyings<F: UniformData, const N: usize>(
    model: &Model,
    device: &Device<'_, Model>,
    fragment: &Fragment<F, N>,
    uniforms: &F,
    target: &Target,
    (first, right, down): ([f32; N], [f32; N], [f32; N]),
) -> Vec<[u8; 4]> {
    let shading: Shading<'_, ShadedVertex<N>, NoUniforms, N> = Shading::PreShaded;
    let descriptor = PipelineDescriptor { depth: Depth::LESS, ..PipelineDescriptor::new("lookup", shading, fragment) };
    let pipeline = Pipeline::new(device, &descriptor).unwrap();
    let vertices = rectangle(target, first, right, down);
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(target).clear(unorm([1, 2, 3, 4]))).unwrap();
    pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &vertices, &NoUniforms, uniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut bytes = vec![0; (4 * target.width_px() * target.height_px()) as usize];
    target.read(device, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect()
}

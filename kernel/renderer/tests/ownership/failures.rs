//! Each allocation fails in turn: every failure is an error, and all memory is freed.

use qpu_shaders::{NoUniforms, smooth, texture_level, textured, transformed};
use renderer::glam::Mat4;
use renderer::shaded_vertex::ShadedVertex;
use renderer::texture::CubeDescriptor;
use renderer::{
    Buffer, CubeTexture, Depth, Device, Error, Format, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor,
    Primitive, Sampler, Samples, Shading, Target, TargetDescriptor, Texture, TextureDescriptor, rows, unorm,
};
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::{Driver, Limits};
use v3d_sim::Config;

use crate::heap::{assert_gives_back, taken};
use v3d_host::Model;

pub(crate) const SKY: CubeDescriptor =
    CubeDescriptor { label: "sky", texture_type: TextureType::Rgba8888, size_px: 16, levels: 1 };

pub(crate) fn model(bytes: u32) -> Model {
    Model::new(bytes, Config { parallel: false, ..Config::default() })
}

pub(crate) fn device(model: &Model) -> Device<'_, Model> {
    // Small blocks, because the pool is small.
    let limits = Limits { overflow_block_bytes: 32 * 1024, ..Limits::default() };
    Device::new(Driver::bring_up(model, &model.interrupts, limits).unwrap())
}

pub(crate) fn target(device: &Device<'_, Model>, label: &'static str, tiling: Tiling) -> Result<Target, Error> {
    let (width_px, height_px) = (64, 64);
    Target::new(device, &TargetDescriptor { label, width_px, height_px, format: Format::Rgba8888, tiling })
}

pub(crate) fn corners() -> [transformed::Vertex; 4] {
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
        .map(|[x, y]| transformed::Vertex { position: [x, y, 0.0], color: [1.0, 0.5, 0.0] })
}

pub(crate) fn uniforms() -> transformed::Uniforms {
    transformed::Uniforms { matrix: rows(&Mat4::IDENTITY) }
}

pub(crate) fn rectangle() -> [ShadedVertex<2>; 3] {
    [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
        .map(|[x, y]: [f32; 2]| ShadedVertex::flat(x, y, 0.5, 512.0, -512.0, [x, y]))
}

/// Calls everything that allocates memory: meshes, buffers, textures with mip levels, cube maps, pipelines, targets, and two frames of several passes, of
/// which the first is in flight when the second is recorded.
fn everything(device: &Device<'_, Model>) -> Result<(), Error> {
    let mesh = Mesh::with_indices(device, "square", Primitive::TriangleStrip, &corners(), Indices::U8(&[0, 1, 2, 3]))?;
    let buffer = Buffer::with_bytes(device, "bytes", &[1, 2, 3], 16)?;
    let descriptor = TextureDescriptor::new("pattern", TextureType::Rgba8888, 16, 16).mipmapped();
    let pattern = Texture::from_pixels(device, &descriptor, &[0x55; 4 * 16 * 16])?;
    let cube = CubeTexture::new(device, &SKY)?;
    let descriptor = PipelineDescriptor::new("colours", &transformed::SHADING, &smooth::FRAGMENT);
    let colors = Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, ..descriptor })?;
    let four = Pipeline::new(device, &PipelineDescriptor { samples: Samples::Four, ..descriptor })?;
    let shading: Shading<'_, ShadedVertex<2>, NoUniforms, 2> = Shading::PreShaded;
    let images = Pipeline::new(device, &PipelineDescriptor::new("images", shading, &textured::FRAGMENT))?;
    let levels = Pipeline::new(device, &PipelineDescriptor::new("levels", shading, &texture_level::FRAGMENT))?;
    let page = target(device, "page", Tiling::Raster)?;
    let mirror = target(device, "mirror", Tiling::TFormat)?;
    let seen = Texture::of_target(&mirror)?;

    let mut fences = Vec::new();
    for _ in 0..2 {
        let mut frame = device.frame()?;
        pattern.generate_mipmaps(&mut frame)?;
        let mut pass = frame.pass(&PassDescriptor::to(&mirror).clear(unorm([1, 2, 3, 4])))?;
        pass.draw_instances(&colors, &mesh, &vec![uniforms(); 600], &NoUniforms)?;
        let mut pass =
            frame.pass(&PassDescriptor { samples: Samples::Four, ..PassDescriptor::to(&page).clear(unorm([9; 4])) })?;
        pass.draw(&four, &mesh, &uniforms(), &NoUniforms)?;
        let mut pass = frame.pass(&PassDescriptor::to(&page))?;
        let image = textured::FragmentUniforms { image: seen.bind(&Sampler::NEAREST)? };
        pass.draw_vertices(&images, Primitive::Triangles, &rectangle(), &NoUniforms, &image)?;
        let source = pattern.bind_for_levels(&Sampler::TRILINEAR)?;
        let level = texture_level::FragmentUniforms { level: 1.0, source };
        pass.draw_vertices(&levels, Primitive::Triangles, &rectangle(), &NoUniforms, &level)?;
        fences.push(frame.submit()?);
    }
    drop((mesh, pattern, images, page, seen));
    for fence in fences {
        device.wait(fence)?;
    }
    drop((buffer, cube));
    Ok(())
}

/// The result when one allocation is refused.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// There were fewer allocations.
    NotReached,
    /// The driver waited for a job to end, and then had enough memory.
    WentOn,
    Refused,
}

fn with_refusal(after: u32) -> Outcome {
    let model = model(1 << 20);
    let device = device(&model);
    let before = device.pool().used();
    device.pool().refuse_after(after);
    let result = everything(&device);
    let untouched = device.pool().refuse_none();
    device.driver().unwrap().wait_until_idle();
    assert_eq!(device.pool().used(), before, "bytes of the pool, allocation {after} refused");
    assert_eq!(model.take_faults(), [], "allocation {after} refused");
    match (result, untouched) {
        (Ok(()), true) => Outcome::NotReached,
        (Ok(()), false) => Outcome::WentOn,
        (Err(Error::Driver(v3d::Error::PoolExhausted { .. })), false) => Outcome::Refused,
        (Err(error), _) => panic!("allocation {after} refused: {error}"),
    }
}

#[test]
fn every_allocation_may_fail() {
    // Makes the allocations that occur once per process.
    assert_eq!(with_refusal(u32::MAX), Outcome::NotReached);
    let mut outcomes = Vec::new();
    for after in 0.. {
        let before = taken();
        let outcome = with_refusal(after);
        assert_eq!(taken(), before, "bytes of the heap, allocation {after} refused");
        if outcome == Outcome::NotReached {
            break;
        }
        outcomes.push(outcome);
    }
    let refused = outcomes.iter().filter(|outcome| **outcome == Outcome::Refused).count();
    println!("{} allocations refused one by one: {refused} errors, {} waits", outcomes.len(), outcomes.len() - refused);
    assert!(refused > 20, "{outcomes:?}");
}

#[test]
fn a_whole_life_leaves_nothing_in_the_heap() {
    assert_gives_back("everything", || {
        let model = model(1 << 20);
        let device = device(&model);
        everything(&device).unwrap();
    });
}

//! The command `draws`: workloads whose instructions `cargo xtask bench` counts
//!
//! The benchmark counts instructions between two reads of IDENT0. There are two frames: one with a few draws, and one with additional draws, whose number is an
//! argument; the difference is the cost of those draws.

#[cfg(feature = "wgsl")]
mod run_time;

use alloc::{string::ToString, vec, vec::Vec};

use qpu_shaders::{NoUniforms, smooth, transformed};
use renderer::{
    Blend, Depth, Error, Format, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, PreparedDraw, Primitive, Sprite,
    SpriteAtlas, Sprites, Target, TargetDescriptor, Texture, TextureDescriptor, glam::Mat4, rows,
};
use v3d::{
    hw::{registers::Register, texture::TextureType, tiling::Tiling},
    platform::RegisterAccess,
};

#[cfg(not(feature = "wgsl"))]
use super::NO_COMPILER;
use super::session::{CommandResult, Session};
use crate::{
    gpu::{GpuDevice, GpuPass},
    shell::command::Draws,
};

/// Number of draws in both frames.
const FEW: u32 = 10;
/// Most draws of a pass: a control list has room for 7,920.
const DRAWS_OF_A_PASS: usize = 6000;
/// Width and height of the picture in pixels: one tile.
const SIDE: u32 = 64;
/// Width and height of the texture in texels.
const TEXTURE_SIDE: u32 = 256;

/// The vertices of the mesh.
const CORNERS: [transformed::Vertex; 3] = {
    let color = [1.0, 0.5, 0.0];
    [
        transformed::Vertex { position: [0.1, 0.0, 0.0], color },
        transformed::Vertex { position: [0.0, 0.1, 0.0], color },
        transformed::Vertex { position: [-0.1, 0.0, 0.0], color },
    ]
};

/// Two of each, so that the state can change from draw to draw.
struct Resources {
    pipelines: [Pipeline<transformed::Vertex, transformed::Uniforms, NoUniforms>; 2],
    meshes: [Mesh<transformed::Vertex>; 2],
    prepared: [PreparedDraw<transformed::Uniforms>; 2],
}

pub(super) fn draws(session: &Session, what: Draws, count: u32) -> CommandResult {
    let device = session.device()?;
    let done = match what {
        Draws::Upload => upload(device),
        Draws::Sprites => sprites(device, count),
        #[cfg(feature = "wgsl")]
        Draws::PreparedAtRunTime => return run_time::frames(device, count).map_err(|error| error.to_string()),
        #[cfg(not(feature = "wgsl"))]
        Draws::PreparedAtRunTime => return Err(NO_COMPILER.to_string()),
        _ => frames(device, what, count),
    };
    done.map_err(|error| error.to_string())
}

/// A register read that is visible in the plugin's trace.
pub(super) fn mark(device: &GpuDevice) -> Result<(), Error> {
    device.driver_ref()?.platform().read(Register::IDENT0);
    Ok(())
}

fn target(device: &GpuDevice) -> Result<Target, Error> {
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    Target::new(device, &TargetDescriptor { label: "draws", width_px: SIDE, height_px: SIDE, format, tiling })
}

/// Frames of sprites that are already computed, each in one draw.
fn sprites(device: &GpuDevice, count: u32) -> Result<(), Error> {
    let target = target(device)?;
    let texture = Texture::new(device, &TextureDescriptor::new("sprites", TextureType::Rgba8888, SIDE, SIDE))?;
    let atlas = SpriteAtlas::of_texture(&texture)?;
    let batch = Sprites::new(device, "sprites", (FEW + count) as usize, Blend::ALPHA)?;
    let at = |number: u32| Sprite {
        center: [(number % SIDE) as f32, (number / SIDE % SIDE) as f32],
        rotation: number as f32,
        part: [0, 0, 2, 2],
        ..Sprite::new()
    };
    let sprites: Vec<_> = (0..FEW + count).map(at).collect();
    for count in [FEW, FEW, FEW + count] {
        let sprites = sprites.get(..count as usize).unwrap_or(&sprites);
        mark(device)?;
        let mut frame = device.frame()?;
        batch.draw_to(&mut frame.pass(&PassDescriptor::to(&target).clear([0.0; 4]))?, &atlas, sprites)?;
        let fence = frame.submit()?;
        mark(device)?;
        device.wait(fence)?;
    }
    Ok(())
}

fn frames(device: &GpuDevice, what: Draws, count: u32) -> Result<(), Error> {
    let target = target(device)?;
    let mesh = || Mesh::new(device, "corners", Primitive::Triangles, &CORNERS);
    let meshes = [mesh()?, mesh()?];
    let plain = PipelineDescriptor::new("draws", &transformed::SHADING, &smooth::FRAGMENT);
    let deep = PipelineDescriptor { depth: Depth::LESS, ..plain };
    let pipelines = [Pipeline::new(device, &plain)?, Pipeline::new(device, &deep)?];
    let prepared = [
        PreparedDraw::new(device, &pipelines[0], &meshes[0], &NoUniforms)?,
        PreparedDraw::new(device, &pipelines[1], &meshes[1], &NoUniforms)?,
    ];
    let resources = Resources { pipelines, meshes, prepared };
    frames_of(device, &target, count, |pass, uniforms| record(pass, what, &resources, uniforms))
}

/// A different matrix for each draw.
fn turned(number: u32) -> transformed::Uniforms {
    transformed::Uniforms { matrix: rows(&Mat4::from_rotation_z(number as f32)) }
}

/// Frames of few draws and of `count` more, each between two marks. A function records the draws of a pass, one for each of these uniforms.
fn frames_of<E: From<Error>>(
    device: &GpuDevice,
    target: &Target,
    count: u32,
    mut record: impl FnMut(&mut GpuPass<'_>, &[transformed::Uniforms]) -> Result<(), E>,
) -> Result<(), E> {
    let uniforms: Vec<_> = (0..FEW + count).map(turned).collect();
    // The first frame also initialises caches, so it is drawn twice.
    for count in [FEW, FEW, FEW + count] {
        let uniforms = uniforms.get(..count as usize).unwrap_or(&uniforms);
        mark(device)?;
        let mut frame = device.frame()?;
        let mut descriptor = PassDescriptor::to(target).clear([0.0; 4]);
        for uniforms in uniforms.chunks(DRAWS_OF_A_PASS) {
            record(&mut frame.pass(&descriptor)?, uniforms)?;
            descriptor = PassDescriptor::to(target);
        }
        let fence = frame.submit()?;
        mark(device)?;
        device.wait(fence)?;
    }
    Ok(())
}

fn record(
    pass: &mut GpuPass<'_>,
    what: Draws,
    resources: &Resources,
    uniforms: &[transformed::Uniforms],
) -> Result<(), Error> {
    let Resources { pipelines: [pipeline, other_pipeline], meshes: [mesh, other_mesh], prepared } = resources;
    match what {
        Draws::Instances => pass.draw_instances(pipeline, mesh, uniforms, &NoUniforms)?,
        Draws::Changed => {
            for (number, uniforms) in uniforms.iter().enumerate() {
                let (pipeline, mesh) = if number % 2 == 0 { (pipeline, mesh) } else { (other_pipeline, other_mesh) };
                pass.draw(pipeline, mesh, uniforms, &NoUniforms)?;
            }
        }
        Draws::Prepared => {
            for uniforms in uniforms {
                pass.draw_prepared(&prepared[0], uniforms)?;
            }
        }
        Draws::PreparedChanged => {
            for (number, uniforms) in uniforms.iter().enumerate() {
                pass.draw_prepared(&prepared[number % 2], uniforms)?;
            }
        }
        _ => {
            for uniforms in uniforms {
                pass.draw(pipeline, mesh, uniforms, &NoUniforms)?;
            }
        }
    }
    Ok(())
}

/// Copies bytes to GPU memory, then creates a texture from the same bytes.
fn upload(device: &GpuDevice) -> Result<(), Error> {
    let bytes = vec![0x5au8; (4 * TEXTURE_SIDE * TEXTURE_SIDE) as usize];
    let descriptor = TextureDescriptor::new("upload", TextureType::Rgba8888, TEXTURE_SIDE, TEXTURE_SIDE);
    let texture = Texture::new(device, &descriptor)?;
    let copy = renderer::Buffer::new(device, "copy", bytes.len() as u32, 4096)?;
    mark(device)?;
    copy.write(device, 0, &bytes)?;
    mark(device)?;
    texture.write_all(device, &bytes)?;
    mark(device)
}

//! Prepared draws with a shader that the kernel compiles

use renderer::{
    Primitive,
    pipeline::state::State,
    wgsl::{self, Shader},
};

use super::{CORNERS, frames_of, target};
use crate::{gpu::GpuDevice, live};

/// What `transformed` of the build script is, compiled now.
const TRANSFORMED: &str = "
struct Transform { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> transform: Transform;
struct Shaded { @builtin(position) position: vec4<f32>, @location(0) shade: vec3<f32> }
@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) color: vec3<f32>) -> Shaded {
    return Shaded(transform.matrix * vec4(position, 1.0), color);
}
@fragment fn fs_main(@location(0) shade: vec3<f32>) -> @location(0) vec4<f32> { return vec4(shade, 1.0); }";

/// The frames of prepared draws with a shader that is compiled at run time.
pub(super) fn frames(device: &GpuDevice, count: u32) -> Result<(), wgsl::Error> {
    let target = target(device)?;
    let shader = Shader::compile_with(&live::compiler(), "transformed.wgsl", TRANSFORMED)?;
    let pipeline = shader.pipeline(device, "draws", &State::PLAIN)?;
    let corners = CORNERS.map(|corner| corner.position);
    let colors = CORNERS.map(|corner| corner.color);
    let attributes = [("position", corners.as_flattened().into()), ("color", colors.as_flattened().into())];
    let mesh = shader.mesh(device, "corners", Primitive::Triangles, &attributes, None)?;
    let mut draw = pipeline.prepare(device, &mesh, &shader.uniforms())?;
    let matrix = shader.uniform::<[f32; 16]>("matrix")?;
    frames_of(device, &target, count, |pass, uniforms| {
        uniforms.iter().try_for_each(|uniforms| {
            draw.set(&matrix, &uniforms.matrix)?;
            draw.draw(pass)
        })
    })
}

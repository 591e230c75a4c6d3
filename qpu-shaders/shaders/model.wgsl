// A model's vertices in directional light. The fragment shaders are in `model_colored.wgsl` and `model_textured.wgsl`.
//
// Vertices have the layout of `renderer::asset::ModelPart`, with normals as half floats.

struct Transform {
    matrix: mat4x4<f32>,
    // Rotates normals to the coordinates of to_light.
    normal_matrix: mat3x3<f32>,
    // The length is the light's brightness.
    to_light: vec3<f32>,
    // Ambient light.
    ambient: f32,
}
@group(0) @binding(0) var<uniform> transform: Transform;

struct Corner {
    @location(0) position: vec3<f32>,
    // x and y; z and 0.
    @location(1) normal: vec2<u32>,
    @location(2) uv: vec2<f32>,
}

struct Lit {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) light: f32,
}

@vertex fn vs_main(corner: Corner) -> Lit {
    let normal = vec3(unpack2x16float(corner.normal.x), unpack2x16float(corner.normal.y).x);
    // Surfaces that face away have only the ambient light.
    let light = max(dot(transform.normal_matrix * normal, transform.to_light), 0.0) + transform.ambient;
    return Lit(transform.matrix * vec4(corner.position, 1.0), corner.uv, light);
}

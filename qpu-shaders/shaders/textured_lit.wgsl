// Textured vertices in directional light.

struct Transform {
    matrix: mat4x4<f32>,
    // The length is the light's brightness; in the coordinates of the normals.
    to_light: vec3<f32>,
    // Ambient light.
    ambient: f32,
}
@group(0) @binding(0) var<uniform> transform: Transform;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

struct Corner {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
}

struct Lit {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) light: f32,
}

@vertex fn vs_main(corner: Corner) -> Lit {
    // Surfaces that face away have only the ambient light.
    let light = max(dot(corner.normal, transform.to_light), 0.0) + transform.ambient;
    return Lit(transform.matrix * vec4(corner.position, 1.0), corner.uv, light);
}

@fragment fn fs_main(lit: Lit) -> @location(0) vec4<f32> {
    let color = textureSample(image, filtered, lit.uv);
    return vec4(color.rgb * min(lit.light, 1.0), color.a);
}

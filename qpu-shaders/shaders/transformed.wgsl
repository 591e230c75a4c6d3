// Coloured vertices that a matrix transforms to clip coordinates, and interpolated colours.

struct Transform { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> transform: Transform;

struct Shaded {
    @builtin(position) position: vec4<f32>,
    @location(0) shade: vec3<f32>,
}

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) color: vec3<f32>) -> Shaded {
    return Shaded(transform.matrix * vec4(position, 1.0), color);
}

@fragment fn fs_main(@location(0) shade: vec3<f32>) -> @location(0) vec4<f32> {
    return vec4(shade, 1.0);
}

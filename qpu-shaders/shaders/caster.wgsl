// What casts shadows, seen from the light: only its depths matter.

struct Transform { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> transform: Transform;

@vertex fn vs_main(@location(0) corner: vec3<f32>) -> @builtin(position) vec4<f32> {
    return transform.matrix * vec4(corner, 1.0);
}

@fragment fn fs_main() -> @location(0) vec4<f32> {
    return vec4(0.0);
}

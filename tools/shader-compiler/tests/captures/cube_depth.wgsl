@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;

struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>) -> Out {
    return Out(matrix * vec4(position, 1.0), normal * 0.5 + 0.5);
}

@fragment fn fs_main(@location(0) color: vec3<f32>) -> @location(0) vec4<f32> {
    return vec4(color, 1.0);
}

@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;

struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> }

@vertex fn vs_main(@location(0) place: vec2<f32>) -> Out {
    let p = place * 2.0 - 1.0;
    let h = 0.25 * sin(p.x * 9.0) * cos(p.y * 7.0);
    return Out(matrix * vec4(p.x, h, p.y, 1.0), vec3(place, h * 2.0 + 0.5));
}

@fragment fn fs_main(@location(0) color: vec3<f32>) -> @location(0) vec4<f32> {
    return vec4(color, 1.0);
}

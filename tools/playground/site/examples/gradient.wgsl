@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let uv = place.xy / resolution;
    return vec4(uv, 0.5, 1.0);
}

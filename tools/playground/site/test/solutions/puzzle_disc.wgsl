@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let from_middle = place.xy - 0.5 * resolution;
    return vec4(vec3(select(0.0, 1.0, length(from_middle) < 0.25 * resolution.y)), 1.0);
}

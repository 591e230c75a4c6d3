@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

// The distance to a circle, with a soft edge of a pixel and a half.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let from_middle = place.xy - 0.5 * resolution;
    let radius = 0.35 * resolution.y;
    let inside = saturate((radius - length(from_middle)) / 1.5 + 0.5);
    return vec4(mix(vec3(0.08, 0.09, 0.13), vec3(0.98, 0.62, 0.24), inside), 1.0);
}

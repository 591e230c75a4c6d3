@group(0) @binding(0) var<uniform> mouse: vec2<f32>;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

// A lamp at the mouse: drag over the picture.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let away = (place.xy - mouse) / resolution.y;
    let light = 0.03 / (0.02 + dot(away, away));
    return vec4(light * vec3(1.0, 0.72, 0.4), 1.0);
}

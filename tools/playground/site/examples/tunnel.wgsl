@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let p = (place.xy - 0.5 * resolution) / resolution.y;
    let away = max(length(p), 0.02);
    let around = 4.0 * atan2(p.y, p.x) / 3.14159;
    let square = floor(0.6 / away + 2.0 * time) + floor(around);
    let light = abs(fract(0.5 * square) - 0.25) * 4.0;
    return vec4((0.25 + 0.75 * light) * saturate(3.0 * away) * vec3(0.55, 0.8, 1.0), 1.0);
}

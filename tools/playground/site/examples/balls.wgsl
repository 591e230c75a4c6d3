@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let p = (place.xy - 0.5 * resolution) / resolution.y;
    var field = 0.0;
    for (var n = 0; n < 5; n++) {
        let angle = time * (0.4 + 0.13 * f32(n)) + 1.9 * f32(n);
        let away = p - vec2(0.55 * cos(angle), 0.3 * sin(1.3 * angle));
        field += 0.014 / (dot(away, away) + 0.002);
    }
    let edge = smoothstep(0.9, 1.1, field);
    return vec4(mix(vec3(0.06, 0.07, 0.12), vec3(0.35, 0.86, 0.62) * (0.6 + 0.1 * field), edge), 1.0);
}

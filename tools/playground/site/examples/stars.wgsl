@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

fn random(cell: vec2<f32>) -> f32 { return fract(sin(dot(cell, vec2(12.9898, 78.233))) * 4375.5453); }

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    var sky = mix(vec3(0.01, 0.02, 0.06), vec3(0.10, 0.07, 0.16), place.y / resolution.y);
    for (var layer = 1; layer <= 3; layer++) {
        let p = (place.xy + vec2(9.0 * time, 0.0) * f32(layer)) / (26.0 - 5.0 * f32(layer));
        let cell = floor(p);
        let away = fract(p) - 0.2 - 0.6 * vec2(random(cell), random(cell + 7.0));
        sky += saturate(0.008 / dot(away, away) - 0.25) * (0.3 + 0.7 * random(cell + 3.0));
    }
    return vec4(sky, 1.0);
}

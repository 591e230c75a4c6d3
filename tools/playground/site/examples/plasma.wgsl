@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;
@group(0) @binding(2) var<uniform> zoom: f32;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let p = (8.0 + 6.0 * zoom) * (place.xy - 0.5 * resolution) / resolution.y;
    let v = sin(p.x + time) + sin(p.y - 0.7 * time) + sin(0.7 * (p.x + p.y) + 1.3 * time) + sin(length(p) - 2.0 * time);
    return vec4(0.5 + 0.5 * sin(1.6 * v + vec3(0.0, 1.4, 2.8)), 1.0);
}

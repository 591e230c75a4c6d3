@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

// Fine rings: wherever they are finer than pixels, other rings appear.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let p = place.xy - 0.5 * resolution;
    let ring = 0.5 + 0.5 * cos(0.02 * dot(p, p) - 3.0 * time);
    return vec4(ring * vec3(0.95, 0.85, 0.6), 1.0);
}

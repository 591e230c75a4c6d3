@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let x = place.x / resolution.x;
    let wave = 0.5 + 0.5 * sin(6.2832 * (x - 0.25 * time) + vec3(0.0, 2.1, 4.2));
    return vec4(wave, 1.0);
}

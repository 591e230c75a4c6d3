@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let y = place.y / resolution.y;
    let part = 1.0 / (resolution.x + place.x);
    let red = place.x * part;
    return vec4(red, red * y, resolution.x * part * y, 1.0);
}

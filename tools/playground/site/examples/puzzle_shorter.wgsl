@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

// The same picture takes fewer instructions: what is divided by, and how often?
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let x = place.x / resolution.x;
    let y = place.y / resolution.y;
    let red = x / (1.0 + x);
    let green = x * y / (1.0 + x);
    let blue = y / (1.0 + x);
    return vec4(red, green, blue, 1.0);
}

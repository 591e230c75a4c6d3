@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

// A loop that ends at different times in the 16 elements: the program runs until the last of them has ended.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let c = 2.6 * (place.xy - vec2(0.62, 0.5) * resolution) / resolution.y;
    var z = vec2(0.0);
    var steps = 0;
    loop {
        if (steps >= 48 || dot(z, z) > 4.0) { break; }
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        steps += 1;
    }
    let t = f32(steps) / 48.0;
    return vec4(select(0.5 + 0.5 * cos(9.0 * t + vec3(3.1, 3.9, 4.6)), vec3(0.0), steps == 48), 1.0);
}

@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

// exp2, log2 and pow with the accuracy that WGSL demands: the special function unit alone has twelve good bits.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let x = place.x / resolution.x;
    return vec4(exp2(-4.0 * x), pow(x, 2.2), 0.25 * log2(1.0 + 15.0 * x), 1.0);
}

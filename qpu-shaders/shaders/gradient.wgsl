// Interpolated colours without visible steps: noise of half a step of 8 bits in either direction decides which of both neighbours a pixel has (the noise is
// J. Jimenez' interleaved gradient noise, "Next Generation Post Processing in Call of Duty: Advanced Warfare").

@fragment fn fs_main(@builtin(position) pixel: vec4<f32>, @location(0) color: vec3<f32>) -> @location(0) vec4<f32> {
    let noise = fract(52.9829189 * fract(dot(pixel.xy, vec2(0.06711056, 0.00583715))));
    return vec4(color + (noise - 0.5) / 255.0, 1.0);
}

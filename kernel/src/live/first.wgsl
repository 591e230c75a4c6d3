// What the scene `live` draws before a shader was sent: rings of light that drift over each other.

struct Frame { time: f32, resolution: vec2<f32> }
@group(0) @binding(0) var<uniform> frame: Frame;

fn ring(at: vec2<f32>, center: vec2<f32>, speed: f32) -> f32 {
    let distance = length(at - center);
    return 0.5 + 0.5 * cos(24.0 * distance - speed * frame.time);
}

@fragment fn fs_main(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    let at = (pixel.xy - 0.5 * frame.resolution) / frame.resolution.y;
    let turn = 0.3 * frame.time;
    let center = 0.35 * vec2(cos(turn), sin(turn));
    let light = vec3(ring(at, center, 2.0), ring(at, -center, 3.0), ring(at, center.yx, 1.0));
    return vec4(light * (1.2 - length(at)), 1.0);
}

// Waves of colour across the screen: `shader load assets/plasma.wgsl`, then `scene run live`.

struct Frame { time: f32, resolution: vec2<f32> }
@group(0) @binding(0) var<uniform> frame: Frame;

@fragment fn fs_main(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    let at = 8.0 * (pixel.xy - 0.5 * frame.resolution) / frame.resolution.y;
    let wave = sin(at.x + frame.time) + sin(at.y + 0.7 * frame.time) + sin(0.7 * (at.x + at.y) - frame.time);
    let ripple = sin(length(at - vec2(sin(0.3 * frame.time), cos(0.4 * frame.time))) * 2.0 - frame.time);
    let color = 0.5 + 0.5 * cos(vec3(0.0, 2.1, 4.2) + wave + ripple);
    return vec4(color, 1.0);
}

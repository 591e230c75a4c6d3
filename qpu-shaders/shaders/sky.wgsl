// A morning sky with clouds, as haze and sun colour it; see `ground.wgsl`.

struct Air {
    to_sun: vec3<f32>,
    // How far the clouds have drifted.
    drift: f32,
}
@group(0) @binding(0) var<uniform> air: Air;
// Clouds are where the third channel is large.
@group(0) @binding(1) var detail: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

const HAZE = vec3(0.38, 0.47, 0.60);
const GLOW = vec3(0.50, 0.24, 0.02);
const ZENITH = vec3(0.06, 0.16, 0.42);
const CLOUD = vec3(0.72, 0.66, 0.64);

@fragment fn fs_main(@location(0) direction: vec3<f32>) -> @location(0) vec4<f32> {
    let ray = normalize(direction);
    let toward = max(dot(ray, air.to_sun), 0.0);
    let toward4 = toward * toward * toward * toward;
    let toward16 = toward4 * toward4 * toward4 * toward4;
    let toward64 = toward16 * toward16 * toward16 * toward16;
    let toward256 = toward64 * toward64 * toward64 * toward64;
    let up = max(ray.y, 0.0);
    let height = saturate(1.7 * up);
    let clear = mix(HAZE + GLOW * toward4, ZENITH, height * (2.0 - height)) + vec3(1.6, 1.1, 0.6) * toward256;
    let at = 0.055 * ray.xz / (up + 0.10) + vec2(air.drift, 0.0);
    let cloud = textureSample(detail, filtered, at).z;
    let share = saturate(3.4 * cloud - 1.8) * saturate(7.0 * up);
    let seen = mix(clear, CLOUD + GLOW * toward4, share);
    return vec4(sqrt(seen), 1.0);
}

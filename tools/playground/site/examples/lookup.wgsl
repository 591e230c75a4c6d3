@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var image_sampler: sampler;

// Two lookups, the second at a place that the first one gives: nothing can be done while it is on its way, but another thread may run.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let uv = 2.0 * place.xy / resolution;
    let first = textureSample(image, image_sampler, uv).rg;
    return textureSample(image, image_sampler, uv + 0.2 * first * sin(time));
}

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Out { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) uv: vec2<f32>) -> Out {
    return Out(vec4(position, 1.0), uv);
}

@fragment fn fs_main(@location(0) v_uv: vec2<f32>) -> @location(0) vec4<f32> {
    let c = textureSample(image, image_sampler, v_uv);
    if c.r < 0.5 {
        discard;
    }
    return c;
}

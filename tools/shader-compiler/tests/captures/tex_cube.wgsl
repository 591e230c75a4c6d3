@group(0) @binding(0) var image: texture_cube<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Out { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) uv: vec2<f32>) -> Out {
    return Out(vec4(position, 1.0), uv);
}

@fragment fn fs_main(@location(0) v_uv: vec2<f32>) -> @location(0) vec4<f32> {
    let th = v_uv.x * 6.2831853;
    let ph = (v_uv.y - 0.5) * 3.1415926;
    let d = vec3(cos(ph) * cos(th), sin(ph), cos(ph) * sin(th));
    return textureSample(image, image_sampler, d);
}

@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> to_sun: vec3<f32>;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var image_sampler: sampler;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) normal: vec3<f32>, @location(1) uv: vec2<f32> }

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) uv: vec2<f32>) -> Corner {
    return Corner(matrix * vec4(0.8 * place, 1.0), normal, uv);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let light = 0.35 + 0.65 * saturate(dot(corner.normal, normalize(to_sun)));
    return vec4(light * textureSample(image, image_sampler, corner.uv).rgb, 1.0);
}

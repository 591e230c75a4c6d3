@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> to_sun: vec3<f32>;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var image_sampler: sampler;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) light: vec3<f32>, @location(1) uv: vec2<f32> }

// The light is computed for each corner: a model of thousands of triangles has more pixels than corners.
@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) uv: vec2<f32>, @location(3) color: vec3<f32>) -> Corner {
    let sun = saturate(dot(normal, normalize(to_sun)));
    let sky = 0.5 + 0.5 * normal.y;
    return Corner(matrix * vec4(place, 1.0), color * (sun * vec3(0.85, 0.78, 0.62) + sky * vec3(0.30, 0.36, 0.45)), uv);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.light * textureSample(image, image_sampler, corner.uv).rgb, 1.0);
}

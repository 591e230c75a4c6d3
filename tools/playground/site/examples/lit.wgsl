@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> to_sun: vec3<f32>;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) normal: vec3<f32> }

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>) -> Corner {
    return Corner(matrix * vec4(place, 1.0), normal);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let light = saturate(dot(normalize(corner.normal), normalize(to_sun)));
    return vec4((0.12 + 0.88 * light) * vec3(0.95, 0.55, 0.35), 1.0);
}

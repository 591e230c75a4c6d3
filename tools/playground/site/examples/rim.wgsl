@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> eye: vec3<f32>;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) normal: vec3<f32>, @location(1) to_eye: vec3<f32> }

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>) -> Corner {
    return Corner(matrix * vec4(place, 1.0), normal, eye - place);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let facing = saturate(dot(normalize(corner.normal), normalize(corner.to_eye)));
    let rim = pow(1.0 - facing, 3.0);
    return vec4(mix(vec3(0.05, 0.09, 0.2), vec3(0.5, 0.85, 1.0), rim), 1.0);
}

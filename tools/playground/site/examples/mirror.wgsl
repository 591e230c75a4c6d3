@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> eye: vec3<f32>;
@group(1) @binding(0) var surroundings: texture_cube<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) normal: vec3<f32>, @location(1) to_eye: vec3<f32> }

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>) -> Corner {
    return Corner(matrix * vec4(place, 1.0), normal, eye - place);
}

// The direction that light comes from looks up the six pictures around; more is mirrored where the surface turns away.
@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let normal = normalize(corner.normal);
    let to_eye = normalize(corner.to_eye);
    let seen = textureSample(surroundings, smooth_sampler, reflect(-to_eye, normal)).rgb;
    let grazing = 1.0 - saturate(dot(normal, to_eye));
    return vec4(mix(seen * vec3(0.95, 0.80, 0.55), seen, grazing * grazing * grazing), 1.0);
}

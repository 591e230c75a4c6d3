// A model in the light of a low sun, with the picture beside it as its shadow's pattern: `scene load assets/lighthouse`.

struct Camera { matrix: mat4x4<f32>, eye: vec3<f32> }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;

struct Corner {
    @builtin(position) at: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) to_eye: vec3<f32>,
    @location(2) color: vec3<f32>,
    @location(3) uv: vec2<f32>,
}

@vertex fn vs_main(
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec3<f32>,
) -> Corner {
    return Corner(camera.matrix * vec4(place, 1.0), normal, camera.eye - place, color, place.xy + place.z);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let normal = normalize(corner.normal);
    let to_sun = vec3(0.55, 0.45, 0.70);
    let day = saturate(dot(normal, to_sun));
    let half_way = normalize(normalize(corner.to_eye) + to_sun);
    let shine = pow(saturate(dot(normal, half_way)), 24.0);
    let grain = textureSample(image, linear, corner.uv).rgb;
    let shade = mix(vec3(0.10, 0.13, 0.22) + 0.1 * grain, vec3(1.0, 0.93, 0.8), day);
    return vec4(corner.color * shade + 0.25 * shine, 1.0);
}

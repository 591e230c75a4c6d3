struct Light { position: vec3<f32>, color: vec3<f32> }
struct Scene { eye: vec3<f32>, ambient: vec3<f32>, lights: array<Light, 4> }
struct Material { base: vec3<f32>, metallic: f32, roughness: f32 }
@group(0) @binding(0) var<uniform> scene: Scene;
@group(0) @binding(1) var<uniform> material: Material;
const PI = 3.14159265;
fn distribution(n_h: f32, roughness: f32) -> f32 {
    let a = roughness * roughness;
    let a2 = a * a;
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    return a2 / (PI * d * d);
}
fn schlick_ggx(n_v: f32, roughness: f32) -> f32 {
    let r = roughness + 1.0;
    let k = r * r / 8.0;
    return n_v / (n_v * (1.0 - k) + k);
}
fn fresnel(cosine: f32, f0: vec3<f32>) -> vec3<f32> {
    return f0 + (1.0 - f0) * pow(clamp(1.0 - cosine, 0.0, 1.0), 5.0);
}
@fragment fn fs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) tint: vec3<f32>) -> @location(0) vec4<f32> {
    let n = normalize(normal);
    let v = normalize(scene.eye - place);
    let albedo = material.base * tint;
    let f0 = mix(vec3(0.04), albedo, material.metallic);
    var sum = vec3(0.0);
    for (var i = 0; i < 4; i++) {
        let to_light = scene.lights[i].position - place;
        let l = normalize(to_light);
        let h = normalize(v + l);
        let radiance = scene.lights[i].color / dot(to_light, to_light);
        let n_v = max(dot(n, v), 0.0);
        let n_l = max(dot(n, l), 0.0);
        let d = distribution(max(dot(n, h), 0.0), material.roughness);
        let g = schlick_ggx(n_v, material.roughness) * schlick_ggx(n_l, material.roughness);
        let f = fresnel(max(dot(h, v), 0.0), f0);
        let specular = d * g * f / (4.0 * n_v * n_l + 0.0001);
        let kd = (vec3(1.0) - f) * (1.0 - material.metallic);
        sum += (kd * albedo / PI + specular) * radiance * n_l;
    }
    let color = scene.ambient * albedo + sum;
    let mapped = color / (color + vec3(1.0));
    return vec4(pow(mapped, vec3(1.0 / 2.2)), 1.0);
}

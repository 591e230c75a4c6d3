// Solid objects in sunlight, with shadows from a depth texture that was rendered from the sun, and in the light of sky and ground.

struct Places {
    // From the world's coordinates to clip coordinates.
    camera: mat4x4<f32>,
    // From the object's coordinates to the world's: a rotation and a translation.
    world: mat4x4<f32>,
    // From the world's coordinates to the depth texture: s, t, and the distance from the sun as a depth.
    shadow: mat4x4<f32>,
}
@group(0) @binding(0) var<uniform> places: Places;

struct Light {
    eye: vec3<f32>,
    // Unit vector to the sun.
    to_sun: vec3<f32>,
    sun: vec3<f32>,
    // The light from above, at the horizon and from the ground.
    sky: vec3<f32>,
    horizon: vec3<f32>,
    ground: vec3<f32>,
    base_color: vec3<f32>,
    // 0 for stone, 1 for metal.
    metallic: f32,
}
@group(0) @binding(1) var<uniform> light: Light;
@group(0) @binding(2) var depths: texture_depth_2d;
@group(0) @binding(3) var nearest: sampler;

// Texels across the depth texture.
const DEPTHS_PX = 1024.0;

// How fast the distance fades into the horizon.
const HAZE = 0.00022;

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) shadow: vec3<f32>,
}

@vertex fn vs_main(@location(0) corner: vec3<f32>, @location(1) normal: vec3<f32>) -> Surface {
    let place = places.world * vec4(corner, 1.0);
    return Surface(
        places.camera * place,
        place.xyz,
        (places.world * vec4(normal, 0.0)).xyz,
        (places.shadow * place).xyz,
    );
}

// 1 where nothing is nearer to the sun, 0 in the shadow: the nearest texel decides, for depths cannot be interpolated.
fn is_lit(s: f32, t: f32, depth: f32) -> f32 {
    return step(depth, textureSample(depths, nearest, vec2(s, t)));
}

// The part of the sun's light that reaches a place: the mean of comparisons with three by three texels, each with the weight of its area within a square of two
// by two texels around the place.
fn reached(shadow: vec3<f32>) -> f32 {
    let texels = shadow.xy * DEPTHS_PX;
    let within = fract(texels);
    let low = (texels - within - 0.5) / DEPTHS_PX;
    let middle = low + 1.0 / DEPTHS_PX;
    let high = low + 2.0 / DEPTHS_PX;
    // What is farther than the texture reaches is lit.
    let z = min(shadow.z, 0.9999);
    let left = is_lit(low.x, low.y, z) * (1.0 - within.y) + is_lit(low.x, middle.y, z) + is_lit(low.x, high.y, z) * within.y;
    let center = is_lit(middle.x, low.y, z) * (1.0 - within.y) + is_lit(middle.x, middle.y, z) + is_lit(middle.x, high.y, z) * within.y;
    let right = is_lit(high.x, low.y, z) * (1.0 - within.y) + is_lit(high.x, middle.y, z) + is_lit(high.x, high.y, z) * within.y;
    return 0.25 * (left * (1.0 - within.x) + center + right * within.x);
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let normal = normalize(surface.normal);
    let facing = dot(normal, light.to_sun);
    // What faces away is dark whatever the texture says, which contains the far sides of bodies.
    let sunlight = light.sun * select(0.0, reached(surface.shadow), facing > 0.0);
    let away = surface.place - light.eye;
    let far2 = dot(away, away);
    let back = reflect(away * inverseSqrt(far2), normal);
    let scattered = sunlight * facing + mix(light.ground, light.sky, 0.5 + 0.5 * normal.y);
    let near = max(dot(back, light.to_sun), 0.0);
    let near4 = near * near * near * near;
    let mirrored = 2.0 * sunlight * near4 * near4 + mix(light.ground, light.sky, 0.5 + 0.5 * back.y);
    let color = light.base_color * mix(scattered, mirrored, light.metallic);
    let seen = mix(light.horizon, color, exp2(-HAZE * far2));
    // Film: bright light approaches white. The square root approximates the display's transfer function.
    return vec4(sqrt(1.0 - exp2(-seen)), 1.0);
}

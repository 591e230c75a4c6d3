// Hills of grass and rock in low sun, with haze: normals from a texture, in two sizes.

struct View { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> view: View;

struct Air {
    eye: vec3<f32>,
    // Unit vector to the sun.
    to_sun: vec3<f32>,
}
@group(0) @binding(1) var<uniform> air: Air;
// The slope along x and z, from -1 to 1 as 0 to 1, and the height.
@group(0) @binding(2) var detail: texture_2d<f32>;
@group(0) @binding(3) var filtered: sampler;

const SUN = vec3(1.75, 1.30, 0.75);
const SKY = vec3(0.20, 0.26, 0.38);
const LUSH = vec3(0.10, 0.19, 0.035);
const DRY = vec3(0.36, 0.29, 0.10);
const ROCK = vec3(0.34, 0.29, 0.25);
// Haze away from the sun, and what is added to it around the sun.
const HAZE = vec3(0.38, 0.47, 0.60);
const GLOW = vec3(0.50, 0.24, 0.02);
const DENSITY = 0.00022;

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>) -> Surface {
    return Surface(view.matrix * vec4(place, 1.0), place, normal);
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let near = textureSample(detail, filtered, 0.21 * surface.place.xz);
    let far = textureSample(detail, filtered, 0.023 * surface.place.xz);
    let bumps = 1.4 * (near.xy - 0.5) + (far.xy - 0.5);
    let normal = normalize(surface.normal + vec3(bumps.x, 0.0, bumps.y));
    // Grass dries where the ground is high, and rock is bare where it is steep.
    let steep = saturate(9.0 * (0.86 - surface.normal.y) + 2.0 * (far.z - 0.5));
    let grass = mix(LUSH, DRY, saturate(2.5 * far.z - 0.75));
    let base = mix(grass, ROCK, steep) * (0.3 + 1.4 * near.z);
    let light = SUN * max(dot(normal, air.to_sun), 0.0) + SKY * (0.6 + 0.4 * normal.y);
    let away = surface.place - air.eye;
    let far2 = dot(away, away);
    let toward = max(dot(away, air.to_sun) * inverseSqrt(far2), 0.0);
    let toward4 = toward * toward * toward * toward;
    let seen = mix(HAZE + GLOW * toward4, base * light, exp2(-DENSITY * far2));
    // A square root as an approximation of the display's transfer function.
    return vec4(sqrt(seen), 1.0);
}

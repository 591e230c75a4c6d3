// A figure that bends at joints, in the light of sun and sky.
//
// Vertices have the layout of `renderer::asset::Figure`, with normals as half floats, and joints and weights as bytes.

struct Pose {
    // From the world's coordinates to clip coordinates.
    camera: mat4x4<f32>,
    // From the figure's coordinates to the world's: a rotation and a translation, or a projection to the ground.
    world: mat4x4<f32>,
    // Three rows for each of up to 32 joints.
    joints: array<vec4<f32>, 96>,
}
@group(0) @binding(0) var<uniform> pose: Pose;

struct Material {
    eye: vec3<f32>,
    // Unit vector to the sun.
    to_sun: vec3<f32>,
    // Multiplies the colour of dyed cloth, where the texture's alpha is 0.
    tint: vec3<f32>,
    // 1; for a shadow 0, and its darkness as alpha.
    brightness: f32,
    alpha: f32,
}
@group(0) @binding(1) var<uniform> material: Material;
@group(0) @binding(2) var clothes: texture_2d<f32>;
@group(0) @binding(3) var filtered: sampler;

const SUN = vec3(1.75, 1.25, 0.78);
const SKY = vec3(0.34, 0.40, 0.54);
const GROUND = vec3(0.26, 0.20, 0.16);

struct Corner {
    @location(0) position: vec3<f32>,
    // x and y; z and 0.
    @location(1) normal: vec2<u32>,
    @location(2) uv: vec2<f32>,
    @location(3) joints: u32,
    @location(4) weights: u32,
}

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) place: vec3<f32>,
}

@vertex fn vs_main(corner: Corner) -> Surface {
    let weights = unpack4x8unorm(corner.weights);
    var x = vec4(0.0);
    var y = vec4(0.0);
    var z = vec4(0.0);
    for (var n = 0u; n < 4u; n++) {
        let row = 3u * ((corner.joints >> (8u * n)) & 255u);
        x += weights[n] * pose.joints[row];
        y += weights[n] * pose.joints[row + 1u];
        z += weights[n] * pose.joints[row + 2u];
    }
    let at = vec4(corner.position, 1.0);
    let facing = vec4(unpack2x16float(corner.normal.x), unpack2x16float(corner.normal.y).x, 0.0);
    let place = pose.world * vec4(dot(x, at), dot(y, at), dot(z, at), 1.0);
    let normal = pose.world * vec4(dot(x, facing), dot(y, facing), dot(z, facing), 0.0);
    return Surface(pose.camera * place, corner.uv, normal.xyz, place.xyz);
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let normal = normalize(surface.normal);
    let to_eye = normalize(material.eye - surface.place);
    let cloth = textureSample(clothes, filtered, surface.uv);
    let color = cloth.rgb * mix(material.tint, vec3(1.0), cloth.a);
    let sun = SUN * max(dot(normal, material.to_sun), 0.0);
    // Cloth and hair are brighter at the rim, where light comes from behind.
    let rim = 1.0 - saturate(dot(normal, to_eye));
    let rim2 = rim * rim;
    let light = sun + mix(GROUND, SKY, 0.5 + 0.5 * normal.y) + SKY * (rim2 * rim2);
    let shaded = color * color * light;
    // Film, and a square root as an approximation of the display's transfer function.
    return vec4(sqrt(1.0 - exp2(-1.3 * shaded)) * material.brightness, material.alpha);
}

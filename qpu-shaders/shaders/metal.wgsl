// Metals and other materials of different roughness in light from all directions: a cube map, whose smaller levels are the blurred reflections of rough
// surfaces.
//
// Vertices have the layout of `renderer::asset::ModelPart`, with normals as half floats. The cube map stores square roots of linear light.

struct Transform { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> transform: Transform;

struct Material {
    eye: vec3<f32>,
    // Linear colour.
    base_color: vec3<f32>,
    // 0 for dielectrics, 1 for metals.
    metallic: f32,
    // 0 for mirrors, 1 for matte surfaces.
    roughness: f32,
    // Spheres about as large as the vessels, which occlude light around them: the centre, and the radius squared.
    vessels: array<vec4<f32>, 5>,
    // Where they touch the slab: x and z of the middle, and the radius.
    feet: array<vec3<f32>, 5>,
}
@group(0) @binding(1) var<uniform> material: Material;
@group(0) @binding(2) var surroundings: texture_cube<f32>;
@group(0) @binding(3) var filtered: sampler;

// The level of the cube map for the light that a matte surface scatters.
const LEVELS = 4.0;

struct Corner {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec2<u32>,
    @location(2) uv: vec2<f32>,
}

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex fn vs_main(corner: Corner) -> Surface {
    let normal = vec3(unpack2x16float(corner.normal.x), unpack2x16float(corner.normal.y).x);
    return Surface(transform.matrix * vec4(corner.position, 1.0), corner.position, normal);
}

fn light_from(direction: vec3<f32>, level: f32) -> vec3<f32> {
    let root = textureSampleLevel(surroundings, filtered, direction, level).rgb;
    return 2.5 * root * root;
}

// How much of the ambient light reaches a point: each sphere occludes the solid angle that it covers of the hemisphere above the surface (I. Quilez, "sphere
// ambient occlusion").
fn reached(place: vec3<f32>, normal: vec3<f32>) -> f32 {
    var share = 1.0;
    for (var n = 0; n < 5; n++) {
        let vessel = material.vessels[n];
        let to_middle = vessel.xyz - place;
        let far2 = dot(to_middle, to_middle);
        share *= 1.0 - saturate(dot(normal, to_middle) * inverseSqrt(far2) * vessel.w / far2);
    }
    return share;
}

// How much of it reaches a point beside a vessel's foot, into whose narrow corner with the slab little light falls: a contact shadow.
fn beside_feet(place: vec3<f32>) -> f32 {
    var share = 1.0;
    for (var n = 0; n < 5; n++) {
        let foot = material.feet[n];
        let away = max(length(place.xz - foot.xy) - foot.z, 0.0) + max(place.y, 0.0);
        share *= 1.0 - 0.7 * exp2(-11.0 * away);
    }
    return share;
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let normal = normalize(surface.normal);
    let to_eye = normalize(material.eye - surface.place);
    let facing = saturate(dot(normal, to_eye));
    let mirrored = light_from(reflect(-to_eye, normal), LEVELS * material.roughness);
    let scattered = light_from(normal, LEVELS);
    // Reflectance at normal incidence, and its increase at grazing angles: a fit of both by B. Karis, "Physically Based Shading on Mobile".
    let straight = mix(vec3(0.04), material.base_color, material.metallic);
    let r = material.roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    let rim = min(r.x * r.x, exp2(-9.28 * facing)) * r.x + r.y;
    let share = straight * (-1.04 * rim + r.z) + (1.04 * rim + r.w);
    let all = share * mirrored + (1.0 - material.metallic) * material.base_color * scattered;
    let light = all * reached(surface.place, normal) * beside_feet(surface.place);
    // Tone mapping, and a square root as an approximation of the display's transfer function.
    return vec4(sqrt(light / (0.7 + light)), 1.0);
}

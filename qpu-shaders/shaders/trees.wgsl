// Trees as pictures that turn towards the eye. Light comes from the side on which the sun is.

struct View {
    matrix: mat4x4<f32>,
    // To the right on the screen, horizontal and of length 1.
    right: vec3<f32>,
    eye: vec3<f32>,
    to_sun: vec3<f32>,
}
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var leaves: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

const SUN = vec3(1.75, 1.30, 0.75);
const SKY = vec3(0.20, 0.26, 0.38);
const HAZE = vec3(0.38, 0.47, 0.60);
const GLOW = vec3(0.50, 0.24, 0.02);
const DENSITY = 0.00022;

struct Tree {
    // The foot.
    @location(0) place: vec3<f32>,
    // -1 or 1 for left or right; 0 or 1 for the foot or the top.
    @location(1) corner: vec2<f32>,
    // Half of the width, and the height.
    @location(2) size: vec2<f32>,
    // The texture coordinate s of the corner.
    @location(3) s: f32,
}

struct Seen {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) light: vec3<f32>,
    @location(2) haze: vec3<f32>,
    // The part of the light that comes through the haze.
    @location(3) clear: f32,
}

@vertex fn vs_main(tree: Tree) -> Seen {
    let place = tree.place + tree.corner.x * tree.size.x * view.right + vec3(0.0, tree.corner.y * tree.size.y, 0.0);
    let side = 0.5 + 0.5 * tree.corner.x * dot(view.right, view.to_sun);
    let light = SUN * side * (0.35 + 0.65 * tree.corner.y) + SKY;
    let away = place - view.eye;
    let far2 = dot(away, away);
    let toward = max(dot(away, view.to_sun) * inverseSqrt(far2), 0.0);
    let toward4 = toward * toward * toward * toward;
    let uv = vec2(tree.s, 1.0 - tree.corner.y);
    return Seen(view.matrix * vec4(place, 1.0), uv, light, HAZE + GLOW * toward4, exp2(-DENSITY * far2));
}

@fragment fn fs_main(seen: Seen) -> @location(0) vec4<f32> {
    let leaf = textureSample(leaves, filtered, seen.uv);
    return vec4(sqrt(mix(seen.haze, leaf.rgb * leaf.rgb * seen.light, seen.clear)), leaf.a);
}

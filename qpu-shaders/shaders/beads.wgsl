// Glass beads with lamps in them, for a target of half floats: light may be far brighter than white. A bead is a point whose fragments compute the normal of a
// sphere; alpha falls from 1 to 0 over its outermost pixel.

struct View {
    matrix: mat4x4<f32>,
    // Pixels across of a bead of radius 1 at distance 1.
    size: f32,
}
@group(0) @binding(0) var<uniform> view: View;

// The glass in the room's light, and the direction to what it mirrors.
const GLASS = vec3(0.035, 0.050, 0.075);
const TO_WINDOW = vec3(-0.45, 0.68, 0.578);

struct Bead {
    @builtin(position) position: vec4<f32>,
    @location(0) light: vec3<f32>,
    // Diameter in pixels.
    @location(1) size: f32,
    @location(2) point_size: f32,
}

@vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) radius: f32, @location(2) light: vec3<f32>) -> Bead {
    let position = view.matrix * vec4(place, 1.0);
    let size = view.size * radius / position.w;
    return Bead(position, light, size, size);
}

@fragment fn fs_main(@location(2) point_coord: vec2<f32>, @location(0) light: vec3<f32>, @location(1) size: f32) -> @location(0) vec4<f32> {
    let across = 2.0 * point_coord - 1.0;
    let inside = 1.0 - dot(across, across);
    let facing2 = max(inside, 0.0);
    let window = max(dot(vec3(across, sqrt(facing2)), TO_WINDOW), 0.0);
    let window4 = window * window * window * window;
    let window16 = window4 * window4 * window4 * window4;
    let glass = GLASS * (0.4 + window) + 0.8 * window16 * window16;
    // The distance from the edge in pixels is about a quarter of this product.
    let coverage = saturate(0.25 * inside * size + 0.5);
    return vec4(light * (0.25 + 0.75 * facing2) + glass, coverage);
}

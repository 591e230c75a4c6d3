// Objects in water: a model in the light of a low sun, of which only the part above the water is drawn.
//
// Vertices have the layout of `renderer::asset::ModelPart`, with normals as half floats.

struct Shore {
    matrix: mat4x4<f32>,
    // Height of the water.
    level: f32,
}
@group(0) @binding(0) var<uniform> shore: Shore;

struct Material {
    base_color: vec3<f32>,
    // Direction to the sun; the length is its brightness.
    to_sun: vec3<f32>,
}
@group(0) @binding(1) var<uniform> material: Material;

struct Corner {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec2<u32>,
    @location(2) uv: vec2<f32>,
}

struct Standing {
    @builtin(position) position: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) above: f32,
}

@vertex fn vs_main(corner: Corner) -> Standing {
    let normal = vec3(unpack2x16float(corner.normal.x), unpack2x16float(corner.normal.y).x);
    return Standing(shore.matrix * vec4(corner.position, 1.0), normal, corner.position.y - shore.level);
}

@fragment fn fs_main(standing: Standing) -> @location(0) vec4<f32> {
    if standing.above < 0.0 {
        discard;
    }
    let normal = normalize(standing.normal);
    let sun = max(dot(normal, material.to_sun), 0.0);
    let light = vec3(1.25, 0.92, 0.62) * sun + mix(vec3(0.16, 0.20, 0.24), vec3(0.36, 0.42, 0.55), 0.5 + 0.5 * normal.y);
    // A square root as an approximation of the display's transfer function.
    return vec4(sqrt(material.base_color * light), 1.0);
}

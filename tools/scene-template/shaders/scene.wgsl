// Matte and glossy surfaces in the light of a sun and of the sky.
//
// A corner has what the build script makes of a glTF file: its place as three floats, its normal as half floats (x and y in one word, z in the next), and its
// place in a picture.

struct Camera {
    // From the model to the screen, row by row.
    matrix: mat4x4<f32>,
}
@group(0) @binding(0) var<uniform> camera: Camera;

struct Surface {
    // Linear light.
    color: vec3<f32>,
    to_sun: vec3<f32>,
    eye: vec3<f32>,
    // What of the sun's light is reflected as by a mirror.
    gloss: f32,
}
@group(0) @binding(1) var<uniform> surface: Surface;

struct Corner {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec2<u32>,
    @location(2) uv: vec2<f32>,
}

struct Fragment {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex fn vs_main(corner: Corner) -> Fragment {
    let normal = vec3(unpack2x16float(corner.normal.x), unpack2x16float(corner.normal.y).x);
    return Fragment(camera.matrix * vec4(corner.position, 1.0), corner.position, normal);
}

@fragment fn fs_main(fragment: Fragment) -> @location(0) vec4<f32> {
    let normal = normalize(fragment.normal);
    let to_eye = normalize(surface.eye - fragment.place);
    let halfway = normalize(to_eye + surface.to_sun);
    let sun = vec3(1.0, 0.92, 0.8) * saturate(dot(normal, surface.to_sun));
    let sky = vec3(0.22, 0.28, 0.38) * (0.6 + 0.4 * normal.y);
    let shine = surface.gloss * pow(saturate(dot(normal, halfway)), 40.0);
    let light = surface.color * (sun + sky) + vec3(shine);
    // A display shows about the root of linear light.
    return vec4(sqrt(light), 1.0);
}

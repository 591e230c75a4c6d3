// Rings that move outward from the centre of a surface, like those of a drop on water: both stages in one file.

struct Transform { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> transform: Transform;

// The number of rings between the centre and a distance of 1, how far the wave has moved, in rings, and both colours.
struct Wave { rings: f32, phase: f32, crest: vec3<f32>, trough: vec3<f32> }
@group(0) @binding(1) var<uniform> wave: Wave;

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) from_middle: vec2<f32>,
}

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) from_middle: vec2<f32>) -> Out {
    return Out(transform.matrix * vec4(position, 1.0), from_middle);
}

@fragment fn fs_main(@location(0) from_middle: vec2<f32>) -> @location(0) vec4<f32> {
    let distance = length(from_middle);
    if distance > 1.0 {
        discard;
    }
    let height = 0.5 + 0.5 * cos(6.2831853 * (distance * wave.rings - wave.phase));
    return vec4(mix(wave.trough, wave.crest, height), 1.0);
}

// Points as discs with a hole. WGSL has no built-ins for the size of a point, here an output `point_size`, and the position in it, an input `point_coord`;
// their locations are ignored.

struct View { matrix: mat4x4<f32>, size: f32 }
@group(0) @binding(0) var<uniform> view: View;

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
    @location(15) point_size: f32,
}

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) color: vec3<f32>) -> Out {
    return Out(view.matrix * vec4(position, 1.0), color, view.size);
}

@fragment fn fs_main(@location(15) point_coord: vec2<f32>, @location(0) color: vec3<f32>) -> @location(0) vec4<f32> {
    // 1 at the rim.
    let distance = length(point_coord - 0.5) * 2.0;
    if distance > 1.0 || distance < 0.25 {
        discard;
    }
    return vec4(color * (1.0 - 0.5 * distance), 1.0);
}

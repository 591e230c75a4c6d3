@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
@group(0) @binding(1) var<uniform> time: f32;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) height: f32 }

// The vertex shader moves the corners: the coordinate shader is the part of it that the binner needs.
@vertex fn vs_main(@location(0) place: vec3<f32>) -> Corner {
    let height = 0.5 + 0.5 * sin(7.0 * place.y + 3.0 * time) * sin(5.0 * place.x - 2.0 * time);
    return Corner(matrix * vec4((0.75 + 0.3 * height) * place, 1.0), height);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(mix(vec3(0.1, 0.15, 0.4), vec3(1.0, 0.8, 0.45), corner.height), 1.0);
}

struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec4<f32> }

@vertex fn vs_main(@location(0) position: vec2<f32>, @location(1) color: vec4<f32>) -> Out {
    return Out(vec4(position, 0.0, 1.0), color);
}

@fragment fn fs_main(@location(0) color: vec4<f32>) -> @location(0) vec4<f32> {
    return color;
}

struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32>, @location(1) p: vec2<f32> }

@vertex fn vs_main(@location(0) position: vec4<f32>, @location(1) color: vec3<f32>) -> Out {
    return Out(position, color, color.xy * 8.0);
}

@fragment fn fs_main(@location(0) color: vec3<f32>, @location(1) p: vec2<f32>) -> @location(0) vec4<f32> {
    let c = floor(p);
    let sum = c.x + c.y;
    let k = sum - 2.0 * floor(sum / 2.0);
    return vec4(color * (0.5 + 0.5 * k), 1.0);
}

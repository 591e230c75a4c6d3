struct Out { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) uv: vec2<f32>) -> Out {
    return Out(vec4(position, 1.0), uv);
}

@fragment fn fs_main(@location(0) v_uv: vec2<f32>) -> @location(0) vec4<f32> {
    let c = vec2(v_uv.x * 3.0 - 2.2, v_uv.y * 2.4 - 1.2);
    var z = vec2(0.0);
    var n = 0.0;
    for (var i = 0; i < 40; i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        if dot(z, z) > 4.0 {
            break;
        }
        n += 1.0;
    }
    return vec4(n / 40.0, fract(n / 8.0), select(0.6, 0.0, n == 40.0), 1.0);
}

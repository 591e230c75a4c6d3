struct Out { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) uv: vec2<f32>) -> Out {
    return Out(vec4(position, 1.0), uv);
}

@fragment fn fs_main(@location(0) v_uv: vec2<f32>) -> @location(0) vec4<f32> {
    let x = v_uv.x;
    let b = floor(v_uv.y * 8.0);
    var r = 0.0;
    if b == 0.0 {
        r = exp2(x * 6.0) / 64.0;
    } else if b == 1.0 {
        r = log2(1.0 + x * 15.0) / 4.0;
    } else if b == 2.0 {
        r = exp(x * 3.0) / 20.1;
    } else if b == 3.0 {
        r = log(1.0 + x * 19.0) / 3.0;
    } else if b == 4.0 {
        r = pow(x, 2.2);
    } else if b == 5.0 {
        r = sqrt(x);
    } else if b == 6.0 {
        r = inverseSqrt(1.0 + x * 15.0);
    } else {
        r = 1.0 / (1.0 + x * 7.0);
    }
    return vec4(r, fract(r * 4.0), x, 1.0);
}

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) v0: vec4<f32>,
    @location(1) v1: vec4<f32>,
    @location(2) v2: vec4<f32>,
    @location(3) v3: vec4<f32>,
    @location(4) v4: vec4<f32>,
    @location(5) v5: vec4<f32>,
    @location(6) v6: vec4<f32>,
    @location(7) v7: vec4<f32>,
}

@vertex fn vs_main(@location(0) p: vec4<f32>, @location(1) col: vec4<f32>, @location(2) uv: vec2<f32>) -> Out {
    return Out(p, col, col.gbar * 0.5, vec4(uv, uv.yx), col * uv.x, col * uv.y, vec4(1.0) - col, p, p.yxwz * 0.25 + 0.5);
}

@fragment fn fs_main(v: Out) -> @location(0) vec4<f32> {
    let s = v.v0 * v.v1 + v.v2 * v.v3 + v.v4 * v.v5 + v.v6 * v.v7;
    return vec4(s.rgb * 0.5 + vec3(v.v2.x, v.v5.y, v.v7.z) * 0.3, 1.0);
}

struct Uniforms { mvp: mat4x4<f32>, mv: mat4x4<f32>, color: vec4<f32> }
@group(0) @binding(0) var<uniform> u: Uniforms;

struct Out { @builtin(position) position: vec4<f32>, @location(0) n: vec3<f32>, @location(1) p: vec3<f32> }

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>) -> Out {
    let p = u.mv * vec4(position, 1.0);
    return Out(u.mvp * vec4(position, 1.0), (u.mv * vec4(normal, 0.0)).xyz, p.xyz);
}

@fragment fn fs_main(@location(0) v_n: vec3<f32>, @location(1) v_p: vec3<f32>) -> @location(0) vec4<f32> {
    let n = normalize(v_n);
    let l = normalize(vec3(5.0, 5.0, 10.0) - v_p * 0.1);
    let d = max(dot(n, l), 0.0);
    let h = normalize(l + normalize(-v_p));
    let s = pow(max(dot(n, h), 0.0), 24.0);
    return vec4(u.color.rgb * (0.2 + 0.8 * d) + vec3(0.4 * s), 1.0);
}

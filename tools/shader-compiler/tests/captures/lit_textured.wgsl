struct Uniforms { mvp: mat4x4<f32>, mv: mat4x4<f32>, light: array<vec3<f32>, 3> }
@group(0) @binding(0) var<uniform> u: Uniforms;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var image_sampler: sampler;

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) n: vec3<f32>,
    @location(1) p: vec3<f32>,
    @location(2) uv: vec2<f32>,
}

@vertex fn vs_main(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) uv: vec2<f32>) -> Out {
    let p = (u.mv * vec4(position, 1.0)).xyz;
    return Out(u.mvp * vec4(position, 1.0), (u.mv * vec4(normal, 0.0)).xyz, p, uv);
}

@fragment fn fs_main(@location(0) v_n: vec3<f32>, @location(1) v_p: vec3<f32>, @location(2) v_uv: vec2<f32>)
    -> @location(0) vec4<f32> {
    let n = normalize(v_n);
    let e = normalize(-v_p);
    let base = textureSample(image, image_sampler, v_uv).rgb;
    var c = base * 0.1;
    for (var i = 0; i < 3; i++) {
        var l = u.light[i] - v_p;
        let a = 1.0 / (1.0 + 0.1 * dot(l, l));
        l = normalize(l);
        c += base * max(dot(n, l), 0.0) * a * 1.5;
        c += vec3(pow(max(dot(n, normalize(l + e)), 0.0), 32.0)) * a;
    }
    return vec4(c, 1.0);
}

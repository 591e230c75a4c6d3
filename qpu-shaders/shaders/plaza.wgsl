// A paved plain up to the horizon, in haze.

struct View { matrix: mat4x4<f32> }
@group(0) @binding(0) var<uniform> view: View;

struct Ground {
    eye: vec3<f32>,
    // How far the paving has moved, in repetitions of its texture.
    moved: vec2<f32>,
    // Light of the sun and of the sky.
    light: vec3<f32>,
    horizon: vec3<f32>,
}
@group(0) @binding(1) var<uniform> ground: Ground;
@group(0) @binding(2) var paving: texture_2d<f32>;
@group(0) @binding(3) var filtered: sampler;

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex fn vs_main(@location(0) place: vec2<f32>) -> Surface {
    return Surface(view.matrix * vec4(place.x, 0.0, place.y, 1.0), place);
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let color = textureSample(paving, filtered, 0.4 * surface.place + ground.moved).rgb;
    let away = vec3(surface.place.x, 0.0, surface.place.y) - ground.eye;
    let clear = exp2(-0.0022 * dot(away, away));
    let seen = mix(ground.horizon, color * color * ground.light, clear);
    return vec4(sqrt(1.0 - exp2(-1.3 * seen)), 1.0);
}

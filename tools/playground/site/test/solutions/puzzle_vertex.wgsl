@group(0) @binding(0) var<uniform> resolution: vec2<f32>;
@group(0) @binding(1) var<uniform> time: f32;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var image_sampler: sampler;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) at: vec2<f32> }

@vertex fn vs_main(@location(0) place: vec2<f32>) -> Corner {
    let across = place * vec2(resolution.x / resolution.y, 1.0);
    let turn = vec2(cos(time + 0.5), sin(time + 0.5));
    let turned = vec2(across.x * turn.x - across.y * turn.y, across.x * turn.y + across.y * turn.x);
    return Corner(vec4(place, 0.0, 1.0), 0.8 * turned + 0.25);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    return textureSample(image, image_sampler, corner.at);
}

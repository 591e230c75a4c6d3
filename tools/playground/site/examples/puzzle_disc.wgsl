@group(0) @binding(0) var<uniform> resolution: vec2<f32>;

// Draw a white disc in the middle of a black picture: its radius is a quarter of the picture's height.
@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4(place.xy / resolution, 0.0, 1.0);
}

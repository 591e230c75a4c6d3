// A model's fragments with a texture: its colour times the model's colour times the light.

// Red, green, blue, alpha, 0 to 1.
struct Material { base_color: vec4<f32> }
@group(0) @binding(0) var<uniform> material: Material;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

@fragment fn fs_main(@location(0) uv: vec2<f32>, @location(1) light: f32) -> @location(0) vec4<f32> {
    let lit = vec4(saturate(material.base_color.rgb * light), material.base_color.a);
    return lit * textureSample(image, filtered, uv);
}

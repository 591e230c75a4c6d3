// A model's fragments without a texture: the model's colour times the light.

// Red, green, blue, alpha, 0 to 1.
struct Material { base_color: vec4<f32> }
@group(0) @binding(0) var<uniform> material: Material;

@fragment fn fs_main(@location(0) uv: vec2<f32>, @location(1) light: f32) -> @location(0) vec4<f32> {
    return vec4(material.base_color.rgb * light, material.base_color.a);
}

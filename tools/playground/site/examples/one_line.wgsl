@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.16, 0.42, 0.78, 1.0); }

@fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let square = vec2<i32>(place.xy) / 20;
    let is_light = ((square.x + square.y) & 1) == 0;
    return select(vec4(0.15, 0.17, 0.22, 1.0), vec4(0.92, 0.88, 0.78, 1.0), is_light);
}

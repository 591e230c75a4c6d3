struct Corner { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> }

@vertex fn vs_main(@builtin(vertex_index) number: u32, @location(0) place: vec3<f32>) -> Corner {
    let red = select(0.0, 1.0, number == 0u);
    let green = select(0.0, 1.0, number == 1u);
    let blue = select(0.0, 1.0, number == 2u);
    return Corner(vec4(place, 1.0), vec3(red, green, blue));
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.color, 1.0);
}

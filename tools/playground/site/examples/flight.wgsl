// A flight through an endless sponge: no triangles, but a distance at each place, and a ray for each pixel.
@group(0) @binding(0) var<uniform> time: f32;
@group(0) @binding(1) var<uniform> resolution: vec2<f32>;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) ray: vec3<f32>, @location(1) eye: vec3<f32> }

// The camera looks along the holes and rolls. What is computed here is computed for four corners.
@vertex fn vs_main(@location(0) place: vec2<f32>) -> Corner {
    let roll = 0.13 * time + 0.35;
    let across = 0.75 * place * vec2(resolution.x / resolution.y, 1.0);
    let ray = vec3(across.x * cos(roll) - across.y * sin(roll), across.x * sin(roll) + across.y * cos(roll), -1.0);
    let turn = 0.5 * sin(0.13 * time + 0.5);
    let turned = vec3(ray.x * cos(turn) + ray.z * sin(turn), ray.y, ray.z * cos(turn) - ray.x * sin(turn));
    return Corner(vec4(place, 0.0, 1.0), turned, vec3(0.12 * sin(0.3 * time), 0.1 * sin(0.6 * time), 0.9 - 0.5 * time));
}

// Cubes of side 2 with holes along all axes, in three sizes.
fn sponge(place: vec3<f32>) -> f32 {
    var distance = -1.0;
    var scale = 0.5;
    for (var size = 0; size < 3; size++) {
        let cell = abs(place) * scale;
        let within = abs(6.0 * (cell - trunc(cell)) - 3.0) - 1.0;
        let a = abs(within);
        let holes = min(max(a.x, a.y), min(max(a.y, a.z), max(a.z, a.x))) - 1.0;
        scale *= 3.0;
        distance = max(distance, holes / (2.0 * scale));
    }
    return distance;
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let ray = normalize(corner.ray);
    var gone = 0.02;
    var steps = 0.0;
    loop {
        let distance = sponge(corner.eye + gone * ray);
        if distance < 0.001 * gone || gone > 7.0 || steps > 40.0 { break; }
        gone += distance;
        steps += 1.0;
    }
    let place = corner.eye + gone * ray;
    let here = sponge(place);
    let little = vec2(0.0008, 0.0);
    let normal = normalize(vec3(sponge(place + little.xyy), sponge(place + little.yxy), sponge(place + little.yyx)) - here);
    let open = 0.4 + 0.6 * saturate(5.0 * sponge(place + 0.2 * normal));
    let stone = mix(vec3(0.96, 0.50, 0.18), vec3(1.0, 0.93, 0.80), 0.5 + 0.5 * normal.y);
    let light = 0.22 + 0.75 * max(dot(normal, vec3(0.48, 0.64, 0.6)), 0.0) + 0.40 * max(-dot(normal, ray), 0.0);
    return vec4(mix(vec3(0.50, 0.70, 0.95), stone * light * open, exp2(-0.18 * gone * gone)), 1.0);
}

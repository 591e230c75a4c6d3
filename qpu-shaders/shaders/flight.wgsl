// A flight through an endless sponge: ray marching by a distance field.

struct Flight {
    eye: vec3<f32>,
    // Unit vector to the light.
    to_light: vec3<f32>,
}
@group(0) @binding(0) var<uniform> flight: Flight;

// Length of a ray that hits nothing.
const FAR = 7.0;
// Distance within which other walls darken a wall.
const CORNER = 0.2;
const FOG = vec3(0.50, 0.70, 0.95);

// The distance to the sponge: cubes of side 2 with holes along all axes, in three sizes.
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

@fragment fn fs_main(@location(0) direction: vec3<f32>) -> @location(0) vec4<f32> {
    let ray = normalize(direction);
    var gone = 0.02;
    var steps = 0.0;
    loop {
        let distance = sponge(flight.eye + gone * ray);
        if distance < 0.001 * gone || gone > FAR || steps > 40.0 {
            break;
        }
        gone += distance;
        steps += 1.0;
    }
    let place = flight.eye + gone * ray;
    let here = sponge(place);
    let little = 0.0008;
    let slope = vec3(
        sponge(place + vec3(little, 0.0, 0.0)),
        sponge(place + vec3(0.0, little, 0.0)),
        sponge(place + vec3(0.0, 0.0, little)),
    ) - here;
    let normal = normalize(slope);
    // Ambient occlusion: the distance to other walls, at a point a little in front of this one.
    let open = 0.4 + 0.6 * saturate(sponge(place + CORNER * normal) / CORNER);
    let stone = mix(vec3(0.96, 0.50, 0.18), vec3(1.0, 0.93, 0.80), 0.5 + 0.5 * normal.y);
    let light = 0.22 + 0.75 * max(dot(normal, flight.to_light), 0.0) + 0.40 * max(-dot(normal, ray), 0.0);
    let clear = exp2(-0.18 * gone * gone);
    return vec4(mix(FOG, stone * light * open, clear), 1.0);
}

// The sea by day, as a disc that reaches to the horizon: waves with reflections of the sky and glitter of the sun.

struct View {
    matrix: mat4x4<f32>,
    // Height of the sea.
    level: f32,
}
@group(0) @binding(0) var<uniform> view: View;

struct Light {
    // Above the sea's level.
    eye: vec3<f32>,
    time: f32,
    // Unit vector to the sun.
    to_sun: vec3<f32>,
    // Colour of the sky at the horizon.
    horizon: vec3<f32>,
}
@group(0) @binding(1) var<uniform> light: Light;

const DEEP = vec3(0.05, 0.24, 0.34);
const ZENITH = vec3(0.26, 0.47, 0.70);

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex fn vs_main(@location(0) place: vec2<f32>) -> Surface {
    return Surface(view.matrix * vec4(place.x, view.level, place.y, 1.0), place);
}

// The slope along x and z of a wave with this direction and length.
fn slope(place: vec2<f32>, along: vec2<f32>, speed: f32) -> vec2<f32> {
    return along * cos(dot(along, place) + speed * light.time);
}

@fragment fn fs_main(surface: Surface) -> @location(0) vec4<f32> {
    let place = surface.place;
    let away = vec3(place.x, 0.0, place.y) - light.eye;
    let far = length(away);
    let ray = away / far;
    let waves = 0.045 * slope(place, vec2(0.7, 0.4), 0.9) + 0.026 * slope(place, vec2(-0.8, 1.9), 1.6)
        + 0.012 * slope(place, vec2(3.4, 1.5), 2.3) + 0.008 * slope(place, vec2(-2.7, 4.9), 3.1)
        + 0.005 * slope(place, vec2(8.1, -6.3), 4.2);
    // Far waves are smaller than a pixel: they fade out.
    let calm = 1.0 / (1.0 + 0.003 * far * far);
    let normal = normalize(vec3(-calm * waves.x, 1.0, -calm * waves.y));
    let back = reflect(ray, normal);
    let height = saturate(1.6 * abs(back.y));
    let sky = mix(light.horizon, ZENITH, height * (2.0 - height));
    // Reflectance: nearly 1 at grazing angles, as in C. Schlick's approximation, but for waves.
    let steep = 1.0 - saturate(-dot(ray, normal));
    let steep2 = steep * steep;
    let share = 0.04 + 0.66 * steep2 * steep2 * steep;
    let near = max(dot(back, light.to_sun), 0.0);
    let near2 = near * near;
    let near8 = near2 * near2 * near2 * near2;
    let near32 = near8 * near8 * near8 * near8;
    let near128 = near32 * near32 * near32 * near32;
    let water = mix(DEEP, sky, share) + vec3(0.85, 0.80, 0.66) * near128;
    return vec4(mix(water, light.horizon, 1.0 - exp2(-0.004 * far)), 1.0);
}

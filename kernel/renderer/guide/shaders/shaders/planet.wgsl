// A gas giant. Its clouds are sines of the latitude, which sums of displaced sines disturb; no texture is needed.

// The planet is a sphere of radius 1 around the origin; the matrix takes it to clip coordinates.
struct Camera { matrix: mat4x4<f32>, eye: vec3<f32> }
@group(0) @binding(0) var<uniform> camera: Camera;

// A unit vector to the sun, and the colour of the air at the rim.
struct Sky { to_sun: vec3<f32>, air: vec3<f32> }
@group(0) @binding(1) var<uniform> sky: Sky;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) to_eye: vec3<f32>,
}

@vertex fn vs_main(@location(0) place: vec3<f32>) -> Corner {
    return Corner(camera.matrix * vec4(place, 1.0), place, camera.eye - place);
}

const DUST = vec3(0.72, 0.50, 0.33);
const CLOUD = vec3(0.97, 0.90, 0.78);
const STORM = vec3(0.50, 0.26, 0.17);

fn clouds(normal: vec3<f32>) -> vec3<f32> {
    let place = normal * vec3(2.0, 6.0, 2.0);
    var displaced = place;
    var frequency = 1.0;
    for (var octave = 1; octave <= 5; octave++) {
        displaced += 0.5 / frequency * cos(1.7 * frequency * displaced.yzx + f32(octave) * vec3(0.0, 1.3, 2.1));
        frequency *= 1.6;
    }
    let swirl = displaced - place;
    let latitude = 8.0 * normal.y + 0.9 * swirl.y;
    let band = 0.5 + 0.5 * sin(1.5 * latitude);
    let streak = 0.5 + 0.5 * sin(5.0 * latitude + 2.0 * swirl.x);
    return mix(mix(DUST, CLOUD, band), STORM, (0.75 - 0.6 * band) * streak);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let normal = normalize(corner.normal);
    let height_of_sun = dot(normal, sky.to_sun);
    let day = saturate((height_of_sun + 0.08) / 0.9);
    let grazing = 1.0 - saturate(dot(normal, normalize(corner.to_eye)));
    let haze = sky.air * grazing * grazing * grazing * saturate(height_of_sun + 0.35);
    return vec4(clouds(normal) * day + haze, 1.0);
}

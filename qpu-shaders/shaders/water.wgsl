// The sea up to the horizon, and the sky above it: one surface behind everything, whose fragment shader computes the view direction of each pixel.
//
// The mirror images of objects in the sea are in a texture, rendered for the same camera; waves shift the texture coordinates. Its alpha is the coverage of a
// texel, and its colours are premultiplied.

struct Sea {
    eye: vec3<f32>,
    time: f32,
    // Unit vector to the sun.
    to_sun: vec3<f32>,
    // Reciprocal of width and height in pixels.
    pixel: vec2<f32>,
}
@group(0) @binding(0) var<uniform> sea: Sea;
@group(0) @binding(1) var mirrored: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

const DEEP = vec3(0.02, 0.13, 0.17);
const HORIZON = vec3(0.96, 0.66, 0.44);
const ZENITH = vec3(0.20, 0.36, 0.62);

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let near = max(dot(direction, sea.to_sun), 0.0);
    let near2 = near * near;
    let near8 = near2 * near2 * near2 * near2;
    let near64 = near8 * near8 * near8 * near8 * near8 * near8 * near8 * near8;
    let near256 = near64 * near64 * near64 * near64;
    let near1024 = near256 * near256 * near256 * near256;
    let height = saturate(1.6 * direction.y);
    return mix(HORIZON, ZENITH, height * (2.0 - height)) + vec3(0.30, 0.14, 0.03) * near8 + vec3(0.34, 0.24, 0.10) * near64
        + vec3(3.0, 2.6, 2.0) * near1024;
}

// The slope along x and z of a wave with this direction and size.
fn slope(place: vec2<f32>, along: vec2<f32>, speed: f32) -> vec2<f32> {
    return along * cos(dot(along, place) + speed * sea.time);
}

@fragment fn fs_main(@builtin(position) pixel: vec4<f32>, @location(0) direction: vec3<f32>) -> @location(0) vec4<f32> {
    let ray = normalize(direction);
    // The intersection of the ray with the sea; above the horizon it is not used.
    let far = sea.eye.y / max(-ray.y, 0.001);
    let place = sea.eye.xz + far * ray.xz;
    let waves = 0.011 * slope(place, vec2(1.1, 0.7), 1.3) + 0.009 * slope(place, vec2(-0.9, 2.3), 1.9)
        + 0.0055 * slope(place, vec2(4.1, 1.7), 2.6) + 0.004 * slope(place, vec2(-3.2, 5.9), 3.7)
        + 0.0025 * slope(place, vec2(9.7, -7.4), 4.9);
    // Far waves are smaller than a pixel.
    let calm = 1.0 / (1.0 + 0.012 * far * far);
    let normal = normalize(vec3(-calm * waves.x, 1.0, -calm * waves.y));
    let at = pixel.xy * sea.pixel + vec2(0.55, 0.4) * normal.xz;
    let standing = textureSample(mirrored, filtered, at);
    let back = reflect(ray, normal);
    let reflection = sky(vec3(back.x, abs(back.y), back.z)) * (1.0 - standing.a) + standing.rgb;
    // Reflectance by Schlick's approximation.
    let steep = 1.0 - saturate(-dot(ray, normal));
    let steep2 = steep * steep;
    let share = 0.03 + 0.97 * steep2 * steep2 * steep;
    let water = mix(mix(DEEP, reflection, share), HORIZON, saturate(0.004 * far - 0.1));
    return vec4(select(water, sky(ray), ray.y > 0.0), 1.0);
}

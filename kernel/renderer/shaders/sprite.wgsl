// Sprites: textured quads, of which each has eight words in a buffer. A vertex is only its own index: it selects the sprite and the corner.

struct Batch {
    // From pixels, counted from the picture's top left corner, to clip coordinates: two over the width, minus two over the height.
    pixel: vec2<f32>,
    // One over the atlas's width and height.
    texel: vec2<f32>,
    // The coverage is slope * alpha + offset; both are linear functions of the sprite's scale.
    slope: vec2<f32>,
    offset: vec2<f32>,
    // 1 for atlases that have only alpha: their colour is white.
    white: f32,
}
@group(0) @binding(0) var<uniform> batch: Batch;
// The centre's x and y, the scales along x and y, the angle, the part's first column and row, its width and height, the tint.
@group(0) @binding(1) var<storage, read> sprites: array<u32>;
@group(0) @binding(2) var atlas: texture_2d<f32>;
@group(0) @binding(3) var filtered: sampler;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) ramp: vec2<f32>,
    @location(2) tint: vec4<f32>,
}

fn halves(word: u32) -> vec2<f32> {
    return vec2(f32(word & 0xffffu), f32(word >> 16u));
}

@vertex fn vs_main(@builtin(vertex_index) index: u32) -> Corner {
    let first = 8u * (index >> 2u);
    let corner = vec2(f32(index & 1u), f32((index >> 1u) & 1u));
    let center = vec2(bitcast<f32>(sprites[first]), bitcast<f32>(sprites[first + 1u]));
    let scale = vec2(bitcast<f32>(sprites[first + 2u]), bitcast<f32>(sprites[first + 3u]));
    let angle = bitcast<f32>(sprites[first + 4u]);
    let size = halves(sprites[first + 6u]);
    let from_center = (corner - 0.5) * size * scale;
    let axis = vec2(cos(angle), sin(angle));
    let exact = center + vec2(dot(vec2(axis.x, -axis.y), from_center), dot(axis.yx, from_center));
    // The hardware has sixteenths of a pixel. The texture coordinates are those of the rounded place.
    let place = floor(16.0 * exact + 0.5) / 16.0;
    let moved = place - exact;
    let moved_texels = vec2(dot(axis, moved), dot(vec2(-axis.y, axis.x), moved)) / scale;
    // It cuts fractions off, towards the middle of the picture: a quarter of a sixteenth outwards keeps rounding errors from being a whole one.
    let clip = place * batch.pixel + vec2(-1.0, 1.0);
    let position = clip + sign(clip) * abs(batch.pixel) / 64.0;
    let uv = (halves(sprites[first + 5u]) + corner * size + moved_texels) * batch.texel;
    let ramp = vec2(batch.slope.x + batch.slope.y * scale.x, batch.offset.x + batch.offset.y * scale.x);
    return Corner(vec4(position, 0.0, 1.0), uv, ramp, unpack4x8unorm(sprites[first + 7u]));
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    let texel = textureSample(atlas, filtered, corner.uv);
    let covered = clamp(corner.ramp.x * texel.a + corner.ramp.y, 0.0, 1.0);
    return vec4(max(texel.rgb, vec3(batch.white)) * corner.tint.rgb, covered * corner.tint.a);
}

// Sparks as points that are brightest in their middle, and cool while they live. A vertex is a `Spark` of `sparks_move.wgsl`.

struct View {
    matrix: mat4x4<f32>,
    // Pixels across of a spark at distance 1.
    size: f32,
    brightness: f32,
}
@group(0) @binding(0) var<uniform> view: View;

const GOLD = vec3(1.0, 0.42, 0.10);
const ICE = vec3(0.12, 0.45, 1.0);

struct Spark {
    @location(0) place: vec3<f32>,
    @location(1) age: f32,
    @location(2) speed: vec3<f32>,
    @location(3) tint: f32,
}

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
    @location(1) point_size: f32,
}

@vertex fn vs_main(spark: Spark) -> Out {
    let position = view.matrix * vec4(spark.place, 1.0);
    let heat = 1.0 - spark.age;
    let heat2 = heat * heat;
    // They glow for most of their life, and fade at its end.
    let glow = (0.3 + 0.7 * heat) * min(4.0 * heat, 1.0);
    let color = view.brightness * (glow * mix(GOLD, ICE, spark.tint) + 0.5 * heat2 * heat2);
    return Out(position, color, view.size / position.w);
}

@fragment fn fs_main(@location(1) point_coord: vec2<f32>, @location(0) color: vec3<f32>) -> @location(0) vec4<f32> {
    let from_middle = point_coord - 0.5;
    let share = max(1.0 - 4.0 * dot(from_middle, from_middle), 0.0);
    return vec4(color * (share * share), 1.0);
}

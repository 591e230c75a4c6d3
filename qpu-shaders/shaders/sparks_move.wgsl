// Moves sparks by one step of time: each is thrown from a nozzle, falls, is blown about, bounces off the floor, and begins anew at the end of its life.
//
// The state before and after the step are in two arrays: the lookups of a TMU do not see what a user program has written.

struct Spark {
    place: vec3<f32>,
    // In lives, from 0 to 1.
    age: f32,
    speed: vec3<f32>,
    // 0 for sparks of the first nozzle, 1 for those of the second.
    tint: f32,
}

struct Step {
    seconds: f32,
    // Moves the wind.
    phase: f32,
    // Of the first nozzle; the second one is opposite.
    nozzle: vec3<f32>,
    jet: vec3<f32>,
}
@group(0) @binding(0) var<uniform> step: Step;
// A spark's deviation from its jet, and its lives a second.
@group(0) @binding(1) var<storage, read> seeds: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> before: array<Spark>;
@group(0) @binding(3) var<storage, read_write> after: array<Spark>;

const GRAVITY = vec3(0.0, -4.5, 0.0);
// The share of the speed that a second in the air, and a bounce, take.
const DRAG = 0.25;
const BOUNCE = vec3(0.6, -0.4, 0.6);

fn wind(place: vec3<f32>) -> vec3<f32> {
    return 2.2 * vec3(sin(1.3 * place.z + step.phase), 0.3 * sin(1.7 * place.x), cos(1.3 * place.x + step.phase));
}

@compute @workgroup_size(64)
fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x;
    if n >= arrayLength(&after) {
        return;
    }
    let seed = seeds[n];
    var spark = before[n];
    spark.age += step.seconds * seed.w;
    if spark.age > 1.0 {
        spark.age -= 1.0;
        let side = vec3(1.0 - 2.0 * spark.tint, 1.0, 1.0 - 2.0 * spark.tint);
        spark.place = side * step.nozzle;
        spark.speed = side * step.jet + seed.xyz;
    }
    spark.speed += step.seconds * (GRAVITY + wind(spark.place) - DRAG * spark.speed);
    spark.place += step.seconds * spark.speed;
    if spark.place.y < 0.0 {
        spark.place.y = -0.4 * spark.place.y;
        spark.speed *= BOUNCE;
    }
    after[n] = spark;
}

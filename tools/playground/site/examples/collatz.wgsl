// How many steps a number takes to 1, if even ones are halved and odd ones tripled, plus 1. 16 numbers go together: all wait for the slowest.
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    var number = max(given[id.x], 1u);
    var count = 0u;
    while number != 1u && count < 1000u {
        number = select(number >> 1u, 3u * number + 1u, (number & 1u) == 1u);
        count++;
    }
    steps[id.x] = count;
}

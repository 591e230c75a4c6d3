// Reverses the order of each 64 numbers, by way of the memory that a workgroup shares.
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> reversed: array<f32>;
var<workgroup> block: array<f32, 64>;

@compute @workgroup_size(64) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    block[at] = given[id.x];
    workgroupBarrier();
    reversed[id.x] = block[63u - at];
}

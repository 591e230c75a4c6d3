// Nobody reads before all have written.
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> turned: array<u32>;
var<workgroup> block: array<u32, 64>;

@compute @workgroup_size(64) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    block[at] = given[id.x];
    workgroupBarrier();
    turned[id.x] = block[63u - at];
}

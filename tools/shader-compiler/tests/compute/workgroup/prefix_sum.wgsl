@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> scratch: array<u32, 128>;
@compute @workgroup_size(64) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    scratch[2u * at] = input[2u * id.x];
    scratch[2u * at + 1u] = input[2u * id.x + 1u];
    var offset = 1u;
    for (var d = 64u; d > 0u; d >>= 1u) {
        workgroupBarrier();
        if at < d {
            let a = offset * (2u * at + 1u) - 1u;
            let b = offset * (2u * at + 2u) - 1u;
            scratch[b] += scratch[a];
        }
        offset *= 2u;
    }
    if at == 0u { scratch[127] = 0u; }
    for (var d = 1u; d < 128u; d *= 2u) {
        offset >>= 1u;
        workgroupBarrier();
        if at < d {
            let a = offset * (2u * at + 1u) - 1u;
            let b = offset * (2u * at + 2u) - 1u;
            let t = scratch[a];
            scratch[a] = scratch[b];
            scratch[b] += t;
        }
    }
    workgroupBarrier();
    output[2u * id.x] = scratch[2u * at];
    output[2u * id.x + 1u] = scratch[2u * at + 1u];
}

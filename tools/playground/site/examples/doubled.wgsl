// One invocation for each number: 16 of them are one vector on a QPU. Numbers are read by the TMU and written through the VPM.
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> doubled: array<f32>;

@compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    doubled[id.x] = 2.0 * given[id.x];
}

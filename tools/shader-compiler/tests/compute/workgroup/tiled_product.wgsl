// A product of matrices of 64 by 64, of which a workgroup computes 8 by 8 elements from tiles of 8 by 8 in its memory.
struct Size { tiles: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read_write> product: array<f32>;
var<workgroup> left_tile: array<f32, 64>;
var<workgroup> right_tile: array<f32, 64>;

@compute @workgroup_size(8, 8) fn cs_main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let row = group.y * 8u + local.y;
    let column = group.x * 8u + local.x;
    let width = size.tiles * 8u;
    var sum = 0.0;
    for (var tile = 0u; tile < size.tiles; tile++) {
        left_tile[local.y * 8u + local.x] = left[row * width + tile * 8u + local.x];
        right_tile[local.y * 8u + local.x] = right[(tile * 8u + local.y) * width + column];
        workgroupBarrier();
        for (var k = 0u; k < 8u; k++) {
            sum += left_tile[local.y * 8u + k] * right_tile[k * 8u + local.x];
        }
        workgroupBarrier();
    }
    product[row * width + column] = sum;
}

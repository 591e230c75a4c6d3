// A product of matrices of 64 by 64, of which each invocation computes one element and reads all that it needs from memory.
struct Size { tiles: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read_write> product: array<f32>;

@compute @workgroup_size(8, 8) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = size.tiles * 8u;
    var sum = 0.0;
    for (var k = 0u; k < width; k++) {
        sum += left[id.y * width + k] * right[k * width + id.x];
    }
    product[id.y * width + id.x] = sum;
}

// A bar chart without a mesh: the vertex index selects a corner, the instance index a bar, and heights and colours are in storage buffers.

struct Chart { count: u32, highest: f32 }
@group(0) @binding(0) var<uniform> chart: Chart;
@group(0) @binding(1) var<storage, read> heights: array<f32>;

// A long array with a variable index: it is in memory as well.
struct Palette { colors: array<vec4<f32>, 12> }
@group(0) @binding(2) var<uniform> palette: Palette;

struct Out {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat, either) bar: u32,
}

// Two triangles as a strip.
@vertex fn vs_main(@builtin(vertex_index) corner: u32, @builtin(instance_index) bar: u32) -> Out {
    let right = f32(corner & 1u);
    let top = f32(corner >> 1u);
    let x = (f32(bar) + 0.1 + 0.8 * right) / f32(chart.count);
    let y = top * heights[bar] / chart.highest;
    return Out(vec4(2.0 * x - 1.0, 2.0 * y - 1.0, 0.0, 1.0), bar);
}

@fragment fn fs_main(@location(0) @interpolate(flat, either) bar: u32) -> @location(0) vec4<f32> {
    return palette.colors[bar % 12u];
}

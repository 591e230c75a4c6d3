// Vertices with the matrices of the instance that they belong to, as https://sotrh.github.io/learn-wgpu/beginner/tutorial7-instancing/ and the lighting
// behind it have them. There is one buffer of vertices, so each of them has the matrices.

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) tex_coords: vec2<f32>,
    @location(2) normal: vec3<f32>,
    @location(5) model_matrix_0: vec4<f32>,
    @location(6) model_matrix_1: vec4<f32>,
    @location(7) model_matrix_2: vec4<f32>,
    @location(8) model_matrix_3: vec4<f32>,
    @location(9) normal_matrix_0: vec3<f32>,
    @location(10) normal_matrix_1: vec3<f32>,
    @location(11) normal_matrix_2: vec3<f32>,
}

@group(0) @binding(0) var<uniform> camera: mat4x4<f32>;

struct Corner {
    @builtin(position) place: vec4<f32>,
    @location(0) tex_coords: vec2<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex fn vs_main(vertex: Vertex) -> Corner {
    let model = mat4x4(vertex.model_matrix_0, vertex.model_matrix_1, vertex.model_matrix_2, vertex.model_matrix_3);
    let normals = mat3x3(vertex.normal_matrix_0, vertex.normal_matrix_1, vertex.normal_matrix_2);
    return Corner(camera * model * vec4(vertex.position, 1.0), vertex.tex_coords, normals * vertex.normal);
}

@fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.tex_coords, corner.normal.z, 1.0);
}

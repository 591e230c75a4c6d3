//! Vertices with more attributes than a record has arrays: adjacent attributes share an array.

use guide_shaders::instances::{FRAGMENT, SHADING, Uniforms, Vertex};
use qpu_shaders::NoUniforms;
use renderer::{Mesh, Pipeline, PipelineDescriptor, Primitive};

use crate::scene::{CLEAR, Picture, device, model};

const SIDE: u32 = 64;
const INSTANCES: usize = 4;

/// An instance is a square in a quarter of the picture, rotated by its number of right angles, with its normal at another angle to the viewer.
fn instance(number: usize) -> Vec<Vertex> {
    let (x, y) = ([-0.5, 0.5][number % 2], [0.5, -0.5][number / 2]);
    let (cosine, sine) = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][number];
    // The third row of the normals' matrix is the instance's, and the normal is (0.25, 0.5, 1).
    let third = share(number);
    let corner = |[across, up]: [f32; 2]| Vertex {
        position: [0.25 * across, 0.25 * up, 0.0],
        tex_coords: [across.max(0.0), up.max(0.0)],
        normal: [0.25, 0.5, 1.0],
        model_matrix_0: [cosine, sine, 0.0, 0.0],
        model_matrix_1: [-sine, cosine, 0.0, 0.0],
        model_matrix_2: [0.0, 0.0, 1.0, 0.0],
        model_matrix_3: [x, y, 0.0, 1.0],
        normal_matrix_0: [1.0, 0.0, third[0]],
        normal_matrix_1: [0.0, 1.0, third[1]],
        normal_matrix_2: [0.0, 0.0, third[2]],
    };
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    corners.map(corner).into()
}

fn share(number: usize) -> [f32; 3] {
    [0.2 * number as f32, 0.1, 0.3]
}

#[test]
fn instances_have_matrices_in_ten_attributes() {
    let model = model();
    let device = device(&model);
    let descriptor = PipelineDescriptor::new("instances", &SHADING, &FRAGMENT);
    let pipeline = Pipeline::new(&device, &descriptor).unwrap();
    let vertices: Vec<Vertex> = (0..INSTANCES).flat_map(instance).collect();
    let mesh = Mesh::new(&device, "squares", Primitive::Triangles, &vertices).unwrap();
    let camera = std::array::from_fn(|at| if at % 5 == 0 { 1.0 } else { 0.0 });
    let picture = Picture::draw(&model, &device, (SIDE, SIDE), |pass| {
        pass.draw(&pipeline, &mesh, &Uniforms { camera }, &NoUniforms).unwrap();
    });
    for number in 0..INSTANCES {
        let (middle_x, middle_y): (i32, i32) = ([16, 48][number % 2], [16, 48][number / 2]);
        let normal = share(number).iter().zip([0.25, 0.5, 1.0]).map(|(share, part)| share * part).sum::<f32>();
        for (at_x, at_y) in [(-5, -6), (4, -3), (6, 5), (-2, 3)] {
            let (x, y) = ((middle_x + at_x) as u32, (middle_y + at_y) as u32);
            // From the pixel's centre back to the square's coordinates: its side is 16 pixels, and y is upwards there.
            let (right, up) = ((f64::from(at_x) + 0.5) / 16.0, -(f64::from(at_y) + 0.5) / 16.0);
            let (u, v) = [(right, up), (up, -right), (-right, -up), (-up, right)][number];
            let expected = [0.5 + u, 0.5 + v, normal.into(), 1.0].map(|part| 255.0 * part);
            picture.assert_near((x, y), expected, 1.5);
        }
        for (at_x, at_y) in [(-12, 0), (11, 0), (0, -12), (0, 11)] {
            assert_eq!(picture.pixel((middle_x + at_x) as u32, (middle_y + at_y) as u32), CLEAR);
        }
    }
}

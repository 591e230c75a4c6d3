//! Vertices that are in memory already, as a user program would leave them.

use qpu_shaders::{NoUniforms, VertexData, smooth, transformed};
use renderer::glam::Mat4;
use renderer::{Device, Error, Mesh, Pipeline, PipelineDescriptor, Primitive, rows};
use v3d_host::Model;

use crate::scene::{Picture, device, model};

type Vertex = transformed::Vertex;

const SIZE: (u32, u32) = (64, 48);

/// A fan of triangles in different colours.
fn vertices() -> Vec<Vertex> {
    let corners = [[0.0, 0.0], [0.9, 0.1], [0.4, 0.8], [-0.6, 0.7], [-0.8, -0.5]];
    let colors = [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    corners.into_iter().zip(colors).map(|([x, y], color)| Vertex { position: [x, y, 0.0], color }).collect()
}

fn draw(model: &Model, device: &Device<'_, Model>, mesh: &Mesh<Vertex>) -> Picture {
    let descriptor = PipelineDescriptor::new("fan", &transformed::SHADING, &smooth::FRAGMENT);
    let pipeline = Pipeline::new(device, &descriptor).unwrap();
    Picture::draw(model, device, SIZE, |pass| {
        let uniforms = transformed::Uniforms { matrix: rows(&Mat4::IDENTITY) };
        pass.draw(&pipeline, mesh, &uniforms, &NoUniforms).unwrap();
    })
}

#[test]
fn vertices_in_memory_are_drawn_as_they_are_then() {
    let model = model();
    let device = device(&model);
    let mut words = Vec::new();
    vertices().iter().for_each(|vertex| vertex.push(&mut words));
    let memory = device.driver().unwrap().allocate(4 * words.len() as u32 + 64, 16).unwrap();
    let mesh = Mesh::<Vertex>::in_memory(&device, "fan", Primitive::TriangleFan, &memory, 5).unwrap();
    // Written after the mesh was made.
    memory.region().part(0, 4 * words.len() as u32).unwrap().store_words(&model, &words).unwrap();
    let copied = Mesh::new(&device, "fan", Primitive::TriangleFan, &vertices()).unwrap();
    let expected = draw(&model, &device, &copied);
    assert!(draw(&model, &device, &mesh) == expected, "the pictures differ");
    let nothing = Mesh::new(&device, "point", Primitive::TriangleFan, &[vertices()[0]; 3]).unwrap();
    assert!(draw(&model, &device, &nothing) != expected, "the fan is not visible");
}

#[test]
fn memory_that_is_too_short_is_refused() {
    let (model, other) = (model(), model());
    let (device, other) = (device(&model), device(&other));
    let memory = device.driver().unwrap().allocate(2 << 20, 16).unwrap();
    let mesh = |device, count| Mesh::<Vertex>::in_memory(device, "sparks", Primitive::Points, &memory, count).err();
    assert_eq!(mesh(&device, 65_535), None);
    let too_many = |vertices| Some(Error::MeshSize { label: "sparks", vertices });
    assert_eq!(mesh(&device, 65_536), too_many(65_536));
    assert_eq!(mesh(&device, 0), too_many(0));
    assert_eq!(mesh(&other, 3), Some(Error::ForeignDevice { label: "sparks" }));
    let short = device.driver().unwrap().allocate(5 * Vertex::BYTES as u32, 16).unwrap();
    let fit = short.region().bytes() / Vertex::BYTES as u32;
    let of_short = |count| Mesh::<Vertex>::in_memory(&device, "sparks", Primitive::Points, &short, count).err();
    assert_eq!((of_short(fit), of_short(fit + 1)), (None, too_many(fit as usize + 1)));
}

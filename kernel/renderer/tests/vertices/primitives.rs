//! Points and lines with their sizes, meshes beyond what one record draws, instances.

use qpu_shaders::{
    Fragment, NoUniforms, UniformStream, VertexUniforms, ViewportUniforms, points, smooth, smooth_lines, transformed,
    triangle,
};
use renderer::glam::{Mat4, Vec3};
use renderer::{
    AlphaTest, Compare, Error, Indices, Mesh, Pipeline, PipelineDescriptor, Primitive, PrimitiveKind, rows,
};
use v3d::hw::control_list::Threading;

use crate::scene::{CLEAR, Model, Picture, Random, device, model};

/// Sides of the pictures in pixels.
const SIDE: u32 = 64;

/// From pixels, counted from the top left corner, to clip coordinates.
fn pixels_to_clip() -> [f32; 16] {
    let scale = Mat4::from_scale(Vec3::new(2.0 / SIDE as f32, -2.0 / SIDE as f32, 1.0));
    rows(&(Mat4::from_translation(Vec3::new(-1.0, 1.0, 0.0)) * scale))
}

fn point([x, y]: [f32; 2], size: f32) -> points::Vertex {
    points::Vertex { position: [x, y, 0.5], size: [size], color: [0.2, 0.4, 0.6] }
}

/// Points of sizes from 1 to 24, one in each cell of a grid of four by four.
fn some_points() -> Vec<([f32; 2], f32)> {
    let sizes = [1.0, 2.0, 3.0, 4.5, 6.0, 7.0, 8.0, 9.5, 10.0, 11.0, 12.0, 12.5, 13.0, 14.0, 15.0, 16.0];
    let place = |n: usize| [8 + 16 * (n % 4), 8 + 16 * (n / 4)].map(|at| at as f32);
    sizes.iter().enumerate().map(|(n, &size)| (place(n), size)).collect()
}

fn draw_points(model: &Model, fragment: &Fragment<NoUniforms, 4>) -> Picture {
    let device = device(model);
    let vertices: Vec<_> = some_points().into_iter().map(|(place, size)| point(place, size)).collect();
    let mesh = Mesh::new(&device, "points", Primitive::Points, &vertices).unwrap();
    let pipeline = Pipeline::new(&device, &PipelineDescriptor::new("points", &points::SHADING, fragment)).unwrap();
    Picture::draw(model, &device, (SIDE, SIDE), |pass| {
        pass.draw(&pipeline, &mesh, &points::Uniforms { matrix: pixels_to_clip() }, &NoUniforms).unwrap();
    })
}

/// The position of a pixel's centre within a point's square, and the size of the point.
type InPoint = ([f64; 2], f64);

/// For each pixel of a picture with some points, the point that it is in; `None` outside of all.
fn places_in_points() -> impl Iterator<Item = ((u32, u32), Option<InPoint>)> {
    let points = some_points();
    (0..SIDE * SIDE).map(move |n| {
        let (x, y) = (n % SIDE, n / SIDE);
        let inside = points.iter().find_map(|&([left, top], size)| {
            let size = f64::from(size);
            let place =
                [(x, left), (y, top)].map(|(at, middle)| (f64::from(at) + 0.5 - f64::from(middle)) / size + 0.5);
            place.iter().all(|at| (0.0..1.0).contains(at)).then_some((place, size))
        });
        ((x, y), inside)
    })
}

#[test]
fn round_points_have_their_own_sizes() {
    let picture = draw_points(&model(), &points::FRAGMENT);
    let mut sizes = Vec::new();
    for (pixel, place) in places_in_points() {
        let Some(([x, y], size)) = place else {
            assert_eq!(picture.pixel(pixel.0, pixel.1), CLEAR, "{pixel:?}");
            continue;
        };
        let alpha = ((0.25 - (x - 0.5).powi(2) - (y - 0.5).powi(2)) * size + 0.5).clamp(0.0, 1.0);
        picture.assert_near(pixel, [51.0, 102.0, 153.0, 255.0 * alpha], 2.0);
        sizes.push(size as u32);
    }
    sizes.dedup();
    assert!(sizes.len() >= 16, "not all points were looked at");
}

/// x grows to the right, y upwards.
#[test]
fn points_have_coordinates_of_their_own() {
    let source = ".stage fragment\n.threads 1\n.output color\n.primitive points\n.varying color, 3\n.varying size\n\
        fmul r0, vary, ra15\nfadd r0, r0, r5; fmul r1, vary, ra15\nfadd r1, r1, r5\nmov r2, vary\nmov r2, vary\nmov r2, vary\nmov r2, vary\n\
        fmul r2.8abcd, r0, 1.0\nfmul r2.8b, r1, 1.0\nfmul r0.8abcd, 1.0, 1.0\nfmul r2.8d, 1.0, 1.0\nmov r0, r2";
    let fragment =
        Fragment::new(crate::kinds::program(source.to_owned()), Threading::Single, qpu_shaders::Ending::Color)
            .of(PrimitiveKind::Points);
    let picture = draw_points(&model(), &fragment);
    for (pixel, place) in places_in_points() {
        let Some(([x, y], _)) = place else { continue };
        picture.assert_near(pixel, [255.0 * x, 255.0 * (1.0 - y), 255.0 * x, 255.0], 2.0);
    }
}

#[test]
fn lines_are_as_wide_as_the_pipeline_says() {
    let model = model();
    let device = device(&model);
    let corner = |x: f32, y: f32, color| transformed::Vertex { position: [x, y, 0.5], color };
    // Horizontal lines: the position across their width increases downwards.
    let lines = [(4.0, 10.0, 60.0, 10.0), (4.0, 40.0, 60.0, 40.0)];
    let ends =
        |(x0, y0, x1, y1): (f32, f32, f32, f32)| [corner(x0, y0, [0.0, 0.0, 1.0]), corner(x1, y1, [1.0, 0.0, 1.0])];
    let vertices = lines.map(ends).concat();
    let mesh = Mesh::new(&device, "lines", Primitive::Lines, &vertices).unwrap();
    for line_width_px in [1.0f32, 2.0, 5.0, 8.0] {
        let descriptor = PipelineDescriptor {
            line_width_px,
            ..PipelineDescriptor::new("lines", &transformed::SHADING, &smooth_lines::FRAGMENT)
        };
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        let picture = Picture::draw(&model, &device, (SIDE, SIDE), |pass| {
            pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix: pixels_to_clip() }, &NoUniforms).unwrap();
        });
        for (x, y) in (0..SIDE * SIDE).map(|n| (n % SIDE, n / SIDE)) {
            let away = lines.iter().map(|line| (f64::from(y) + 0.5 - f64::from(line.1)).abs());
            let away = away.fold(f64::INFINITY, f64::min) - f64::from(line_width_px) / 2.0;
            let beyond = (4.0 - f64::from(x) - 0.5).max(f64::from(x) + 0.5 - 60.0);
            if away < -0.1 && beyond < -1.0 {
                let along = (f64::from(x) + 0.5 - 4.0) / 56.0;
                picture.assert_near((x, y), [255.0 * along, 0.0, 255.0, 255.0], 3.0);
            } else if away > 0.1 || beyond > 1.0 {
                assert_eq!(picture.pixel(x, y), CLEAR, "({x}, {y}), width {line_width_px}");
            }
        }
    }
}

#[test]
fn programs_and_meshes_of_different_primitives_are_refused() {
    let model = model();
    let device = device(&model);
    let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let corners = corners.map(|position| triangle::Vertex { position, color: [1.0; 3] });
    let pipeline =
        Pipeline::new(&device, &PipelineDescriptor::new("flat", &triangle::SHADING, &smooth::FRAGMENT)).unwrap();
    let mesh = Mesh::new(&device, "corners", Primitive::LineLoop, &corners).unwrap();
    let picture = Picture::draw(&model, &device, (4, 4), |pass| {
        let refused = |mesh| Error::Primitives { label: "flat", pipeline: PrimitiveKind::Triangles, mesh };
        let error = pass.draw(&pipeline, &mesh, &triangle::Uniforms, &NoUniforms).unwrap_err();
        assert_eq!(error, refused(PrimitiveKind::Lines));
        assert_eq!(error.to_string(), "flat: its fragment shader is for triangles, and the mesh has lines");
        let error = pass.draw_vertices(&pipeline, Primitive::Points, &corners, &triangle::Uniforms, &NoUniforms);
        assert_eq!(error.unwrap_err(), refused(PrimitiveKind::Points));
    });
    assert_eq!(picture.pixel(2, 2), CLEAR);
}

/// A grid of 299 x 299 cells of one pixel each: 300 x 300 vertices whose colour is their position.
mod grid {
    use super::*;

    pub(super) const CELLS: u32 = 299;

    pub(super) fn vertices() -> Vec<triangle::Vertex> {
        let corner = |n: u32| {
            let [x, y] = [n % (CELLS + 1), n / (CELLS + 1)].map(|at| at as f32 / CELLS as f32);
            triangle::Vertex { position: [2.0 * x - 1.0, 1.0 - 2.0 * y, 0.0], color: [x, y, 0.5] }
        };
        (0..(CELLS + 1) * (CELLS + 1)).map(corner).collect()
    }

    fn corner(x: u32, y: u32) -> u32 {
        y * (CELLS + 1) + x
    }

    pub(super) fn triangles() -> Vec<u32> {
        let cell = |n: u32| {
            let (x, y) = (n % CELLS, n / CELLS);
            [corner(x, y), corner(x, y + 1), corner(x + 1, y), corner(x + 1, y), corner(x, y + 1), corner(x + 1, y + 1)]
        };
        (0..CELLS * CELLS).flat_map(cell).collect()
    }

    /// A triangle strip through all rows; the triangles between rows have no area.
    pub(super) fn strip() -> Vec<u32> {
        let row = |y: u32| {
            let row = (0..=CELLS).flat_map(move |x| [corner(x, y), corner(x, y + 1)]);
            let (first, last) = (corner(0, y), corner(CELLS, y + 1));
            [first].into_iter().chain(row).chain([last])
        };
        (0..CELLS).flat_map(row).collect()
    }

    pub(super) fn assert_all_there(picture: &Picture) {
        for (x, y) in (0..CELLS * CELLS).map(|n| (n % CELLS, n / CELLS)) {
            let exact = [x, y].map(|at| 255.0 * (f64::from(at) + 0.5) / f64::from(CELLS));
            picture.assert_near((x, y), [exact[0], exact[1], 127.5, 255.0], 2.0);
        }
    }
}

#[test]
fn ninety_thousand_vertices_are_one_mesh() {
    let model = model();
    let device = device(&model);
    let pipeline =
        Pipeline::new(&device, &PipelineDescriptor::new("grid", &triangle::SHADING, &smooth::FRAGMENT)).unwrap();
    let vertices = grid::vertices();
    assert_eq!(vertices.len(), 90_000);
    for (primitive, indices) in [(Primitive::Triangles, grid::triangles()), (Primitive::TriangleStrip, grid::strip())] {
        let mesh = Mesh::with_indices(&device, "grid", primitive, &vertices, Indices::U32(&indices)).unwrap();
        let picture = Picture::draw(&model, &device, (grid::CELLS, grid::CELLS), |pass| {
            pass.draw(&pipeline, &mesh, &triangle::Uniforms, &NoUniforms).unwrap();
        });
        grid::assert_all_there(&picture);
    }
    // The same without indices: all vertices of all triangles, as transient vertices of this frame.
    let corners: Vec<_> = grid::triangles().iter().map(|&index| vertices[index as usize]).collect();
    let picture = Picture::draw(&model, &device, (grid::CELLS, grid::CELLS), |pass| {
        pass.draw_vertices(&pipeline, Primitive::Triangles, &corners, &triangle::Uniforms, &NoUniforms).unwrap();
    });
    grid::assert_all_there(&picture);
}

#[test]
fn an_index_beyond_all_vertices_is_named() {
    let model = model();
    let device = device(&model);
    let mut indices = grid::triangles();
    indices[70_001] = 90_000;
    let error = Mesh::with_indices(&device, "grid", Primitive::Triangles, &grid::vertices(), Indices::U32(&indices));
    assert_eq!(error.unwrap_err(), Error::Index { label: "grid", at: 70_001, index: 90_000, vertices: 90_000 });
}

/// Seed 5: 40 squares of 3 x 3 pixels at disjoint positions, all instances of one mesh.
#[test]
fn instances_are_the_mesh_again_with_other_uniforms() {
    let model = model();
    let device = device(&model);
    let corners = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]];
    let vertices = corners.map(|[x, y]| transformed::Vertex { position: [x, y, 0.5], color: [1.0, 0.5, 0.0] });
    let mesh = Mesh::with_indices(&device, "square", Primitive::Triangles, &vertices, Indices::U8(&[0, 1, 2, 2, 1, 3]));
    let mesh = mesh.unwrap();
    // The alpha test passes everything; it is there because the tail then has uniforms too, which all instances share.
    let descriptor = PipelineDescriptor {
        alpha_test: AlphaTest { test: Compare::GreaterOrEqual, reference: 9 },
        ..PipelineDescriptor::new("squares", &transformed::SHADING, &smooth::FRAGMENT)
    };
    let pipeline = Pipeline::new(&device, &descriptor).unwrap();
    let mut random = Random::new(5);
    let places: Vec<[u32; 2]> = (0..40).map(|_| [0; 2].map(|_| random.bits() % (SIDE - 3))).collect();
    let clip = Mat4::from_cols_array(&pixels_to_clip()).transpose();
    let instance = |&[x, y]: &[u32; 2]| transformed::Uniforms {
        matrix: rows(&(clip * Mat4::from_translation(Vec3::new(x as f32, y as f32, 0.0)))),
    };
    let instances: Vec<_> = places.iter().map(instance).collect();
    let picture = Picture::draw(&model, &device, (SIDE, SIDE), |pass| {
        pass.draw_instances(&pipeline, &mesh, &instances, &NoUniforms).unwrap();
        pass.draw_instances(&pipeline, &mesh, &[], &NoUniforms).unwrap();
    });
    for (x, y) in (0..SIDE * SIDE).map(|n| (n % SIDE, n / SIDE)) {
        let covered = places.iter().any(|&[left, top]| (left..left + 3).contains(&x) && (top..top + 3).contains(&y));
        let expected = if covered { [255, 128, 0, 255] } else { CLEAR };
        assert_eq!(picture.pixel(x, y), expected, "({x}, {y})");
    }
    // If one instance is invalid, none is drawn.
    let mut bad = instances;
    bad[7].matrix[3] = f32::NAN;
    // The order in which the program reads the matrix was chosen by the compiler.
    let numbered = transformed::Uniforms { matrix: std::array::from_fn(|n| n as f32) };
    let (mut words, mut owners) = (Vec::new(), Vec::new());
    numbered.push_vertex(&mut UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE));
    let place = words.iter().position(|word| *word == 3f32.to_bits()).unwrap();
    let picture = Picture::draw(&model, &device, (SIDE, SIDE), |pass| {
        let error = pass.draw_instances(&pipeline, &mesh, &bad, &NoUniforms).unwrap_err();
        assert!(matches!(error, Error::NotANumber { label: "squares", word, .. } if word == place), "{error:?}");
    });
    assert!((0..SIDE).all(|at| picture.pixel(at, at) == CLEAR));
}

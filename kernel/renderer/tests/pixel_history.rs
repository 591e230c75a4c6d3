//! The history of a pixel in a capture: which draws cover it, and for each draw that is not visible there, why not.

use qpu_shaders::transformed::{SHADING, Uniforms, Vertex};
use qpu_shaders::{NoUniforms, smooth, smooth_alpha};
use renderer::glam::Mat4;
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    AlphaTest, Compare, Cull, Depth, Device, Format, Mesh, Pass, PassDescriptor, Pipeline, PipelineDescriptor,
    Primitive, Rectangle, Shading, Stencil, StencilSide, Target, TargetDescriptor, rows,
};
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::names::Names;
use v3d_sim::job::run::run_folder;
use v3d_sim::render::pixel_trace::Event;

const SIDE: u32 = 64;
/// The pixel; row 0 is the first in memory.
const PIXEL: (u32, u32) = (10, 12);

/// Draws a square over the whole picture, counterclockwise, at a depth in clip space.
fn square(device: &Device<'_, Model>, pass: &mut Pass<'_, '_, Model>, label: &'static str, z: f32, cull: Cull) {
    let corner = |x, y| Vertex { position: [x, y, z], color: [1.0, 0.5, 0.0] };
    let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)];
    let mesh = Mesh::new(device, "square", Primitive::TriangleStrip, &corners).unwrap();
    let descriptor = PipelineDescriptor::new(label, &SHADING, &smooth::FRAGMENT);
    let pipeline = Pipeline::new(device, &PipelineDescriptor { cull, ..descriptor }).unwrap();
    pass.draw(&pipeline, &mesh, &Uniforms { matrix: rows(&Mat4::IDENTITY) }, &NoUniforms).unwrap();
}

type Flat = PipelineDescriptor<'static, ShadedVertex<4>, NoUniforms, NoUniforms, 4>;

/// Draws a square that is not clipped, at a depth in screen space, with an alpha.
fn flat(device: &Device<'_, Model>, pass: &mut Pass<'_, '_, Model>, descriptor: &Flat, depth: f32, alpha: f32) {
    let viewport = pass.target().viewport();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y)| {
        ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, [0.0, 0.0, 1.0, alpha])
    });
    let pipeline = Pipeline::new(device, descriptor).unwrap();
    pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &NoUniforms).unwrap();
}

fn named(label: &'static str) -> Flat {
    PipelineDescriptor::new(label, Shading::PreShaded, &smooth_alpha::FRAGMENT)
}

fn record(model: &Model) {
    let device = &model.device().unwrap();
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    let descriptor = TargetDescriptor { label: "picture", width_px: SIDE, height_px: SIDE, format, tiling };
    let target = Target::new(device, &descriptor).unwrap();
    let mut frame = device.frame().unwrap();
    let pass = &mut frame.pass(&PassDescriptor::to(&target).clear([0.0; 4])).unwrap();
    square(device, pass, "drawn", 0.0, Cull::Back);
    square(device, pass, "culled", 0.0, Cull::Front);
    square(device, pass, "too far", 1.5, Cull::None);
    square(device, pass, "too near", -1.5, Cull::None);
    pass.set_scissor(Some(Rectangle { x_px: 30, y_px: 0, width_px: 20, height_px: 64 }));
    square(device, pass, "beside", 0.0, Cull::None);
    pass.set_scissor(None);
    let depth = Depth { test: Compare::Greater, write: false };
    flat(device, pass, &Flat { depth, ..named("behind") }, 0.5, 1.0);
    let side = StencilSide { test: Compare::Equal, reference: 7, ..StencilSide::KEEP };
    flat(device, pass, &Flat { stencil: Some(Stencil::both(side)), ..named("masked") }, 0.5, 1.0);
    let alpha_test = AlphaTest { test: Compare::Greater, reference: 128 };
    flat(device, pass, &Flat { alpha_test, ..named("transparent") }, 0.5, 0.0);
    let pass = &mut frame.pass(&PassDescriptor::to(&target)).unwrap();
    flat(device, pass, &named("over all"), 0.5, 1.0);
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
}

#[test]
fn each_draw_at_a_pixel_has_its_name_and_the_reason_why_it_is_not_drawn() {
    let model = Model::new(8 << 20, Config::default());
    model.record();
    record(&model);
    assert_eq!(model.take_faults(), []);
    let path = std::env::temp_dir().join(format!("pixel-history-{}", std::process::id()));
    model.capture("history", &path).unwrap();
    let folder = JobFolder::open(&path).unwrap();
    let config = Config { watched_pixel: Some(PIXEL), ..Config::default() };
    let outcome = run_folder(&folder, config).unwrap();
    std::fs::remove_dir_all(path).unwrap();
    assert_eq!(outcome.jobs.len(), 2, "a job for each pass");
    let histories: Vec<Vec<String>> = folder
        .jobs()
        .iter()
        .zip(&outcome.jobs)
        .map(|(job, outcome)| {
            let names = Names::new(&job.names);
            let entry = |event: &Event| {
                let (what, shader) = match event {
                    Event::Covered { shader, .. } => ("covered", shader),
                    Event::Culled { reverse: false, shader, .. } => ("culled, being front facing", shader),
                    Event::Clipped { planes, shader, .. } => {
                        (if planes.far { "clipped, too far" } else { "clipped, too near" }, shader)
                    }
                    Event::OutsideWindow { shader, .. } => ("outside of the scissor", shader),
                    Event::Tested { .. } | Event::Discarded => {
                        return event.to_string().split(':').next().map(str::to_owned);
                    }
                    _ => return None,
                };
                let name = shader.and_then(|shader| names.draw(shader)).unwrap_or("?");
                Some(format!("{name}: {what}"))
            };
            outcome.pixel_trace.entries().iter().filter_map(|entry_of| entry(&entry_of.event)).collect()
        })
        .collect();
    let expected = [
        // Primitives that the binner rejects come first.
        "too far, square, instance 0: clipped, too far",
        "too near, square, instance 0: clipped, too near",
        "beside, square, instance 0: outside of the scissor",
        "drawn, square, instance 0: covered",
        "culled, square, instance 0: culled, being front facing",
        "behind, vertices of the frame, instance 0: covered",
        "sample 0 fails the depth test",
        "masked, vertices of the frame, instance 0: covered",
        "sample 0 fails the stencil test",
        "transparent, vertices of the frame, instance 0: covered",
        "its program leaves it out, by discard or an alpha test",
    ];
    assert_eq!(histories[0], expected);
    assert_eq!(histories[1], ["over all, vertices of the frame, instance 0: covered"]);
}

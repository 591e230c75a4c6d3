//! The validator accepts the renderer's own jobs, and refuses them when their rights are reduced.

use qpu_shaders::{NoUniforms, smooth, smooth_half, transformed};
use renderer::glam::camera::rh::proj::opengl::perspective;
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Depth, Format, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading, Target, TargetDescriptor,
    rows,
};
use v3d::Job;
use v3d::hw::control_list::Record;
use v3d::hw::tiling::Tiling;
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
use v3d::tile_memory::STATE_BYTES;
use v3d::validator::{self, Refusal, Rights, Span};
use v3d_host::Model;
use v3d_sim::Config;

const WIDTH: u32 = 200;
const HEIGHT: u32 = 100;

/// A job in memory, with everything that it refers to.
struct Scene {
    model: Model,
    job: Job,
    rights: Rights,
}

impl Scene {
    fn new() -> Self {
        let model = Model::new(4 << 20, Config::default());
        let device = model.device().unwrap();
        let descriptor = TargetDescriptor {
            label: "picture",
            width_px: WIDTH,
            height_px: HEIGHT,
            format: Format::Rgba8888,
            tiling: Tiling::Raster,
        };
        let target = Target::new(&device, &descriptor).unwrap();
        let vertices = [(-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)]
            .map(|(x, y)| transformed::Vertex { position: [x, y, -2.0], color: [1.0, 0.5, 0.0] });
        let mesh = Mesh::indexed(&device, "corners", Primitive::Triangles, &vertices, &[0, 1, 2]).unwrap();
        let descriptor = PipelineDescriptor {
            depth: Depth::LESS,
            ..PipelineDescriptor::new("triangle", &transformed::SHADING, &smooth::FRAGMENT)
        };
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        let matrix = rows(&perspective(1.0, 2.0, 1.0, 10.0));
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0; 4])).unwrap();
        pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix }, &NoUniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        let job = device.driver_ref().unwrap().last_job().unwrap();
        let picture = Span { address: target.surface().address, bytes: 4 * WIDTH * HEIGHT };
        drop((device, target, mesh, pipeline));
        assert_eq!(model.take_faults(), []);
        let rights = rights(&model, &job, picture);
        Self { model, job, rights }
    }

    fn check(&self) -> Result<(), Refusal> {
        validator::check(&self.model, &self.rights, &self.job)
    }
}

/// The records of a list with their offsets.
fn records(model: &Model, list: ControlList) -> Vec<(u32, Record)> {
    let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
    model.load(list.start - model.base(), &mut bytes);
    let (mut records, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).unwrap();
        records.push((at as u32, record));
        at += record.bytes();
    }
    records
}

/// The picture and tile memory may be written, the rest of the pool may be read.
fn rights(model: &Model, job: &Job, picture: Span) -> Rights {
    let mut writable = vec![picture];
    for (_, record) in records(model, job.binning.unwrap()) {
        if let Record::TileBinningMode(mode) = record {
            let tiles = u32::from(mode.width_tiles) * u32::from(mode.height_tiles);
            writable.push(Span { address: mode.tile_state, bytes: STATE_BYTES * tiles });
            writable.push(Span { address: mode.tile_allocation, bytes: mode.tile_allocation_bytes });
        }
    }
    writable.sort_by_key(|span| span.address);
    let mut readable = Vec::new();
    let mut start = model.base();
    for span in &writable {
        readable.push(Span { address: start, bytes: span.address - start });
        start = span.address + span.bytes;
    }
    readable.push(Span { address: start, bytes: model.base() + model.bytes() - start });
    Rights::new(&readable, &writable).unwrap()
}

#[test]
fn a_job_of_our_own_passes() {
    assert_eq!(Scene::new().check(), Ok(()));
}

/// A picture of half floats has eight bytes per pixel, and its tiles have half the height.
#[test]
fn a_frame_of_half_floats_passes_if_all_of_its_picture_may_be_written() {
    let model = Model::new(4 << 20, Config::default());
    let device = model.device().unwrap();
    let (format, tiling) = (Format::Rgba16Float, Tiling::Raster);
    let descriptor = TargetDescriptor { label: "light", width_px: WIDTH, height_px: HEIGHT, format, tiling };
    let target = Target::new(&device, &descriptor).unwrap();
    let pipeline = PipelineDescriptor::new("light", Shading::PreShaded, &smooth_half::FRAGMENT);
    let pipeline = Pipeline::new(&device, &pipeline).unwrap();
    let viewport = target.viewport();
    let vertices = [(-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)]
        .map(|(x, y)| ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, [4.0; 4]));
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target)).unwrap();
    pass.draw_vertices(&pipeline, Primitive::Triangles, &vertices, &NoUniforms, &NoUniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let job = device.driver_ref().unwrap().last_job().unwrap();
    let check = |bytes_per_pixel: u32| {
        let picture = Span { address: target.surface().address, bytes: bytes_per_pixel * WIDTH * HEIGHT };
        validator::check(&model, &rights(&model, &job, picture), &job).map_err(|refusal| refusal.record)
    };
    assert_eq!((check(8), check(7)), (Ok(()), Err("Load Tile Buffer General")));
}

//! When things go wrong: each fault on the model, and the frame after it is right.

#[path = "../../v3d/tests/double/model.rs"]
mod model;

use model::Model;
use qpu_shaders::{NoUniforms, smooth, triangle};
use renderer::frame::{Renderer, Sizes};
use renderer::material::Material;
use renderer::mesh::Mesh;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{Branch, BranchToSubList, GlShaderState, PrimitiveMode, Record};
use v3d::hw::registers::{Register, Thread};
use v3d::platform::GpuMemory;
use v3d::pool::Buffer;
use v3d::record_list::ControlList;
use v3d::rendering_list::ClearValues;
use v3d::surface::Surface;
use v3d::{Driver, Error, Failure, Fence, Job, Limits};
use v3d_sim::Config;

/// Width and height of the picture: four tiles.
const SIZE: (u32, u32) = (128, 96);
const CLEAR: ClearValues = ClearValues::color([0, 0, 64, 255]);

/// Small budgets, so that what never ends is seen not to end soon.
fn config() -> Config {
    Config { instruction_budget: 2_000_000, record_budget: 100_000, parallel: false, ..Config::default() }
}

fn limits() -> Limits {
    Limits { overflow_block_bytes: 64 * 1024, ..Limits::default() }
}

/// Both threads, on a board that can reset the V3D and on one that can only reset the threads.
const CASES: [(Thread, bool); 4] =
    [(Thread::Binning, true), (Thread::Binning, false), (Thread::Rendering, true), (Thread::Rendering, false)];

/// A driver that draws one triangle.
struct Stage<'m> {
    model: &'m Model,
    width: u32,
    height: u32,
    driver: Driver<'m, Model>,
    target: Buffer,
    renderer: Renderer,
    mesh: Mesh<triangle::Vertex>,
    material: Material<triangle::Vertex, triangle::Uniforms, triangle::Uniforms, NoUniforms, 3>,
}

fn vertex(x: f32, y: f32, color: [f32; 3]) -> triangle::Vertex {
    triangle::Vertex { position: [x, y, 0.0], color }
}

impl<'m> Stage<'m> {
    fn new(model: &'m Model) -> Self {
        Self::of_size(model, SIZE)
    }

    fn of_size(model: &'m Model, size: (u32, u32)) -> Self {
        Self::with_limits(model, size, limits())
    }

    fn with_limits(model: &'m Model, (width, height): (u32, u32), limits: Limits) -> Self {
        let mut driver = Driver::bring_up(model, &model.interrupts, limits).unwrap();
        let target = driver.allocate(4 * width * height, 4096).unwrap();
        let renderer = Renderer::new(&mut driver, width, height, Sizes::default()).unwrap();
        let white = [1.0, 1.0, 1.0];
        let corners = [vertex(-0.5, -0.5, white), vertex(0.5, -0.5, white), vertex(0.0, 0.5, white)];
        let mesh = Mesh::new(&mut driver, PrimitiveMode::Triangles, &corners).unwrap();
        let material = Material::new(&mut driver, &triangle::SHADING, &smooth::FRAGMENT).unwrap();
        Self { model, width, height, driver, target, renderer, mesh, material }
    }

    fn submit(&mut self) -> Fence {
        let state = self.renderer.state();
        let uniforms = triangle::Uniforms {
            half_width: state.viewport.half_width,
            half_height: state.viewport.half_height,
            z_scale: state.viewport.z_scale,
            z_offset: state.viewport.z_offset,
        };
        let surface = Surface::display(self.target.address(), self.width, self.height);
        let mut frame = self.renderer.begin(&mut self.driver, surface, CLEAR).unwrap();
        frame.draw(&state, &self.material, &self.mesh, &uniforms, &uniforms, &NoUniforms).unwrap();
        frame.submit().unwrap()
    }

    fn pixels(&self) -> Vec<[u8; 4]> {
        let mut bytes = vec![0; (4 * self.width * self.height) as usize];
        self.target.region().load(self.model, 0, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect()
    }

    /// Draws the triangle and looks at the picture: white in the middle, the clear colour in the corners, nothing else.
    fn assert_next_frame_is_right(&mut self) {
        self.target.region().zero(self.model);
        let fence = self.submit();
        self.driver.wait(fence).unwrap();
        self.assert_picture();
    }

    fn assert_picture(&self) {
        let pixels = self.pixels();
        let white = pixels.iter().filter(|&&pixel| pixel == [255; 4]).count() as u32;
        let clear = pixels.iter().filter(|&&pixel| pixel == CLEAR.color).count() as u32;
        assert_eq!(white + clear, self.width * self.height, "colours that nobody drew");
        // Half of half the width times half the height.
        let expected = self.width * self.height / 8;
        assert!(white.abs_diff(expected) < self.width / 2, "{white} white pixels, not about {expected}");
        assert_eq!(pixels[((self.height / 2) * self.width + self.width / 2) as usize], [255; 4]);
        assert_eq!(pixels[0], CLEAR.color);
    }

    /// Places a list of these bytes in memory.
    fn list(&mut self, bytes: &[u8]) -> ControlList {
        let buffer = self.driver.upload(bytes, 64).unwrap();
        ControlList { start: buffer.address(), end_exclusive: buffer.region().end_exclusive() }
    }

    /// A job whose lists are those of a good frame, for a test to spoil.
    fn good_job(&mut self) -> Job {
        let fence = self.submit();
        let job = self.driver.last_job().unwrap();
        self.driver.wait(fence).unwrap();
        job
    }

    fn bytes_of(&self, list: ControlList) -> Vec<u8> {
        let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
        self.model.load(list.start - self.model.base(), &mut bytes);
        bytes
    }

    /// Submits a spoilt job, expects this failure, a report, and right frames before and after.
    fn assert_dropped(&mut self, job: Job, failures: &[Failure]) {
        self.assert_next_frame_is_right();
        let fence = self.driver.submit(job);
        match self.driver.wait(fence) {
            Err(Error::JobFailed { fence: failed, failure }) => {
                assert_eq!(failed, fence);
                assert!(failures.contains(&failure), "{failure:?}");
            }
            other => panic!("the job was not dropped: {other:?}"),
        }
        let reports = self.driver.take_reports();
        assert_eq!(reports.len(), 2);
        assert!(reports[1].dropped && reports[1].to_string().contains("CT0CA"));
        self.assert_next_frame_is_right();
    }
}

/// Bytes of one record.
fn encoded(record: impl Into<Record>) -> Vec<u8> {
    let record = record.into();
    record.encode().unwrap()[..record.bytes()].to_vec()
}

#[test]
fn a_list_that_never_ends() {
    for (thread, resettable) in CASES {
        let model = Model::new(8 << 20, config());
        model.resettable.set(resettable);
        let mut stage = Stage::new(&model);
        let mut job = stage.good_job();
        let list = stage.list(&encoded(Branch { address: BusAddr(0) }));
        // The branch leads to itself.
        model.store(list.start - model.base() + 1, &list.start.0.to_le_bytes());
        let endless = ControlList { start: list.start, end_exclusive: list.end_exclusive + 64 };
        match thread {
            Thread::Binning => job.binning = Some(endless),
            Thread::Rendering => job.rendering = endless,
        }
        stage.assert_dropped(job, &[Failure::Hang, Failure::TooLong, Failure::ControlListError(thread)]);
    }
}

#[test]
fn a_qpu_that_never_ends() {
    for resettable in [true, false] {
        a_qpu_that_never_ends_on(resettable);
    }
}

fn a_qpu_that_never_ends_on(resettable: bool) {
    let model = Model::new(8 << 20, config());
    model.resettable.set(resettable);
    let mut stage = Stage::new(&model);
    let job = stage.good_job();
    // A branch to itself, always, relative to the fourth instruction from here [AG p.34].
    let endless: u64 = 0xf0f8_09e7_ffff_ffe0;
    let nop: u64 = 0x1000_09e7_009e_7000;
    let code = stage.material.fragment().code() - model.base();
    let mut before = [0; 32];
    model.load(code, &mut before);
    let bytes: Vec<u8> = [endless, nop, nop, nop].iter().flat_map(|word| word.to_le_bytes()).collect();
    model.store(code, &bytes);
    let fence = stage.driver.submit(job);
    assert!(matches!(stage.driver.wait(fence), Err(Error::JobFailed { .. })));
    model.store(code, &before);
    stage.assert_next_frame_is_right();
}

#[test]
fn an_illegal_record() {
    for (thread, resettable) in CASES {
        let model = Model::new(8 << 20, config());
        model.resettable.set(resettable);
        let mut stage = Stage::new(&model);
        let mut job = stage.good_job();
        let mut bytes = match thread {
            Thread::Binning => stage.bytes_of(job.binning.unwrap()),
            Thread::Rendering => stage.bytes_of(job.rendering),
        };
        // In front of the last record: a code that the guide reserves.
        let last = bytes.len() - 1;
        bytes[last] = 0xff;
        let list = stage.list(&bytes);
        match thread {
            Thread::Binning => job.binning = Some(list),
            Thread::Rendering => job.rendering = list,
        }
        stage.assert_dropped(job, &[Failure::ControlListError(thread), Failure::Hang]);
    }
}

/// A tile list and a shader record where there is no memory. Whether the V3D stops at that is its own affair; the next frame is right.
#[test]
fn a_wild_address() {
    const WILD: BusAddr = BusAddr(0xfff0_0000);
    let model = Model::new(8 << 20, config());
    let mut stage = Stage::new(&model);
    let job = stage.good_job();
    let mut binning = stage.bytes_of(job.binning.unwrap());
    let mut rendering = stage.bytes_of(job.rendering);
    let state = GlShaderState { address: WILD.into(), extended: false, attribute_arrays: 2 };
    replace(&mut binning, |record| matches!(record, Record::GlShaderState(_)).then(|| state.into()));
    let branch = BranchToSubList { address: WILD };
    replace(&mut rendering, |record| matches!(record, Record::BranchToSubList(_)).then(|| branch.into()));
    let wild_shader = Job { binning: Some(stage.list(&binning)), ..job };
    let wild_tiles = Job { rendering: stage.list(&rendering), ..job };
    for job in [wild_shader, wild_tiles] {
        let fence = stage.driver.submit(job);
        let answer = stage.driver.wait(fence);
        // A job that failed took the model's memory of faults with it when the V3D was reset.
        let told =
            matches!(answer, Err(Error::JobFailed { .. })) || (answer.is_ok() && !model.take_faults().is_empty());
        assert!(told, "a wild address goes unnoticed: {answer:?}");
        stage.assert_next_frame_is_right();
    }
}

/// Where the records of a list begin.
fn record_offsets(bytes: &[u8]) -> Vec<u32> {
    let (mut offsets, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        offsets.push(at as u32);
        at += Record::decode(&bytes[at..]).unwrap().bytes();
    }
    offsets
}

/// Replaces records of a list by others of the same length.
fn replace(bytes: &mut [u8], mut with: impl FnMut(Record) -> Option<Record>) {
    let mut at = 0;
    let mut replaced = 0;
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).unwrap();
        if let Some(new) = with(record) {
            bytes[at..at + new.bytes()].copy_from_slice(&encoded(new));
            replaced += 1;
        }
        at += record.bytes();
    }
    assert!(replaced > 0);
}

#[test]
fn interrupts_that_never_come() {
    let model = Model::new(8 << 20, config());
    model.line.set(false);
    let mut stage = Stage::new(&model);
    for _ in 0..3 {
        stage.assert_next_frame_is_right();
    }
    assert_eq!(stage.driver.take_reports().len(), 0);
}

#[test]
fn a_v3d_that_is_reset_in_mid_frame() {
    for register in [Register::CT0EA, Register::CT1CA, Register::CT1EA, Register::SLCACTL] {
        let model = Model::new(8 << 20, config());
        let mut stage = Stage::new(&model);
        for _ in 0..3 {
            stage.assert_next_frame_is_right();
        }
        model.reset_before.set(Some(register));
        stage.assert_next_frame_is_right();
        stage.assert_next_frame_is_right();
        assert_eq!(stage.driver.statistics().jobs_dropped, 0, "{register}");
    }
}

#[test]
fn no_gpu_memory() {
    let model = Model::new(2 << 20, config());
    let mut stage = Stage::new(&model);
    let (_, bytes) = stage.driver.pool_use();
    let (mut held, mut size) = (Vec::new(), bytes);
    while size >= 16 {
        match stage.driver.allocate(size, 16) {
            Ok(buffer) => held.push(buffer),
            Err(Error::PoolExhausted { .. }) => size /= 2,
            Err(other) => panic!("{other}"),
        }
    }
    let used = stage.driver.pool_use();
    let error = Renderer::new(&mut stage.driver, SIZE.0, SIZE.1, Sizes::default()).unwrap_err();
    assert!(matches!(error, Error::PoolExhausted { .. }));
    assert_eq!(stage.driver.pool_use(), used, "a renderer that could not be made keeps memory");
    stage.assert_next_frame_is_right();
    held.into_iter().for_each(|buffer| stage.driver.free(buffer));
    stage.assert_next_frame_is_right();
}

/// Vertices and indices of a quarter of a million small triangles, whose tile lists need more than 1 MiB.
fn crowd() -> (Vec<triangle::Vertex>, Vec<u16>) {
    // Small triangles, drawn in random order; the corners of one are far apart in memory, so that no index says anything about the next.
    const CORNERS: u32 = 20_000;
    const COUNT: u32 = 250_000;
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as f32 / (1 << 24) as f32
    };
    let places: Vec<(f32, f32, [f32; 3])> =
        (0..CORNERS).map(|_| (next() * 1.9 - 1.0, next() * 1.9 - 1.0, [next(), next(), next()])).collect();
    let vertices: Vec<_> = [(0.0, 0.0), (0.04, 0.0), (0.0, 0.05)]
        .iter()
        .flat_map(|(dx, dy)| places.iter().map(move |(x, y, color)| vertex(x + dx, y + dy, *color)))
        .collect();
    let indices: Vec<u16> = (0..COUNT)
        .flat_map(|_| {
            let first = (next() * CORNERS as f32) as u16;
            [0, 1, 2].map(|corner| first + corner * CORNERS as u16)
        })
        .collect();
    (vertices, indices)
}

/// 4 KiB of binner memory for a frame that needs more than 1 MiB of it: the picture is that of a binner with enough.
#[test]
fn a_binner_with_4_kib_for_a_frame_that_needs_1_mib() {
    let (vertices, indices) = crowd();
    let mut pictures = Vec::new();
    for growth in [4096, 8 << 20] {
        let model = Model::new(48 << 20, Config { parallel: true, ..Config::default() });
        let mut stage = Stage::new(&model);
        let (used, _) = stage.driver.pool_use();
        let small = Mesh::indexed(&mut stage.driver, PrimitiveMode::Triangles, &vertices, &indices).unwrap();
        let triangle = core::mem::replace(&mut stage.mesh, small);
        let sizes = Sizes { tile_growth_bytes: growth, ..Sizes::default() };
        let other = Renderer::new(&mut stage.driver, SIZE.0, SIZE.1, sizes).unwrap();
        let renderer = core::mem::replace(&mut stage.renderer, other);
        let fence = stage.submit();
        stage.driver.wait(fence).unwrap();
        pictures.push(stage.pixels());
        let blocks = stage.driver.statistics().overflow_blocks;
        if growth == 4096 {
            assert!(blocks * 64 * 1024 > 1 << 20, "only {blocks} blocks were needed");
        } else {
            assert_eq!(blocks, 0);
        }
        let small = core::mem::replace(&mut stage.mesh, triangle);
        small.free(&mut stage.driver);
        core::mem::replace(&mut stage.renderer, renderer).free(&mut stage.driver);
        assert_eq!(stage.driver.pool_use().0, used, "overflow memory is not given back");
        stage.assert_next_frame_is_right();
        assert_eq!(model.take_faults(), []);
    }
    assert!(pictures[0] == pictures[1], "the pictures differ");
    let drawn = pictures[0].iter().filter(|&&pixel| pixel != CLEAR.color).count();
    assert!(drawn > 10_000, "only {drawn} pixels are drawn");
}

/// A frame that needs more than 1 MiB of binner memory where there are two blocks of 64 KiB: it is dropped, the next frame is right.
#[test]
fn a_binner_that_gets_no_more_memory() {
    let (vertices, indices) = crowd();
    for resettable in [true, false] {
        let model = Model::new(48 << 20, Config::default());
        model.resettable.set(resettable);
        let mut stage = Stage::with_limits(&model, SIZE, Limits { most_overflow_blocks: 2, ..limits() });
        let small = Mesh::indexed(&mut stage.driver, PrimitiveMode::Triangles, &vertices, &indices).unwrap();
        let triangle = core::mem::replace(&mut stage.mesh, small);
        let fence = stage.submit();
        let failure = Failure::OutOfBinnerMemory;
        assert_eq!(stage.driver.wait(fence), Err(Error::JobFailed { fence, failure }));
        stage.mesh = triangle;
        stage.assert_next_frame_is_right();
        stage.assert_next_frame_is_right();
        assert_eq!(stage.driver.statistics().jobs_dropped, 1);
    }
}

/// A long life with a fault every 50 frames: no frame is lost but the spoilt ones, and no memory.
#[test]
fn a_hundred_thousand_frames_with_random_faults() {
    const FRAMES: u32 = 100_000;
    let model = Model::new(4 << 20, Config { instruction_budget: 200_000, record_budget: 10_000, ..config() });
    let mut stage = Stage::of_size(&model, (32, 24));
    let good = stage.good_job();
    let (used, _) = stage.driver.pool_use();
    let mut random = 3u32;
    let mut dropped = 0;
    for n in 0..FRAMES {
        if n % 50 == 49 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match random >> 8 & 3 {
                0 => model.reset_before.set(Some(Register::CT1EA)),
                1 => model.line.set(random & 1 == 0),
                kind => {
                    // Some record of a list is none any more.
                    let list = if kind == 2 { good.rendering } else { good.binning.unwrap() };
                    let places = record_offsets(&stage.bytes_of(list));
                    let at = list.start - model.base() + places[(random >> 16) as usize % places.len()];
                    let mut byte = [0];
                    model.load(at, &mut byte);
                    model.store(at, &[0xff]);
                    let fence = stage.driver.submit(good);
                    assert!(stage.driver.wait(fence).is_err());
                    dropped += 1;
                    model.store(at, &byte);
                }
            }
        }
        stage.target.region().zero(&model);
        let fence = stage.submit();
        stage.driver.wait(fence).unwrap();
        stage.assert_picture();
        model.take_faults();
    }
    assert!(dropped > 500, "too few faults for a test: {dropped}");
    let statistics = stage.driver.statistics();
    assert_eq!(statistics.jobs_dropped, dropped);
    assert_eq!(stage.driver.pool_use().0, used);
}

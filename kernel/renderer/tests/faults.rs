//! Fault injection on the model: after each fault, the next frame is correct.

use qpu_shaders::{NoUniforms, smooth, triangle};
use renderer::{
    Device, Format, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target, TargetDescriptor, unorm,
};
use v3d::hw::BusAddr;
use v3d::hw::control_list::{Branch, BranchToSubList, GlShaderState, Record};
use v3d::hw::registers::{Register, Thread};
use v3d::hw::tiling::Tiling;
use v3d::platform::GpuMemory;
use v3d::pool::Buffer;
use v3d::record_list::ControlList;
use v3d::{Driver, Error, Failure, Fence, Job, Limits};
use v3d_host::Model;
use v3d_sim::Config;

/// Width and height of the picture: four tiles.
const SIZE: (u32, u32) = (128, 96);
const CLEAR: [u8; 4] = [0, 0, 64, 255];

/// Small limits, so that endless programs are detected soon.
fn config() -> Config {
    Config { instruction_budget: 2_000_000, record_budget: 100_000, parallel: false, ..Config::default() }
}

fn limits() -> Limits {
    Limits { overflow_block_bytes: 64 * 1024, ..Limits::default() }
}

/// Both threads, on a board that can reset the V3D and on one that can reset only the threads.
const CASES: [(Thread, bool); 4] =
    [(Thread::Binning, true), (Thread::Binning, false), (Thread::Rendering, true), (Thread::Rendering, false)];

/// A device that draws one triangle.
struct Fixture<'m> {
    model: &'m Model,
    width: u32,
    height: u32,
    device: Device<'m, Model>,
    target: Target,
    mesh: Mesh<triangle::Vertex>,
    pipeline: Pipeline<triangle::Vertex, triangle::Uniforms, NoUniforms>,
    /// Lists in GPU memory, which the stage keeps alive.
    lists: Vec<Buffer>,
}

fn vertex(x: f32, y: f32, color: [f32; 3]) -> triangle::Vertex {
    triangle::Vertex { position: [x, y, 0.0], color }
}

impl<'m> Fixture<'m> {
    fn new(model: &'m Model) -> Self {
        Self::of_size(model, SIZE)
    }

    fn of_size(model: &'m Model, size: (u32, u32)) -> Self {
        Self::with_limits(model, size, limits())
    }

    fn with_limits(model: &'m Model, (width, height): (u32, u32), limits: Limits) -> Self {
        model.interrupts.arm(model);
        let device = Device::new(Driver::bring_up(model, &model.interrupts, limits).unwrap());
        let descriptor = TargetDescriptor {
            label: "picture",
            width_px: width,
            height_px: height,
            format: Format::Rgba8888,
            tiling: Tiling::Raster,
        };
        let target = Target::new(&device, &descriptor).unwrap();
        let white = [1.0, 1.0, 1.0];
        let corners = [vertex(-0.5, -0.5, white), vertex(0.5, -0.5, white), vertex(0.0, 0.5, white)];
        let mesh = Mesh::new(&device, "corners", Primitive::Triangles, &corners).unwrap();
        let descriptor = PipelineDescriptor::new("triangle", &triangle::SHADING, &smooth::FRAGMENT);
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        Self { model, width, height, device, target, mesh, pipeline, lists: Vec::new() }
    }

    fn submit(&mut self) -> Fence {
        let mut frame = self.device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&self.target).clear(unorm(CLEAR))).unwrap();
        pass.draw(&self.pipeline, &self.mesh, &triangle::Uniforms, &NoUniforms).unwrap();
        frame.submit().unwrap()
    }

    fn wait(&self, fence: Fence) -> Result<(), Error> {
        self.device.driver().unwrap().wait(fence)
    }

    /// Clears the picture by the CPU, so that all later contents were drawn.
    fn blank(&self) {
        self.target.memory().unwrap().region().zero(self.model);
    }

    fn used(&self) -> u32 {
        self.device.pool().used()
    }

    fn pixels(&self) -> Vec<[u8; 4]> {
        let mut bytes = vec![0; (4 * self.width * self.height) as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect()
    }

    /// Draws the triangle and checks the picture: white in the middle, the clear colour in the corners, nothing else.
    fn assert_next_frame_is_right(&mut self) {
        self.blank();
        let fence = self.submit();
        self.wait(fence).unwrap();
        self.assert_picture();
    }

    fn assert_picture(&self) {
        let pixels = self.pixels();
        let white = pixels.iter().filter(|&&pixel| pixel == [255; 4]).count() as u32;
        let clear = pixels.iter().filter(|&&pixel| pixel == CLEAR).count() as u32;
        assert_eq!(white + clear, self.width * self.height, "colours that nobody drew");
        // Half of (half the width times half the height).
        let expected = self.width * self.height / 8;
        assert!(white.abs_diff(expected) < self.width / 2, "{white} white pixels, not about {expected}");
        assert_eq!(pixels[((self.height / 2) * self.width + self.width / 2) as usize], [255; 4]);
        assert_eq!(pixels[0], CLEAR);
    }

    /// Places a list of these bytes in memory.
    fn list(&mut self, bytes: &[u8]) -> ControlList {
        let buffer = self.device.driver().unwrap().upload(bytes, 64).unwrap();
        let list = ControlList { start: buffer.address(), end_exclusive: buffer.region().end_exclusive() };
        self.lists.push(buffer);
        list
    }

    /// A job with the lists of a correct frame, for a test to corrupt. Its memory is kept.
    fn good_job(&mut self) -> Job {
        let fence = self.submit();
        self.wait(fence).unwrap();
        let mut driver = self.device.driver().unwrap();
        let job = driver.last_job().unwrap();
        // The frame has freed its memory; the next allocation gets the same block.
        let kept = driver.allocate(64 * 1024, 1).unwrap();
        let region = kept.region();
        for list in [job.binning.unwrap(), job.rendering] {
            assert!(region.address() <= list.start && list.end_exclusive <= region.end_exclusive());
        }
        self.lists.push(kept);
        job
    }

    fn bytes_of(&self, list: ControlList) -> Vec<u8> {
        let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
        self.model.load(list.start - self.model.base(), &mut bytes);
        bytes
    }

    /// Submits a corrupted job, and expects this failure, a report, and correct frames before and after.
    fn assert_dropped(&mut self, job: Job, failures: &[Failure]) {
        self.assert_next_frame_is_right();
        let fence = self.device.driver().unwrap().submit(job);
        match self.wait(fence) {
            Err(Error::JobFailed { fence: failed, failure }) => {
                assert_eq!(failed, fence);
                assert!(failures.contains(&failure), "{failure:?}");
            }
            other => panic!("the job was not dropped: {other:?}"),
        }
        let reports = self.device.driver().unwrap().take_reports();
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
        let mut stage = Fixture::new(&model);
        let mut job = stage.good_job();
        let list = stage.list(&encoded(Branch { address: BusAddr(0) }));
        // The branch goes to itself.
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
    let mut stage = Fixture::new(&model);
    let job = stage.good_job();
    // A branch to itself, always, relative to the fourth instruction from here [AG p.34].
    let endless: u64 = 0xf0f8_09e7_ffff_ffe0;
    let nop: u64 = 0x1000_09e7_009e_7000;
    let code = stage.pipeline.fragment_code() - model.base();
    let mut before = [0; 32];
    model.load(code, &mut before);
    let bytes: Vec<u8> = [endless, nop, nop, nop].iter().flat_map(|word| word.to_le_bytes()).collect();
    model.store(code, &bytes);
    let fence = stage.device.driver().unwrap().submit(job);
    assert!(matches!(stage.wait(fence), Err(Error::JobFailed { .. })));
    model.store(code, &before);
    if resettable {
        stage.assert_next_frame_is_right();
    } else {
        // A reset of the threads does not end the program: on boards, every later job hung as well [piegpu drivers/v3d.cpp].
        let fence = stage.submit();
        assert!(matches!(stage.wait(fence), Err(Error::JobFailed { failure: Failure::Hang, .. })));
    }
}

#[test]
fn an_illegal_record() {
    for (thread, resettable) in CASES {
        let model = Model::new(8 << 20, config());
        model.resettable.set(resettable);
        let mut stage = Fixture::new(&model);
        let mut job = stage.good_job();
        let mut bytes = match thread {
            Thread::Binning => stage.bytes_of(job.binning.unwrap()),
            Thread::Rendering => stage.bytes_of(job.rendering),
        };
        // Before the last record: a code that the guide reserves.
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

/// A tile list and a shader record at addresses without memory. It is not specified whether the V3D stops; the next frame is correct.
#[test]
fn a_wild_address() {
    const WILD: BusAddr = BusAddr(0xfff0_0000);
    let model = Model::new(8 << 20, config());
    let mut stage = Fixture::new(&model);
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
        let fence = stage.device.driver().unwrap().submit(job);
        let answer = stage.wait(fence);
        // If the job failed, resetting the V3D has cleared the model's record of faults.
        let told =
            matches!(answer, Err(Error::JobFailed { .. })) || (answer.is_ok() && !model.take_faults().is_empty());
        assert!(told, "a wild address goes unnoticed: {answer:?}");
        stage.assert_next_frame_is_right();
    }
}

/// Offsets of the records of a list.
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
    let mut stage = Fixture::new(&model);
    for _ in 0..3 {
        stage.assert_next_frame_is_right();
    }
    assert_eq!(stage.device.driver().unwrap().take_reports().len(), 0);
}

#[test]
fn a_v3d_that_is_reset_in_mid_frame() {
    for register in [Register::CT0EA, Register::CT1CA, Register::CT1EA, Register::SLCACTL] {
        let model = Model::new(8 << 20, config());
        let mut stage = Fixture::new(&model);
        for _ in 0..3 {
            stage.assert_next_frame_is_right();
        }
        model.reset_before.set(Some(register));
        stage.assert_next_frame_is_right();
        stage.assert_next_frame_is_right();
        assert_eq!(stage.device.driver_ref().unwrap().statistics().jobs_dropped, 0, "{register}");
    }
}

#[test]
fn no_gpu_memory() {
    let model = Model::new(2 << 20, config());
    let mut stage = Fixture::new(&model);
    stage.assert_next_frame_is_right();
    let device = stage.device.clone();
    let (mut held, mut size) = (Vec::new(), device.pool().bytes());
    while size >= 16 {
        match device.driver().unwrap().allocate(size, 16) {
            Ok(buffer) => held.push(buffer),
            Err(Error::PoolExhausted { .. }) => size /= 2,
            Err(other) => panic!("{other}"),
        }
    }
    let used = stage.used();
    let mut frame = device.frame().unwrap();
    let error = frame.pass(&PassDescriptor::to(&stage.target).clear(unorm(CLEAR))).unwrap_err();
    assert!(matches!(error, renderer::Error::Driver(Error::PoolExhausted { .. })));
    drop(frame);
    assert_eq!(stage.used(), used, "a pass that could not be made keeps memory");
    drop(held);
    stage.assert_next_frame_is_right();
}

/// Vertices and indices of a quarter of a million small triangles, whose tile lists need more than 1 MiB.
fn crowd() -> (Vec<triangle::Vertex>, Vec<u16>) {
    // Small triangles, drawn in random order; the vertices of each are far apart in memory, so that indices are not predictable.
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

/// Overflow memory in blocks of 64 KiB for a binner that needs more than 1 MiB: the picture equals that of a binner
/// with enough memory from the start.
#[test]
fn a_binner_with_4_kib_for_a_frame_that_needs_1_mib() {
    let (vertices, indices) = crowd();
    let mut pictures = Vec::new();
    for block in [64 * 1024, 8 << 20] {
        let model = Model::new(48 << 20, Config { parallel: true, ..Config::default() });
        let mut stage = Fixture::with_limits(&model, SIZE, Limits { overflow_block_bytes: block, ..limits() });
        let used = stage.used();
        let crowd = Mesh::indexed(&stage.device, "crowd", Primitive::Triangles, &vertices, &indices).unwrap();
        let triangle = core::mem::replace(&mut stage.mesh, crowd);
        let fence = stage.submit();
        stage.wait(fence).unwrap();
        pictures.push(stage.pixels());
        let blocks = stage.device.driver_ref().unwrap().statistics().overflow_blocks;
        if block == 64 * 1024 {
            assert!(blocks * 64 * 1024 > 1 << 20, "only {blocks} blocks were needed");
        } else {
            assert_eq!(blocks, 1);
        }
        stage.mesh = triangle;
        assert_eq!(stage.used(), used, "overflow memory is not given back");
        stage.assert_next_frame_is_right();
        assert_eq!(model.take_faults(), []);
    }
    assert!(pictures[0] == pictures[1], "the pictures differ");
    let drawn = pictures[0].iter().filter(|&&pixel| pixel != CLEAR).count();
    assert!(drawn > 10_000, "only {drawn} pixels are drawn");
}

/// A frame that needs more than 1 MiB of binner memory when there are two blocks of 64 KiB: it is dropped, and the next frame is correct.
#[test]
fn a_binner_that_gets_no_more_memory() {
    let (vertices, indices) = crowd();
    for resettable in [true, false] {
        let model = Model::new(48 << 20, Config::default());
        model.resettable.set(resettable);
        let mut stage = Fixture::with_limits(&model, SIZE, Limits { max_overflow_blocks: 2, ..limits() });
        let crowd = Mesh::indexed(&stage.device, "crowd", Primitive::Triangles, &vertices, &indices).unwrap();
        let triangle = core::mem::replace(&mut stage.mesh, crowd);
        let fence = stage.submit();
        let failure = Failure::OutOfBinnerMemory;
        assert_eq!(stage.wait(fence), Err(Error::JobFailed { fence, failure }));
        stage.mesh = triangle;
        stage.assert_next_frame_is_right();
        stage.assert_next_frame_is_right();
        assert_eq!(stage.device.driver_ref().unwrap().statistics().jobs_dropped, 1);
    }
}

/// A fault every 50 frames: only the corrupted frames are lost, and no memory leaks.
#[test]
fn a_hundred_thousand_frames_with_random_faults() {
    const FRAMES: u32 = 100_000;
    let model = Model::new(4 << 20, Config { instruction_budget: 200_000, record_budget: 10_000, ..config() });
    let mut stage = Fixture::of_size(&model, (32, 24));
    let good = stage.good_job();
    let used = stage.used();
    let mut random = 3u32;
    let mut dropped = 0;
    for n in 0..FRAMES {
        if n % 50 == 49 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match random >> 8 & 3 {
                0 => model.reset_before.set(Some(Register::CT1EA)),
                1 => model.line.set(random & 1 == 0),
                kind => {
                    // The code of one record of a list is made invalid.
                    let list = if kind == 2 { good.rendering } else { good.binning.unwrap() };
                    let places = record_offsets(&stage.bytes_of(list));
                    let at = list.start - model.base() + places[(random >> 16) as usize % places.len()];
                    let mut byte = [0];
                    model.load(at, &mut byte);
                    model.store(at, &[0xff]);
                    let fence = stage.device.driver().unwrap().submit(good);
                    assert!(stage.wait(fence).is_err());
                    dropped += 1;
                    model.store(at, &byte);
                }
            }
        }
        stage.blank();
        let fence = stage.submit();
        stage.wait(fence).unwrap();
        stage.assert_picture();
        model.take_faults();
    }
    assert!(dropped > 500, "too few faults for a test: {dropped}");
    let statistics = stage.device.driver_ref().unwrap().statistics();
    assert_eq!(statistics.jobs_dropped, dropped);
    assert_eq!(stage.used(), used);
}

//! The machine of a sequence: the model with the memory of all good jobs.

use super::scene::{self, Scene};
use std::path::Path;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{ConfigurationBits, FlatShadeFlags, IndexedPrimitiveList, Record};
use v3d::hw::registers::Thread;
use v3d::platform::GpuMemory;
use v3d::pool::Buffer;
use v3d::record_list::{ControlList, RecordList};
use v3d::relocation::{GRANULE_BYTES, Placement, Relocated, relocate};
use v3d::validator::Span;
use v3d::{Driver, Job, Limits};
use v3d_host::Model;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;

/// Memory of the machine.
const POOL_BYTES: u32 = 24 << 20;
/// Captured jobs: one sample and four, textures, depth and stencil, loads of a picture, lines.
const CAPTURES: [&str; 6] = ["tri_rgb", "msaa_tri", "tex_cube", "stencil_mask", "blend_alpha", "lines_width"];
/// The first capture once more: hostile jobs are made of it.
const ATTACKER: &str = "tri_rgb";
/// Part of the pool that the job of [`scene`] has, by offset; the driver's own memory is before it.
const SCENE: u32 = 0x20_0000;
const SCENE_BYTES: u32 = 0x20_0000;
/// Store Full Resolution to 0x01010100: entered elsewhere than at its start, it is NOPs.
const STORE_ELSEWHERE: [u8; 5] = [0x1a, 1, 1, 1, 1];
/// Memory that is no job's, around that address.
const OTHERS: u32 = 0x100_0000;
const OTHERS_BYTES: u32 = 0x2_0000;
/// Indices of the job that runs out of memory.
const INDICES: u32 = 120_000;

/// A job, the memory that it needs, and what it stores.
pub(crate) struct GoodJob {
    pub(crate) name: String,
    pub(crate) job: Job,
    contents: Vec<(BusAddr, Vec<u8>)>,
    results: Vec<Span>,
    /// Its results on a V3D that has just been reset.
    expected: Vec<Vec<u8>>,
}

fn load(model: &Model, span: Span) -> Vec<u8> {
    let mut bytes = vec![0; span.bytes as usize];
    model.load(span.address - model.base(), &mut bytes);
    bytes
}

impl GoodJob {
    fn new(model: &Model, name: &str, job: Job, memory: &[Span], results: Vec<Span>) -> Self {
        let contents = memory.iter().map(|span| (span.address, load(model, *span))).collect();
        Self { name: name.to_owned(), job, contents, results, expected: Vec::new() }
    }

    /// Restores all memory of the job.
    pub(crate) fn restore(&self, model: &Model) {
        self.contents.iter().for_each(|(address, bytes)| model.store(*address - model.base(), bytes));
    }

    /// The first place with another result than that of a fresh V3D.
    pub(crate) fn difference(&self, model: &Model) -> Option<BusAddr> {
        self.results.iter().zip(&self.expected).find_map(|(span, expected)| {
            let found = load(model, *span);
            found.iter().zip(expected).position(|(one, other)| one != other).map(|at| span.address + at as u32)
        })
    }
}

/// All good jobs.
pub(crate) struct World {
    pub(crate) jobs: Vec<GoodJob>,
    attacker: GoodJob,
    scratch: Span,
    others: Span,
}

/// A model with the memory of a [`World`].
pub(crate) struct Machine {
    pub(crate) model: Model,
    /// A job whose memory hostile jobs use as they like.
    pub(crate) attacker: Job,
    /// Memory for the lists and programs of hostile jobs.
    pub(crate) scratch: Span,
    /// Memory that is no job's.
    others: Span,
}

impl Machine {
    /// Whether the memory that is no job's is as it was.
    pub(crate) fn others_are_untouched(&self) -> bool {
        load(&self.model, self.others).iter().all(|byte| *byte == 0)
    }

    /// The driver, and the memory of all jobs: before it is that from which the binner is supplied.
    pub(crate) fn driver(&self) -> (Driver<'_, Model>, Buffer) {
        let driver = Driver::bring_up(&self.model, &self.model.interrupts, Limits::default()).expect("there is memory");
        let bytes = self.model.bytes() - (1 << 20) - 0x1000;
        let jobs = driver.pool().allocate(bytes, 0x20_0000).expect("there is memory");
        (driver, jobs)
    }
}

fn new_model() -> Model {
    let config =
        Config { instruction_budget: 3_000_000, record_budget: 2_000_000, parallel: false, ..Config::default() };
    Model::new(POOL_BYTES, config)
}

/// The memory and the relocated job of a capture.
fn place(driver: &mut Driver<'_, Model>, name: &str, owners: &mut Vec<Buffer>) -> GoodJob {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/v3d-sim/tests/captures");
    let folder = JobFolder::open(&captures.join(name)).expect("a capture");
    let captured = &folder.jobs()[0];
    let image = folder.image(captured).expect("a capture has memory");
    let mut places = Vec::new();
    for buffer in &captured.buffers {
        let own = driver.allocate(buffer.size, GRANULE_BYTES).expect("there is memory");
        let mut bytes = vec![0; buffer.size as usize];
        image.view().read(BusAddr(buffer.address), &mut bytes).expect("a capture's buffers are in its memory");
        own.region().store(driver.platform(), 0, &bytes).expect("the buffer is as long");
        let span = Span { address: BusAddr(buffer.address), bytes: buffer.size };
        places.push(Placement { span, at: own.address() });
        owners.push(own);
    }
    let list = |start, end| ControlList { start: BusAddr(start), end_exclusive: BusAddr(end) };
    let job = Job {
        binning: captured.has_bin.then(|| list(captured.bin_ct0ca, captured.bin_ct0ea)),
        rendering: list(captured.render_ct1ca, captured.render_ct1ea),
    };
    let model = driver.platform();
    let Relocated { job, survey, .. } = relocate(model, &places, &job).expect("a captured job can be moved");
    let moved = |span: &Span| {
        let holds = |place: &&Placement| (span.address - place.span.address) < place.span.bytes;
        let place = places.iter().find(holds).expect("a job stores to its own memory");
        Span { address: place.at + (span.address - place.span.address), bytes: span.bytes }
    };
    let results = survey.stores().iter().map(moved).collect();
    let memory: Vec<Span> = places.iter().map(|place| Span { address: place.at, bytes: place.span.bytes }).collect();
    GoodJob::new(model, name, job, &memory, results)
}

/// A job with so many triangles that the binner runs out of memory in the middle: what it has not written yet must not be executed as a list.
fn crowded(model: &Model) -> GoodJob {
    let mut scene = Scene::new();
    // All but the first face away, so that they are in the tile lists and cost the renderer little.
    let corner = |n: u32| if n < 3 { n } else { 2 - n % 3 };
    let triangles: Vec<u8> = (0..INDICES).flat_map(|n| (corner(n) as u16).to_le_bytes()).collect();
    scene.store(scene.data(), &triangles);
    let mut list = RecordList::new();
    for (_, record) in scene::records(&scene.pool, scene.list(Thread::Binning)) {
        list.push(match record {
            Record::IndexedPrimitiveList(draw) => {
                IndexedPrimitiveList { length: INDICES, address: scene.data(), ..draw }.into()
            }
            Record::ConfigurationBits(bits) => ConfigurationBits { reverse_facing: false, ..bits }.into(),
            other => other,
        });
        if record == Record::StartTileBinning {
            // The scene leaves this out: it would draw with what the thread has.
            list.push(FlatShadeFlags { flags: 0 });
        }
    }
    let (start, bytes) = (scene.data() + 0x8_0000, list.encode().expect("the list is as the scene's"));
    scene.store(start, &bytes);
    scene.job.binning = Some(ControlList { start, end_exclusive: start + bytes.len() as u32 });
    assert_eq!(scene.check(), Ok(()));
    // Where lists will be, an earlier picture may be: NOPs, and stores of the whole tile to memory that is no job's.
    let lists = scene.writable[1];
    scene
        .store(lists.address, &STORE_ELSEWHERE.iter().copied().cycle().take(lists.bytes as usize).collect::<Vec<u8>>());
    assert_eq!(scene.pool.base(), model.base());
    let memory = Span { address: scene.pool.base() + SCENE, bytes: SCENE_BYTES };
    model.store(SCENE, &scene.load(memory.address, SCENE_BYTES as usize));
    GoodJob::new(model, "crowded", scene.job, &[memory], vec![scene.writable[2]])
}

impl World {
    pub(crate) fn new() -> Self {
        let model = new_model();
        let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).expect("there is memory");
        let mut reserve = |bytes, alignment| driver.allocate(bytes, alignment).expect("there is memory");
        // The scene's part of the pool, and all before it.
        let mut owners = vec![reserve(SCENE + SCENE_BYTES, GRANULE_BYTES), reserve(OTHERS_BYTES, OTHERS)];
        owners.push(reserve(0x4000, GRANULE_BYTES));
        let [others, scratch] =
            [&owners[1], &owners[2]].map(|buffer| Span { address: buffer.address(), bytes: buffer.region().bytes() });
        assert_eq!(others.address.offset(), OTHERS);
        let mut jobs = vec![crowded(&model)];
        jobs.extend(CAPTURES.iter().map(|name| place(&mut driver, name, &mut owners)));
        let attacker = place(&mut driver, ATTACKER, &mut owners);
        drop(driver);
        let mut world = Self { jobs, attacker, scratch, others };
        for at in 0..world.jobs.len() {
            let machine = world.machine();
            let good = &world.jobs[at];
            let (mut driver, _jobs) = machine.driver();
            let fence = driver.submit(good.job);
            driver.wait(fence).expect("a good job is done");
            let expected: Vec<Vec<u8>> = good.results.iter().map(|span| load(&machine.model, *span)).collect();
            let differs = |bytes: &Vec<u8>| bytes.windows(2).any(|pair| pair[0] != pair[1]);
            assert!(expected.iter().any(differs), "{}: nothing is drawn", good.name);
            assert!(at > 0 || driver.statistics().overflow_blocks > 0, "the binner has enough memory");
            world.jobs[at].expected = expected;
        }
        world
    }

    /// A machine with the memory of all jobs, just after reset.
    pub(crate) fn machine(&self) -> Machine {
        let model = new_model();
        self.jobs.iter().chain([&self.attacker]).for_each(|job| job.restore(&model));
        Machine { model, attacker: self.attacker.job, scratch: self.scratch, others: self.others }
    }
}

//! The validator on jobs of our own: every address that leads elsewhere is refused.

#[path = "../../v3d/tests/double/model.rs"]
mod model;

use model::Model;
use qpu_shaders::{NoUniforms, smooth_depth, transformed};
use renderer::frame::{Renderer, Sizes};
use renderer::material::Material;
use renderer::matrix::Matrix;
use renderer::mesh::Mesh;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{PrimitiveMode, Record};
use v3d::hw::registers::Thread;
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
use v3d::rendering_list::ClearValues;
use v3d::surface::Surface;
use v3d::tile_memory::STATE_BYTES;
use v3d::validator::{self, Reason, Refusal, Rights, Span};
use v3d::{Driver, Job, Limits};
use v3d_sim::Config;

const WIDTH: u32 = 200;
const HEIGHT: u32 = 100;

/// A job in memory, with what it needs.
struct Scene {
    model: Model,
    job: Job,
    rights: Rights,
}

impl Scene {
    fn new() -> Self {
        let model = Model::new(4 << 20, Config::default());
        let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap();
        let target = driver.allocate(4 * WIDTH * HEIGHT, 4096).unwrap();
        let mut renderer = Renderer::new(&mut driver, WIDTH, HEIGHT, Sizes::default()).unwrap();
        let vertices = [(-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)]
            .map(|(x, y)| transformed::Vertex { position: [x, y, -2.0], color: [1.0, 0.5, 0.0] });
        let mesh = Mesh::indexed(&mut driver, PrimitiveMode::Triangles, &vertices, &[0, 1, 2]).unwrap();
        let material = Material::new(&mut driver, &transformed::SHADING, &smooth_depth::FRAGMENT).unwrap();
        let state = renderer.state().with_depth_test();
        let uniforms = transformed::Uniforms {
            matrix: Matrix::perspective(1.0, 2.0, 1.0, 10.0).0,
            half_width: state.viewport.half_width,
            half_height: state.viewport.half_height,
            z_scale: 0.5,
            z_offset: 0.5,
        };
        let surface = Surface::display(target.address(), WIDTH, HEIGHT);
        let mut frame = renderer.begin(&mut driver, surface, ClearValues::color([0; 4])).unwrap();
        frame.draw(&state, &material, &mesh, &uniforms, &uniforms, &NoUniforms).unwrap();
        frame.submit().unwrap();
        let job = driver.last_job().unwrap();
        driver.wait_until_idle();
        drop(driver);
        assert_eq!(model.take_faults(), []);
        let rights = rights(&model, &job, Span { address: target.address(), bytes: 4 * WIDTH * HEIGHT });
        Self { model, job, rights }
    }

    fn check(&self) -> Result<(), Refusal> {
        validator::check(&self.model, &self.rights, &self.job)
    }

    fn list(&self, thread: Thread) -> ControlList {
        match thread {
            Thread::Binning => self.job.binning.unwrap(),
            Thread::Rendering => self.job.rendering,
        }
    }

    fn store(&self, address: BusAddr, bytes: &[u8]) {
        self.model.store(address - self.model.base(), bytes);
    }

    fn load(&self, address: BusAddr, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.model.load(address - self.model.base(), &mut bytes);
        bytes
    }

    /// What the check says while these bytes stand at `address`.
    fn refusal_with(&self, address: BusAddr, bytes: &[u8]) -> Option<Refusal> {
        let before = self.load(address, bytes.len());
        self.store(address, bytes);
        let answer = self.check();
        self.store(address, &before);
        answer.err()
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

/// Addresses that are not the job's: far below, just before and just behind the pool, and no address at all.
fn wild(model: &Model) -> [u32; 4] {
    [0x1000, model.base().0 - 64, (model.base() + model.bytes()).0, 0xffff_fff0]
}

#[test]
fn a_job_of_our_own_passes() {
    assert_eq!(Scene::new().check(), Ok(()));
}

#[test]
fn what_is_read_may_not_be_written() {
    let span = Span { address: BusAddr(0xc000_1000), bytes: 0x1000 };
    let alias = Span { address: BusAddr(0x4000_1fff), bytes: 1 };
    assert!(Rights::new(&[span], &[alias]).is_none());
}

/// Every address in every record of both lists, replaced by wild ones.
#[test]
fn every_wild_address_in_a_record_is_refused_with_its_place() {
    let scene = Scene::new();
    let mut replaced = 0;
    for thread in [Thread::Binning, Thread::Rendering] {
        let list = scene.list(thread);
        for (offset, record) in records(&scene.model, list) {
            for field in record.info().fields {
                let is_address = matches!(field.name, "address" | "tile_state" | "tile_allocation");
                let unused = matches!(record, Record::StoreGeneral(_));
                if !is_address || unused {
                    continue;
                }
                for address in wild(&scene.model) {
                    let mut bits = [0; 16];
                    let bytes = record.encode().unwrap();
                    bits[..15].copy_from_slice(&bytes[1..]);
                    let mut bits = u128::from_le_bytes(bits);
                    let width = field.width();
                    let mask = ((1 << width) - 1) << field.lo;
                    bits = bits & !mask | u128::from(address >> (32 - width)) << field.lo;
                    let changed = &bits.to_le_bytes()[..record.bytes() - 1];
                    let refusal = scene.refusal_with(list.start + offset + 1, changed);
                    // The picture's address counts where it is stored to, further down the list.
                    let place = if matches!(record, Record::TileRenderingMode(_)) { None } else { Some(offset) };
                    let refusal = refusal.unwrap_or_else(|| panic!("{record} with {address:#x} passed"));
                    assert_eq!(refusal.thread, thread);
                    assert!(place.is_none_or(|place| place == refusal.offset), "{refusal}");
                    assert!(place.is_none() || refusal.record == record.info().name, "{refusal}");
                    replaced += 1;
                }
            }
        }
    }
    // tile memory twice, shader record, indices; picture, 8 tile lists
    assert_eq!(replaced, 4 * (4 + 1 + 8));
}

/// The shader record: code, uniforms and attributes of all three programs.
#[test]
fn every_wild_address_in_the_shader_record_is_refused() {
    let scene = Scene::new();
    let record = records(&scene.model, scene.list(Thread::Binning))
        .into_iter()
        .find_map(|(_, record)| match record {
            Record::GlShaderState(state) => Some(state.address.0),
            _ => None,
        })
        .unwrap();
    // Code at 4, 16, 28; uniforms of vertex and coordinate shader at 20, 32; two attributes from 36 on. The fragment shader reads no uniforms.
    for at in [4, 16, 28, 20, 32, 36, 44] {
        for address in wild(&scene.model) {
            let refusal = scene.refusal_with(record + at, &address.to_le_bytes());
            let refusal = refusal.unwrap_or_else(|| panic!("{address:#x} at {at} passed"));
            assert!(
                matches!(refusal.reason, Reason::Reads { .. } | Reason::Value(_)),
                "{address:#x} at {at}: {refusal}"
            );
        }
    }
}

#[test]
fn programs_that_reach_for_memory_are_refused() {
    let scene = Scene::new();
    let code = records(&scene.model, scene.list(Thread::Binning))
        .into_iter()
        .find_map(|(_, record)| match record {
            Record::GlShaderState(state) => {
                let word = scene.load(state.address.0 + 4, 4);
                Some(BusAddr(u32::from_le_bytes([word[0], word[1], word[2], word[3]])))
            }
            _ => None,
        })
        .unwrap();
    // Words taken from the guide's encoding: load immediate 0 to a write address (add ALU, always), and a branch.
    let load_to = |address: u64, file_b: u64| 0xe002_0000_0000_0000 | file_b << 44 | address << 38 | 39 << 32;
    for (word, why) in [
        (load_to(40, 0), "moves the address of the uniforms"),
        (load_to(50, 0), "starts a DMA"),
        (load_to(50, 1), "starts a DMA"),
        (load_to(56, 0), "looks memory up by its address"),
        (load_to(38, 0), "interrupts the host"),
        (load_to(48, 0), "uses the VPM"),
        (0xf0f8_09e7_0000_0000, "branches"),
    ] {
        let refusal = scene.refusal_with(code, &u64::to_le_bytes(word)).expect(why);
        assert!(refusal.to_string().contains(why), "{refusal} does not say \"{why}\"");
        assert_eq!(refusal.record, "GL Shader State");
    }
}

#[test]
fn lists_that_are_out_of_order_are_refused() {
    let scene = Scene::new();
    for thread in [Thread::Binning, Thread::Rendering] {
        let list = scene.list(thread);
        let records = records(&scene.model, list);
        let nop = [1; 16];
        for (offset, record) in records {
            // The records that order or safety hang on, blanked out one by one.
            let vital = matches!(
                record,
                Record::TileBinningMode(_)
                    | Record::StartTileBinning
                    | Record::IncrementSemaphore
                    | Record::Flush
                    | Record::GlShaderState(_)
                    | Record::TileRenderingMode(_)
                    | Record::WaitOnSemaphore
                    | Record::StoreResolvedEndOfFrame
            );
            if vital {
                let refusal = scene.refusal_with(list.start + offset, &nop[..record.bytes()]);
                assert!(refusal.is_some(), "{record} may be left out");
            }
        }
        // Nothing but control records is a control record.
        let refusal = scene.refusal_with(list.start, &[0xff]).unwrap();
        assert_eq!((refusal.offset, refusal.record), (0, "unknown record"));
    }
}

/// A picture that is stored over the tile lists would be executed as one.
#[test]
fn the_picture_may_not_overwrite_tile_lists() {
    let scene = Scene::new();
    let lists = records(&scene.model, scene.list(Thread::Binning))
        .into_iter()
        .find_map(|(_, record)| match record {
            Record::TileBinningMode(mode) => Some(mode.tile_allocation),
            _ => None,
        })
        .unwrap();
    let refusal = scene.refusal_with(scene.job.rendering.start + 1, &lists.0.to_le_bytes()).unwrap();
    assert!(matches!(refusal.reason, Reason::Value("it overwrites the memory of tile lists")), "{refusal}");
}

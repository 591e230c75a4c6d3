//! The validator on jobs of our own: every address that leads elsewhere is refused.

#[path = "../../v3d/tests/double/model.rs"]
mod model;

use model::Model;
use qpu_shaders::{NoUniforms, smooth_depth, transformed};
use renderer::glam::camera::rh::proj::opengl::perspective;
use renderer::{
    Depth, Device, Format, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target, TargetDescriptor,
    rows,
};
use v3d::hw::BusAddr;
use v3d::hw::control_list::Record;
use v3d::hw::qpu::{AddOp, Alu, Condition, Instruction, Mux, Signal, Unpack};
use v3d::hw::registers::Thread;
use v3d::hw::tiling::Tiling;
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
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
        let device = Device::new(Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap());
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
            ..PipelineDescriptor::new("triangle", &transformed::SHADING, &smooth_depth::FRAGMENT)
        };
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        let matrix = rows(&perspective(1.0, 2.0, 1.0, 10.0));
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0; 4])).unwrap();
        pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix }, &NoUniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        let job = device.look().unwrap().last_job().unwrap();
        let picture = Span { address: target.surface().address, bytes: 4 * WIDTH * HEIGHT };
        drop((device, target, mesh, pipeline));
        assert_eq!(model.take_faults(), []);
        let rights = rights(&model, &job, picture);
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
        (load_to(50, 0), "starts a DMA"),
        (load_to(50, 1), "starts a DMA"),
        (load_to(56, 0), "looks memory up by its address"),
        (load_to(38, 0), "interrupts the host"),
        (load_to(48, 0), "uses the VPM"),
        // A branch to where ra0 says.
        (0xf0fc_09e7_0000_0000, "branches to where a register says"),
        // And one that keeps the address behind it in ra0.
        (0xf0f8_0027_0000_0000, "keeps the address behind it"),
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
    // The picture is larger than the tile lists' memory, and what follows that may not be written at all.
    let overwrites = matches!(refusal.reason, Reason::Value("it overwrites the memory of tile lists"));
    assert!(overwrites || matches!(refusal.reason, Reason::Writes { address, .. } if address == lists), "{refusal}");
}

/// An operation of the add ALU; file B reads the next uniform.
fn add(op_add: AddOp, waddr_add: u8, [add_a, add_b]: [Mux; 2]) -> Alu {
    Alu { op_add, waddr_add, add_a, add_b, raddr_b: 32, cond_add: Condition::Always, ..Alu::NOP }
}

/// `max waddr, r, 0`.
fn limit_below(waddr: u8, register: Mux) -> Alu {
    Alu { sig: Signal::SmallImmediate, raddr_b: 0, ..add(AddOp::Max, waddr, [register, Mux::B]) }
}

/// `min waddr, r, unif`.
fn limit_above(waddr: u8, register: Mux) -> Alu {
    add(AddOp::Min, waddr, [register, Mux::B])
}

/// `add t0s, r, unif`: a lookup by plain address.
fn look_up(register: Mux) -> Alu {
    add(AddOp::Add, 56, [register, Mux::B])
}

fn word(alu: Alu) -> u64 {
    Instruction::Alu(alu).encode().unwrap()
}

/// `ldi waddr, value`.
fn load(waddr: u64, value: u32) -> u64 {
    0xe002_0000_0000_0000 | waddr << 38 | 39 << 32 | u64::from(value)
}

/// A branch over so many instructions behind its delay slots, if any element's Z is set or always.
fn branch(always: bool, instructions: i32) -> u64 {
    let condition: u64 = if always { 15 } else { 2 };
    0xf008_09e7_0000_0000 | condition << 52 | u64::from((8 * instructions) as u32)
}

/// A program of these words and an end, as the fragment shader of a job with these uniforms; what the check says.
fn check_program(scene: &Scene, words: &[u64], uniforms: impl Fn(BusAddr, BusAddr) -> Vec<u32>) -> Result<(), Refusal> {
    let end = [word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), word(Alu::NOP), word(Alu::NOP)];
    let code: Vec<u8> = words.iter().chain(&end).flat_map(|word| word.to_le_bytes()).collect();
    // The upper half of the pool is unused.
    let place = scene.model.base() + scene.model.bytes() / 2;
    let (stream, array) = (place + 0x1_0000, place + 0x2_0000);
    scene.store(place, &code);
    let words: Vec<u8> = uniforms(stream, array).iter().flat_map(|word| word.to_le_bytes()).collect();
    scene.store(stream, &words);
    let record = records(&scene.model, scene.list(Thread::Binning))
        .into_iter()
        .find_map(|(_, record)| match record {
            Record::GlShaderState(state) => Some(state.address.0),
            _ => None,
        })
        .unwrap();
    let pointers: Vec<u8> = [place.0, stream.0].iter().flat_map(|word| word.to_le_bytes()).collect();
    match scene.refusal_with(record + 4, &pointers) {
        Some(refusal) => Err(refusal),
        None => Ok(()),
    }
}

/// Limits of 64 bytes, then the array's address.
fn limit_and_array(_: BusAddr, array: BusAddr) -> Vec<u32> {
    vec![64, array.0, 64, array.0]
}

#[test]
fn lookups_within_limits_pass() {
    let scene = Scene::new();
    let pair = [limit_below(32, Mux::R1), limit_above(33, Mux::R0), look_up(Mux::R1)].map(word);
    assert_eq!(check_program(&scene, &pair, limit_and_array), Ok(()));
    // By register files, with the instruction in between that they need.
    let a5 = |alu: Alu| Alu { raddr_a: 5, ..alu };
    let by_file =
        [limit_below(5, Mux::R1), Alu::NOP, a5(limit_above(5, Mux::A)), Alu::NOP, a5(look_up(Mux::A))].map(word);
    assert_eq!(check_program(&scene, &by_file, limit_and_array), Ok(()));
    // To the last word of what may be read, and no further.
    let at_the_end = |limit: u32| {
        let end = scene.model.base() + scene.model.bytes();
        check_program(&scene, &pair, move |_, _| vec![limit, end.0 - 68])
    };
    assert_eq!(at_the_end(64), Ok(()));
    assert!(matches!(at_the_end(65).unwrap_err().reason, Reason::Reads { .. }));
}

/// Each way to get around the limits.
#[test]
fn lookups_without_limits_are_refused() {
    let scene = Scene::new();
    let below = limit_below(32, Mux::R1);
    let above = limit_above(33, Mux::R0);
    let switch = Alu { sig: Signal::ThreadSwitch, ..Alu::NOP };
    let a5 = |alu: Alu| Alu { raddr_a: 5, ..alu };
    let a20 = |alu: Alu| Alu { raddr_a: 20, ..alu };
    let cases: &[(&str, &[Alu])] = &[
        ("no limit", &[look_up(Mux::R1)]),
        ("none below", &[above, look_up(Mux::R1)]),
        ("none above", &[below, look_up(Mux::R0)]),
        ("in some elements", &[Alu { cond_add: Condition::ZSet, ..below }, above, look_up(Mux::R1)]),
        ("in some elements, above", &[below, Alu { cond_add: Condition::ZSet, ..above }, look_up(Mux::R1)]),
        ("packed", &[below, Alu { pack: 1, ..above }, look_up(Mux::R1)]),
        ("unpacked", &[below, above, Alu { unpack: Unpack::Half0, ..look_up(Mux::R1) }]),
        ("another operation", &[below, above, Alu { op_add: AddOp::Sub, ..look_up(Mux::R1) }]),
        ("another register", &[below, above, look_up(Mux::R2)]),
        ("overwritten", &[below, above, add(AddOp::Or, 33, [Mux::R2, Mux::R2]), look_up(Mux::R1)]),
        (
            "overwritten by the mul ALU",
            &[below, Alu { waddr_mul: 33, cond_mul: Condition::Always, ..above }, look_up(Mux::R1)],
        ),
        ("too fresh", &[below, limit_above(5, Mux::R0), a5(look_up(Mux::A))]),
        ("switched away", &[below, above, switch, Alu::NOP, Alu::NOP, look_up(Mux::R1)]),
        ("the other thread's", &[below, limit_above(20, Mux::R0), switch, Alu::NOP, Alu::NOP, a20(look_up(Mux::A))]),
    ];
    for (name, program) in cases {
        let words: Vec<u64> = program.iter().copied().map(word).collect();
        let refusal = check_program(&scene, &words, limit_and_array).expect_err(name);
        assert!(refusal.to_string().contains("looks memory up by its address"), "{name}: {refusal}");
    }
    for (name, limit, array) in [("a negative limit", 0x8000_0000, 0), ("an odd address", 64, 2)] {
        let words = [below, above, look_up(Mux::R1)].map(word);
        let refusal = check_program(&scene, &words, |_, place| vec![limit, place.0 + array]).expect_err(name);
        assert!(refusal.to_string().contains("between words, or without a limit"), "{name}: {refusal}");
    }
}

#[test]
fn branches_are_followed() {
    let scene = Scene::new();
    let nops = [word(Alu::NOP); 3];
    let none = |_: BusAddr, _: BusAddr| Vec::new();
    // Over two instructions, back to itself, to the beginning.
    for (always, distance) in [(true, 2), (false, 2), (true, -4), (false, -4)] {
        let program = [&[branch(always, distance)][..], &nops, &[word(Alu::NOP); 4]].concat();
        assert_eq!(check_program(&scene, &program, none), Ok(()), "{always} {distance}");
    }
    // What no path leads to may be anything: an instruction that interrupts the host.
    let program = [&[branch(true, 1)][..], &nops, &[load(38, 1)]].concat();
    assert_eq!(check_program(&scene, &program, none), Ok(()));
    let program = [&[branch(false, 1)][..], &nops, &[load(38, 1)]].concat();
    assert!(check_program(&scene, &program, none).unwrap_err().to_string().contains("interrupts the host"));
    for (program, why) in [
        ([branch(true, 1 << 20), nops[0], nops[0], nops[0]], "which the job may not read"),
        ([branch(true, 2) | 4, nops[0], nops[0], nops[0]], "branches between instructions"),
        ([branch(true, 2), nops[0], branch(true, 2), nops[0]], "before another branch"),
        ([branch(true, 2), word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), nops[0], nops[0]], "before a branch has"),
    ] {
        let refusal = check_program(&scene, &program, none).expect_err(why);
        assert!(refusal.to_string().contains(why), "{refusal} does not say \"{why}\"");
    }
    // A loop that reads a uniform each time comes to the end of what it may read, or is given up.
    let program = [word(add(AddOp::Or, 32, [Mux::B, Mux::B])), branch(false, -5), nops[0], nops[0], nops[0]];
    let refusal = check_program(&scene, &program, none).unwrap_err();
    assert!(matches!(refusal.reason, Reason::Reads { .. } | Reason::Instruction { .. }), "{refusal}");
}

/// A loop that moves its uniforms back at its start, as compilers write it; then each step of that done wrong.
#[test]
fn uniforms_may_be_moved_to_what_can_be_computed() {
    let scene = Scene::new();
    let move_by = |register| word(add(AddOp::Add, 40, [register, Mux::B]));
    let read = word(add(AddOp::Or, 34, [Mux::B, Mux::B]));
    let nop = word(Alu::NOP);
    // ldi r0, 4; add unif_addr, r0, unif; two instructions; a read; back to the start if any Z is set.
    let program = |offset: u32| [load(32, offset), move_by(Mux::R0), nop, nop, read, branch(false, -9), nop, nop, nop];
    // The words are the address to go on from, what is read, and the address again: the next turn reads that.
    let uniforms = |stream: BusAddr, _: BusAddr| vec![stream.0, 7, stream.0];
    assert_eq!(check_program(&scene, &program(4), uniforms), Ok(()));
    let beyond = scene.model.base() + scene.model.bytes();
    let refusal = check_program(&scene, &program(0), |_, _| vec![beyond.0]).unwrap_err();
    assert!(matches!(refusal.reason, Reason::Reads { address, .. } if address == beyond), "{refusal}");
    for (why, program) in [
        ("where to, nobody can say", vec![move_by(Mux::R1), nop, nop]),
        ("between words", vec![load(32, 2), move_by(Mux::R0), nop, nop]),
        ("too soon", vec![load(32, 4), move_by(Mux::R0), nop, read]),
        ("too soon", vec![branch(true, 0), load(32, 4), nop, move_by(Mux::R0)]),
    ] {
        let refusal = check_program(&scene, &program, uniforms).expect_err(why).to_string();
        assert!(refusal.contains(why), "{refusal} does not say \"{why}\"");
    }
}

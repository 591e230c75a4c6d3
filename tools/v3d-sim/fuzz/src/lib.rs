//! Fuzz targets: lists, records, programs and textures of arbitrary bytes.
//!
//! Each function takes a fuzzer's bytes and runs the model on them within small budgets. It passes if the model returns; [`translated_code`] must also agree
//! with the reference datapath. The same functions run for a second each in the model's own tests. The model's README contains the commands.

#![forbid(unsafe_code)]

mod programs;

use arbitrary::{Result, Unstructured};
use v3d_hw::control_list::PrimitiveListFormat;
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::{BusAddr, registers::Register};
use v3d_sim::job::run::run_job;
use v3d_sim::job::{Job, JobFolder};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::EngineKind;
use v3d_sim::qpu::conformance::Engine;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::tmu::Tmu;
use v3d_sim::{Config, V3d, primitive_list};

/// Memory for generated programs and lists.
const MEMORY_BYTES: usize = 1 << 16;

/// Budgets that keep each case short, but suffice for small frames.
fn config() -> Config {
    Config { instruction_budget: 100_000, record_budget: 10_000, parallel: false, ..Config::default() }
}

fn word(u: &mut Unstructured<'_>) -> Result<u32> {
    u.arbitrary()
}

/// Memory filled with the remaining bytes.
fn memory_of(u: &mut Unstructured<'_>) -> Result<OwnedMemory> {
    let memory = OwnedMemory::new(MEMORY_BYTES);
    let bytes = u.bytes(u.len().min(MEMORY_BYTES))?;
    if memory.view().write(BusAddr(0), bytes).is_err() {
        return Err(arbitrary::Error::IncorrectFormat);
    }
    Ok(memory)
}

fn write(device: &mut V3d, memory: &OwnedMemory, register: Register, value: u32) {
    device.write(&memory.view(), register.offset(), value);
}

/// Both threads read the same arbitrary bytes as their lists.
pub fn control_lists(u: &mut Unstructured<'_>) -> Result<()> {
    let start = u32::from(u.arbitrary::<u8>()?);
    let memory = memory_of(u)?;
    let mut device = V3d::new(config());
    for (current, end) in [(Register::CT0CA, Register::CT0EA), (Register::CT1CA, Register::CT1EA)] {
        write(&mut device, &memory, current, start);
        write(&mut device, &memory, end, MEMORY_BYTES as u32);
    }
    write(&mut device, &memory, Register::BPOA, 0x8000);
    write(&mut device, &memory, Register::BPOS, 0x4000);
    device.take_faults();
    Ok(())
}

/// Registers are written in any order, with any values.
pub fn registers(u: &mut Unstructured<'_>) -> Result<()> {
    let mut device = V3d::new(config());
    let mut writes = Vec::new();
    for _ in 0..u.int_in_range(1..=40)? {
        let register = *u.choose(Register::ALL)?;
        // Addresses of existing registers are more likely than others.
        let value = if u.arbitrary()? { word(u)? } else { u32::from(u.arbitrary::<u16>()?) };
        writes.push((register, value));
    }
    let memory = memory_of(u)?;
    for (register, value) in writes {
        write(&mut device, &memory, register, value);
        device.read(&memory.view(), register.offset());
    }
    device.take_faults();
    Ok(())
}

/// A user program of arbitrary instructions, with the timing model or without.
pub fn qpu_code(u: &mut Unstructured<'_>) -> Result<()> {
    let estimate = u.arbitrary()?;
    let memory = memory_of(u)?;
    let mut device = V3d::new(Config { estimate, ..config() });
    write(&mut device, &memory, Register::VPMBASE, 16);
    for _ in 0..3 {
        write(&mut device, &memory, Register::SRQUL, 1024);
        write(&mut device, &memory, Register::SRQUA, 0);
        write(&mut device, &memory, Register::SRQPC, 0);
    }
    device.counters();
    device.take_faults();
    Ok(())
}

/// A program that keeps most rules, executed in translated code and micro-op by micro-op: both must agree with the reference datapath.
pub fn translated_code(u: &mut Unstructured<'_>) -> Result<()> {
    let case = programs::case(u)?;
    if let Err(difference) = case.check(&[Engine::Kind(EngineKind::best()), Engine::Fast]) {
        panic!("{difference}\nin {case:#x?}");
    }
    Ok(())
}

/// Lookups with arbitrary parameters and coordinates.
pub fn textures(u: &mut Unstructured<'_>) -> Result<()> {
    let mut lookups = Vec::new();
    for _ in 0..u.int_in_range(1..=20)? {
        let coordinate =
            *u.choose(&[TmuCoordinate::S, TmuCoordinate::T, TmuCoordinate::T, TmuCoordinate::R, TmuCoordinate::B])?;
        let mut value = Lanes::default();
        for lane in &mut value.0 {
            *lane = word(u)?;
        }
        lookups.push((coordinate, value, word(u)?, u.arbitrary::<bool>()?));
    }
    let memory = memory_of(u)?;
    let mut tmu = Tmu::new();
    for (coordinate, value, uniform, load) in lookups {
        // Faults are reported; here it only matters that the call returns.
        let _ = tmu.write(coordinate, &value, uniform, memory.view());
        if load {
            let _ = tmu.load();
        }
    }
    Ok(())
}

/// Compressed primitive lists of every format.
pub fn compressed_lists(u: &mut Unstructured<'_>) -> Result<()> {
    let data_type = *u.choose(&[ListDataType::Index16, ListDataType::Index24, ListDataType::Xy])?;
    let primitive =
        *u.choose(&[ListPrimitive::Points, ListPrimitive::Lines, ListPrimitive::Triangles, ListPrimitive::Rht])?;
    let memory = memory_of(u)?;
    let format = PrimitiveListFormat { data_type, primitive };
    let mut budget = 10_000;
    let _ = primitive_list::read(memory.view(), BusAddr(0), format, None, &mut budget, &mut Vec::new());
    Ok(())
}

/// Size of the small scene's memory, which contains its image and its overflow memory.
const SCENE_BYTES: u32 = 6 << 20;

/// A small scene in which some bytes are changed.
pub struct Scene {
    job: Job,
    memory: OwnedMemory,
    pristine: Vec<u8>,
}

impl Scene {
    /// Loads the scene; `None` if it is not as expected.
    pub fn load() -> Option<Self> {
        let folder = JobFolder::embedded(&[
            ("job.json", include_bytes!("../../tests/captures/tri_rgb_lt/job.json")),
            ("mem0.bin.zst", include_bytes!("../../tests/captures/tri_rgb_lt/mem0.bin.zst")),
        ])
        .ok()?;
        let mut job = folder.jobs().first()?.clone();
        job.arena_size = SCENE_BYTES;
        let memory = folder.image(&job).ok()?;
        let pristine = memory.to_bytes();
        Some(Self { job, memory, pristine })
    }

    /// Changes bytes of its lists, records, uniforms, programs and vertices, and runs it.
    pub fn mutated(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let memory = self.memory.view();
        let small: Vec<_> = self.job.buffers.iter().filter(|buffer| buffer.size <= 4096).cloned().collect();
        let mut touched = Vec::new();
        for _ in 0..u.int_in_range(1..=12)? {
            let buffer = u.choose(&small)?;
            // Used data is at the start of its page.
            let at = BusAddr(buffer.address + u.int_in_range(0..=511)?);
            if memory.set_byte(at, u.arbitrary()?).is_ok() {
                touched.push(at);
            }
        }
        let mut device = V3d::new(Config { estimate: u.arbitrary()?, ..config() });
        run_job(&mut device, memory, &self.job);
        device.counters();
        device.take_faults();
        // The scene is restored for the next run, except for its picture.
        for buffer in &small {
            let range = buffer.address as usize..(buffer.address + buffer.size) as usize;
            let Some(bytes) = self.pristine.get(range) else { continue };
            let _ = memory.write(BusAddr(buffer.address), bytes);
        }
        Ok(())
    }
}

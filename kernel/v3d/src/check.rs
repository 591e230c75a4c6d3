//! A check of the V3D and of the platform around it, from a register to a program, for a port.
//!
//! [`Driver::check`] runs all steps, each with its verdict. They begin with what is as small as possible, so that the first one that fails says what is
//! wrong: an identity, lists without work, a tile that is cleared and stored to memory, the binner's memory, a triangle, a program. Each step is a function
//! of its own, too, for a report that has more to say in between. The pictures are small and in the pool; nothing is shown.
//!
//! Where a platform is at fault rather than the V3D, the verdict is mostly of this kind:
//! - the identity reads 0xdeadbeef: no power; the access never returns: no clock;
//! - lists do not end: the addresses in them are not those of the bus, or the lists are still in the CPU's cache;
//! - pixels have their old value: they are in the CPU's cache; or the bytes beside a picture have changed: its pitch is wrong.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::Layout;
use v3d_hw::control_list::{PrimitiveMode, Record, Threading};
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::{IDENT0_VALUE, Register, Thread};
use v3d_hw::shaded_vertex::ScreenXy;
use v3d_hw::shader_record as record_layout;

use crate::driver::Driver;
use crate::error::Error;
use crate::image::surface::Surface;
use crate::image::tile_grid::{TileBuffer, TileGrid};
use crate::jobs::job::Job;
use crate::jobs::user_program::{UserProgram, VPM_RESERVATION};
use crate::lists::binning_list::BinningList;
use crate::lists::draw_state::DrawState;
use crate::lists::primitives::Primitives;
use crate::lists::record_list::{ControlList, RecordList};
use crate::lists::rendering_list::{ClearValues, RenderingPass};
use crate::lists::shader_record::{FragmentProgram, NvRecord, Program};
use crate::lists::tile_area::TileArea;
use crate::memory::caches;
use crate::memory::tile_memory::TileMemory;
use crate::platform::{Platform, RegisterAccess};

mod programs;

/// What a step has found: a remark if it has passed, a reason if it has failed.
pub type Verdict = Result<String, String>;

/// A step and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was checked.
    pub what: &'static str,
    /// Whether it was found right.
    pub verdict: Verdict,
}

/// The colour of cleared tiles: red, green, blue, alpha.
const COLOR: [u8; 4] = [0x9a, 0xbc, 0xde, 0xf0];
/// The colour of the triangle, which is in its program.
const TRIANGLE_COLOR: [u8; 4] = [0x12, 0x34, 0x56, 0x78];
/// Bytes after a picture that must not change.
const MARGIN_BYTES: u32 = 4096;
/// What is in memory before something is drawn there.
const UNTOUCHED: u8 = 0xa5;

impl<P: Platform> Driver<'_, P> {
    /// Checks the V3D step by step; a failure does not prevent the next step. Waits until no job is in flight.
    pub fn check(&mut self) -> Vec<Step> {
        let identity = identity(self.platform());
        [
            ("the V3D's identity", identity),
            ("reservations of QPUs and VPM", reservations(self.platform())),
            ("an empty list in each thread", empty_lists(self)),
            ("one tile that is cleared and stored to memory", cleared_tiles(self, 64)),
            ("four tiles, likewise", cleared_tiles(self, 128)),
            ("the binner's memory", binner_memory(self)),
            ("a triangle", triangle(self)),
            ("a program", program(self)),
        ]
        .into_iter()
        .map(|(what, verdict)| Step { what, verdict })
        .collect()
    }
}

/// Whether there is a V3D with power.
pub fn identity(registers: &impl RegisterAccess) -> Verdict {
    match registers.read(Register::IDENT0) {
        IDENT0_VALUE => Ok(format!(
            "IDENT0 {IDENT0_VALUE:#010x}, IDENT1 {:#010x}, IDENT2 {:#010x}",
            registers.read(Register::IDENT1),
            registers.read(Register::IDENT2)
        )),
        other => Err(format!("IDENT0 reads {other:#010x} instead of {IDENT0_VALUE:#010x}")),
    }
}

/// Whether all QPUs are free for 3D, and the VPM is divided as the driver has set it.
pub fn reservations(registers: &impl RegisterAccess) -> Verdict {
    let [low, high, vpm] =
        [Register::SQRSV0, Register::SQRSV1, Register::VPMBASE].map(|register| registers.read(register));
    let remark = format!("SQRSV0 {low:#x}, SQRSV1 {high:#x}, VPMBASE {vpm}");
    match () {
        () if (low, high) != (0, 0) => Err(format!("QPUs are reserved: {remark}")),
        () if vpm != u32::from(VPM_RESERVATION) => Err(format!("the VPM's reservation did not take effect: {remark}")),
        () => Ok(remark),
    }
}

/// Lets each thread execute a list that does nothing: the smallest work of the V3D, past the driver. A thread must arrive at the end of its list.
pub fn empty_lists<P: Platform>(driver: &mut Driver<'_, P>) -> Verdict {
    const RECORDS: usize = 16;
    const PATIENCE_US: u64 = 100_000;

    fn run<P: Platform>(driver: &mut Driver<'_, P>, thread: Thread) -> Verdict {
        let mut list = RecordList::new();
        (0..RECORDS).for_each(|_| list.push(Record::Nop));
        let bytes = list.encode().map_err(|error| error.to_string())?;
        let memory = driver.upload(&bytes, 16).map_err(|error| error.to_string())?;
        let (start, end) = (memory.address(), memory.address() + RECORDS as u32);
        let registers = driver.platform();
        caches::clear(registers);
        registers.write(Register::ctnca(thread), start.0);
        registers.write(Register::ctnea(thread), end.0);
        let end_us = registers.now_us() + PATIENCE_US;
        let is_running = || Ctncs::from_word(registers.read(Register::ctncs(thread))).ctrun;
        while is_running() && registers.now_us() < end_us {}
        let (current, status) = (registers.read(Register::ctnca(thread)), registers.read(Register::ctncs(thread)));
        let remark = format!("thread {} at {current:#x} of {start} to {end}, CS {status:#x}", thread as u32);
        if current == end.0 && !is_running() { Ok(remark) } else { Err(remark) }
    }

    driver.wait_until_idle();
    let [binning, rendering] = [Thread::Binning, Thread::Rendering].map(|thread| run(driver, thread));
    Ok(format!("{}; {}", binning?, rendering?))
}

/// Runs a rendering list without binning: all pixels of a square picture must get the clear colour, and the memory after it must not change.
pub fn cleared_tiles<P: Platform>(driver: &mut Driver<'_, P>, side_px: u32) -> Verdict {
    fn clear<P: Platform>(driver: &mut Driver<'_, P>, bytes: &mut [u8], side_px: u32) -> Result<(), Error> {
        let picture = driver.upload(bytes, 4096)?;
        let grid = TileGrid::new(side_px, side_px, TileBuffer::Single)?;
        let pass = RenderingPass {
            grid,
            area: grid.whole(),
            color: Surface::display(picture.address(), side_px, side_px),
            clear: Some(ClearValues::color(COLOR)),
            load_color: false,
            depth: None,
            tile_lists: None,
            disable_early_z: false,
        };
        let list = driver.upload(&pass.list()?.encode()?, 16)?;
        let rendering = ControlList { start: list.address(), end_exclusive: list.region().end_exclusive() };
        let fence = driver.submit(Job { binning: None, rendering });
        let ended = driver.wait(fence);
        ended.and(picture.region().load(driver.platform(), 0, bytes))
    }

    let pixels = (side_px * side_px) as usize;
    let mut bytes = vec![UNTOUCHED; 4 * pixels + MARGIN_BYTES as usize];
    clear(driver, &mut bytes, side_px).map_err(|error| error.to_string())?;
    let (picture, margin) = bytes.split_at(4 * pixels);
    let right = picture.as_chunks().0.iter().filter(|pixel| **pixel == COLOR).count();
    let spilled = margin.iter().filter(|byte| **byte != UNTOUCHED).count();
    let remark = format!("{right} of {pixels} pixels have the clear colour, {spilled} bytes beside them changed");
    if right == pixels && spilled == 0 { Ok(remark) } else { Err(remark) }
}

/// Bins frames without primitives, renders the first tile of each, and tells how much memory the binner has taken. On a board it takes more than the tiles'
/// first blocks, in pieces whose sizes no source gives [rpi-hal src/v3d.rs].
pub fn binner_memory<P: Platform>(driver: &mut Driver<'_, P>) -> Verdict {
    /// Columns and rows of tiles.
    const GRIDS: [(u32, u32); 3] = [(1, 1), (10, 6), (20, 12)];
    /// More than the binner took for 64 tiles with primitives, 14 KiB [rpi-hal src/v3d.rs].
    const GROWTH_BYTES: u32 = 256 * 1024;

    fn taken<P: Platform>(driver: &mut Driver<'_, P>, (columns, rows): (u32, u32)) -> Result<String, Error> {
        let grid = TileGrid::new(64 * columns, 64 * rows, TileBuffer::Single)?;
        let memory = TileMemory::allocate(driver, grid, GROWTH_BYTES)?;
        let picture = driver.allocate(4 * 64 * columns * 64 * rows, 4096)?;
        let pass = RenderingPass {
            grid,
            area: TileArea { column: 0, row: 0, columns: 1, rows: 1 },
            color: Surface::display(picture.address(), 64 * columns, 64 * rows),
            clear: Some(ClearValues::color(COLOR)),
            load_color: false,
            depth: None,
            tile_lists: Some(memory.lists()),
            disable_early_z: false,
        };
        let lists = [BinningList::new(memory.binning_mode()).finish(), pass.list()?];
        let ended = run_lists(driver, lists);
        let (next, left) = (driver.platform().read(Register::BPCA), driver.platform().read(Register::BPCS));
        let all = memory.buffer().region().end_exclusive() - memory.lists();
        let moved = next.wrapping_sub(memory.lists().0);
        // A capture sends all of the pool that is not zero.
        [memory.buffer(), &picture].iter().for_each(|buffer| buffer.region().zero(driver.platform()));
        ended.map(|()| format!("{} tiles: BPCA + {moved:#x}, BPCS {left:#x} of {all:#x}", grid.tiles()))
    }

    let mut remarks = Vec::new();
    for grid in GRIDS {
        remarks.push(taken(driver, grid).map_err(|error| format!("{} x {} tiles: {error}", grid.0, grid.1))?);
    }
    Ok(remarks.join("; "))
}

/// Bins and renders a job of two lists.
fn run_lists<P: Platform>(driver: &mut Driver<'_, P>, lists: [RecordList; 2]) -> Result<(), Error> {
    let mut uploaded = Vec::new();
    for list in lists {
        uploaded.push(driver.upload(&list.encode()?, 16)?);
    }
    let [binning, rendering] = [&uploaded[0], &uploaded[1]]
        .map(|list| ControlList { start: list.address(), end_exclusive: list.region().end_exclusive() });
    let fence = driver.submit(Job { binning: Some(binning), rendering });
    driver.wait(fence)
}

/// Draws a triangle of one colour, whose vertices are in memory as a vertex shader would write them, and looks at the pixels that are more than one pixel away
/// from its edges.
pub fn triangle<P: Platform>(driver: &mut Driver<'_, P>) -> Verdict {
    const SIDE_PX: u32 = 128;
    /// The corner at the right angle, and the length of the two sides at it, in pixels.
    const CORNER_PX: u32 = 16;
    const LEG_PX: u32 = 96;

    fn draw<P: Platform>(driver: &mut Driver<'_, P>, bytes: &mut [u8]) -> Result<(), Error> {
        let code: Vec<u8> = programs::ONE_COLOR.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = driver.upload(&code, 8)?;
        // From the picture's centre, in 1/16 pixel.
        let place = |px: u32| (16 * px) as i16 - (8 * SIDE_PX) as i16;
        let (near, far) = (place(CORNER_PX), place(CORNER_PX + LEG_PX));
        let mut vertices = Vec::new();
        for (x, y) in [(near, near), (far, near), (near, far)] {
            let words = [ScreenXy { x, y }.to_word()?, 0.5f32.to_bits(), 1f32.to_bits()];
            vertices.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        let vertices = driver.upload(&vertices, 16)?;
        let record = NvRecord {
            fragment: FragmentProgram {
                // The program reads no uniforms; those that it could read are its own words.
                program: Program { code: code.address(), uniforms: code.address() },
                varyings: 0,
                threading: Threading::Single,
            },
            vertices: vertices.address(),
            stride: 12,
            clip_header: false,
        };
        let record = driver.upload(&record.encode()?, record_layout::ALIGNMENT)?;
        let picture = driver.upload(bytes, 4096)?;
        let grid = TileGrid::new(SIDE_PX, SIDE_PX, TileBuffer::Single)?;
        let memory = TileMemory::allocate(driver, grid, MARGIN_BYTES)?;
        let mut binning = BinningList::new(memory.binning_mode());
        let primitives = Primitives::Array { mode: PrimitiveMode::Triangles, first: 0, count: 3 };
        let state = DrawState::display(SIDE_PX as u16, SIDE_PX as u16);
        binning.draw(&state, NvRecord::state(record.address()), &primitives)?;
        let pass = RenderingPass {
            grid,
            area: grid.whole(),
            color: Surface::display(picture.address(), SIDE_PX, SIDE_PX),
            clear: Some(ClearValues::color(COLOR)),
            load_color: false,
            depth: None,
            tile_lists: Some(memory.lists()),
            disable_early_z: false,
        };
        run_lists(driver, [binning.finish(), pass.list()?])?;
        picture.region().load(driver.platform(), 0, bytes)
    }

    let mut bytes = vec![UNTOUCHED; 4 * (SIDE_PX * SIDE_PX) as usize];
    draw(driver, &mut bytes).map_err(|error| error.to_string())?;
    let (mut inside, mut outside, mut wrong) = (0, 0, 0);
    for (pixel, number) in bytes.as_chunks().0.iter().zip(0..) {
        // Twice the distances of the pixel's centre from the right angle.
        let [x, y] = [number % SIDE_PX, number / SIDE_PX].map(|at| 2 * at as i32 + 1 - 2 * CORNER_PX as i32);
        let from_edges = [x, y, 2 * LEG_PX as i32 - x - y];
        let (count, color) = match () {
            () if from_edges.iter().all(|&distance| distance > 4) => (&mut inside, TRIANGLE_COLOR),
            () if from_edges.iter().any(|&distance| distance < -4) => (&mut outside, COLOR),
            () => continue,
        };
        *count += 1;
        wrong += u32::from(*pixel != color);
    }
    let remark = format!("{inside} pixels inside and {outside} outside, of which {wrong} have the wrong colour");
    if wrong == 0 { Ok(remark) } else { Err(remark) }
}

/// Runs a user program whose 16 elements compute a number each, and looks at the numbers.
pub fn program<P: Platform>(driver: &mut Driver<'_, P>) -> Verdict {
    const LIMIT_US: u64 = 100_000;
    const START: u32 = 1000;
    const ELEMENTS: u32 = 16;

    fn run<P: Platform>(driver: &mut Driver<'_, P>) -> Result<Vec<u32>, Error> {
        let code: Vec<u8> = programs::ELEMENTS.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = driver.upload(&code, 8)?;
        let result = driver.upload(&[UNTOUCHED; 4 * ELEMENTS as usize], 64)?;
        let uniforms: Vec<u8> = [START, result.address().0].iter().flat_map(|word| word.to_le_bytes()).collect();
        let uniforms = driver.upload(&uniforms, 4)?;
        let program = UserProgram { code: code.address(), uniforms: uniforms.address(), uniform_count: 2 };
        driver.run_programs(&[program], LIMIT_US)?;
        (0..ELEMENTS).map(|element| result.region().load_word(driver.platform(), 4 * element)).collect()
    }

    let numbers = run(driver).map_err(|error| error.to_string())?;
    let wrong = numbers.iter().zip(0..).find(|&(&number, element)| number != START + 3 * element);
    match wrong {
        None => Ok(format!("{ELEMENTS} elements have stored the right numbers")),
        Some((number, element)) => {
            Err(format!("element {element} has stored {number:#x} instead of {:#x}", START + 3 * element))
        }
    }
}

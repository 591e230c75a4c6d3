//! The steps that run lists, jobs and programs, smallest first

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use v3d::{
    Job,
    binning_list::BinningList,
    caches,
    hw::{
        Layout,
        control_list::Record,
        registers::{Register, Thread, cle::Ctncs},
    },
    platform::RegisterAccess,
    record_list::{ControlList, RecordList},
    rendering_list::{ClearValues, RenderingPass},
    surface::Surface,
    tile_area::TileArea,
    tile_grid::{TileBuffer, TileGrid},
    tile_memory::TileMemory,
};

use super::{Output, Verdict, registers::platform};
use crate::{
    arch::clock,
    board::{framebuffer::DEFAULT_SIZE, interrupt_controller, interrupt_lines},
    gpu::Gpu,
    print,
    scenes::{SCENES, SceneEntry},
    selftest::pictures,
    shell::{
        scene, selftest,
        session::{NO_V3D, Session},
    },
};

/// The colour of cleared tiles: red, green, blue, alpha.
const COLOR: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

/// Lets each thread execute a list that does nothing: the smallest work of the V3D, without the driver. A thread must arrive at the end of its list.
pub(super) fn empty_lists(session: &mut Session, _: &mut Output) -> Verdict {
    const RECORDS: usize = 16;
    const PATIENCE_US: u64 = 100_000;

    fn run(gpu: &mut Gpu, thread: Thread) -> Result<String, String> {
        let mut list = RecordList::new();
        (0..RECORDS).for_each(|_| list.push(Record::Nop));
        let bytes = list.encode().map_err(|error| error.to_string())?;
        let memory = gpu.upload(&bytes, 16).map_err(|error| error.to_string())?;
        let (start, end) = (memory.address(), memory.address() + RECORDS as u32);
        let registers = gpu.platform();
        caches::clear(registers);
        registers.write(Register::ctnca(thread), start.0);
        registers.write(Register::ctnea(thread), end.0);
        let end_us = clock::now_us() + PATIENCE_US;
        let is_running = || Ctncs::from_word(registers.read(Register::ctncs(thread))).ctrun;
        while is_running() && clock::now_us() < end_us {}
        let (current, status) = (registers.read(Register::ctnca(thread)), registers.read(Register::ctncs(thread)));
        let remark = format!("thread {} at {current:#x} of {start} to {end}, CS {status:#x}", thread as u32);
        if current == end.0 && !is_running() { Ok(remark) } else { Err(remark) }
    }

    let result = session.gpu().and_then(|mut gpu| {
        gpu.wait_until_idle();
        let [binning, rendering] = [Thread::Binning, Thread::Rendering].map(|thread| run(&mut gpu, thread));
        Ok(format!("{}; {}", binning?, rendering?))
    });
    Verdict::of(result)
}

pub(super) fn one_tile(session: &mut Session, output: &mut Output) -> Verdict {
    clearing(session, output, 64)
}

pub(super) fn four_tiles(session: &mut Session, output: &mut Output) -> Verdict {
    clearing(session, output, 128)
}

/// Runs a rendering list without binning: all pixels of a square picture must get the clear colour, and the memory after it must not change.
fn clearing(session: &mut Session, output: &mut Output, side: u32) -> Verdict {
    const UNTOUCHED: u8 = 0xa5;
    /// Bytes after the picture that must not change.
    const MARGIN: u32 = 4096;

    fn clear(gpu: &mut Gpu, bytes: &mut [u8], side: u32) -> Result<(), v3d::Error> {
        let picture = gpu.upload(bytes, 4096)?;
        let grid = TileGrid::new(side, side, TileBuffer::Single)?;
        let pass = RenderingPass {
            grid,
            area: grid.whole(),
            color: Surface::display(picture.address(), side, side),
            clear: Some(ClearValues::color(COLOR)),
            load_color: false,
            depth: None,
            tile_lists: None,
            disable_early_z: false,
        };
        let list = gpu.upload(&pass.list()?.encode()?, 16)?;
        let rendering = ControlList { start: list.address(), end_exclusive: list.region().end_exclusive() };
        let fence = gpu.submit(Job { binning: None, rendering });
        let ended = gpu.wait(fence);
        ended.and(picture.region().load(gpu.platform(), 0, bytes))
    }

    let pixels = (side * side) as usize;
    let mut bytes = vec![UNTOUCHED; 4 * pixels + MARGIN as usize];
    let cleared =
        session.gpu().and_then(|mut gpu| clear(&mut gpu, &mut bytes, side).map_err(|error| error.to_string()));
    if let Err(error) = cleared {
        tell_reports(session, output);
        return Verdict::Failed(error);
    }
    let (picture, margin) = bytes.split_at(4 * pixels);
    let right = picture.as_chunks().0.iter().filter(|pixel| **pixel == COLOR).count();
    let spilled = margin.iter().filter(|byte| **byte != UNTOUCHED).count();
    let remark = format!("{right} of {pixels} pixels have the clear colour, {spilled} bytes beside them changed");
    if right == pixels && spilled == 0 { Verdict::Passed(remark) } else { Verdict::Failed(remark) }
}

/// Bins frames without primitives, renders the first tile of each, and reports how much memory the binner has taken. On a board it takes more than the tiles'
/// first blocks, in pieces whose sizes no source gives [rpi-hal src/v3d.rs].
pub(super) fn binner_memory(session: &mut Session, output: &mut Output) -> Verdict {
    /// Columns and rows of tiles.
    const GRIDS: [(u32, u32); 3] = [(1, 1), (10, 6), (20, 12)];
    /// More than the binner took for 64 tiles with primitives, 14 KiB [rpi-hal src/v3d.rs].
    const GROWTH_BYTES: u32 = 256 * 1024;

    fn taken(gpu: &mut Gpu, (columns, rows): (u32, u32)) -> Result<String, v3d::Error> {
        let grid = TileGrid::new(64 * columns, 64 * rows, TileBuffer::Single)?;
        let memory = TileMemory::allocate(gpu, grid, GROWTH_BYTES)?;
        let picture = gpu.allocate(4 * 64 * columns * 64 * rows, 4096)?;
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
        let mut uploaded = Vec::new();
        for list in lists {
            uploaded.push(gpu.upload(&list.encode()?, 16)?);
        }
        let [binning, rendering] = [&uploaded[0], &uploaded[1]]
            .map(|list| ControlList { start: list.address(), end_exclusive: list.region().end_exclusive() });
        let fence = gpu.submit(Job { binning: Some(binning), rendering });
        let ended = gpu.wait(fence);
        let (next, left) = (gpu.platform().read(Register::BPCA), gpu.platform().read(Register::BPCS));
        let all = memory.buffer().region().end_exclusive() - memory.lists();
        let moved = next.wrapping_sub(memory.lists().0);
        // A capture sends all of the pool that is not zero.
        [memory.buffer(), &picture].iter().for_each(|buffer| buffer.region().zero(gpu.platform()));
        ended.map(|()| format!("{} tiles: BPCA + {moved:#x}, BPCS {left:#x} of {all:#x}", grid.tiles()))
    }

    let mut remarks = Vec::new();
    for grid in GRIDS {
        match session.gpu().and_then(|mut gpu| taken(&mut gpu, grid).map_err(|error| error.to_string())) {
            Ok(remark) => remarks.push(remark),
            Err(error) => {
                tell_reports(session, output);
                return Verdict::Failed(format!("{} x {} tiles: {error}", grid.0, grid.1));
            }
        }
    }
    Verdict::Passed(remarks.join("; "))
}

/// Prints the driver's reports of failed jobs, and keeps the job for `capture`. The first of them becomes a part of the board's report, of the others a line.
fn tell_reports(session: &mut Session, output: &mut Output) {
    let reports = session.gpu().map(|mut gpu| gpu.take_reports()).unwrap_or_default();
    for report in reports {
        let text = report.to_string();
        if output.has_details {
            output.report.line(text.lines().next().unwrap_or_default());
            print!("{text}");
        } else {
            text.lines().for_each(|line| output.line(line));
            output.has_details = true;
        }
        session.failed_submission = Some(report.submission);
    }
}

/// Draws the triangle twice, and compares it with the recorded picture; if there is none of this size, only the two with each other.
fn triangle(session: &mut Session) -> Result<String, String> {
    const NAME: &str = "triangle";
    let entry: &'static SceneEntry =
        SCENES.iter().find(|entry| entry.name == NAME).ok_or_else(|| format!("there is no scene {NAME}"))?;
    let size = session.framebuffer.map_or(DEFAULT_SIZE, |pages| (pages.width, pages.height));
    let crcs = [scene::first_picture(session, entry)?, scene::first_picture(session, entry)?];
    let recorded = pictures::recorded(NAME).filter(|_| size == pictures::SIZE);
    match recorded {
        _ if crcs[0] != crcs[1] => Err(format!("picture {:08X}, and {:08X} when it was drawn again", crcs[0], crcs[1])),
        Some(recorded) if recorded != crcs[0] => Err(format!("picture {:08X} instead of {recorded:08X}", crcs[0])),
        Some(_) => Ok(format!("picture {:08X}, as recorded", crcs[0])),
        None => Ok(format!("picture {:08X} twice; there is no record for {}x{}", crcs[0], size.0, size.1)),
    }
}

/// Draws the triangle into memory, as without a display: nothing is asked of the firmware.
pub(super) fn triangle_in_memory(session: &mut Session, output: &mut Output) -> Verdict {
    let framebuffer = session.framebuffer.take();
    let drawn = triangle(session);
    session.framebuffer = framebuffer;
    tell_reports(session, output);
    Verdict::of(drawn)
}

pub(super) fn triangle_polled(session: &mut Session, output: &mut Output) -> Verdict {
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session, output);
    let came = interrupt_controller::count(interrupt_lines::V3D) - raised;
    match drawn {
        Ok(remark) if came == 0 => Verdict::Passed(remark),
        Ok(remark) => {
            Verdict::Failed(format!("{remark}; but {came} interrupts were raised although they were disabled"))
        }
        Err(reason) => Verdict::Failed(reason),
    }
}

pub(super) fn triangle_by_interrupt(session: &mut Session, output: &mut Output) -> Verdict {
    let platform = match platform() {
        Ok(platform) if session.gpu.is_ok() => platform,
        _ => return Verdict::Failed(NO_V3D.to_string()),
    };
    platform.use_interrupt();
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session, output);
    let came = interrupt_controller::count(interrupt_lines::V3D) - raised;
    // It may already be polling because the firmware has stopped answering.
    let has_stayed = !platform.is_polling();
    platform.poll();
    match drawn {
        Ok(remark) if came > 0 && has_stayed => Verdict::Passed(format!("{remark}; {came} interrupts")),
        Ok(remark) if came > 0 => {
            Verdict::Failed(format!("{remark}; {came} interrupts, and then the firmware stopped answering"))
        }
        Ok(remark) => Verdict::Failed(format!("{remark}; but no interrupt was raised")),
        Err(reason) => Verdict::Failed(reason),
    }
}

pub(super) fn user_program(session: &mut Session, output: &mut Output) -> Verdict {
    let result = selftest::one_program(session);
    tell_reports(session, output);
    Verdict::of(result)
}

pub(super) fn arithmetic(session: &mut Session, output: &mut Output) -> Verdict {
    let result = selftest::arithmetic_in_short(session);
    tell_reports(session, output);
    Verdict::of(result)
}

//! Commands about the board: info, boot, clocks, temp, mem, reboot

use alloc::string::ToString;

use super::session::{CommandResult, Session};
use crate::{
    arch::{clock as core_clock, cpu, mmu},
    board::{
        firmware,
        interrupt_controller::{self, MAX_EMPTY, MAX_PER_TICK, Stray},
        property::{
            GetArmMemory, GetBoardRevision, GetBoardSerial, GetClockRate, GetFirmwareRevision, GetMaxClockRate,
            GetMaxTemperature, GetMeasuredClockRate, GetTemperature, GetThrottled, GetVideoCoreMemory, Message,
            PropertyError, clock, throttling,
        },
        revision::Revision,
    },
    boot::{progress, trace::BootStage},
    mm::{heap, layout, watermark},
    print, println,
    terminal::console,
};

const MIB: u32 = 1 << 20;

pub(super) fn info(session: &Session) -> CommandResult {
    if let Err(error) = firmware_facts() {
        println!("firmware   does not answer: {error}");
    }
    match &session.framebuffer {
        Some(pages) => println!(
            "display    {}x{}, {} pages of {} KiB at {:#x}",
            pages.width,
            pages.height,
            pages.count,
            pages.pitch_bytes * pages.height / 1024,
            pages.address(0)
        ),
        None => println!("display    none"),
    }
    match session.gpu() {
        Ok(gpu) => println!("V3D        {}", gpu.identity()),
        Err(reason) => println!("V3D        none: {reason}"),
    }
    println!("console    {}", console::port_name());
    println!(
        "CPU        core {} at EL{}, entered at EL{}, MIDR {:#010x}, counter {} kHz",
        cpu::core_number(),
        cpu::exception_level(),
        session.handover.entry_level,
        cpu::identity(),
        core_clock::frequency_hz() / 1000
    );
    match session.handover.device_tree {
        Some(address) => println!("loader     passed a device tree at {address:#x}"),
        None => println!("loader     passed no device tree"),
    }
    println!("stray      {} interrupts came from no known line", interrupt_controller::empty_count());
    println!("booted     {} s ago", core_clock::now_us() / 1_000_000);
    Ok(())
}

/// The stages of this boot and of the one before.
pub(super) fn boot() -> CommandResult {
    let frequency_hz = core_clock::frequency_hz();
    let this = progress::trace().this_boot().ok_or("the boot trace has been overwritten")?;
    println!("this boot, after {} others since power-on:", this.boots_before);
    print!("{}", this.lines(frequency_hz));
    match progress::trace().boot_before() {
        Some(before) => {
            println!("the previous boot reached stage {} of {}:", before.last as u32, BootStage::ALL.len());
            print!("{}", before.lines(frequency_hz));
        }
        None => println!("memory holds no trace of a previous boot"),
    }
    Ok(())
}

/// Facts about the board, requested from the firmware in one message.
fn firmware_facts() -> Result<(), PropertyError> {
    let mut message = Message::new();
    let revision = message.push(&GetBoardRevision {})?;
    let serial = message.push(&GetBoardSerial {})?;
    let firmware = message.push(&GetFirmwareRevision {})?;
    let arm = message.push(&GetArmMemory {})?;
    let videocore = message.push(&GetVideoCoreMemory {})?;
    firmware::exchange(&mut message)?;

    match message.answer(&revision) {
        Ok(revision) => println!("board      {}", Revision(revision.code)),
        Err(error) => println!("board      unknown: {error}"),
    }
    match message.answer(&serial) {
        Ok(serial) => println!("serial     {:08x}{:08x}", serial.high, serial.low),
        Err(error) => println!("serial     unknown: {error}"),
    }
    match message.answer(&firmware) {
        Ok(firmware) => println!("firmware   built {} s after 1970", firmware.built_at),
        Err(error) => println!("firmware   unknown: {error}"),
    }
    match (message.answer(&arm), message.answer(&videocore)) {
        (Ok(arm), Ok(videocore)) => {
            println!(
                "memory     ARM {} MiB at {:#x}, VideoCore {} MiB at {:#x}",
                arm.size_bytes / MIB,
                arm.base,
                videocore.size_bytes / MIB,
                videocore.base
            );
            if videocore.size_bytes < 32 * MIB {
                println!("           with gpu_mem below 32 the firmware disables the V3D");
            }
        }
        (Err(error), _) | (_, Err(error)) => println!("memory     unknown: {error}"),
    }
    Ok(())
}

pub(super) fn clocks() -> CommandResult {
    println!("{:8}{:>10}{:>10}{:>10}", "clock", "set", "measured", "max  MHz");
    let mut any = false;
    for (number, name) in clock::NAMED {
        let set = firmware::ask(&GetClockRate { clock: number }).map(|clock| clock.rate_hz);
        let measured = firmware::ask(&GetMeasuredClockRate { clock: number }).map(|clock| clock.rate_hz);
        let max = firmware::ask(&GetMaxClockRate { clock: number }).map(|clock| clock.rate_hz);
        any |= set.is_ok();
        let megahertz = |rate: Result<u32, _>| match rate {
            Ok(rate_hz) => (rate_hz / 1_000_000).to_string(),
            Err(_) => "?".to_string(),
        };
        println!("{name:8}{:>10}{:>10}{:>10}", megahertz(set), megahertz(measured), megahertz(max));
    }
    if any { Ok(()) } else { Err("the firmware knows no clock".to_string()) }
}

pub(super) fn temperature() -> CommandResult {
    let now = firmware::ask(&GetTemperature { sensor: 0 }).map_err(|error| error.to_string())?;
    let max = firmware::ask(&GetMaxTemperature { sensor: 0 }).map(|max| max.millidegrees);
    println!("{}.{} degrees Celsius", now.millidegrees / 1000, now.millidegrees % 1000 / 100);
    if let Ok(max) = max {
        println!("throttled at {} degrees", max / 1000);
    }
    match firmware::ask(&GetThrottled { clear_mask: 0 }) {
        Ok(throttled) => println!("throttling: {}", throttling(throttled.bits)),
        Err(error) => println!("throttling unknown: {error}"),
    }
    Ok(())
}

pub(super) fn memory(session: &Session) -> CommandResult {
    let kib = |bytes: usize| bytes.div_ceil(1024);
    for (name, range) in [("text", layout::text()), ("rodata", layout::rodata()), ("data", layout::data())] {
        println!("{name:18}{:#010x}  {:>8} KiB", range.start, kib(range.len()));
    }
    for stack in layout::stacks() {
        let used = watermark::deepest_use_bytes(&stack);
        println!(
            "{:18}{:#010x}  {:>8} KiB, {} bytes were ever used",
            alloc::format!("{} stack", stack.name),
            stack.range.start,
            kib(stack.range.len()),
            used
        );
    }
    let heap = heap::usage();
    println!(
        "{:18}{:#010x}  {:>8} KiB, {} bytes in use, {} at most, {} allocations",
        "heap",
        layout::heap().start,
        kib(heap.size_bytes),
        heap.used_bytes,
        heap.max_used_bytes,
        heap.allocations
    );
    let pool = layout::gpu_pool();
    println!("{:18}{:#010x}  {:>8} KiB", "GPU pool", pool.start, kib(pool.len()));
    if let Ok(gpu) = session.gpu() {
        println!("{:38}{} bytes in use", "", gpu.pool_use().0);
    }
    if let Some(pages) = &session.framebuffer {
        println!("{:18}{:#010x}  {:>8} KiB", "framebuffer", pages.address(0), kib(pages.memory.len() * 4));
    }
    let (used, there_are) = mmu::table_usage();
    println!("{used} of {there_are} translation tables");
    Ok(())
}

/// Restarts the board.
pub(super) fn reboot(session: &mut Session) -> CommandResult {
    println!("restarting");
    console::flush();
    session.watchdog.reboot();
    core_clock::spin_for_us(1_000_000);
    Err("the board does not restart".to_string())
}

/// Reports interrupt lines that were disabled because of a storm, and sources without a line that were disabled.
pub(super) fn tell_storms() {
    if let Some(Stray { basic, core }) = interrupt_controller::take_stray() {
        println!(
            "{MAX_EMPTY} interrupts within a tick came from no line of the two banks; their sources are disabled: basic bank {basic:#x}, core 0 {core:#x}"
        );
    }
    for line in interrupt_controller::take_storms() {
        println!(
            "interrupt line {line} was asserted more than {MAX_PER_TICK} times within a tick, and disabled until the next one"
        );
    }
}

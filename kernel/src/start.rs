//! The boot in Rust: brings up devices in the order of their dependencies, then runs the shell
//!
//! The watchdog comes first, so that a boot that hangs is restarted and reported by the next one ([`crate::boot_trace`]). The firmware follows, because it sets
//! the clock of the serial port, then the console, so that all later stages can report; then heap, log, interrupts, screen, V3D. Each stage is recorded
//! ([`crate::boot_progress`]).

use alloc::{string::ToString, vec::Vec};

use renderer::Device;

use crate::{
    arch::{Handover, clock, cpu, exceptions, interrupt_mask},
    board::{
        act_led, boot_requests,
        firmware::{self, BehindMailbox, Firmware},
        framebuffer, gpio, interrupt_controller,
        peripherals::Peripherals,
        power::GraphicsPower,
        property::GetBoardRevision,
        revision::Revision,
        serial_port::SerialPort,
        system_timer::SystemTimer,
        watchdog::{self, Watchdog},
    },
    boot_options::BootOptions,
    boot_progress::{reach, trace},
    boot_trace::Stage,
    console, gpu, logger,
    mm::heap,
    pages::Pages,
    print, println,
    shell::{self, Session},
    tick,
    v3d_platform::V3dPlatform,
};

/// The time limit of a boot, after which the watchdog restarts it: the longest that the watchdog can count.
const BOOT_MS: u32 = watchdog::MAX_MS;

/// Number of lines of a failed boot's log that are printed at once.
const LAST_LINES: usize = 6;

/// Initialises the kernel and never returns.
pub(crate) fn kernel_main(handover: Handover) -> ! {
    let Some(peripherals) = Peripherals::take() else {
        panic!("the kernel was started twice");
    };
    let Peripherals {
        gpio,
        pl011,
        mini_uart,
        system_timer,
        mailbox,
        interrupt_controller,
        watchdog,
        graphics_power,
        async_bridge,
        v3d,
    } = peripherals;
    let pins = gpio::serial_pins(&gpio);
    let reach_early = |stage: Stage| {
        console::send_early(pins, stage.letter());
        reach(stage);
    };
    reach_early(Stage::Rust);
    let mut watchdog = Watchdog::new(watchdog);
    reach_early(Stage::ArmingWatchdog);
    if trace().watchdog_is_useless() {
        trace().note_watchdog_is_useless();
    } else {
        watchdog.arm(BOOT_MS);
    }
    reach_early(Stage::WatchdogArmed);

    firmware::init(mailbox);
    // The core clock may change with the ARM's, and the mini UART's rate depends on the core clock, so this precedes the console.
    let arm_clock = boot_requests::raise_arm_clock(&BehindMailbox);
    reach_early(Stage::Firmware);
    console::use_port(SerialPort::new(pins, &gpio, pl011, mini_uart, &BehindMailbox), pins);
    println!();
    println!("vc4 kernel {}", env!("CARGO_PKG_VERSION"));
    reach(Stage::Console);

    heap::init();
    logger::init();
    reach(Stage::Heap);
    log::info!("entered at EL{}, now at EL{}", handover.entry_level, cpu::exception_level());
    match arm_clock {
        Ok(rate_hz) => log::info!("ARM clock {} MHz", rate_hz / 1_000_000),
        Err(error) => log::info!("the ARM clock is left as it is: {error}"),
    }
    if watchdog.timeout_ms().is_none() {
        log::info!("the watchdog stays off: this machine restarted while it was being armed");
    }
    let board = BehindMailbox.ask(&GetBoardRevision {}).map(|revision| Revision(revision.code).model());
    let has_led = board.is_ok_and(|model| act_led::install(gpio, model));
    tell_boot_before(has_led, &mut watchdog);
    if let Some(syndrome) = exceptions::unmask_serror() {
        log::warn!("an error was pending when the kernel was entered: {syndrome}");
    }
    interrupt_controller::init(interrupt_controller);
    console::receive_by_interrupt();
    tick::start(SystemTimer::new(system_timer));
    interrupt_mask::unmask();
    reach(Stage::Interrupts);

    watchdog.sign_of_life();
    let framebuffer = start_screen();
    reach(Stage::Screen);
    if firmware::is_silent() {
        println!("The firmware does not answer: clocks and power stay as it left them, and there is no display.");
    }
    let platform = V3dPlatform::install(v3d, GraphicsPower::new(graphics_power, async_bridge));
    let gpu = match gpu::bring_up(platform) {
        Ok(gpu) => {
            println!("{}", gpu.identity());
            if BootOptions::parse(&boot_requests::command_line(&BehindMailbox)).v3d_interrupts {
                log::info!("cmdline.txt enables the V3D's interrupts");
                platform.use_interrupt();
            }
            Ok(Device::new(gpu))
        }
        Err(error) => {
            println!("No scenes on this machine: {error}. Everything else works.");
            Err(error.to_string())
        }
    };
    reach(Stage::Driver);
    watchdog.disarm();
    let session = Session::new(handover, framebuffer, watchdog, gpu);
    reach(Stage::Ready);
    println!("ready");
    shell::run(session)
}

/// Reports where the previous boot hung, if it did: in words, with the end of its log, and with the LED for boards without cable and screen.
fn tell_boot_before(has_led: bool, watchdog: &mut Watchdog) {
    let Some(before) = trace().boot_before() else { return };
    // Arming the watchdog may restart the machine; this is reported elsewhere.
    if before.is_complete() || before.last == Stage::ArmingWatchdog {
        return;
    }
    let (number, name) = (before.last as u32, before.last.name());
    println!("The previous boot got no further than stage {number} of {}, \"{name}\":", Stage::ALL.len());
    print!("{}", before.lines(clock::frequency_hz()));
    let log = logger::text_of_previous_run().unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        println!("  its log: {line}");
    }
    if has_led {
        act_led::blink(number, || watchdog.sign_of_life());
    }
}

/// Sets up the framebuffer and shows the console on its first page.
fn start_screen() -> Option<Pages> {
    let (width, height) = framebuffer::preferred_size(&BehindMailbox);
    match framebuffer::allocate(&BehindMailbox, width, height) {
        Ok(pages) => {
            log::info!(
                "framebuffer {}x{}, {} pages, at {:#x}",
                pages.width,
                pages.height,
                pages.count,
                pages.address(0)
            );
            console::attach_screen(pages);
            Some(pages)
        }
        Err(error) => {
            log::warn!("no picture: {error}");
            None
        }
    }
}

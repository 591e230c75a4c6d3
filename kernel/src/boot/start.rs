//! The boot in Rust: brings up devices in the order of their dependencies, then runs the shell
//!
//! The watchdog comes first, so that a boot that hangs is restarted and reported by the next one ([`crate::boot::trace`]). The firmware follows, because it
//! sets the clock of the serial port, then the console, so that all later stages can report; then heap, log, interrupts, screen, V3D. Each stage is recorded
//! ([`crate::boot::progress`]). After a boot that ended while it started the V3D, the V3D is left alone, since this boot would end in the same way.
//!
//! The ARM's clock is raised last, when the kernel is ready: with a weak power supply, the higher current may be what a board does not survive.

use alloc::{string::ToString, vec::Vec};

use crate::{
    arch::{Handover, clock, cpu, exceptions, interrupt_mask},
    board::{
        act_led, boot_requests,
        core_interrupts::CoreInterrupts,
        emmc::{self, CardSlot},
        firmware::{self, BehindMailbox, Firmware},
        framebuffer, gpio, hvs, interrupt_controller,
        peripherals::Peripherals,
        power::{GraphicsPower, HardwareRegisters},
        property::{CommandLine, GetBoardRevision},
        revision::Revision,
        serial_port::SerialPort,
        system_timer::SystemTimer,
        watchdog::{self, Watchdog},
    },
    boot::{
        options::BootOptions,
        progress::{reach, trace},
        trace::BootStage,
    },
    display::pages::Pages,
    gpu::{self, ClockCheck, v3d_platform::V3dPlatform},
    logging::logger,
    mm::heap,
    print, println,
    shell::{self, Session},
    terminal::console,
    tick,
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
        core_interrupts,
        watchdog,
        graphics_power,
        graphics_clock,
        async_bridge,
        emmc,
        card_pins,
        hvs,
        v3d,
    } = peripherals;
    let pins = gpio::serial_pins(&gpio);
    let reach_early = |stage: BootStage| {
        console::send_early(pins, stage.letter());
        reach(stage);
    };
    reach_early(BootStage::Rust);
    let mut watchdog = Watchdog::new(watchdog);
    reach_early(BootStage::ArmingWatchdog);
    if trace().watchdog_is_useless() {
        trace().note_watchdog_is_useless();
    } else {
        watchdog.arm(BOOT_MS);
    }
    reach_early(BootStage::WatchdogArmed);

    firmware::init(mailbox);
    let port = SerialPort::new(pins, &gpio, pl011, mini_uart, &BehindMailbox);
    reach_early(BootStage::Firmware);
    console::use_port(port, pins);
    println!();
    println!("vc4 kernel {}", env!("CARGO_PKG_VERSION"));
    reach(BootStage::Console);

    heap::init();
    logger::init();
    reach(BootStage::Heap);
    log::info!("entered at EL{}, now at EL{}", handover.entry_level, cpu::exception_level());
    if watchdog.timeout_ms().is_none() {
        log::info!("the watchdog stays off: this machine restarted while it was being armed");
    }
    let board = BehindMailbox.ask(&GetBoardRevision {}).map(|revision| Revision(revision.code).model());
    let has_led = board.is_ok_and(|model| act_led::install(gpio, model));
    tell_boot_before(has_led, &mut watchdog);
    if let Some(syndrome) = exceptions::unmask_serror() {
        log::warn!("an error was pending when the kernel was entered: {syndrome}");
    }
    interrupt_controller::init(interrupt_controller, CoreInterrupts::new(core_interrupts));
    console::receive_by_interrupt();
    tick::start(SystemTimer::new(system_timer));
    interrupt_mask::unmask();
    reach(BootStage::Interrupts);

    watchdog.sign_of_life();
    let framebuffer = start_screen();
    reach(BootStage::Screen);
    if firmware::is_silent() {
        println!("The firmware does not answer: clocks and power stay as it left them, and there is no display.");
    }
    let options = read_command_line();
    let platform = V3dPlatform::install(
        v3d,
        GraphicsPower::new(HardwareRegisters { power: graphics_power, clock: graphics_clock, bridges: async_bridge }),
    );
    if platform.power_status().is_a_boards() {
        hvs::install(hvs);
    }
    let gpu = if trace().boot_before().is_some_and(|before| before.ended_in_v3d()) {
        println!("The V3D is left alone during this boot, since the previous one ended while it was started.");
        println!("`v3d start` starts it nevertheless, `selftest board` tests the rest.");
        Err("it is left alone, since the previous boot ended while it was started; `v3d start` starts it".to_string())
    } else {
        gpu::start(platform, ClockCheck::Measured, options).map_err(|error| {
            println!("No scenes on this machine: {error}. Everything else works.");
            error.to_string()
        })
    };
    reach(BootStage::Driver);
    reach(BootStage::Ready);
    println!("ready");
    raise_arm_clock();
    watchdog.disarm();
    let card = CardSlot::new(emmc::Hardware { controller: emmc, pins: card_pins });
    let session = Session::new(handover, framebuffer, watchdog, gpu, card, options);
    reach(BootStage::Shell);
    shell::run(session)
}

/// Reads the options on the command line.
fn read_command_line() -> BootOptions {
    match boot_requests::command_line(&BehindMailbox) {
        Ok(line) => {
            let text = line.text();
            log::info!("the command line has {} bytes", text.len());
            if line.is_cut_off() {
                log::warn!(
                    "{} bytes of the command line are not read",
                    line.length_bytes as usize - CommandLine::BYTES
                );
            }
            BootOptions::parse(&text)
        }
        Err(error) => {
            log::info!("there is no command line: {error}");
            BootOptions::default()
        }
    }
}

/// Raises the ARM's clock, unless the previous boot ended here, and keeps the serial port's rate: the core clock may change with the ARM's.
fn raise_arm_clock() {
    if trace().boot_before().is_some_and(|before| before.ended_in_arm_clock()) {
        log::warn!("the ARM clock is left as it is, since the previous boot ended while it was raised");
        return;
    }
    match boot_requests::raise_arm_clock(&BehindMailbox) {
        Ok(rate_hz) => {
            console::follow_core_clock(boot_requests::core_clock_hz(&BehindMailbox));
            // The command `clocks` shows it; a line here would precede the answer to the first command.
            log::debug!("ARM clock {} MHz", rate_hz / 1_000_000);
        }
        Err(error) => log::info!("the ARM clock is left as it is: {error}"),
    }
}

/// Reports where the previous boot hung, if it did: in words, with the end of its log, and with the LED for boards without cable and screen.
fn tell_boot_before(has_led: bool, watchdog: &mut Watchdog) {
    let Some(before) = trace().boot_before() else { return };
    // Arming the watchdog may restart the machine; this is reported elsewhere.
    if before.is_complete() || before.last == BootStage::ArmingWatchdog {
        return;
    }
    let (number, name) = (before.last as u32, before.last.name());
    println!("The previous boot got no further than stage {number} of {}, \"{name}\":", BootStage::ALL.len());
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

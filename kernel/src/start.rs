//! From the first line of Rust to the shell: devices in the order of their needs
//!
//! The firmware comes first, because it sets the clock that the serial port runs on; then the console, so that all that
//! follows can be told; then heap, log, interrupts, screen, V3D.

use alloc::string::ToString;

use renderer::Device;

use crate::{
    arch::{clock, cpu, exceptions, interrupt_mask},
    bcm2837::{
        boot_requests,
        firmware::{self, BehindMailbox},
        framebuffer,
        gpio::{self, SerialPins},
        interrupt_controller,
        mini_uart::MiniUart,
        peripherals::Peripherals,
        pl011::Pl011,
        power::GraphicsPower,
        system_timer::SystemTimer,
        watchdog::Watchdog,
    },
    console,
    counter_set::CounterSet,
    gpu, logger,
    machine::Machine,
    mm::heap,
    pages::Pages,
    println, shell, tick,
    v3d_platform::V3dPlatform,
};

/// What the boot code hands over.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// Where the firmware left the device tree.
    pub device_tree: u64,
    /// The exception level that it entered the kernel at.
    pub entry_level: u64,
}

/// Brings the kernel up and never returns.
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
    firmware::init(mailbox);
    // The core clock may follow the ARM's, and the mini UART's rate follows the core clock: this comes before the console.
    let arm_clock = boot_requests::raise_arm_clock(&BehindMailbox);
    match gpio::serial_pins(&gpio) {
        SerialPins::Pl011 => {
            gpio::connect_pl011(&gpio, || clock::spin_for_us(2));
            console::use_pl011(Pl011::new(pl011, boot_requests::pl011_clock_hz(&BehindMailbox)));
        }
        SerialPins::MiniUart => {
            console::use_mini_uart(MiniUart::new(mini_uart, boot_requests::core_clock_hz(&BehindMailbox)))
        }
    }
    println!();
    println!("vc4 kernel {}", env!("CARGO_PKG_VERSION"));

    heap::init();
    logger::init();
    log::info!("entered at EL{}, now at EL{}", handover.entry_level, cpu::exception_level());
    match arm_clock {
        Ok(rate_hz) => log::info!("ARM clock {} MHz", rate_hz / 1_000_000),
        Err(error) => log::info!("the ARM clock is left as it is: {error}"),
    }
    if let Some(syndrome) = exceptions::unmask_serror() {
        log::warn!("an error was pending when the kernel was entered: {syndrome}");
    }
    interrupt_controller::init(interrupt_controller);
    console::receive_by_interrupt();
    tick::start(SystemTimer::new(system_timer));
    interrupt_mask::unmask();

    let framebuffer = start_screen();
    if firmware::is_silent() {
        println!("The firmware does not answer: clocks and power stay as it left them, and there is no display.");
    }
    let platform = V3dPlatform::install(v3d, GraphicsPower::new(graphics_power, async_bridge));
    let gpu = match gpu::bring_up(platform) {
        Ok(gpu) => {
            println!("{}", gpu.identity());
            Ok(Device::new(gpu))
        }
        Err(error) => {
            println!("No scenes on this machine: {error}. Everything else works.");
            Err(error.to_string())
        }
    };
    let machine = Machine {
        handover,
        framebuffer,
        watchdog: Watchdog::new(watchdog),
        gpu,
        last_picture: None,
        last_times: None,
        counted: CounterSet::default(),
        failed_work: None,
    };
    println!("ready");
    shell::run(machine)
}

/// Makes the framebuffer and shows the console on its first page.
fn start_screen() -> Option<Pages> {
    let (width, height) = framebuffer::preferred_size(&BehindMailbox);
    match framebuffer::allocate(&BehindMailbox, width, height) {
        Ok(pages) => {
            log::info!("framebuffer {width}x{height}, {} pages, at {:#x}", pages.count, pages.address(0));
            console::attach_screen(pages);
            Some(pages)
        }
        Err(error) => {
            log::warn!("no picture: {error}");
            None
        }
    }
}

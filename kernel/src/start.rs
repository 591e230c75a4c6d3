//! From the first line of Rust to the shell: devices in the order of their needs
//!
//! The firmware comes first, because it sets the clock that the serial port runs on; then the console, so that all that
//! follows can be told; then heap, log, interrupts, screen, V3D.

use alloc::string::ToString;

use crate::{
    arch::{clock, cpu, interrupt_mask},
    bcm2837::{
        firmware,
        framebuffer::{self, Framebuffer},
        gpio::{self, SerialPins},
        interrupt_controller,
        mini_uart::MiniUart,
        peripherals::Peripherals,
        pl011::Pl011,
        power::GraphicsPower,
        property::{GetClockRate, GetMaxClockRate, PropertyError, SetClockRate, clock as clocks},
        system_timer::SystemTimer,
        watchdog::Watchdog,
    },
    console, gpu, logger,
    machine::Machine,
    mm::heap,
    println,
    screen::Page,
    shell, tick,
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

/// The clock of the PL011 unless the firmware says otherwise.
const PL011_CLOCK_HZ: u32 = 48_000_000;
/// The core clock that `enable_uart=1` fixes.
const CORE_CLOCK_HZ: u32 = 250_000_000;

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
    let arm_clock = raise_arm_clock();
    match gpio::serial_pins(&gpio) {
        SerialPins::Pl011 => {
            gpio::connect_pl011(&gpio, || clock::spin_for_us(2));
            console::use_pl011(Pl011::new(pl011, pl011_clock_hz()));
        }
        SerialPins::MiniUart => console::use_mini_uart(MiniUart::new(mini_uart, core_clock_hz())),
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
    interrupt_controller::init(interrupt_controller);
    console::receive_by_interrupt();
    tick::start(SystemTimer::new(system_timer));
    interrupt_mask::unmask();

    let framebuffer = start_screen();
    let platform = V3dPlatform::install(v3d, GraphicsPower::new(graphics_power, async_bridge));
    let gpu = match gpu::bring_up(platform) {
        Ok(gpu) => {
            println!("{}", gpu.identity());
            Ok(gpu)
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
        hung_job: None,
    };
    println!("ready");
    shell::run(machine)
}

fn pl011_clock_hz() -> u32 {
    let set = SetClockRate { clock: clocks::UART, rate_hz: PL011_CLOCK_HZ, skip_turbo: 0 };
    match firmware::ask(&set) {
        Ok(clock) if clock.rate_hz != 0 => clock.rate_hz,
        _ => PL011_CLOCK_HZ,
    }
}

fn core_clock_hz() -> u32 {
    match firmware::ask(&GetClockRate { clock: clocks::CORE }) {
        Ok(clock) if clock.rate_hz != 0 => clock.rate_hz,
        _ => CORE_CLOCK_HZ,
    }
}

/// Has the ARM run as fast as it may: the firmware starts it at its lowest. The rate in hertz that was set.
fn raise_arm_clock() -> Result<u32, PropertyError> {
    let max = firmware::ask(&GetMaxClockRate { clock: clocks::ARM })?;
    let set = firmware::ask(&SetClockRate { clock: clocks::ARM, rate_hz: max.rate_hz, skip_turbo: 0 })?;
    Ok(set.rate_hz)
}

/// Makes the framebuffer and shows the console on its first page.
fn start_screen() -> Option<Framebuffer> {
    let (width, height) = framebuffer::preferred_size();
    match Framebuffer::allocate(width, height) {
        Ok(framebuffer) => {
            log::info!("framebuffer {width}x{height}, 2 pages, at {:#x}", framebuffer.page_address(0));
            console::attach_screen([page(&framebuffer, 0), page(&framebuffer, 1)]);
            Some(framebuffer)
        }
        Err(error) => {
            log::warn!("no picture: {error}");
            None
        }
    }
}

/// A page of the framebuffer to draw on.
#[must_use]
pub fn page(framebuffer: &Framebuffer, number: usize) -> Page {
    Page::new(
        framebuffer.memory(),
        framebuffer.page_words(number).start,
        framebuffer.pitch_bytes() as usize / 4,
        framebuffer.width(),
        framebuffer.height(),
    )
}

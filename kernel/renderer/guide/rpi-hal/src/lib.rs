//! The four traits of the driver, implemented with rpi-hal, and a frame.
//!
//! rpi-hal maps all of RAM as cached memory. Therefore the platform cleans the cache after stores into the pool, and invalidates it before loads, with the
//! functions that rpi-hal has for its own V3D driver; that driver is not used.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::cell::{RefCell, UnsafeCell};

use renderer::{Device, Error, PassDescriptor, Target, unorm};
use rpi_hal::mailbox::{ClockId, Mailbox, PixelOrder};
use rpi_hal::timer::Timer;
use rpi_hal::v3d as hal;
use v3d::hw::BusAddr;
use v3d::hw::registers::Register;
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};
use v3d::{Driver, Interrupts, Limits};

#[allow(unsafe_code, reason = "volatile accesses to the V3D's registers and to the pool")]
mod raw;

use raw::{POOL_BYTES, pool_address};

/// The V3D's clock in hertz.
const CLOCK_HZ: u32 = 300_000_000;

/// The board's peripherals in rpi-hal. The mailbox is needed again for a reset.
pub struct Platform {
    timer: Timer,
    mailbox: RefCell<Mailbox>,
}

impl RegisterAccess for Platform {
    fn read(&self, register: Register) -> u32 {
        raw::load_register(register.offset())
    }

    fn write(&self, register: Register, value: u32) {
        raw::store_register(register.offset(), value);
    }
}

impl GpuMemory for Platform {
    fn base(&self) -> BusAddr {
        BusAddr(hal::bus_address(pool_address()))
    }

    fn bytes(&self) -> u32 {
        POOL_BYTES
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        let count = raw::store_pool(offset, bytes);
        hal::flush(pool_address() + offset, count);
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.fill(0);
        hal::invalidate(pool_address() + offset, bytes.len().min((POOL_BYTES.saturating_sub(offset)) as usize));
        raw::load_pool(offset, bytes);
    }
}

impl Time for Platform {
    fn now_us(&self) -> u64 {
        self.timer.now_micros()
    }

    /// Returns at once, which is allowed: the driver then polls the V3D.
    fn wait_until(&self, _deadline_us: u64) {
        self.timer.delay_us(2);
    }
}

impl Power for Platform {
    fn reset(&self) -> Result<(), PowerError> {
        let mut mailbox = self.mailbox.try_borrow_mut().map_err(|_| PowerError("the mailbox is in use"))?;
        for enable in [false, true] {
            mailbox.set_enable_qpu(enable).map_err(|_| PowerError("the firmware does not restart the QPUs"))?;
        }
        switch_clock_on(&mut mailbox)
    }
}

/// Requests the V3D's clock; without it only the QPUs would have one.
fn switch_clock_on(mailbox: &mut Mailbox) -> Result<(), PowerError> {
    let refused = |_| PowerError("the firmware does not set the V3D's clock");
    mailbox.set_clock_rate_hz(ClockId::V3d, CLOCK_HZ).map_err(refused)?;
    mailbox.set_clock_state(ClockId::V3d, true).map_err(refused)?;
    match mailbox.measured_clock_rate_hz(ClockId::V3d) {
        Ok(1..) => Ok(()),
        _ => Err(PowerError("the V3D has no clock, and an access without one never ends")),
    }
}

/// The reason that nothing was drawn.
#[derive(Debug)]
pub enum DrawError {
    /// There is no clock, or no power.
    Power(PowerError),
    /// The firmware allocates no framebuffer.
    Framebuffer(rpi_hal::mailbox::Error),
    /// A step of the check failed: its name, and the reason.
    Check(&'static str, alloc::string::String),
    /// An error of the renderer.
    Renderer(Error),
}

impl From<Error> for DrawError {
    fn from(error: Error) -> Self {
        Self::Renderer(error)
    }
}

/// Switches the V3D on, checks it, and fills the display with a colour. The program has set up a heap before.
///
/// # Errors
/// When a step of that fails.
pub fn draw(mut mailbox: Mailbox, timer: Timer) -> Result<(), DrawError> {
    switch_clock_on(&mut mailbox).map_err(DrawError::Power)?;
    mailbox.set_enable_qpu(true).map_err(|_| DrawError::Power(PowerError("the QPUs are not enabled")))?;
    let display = mailbox.allocate_framebuffer(640, 480, 32, PixelOrder::Rgb).map_err(DrawError::Framebuffer)?;
    let platform = Platform { timer, mailbox: RefCell::new(mailbox) };
    let interrupts = Interrupts::new();
    let driver = Driver::bring_up(&platform, &interrupts, Limits::default()).map_err(Error::from)?;
    let device = Device::new(driver);
    let failed: Vec<_> =
        device.check()?.into_iter().filter_map(|step| Some((step.what, step.verdict.err()?))).collect();
    if let Some((what, why)) = failed.into_iter().next() {
        return Err(DrawError::Check(what, why));
    }
    let address = BusAddr(hal::bus_address(display.address));
    let page = Target::page("display", address, display.width, display.height, display.pitch_bytes)?;
    let mut frame = device.frame()?;
    frame.pass(&PassDescriptor::to(&page).clear(unorm([24, 16, 32, 255])))?;
    let fence = frame.submit()?;
    device.wait(fence)?;
    Ok(())
}

/// Memory of the pool, aligned to cache lines and for the driver.
#[repr(C, align(4096))]
struct Pool(UnsafeCell<[u8; POOL_BYTES as usize]>);

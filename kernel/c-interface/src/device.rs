//! Devices: the V3D of a board, its clock and power, and the display.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::ffi::{c_char, c_void};

use bcm283x::bus::BusMemory;
use bcm283x::framebuffer::{self, Allocation};
use bcm283x::mailbox::{self, BusLine, Mailbox};
use bcm283x::{Chip, Firmware};
use renderer::{Device, Error, Target};
use v3d::{Driver, Fence, Interrupts, Limits};

use crate::board::{CBus, v3d_board};
use crate::failure::{note, noted};
use crate::resource::v3d_target;

/// The renderer's device on a board of C.
pub(crate) type BoardDevice = Device<'static, Chip<CBus>>;
type BoardMailbox = RefCell<Mailbox<BusLine<'static, CBus>, BusMemory<'static, CBus>>>;

/// A V3D that draws.
#[derive(Debug)]
pub struct v3d_device {
    pub(crate) device: BoardDevice,
    firmware: BoardMailbox,
    chip: &'static Chip<CBus>,
    pub(crate) last: Cell<Fence>,
}

/// A framebuffer of the firmware: pages of 32-bit pixels, red in the lowest byte, one above the other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct v3d_display {
    /// Physical address of the first page's first pixel.
    pub address: u32,
    /// Number of pages.
    pub pages: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height of a page in pixels.
    pub height: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
}

/// Switches the V3D of a board on and initialises it. The board is copied.
///
/// NULL if a function is missing, or there is no V3D, no clock, no power, or no memory.
///
/// # Safety
/// `board` is valid, and its functions do what their documentation says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_open(board: *const v3d_board) -> *mut v3d_device {
    // SAFETY: the caller's promise.
    let Some(board) = (unsafe { board.as_ref() }) else {
        note("there is no board");
        return core::ptr::null_mut();
    };
    #[cfg(target_os = "none")]
    if !crate::standalone::use_memory(board) {
        note("the board has no functions for memory");
        return core::ptr::null_mut();
    }
    let Some(bus) = board.bus() else {
        note("the board has no function for loads, for stores or for completing them");
        return core::ptr::null_mut();
    };
    noted(open(board, bus)).map_or(core::ptr::null_mut(), |device| Box::into_raw(Box::new(device)))
}

fn open(board: &v3d_board, bus: CBus) -> Result<v3d_device, alloc::string::String> {
    // A device lives as long as the kernel, mostly: what it refers to is not given back.
    let bus: &'static CBus = Box::leak(Box::new(bus));
    let chip: &'static Chip<CBus> = Box::leak(Box::new(Chip::new(*bus, board.chip(), board.memory())));
    let interrupts: &'static Interrupts = Box::leak(Box::new(Interrupts::new()));
    if !board.messages.is_multiple_of(16) {
        return Err("the address of the messages is not a multiple of 16".to_string());
    }
    let firmware = mailbox::of_bus(bus, board.chip(), board.messages);
    chip.power_on(&firmware).map_err(|error| error.to_string())?;
    let driver = Driver::bring_up(chip, interrupts, Limits::default()).map_err(|error| error.to_string())?;
    Ok(v3d_device { device: Device::new(driver), firmware, chip, last: Cell::new(Fence::NONE) })
}

/// Waits until all work is done and frees the device.
///
/// # Safety
/// `device` is of [`v3d_open`], and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_close(device: *mut v3d_device) {
    if !device.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(device) });
    }
}

/// Checks the V3D and the board step by step, from its identity to a program, and calls `tell` for each step: what was checked, whether it passed (1 or
/// 0), and a remark. Returns whether all passed.
///
/// # Safety
/// `device` is valid; the texts are valid during the call of `tell`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_check(
    device: *const v3d_device,
    context: *mut c_void,
    tell: Option<extern "C" fn(context: *mut c_void, what: *const c_char, passed: i32, remark: *const c_char)>,
) -> i32 {
    // SAFETY: the caller's promise.
    let device = unsafe { &*device };
    let Some(steps) = noted(device.device.check()) else { return 0 };
    let mut all = 1;
    for step in steps {
        let passed = i32::from(step.verdict.is_ok());
        all &= passed;
        if let Some(tell) = tell {
            let remark = match &step.verdict {
                Ok(remark) | Err(remark) => remark.as_str(),
            };
            let [what, remark] = [step.what, remark].map(terminated);
            tell(context, what.as_ptr().cast(), passed, remark.as_ptr().cast());
        }
    }
    all
}

/// A text with a zero at its end.
fn terminated(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// Has the firmware allocate a framebuffer of up to three pages, of this size or a smaller one; returns 1 if it did.
///
/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_display_open(
    device: *const v3d_device,
    width: u32,
    height: u32,
    display: *mut v3d_display,
) -> i32 {
    // SAFETY: the caller's promise.
    let (device, display) = unsafe { (&*device, &mut *display) };
    let memory_end = device.chip.peripherals().base;
    match noted(Allocation::request(&device.firmware, width, height, memory_end)) {
        Some(Allocation { address, pages, width, height, pitch_bytes }) => {
            *display = v3d_display { address: address as u32, pages: pages as u32, width, height, pitch: pitch_bytes };
            1
        }
        None => 0,
    }
}

/// Has the display show a page; returns 1 if the firmware did.
///
/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_display_show(device: *const v3d_device, display: *const v3d_display, page: u32) -> i32 {
    // SAFETY: the caller's promise.
    let (device, display) = unsafe { (&*device, &*display) };
    shown(&device.firmware, display, page)
}

fn shown(firmware: &impl Firmware, display: &v3d_display, page: u32) -> i32 {
    i32::from(noted(framebuffer::show(firmware, page as usize, display.height)).is_some())
}

/// A page of the display as a target of passes; NULL if it cannot be one.
///
/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_display_target(
    device: *const v3d_device,
    display: *const v3d_display,
    page: u32,
) -> *mut v3d_target {
    // SAFETY: the caller's promise.
    let (device, display) = unsafe { (&*device, &*display) };
    let address = display.address.wrapping_add(page.wrapping_mul(display.height).wrapping_mul(display.pitch));
    let address = device.chip.peripherals().bus_address(address);
    let target = Target::page("a page of the display", address, display.width, display.height, display.pitch);
    noted(target).map_or(core::ptr::null_mut(), |target| Box::into_raw(Box::new(v3d_target(target))))
}

/// Waits until everything that was submitted so far is drawn; returns 1 if the last frame was.
///
/// # Safety
/// `device` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn v3d_wait(device: *const v3d_device) -> i32 {
    // SAFETY: the caller's promise.
    let device = unsafe { &*device };
    let waited: Result<(), Error> = device.device.wait(device.last.get());
    i32::from(noted(waited).is_some())
}

//! QEMU's C ABI: functions that it calls, functions that the plugin calls, and the memory that they share.
//!
//! Order of events: QEMU loads the library, compares [`qemu_plugin_version`](functions::qemu_plugin_version) with what it supports, and calls
//! [`qemu_plugin_install`], which looks up all functions that it will need and compares the layouts. When the first vCPU exists the machine exists too, and
//! [`first_vcpu`] puts the register block over the unimplemented one with a higher priority. At the first access the interrupt controller and guest RAM are
//! looked up: both exist when the guest runs.
//!
//! QEMU calls back for MMIO on the thread of the accessing vCPU, under its big lock; `qemu_set_irq` may be called there. Guest RAM is one block from physical
//! address 0 to the peripherals (0x3F00_0000); `address_space_map` returns a host pointer to it, which is valid until it is unmapped, which never happens.
//! Other vCPUs store to it while the model runs, so it is only accessed as atomic words.
//!
//! With a trace, vCPU 0's instructions are counted: QEMU calls back at the start of each translated block, with the block's length. A count therefore includes
//! the rest of the current block.
//!
//! # Sources
//! QEMU 7.2 and 10.0: `qemu-plugin.h` (`qemu_info_t`, install, translation), `exec/memory.h` (`address_space_map`),
//! `hw/arm/bcm2835_peripherals.c` (V3D is `gpu-irq` 10 of `bcm2835-ic`). QEMU 11.1: its `qemu-plugin.h`.

mod functions;
mod layout;

use crate::device::Device;
use crate::options::{Options, Silence};
use crate::raspi3b::{
    BUS_WINDOW_BYTES, MAILBOX_BASE, MAILBOX_BYTES, MAILBOX_EMPTY, MAILBOX_STATUS, UART_BASE, UART_BYTES, UART_DATA,
    UART_FLAGS, UART_NEVER_SENT, UART_RECEIVE_EMPTY, V3D_BASE, V3D_BYTES, V3D_IRQ,
};
use crate::version::WITH_USER_DATA;
use functions::{Qemu, declared_version};
use layout::{MemoryRegion, MemoryRegionOps};
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use v3d_sim::memory::Memory;

/// Above QEMU's own "unimplemented device" at the same address, which has -1000.
const PRIORITY: c_int = 1000;
/// `qemu_info_t`, up to the members that this plugin uses.
#[repr(C)]
pub(crate) struct QemuInfo {
    target_name: *const c_char,
    version_min: c_int,
    version_cur: c_int,
    system_emulation: bool,
}

static OPS: MemoryRegionOps = MemoryRegionOps::registers(register_read, register_write);

/// A mailbox that never answers.
static SILENT_MAILBOX_OPS: MemoryRegionOps = MemoryRegionOps::registers(silent_mailbox_read, silent_mailbox_write);

/// A serial port that receives input and never sends.
static STUCK_UART_OPS: MemoryRegionOps = MemoryRegionOps::registers(stuck_uart_read, stuck_uart_write);

/// State that the callbacks share.
struct Plugin {
    qemu: Qemu,
    state: Mutex<State>,
}

/// State that changes while the guest runs.
struct State {
    device: Device,
    /// When the mailbox will stop answering; `None` once it has.
    silence: Option<Silence>,
    /// Input that is still to arrive on a serial port that never sends.
    keys: Option<VecDeque<u8>>,
    /// Looked up at the first access.
    board: Option<Board>,
    /// The last level that was signalled to the interrupt controller.
    level: bool,
}

/// The parts of the machine to which the device is connected.
#[derive(Clone, Copy)]
struct Board {
    /// Guest RAM from physical address 0 on.
    ram: &'static [AtomicU32],
    /// `qemu_irq` of GPU interrupt 10.
    irq: NonNull<c_void>,
}

// SAFETY: the `qemu_irq` is used under QEMU's big lock only, which every MMIO callback holds, on whichever thread.
unsafe impl Send for Board {}

static PLUGIN: OnceLock<Plugin> = OnceLock::new();

/// Instructions that vCPU 0 has executed, while a trace is written.
static INSTRUCTIONS: AtomicU64 = AtomicU64::new(0);

/// Called by QEMU once, after loading. A result other than 0 makes QEMU end with an error.
///
/// # Safety
/// QEMU's contract: `info` points to a `qemu_info_t`, `argv` to `argc` C strings.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const QemuInfo,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's contract, handed on.
    match unsafe { install(id, info, argc, argv) } {
        Ok(()) => 0,
        Err(sentence) => {
            eprintln!("the V3D plugin cannot work: {sentence}");
            1
        }
    }
}

/// # Safety
/// As [`qemu_plugin_install`].
unsafe fn install(id: u64, info: *const QemuInfo, argc: c_int, argv: *const *const c_char) -> Result<(), String> {
    // SAFETY: `info` is valid for the duration of this call, by the caller's contract.
    let info = unsafe { info.as_ref() }.ok_or("QEMU did not say what it is")?;
    // SAFETY: `target_name` is a C string in every version of the plugin interface.
    let target = unsafe { CStr::from_ptr(info.target_name) };
    if target != c"aarch64" || !info.system_emulation {
        return Err(format!(
            "it is for qemu-system-aarch64, and this QEMU emulates {}{}",
            target.to_string_lossy(),
            if info.system_emulation { "" } else { " user programs" },
        ));
    }
    let version = declared_version();
    if !(info.version_min..=info.version_cur).contains(&version) {
        return Err(format!(
            "it took this for a QEMU with plugin interface {version}, and this QEMU has {} to {}",
            info.version_min, info.version_cur,
        ));
    }
    let mut arguments = Vec::new();
    for index in 0..usize::try_from(argc).unwrap_or(0) {
        // SAFETY: `argv` has `argc` C strings, by the caller's contract.
        let argument = unsafe { CStr::from_ptr(*argv.add(index)) };
        arguments.push(argument.to_string_lossy().into_owned());
    }
    let options = Options::parse(arguments).map_err(|error| error.to_string())?;
    let device =
        Device::new(&options).map_err(|error| format!("a file of its arguments cannot be created: {error}"))?;
    let qemu = Qemu::find().map_err(|missing| {
        format!(
            "this QEMU does not export {}; it needs one that is built with loadable modules, as Debian's package \
             qemu-system-arm from 7.2 to 11.1 is",
            missing.join(", "),
        )
    })?;
    if !qemu.has_known_layout() {
        return Err(
            "this QEMU lays out MemoryRegionOps in a way that the plugin does not know; it knows those of QEMU 7.2, \
             10.0 and 11.1, such as Debian's package qemu-system-arm"
                .to_owned(),
        );
    }
    let register_vcpu_init = qemu.qemu_plugin_register_vcpu_init_cb;
    let register_translation = qemu.qemu_plugin_register_vcpu_tb_trans_cb;
    let keys = options.stuck_uart.as_ref().map(|keys| keys.bytes().chain([b'\r']).collect());
    let state = Mutex::new(State { device, silence: options.mailbox, keys, board: None, level: false });
    if PLUGIN.set(Plugin { qemu, state }).is_err() {
        return Err("it is loaded already".to_owned());
    }
    let (vcpu_init, translated) = if version >= WITH_USER_DATA {
        (vcpu_init_7 as *const c_void, block_translated_7 as *const c_void)
    } else {
        (vcpu_init as *const c_void, block_translated as *const c_void)
    };
    // SAFETY: `id` is the one QEMU gave this plugin; the callback lives as long as the library, and has the type that QEMU
    // calls from this version on or before it.
    unsafe { register_vcpu_init(id, vcpu_init, ptr::null_mut()) };
    if options.trace.is_some() {
        // SAFETY: as above.
        unsafe { register_translation(id, translated, ptr::null_mut()) };
    }
    Ok(())
}

/// Called by QEMU when it has translated a block, up to version 6 of the plugin interface.
extern "C" fn block_translated(_id: u64, block: *mut c_void) {
    count_executions(block);
}

/// The same from version 7 on.
extern "C" fn block_translated_7(block: *mut c_void, _user_data: *mut c_void) {
    count_executions(block);
}

/// Requests a call with the block's length at each execution of a translated block.
fn count_executions(block: *mut c_void) {
    /// `QEMU_PLUGIN_CB_NO_REGS`.
    const NO_REGISTERS: c_int = 0;
    let Some(Plugin { qemu, .. }) = PLUGIN.get() else {
        return;
    };
    // SAFETY: QEMU hands a block that is valid during this call; the number travels as the pointer that nobody follows.
    unsafe {
        let length = ptr::without_provenance_mut((qemu.qemu_plugin_tb_n_insns)(block));
        (qemu.qemu_plugin_register_vcpu_tb_exec_cb)(block, block_executed, NO_REGISTERS, length);
    }
}

/// Called by QEMU before it executes a block.
extern "C" fn block_executed(vcpu: c_uint, length: *mut c_void) {
    if vcpu == 0 {
        INSTRUCTIONS.fetch_add(length.addr() as u64, Ordering::Relaxed);
    }
}

/// Called by QEMU when a vCPU exists, up to version 6 of the plugin interface.
extern "C" fn vcpu_init(_id: u64, index: c_uint) {
    if index == 0 {
        first_vcpu();
    }
}

/// The same from version 7 on.
extern "C" fn vcpu_init_7(index: c_uint, _user_data: *mut c_void) {
    if index == 0 {
        first_vcpu();
    }
}

/// At the first vCPU, the machine's memory map is complete. QEMU's big lock is held: by the thread that creates the machine (7.2), or by the vCPU's own before
/// it executes anything (9.0 and later).
fn first_vcpu() {
    let Some(plugin) = PLUGIN.get() else {
        return;
    };
    plugin.qemu.put_registers(c"v3d", &OPS, V3D_BASE, V3D_BYTES);
    if plugin.state().silence.take_if(|silence| *silence == Silence::FromPowerOn).is_some() {
        plugin.qemu.silence_mailbox();
    }
    if plugin.state().keys.is_some() {
        plugin.qemu.put_registers(c"stuck-uart", &STUCK_UART_OPS, UART_BASE, UART_BYTES);
    }
}

impl Plugin {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Qemu {
    /// Whether this QEMU's structures have the layouts that [`layout`] defines.
    fn has_known_layout(&self) -> bool {
        let constants = (self.pci_host_conf_le_ops, self.pci_host_conf_be_ops, self.unassigned_mem_ops);
        // SAFETY: the addresses of constants that exist as long as QEMU does, with others around them in the program's image, so
        // that they may be read as far as this type goes, whatever they are.
        let (little, big, unassigned) = unsafe { (constants.0.as_ref(), constants.1.as_ref(), constants.2.as_ref()) };
        matches!((little, big, unassigned), (Some(l), Some(b), Some(u)) if layout::is_as_written(l, b, u))
    }

    /// Puts a block of registers over the machine's own at the same address.
    ///
    /// Called when the first vCPU exists, or from a callback for MMIO, which holds QEMU's big lock.
    fn put_registers(&self, name: &'static CStr, ops: &'static MemoryRegionOps, base: u64, bytes: u64) {
        let region = Box::into_raw(Box::new(MemoryRegion([0; 4096])));
        // SAFETY: `region` is zeroed, larger than a `MemoryRegion`, and never freed, as QEMU keeps it for good; `ops` and the
        // name are static; the owner may be null; the system memory exists since before any vCPU.
        unsafe {
            (self.memory_region_init_io)(region, ptr::null_mut(), ops, ptr::null_mut(), name.as_ptr(), bytes);
            (self.memory_region_add_subregion_overlap)((self.get_system_memory)(), base, region, PRIORITY);
        }
    }

    /// Puts a mailbox that never answers over the firmware's.
    fn silence_mailbox(&self) {
        self.put_registers(c"silent-mailbox", &SILENT_MAILBOX_OPS, MAILBOX_BASE, MAILBOX_BYTES);
    }
}

impl Qemu {
    /// Finds guest RAM and the V3D's interrupt line. The error is what is missing.
    fn find_board(&self) -> Result<Board, &'static str> {
        // SAFETY: both names are C strings; a null `ambiguous` is allowed.
        let controller =
            unsafe { (self.object_resolve_path_type)(c"".as_ptr(), c"bcm2835-ic".as_ptr(), ptr::null_mut()) };
        if controller.is_null() {
            return Err("this machine has no bcm2835-ic; it needs -M raspi3b");
        }
        // SAFETY: the object is a bcm2835-ic, whose "gpu-irq" has 64 lines.
        let irq = unsafe { (self.qdev_get_gpio_in_named)(controller, c"gpu-irq".as_ptr(), V3D_IRQ) };
        let irq = NonNull::new(irq).ok_or("the interrupt controller has no GPU interrupt 10")?;
        let mut length = BUS_WINDOW_BYTES;
        // SAFETY: the address space is QEMU's own; `length` is ours, and QEMU puts into it how much is contiguous.
        let ram = unsafe { (self.address_space_map)(self.address_space_memory, 0, &raw mut length, true, 0) };
        let words = usize::try_from(length / 4).map_err(|_| "guest RAM is too large")?;
        if ram.is_null() || words == 0 {
            return Err("guest RAM is not mapped at physical address 0");
        }
        // SAFETY: `ram` is page-aligned, readable and writable for `length` bytes, and is never unmapped; all access on
        // this side is atomic, and on the guest's side is by other threads' machine code, which is as good as atomic.
        let ram = unsafe { std::slice::from_raw_parts(ram.cast::<AtomicU32>(), words) };
        Ok(Board { ram, irq })
    }
}

/// Performs one register access, then reports faults and sets the interrupt line if its level has changed.
fn access<T>(work: impl FnOnce(&mut Device, &Memory<'_>) -> T) -> Option<T> {
    let plugin = PLUGIN.get()?;
    let mut state = plugin.state();
    let state = &mut *state;
    let board = match state.board {
        Some(board) => board,
        None => match plugin.qemu.find_board() {
            Ok(board) => *state.board.insert(board),
            Err(sentence) => {
                eprintln!("the V3D plugin cannot work: {sentence}");
                std::process::exit(1);
            }
        },
    };
    let result = work(&mut state.device, &Memory::new(board.ram));
    state.device.report_faults();
    let level = state.device.interrupt();
    if level != state.level {
        state.level = level;
        // SAFETY: `irq` is the controller's input, and MMIO callbacks hold QEMU's big lock, as `qemu_set_irq` asks.
        unsafe { (plugin.qemu.qemu_set_irq)(board.irq.as_ptr(), c_int::from(level)) };
        if state.silence.take_if(|silence| *silence == Silence::FromFirstInterrupt).is_some() {
            plugin.qemu.silence_mailbox();
        }
    }
    Some(result)
}

/// A guest load. `OPS` permits only aligned 32-bit accesses within [`V3D_BYTES`].
extern "C" fn register_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    let instructions = INSTRUCTIONS.load(Ordering::Relaxed);
    access(|device, memory| u64::from(device.read(memory, instructions, offset as u32))).unwrap_or(0)
}

/// A guest store, as [`register_read`].
extern "C" fn register_write(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    let instructions = INSTRUCTIONS.load(Ordering::Relaxed);
    access(|device, memory| device.write(memory, instructions, offset as u32, value as u32));
}

/// A guest load from the silent mailbox: it is never full and always empty.
extern "C" fn silent_mailbox_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    if offset == MAILBOX_STATUS { MAILBOX_EMPTY } else { 0 }
}

/// A guest store to the silent mailbox, which is ignored.
extern "C" fn silent_mailbox_write(_opaque: *mut c_void, _offset: u64, _value: u64, _bytes: c_uint) {}

/// A guest load from the stuck serial port: bytes arrive until the input ends.
extern "C" fn stuck_uart_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    let Some(plugin) = PLUGIN.get() else {
        return 0;
    };
    let mut state = plugin.state();
    let Some(keys) = &mut state.keys else {
        return 0;
    };
    match offset {
        UART_DATA => keys.pop_front().map_or(0, u64::from),
        UART_FLAGS if keys.is_empty() => UART_NEVER_SENT | UART_RECEIVE_EMPTY,
        UART_FLAGS => UART_NEVER_SENT,
        _ => 0,
    }
}

/// A guest store to the stuck serial port, which is ignored.
extern "C" fn stuck_uart_write(_opaque: *mut c_void, _offset: u64, _value: u64, _bytes: c_uint) {}

//! QEMU's C ABI: functions that it calls, functions that the plugin calls, and the memory that they share.
//!
//! Order of events: QEMU loads the library, compares [`qemu_plugin_version`](functions::qemu_plugin_version) with what it supports, and calls
//! [`qemu_plugin_install`], which looks up all functions that it will need and compares the layouts. When the first vCPU exists the machine exists too:
//! [`first_vcpu`] finds out which one it is, and puts the register block over the unimplemented one with a higher priority. At the first access the interrupt
//! controller and guest RAM are looked up: both exist when the guest runs.
//!
//! QEMU calls back for MMIO on the thread of the accessing vCPU, under its big lock; `qemu_set_irq` may be called there. Guest RAM is one block from physical
//! address 0 on, up to the peripherals at most; `address_space_map` returns a host pointer to it, which is valid until it is unmapped, which never happens.
//! Other vCPUs store to it while the model runs, so it is only accessed as atomic words.
//!
//! Jobs are executed by a thread of this library. When one ends that the guest no longer waits for, the thread schedules a call in QEMU's main loop, which
//! holds the big lock too: only there, and in MMIO callbacks, are results taken back and the interrupt line is set.
//!
//! The [display]'s registers are put into the machine in the same way. A timer of QEMU ends its frames, and the [console] of QEMU's window asks for its
//! picture: both under the big lock.
//!
//! With the coherence check, each instruction is [instrumented](instrumentation), and the vCPU's [system registers](system_registers) are read at each start.
//!
//! With a trace, vCPU 0's instructions are counted: QEMU calls back at the start of each translated block, with the block's length. A count therefore includes
//! the rest of the current block.
//!
//! # Sources
//! QEMU 7.2 and 10.0: `qemu-plugin.h` (`qemu_info_t`, install, translation), `exec/memory.h` (`address_space_map`),
//! `hw/arm/bcm2835_peripherals.c` (V3D is `gpu-irq` 10 of `bcm2835-ic`). QEMU 11.1: its `qemu-plugin.h`.

mod console;
mod display;
mod functions;
mod instrumentation;
mod layout;
mod surroundings;
mod system_registers;

use crate::coherence::Coherence;
use crate::device::Device;
use crate::display::Display;
use crate::machine::{
    BUS_WINDOW_BYTES, MACHINES, Soc, UART_BYTES, UART_DATA, UART_FLAGS, UART_NEVER_SENT, UART_RECEIVE_EMPTY, V3D_BYTES,
    V3D_IRQ,
};
use crate::options::Options;
use crate::version::WITH_USER_DATA;
use display::Output;
use functions::{Qemu, declared_version};
use instrumentation::Instrumentation;
use layout::{MemoryRegion, MemoryRegionOps};
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use surroundings::Surroundings;
use system_registers::SystemRegisters;
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

static OPS: MemoryRegionOps = MemoryRegionOps::registers(surroundings::v3d_read, surroundings::v3d_write);

/// A serial port that receives input and never sends.
static STUCK_UART_OPS: MemoryRegionOps = MemoryRegionOps::registers(stuck_uart_read, stuck_uart_write);

/// State that the callbacks share.
struct Plugin {
    qemu: Qemu,
    state: Mutex<State>,
    /// The coherence check, if there is one, and the functions that it needs.
    coherence: Option<(Coherence, Instrumentation)>,
}

/// State that changes while the guest runs.
struct State {
    device: Device,
    /// The system on a chip that the options name; else, from the first vCPU on, the one that QEMU has.
    soc: Option<Soc>,
    surroundings: Surroundings,
    /// The display, unless it is switched off.
    output: Option<Output>,
    /// Input that is still to arrive on a serial port that never sends.
    keys: Option<VecDeque<u8>>,
    /// Looked up at the first access.
    board: Option<Board>,
    /// The last level that was signalled to the interrupt controller.
    level: bool,
    /// The CPU's registers, which are found at the first access if coherence is checked.
    registers: Option<SystemRegisters>,
}

/// The parts of the machine to which the device is connected.
#[derive(Clone, Copy)]
struct Board {
    /// Guest RAM from physical address 0 on.
    ram: &'static [AtomicU32],
    /// `qemu_irq` of GPU interrupt 10.
    irq: NonNull<c_void>,
    /// The interrupt controller, a `bcm2835-ic`.
    controller: NonNull<c_void>,
    /// The registers of QEMU's own mailbox.
    mailbox: NonNull<MemoryRegion>,
}

// SAFETY: the pointers are QEMU's, live as long as the machine, and are used under QEMU's big lock only, which every MMIO callback holds, on whichever thread.
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
    if !(target == c"aarch64" || target == c"arm") || !info.system_emulation {
        return Err(format!(
            "it is for qemu-system-aarch64 and qemu-system-arm, and this QEMU emulates {}{}",
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
    let surroundings = Surroundings::new(options.firmware, options.properties, options.mailbox);
    let output = options.monitor.mode().map(|mode| Output::new(Display::new(mode)));
    let state = Mutex::new(State {
        device,
        soc: options.soc,
        surroundings,
        output,
        keys,
        board: None,
        level: false,
        registers: None,
    });
    let coherence = if options.coherence { Some((Coherence::default(), Instrumentation::find()?)) } else { None };
    if PLUGIN.set(Plugin { qemu, state, coherence }).is_err() {
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
    if options.trace.is_some() || options.coherence {
        // SAFETY: as above.
        unsafe { register_translation(id, translated, ptr::null_mut()) };
    }
    Ok(())
}

/// Called by QEMU when it has translated a block, up to version 6 of the plugin interface.
extern "C" fn block_translated(_id: u64, block: *mut c_void) {
    instrument(block);
}

/// The same from version 7 on.
extern "C" fn block_translated_7(block: *mut c_void, _user_data: *mut c_void) {
    instrument(block);
}

/// Requests the calls during the block's execution that the trace and the coherence check need.
fn instrument(block: *mut c_void) {
    count_executions(block);
    if let Some(Plugin { qemu, coherence: Some((_, instrumentation)), .. }) = PLUGIN.get() {
        // SAFETY: QEMU hands a block that is valid during this call.
        let instructions = unsafe { (qemu.qemu_plugin_tb_n_insns)(block) };
        (0..instructions).for_each(|index| instrumentation.watch(block, index));
    }
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
    let mut state = plugin.state();
    let Some(soc) = state.soc.or_else(|| plugin.qemu.find_soc()) else {
        let names = MACHINES.map(|(name, _)| name).join(", ");
        give_up(&format!("this machine has no VideoCore IV; it needs -M with one of {names}"));
    };
    if plugin.coherence.is_some() && soc != Soc::Bcm2837 {
        give_up("coherence=check reads registers of a 64-bit processor, which raspi3ap and raspi3b have");
    }
    state.soc = Some(soc);
    plugin.qemu.put_registers(c"v3d", &OPS, soc.v3d(), V3D_BYTES);
    surroundings::install(plugin, soc, &state.surroundings, state.output.is_some());
    if let Some(output) = &mut state.output {
        output.install(&plugin.qemu, soc);
    }
    if state.keys.is_some() {
        plugin.qemu.put_registers(c"stuck-uart", &STUCK_UART_OPS, soc.uart(), UART_BYTES);
    }
}

/// Ends QEMU with a sentence, as it does itself when a device cannot be created.
fn give_up(sentence: &str) -> ! {
    eprintln!("the V3D plugin cannot work: {sentence}");
    std::process::exit(1);
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
}

impl Qemu {
    /// The only object of a type, or null.
    fn object(&self, type_name: &CStr) -> *mut c_void {
        // SAFETY: both names are C strings; a null `ambiguous` is allowed.
        unsafe { (self.object_resolve_path_type)(c"".as_ptr(), type_name.as_ptr(), ptr::null_mut()) }
    }

    /// The system on a chip of this machine, if the plugin knows it.
    fn find_soc(&self) -> Option<Soc> {
        Soc::ALL.into_iter().find(|soc| !self.object(soc.type_name()).is_null())
    }

    /// The input of the interrupt controller, a bcm2835-ic, for one of the GPU's 64 interrupts.
    fn gpu_interrupt(&self, controller: NonNull<c_void>, line: c_int) -> Option<NonNull<c_void>> {
        // SAFETY: the object is a bcm2835-ic, whose "gpu-irq" has 64 lines.
        NonNull::new(unsafe { (self.qdev_get_gpio_in_named)(controller.as_ptr(), c"gpu-irq".as_ptr(), line) })
    }

    /// Finds guest RAM and the V3D's interrupt line. The error is what is missing.
    fn find_board(&self) -> Result<Board, &'static str> {
        let controller =
            NonNull::new(self.object(c"bcm2835-ic")).ok_or("this machine has no interrupt controller bcm2835-ic")?;
        let irq = self.gpu_interrupt(controller, V3D_IRQ).ok_or("the interrupt controller has no GPU interrupt 10")?;
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
        Ok(Board { ram, irq, controller, mailbox: self.find_mailbox()? })
    }
}

impl State {
    /// The parts of the machine, which are looked up at the first access: from then on they exist.
    fn board(&mut self, qemu: &Qemu) -> Board {
        match self.board {
            Some(board) => board,
            None => match qemu.find_board() {
                Ok(board) => {
                    let worker = self.device.worker();
                    std::thread::spawn(move || worker.serve(&Memory::new(board.ram), announce_end));
                    *self.board.insert(board)
                }
                Err(sentence) => give_up(sentence),
            },
        }
    }
}

impl State {
    /// Reports faults, and sets the interrupt line if its level has changed.
    fn show_outcome(&mut self, qemu: &Qemu, board: Board) {
        self.device.report_faults();
        let level = self.device.interrupt();
        if level != self.level {
            self.level = level;
            // SAFETY: `irq` is the controller's input; MMIO callbacks and the main loop's hold QEMU's big lock, as `qemu_set_irq` asks.
            unsafe { (qemu.qemu_set_irq)(board.irq.as_ptr(), c_int::from(level)) };
            self.surroundings.v3d_raises_interrupt();
        }
    }
}

/// Performs one register access, then reports faults and sets the interrupt line if its level has changed.
fn access<T>(work: impl FnOnce(&mut Device, &Memory<'_>, Option<(&Coherence, &SystemRegisters)>) -> T) -> Option<T> {
    let plugin = PLUGIN.get()?;
    let mut state = plugin.state();
    let state = &mut *state;
    let board = state.board(&plugin.qemu);
    if plugin.coherence.is_some() && state.registers.is_none() {
        match SystemRegisters::find() {
            Ok(registers) => state.registers = Some(registers),
            Err(sentence) => give_up(&format!("what the CPU caches cannot be found out, as {sentence}")),
        }
    }
    let coherence = plugin.coherence.as_ref().map(|(coherence, _)| coherence).zip(state.registers.as_ref());
    let result = work(&mut state.device, &Memory::new(board.ram), coherence);
    state.show_outcome(&plugin.qemu, board);
    Some(result)
}

/// Called on the worker's thread when a job has ended: has [`job_has_ended`] called.
fn announce_end() {
    if let Some(Plugin { qemu, .. }) = PLUGIN.get() {
        // SAFETY: both may be called on any thread; the callback and its name live as long as the library.
        unsafe {
            let main_loop = (qemu.qemu_get_aio_context)();
            (qemu.aio_bh_schedule_oneshot_full)(main_loop, job_has_ended, ptr::null_mut(), c"v3d-job".as_ptr());
        }
    }
}

/// Called by QEMU's main loop, under its big lock, some time after a job has ended. A register access may have taken the job back before.
extern "C" fn job_has_ended(_opaque: *mut c_void) {
    access(|device, memory, _| device.collect(memory));
}

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

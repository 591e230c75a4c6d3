//! The machine around the V3D: mailbox, power block, bridges, clock control, HVS.
//!
//! The mailbox's registers are put over QEMU's own, which get every access that is not held back: so QEMU's firmware answers a message first, in the guest's
//! memory, and [`Firmware`] completes the answer before the guest can see that there is one.
//!
//! # An access that never ends
//! A load must return to QEMU, or QEMU as a whole stands still. On a board, only the watchdog ends such an access; nothing else happens meanwhile, so the time
//! until it expires is skipped: the machine is reset at once, and the vCPU stops at the end of the current block of instructions. Without a watchdog the
//! machine
//! would stand still for ever: the plugin says so, and QEMU ends.
//!
//! # Sources
//! QEMU 7.2: `hw/misc/bcm2835_mbox.c` (registers, and that a message is answered during the store), `qapi/run-state.json` (`ShutdownCause`).

use super::functions::Qemu;
use super::layout::{MemoryRegion, MemoryRegionOps};
use super::{Board, INSTRUCTIONS, PLUGIN, Plugin, State, access};
use crate::firmware::{Behaviour, Behaviours, Effects, Firmware, Properties};
use crate::machine::{
    BRIDGES_BYTES, BUS_ALIAS, CHANNEL, CLOCK_BYTES, CORE_MAILBOX_CONTROL, CORE_MAILBOX_SET, HVS_BYTES, MAILBOX_BYTES,
    MAILBOX_EMPTY, MAILBOX_IN_DEVICE, MAILBOX_STATUS, MAILBOX_WRITE, POWER_BYTES, PROPERTY_CHANNEL, STRAY_BASIC_IRQ,
    Soc,
};
use crate::options::Silence;
use crate::power::{Access, GraphicsPower};
use std::collections::VecDeque;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use v3d_sim::memory::Memory;

/// `SHUTDOWN_CAUSE_GUEST_SHUTDOWN` and `SHUTDOWN_CAUSE_GUEST_RESET`.
const GUEST_SHUTDOWN: c_int = 6;
const GUEST_RESET: c_int = 7;
/// `MO_32` of `MemOp`: 4 bytes in the host's order, which is the guest's on every host that QEMU is built for with this plugin.
const MO_32: c_uint = 2;
/// How often the watchdog is looked at.
const WATCHDOG_INTERVAL: Duration = Duration::from_millis(20);
/// What the V3D's registers read without power [asurati] [zephyr].
const UNPOWERED: u32 = 0xdead_beef;
/// Most words of a message that are read: real ones have some hundreds.
const MOST_WORDS: usize = 4096;

static MAILBOX_OPS: MemoryRegionOps = MemoryRegionOps::registers(mailbox_read, mailbox_write);
static POWER_OPS: MemoryRegionOps = MemoryRegionOps::registers(power_read, power_write);
static BRIDGES_OPS: MemoryRegionOps = MemoryRegionOps::registers(bridges_read, bridges_write);
static CLOCK_OPS: MemoryRegionOps = MemoryRegionOps::registers(clock_read, clock_write);
static HVS_OPS: MemoryRegionOps = MemoryRegionOps::registers(hvs_read, hvs_write);

/// The state of the machine around the V3D.
pub(super) struct Surroundings {
    behaviours: Behaviours,
    properties: Properties,
    firmware: Firmware,
    pub(super) power: GraphicsPower,
    /// When the mailbox will stop answering.
    silence: Option<Silence>,
    is_silent: bool,
    /// Words for the firmware, each with the time at which it answers.
    held_back: VecDeque<(Instant, u32)>,
}

impl Surroundings {
    pub(super) fn new(behaviours: Behaviours, properties: Properties, silence: Option<Silence>) -> Self {
        Self {
            behaviours,
            properties,
            firmware: Firmware::new(behaviours, properties),
            power: GraphicsPower::new(behaviours),
            silence,
            is_silent: silence == Some(Silence::FromPowerOn),
            held_back: VecDeque::new(),
        }
    }

    /// Whether the board has a behaviour.
    pub(super) fn has(&self, behaviour: Behaviour) -> bool {
        self.behaviours.has(behaviour)
    }

    /// What happens at the V3D's interrupts.
    pub(super) fn v3d_raises_interrupt(&mut self) {
        self.is_silent |= self.silence == Some(Silence::FromFirstInterrupt);
    }

    /// Returns to the state after power-on.
    fn reset(&mut self) {
        *self = Self::new(self.behaviours, self.properties, self.silence);
    }
}

/// Puts the registers into the machine, when its first vCPU exists, and starts the watchdog. Without the [display](super::display), the HVS only counts frames.
pub(super) fn install(plugin: &'static Plugin, soc: Soc, surroundings: &Surroundings, has_display: bool) {
    let qemu = &plugin.qemu;
    qemu.put_registers(c"firmware-mailbox", &MAILBOX_OPS, soc.mailbox(), MAILBOX_BYTES);
    // SAFETY: the callback has the type that QEMU declares, and lives as long as the library.
    unsafe { (qemu.qemu_register_reset)(machine_reset, ptr::null_mut()) };
    if !surroundings.has(Behaviour::Board) {
        return;
    }
    qemu.put_registers(c"power", &POWER_OPS, soc.power(), POWER_BYTES);
    qemu.put_registers(c"bridges", &BRIDGES_OPS, soc.bridges(), BRIDGES_BYTES);
    qemu.put_registers(c"v3d-clock", &CLOCK_OPS, soc.clock(), CLOCK_BYTES);
    if !has_display {
        qemu.put_registers(c"hvs", &HVS_OPS, soc.hvs(), HVS_BYTES);
    }
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(WATCHDOG_INTERVAL);
            let has_expired = plugin.state().surroundings.power.has_expired(Instant::now());
            if has_expired {
                plugin.qemu.reset_machine();
            }
        }
    });
}

/// Called by QEMU when the machine is reset, under its big lock.
extern "C" fn machine_reset(_opaque: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else {
        return;
    };
    let mut state = plugin.state();
    state.surroundings.reset();
    let ram = state.board.map_or(&[][..], |board| board.ram);
    state.device.reset(&Memory::new(ram));
    if let Some(output) = &mut state.output {
        output.reset(&plugin.qemu);
    }
    // The interrupt controller is reset as well.
    state.level = false;
}

impl Qemu {
    /// Resets the machine as its watchdog does: memory keeps its contents.
    fn reset_machine(&self) {
        // SAFETY: sets a variable and wakes the main loop up, from any thread; a calling vCPU also ends its current block.
        unsafe { (self.qemu_system_reset_request)(GUEST_RESET) };
    }

    /// Finds QEMU's mailbox. The error is what is missing.
    pub(super) fn find_mailbox(&self) -> Result<NonNull<MemoryRegion>, &'static str> {
        let mailbox = self.object(c"bcm2835-mbox");
        if mailbox.is_null() {
            return Err("this machine has no mailbox bcm2835-mbox");
        }
        // SAFETY: the object is a bcm2835-mbox, a device on the system bus with one region.
        NonNull::new(unsafe { (self.sysbus_mmio_get_region)(mailbox, 0) }).ok_or("the mailbox has no registers")
    }

    fn read_mailbox(&self, board: Board, offset: u64) -> u64 {
        let mut value = 0;
        // SAFETY: the region is the mailbox's own, and MMIO callbacks hold QEMU's big lock. A failed access leaves the value 0.
        unsafe {
            (self.memory_region_dispatch_read)(
                board.mailbox.as_ptr(),
                MAILBOX_IN_DEVICE + offset,
                &raw mut value,
                MO_32,
                0,
            );
        }
        value
    }

    fn write_mailbox(&self, board: Board, offset: u64, value: u64) {
        // SAFETY: as above.
        unsafe {
            (self.memory_region_dispatch_write)(board.mailbox.as_ptr(), MAILBOX_IN_DEVICE + offset, value, MO_32, 0);
        }
    }

    /// Stores a word at a physical address, as the guest would.
    fn store(&self, address: u64, word: u32) {
        let mut bytes = word.to_le_bytes();
        // SAFETY: the address space is QEMU's own, the bytes are ours for the time of the call, and MMIO callbacks hold QEMU's big lock.
        unsafe {
            (self.address_space_rw)(self.address_space_memory, address, 0, bytes.as_mut_ptr().cast(), 4, true);
        }
    }

    /// Asserts and enables a doorbell and a mailbox between the cores, for which kernels have no handler.
    fn raise_strays(&self, board: Board, soc: Option<Soc>) {
        // SAFETY: the object is a bcm2835-ic, whose "arm-irq" has 8 lines; MMIO callbacks hold QEMU's big lock.
        unsafe {
            let line = (self.qdev_get_gpio_in_named)(board.controller.as_ptr(), c"arm-irq".as_ptr(), STRAY_BASIC_IRQ);
            (self.qemu_set_irq)(line, 1);
        }
        if let Some(soc) = soc {
            self.store(soc.enable_basic(), 1 << STRAY_BASIC_IRQ);
        }
        if soc != Some(Soc::Bcm2835) {
            self.store(CORE_MAILBOX_CONTROL, 1);
            self.store(CORE_MAILBOX_SET, 1);
        }
    }
}

impl State {
    /// Hands the words to the firmware whose time has come.
    fn pump(&mut self, qemu: &Qemu, board: Board) {
        while self.surroundings.held_back.front().is_some_and(|&(due, _)| Instant::now() >= due) {
            let Some((_, word)) = self.surroundings.held_back.pop_front() else { break };
            self.send(qemu, board, word);
        }
    }

    /// Takes a word of the guest for the firmware, which answers it after the words before it.
    fn take_word(&mut self, qemu: &Qemu, board: Board, word: u32) {
        let delay =
            message(board.ram, word).map_or(Duration::ZERO, |(_, words)| self.surroundings.firmware.delay(&words));
        let free = self.surroundings.held_back.back().map_or_else(Instant::now, |&(due, _)| due.max(Instant::now()));
        self.surroundings.held_back.push_back((free + delay, word));
        self.pump(qemu, board);
    }

    /// Hands a word to QEMU's firmware, and completes its answer.
    fn send(&mut self, qemu: &Qemu, board: Board, word: u32) {
        qemu.write_mailbox(board, MAILBOX_WRITE.start, word.into());
        let Some((place, mut words)) = message(board.ram, word) else {
            return;
        };
        let before = words.clone();
        let Surroundings { firmware, power, .. } = &mut self.surroundings;
        let Effects { resets_v3d, raises_strays } = firmware.answer(&mut words, power);
        for (index, (&word, &before)) in words.iter().zip(&before).enumerate() {
            if word != before {
                board.ram[place + index].store(word, Ordering::Relaxed);
            }
        }
        if resets_v3d {
            self.device.reset(&Memory::new(board.ram));
            self.show_outcome(qemu, board);
        }
        if raises_strays {
            qemu.raise_strays(board, self.soc);
        }
    }
}

/// The message of a word of the property channel, as far as it is in RAM, and the index of its first word there.
fn message(ram: &[AtomicU32], word: u32) -> Option<(usize, Vec<u32>)> {
    if word & CHANNEL != PROPERTY_CHANNEL {
        return None;
    }
    let first = (word & !CHANNEL & !BUS_ALIAS) as usize / 4;
    let count = (ram.get(first)?.load(Ordering::Relaxed) as usize / 4).min(MOST_WORDS);
    let words = ram[first..].iter().take(count).map(|word| word.load(Ordering::Relaxed)).collect();
    Some((first, words))
}

/// Calls a function with the state and the board, which is looked up first.
fn with_board<T>(work: impl FnOnce(&mut State, &Qemu, Board) -> T) -> Option<T> {
    let plugin = PLUGIN.get()?;
    let mut state = plugin.state();
    let board = state.board(&plugin.qemu);
    Some(work(&mut state, &plugin.qemu, board))
}

/// A guest load from the mailbox.
extern "C" fn mailbox_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    let read = with_board(|state, qemu, board| {
        if state.surroundings.is_silent {
            return if offset == MAILBOX_STATUS { MAILBOX_EMPTY } else { 0 };
        }
        state.pump(qemu, board);
        qemu.read_mailbox(board, offset)
    });
    read.unwrap_or(0)
}

/// A guest store to the mailbox.
extern "C" fn mailbox_write(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    with_board(|state, qemu, board| match () {
        () if state.surroundings.is_silent => {}
        () if MAILBOX_WRITE.contains(&offset) => state.take_word(qemu, board, value as u32),
        () => qemu.write_mailbox(board, offset, value),
    });
}

/// Calls a function with the state of power and clock.
fn with_power<T: Default>(work: impl FnOnce(&mut GraphicsPower) -> T) -> T {
    PLUGIN.get().map_or_else(T::default, |plugin| work(&mut plugin.state().surroundings.power))
}

/// A guest load from the power block.
extern "C" fn power_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    with_power(|power| power.read_power(offset)).into()
}

/// A guest store to the power block.
extern "C" fn power_write(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    with_board(|state, qemu, board| {
        if state.surroundings.power.write_power(offset, value as u32, Instant::now()) {
            state.device.reset(&Memory::new(board.ram));
            state.show_outcome(qemu, board);
        }
    });
}

/// A guest load from the bridges.
extern "C" fn bridges_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    with_power(|power| power.read_bridges(offset)).into()
}

/// A guest store to the bridges.
extern "C" fn bridges_write(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    with_power(|power| power.write_bridges(offset, value as u32));
}

/// A guest load from the V3D's clock control.
extern "C" fn clock_read(_opaque: *mut c_void, _offset: u64, _bytes: c_uint) -> u64 {
    with_power(|power| power.read_clock()).into()
}

/// A guest store to the V3D's clock control.
extern "C" fn clock_write(_opaque: *mut c_void, _offset: u64, value: u64, _bytes: c_uint) {
    with_power(|power| power.write_clock(value as u32));
}

/// A guest load from the HVS.
extern "C" fn hvs_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    with_power(|power| power.read_hvs(offset, Instant::now())).into()
}

/// A guest store to the HVS, which is ignored: kernels under this firmware only look.
extern "C" fn hvs_write(_opaque: *mut c_void, _offset: u64, _value: u64, _bytes: c_uint) {}

/// What the V3D's state makes of an access to its registers. An access that never ends has ended the guest's run when this returns.
fn admission() -> Access {
    let admission = with_power(|power| Admission(power.access(), power.watchdog_counts()));
    if let (Access::Endless, Some(plugin)) = (admission.0, PLUGIN.get()) {
        if admission.1 {
            plugin.qemu.reset_machine();
        } else {
            eprintln!(
                "the guest has accessed a register of the V3D, which has no clock: on a board the access never ends, and no watchdog is armed"
            );
            // SAFETY: as for `reset_machine`.
            unsafe { (plugin.qemu.qemu_system_shutdown_request)(GUEST_SHUTDOWN) };
        }
    }
    admission.0
}

/// What becomes of an access, and whether the watchdog counts.
struct Admission(Access, bool);

impl Default for Admission {
    fn default() -> Self {
        Self(Access::Unpowered, false)
    }
}

/// A guest load from the V3D. Its region permits only aligned 32-bit accesses.
pub(super) extern "C" fn v3d_read(_opaque: *mut c_void, offset: u64, _bytes: c_uint) -> u64 {
    let instructions = INSTRUCTIONS.load(Ordering::Relaxed);
    match admission() {
        Access::Answered => {
            let value = access(|device, memory, coherence| {
                if let Some((coherence, _)) = coherence {
                    coherence.register_read(offset as u32);
                }
                u64::from(device.read(memory, instructions, offset as u32))
            });
            value.unwrap_or(0)
        }
        Access::Unpowered => UNPOWERED.into(),
        Access::Endless => 0,
    }
}

/// A guest store to the V3D, as [`v3d_read`].
pub(super) extern "C" fn v3d_write(_opaque: *mut c_void, offset: u64, value: u64, _bytes: c_uint) {
    let instructions = INSTRUCTIONS.load(Ordering::Relaxed);
    if admission() == Access::Answered {
        access(|device, memory, coherence| {
            if let Some((coherence, registers)) = coherence {
                coherence.register_write(device, memory, offset as u32, || registers.translation());
            }
            device.write(memory, instructions, offset as u32, value as u32);
        });
    }
}

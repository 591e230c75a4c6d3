//! Instrumentation of the guest's code for the coherence check: calls at its barriers and its accesses to memory.
//!
//! The functions are looked up only if the check is asked for. All of them are in each version of the plugin interface with the same types; the instruction's
//! bytes are read from where QEMU has them, since the function that copies them has changed.
//!
//! # Sources
//! `qemu-plugin.h` of QEMU 7.2 and 10.0.

use super::PLUGIN;
use super::functions::address_of;
use crate::barriers::Barrier;
use std::ffi::{c_int, c_uint, c_void};
use std::mem;
use std::ptr;

/// `QEMU_PLUGIN_CB_NO_REGS`.
const NO_REGISTERS: c_int = 0;
/// `QEMU_PLUGIN_MEM_RW`.
const LOADS_AND_STORES: c_int = 3;

/// `qemu_plugin_vcpu_udata_cb_t`: vCPU, user data.
type Executed = extern "C" fn(c_uint, *mut c_void);
/// `qemu_plugin_vcpu_mem_cb_t`: vCPU, kind of access, virtual address, user data.
type Accessed = extern "C" fn(c_uint, u32, u64, *mut c_void);

/// QEMU's functions for this purpose.
pub(super) struct Instrumentation {
    get_instruction: unsafe extern "C" fn(*const c_void, usize) -> *mut c_void,
    host_address: unsafe extern "C" fn(*const c_void) -> *const u32,
    register_executed: unsafe extern "C" fn(*mut c_void, Executed, c_int, *mut c_void),
    register_accessed: unsafe extern "C" fn(*mut c_void, Accessed, c_int, c_int, *mut c_void),
    is_store: unsafe extern "C" fn(u32) -> bool,
}

impl Instrumentation {
    /// Looks the functions up; the error names the missing one.
    pub(super) fn find() -> Result<Self, String> {
        let find = |name: &'static std::ffi::CStr| {
            address_of(name).ok_or_else(|| format!("this QEMU does not export {}", name.to_string_lossy()))
        };
        // SAFETY: not null, and the functions of these names have had these types in each version of the plugin interface.
        unsafe {
            Ok(Self {
                get_instruction: mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_void, usize) -> *mut c_void>(
                    find(c"qemu_plugin_tb_get_insn")?,
                ),
                host_address: mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_void) -> *const u32>(find(
                    c"qemu_plugin_insn_haddr",
                )?),
                register_executed: mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut c_void, Executed, c_int, *mut c_void),
                >(find(c"qemu_plugin_register_vcpu_insn_exec_cb")?),
                register_accessed: mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut c_void, Accessed, c_int, c_int, *mut c_void),
                >(find(c"qemu_plugin_register_vcpu_mem_cb")?),
                is_store: mem::transmute::<*mut c_void, unsafe extern "C" fn(u32) -> bool>(find(
                    c"qemu_plugin_mem_is_store",
                )?),
            })
        }
    }

    /// Requests calls for an instruction of a block that is being translated.
    pub(super) fn watch(&self, block: *const c_void, index: usize) {
        // SAFETY: the block is being translated, and has so many instructions.
        let instruction = unsafe { (self.get_instruction)(block, index) };
        if instruction.is_null() {
            return;
        }
        // SAFETY: the instruction belongs to a block that is being translated.
        let word = unsafe { (self.host_address)(instruction) };
        // Instructions that are not in RAM have no address.
        if word.is_null() {
            return;
        }
        // SAFETY: the address is where QEMU has this instruction, of four bytes, in guest RAM; it may be misaligned only if the guest's program counter is.
        let barrier = Barrier::of(unsafe { word.read_unaligned() });
        // SAFETY: as above; the functions are static, and the user data are a number that nobody follows.
        unsafe {
            match barrier {
                Some(barrier) => {
                    let number = ptr::without_provenance_mut(barrier as usize);
                    (self.register_executed)(instruction, barrier_executed, NO_REGISTERS, number);
                }
                None => {
                    (self.register_accessed)(
                        instruction,
                        memory_accessed,
                        NO_REGISTERS,
                        LOADS_AND_STORES,
                        ptr::null_mut(),
                    );
                }
            }
        }
    }
}

/// Called by QEMU before it executes a barrier.
extern "C" fn barrier_executed(vcpu: c_uint, number: *mut c_void) {
    let barrier = [Barrier::Loads, Barrier::Stores, Barrier::All].into_iter().find(|it| *it as usize == number.addr());
    if vcpu == 0
        && let Some((coherence, _)) = PLUGIN.get().and_then(|plugin| plugin.coherence.as_ref())
        && let Some(barrier) = barrier
    {
        coherence.barrier(barrier);
    }
}

/// Called by QEMU after an access to memory.
extern "C" fn memory_accessed(vcpu: c_uint, kind: u32, address: u64, _user_data: *mut c_void) {
    if vcpu == 0
        && let Some((coherence, instrumentation)) = PLUGIN.get().and_then(|plugin| plugin.coherence.as_ref())
    {
        // SAFETY: QEMU has just handed out this value for this purpose.
        coherence.access(address, unsafe { (instrumentation.is_store)(kind) });
    }
}

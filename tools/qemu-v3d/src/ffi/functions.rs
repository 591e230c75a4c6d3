//! QEMU's functions, looked up by name in the running program, and the version that QEMU looks up here.
//!
//! Only functions whose types are the same from QEMU 7.2 to 11.1 are called: `cpu_physical_memory_map`, for example, does not exist in 11.1, but
//! `address_space_map`, on which it was based, does. Where a type has changed without its name (callbacks, in version 7 of the plugin interface), the version
//! that was declared to QEMU determines it.
//!
//! # Sources
//! `include/qemu/qemu-plugin.h`, `include/exec/memory.h`, `include/exec/memattrs.h`, `include/hw/qdev-core.h`,
//! `include/hw/irq.h`, `include/hw/sysbus.h`, `include/sysemu/reset.h`, `include/sysemu/runstate.h`, `include/block/aio.h`, `include/qemu/timer.h`,
//! `qapi/misc.json` (`query-version`)
//! of QEMU 7.2 and 10.0; `include/plugins/qemu-plugin.h` of 11.1.

use super::layout::{MemoryRegion, MemoryRegionOps};
use crate::version::{self, Release};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// Version of the plugin interface that this library declares; [`choose_version`] has set it when QEMU reads it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU looks the symbol up by this name")]
pub(crate) static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// Makes the loader call [`choose_version`] before `dlopen` returns to QEMU.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOADING: extern "C" fn() = choose_version;

/// Sets the number that the QEMU around this library accepts.
extern "C" fn choose_version() {
    let version = version::interface(release(), |name| address_of(name).is_some());
    qemu_plugin_version.store(version, Ordering::Relaxed);
}

/// The number that was declared.
pub(super) fn declared_version() -> c_int {
    qemu_plugin_version.load(Ordering::Relaxed)
}

/// `VersionInfo` of QEMU's `query-version`.
#[repr(C)]
struct VersionInfo {
    qemu: *const VersionTriple,
    package: *const c_char,
}

/// `VersionTriple`.
#[repr(C)]
struct VersionTriple {
    major: i64,
    minor: i64,
    micro: i64,
}

/// QEMU's release; `None` if it exports no function that returns it.
pub(super) fn release() -> Option<Release> {
    type QueryVersion = unsafe extern "C" fn(*mut *mut c_void) -> *mut VersionInfo;
    type FreeVersion = unsafe extern "C" fn(*mut VersionInfo);
    let (query, free) = (address_of(c"qmp_query_version")?, address_of(c"qapi_free_VersionInfo")?);
    // SAFETY: the functions have had these types since query-version is generated from its description, which is older
    // than 6.0; this one allocates and fills in constants, so it may be called before QEMU has set itself up. A null error is allowed.
    unsafe {
        let query = mem::transmute::<*mut c_void, QueryVersion>(query);
        let free = mem::transmute::<*mut c_void, FreeVersion>(free);
        let info = query(ptr::null_mut());
        let numbers = info.as_ref()?.qemu.as_ref()?;
        let release = Release { major: numbers.major, minor: numbers.minor };
        free(info);
        Some(release)
    }
}

unsafe extern "C" {
    /// `dlfcn.h`; a null handle searches the program and everything that it has loaded.
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Address of a symbol in the running program, if it is exported.
pub(super) fn address_of(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string, and a null handle is RTLD_DEFAULT of glibc and musl.
    let address = unsafe { dlsym(ptr::null_mut(), name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// `AddressSpace`. Only QEMU looks inside.
#[repr(C)]
pub(super) struct AddressSpace([u8; 0]);

/// Declares the symbols of QEMU that the plugin uses, and looks them up by name.
macro_rules! qemu_symbols {
    ($($name:ident: $type:ty,)*) => {
        /// QEMU's own functions, found in the running program.
        pub(super) struct Qemu {
            $(pub(super) $name: $type,)*
        }

        impl Qemu {
            /// Looks up all symbols; the error contains the names of missing ones.
            pub(super) fn find() -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    let $name = CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
                        .ok()
                        .and_then(address_of)
                        .unwrap_or_else(|| {
                            missing.push(stringify!($name));
                            ptr::null_mut()
                        });
                )*
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Self {
                    $(
                        // SAFETY: not null, and QEMU's symbol of this name has this type from QEMU 7.2 to 11.1 (see the
                        // sources above); the plugin interface's version was compared by QEMU before.
                        $name: unsafe { mem::transmute::<*mut c_void, $type>($name) },
                    )*
                })
            }
        }
    };
}

qemu_symbols! {
    // The callback is `void (id, vcpu)`, and `void (vcpu, user data)` with version 7, which also has the last argument;
    // before, it is one argument too many, which C's calling conventions on 64-bit hosts let the called function ignore.
    qemu_plugin_register_vcpu_init_cb: unsafe extern "C" fn(u64, *const c_void, *mut c_void),
    // Likewise; the callback is `void (id, block)`, and `void (block, user data)`.
    qemu_plugin_register_vcpu_tb_trans_cb: unsafe extern "C" fn(u64, *const c_void, *mut c_void),
    qemu_plugin_tb_n_insns: unsafe extern "C" fn(*const c_void) -> usize,
    qemu_plugin_register_vcpu_tb_exec_cb:
        unsafe extern "C" fn(*mut c_void, extern "C" fn(c_uint, *mut c_void), c_int, *mut c_void),
    get_system_memory: unsafe extern "C" fn() -> *mut MemoryRegion,
    memory_region_init_io: unsafe extern "C" fn(
        *mut MemoryRegion, *mut c_void, *const MemoryRegionOps, *mut c_void, *const c_char, u64
    ),
    memory_region_add_subregion_overlap: unsafe extern "C" fn(*mut MemoryRegion, u64, *mut MemoryRegion, c_int),
    // The operation (`MemOp`) is an enumeration; then a `MemTxAttrs`, see below.
    memory_region_dispatch_read: unsafe extern "C" fn(*mut MemoryRegion, u64, *mut u64, c_uint, u64) -> u32,
    memory_region_dispatch_write: unsafe extern "C" fn(*mut MemoryRegion, u64, u64, c_uint, u64) -> u32,
    sysbus_mmio_get_region: unsafe extern "C" fn(*mut c_void, c_int) -> *mut MemoryRegion,
    qemu_register_reset: unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void),
    qemu_system_reset_request: unsafe extern "C" fn(c_int),
    qemu_system_shutdown_request: unsafe extern "C" fn(c_int),
    object_resolve_path_type: unsafe extern "C" fn(*const c_char, *const c_char, *mut bool) -> *mut c_void,
    qdev_get_gpio_in_named: unsafe extern "C" fn(*mut c_void, *const c_char, c_int) -> *mut c_void,
    qemu_set_irq: unsafe extern "C" fn(*mut c_void, c_int),
    // The types of clock, and attributes, are enumerations or numbers; then nanoseconds in a unit, the callback and what it is called with.
    timer_init_full: unsafe extern "C" fn(
        *mut c_void, *mut c_void, c_int, c_int, c_int, extern "C" fn(*mut c_void), *mut c_void
    ),
    timer_mod_ns: unsafe extern "C" fn(*mut c_void, i64),
    timer_del: unsafe extern "C" fn(*mut c_void),
    qemu_clock_get_ns: unsafe extern "C" fn(c_int) -> i64,
    // The context of the main loop; functions that it is asked to call are called once, under the big lock.
    qemu_get_aio_context: unsafe extern "C" fn() -> *mut c_void,
    aio_bh_schedule_oneshot_full:
        unsafe extern "C" fn(*mut c_void, extern "C" fn(*mut c_void), *mut c_void, *const c_char),
    // A variable: the address space that CPUs see.
    address_space_memory: *mut AddressSpace,
    // The last argument is a `MemTxAttrs`: at most 8 bytes of bits, and none of them set is an ordinary access.
    address_space_map: unsafe extern "C" fn(*mut AddressSpace, u64, *mut u64, bool, u64) -> *mut c_void,
    // The third argument is a `MemTxAttrs` too; then the guest's bytes, their number, and whether they are written.
    address_space_rw: unsafe extern "C" fn(*mut AddressSpace, u64, u64, *mut c_void, u64, bool) -> u32,
    unassigned_mem_ops: *const MemoryRegionOps,
    pci_host_conf_le_ops: *const MemoryRegionOps,
    pci_host_conf_be_ops: *const MemoryRegionOps,
}

// SAFETY: functions, and the addresses of variables that exist as long as QEMU does; the constant ones are only read, and
// `address_space_memory` is only handed back to QEMU, under its big lock.
unsafe impl Send for Qemu {}
// SAFETY: as above.
unsafe impl Sync for Qemu {}

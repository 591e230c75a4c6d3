//! The address ranges that the linker script defines
//!
//! `linker.ld` exports `__x_start` and `__x_end_exclusive` for each region; only this module reads them.

use core::ops::Range;

/// Size of the smallest unit that can be mapped.
pub const PAGE_BYTES: usize = 4096;

/// Initial contents of stack memory.
pub const STACK_PAINT: u64 = 0x5ACC_0FFE_E5AC_C0DE;

/// One of the kernel's stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Its use.
    pub name: &'static str,
    /// Its mapped bytes; the page below them is the guard page.
    pub range: Range<usize>,
}

/// Name of the stack whose guard page contains `address`.
#[must_use]
pub fn guard_page_of(address: usize) -> Option<&'static str> {
    stacks().into_iter().find_map(|stack| {
        let guard = stack.range.start.wrapping_sub(PAGE_BYTES)..stack.range.start;
        guard.contains(&address).then_some(stack.name)
    })
}

macro_rules! regions {
    ($($(#[$doc:meta])* $name:ident = $start:ident .. $end:ident;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            #[cfg(target_os = "none")]
            pub fn $name() -> Range<usize> {
                unsafe extern "C" {
                    static $start: u8;
                    static $end: u8;
                }
                (&raw const $start) as usize..(&raw const $end) as usize
            }

            $(#[$doc])*
            ///
            /// Empty on the host, which has no such regions.
            #[must_use]
            #[cfg(not(target_os = "none"))]
            pub fn $name() -> Range<usize> {
                0..0
            }
        )*
    };
}

regions! {
    /// Instructions: read and execute.
    text = __text_start..__text_end_exclusive;
    /// Constants: read-only.
    rodata = __rodata_start..__rodata_end_exclusive;
    /// Statics, .bss included: read and write.
    data = __data_start..__data_end_exclusive;
    /// The stack of all code except exception handlers.
    kernel_stack = __kernel_stack_start..__kernel_stack_end_exclusive;
    /// The stack of exception handlers.
    exception_stack = __exception_stack_start..__exception_stack_end_exclusive;
    /// The stack for an exception inside an exception handler.
    last_resort_stack = __last_resort_stack_start..__last_resort_stack_end_exclusive;
    /// Memory of the global allocator.
    heap = __heap_start..__heap_end_exclusive;
    /// Memory that is not cleared at boot: the log of the run before a warm reset.
    persistent = __persistent_start..__persistent_end_exclusive;
    /// The traces of this boot and of the previous one.
    boot_trace = __boot_trace_start..__boot_trace_end_exclusive;
    /// Messages to the firmware and its answers.
    messages = __messages_start..__messages_end_exclusive;
    /// Memory that the GPU reads and writes: lists, shaders, vertices, binner memory.
    gpu_pool = __gpu_pool_start..__gpu_pool_end_exclusive;
}

/// The first bytes of the image, which do not change while it runs: instructions and constants, which are adjacent.
#[cfg(target_os = "none")]
#[must_use]
pub fn code_and_constants() -> &'static [u8] {
    let (start, end) = (text().start, rodata().end);
    // SAFETY: linker.ld places .rodata directly after .text, both of whole pages. The final page tables map them readable and not writable, for ever.
    unsafe { core::slice::from_raw_parts(start as *const u8, end - start) }
}

/// All three stacks.
#[must_use]
pub fn stacks() -> [Stack; 3] {
    [
        Stack { name: "kernel", range: kernel_stack() },
        Stack { name: "exception", range: exception_stack() },
        Stack { name: "last resort", range: last_resort_stack() },
    ]
}

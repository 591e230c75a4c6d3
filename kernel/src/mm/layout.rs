//! The addresses that the linker script fixes, as ranges
//!
//! `linker.ld` exports `__x_start` and `__x_end_exclusive` for each region; here is the one place that reads them.

use core::ops::Range;

/// Bytes of the smallest mapped unit.
pub const PAGE_BYTES: usize = 4096;

/// What unused stack memory is filled with at boot.
pub const STACK_PAINT: u64 = 0x5ACC_0FFE_E5AC_C0DE;

/// One of the kernel's stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// What it is used for.
    pub name: &'static str,
    /// Its mapped bytes; the page below is the guard page.
    pub range: Range<usize>,
}

/// The name of the stack whose guard page holds `address`.
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
            /// On the developer's machine there is no such region: the range is empty.
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
    /// Constants: read only.
    rodata = __rodata_start..__rodata_end_exclusive;
    /// Statics, .bss included: read and write.
    data = __data_start..__data_end_exclusive;
    /// The stack that everything but exception handlers runs on.
    kernel_stack = __kernel_stack_start..__kernel_stack_end_exclusive;
    /// The stack of exception handlers.
    exception_stack = __exception_stack_start..__exception_stack_end_exclusive;
    /// The stack for an exception inside an exception handler.
    last_resort_stack = __last_resort_stack_start..__last_resort_stack_end_exclusive;
    /// What the global allocator hands out.
    heap = __heap_start..__heap_end_exclusive;
    /// Memory that nothing clears at boot: the log of the run before a warm reset.
    persistent = __persistent_start..__persistent_end_exclusive;
    /// How far this boot and the one before a warm reset have come.
    boot_trace = __boot_trace_start..__boot_trace_end_exclusive;
    /// What the GPU may read and write: lists, shaders, vertices, binner memory.
    gpu_pool = __gpu_pool_start..__gpu_pool_end_exclusive;
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

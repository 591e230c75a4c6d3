//! What Rust needs on a bare machine: the entry code, loads and stores, a heap, an end.
//!
//! The entry code is in the folder `machine`. It maps the memory: code, data and heap below 16 MiB cached; from there to the peripherals uncached; the
//! peripherals as device memory.

use bcm283x::Bus;
use core::{
    alloc::{GlobalAlloc, Layout},
    arch::{asm, global_asm},
    cell::UnsafeCell,
    fmt,
    ops::Range,
    ptr::{self, NonNull},
};
use linked_list_allocator::Heap;

/// Address of messages to the firmware: the start of uncached memory.
pub(crate) const MESSAGES: u32 = 0x0100_0000;
/// The driver's memory pool, uncached, and below 256 MiB.
pub(crate) const POOL: Range<u32> = 0x0200_0000..0x0300_0000;
/// The heap, behind the code and below the uncached memory.
const HEAP: Range<usize> = 0x0040_0000..0x0100_0000;

#[cfg(target_arch = "aarch64")]
global_asm!(include_str!("machine/start_aarch64.s"), options(raw));
#[cfg(all(target_arch = "arm", armv6))]
global_asm!(".set PERIPHERALS, 0x20000000", include_str!("machine/start_arm.s"), options(raw));
#[cfg(all(target_arch = "arm", not(armv6)))]
global_asm!(".set PERIPHERALS, 0x3f000000", include_str!("machine/start_arm.s"), options(raw));

/// The Rust entry point, called by the entry code.
#[unsafe(no_mangle)]
extern "C" fn kernel_entry() -> ! {
    ALLOCATOR.start();
    crate::board::start()
}

/// Loads and stores of the CPU, whose addresses are the physical ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhysicalBus;

impl Bus for PhysicalBus {
    fn load(&self, address: u32) -> u32 {
        // SAFETY: addresses are those of registers, of the pool, of the messages and of the firmware's framebuffer. All of them are mapped, and nothing of Rust
        // is there: code, data and heap are below MESSAGES.
        unsafe { ptr::with_exposed_provenance::<u32>(address as usize).read_volatile() }
    }

    fn store(&self, address: u32, word: u32) {
        // SAFETY: as above.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address as usize).write_volatile(word) }
    }

    fn complete(&self) {
        // SAFETY: barriers only order other accesses.
        #[cfg(not(armv6))]
        unsafe {
            asm!("dsb sy", options(nostack, preserves_flags));
        }
        // SAFETY: as above; this is the ARM1176's name for it [ARM1176JZF-S TRM, 3.2.22].
        #[cfg(armv6)]
        unsafe {
            asm!("mcr p15, 0, {zero}, c7, c10, 4", zero = in(reg) 0, options(nostack, preserves_flags));
        }
    }
}

/// Stops the core for ever.
pub(crate) fn sleep() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// A PL011 at this address, initialised by the firmware.
pub(crate) struct SerialPort(pub(crate) u32);

impl fmt::Write for SerialPort {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        /// Bit of the flag register: the transmit FIFO is full.
        const FULL: u32 = 1 << 5;
        for byte in text.bytes() {
            while PhysicalBus.load(self.0 + 0x18) & FULL != 0 {}
            PhysicalBus.store(self.0, byte.into());
        }
        Ok(())
    }
}

/// The heap of the kernel.
struct Allocator(UnsafeCell<Heap>);

// SAFETY: there is one core, and no interrupt is ever taken, so that no two accesses to the heap overlap.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Heap::empty()));

impl Allocator {
    fn start(&self) {
        // SAFETY: the first call of the kernel; the memory is mapped and otherwise unused: the linker script checks that the image ends before it.
        unsafe { (*self.0.get()).init(ptr::with_exposed_provenance_mut(HEAP.start), HEAP.end - HEAP.start) }
    }
}

// SAFETY: the heap hands out parts of its memory that do not overlap; see `Sync` for exclusive access.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see `Sync`.
        let heap = unsafe { &mut *self.0.get() };
        heap.allocate_first_fit(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if let Some(place) = NonNull::new(place) {
            // SAFETY: see `Sync`; the caller guarantees that the memory is from `alloc` with this layout.
            unsafe { (*self.0.get()).deallocate(place, layout) }
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sleep()
}

//! The kernel's memory map: installed at boot, extended by the framebuffer
//!
//! The boot code has enabled the MMU with a provisional map that permits every access to the first 64 MiB. The final map gives each section of the image its
//! own permissions and leaves a guard page unmapped under each stack. The firmware chooses the framebuffer's address, so it is mapped later.
//!
//! # Sources
//! ARM DDI 0487, D8 (VMSAv8-64), D19.2 (MAIR_EL1, TCR_EL1, SCTLR_EL1); linker.ld for the map.

use core::{arch::asm, ops::Range};

use aarch64_cpu::{
    asm::barrier,
    registers::{SCTLR_EL1, TCR_EL1},
};
use tock_registers::interfaces::ReadWriteable;

use crate::{
    board::addresses,
    irq_lock::IrqLock,
    mm::{
        layout,
        page_tables::{Access, MapError, PageTables, attribute_index},
    },
};

static TABLES: IrqLock<PageTables> = IrqLock::new(PageTables::new());

/// `MAIR_EL1`: the memory type of each attribute index.
pub(super) const MEMORY_ATTRIBUTES: u64 = {
    const WRITE_BACK: u64 = 0xff;
    const NON_CACHEABLE: u64 = 0x44;
    const DEVICE_NGNRE: u64 = 0x04;
    WRITE_BACK << (8 * attribute_index::CACHED)
        | NON_CACHEABLE << (8 * attribute_index::NOT_CACHED)
        | DEVICE_NGNRE << (8 * attribute_index::DEVICE)
};

/// `TCR_EL1`: 4 KiB granule, 32-bit addresses in TTBR0, TTBR1 disabled, cached table walks, 32-bit physical addresses.
pub(super) const TRANSLATION_CONTROL: u64 = TCR_EL1::T0SZ.val(32).value
    | TCR_EL1::TG0::KiB_4.value
    | TCR_EL1::SH0::Inner.value
    | TCR_EL1::ORGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable.value
    | TCR_EL1::IRGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable.value
    | TCR_EL1::EPD1::DisableTTBR1Walks.value;

/// The regions that are known at link time.
fn fixed_map() -> [(Range<usize>, Access); 13] {
    [
        (layout::text(), Access::Code),
        (layout::rodata(), Access::ReadOnly),
        (layout::data(), Access::ReadWrite),
        // The page under each stack is not mapped: it is the guard page.
        (layout::kernel_stack(), Access::ReadWrite),
        (layout::exception_stack(), Access::ReadWrite),
        (layout::last_resort_stack(), Access::ReadWrite),
        (layout::heap(), Access::ReadWrite),
        (layout::persistent(), Access::Shared),
        (layout::boot_trace(), Access::Shared),
        (layout::messages(), Access::Shared),
        (layout::gpu_pool(), Access::Shared),
        (addresses::PERIPHERALS, Access::Device),
        (addresses::CORE_PERIPHERALS, Access::Device),
    ]
}

/// Builds the final map and replaces the provisional one with it. Called once, by the boot code.
pub(super) fn install_final_map() {
    let mut tables = TABLES.lock();
    for (range, access) in fixed_map() {
        if let Err(error) = tables.map(range, access) {
            panic!("the kernel's own memory map is wrong: {error}");
        }
    }
    barrier::dsb(barrier::ISHST);
    let root = tables.root_address();
    // SAFETY: the new map translates every address in use (code, statics, stacks) to the same memory as the old one, with at least the permissions that are
    // needed. No data is accessed between the switch and the end of the TLB invalidation.
    unsafe {
        asm!(
            "msr ttbr0_el1, {root}",
            "isb",
            "tlbi vmalle1",
            "dsb nsh",
            "isb",
            root = in(reg) root,
            options(nostack, preserves_flags),
        );
    }
    // From here on, writable memory is never executable, whatever its descriptor says.
    SCTLR_EL1.modify(SCTLR_EL1::WXN::Enable);
    barrier::isb(barrier::SY);
}

/// Maps the whole pages around `range` as memory shared with the GPU: the firmware's framebuffer.
///
/// # Errors
/// See [`PageTables::map`].
pub fn map_shared(range: Range<usize>) -> Result<(), MapError> {
    let pages = range.start & !(layout::PAGE_BYTES - 1)..range.end.next_multiple_of(layout::PAGE_BYTES);
    TABLES.lock().map(pages, Access::Shared)?;
    // Invalid entries are never cached in a TLB, so the store only has to be visible to the table walker.
    barrier::dsb(barrier::ISHST);
    barrier::isb(barrier::SY);
    Ok(())
}

/// Number of translation tables in use, and in total.
#[must_use]
pub fn table_usage() -> (usize, usize) {
    TABLES.lock().usage()
}

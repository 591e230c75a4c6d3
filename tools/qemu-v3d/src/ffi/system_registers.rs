//! System registers of a vCPU, which the plugin interface of QEMU 7.2 cannot read.
//!
//! QEMU keeps a list of all system registers of a vCPU for migration: pairs of an index, whose encoding belongs to the interface of KVM and does not change,
//! and a value. `write_cpustate_to_list` updates the values. Where a vCPU's structure has the lists is in `vmstate_arm_cpu`, which describes the structure
//! field by field, by name. The description's own layout differs between releases, so it is searched for the names instead of being indexed.
//!
//! All of this is read through `/proc/self/mem`, which answers with an error where nothing is mapped: with a QEMU of another layout the search finds nothing.
//! What it finds is compared with a register whose value is known before it is used.
//!
//! # Sources
//! QEMU 7.2's `target/arm/machine.c` (`vmstate_arm_cpu`), `target/arm/cpu.h` (the lists stand in this order: `cpreg_indexes`, `cpreg_values`,
//! `cpreg_array_len`, then the same with `vmstate`), `include/migration/vmstate.h`; Linux' `arch/arm64/include/uapi/asm/kvm.h` (indices); ARM DDI 0487, D19
//! (encodings); ARM DDI 0500, 4.3.22 (`CTR_EL0` of the Cortex-A53).

use super::functions::address_of;
use crate::cpu_caches::TranslationRegisters;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::mem;
use std::os::unix::fs::FileExt;

/// `KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM64_SYSREG`, below which the encoding of an `MRS` stands.
const KVM_SYSTEM_REGISTER: u64 = 0x6030_0000_0013_0000;

/// The index of a system register with op0 = 3.
const fn index(op1: u64, crn: u64, crm: u64, op2: u64) -> u64 {
    KVM_SYSTEM_REGISTER | 3 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2
}

const SCTLR_EL1: u64 = index(0, 1, 0, 0);
const TTBR0_EL1: u64 = index(0, 2, 0, 0);
const TTBR1_EL1: u64 = index(0, 2, 0, 1);
const TCR_EL1: u64 = index(0, 2, 0, 2);
const MAIR_EL1: u64 = index(0, 10, 2, 0);
const CTR_EL0: u64 = index(3, 0, 0, 1);
/// Its value in a Cortex-A53.
const CTR_OF_CORTEX_A53: u64 = 0x8444_8004;

/// Words of `VMStateDescription` that are searched for its fields.
const DESCRIPTION_WORDS: u64 = 32;
/// Words of its fields that are searched for names: some thirty fields of a dozen words.
const FIELDS_WORDS: u64 = 1024;
/// Words after a field's name among which its offset is the first that is not 0.
const OFFSET_WITHIN_WORDS: u64 = 3;
/// The greatest plausible number of system registers.
const MOST_REGISTERS: u64 = 4096;

type QemuGetCpu = unsafe extern "C" fn(c_int) -> *mut c_void;
type WriteCpustateToList = unsafe extern "C" fn(*mut c_void, bool) -> bool;

/// The lists of system registers of vCPU 0.
pub(super) struct SystemRegisters {
    memory: File,
    update: WriteCpustateToList,
    cpu: *mut c_void,
    /// Address of the array of values.
    values: u64,
    /// Places of SCTLR, TCR, MAIR, TTBR0 and TTBR1 in the lists.
    places: [u64; 5],
}

// SAFETY: the vCPU exists as long as QEMU does; its lists are used under QEMU's big lock only, which every MMIO callback holds.
unsafe impl Send for SystemRegisters {}

impl SystemRegisters {
    /// Finds the lists. Called under QEMU's big lock, when vCPU 0 exists.
    pub(super) fn find() -> Result<Self, String> {
        let missing = |name: &str| format!("this QEMU does not export {name}");
        let get_cpu = address_of(c"qemu_get_cpu").ok_or_else(|| missing("qemu_get_cpu"))?;
        let update = address_of(c"write_cpustate_to_list").ok_or_else(|| missing("write_cpustate_to_list"))?;
        let description = address_of(c"vmstate_arm_cpu").ok_or_else(|| missing("vmstate_arm_cpu"))?;
        // SAFETY: both have had these types since QEMU 5.0: `CPUState *qemu_get_cpu(int)` and `bool write_cpustate_to_list(ARMCPU *, bool)`.
        let (get_cpu, update) = unsafe {
            (
                mem::transmute::<*mut c_void, QemuGetCpu>(get_cpu),
                mem::transmute::<*mut c_void, WriteCpustateToList>(update),
            )
        };
        // SAFETY: the machine exists, and looking a vCPU up has no effect.
        let cpu = unsafe { get_cpu(0) };
        let memory =
            File::open("/proc/self/mem").map_err(|error| format!("/proc/self/mem cannot be opened: {error}"))?;
        let search = Search { memory: &memory };
        let unknown = || "the description of its vCPUs has a layout that the plugin does not know".to_owned();
        let of_indexes = search.offset_of(description.addr() as u64, b"cpreg_vmstate_indexes\0").ok_or_else(unknown)?;
        // The lists that `write_cpustate_to_list` uses are the three members before.
        let of_lists = (cpu.addr() as u64 + of_indexes).checked_sub(24).ok_or_else(unknown)?;
        let list = |member: u64| search.word(of_lists + 8 * member).ok_or_else(unknown);
        let (indexes, values, length) = (list(0)?, list(1)?, list(2)? & 0xffff_ffff);
        if length > MOST_REGISTERS {
            return Err(unknown());
        }
        let place = |register: u64| {
            (0..length).find(|place| search.word(indexes + 8 * place) == Some(register)).ok_or_else(unknown)
        };
        let mut places = [0; 5];
        for (target, register) in places.iter_mut().zip([SCTLR_EL1, TCR_EL1, MAIR_EL1, TTBR0_EL1, TTBR1_EL1]) {
            *target = place(register)?;
        }
        let known = place(CTR_EL0)?;
        let registers = Self { memory, update, cpu, values, places };
        registers.refresh();
        match registers.value(known) {
            Some(CTR_OF_CORTEX_A53) => Ok(registers),
            other => Err(format!("CTR_EL0 of vCPU 0 reads {other:x?}, and not as a Cortex-A53's")),
        }
    }

    /// The registers that determine what the CPU caches. Called under QEMU's big lock.
    pub(super) fn translation(&self) -> TranslationRegisters {
        self.refresh();
        let [sctlr_el1, tcr_el1, mair_el1, ttbr0_el1, ttbr1_el1] =
            self.places.map(|place| self.value(place).unwrap_or(0));
        TranslationRegisters { sctlr_el1, tcr_el1, mair_el1, ttbr0_el1, ttbr1_el1 }
    }

    /// Lets QEMU store the registers' present values in the list.
    fn refresh(&self) {
        // SAFETY: `cpu` is the `ARMCPU` of vCPU 0, and the big lock is held; the function only reads registers and stores them in the list, which nothing else
        // uses before a migration updates it again.
        unsafe { (self.update)(self.cpu, false) };
    }

    fn value(&self, place: u64) -> Option<u64> {
        Search { memory: &self.memory }.word(self.values + 8 * place)
    }
}

/// Reads of QEMU's memory, wherever they lead.
struct Search<'a> {
    memory: &'a File,
}

impl Search<'_> {
    fn word(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read_exact_at(&mut bytes, at).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Whether a string with its final zero is at an address.
    fn is(&self, at: u64, expected: &[u8]) -> bool {
        let mut bytes = vec![0; expected.len()];
        self.memory.read_exact_at(&mut bytes, at).is_ok() && bytes == expected
    }

    /// The offset of a field of a vCPU by its name in the description.
    fn offset_of(&self, description: u64, name: &[u8]) -> Option<u64> {
        let words = |from: u64, count: u64| (0..count).map(move |word| from + 8 * word);
        // The fields are where the first of them has its name.
        let mut pointers = words(description, DESCRIPTION_WORDS).filter_map(|at| self.word(at));
        let fields = pointers.find(|fields| self.word(*fields).is_some_and(|first| self.is(first, b"env.regs\0")))?;
        let named = words(fields, FIELDS_WORDS).find(|at| self.word(*at).is_some_and(|text| self.is(text, name)))?;
        words(named + 8, OFFSET_WITHIN_WORDS).filter_map(|at| self.word(at)).find(|offset| *offset != 0)
    }
}

//! The V3D's registers: address map, access and fields [AG section 10].
//!
//! All registers are 32 bits wide and are accessed as whole words. Their block stands at 0x7ec0_0000 on the
//! VideoCore's bus [AG p.110], which is 0x3fc0_0000 for the ARM of a Pi 3.
//!
//! # Surprises
//! - Three registers that user programs need are in no table of the guide's address map: DBCFG, DBQITE and DBQITC. Their addresses come
//!   from the vendor's header files [brcm].
//! - BFC and RFC are 8 bits wide.
//! - PCTRE needs bit 31, which the guide does not show.

use crate::layout::{Explained, Field, Layout};
use core::fmt;

pub mod cache;
pub mod cle;
pub mod diagnostic;
pub mod identity;
pub mod interrupt;
pub mod performance;
pub mod pipeline;
pub mod qps;
pub mod vpm;

/// Size of the register block in bytes.
pub const BLOCK_BYTES: u32 = 0x1000;

/// What IDENT0 reads on a powered V3D of the VideoCore IV: `"V3D"` and technology version 2 [asurati].
pub const IDENT0_VALUE: u32 = 0x0244_3356;

/// What any register reads while the V3D has no power [asurati].
pub const UNPOWERED_VALUE: u32 = 0xdead_beef;

/// What software may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writes are ignored.
    ReadOnly,
    /// Reads have no meaning.
    WriteOnly,
    /// Both.
    ReadWrite,
}

/// What software may do with a register, in words.
macro_rules! access {
    (ReadOnly) => {
        "read only"
    };
    (WriteOnly) => {
        "write only"
    };
    (ReadWrite) => {
        "read and write"
    };
}

/// The reset value that the guide gives: 0, but for registers that say what the V3D is.
macro_rules! reset {
    () => {
        0
    };
    ($reset:literal) => {
        $reset
    };
}

macro_rules! registers {
    ($( $offset:literal $name:ident: $layout:ty, $access:ident $(= $reset:literal)?, $doc:literal; )*) => {
        /// A register, by the guide's name without `V3D_`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Register {
            $(
                #[doc = concat!($doc, ".")]
                ///
                #[doc = concat!("Offset `", stringify!($offset), "`; ", access!($access), "; resets to `", reset!($($reset)?), "`;")]
                #[doc = concat!("bits: [`", stringify!($layout), "`].")]
                $name = $offset,
            )*
        }

        impl Register {
            /// All registers in the order of their addresses.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// Name as the guide prints it, without `V3D_`.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$name => stringify!($name), )* }
            }

            /// What it is.
            pub const fn doc(self) -> &'static str {
                match self { $( Self::$name => $doc, )* }
            }

            /// What software may do with it.
            pub const fn access(self) -> Access {
                match self { $( Self::$name => Access::$access, )* }
            }

            /// What it holds after a reset.
            pub const fn reset(self) -> u32 {
                match self { $( Self::$name => reset!($($reset)?), )* }
            }

            /// Its fields.
            pub const fn fields(self) -> &'static [Field] {
                match self { $( Self::$name => <$layout as Layout>::FIELDS, )* }
            }

            /// The register at a byte offset in the block.
            pub const fn from_offset(offset: u32) -> Option<Self> {
                match offset { $( $offset => Some(Self::$name), )* _ => None }
            }
        }
    };
}

registers! {
    0x00000 IDENT0: identity::Ident0, ReadOnly = 0x0244_3356, "V3D block identity";
    0x00004 IDENT1: identity::Ident1, ReadOnly = 0xc110_2431, "V3D configuration A";
    0x00008 IDENT2: identity::Ident2, ReadOnly = 0x0000_0121, "V3D configuration B";
    0x00010 SCRATCH: identity::Scratch, ReadWrite, "Scratch register";
    0x00020 L2CACTL: cache::L2cactl, ReadWrite, "L2 cache control";
    0x00024 SLCACTL: cache::Slcactl, WriteOnly, "Slices cache control";
    0x00030 INTCTL: interrupt::Intctl, ReadWrite, "Interrupt control";
    0x00034 INTENA: interrupt::Intena, ReadWrite, "Interrupt enables";
    0x00038 INTDIS: interrupt::Intdis, ReadWrite, "Interrupt disables";
    0x00100 CT0CS: cle::Ctncs, ReadWrite, "Control list executor thread 0 control and status";
    0x00104 CT1CS: cle::Ctncs, ReadWrite, "Control list executor thread 1 control and status";
    0x00108 CT0EA: cle::Ctnea, ReadWrite, "Control list executor thread 0 end address";
    0x0010c CT1EA: cle::Ctnea, ReadWrite, "Control list executor thread 1 end address";
    0x00110 CT0CA: cle::Ctnca, ReadWrite, "Control list executor thread 0 current address";
    0x00114 CT1CA: cle::Ctnca, ReadWrite, "Control list executor thread 1 current address";
    0x00118 CT00RA0: cle::Ctnra0, ReadOnly, "Control list executor thread 0 return address";
    0x0011c CT01RA0: cle::Ctnra0, ReadOnly, "Control list executor thread 1 return address";
    0x00120 CT0LC: cle::Ctnlc, ReadWrite, "Control list executor thread 0 list counters";
    0x00124 CT1LC: cle::Ctnlc, ReadWrite, "Control list executor thread 1 list counters";
    0x00128 CT0PC: cle::Ctnpc, ReadOnly, "Control list executor thread 0 primitive list counter";
    0x0012c CT1PC: cle::Ctnpc, ReadOnly, "Control list executor thread 1 primitive list counter";
    0x00130 PCS: pipeline::Pcs, ReadOnly, "Pipeline control and status";
    0x00134 BFC: pipeline::Bfc, ReadWrite, "Binning mode flush count";
    0x00138 RFC: pipeline::Rfc, ReadWrite, "Rendering mode frame count";
    0x00300 BPCA: pipeline::Bpca, ReadOnly, "Current address of binning memory pool";
    0x00304 BPCS: pipeline::Bpcs, ReadOnly, "Remaining size of binning memory pool";
    0x00308 BPOA: pipeline::Bpoa, ReadWrite, "Address of overspill binning memory block";
    0x0030c BPOS: pipeline::Bpos, ReadWrite, "Size of overspill binning memory block";
    0x00310 BXCF: diagnostic::Bxcf, ReadWrite, "Binner debug";
    0x00410 SQRSV0: qps::Sqrsv0, ReadWrite, "Reserve QPUs 0-7";
    0x00414 SQRSV1: qps::Sqrsv1, ReadWrite, "Reserve QPUs 8-15";
    0x00418 SQCNTL: qps::Sqcntl, ReadWrite, "QPU scheduler control";
    0x00430 SRQPC: qps::Srqpc, WriteOnly, "User program request: program address";
    0x00434 SRQUA: qps::Srqua, ReadWrite, "User program request: uniforms address";
    0x00438 SRQUL: qps::Srqul, ReadWrite, "User program request: uniforms length";
    0x0043c SRQCS: qps::Srqcs, ReadWrite, "User program request: control and status";
    0x00500 VPACNTL: vpm::Vpacntl, ReadWrite, "VPM allocator control";
    0x00504 VPMBASE: vpm::Vpmbase, ReadWrite, "VPM base (user) memory reservation";
    0x00670 PCTRC: performance::Pctrc, WriteOnly, "Performance counter clear";
    0x00674 PCTRE: performance::Pctre, ReadWrite, "Performance counter enables";
    0x00680 PCTR0: performance::Pctrn, ReadWrite, "Performance counter 0 count";
    0x00684 PCTRS0: performance::Pctrsn, ReadWrite, "Performance counter 0 source";
    0x00688 PCTR1: performance::Pctrn, ReadWrite, "Performance counter 1 count";
    0x0068c PCTRS1: performance::Pctrsn, ReadWrite, "Performance counter 1 source";
    0x00690 PCTR2: performance::Pctrn, ReadWrite, "Performance counter 2 count";
    0x00694 PCTRS2: performance::Pctrsn, ReadWrite, "Performance counter 2 source";
    0x00698 PCTR3: performance::Pctrn, ReadWrite, "Performance counter 3 count";
    0x0069c PCTRS3: performance::Pctrsn, ReadWrite, "Performance counter 3 source";
    0x006a0 PCTR4: performance::Pctrn, ReadWrite, "Performance counter 4 count";
    0x006a4 PCTRS4: performance::Pctrsn, ReadWrite, "Performance counter 4 source";
    0x006a8 PCTR5: performance::Pctrn, ReadWrite, "Performance counter 5 count";
    0x006ac PCTRS5: performance::Pctrsn, ReadWrite, "Performance counter 5 source";
    0x006b0 PCTR6: performance::Pctrn, ReadWrite, "Performance counter 6 count";
    0x006b4 PCTRS6: performance::Pctrsn, ReadWrite, "Performance counter 6 source";
    0x006b8 PCTR7: performance::Pctrn, ReadWrite, "Performance counter 7 count";
    0x006bc PCTRS7: performance::Pctrsn, ReadWrite, "Performance counter 7 source";
    0x006c0 PCTR8: performance::Pctrn, ReadWrite, "Performance counter 8 count";
    0x006c4 PCTRS8: performance::Pctrsn, ReadWrite, "Performance counter 8 source";
    0x006c8 PCTR9: performance::Pctrn, ReadWrite, "Performance counter 9 count";
    0x006cc PCTRS9: performance::Pctrsn, ReadWrite, "Performance counter 9 source";
    0x006d0 PCTR10: performance::Pctrn, ReadWrite, "Performance counter 10 count";
    0x006d4 PCTRS10: performance::Pctrsn, ReadWrite, "Performance counter 10 source";
    0x006d8 PCTR11: performance::Pctrn, ReadWrite, "Performance counter 11 count";
    0x006dc PCTRS11: performance::Pctrsn, ReadWrite, "Performance counter 11 source";
    0x006e0 PCTR12: performance::Pctrn, ReadWrite, "Performance counter 12 count";
    0x006e4 PCTRS12: performance::Pctrsn, ReadWrite, "Performance counter 12 source";
    0x006e8 PCTR13: performance::Pctrn, ReadWrite, "Performance counter 13 count";
    0x006ec PCTRS13: performance::Pctrsn, ReadWrite, "Performance counter 13 source";
    0x006f0 PCTR14: performance::Pctrn, ReadWrite, "Performance counter 14 count";
    0x006f4 PCTRS14: performance::Pctrsn, ReadWrite, "Performance counter 14 source";
    0x006f8 PCTR15: performance::Pctrn, ReadWrite, "Performance counter 15 count";
    0x006fc PCTRS15: performance::Pctrsn, ReadWrite, "Performance counter 15 source";
    0x00e00 DBCFG: interrupt::Dbcfg, ReadWrite, "QPU debug configuration [brcm]";
    0x00e2c DBQITE: interrupt::Dbqite, ReadWrite, "QPU interrupt enables; address [brcm]";
    0x00e30 DBQITC: interrupt::Dbqitc, ReadWrite, "QPU interrupt control; address [brcm]";
    0x00f00 DBGE: diagnostic::Dbge, ReadOnly, "PSE error signals";
    0x00f04 FDBGO: diagnostic::Fdbgo, ReadOnly, "FEP overrun error signals";
    0x00f08 FDBGB: diagnostic::Fdbgb, ReadOnly, "FEP interface ready and stall signals, FEP busy signals";
    0x00f0c FDBGR: diagnostic::Fdbgr, ReadOnly, "FEP internal ready signals";
    0x00f10 FDBGS: diagnostic::Fdbgs, ReadOnly, "FEP internal stall input signals";
    0x00f20 ERRSTAT: diagnostic::Errstat, ReadOnly, "Miscellaneous error signals";
}

impl Register {
    /// Byte offset in the register block.
    pub const fn offset(self) -> u32 {
        self as u32
    }

    /// A value of this register, printed field by field.
    pub const fn explain(self, value: u32) -> Explained {
        Explained { fields: self.fields(), bits: value as u128 }
    }

    /// The one of two like registers that belongs to `thread`.
    const fn of_thread(thread: Thread, registers: [Self; 2]) -> Self {
        registers[thread as usize]
    }

    /// CTnCS of a thread.
    pub const fn ctncs(thread: Thread) -> Self {
        Self::of_thread(thread, [Self::CT0CS, Self::CT1CS])
    }

    /// CTnEA of a thread.
    pub const fn ctnea(thread: Thread) -> Self {
        Self::of_thread(thread, [Self::CT0EA, Self::CT1EA])
    }

    /// CTnCA of a thread.
    pub const fn ctnca(thread: Thread) -> Self {
        Self::of_thread(thread, [Self::CT0CA, Self::CT1CA])
    }

    /// PCTRn, the count of performance counter `n` (0 to 15).
    pub const fn pctr(n: u32) -> Option<Self> {
        if n < 16 { Self::from_offset(Self::PCTR0.offset() + 8 * n) } else { None }
    }

    /// PCTRSn, the source of performance counter `n` (0 to 15).
    pub const fn pctrs(n: u32) -> Option<Self> {
        if n < 16 { Self::from_offset(Self::PCTRS0.offset() + 8 * n) } else { None }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A thread of the control list executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thread {
    /// Thread 0: tile binning.
    Binning = 0,
    /// Thread 1: tile rendering.
    Rendering = 1,
}

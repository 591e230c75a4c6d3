//! Registers [AG p.37-38].

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::Entry;
use crate::code::Code;
use crate::language::register::{self, NAMED};
use crate::value::Access;

/// The location of a named register: its address, and the files in which it can be read and written.
pub(super) fn facts(word: &str) -> Option<String> {
    let &(_, address, access) = NAMED.iter().find(|(name, ..)| *name == word)?;
    let files = match (access.has(Access::A), access.has(Access::B)) {
        (true, true) => "of both files",
        (true, false) => "of file A",
        _ => "of file B",
    };
    let ways = match (access.has(Access::READ), access.has(Access::WRITE)) {
        (true, true) => "read and written",
        (true, false) => "read",
        (false, true) => "written",
        (false, false) => "named without a direction",
    };
    Some(format!("address {address} {files}, {ways}"))
}

/// Registers with a number: those of the files, those at an address above 31, and semaphores.
pub(super) fn family(word: &str) -> Option<(&'static Entry, Option<String>)> {
    register::all().find(|(name, _)| name == word)?;
    let digits = word.find(|c: char| c.is_ascii_digit())?;
    let (prefix, number) = (&word[..digits], word[digits..].parse::<u8>().ok()?);
    let (entry, facts) = match (prefix, number) {
        ("sacq" | "srel", _) => {
            let what = if prefix == "sacq" { "acquires" } else { "releases" };
            (&SEMAPHORE, format!("{what} semaphore {number}"))
        }
        ("ra", ..32) => (&FILE_REGISTER, "a register of file A; writes can be packed, reads unpacked".to_owned()),
        (_, ..32) => (&FILE_REGISTER, "a register of file B; neither packed nor unpacked".to_owned()),
        _ => {
            let file = if prefix == "ra" { Access::A } else { Access::B };
            let stands = |direction: Access| {
                let named = NAMED
                    .iter()
                    .filter(|&&(_, address, access)| address == number && access.has(file) && access.has(direction));
                named.map(|(name, ..)| *name).next().unwrap_or("nothing")
            };
            let (read, written) = (stands(Access::READ), stands(Access::WRITE));
            (&ADDRESS, format!("read: {read}; written: {written}"))
        }
    };
    Some((entry, Some(facts)))
}

const SEMAPHORE: Entry = Entry {
    names: &["sacq0", "srel0"],
    form: "mov -, sacqN    or    mov -, srelN",
    meaning: "One of 16 semaphores as an operand: another way to write `sacq -, N` and `srel -, N` [vc4asm].",
    example: "mov -, sacq0\nmov -, srel0",
    codes: &[Code::SemaphoreSource, Code::SemaphoreBalance],
};

const FILE_REGISTER: Entry = Entry {
    names: &["ra0", "rb0"],
    form: "raN, rbN with N from 0 to 31",
    meaning: "A register with 16 elements. An instruction reads at most one register of each file and writes at most one of each. What it writes can be \
        read by the instruction after the next. With two threads each has registers 0 to 15 of its own. At the start of a fragment shader ra15 holds W and \
        rb15 the depth of the fragments [AG p.17-21, p.27].",
    example: "mov ra0, unif\nnop\nmov r0, ra0",
    codes: &[Code::ReadAfterWrite, Code::ReadConflict, Code::SameFileWrite, Code::NeverWritten],
};

const ADDRESS: Entry = Entry {
    names: &["ra32", "rb32"],
    form: "raN, rbN with N from 32 to 63",
    meaning: "An address of the register map beyond the registers: an accumulator or a unit. The names of what stands there are the better way to write it \
        [AG p.37-38].",
    example: "mov ra32, 0",
    codes: &[Code::Unmapped],
};

/// Registers with a name.
pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["r0", "r1", "r2", "r3"],
        form: "r0, r1, r2, r3",
        meaning: "Accumulators: what one instruction writes, the next can read. The elements of a result are rotated from them in full. The other thread of \
            a QPU shares them, so that they do not survive a thread switch [AG p.17, p.21].",
        example: "mov r0, unif\nadd r1, r0, r0",
        codes: &[Code::RotationAfterWrite, Code::LostOverThreadSwitch, Code::BothAlusWriteSame],
    },
    Entry {
        names: &["r4"],
        form: "r4 as a source",
        meaning: "Where results arrive: of the special function unit for the third instruction after the write, of TMU and tile buffer for the instruction \
            after the signal that loads them. It cannot be written. Its bytes and halves can be unpacked to floats [AG p.17, p.23-24, p.32].",
        example: "mov recip, r0\nnop\nnop\nmov r1, r4",
        codes: &[Code::R4BeforeSfu, Code::R4BeforeLoad, Code::SfuBusy, Code::TargetR4],
    },
    Entry {
        names: &["r5"],
        form: "r5 as a source; TARGET << r5",
        meaning: "An accumulator that is written by replication (r5quad, r5rep), and the amount of a rotation. The interpolators leave the constant \
            coefficient \
            of a varying in it, which the instruction after the read can add [AG p.17, p.38, p.51].",
        example: "mov r0, vary\nadd r0, r0, r5",
        codes: &[Code::RotationByR5AfterWrite, Code::NotWritable],
    },
    Entry {
        names: &["r5quad"],
        form: "mov r5quad, SOURCE",
        meaning: "Writes r5: each quad gets the value of its first element [AG p.38].",
        example: "mov r5quad, r0",
        codes: &[],
    },
    Entry {
        names: &["r5rep"],
        form: "mov r5rep, SOURCE",
        meaning: "Writes r5: all elements get the value of element 0 [AG p.38].",
        example: "mov r5rep, r0",
        codes: &[],
    },
    Entry {
        names: &["unif", "uniform_read"],
        form: "unif as a source",
        meaning: "Takes the next word from the stream of uniforms, the same for all elements. Both reads of one instruction give the same word. A write of a \
            TMU parameter takes one, too [AG p.22, p.24].",
        example: "mov r0, unif",
        codes: &[Code::UniformCount, Code::UniformWithTmuWrite, Code::UniformAfterAddress, Code::AccessAtEnd],
    },
    Entry {
        names: &["vary", "varying_read"],
        form: "vary as a source",
        meaning: "Takes the next varying: its part A * (x - x0) + B * (y - y0), without perspective. Multiply by W (ra15) and add r5, the constant part [AG \
            p.51].",
        example: "fmul r0, vary, ra15\nfadd r0, r0, r5",
        codes: &[Code::VaryingCount, Code::StageMismatch, Code::AccessAtEnd],
    },
    Entry {
        names: &["tmu_noswap", "tmurs"],
        form: "mov tmu_noswap, SOURCE",
        meaning: "A value other than 0 turns the exchange of the two TMUs off for this program; three instructions before the first write to a TMU at the \
            latest [AG p.23, p.37].",
        example: "mov tmu_noswap, 1",
        codes: &[Code::TmuSoonAfterNoSwap, Code::NoSwapAfterTmu],
    },
    Entry {
        names: &["elem_num", "element_number"],
        form: "elem_num as a source",
        meaning: "The number of the element, 0 to 15 [AG p.38].",
        example: "shl r0, elem_num, 2",
        codes: &[],
    },
    Entry {
        names: &["qpu_num", "qpu_number"],
        form: "qpu_num as a source",
        meaning: "The number of the QPU, 0 to 15, in all elements; the chip of a Pi has 12 [AG p.38].",
        example: "mov r0, qpu_num",
        codes: &[],
    },
    Entry {
        names: &["irq", "interrupt", "host_int"],
        form: "mov irq, SOURCE",
        meaning: "Interrupts the host: sets the bit of this QPU in register DBQITC, if DBQITE enables it [AG p.38].",
        example: "mov irq, r0",
        codes: &[],
    },
    Entry {
        names: &["nop"],
        form: "-    as a target",
        meaning: "The address without a register: nothing is written, and reads give nothing. As a target, `-` is the usual way to write it [AG p.37-38].",
        example: "mov nop, r0",
        codes: &[],
    },
    Entry {
        names: &["unif_addr"],
        form: "mov unif_addr, ADDRESS",
        meaning: "Sets the bus address from which uniforms are read on; element 0 counts. Two instructions that take no uniform must follow [AG p.22].",
        example: "mov unif_addr, r0\nnop\nnop\nmov r1, unif",
        codes: &[Code::UniformAfterAddress],
    },
    Entry {
        names: &["unif_addr_rel"],
        form: "mov unif_addr_rel, DISTANCE",
        meaning: "The address of uniforms by file B, as vc4asm names it. The guide gives both files one address and one meaning; whether a distance is \
            meant here \
            is known from vc4asm alone [AG p.38], [vc4asm].",
        example: "mov unif_addr_rel, r0",
        codes: &[Code::UniformAfterAddress],
    },
    Entry {
        names: &["x_coord", "x_pixel_coord", "quad_x"],
        form: "x_coord as a source; mov quad_x, SOURCE",
        meaning: "Read: x of the pixel of each element, a whole number (gl_FragCoord has 0.5 more). Written: x of the quad, where the meaning beyond its \
            name is \
            not in the guide [AG p.38].",
        example: "itof r0, x_coord",
        codes: &[Code::StageMismatch],
    },
    Entry {
        names: &["y_coord", "y_pixel_coord", "quad_y"],
        form: "y_coord as a source; mov quad_y, SOURCE",
        meaning: "Read: y of the pixel of each element, a whole number counted from the first row of the tile buffer's picture. Written: y of the quad [AG \
            p.38].",
        example: "itof r0, y_coord",
        codes: &[Code::StageMismatch],
    },
    Entry {
        names: &["ms_flags", "ms_mask"],
        form: "ms_flags as a source; mov ms_flags, SOURCE",
        meaning: "The samples of each pixel that the primitive covers, four bits. A write takes samples away: this is how a fragment shader discards. Not \
            to be \
            read in the two instructions after a write of Z [AG p.37-38].",
        example: "mov.ifn ms_flags, 0",
        codes: &[Code::MsFlagsAfterTlbZ],
    },
    Entry {
        names: &["rev_flag"],
        form: "rev_flag as a source",
        meaning: "Which side of the primitive is seen [AG p.38].",
        example: "mov.setf -, rev_flag",
        codes: &[Code::StageMismatch],
    },
    Entry {
        names: &["tlb_stencil", "stencil"],
        form: "mov tlb_stencil, SOURCE",
        meaning: "Sets up the stencil test of the fragments: function, reference, masks and operations, for one side or both by the two highest bits [AG \
            p.49-50].",
        example: "mov tlb_stencil, unif",
        codes: &[Code::TwoPeripherals],
    },
    Entry {
        names: &["tlb_z", "tlbz"],
        form: "mov tlb_z, SOURCE",
        meaning: "Hands the depth of the fragments to the depth and stencil test, 24 bits; the test is made when the colour is written. Takes a condition. \
            Not in \
            the last instruction of a program [AG p.37, p.49].",
        example: "mov tlb_z, rb15",
        codes: &[Code::TlbZAtEnd, Code::TlbZNearEnd, Code::MsFlagsAfterTlbZ],
    },
    Entry {
        names: &["tlb_color_ms", "tlbm", "tlb_colour_ms"],
        form: "mov tlb_color_ms, SOURCE",
        meaning: "Writes the colour of one sample of each pixel; four writes in turn write the four samples [AG p.48].",
        example: "mov tlb_color_ms, r0",
        codes: &[Code::TlbBeforeLastSwitch, Code::TlbAfterUnlock],
    },
    Entry {
        names: &["tlb_color_all", "tlbc", "tlb_colour_all"],
        form: "mov tlb_color_all, SOURCE",
        meaning: "Writes the colour of all samples of each pixel: four bytes, red in the lowest, or two half floats in each of two writes. Elements in \
            which the \
            condition does not hold, and samples that failed the tests, keep their colour [AG p.47-48].",
        example: "mov tlb_color_all, r0",
        codes: &[Code::TlbBeforeLastSwitch, Code::TlbAfterUnlock, Code::ConditionalPeripheralWrite],
    },
    Entry {
        names: &["tlb_alpha_mask", "tlbam"],
        form: "mov tlb_alpha_mask, SOURCE",
        meaning: "Writes the alpha mask of the pixels, which OpenVG's coverage uses [AG p.48].",
        example: "mov tlb_alpha_mask, r0",
        codes: &[],
    },
    Entry {
        names: &["vpm", "vpm_read", "vpm_write"],
        form: "vpm as a source or a target",
        meaning: "Reads the next vector from the vertex pipe memory, or writes one, where vr_setup and vw_setup say. Not in fragment shaders [AG p.53-58].",
        example: "mov vw_setup, r0\nmov vpm, r1",
        codes: &[Code::VpmReadWithoutSetup, Code::VpmReadBeyondSetup, Code::VpmWriteWithoutSetup, Code::VpmInFragment],
    },
    Entry {
        names: &["vr_busy", "vpm_ld_busy"],
        form: "vr_busy as a source",
        meaning: "1 while a DMA load from memory into the VPM is under way, else 0 [AG p.38].",
        example: "mov r0, vr_busy",
        codes: &[],
    },
    Entry {
        names: &["vw_busy", "vpm_st_busy"],
        form: "vw_busy as a source",
        meaning: "1 while a DMA store from the VPM to memory is under way, else 0 [AG p.38].",
        example: "mov r0, vw_busy",
        codes: &[],
    },
    Entry {
        names: &["vr_setup", "vpmvcd_rd_setup"],
        form: "mov vr_setup, WORD",
        meaning: "Sets up reads of the VPM by the QPU (where, how many vectors, the step), or a DMA load: the word's highest bits tell which. \
            `.include <vc4.qinc>` has functions that make the words [AG p.57-58].",
        example: "mov vr_setup, r0",
        codes: &[Code::VpmQueueFull, Code::VpmReadLeft, Code::VpmReadSoon],
    },
    Entry {
        names: &["vw_setup", "vpmvcd_wr_setup"],
        form: "mov vw_setup, WORD",
        meaning: "Sets up writes of the VPM by the QPU, or a DMA store: the word's highest bits tell which. `.include <vc4.qinc>` has functions that make the \
            words [AG p.57-59].",
        example: "mov vw_setup, r0",
        codes: &[Code::VpmWriteWithoutSetup],
    },
    Entry {
        names: &["vr_wait", "vpm_ld_wait"],
        form: "read vr_wait",
        meaning: "A read waits until the DMA load into the VPM is done [AG p.38].",
        example: "read vr_wait",
        codes: &[],
    },
    Entry {
        names: &["vw_wait", "vpm_st_wait"],
        form: "read vw_wait",
        meaning: "A read waits until the DMA store from the VPM is done; user programs wait so before they end or release the mutex [AG p.38].",
        example: "read vw_wait",
        codes: &[],
    },
    Entry {
        names: &["vr_addr", "vpm_ld_addr"],
        form: "mov vr_addr, ADDRESS",
        meaning: "Starts the DMA load that vr_setup describes, from this bus address; element 0 counts [AG p.38, p.53].",
        example: "mov vr_addr, unif",
        codes: &[],
    },
    Entry {
        names: &["vw_addr", "vpm_st_addr"],
        form: "mov vw_addr, ADDRESS",
        meaning: "Starts the DMA store that vw_setup describes, to this bus address; element 0 counts [AG p.38, p.53].",
        example: "mov vw_addr, unif",
        codes: &[],
    },
    Entry {
        names: &["mutex", "mutex_acq", "mutex_acquire", "mutex_rel", "mutex_release"],
        form: "read mutex; mov mutex, SOURCE",
        meaning: "The one mutex of all QPUs: a read waits for it and takes it, a write of anything releases it. QPUs that share the VPM's DMA take it [AG \
            p.24].",
        example: "read mutex\nmov mutex, 0",
        codes: &[Code::MutexBalance, Code::MutexUnsure],
    },
    Entry {
        names: &["recip", "sfu_recip"],
        form: "mov recip, SOURCE",
        meaning: "Special function unit: about 1 / SOURCE, in r4 for the third instruction after this one. The two between must not read r4 nor cause another \
            write of it [AG p.23-24].",
        example: "mov recip, r0\nnop\nnop\nmov r1, r4",
        codes: &[Code::R4BeforeSfu, Code::SfuBusy],
    },
    Entry {
        names: &["recipsqrt", "sfu_recipsqrt"],
        form: "mov recipsqrt, SOURCE",
        meaning: "Special function unit: about 1 / square root of SOURCE, in r4 for the third instruction after this one [AG p.23-24].",
        example: "mov recipsqrt, r0\nnop\nnop\nmov r1, r4",
        codes: &[Code::R4BeforeSfu, Code::SfuBusy],
    },
    Entry {
        names: &["exp", "sfu_exp"],
        form: "mov exp, SOURCE",
        meaning: "Special function unit: about 2 to the power of SOURCE, in r4 for the third instruction after this one [AG p.23-24].",
        example: "mov exp, r0\nnop\nnop\nmov r1, r4",
        codes: &[Code::R4BeforeSfu, Code::SfuBusy],
    },
    Entry {
        names: &["log", "sfu_log"],
        form: "mov log, SOURCE",
        meaning: "Special function unit: about the logarithm of SOURCE to base 2, in r4 for the third instruction after this one [AG p.23-24].",
        example: "mov log, r0\nnop\nnop\nmov r1, r4",
        codes: &[Code::R4BeforeSfu, Code::SfuBusy],
    },
    Entry {
        names: &["t0s", "tmu0_s", "t1s", "tmu1_s"],
        form: "mov t0s, SOURCE",
        meaning: "Starts a lookup by TMU 0 or 1: the coordinate s of a texture, written last of the parameters, or by itself the address of a word in memory \
            (a direct lookup, which takes no uniform). The result comes with ldtmu0 or ldtmu1 [AG p.23, p.40-41].",
        example: "mov t0t, r1\nmov t0s, r0\nnop\nldtmu0",
        codes: &[
            Code::TmuFifoFull,
            Code::TmuResultLeft,
            Code::UniformWithTmuWrite,
            Code::TextureNotDeclared,
            Code::TmuParameterWithoutS,
            Code::TmuParametersOverSwitch,
        ],
    },
    Entry {
        names: &["t0t", "tmu0_t", "t1t", "tmu1_t"],
        form: "mov t0t, SOURCE",
        meaning: "The coordinate t of the next lookup, written before s. The write takes a uniform, which is one of the texture's parameter words [AG \
            p.40-41].",
        example: "mov t0t, r1\nmov t0s, r0\nnop\nldtmu0",
        codes: &[Code::UniformWithTmuWrite, Code::TmuParameterWithoutS],
    },
    Entry {
        names: &["t0r", "tmu0_r", "t1r", "tmu1_r"],
        form: "mov t0r, SOURCE",
        meaning: "The coordinate r of the next lookup of a cube map, or its border colour; written before s, takes a uniform [AG p.40-41].",
        example: "mov t0r, r2\nmov t0t, r1\nmov t0s, r0\nnop\nldtmu0",
        codes: &[Code::UniformWithTmuWrite, Code::TmuParameterWithoutS],
    },
    Entry {
        names: &["t0b", "tmu0_b", "t1b", "tmu1_b"],
        form: "mov t0b, SOURCE",
        meaning: "The bias of the next lookup's level of detail; written before s, takes a uniform [AG p.40-41].",
        example: "mov t0b, r2\nmov t0t, r1\nmov t0s, r0\nnop\nldtmu0",
        codes: &[Code::UniformWithTmuWrite, Code::TmuParameterWithoutS],
    },
];

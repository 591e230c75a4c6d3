//! Two errata of the Cortex-A53: instruction sequences that the kernel's image must not contain.
//!
//! All supported boards have a Cortex-A53 r0p4, which has both errata.
//! * 835769: a 64-bit multiply-accumulate directly after a load, store or prefetch may compute a wrong result. The compiler's workaround is an unstable feature
//!   that warns for each crate and does not apply to the precompiled `core`; the linker has no workaround. The image is therefore patched after linking: the
//!   multiply-accumulate is moved to a veneer and replaced by a branch to it.
//! * 843419: a load or store whose address is computed by an ADRP in the last two words of a page may access a wrong address. rust-lld works around it
//!   (`--fix-cortex-a53-843419`, which the target enables); this module only checks the result.
//!
//! Sequences are detected conservatively: a load whose result the multiply-accumulate uses would be harmless, and is patched too.
//!
//! # Sources
//! ARM-EPM-048406, Cortex-A53 MPCore Software Developers Errata Notice; [binutils elfnn-aarch64.c] and [llvm AArch64A53Fix835769.cpp] for other
//! implementations; ARM DDI 0487, C4.1 (encodings); AAELF64, section "Mapping symbols".

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::fmt;
use std::ops::Range;

/// Bytes of an instruction.
const BYTES: u64 = 4;
/// Offsets in a page at which an ADRP is affected: the last two words.
const LAST_WORDS_OF_PAGE: Range<u64> = 0xff8..0x1000;
const PAGE_BYTES: u64 = 0x1000;

/// Addresses of a linked kernel's instructions.
#[derive(Debug)]
pub(crate) struct Code {
    /// Address ranges of instructions, in ascending order.
    ranges: Vec<Range<u64>>,
    /// Memory that the linker script reserves for veneers.
    veneers: Range<u64>,
}

/// A sequence that is affected by an erratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// The erratum's number.
    pub(crate) erratum: u32,
    /// Address of the instruction that fails.
    pub(crate) address: u64,
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "erratum {} at {:#x}", self.erratum, self.address)
    }
}

impl Code {
    /// Reads from the ELF file which words are code and which are constants.
    pub(crate) fn of(elf: &[u8]) -> Result<Self> {
        let file = object::File::parse(elf)?;
        let address_of = |name: &str| {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address()).with_context(|| format!("the kernel has no symbol {name}"))
        };
        let veneers = address_of("__veneers_start")?..address_of("__veneers_end_exclusive")?;
        let mut ranges = Vec::new();
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            let (start, end) = (section.address(), section.address() + section.size());
            // Mapping symbols apply to their own section only. Those of sections without an address, such as .debug_line, have offsets as their values, which
            // may equal addresses of code.
            let symbols = file.symbols().filter(|symbol| symbol.section_index() == Some(section.index()));
            let mut marks: Vec<(u64, bool)> =
                symbols.filter_map(|symbol| mark(symbol.name().ok()?, symbol.address())).collect();
            let name = section.name().unwrap_or("without a name");
            ensure!(!marks.is_empty(), "section {name} has no symbols that tell code from constants: is it stripped?");
            marks.sort_unstable();
            let mut since = Some(start);
            for &(address, is_code) in &marks {
                match (since, is_code) {
                    (Some(begin), false) => {
                        ranges.push(begin..address);
                        since = None;
                    }
                    (None, true) => since = Some(address),
                    _ => {}
                }
            }
            ranges.extend(since.map(|begin| begin..end));
        }
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        Ok(Self { ranges, veneers })
    }

    /// All affected sequences in the image, which is loaded at `base`.
    pub(crate) fn sequences(&self, image: &[u8], base: u64) -> Result<Vec<Sequence>> {
        let mut found = Vec::new();
        for range in &self.ranges {
            let words = words(image, base, range)?;
            for (index, pair) in words.windows(2).enumerate() {
                if is_memory_access(pair[0]) && is_multiply_accumulate(pair[1]) {
                    found.push(Sequence { erratum: 835_769, address: range.start + BYTES * (index as u64 + 1) });
                }
            }
            for index in 0..words.len() {
                let address = range.start + BYTES * index as u64;
                if LAST_WORDS_OF_PAGE.contains(&(address % PAGE_BYTES)) && begins_843419(&words[index..]) {
                    found.push(Sequence { erratum: 843_419, address });
                }
            }
        }
        Ok(found)
    }

    /// Moves all multiply-accumulates that are affected by 835769 to veneers in the image. Returns their number.
    pub(crate) fn mend(&self, image: &mut [u8], base: u64) -> Result<usize> {
        let sequences = self.sequences(image, base)?;
        let mut room = self.veneers.clone().step_by(2 * BYTES as usize);
        let concerned = sequences.iter().filter(|sequence| sequence.erratum == 835_769);
        for &Sequence { address, .. } in concerned.clone() {
            let veneer = room.next().with_context(|| {
                format!(
                    "the linker script has too little room for the veneers of {} sequences",
                    concerned.clone().count()
                )
            })?;
            let moved = word(image, base, address)?;
            put(image, base, veneer, moved)?;
            put(image, base, veneer + BYTES, branch(veneer + BYTES, address + BYTES)?)?;
            put(image, base, address, branch(address, veneer)?)?;
        }
        Ok(concerned.count())
    }
}

/// The address and kind of a mapping symbol: whether code (`$x`) or constants (`$d`) start there.
fn mark(name: &str, address: u64) -> Option<(u64, bool)> {
    match name.split('.').next() {
        Some("$x") => Some((address, true)),
        Some("$d") => Some((address, false)),
        _ => None,
    }
}

/// The position of an address in the image.
fn place(image: &[u8], base: u64, address: u64) -> Result<Range<usize>> {
    let place =
        address.checked_sub(base).and_then(|offset| usize::try_from(offset).ok()).filter(|at| at + 4 <= image.len());
    place.map(|at| at..at + 4).with_context(|| format!("code at {address:#x} is not in the image"))
}

fn word(image: &[u8], base: u64, address: u64) -> Result<u32> {
    Ok(u32::from_le_bytes(image[place(image, base, address)?].try_into()?))
}

fn put(image: &mut [u8], base: u64, address: u64, word: u32) -> Result<()> {
    let place = place(image, base, address)?;
    image[place].copy_from_slice(&word.to_le_bytes());
    Ok(())
}

fn words(image: &[u8], base: u64, range: &Range<u64>) -> Result<Vec<u32>> {
    range.clone().step_by(BYTES as usize).map(|address| word(image, base, address)).collect()
}

/// `b` from one address to another [DDI 0487 C6.2, B].
fn branch(from: u64, to: u64) -> Result<u32> {
    let distance = (to as i64 - from as i64) / BYTES as i64;
    ensure!((-(1 << 25)..1 << 25).contains(&distance), "a veneer at {to:#x} is too far from {from:#x}");
    Ok(0x1400_0000 | (distance as u32 & 0x03ff_ffff))
}

/// Loads, stores and prefetches, of general and of vector registers: op0 is x1x0 [DDI 0487 C4.1].
fn is_memory_access(word: u32) -> bool {
    word & 0x0a00_0000 == 0x0800_0000
}

/// MADD, MSUB, SMADDL, SMSUBL, UMADDL, UMSUBL on 64 bits; with XZR as the addend they are multiplications only.
fn is_multiply_accumulate(word: u32) -> bool {
    let (kind, addend) = (word >> 21 & 7, word >> 10 & 31);
    word & 0xff00_0000 == 0x9b00_0000 && matches!(kind, 0 | 1 | 5) && addend != 31
}

/// Whether these words start with an ADRP, then an access to memory other than a load of a pair, and, directly or after one more instruction that is not a
/// branch, an access with the ADRP's register as the base of an unsigned offset. An instruction in between that writes the register makes the sequence
/// harmless.
fn begins_843419(words: &[u32]) -> bool {
    let &[adrp, second, third, ..] = words else { return false };
    let register = adrp & 31;
    let completes = |word: u32| word & 0x3b00_0000 == 0x3900_0000 && word >> 5 & 31 == register;
    let is_adrp = adrp & 0x9f00_0000 == 0x9000_0000;
    if !is_adrp || !is_memory_access(second) || is_pair_load_or_exclusive(second) || writes(second, register) {
        return false;
    }
    let goes_on = !is_branch(third) && !writes(third, register);
    completes(third) || (goes_on && words.get(3).is_some_and(|&fourth| completes(fourth)))
}

/// Loads of pairs (LDP and others), and exclusive accesses.
fn is_pair_load_or_exclusive(word: u32) -> bool {
    const LOAD: u32 = 1 << 22;
    (word & 0x3a00_0000 == 0x2800_0000 && word & LOAD != 0) || word & 0x3f00_0000 == 0x0800_0000
}

/// Whether the instruction certainly writes a general register: data processing, or a load of a single register with an offset.
fn writes(word: u32, register: u32) -> bool {
    let is_data_processing = word & 0x1c00_0000 == 0x1000_0000 || word & 0x0e00_0000 == 0x0a00_0000;
    // Single general register; opc 00 is a store, and 10 with a size of 64 bits a prefetch.
    let is_load = word & 0x3c00_0000 == 0x3800_0000 && word >> 22 & 3 != 0 && word & 0xc0c0_0000 != 0xc080_0000;
    (is_data_processing || is_load) && word & 31 == register
}

/// Branches and exceptions: op0 is 101x, except for system instructions (first byte 0xd5) such as NOP [DDI 0487 C4.1].
fn is_branch(word: u32) -> bool {
    word & 0x1c00_0000 == 0x1400_0000 && word >> 24 != 0xd5
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::write::{Object as Writer, Symbol, SymbolSection};
    use object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};

    // Words assembled with llvm-mc.
    const LDR_X0_X1: u32 = 0xf940_0020;
    const STP_X0_X1_SP: u32 = 0xa900_07e0;
    const LDR_Q0_X1: u32 = 0x3dc0_0020;
    const PRFM_X1: u32 = 0xf980_0020;
    const LDR_LITERAL: u32 = 0x5800_0040;
    const MADD_X2_X3_X4_X5: u32 = 0x9b04_1462;
    const MSUB_X2_X3_X4_X5: u32 = 0x9b04_9462;
    const UMADDL_X2_W3_W4_X5: u32 = 0x9ba4_1462;
    const SMADDL_X2_W3_W4_X5: u32 = 0x9b24_1462;
    const MUL_X2_X3_X4: u32 = 0x9b04_7c62;
    const UMULH_X2_X3_X4: u32 = 0x9bc4_7c62;
    const MADD_W2_W3_W4_W5: u32 = 0x1b04_1462;
    const ADD_X0_X1_X2: u32 = 0x8b02_0020;
    const ADRP_X0: u32 = 0x9000_0000;
    const LDR_X2_X0_8: u32 = 0xf940_0402;
    const NOP: u32 = 0xd503_201f;
    const RET: u32 = 0xd65f_03c0;

    const BASE: u64 = 0x8_0000;

    fn image(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Code, followed by memory for `veneers`.
    fn code(words: &[u32], veneers: u64) -> (Code, Vec<u8>) {
        let end = BASE + 4 * words.len() as u64;
        let image = image(&[words, &vec![0; 2 * veneers as usize]].concat());
        let all = BASE..end + 8 * veneers;
        (Code { ranges: Vec::from([all.clone()]), veneers: end..all.end }, image)
    }

    #[test]
    fn multiply_accumulates_after_accesses_are_found() {
        for access in [LDR_X0_X1, STP_X0_X1_SP, LDR_Q0_X1, PRFM_X1, LDR_LITERAL] {
            for multiply in [MADD_X2_X3_X4_X5, MSUB_X2_X3_X4_X5, UMADDL_X2_W3_W4_X5, SMADDL_X2_W3_W4_X5] {
                let (code, image) = code(&[NOP, access, multiply, RET], 0);
                let found = code.sequences(&image, BASE).unwrap();
                assert_eq!(found, [Sequence { erratum: 835_769, address: BASE + 8 }], "{access:08x} {multiply:08x}");
            }
        }
        for harmless in [
            [LDR_X0_X1, NOP, MADD_X2_X3_X4_X5],
            [LDR_X0_X1, MUL_X2_X3_X4, NOP],
            [LDR_X0_X1, UMULH_X2_X3_X4, NOP],
            [LDR_X0_X1, MADD_W2_W3_W4_W5, NOP],
            [ADD_X0_X1_X2, MADD_X2_X3_X4_X5, LDR_X0_X1],
            [RET, MADD_X2_X3_X4_X5, NOP],
        ] {
            let (code, image) = code(&harmless, 0);
            assert_eq!(code.sequences(&image, BASE).unwrap(), [], "{harmless:08x?}");
        }
    }

    #[test]
    fn accesses_after_a_late_adrp_are_found() {
        let at = |offset: usize, rest: [u32; 4]| {
            let mut words = vec![NOP; 1030];
            words[offset / 4..offset / 4 + 4].copy_from_slice(&rest);
            let (code, image) = code(&words, 0);
            code.sequences(&image, BASE).unwrap()
        };
        let found = |address| [Sequence { erratum: 843_419, address: BASE + address }];
        assert_eq!(at(0xff8, [ADRP_X0, PRFM_X1, LDR_X2_X0_8, NOP]), found(0xff8));
        assert_eq!(at(0xffc, [ADRP_X0, STP_X0_X1_SP, NOP, LDR_X2_X0_8]), found(0xffc));
        assert_eq!(at(0xff4, [ADRP_X0, PRFM_X1, LDR_X2_X0_8, NOP]), []);
        assert_eq!(at(0xff8, [ADRP_X0, ADD_X0_X1_X2, LDR_X2_X0_8, NOP]), []);
        // The register is overwritten in between.
        assert_eq!(at(0xff8, [ADRP_X0, LDR_X0_X1, LDR_X2_X0_8, NOP]), []);
        assert_eq!(at(0xff8, [ADRP_X0, STP_X0_X1_SP, RET, LDR_X2_X0_8]), []);
        assert_eq!(at(0xff8, [ADRP_X0, STP_X0_X1_SP, ADD_X0_X1_X2, LDR_X2_X0_8]), []);
    }

    /// The moved instruction and both branches, whose words are computed by hand: 0x14000000 plus the distance in words.
    #[test]
    fn mended_code_has_none_left() {
        let (code, mut image) = code(&[LDR_X0_X1, MADD_X2_X3_X4_X5, STP_X0_X1_SP, UMADDL_X2_W3_W4_X5, RET, RET], 2);
        assert_eq!(code.mend(&mut image, BASE).unwrap(), 2);
        let words: Vec<u32> = image.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        assert_eq!(words[..6], [LDR_X0_X1, 0x1400_0005, STP_X0_X1_SP, 0x1400_0005, RET, RET]);
        assert_eq!(words[6..], [MADD_X2_X3_X4_X5, 0x17ff_fffb, UMADDL_X2_W3_W4_X5, 0x17ff_fffb]);
        assert_eq!(code.sequences(&image, BASE).unwrap(), []);
        assert_eq!(code.mend(&mut image, BASE).unwrap(), 0);
    }

    #[test]
    fn too_little_room_is_told() {
        let (code, mut image) = code(&[LDR_X0_X1, MADD_X2_X3_X4_X5, STP_X0_X1_SP, UMADDL_X2_W3_W4_X5], 1);
        let refusal = code.mend(&mut image, BASE).unwrap_err().to_string();
        assert!(refusal.contains("veneers of 2 sequences"), "{refusal}");
    }

    #[test]
    fn symbols_tell_code_from_constants() {
        assert_eq!(mark("$x", 4), Some((4, true)));
        assert_eq!(mark("$d.17", 8), Some((8, false)));
        assert_eq!(mark("$t", 8), None);
        assert_eq!(mark("start", 8), None);
    }

    /// An object file with a section of code at address 0, a section of line numbers, and symbols: section, name, value.
    fn object(words: &[u32], symbols: &[(&str, &str, u64)]) -> Vec<u8> {
        let mut object = Writer::new(BinaryFormat::Elf, Architecture::Aarch64, Endianness::Little);
        let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        object.append_section_data(text, &image(words), 4);
        let lines = object.add_section(Vec::new(), b".debug_line".to_vec(), SectionKind::Debug);
        object.append_section_data(lines, &[0; 64], 1);
        for &(section, name, value) in symbols {
            object.add_symbol(Symbol {
                name: name.as_bytes().to_vec(),
                value,
                size: 0,
                kind: SymbolKind::Label,
                scope: SymbolScope::Compilation,
                weak: false,
                section: SymbolSection::Section(if section == ".text" { text } else { lines }),
                flags: SymbolFlags::None,
            });
        }
        object.write().unwrap()
    }

    /// The sequences in the code of an object file with these mapping symbols.
    fn found_with(symbols: &[(&str, &str, u64)]) -> Vec<Sequence> {
        let words = [NOP, LDR_X0_X1, MADD_X2_X3_X4_X5, RET, LDR_X0_X1, MADD_X2_X3_X4_X5];
        let veneers = [(".text", "__veneers_start", 24), (".text", "__veneers_end_exclusive", 24)];
        let elf = object(&words, &[symbols, &veneers].concat());
        Code::of(&elf).unwrap().sequences(&image(&words), 0).unwrap()
    }

    #[test]
    fn symbols_of_other_sections_make_no_constants_of_code() {
        let both = [8, 20].map(|address| Sequence { erratum: 835_769, address });
        assert_eq!(found_with(&[(".text", "$x", 0)]), both);
        assert_eq!(found_with(&[(".text", "$x", 0), (".text", "$d", 16)]), both[..1]);
        assert_eq!(found_with(&[(".text", "$x", 0), (".debug_line", "$d", 0), (".debug_line", "$d.1", 8)]), both);
        // Nor code of constants.
        assert_eq!(found_with(&[(".text", "$d", 0), (".text", "$x", 12), (".debug_line", "$x", 4)]), both[1..]);
    }

    #[test]
    fn code_without_symbols_of_its_own_is_refused() {
        let veneers = [(".text", "__veneers_start", 8), (".text", "__veneers_end_exclusive", 8)];
        let elf = object(&[NOP, RET], &[&veneers[..], &[(".debug_line", "$x", 0)]].concat());
        let refusal = Code::of(&elf).unwrap_err().to_string();
        assert!(refusal.contains("section .text has no symbols"), "{refusal}");
    }
}

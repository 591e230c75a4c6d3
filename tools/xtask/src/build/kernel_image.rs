//! Converts the kernel's ELF file to kernel8.img.
//!
//! The Pi's firmware does not read ELF files: it copies kernel8.img to physical address 0x8_0000 and jumps to its first byte. The image therefore consists of
//! the loadable segments laid out from that address on, with gaps filled with zeros, and without the zeros at the end (the kernel clears its .bss itself).

use crate::target_board::LOAD_ADDRESS;
use anyhow::{Context, Result, bail};
use object::Endianness;
use object::elf::{EM_AARCH64, FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

/// Largest image; a larger one means that the linker script is wrong.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// Lays out the loadable segments as a flat image.
pub(crate) fn from_elf(elf: &[u8]) -> Result<Vec<u8>> {
    let header = FileHeader64::<Endianness>::parse(elf)?;
    let endian = header.endian()?;
    if header.e_machine(endian) != EM_AARCH64 {
        bail!("it is not for AArch64");
    }
    if header.e_entry(endian) != LOAD_ADDRESS {
        bail!("its entry is at {:#x}, and the firmware jumps to {LOAD_ADDRESS:#x}", header.e_entry(endian));
    }
    let segments = loaded(header, elf)?;
    if let Some(segment) = segments.iter().find(|segment| segment.address < LOAD_ADDRESS) {
        bail!("a segment lies at {:#x}, before {LOAD_ADDRESS:#x}", segment.address);
    }
    lay_out(&segments, LOAD_ADDRESS)
}

/// Lays out the loadable segments of a kernel of either width as a flat image, from the lowest physical address on.
pub(crate) fn of_any_elf(elf: &[u8]) -> Result<Vec<u8>> {
    match object::FileKind::parse(elf)? {
        object::FileKind::Elf32 => flat::<FileHeader32<Endianness>>(elf),
        object::FileKind::Elf64 => flat::<FileHeader64<Endianness>>(elf),
        other => bail!("it is no ELF file, but {other:?}"),
    }
}

fn flat<Header: FileHeader<Endian = Endianness>>(elf: &[u8]) -> Result<Vec<u8>> {
    let mut segments = loaded(Header::parse(elf)?, elf)?;
    // Linkers may load the file's own headers, which are at its beginning, into memory before the kernel.
    segments.retain(|segment| segment.offset != 0);
    let start = segments.iter().map(|segment| segment.address).min();
    lay_out(&segments, start.unwrap_or_default())
}

/// A segment with bytes in the file, which are loaded into memory.
struct Segment<'a> {
    /// Where its bytes are in the file.
    offset: u64,
    /// Physical address.
    address: u64,
    bytes: &'a [u8],
}

fn loaded<'a, Header: FileHeader<Endian = Endianness>>(header: &Header, elf: &'a [u8]) -> Result<Vec<Segment<'a>>> {
    let endian = header.endian()?;
    let mut segments = Vec::new();
    for segment in header.program_headers(endian, elf)? {
        if segment.p_type(endian) == PT_LOAD && segment.p_filesz(endian).into() != 0 {
            segments.push(Segment {
                offset: segment.p_offset(endian).into(),
                address: segment.p_paddr(endian).into(),
                bytes: segment.data(endian, elf).ok().context("a segment lies outside the file")?,
            });
        }
    }
    Ok(segments)
}

/// The image of memory from `start` on, which no segment lies before.
fn lay_out(segments: &[Segment<'_>], start: u64) -> Result<Vec<u8>> {
    let mut image = Vec::new();
    for &Segment { address, bytes, .. } in segments {
        let end = (address - start).checked_add(bytes.len() as u64).filter(|&end| end <= MAX_IMAGE_BYTES);
        let end = end.with_context(|| format!("a segment at {address:#x} lies too far from {start:#x}"))?;
        let (from, end) = (usize::try_from(address - start)?, usize::try_from(end)?);
        if image.len() < end {
            image.resize(end, 0);
        }
        image[from..end].copy_from_slice(bytes);
    }
    if image.is_empty() {
        bail!("it has nothing to load");
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file built from the specification's offsets, with segments (physical address, bytes).
    fn elf(machine: u16, entry: u64, segments: &[(u64, &[u8])]) -> Vec<u8> {
        let mut file = vec![0; 64 + 56 * segments.len()];
        file[..16].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file[16..18].copy_from_slice(&2u16.to_le_bytes());
        file[18..20].copy_from_slice(&machine.to_le_bytes());
        file[20..24].copy_from_slice(&1u32.to_le_bytes());
        file[24..32].copy_from_slice(&entry.to_le_bytes());
        file[32..40].copy_from_slice(&64u64.to_le_bytes());
        file[52..54].copy_from_slice(&64u16.to_le_bytes());
        file[54..56].copy_from_slice(&56u16.to_le_bytes());
        file[56..58].copy_from_slice(&(segments.len() as u16).to_le_bytes());
        for (index, (address, bytes)) in segments.iter().enumerate() {
            let offset = file.len() as u64;
            let header = &mut file[64 + 56 * index..][..56];
            header[..4].copy_from_slice(&1u32.to_le_bytes());
            header[8..16].copy_from_slice(&offset.to_le_bytes());
            header[16..24].copy_from_slice(&0xffff_0000_0000u64.to_le_bytes());
            header[24..32].copy_from_slice(&address.to_le_bytes());
            header[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            header[40..48].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            file.extend_from_slice(bytes);
        }
        file
    }

    /// A segment without bytes in the file, such as a stack, is no part of the image.
    #[test]
    fn any_kernel_begins_at_its_lowest_address() {
        assert_eq!(
            of_any_elf(&elf(183, 0x8000, &[(0x8008, &[5]), (0x8000, &[1, 2])])).unwrap(),
            [1, 2, 0, 0, 0, 0, 0, 0, 5]
        );
        let none = of_any_elf(&elf(183, 0x8000, &[])).unwrap_err().to_string();
        assert!(none.contains("nothing to load"), "{none}");
        let far = of_any_elf(&elf(183, 0x8000, &[(0x8000, &[1]), (0x1_0000_0000, &[2])])).unwrap_err().to_string();
        assert!(far.contains("too far"), "{far}");
    }

    #[test]
    fn segments_are_laid_out_by_physical_address() {
        let file = elf(183, 0x8_0000, &[(0x8_0008, b"data"), (0x8_0000, b"text")]);
        assert_eq!(from_elf(&file).unwrap(), b"text\0\0\0\0data");
    }

    #[test]
    fn what_is_not_a_kernel_is_refused() {
        let message = |file: &[u8]| from_elf(file).unwrap_err().to_string();
        assert!(message(&elf(62, 0x8_0000, &[(0x8_0000, b"text")])).contains("AArch64"));
        assert!(message(&elf(183, 0x9_0000, &[(0x8_0000, b"text")])).contains("0x90000"));
        assert!(message(&elf(183, 0x8_0000, &[(0x7_0000, b"text")])).contains("before"));
        assert!(message(&elf(183, 0x8_0000, &[(u64::MAX, b"text")])).contains("too far"));
        assert!(message(&elf(183, 0x8_0000, &[])).contains("nothing"));
        assert!(from_elf(b"not an ELF file").is_err());
    }
}

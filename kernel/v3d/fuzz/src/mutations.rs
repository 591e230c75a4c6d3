//! Mutations of a captured job: a few at a time, of the kinds that an attack would use.

use super::captured::{Buffer, Captured, Use};
use arbitrary::{Result, Unstructured};
use v3d::hw::BusAddr;

/// Nothing.
const NOP: u64 = 0x1000_09e7_009e_7000;
/// The fields of an ALU instruction: lowest bit and width.
const FIELDS: [(u32, u32); 18] = [
    (60, 4),
    (57, 3),
    (56, 1),
    (52, 4),
    (49, 3),
    (46, 3),
    (45, 1),
    (44, 1),
    (38, 6),
    (32, 6),
    (29, 3),
    (24, 5),
    (18, 6),
    (12, 6),
    (9, 3),
    (6, 3),
    (3, 3),
    (0, 3),
];

/// Changes a job in one to four places.
pub(crate) fn mutate(captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..u.int_in_range(1..=4)? {
        match u.int_in_range(0..=9u8)? {
            0..=4 => instruction(captured, u)?,
            5..=7 => word(captured, u)?,
            8 => bit(captured, u, &[Use::Binning, Use::Rendering])?,
            _ => bit(captured, u, &[Use::Data])?,
        }
    }
    Ok(())
}

/// One of the buffers of some uses that have contents.
fn choose<'c>(captured: &'c Captured, u: &mut Unstructured<'_>, uses: &[Use]) -> Result<Option<&'c Buffer>> {
    let some: Vec<_> =
        captured.buffers.iter().filter(|buffer| uses.contains(&buffer.what) && buffer.contents.len() >= 8).collect();
    if some.is_empty() { Ok(None) } else { u.choose(&some).map(|buffer| Some(*buffer)) }
}

/// Changes an instruction of a program.
fn instruction(captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
    let Some(buffer) = choose(captured, u, &[Use::Code])? else { return Ok(()) };
    let words: Vec<u64> = buffer.contents.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let start = buffer.span.address;
    let at = u.choose_index(words.len())?;
    let place = |index: usize| start + 8 * index as u32;
    let old = words[at];
    match u.int_in_range(0..=6u8)? {
        0 => captured.store(place(at), &(old ^ 1 << u.int_in_range(0..=63u32)?).to_le_bytes()),
        1..=3 => {
            let (lowest, width) = *u.choose(&FIELDS)?;
            let mask = ((1 << width) - 1) << lowest;
            let new = old & !mask | u64::from(u.arbitrary::<u8>()?) << lowest & mask;
            captured.store(place(at), &new.to_le_bytes());
        }
        4 => captured.store(place(at), &u.choose(&words)?.to_le_bytes()),
        5 => captured.store(place(at), &NOP.to_le_bytes()),
        _ => {
            if let Some(next) = words.get(at + 1) {
                captured.store(place(at), &next.to_le_bytes());
                captured.store(place(at + 1), &old.to_le_bytes());
            }
        }
    }
    Ok(())
}

/// Changes a word of uniforms, shader records or the binning list.
fn word(captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
    let Some(buffer) = choose(captured, u, &[Use::Binning])? else { return Ok(()) };
    let count = buffer.contents.len() / 4;
    let place = buffer.span.address + 4 * u.choose_index(count)? as u32;
    let other = buffer.span.address + 4 * u.choose_index(count)? as u32;
    let old = captured.word(place);
    let new = match u.int_in_range(0..=5u8)? {
        0 | 1 => old ^ 1 << u.int_in_range(0..=31u32)?,
        2 => old.wrapping_add_signed(u.int_in_range(-0x40..=0x40)?),
        3 => captured.word(other),
        4 => old.wrapping_add(0x1000 * u.int_in_range(0..=64u32)?),
        _ => {
            let edges: Vec<BusAddr> =
                captured.buffers.iter().flat_map(|own| [own.span.address, own.span.address + own.span.bytes]).collect();
            u.choose(&edges)?.0.wrapping_add_signed(u.int_in_range(-0x20..=0x20)?)
        }
    };
    captured.store_word(place, new);
    Ok(())
}

/// Changes a bit of a buffer.
fn bit(captured: &mut Captured, u: &mut Unstructured<'_>, uses: &[Use]) -> Result<()> {
    let Some(buffer) = choose(captured, u, uses)? else { return Ok(()) };
    let at = u.choose_index(buffer.contents.len())?;
    let byte = buffer.contents[at] ^ 1 << u.int_in_range(0..=7u8)?;
    let place = buffer.span.address + at as u32;
    captured.store(place, &[byte]);
    Ok(())
}

//! Copies of bits, for pixels smaller than a byte and edges within a byte.

/// Copies `count` bits. Bit 0 of a slice is the lowest of its first byte; other bits of the target stay unchanged.
///
/// Both ranges are inside of their slices.
pub(super) fn copy_bits(target: &mut [u8], target_bit: usize, source: &[u8], source_bit: usize, count: usize) {
    if (target_bit | source_bit | count) & 7 == 0 {
        target[target_bit / 8..][..count / 8].copy_from_slice(&source[source_bit / 8..][..count / 8]);
        return;
    }
    // After whole words: bits up to the target's next byte; whole bytes; the rest.
    let words = count / 64;
    for at in (0..64 * words).step_by(64) {
        store_64(target, target_bit + at, load_64(source, source_bit + at));
    }
    let (target_bit, source_bit, count) = (target_bit + 64 * words, source_bit + 64 * words, count % 64);
    let head = (target_bit.wrapping_neg() & 7).min(count);
    copy_some(target, target_bit, source, source_bit, head);
    let (target_bit, source_bit, count) = (target_bit + head, source_bit + head, count - head);
    let whole = count / 8;
    let shift = source_bit & 7;
    let (bytes, from) = (&mut target[target_bit / 8..][..whole], &source[source_bit / 8..]);
    if shift == 0 {
        bytes.copy_from_slice(&from[..whole]);
    } else {
        for (byte, pair) in bytes.iter_mut().zip(from.windows(2)) {
            *byte = pair[0] >> shift | pair[1] << (8 - shift);
        }
    }
    copy_some(target, target_bit + 8 * whole, source, source_bit + 8 * whole, count & 7);
}

/// 64 bits from a bit on.
#[inline]
fn load_64(bytes: &[u8], bit: usize) -> u64 {
    let (bytes, shift) = (&bytes[bit / 8..], bit & 7);
    let low = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if shift == 0 { low } else { low >> shift | u64::from(bytes[8]) << (64 - shift) }
}

/// Stores 64 bits from a bit on.
#[inline]
fn store_64(bytes: &mut [u8], bit: usize, bits: u64) {
    let (bytes, shift) = (&mut bytes[bit / 8..], bit & 7);
    let Some(low) = bytes.first_chunk_mut() else { return };
    if shift == 0 {
        *low = bits.to_le_bytes();
        return;
    }
    let below = u64::from_le_bytes(*low) & ((1 << shift) - 1);
    *low = (below | bits << shift).to_le_bytes();
    bytes[8] = bytes[8] & (0xff << shift) | (bits >> (64 - shift)) as u8;
}

/// Copies at most 7 bits that are within one byte of the target.
fn copy_some(target: &mut [u8], target_bit: usize, source: &[u8], source_bit: usize, count: usize) {
    if count == 0 {
        return;
    }
    let (at, shift) = (source_bit / 8, source_bit & 7);
    let mut bits = u16::from(source[at]);
    if shift + count > 8 {
        bits |= u16::from(source[at + 1]) << 8;
    }
    let mask = ((1u16 << count) - 1) as u8;
    let byte = &mut target[target_bit / 8];
    let inside = target_bit & 7;
    *byte = *byte & !(mask << inside) | ((bits >> shift) as u8 & mask) << inside;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All positions and lengths in 5 bytes, and lengths around words in 18, compared with copies of single bits.
    #[test]
    fn bits_are_copied_and_their_neighbours_stay() {
        check::<5>([0x35, 0xc9, 0x71, 0x0e, 0xa6], 0..40, 0);
        let source = core::array::from_fn(|n| (n * n * 37 + 11) as u8);
        check::<18>(source, 0..9, 60);
    }

    fn check<const N: usize>(source: [u8; N], places: core::ops::Range<usize>, least: usize) {
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at & 7) & 1;
        for from in places.clone() {
            for to in places.clone() {
                for count in least..=8 * N - from.max(to) {
                    for background in [0u8, 0xff] {
                        let mut target = [background; N];
                        copy_bits(&mut target, to, &source, from, count);
                        for at in 0..8 * N {
                            let copied = (to..to + count).contains(&at);
                            let expected = if copied { bit(&source, at - to + from) } else { background & 1 };
                            assert_eq!(bit(&target, at), expected, "{count} bits from {from} to {to}: bit {at}");
                        }
                    }
                }
            }
        }
    }
}

//! Copies of bits, for pixels that are smaller than a byte and edges within one.

/// Copies `count` bits. Bit 0 of a slice is the lowest of its first byte; bits around the target's stay.
///
/// Both stretches lie within their slices.
pub(super) fn copy_bits(target: &mut [u8], target_bit: usize, source: &[u8], source_bit: usize, count: usize) {
    if (target_bit | source_bit | count) & 7 == 0 {
        target[target_bit / 8..][..count / 8].copy_from_slice(&source[source_bit / 8..][..count / 8]);
        return;
    }
    // Up to the target's next whole byte; whole bytes; the rest.
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

    /// Every place and length in 5 bytes, against single bits.
    #[test]
    fn bits_are_copied_and_their_neighbours_stay() {
        let source = [0x35, 0xc9, 0x71, 0x0e, 0xa6];
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at & 7) & 1;
        for from in 0..40 {
            for to in 0..40 {
                for count in 0..=40 - from.max(to) {
                    for background in [0u8, 0xff] {
                        let mut target = [background; 5];
                        copy_bits(&mut target, to, &source, from, count);
                        for at in 0..40 {
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

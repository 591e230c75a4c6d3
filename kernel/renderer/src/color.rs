//! Colours as floats, 1 being full, and as bytes, 255 being full.

/// A colour of bytes as floats: red, green, blue, alpha.
pub const fn unorm([red, green, blue, alpha]: [u8; 4]) -> [f32; 4] {
    [red as f32 / 255.0, green as f32 / 255.0, blue as f32 / 255.0, alpha as f32 / 255.0]
}

/// The byte that is nearest to a channel, clamped to 0 to 1.
pub(crate) fn byte(channel: f32) -> u8 {
    (255.0 * channel.clamp(0.0, 1.0) + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_the_same_as_floats() {
        for value in 0..=255 {
            assert_eq!(unorm([value, 0, 255, value]).map(byte), [value, 0, 255, value]);
        }
    }
}

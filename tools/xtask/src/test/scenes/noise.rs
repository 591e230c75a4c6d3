//! The pseudorandom numbers of scenes.

/// A number from 0 to 1 for each number [kernel/src/scene_parts/noise.rs].
pub(super) fn random(number: u32) -> f64 {
    let mut hash = number.wrapping_mul(0x9E37_79B1);
    hash = (hash ^ hash >> 15).wrapping_mul(0x2C1B_3C6D);
    hash = (hash ^ hash >> 12).wrapping_mul(0x297A_2D39);
    f64::from(hash >> 8) / 16_777_216.0
}

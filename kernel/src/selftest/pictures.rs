//! Sums of the scenes' first pictures, as the model drew them
//!
//! Recorded from `selftest` in QEMU after the tests of `cargo xtask test` had found the pictures right: the triangle's against
//! its own interpolation, all of them against the model's reference engine. A scene that draws something else on purpose
//! needs a new record; a scene without one is only drawn twice and compared with itself.

/// The size of picture that the records are of.
pub const SIZE: (u32, u32) = (1280, 720);

/// Name of the scene, CRC-32 of its first picture. Both triangles are the same in all pixels: shaded by the engine, and in
/// advance.
const RECORDS: [(&str, u32); 2] = [("triangle", 0xc75c_9afa), ("triangle-nv", 0xc75c_9afa)];

/// The recorded sum for a scene.
#[must_use]
pub fn recorded(scene: &str) -> Option<u32> {
    RECORDS.iter().find(|(name, _)| *name == scene).map(|&(_, crc)| crc)
}

#[cfg(test)]
mod tests {
    use super::recorded;

    #[test]
    fn scenes_are_found_by_name() {
        assert_eq!(recorded("triangle"), Some(0xc75c_9afa));
        assert_eq!(recorded("tri"), None);
    }
}

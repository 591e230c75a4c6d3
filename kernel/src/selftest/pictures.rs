//! Recorded CRC-32s of the scenes' first pictures, as the model drew them
//!
//! The table is pictures.tsv beside this file, written by `cargo xtask selftest --save`. It was recorded in QEMU after the tests of
//! `cargo xtask test` had found the pictures right: the triangle's against its own interpolation, all of them against the model's reference
//! engine. Both triangles are the same in all pixels: shaded by the engine, and in advance. A scene that draws something else on purpose needs
//! a new record; a scene without one is only drawn twice and compared with itself.

const TABLE: &str = include_str!("pictures.tsv");

/// The size of picture that the records are of.
pub const SIZE: (u32, u32) = (1280, 720);

/// The recorded CRC-32 of a scene's first picture.
#[must_use]
pub fn recorded(scene: &str) -> Option<u32> {
    let (_, crc) = TABLE.lines().filter_map(|line| line.split_once('\t')).find(|(name, _)| *name == scene)?;
    u32::from_str_radix(crc, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{TABLE, recorded};

    #[test]
    fn scenes_are_found_by_name() {
        assert_eq!(recorded("triangle"), Some(0xc75c_9afa));
        assert_eq!(recorded("triangle-nv"), recorded("triangle"));
        assert_eq!(recorded("tri"), None);
        assert_eq!(recorded("#scene"), None);
    }

    #[test]
    fn every_row_is_read() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let (name, _) = line.split_once('\t').unwrap();
            assert!(recorded(name).is_some(), "{line}");
        }
    }
}

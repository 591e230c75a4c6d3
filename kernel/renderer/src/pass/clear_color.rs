//! Clear colours in a target's format.

use shader_interface::f16;
use v3d::rendering_list::ClearValues;

use crate::color::{byte, unorm};
use crate::target::Format;

/// A clear colour in the target's format.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClearColor {
    Bytes([u8; 4]),
    Halves([f16; 4]),
}

impl ClearColor {
    /// The colour of the target's format that is closest. Channels must not be infinite.
    pub(super) fn new(format: Format, color: [f32; 4]) -> Self {
        let most = f16::MAX.to_f32();
        match format {
            Format::Rgba16Float => Self::Halves(color.map(|channel| f16::from_f32(channel.clamp(-most, most)))),
            Format::Rgba8888 | Format::Rgb565 => Self::Bytes(color.map(byte)),
        }
    }

    /// The colour in a Clear Colors record.
    pub(super) fn bits(self) -> u64 {
        match self {
            Self::Bytes(bytes) => ClearValues::rgba8888(bytes),
            Self::Halves(halves) => ClearValues::halves(halves.map(f16::to_bits)),
        }
    }

    /// The colour that a shader must output for the same pixel values.
    pub(super) fn shown(self) -> [f32; 4] {
        match self {
            Self::Bytes(bytes) => unorm(bytes),
            Self::Halves(halves) => halves.map(f16::to_f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits are those of IEEE 754's half floats.
    #[test]
    fn colours_have_the_nearest_value_of_the_format() {
        let check = |format, color, expected| assert_eq!(ClearColor::new(format, color).bits(), expected, "{color:?}");
        check(Format::Rgba8888, [0.0, 0.5, 1.0, 7.0], 0xffff_8000_ffff_8000);
        check(Format::Rgba8888, [-1.0, 0.001, 0.002, 0.999], 0xff01_0000_ff01_0000);
        check(Format::Rgb565, [1.0, 0.0, 0.0, 1.0], 0xff00_00ff_ff00_00ff);
        check(Format::Rgba16Float, [1.0, 16.0, -2.0, 0.1], 0x2e66_c000_4c00_3c00);
        check(Format::Rgba16Float, [65_504.0, 1e9, -1e9, 0.0], 0x0000_fbff_7bff_7bff);
    }
}

//! Coverage accumulate pipe (CAP): coverage of OpenVG paths, gathered without quad processors [AG p.14, p.64, p.69].
//!
//! While Configuration Bits select the coverage pipe, primitives are not shaded. The samples that they cover change the coverage of their pixels,
//! which replaces Z and stencil in the tile buffer: 32 bits for 16 samples. Later primitives, drawn with a fragment shader over the same area, read
//! the coverage as a level or as a mask, and clear or keep it [AG p.48].
//!
//! # What the guide leaves open
//! - The two bits of a sample: here a winding number modulo 4, sample n in bits 2n+1 and 2n. That all 32 bits are coverage and that 0 means "none"
//!   follows from how Broadcom's driver clears them [brcm vg_hw_4.c].
//! - The update modes are the driver's fill rules: "nonzero" counts forward facing primitives up and reverse facing ones down, "odd" inverts, "or"
//!   sets [brcm vg_hw_4.c: "CVG_UPDATE_XOR"]. That "zero" clears the samples is inferred from its name.
//! - The level is the number of covered samples of 16, scaled to 255 and rounded; the driver needs it in all four bytes, since it multiplies colours
//!   by it byte by byte [brcm vg_shader_fd_4.c.qasm].
//! - A read clears only pixels that the reading primitive covers: the driver covers an area with two triangles and clears on read, and with one
//!   sample a pixel each pixel is to be read once [brcm vg_hw_4.c].
//! - With fewer than 16 samples a pixel, each counts for an equal part of the 16.

use super::fep::Sampling;
use v3d_hw::control_list::{ConfigurationBits, CoverageRead, CoverageUpdate};

/// Number of samples in a pixel's coverage.
const SAMPLES: u32 = 16;
/// The lower bit of every sample.
const LOW_BITS: u32 = 0x5555_5555;

/// The samples of 16 that some samples of the rasteriser count for.
pub fn samples_of(mask: u16, sampling: Sampling) -> u16 {
    match sampling {
        Sampling::Centre if mask == 0 => 0,
        Sampling::Centre => 0xffff,
        Sampling::Four(_) => {
            (0..4).filter(|sample| mask >> sample & 1 == 1).fold(0, |all, sample| all | 0xf << (4 * sample))
        }
        Sampling::Sixteen(_) => mask,
    }
}

/// A pixel's coverage after a primitive has covered `samples` of it.
pub fn accumulate(coverage: u32, samples: u16, update: CoverageUpdate, reverse: bool) -> u32 {
    let touched = (0..SAMPLES).fold(0, |bits, sample| bits | (u32::from(samples) >> sample & 1) << (2 * sample));
    let rest = coverage & !(touched | touched << 1);
    match update {
        CoverageUpdate::NonZero => {
            // One up or one down in each sample, modulo 4.
            let carried = if reverse { !coverage } else { coverage } & touched;
            coverage ^ touched ^ carried << 1
        }
        CoverageUpdate::Odd => rest | !present(coverage) & touched,
        CoverageUpdate::Or => rest | touched,
        CoverageUpdate::Zero => rest,
    }
}

/// The lower bit of every sample that is covered.
const fn present(coverage: u32) -> u32 {
    (coverage | coverage >> 1) & LOW_BITS
}

/// How a fragment shader reads coverage: state of the control list that it starts with [AG p.48].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageReading {
    /// What a read returns.
    pub read: CoverageRead,
    /// Reads do not clear the coverage.
    pub leave: bool,
}

impl CoverageReading {
    /// The settings of Configuration Bits.
    pub const fn of(configuration: &ConfigurationBits) -> Self {
        Self { read: configuration.coverage_read, leave: configuration.coverage_leave_on_read }
    }

    /// What r4 gets for a pixel.
    pub fn value(self, coverage: u32) -> u32 {
        let present = present(coverage);
        match self.read {
            CoverageRead::Level => (present.count_ones() * 255 + SAMPLES / 2) / SAMPLES * 0x0101_0101,
            CoverageRead::Mask => (0..SAMPLES).fold(0, |mask, sample| mask | (present >> (2 * sample) & 1) << sample),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fep::SamplePositions;
    use super::*;

    const LEVEL: CoverageReading = CoverageReading { read: CoverageRead::Level, leave: false };
    const MASK: CoverageReading = CoverageReading { read: CoverageRead::Mask, leave: false };

    /// Coverage after primitives, each given by its samples and whether it is reverse facing.
    fn after(update: CoverageUpdate, primitives: &[(u16, bool)]) -> u32 {
        let add = |coverage, &(samples, reverse): &(u16, bool)| accumulate(coverage, samples, update, reverse);
        MASK.value(primitives.iter().fold(0, add))
    }

    #[test]
    fn nonzero_is_the_sum_of_windings() {
        let twice = [(0x0ff0, false), (0x00ff, false)];
        assert_eq!(after(CoverageUpdate::NonZero, &twice), 0x0fff);
        let and_back = [(0x0ff0, false), (0x00ff, true)];
        assert_eq!(after(CoverageUpdate::NonZero, &and_back), 0x0f0f);
        // A hole that is wound the other way, drawn first.
        assert_eq!(after(CoverageUpdate::NonZero, &[(0x00f0, true), (0xffff, false)]), 0xff0f);
        assert_eq!(after(CoverageUpdate::NonZero, &[(1, false), (1, false), (1, true)]), 1);
        assert_eq!(after(CoverageUpdate::NonZero, &[(2, true), (2, true), (2, true)]), 2);
    }

    #[test]
    fn odd_or_and_zero_do_what_their_names_say() {
        let both = [(0x0ff0, false), (0x00ff, true)];
        assert_eq!(after(CoverageUpdate::Odd, &both), 0x0f0f);
        assert_eq!(after(CoverageUpdate::Or, &both), 0x0fff);
        assert_eq!(after(CoverageUpdate::Zero, &both), 0);
        let wound_twice =
            accumulate(accumulate(0, 3, CoverageUpdate::NonZero, false), 3, CoverageUpdate::NonZero, false);
        assert_eq!(MASK.value(accumulate(wound_twice, 1, CoverageUpdate::Odd, false)), 2);
        assert_eq!(MASK.value(accumulate(wound_twice, 1, CoverageUpdate::Zero, false)), 2);
    }

    #[test]
    fn levels_run_from_0_to_255_in_all_four_bytes() {
        let level = |samples| LEVEL.value(accumulate(0, samples, CoverageUpdate::Or, false));
        assert_eq!([level(0), level(0xffff), level(0xff), level(1)], [0, 0xffff_ffff, 0x8080_8080, 0x1010_1010]);
        let levels: Vec<u32> = (0..=16).map(|n| level(((1u32 << n) - 1) as u16) & 0xff).collect();
        assert!(levels.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn fewer_samples_stand_for_16() {
        let positions = SamplePositions::Silicon;
        assert_eq!(samples_of(0xf, Sampling::Centre), 0xffff);
        assert_eq!(samples_of(0b0101, Sampling::Four(positions)), 0x0f0f);
        assert_eq!(samples_of(0xa5a5, Sampling::Sixteen(positions)), 0xa5a5);
    }
}

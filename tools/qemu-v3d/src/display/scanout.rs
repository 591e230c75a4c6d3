//! A picture: the planes of a display list over a background, row by row.

use super::plane::{Plane, Unsupported};
use std::fmt;
use v3d_sim::memory::Memory;

/// What a channel of the HVS makes of its display list.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Size in pixels.
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The colour below all planes, 0x00RRGGBB. Without a colour, the hardware leaves what was in its memory; here it is black.
    pub(super) background: u32,
    /// From the lowest to the highest.
    pub(super) planes: Vec<Plane>,
    /// What each of 256 values of red, green and blue becomes; `None` if they stay as they are.
    pub(super) gamma: Option<Vec<u8>>,
}

/// Something that is not shown as the guest wanted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remark {
    /// A plane that is missing.
    Plane(Unsupported),
    /// A plane that is scaled otherwise than by the hardware.
    Scaled,
    /// A list without an end.
    EndlessList,
    /// A plane in memory that does not exist.
    Memory,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plane(reason) => write!(f, "{reason} is not modelled, and not shown"),
            Self::Scaled => f.write_str(
                "a plane is scaled: it is shown with linear interpolation, as the hardware's filters are not modelled",
            ),
            Self::EndlessList => f.write_str("a display list has no end within the memory of lists"),
            Self::Memory => f.write_str("a plane lies in memory that does not exist"),
        }
    }
}

impl Picture {
    /// Row `y`, as 0x00RRGGBB. Planes that cannot be read are left out; the remark says so.
    pub(super) fn row(&self, memory: Memory<'_>, y: u32, row: &mut [u32]) -> Result<(), Remark> {
        row.fill(self.background);
        let mut result = Ok(());
        for plane in &self.planes {
            let inside = y.checked_sub(plane.y).filter(|&inside| inside < plane.height);
            if let (Some(inside), Some(target)) = (inside, row.get_mut(plane.x as usize..))
                && plane.put_row(memory, inside, target).is_err()
            {
                result = Err(Remark::Memory);
            }
        }
        if let Some(gamma) = &self.gamma {
            let corrected = |value: u32, table: usize| u32::from(gamma[256 * table + (value & 0xff) as usize]);
            for pixel in row {
                *pixel = corrected(*pixel >> 16, 0) << 16 | corrected(*pixel >> 8, 1) << 8 | corrected(*pixel, 2);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::hvs::Hvs;
    use super::*;
    use v3d_sim::BusAddr;
    use v3d_sim::memory::OwnedMemory;

    /// A picture of 4 x 2 pixels with a red plane everywhere and a plane of 2 x 1 half transparent white pixels over it; inverted by gamma.
    #[test]
    fn planes_lie_over_each_other_and_are_cut_off_at_the_edge() {
        let memory = OwnedMemory::new(256);
        (0..8).for_each(|pixel| memory.view().set_word(BusAddr(4 * pixel), 0xff_0000).unwrap());
        (16..18).for_each(|pixel| memory.view().set_word(BusAddr(4 * pixel), 0x80ff_ffff).unwrap());
        let mut hvs = Hvs::default();
        let words = [
            [0x4700_7817, 0xff00_0000, 0x4002_0004, 0, 0, 0, 16],
            // The second of its two pixels is beyond the picture.
            [0x4700_7817, 0xff00_1003, 0x0001_0002, 0, 64, 0, 8],
            [0x8000_0000; 7],
        ];
        let words = words.concat();
        words.iter().zip(0..).for_each(|(&word, index)| hvs.write(0x2000 + 4 * index, word));
        hvs.write(0x50, 1 << 31 | 4 << 12 | 2);
        hvs.end_frame(1);
        let mut rows = [[0; 4]; 2];
        let picture = hvs.picture(1);
        (0..).zip(&mut rows).for_each(|(y, row)| picture.row(memory.view(), y, row).unwrap());
        assert_eq!(rows, [[0xff_0000; 4], [0xff_0000, 0xff_0000, 0xff_0000, 0xff_8080]]);
        hvs.write(0x78, 1 << 31 | 768);
        (0..768).for_each(|entry| hvs.write(0xe0, 255 - entry % 256));
        hvs.write(0x54, 1 << 29);
        hvs.picture(1).row(memory.view(), 1, &mut rows[1]).unwrap();
        assert_eq!(rows[1], [0x00_ffff, 0x00_ffff, 0x00_ffff, 0x00_7f7f]);
    }

    #[test]
    fn a_plane_beyond_memory_is_left_out() {
        let picture = Picture { width: 2, height: 1, background: 5, planes: Vec::new(), gamma: None };
        let memory = OwnedMemory::new(16);
        let mut row = [0; 2];
        assert_eq!(picture.row(memory.view(), 0, &mut row), Ok(()));
        assert_eq!(row, [5; 2]);
        let mut hvs = Hvs::default();
        [0x4700_7817, 0xff00_0000, 0x4001_0002, 0, 0xc000_0010, 0, 8, 0x8000_0000]
            .iter()
            .zip(0..)
            .for_each(|(&word, index)| hvs.write(0x2000 + 4 * index, word));
        hvs.write(0x50, 1 << 31 | 2 << 12 | 1);
        hvs.end_frame(1);
        assert_eq!(hvs.picture(1).row(memory.view(), 0, &mut row), Err(Remark::Memory));
        assert_eq!(row, [0; 2]);
    }
}

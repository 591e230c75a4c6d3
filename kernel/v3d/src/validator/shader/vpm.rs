//! The VPM as a vertex or coordinate shader uses it: rows of 32-bit words, read and written in order.

use v3d_hw::vpm::{ElementSize, ReadSetupWord, WINDOW_ROWS, WriteSetupWord};

/// Blocks of rows that can be set up to be read [AG p.56].
const READS: usize = 2;

/// Rows at a fixed distance from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rows {
    next: u8,
    stride: u8,
}

impl Rows {
    fn take(&mut self) -> u8 {
        let row = self.next;
        self.next = row.wrapping_add(self.stride) % WINDOW_ROWS as u8;
        row
    }
}

/// The set-up of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Vpm {
    /// Pending reads and their remaining rows, oldest first.
    reads: [Option<(Rows, u8)>; READS],
    write: Option<Rows>,
}

/// Only whole words in rows are supported.
fn rows(horizontal: bool, size: ElementSize, address: u8, stride: u8) -> Result<Rows, &'static str> {
    if !horizontal || size != ElementSize::Bits32 {
        return Err("sets the VPM up for something other than rows of 32-bit words");
    }
    let rows = WINDOW_ROWS as u8;
    Ok(Rows { next: address % rows, stride: stride % rows })
}

impl Vpm {
    /// A read is set up.
    pub(super) fn set_up_read(&mut self, word: u32) -> Result<(), &'static str> {
        let ReadSetupWord::Read(setup) = ReadSetupWord::decode(word) else {
            return Err("sets a DMA of the VPM up");
        };
        let rows = rows(setup.horizontal, setup.size, setup.address, setup.stride)?;
        let free = self.reads.iter_mut().find(|read| read.is_none());
        let free = free.ok_or("sets a read of the VPM up while two others are not finished")?;
        *free = Some((rows, if setup.count == 0 { 16 } else { setup.count }));
        Ok(())
    }

    /// A write is set up.
    pub(super) fn set_up_write(&mut self, word: u32) -> Result<(), &'static str> {
        let WriteSetupWord::Write(setup) = WriteSetupWord::decode(word) else {
            return Err("sets a DMA of the VPM up");
        };
        self.write = Some(rows(setup.horizontal, setup.size, setup.address, setup.stride)?);
        Ok(())
    }

    /// The row that a read reads.
    pub(super) fn read(&mut self) -> Result<u8, &'static str> {
        let (rows, left) = self.reads[0].as_mut().ok_or("reads the VPM, but no read is set up")?;
        let row = rows.take();
        *left -= 1;
        if *left == 0 {
            self.reads = [self.reads[1], None];
        }
        Ok(row)
    }

    /// The row that a write writes.
    pub(super) fn write(&mut self) -> Result<u8, &'static str> {
        Ok(self.write.as_mut().ok_or("writes the VPM, but no write is set up")?.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words put together by hand from the guide's tables [AG p.57-58].
    #[test]
    fn rows_are_counted_as_they_are_set_up() {
        let mut vpm = Vpm::default();
        assert!(vpm.read().is_err() && vpm.write().is_err());
        // Two rows from row 2 on, stride 3; one from row 63.
        vpm.set_up_read(2 << 20 | 3 << 12 | 1 << 11 | 2 << 8 | 2).unwrap();
        vpm.set_up_read(1 << 20 | 1 << 12 | 1 << 11 | 2 << 8 | 63).unwrap();
        assert!(vpm.set_up_read(1 << 20 | 1 << 12 | 1 << 11 | 2 << 8).is_err());
        assert_eq!([vpm.read(), vpm.read(), vpm.read()], [Ok(2), Ok(5), Ok(63)]);
        assert!(vpm.read().is_err());
        // A count of 0 means 16, a stride of 0 means 64: the same row again.
        vpm.set_up_read(1 << 11 | 2 << 8 | 9).unwrap();
        assert!((0..16).all(|_| vpm.read() == Ok(9)) && vpm.read().is_err());
        vpm.set_up_write(1 << 12 | 1 << 11 | 2 << 8 | 62).unwrap();
        assert_eq!([vpm.write(), vpm.write(), vpm.write()], [Ok(62), Ok(63), Ok(0)]);
        // Columns, halves, and the set-up of a DMA store.
        for word in [1 << 12 | 2 << 8, 1 << 12 | 1 << 11 | 1 << 8, 2 << 30] {
            assert!(vpm.set_up_write(word).is_err(), "{word:#x}");
        }
    }
}

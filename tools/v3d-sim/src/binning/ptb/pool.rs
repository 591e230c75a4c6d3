//! Tile allocation memory: the source of the blocks of tile lists.
//!
//! The Tile Binning Mode Configuration gives the PTB its first pool, in which the first block of every tile has a fixed position. What follows is taken in
//! pieces of 4 KiB, from which further blocks are cut in order. One piece is always taken ahead, so the configuration already takes two. When the pool is empty
//! the PTB takes the overspill block that software has offered in BPOA and BPOS, once; without one it halts until software offers one [AG p.88-89].
//!
//! # Inferences
//! - The size of the pieces, that one is taken ahead, and that the first two are taken whatever the size of the pool is: see
//!   [`TILE_ALLOCATION_PIECE_BYTES`] and [`FIRST_PIECES`](v3d_hw::tile_buffer::FIRST_PIECES). A configuration whose memory has no bytes at all gives none:
//!   then even the initial blocks are missing [asurati].
//! - At the end of the pool, and of overspill memory, a piece may be shorter. Nothing is known about that.
//! - Overspill memory is taken when a block is needed, not ahead; nothing is known about that either.

use v3d_hw::BusAddr;
use v3d_hw::primitive_list::BRANCH_UNIT_BYTES;
use v3d_hw::tile_buffer::TILE_ALLOCATION_PIECE_BYTES;

/// Alignment of allocations, in bytes: that of the targets of relative branches.
const ALIGNMENT: u32 = BRANCH_UNIT_BYTES as u32;

/// Memory that software offers for when the pool is empty: the registers BPOA and BPOS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overspill {
    /// BPOA.
    pub address: u32,
    /// BPOS, bytes; 0 once the PTB has taken it.
    pub bytes: u32,
}

/// The pool that blocks are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The address at which the next piece begins: BPCA.
    pub current: u32,
    /// Bytes that remain for further pieces: BPCS.
    pub remaining: u32,
    /// Whether overspill memory has been taken since this was last cleared.
    pub spill_used: bool,
    /// The rest of the piece that blocks are cut from.
    piece: Piece,
    /// The piece that was taken ahead; of no bytes if there is none.
    ahead: Piece,
}

/// A part of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Piece {
    address: u32,
    bytes: u32,
}

/// Neither the pool nor the overspill memory has any memory left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Pool {
    /// The pool of a configuration with `bytes` bytes of memory at an address, of which the initial blocks take the first `initial`.
    pub fn configured(address: u32, bytes: u32, initial: u32) -> Self {
        let mut pool = Self::default();
        pool.refill(address.wrapping_add(initial), bytes.saturating_sub(initial));
        if bytes > 0 {
            pool.piece = pool.advance(TILE_ALLOCATION_PIECE_BYTES);
            pool.ahead = pool.advance(TILE_ALLOCATION_PIECE_BYTES);
        }
        pool
    }

    /// Takes `bytes` bytes, a multiple of 32, from the pool or else from the overspill memory.
    pub fn take(&mut self, bytes: u32, overspill: &mut Overspill) -> Result<BusAddr, Exhausted> {
        if self.piece.bytes < bytes {
            if self.ahead.bytes < bytes {
                self.ahead = self.next_piece(bytes, overspill)?;
            }
            self.piece = self.ahead;
            self.ahead = self.advance(self.remaining.min(TILE_ALLOCATION_PIECE_BYTES));
        }
        let address = BusAddr(self.piece.address);
        self.piece.address = self.piece.address.wrapping_add(bytes);
        self.piece.bytes -= bytes;
        Ok(address)
    }

    /// The next piece, with room for `bytes` bytes, of the pool or else of the overspill memory.
    fn next_piece(&mut self, bytes: u32, overspill: &mut Overspill) -> Result<Piece, Exhausted> {
        if self.remaining < bytes && overspill.bytes > 0 {
            self.refill(overspill.address, std::mem::take(&mut overspill.bytes));
            self.spill_used = true;
        }
        if self.remaining < bytes {
            return Err(Exhausted);
        }
        Ok(self.advance(self.remaining.min(TILE_ALLOCATION_PIECE_BYTES)))
    }

    /// Continues at an address with `bytes` bytes of memory.
    fn refill(&mut self, address: u32, bytes: u32) {
        let skipped = address.wrapping_neg() % ALIGNMENT;
        self.current = address.wrapping_add(skipped);
        self.remaining = bytes.saturating_sub(skipped);
    }

    /// The next `bytes` bytes, whether they remain or not.
    fn advance(&mut self, bytes: u32) -> Piece {
        let address = self.current;
        self.current = address.wrapping_add(bytes);
        self.remaining = self.remaining.saturating_sub(bytes);
        Piece { address, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overspill_memory_is_taken_once() {
        let mut pool = Pool::configured(0x1004, 8192 + 100, 0);
        let mut overspill = Overspill { address: 0x8000, bytes: 64 };
        for n in 0..129 {
            assert_eq!(pool.take(64, &mut overspill), Ok(BusAddr(0x1020 + 64 * n)));
        }
        assert!(!pool.spill_used);
        assert_eq!(pool.take(64, &mut overspill), Ok(BusAddr(0x8000)));
        assert!(pool.spill_used);
        assert_eq!(overspill.bytes, 0);
        assert_eq!(pool.take(32, &mut overspill), Err(Exhausted));
        overspill = Overspill { address: 0x9000, bytes: 16 };
        assert_eq!(pool.take(32, &mut overspill), Err(Exhausted));
    }

    /// The figures of a Pi 3: about 8 KB for one tile, about 14 KB for 64 tiles whose lists need more than one piece [rpi-hal gpu_cube.rs].
    #[test]
    fn the_pool_moves_by_pieces_of_which_one_is_taken_ahead() {
        let mut none = Overspill::default();
        let one_tile = Pool::configured(0x1000, 0x8000, 32);
        assert_eq!((one_tile.current, one_tile.remaining), (0x1000 + 32 + 8192, 0x8000 - 32 - 8192));
        let mut tiles = Pool::configured(0x1000, 0x8000, 64 * 32);
        for _ in 0..32 {
            tiles.take(128, &mut none).unwrap();
        }
        assert_eq!(tiles.current - 0x1000, 10 << 10, "the first piece is used up");
        tiles.take(128, &mut none).unwrap();
        assert_eq!(tiles.current - 0x1000, 14 << 10);
    }

    /// As in [PeterLemon Multi_Sample]: 8,192 bytes for 300 initial blocks of 32 bytes.
    #[test]
    fn the_first_two_pieces_are_there_whatever_the_size_of_the_pool() {
        let mut none = Overspill::default();
        let mut pool = Pool::configured(0x40_0000, 8192, 300 * 32);
        assert_eq!(pool.remaining, 0);
        for n in 0..256 {
            assert_eq!(pool.take(32, &mut none), Ok(BusAddr(0x40_0000 + (300 + n) * 32)));
        }
        assert_eq!(pool.take(32, &mut none), Err(Exhausted));
        assert_eq!(Pool::configured(0x40_0000, 0, 0).take(32, &mut none), Err(Exhausted), "no memory at all");
    }
}

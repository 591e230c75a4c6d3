//! Tile buffer: sizes and the words that set up its stencil test [AG section 5].
//!
//! The stencil test is off when a fragment shader starts. The shader sets it up by writing one to three words to
//! TLB_STENCIL_SETUP; the highest two bits say what a word is.

use crate::control_list::CompareFunction;
use crate::{codes, layout};

codes! {
    /// Which configuration a stencil set-up word goes to [AG p.49].
    pub enum StencilSelect: 2 bits {
        /// Not a configuration: both write masks in full.
        0 => WriteMasks "write masks",
        /// Front.
        1 => Front "front",
        /// Back.
        2 => Back "back",
        /// Front and back.
        3 => Both "front and back",
    }
}

codes! {
    /// What happens to a stencil value [AG p.50].
    pub enum StencilOp: 3 bits {
        /// 0.
        0 => Zero "zero",
        /// The old value.
        1 => Keep "keep",
        /// The reference value.
        2 => Replace "replace",
        /// Plus 1, at most 255.
        3 => IncrementSaturated "incsat",
        /// Minus 1, at least 0.
        4 => DecrementSaturated "decsat",
        /// All bits inverted.
        5 => Invert "invert",
        /// Plus 1, modulo 256.
        6 => Increment "inc",
        /// Minus 1, modulo 256.
        7 => Decrement "dec",
    }
}

codes! {
    /// The write mask that fits into a configuration word [AG p.49].
    pub enum StencilWriteMask: 2 bits {
        /// Bit 0.
        0 => Bits1 "0x1",
        /// Bits 1:0.
        1 => Bits2 "0x3",
        /// Bits 3:0.
        2 => Bits4 "0xf",
        /// All bits.
        3 => Bits8 "0xff",
    }
}

impl StencilWriteMask {
    /// The mask.
    pub const fn mask(self) -> u8 {
        match self {
            Self::Bits1 => 0x1,
            Self::Bits2 => 0x3,
            Self::Bits4 => 0xf,
            Self::Bits8 => 0xff,
        }
    }
}

layout! {
    /// Front or back stencil configuration [AG p.49].
    pub struct StencilConfiguration: 32 bits "stencil configuration" {
        /// WSEL: where the word goes; never 0.
        31:30 select: StencilSelect,
        /// SFWMC: stencil write mask code.
        29:28 write_mask: StencilWriteMask,
        /// SFZFOP: when the Z test fails.
        27:25 z_fail: StencilOp,
        /// SFZPOP: when the Z test passes.
        24:22 z_pass: StencilOp,
        /// SFSFOP: when the stencil test fails.
        21:19 stencil_fail: StencilOp,
        /// SFUNC: stencil test function.
        18:16 function: CompareFunction,
        /// SFVALUE: reference value.
        15:8 reference: u8,
        /// SFMASK: function mask.
        7:0 mask: u8,
    }
}

layout! {
    /// Front and back stencil write masks in full [AG p.50].
    pub struct StencilWriteMasks: 32 bits "stencil write masks" {
        /// 0.
        31:30 select: StencilSelect,
        /// SFBWM: back.
        15:8 back: u8,
        /// SFFWM: front.
        7:0 front: u8,
    }
}

/// Width in pixels of a tile without multisampling [AG p.46].
pub const TILE_WIDTH_PX: u32 = 64;
/// Height in pixels of a tile without multisampling and with 32-bit colour [AG p.46].
pub const TILE_HEIGHT_PX: u32 = 64;

/// Width and height in pixels of a tile [AG p.46].
///
/// Multisampling halves both; 64-bit colour halves the height. Double-buffering in non-multisample mode has only half of the tile
/// buffer for each of the two tiles and halves the height as well [mesa vc4_context: "tile_height"].
pub const fn tile_size_px(multisample: bool, color_64_bit: bool, double_buffer: bool) -> (u32, u32) {
    let (width, height) =
        if multisample { (TILE_WIDTH_PX / 2, TILE_HEIGHT_PX / 2) } else { (TILE_WIDTH_PX, TILE_HEIGHT_PX) };
    let height = if color_64_bit { height / 2 } else { height };
    (width, if double_buffer && !multisample { height / 2 } else { height })
}

/// Bytes of tile state data for each tile [AG p.71].
pub const TILE_STATE_BYTES: u32 = 48;

/// Bytes of the pieces in which the PTB takes tile allocation memory, behind the initial blocks of all tiles: from these it cuts further blocks.
///
/// With the configuration it takes [`FIRST_PIECES`] of them. On a Pi 3, BPCA moves by about 8 KB for a picture of one tile, and by about 14 KB for one of 64
/// tiles
/// with initial blocks of 32 bytes [rpi-hal gpu_cube.rs]: these are two and three pieces of 4 KiB and the initial blocks. The PTB of the V3D's successor does
/// the
/// same [mesa v3dx_draw.c].
pub const TILE_ALLOCATION_PIECE_BYTES: u32 = 4096;

/// The number of pieces of tile allocation memory that the PTB takes with the configuration, even if the memory's size does not suffice.
///
/// An inference: demos that are published as working have 8,192 bytes for 300 initial blocks of 32 bytes and some 170 further ones, and offer no other memory
/// [PeterLemon Multi_Sample]. Of the V3D's successor Mesa says that the first two pieces do not make it run out of memory [mesa v3dx_draw.c]. So what lies
/// behind
/// the initial blocks is written to in any case, for as many bytes.
pub const FIRST_PIECES: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_the_sizes_of_section_5() {
        assert_eq!(tile_size_px(false, false, false), (64, 64));
        assert_eq!(tile_size_px(true, false, false), (32, 32));
        assert_eq!(tile_size_px(false, true, false), (64, 32));
        assert_eq!(tile_size_px(true, true, false), (32, 16));
    }
}

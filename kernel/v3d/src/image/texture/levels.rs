//! Layout of the levels and faces of a texture in memory.

use super::{ALIGNMENT, CUBE_FACES, TextureError};
use crate::image::tiler::{ImageBytes, ImageLayout, Rectangle};
use v3d_hw::texture::{MAX_SIZE, MIN_RASTER_ROW_TEXELS, MIN_YUYV_ROW_TEXELS, TextureType};
use v3d_hw::tiling::{self, Tiling};

/// Levels of the largest texture: 2048, 1024, ..., 1.
const MAX_LEVELS: usize = 12;

/// Texels across and up of a block of ETC1.
const BLOCK_PX: u32 = 4;

/// Layout of a texture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureLayout {
    texture_type: TextureType,
    width_px: u32,
    height_px: u32,
    /// Padded levels, and their offsets in bytes from the first byte of their face. Those from `count` on do not exist.
    levels: [(ImageLayout, u32); MAX_LEVELS],
    count: u32,
    cube: bool,
    face_stride: u32,
}

/// A rectangle of a level of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelPart {
    /// The level.
    pub image: ImageLayout,
    /// Its first byte, from the start of the texture.
    pub offset: u32,
    /// The rectangle in the image's pixels: texels, or blocks of compressed ones.
    pub rectangle: Rectangle,
}

impl LevelPart {
    /// Bytes of a row of the rectangle.
    pub const fn row_bytes(&self) -> usize {
        self.image.row_bytes(self.rectangle.width_px)
    }

    /// Size of the rectangle in bytes, with contiguous rows.
    pub const fn bytes(&self) -> usize {
        self.row_bytes() * self.rectangle.height_px as usize
    }

    /// Writes the rectangle's texels, given as contiguous rows, to `image`, which is the level's bytes.
    ///
    /// # Errors
    /// When the number of bytes differs from the rectangle's size.
    pub fn put(&self, image: &mut (impl ImageBytes + ?Sized), texels: &[u8]) -> Result<(), TextureError> {
        self.expect(texels.len())?;
        Ok(self.image.put(image, self.rectangle, texels, self.row_bytes())?)
    }

    /// Reads the rectangle's texels as contiguous rows from `image`, which is the level's bytes.
    ///
    /// # Errors
    /// When the number of bytes differs from the rectangle's size.
    pub fn get(&self, image: &(impl ImageBytes + ?Sized), texels: &mut [u8]) -> Result<(), TextureError> {
        self.expect(texels.len())?;
        Ok(self.image.get(image, self.rectangle, texels, self.row_bytes())?)
    }

    fn expect(&self, given: usize) -> Result<(), TextureError> {
        let needed = self.bytes();
        if given == needed { Ok(()) } else { Err(TextureError::Bytes { given, needed }) }
    }
}

impl TextureLayout {
    /// A two-dimensional texture with this number of levels, including level 0.
    ///
    /// # Errors
    /// When the hardware does not support the texture.
    pub fn two_dimensional(
        texture_type: TextureType,
        width_px: u32,
        height_px: u32,
        levels: u32,
    ) -> Result<Self, TextureError> {
        Self::new(texture_type, width_px, height_px, levels, false)
    }

    /// A cube map whose faces are `size_px` texels wide and high.
    ///
    /// # Errors
    /// When the hardware does not support the texture.
    pub fn cube(texture_type: TextureType, size_px: u32, levels: u32) -> Result<Self, TextureError> {
        Self::new(texture_type, size_px, size_px, levels, true)
    }

    fn new(
        texture_type: TextureType,
        width_px: u32,
        height_px: u32,
        count: u32,
        cube: bool,
    ) -> Result<Self, TextureError> {
        let bits = unit_bits(texture_type).ok_or(TextureError::Type(texture_type))?;
        if width_px == 0 || height_px == 0 || width_px > MAX_SIZE || height_px > MAX_SIZE {
            return Err(TextureError::Size { width_px, height_px });
        }
        let most = Self::max_levels(width_px, height_px);
        if count == 0 || count > most {
            return Err(TextureError::Levels { levels: count, most });
        }
        if texture_type.is_raster() {
            if count > 1 || cube {
                return Err(TextureError::RasterLevels(texture_type));
            }
            if !width_px.is_power_of_two() {
                return Err(TextureError::RasterWidth(width_px));
            }
            if texture_type == TextureType::Yuyv422R && width_px < MIN_YUYV_ROW_TEXELS {
                return Err(TextureError::YuyvWidth(width_px));
            }
        }
        let (mut width, height) = (units(texture_type, width_px), units(texture_type, height_px));
        if texture_type.is_raster() {
            width = width.max(MIN_RASTER_ROW_TEXELS);
        }
        let level = |number: u32| {
            let (width, height) = match number {
                0 => (width, height),
                _ => {
                    let smaller = |side: u32| (side.next_power_of_two() >> number).max(1);
                    (smaller(width), smaller(height))
                }
            };
            let tiling = match tiling::level_format(width, height, bits) {
                Some(tiling) if !texture_type.is_raster() => tiling,
                _ => Tiling::Raster,
            };
            ImageLayout::new(tiling, width, height, bits)
        };
        let mut levels = [(level(0)?, 0); MAX_LEVELS];
        let mut front = 0;
        for number in 1..count {
            let image = level(number)?;
            front += image.bytes();
            levels[number as usize] = (image, front);
        }
        // So far, offsets of smaller levels are relative to level 0, which starts at a multiple of 4096.
        let base = front.next_multiple_of(ALIGNMENT);
        levels.iter_mut().for_each(|(_, offset)| *offset = base - *offset);
        let face_stride = base + levels[0].0.bytes().next_multiple_of(ALIGNMENT);
        Ok(Self { texture_type, width_px, height_px, levels, count, cube, face_stride })
    }

    /// Number of levels down to a single texel.
    pub const fn max_levels(width_px: u32, height_px: u32) -> u32 {
        let longer = if width_px > height_px { width_px } else { height_px };
        u32::BITS - longer.leading_zeros()
    }

    /// The type of the texels.
    pub const fn texture_type(&self) -> TextureType {
        self.texture_type
    }

    /// Width of level 0 in texels.
    pub const fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Height of level 0 in texels.
    pub const fn height_px(&self) -> u32 {
        self.height_px
    }

    /// How many levels there are.
    pub const fn levels(&self) -> u32 {
        self.count
    }

    /// Whether it is a cube map.
    pub const fn is_cube(&self) -> bool {
        self.cube
    }

    /// How many faces there are.
    pub const fn faces(&self) -> u32 {
        if self.cube { CUBE_FACES } else { 1 }
    }

    /// Distance from the texture's first byte to level 0.
    pub const fn front_bytes(&self) -> u32 {
        self.levels[0].1
    }

    /// Distance between faces in bytes.
    pub const fn face_stride(&self) -> u32 {
        self.face_stride
    }

    /// Size of the texture in bytes; it must be placed at a multiple of 4096.
    pub const fn bytes(&self) -> u32 {
        self.faces() * self.face_stride
    }

    /// Width and height of a level in texels.
    ///
    /// # Errors
    /// When there is no such level.
    pub fn level_size(&self, level: u32) -> Result<(u32, u32), TextureError> {
        if level >= self.count {
            return Err(TextureError::NoLevel { level, levels: self.count });
        }
        Ok(((self.width_px >> level).max(1), (self.height_px >> level).max(1)))
    }

    /// A whole level of a face.
    ///
    /// # Errors
    /// When there is no such level or face.
    pub fn level(&self, face: u32, level: u32) -> Result<LevelPart, TextureError> {
        let (width_px, height_px) = self.level_size(level)?;
        self.part(face, level, Rectangle::whole(width_px, height_px))
    }

    /// A rectangle of texels of a level of a face.
    ///
    /// # Errors
    /// When there is no such level or face, or the rectangle exceeds it or cuts through compressed blocks.
    pub fn part(&self, face: u32, level: u32, rectangle: Rectangle) -> Result<LevelPart, TextureError> {
        let (width_px, height_px) = self.level_size(level)?;
        if face >= self.faces() {
            return Err(TextureError::NoFace { face, faces: self.faces() });
        }
        let outside = TextureError::Outside { rectangle, width_px, height_px };
        let end = |start: u32, count: u32, size: u32| start.checked_add(count).filter(|&end| end <= size);
        let right = end(rectangle.x_px, rectangle.width_px, width_px).ok_or(outside)?;
        let top = end(rectangle.y_px, rectangle.height_px, height_px).ok_or(outside)?;
        let (image, offset) = self.levels[level as usize];
        let offset = face * self.face_stride + offset;
        if self.texture_type != TextureType::Etc1 {
            return Ok(LevelPart { image, offset, rectangle });
        }
        let is_edge = |at: u32, size: u32| at.is_multiple_of(BLOCK_PX) || at == size;
        let (x_px, y_px) = (rectangle.x_px, rectangle.y_px);
        if !x_px.is_multiple_of(BLOCK_PX)
            || !y_px.is_multiple_of(BLOCK_PX)
            || !is_edge(right, width_px)
            || !is_edge(top, height_px)
        {
            return Err(TextureError::Blocks(rectangle));
        }
        let (x_px, y_px) = (x_px / BLOCK_PX, y_px / BLOCK_PX);
        let (width_px, height_px) = (right.div_ceil(BLOCK_PX) - x_px, top.div_ceil(BLOCK_PX) - y_px);
        Ok(LevelPart { image, offset, rectangle: Rectangle { x_px, y_px, width_px, height_px } })
    }
}

/// Bits of the layout's unit: a texel, or a block.
const fn unit_bits(texture_type: TextureType) -> Option<u32> {
    match (texture_type, texture_type.bits_per_texel()) {
        (TextureType::Etc1, Some(bits)) => Some(bits * BLOCK_PX * BLOCK_PX),
        (_, bits) => bits,
    }
}

/// Number of units along a side.
const fn units(texture_type: TextureType, texels: u32) -> u32 {
    match texture_type {
        TextureType::Etc1 => texels.div_ceil(BLOCK_PX),
        _ => texels,
    }
}

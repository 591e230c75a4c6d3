//! Images at any size and angle, parts of images, and nine-patches.

use glam::Vec2;

use super::{Canvas, IMAGE, SegmentKind};
use crate::error::Error;
use crate::texture::Texture;

/// Where an image is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    center: Vec2,
    /// Half the width and height, along the image's axes.
    half: Vec2,
    axis: Vec2,
}

impl Placement {
    /// Left, top, width and height in pixels.
    pub fn at(x: f32, y: f32, width: f32, height: f32) -> Self {
        let half = Vec2::new(width, height) / 2.0;
        Self { center: Vec2::new(x, y) + half, half, axis: Vec2::X }
    }

    /// The same, rotated around its centre.
    #[must_use]
    pub fn turned(self, angle: f32) -> Self {
        Self { axis: Vec2::from_angle(angle).rotate(self.axis), ..self }
    }
}

/// Part of a texture, in texels from the corner of its first texel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

impl Patch {
    /// All of a texture.
    pub fn whole(texture: &Texture) -> Self {
        let [width, height] = extent(texture).to_array();
        Self { x: 0.0, y: 0.0, width, height }
    }
}

/// Width and height of a texture in texels.
pub(super) fn extent(texture: &Texture) -> Vec2 {
    let layout = texture.layout();
    Vec2::new(layout.width_px() as f32, layout.height_px() as f32)
}

impl Canvas {
    /// Draws all of a texture, its first row at the top, multiplied by `tint` and filtered bilinearly.
    ///
    /// # Errors
    /// When a coordinate is NaN or infinite, or the heap is full.
    pub fn image(&mut self, texture: &Texture, placement: &Placement, tint: [u8; 4]) -> Result<(), Error> {
        self.image_part(texture, &Patch::whole(texture), placement, tint)
    }

    /// Draws a part of a texture. Bilinear filtering reads texels next to the part at its edges.
    ///
    /// # Errors
    /// As [`Canvas::image`].
    pub fn image_part(
        &mut self,
        texture: &Texture,
        part: &Patch,
        placement: &Placement,
        tint: [u8; 4],
    ) -> Result<(), Error> {
        let Placement { center, half, axis } = *placement;
        let center = center + self.origin;
        if half.x == 0.0 || half.y == 0.0 {
            return Ok(());
        }
        let tint = tint.map(|channel| f32::from(channel) / 255.0);
        let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::ONE, Vec2::new(-1.0, 1.0)]
            .map(|corner| center + axis.rotate(corner * half));
        let (first, size) = (Vec2::new(part.x, part.y), Vec2::new(part.width, part.height));
        let whole = extent(texture);
        let varyings = |at: Vec2| -> [f32; IMAGE] {
            let from_center = at - center;
            let along = Vec2::new(from_center.dot(axis), from_center.dot(axis.perp()));
            let uv = (first + (along / half + 1.0) / 2.0 * size) / whole;
            [uv.x, uv.y, tint[0], tint[1], tint[2], tint[3]]
        };
        let polygon = self.window.shade(self.label, &corners, varyings)?;
        self.as_a_whole(|canvas| {
            canvas.segments.reserve(canvas.label)?;
            let kind = SegmentKind::Images(canvas.texture(texture)?);
            let count = canvas.images.append(canvas.label, polygon.vertices())?;
            canvas.note(kind, count);
            Ok(())
        })
    }

    /// Draws a texture as a nine-patch: its borders keep their size, and its middle is stretched. The borders (left, top, right, bottom) are in texels, each
    /// drawn as one pixel. In a placement smaller than the borders they are scaled down.
    ///
    /// # Errors
    /// As [`Canvas::image`].
    pub fn nine_patch(
        &mut self,
        texture: &Texture,
        borders: [f32; 4],
        [x, y, width, height]: [f32; 4],
        tint: [u8; 4],
    ) -> Result<(), Error> {
        let texels = extent(texture);
        let [left, top, right, bottom] = borders;
        let across = stops(texels.x, left, right, x, width);
        let down = stops(texels.y, top, bottom, y, height);
        let patches = down.windows(2).flat_map(|row| across.windows(2).map(move |column| (column, row)));
        self.as_a_whole(|canvas| {
            for (column, row) in patches {
                let [(from_x, at_x), (to_x, end_x)] = [column[0], column[1]];
                let [(from_y, at_y), (to_y, end_y)] = [row[0], row[1]];
                let part = Patch { x: from_x, y: from_y, width: to_x - from_x, height: to_y - from_y };
                let placement = Placement::at(at_x, at_y, end_x - at_x, end_y - at_y);
                canvas.image_part(texture, &part, &placement, tint)?;
            }
            Ok(())
        })
    }
}

/// The four coordinates that bound a nine-patch's columns or rows, each in texels and in pixels.
pub(crate) fn stops(texels: f32, before: f32, behind: f32, start: f32, length: f32) -> [(f32, f32); 4] {
    let borders = before + behind;
    let scale = if borders > length { length / borders } else { 1.0 };
    [
        (0.0, start),
        (before, start + before * scale),
        (texels - behind, start + length - behind * scale),
        (texels, start + length),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_keep_their_size_unless_there_is_no_room() {
        let wide = stops(16.0, 4.0, 3.0, 100.0, 50.0);
        assert_eq!(wide, [(0.0, 100.0), (4.0, 104.0), (13.0, 147.0), (16.0, 150.0)]);
        let narrow = stops(16.0, 6.0, 2.0, 0.0, 4.0);
        assert_eq!(narrow, [(0.0, 0.0), (6.0, 3.0), (14.0, 3.0), (16.0, 4.0)]);
    }
}

//! Atlases of images ("sheets"), which are uploaded as textures when they are drawn.
//!
//! Small images are packed by the shelf algorithm: from left to right on a shelf, with a new shelf below a full one. A large image has a sheet of its own.

use alloc::vec::Vec;
use core::ops::Range;
use v3d::Platform;

use crate::device::Device;
use crate::error::Error;
use crate::heap::reserve;
use crate::texture::{Texture, TextureDescriptor, TextureType};

/// Width and maximum height of a sheet of small images, in texels.
const SIDE: u16 = 512;

/// Position of an image: its sheet, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) sheet: usize,
    pub(super) left: u16,
    pub(super) top: u16,
    width: u16,
    height: u16,
}

impl Place {
    /// The range of a row's texels in a sheet of this width.
    fn row(&self, row: u16, sheet_width: u16) -> Range<usize> {
        let start = usize::from(self.top + row) * usize::from(sheet_width) + usize::from(self.left);
        start..start + usize::from(self.width)
    }
}

/// The texels of a sheet, and its texture once it has been drawn.
#[derive(Debug)]
struct Sheet {
    width: u16,
    /// Words rather than bytes, because they are copied faster.
    texels: Vec<u32>,
    /// Top of the last shelf, and the left edge of the next image on it.
    shelf: u16,
    next: u16,
    /// It has no space for another image.
    is_full: bool,
    texture: Option<Texture>,
}

impl Sheet {
    const fn new(width: u16, is_full: bool) -> Self {
        Self { width, texels: Vec::new(), shelf: 0, next: 0, is_full, texture: None }
    }

    /// Number of rows in use.
    const fn height(&self) -> u16 {
        (self.texels.len() / self.width as usize) as u16
    }

    /// Allocates space for an image, if there is any, and returns its left and top texel.
    fn place(&mut self, label: &'static str, width: u16, height: u16, most: u16) -> Result<Option<(u16, u16)>, Error> {
        let (left, top) = if self.next + width <= self.width { (self.next, self.shelf) } else { (0, self.height()) };
        if left + width > self.width || top + height > most {
            return Ok(None);
        }
        let texels = usize::from(self.width) * usize::from(top + height);
        if let Some(more) = texels.checked_sub(self.texels.len()) {
            reserve(label, &mut self.texels, more)?;
            self.texels.resize(texels, 0);
        }
        (self.shelf, self.next) = (top, left + width);
        self.texture = None;
        Ok(Some((left, top)))
    }
}

/// All sheets of a list.
#[derive(Debug)]
pub(super) struct Sheets {
    label: &'static str,
    sheets: Vec<Sheet>,
}

impl Sheets {
    pub(super) const fn new(label: &'static str) -> Self {
        Self { label, sheets: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.sheets.clear();
    }

    /// Allocates space for an image.
    pub(super) fn place(&mut self, width: u16, height: u16) -> Result<Place, Error> {
        let is_large = width > SIDE || height > SIDE / 4;
        if let Some(last) = self.sheets.last_mut()
            && !is_large
            && !last.is_full
            && let Some((left, top)) = last.place(self.label, width, height, SIDE)?
        {
            return Ok(Place { sheet: self.sheets.len() - 1, left, top, width, height });
        }
        reserve(self.label, &mut self.sheets, 1)?;
        let mut sheet = Sheet::new(if is_large { width } else { SIDE }, is_large);
        sheet.place(self.label, width, height, height)?;
        self.sheets.push(sheet);
        Ok(Place { sheet: self.sheets.len() - 1, left: 0, top: 0, width, height })
    }

    /// Frees the space of the last image.
    pub(super) fn take_back(&mut self, place: &Place) {
        let is_own = self.sheets.get(place.sheet).is_some_and(|sheet| sheet.is_full);
        if is_own {
            self.sheets.truncate(place.sheet);
        } else if let Some(sheet) = self.sheets.get_mut(place.sheet) {
            sheet.next = place.left;
        }
    }

    /// A row of an image's texels.
    pub(super) fn row_mut(&mut self, place: &Place, row: u16) -> &mut [u32] {
        let Some(sheet) = self.sheets.get_mut(place.sheet) else { return &mut [] };
        let range = place.row(row, sheet.width);
        sheet.texels.get_mut(range).unwrap_or_default()
    }

    /// The value of the image's texels, if all are the same.
    pub(super) fn only_texel(&self, place: &Place) -> Option<u32> {
        let sheet = self.sheets.get(place.sheet)?;
        let texels = &sheet.texels;
        let only = texels.get(place.row(0, sheet.width))?.first()?;
        let is_plain =
            |row| texels.get(place.row(row, sheet.width)).is_some_and(|row| row.iter().all(|texel| texel == only));
        (0..place.height).all(is_plain).then_some(*only)
    }

    /// Uploads the sheets that have changed.
    pub(super) fn upload<P: Platform>(&mut self, device: &Device<'_, P>) -> Result<(), Error> {
        for sheet in self.sheets.iter_mut().filter(|sheet| sheet.texture.is_none()) {
            let (width, height) = (u32::from(sheet.width), u32::from(sheet.height()));
            let descriptor = TextureDescriptor::new(self.label, TextureType::Rgba8888, width, height);
            sheet.texture = Some(Texture::from_pixels(device, &descriptor, bytemuck::cast_slice(&sheet.texels))?);
        }
        Ok(())
    }

    /// A sheet's texture, and its width and height in texels.
    pub(super) fn texture(&self, sheet: usize) -> Option<(&Texture, [u32; 2])> {
        let sheet = self.sheets.get(sheet)?;
        Some((sheet.texture.as_ref()?, [u32::from(sheet.width), u32::from(sheet.height())]))
    }
}

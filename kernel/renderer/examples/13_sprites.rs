//! Step 13: sprites.
//!
//! A pond, seen from above. Everything in it is a part of one small image, the atlas: carp, leaves, petals and rings at any place, in any size, turned and
//! tinted, and a sign whose frame keeps its width whatever its size is. All of that is one draw; the letters on the sign, whose image is a font's, are a second
//! one. The GPU computes the corners of each sprite.

use core::f32::consts::{FRAC_PI_2, PI, TAU};

use embedded_graphics::{
    image::GetPixel,
    mono_font::ascii::FONT_10X20,
    pixelcolor::BinaryColor,
    prelude::{OriginDimensions, Point},
};
use renderer::{
    Blend, Device, Error, PassDescriptor, Sprite, SpriteAtlas, Sprites, Target, Texture, TextureDescriptor,
    asset::{Font, Glyph, GlyphKind},
    canvas::{FontAtlas, TextStyle},
    glam::{Vec2, Vec3},
    sprites::nine_patch,
    texture::TextureType,
    unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 360];
/// The background: red, green, blue, alpha.
pub const WATER: [u8; 4] = [16, 66, 78, 255];

/// Width and height of the atlas in texels.
pub const ATLAS_PX: u32 = 128;
/// A part of it: first column, first row, width and height. Around what it shows are transparent texels, so that neighbours are not blended into it.
pub const CARP: [u16; 4] = [0, 0, 64, 32];
/// A leaf.
pub const LEAF: [u16; 4] = [64, 0, 64, 64];
/// A petal, of which flowers are made.
pub const PETAL: [u16; 4] = [0, 32, 32, 16];
/// A ring on the water.
pub const RING: [u16; 4] = [0, 64, 64, 64];
/// A sign of any size.
pub const SIGN: [u16; 4] = [64, 64, 32, 32];
/// What of the sign is not stretched: texels at the left, top, right and bottom.
pub const FRAME: [u16; 4] = [12; 4];

/// Where the sign is: left, top, width and height.
pub const SIGN_AT: [f32; 4] = [20.0, 288.0, 236.0, 56.0];
/// The colour of the sign.
pub const SIGN_TINT: [u8; 4] = [255, 214, 150, 255];
/// Where its first line begins: from the left edge, along the baseline.
pub const WORDS_AT: [f32; 2] = [36.0, 312.0];
/// The lines.
pub const WORDS: &str = "A pond of 132 sprites\nand a sign of nine";
/// Their colour.
pub const INK: [u8; 4] = [62, 34, 18, 255];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "13_sprites")?;
    Ok(())
}

/// Where a texel is, from the middle of a part.
fn from_middle([left, top, width, height]: [u16; 4], x: u32, y: u32) -> Option<Vec2> {
    let corner = Vec2::new(left.into(), top.into());
    let half = Vec2::new(width.into(), height.into()) / 2.0;
    let at = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - corner - half;
    (at.abs().cmplt(half).all()).then_some(at)
}

/// How far a place is inside of an ellipse around the origin, about; negative outside.
fn in_ellipse(at: Vec2, radii: Vec2) -> f32 {
    (1.0 - (at / radii).length()) * radii.min_element()
}

/// A carp that looks to the right: how far inside a place is, and its colour.
fn carp(at: Vec2) -> (f32, Vec3) {
    let body = in_ellipse(at - Vec2::new(6.0, 0.0), Vec2::new(21.0, 8.5));
    let tail = (at.x + 28.0).min(-6.0 - at.x).min(0.5 * (-6.0 - at.x) - at.y.abs());
    let fins = [9.0, -9.0].map(|y| in_ellipse(at - Vec2::new(9.0, y), Vec2::new(6.0, 4.0)));
    let spots = [(15.0, 3.0, 6.0), (0.0, -3.0, 8.0), (-12.0, 2.0, 5.0)];
    let spotted = spots.iter().any(|&(x, y, radius)| at.distance(Vec2::new(x, y)) < radius);
    let color = match body > 0.0 {
        true if spotted => Vec3::new(0.93, 0.36, 0.14),
        true => Vec3::new(1.0, 0.97, 0.92),
        false => Vec3::new(0.96, 0.78, 0.66),
    };
    (body.max(tail).max(fins[0]).max(fins[1]), color)
}

/// A leaf of a water lily, with a cut to the right.
fn leaf(at: Vec2) -> (f32, Vec3) {
    let (radius, angle) = (at.length(), at.to_angle());
    let veins = 0.8 + 0.2 * (5.5 * angle).cos().abs();
    let inside = (29.0 - radius).min(radius * (angle.abs() - 0.25));
    (inside, Vec3::new(0.30, 0.62, 0.26) * veins * (1.1 - 0.2 * radius / 29.0))
}

/// A petal that points to the right, darker towards its tip.
fn petal(at: Vec2) -> (f32, Vec3) {
    let along = (at.x + 14.0) / 28.0;
    let inside = 6.0 * (PI * along.clamp(0.0, 1.0)).sin() - at.y.abs() - 0.5;
    (inside, Vec3::new(1.0, 0.95, 0.97).lerp(Vec3::new(0.96, 0.56, 0.72), along))
}

/// A board with round corners and a darker frame.
fn board(at: Vec2) -> (f32, Vec3) {
    let beyond = at.abs() - Vec2::splat(14.0 - 7.0);
    let inside = 7.0 - beyond.max(Vec2::ZERO).length() - beyond.max_element().min(0.0);
    let is_frame = (2.0..4.0).contains(&inside);
    (inside, Vec3::splat(if is_frame { 0.55 } else { 1.0 }))
}

/// A texel of the atlas: red, green, blue, alpha.
pub fn texel(x: u32, y: u32) -> [u8; 4] {
    let part = |part| from_middle(part, x, y);
    let (inside, color) = if let Some(at) = part(CARP) {
        carp(at)
    } else if let Some(at) = part(LEAF) {
        leaf(at)
    } else if let Some(at) = part(PETAL) {
        petal(at)
    } else if let Some(at) = part(RING) {
        (1.5 - (at.length() - 27.0).abs(), Vec3::ONE)
    } else if let Some(at) = part(SIGN) {
        board(at)
    } else {
        (-1.0, Vec3::ZERO)
    };
    // An edge is half covered, and its neighbours are covered fully or not at all: so it is smooth at any angle.
    let [red, green, blue] = (255.0 * color).to_array().map(|part| part as u8);
    [red, green, blue, (255.0 * (inside + 0.5).clamp(0.0, 1.0)) as u8]
}

/// Everything in the pond, from the bottom up.
pub fn pond() -> Vec<Sprite> {
    const TINTS: [[u8; 4]; 4] = [[255; 4], [255, 226, 130, 255], [255, 200, 176, 255], [208, 226, 240, 255]];
    let middle = Vec2::new(240.0, 170.0);
    let upright = Sprite::new();
    let ring = |place: Vec2, scale: f32, alpha: u8| Sprite {
        center: place.to_array(),
        scale: [scale; 2],
        part: RING,
        tint: [190, 240, 240, alpha],
        ..upright
    };
    let rings = [(96.0, 96.0), (400.0, 236.0)].into_iter().flat_map(|(x, y)| {
        [(0.35, 90), (0.75, 60), (1.25, 34)].map(|(scale, alpha)| ring(Vec2::new(x, y), scale, alpha))
    });
    // They swim around the middle, in two circles.
    let carp = (0..22u16).map(|n| {
        let (turn, is_outer) = (TAU * f32::from(n) / 22.0 + 0.1 * f32::from(n % 3), n % 2 == 0);
        let radius = if is_outer { Vec2::new(205.0, 140.0) } else { Vec2::new(118.0, 84.0) };
        let size = 0.75 + 0.15 * f32::from(n % 4);
        Sprite {
            center: (middle + radius * Vec2::from_angle(turn)).to_array(),
            scale: [size; 2],
            rotation: (radius * Vec2::from_angle(turn + FRAC_PI_2)).to_angle(),
            part: CARP,
            tint: TINTS[usize::from(n % 4)],
        }
    });
    let leaf = |x: f32, y: f32, size: f32, rotation: f32| Sprite {
        center: [x, y],
        scale: [size; 2],
        rotation,
        part: LEAF,
        tint: [255, 255, 235, 255],
    };
    let leaves = [
        leaf(236.0, 160.0, 1.3, -1.9),
        leaf(172.0, 196.0, 0.9, 2.7),
        leaf(310.0, 132.0, 1.0, -0.8),
        leaf(428.0, 66.0, 1.2, 1.5),
        leaf(52.0, 232.0, 1.1, 0.6),
    ];
    // A flower is petals around a place, the outer ones first.
    let flowers = [(240.0, 158.0, 1.0), (424.0, 62.0, 0.8), (56.0, 230.0, 0.7)].into_iter().flat_map(|(x, y, size)| {
        (0..24u16).map(move |n| {
            let (turn, length): (f32, f32) =
                (TAU * f32::from(n) / 8.0 + 0.4 * f32::from(n / 8), 1.0 - 0.25 * f32::from(n / 8));
            let length = length * size;
            Sprite {
                center: (Vec2::new(x, y) + 13.0 * length * Vec2::from_angle(turn)).to_array(),
                scale: [length, 0.9 * size],
                rotation: turn,
                part: PETAL,
                tint: [255, 255, 255, 255],
            }
        })
    });
    // The shadow of a thing is the same sprite, black, half transparent, and beside it.
    let shadow = |of: Sprite, by: f32| Sprite {
        center: [of.center[0] + by, of.center[1] + 1.3 * by],
        tint: [0, 12, 20, 90],
        ..of
    };
    let carp: Vec<Sprite> = carp.collect();
    let shadows = carp.iter().map(|&carp| shadow(carp, 7.0));
    let with_shadows = leaves.into_iter().flat_map(|leaf| [shadow(leaf, 3.0), leaf]);
    rings.chain(shadows).chain(carp.iter().copied()).chain(with_shadows).chain(flowers).collect()
}

/// A font: here one of embedded-graphics, with a byte for each pixel. A build script makes fonts of any size from TrueType files.
pub fn letters() -> Font {
    let mono = &FONT_10X20;
    let (size, image) = (mono.character_size, mono.image.size());
    let coverage = |n: u32| {
        let place = Point::new((n % image.width) as i32, (n / image.width) as i32);
        if mono.image.pixel(place) == Some(BinaryColor::On) { 255 } else { 0 }
    };
    let atlas: Vec<u8> = (0..image.width * image.height).map(coverage).collect();
    let glyph = |character| {
        let (n, across) = (mono.glyph_mapping.index(character) as u32, image.width / size.width);
        Glyph {
            character,
            atlas_px: [(n % across * size.width) as u16, (n / across * size.height) as u16],
            extent_px: [size.width as u16, size.height as u16],
            bearing_px: [0.0, mono.baseline as f32],
            advance_px: size.width as f32,
        }
    };
    let glyphs: Vec<Glyph> = (' '..='~').map(glyph).collect();
    Font {
        kind: GlyphKind::Coverage,
        size_px: size.height as f32,
        ascent_px: mono.baseline as f32,
        line_height_px: size.height as f32,
        atlas_width_px: image.width,
        atlas_height_px: image.height,
        // A font lives as long as the program, as one in its image does.
        atlas: atlas.leak(),
        glyphs: glyphs.leak(),
        kerning: &[],
    }
}

/// Draws the pond.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let texels: Vec<u8> = (0..ATLAS_PX * ATLAS_PX).flat_map(|n| texel(n % ATLAS_PX, n / ATLAS_PX)).collect();
    let descriptor = TextureDescriptor::new("pond", TextureType::Rgba8888, ATLAS_PX, ATLAS_PX);
    let atlas = SpriteAtlas::of_texture(&Texture::from_pixels(device, &descriptor, &texels)?)?;
    let font = FontAtlas::new(device, "letters", &letters())?;
    // The programs, and room for so many sprites in one draw; the textures are not a part of it.
    let sprites = Sprites::new(device, "sprites", 200, Blend::ALPHA)?;

    let mut things = pond();
    things.extend(nine_patch(SIGN, FRAME, SIGN_AT).map(|sprite| Sprite { tint: SIGN_TINT, ..sprite }));
    let mut words = Vec::new();
    sprites.append_text(&mut words, &font, WORDS_AT, &TextStyle::new(20.0, INK), WORDS)?;

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(WATER)))?;
    sprites.draw_to(&mut pass, &atlas, &things)?;
    sprites.draw_to(&mut pass, &SpriteAtlas::of_font(&font)?, &words)?;
    let fence = frame.submit()?;
    device.wait(fence)
}

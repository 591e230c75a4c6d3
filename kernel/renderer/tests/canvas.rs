//! The canvas on the model, compared with formulas and a CPU sampler in f64.
//!
//! Tolerances, in 255ths: blending 8-bit numbers errs by at most 1 per layer, the shader's own rounding by half; the TMU's weights have 8 bits on both axes,
//! which adds 2. Where a shape's edge is within a twentieth of a pixel of a pixel's centre, both results are accepted, because corners are snapped to
//! sixteenths.

#[path = "canvas/reference.rs"]
mod reference;
#[path = "canvas/sprites.rs"]
mod sprites;

use reference::{Box2, Distances, Picture};
use renderer::asset::{Font, Glyph, GlyphKind, KerningPair};
use renderer::canvas::{Canvas, Fill, FontAtlas, Placement, Shape, TextStyle};
use renderer::texture::TextureType;
use renderer::{
    Device, Error, Format, Pass, PassDescriptor, Target, TargetDescriptor, Texture, TextureDescriptor, unorm,
};
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;
use v3d_sim::random::Random;

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;
const CLEAR: [u8; 4] = [30, 60, 90, 255];
/// Maximum difference per blended layer.
const LAYER: f64 = 1.5;
/// The same for colours from a filtered texture.
const SAMPLED: f64 = 3.5;

fn device(model: &Model) -> Device<'_, Model> {
    model.device().unwrap()
}

fn target(device: &Device<'_, Model>) -> Target {
    let (width_px, height_px) = (WIDTH, HEIGHT);
    let descriptor =
        TargetDescriptor { label: "picture", width_px, height_px, format: Format::Rgba8888, tiling: Tiling::Raster };
    Target::new(device, &descriptor).unwrap()
}

/// Draws a canvas over the clear colour.
fn draw(model: &Model, device: &Device<'_, Model>, canvas: &Canvas) -> Vec<[u8; 4]> {
    drawn(model, device, |pass| canvas.draw_to(pass).unwrap())
}

/// The picture that something draws over the clear colour. What it has created is dropped before the frame is submitted.
fn drawn(model: &Model, device: &Device<'_, Model>, record: impl FnOnce(&mut Pass<'_, '_, Model>)) -> Vec<[u8; 4]> {
    let target = target(device);
    let mut frame = device.frame().unwrap();
    record(&mut frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap());
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut bytes = vec![0; (4 * WIDTH * HEIGHT) as usize];
    target.read(device, &mut bytes).unwrap();
    bytes.as_chunks().0.to_vec()
}

/// Random numbers and colours.
struct Chance(Random);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(Random::new(0, seed))
    }

    /// A number in a range.
    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.0.below(1 << 24) as f32 / (1u32 << 24) as f32)
    }

    fn color(&mut self) -> [u8; 4] {
        std::array::from_fn(|_| self.between(0.0, 256.0) as u8)
    }
}

/// Boxes of all types (seeds 0 to 11), five overlapping each other: rectangles, rounded ones, circles and lines, rotated, outlined, beyond the edges, in one
/// colour and two.
#[test]
fn shapes_are_covered_by_their_distance() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let mut canvas = Canvas::new(&device, "shapes", WIDTH, HEIGHT).unwrap();
    let mut worst: f64 = 0.0;
    let mut edges = 0;
    for seed in 0..12 {
        let mut chance = Chance::new(seed);
        let mut expected = Picture::new(WIDTH, HEIGHT, CLEAR);
        canvas.reset();
        for n in 0..5 {
            let (x, y) = (chance.between(-10.0, 150.0), chance.between(-10.0, 110.0));
            let (width, height) = (chance.between(0.5, 80.0), chance.between(0.5, 60.0));
            let (angle, color) = (chance.between(-3.0, 3.0), chance.color());
            let (shape, mut box2) = match (seed + n) % 4 {
                0 => (Shape::rectangle(x, y, width, height), Box2::rectangle(x, y, width, height, 0.0)),
                1 => {
                    let radius = chance.between(0.0, width.min(height) / 2.0);
                    let shape = Shape::rectangle(x, y, width, height).rounded(radius);
                    (shape, Box2::rectangle(x, y, width, height, radius))
                }
                2 => {
                    let radius = width / 2.0;
                    (Shape::circle(x, y, radius), Box2::rectangle(x - radius, y - radius, width, width, radius))
                }
                _ => {
                    let (to, thick) = ([x + width, y - height], chance.between(1.0, 9.0));
                    (Shape::line([x, y], to, thick), Box2::line([x, y], to, thick))
                }
            };
            let mut shape = shape;
            if n % 2 == 1 {
                shape = shape.turned(angle);
                box2 = box2.turned(angle);
            }
            let outline = chance.between(1.0, 6.0);
            if n >= 3 {
                shape = shape.outlined(outline);
            }
            let outline = (n >= 3).then_some(outline);
            let other = if n == 2 { chance.color() } else { color };
            canvas.shape(&shape, Fill::vertical(color, other)).unwrap();
            edges += expected.blend(|at| {
                let covered = (0.5 - box2.distance(at, outline)).clamp(0.0, 1.0);
                let down = box2.down(at);
                let mixed = std::array::from_fn(|channel| {
                    let (top, bottom) = (premultiplied(color)[channel], premultiplied(other)[channel]);
                    (top + (bottom - top) * down) * covered
                });
                (covered > 0.0).then_some(mixed)
            });
        }
        assert_eq!(canvas.draws(), 1);
        worst = worst.max(expected.greatest_difference(&draw(&model, &device, &canvas)));
    }
    println!("shapes differ by at most {worst:.2} of 255, in {edges} pixels on edges and inside");
    assert!(edges > 40_000, "{edges}");
    assert!(worst <= 2.0 * LAYER, "{worst}");
}

/// Red, green, blue times alpha, and alpha: 0 to 1.
fn premultiplied(color: [u8; 4]) -> [f64; 4] {
    let [red, green, blue, alpha] = color.map(|channel| f64::from(channel) / 255.0);
    [red * alpha, green * alpha, blue * alpha, alpha]
}

/// One circle, pixel by pixel, in opaque white on black: within 1/255 of 0.5 minus the distance.
#[test]
fn a_circle_is_exact_to_a_255th() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let mut canvas = Canvas::new(&device, "circle", WIDTH, HEIGHT).unwrap();
    canvas.shape(&Shape::rectangle(-5.0, -5.0, 200.0, 200.0), [0, 0, 0, 255]).unwrap();
    canvas.shape(&Shape::circle(70.25, 61.5, 47.8), [255; 4]).unwrap();
    let mut partly = 0;
    for (n, pixel) in draw(&model, &device, &canvas).iter().enumerate() {
        let (x, y) = ((n as u32 % WIDTH) as f64 + 0.5, (n as u32 / WIDTH) as f64 + 0.5);
        let covered = (0.5 - (f64::hypot(x - 70.25, y - 61.5) - f64::from(47.8f32))).clamp(0.0, 1.0);
        partly += usize::from(covered > 0.0 && covered < 1.0);
        assert!((f64::from(pixel[0]) - 255.0 * covered).abs() <= 1.0, "({x}, {y}) is {pixel:?}: {covered} covered");
    }
    // About 2 pi r / 0.8 pixels are on the edge.
    assert!(partly > 250, "{partly}");
}

/// A texture whose colours differ from neighbour to neighbour.
fn texture(device: &Device<'_, Model>, width: u32, height: u32) -> (Texture, Vec<[u8; 4]>) {
    let texel = |n: u32| {
        let (x, y) = (n % width, n / width);
        [
            (x * 37 + y * 11) as u8,
            (x * 5 + y * 83) as u8,
            (x * 129 + y * 61) as u8,
            (128 + (x * 17 + y * 20) % 128) as u8,
        ]
    };
    let texels: Vec<[u8; 4]> = (0..width * height).map(texel).collect();
    let descriptor = TextureDescriptor::new("pattern", TextureType::Rgba8888, width, height);
    (Texture::from_pixels(device, &descriptor, texels.as_flattened()).unwrap(), texels)
}

/// An image at pseudorandom sizes and angles (seed 3), with alpha and a tint, partly beyond the edges.
#[test]
fn images_are_sampled_where_they_are() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let (image, texels) = texture(&device, 24, 18);
    let mut canvas = Canvas::new(&device, "images", WIDTH, HEIGHT).unwrap();
    let mut chance = Chance::new(3);
    let mut worst: f64 = 0.0;
    for n in 0..12 {
        let (x, y) = (chance.between(-30.0, 120.0), chance.between(-30.0, 90.0));
        let (width, height) = (chance.between(20.0, 120.0), chance.between(15.0, 90.0));
        let (angle, tint) = (if n % 3 == 0 { 0.0 } else { chance.between(-3.0, 3.0) }, chance.color());
        canvas.reset();
        canvas.image(&image, &Placement::at(x, y, width, height).turned(angle), tint).unwrap();
        let box2 = Box2::rectangle(x, y, width, height, 0.0).turned(angle);
        let mut expected = Picture::new(WIDTH, HEIGHT, CLEAR);
        expected.blend(|at| {
            let distance = box2.distance(at, None);
            let [u, v] = box2.along(at);
            let found = reference::bilinear(&texels, (24, 18), u * 24.0, v * 18.0);
            let tinted: [f64; 4] = std::array::from_fn(|c| found[c] * f64::from(tint[c]) / 255.0);
            // Both results are accepted at the edge.
            if distance.abs() < 0.1 {
                return Some([f64::NAN; 4]);
            }
            (distance < 0.0).then(|| [tinted[0] * tinted[3], tinted[1] * tinted[3], tinted[2] * tinted[3], tinted[3]])
        });
        worst = worst.max(expected.greatest_difference(&draw(&model, &device, &canvas)));
    }
    println!("images differ by at most {worst:.2} of 255");
    assert!(worst > 0.0 && worst <= SAMPLED, "{worst}");
}

/// Corners of a nine-patch are drawn one texel per pixel; its middle is stretched.
#[test]
fn a_nine_patch_keeps_its_corners() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let (image, texels) = texture(&device, 16, 12);
    let mut canvas = Canvas::new(&device, "frame", WIDTH, HEIGHT).unwrap();
    let [x, y, width, height] = [12.0, 9.0, 101.0, 77.0];
    canvas.nine_patch(&image, [5.0, 4.0, 3.0, 2.0], [x, y, width, height], [255; 4]).unwrap();
    assert_eq!((canvas.draws(), canvas.triangles()), (1, 18));
    let along = |at: f64, length: f64, texels: f64, before: f64, behind: f64| {
        if at < before {
            at
        } else if at > length - behind {
            texels - (length - at)
        } else {
            before + (at - before) * (texels - before - behind) / (length - before - behind)
        }
    };
    let mut expected = Picture::new(WIDTH, HEIGHT, CLEAR);
    expected.blend(|[px, py]| {
        let (right, down) = (px - f64::from(x), py - f64::from(y));
        let (width, height) = (f64::from(width), f64::from(height));
        if right < 0.0 || down < 0.0 || right > width || down > height {
            return None;
        }
        let (s, t) = (along(right, width, 16.0, 5.0, 3.0), along(down, height, 12.0, 4.0, 2.0));
        let [red, green, blue, alpha] = reference::bilinear(&texels, (16, 12), s, t);
        Some([red * alpha, green * alpha, blue * alpha, alpha])
    });
    let worst = expected.greatest_difference(&draw(&model, &device, &canvas));
    assert!(worst <= SAMPLED, "{worst}");
}

/// A font with two letters of pseudorandom coverage (seed 8).
fn coverage_font() -> Font {
    let mut chance = Chance::new(8);
    let atlas: Vec<u8> = (0..32 * 16).map(|_| chance.between(0.0, 256.0) as u8).collect();
    let glyph = |character, left, width, bearing| Glyph {
        character,
        atlas_px: [left, 2],
        extent_px: [width, 11],
        bearing_px: [bearing, 9.0],
        advance_px: f32::from(width) + 1.5,
    };
    Font {
        kind: GlyphKind::Coverage,
        size_px: 12.0,
        ascent_px: 10.0,
        line_height_px: 14.0,
        atlas_width_px: 32,
        atlas_height_px: 16,
        atlas: atlas.leak(),
        glyphs: vec![glyph('A', 1, 8, 0.0), glyph('V', 12, 7, -1.0)].leak(),
        kerning: vec![KerningPair { left: 'A', right: 'V', offset_px: -2.0 }].leak(),
    }
}

/// Letters of coverage are copies of the atlas, one texel per pixel, positioned by pen, bearing and kerning.
#[test]
fn text_of_coverage_is_its_atlas() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let font = coverage_font();
    let atlas = FontAtlas::new(&device, "letters", &font).unwrap();
    let mut canvas = Canvas::new(&device, "text", WIDTH, HEIGHT).unwrap();
    let color = [250, 180, 40, 200];
    canvas.set_origin(15.0, -2.0);
    canvas.text(&atlas, 5.0, 42.0, &TextStyle::new(12.0, color), "AV\n?VA").unwrap();
    assert_eq!((canvas.draws(), canvas.triangles()), (1, 8));
    // Pen positions: A at 20; V after 9.5 - 2, and 1 to the left by its bearing: 26.5, which rounds to 27. In the next line V at 19, A after 8.5: 28.5,
    // rounded to 29.
    let letters = [(20, 31, 1, 8), (27, 31, 12, 7), (19, 45, 12, 7), (29, 45, 1, 8)];
    let mut expected = Picture::new(WIDTH, HEIGHT, CLEAR);
    for (left, top, texel, width) in letters {
        expected.blend(|[x, y]| {
            let (column, row) = ((x - 0.5) as i32 - left, (y - 0.5) as i32 - top);
            if !(0..width).contains(&column) || !(0..11).contains(&row) {
                return None;
            }
            let value = f64::from(font.atlas[((row + 2) * 32 + column + texel) as usize]) / 255.0;
            Some(premultiplied(color).map(|channel| channel * value))
        });
    }
    let worst = expected.greatest_difference(&draw(&model, &device, &canvas));
    assert!(worst <= 2.0 * LAYER, "{worst}");
}

/// A font whose only letter is a disc with a radius of 5 pixels.
fn disc_font() -> Font {
    let distances = Distances::of_disc(16, 5.0, 4.0);
    let glyph =
        Glyph { character: 'o', atlas_px: [0, 0], extent_px: [16, 16], bearing_px: [0.0, 16.0], advance_px: 16.0 };
    Font {
        kind: GlyphKind::Distance { spread_px: 4.0 },
        size_px: 16.0,
        ascent_px: 16.0,
        line_height_px: 16.0,
        atlas_width_px: 16,
        atlas_height_px: 16,
        atlas: distances.leak(),
        glyphs: vec![glyph].leak(),
        kerning: &[],
    }
}

/// A letter of a distance font, a disc, at half to seven times its size: the edge is as sharp as the disc's, with no more partly covered pixels. An atlas and
/// a TMU have distances in steps of a 127th of the spread, so the edge is where it should be to within one and a half such steps and a 50th of a pixel.
#[test]
fn text_of_distances_stays_sharp() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let atlas = FontAtlas::new(&device, "disc", &disc_font()).unwrap();
    for scale in [0.5f32, 1.0, 2.5, 4.0, 7.0] {
        let mut canvas = Canvas::new(&device, "text", WIDTH, HEIGHT).unwrap();
        canvas.shape(&Shape::rectangle(0.0, 0.0, 160.0, 120.0), [0, 0, 0, 255]).unwrap();
        canvas.text(&atlas, 3.0, 117.0, &TextStyle::new(16.0 * scale, [255; 4]), "o").unwrap();
        let center = [3.0 + 8.0 * f64::from(scale), 117.0 - 8.0 * f64::from(scale)];
        let (mut worst, mut partly, mut partly_expected) = (0.0f64, 0, 0);
        for (n, pixel) in draw(&model, &device, &canvas).iter().enumerate() {
            let (x, y) = ((n as u32 % WIDTH) as f64 + 0.5, (n as u32 / WIDTH) as f64 + 0.5);
            let distance = f64::hypot(x - center[0], y - center[1]) - 5.0 * f64::from(scale);
            let covered = (0.5 - distance).clamp(0.0, 1.0);
            partly_expected += usize::from(covered > 0.0 && covered < 1.0);
            partly += usize::from(pixel[0] > 0 && pixel[0] < 255);
            worst = worst.max((f64::from(pixel[0]) / 255.0 - covered).abs());
        }
        println!(
            "at {scale} times its size: {worst:.3} of the coverage, {partly} pixels between, {partly_expected} by formula"
        );
        let step = 4.0 / 127.0 * f64::from(scale);
        assert!(worst <= 0.02 + 1.5 * step, "{worst} at {scale}");
        assert!(partly > 0 && partly as f64 <= 1.2 * partly_expected as f64, "{partly} {partly_expected} at {scale}");
    }
}

/// Consecutive elements with the same pipeline and texture are batched into one draw.
#[test]
fn draws_change_with_kind_and_texture() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let used = device.pool().used();
    let (first, _) = texture(&device, 16, 16);
    let (second, _) = texture(&device, 16, 16);
    let mut canvas = Canvas::new(&device, "things", WIDTH, HEIGHT).unwrap();
    assert_eq!(canvas.draws(), 0);
    for n in 0..20u8 {
        canvas.shape(&Shape::circle(f32::from(n), 5.0, 3.0), [n; 4]).unwrap();
    }
    assert_eq!(canvas.vertex_bytes(), 20 * 6 * 4 * 13);
    // Elements outside of the canvas are not drawn.
    canvas.image(&second, &Placement::at(500.0, 0.0, 10.0, 10.0), [255; 4]).unwrap();
    assert_eq!((canvas.draws(), canvas.triangles()), (1, 40));
    canvas.image(&first, &Placement::at(0.0, 0.0, 10.0, 10.0), [255; 4]).unwrap();
    canvas.image(&first, &Placement::at(0.0, 20.0, 10.0, 10.0), [255; 4]).unwrap();
    canvas.image(&second, &Placement::at(0.0, 40.0, 10.0, 10.0), [255; 4]).unwrap();
    canvas.image(&first, &Placement::at(0.0, 60.0, 10.0, 10.0), [255; 4]).unwrap();
    assert_eq!(canvas.draws(), 4);
    drop((first, second));
    draw(&model, &device, &canvas);
    drop(canvas);
    device.driver().unwrap().wait_until_idle();
    assert_eq!(device.pool().used(), used);
}

/// NaN and infinity are errors with the value, and so is a smaller target; when memory runs out the canvas keeps its
/// contents.
#[test]
fn errors_have_names_and_lose_nothing() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let mut canvas = Canvas::new(&device, "panel", WIDTH, HEIGHT).unwrap();
    canvas.shape(&Shape::circle(50.0, 50.0, 30.0), [255, 0, 0, 255]).unwrap();
    let before = draw(&model, &device, &canvas);
    for shape in [
        Shape::circle(f32::NAN, 0.0, 5.0),
        Shape::circle(0.0, 0.0, f32::INFINITY),
        Shape::rectangle(0.0, 0.0, 10.0, 10.0).turned(f32::NAN),
        Shape::rectangle(0.0, 0.0, 10.0, 10.0).outlined(f32::NAN),
    ] {
        let error = canvas.shape(&shape, [255; 4]).unwrap_err();
        assert!(matches!(error, Error::NotFinite { label: "panel", .. }), "{error}");
    }
    // Both fail after their first polygon, which covers the canvas: the sum of the letters' widths exceeds the range of an f32, and so does the right border.
    let counts = |canvas: &Canvas| (canvas.draws(), canvas.triangles(), canvas.vertex_bytes());
    let counted = counts(&canvas);
    let font = FontAtlas::new(&device, "font", &coverage_font()).unwrap();
    let (image, _) = texture(&device, 16, 16);
    let style = TextStyle::new(1e37, [255; 4]);
    let long = "AV".repeat(200);
    let error = canvas.text(&font, 0.0, 100.0, &style, &long).unwrap_err();
    assert!(matches!(error, Error::NotFinite { label: "panel", .. }), "{error}");
    assert_eq!(counts(&canvas), counted);
    canvas.text(&font, 0.0, 100.0, &style, &long[..1]).unwrap();
    assert!(counts(&canvas) > counted, "the first letter alone is drawn");
    canvas.reset();
    canvas.shape(&Shape::circle(50.0, 50.0, 30.0), [255, 0, 0, 255]).unwrap();
    let error = canvas.nine_patch(&image, [4.0; 4], [0.0, 0.0, f32::INFINITY, 50.0], [255; 4]).unwrap_err();
    assert!(matches!(error, Error::NotFinite { label: "panel", .. }), "{error}");
    assert_eq!(counts(&canvas), counted);
    let picture = target(&device);
    let mut allowed = 0;
    loop {
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&picture).clear(unorm(CLEAR))).unwrap();
        device.pool().refuse_after(allowed);
        let result = canvas.draw_to(&mut pass);
        device.pool().refuse_none();
        if result.is_ok() {
            break;
        }
        allowed += 1;
    }
    assert!(allowed > 0);
    assert!(draw(&model, &device, &canvas) == before);

    let large = Canvas::new(&device, "panel", WIDTH, HEIGHT + 9).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&picture).clear(unorm(CLEAR))).unwrap();
    let error = large.draw_to(&mut pass).unwrap_err();
    assert_eq!(error.to_string(), "panel: it is made for 160 x 129 pixels, and the target has 160 x 120");
}

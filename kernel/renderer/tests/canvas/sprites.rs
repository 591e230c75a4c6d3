//! Sprites, compared with a CPU sampler and with the canvas, which computes corners and texture coordinates on the CPU.

use renderer::canvas::{FontAtlas, TextStyle};
use renderer::sprites::nine_patch;
use renderer::{Blend, Canvas, Device, Error, PassDescriptor, Sprite, SpriteAtlas, Sprites, unorm};
use v3d_host::Model;
use v3d_sim::Config;

use super::reference::{self, Box2, Picture};
use super::{CLEAR, Chance, HEIGHT, LAYER, SAMPLED, WIDTH, coverage_font, disc_font, target, texture};

/// Draws sprites over the clear colour.
fn draw(model: &Model, device: &Device<'_, Model>, atlas: &SpriteAtlas, sprites: &[Sprite]) -> Vec<[u8; 4]> {
    super::drawn(model, device, |pass| {
        let batch = Sprites::new(device, "sprites", sprites.len(), Blend::ALPHA).unwrap();
        batch.draw_to(pass, atlas, sprites).unwrap();
    })
}

fn greatest_difference(a: &[[u8; 4]], b: &[[u8; 4]]) -> u8 {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

/// Twelve parts of an atlas in cells of 40 pixels, turned, scaled, mirrored and tinted (seeds 0 to 3), in one draw.
#[test]
fn sprites_are_sampled_where_they_are() {
    let model = Model::new(8 << 20, Config::default());
    let device = super::device(&model);
    let (image, texels) = texture(&device, 24, 18);
    let atlas = SpriteAtlas::of_texture(&image).unwrap();
    let mut worst: f64 = 0.0;
    for seed in 0..4 {
        let mut chance = Chance::new(seed);
        let mut expected = Picture::new(WIDTH, HEIGHT, CLEAR);
        let mut sprites = Vec::new();
        for n in 0..12 {
            let [left, top] = [chance.between(0.0, 12.0) as u16, chance.between(0.0, 8.0) as u16];
            let part = [left, top, 5 + chance.between(0.0, 7.0) as u16, 5 + chance.between(0.0, 5.0) as u16];
            let mirror = if n % 4 == 3 { -1.0 } else { 1.0 };
            let scale = [mirror * chance.between(1.0, 2.2), chance.between(1.0, 2.4)];
            let sprite = Sprite {
                center: [(20 + 40 * (n % 4)) as f32 + chance.between(-3.0, 3.0), (20 + 40 * (n / 4)) as f32],
                scale,
                rotation: if n % 3 == 0 { 0.0 } else { chance.between(-9.0, 9.0) },
                part,
                tint: chance.color(),
            };
            let [width, height] = [scale[0].abs() * f32::from(part[2]), scale[1] * f32::from(part[3])];
            let [x, y] = [sprite.center[0] - width / 2.0, sprite.center[1] - height / 2.0];
            let box2 = Box2::rectangle(x, y, width, height, 0.0).turned(sprite.rotation);
            expected.blend(|at| {
                let distance = box2.distance(at, None);
                // Both results are accepted at the edge.
                if distance.abs() < 0.1 {
                    return Some([f64::NAN; 4]);
                }
                let [along, down] = box2.along(at);
                let along = if mirror < 0.0 { 1.0 - along } else { along };
                let (s, t) = (along * f64::from(part[2]), down * f64::from(part[3]));
                let found = reference::bilinear(&texels, (24, 18), f64::from(part[0]) + s, f64::from(part[1]) + t);
                let [red, green, blue, alpha]: [f64; 4] =
                    std::array::from_fn(|c| found[c] * f64::from(sprite.tint[c]) / 255.0);
                (distance < 0.0).then_some([red * alpha, green * alpha, blue * alpha, alpha])
            });
            sprites.push(sprite);
        }
        worst = worst.max(expected.greatest_difference(&draw(&model, &device, &atlas, &sprites)));
    }
    println!("sprites differ by at most {worst:.2} of 255");
    assert!(worst > 0.0 && worst <= SAMPLED, "{worst}");
}

/// A nine-patch and text of both kinds of fonts are what a canvas draws.
#[test]
fn text_and_nine_patches_are_the_canvas() {
    let model = Model::new(8 << 20, Config::default());
    let device = super::device(&model);
    let (image, _) = texture(&device, 16, 12);
    let mut canvas = Canvas::new(&device, "canvas", WIDTH, HEIGHT).unwrap();
    canvas.nine_patch(&image, [5.0, 4.0, 3.0, 2.0], [12.0, 9.0, 101.0, 77.0], [200, 255, 90, 250]).unwrap();
    let tinted = |sprite| Sprite { tint: [200, 255, 90, 250], ..sprite };
    let sprites = nine_patch([0, 0, 16, 12], [5, 4, 3, 2], [12.0, 9.0, 101.0, 77.0]).map(tinted);
    let found = draw(&model, &device, &SpriteAtlas::of_texture(&image).unwrap(), &sprites);
    let difference = greatest_difference(&found, &super::draw(&model, &device, &canvas));
    assert!(f64::from(difference) <= 2.0 * LAYER, "nine-patch: {difference}");

    for (font, size_px, text) in [(coverage_font(), 12.0, "AV\n?VA"), (disc_font(), 41.0, "o\no")] {
        let atlas = FontAtlas::new(&device, "letters", &font).unwrap();
        let style = TextStyle::new(size_px, [250, 180, 40, 200]).centered();
        let mut canvas = Canvas::new(&device, "canvas", WIDTH, HEIGHT).unwrap();
        canvas.text(&atlas, 70.0, 52.0, &style, text).unwrap();
        let batch = Sprites::new(&device, "text", 1, Blend::ALPHA).unwrap();
        let mut sprites = Vec::new();
        batch.append_text(&mut sprites, &atlas, [70.0, 52.0], &style, text).unwrap();
        let found = draw(&model, &device, &SpriteAtlas::of_font(&atlas).unwrap(), &sprites);
        let expected = super::draw(&model, &device, &canvas);
        let drawn = expected.iter().filter(|pixel| **pixel != CLEAR).count();
        assert!(drawn > 200, "only {drawn} pixels of text");
        let difference = greatest_difference(&found, &expected);
        assert!(f64::from(difference) <= 2.0 * LAYER, "{text:?}: {difference}");
    }
}

/// Ten thousand sprites are one draw; what is no number is an error, and draws nothing.
#[test]
fn ten_thousand_sprites_are_one_draw() {
    let model = Model::new(8 << 20, Config::default());
    let device = super::device(&model);
    let (image, texels) = texture(&device, 16, 12);
    let atlas = SpriteAtlas::of_texture(&image).unwrap();
    // One texel for each pixel, row by row.
    let at = |n: u32| Sprite::at([3, 2, 1, 1], [(n % WIDTH) as f32, (n / WIDTH % HEIGHT) as f32, 1.0, 1.0]);
    let sprites: Vec<_> = (0..10_000).map(at).collect();
    let found = draw(&model, &device, &atlas, &sprites);
    let [red, green, blue, alpha] = texels[2 * 16 + 3].map(|channel| f64::from(channel) / 255.0);
    for (n, pixel) in (0..).zip(&found) {
        let mut expected = Picture::new(1, 1, CLEAR);
        if n < 10_000 {
            expected.blend(|_| Some([red * alpha, green * alpha, blue * alpha, alpha]));
        }
        let difference = expected.greatest_difference(&[*pixel]);
        assert!(difference <= LAYER, "pixel {n} is {pixel:?}");
    }

    let batch = Sprites::new(&device, "sprites", 4, Blend::ALPHA).unwrap();
    let target = target(&device);
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    let wrong = [at(0), Sprite { rotation: f32::NEG_INFINITY, ..at(1) }];
    let error = batch.draw_to(&mut pass, &atlas, &wrong).unwrap_err();
    assert_eq!(error, Error::NotFinite { label: "sprites", value: f32::NEG_INFINITY });
    batch.draw_to(&mut pass, &atlas, &[]).unwrap();
    // More than one record draws.
    batch.draw_to(&mut pass, &atlas, &sprites[..6]).unwrap();
}

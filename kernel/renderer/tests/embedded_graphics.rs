//! Drawings of embedded-graphics on the V3D: every pixel is as in embedded-graphics' own framebuffer.

#[path = "embedded_graphics/drawings.rs"]
mod drawings;
#[path = "embedded_graphics/random.rs"]
mod random;

use core::convert::Infallible;

use drawings::{HEIGHT, WIDTH};
use embedded_graphics::framebuffer::{Framebuffer, buffer_size};
use embedded_graphics::image::GetPixel;
use embedded_graphics::pixelcolor::raw::LittleEndian;
use embedded_graphics::pixelcolor::{BinaryColor, Gray8, Rgb565, Rgb888};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{Circle, Line, PrimitiveStyle, Rectangle};
use random::Chance;
use renderer::{Device, DrawList, Error, Format, PassDescriptor, Target, TargetDescriptor};
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;

/// The clear colour on both sides: one that all colour types have.
const CLEAR: Rgb888 = Rgb888::BLACK;

/// A colour type, and embedded-graphics' framebuffer for it.
trait Depth: PixelColor + From<Rgb888> + From<Gray8> + From<BinaryColor> + Into<Rgb888> {
    type Buffer: DrawTarget<Color = Self, Error = Infallible> + GetPixel<Color = Self>;
    const NAME: &'static str;

    /// All black.
    fn buffer() -> Box<Self::Buffer>;
}

macro_rules! depth {
    ($color:ident) => {
        impl Depth for $color {
            type Buffer = Framebuffer<
                $color,
                <$color as PixelColor>::Raw,
                LittleEndian,
                { WIDTH as usize },
                { HEIGHT as usize },
                { buffer_size::<$color>(WIDTH as usize, HEIGHT as usize) },
            >;
            const NAME: &'static str = stringify!($color);

            fn buffer() -> Box<Self::Buffer> {
                Box::new(Framebuffer::new())
            }
        }
    };
}

depth!(Rgb888);
depth!(Rgb565);
depth!(Gray8);

fn device(model: &Model) -> Device<'_, Model> {
    model.device().unwrap()
}

fn target(device: &Device<'_, Model>, format: Format) -> Target {
    let (width_px, height_px) = (WIDTH, HEIGHT);
    let descriptor = TargetDescriptor { label: "picture", width_px, height_px, format, tiling: Tiling::Raster };
    Target::new(device, &descriptor).unwrap()
}

/// Draws the list and reads the picture's bytes back.
fn picture<C>(model: &Model, device: &Device<'_, Model>, target: &Target, list: &mut DrawList<C>) -> Vec<u8> {
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(target).clear([0.0, 0.0, 0.0, 1.0])).unwrap();
    list.draw_to(&mut pass).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut bytes = vec![0; (target.format().bits() / 8 * WIDTH * HEIGHT) as usize];
    target.read(device, &mut bytes).unwrap();
    bytes
}

/// The first pixel that differs from the framebuffer's, if there is one.
fn difference<C: Depth>(bytes: &[u8], buffer: &C::Buffer) -> Option<String> {
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    pixels.zip(bytes.as_chunks().0).find_map(|((x, y), found)| {
        let expected: Rgb888 = buffer.pixel(Point::new(x as i32, y as i32))?.into();
        let expected = [expected.r(), expected.g(), expected.b(), 255];
        (*found != expected).then(|| format!("({x}, {y}) is {found:?} and should be {expected:?}"))
    })
}

/// All drawings, then random drawings (seeds 0 to 11), for one colour type: their number, and how many were equal in every pixel.
fn identical<C: Depth>() -> (usize, usize) {
    let model = Model::new(16 << 20, Config::default());
    let device = device(&model);
    let target = target(&device, Format::Rgba8888);
    let mut list = DrawList::<C>::new(&device, "drawing", WIDTH, HEIGHT).unwrap();
    let (mut drawings, mut identical, mut empty) = (0, 0, 0);
    let mut compare = |name: &str, list: &mut DrawList<C>, buffer: &C::Buffer| {
        let bytes = picture(&model, &device, &target, list);
        drawings += 1;
        empty += usize::from(bytes.as_chunks().0.iter().all(|pixel: &[u8; 4]| *pixel == [0, 0, 0, 255]));
        match difference::<C>(&bytes, buffer) {
            None => identical += 1,
            Some(difference) => eprintln!("{name}, {}: {difference}", C::NAME),
        }
    };
    let on_list = drawings::all::<DrawList<C>, C>();
    for ((name, draw), (_, draw_by_cpu)) in on_list.into_iter().zip(drawings::all::<C::Buffer, C>()) {
        let mut buffer = C::buffer();
        let Ok(()) = buffer.clear(CLEAR.into());
        let Ok(()) = draw_by_cpu(&mut buffer);
        list.reset();
        draw(&mut list).unwrap();
        compare(name, &mut list, &buffer);
    }
    for seed in 0..12 {
        let mut buffer = C::buffer();
        list.reset();
        let (mut chance, mut same_chance) = (Chance::new(seed), Chance::new(seed));
        for _ in 0..40 {
            let Ok(()) = random::one(&mut *buffer, &mut chance, 60);
            random::one(&mut list, &mut same_chance, 60).unwrap();
        }
        compare(&format!("by chance, seed {seed}"), &mut list, &buffer);
    }
    assert_eq!(empty, 1, "only one drawing draws nothing");
    println!("{}: {identical} of {drawings} drawings identical", C::NAME);
    (drawings, identical)
}

#[test]
fn all_drawings_are_identical_for_rgb888() {
    let (drawings, identical) = identical::<Rgb888>();
    assert_eq!(identical, drawings);
}

#[test]
fn all_drawings_are_identical_for_rgb565() {
    let (drawings, identical) = identical::<Rgb565>();
    assert_eq!(identical, drawings);
}

#[test]
fn all_drawings_are_identical_for_gray8() {
    let (drawings, identical) = identical::<Gray8>();
    assert_eq!(identical, drawings);
}

/// 10,000 random elements (seed 99) in one picture, drawn twice from one list.
#[test]
fn ten_thousand_primitives_at_once() {
    let model = Model::new(32 << 20, Config::default());
    let device = device(&model);
    let target = target(&device, Format::Rgba8888);
    let mut list = DrawList::<Rgb888>::new(&device, "primitives", WIDTH, HEIGHT).unwrap();
    let mut buffer = Rgb888::buffer();
    let (mut chance, mut same_chance) = (Chance::new(99), Chance::new(99));
    for _ in 0..10_000 {
        let Ok(()) = random::one(&mut *buffer, &mut chance, 12);
        random::one(&mut list, &mut same_chance, 12).unwrap();
    }
    let (rectangles, points) = (list.rectangles(), list.points());
    println!("{rectangles} rectangles, {points} points, {} images, {} draws", list.images(), list.draws());
    for _ in 0..2 {
        assert_eq!(difference::<Rgb888>(&picture(&model, &device, &target, &mut list), &buffer), None);
    }
}

/// 10,000 lines of five pixels' width (seed 3) are drawn as millions of single pixels: they fit a heap of 64 MiB and a frame of the same size.
#[test]
fn ten_thousand_wide_lines_have_room() {
    let model = Model::new(72 << 20, Config::default());
    let device = device(&model);
    let target = target(&device, Format::Rgba8888);
    let mut list = DrawList::<Rgb888>::new(&device, "lines", WIDTH, HEIGHT).unwrap();
    let mut chance = Chance::new(3);
    for _ in 0..10_000 {
        let [x, y] = [chance.below(WIDTH - 64), chance.below(HEIGHT - 64)].map(|at| at as i32);
        let end = Point::new(x + 16 + chance.below(48) as i32, y + 16 + chance.below(48) as i32);
        let style = PrimitiveStyle::with_stroke(Rgb888::new(chance.below(256) as u8, 90, 200), 5);
        Line::new(Point::new(x, y), end).into_styled(style).draw(&mut list).unwrap();
    }
    assert!(list.points() > 1_000_000, "{} points", list.points());
    assert!(8 * list.points() + 12 * list.rectangles() < 48 << 20);
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0, 0.0, 0.0, 1.0])).unwrap();
    list.draw_to(&mut pass).unwrap();
    println!("{} points, {} rectangles, {} draws", list.points(), list.rectangles(), list.draws());
}

/// In a target of 16 bits per pixel, 16-bit colours are exact.
#[test]
fn rgb565_is_exact_on_a_target_of_rgb565() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device, Format::Rgb565);
    let mut list = DrawList::<Rgb565>::new(&device, "all colours", WIDTH, HEIGHT).unwrap();
    let mut seen = 0;
    // 65,536 colours fill three and a half pictures.
    for part in 0..4u32 {
        let of = |n: u32| (part * WIDTH * HEIGHT + n) as u16;
        list.reset();
        let color = |n| Rgb565::from(embedded_graphics::pixelcolor::raw::RawU16::new(of(n)));
        let pixel = |n: u32| Pixel(Point::new((n % WIDTH) as i32, (n / WIDTH) as i32), color(n));
        // One half as rectangles, the other as an image.
        list.draw_iter((0..WIDTH * 60).map(pixel)).unwrap();
        let below = Rectangle::new(Point::new(0, 60), Size::new(WIDTH, 60));
        list.fill_contiguous(&below, (WIDTH * 60..WIDTH * HEIGHT).map(color)).unwrap();
        let bytes = picture(&model, &device, &target, &mut list);
        for (n, found) in (0..WIDTH * HEIGHT).zip(bytes.as_chunks().0) {
            assert_eq!(u16::from_le_bytes(*found), of(n), "pixel {n} of picture {part}");
            seen += 1;
        }
    }
    assert_eq!(seen, 4 * WIDTH * HEIGHT);
}

/// When memory runs out, the error has the list's label, and the list is unchanged: with more memory it is drawn.
#[test]
fn a_list_outlives_its_errors() {
    let model = Model::new(16 << 20, Config::default());
    let device = device(&model);
    let target = target(&device, Format::Rgba8888);
    let used = device.pool().used();
    let mut list = DrawList::<Rgb888>::new(&device, "panel", WIDTH, HEIGHT).unwrap();
    let mut buffer = Rgb888::buffer();
    let (mut chance, mut same_chance) = (Chance::new(5), Chance::new(5));
    for _ in 0..300 {
        let Ok(()) = random::one(&mut *buffer, &mut chance, 40);
        random::one(&mut list, &mut same_chance, 40).unwrap();
    }
    let (mut failures, mut allowed) = (0, 0);
    loop {
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0, 0.0, 0.0, 1.0])).unwrap();
        device.pool().refuse_after(allowed);
        let result = list.draw_to(&mut pass);
        device.pool().refuse_none();
        match result {
            Ok(()) => break,
            Err(error) => assert!(matches!(error, Error::Driver(_)), "{error}"),
        }
        failures += 1;
        allowed += 1;
    }
    assert!(failures > 3, "{failures}");
    assert_eq!(difference::<Rgb888>(&picture(&model, &device, &target, &mut list), &buffer), None);
    drop(list);
    assert_eq!(device.pool().used(), used);

    let mut large = DrawList::<Rgb888>::new(&device, "panel", WIDTH + 1, HEIGHT).unwrap();
    Circle::new(Point::zero(), 10).into_styled(PrimitiveStyle::with_fill(Rgb888::RED)).draw(&mut large).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0, 0.0, 0.0, 1.0])).unwrap();
    let error = large.draw_to(&mut pass).unwrap_err();
    assert_eq!(error.to_string(), "panel: it is made for 161 x 120 pixels, and the target has 160 x 120");
}

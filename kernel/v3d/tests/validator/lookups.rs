//! Textures: memory that a lookup reads beyond what its first two parameters describe.
//!
//! Each case is shown to be a violation: the model, whose memory contains only the job's, reports the access.

use super::scene::{NOP, Scene, add, load, word};
use v3d::hw::control_list::Threading;
use v3d::hw::qpu::{AddOp, Alu, Mux, Signal};
use v3d::validator::Span;

/// Write addresses of TMU 0.
const S: u64 = 56;
const T: u64 = 57;
const R: u64 = 58;
const B: u64 = 59;

const CLAMP_NEAREST: u32 = 1 << 7 | 1 << 4 | 1 << 2 | 1;

/// Parameter 1, from the guide's table [AG p.41].
fn size(width: u32, height: u32) -> u32 {
    (height & 2047) << 20 | (width & 2047) << 8 | CLAMP_NEAREST
}

/// The highest bit of the type, in parameter 1: with type 0 that is RGBA32R.
const RASTER: u32 = 1 << 31;
/// Bit 9 of parameter 0.
const CUBE: u32 = 1 << 9;

/// A lookup with these coordinates, in order, and a load of its result.
fn lookup(coordinates: &[(u64, f32)]) -> Vec<u64> {
    let mut words: Vec<u64> = coordinates.iter().map(|&(address, value)| load(address, value.to_bits())).collect();
    words.push(word(Alu { sig: Signal::LoadTmu0, ..Alu::NOP }));
    words
}

/// The validator's verdict on a lookup, and the model's reports.
fn check(scene: &Scene, coordinates: &[(u64, f32)], uniforms: &[u32]) -> (Result<(), String>, Vec<String>) {
    scene.set_fragment(Threading::Single, &lookup(coordinates), uniforms);
    let answer = scene.check().map_err(|refusal| refusal.to_string());
    (answer, scene.run().iter().map(ToString::to_string).collect())
}

/// The lookup is rejected for this reason; if it were not, memory of others would be read, or the model reports a violation.
fn is_refused(scene: &Scene, coordinates: &[(u64, f32)], uniforms: &[u32], why: &str, fault: &str) {
    let (answer, faults) = check(scene, coordinates, uniforms);
    let refusal = answer.expect_err(why);
    assert!(refusal.contains(why), "{refusal} does not say \"{why}\"");
    assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?} does not have \"{fault}\"");
}

const OUTSIDE: &str = "outside of memory";

#[test]
fn a_texture_within_memory_passes() {
    let scene = Scene::new();
    let (st, end) = ([(T, 0.99), (S, 0.99)], scene.end().0);
    assert_eq!(check(&scene, &st, &[end - 4096, size(32, 32)]), (Ok(()), vec![]));
    is_refused(&scene, &st, &[end - 4096, size(33, 32)], "may not read", OUTSIDE);
    assert_eq!(check(&scene, &st, &[end - 65536, size(128, 128) | RASTER]), (Ok(()), vec![]));
}

#[test]
fn rows_of_raster_textures_are_padded_to_a_power_of_two() {
    let scene = Scene::new();
    let uniforms = [scene.end().0 - 17 * 4096, size(129, 128) | RASTER];
    is_refused(&scene, &[(T, 0.999), (S, 0.999)], &uniforms, "HW-2898", "HW-2898");
}

/// Rows of RGBA32R are at least four texels apart [piegpu]: the last texel of a texture of width 2 and height 32 is in byte 512 and not 256.
#[test]
fn narrow_raster_textures_have_rows_of_four_texels() {
    let scene = Scene::new();
    let end = scene.end().0;
    let last = [(T, 0.999), (S, 0.999)];
    // The base is a multiple of 4096.
    for (width, height, pages) in [(1, 256, 1), (2, 256, 1), (4, 256, 1), (8, 256, 2)] {
        let within = [end - pages * 4096, size(width, height) | RASTER];
        assert_eq!(check(&scene, &last, &within), (Ok(()), vec![]), "width {width}");
        let beyond = [end - pages * 4096, size(width, height + 1) | RASTER];
        is_refused(&scene, &last, &beyond, "may not read", OUTSIDE);
    }
}

/// Secret memory after a texture: its words would appear in the picture.
#[test]
fn nothing_is_drawn_of_what_is_behind_a_padded_texture() {
    let mut scene = Scene::new();
    let secret = scene.data() + 17 * 4096;
    scene.forbid(Span { address: secret, bytes: 65536 });
    let store_r4 = word(Alu { raddr_b: 39, ..add(AddOp::Or, 46, [Mux::R4, Mux::R4]) });
    let mut program = lookup(&[(T, 0.999), (S, 0.999)]);
    program.extend([NOP, store_r4]);
    scene.set_fragment(Threading::Single, &program, &[scene.data().0, size(129, 128) | RASTER]);
    assert!(scene.check().unwrap_err().to_string().contains("HW-2898"));
    let faults = scene.run();
    assert!(faults.iter().any(|fault| fault.to_string().contains("HW-2898")), "{faults:?}");
}

#[test]
fn a_coordinate_is_written_once() {
    let scene = Scene::new();
    let uniforms = [scene.end().0 - 4096, size(32, 32), size(0, 0)];
    is_refused(&scene, &[(T, 0.99), (T, 0.99), (S, 0.99)], &uniforms, "twice for one lookup", OUTSIDE);
}

#[test]
fn child_images_lie_within_their_images() {
    let scene = Scene::new();
    let end = scene.end().0;
    let (all, part, offset) = (2 << 30 | 32 << 12 | 32, 2 << 30 | 2047 << 12 | 2047, 3 << 30);
    let strb = [(T, 0.99), (R, 0.0), (B, 0.0), (S, 0.99)];
    let uniforms = |dimensions, offsets| [end - 4096, size(32, 32), dimensions, offsets];
    assert_eq!(check(&scene, &strb, &uniforms(all, offset)), (Ok(()), vec![]));
    // The lower right quarter, and one with an additional texel.
    let quarter = |size: u32| 2 << 30 | 16 << 12 | size;
    assert_eq!(check(&scene, &strb, &uniforms(quarter(16), offset | 16 << 12 | 16)), (Ok(()), vec![]));
    let (answer, _) = check(&scene, &strb, &uniforms(quarter(17), offset | 16 << 12 | 16));
    assert!(answer.is_err());
    // In the first column: in others, T-format's order leads back into the image.
    let strb = [(T, 0.99), (R, 0.0), (B, 0.0), (S, 0.0)];
    is_refused(&scene, &strb, &uniforms(part, offset), "outside of the image", OUTSIDE);
    is_refused(&scene, &strb, &uniforms(all, offset | 2000 << 12), "outside of the image", OUTSIDE);
    is_refused(&scene, &strb, &uniforms(all, 0), "dimensions and offsets", "child image");
    is_refused(&scene, &strb, &uniforms(2 << 30, offset), "HW-2753", "HW-2753");
    is_refused(&scene, &strb, &uniforms(all, all), "one parameter of each kind", "child image");
}

#[test]
fn a_cube_map_has_one_stride() {
    let scene = Scene::new();
    let end = scene.end().0;
    let str = [(T, 0.0), (R, 0.0), (B, 0.0), (S, -1.0)];
    let uniforms = |two, three| [(end - 6 * 4096) | CUBE, size(32, 32), two, three];
    assert_eq!(check(&scene, &str, &uniforms(1 << 30 | 4096, 0)), (Ok(()), vec![]));
    // -z is the last face.
    let minus_z = [(T, 0.0), (R, -1.0), (B, 0.0), (S, 0.0)];
    assert_eq!(check(&scene, &minus_z, &uniforms(1 << 30 | 4096, 0)), (Ok(()), vec![]));
    is_refused(&scene, &minus_z, &uniforms((1 << 30) | (2 * 4096), 0), "may not read", OUTSIDE);
    is_refused(&scene, &str, &uniforms(1 << 30 | 4096, 1 << 30 | 1 << 20), "one parameter of each kind", OUTSIDE);
    is_refused(&scene, &str, &uniforms(0, 0), "has a stride", "cube map");
    let border = uniforms(1 << 30 | 4096, 0).map(|word| if word == size(32, 32) { word | 3 } else { word });
    is_refused(&scene, &str, &border, "no border", "border");
}

/// Undocumented types and filters.
#[test]
fn what_is_reserved_is_refused() {
    let scene = Scene::new();
    let data = scene.data().0;
    let st = [(T, 0.5), (S, 0.5)];
    is_refused(&scene, &st, &[data | 2 << 4, size(32, 32) | RASTER], "reserved", "reserved");
    is_refused(&scene, &st, &[data, size(32, 32) | 7 << 4], "reserved", "reserved");
    // S16 is type 11; bit 7 clear is the linear filter. Border is 3.
    is_refused(&scene, &st, &[data | 11 << 4, size(32, 32) & !(1 << 7)], "cannot be blended", "blended");
    is_refused(&scene, &st, &[data | 9 << 4, size(32, 32) | 3], "border colour", "border");
    let rgba64 = check(&scene, &st, &[data | 15 << 4, size(32, 32)]);
    assert!(rgba64.0.unwrap_err().contains("RGBA64"));
    assert!(check(&scene, &[(S, 0.5)], &[data]).0.unwrap_err().contains("by its address"));
}

/// A YUYV texture of one texel: its word contains two.
#[test]
fn texels_of_half_a_word_are_read_as_words() {
    let mut scene = Scene::new();
    scene.forbid(Span { address: scene.data() + 4096 + 14, bytes: 2 });
    // Type 17: 1 and the highest bit.
    let uniforms = [(scene.data().0 + 4096) | (1 << 4), size(8, 1) | RASTER];
    // Texel 6.
    is_refused(&scene, &[(T, 0.5), (S, 0.8)], &uniforms, "may not read", OUTSIDE);
}

/// How far apart rows of less than 16 bytes are was tried with 32-bit texels only [piegpu].
#[test]
fn narrow_textures_of_type_yuyv_are_refused() {
    let scene = Scene::new();
    let uniforms = [scene.data().0 | (1 << 4), size(4, 4) | RASTER];
    is_refused(&scene, &[(T, 0.5), (S, 0.5)], &uniforms, "known from 8 texels on", "known from 8 texels on");
}

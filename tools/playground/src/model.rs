//! Models that are dropped onto the page: glTF files with all data in them, and OBJ files.

use crate::assets::{Image, MOST_SIDE_PX};
use crate::mesh::Corner;
use renderer::glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Most triangles of a model. With more, a frame would take many seconds in a browser.
pub const MOST_TRIANGLES: usize = 100_000;
/// Corners that indices of 16 bits tell apart.
const MOST_CORNERS: usize = 1 << 16;
/// The greatest side of a model's bounding box; its middle is the origin.
const SIZE: f32 = 2.3;
/// The exponent from linear light to a display's values.
const GAMMA: f32 = 1.0 / 2.2;
/// The colour of models whose files name none.
const GRAY: Vec3 = Vec3::new(0.8, 0.8, 0.8);

/// A model, moved and scaled to where the camera looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its parts.
    pub parts: Vec<Part>,
}

/// Triangles of one material.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The corners.
    pub corners: Vec<Corner>,
    /// Three corners for each triangle.
    pub triangles: Vec<u16>,
    /// The surface's colour, in a display's values.
    pub color: Vec3,
    /// The picture of the surface.
    pub image: Option<Image>,
}

impl Model {
    /// Reads a file: glTF if it is a binary one or a text in JSON, else OBJ.
    ///
    /// # Errors
    /// When it is neither, is malformed, or has no triangles or more than [`MOST_TRIANGLES`].
    pub fn read(name: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let is_text = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let mut model = if bytes.starts_with(b"glTF") || is_text { gltf(name, bytes)? } else { obj(name, &bytes)? };
        model.place(name)?;
        Ok(model)
    }

    /// Moves the middle to the origin, and scales it to [`SIZE`].
    fn place(&mut self, name: &str) -> Result<(), String> {
        let corners = || self.parts.iter().flat_map(|part| &part.corners).map(|corner| corner.place);
        let low = corners().reduce(Vec3::min).ok_or_else(|| format!("{name}: it has no triangles"))?;
        let high = corners().reduce(Vec3::max).unwrap_or(low);
        let (middle, size) = (0.5 * low + 0.5 * high, (high - low).max_element());
        let scale = SIZE / size;
        if !(scale.is_finite() && scale > 0.0 && middle.is_finite()) {
            return Err(format!("{name}: its corners are all at one place, or too far away"));
        }
        for corner in self.parts.iter_mut().flat_map(|part| &mut part.corners) {
            corner.place = scale * (corner.place - middle);
        }
        Ok(())
    }
}

fn too_many(name: &str, triangles: usize) -> String {
    format!("{name}: it has {triangles} triangles, and the page draws at most {MOST_TRIANGLES}")
}

fn gltf(name: &str, bytes: Vec<u8>) -> Result<Model, String> {
    let model = asset_build::Model::from_bytes(name, bytes).map_err(|error| error.to_string())?;
    if model.triangles() > MOST_TRIANGLES {
        return Err(too_many(name, model.triangles()));
    }
    let parts = model.parts().map(|part| {
        let corner = |vertex: &asset_build::Vertex| {
            let uv = vertex.texture_coordinate.into();
            Corner { place: vertex.position.into(), normal: vertex.normal.into(), uv }
        };
        let [red, green, blue, _] = part.base_color;
        let light = Vec3::new(red, green, blue) + Vec3::from_array(part.emissive);
        Part {
            corners: part.vertices.iter().map(corner).collect(),
            triangles: part.indices.to_vec(),
            color: light.clamp(Vec3::ZERO, Vec3::ONE).powf(GAMMA),
            image: part.picture.map(reduced),
        }
    });
    Ok(Model { parts: parts.collect() })
}

/// A picture, halved until a texture of the page has room for it.
fn reduced(picture: &asset_build::Picture) -> Image {
    let mut image = Image { size_px: [picture.width_px, picture.height_px], rgba: picture.rgba.clone() };
    while image.size_px.iter().any(|&side| side > MOST_SIDE_PX) {
        let [width, height] = image.size_px;
        let half = image.size_px.map(|side| (side / 2).max(1));
        let mean = |n: u32, channel: u32| {
            let [left, top] = [n % half[0] * 2, n / half[0] * 2];
            let [right, bottom] = [(left + 1).min(width - 1), (top + 1).min(height - 1)];
            let texels = [(left, top), (right, top), (left, bottom), (right, bottom)];
            let at = |(x, y): (u32, u32)| u32::from(image.rgba[(4 * (y * width + x) + channel) as usize]);
            (texels.map(at).iter().sum::<u32>() / 4) as u8
        };
        let rgba = (0..half[0] * half[1]).flat_map(|n| [0, 1, 2, 3].map(|channel| mean(n, channel))).collect();
        image = Image { size_px: half, rgba };
    }
    image
}

/// Reads the triangles of an OBJ file: `v`, `vt`, `vn` and `f`. What else such files have, groups, lines, curves and materials of another file, is passed over.
fn obj(name: &str, bytes: &[u8]) -> Result<Model, String> {
    let text = String::from_utf8_lossy(bytes).replace("\\\r\n", " ").replace("\\\n", " ");
    let mut lists = Lists::default();
    let mut builder = Builder::default();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |reason: String| format!("{name}: line {number}: {reason}");
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("v") => lists.places.push(numbers(words, 3).map_err(wrong)?.into()),
            Some("vn") => lists.normals.push(numbers(words, 3).map_err(wrong)?.into()),
            Some("vt") => {
                let [s, t, _] = numbers(words, 1).map_err(wrong)?;
                // In these files, the second one grows upwards.
                lists.coordinates.push(Vec2::new(s, 1.0 - t));
            }
            Some("f") => {
                let corners = words.map(|word| lists.corner(word)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
                let [first, rest @ ..] = corners.as_slice() else { continue };
                rest.windows(2).for_each(|two| builder.push([*first, two[0], two[1]]));
            }
            _ => {}
        }
        if builder.triangles > MOST_TRIANGLES {
            return Err(format!("{name}: it has more than {MOST_TRIANGLES} triangles, which the page draws at most"));
        }
    }
    Ok(Model { parts: builder.parts })
}

/// Up to three numbers of a line, of which there must be so many; the others are 0.
fn numbers<'w>(words: impl Iterator<Item = &'w str>, least: usize) -> Result<[f32; 3], String> {
    let mut numbers = [0.0; 3];
    let mut found = 0;
    for (place, word) in numbers.iter_mut().zip(words) {
        let number = word.parse().ok().filter(|number: &f32| number.is_finite());
        *place = number.ok_or_else(|| format!("{word:?} is no number"))?;
        found += 1;
    }
    if found < least { Err(format!("it has {found} numbers instead of {least}")) } else { Ok(numbers) }
}

/// A corner as a face of an OBJ file names it: its place, its normal if there is one, its texture coordinates.
type ObjCorner = (Vec3, Option<Vec3>, Vec2);

/// What the faces of an OBJ file refer to.
#[derive(Debug, Default)]
struct Lists {
    places: Vec<Vec3>,
    coordinates: Vec<Vec2>,
    normals: Vec<Vec3>,
}

impl Lists {
    /// A corner by its numbers: `PLACE`, `PLACE/COORDINATES`, `PLACE//NORMAL` or `PLACE/COORDINATES/NORMAL`.
    fn corner(&self, word: &str) -> Result<ObjCorner, String> {
        let mut parts = word.split('/');
        let place = numbered(&self.places, parts.next(), word)?;
        let coordinate = numbered(&self.coordinates, parts.next(), word)?;
        let normal = numbered(&self.normals, parts.next(), word)?;
        let place = place.ok_or_else(|| format!("the corner {word:?} has no place"))?;
        Ok((place, normal, coordinate.unwrap_or_default()))
    }
}

/// An entry of a list by its number, from 1 on, or from -1 on backwards from the last one so far; none if no number stands there.
fn numbered<T: Copy>(list: &[T], number: Option<&str>, word: &str) -> Result<Option<T>, String> {
    let Some(text) = number.filter(|text| !text.is_empty()) else { return Ok(None) };
    let number: i64 = text.parse().map_err(|_| format!("{text:?} is no number of a corner"))?;
    let at = if number < 0 { number.saturating_add(list.len() as i64) } else { number - 1 };
    let found = usize::try_from(at).ok().and_then(|at| list.get(at));
    found.copied().map(Some).ok_or_else(|| format!("the corner {word:?} names something that is not there"))
}

/// Collects triangles in parts of as many corners as indices tell apart.
#[derive(Debug, Default)]
struct Builder {
    parts: Vec<Part>,
    known: HashMap<[u32; 8], u16>,
    triangles: usize,
}

impl Builder {
    fn push(&mut self, triangle: [ObjCorner; 3]) {
        self.triangles += 1;
        if self.parts.last().is_none_or(|part| part.corners.len() + 3 > MOST_CORNERS) {
            self.known.clear();
            self.parts.push(Part { corners: Vec::new(), triangles: Vec::new(), color: GRAY, image: None });
        }
        let Some(part) = self.parts.last_mut() else { return };
        let [a, b, c] = triangle.map(|(place, ..)| place);
        let flat = (b - a).cross(c - a).normalize_or(Vec3::Y);
        for (place, normal, uv) in triangle {
            let normal = normal.and_then(Vec3::try_normalize).unwrap_or(flat);
            let bits = [place.x, place.y, place.z, normal.x, normal.y, normal.z, uv.x, uv.y].map(f32::to_bits);
            let next = part.corners.len() as u16;
            let index = *self.known.entry(bits).or_insert(next);
            if index == next && part.corners.len() == usize::from(next) {
                part.corners.push(Corner { place, normal, uv });
            }
            part.triangles.push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles of a square with side 2 in the plane z = 1, the second one by indices from the end, with its own normals and coordinates.
    const SQUARE: &str = "# a square\nmtllib none.mtl\nv 0 0 1\nv 2 0 1\nv 2 2 1\nv 0 2 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 -3\n\
        f 1/1 2/2 3/3\nf -4/-4/-1 -2/-2/-1 -1/-1/-1\n";

    #[test]
    fn an_obj_file_is_moved_scaled_and_given_normals() {
        let model = Model::read("square.obj", SQUARE.as_bytes().to_vec()).expect("a model");
        let [part] = &model.parts[..] else { panic!("{model:?}") };
        let half = SIZE / 2.0;
        let corners = part.triangles.iter().map(|&at| part.corners[usize::from(at)]);
        let found: Vec<_> = corners.map(|Corner { place, normal, uv }| (place / half, normal, uv)).collect();
        let corner = |x: f32, y: f32, z: f32| (Vec3::new(x, y, 0.0), z * Vec3::Z, 0.5 + 0.5 * Vec2::new(x, -y));
        let expected = [
            corner(-1.0, -1.0, 1.0),
            corner(1.0, -1.0, 1.0),
            corner(1.0, 1.0, 1.0),
            corner(-1.0, -1.0, -1.0),
            corner(1.0, 1.0, -1.0),
            corner(-1.0, 1.0, -1.0),
        ];
        assert_eq!(found, expected);
    }

    /// A grid of more corners than 16 bits count becomes parts, with all of its triangles.
    #[test]
    fn a_long_file_becomes_several_parts() {
        const SIDE: usize = 200;
        let mut text = String::new();
        for y in 0..=SIDE {
            (0..=SIDE).for_each(|x| text += &format!("v {x} {y} {}\n", (x * y) % 7));
        }
        for y in 0..SIDE {
            for x in 1..=SIDE {
                let at = y * (SIDE + 1) + x;
                text += &format!("f {at} {} {} {}\n", at + 1, at + SIDE + 2, at + SIDE + 1);
            }
        }
        let model = Model::read("grid.obj", text.into_bytes()).expect("a model");
        assert!(model.parts.len() > 1 && model.parts.iter().all(|part| part.corners.len() <= MOST_CORNERS));
        let triangles: usize = model.parts.iter().map(|part| part.triangles.len() / 3).sum();
        assert_eq!(triangles, 2 * SIDE * SIDE);
        let are_inside = |part: &Part| part.triangles.iter().all(|&at| usize::from(at) < part.corners.len());
        assert!(model.parts.iter().all(are_inside));
    }

    #[test]
    fn files_that_are_no_models_are_refused_with_a_sentence() {
        for (name, bytes, expected) in [
            ("empty.obj", &b""[..], "no triangles"),
            ("text.obj", b"hello, this is no model\n", "no triangles"),
            ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "far.obj"),
            ("number.obj", b"v 0 x 0\n", "line 1: \"x\" is no number"),
            ("zero.obj", b"v 0 1 0\nf 0 1 1\n", "line 2"),
            ("few.obj", b"v 0 1\n", "2 numbers instead of 3"),
            ("point.obj", b"v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "at one place"),
            ("nan.obj", b"v nan 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n", "nan.obj"),
            ("short.glb", b"glTF", "header"),
            ("no.gltf", b"{\"asset\":{\"version\":\"2.0\"}}", "no triangles"),
            ("beside.gltf", br#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"a.bin"}]}"#, "a.bin"),
        ] {
            let error = Model::read(name, bytes.to_vec()).expect_err(name);
            assert!(error.contains(expected) && error.starts_with(name), "{name}: {error}");
        }
    }

    /// Whatever stands in a file, there is a model or a sentence.
    #[test]
    fn changed_files_do_no_harm() {
        let lighthouse = include_bytes!("../../../kernel/assets/lighthouse.glb");
        arbtest::arbtest(|bytes| {
            let mut file = if bytes.arbitrary()? { SQUARE.as_bytes().to_vec() } else { lighthouse.to_vec() };
            // The text of a binary file is at its beginning.
            let most = file.len().min(8192);
            for _ in 0..bytes.int_in_range(1..=8)? {
                let at = bytes.choose_index(most)?;
                file[at] = bytes.arbitrary()?;
            }
            if let Err(error) = Model::read("changed", file) {
                assert!(error.starts_with("changed: "), "{error}");
            }
            Ok(())
        })
        .budget_ms(1000);
    }

    #[test]
    fn the_lighthouse_is_drawn_with_its_materials() {
        let lighthouse = include_bytes!("../../../kernel/assets/lighthouse.glb");
        let model = Model::read("lighthouse.glb", lighthouse.to_vec()).expect("a model");
        let triangles: usize = model.parts.iter().map(|part| part.triangles.len() / 3).sum();
        assert!((6000..7000).contains(&triangles), "{triangles}");
        assert_eq!(model.parts.len(), 8);
        let places = model.parts.iter().flat_map(|part| &part.corners).map(|corner| corner.place);
        let most = places.map(|place| place.abs().max_element()).fold(0.0, f32::max);
        assert!((most - SIZE / 2.0).abs() < 1e-4, "{most}");
    }
}

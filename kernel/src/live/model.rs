//! Models: binary glTF files as corners of triangles, in one piece
//!
//! All triangles of the scene become corners in one space: the transforms of nodes are applied, and the whole is moved and scaled into the sphere of radius 1
//! around the origin, which is what the camera of the scene `live` looks at. A corner has a normal, of its triangle if the file has none, texture coordinates
//! and a colour: the vertex's times that of its material. The picture is the first material's that has one.
//!
//! Buffers are the file's own: glTF files with other files beside them, compressed meshes and JPEG pictures are refused by name. Skins and morph targets are
//! not applied. No number in the file is trusted: each index and each range is checked, and sizes have limits.
//!
//! # Sources
//! glTF 2.0 Specification, 3 and 4.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::Cell;

use renderer::glam::{Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use serde_json::Value;

use super::picture::Picture;

/// Triangles of a model.
pub const MOST_TRIANGLES: usize = 1 << 16;
/// Bytes of a model's text, which takes up to sixty times as much memory when it is read.
const MOST_TEXT_BYTES: usize = 512 << 10;
/// Elements of an accessor.
const MOST_ELEMENTS: usize = 3 * MOST_TRIANGLES;
/// Primitives and elements of their accessors that are read, each once for each node that has its mesh.
const MOST_READ: usize = 1 << 22;
/// Nodes that are visited: a node may be a child of several, which multiplies them.
const MOST_NODES: usize = 1 << 14;
/// Depth of nodes within nodes.
const MOST_DEPTH: usize = 64;

/// A corner of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Its place, in the sphere of radius 1.
    pub place: Vec3,
    /// Its normal, of length 1.
    pub normal: Vec3,
    /// Its texture coordinates, from the picture's lower left corner on.
    pub uv: Vec2,
    /// Its colour.
    pub color: Vec4,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Three corners a triangle.
    pub corners: Vec<Corner>,
    /// What its textures show.
    pub picture: Option<Picture>,
}

impl Model {
    /// Reads a `.glb` file.
    ///
    /// # Errors
    /// When it is none, is damaged, too large, or needs what is not supported.
    pub fn read(file: &[u8]) -> Result<Self, String> {
        let (text, binary) = chunks(file)?;
        if text.len() > MOST_TEXT_BYTES {
            return Err(format!("the model's text has {} bytes, and at most {MOST_TEXT_BYTES} are read", text.len()));
        }
        let json: Value =
            serde_json::from_slice(text).map_err(|error| format!("the model's text is damaged: {error}"))?;
        if let Some(name) = items(&json, "extensionsRequired").first() {
            return Err(format!(
                "the model needs the extension {}, which is not supported",
                name.as_str().unwrap_or("?")
            ));
        }
        let mut reader =
            Reader { json: &json, binary, corners: Vec::new(), nodes: 0, read: Cell::new(0), picture: None };
        let scene = number(&json, "scene").unwrap_or(0);
        let scene = items(&json, "scenes").get(scene).ok_or("the model has no scene")?;
        for node in items(scene, "nodes") {
            reader.node(index(node)?, &Mat4::IDENTITY, 0)?;
        }
        let Reader { mut corners, picture, .. } = reader;
        if corners.is_empty() {
            return Err("the model has no triangles".to_string());
        }
        fit(&mut corners)?;
        let picture = picture.map(Picture::decode).transpose()?;
        Ok(Self { corners, picture })
    }
}

/// The two chunks of a binary file: its text, and its bytes.
fn chunks(file: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let word = |at: usize| {
        let bytes = file.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    };
    if !file.starts_with(b"glTF") {
        return Err("the file is no binary glTF model (.glb)".to_string());
    }
    if word(4) != Some(2) {
        return Err(format!("the model has version {} of glTF, not 2", word(4).unwrap_or(0)));
    }
    let chunk = |at: usize, kind: usize| {
        let (length, found) = (word(at)?, word(at + 4)?);
        if found != kind {
            return None;
        }
        Some((file.get(at + 8..(at + 8).checked_add(length)?)?, at + 8 + length))
    };
    const JSON: usize = 0x4e4f_534a;
    const BIN: usize = 0x004e_4942;
    let (text, end) = chunk(12, JSON).ok_or("the model's text is cut off")?;
    let binary = chunk(end.next_multiple_of(4), BIN).map_or(&[][..], |(binary, _)| binary);
    Ok((text, binary))
}

/// The elements of an array; none if there is no such array.
fn items<'j>(json: &'j Value, name: &str) -> &'j [Value] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

fn number(json: &Value, name: &str) -> Option<usize> {
    json[name].as_u64().and_then(|number| usize::try_from(number).ok())
}

fn index(value: &Value) -> Result<usize, String> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| "the model has an index that is none".into())
}

/// The numbers of an array, which has so many.
fn floats<const N: usize>(json: &Value, name: &str) -> Option<[f32; N]> {
    let values = json[name].as_array().filter(|values| values.len() == N)?;
    let mut floats = [0.0; N];
    for (float, value) in floats.iter_mut().zip(values) {
        *float = value.as_f64()? as f32;
    }
    Some(floats)
}

/// Reads a number of a component type from its bytes.
type ReadNumber = fn(&[u8]) -> f32;

/// The elements of an accessor, four numbers each: missing ones are 0, the last 1.
type Elements = Vec<[f32; 4]>;

struct Reader<'f> {
    json: &'f Value,
    binary: &'f [u8],
    corners: Vec<Corner>,
    nodes: usize,
    /// Primitives and elements so far.
    read: Cell<usize>,
    /// The file of the first picture.
    picture: Option<&'f [u8]>,
}

impl<'f> Reader<'f> {
    /// An object by its number.
    fn object(&self, kind: &str, index: usize) -> Result<&'f Value, String> {
        items(self.json, kind).get(index).ok_or_else(|| format!("the model has no number {index} of its {kind}"))
    }

    fn node(&mut self, index_of_node: usize, outer: &Mat4, depth: usize) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MOST_NODES || depth > MOST_DEPTH {
            return Err(format!(
                "the model has more than {MOST_NODES} nodes, or more than {MOST_DEPTH} within each other"
            ));
        }
        let node = self.object("nodes", index_of_node)?;
        let local = match floats::<16>(node, "matrix") {
            Some(matrix) => Mat4::from_cols_array(&matrix),
            None => Mat4::from_scale_rotation_translation(
                floats(node, "scale").map_or(Vec3::ONE, Vec3::from_array),
                floats(node, "rotation").map_or(Quat::IDENTITY, Quat::from_array),
                floats(node, "translation").map_or(Vec3::ZERO, Vec3::from_array),
            ),
        };
        let transform = *outer * local;
        if let Some(mesh) = number(node, "mesh") {
            for primitive in items(self.object("meshes", mesh)?, "primitives") {
                self.primitive(primitive, &transform)?;
            }
        }
        for child in items(node, "children") {
            self.node(index(child)?, &transform, depth + 1)?;
        }
        Ok(())
    }

    /// Counts what is read, so that a small file does not take for ever.
    fn count(&self, read: usize) -> Result<(), String> {
        self.read.set(self.read.get().saturating_add(read));
        if self.read.get() > MOST_READ {
            return Err(format!("the nodes of the model have more than {MOST_READ} attributes and indices"));
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &'f Value, transform: &Mat4) -> Result<(), String> {
        self.count(1)?;
        let attribute = |name: &str, fourth: f32| {
            number(&primitive["attributes"], name).map(|accessor| self.elements(accessor, fourth)).transpose()
        };
        let Some(places) = attribute("POSITION", 0.0)? else { return Ok(()) };
        let (normals, uvs) = (attribute("NORMAL", 0.0)?, attribute("TEXCOORD_0", 0.0)?);
        let colors = attribute("COLOR_0", 1.0)?;
        let order: Vec<usize> = match number(primitive, "indices") {
            Some(accessor) => self.elements(accessor, 0.0)?.iter().map(|element| element[0] as usize).collect(),
            None => (0..places.len()).collect(),
        };
        let triangles = triangles(number(primitive, "mode").unwrap_or(4), &order)?;
        if self.corners.len() / 3 + triangles.len() > MOST_TRIANGLES {
            return Err(format!("the model has more than {MOST_TRIANGLES} triangles"));
        }
        let tint = match number(primitive, "material") {
            Some(material) => self.material(material)?,
            None => Vec4::ONE,
        };
        let turned = Mat3::from_mat4(*transform);
        // A mirrored mesh has its triangles the other way round.
        let (is_mirrored, for_normals) = (turned.determinant() < 0.0, normal_matrix(&turned));
        for [a, b, c] in triangles {
            let order = if is_mirrored { [a, c, b] } else { [a, b, c] };
            let place = |vertex: usize| {
                let place = places.get(vertex).ok_or("the model has an index of a vertex that is not there")?;
                Ok::<_, String>(transform.transform_point3(Vec4::from_array(*place).truncate()))
            };
            let at = [place(order[0])?, place(order[1])?, place(order[2])?];
            let flat = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or(Vec3::Y);
            for (place, vertex) in at.into_iter().zip(order) {
                let of = |elements: &Option<Elements>| elements.as_ref().and_then(|all| all.get(vertex).copied());
                let normal = of(&normals)
                    .map(|normal| (for_normals * Vec4::from_array(normal).truncate()).normalize_or(flat))
                    .unwrap_or(flat);
                // In glTF, texture coordinates begin at the upper left.
                let uv = of(&uvs).map_or(Vec2::ZERO, |uv| Vec2::new(uv[0], 1.0 - uv[1]));
                let color = tint * of(&colors).map_or(Vec4::ONE, Vec4::from_array);
                self.corners.push(Corner { place, normal, uv, color });
            }
        }
        Ok(())
    }

    /// The colour of a material. Its picture becomes the model's if it is the first.
    fn material(&mut self, index_of_material: usize) -> Result<Vec4, String> {
        let surface = &self.object("materials", index_of_material)?["pbrMetallicRoughness"];
        if let (None, Some(texture)) = (self.picture, number(&surface["baseColorTexture"], "index")) {
            let texture = self.object("textures", texture)?;
            let image =
                self.object("images", number(texture, "source").ok_or("a texture of the model has no picture")?)?;
            if image["mimeType"] == "image/jpeg" {
                return Err("the model's picture is a JPEG file, which is not read here; PNG is".to_string());
            }
            let view = number(image, "bufferView").ok_or("the model's picture is in another file")?;
            self.picture = Some(self.view(view)?);
        }
        Ok(floats(surface, "baseColorFactor").map_or(Vec4::ONE, Vec4::from_array))
    }

    /// The bytes of a buffer view.
    fn view(&self, index_of_view: usize) -> Result<&'f [u8], String> {
        let view = self.object("bufferViews", index_of_view)?;
        let buffer = self.object("buffers", number(view, "buffer").unwrap_or(0))?;
        if number(view, "buffer").unwrap_or(0) != 0 || !buffer["uri"].is_null() {
            return Err("the model's buffers are in other files; a .glb file has them inside".to_string());
        }
        let (start, length) = (number(view, "byteOffset").unwrap_or(0), number(view, "byteLength").unwrap_or(0));
        let bytes = start.checked_add(length).and_then(|end| self.binary.get(start..end));
        bytes.ok_or_else(|| format!("buffer view {index_of_view} of the model is outside its buffer"))
    }

    /// The elements of an accessor, whose missing components are 0, but for the fourth, which is `fourth`.
    fn elements(&self, index_of_accessor: usize, fourth: f32) -> Result<Elements, String> {
        let accessor = self.object("accessors", index_of_accessor)?;
        let wrong = |what: &str| format!("accessor {index_of_accessor} of the model {what}");
        if !accessor["sparse"].is_null() {
            return Err(wrong("is sparse, which is not supported"));
        }
        let components = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            _ => return Err(wrong("has neither numbers nor vectors")),
        };
        // The component types: BYTE, UNSIGNED_BYTE, SHORT, UNSIGNED_SHORT, UNSIGNED_INT, FLOAT [glTF 3.6.2.2]. Their bytes, what is 1 in normalized ones, and
        // how they are read.
        let (size, one, read): (usize, f32, ReadNumber) = match number(accessor, "componentType") {
            Some(5120) => (1, 127.0, |bytes| f32::from(bytes[0] as i8)),
            Some(5121) => (1, 255.0, |bytes| f32::from(bytes[0])),
            Some(5122) => (2, 32767.0, |bytes| f32::from(i16::from_le_bytes([bytes[0], bytes[1]]))),
            Some(5123) => (2, 65535.0, |bytes| f32::from(u16::from_le_bytes([bytes[0], bytes[1]]))),
            // Exact up to 2^24, more than there may be vertices.
            Some(5125) => (4, 1.0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as f32),
            Some(5126) => (4, 1.0, |bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            _ => return Err(wrong("has components of a type that glTF does not have")),
        };
        let one = if accessor["normalized"] == true { one } else { 1.0 };
        let count = number(accessor, "count").unwrap_or(0);
        let view_index = number(accessor, "bufferView").ok_or_else(|| wrong("has no buffer view"))?;
        let view = self.view(view_index)?;
        let start = number(accessor, "byteOffset").unwrap_or(0);
        let stride = number(self.object("bufferViews", view_index)?, "byteStride").unwrap_or(size * components);
        if stride < size * components || stride > 1024 {
            return Err(wrong("has elements that overlap, or are too far apart"));
        }
        if count > MOST_ELEMENTS {
            return Err(wrong(&format!("has {count} elements, and at most {MOST_ELEMENTS} are read")));
        }
        let before_last = count.checked_sub(1).ok_or_else(|| wrong("has no elements"))?;
        let end =
            before_last.checked_mul(stride).and_then(|last| last.checked_add(start)?.checked_add(size * components));
        if end.is_none_or(|end| end > view.len()) {
            return Err(wrong("is larger than its buffer view"));
        }
        self.count(count)?;
        let element = |number: usize| {
            let mut element = [0.0, 0.0, 0.0, fourth];
            for (component, value) in element.iter_mut().enumerate().take(components) {
                *value = read(&view[start + number * stride + component * size..][..size]) / one;
            }
            element
        };
        Ok((0..count).map(element).collect())
    }
}

/// The matrix for normals: its columns are perpendicular to the other two of the matrix for places.
fn normal_matrix(turned: &Mat3) -> Mat3 {
    let Mat3 { x_axis, y_axis, z_axis } = *turned;
    let sign = if turned.determinant() < 0.0 { -1.0 } else { 1.0 };
    Mat3::from_cols(y_axis.cross(z_axis), z_axis.cross(x_axis), x_axis.cross(y_axis)) * sign
}

/// The triangles of a primitive, by its mode [glTF 3.7.2.1].
fn triangles(mode: usize, order: &[usize]) -> Result<Vec<[usize; 3]>, String> {
    Ok(match mode {
        4 => order.as_chunks::<3>().0.to_vec(),
        5 => {
            let strip = order.windows(3).enumerate();
            strip
                .map(
                    |(n, three)| {
                        if n % 2 == 0 { [three[0], three[1], three[2]] } else { [three[1], three[0], three[2]] }
                    },
                )
                .collect()
        }
        6 => order.windows(2).skip(1).map(|two| [order[0], two[0], two[1]]).collect(),
        _ => return Err("the model has points or lines, and only triangles are drawn".to_string()),
    })
}

/// Moves and scales corners into the sphere of radius 1.
fn fit(corners: &mut [Corner]) -> Result<(), String> {
    let low = corners.iter().fold(Vec3::INFINITY, |low, corner| low.min(corner.place));
    let high = corners.iter().fold(Vec3::NEG_INFINITY, |high, corner| high.max(corner.place));
    let middle = 0.5 * (low + high);
    let radius = corners.iter().fold(0.0f32, |radius, corner| radius.max(corner.place.distance(middle)));
    // Minima and maxima pass over what is no number.
    let are_finite = corners.iter().all(|corner| corner.place.is_finite());
    if !are_finite || !radius.is_finite() || !middle.is_finite() {
        return Err("the model has places that are no numbers".to_string());
    }
    let scale = if radius > 0.0 { 1.0 / radius } else { 1.0 };
    corners.iter_mut().for_each(|corner| corner.place = scale * (corner.place - middle));
    Ok(())
}

#[cfg(test)]
mod tests {
    use oorandom::Rand32;
    use serde_json::json;

    use super::*;

    /// A file of a text and bytes.
    fn glb(json: &Value, binary: &[u8]) -> Vec<u8> {
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let word = |number: usize| (number as u32).to_le_bytes();
        let mut file = [b"glTF".as_slice(), &word(2), &word(28 + text.len() + binary.len())].concat();
        file.extend([&word(text.len())[..], b"JSON", &text, &word(binary.len()), b"BIN\0", binary].concat());
        file
    }

    /// A triangle in the plane z = 3, with indices of 16 bits, colours of bytes, and a node that moves and doubles it.
    fn triangle() -> (Value, Vec<u8>) {
        let places = [[0.0f32, 0.0, 3.0], [2.0, 0.0, 3.0], [0.0, 2.0, 3.0]];
        let mut binary: Vec<u8> = places.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
        binary.extend([0, 0, 1, 0, 2, 0, 0, 0]);
        binary.extend([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 51, 255]);
        let json = json!({
            "asset": { "version": "2.0" },
            "scenes": [{ "nodes": [0] }],
            "nodes": [{ "children": [1], "translation": [5, 0, 0] }, { "mesh": 0, "scale": [2, 2, 2] }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "COLOR_0": 2 }, "indices": 1, "material": 0 }] }],
            "materials": [{ "pbrMetallicRoughness": { "baseColorFactor": [1.0, 0.5, 1.0, 1.0] } }],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3 },
                { "bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 3 },
                { "bufferView": 2, "componentType": 5121, "type": "VEC4", "count": 3, "normalized": true },
            ],
            "bufferViews": [
                { "buffer": 0, "byteLength": 36 },
                { "buffer": 0, "byteOffset": 36, "byteLength": 8 },
                { "buffer": 0, "byteOffset": 44, "byteLength": 12 },
            ],
            "buffers": [{ "byteLength": 56 }],
        });
        (json, binary)
    }

    #[test]
    fn a_triangle_fits_the_sphere() {
        let (json, binary) = triangle();
        let model = Model::read(&glb(&json, &binary)).unwrap();
        // Its middle is that of its bounds, (2, 2) after doubling; the corners are 2.83 from it.
        let half = 0.5f32.sqrt();
        let places = [Vec3::new(-half, -half, 0.0), Vec3::new(half, -half, 0.0), Vec3::new(-half, half, 0.0)];
        for (corner, place) in model.corners.iter().zip(places) {
            assert!(corner.place.distance(place) < 1e-6, "{corner:?}");
            assert_eq!((corner.normal, corner.uv), (Vec3::Z, Vec2::ZERO));
        }
        let colors: Vec<Vec4> = model.corners.iter().map(|corner| corner.color).collect();
        assert_eq!(
            colors,
            [Vec4::new(1.0, 0.0, 0.0, 1.0), Vec4::new(0.0, 0.5, 0.0, 1.0), Vec4::new(0.0, 0.0, 0.2, 1.0)]
        );
        assert!(model.picture.is_none());
    }

    /// Mirrored at x = 0, the triangle is seen from the same side, and its normal stays.
    #[test]
    fn mirrored_meshes_keep_their_outside() {
        let (mut json, binary) = triangle();
        json["nodes"][1]["scale"] = json!([-2, 2, 2]);
        let model = Model::read(&glb(&json, &binary)).unwrap();
        let [a, b, c] = [0, 1, 2].map(|n| model.corners[n].place);
        assert!((b - a).cross(c - a).z > 0.0);
        assert_eq!(model.corners[0].normal, Vec3::Z);
        let stretched = normal_matrix(&Mat3::from_diagonal(Vec3::new(2.0, 1.0, 1.0))) * Vec3::new(1.0, 1.0, 0.0);
        assert!((stretched.normalize() - Vec3::new(0.2f32.sqrt(), 0.8f32.sqrt(), 0.0)).length() < 1e-6);
    }

    #[test]
    fn strips_and_fans_become_triangles() {
        assert_eq!(triangles(5, &[0, 1, 2, 3]).unwrap(), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(triangles(6, &[9, 1, 2, 3]).unwrap(), [[9, 1, 2], [9, 2, 3]]);
        assert!(triangles(1, &[0, 1]).is_err());
    }

    /// A change of a model's text.
    type Change = fn(&mut Value);

    #[test]
    fn what_is_wrong_is_said() {
        let (json, binary) = triangle();
        let said = |change: Change| {
            let mut json = json.clone();
            change(&mut json);
            Model::read(&glb(&json, &binary)).unwrap_err()
        };
        let changes: [(Change, &str); 13] = [
            (|json| json["scenes"] = json!([]), "has no scene"),
            (|json| json["nodes"][1]["mesh"] = json!(7), "no number 7 of its meshes"),
            (|json| json["nodes"][1]["children"] = json!([0]), "within each other"),
            (|json| json["accessors"][0]["count"] = json!(4), "accessor 0 of the model is larger"),
            (|json| json["accessors"][0]["sparse"] = json!({}), "sparse"),
            (|json| json["accessors"][1]["count"] = json!(1 << 20), "at most 196608 are read"),
            (|json| json["extras"] = json!("x".repeat(600 << 10)), "the model's text has"),
            (|json| json["bufferViews"][1]["byteOffset"] = json!(1u64 << 40), "outside its buffer"),
            (|json| json["buffers"][0]["uri"] = json!("a.bin"), "other files"),
            (|json| json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression"),
            (|json| json["nodes"][0]["scale"] = json!([1e38, 1e38, 1e38]), "no numbers"),
            (|json| json["meshes"][0]["primitives"][0]["mode"] = json!(0), "points or lines"),
            (|json| json["accessors"][1]["componentType"] = json!(5126), "larger than its buffer view"),
        ];
        for (change, word) in changes {
            assert!(said(change).contains(word), "{word}: {}", said(change));
        }
        assert_eq!(Model::read(b"glTF").unwrap_err(), "the model has version 0 of glTF, not 2");
        assert_eq!(Model::read(b"PNG").unwrap_err(), "the file is no binary glTF model (.glb)");
    }

    #[test]
    fn a_place_that_is_no_number_is_refused() {
        let (json, mut binary) = triangle();
        binary[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(Model::read(&glb(&json, &binary)).unwrap_err().contains("no numbers"));
    }

    /// A triangle whose few corners have an attribute of many elements, again and again.
    #[test]
    fn what_is_read_again_and_again_is_limited() {
        let (mut json, mut binary) = triangle();
        binary.resize(56 + MOST_ELEMENTS, 0);
        json["buffers"][0]["byteLength"] = json!(binary.len());
        let push = |list: &mut Value, what: Value| list.as_array_mut().unwrap().push(what);
        push(&mut json["bufferViews"], json!({ "buffer": 0, "byteOffset": 56, "byteLength": MOST_ELEMENTS }));
        push(
            &mut json["accessors"],
            json!({ "bufferView": 3, "componentType": 5121, "type": "SCALAR", "count": MOST_ELEMENTS }),
        );
        json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(3);
        assert!(Model::read(&glb(&json, &binary)).is_ok());
        let primitive = json["meshes"][0]["primitives"][0].clone();
        json["meshes"][0]["primitives"] = json!(vec![primitive; 1 + MOST_READ / MOST_ELEMENTS]);
        assert!(Model::read(&glb(&json, &binary)).unwrap_err().contains("attributes and indices"));
    }

    /// The models of the kernel's own scenes, whole, cut off and changed.
    #[test]
    fn damaged_models_are_no_panic() {
        let lighthouse = include_bytes!("../../assets/lighthouse.glb");
        let vessels = include_bytes!("../../assets/vessels.glb");
        let mut random = Rand32::new(5);
        for file in [lighthouse.as_slice(), vessels] {
            let model = Model::read(file).unwrap();
            assert!(model.corners.iter().all(|corner| corner.place.length() < 1.0001));
            assert!(model.corners.iter().all(|corner| (corner.normal.length() - 1.0).abs() < 1e-3));
            for _ in 0..60 {
                let mut changed = file.to_vec();
                for _ in 0..random.rand_range(1..4) {
                    let at = random.rand_range(0..4000.min(file.len() as u32)) as usize;
                    changed[at] = b"0193aA\"[]{}:,"[random.rand_range(0..13) as usize];
                }
                let _ = Model::read(&changed);
            }
            for length in [0, 11, 12, 19, 20, 27, 100, file.len() - 1] {
                let _ = Model::read(&file[..length]);
            }
        }
    }
}

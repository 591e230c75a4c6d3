//! Figures: glTF models with a skin, and their animations as poses.

use crate::Error;
use crate::accessor;
use crate::document::Document;
use crate::model::{
    Corner, Material, MaterialMesh, VERTEX_BYTES, Vec3, cross, images_text, material, materials_text, normalized,
    parts_text, triangles, vertex_bytes,
};
use crate::module::Module;
use crate::picture::Picture;
use crate::pose::{self, Poses};
use gltf::Semantic;
use gltf::accessor::{DataType, Dimensions};
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of a vertex: a model's, four joints, four weights.
const FIGURE_VERTEX_BYTES: usize = VERTEX_BYTES + 8;
/// Joints of a vertex.
const INFLUENCES: usize = 4;
/// Triangles of a figure.
const MAX_TRIANGLES: usize = 1 << 18;

/// A figure in the form in which it is written.
#[derive(Debug)]
pub(crate) struct Figure {
    parts: Vec<MaterialMesh<FIGURE_VERTEX_BYTES>>,
    materials: Vec<Material>,
    images: Vec<Picture>,
    joints: usize,
    animations: Vec<Poses>,
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<Figure, Error> {
    let document = Document::read(path)?;
    figure(document).map_err(|reason| Error::content(path, reason))
}

fn figure(Document { gltf, buffers, pictures }: Document) -> Result<Figure, String> {
    let mut skins = gltf.skins();
    let (Some(skin), None) = (skins.next(), skins.next()) else {
        return Err(format!("it has {} skins; a figure has one", gltf.skins().len()));
    };
    let poses = pose::all(&gltf, &skin, &buffers)?;
    let mut materials: Vec<Material> = gltf.materials().map(material).collect();
    let default_material = materials.len();
    let (mut parts, mut count) = (Vec::new(), 0);
    let joints = skin.joints().count();
    for node in gltf.nodes() {
        let Some(mesh) = node.mesh() else { continue };
        if node.skin().is_none() {
            return Err(format!("node {} has a mesh without the skin: nothing moves it", node.index()));
        }
        for primitive in mesh.primitives() {
            let material = primitive.material().index().unwrap_or(default_material);
            let read = corners(&primitive, joints, &buffers)
                .map_err(|reason| format!("mesh {}, primitive {}: {reason}", mesh.index(), primitive.index()))?;
            count += read.len();
            if count > MAX_TRIANGLES {
                return Err(format!("it has more than {MAX_TRIANGLES} triangles"));
            }
            for triangle in read {
                match parts.iter_mut().rev().find(|part: &&mut MaterialMesh<_>| part.material() == material) {
                    Some(part) if part.has_room() => part.push(triangle),
                    _ => {
                        let mut part = MaterialMesh::new(material);
                        part.push(triangle);
                        parts.push(part);
                    }
                }
            }
        }
    }
    if parts.is_empty() {
        return Err("it has no triangles".to_owned());
    }
    if parts.iter().any(|part| part.material() == default_material) {
        materials.push(Material::default());
    }
    Ok(Figure { parts, materials, images: pictures, joints, animations: poses })
}

/// The triangles of a primitive.
fn corners(
    primitive: &gltf::Primitive<'_>,
    joint_count: usize,
    buffers: &[Vec<u8>],
) -> Result<Vec<[[u8; FIGURE_VERTEX_BYTES]; 3]>, String> {
    use DataType::{F32, U8, U16};
    accessor::check_primitive(primitive, buffers)?;
    let four = |what: &str, semantic: Semantic, types: &[DataType]| {
        let read = primitive.get(&semantic).ok_or_else(|| format!("it has no {what}"))?;
        accessor::check(&read, buffers, types, Dimensions::Vec4)
            .map_err(|reason| format!("its {what} are accessor {}, and {reason}", read.index()))
    };
    four("joints", Semantic::Joints(0), &[U8, U16])?;
    four("weights", Semantic::Weights(0), &[F32, U8, U16])?;
    if primitive.get(&Semantic::Joints(1)).is_some() {
        return Err(format!("its vertices have more than {INFLUENCES} joints"));
    }
    if primitive.morph_targets().next().is_some() {
        return Err("it has morph targets, which are not supported".to_owned());
    }
    let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
    let positions: Vec<Vec3> = reader.read_positions().ok_or("it has no positions")?.collect();
    let normals: Option<Vec<Vec3>> = reader.read_normals().map(Iterator::collect);
    let coordinates: Option<Vec<[f32; 2]>> = reader.read_tex_coords(0).map(|read| read.into_f32().collect());
    let joints: Vec<[u16; 4]> = reader.read_joints(0).ok_or("it has no joints")?.into_u16().collect();
    let weights: Vec<[f32; 4]> = reader.read_weights(0).ok_or("it has no weights")?.into_f32().collect();
    let order: Vec<u32> = match reader.read_indices() {
        Some(indices) => indices.into_u32().collect(),
        None => (0..positions.len() as u32).collect(),
    };
    let corner = |index: u32| {
        let at = index as usize;
        let (Some(&position), Some(joints), Some(weights)) = (positions.get(at), joints.get(at), weights.get(at))
        else {
            return Err(format!("index {index} is out of range: there are {} vertices", positions.len()));
        };
        let texture_coordinate = coordinates.as_ref().and_then(|all| all.get(at)).copied().unwrap_or_default();
        if !position.iter().chain(&texture_coordinate).all(|value| value.is_finite()) {
            return Err(format!("vertex {index} has a coordinate that is not finite"));
        }
        let normal = normals.as_ref().and_then(|normals| normals.get(at)).copied();
        let influence =
            influence(*joints, *weights, joint_count).map_err(|reason| format!("vertex {index} {reason}"))?;
        Ok((Corner { position, normal, texture_coordinate }, influence))
    };
    let mut read = Vec::new();
    for [a, b, c] in triangles(primitive.mode(), &order)? {
        let corners = [corner(a)?, corner(b)?, corner(c)?];
        let [a, b, c] = corners.map(|(corner, _)| corner.position);
        let edge = |from: Vec3, to: Vec3| std::array::from_fn(|axis| to[axis] - from[axis]);
        let flat = normalized(cross(edge(a, b), edge(a, c)));
        read.push(corners.map(|(corner, influence)| {
            let mut bytes = [0; FIGURE_VERTEX_BYTES];
            bytes[..VERTEX_BYTES].copy_from_slice(&vertex_bytes(&corner, flat));
            bytes[VERTEX_BYTES..].copy_from_slice(&influence);
            bytes
        }));
    }
    Ok(read)
}

/// Four joints and their weights, which add up to 255.
fn influence(joints: [u16; 4], weights: [f32; 4], joint_count: usize) -> Result<[u8; 8], String> {
    let sum: f32 = weights.iter().sum();
    if !(sum > 0.0 && sum.is_finite() && weights.iter().all(|weight| *weight >= 0.0)) {
        return Err(format!("has the weights {weights:?}"));
    }
    let mut bytes = [0; 8];
    for at in (0..4).filter(|&at| weights[at] > 0.0) {
        let joint = joints[at];
        if usize::from(joint) >= joint_count {
            return Err(format!("follows joint {joint} of {joint_count}"));
        }
        (bytes[at], bytes[4 + at]) = (joint as u8, (255.0 * weights[at] / sum).round() as u8);
    }
    // The greatest weight takes the rest.
    let greatest = (0..4).fold(0, |best, at| if weights[at] > weights[best] { at } else { best });
    let others: u16 = (0..4).filter(|&at| at != greatest).map(|at| u16::from(bytes[4 + at])).sum();
    bytes[4 + greatest] = u8::try_from(255 - others.min(255)).unwrap_or(0);
    Ok(bytes)
}

impl Figure {
    pub(crate) fn write(self, module: &mut Module, name: &str) {
        let triangles: usize = self.parts.iter().map(MaterialMesh::triangles).sum();
        let joints = self.joints;
        let documentation = format!("A figure of {triangles} triangles with {joints} joints.");
        let mut animations = String::new();
        for (index, Poses { name: title, duration_s, matrices }) in self.animations.into_iter().enumerate() {
            let bytes = matrices.iter().flatten().flatten().flat_map(|number| number.to_le_bytes()).collect();
            let poses = module.bytes(&format!("{name}_poses_{index}"), bytes);
            // Writing to a string cannot fail.
            let _ = write!(
                animations,
                "renderer::asset::Animation {{ name: {title:?}, duration_s: {duration_s:?}, joints: {joints}, poses: {poses} }}, "
            );
        }
        let materials = materials_text(&self.materials);
        let parts = parts_text(self.parts, module, name);
        let images = images_text(self.images, module, name);
        let value = format!(
            "renderer::asset::Figure {{ joints: {joints}, parts: &[{parts}], materials: &[{materials}], images: &[{images}], animations: &[{animations}] }}"
        );
        module.constant(&documentation, name, "Figure", &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_255() {
        for weights in [[0.5, 0.5, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 2.0]] {
            let bytes = influence([3, 2, 1, 0], weights, 4).unwrap();
            assert_eq!(bytes[4..].iter().map(|&weight| u32::from(weight)).sum::<u32>(), 255, "{weights:?}");
            let sum: f32 = weights.iter().sum();
            for at in 0..4 {
                assert!((f32::from(bytes[4 + at]) - 255.0 * weights[at] / sum).abs() <= 1.5, "{weights:?}: {bytes:?}");
            }
        }
        assert!(influence([4, 0, 0, 0], [1.0, 0.0, 0.0, 0.0], 4).unwrap_err().contains("follows joint 4 of 4"));
        assert!(influence([0; 4], [0.0; 4], 4).unwrap_err().contains("weights"));
        // A joint without weight may be any.
        assert_eq!(influence([9, 1, 0, 0], [0.0, 1.0, 0.0, 0.0], 4).unwrap(), [0, 1, 0, 0, 0, 255, 0, 0]);
    }
}

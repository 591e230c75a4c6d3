//! Models: glTF 2.0 scenes as parts of one material each.
//!
//! Transforms of nodes are applied, missing normals are computed (flat, as glTF specifies), equal vertices are merged, and parts of more than 65,536 vertices
//! are cut because indices have 16 bits.

use crate::Error;
use crate::accessor;
use crate::document::Document;
use crate::module::Module;
use crate::picture::Picture;
use half::f16;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

/// Number of vertices that 16-bit indices can address.
const MAX_PART_VERTICES: usize = 1 << 16;
/// Triangles of a model, whose vertices take up to 84 MiB.
const MAX_TRIANGLES: usize = 1 << 20;
/// Nodes of a model's scenes, each counted in each scene that it belongs to.
const MAX_NODES: usize = 1 << 20;
/// Vertices and indices that are read, each once for each node that has its mesh.
pub(crate) const MAX_READ: usize = 1 << 24;

/// Bytes of a vertex in memory: position, half-float normal followed by a 0, texture coordinates.
pub(crate) const VERTEX_BYTES: usize = 28;
/// A vertex in memory.
pub(crate) type VertexBytes = [u8; VERTEX_BYTES];

pub(crate) type Vec3 = [f32; 3];

/// A glTF model: its triangles in parts of one material, with the transforms of nodes applied.
#[derive(Debug)]
pub struct Model {
    parts: Vec<MaterialMesh<VERTEX_BYTES>>,
    /// The last part of each material, to which triangles are added.
    open: HashMap<usize, usize>,
    materials: Vec<Material>,
    images: Vec<Picture>,
    low: Vec3,
    high: Vec3,
    triangles: usize,
    /// Vertices and indices that have been read.
    read: usize,
}

/// Triangles of one material, whose vertices have so many bytes.
#[derive(Debug)]
pub(crate) struct MaterialMesh<const BYTES: usize> {
    material: usize,
    vertices: Vec<[u8; BYTES]>,
    indices: Vec<u16>,
    known: HashMap<[u8; BYTES], u16>,
}

#[derive(Debug)]
pub(crate) struct Material {
    name: String,
    base_color: [f32; 4],
    base_color_image: Option<usize>,
    metallic: f32,
    roughness: f32,
    emissive: Vec3,
    double_sided: bool,
}

/// A triangle's corner before it is encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) position: Vec3,
    pub(crate) normal: Option<Vec3>,
    pub(crate) texture_coordinate: [f32; 2],
}

/// A part of a model, as a program reads it that draws it without a build script.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'m> {
    /// Vertices, at most 65,536.
    pub vertices: Vec<Vertex>,
    /// Three for each triangle, counter-clockwise seen from the front.
    pub indices: &'m [u16],
    /// Linear red, green, blue and alpha, by which the picture is multiplied.
    pub base_color: [f32; 4],
    /// Linear red, green and blue of emitted light.
    pub emissive: [f32; 3],
    /// The picture of the surface's colour.
    pub picture: Option<&'m Picture>,
}

/// A vertex of a [`Part`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Its place.
    pub position: [f32; 3],
    /// The normal there, of length 1 and rounded to half floats.
    pub normal: [f32; 3],
    /// The place in the picture, in parts of its width and height from the upper left corner.
    pub texture_coordinate: [f32; 2],
}

impl Vertex {
    fn of(bytes: &VertexBytes) -> Self {
        let float = |at: usize| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32();
        Self { position: [0, 4, 8].map(float), normal: [12, 14, 16].map(half), texture_coordinate: [20, 24].map(float) }
    }
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<Model, Error> {
    Model::of(path, Document::read(path)?)
}

impl Default for Material {
    /// glTF's default material.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_image: None,
            metallic: 1.0,
            roughness: 1.0,
            emissive: [0.0; 3],
            double_sided: false,
        }
    }
}

pub(crate) fn material(material: gltf::Material<'_>) -> Material {
    let surface = material.pbr_metallic_roughness();
    Material {
        name: material.name().unwrap_or_default().to_owned(),
        base_color: surface.base_color_factor(),
        base_color_image: surface.base_color_texture().map(|info| info.texture().source().index()),
        metallic: surface.metallic_factor(),
        roughness: surface.roughness_factor(),
        emissive: material.emissive_factor(),
        double_sided: material.double_sided(),
    }
}

/// A matrix in column-major order.
pub(crate) type Matrix = [[f32; 4]; 4];

pub(crate) const IDENTITY: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

pub(crate) fn product(left: &Matrix, right: &Matrix) -> Matrix {
    std::array::from_fn(|column| std::array::from_fn(|row| (0..4).map(|k| left[k][row] * right[column][k]).sum()))
}

fn point(matrix: &Matrix, [x, y, z]: Vec3) -> Vec3 {
    std::array::from_fn(|row| matrix[0][row] * x + matrix[1][row] * y + matrix[2][row] * z + matrix[3][row])
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn normalized(v: Vec3) -> Vec3 {
    let length = dot(v, v).sqrt();
    if length > 0.0 { v.map(|component| component / length) } else { [0.0, 0.0, 1.0] }
}

/// A transform of normals: the matrix of cofactors, which is the inverse transpose times the determinant.
struct NormalTransform([Vec3; 3]);

impl NormalTransform {
    fn new(matrix: &Matrix) -> (Self, f32) {
        let [x, y, z] = [0, 1, 2].map(|column| [matrix[column][0], matrix[column][1], matrix[column][2]]);
        let cofactors = [cross(y, z), cross(z, x), cross(x, y)];
        (Self(cofactors), dot(x, cofactors[0]))
    }

    fn apply(&self, [x, y, z]: Vec3) -> Vec3 {
        let Self(columns) = self;
        normalized(std::array::from_fn(|row| columns[0][row] * x + columns[1][row] * y + columns[2][row] * z))
    }
}

impl Model {
    /// Reads the bytes of a `.glb` file, or of a `.gltf` file with all data in it; `name` is for errors.
    ///
    /// # Errors
    /// When the file is malformed, needs other files, has no triangles, or has contents that are not supported.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let path = Path::new(name);
        Self::of(path, Document::of_bytes(path, bytes)?)
    }

    fn of(path: &Path, document: Document) -> Result<Self, Error> {
        let content = |reason: String| Error::content(path, reason);
        let Document { gltf, buffers, pictures } = document;
        let mut model = Self {
            parts: Vec::new(),
            open: HashMap::new(),
            materials: Vec::new(),
            images: pictures,
            low: [f32::INFINITY; 3],
            high: [f32::NEG_INFINITY; 3],
            triangles: 0,
            read: 0,
        };
        model.materials.extend(gltf.materials().map(material));
        // The index of glTF's default material, for primitives that have none.
        let default_material = model.materials.len();
        model.add_scenes(&gltf, &buffers, default_material).map_err(content)?;
        if model.parts.iter().any(|part| part.material() == default_material) {
            model.materials.push(Material::default());
        }
        if model.parts.is_empty() {
            return Err(content("the file has no triangles in any scene".to_owned()));
        }
        Ok(model)
    }

    /// The parts.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.parts.iter().filter_map(|MaterialMesh { material, vertices, indices, .. }| {
            let Material { base_color, emissive, base_color_image, .. } = self.materials.get(*material)?;
            Some(Part {
                vertices: vertices.iter().map(Vertex::of).collect(),
                indices,
                base_color: *base_color,
                emissive: *emissive,
                picture: base_color_image.and_then(|image| self.images.get(image)),
            })
        })
    }

    /// The number of triangles.
    pub const fn triangles(&self) -> usize {
        self.triangles
    }

    /// Adds what the nodes of all scenes have. Within a scene, the nodes must form trees, as glTF demands: none is reached twice.
    fn add_scenes(
        &mut self,
        gltf: &gltf::Document,
        buffers: &[Vec<u8>],
        default_material: usize,
    ) -> Result<(), String> {
        // For each node the last scene in which it was reached, counted from 1.
        let mut reached = vec![0; gltf.nodes().len()];
        let mut count = 0;
        for (scene, number) in gltf.scenes().zip(1usize..) {
            let mut waiting: Vec<_> = scene.nodes().map(|node| (node, IDENTITY)).collect();
            waiting.reverse();
            while let Some((node, parent)) = waiting.pop() {
                let index = node.index();
                if std::mem::replace(&mut reached[index], number) == number {
                    return Err(format!(
                        "node {index} is reached twice in scene {}: nodes must form trees",
                        number - 1
                    ));
                }
                count += 1;
                if count > MAX_NODES {
                    return Err(format!("its scenes have more than {MAX_NODES} nodes"));
                }
                let matrix = product(&parent, &node.transform().matrix());
                self.add_mesh(&node, &matrix, buffers, default_material)?;
                let first = waiting.len();
                waiting.extend(node.children().map(|child| (child, matrix)));
                waiting[first..].reverse();
            }
        }
        Ok(())
    }

    fn add_mesh(
        &mut self,
        node: &gltf::Node<'_>,
        matrix: &Matrix,
        buffers: &[Vec<u8>],
        default_material: usize,
    ) -> Result<(), String> {
        let Some(mesh) = node.mesh() else { return Ok(()) };
        for primitive in mesh.primitives() {
            self.add_primitive(&primitive, matrix, buffers, default_material).map_err(|reason| {
                let (mesh, name) = (mesh.index(), mesh.name().unwrap_or(""));
                format!("mesh {mesh} ({name:?}), primitive {}: {reason}", primitive.index())
            })?;
        }
        Ok(())
    }

    fn add_primitive(
        &mut self,
        primitive: &gltf::Primitive<'_>,
        matrix: &Matrix,
        buffers: &[Vec<u8>],
        default_material: usize,
    ) -> Result<(), String> {
        let read = accessor::check_primitive(primitive, buffers)?;
        self.read = self.read.saturating_add(read);
        if self.read > MAX_READ {
            return Err(format!("the model has more than {MAX_READ} vertices and indices"));
        }
        let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
        let positions: Vec<Vec3> = reader.read_positions().ok_or("it has no positions")?.collect();
        let normals: Option<Vec<Vec3>> = reader.read_normals().map(Iterator::collect);
        let coordinates: Option<Vec<[f32; 2]>> = reader.read_tex_coords(0).map(|read| read.into_f32().collect());
        let order: Vec<u32> = match reader.read_indices() {
            Some(indices) => indices.into_u32().collect(),
            None => (0..positions.len() as u32).collect(),
        };
        let (normal_transform, determinant) = NormalTransform::new(matrix);
        let corner = |index: u32| -> Result<Corner, String> {
            let index = index as usize;
            let position = *positions
                .get(index)
                .ok_or_else(|| format!("index {index} is out of range: there are {} vertices", positions.len()))?;
            let normal = normals.as_ref().and_then(|normals| normals.get(index));
            let texture_coordinate = coordinates.as_ref().and_then(|all| all.get(index)).copied().unwrap_or_default();
            let corner = Corner {
                position: point(matrix, position),
                normal: normal.map(|&normal| normal_transform.apply(normal)),
                texture_coordinate,
            };
            let finite = corner.position.iter().chain(&corner.texture_coordinate).all(|value| value.is_finite());
            if finite { Ok(corner) } else { Err(format!("vertex {index} has a coordinate that is not finite")) }
        };
        let material = primitive.material().index().unwrap_or(default_material);
        for triangle in triangles(primitive.mode(), &order)? {
            let [a, b, c] = triangle;
            // A mirroring transform reverses the winding.
            let [a, b, c] = if determinant < 0.0 { [a, c, b] } else { [a, b, c] };
            self.add_triangle(material, [corner(a)?, corner(b)?, corner(c)?])?;
        }
        Ok(())
    }

    fn add_triangle(&mut self, material: usize, corners: [Corner; 3]) -> Result<(), String> {
        self.triangles += 1;
        if self.triangles > MAX_TRIANGLES {
            return Err(format!("the model has more than {MAX_TRIANGLES} triangles"));
        }
        let [a, b, c] = corners.map(|corner| corner.position);
        let edge = |from: Vec3, to: Vec3| std::array::from_fn(|axis| to[axis] - from[axis]);
        let flat = normalized(cross(edge(a, b), edge(a, c)));
        let bytes = corners.map(|corner| vertex_bytes(&corner, flat));
        for corner in corners {
            for axis in 0..3 {
                self.low[axis] = self.low[axis].min(corner.position[axis]);
                self.high[axis] = self.high[axis].max(corner.position[axis]);
            }
        }
        let open = self.open.get(&material).and_then(|&at| self.parts.get_mut(at));
        match open {
            Some(part) if part.has_room() => part.push(bytes),
            _ => {
                let mut part = MaterialMesh::new(material);
                part.push(bytes);
                self.open.insert(material, self.parts.len());
                self.parts.push(part);
            }
        }
        Ok(())
    }

    pub(crate) fn write(self, module: &mut Module, name: &str) {
        let triangles: usize = self.parts.iter().map(MaterialMesh::triangles).sum();
        let documentation = format!(
            "A model of {triangles} triangles in {} parts, with {} materials.",
            self.parts.len(),
            self.materials.len()
        );
        let materials = materials_text(&self.materials);
        let parts = parts_text(self.parts, module, name);
        let images = images_text(self.images, module, name);
        let (low, high) = (self.low, self.high);
        let value = format!(
            "renderer::asset::Model {{ parts: &[{parts}], materials: &[{materials}], images: &[{images}], low: {low:?}, high: {high:?} }}"
        );
        module.constant(&documentation, name, "Model", &value);
    }
}

/// The parts as elements of a slice; their bytes become files.
pub(crate) fn parts_text<const BYTES: usize>(
    parts: Vec<MaterialMesh<BYTES>>,
    module: &mut Module,
    name: &str,
) -> String {
    let mut text = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        let vertices = module.bytes(&format!("{name}_vertices_{index}"), part.vertices.concat());
        let indices = part.indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let indices = module.bytes(&format!("{name}_indices_{index}"), indices);
        let material = part.material;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "renderer::asset::ModelPart {{ material: {material}, vertices: {vertices}, indices: {indices} }}, "
        );
    }
    text
}

/// The materials as elements of a slice.
pub(crate) fn materials_text(materials: &[Material]) -> String {
    let mut text = String::new();
    for material in materials {
        let Material { name, base_color, base_color_image, metallic, roughness, emissive, double_sided } = material;
        let _ = write!(
            text,
            "renderer::asset::ModelMaterial {{ name: {name:?}, base_color: {base_color:?}, base_color_image: {base_color_image:?}, \
             metallic: {metallic:?}, roughness: {roughness:?}, emissive: {emissive:?}, double_sided: {double_sided} }}, "
        );
    }
    text
}

/// The images as elements of a slice; their pixels become files.
pub(crate) fn images_text(images: Vec<Picture>, module: &mut Module, name: &str) -> String {
    let mut text = String::new();
    for (index, image) in images.into_iter().enumerate() {
        let value = image.value(module, &format!("{name}_image_{index}"));
        let _ = write!(text, "{value}, ");
    }
    text
}

impl<const BYTES: usize> MaterialMesh<BYTES> {
    pub(crate) fn new(material: usize) -> Self {
        Self { material, vertices: Vec::new(), indices: Vec::new(), known: HashMap::new() }
    }

    /// The index of its material.
    pub(crate) const fn material(&self) -> usize {
        self.material
    }

    /// Number of triangles.
    pub(crate) fn triangles(&self) -> usize {
        self.indices.len() / 3
    }

    /// Whether one more triangle can be indexed.
    pub(crate) fn has_room(&self) -> bool {
        self.vertices.len() + 3 <= MAX_PART_VERTICES
    }

    pub(crate) fn push(&mut self, triangle: [[u8; BYTES]; 3]) {
        for vertex in triangle {
            let next = self.vertices.len() as u16;
            let index = *self.known.entry(vertex).or_insert(next);
            if index == next && self.vertices.len() == usize::from(next) {
                self.vertices.push(vertex);
            }
            self.indices.push(index);
        }
    }
}

/// The triangles of a primitive, with the winding of its mode.
pub(crate) fn triangles(mode: gltf::mesh::Mode, order: &[u32]) -> Result<Vec<[u32; 3]>, String> {
    use gltf::mesh::Mode;
    Ok(match mode {
        Mode::Triangles if order.len().is_multiple_of(3) => {
            order.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect()
        }
        Mode::Triangles => return Err(format!("{} corners are not a whole number of triangles", order.len())),
        Mode::TriangleStrip => order
            .windows(3)
            .enumerate()
            .map(
                |(number, three)| {
                    if number % 2 == 0 { [three[0], three[1], three[2]] } else { [three[1], three[0], three[2]] }
                },
            )
            .collect(),
        Mode::TriangleFan => order.windows(2).skip(1).map(|two| [order[0], two[0], two[1]]).collect(),
        other => return Err(format!("its mode is {other:?}; only triangles, strips and fans are supported")),
    })
}

pub(crate) fn vertex_bytes(corner: &Corner, flat_normal: Vec3) -> VertexBytes {
    let mut bytes = [0; VERTEX_BYTES];
    let normal = corner.normal.unwrap_or(flat_normal).map(|component| f16::from_f32(component).to_le_bytes());
    let position = corner.position.map(f32::to_le_bytes);
    let coordinate = corner.texture_coordinate.map(f32::to_le_bytes);
    bytes[..12].copy_from_slice(&position.concat());
    bytes[12..18].copy_from_slice(&normal.concat());
    bytes[20..].copy_from_slice(&coordinate.concat());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use gltf::mesh::Mode;

    #[test]
    fn modes_become_triangles() {
        let check = |mode, order: &[u32], expected: &[[u32; 3]]| {
            assert_eq!(triangles(mode, order).as_deref(), Ok(expected), "{mode:?}")
        };
        check(Mode::Triangles, &[5, 6, 7, 7, 6, 8], &[[5, 6, 7], [7, 6, 8]]);
        check(Mode::TriangleStrip, &[0, 1, 2, 3, 4], &[[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        check(Mode::TriangleFan, &[9, 1, 2, 3], &[[9, 1, 2], [9, 2, 3]]);
        check(Mode::TriangleFan, &[9, 1], &[]);
        assert_eq!(
            triangles(Mode::Triangles, &[1, 2]),
            Err("2 corners are not a whole number of triangles".to_owned())
        );
        assert!(triangles(Mode::Lines, &[0, 1]).is_err());
    }

    /// Scales x by two: the normal of a surface that leans equally to x and y then leans less to x.
    #[test]
    fn normals_follow_scaling() {
        let mut wide = IDENTITY;
        wide[0][0] = 2.0;
        let (transform, determinant) = NormalTransform::new(&wide);
        let [x, y, z] = transform.apply([0.5f32.sqrt(), 0.5f32.sqrt(), 0.0]);
        assert!((x - 0.2f32.sqrt()).abs() < 1e-6 && (y - 0.8f32.sqrt()).abs() < 1e-6 && z == 0.0, "{x} {y} {z}");
        assert_eq!(determinant, 2.0);
    }

    #[test]
    fn equal_vertices_are_stored_once() {
        let corner = |x| Corner { position: [x, 0.0, 0.0], normal: None, texture_coordinate: [0.0; 2] };
        let vertex = |x| vertex_bytes(&corner(x), [0.0, 0.0, 1.0]);
        let mut part = MaterialMesh::new(0);
        part.push([vertex(0.0), vertex(1.0), vertex(2.0)]);
        part.push([vertex(2.0), vertex(1.0), vertex(3.0)]);
        assert_eq!(part.indices, [0, 1, 2, 2, 1, 3]);
        assert_eq!(part.vertices.len(), 4);
    }

    #[test]
    fn a_vertex_is_position_half_normal_and_coordinate() {
        let corner =
            Corner { position: [1.0, -2.0, 0.5], normal: Some([0.0, -1.0, 0.5]), texture_coordinate: [0.25, 3.0] };
        let expected = [
            [0x00, 0x00, 0x80, 0x3f],
            [0x00, 0x00, 0x00, 0xc0],
            [0x00, 0x00, 0x00, 0x3f], // 1, -2, 0.5
            [0x00, 0x00, 0x00, 0xbc],
            [0x00, 0x38, 0x00, 0x00], // halves 0, -1, 0.5, 0
            [0x00, 0x00, 0x80, 0x3e],
            [0x00, 0x00, 0x40, 0x40], // 0.25, 3
        ];
        assert_eq!(vertex_bytes(&corner, [1.0, 0.0, 0.0]).as_slice(), expected.concat());
    }
}

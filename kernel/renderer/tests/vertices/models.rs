//! Models in the layout of `asset-build`: the light of each vertex, colours, textures.

use qpu_shaders::{model as lit, model_colored, model_textured};
use renderer::{
    Error, Indices, Mesh, Pipeline, PipelineDescriptor, Primitive, Sampler, Texture, TextureDescriptor, asset, rows,
};
use v3d::hw::texture::TextureType;

use crate::scene::{CLEAR, Picture, Random, bands, device, model};

const BANDS: usize = 16;
/// The product of a texel and a packed colour: each is accurate to within one.
const ROUNDING: f64 = 2.0;

/// A half float for multiples of 1/64 from -1 to 1, composed of sign, exponent and mantissa by hand.
fn half(sixty_fourths: i32) -> u16 {
    let sign = if sixty_fourths < 0 { 0x8000 } else { 0 };
    let magnitude = sixty_fourths.unsigned_abs();
    if magnitude == 0 {
        return sign;
    }
    let highest = 31 - magnitude.leading_zeros();
    // magnitude / 64 is 1.fraction times 2 to the power of (highest - 6); the exponent has a bias of 15.
    let (exponent, fraction) = (highest + 15 - 6, (magnitude << (10 - highest)) & 0x3ff);
    sign | (exponent << 10 | fraction) as u16
}

/// A band's normal, in 64ths.
type Normal = [i32; 3];

/// Vertices and indices in the layout of a build script.
fn part(normals: &[Normal]) -> (Vec<u8>, Vec<u8>) {
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for (number, ([x, y], band)) in bands(normals.len()).into_iter().enumerate() {
        let [nx, ny, nz] = normals[band].map(half);
        // s is the middle of the band, in a texture with one column per band.
        let s = (band as f32 + 0.5) / normals.len() as f32;
        vertices.extend([x, y, 0.25].iter().flat_map(|value| value.to_le_bytes()));
        vertices.extend([nx, ny, nz, 0].iter().flat_map(|value| value.to_le_bytes()));
        vertices.extend([s, 0.5].iter().flat_map(|value| value.to_le_bytes()));
        indices.extend((number as u16).to_le_bytes());
    }
    assert_eq!(vertices.len(), indices.len() / 2 * asset::MODEL_VERTEX_BYTES as usize);
    (vertices, indices)
}

/// A rotation about x and one about z, in row-major order.
const TURN: [[f64; 3]; 3] = [[0.6, -0.8, 0.0], [0.48, 0.36, -0.8], [0.64, 0.48, 0.6]];
const TO_LIGHT: [f64; 3] = [0.6, 1.0, 1.4];
const AMBIENT: f64 = 0.1;

fn light(normal: Normal) -> f64 {
    let normal = normal.map(|part| f64::from(part) / 64.0);
    let dot = |row: [f64; 3], column: [f64; 3]| row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
    let turned = TURN.map(|row| dot(row, normal));
    dot(turned, TO_LIGHT).max(0.0) + AMBIENT
}

fn uniforms() -> lit::Uniforms {
    let mut normal_matrix = [0.0; 9];
    normal_matrix.iter_mut().zip(TURN.iter().flatten()).for_each(|(to, &from)| *to = from as f32);
    let matrix = rows(&renderer::glam::Mat4::IDENTITY);
    lit::Uniforms { matrix, normal_matrix, to_light: TO_LIGHT.map(|part| part as f32), ambient: AMBIENT as f32 }
}

fn normals() -> Vec<Normal> {
    let mut random = Random::new(3);
    (0..BANDS).map(|_| [0; 3].map(|_| (random.bits() % 129) as i32 - 64)).collect()
}

#[test]
fn light_follows_the_turned_normals() {
    let (normals, base) = (normals(), [0.9f32, 0.5, 0.2, 0.75]);
    let lights: Vec<f64> = normals.iter().map(|&normal| light(normal)).collect();
    assert!(lights.contains(&AMBIENT) && lights.iter().any(|&light| light > 1.0));
    let model = model();
    let device = device(&model);
    let (vertices, indices) = part(&normals);
    let mesh =
        Mesh::from_bytes(&device, "part", Primitive::Triangles, &vertices, Some(Indices::Bytes16(&indices))).unwrap();
    let pipeline =
        Pipeline::new(&device, &PipelineDescriptor::new("model", &lit::SHADING, &model_colored::FRAGMENT)).unwrap();
    let fragment = model_colored::FragmentUniforms { base_color: base };
    let picture = Picture::draw(&model, &device, (4 * BANDS as u32, 2), |pass| {
        pass.draw(&pipeline, &mesh, &uniforms(), &fragment).unwrap();
    });
    for (band, light) in lights.iter().enumerate() {
        let [red, green, blue, alpha] = base.map(f64::from);
        let lit = |channel: f64| 255.0 * (channel * light).min(1.0);
        picture.assert_near((4 * band as u32 + 1, 1), [lit(red), lit(green), lit(blue), 255.0 * alpha], 1.0);
    }
}

#[test]
fn a_texture_is_multiplied_with_colour_and_light() {
    let (normals, base) = (normals(), [0.9f32, 0.5, 1.0, 0.75]);
    let model = model();
    let device = device(&model);
    let (vertices, indices) = part(&normals);
    let mesh =
        Mesh::from_bytes(&device, "part", Primitive::Triangles, &vertices, Some(Indices::Bytes16(&indices))).unwrap();
    let texels: Vec<[u8; 4]> = (0..BANDS as u8).map(|n| [255 - 9 * n, 40 + 11 * n, 7 * n, 255 - 5 * n]).collect();
    let descriptor = TextureDescriptor::new("bands", TextureType::Rgba8888, BANDS as u32, 1);
    let texture = Texture::from_pixels(&device, &descriptor, &texels.concat()).unwrap();
    let descriptor = PipelineDescriptor::new("textured", &lit::SHADING, &model_textured::FRAGMENT);
    let pipeline = Pipeline::new(&device, &descriptor).unwrap();
    let image = texture.bind(&Sampler::NEAREST).unwrap();
    let fragment = model_textured::FragmentUniforms { image, base_color: base };
    let picture = Picture::draw(&model, &device, (4 * BANDS as u32, 2), |pass| {
        pass.draw(&pipeline, &mesh, &uniforms(), &fragment).unwrap();
    });
    for (band, (texel, &normal)) in texels.iter().zip(&normals).enumerate() {
        let [red, green, blue, alpha] = base.map(f64::from);
        let factor = [red, green, blue].map(|channel| (channel * light(normal)).min(1.0));
        let expected = [factor[0], factor[1], factor[2], alpha];
        let expected: [f64; 4] = std::array::from_fn(|channel| f64::from(texel[channel]) * expected[channel]);
        picture.assert_near((4 * band as u32 + 1, 1), expected, ROUNDING);
    }
}

#[test]
fn bytes_that_are_no_model_are_refused() {
    let model = model();
    let device = device(&model);
    let used = device.pool().used();
    let (vertices, indices) = part(&normals());
    let made = |vertices: &[u8], indices: &[u8]| {
        let indices = Some(Indices::Bytes16(indices));
        Mesh::<lit::Vertex>::from_bytes(&device, "part", Primitive::Triangles, vertices, indices).unwrap_err()
    };
    let refused = |what, bytes, unit| Error::MeshBytes { label: "part", what, bytes, unit };
    assert_eq!(made(&vertices[..27], &indices), refused("vertices", 27, 28));
    assert_eq!(made(&[], &indices), refused("vertices", 0, 28));
    assert_eq!(made(&vertices, &indices[..5]), refused("indices", 5, 2));
    assert_eq!(made(&vertices, &[]), refused("indices", 0, 2));
    // One vertex less than the last index needs: 16 bands of 6.
    let beyond = Error::Index { label: "part", at: 95, index: 95, vertices: 95 };
    assert_eq!(made(&vertices[..28 * 95], &indices), beyond);
    assert_eq!(beyond.to_string(), "part: index 95 is 95, but there are only 95 vertices");
    assert_eq!(device.pool().used(), used);
    let picture = Picture::draw(&model, &device, (4, 2), |_| {});
    assert_eq!(picture.pixel(0, 0), CLEAR);
}

//! Step 9: textures, light and multisampling together.
//!
//! Four samples per pixel smooth the edges: a triangle covers none to all of them, each has its own colour and depth, and their mean is stored. The fragment
//! shader is still executed once per pixel; the cost is tile buffer memory, so tiles have 32 by 32 pixels instead of 64 by 64. Mip levels of the textures,
//! which the GPU renders once, smooth the floor in the distance.

use core::f32::consts::FRAC_PI_4;

use qpu_shaders::textured_lit::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};
use renderer::{
    Cull, Depth, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples,
    Target, Texture, TextureDescriptor,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    texture::TextureType,
    unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [400, 300];
/// The background.
pub const SKY: [u8; 4] = [134, 176, 214, 255];
/// Position of the camera.
pub const EYE: Vec3 = Vec3::new(1.6, 1.65, 3.6);
/// What it looks at.
pub const LOOKS_AT: Vec3 = Vec3::new(0.0, 0.95, 0.0);
/// Direction to the light; its length is the brightness.
pub const TO_LIGHT: Vec3 = Vec3::new(0.3, 0.5, 0.4);
/// Ambient light, from all directions.
pub const AMBIENT: f32 = 0.4;
/// Positions of the crates, each 1 wide, and their rotations.
pub const CRATES: [(Vec3, f32); 3] =
    [(Vec3::new(-0.6, 0.5, 0.0), 0.2), (Vec3::new(0.65, 0.5, 0.35), -0.35), (Vec3::new(0.0, 1.5, 0.15), 0.55)];
/// Width and height of both textures in texels.
pub const SIDE_PX: u32 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "09_multisample")?;
    Ok(())
}

/// Planks with a frame around them.
pub fn wood(x: u32, y: u32) -> [u8; 4] {
    let rim = x.min(y).min(SIDE_PX - 1 - x).min(SIDE_PX - 1 - y);
    let grain = (x * 7 + y / 9 * 5) % 11 + (x * x / 3 + y) % 5;
    let shade = match rim {
        7 => 60,
        0..7 => 150 + grain,
        _ if x % 12 == 3 => 80,
        _ => 185 + grain,
    };
    [shade as u8, (shade * 3 / 4) as u8, (shade * 9 / 20) as u8, 255]
}

/// Light and dark tiles, two in each direction, with joints between them.
pub fn tiles(x: u32, y: u32) -> [u8; 4] {
    let half = SIDE_PX / 2;
    if x.is_multiple_of(half) || y.is_multiple_of(half) {
        [70, 74, 78, 255]
    } else if (x < half) == (y < half) {
        [214, 208, 196, 255]
    } else {
        [112, 122, 134, 255]
    }
}

/// A texture with all mip levels, which the GPU renders.
fn mipmapped<P: Platform>(
    device: &Device<'_, P>,
    label: &'static str,
    texel: impl Fn(u32, u32) -> [u8; 4],
) -> Result<Texture, Error> {
    let pixels: Vec<u8> = (0..SIDE_PX * SIDE_PX).flat_map(|n| texel(n % SIDE_PX, n / SIDE_PX)).collect();
    let descriptor = TextureDescriptor::new(label, TextureType::Rgba8888, SIDE_PX, SIDE_PX).mipmapped();
    let texture = Texture::from_pixels(device, &descriptor, &pixels)?;
    let mut frame = device.frame()?;
    texture.generate_mipmaps(&mut frame)?;
    frame.submit()?; // no wait is needed: the GPU executes frames in order
    Ok(texture)
}

/// A rectangle: its centre, the vectors from there to the middle of its right and of its upper edge, and the number of repetitions of the texture in each
/// direction.
fn rectangle(center: Vec3, right: Vec3, up: Vec3, repeats: f32) -> [Vertex; 6] {
    let normal = right.cross(up).normalize().to_array();
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| {
        let uv = repeats * Vec2::new(0.5 + 0.5 * x, 0.5 - 0.5 * y);
        Vertex { position: (center + x * right + y * up).to_array(), normal, uv: uv.to_array() }
    })
}

/// Draws crates on a floor.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let (wood, tiles) = (mipmapped(device, "wood", wood)?, mipmapped(device, "tiles", tiles)?);
    let side = |normal: Vec3| {
        let up = if normal.y == 0.0 { Vec3::Y } else { Vec3::NEG_Z * normal.y };
        rectangle(0.5 * normal, 0.5 * up.cross(normal), 0.5 * up, 1.0)
    };
    let sides: Vec<Vertex> = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::Z, Vec3::NEG_Z].into_iter().flat_map(side).collect();
    let cube = Mesh::new(device, "crate", Primitive::Triangles, &sides)?;
    let floor = rectangle(Vec3::ZERO, 40.0 * Vec3::X, -40.0 * Vec3::Z, 40.0);
    let floor = Mesh::new(device, "floor", Primitive::Triangles, &floor)?;
    let shading = PipelineDescriptor::new("lit", &SHADING, &FRAGMENT);
    let state = PipelineDescriptor { depth: Depth::LESS, cull: Cull::Back, samples: Samples::Four, ..shading };
    let pipeline = Pipeline::new(device, &state)?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, LOOKS_AT, Vec3::Y);

    // The light direction is in the coordinates of the normals: it is rotated inversely to the crate.
    let uniforms = |place: Vec3, by: f32| Uniforms {
        matrix: rows(&(camera * Mat4::from_translation(place) * Mat4::from_rotation_y(by))),
        to_light: Mat4::from_rotation_y(-by).transform_vector3(TO_LIGHT).to_array(),
        ambient: AMBIENT,
    };
    let wood = FragmentUniforms { image: wood.bind(&Sampler::TRILINEAR)? };
    let tiles = FragmentUniforms { image: tiles.bind(&Sampler::TRILINEAR)? };
    let mut frame = device.frame()?;
    let descriptor = PassDescriptor { samples: Samples::Four, ..PassDescriptor::to(screen).clear(unorm(SKY)) };
    let mut pass = frame.pass(&descriptor)?;
    for (place, by) in CRATES {
        pass.draw(&pipeline, &cube, &uniforms(place, by), &wood)?;
    }
    pass.draw(&pipeline, &floor, &uniforms(Vec3::ZERO, 0.0), &tiles)?;
    let fence = frame.submit()?;
    device.wait(fence)
}

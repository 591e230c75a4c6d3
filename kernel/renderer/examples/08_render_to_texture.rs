//! Step 8: render to texture.
//!
//! The first pass draws a colour wheel to an off-screen target; the second one samples that target as the texture of a cube. Both are in one frame: the GPU
//! executes them in order, and the CPU does not wait between them. Target and texture share the same memory, nothing is copied.

use core::f32::consts::{FRAC_PI_4, TAU};

use qpu_shaders::{
    NoUniforms, smooth,
    textured::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
};
use renderer::{
    Cull, Depth, Device, Error, Format, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler,
    Shading, Target, TargetDescriptor, Texture,
    glam::{
        Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
    unorm,
};
use v3d::{Platform, hw::tiling::Tiling};
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [400, 360];
/// The background: red, green, blue, alpha.
pub const SKY: [u8; 4] = [200, 214, 229, 255];
/// The background of the wheel.
pub const CARD: [u8; 4] = [45, 52, 54, 255];
/// Width and height of the image with the wheel.
pub const SIDE_PX: u32 = 128;
/// Sectors of the wheel.
pub const SECTORS: u16 = 24;
/// Position of the camera, which looks at the centre of the cube; the cube is 2 wide.
pub const EYE: Vec3 = Vec3::new(2.6, 2.2, 3.6);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "08_render_to_texture")?;
    Ok(())
}

/// The colour of a sector: once around the hue circle.
pub fn hue(sector: u16) -> [f32; 3] {
    let turned = |by: f32| 0.5 + 0.45 * Vec2::from_angle(TAU * (f32::from(sector) / f32::from(SECTORS) - by)).x;
    [turned(0.0), turned(1.0 / 3.0), turned(2.0 / 3.0)]
}

/// Three vertices for each sector, with one colour.
fn wheel(target: &Target) -> Vec<ShadedVertex<3>> {
    let viewport = target.viewport();
    let sector = |n: u16| {
        let corner = |radius: f32, end: u16| {
            let Vec2 { x, y } = radius * Vec2::from_angle(TAU * f32::from(n + end) / f32::from(SECTORS));
            ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, hue(n))
        };
        [corner(0.0, 0), corner(0.9, 0), corner(0.9, 1)]
    };
    (0..SECTORS).flat_map(sector).collect()
}

/// A cube, each side with the whole texture.
fn cube() -> Vec<Vertex> {
    let side = |normal: Vec3| {
        // The direction that is up on this side, as seen from outside; on the top and the bottom it is to the back.
        let up = if normal.y == 0.0 { Vec3::Y } else { Vec3::NEG_Z * normal.y };
        let corner = move |x: f32, y: f32| {
            let position = (normal + x * up.cross(normal) + y * up).to_array();
            Vertex { position, uv: [0.5 + 0.5 * x, 0.5 - 0.5 * y] }
        };
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| corner(x, y))
    };
    [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z].into_iter().flat_map(side).collect()
}

/// Draws the wheel, and then the cube that shows it.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    // Textures are not stored in rows: blocks of pixels are close together in memory, which is T-format.
    let (format, tiling) = (Format::Rgba8888, Tiling::TFormat);
    let descriptor = TargetDescriptor { label: "card", width_px: SIDE_PX, height_px: SIDE_PX, format, tiling };
    let card = Target::new(device, &descriptor)?;
    let shading = PipelineDescriptor::new("wheel", Shading::PreShaded, &smooth::FRAGMENT);
    let wheel_pipeline = Pipeline::new(device, &shading)?;
    let shading = PipelineDescriptor::new("cube", &SHADING, &FRAGMENT);
    let cube_pipeline = Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, cull: Cull::Back, ..shading })?;
    let cube = Mesh::new(device, "cube", Primitive::Triangles, &cube())?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, Vec3::ZERO, Vec3::Y);

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(&card).clear(unorm(CARD)))?;
    pass.draw_vertices(&wheel_pipeline, Primitive::Triangles, &wheel(&card), &NoUniforms, &NoUniforms)?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(SKY)))?;
    let image = FragmentUniforms { image: Texture::of_target(&card)?.bind(&Sampler::LINEAR)? };
    pass.draw(&cube_pipeline, &cube, &Uniforms { matrix: rows(&camera) }, &image)?;
    let fence = frame.submit()?;
    device.wait(fence)
}

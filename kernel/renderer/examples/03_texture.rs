//! Step 3: a texture.
//!
//! The same small image twice, magnified. Between texels the texture unit returns the nearest one, or interpolates the four around: the sampler decides, with
//! which the texture is bound. The binding is a uniform of the fragment shader, so one pipeline can draw with any texture.

use qpu_shaders::textured::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};
use renderer::{
    Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Target, Texture,
    TextureDescriptor,
    glam::{Mat4, Vec3},
    rows,
    texture::TextureType,
    unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 240];
/// The background: red, green, blue, alpha.
pub const WALL: [u8; 4] = [58, 44, 62, 255];

/// A rocket of 16 x 16 texels, top row first.
pub const ROCKET: [&[u8; 16]; 16] = [
    b"..*.............",
    b".......rr....*..",
    b"......rrrr......",
    b"......wwgg......",
    b"*....wwwggg.....",
    b".....wwbbgg.....",
    b".....wwbbgg...*.",
    b"..*..wwwggg.....",
    b".....wwwggg.....",
    b"....rwwwgggr....",
    b"...rrwwwgggrr...",
    b"...rrwwwgggrr...",
    b"...r..oyyo..r...",
    b".*....oyyo....*.",
    b".......yo.......",
    b"...*............",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(4 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "03_texture")?;
    Ok(())
}

/// The bytes of a texel: red, green, blue, alpha.
pub fn texel(letter: u8) -> [u8; 4] {
    match letter {
        b'r' => [214, 48, 49, 255],
        b'w' => [245, 246, 250, 255],
        b'g' => [186, 196, 214, 255],
        b'b' => [72, 202, 228, 255],
        b'o' => [255, 140, 26, 255],
        b'y' => [255, 234, 120, 255],
        b'*' => [200, 210, 255, 255],
        _ => [16, 24, 60, 255],
    }
}

/// Draws both squares.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let pixels: Vec<u8> = ROCKET.iter().flat_map(|row| row.iter().flat_map(|&letter| texel(letter))).collect();
    let rocket =
        Texture::from_pixels(device, &TextureDescriptor::new("rocket", TextureType::Rgba8888, 16, 16), &pixels)?;

    // Texture coordinates are 0 to 1, and t = 0 is the first row, the top.
    let corner = |x: f32, y: f32| Vertex { position: [x, y, 0.0], uv: [0.5 + 0.5 * x, 0.5 - 0.5 * y] };
    let corners = [corner(-1.0, 1.0), corner(1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
    let square = Mesh::new(device, "square", Primitive::TriangleStrip, &corners)?;
    let pipeline = Pipeline::new(device, &PipelineDescriptor::new("textured", &SHADING, &FRAGMENT))?;

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(WALL)))?;
    for (x, sampler) in [(-0.5, Sampler::NEAREST), (0.5, Sampler::LINEAR)] {
        // 208 of 480 pixels wide and 208 of 240 high: each texel has 13 pixels.
        let place =
            Mat4::from_translation(Vec3::X * x) * Mat4::from_scale(Vec3::new(208.0 / 480.0, 208.0 / 240.0, 1.0));
        let image = FragmentUniforms { image: rocket.bind(&sampler)? };
        pass.draw(&pipeline, &square, &Uniforms { matrix: rows(&place) }, &image)?;
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

//! Resources of other or closed devices are errors with their labels; earlier draws remain.

use qpu_shaders::{NoUniforms, smooth, textured, transformed};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Buffer, CubeTexture, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler,
    Shading, Texture, TextureDescriptor, unorm,
};
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;

use crate::failures::{SKY, corners, device, model, rectangle, target, uniforms};
use v3d_host::Model;

type Colors = Pipeline<transformed::Vertex, transformed::Uniforms, NoUniforms>;

fn colors(device: &Device<'_, Model>) -> Result<Colors, Error> {
    Pipeline::new(device, &PipelineDescriptor::new("colours", &transformed::SHADING, &smooth::FRAGMENT))
}

fn square(device: &Device<'_, Model>) -> Result<Mesh<transformed::Vertex>, Error> {
    Mesh::new(device, "square", Primitive::TriangleStrip, &corners())
}

#[test]
fn a_closed_device_says_so() {
    let model = model(4 << 20);
    let device = device(&model);
    let (colors_before, square_before) = (colors(&device).unwrap(), square(&device).unwrap());
    let page = target(&device, "page", Tiling::Raster).unwrap();
    let texture = Texture::new(&device, &TextureDescriptor::new("wood", TextureType::Rgba8888, 16, 16)).unwrap();
    let mut frame = device.frame().unwrap();
    let mut empty = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&page).clear([0.0; 4])).unwrap();
    pass.draw(&colors_before, &square_before, &uniforms(), &NoUniforms).unwrap();
    let driver = device.close().unwrap();

    let closed = Error::DeviceClosed;
    assert_eq!(pass.draw(&colors_before, &square_before, &uniforms(), &NoUniforms), Err(closed.clone()));
    assert_eq!(empty.pass(&PassDescriptor::to(&page)).unwrap_err(), closed);
    assert_eq!(frame.submit().unwrap_err(), closed);
    assert_eq!(device.frame().unwrap_err(), closed);
    assert_eq!(device.close().unwrap_err(), closed);
    assert_eq!(device.wait(v3d::Fence::NONE).unwrap_err(), closed);
    assert_eq!(square(&device).unwrap_err(), closed);
    assert_eq!(colors(&device).unwrap_err(), closed);
    assert_eq!(target(&device, "page", Tiling::Raster).unwrap_err(), closed);
    assert_eq!(Buffer::new(&device, "bytes", 16, 16).unwrap_err(), closed);
    let descriptor = TextureDescriptor::new("wood", TextureType::Rgba8888, 16, 16);
    assert_eq!(Texture::new(&device, &descriptor).unwrap_err(), closed);
    assert_eq!(CubeTexture::new(&device, &SKY).unwrap_err(), closed);
    assert_eq!(texture.write_all(&device, &[0; 1024]).unwrap_err(), closed);
    assert_eq!(page.read(&device, &mut [0; 4]).unwrap_err(), closed);
    // The driver can be used without the device.
    drop((empty, page, texture, colors_before, square_before));
    let again = Device::new(driver);
    square(&again).unwrap();
}

#[test]
fn what_is_of_another_device_is_refused() {
    let (model, other_model) = (model(4 << 20), model_of_other());
    let (device, other) = (device(&model), device_of_other(&other_model));
    let page = target(&device, "page", Tiling::Raster).unwrap();
    let (own_colors, own_square) = (colors(&device).unwrap(), square(&device).unwrap());
    let (its_colors, its_square) = (colors(&other).unwrap(), square(&other).unwrap());
    let its_page = target(&other, "other page", Tiling::TFormat).unwrap();
    let its_texture = Texture::of_target(&its_page).unwrap();
    let foreign = |label| Err(Error::ForeignDevice { label });
    let used = device.pool().used();

    let mut frame = device.frame().unwrap();
    assert_eq!(frame.pass(&PassDescriptor::to(&its_page)).map(drop), foreign("other page"));
    let mut pass = frame.pass(&PassDescriptor::to(&page).clear(unorm([7; 4]))).unwrap();
    assert_eq!(pass.draw(&its_colors, &own_square, &uniforms(), &NoUniforms), foreign("colours"));
    assert_eq!(pass.draw(&own_colors, &its_square, &uniforms(), &NoUniforms), foreign("square"));
    let shading: Shading<'_, ShadedVertex<2>, NoUniforms, 2> = Shading::PreShaded;
    let images = Pipeline::new(&device, &PipelineDescriptor::new("images", shading, &textured::FRAGMENT)).unwrap();
    let image = textured::FragmentUniforms { image: its_texture.bind(&Sampler::NEAREST).unwrap() };
    let drawn = pass.draw_vertices(&images, Primitive::Triangles, &rectangle(), &NoUniforms, &image);
    assert_eq!(drawn, foreign("images"));
    assert_eq!(its_texture.write_all(&device, &[0; 64 * 64 * 4]), foreign("other page"));
    assert_eq!(its_page.read(&device, &mut [0; 4]), foreign("other page"));
    assert!(matches!(device.wait(far_fence(&other)), Err(Error::Driver(v3d::Error::UnknownFence(_)))));

    // After each error the frame is unchanged.
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut pixels = [0; 4 * 64 * 64];
    page.read(&device, &mut pixels).unwrap();
    assert_eq!(pixels, [7; 4 * 64 * 64]);
    drop(images);
    assert_eq!(device.pool().used(), used);
}

fn model_of_other() -> Model {
    model(4 << 20)
}

fn device_of_other(model: &Model) -> Device<'_, Model> {
    device(model)
}

/// A fence that the first device has not reached.
fn far_fence(device: &Device<'_, Model>) -> v3d::Fence {
    let page = target(device, "page", Tiling::Raster).unwrap();
    let mut last = v3d::Fence::NONE;
    for _ in 0..3 {
        let mut frame = device.frame().unwrap();
        frame.pass(&PassDescriptor::to(&page).clear([0.0; 4])).unwrap();
        last = frame.submit().unwrap();
    }
    last
}

/// A draw that would sample its own pass's target is an error; the pass can continue without it.
#[test]
fn a_target_is_not_read_while_it_is_drawn_to() {
    let model = model(4 << 20);
    let device = device(&model);
    let mirror = target(&device, "mirror", Tiling::TFormat).unwrap();
    let image =
        textured::FragmentUniforms { image: Texture::of_target(&mirror).unwrap().bind(&Sampler::NEAREST).unwrap() };
    let shading: Shading<'_, ShadedVertex<2>, NoUniforms, 2> = Shading::PreShaded;
    let images = Pipeline::new(&device, &PipelineDescriptor::new("images", shading, &textured::FRAGMENT)).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&mirror).clear(unorm([5, 6, 7, 8]))).unwrap();
    for _ in 0..2 {
        let drawn = pass.draw_vertices(&images, Primitive::Triangles, &rectangle(), &NoUniforms, &image);
        assert_eq!(drawn, Err(Error::TargetInUse { label: "mirror" }));
    }
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    let mut pixels = [0; 4 * 64 * 64];
    mirror.read(&device, &mut pixels).unwrap();
    assert!(pixels.as_chunks::<4>().0.iter().all(|pixel| *pixel == [5, 6, 7, 8]));
}

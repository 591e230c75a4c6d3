//! A kernel that draws: the chip's blocks come from `bcm283x`, the driver from `v3d`, and the rest from the renderer.
//!
//! [`kernel_main`] needs only loads and stores of physical addresses: on a Pi Zero, 2 or 3 `main.rs` provides them, on the host the model does (the
//! renderer's example `10_own_kernel`).
#![no_std]
#![forbid(unsafe_code)]

use bcm283x::{Bus, Chip, Swapchain, framebuffer::Allocation};
use programs::{
    smooth,
    transformed::{SHADING, Uniforms, Vertex},
};
use renderer::{
    Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target,
    glam::{Mat4, Vec3},
    rows, unorm,
};
use shader_interface::NoUniforms;
use v3d::{Driver, Fence, Interrupts, Limits, Platform};

#[rustfmt::skip]
#[allow(unreachable_pub, reason = "generated for libraries of programs")]
mod programs;

/// The whole kernel: initialises the GPU, and draws a number of frames, each into a page that the display does not show. `show` switches the display to a
/// page. Returns the page that is shown at the end.
pub fn kernel_main<B: Bus>(
    chip: &Chip<B>,
    display: &Allocation,
    frames: u16,
    show: impl Fn(usize),
) -> Result<usize, Error> {
    let interrupts = Interrupts::new();
    let device = Device::new(Driver::bring_up(chip, &interrupts, Limits::default())?);
    let squares = Squares::new(&device)?;
    let mut pages = Swapchain::starting_at(0, display.pages);
    for number in 0..frames {
        // Each frame is finished before the next one, so there is always a free page.
        let Some(page) = pages.free_page() else { break };
        let address = chip.peripherals().bus_address(display.page_address(page));
        let target = Target::page("display", address, display.width, display.height, display.pitch_bytes)?;
        pages.begin(page, squares.draw(&device, &target, number)?);
        if let Some((page, fence)) = pages.take_oldest() {
            device.wait(fence)?;
            show(page);
            pages.present(page);
        }
    }
    Ok(pages.shown())
}

/// Nested squares, each rotated a little relative to the one around it.
struct Squares {
    /// A light and a dark square.
    meshes: [Mesh<Vertex>; 2],
    pipeline: Pipeline<Vertex, Uniforms, NoUniforms>,
}

/// Number of squares.
pub const SQUARES: u16 = 36;
/// Size of each square relative to the one around it.
pub const SHRINK: f32 = 0.9;
/// Rotation relative to the one around it.
pub const TURN: f32 = 0.12;
/// Red, green, blue from 0 to 1 of the outer squares.
pub const COLORS: [[f32; 3]; 2] = [[0.98, 0.72, 0.25], [0.36, 0.16, 0.42]];
/// Number of frames.
pub const FRAMES: u16 = 12;
/// Width and height of the display in pixels.
pub const SIZE_PX: [u32; 2] = [480, 320];

impl Squares {
    fn new<P: Platform>(device: &Device<'_, P>) -> Result<Self, Error> {
        let square = |color: [f32; 3]| {
            let corner = |(x, y)| Vertex { position: [x, y, 0.0], color };
            let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(corner);
            Mesh::new(device, "square", Primitive::TriangleStrip, &corners)
        };
        let [light, dark] = COLORS;
        let pipeline = Pipeline::new(device, &PipelineDescriptor::new("square", &SHADING, &smooth::FRAGMENT))?;
        Ok(Self { meshes: [square(light)?, square(dark)?], pipeline })
    }

    /// Draws frame number `number`; the squares turn.
    fn draw<P: Platform>(&self, device: &Device<'_, P>, page: &Target, number: u16) -> Result<Fence, Error> {
        let mut frame = device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(page).clear(unorm([24, 16, 32, 255])))?;
        let upright = Mat4::from_scale(Vec3::new(1.0 / page.aspect(), 1.0, 1.0));
        let inwards = Mat4::from_rotation_z(TURN) * Mat4::from_scale(Vec3::splat(SHRINK));
        let mut place = upright * Mat4::from_rotation_z(0.02 * f32::from(number)) * Mat4::from_scale(Vec3::splat(1.2));
        for n in 0..SQUARES {
            let mesh = &self.meshes[usize::from(n % 2)];
            pass.draw(&self.pipeline, mesh, &Uniforms { matrix: rows(&place) }, &NoUniforms)?;
            place *= inwards;
        }
        frame.submit()
    }
}

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

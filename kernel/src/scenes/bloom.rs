//! A knot of glass beads with two lights that run through them: bloom and tone mapping
//!
//! A lens and an eye scatter some of the light around what is bright; nothing else tells that a lamp on a screen is brighter than white paper. The beads are
//! drawn to a target of half floats, where a lamp may be twenty times as bright as white. Then what is brighter than white is drawn smaller, at a quarter and
//! at a sixteenth of the width, and blurred by Gaussians, first across and then down. The last pass adds both pictures to the first and maps the sum to the
//! display, as film does: 1 - 2^(-exposure * light).
//!
//! The beads are points, drawn from far to near. Their smooth edges are blended, because targets of half floats have only one sample per pixel.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms,
    beads::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
    bloom, blurred, bright, gradient,
};
use renderer::{
    Blend, Format, Frame, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Shading, Target,
    TargetDescriptor, Texture,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
    texture::Wrap,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError, backdrop::bands, flight::whole};
use crate::{gpu::v3d_platform::V3dPlatform, scene_parts::moment::Moment};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "bloom",
    description: "lights that run through glass beads: bloom and tone mapping of half floats",
    start: |context| Ok(Box::new(Bloom::new(context)?)),
};

/// Beads of the knot, their radius, and the height of the floor that mirrors them.
const BEADS: u16 = 132;
const RADIUS: f32 = 0.105;
const FLOOR: f32 = -1.5;
/// Frames in which the lights run through the knot once, and in which the knot turns once.
const RUN: u64 = 420;
const TURN: u64 = 1500;
/// Colours of the two lights, where they are brightest.
const WARM: Vec3 = Vec3::new(22.0, 7.5, 1.6);
const COLD: Vec3 = Vec3::new(1.8, 6.5, 20.0);
/// The part of the light that the floor mirrors.
const MIRRORED: f32 = 0.14;
/// Colours of the room at the bottom, at the floor's edge and at the top.
const ROOM: [[f32; 3]; 3] = [[0.004, 0.004, 0.008], [0.050, 0.058, 0.090], [0.010, 0.013, 0.030]];
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// What is brighter than this blooms, how much of it from the sharper and from the softer picture, and the exposure of the tone mapping.
const THRESHOLD: f32 = 1.0;
const NEAR_SHARE: f32 = 0.16;
const FAR_SHARE: f32 = 0.30;
const EXPOSURE: f32 = 1.2;
/// Each picture is a quarter as wide and as high as the one before.
const SMALLER: u32 = 4;

type Film<F> = Pipeline<ShadedVertex<2>, NoUniforms, F>;

#[derive(Debug)]
struct Bloom {
    beads: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    backdrop: Pipeline<ShadedVertex<3>, NoUniforms, gradient::FragmentUniforms>,
    bright: Film<bright::FragmentUniforms>,
    blurred: Film<blurred::FragmentUniforms>,
    bloom: Film<bloom::FragmentUniforms>,
    light: Target,
    /// At a quarter and at a sixteenth of the width: the picture, and the same blurred across.
    near: [Target; 2],
    far: [Target; 2],
}

impl Bloom {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let (device, screen) = (context.device, &context.target);
        let target = |label, smaller: u32| {
            let (width_px, height_px) = (screen.width_px() / smaller, screen.height_px() / smaller);
            let (format, tiling) = (Format::Rgba16Float, Tiling::TFormat);
            Target::new(device, &TargetDescriptor { label, width_px, height_px, format, tiling })
        };
        let beads = PipelineDescriptor::new("beads", &SHADING, &FRAGMENT);
        let backdrop = PipelineDescriptor::new("backdrop", Shading::PreShaded, &gradient::FRAGMENT);
        Ok(Self {
            beads: Pipeline::new(device, &PipelineDescriptor { half_color: true, blend: Blend::ALPHA, ..beads })?,
            backdrop: Pipeline::new(device, &PipelineDescriptor { half_color: true, ..backdrop })?,
            bright: Pipeline::new(device, &PipelineDescriptor::new("bright", Shading::PreShaded, &bright::FRAGMENT))?,
            blurred: Pipeline::new(
                device,
                &PipelineDescriptor::new("blurred", Shading::PreShaded, &blurred::FRAGMENT),
            )?,
            bloom: Pipeline::new(device, &PipelineDescriptor::new("bloom", Shading::PreShaded, &bloom::FRAGMENT))?,
            light: target("light", 1)?,
            near: [target("near", SMALLER)?, target("near, across", SMALLER)?],
            far: [target("far", SMALLER * SMALLER)?, target("far, across", SMALLER * SMALLER)?],
        })
    }

    /// Draws a quarter of a picture, of what is brighter than a threshold, and blurs it.
    fn shrink(
        &self,
        frame: &mut Frame<'_, V3dPlatform>,
        from: &Target,
        [to, across]: &[Target; 2],
        threshold: f32,
    ) -> Result<(), SceneError> {
        let [x, y] = texel(from);
        let bright = bright::FragmentUniforms { texel: [x, y], image: filtered(from)?, threshold };
        film(frame, to, &self.bright, &bright)?;
        let [x, y] = texel(to);
        for (from, to, [x, y]) in [(to, across, [x, 0.0]), (across, to, [0.0, y])] {
            let [near, far] = [18.0 / 13.0, 42.0 / 13.0].map(|texels| [texels * x, texels * y]);
            film(frame, to, &self.blurred, &blurred::FragmentUniforms { near, far, image: filtered(from)? })?;
        }
        Ok(())
    }
}

/// Width and height of a target's pixel as parts of the whole.
fn texel(target: &Target) -> [f32; 2] {
    [1.0 / target.width_px() as f32, 1.0 / target.height_px() as f32]
}

fn filtered(target: &Target) -> Result<qpu_shaders::Texture2d64, SceneError> {
    Ok(Texture::of_target(target)?.bind_64(&Sampler::LINEAR.wrapped(Wrap::Clamp))?)
}

/// A pass that computes each pixel of a target from its place.
fn film<F: qpu_shaders::UniformData>(
    frame: &mut Frame<'_, V3dPlatform>,
    to: &Target,
    pipeline: &Film<F>,
    uniforms: &F,
) -> Result<(), SceneError> {
    let mut pass = frame.pass(&PassDescriptor::to(to))?;
    let corners = whole(to, |x, y| [0.5 + 0.5 * x, 0.5 - 0.5 * y]);
    Ok(pass.draw_vertices(pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, uniforms)?)
}

/// The place of a bead: a string on a torus, around which it is wound three times while it goes around twice.
fn place(number: u16) -> Vec3 {
    let share = f32::from(number) / f32::from(BEADS) * TAU;
    let (around, wound) = (Vec2::from_angle(2.0 * share), Vec2::from_angle(3.0 * share));
    let radius = 1.25 + 0.52 * wound.x;
    Vec3::new(radius * around.x, 0.62 * wound.y, radius * around.y)
}

/// The light of a bead: it flares up when one of both lights arrives, and dies away behind it.
fn light(number: u16, run: f32) -> Vec3 {
    let share = f32::from(number) / f32::from(BEADS);
    // How far the lights have gone since they passed, as a part of the knot.
    let behind = Vec2::new(run - share, run - share + 0.5).fract_gl();
    let [warm, cold] = behind.to_array().map(|behind| {
        let tail = (1.0 - 1.3 * behind).max(0.0);
        let before = (1.0 - 40.0 * (1.0 - behind)).max(0.0);
        tail * tail * tail * tail * tail * tail + 0.6 * before
    });
    warm * WARM + cold * COLD
}

impl Scene for Bloom {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let aspect = context.target.aspect();
        let view = look_at_mat4(Vec3::new(0.0, 0.9, 5.6), Vec3::new(0.0, -0.4, 0.0), Vec3::Y);
        let camera = perspective(FRAC_PI_4, aspect, 0.5, 30.0) * view;
        let turned = Mat4::from_rotation_y(moment.ticks(TURN) / TURN as f32 * TAU) * Mat4::from_rotation_x(0.62);
        let run = moment.ticks(RUN) / RUN as f32;
        let mut beads = Vec::with_capacity(2 * usize::from(BEADS));
        for number in 0..BEADS {
            let place = turned.transform_point3(place(number));
            let (light, below) = (light(number, run), Vec3::new(place.x, 2.0 * FLOOR - place.y, place.z));
            beads.push(Vertex { place: place.to_array(), radius: [RADIUS], light: light.to_array() });
            beads.push(Vertex { place: below.to_array(), radius: [RADIUS], light: (MIRRORED * light).to_array() });
        }
        // What is below the floor is behind it; otherwise the farther ones come first.
        beads.sort_by(|a, b| {
            let key = |bead: &Vertex| (bead.place[1] > FLOOR, view.transform_point3(Vec3::from_array(bead.place)).z);
            let ((a_above, a), (b_above, b)) = (key(a), key(b));
            a_above.cmp(&b_above).then(a.total_cmp(&b))
        });

        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&self.light).clear([0.0; 4]))?;
        let horizon = view.transform_vector3(Vec3::Y).z / HALF;
        let room = bands(&self.light, [-1.0, horizon, 1.0].into_iter().zip(ROOM));
        pass.draw_vertices(&self.backdrop, Primitive::TriangleStrip, &room, &NoUniforms, &gradient::FragmentUniforms)?;
        let size = self.light.height_px() as f32 / HALF;
        let seen = Uniforms { matrix: rows(&camera), size };
        pass.draw_vertices(&self.beads, Primitive::Points, &beads, &seen, &FragmentUniforms)?;
        self.shrink(&mut frame, &self.light, &self.near, THRESHOLD)?;
        self.shrink(&mut frame, &self.near[0], &self.far, 0.0)?;
        let all = bloom::FragmentUniforms {
            image: Texture::of_target(&self.light)?.bind_64(&Sampler::NEAREST)?,
            near: filtered(&self.near[0])?,
            far: filtered(&self.far[0])?,
            near_share: NEAR_SHARE,
            far_share: FAR_SHARE,
            exposure: EXPOSURE,
        };
        film(&mut frame, &context.target, &self.bloom, &all)?;
        Ok(frame.submit()?)
    }
}

//! A flight over hills with trees, in the haze of a morning: normal mapping, fog, and pictures instead of leaves
//!
//! The hills are a formula, of which a mesh has a point every two metres; what is smaller is in a texture of slopes, which `ground.wgsl` adds to the
//! mesh's normals at two sizes, so that light and shadow show it. A tree is a rectangle that turns towards the eye, with a picture that is clear around the
//! leaves. Alpha decides how many of a pixel's four samples are written (alpha to coverage), so trees need not be sorted, and their edges are smooth. Haze
//! fades what is far to the colour of the air, which is warmer around the sun. The sky is drawn last, where nothing is in front of it.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms,
    ground::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
    sky, trees,
};
use renderer::{
    Compare, Cull, Depth, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples, Shading,
    Texture,
    glam::{
        Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
    texture::Wrap,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError, flight::whole, textured_cube::mipmapped};
use crate::{
    gpu::GpuDevice,
    scene_parts::{
        foliage::{self, Kind},
        moment::Moment,
        noise::{self, random},
    },
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "landscape",
    description: "a flight over hills with trees: normal mapping, fog and alpha to coverage, shaders in WGSL",
    start: |context| Ok(Box::new(Landscape::new(context.device)?)),
};

/// Frames in which the eye flies around once, in which it rises and sinks, and in which the clouds drift by the width of their texture.
const TURN: u64 = 3600;
const WAVE: u64 = 1200;
const DRIFT: u64 = 36_000;
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// The circle that the eye flies, and its height.
const CIRCLE: f32 = 30.0;
const EYE_HEIGHT: f32 = 6.2;
/// Distance between points of the mesh; blocks across, and cells across a block. Blocks behind the eye are not drawn.
const CELL: f32 = 2.0;
const BLOCKS: u16 = 6;
const CELLS: u16 = 16;
const HALF_SIDE: f32 = 0.5 * CELL * (BLOCKS * CELLS) as f32;
/// Places where a tree may be.
const TREES: u32 = 2600;
/// Direction to the sun.
const TO_SUN: Vec3 = Vec3::new(-0.62, 0.36, -0.70);
/// Texels across the texture of slopes, hills across it, their sizes, and how steep they are.
const DETAIL_PX: u32 = 256;
const DETAIL_HILLS: u32 = 4;
const DETAIL_SIZES: u32 = 6;
const STEEPNESS: f32 = 7.0;

#[derive(Debug)]
struct Landscape {
    blocks: Vec<(Mesh<Vertex>, Vec3)>,
    trees: Mesh<trees::Vertex>,
    ground: Pipeline<Vertex, Uniforms, FragmentUniforms>,
    wood: Pipeline<trees::Vertex, trees::Uniforms, trees::FragmentUniforms>,
    sky: Pipeline<ShadedVertex<3>, NoUniforms, sky::FragmentUniforms>,
    detail: Texture,
    leaves: Texture,
}

impl Landscape {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let samples = Samples::Four;
        let ground = PipelineDescriptor::new("ground", &SHADING, &FRAGMENT);
        let ground = PipelineDescriptor { depth: Depth::LESS, samples, cull: Cull::Back, ..ground };
        let wood = PipelineDescriptor::new("trees", &trees::SHADING, &trees::FRAGMENT);
        let wood = PipelineDescriptor { depth: Depth::LESS, samples, alpha_to_coverage: true, ..wood };
        let sky = PipelineDescriptor::new("sky", Shading::PreShaded, &sky::FRAGMENT);
        let depth = Depth { test: Compare::LessOrEqual, write: false };
        let slopes = noise::normals(&noise::hills(DETAIL_PX, DETAIL_HILLS, DETAIL_SIZES), DETAIL_PX, STEEPNESS);
        let blocks = (0..BLOCKS * BLOCKS).map(|number| block(device, number % BLOCKS, number / BLOCKS));
        Ok(Self {
            blocks: blocks.collect::<Result<_, _>>()?,
            trees: forest(device)?,
            ground: Pipeline::new(device, &ground)?,
            wood: Pipeline::new(device, &wood)?,
            sky: Pipeline::new(device, &PipelineDescriptor { depth, samples, ..sky })?,
            detail: mipmapped(device, "slopes", [DETAIL_PX; 2], &slopes)?,
            leaves: mipmapped(device, "leaves", [2 * foliage::SIZE, foliage::SIZE], &leaves())?,
        })
    }
}

/// The height of the ground: hills, and mountains around them.
fn height(at: Vec2) -> f32 {
    let sine = |angle: f32| Vec2::from_angle(angle).y;
    let Vec2 { x, y: z } = at;
    let hills = 2.4 * sine(0.105 * x + 0.7) * sine(0.088 * z + 1.57)
        + 1.3 * sine(0.19 * x + 0.27 * z + 1.3)
        + 0.6 * sine(0.43 * x - 0.37 * z + 0.4);
    let rise = ((at.length() - 44.0) / 50.0).clamp(0.0, 1.0);
    hills + 17.0 * rise * rise * (1.0 + 0.45 * sine(0.09 * x + 1.0) * sine(0.11 * z + 0.5))
}

fn normal(at: Vec2) -> Vec3 {
    let step = 0.25;
    let slope = |along: Vec2| (height(at - step * along) - height(at + step * along)) / (2.0 * step);
    Vec3::new(slope(Vec2::X), 1.0, slope(Vec2::Y)).normalize()
}

/// A square of the ground, and its middle.
fn block(device: &GpuDevice, column: u16, row: u16) -> Result<(Mesh<Vertex>, Vec3), SceneError> {
    let across = CELLS + 1;
    let corner = Vec2::new(f32::from(column), f32::from(row)) * f32::from(CELLS) * CELL - HALF_SIDE;
    let vertex = |n: u16| {
        let at = corner + CELL * Vec2::new(f32::from(n % across), f32::from(n / across));
        Vertex { place: [at.x, height(at), at.y], normal: normal(at).to_array() }
    };
    let vertices: Vec<Vertex> = (0..across * across).map(vertex).collect();
    let cell = |n: u16| {
        let at = n / CELLS * across + n % CELLS;
        [at, at + across, at + 1, at + 1, at + across, at + across + 1]
    };
    let indices: Vec<u16> = (0..CELLS * CELLS).flat_map(cell).collect();
    let middle = corner + 0.5 * CELL * f32::from(CELLS);
    let mesh = Mesh::indexed(device, "ground", Primitive::Triangles, &vertices, &indices)?;
    Ok((mesh, Vec3::new(middle.x, height(middle), middle.y)))
}

/// The trees: where the ground is level enough, in groups, and not where the eye flies.
fn forest(device: &GpuDevice) -> Result<Mesh<trees::Vertex>, SceneError> {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for number in 0..TREES {
        let [x, z, size, kind] = [0, 1, 2, 3].map(|n| random(4 * number + n));
        let at = 1.8 * HALF_SIDE * (Vec2::new(x, z) - 0.5);
        let groups = Vec2::from_angle(0.13 * at.x + 2.0).y * Vec2::from_angle(0.15 * at.y).y;
        let is_near_eye = (at.length() - CIRCLE).abs() < 4.5;
        if normal(at).y < 0.90 || is_near_eye || size < 0.45 - 0.8 * groups {
            continue;
        }
        // Spruces grow higher up.
        let is_spruce = kind < 0.3 + 0.12 * height(at);
        let (half_width, tall) = if is_spruce { (1.5, 4.4) } else { (1.9, 3.5) };
        let grown = 0.7 + 0.5 * size;
        let first = vertices.len() as u16;
        for (across, up) in [(-1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (-1.0, 1.0)] {
            // The pictures are beside each other; each second tree is mirrored.
            let side = if number % 2 == 0 { across } else { -across };
            vertices.push(trees::Vertex {
                place: [at.x, height(at) - 0.12, at.y],
                corner: [across, up],
                size: [grown * half_width, grown * tall],
                s: [0.25 + 0.24 * side + if is_spruce { 0.5 } else { 0.0 }],
            });
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
    Ok(Mesh::indexed(device, "trees", Primitive::Triangles, &vertices, &indices)?)
}

/// Both pictures of trees, beside each other.
fn leaves() -> Vec<u8> {
    let row_bytes = 4 * foliage::SIZE as usize;
    let (oak, spruce) = (foliage::tree(Kind::Oak), foliage::tree(Kind::Spruce));
    oak.chunks(row_bytes).zip(spruce.chunks(row_bytes)).flat_map(|(left, right)| [left, right].concat()).collect()
}

impl Scene for Landscape {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let (target, aspect) = (&context.target, context.target.aspect());
        let turned = |period: u64, phase: f32| Vec2::from_angle(moment.ticks(period) / period as f32 * TAU + phase);
        let on_circle = turned(TURN, 0.3);
        let wave = turned(WAVE, 0.0);
        let eye = Vec3::new(CIRCLE * on_circle.x, EYE_HEIGHT + 0.9 * wave.y, CIRCLE * on_circle.y);
        let ahead =
            Vec3::new(-on_circle.y - 0.25 * on_circle.x, -0.10 - 0.03 * wave.x, on_circle.x - 0.25 * on_circle.y);
        let view = look_at_mat4(eye, eye + ahead, Vec3::Y);
        let camera = perspective(FRAC_PI_4, aspect, 0.5, 260.0) * view;
        let turned = view.inverse();
        let right = turned.transform_vector3(Vec3::X);
        let (to_sun, eye_place) = (TO_SUN.normalize().to_array(), eye.to_array());

        let mut frame = context.device.frame()?;
        let samples = Samples::Four;
        let mut pass = frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(target).clear([0.0; 4]) })?;
        let matrix = rows(&camera);
        let detail = self.detail.bind(&Sampler::TRILINEAR)?;
        let air = FragmentUniforms { eye: eye_place, to_sun, detail: detail.clone() };
        // Blocks that are not wholly behind the eye, the nearest ones first: what they hide is not shaded.
        let reach = 0.75 * CELL * f32::from(CELLS) + 8.0;
        let ahead = ahead.normalize();
        let is_seen = |middle: Vec3| (middle - eye).dot(ahead) > -reach;
        let mut seen: Vec<_> = self.blocks.iter().filter(|(_, middle)| is_seen(*middle)).collect();
        seen.sort_by(|(_, a), (_, b)| a.distance_squared(eye).total_cmp(&b.distance_squared(eye)));
        for (mesh, _) in seen {
            pass.draw(&self.ground, mesh, &Uniforms { matrix }, &air)?;
        }
        let uniforms = trees::Uniforms { matrix, right: right.to_array(), eye: eye_place, to_sun };
        let leaves = self.leaves.bind(&Sampler::TRILINEAR.wrapped(Wrap::Clamp))?;
        pass.draw(&self.wood, &self.trees, &uniforms, &trees::FragmentUniforms { leaves })?;
        let rays =
            whole(target, |x, y| turned.transform_vector3(Vec3::new(HALF * aspect * x, HALF * y, -1.0)).to_array());
        let air = sky::FragmentUniforms { to_sun, drift: moment.ticks(DRIFT) / DRIFT as f32, detail };
        pass.draw_vertices(&self.sky, Primitive::TriangleStrip, &rays, &NoUniforms, &air)?;
        Ok(frame.submit()?)
    }
}

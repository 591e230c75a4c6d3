//! Two fountains of sparks: 20,000 particles that user programs move
//!
//! Before each frame, a compute program runs on all QPUs, `sparks_move.wgsl`: it reads the state of each spark, its place, its speed and its age, and writes
//! the state after a sixtieth of a second to another array. This array is also a mesh: the frame draws its elements as points. So the CPU does not touch the
//! sparks after the start. Their light is added up, and they are drawn a second time below the floor, as its reflection.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, SQRT_2, TAU};

use compute::{Array, Compute};
use qpu_shaders::{
    NoUniforms, gradient,
    sparks::{FRAGMENT, SHADING, Uniforms, Vertex},
    sparks_move::{Bindings, COMPUTE},
};
use renderer::{
    Blend, BlendPart, Factor, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError, backdrop::bands};
use crate::{
    gpu::GpuDevice,
    scene_parts::{moment::Moment, noise::random},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "particles",
    description: "two fountains of sparks: 20,000 particles that user programs move, programs in WGSL",
    start: |context| Ok(Box::new(Particles::new(context.device)?)),
};

/// Number of sparks, and words of each.
const SPARKS: u32 = 20_000;
const WORDS: usize = 8;
/// Invocations of a workgroup.
const WORKGROUP: u32 = 64;
/// Steps of a sixtieth of a second before the first frame, after which all sparks have been thrown; and most steps in a frame.
const STEPS_BEFORE: u64 = 264;
const MOST_STEPS: u64 = 4;
const STEP_S: f32 = 1.0 / 60.0;
/// Steps in which the nozzles circle once, the wind changes, and the eye circles once.
const NOZZLES: u64 = 420;
const WIND: u64 = 900;
const TURN: u64 = 2400;
/// The distance of the nozzles from the middle, and the speed of their jets: outwards, upwards and in the direction of their motion.
const RADIUS: f32 = 1.5;
const JET: Vec3 = Vec3::new(-0.9, 5.3, 0.9);
/// Colours of the dark room at the bottom, at the horizon and at the top.
const ROOM: [[f32; 3]; 3] = [[0.004, 0.005, 0.012], [0.060, 0.058, 0.085], [0.008, 0.012, 0.040]];
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// Diameter of a spark.
const SIZE: f32 = 0.034;
/// Adds the fragment to the target.
const SUM: BlendPart = BlendPart::sum(Factor::One, Factor::One);

#[derive(Debug)]
struct Particles {
    compute: Compute,
    seeds: Array<f32>,
    /// The state before and after the last step in turn, each as an array and as a mesh.
    sparks: [(Array<f32>, Mesh<Vertex>); 2],
    /// Steps so far, and steps at the last frame's time.
    steps: u64,
    light: Pipeline<Vertex, Uniforms, NoUniforms>,
    backdrop: Pipeline<ShadedVertex<3>, NoUniforms, gradient::FragmentUniforms>,
}

/// What distinguishes a spark from others: its deviation from the jet, more or less upwards than aside, and its lives a second.
fn seed(number: u32) -> [f32; 4] {
    let [turn, aside, up, life] = [0, 1, 2, 3].map(|n| random(4 * number + n));
    let aside = 0.9 * aside * Vec2::from_angle(turn * TAU);
    [aside.x, 1.1 * (up - 0.5), aside.y, 1.0 / (1.8 + 2.4 * life)]
}

/// Sparks far above, which begin when their age is 1: each at another time.
fn waiting(number: u32) -> [f32; WORDS] {
    let age = random(4 * SPARKS + number);
    [0.0, 1000.0, 0.0, age, 0.0, 0.0, 0.0, (number % 2) as f32]
}

impl Particles {
    fn new(device: &GpuDevice) -> Result<Self, SceneError> {
        let mut compute = Compute::new();
        let seeds: Vec<f32> = (0..SPARKS).flat_map(seed).collect();
        let waiting: Vec<f32> = (0..SPARKS).flat_map(waiting).collect();
        let (seeds, arrays) = {
            let mut driver = device.driver()?;
            let mut gpu = compute.on(&mut driver);
            (gpu.array(&seeds)?, [gpu.array(&waiting)?, gpu.array(&waiting)?])
        };
        let drawn = |array: Array<f32>| {
            let mesh = Mesh::in_memory(device, "sparks", Primitive::Points, array.memory(), SPARKS)?;
            Ok::<_, SceneError>((array, mesh))
        };
        let [before, after] = arrays;
        let light = PipelineDescriptor::new("light", &SHADING, &FRAGMENT);
        let backdrop = PipelineDescriptor::new("backdrop", Shading::PreShaded, &gradient::FRAGMENT);
        let mut particles = Self {
            compute,
            seeds,
            sparks: [drawn(before)?, drawn(after)?],
            steps: 0,
            light: Pipeline::new(device, &PipelineDescriptor { blend: Blend::both(SUM), ..light })?,
            backdrop: Pipeline::new(device, &backdrop)?,
        };
        for _ in 0..STEPS_BEFORE {
            particles.step(device)?;
        }
        Ok(particles)
    }

    /// Moves all sparks; the second array is the newer one afterwards.
    fn step(&mut self, device: &GpuDevice) -> Result<(), SceneError> {
        let share = |period: u64| (self.steps % period) as f32 / period as f32;
        let outwards = Vec2::from_angle(share(NOZZLES) * TAU);
        let nozzle = RADIUS * outwards;
        let aside = JET.x * outwards + JET.z * outwards.perp();
        self.sparks.swap(0, 1);
        let [(before, _), (after, _)] = &mut self.sparks;
        let bindings = Bindings {
            seconds: STEP_S,
            phase: share(WIND) * TAU,
            nozzle: [nozzle.x, 0.05, nozzle.y],
            jet: [aside.x, JET.y, aside.y],
            seeds: self.seeds.storage(),
            before: before.storage(),
            after: after.storage_mut(),
        };
        let mut driver = device.driver()?;
        self.compute.on(&mut driver).dispatch(&COMPUTE, [SPARKS.div_ceil(WORKGROUP), 1, 1], &bindings)?;
        self.steps += 1;
        Ok(())
    }
}

impl Scene for Particles {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        // One step in each frame of a fixed step; live, as many as the clock demands.
        let behind = (moment.tick() + STEPS_BEFORE + 1).saturating_sub(self.steps);
        if behind > MOST_STEPS {
            self.steps += behind - MOST_STEPS;
        }
        for _ in 0..behind.min(MOST_STEPS) {
            self.step(context.device)?;
        }
        let target = &context.target;
        let eye =
            Mat4::from_rotation_y(moment.ticks(TURN) / TURN as f32 * TAU).transform_point3(Vec3::new(0.0, 1.7, 7.4));
        let view = look_at_mat4(eye, Vec3::new(0.0, 1.35, 0.0), Vec3::Y);
        let camera = perspective(FRAC_PI_4, target.aspect(), 0.5, 50.0) * view;
        let size = SIZE * target.height_px() as f32 / (2.0 * HALF);

        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(target).clear([0.0; 4]))?;
        let pitch = view.transform_vector3(Vec3::Y).z;
        let room = bands(target, [-1.0, pitch / HALF, 1.0].into_iter().zip(ROOM));
        pass.draw_vertices(&self.backdrop, Primitive::TriangleStrip, &room, &NoUniforms, &gradient::FragmentUniforms)?;
        let [_, (_, sparks)] = &self.sparks;
        for (height, brightness) in [(-1.0, 0.13), (1.0, 0.62)] {
            let matrix = camera * Mat4::from_scale(Vec3::new(1.0, height, 1.0));
            pass.draw(&self.light, sparks, &Uniforms { matrix: rows(&matrix), size, brightness }, &NoUniforms)?;
        }
        Ok(frame.submit()?)
    }
}

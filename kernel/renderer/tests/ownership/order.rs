//! Resources are created, used and dropped in pseudorandom order, even while frames that use them wait for the GPU.

use std::ops::Range;

use qpu_shaders::{NoUniforms, smooth, textured, transformed};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Device, Error, Frame, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Shading, Target,
    Texture, unorm,
};
use v3d::hw::tiling::Tiling;
use v3d::platform::{GpuMemory, Time};
use v3d::pool::Pool;

use crate::failures::{corners, device, model, rectangle, target, uniforms};
use crate::heap::assert_gives_back;
use v3d_host::Model;

/// The seeds of the runs.
const SEEDS: Range<u32> = 0..20;
/// Steps of each run.
const STEPS: usize = 60;
/// The contents of free memory.
const PATTERN: u8 = 0xa5;

/// Random choices.
struct Random(v3d_sim::random::Random);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u32) as usize
    }

    /// Removes a random element.
    fn take<T>(&mut self, things: &mut Vec<T>) -> Option<T> {
        (!things.is_empty()).then(|| things.swap_remove(self.below(things.len())))
    }

    fn pick<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        (!things.is_empty()).then(|| &things[self.below(things.len())])
    }
}

type Images = Pipeline<ShadedVertex<2>, NoUniforms, textured::FragmentUniforms>;

/// The existing resources.
#[derive(Default)]
struct Things<'m> {
    meshes: Vec<Mesh<transformed::Vertex>>,
    colors: Vec<Pipeline<transformed::Vertex, transformed::Uniforms, NoUniforms>>,
    images: Vec<Images>,
    targets: Vec<Target>,
    textures: Vec<Texture>,
    /// Frames that are not yet submitted.
    frames: Vec<Frame<'m, Model>>,
}

impl<'m> Things<'m> {
    fn make(&mut self, device: &Device<'m, Model>, random: &mut Random) {
        match random.below(5) {
            0 => self.meshes.push(Mesh::new(device, "square", Primitive::TriangleStrip, &corners()).unwrap()),
            1 => {
                let descriptor = PipelineDescriptor::new("colours", &transformed::SHADING, &smooth::FRAGMENT);
                self.colors.push(Pipeline::new(device, &descriptor).unwrap());
            }
            2 => {
                let descriptor = PipelineDescriptor::new("images", Shading::PreShaded, &textured::FRAGMENT);
                self.images.push(Pipeline::new(device, &descriptor).unwrap());
            }
            3 => self.targets.push(target(device, "picture", Tiling::TFormat).unwrap()),
            _ => {
                let made = random.pick(&self.targets).map(|target| Texture::of_target(target).unwrap());
                self.textures.extend(made);
            }
        }
    }

    fn drop_any(&mut self, random: &mut Random) {
        match random.below(6) {
            0 => drop(random.take(&mut self.meshes)),
            1 => drop(random.take(&mut self.colors)),
            2 => drop(random.take(&mut self.images)),
            3 => drop(random.take(&mut self.targets)),
            4 => drop(random.take(&mut self.textures)),
            _ => drop(random.take(&mut self.frames)),
        }
    }

    fn is_empty(&self) -> bool {
        let pipelines = self.colors.is_empty() && self.images.is_empty();
        pipelines
            && self.meshes.is_empty()
            && self.targets.is_empty()
            && self.textures.is_empty()
            && self.frames.is_empty()
    }

    /// Records one to three passes with the existing resources.
    fn record(&mut self, device: &Device<'m, Model>, random: &mut Random) {
        let mut frame = device.frame().unwrap();
        for _ in 0..=random.below(3) {
            let Some(target) = random.pick(&self.targets) else { continue };
            let mut pass = frame.pass(&PassDescriptor::to(target).clear(unorm([PATTERN ^ 0xff; 4]))).unwrap();
            for _ in 0..random.below(4) {
                if let (Some(colors), Some(mesh)) = (random.pick(&self.colors), random.pick(&self.meshes)) {
                    pass.draw(colors, mesh, &uniforms(), &NoUniforms).unwrap();
                }
                if let (Some(images), Some(texture)) = (random.pick(&self.images), random.pick(&self.textures)) {
                    let image = textured::FragmentUniforms { image: texture.bind(&Sampler::NEAREST).unwrap() };
                    match pass.draw_vertices(images, Primitive::Triangles, &rectangle(), &NoUniforms, &image) {
                        Ok(()) | Err(Error::TargetInUse { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
        self.frames.push(frame);
    }
}

/// The free blocks of a pool, found by allocating them all; their contents are overwritten.
fn paint_free(model: &Model, pool: &Pool) -> Vec<(u32, u32)> {
    let mut taken = Vec::new();
    while let Ok(buffer) = pool.allocate(pool.largest_free(), 1) {
        taken.push(buffer);
    }
    let stretches = taken.iter().map(|buffer| (buffer.region().offset(), buffer.region().bytes())).collect();
    for buffer in &taken {
        let region = buffer.region();
        region.store(model, 0, &vec![PATTERN; region.bytes() as usize]).unwrap();
    }
    stretches
}

/// The allocated ranges, as bus addresses.
fn taken(model: &Model, free: &[(u32, u32)]) -> Vec<Range<u64>> {
    let base = u64::from(model.base().offset());
    let mut free = free.to_vec();
    free.sort_unstable();
    let mut start = 0;
    let mut taken = Vec::new();
    for (offset, bytes) in free.into_iter().chain([(model.bytes(), 0)]) {
        taken.push(base + u64::from(start)..base + u64::from(offset));
        start = offset + bytes;
    }
    taken
}

/// Executes the waiting jobs without access to free memory: it must not be written, and reading it is a fault.
fn run_and_look(model: &Model, pool: &Pool, seed: u32) {
    let free = paint_free(model, pool);
    *model.within.borrow_mut() = Some([Vec::new(), taken(model, &free)]);
    model.wait_until(0);
    *model.within.borrow_mut() = None;
    for (offset, bytes) in free {
        let mut found = vec![0; bytes as usize];
        model.load(offset, &mut found);
        let written = found.iter().position(|&byte| byte != PATTERN);
        assert_eq!(written.map(|at| offset + at as u32), None, "seed {seed}: the GPU wrote to free memory");
    }
    assert_eq!(model.take_faults(), [], "seed {seed}");
}

/// A run on a pool of 1 MiB, which must be empty at the end; returns the number of passes drawn.
fn live(seed: u32) -> u64 {
    let model = model(1 << 20);
    let device = device(&model);
    let before = device.pool().used();
    *model.held.borrow_mut() = Some(Vec::new());
    let mut random = Random(v3d_sim::random::Random::new(0, seed.into()));
    let mut things = Things::default();
    for _ in 0..STEPS {
        match random.below(10) {
            0..=4 => things.make(&device, &mut random),
            5..=6 => things.record(&device, &mut random),
            7 => drop(random.take(&mut things.frames).map(|frame| frame.submit().unwrap())),
            8 => things.drop_any(&mut random),
            _ => run_and_look(&model, device.pool(), seed),
        }
    }
    while !things.is_empty() {
        if let Some(frame) = random.take(&mut things.frames) {
            frame.submit().unwrap();
        }
        things.drop_any(&mut random);
    }
    run_and_look(&model, device.pool(), seed);
    device.driver().unwrap().wait_until_idle();
    assert_eq!(device.pool().used(), before, "seed {seed}: bytes of the pool");
    let drawn = device.driver_ref().unwrap().statistics().jobs_done;
    // Device clones may be dropped before or after results are read: they refer to the same device.
    drop(device.clone());
    drawn
}

#[test]
fn things_go_in_any_order_while_frames_are_under_way() {
    let mut drawn = 0;
    assert_gives_back("lives", || drawn = SEEDS.map(live).sum());
    println!("{drawn} passes drawn in {} lives", SEEDS.len());
    assert!(drawn > 50, "{drawn} passes");
}

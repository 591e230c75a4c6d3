//! However the renderer is used, the GPU accesses only the pool and the pages that it was given to draw to.
//!
//! Cases are pseudorandom uses of the public interface, valid and invalid ones. The model runs them with only the pool and one page present in memory, so that
//! each access outside is a fault; no other faults may occur either. Invalid uses return errors, and the next frame is correct.

use qpu_shaders::{NoUniforms, model as lit, model_colored, points, smooth, smooth_lines, textured, transformed};
use renderer::glam::Mat4;
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    AlphaTest, Blend, BlendPart, Compare, Cull, Depth, Device, Equation, Error, Factor, Format, Frame, Indices, Mesh,
    PassDescriptor, Pipeline, PipelineDescriptor, PolygonOffset, Primitive, Rectangle, Sampler, Samples, Shading,
    Target, TargetDescriptor, Texture, TextureDescriptor, rows,
};
use v3d::hw::BusAddr;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::platform::GpuMemory;
use v3d::{Driver, Limits};
use v3d_host::Model;
use v3d_sim::Config;

/// The seeds of the cases.
const SEEDS: core::ops::Range<u32> = 0..250;
const POOL_BYTES: u32 = 4 << 20;
/// A display's page, before the pool.
const PAGE: u32 = 0x8_0000;
const PAGE_SIDE: u32 = 64;

struct Random(v3d_sim::random::Random);

impl Random {
    /// 24 random bits.
    fn bits(&mut self) -> u32 {
        self.0.below(1 << 24)
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.bits() % bound
    }

    fn any<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.bits() as usize % things.len()]
    }

    /// True with a probability of 1 in `many`.
    fn one_in(&mut self, many: u32) -> bool {
        self.below(many) == 0
    }

    /// Mostly a number from -2 to 2; sometimes NaN, infinity or an extreme one.
    fn float(&mut self) -> f32 {
        const HARD: [f32; 12] = [
            0.0,
            -0.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            1e-30,
            3e9,
            -70_000.0,
            2049.0,
        ];
        if self.one_in(8) { self.any(&HARD) } else { self.bits() as f32 / (1 << 22) as f32 - 2.0 }
    }

    fn floats<const N: usize>(&mut self) -> [f32; N] {
        [0.0; N].map(|_: f32| self.float())
    }

    /// A side of a picture, valid or not.
    fn side(&mut self) -> u32 {
        if self.one_in(6) { self.any(&[0, 1, 2047, 2048, 2049, 65_535, 65_536, u32::MAX]) } else { 1 + self.below(150) }
    }

    fn primitive(&mut self) -> Primitive {
        self.any(&Primitive::ALL)
    }
}

/// Statistics of a case.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    drawn: u32,
    refused: u32,
}

impl Counts {
    fn note<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => {
                self.drawn += 1;
                Some(value)
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                self.refused += 1;
                None
            }
        }
    }
}

/// Vertices as bytes, with indices of any width that are mostly in range.
fn mesh<V: qpu_shaders::VertexData>(device: &Device<'_, Model>, random: &mut Random) -> Result<Mesh<V>, Error> {
    let count = 1 + random.below(40);
    let bytes = count as usize * V::BYTES - usize::from(random.one_in(20));
    let words = (0..bytes.div_ceil(4)).flat_map(|_| random.float().to_le_bytes());
    let vertices: Vec<u8> = words.take(bytes).collect();
    let beyond = random.one_in(4);
    let number = random.below(60) as usize;
    let mut index = || if beyond { random.bits() } else { random.below(count) };
    let wide: Vec<u32> = (0..number).map(|_| index()).collect();
    let narrow: Vec<u16> = wide.iter().map(|&index| index as u16).collect();
    let bytes: Vec<u8> = wide.iter().map(|&index| index as u8).collect();
    let indices = match random.below(6) {
        0 => None,
        1 => Some(Indices::U8(&bytes)),
        2 => Some(Indices::U16(&narrow)),
        3 => Some(Indices::Bytes16(&bytes)),
        4 => Some(Indices::Bytes32(&bytes)),
        _ => Some(Indices::U32(&wide)),
    };
    Mesh::from_bytes(device, "mesh", random.primitive(), &vertices, indices)
}

/// A pipeline's state, valid or not.
fn with_state<'a, V, U, F, const N: usize>(
    plain: PipelineDescriptor<'a, V, U, F, N>,
    samples: Samples,
    random: &mut Random,
) -> PipelineDescriptor<'a, V, U, F, N> {
    let hard = random.one_in(3);
    let number = |random: &mut Random| if hard { random.float() } else { 1.0 + random.below(12) as f32 };
    let mut part = || BlendPart {
        equation: random.any(&Equation::ALL),
        source: random.any(&Factor::ALL),
        target: random.any(&Factor::ALL),
    };
    let (color, alpha) = (part(), part());
    PipelineDescriptor {
        depth: Depth { test: random.any(&Compare::ALL), write: random.one_in(2) },
        blend: if random.one_in(2) { Blend { color, alpha, constant: [1, 90, 180, 255] } } else { Blend::NONE },
        alpha_test: AlphaTest { test: Compare::Greater, reference: 3 },
        samples: if random.one_in(8) { Samples::Four } else { samples },
        cull: random.any(&[Cull::None, Cull::Front, Cull::Back]),
        polygon_offset: PolygonOffset { factor: number(random), units: number(random) },
        line_width_px: number(random),
        point_size_px: number(random),
        ..plain
    }
}

/// A target of the renderer, or the page.
fn target(device: &Device<'_, Model>, machine: &Model, random: &mut Random) -> Result<Target, Error> {
    if random.one_in(4) {
        let alias = machine.base().0 & !0x3fff_ffff;
        return Target::page("page", BusAddr(alias | PAGE), PAGE_SIDE, PAGE_SIDE, 4 * PAGE_SIDE);
    }
    let descriptor = TargetDescriptor {
        label: "target",
        width_px: random.side(),
        height_px: random.side(),
        format: random.any(&[Format::Rgba8888, Format::Rgb565]),
        tiling: random.any(&[Tiling::Raster, Tiling::TFormat, Tiling::LtFormat]),
    };
    Target::new(device, &descriptor)
}

fn texture(device: &Device<'_, Model>, drawn_to: &Target, random: &mut Random) -> Result<Texture, Error> {
    if random.one_in(3) {
        return Texture::of_target(drawn_to);
    }
    let texture_type = random.any(&[
        TextureType::Rgba8888,
        TextureType::Rgb565,
        TextureType::Etc1,
        TextureType::Rgba32R,
        TextureType::Bw1,
        TextureType::Rgba64,
        TextureType::Alpha,
        TextureType::S16,
    ]);
    let levels = if random.one_in(3) { random.below(20) } else { 1 };
    let (width_px, height_px) = (random.side(), random.side());
    let texture =
        Texture::new(device, &TextureDescriptor { label: "texture", texture_type, width_px, height_px, levels })?;
    if random.one_in(2) {
        let bytes = vec![0x77; random.below(100_000) as usize];
        texture.write_all(device, &bytes)?;
    }
    Ok(texture)
}

/// A pass of pseudorandom draws.
fn pass(
    device: &Device<'_, Model>,
    frame: &mut Frame<'_, Model>,
    target: &Target,
    random: &mut Random,
    counts: &mut Counts,
) {
    let samples = if random.one_in(3) { Samples::Four } else { Samples::One };
    let descriptor = PassDescriptor {
        clear: (!random.one_in(4)).then(|| if random.one_in(8) { random.floats() } else { [0.04, 3.0, -1.0, 0.5] }),
        clear_depth: if random.one_in(3) { random.float() } else { 1.0 },
        clear_stencil: random.bits() as u8,
        samples,
        double_buffer: random.one_in(4),
        ..PassDescriptor::to(target)
    };
    let Some(mut pass) = counts.note(frame.pass(&descriptor)) else { return };
    for _ in 0..random.below(6) {
        if random.one_in(3) {
            let mut side = || random.bits() as u16 >> random.below(16);
            let (x_px, y_px, width_px, height_px) = (side(), side(), side(), side());
            pass.set_scissor(Some(Rectangle { x_px, y_px, width_px, height_px }));
        }
        let hard = random.one_in(3);
        let matrix = if hard { random.floats() } else { rows(&Mat4::IDENTITY) };
        let uniforms = transformed::Uniforms { matrix };
        match random.below(5) {
            0 => {
                let plain = PipelineDescriptor::new("colours", &transformed::SHADING, &smooth::FRAGMENT);
                let pipeline = counts.note(Pipeline::new(device, &with_state(plain, samples, random)));
                let mesh = counts.note(mesh(device, random));
                if let (Some(pipeline), Some(mesh)) = (pipeline, mesh) {
                    counts.note(pass.draw_instances(&pipeline, &mesh, &[uniforms, uniforms], &NoUniforms));
                }
            }
            1 => {
                let plain = PipelineDescriptor::new("lines", &transformed::SHADING, &smooth_lines::FRAGMENT);
                let pipeline = counts.note(Pipeline::new(device, &with_state(plain, samples, random)));
                let mesh = counts.note(mesh(device, random));
                if let (Some(pipeline), Some(mesh)) = (pipeline, mesh) {
                    counts.note(pass.draw(&pipeline, &mesh, &uniforms, &NoUniforms));
                }
            }
            2 => {
                let plain = PipelineDescriptor::new("points", &points::SHADING, &points::FRAGMENT);
                let pipeline = counts.note(Pipeline::new(device, &with_state(plain, samples, random)));
                let mesh = counts.note(mesh(device, random));
                if let (Some(pipeline), Some(mesh)) = (pipeline, mesh) {
                    counts.note(pass.draw(&pipeline, &mesh, &points::Uniforms { matrix }, &NoUniforms));
                }
            }
            3 => {
                let plain = PipelineDescriptor::new("model", &lit::SHADING, &model_colored::FRAGMENT);
                let pipeline = counts.note(Pipeline::new(device, &with_state(plain, samples, random)));
                let mesh = counts.note(mesh(device, random));
                let uniforms = lit::Uniforms {
                    matrix,
                    normal_matrix: random.floats(),
                    to_light: [1.0; 3],
                    ambient: random.float(),
                };
                let fragment = model_colored::FragmentUniforms { base_color: random.floats() };
                if let (Some(pipeline), Some(mesh)) = (pipeline, mesh) {
                    counts.note(pass.draw(&pipeline, &mesh, &uniforms, &fragment));
                }
            }
            _ => {
                let shading: Shading<'_, ShadedVertex<2>, NoUniforms, 2> = Shading::PreShaded;
                let plain = PipelineDescriptor::new("images", shading, &textured::FRAGMENT);
                let pipeline = counts.note(Pipeline::new(device, &with_state(plain, samples, random)));
                let image = counts.note(texture(device, target, random).and_then(|texture| {
                    texture.bind(&random.any(&[Sampler::NEAREST, Sampler::LINEAR, Sampler::TRILINEAR]))
                }));
                let vertices: Vec<_> = (0..random.below(12))
                    .map(|_| {
                        let [x, y, depth] = random.floats();
                        ShadedVertex::flat(x, y, depth, 512.0, -512.0, random.floats())
                    })
                    .collect();
                if let (Some(pipeline), Some(image)) = (pipeline, image) {
                    let fragment = textured::FragmentUniforms { image };
                    let primitive = random.primitive();
                    counts.note(pass.draw_vertices(&pipeline, primitive, &vertices, &NoUniforms, &fragment));
                }
            }
        }
    }
}

/// Draws a simple frame and checks it: a picture of one colour.
fn assert_next_frame_is_right(machine: &Model, device: &Device<'_, Model>, seed: u32) {
    let descriptor = TargetDescriptor {
        label: "known",
        width_px: 40,
        height_px: 40,
        format: Format::Rgba8888,
        tiling: Tiling::Raster,
    };
    let target = Target::new(device, &descriptor).unwrap();
    let descriptor = PipelineDescriptor::new("known", &transformed::SHADING, &smooth::FRAGMENT);
    let pipeline = Pipeline::new(device, &descriptor).unwrap();
    let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
        .map(|[x, y]| transformed::Vertex { position: [x, y, 0.0], color: [1.0, 0.0, 1.0] });
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear([0.0; 4])).unwrap();
    let uniforms = transformed::Uniforms { matrix: rows(&Mat4::IDENTITY) };
    pass.draw_vertices(&pipeline, Primitive::Triangles, &corners, &uniforms, &NoUniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(machine.take_faults(), [], "seed {seed}");
    let mut pixels = [0; 4 * 40 * 40];
    target.read(device, &mut pixels).unwrap();
    assert!(pixels.as_chunks::<4>().0.iter().all(|pixel| *pixel == [255, 0, 255, 255]), "seed {seed}");
}

fn case(seed: u32) -> Counts {
    let config =
        Config { instruction_budget: 20_000_000, record_budget: 200_000, parallel: false, ..Config::default() };
    let machine = Model::new(POOL_BYTES, config);
    let base = u64::from(machine.base().offset());
    let page = u64::from(PAGE)..u64::from(PAGE + 4 * PAGE_SIDE * PAGE_SIDE);
    *machine.within.borrow_mut() = Some([Vec::new(), vec![base..base + u64::from(POOL_BYTES), page]]);
    let limits = Limits { overflow_block_bytes: 64 * 1024, ..Limits::default() };
    let device = Device::new(Driver::bring_up(&machine, &machine.interrupts, limits).unwrap());
    let used = device.pool().used();
    let mut random = Random(v3d_sim::random::Random::new(0, seed.into()));
    let mut counts = Counts::default();
    for _ in 0..2 {
        let mut frame = device.frame().unwrap();
        for _ in 0..=random.below(3) {
            if let Some(target) = counts.note(target(&device, &machine, &mut random)) {
                pass(&device, &mut frame, &target, &mut random, &mut counts);
            }
        }
        if let Some(fence) = counts.note(frame.submit()) {
            // The job may be dropped.
            counts.note(device.wait(fence));
        }
        // Vertices far outside are allowed, and reported as remarks.
        let faults: Vec<_> = machine.take_faults().into_iter().filter(|fault| !fault.is_remark()).collect();
        assert_eq!(faults, [], "seed {seed}");
    }
    assert_next_frame_is_right(&machine, &device, seed);
    device.driver().unwrap().wait_until_idle();
    assert_eq!(device.pool().used(), used, "seed {seed}: bytes of the pool");
    counts
}

#[test]
fn nothing_outside_of_the_pool_is_touched() {
    let mut all = Counts::default();
    for seed in SEEDS {
        let counts = case(seed);
        all.drawn += counts.drawn;
        all.refused += counts.refused;
    }
    println!("{} calls did what was asked, {} were refused", all.drawn, all.refused);
    assert!(all.drawn > all.refused && all.refused > 200, "{all:?}");
}

#[test]
fn numbers_that_mean_nothing_are_refused_by_name() {
    let machine = Model::new(POOL_BYTES, Config::default());
    let device = machine.device().unwrap();
    let plain = PipelineDescriptor::new("lines", &transformed::SHADING, &smooth_lines::FRAGMENT);
    let refused = |descriptor| Pipeline::new(&device, &descriptor).map(drop).unwrap_err().to_string();
    let thin = PipelineDescriptor { line_width_px: -1.0, ..plain };
    assert_eq!(refused(thin), "lines: a line width of -1 is not valid");
    let none = PipelineDescriptor { point_size_px: f32::NAN, ..plain };
    assert_eq!(refused(none), "lines: a point size of NaN is not valid");
    let far = PipelineDescriptor { polygon_offset: PolygonOffset { factor: 0.0, units: f32::INFINITY }, ..plain };
    assert_eq!(refused(far), "lines: an offset of depths of inf is not valid");
    let alias = machine.base().0 & !0x3fff_ffff;
    let page = Target::page("page", BusAddr(alias | PAGE), PAGE_SIDE, PAGE_SIDE, 4 * PAGE_SIDE).unwrap();
    let mut frame = device.frame().unwrap();
    let error = frame.pass(&PassDescriptor { clear_depth: f32::NAN, ..PassDescriptor::to(&page) }).map(drop);
    assert_eq!(error.unwrap_err().to_string(), "page: a depth of NaN is not valid");
}

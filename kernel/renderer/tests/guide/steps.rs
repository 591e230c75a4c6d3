//! The guide's programs, and their output on the model.

use std::sync::LazyLock;

use renderer::{Device, Error, Target};
use v3d_host::{Config, Model, Picture};

macro_rules! programs {
    ($($module:ident: $path:literal)*) => {
        $(
            #[allow(dead_code, reason = "main is used when the program runs on its own")]
            #[path = $path]
            pub mod $module;
        )*
    };
}

programs! {
    frame: "../../examples/01_frame.rs"
    triangle: "../../examples/02_triangle.rs"
    texture: "../../examples/03_texture.rs"
    transform: "../../examples/04_transform.rs"
    depth: "../../examples/05_depth.rs"
    light: "../../examples/06_light.rs"
    blend: "../../examples/07_blend.rs"
    render_to_texture: "../../examples/08_render_to_texture.rs"
    multisample: "../../examples/09_multisample.rs"
    own_kernel: "../../examples/10_own_kernel.rs"
    own_shader: "../../examples/11_own_shader.rs"
    shader_at_run_time: "../../examples/12_shader_at_run_time.rs"
    sprites: "../../examples/13_sprites.rs"
    prepared_draws: "../../examples/14_prepared_draws.rs"
}

/// The output of a program.
pub(crate) struct Step {
    /// Its file's name without the extension.
    pub(crate) name: &'static str,
    /// Its picture.
    pub(crate) picture: Picture,
    /// Its last job, decoded.
    pub(crate) dump: String,
}

/// Runs a step's function on a model of its own, and checks that the model reports no violations.
fn run((name, size_px, draw): (&'static str, [u32; 2], Program)) -> Step {
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let screen = v3d_host::screen(&device, size_px).unwrap();
    draw(&device, &screen).unwrap();
    assert_eq!(model.take_faults(), [], "{name}");
    Step { name, picture: Picture::of_target(&device, &screen).unwrap(), dump: model.dump() }
}

/// Step 10 has its own chip, and draws to its display.
fn run_kernel() -> Step {
    let chip = own_kernel::host_chip();
    ::own_kernel::kernel_main(&chip, &own_kernel::DISPLAY, ::own_kernel::FRAMES, |_| {}).unwrap();
    assert_eq!(chip.bus().model.take_faults(), []);
    Step { name: "10_own_kernel", picture: own_kernel::shown(&chip), dump: chip.bus().model.dump() }
}

/// A program's function.
pub(crate) type Program = for<'d, 'p> fn(&'d Device<'p, Model>, &'d Target) -> Result<(), Error>;

/// The programs that draw to a target: name, width and height of the picture, function.
pub(crate) const PROGRAMS: [(&str, [u32; 2], Program); 12] = [
    ("01_frame", frame::SIZE_PX, frame::draw),
    ("02_triangle", triangle::SIZE_PX, triangle::draw),
    ("03_texture", texture::SIZE_PX, texture::draw),
    ("04_transform", transform::SIZE_PX, transform::draw),
    ("05_depth", depth::SIZE_PX, depth::draw),
    ("06_light", light::SIZE_PX, light::draw),
    ("07_blend", blend::SIZE_PX, blend::draw),
    ("08_render_to_texture", render_to_texture::SIZE_PX, render_to_texture::draw),
    ("09_multisample", multisample::SIZE_PX, multisample::draw),
    ("11_own_shader", own_shader::SIZE_PX, own_shader::draw),
    ("13_sprites", sprites::SIZE_PX, sprites::draw),
    ("14_prepared_draws", prepared_draws::SIZE_PX, prepared_draws::draw),
];

/// The steps that have a picture of their own, each drawn once: step 12 draws that of step 11, see `at_run_time`.
pub(crate) static STEPS: LazyLock<[Step; 13]> = LazyLock::new(|| {
    let [one, two, three, four, five, six, seven, eight, nine, eleven, thirteen, fourteen] = PROGRAMS.map(run);
    [one, two, three, four, five, six, seven, eight, nine, run_kernel(), eleven, thirteen, fourteen]
});

/// The picture of a step, by the number with which its name begins.
pub(crate) fn picture(step: usize) -> &'static Picture {
    let prefix = format!("{step:02}_");
    let step = STEPS.iter().find(|step| step.name.starts_with(&prefix));
    &step.unwrap_or_else(|| panic!("no step is named {prefix}")).picture
}

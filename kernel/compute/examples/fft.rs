//! The spectrum of a signal, computed on the model of the QPUs: `cargo run -p compute --example fft`

use std::error::Error;
use std::f32::consts::TAU;

use compute::Compute;
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

const LENGTH: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::new(4 << 20, Config { estimate: true, ..Config::default() });
    v3d_host::begin(&model)?;
    let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default())?;
    let mut compute = Compute::new();
    let mut gpu = compute.on(&mut driver);

    // Two tones, of 50 and 120 periods.
    let tone = |at: usize, periods: f32| (TAU * periods * at as f32 / LENGTH as f32).cos();
    let points: Vec<[f32; 2]> = (0..LENGTH).map(|at| [tone(at, 50.0) + 0.5 * tone(at, 120.0), 0.0]).collect();
    let mut signal = gpu.signal(&points, LENGTH)?;
    gpu.fft(&mut signal)?;

    for (periods, [re, im]) in gpu.read_signal(&signal)?.into_iter().take(LENGTH / 2).enumerate() {
        let amplitude = re.hypot(im) * 2.0 / LENGTH as f32;
        if amplitude > 0.01 {
            println!("{periods} periods: {amplitude:.3}");
        }
    }
    let (instructions, cycles) = model.programs_cost();
    println!("{instructions} instructions, {cycles} cycles by the model's estimate");
    v3d_host::finish(&model, "fft")?;
    Ok(())
}

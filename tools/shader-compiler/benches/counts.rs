//! The captured frames' shaders in WGSL beside Mesa's: `cargo bench -p shader-compiler`.
//!
//! For each stage the number of instructions, that of Mesa's driver and their ratio, as in the test `captures`, and QPU cycles per invocation: the model's
//! estimate for 64 invocations, divided by their number. Textures are 16 by 16 texels, so that they fit the caches. Fragment programs with lookups are for
//! two threads of a QPU; the cycles of the same program for one thread follow. Then the time to compile all stages of a source, the best of several rounds.
//!
//! After that, for comparing two commits: every program of every `.wgsl` file in the tree, also with `--fast-math`, and the random compute programs of the
//! test `compute`, with the number of those that are refused, or are no valid WGSL because a constant expression overflows.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use shader_compiler::interface::Stage;
use shader_compiler::ssa::{StreamWord, Viewport};
use shader_compiler::{Compiled, Options, compile};
use v3d_hw::BusAddr;
use v3d_sim::counters::Counters;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::io::{Io, IoError, Varying};
use v3d_sim::qpu::lanes::{Lanes, Mask};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu, Threading};
use v3d_sim::timing::Machine;
use v3d_sim::timing::trace::{FrontWork, Invocation};

#[path = "../tests/programs/image.rs"]
#[expect(dead_code, reason = "the tests sample it, too")]
mod image;

#[path = "../tests/programs/mesa.rs"]
mod mesa;

#[path = "../tests/oracle/programs.rs"]
#[expect(dead_code, reason = "the tests execute them, too")]
mod programs;
#[path = "../tests/oracle/random.rs"]
mod random;

use image::Image;
use mesa::Row;

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x8000;
/// The address of all buffers, which contain zeros.
const BUFFERS: u32 = 0x2_0000;
const MEMORY: usize = 0x4_0000;
/// Number of invocations, over which the first cache misses are averaged.
const INVOCATIONS: u32 = 64;
/// Maximum number of instructions until a program must have ended.
const MOST: u64 = 1 << 16;
/// Number of rounds of each measurement, and the duration of one: the system counts a process's time in ticks.
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_millis(250);
const TICK: Duration = Duration::from_millis(10);

/// Inputs of a shader, all between 0 and 1.
struct Units;

impl Units {
    fn numbers() -> Lanes {
        Lanes::from_f32(std::array::from_fn(|at| 0.05 + at as f32 / 20.0))
    }
}

impl Io for Units {
    fn varying(&mut self) -> Result<Varying, IoError> {
        Ok(Varying { value: Self::numbers(), coefficients: Lanes::default() })
    }

    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes(std::array::from_fn(|at| at as u32)))
    }

    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes(std::array::from_fn(|at| at as u32)))
    }

    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::default())
    }

    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        Ok(Lanes::splat(15))
    }

    fn set_ms_flags(&mut self, _value: &Lanes, _mask: Mask) -> Result<(), IoError> {
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        Ok(Self::numbers())
    }

    fn vpm_read_setup(&mut self, _word: u32) -> Result<(), IoError> {
        Ok(())
    }

    fn vpm_write_setup(&mut self, _word: u32) -> Result<(), IoError> {
        Ok(())
    }

    fn vpm_write(&mut self, _value: &Lanes, _mask: Mask) -> Result<(), IoError> {
        Ok(())
    }
}

/// Cycles per invocation; `None` if the program does not end with such inputs.
fn cycles(program: &Compiled) -> Option<f64> {
    let memory = OwnedMemory::new(MEMORY);
    let view = memory.view();
    let interface = &program.interface;
    let cube = interface.textures.iter().any(|texture| texture.cube);
    let image = Image::random(16, 16, if cube { 6 } else { 1 });
    image.put(view);
    let mut words = program.words.clone();
    if program.stage == Stage::Fragment {
        // The end that a pipeline would append, without the tile buffer.
        words.extend([0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000]);
    }
    let set = |at: u32, word: u32| view.set_word(BusAddr(at), word).expect("memory is long enough");
    for (at, word) in (0..).zip(words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])) {
        set(CODE + 4 * at, word);
    }
    for (at, &word) in (0..).zip(&interface.stream) {
        let bits = match word {
            StreamWord::Constant(bits) => bits,
            StreamWord::Field { .. } => 0.5f32.to_bits(),
            StreamWord::Viewport(Viewport::HalfWidth | Viewport::HalfHeight) => 1600f32.to_bits(),
            StreamWord::Viewport(_) => 0.5f32.to_bits(),
            StreamWord::Instance => 3,
            StreamWord::Buffer { offset, .. } => BUFFERS + offset % 256,
            StreamWord::Length(_) => 8,
            StreamWord::OwnAddress(number) => UNIFORMS + 4 * number,
            texture => image.word(texture),
        };
        set(UNIFORMS + 4 * at, bits);
    }
    let mut counters = Counters::default();
    counters.start_timing(Machine { slices: 1, qpus_per_slice: 1, ..Machine::default() });
    let (mut qpu, code) = (Qpu::new(), CodeCache::new());
    for number in 0..INVOCATIONS {
        // Attributes of 16 vertices, in the minimum number of cache lines.
        let lines = 16 * interface.attribute_words(program.stage).div_ceil(16);
        let invocation = match program.stage {
            Stage::Coordinate => Invocation::Coordinates { lines },
            Stage::Vertex => Invocation::Vertices { lines },
            _ => Invocation::Fragments {
                quads: std::array::from_fn(|quad| 4 * number + quad as u32),
                varyings: interface.varyings,
                threaded: interface.threads() == 2,
                front: FrontWork { quads: 4, ..FrontWork::default() },
            },
        };
        qpu.start(&Launch {
            pc: BusAddr(CODE),
            uniforms: BusAddr(UNIFORMS),
            uniforms_limit: Some(interface.stream.len() as u32),
            ra15: Lanes::splat(1f32.to_bits()),
            rb15: Lanes::default(),
            threading: if interface.threads() == 2 { Threading::Threaded } else { Threading::Single },
            qpu: 0,
            undefined_elements: 0,
            record: Some(invocation),
        });
        let mut budget = MOST;
        if qpu.run(&mut Units, view, &code, &mut budget) != Exit::Ended {
            return None;
        }
        counters.merge(std::mem::take(&mut qpu.counters));
    }
    counters.settle();
    let all: u64 = counters.programs().map(|(_, events)| events.cycles).sum();
    Some(all as f64 / f64::from(INVOCATIONS))
}

/// The processor time of this process if the system reports it (Linux), else elapsed time. The compiler uses a separate thread, whose time is counted when it
/// has ended.
fn now(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").ok();
    let ticks = stat.and_then(|text| {
        // Fields from 3 on, after the name in parentheses; 14 and 15 are user and system time.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let (user, system): (u32, u32) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(user + system)
    });
    ticks.map_or_else(|| start.elapsed(), |ticks| ticks * TICK)
}

/// Milliseconds to compile a source.
fn milliseconds(source: &str, name: &str) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let clock = Instant::now();
        let (start, mut count) = (now(clock), 0);
        while now(clock) - start < ROUND {
            let programs = compile(black_box(source), name, &Options::default());
            black_box(programs).expect("the captured shaders compile");
            count += 1;
        }
        best = best.min((now(clock) - start).as_secs_f64() / f64::from(count));
    }
    1000.0 * best
}

/// Folders with shaders, from the workspace's root.
const FOLDERS: [&str; 4] = ["kernel", "qpu-shaders", "tools/scene-template", "tools/shader-compiler/tests"];
/// Random programs of each suite, and those that are used for counting refusals only.
const RANDOM: std::ops::Range<u64> = 0..60;
const OTHERS: std::ops::Range<u64> = 1000..1150;

/// The sources in a folder and its subfolders, by name.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            found.push(path);
        }
    }
}

/// Prints one line for each program of the tree.
fn print_tree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| sources(&root.join(folder), &mut paths));
    println!(
        "\nprograms of the tree: instructions, lower bound and distance in percent, modelled cycles of an invocation, threads"
    );
    let (mut sum, mut count) = (0.0, 0.0);
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("a source that was listed");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (suffix, fast_math) in [("", false), (" --fast-math", true)] {
            match compile(&source, &name, &Options { fast_math, ..Options::default() }) {
                Ok(programs) => {
                    for program in programs {
                        let (length, threads) = (program.words.len(), program.interface.threads());
                        let bound = program.lower_bound;
                        let distance = 100.0 * (length as f64 / bound.max(1) as f64 - 1.0);
                        (sum, count) = (sum + distance, count + 1.0);
                        let cycles = if program.stage == Stage::Compute { None } else { cycles(&program) };
                        let cycles = cycles.unwrap_or(0.0);
                        let name = format!("{name} {}{suffix}", program.stage.name());
                        println!("{name:44} {length:6} {bound:6} {distance:5.1} {cycles:8.1} {threads}");
                    }
                }
                Err(error) => println!("{name}{suffix}: {error}"),
            }
        }
    }
    println!("mean distance to the lower bound: {:.2} % of {count} programs", sum / count);
}

/// Random programs of one range.
#[derive(Default)]
struct Counts {
    compiled: usize,
    instructions: usize,
    /// Refused by the compiler.
    refused: usize,
    /// Not valid WGSL: a constant expression overflows.
    invalid: usize,
}

/// Counts the random programs of a range that compile, and those that do not.
fn count(suite: programs::Suite, name: &str, range: std::ops::Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for number in range {
        let source = programs::source(suite, number);
        match compile(&source, name, &Options::default()) {
            Ok(programs) => {
                counts.compiled += 1;
                counts.instructions += programs.iter().map(|program| program.words.len()).sum::<usize>();
            }
            Err(_) if naga::front::wgsl::parse_str(&source).is_err() => counts.invalid += 1,
            Err(_) => counts.refused += 1,
        }
    }
    counts
}

/// Prints how many of the random programs compile, with their instructions.
fn print_random() {
    println!("\nrandom programs: compiled, their instructions, refused, invalid; others: compiled, refused, invalid");
    for (name, suite) in programs::Suite::ALL {
        let own = count(suite, name, RANDOM);
        let others = count(suite, name, OTHERS);
        println!(
            "{name:12} {:4} {:7} {:4} {:4}    {:4} {:4} {:4}",
            own.compiled, own.instructions, own.refused, own.invalid, others.compiled, others.refused, others.invalid
        );
    }
}

fn main() {
    println!("instructions, Mesa's, ratio, modelled cycles of an invocation; all stages compiled in ms");
    println!("{:16} {:>26} {:>26} {:>26} {:>10} {:>8}", "", "coordinate", "vertex", "fragment", "one thread", "ms");
    let mut logarithms = [0.0; 3];
    let mut sources = 0.0;
    for Row { name, counts, state, source } in mesa::rows() {
        let name = &*name;
        let programs = compile(&source, name, &Options::default()).expect("the captured shaders compile");
        print!("{name:16}");
        for (stage, program) in programs.iter().enumerate() {
            let own = program.clone().with_end(&state).expect("the captured shaders have an end").words.len();
            let ratio = own as f64 / counts[stage] as f64;
            logarithms[stage] += ratio.ln();
            print!(" {own:6} {:5} {ratio:5.2} {:7.1}", counts[stage], cycles(program).unwrap_or(0.0));
        }
        let alone = Options { one_thread: true, ..Options::default() };
        let alone = compile(&source, name, &alone).expect("the captured shaders compile");
        let alone = alone.last().and_then(cycles).unwrap_or(0.0);
        println!(" {alone:10.1} {:8.2}", milliseconds(&source, name));
        sources += 1.0;
    }
    let means = logarithms.map(|sum: f64| format!("{:.2}", (sum / sources).exp()));
    println!("geometric means of the ratios: {}", means.join(", "));
    print_tree();
    print_random();
}

//! The C interface, used from C as the simulator of Mesa's vc4 driver uses it, with a captured job of that driver.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use v3d_hw::tile_buffer::{FIRST_PIECES, TILE_ALLOCATION_PIECE_BYTES};
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;
use v3d_sim::memory::OwnedMemory;

/// The folder of this package.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// What may be accessed of the job's tile memory, in whole pages: 4 KiB of tile states, initial blocks of 32 bytes for 10 x 8 tiles, and the pieces that are
/// always taken.
const TILE_MEMORY_BYTES: u32 = (4096 + 10 * 8 * 32 + FIRST_PIECES * TILE_ALLOCATION_PIECE_BYTES).next_multiple_of(4096);

/// Where cargo has put the library, beside this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    assert!(folder.join("libsimpenrose.so").is_file(), "{} has no library", folder.display());
    folder.to_owned()
}

fn cc(arguments: &[&str]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(&compiler).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("a C compiler is needed, and {compiler} cannot be started: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A folder for one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("simpenrose-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed is harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Builds the C program against header and library.
fn build(scratch: &Scratch) -> String {
    let program = scratch.file("mesa_part");
    let (include, folder) = (format!("-I{PACKAGE}/include"), library_folder());
    let (from, run_path) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
    let warnings = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"];
    let source = format!("{PACKAGE}/tests/abi/mesa_part.c");
    let link = [include.as_str(), source.as_str(), "-o", &program, &from, "-lsimpenrose", &run_path];
    cc(&[&warnings[..], &link[..]].concat());
    program
}

fn check(name: &str) {
    let scratch = Scratch::new(name);
    let folder = JobFolder::open(&Path::new(PACKAGE).join("../v3d-sim/tests/captures").join(name)).unwrap();
    let job = folder.jobs().first().unwrap();
    let image = folder.image(job).unwrap().to_bytes();
    let used = image.iter().rposition(|&byte| byte != 0).unwrap();
    let last = job.buffers.iter().map(|buffer| (buffer.address + buffer.size) as usize).max().unwrap();
    fs::write(scratch.file("image"), &image[..(used + 1).max(last + 4)]).unwrap();
    let (overflow, color) = (job.overflow_memory.unwrap(), job.color_buffer.as_ref().unwrap());
    let mut text =
        format!("bin {} {}\nrender {} {}\n", job.bin_ct0ca, job.bin_ct0ea, job.render_ct1ca, job.render_ct1ea);
    writeln!(text, "overflow {} {}\ncolor {} 4096", overflow.address, overflow.size, color.address).unwrap();
    for buffer in job.buffers.iter().filter(|buffer| buffer.address != overflow.address) {
        // Behind the initial blocks the PTB takes two pieces of tile allocation memory, whatever the size of that memory is. The buffer of the captured job
        // was meant for less, and nothing else stands behind it.
        let size = if buffer.kind == "tile_state_and_alloc" { TILE_MEMORY_BYTES } else { buffer.size };
        writeln!(text, "buffer {} {}", buffer.address, size).unwrap();
    }
    fs::write(scratch.file("job"), text).unwrap();
    let files = ["image", "job", "result", "capture"].map(|file| scratch.file(file));
    let output = Command::new(build(&scratch)).args(&files).env_remove("SIMPENROSE_FAULTS").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    assert!(said.contains("there is no memory: call simpenrose_init_hardware_supply_mem"), "{name}: {said}");

    // The picture that the job left in the caller's memory, and that of the captured job.
    let memory = OwnedMemory::new(image.len());
    memory.view().write(v3d_hw::BusAddr(0), &fs::read(&files[2]).unwrap()).unwrap();
    let (drawn, expected) = (folder.picture(memory.view()).unwrap(), folder.expected_difference().unwrap());
    let difference = drawn.difference(&folder.reference().unwrap()).unwrap();
    assert!(difference.is_within(&expected), "{name}: {difference:?}");
    let captured = JobFolder::open(Path::new(&files[3])).unwrap();
    let outcome = run_folder(&captured, Config::default()).unwrap();
    assert!(outcome.is_done(&captured) && outcome.jobs[0].faults.is_empty(), "{name}");
    assert_eq!(captured.picture(outcome.jobs[0].memory.view()).unwrap(), drawn, "{name}");
    assert!(captured.jobs()[0].buffers.len() > 3, "{name}");
}

#[test]
fn a_frame_of_mesas_driver_is_drawn_from_c() {
    check("tri_rgb");
}

/// The binner runs out of memory and gets the overflow memory.
#[test]
fn a_frame_with_overflow_memory_is_drawn_from_c() {
    check("overflow_bin_mem");
}

/// With the size of each buffer in an expression, the call that Mesa makes tells it.
#[test]
fn a_caller_can_tell_sizes_without_a_change_of_its_calls() {
    let scratch = Scratch::new("sizes");
    let source = "#include <simpenrose/simpenrose.h>\n\
        int main(void) {\n\
            static uint32_t block[4096];\n\
            uint32_t size = 64;\n\
            simpenrose_init_hardware_supply_mem(block, sizeof block);\n\
            return simpenrose_hw_addr(block + 16) == 64 ? 0 : 1;\n\
        }\n";
    fs::write(scratch.file("sizes.c"), source).unwrap();
    let (include, folder) = (format!("-I{PACKAGE}/include"), library_folder());
    let (from, run_path) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
    let (source, program) = (scratch.file("sizes.c"), scratch.file("sizes"));
    cc(&[
        "-DSIMPENROSE_BUFFER_SIZE=size",
        "-Wall",
        "-Werror",
        &include,
        &source,
        "-o",
        &program,
        &from,
        "-lsimpenrose",
        &run_path,
    ]);
    assert!(Command::new(&program).status().unwrap().success());
    let undefined = Command::new("nm").args(["-u", &program]).output().unwrap();
    assert!(String::from_utf8_lossy(&undefined.stdout).contains("simpenrose_buffer"));
}

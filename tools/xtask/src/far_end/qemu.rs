//! A running QEMU with a kernel.
//!
//! The serial console is QEMU's standard input and output. The plugin provides the V3D and writes the faults that the model reports to a file. A control socket
//! serves screen dumps. QEMU ends when the [`Qemu`] value is dropped, or when this program ends.

use crate::far_end::console::Console;
use crate::far_end::machine::{Machine, RASPI3B, Start};
use crate::far_end::qmp::Qmp;
use crate::picture::Picture;
use crate::setup;
use crate::watchdog::Watchdog;
use crate::workspace::Scratch;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The screen has the kernel's resolution from the start.
///
/// QEMU 7.2 releases its lock while it redraws a window. If the guest changes the framebuffer's resolution meanwhile, QEMU draws into a picture that it has
/// freed, and crashes; without a change of resolution the picture is not freed. [measured]
const FIRST_SCREEN: [&str; 4] = ["-global", "bcm2835-fb.xres=1280", "-global", "bcm2835-fb.yres=720"];

/// Address at which cores 1 to 3 sleep: after QEMU's boot code and before the kernel, which does not use this memory.
const BED: u32 = 0x1000;
/// `wfi`, and a branch back to it.
const SLEEP: u64 = 0x17ff_ffff_d503_207f;

/// Makes cores 1 to 3 sleep.
///
/// In QEMU's boot code they wait with `wfe`, which QEMU executes as a no-op: each of them uses a core of the host fully, and a host with two cores draws a
/// third as many frames per second. [measured]
fn sleepers() -> Vec<String> {
    let mut devices = vec![format!("loader,addr={BED:#x},data={SLEEP:#x},data-len=8")];
    devices.extend((1..=3).map(|core| format!("loader,addr={BED:#x},cpu-num={core}")));
    devices.into_iter().flat_map(|device| ["-device".to_owned(), device]).collect()
}

/// QEMU's name for the SD card's drive.
const CARD: &str = "card";

/// How long to wait for QEMU's last message.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Options of a machine.
pub(crate) struct Options<'a> {
    /// The program to run, if not the one of [`setup::qemu_program`].
    pub(crate) program: Option<&'a Path>,
    /// The machine.
    pub(crate) machine: Machine,
    /// The kernel.
    pub(crate) image: &'a Path,
    /// How it is started.
    pub(crate) start: Start,
    /// The plugin; without it the machine has no V3D.
    pub(crate) plugin: Option<&'a Path>,
    /// The file to which the plugin writes a trace of all register accesses.
    pub(crate) trace: Option<&'a Path>,
    /// When the firmware's mailbox stops answering, in the plugin's syntax.
    pub(crate) mailbox: Option<&'a str>,
    /// How the firmware and the board around it differ from QEMU's, in the plugin's syntax.
    pub(crate) firmware: Option<&'a str>,
    /// Input to a serial port whose transmitter never has room.
    pub(crate) stuck_uart: Option<&'a str>,
    /// What executes QPU programs, in the plugin's syntax.
    pub(crate) engine: Option<&'a str>,
    /// Whether the plugin checks caches and barriers.
    pub(crate) checks_coherence: bool,
    /// A file that is also loaded into memory, and its physical address.
    pub(crate) loaded: Option<(&'a Path, u64)>,
    /// The image of the SD card, whose size is a power of two; without it, the slot is empty.
    pub(crate) card: Option<&'a Path>,
    /// Whether QEMU shows a window.
    pub(crate) window: bool,
    /// Receivers of copies of the serial output.
    pub(crate) copies: Vec<Box<dyn Write + Send>>,
}

impl<'a> Options<'a> {
    /// A kernel on a machine with a V3D, without a window, a trace, or simulated failures.
    pub(crate) fn with_v3d(image: &'a Path, plugin: &'a Path) -> Self {
        Self { plugin: Some(plugin), ..Self::without_v3d(image) }
    }

    /// A kernel on a machine without a V3D.
    pub(crate) fn without_v3d(image: &'a Path) -> Self {
        Self {
            program: None,
            machine: RASPI3B,
            image,
            start: Start::Own,
            plugin: None,
            trace: None,
            mailbox: None,
            firmware: None,
            stuck_uart: None,
            engine: None,
            checks_coherence: false,
            loaded: None,
            card: None,
            window: false,
            copies: Vec::new(),
        }
    }
}

/// A QEMU process, which is killed when this value is dropped.
pub(crate) struct Qemu {
    process: Child,
    watchdog: Watchdog,
    /// Whether QEMU has written to its standard error.
    has_spoken: Arc<AtomicBool>,
    /// The kernel's serial console.
    pub(crate) console: Console,
    scratch: Scratch,
    faults: PathBuf,
    has_v3d: bool,
}

impl Qemu {
    /// Starts QEMU with temporary files in `scratch`.
    pub(crate) fn start(options: Options<'_>, scratch: Scratch) -> Result<Self> {
        let faults = scratch.path().join("faults");
        let program = options.program.map_or_else(setup::qemu_program, Path::to_owned);
        let mut command = Command::new(&program);
        command.args(["-M", options.machine.name, "-serial", "stdio", "-monitor", "none"]);
        command.args(control_socket(scratch.path())?);
        match options.start {
            Start::Own => command.arg("-kernel").arg(options.image).args(FIRST_SCREEN).args(sleepers()),
            Start::Kernel => command.arg("-kernel").arg(options.image),
            Start::At(address) => {
                let file = comma_free(options.image)?;
                command.arg("-device").arg(format!("loader,file={file},addr={address:#x},cpu-num=0,force-raw=on"))
            }
        };
        if !options.window {
            command.args(["-display", "none"]);
        }
        if let Some(plugin) = options.plugin {
            let mut argument = format!("{},faults={}", comma_free(plugin)?, comma_free(&faults)?);
            if let Some(trace) = options.trace {
                argument += &format!(",trace={}", comma_free(trace)?);
            }
            if let Some(mailbox) = options.mailbox {
                argument += &format!(",mailbox={mailbox}");
            }
            if let Some(firmware) = options.firmware {
                argument += &format!(",firmware={firmware}");
            }
            if let Some(keys) = options.stuck_uart {
                argument += &format!(",stuck-uart={keys}");
            }
            if let Some(engine) = options.engine {
                argument += &format!(",engine={engine}");
            }
            if options.checks_coherence {
                argument += ",coherence=check";
            }
            command.arg("-plugin").arg(argument);
        }
        if let Some((file, address)) = options.loaded {
            let file = comma_free(file)?;
            command.arg("-device").arg(format!("loader,file={file},addr={address:#x},force-raw=on"));
        }
        if let Some(card) = options.card {
            command.arg("-drive").arg(format!("if=sd,id={CARD},format=raw,file={}", comma_free(card)?));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("{} cannot be started", program.display()))?;
        let (Some(output), Some(input), Some(errors)) =
            (process.stdout.take(), process.stdin.take(), process.stderr.take())
        else {
            bail!("{} has no serial console", program.display());
        };
        let watchdog = match Watchdog::over(process.id()) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                // Fails only if QEMU has already ended.
                let _ = process.kill();
                let _ = process.wait();
                return Err(error);
            }
        };
        let has_spoken = Arc::new(AtomicBool::new(false));
        let spoken = Arc::clone(&has_spoken);
        std::thread::spawn(move || pass_on(errors, &spoken));
        let console = Console::new(output, input, options.copies);
        Ok(Self { process, watchdog, has_spoken, console, scratch, faults, has_v3d: options.plugin.is_some() })
    }

    /// The framebuffer as QEMU displays it.
    pub(crate) fn screenshot(&self) -> Result<Picture> {
        self.lens().screenshot()
    }

    /// Fails if QEMU has ended.
    pub(crate) fn check_running(&mut self) -> Result<()> {
        match self.process.try_wait()? {
            None => Ok(()),
            Some(_) if self.has_spoken() => bail!("QEMU has ended; its message above says why"),
            Some(status) => bail!("QEMU has ended without a message: {status}"),
        }
    }

    /// A handle that takes screenshots on any thread.
    pub(crate) fn lens(&self) -> Lens {
        Lens::new(self.scratch.path())
    }

    /// Reads physical memory.
    pub(crate) fn memory(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let file = self.scratch.path().join("memory");
        Qmp::connect(&socket(self.scratch.path()))?.save_memory(address, bytes, &file)?;
        std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    /// Resets the machine as its watchdog would: memory is preserved.
    pub(crate) fn reset(&self) -> Result<()> {
        Qmp::connect(&socket(self.scratch.path()))?.reset()
    }

    /// Removes the SD card.
    pub(crate) fn eject_card(&self) -> Result<()> {
        Qmp::connect(&socket(self.scratch.path()))?.eject(CARD)
    }

    /// The faults that the model has reported, one a line.
    pub(crate) fn faults(&self) -> Result<String> {
        if !self.has_v3d {
            return Ok(String::new());
        }
        std::fs::read_to_string(&self.faults).with_context(|| {
            let why = if self.has_spoken() { ": QEMU's message above says why" } else { ", and QEMU does not say why" };
            format!("the V3D plugin did not start{why}")
        })
    }

    /// Fails if the model has reported faults, or if its report cannot be read.
    pub(crate) fn check_faults(&self) -> Result<()> {
        let faults = self.faults()?;
        match (faults.lines().count(), faults.lines().next()) {
            (_, None) => Ok(()),
            (1, Some(fault)) => bail!("the V3D model reports: {fault}"),
            (count, Some(first)) => bail!("the V3D model reports {count} faults; the first is: {first}"),
        }
    }
}

/// Takes screenshots of a machine.
pub(crate) struct Lens {
    socket: PathBuf,
    /// The file into which QEMU writes the picture.
    ppm: PathBuf,
}

impl Lens {
    /// For a QEMU that was started with the [`control_socket`] of this folder.
    pub(crate) fn new(scratch: &Path) -> Self {
        Self { socket: socket(scratch), ppm: scratch.join("screen.ppm") }
    }

    /// The framebuffer as QEMU displays it.
    pub(crate) fn screenshot(&self) -> Result<Picture> {
        Picture::from_ppm(&self.ppm()?)
    }

    /// The same as the bytes of a PPM file.
    pub(crate) fn ppm(&self) -> Result<Vec<u8>> {
        Qmp::connect(&self.socket)?.screendump(&self.ppm)?;
        std::fs::read(&self.ppm).with_context(|| format!("cannot read {}", self.ppm.display()))
    }
}

impl Qemu {
    /// Whether QEMU has written to its standard error. Its last message may arrive shortly after its end.
    fn has_spoken(&self) -> bool {
        let patience = Instant::now() + LAST_WORDS;
        while !self.has_spoken.load(Ordering::Relaxed) && Instant::now() < patience {
            std::thread::sleep(LAST_WORDS / 50);
        }
        self.has_spoken.load(Ordering::Relaxed)
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Both fail only if QEMU has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.watchdog.dismiss();
    }
}

/// Passes QEMU's standard error on, and records whether there was any.
fn pass_on(mut errors: impl Read, has_spoken: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        has_spoken.store(true, Ordering::Relaxed);
        // There is no other output for errors.
        let _ = std::io::stderr().write_all(&buffer[..count]);
    }
}

/// The path of QEMU's control socket.
///
/// The path of a Unix socket has at most 107 bytes, and the target folder may be deeply nested, so a path relative to the current folder is used where that is
/// shorter.
fn socket(scratch: &Path) -> PathBuf {
    let absolute = scratch.join("qmp");
    match std::env::current_dir() {
        Ok(here) => absolute.strip_prefix(here).map(Path::to_owned).unwrap_or(absolute),
        Err(_) => absolute,
    }
}

/// QEMU's arguments for a control socket in a folder.
pub(crate) fn control_socket(scratch: &Path) -> Result<[String; 2]> {
    Ok(["-qmp".to_owned(), format!("unix:{},server=on,wait=off", comma_free(&socket(scratch))?)])
}

/// QEMU splits these arguments at commas.
fn comma_free(path: &Path) -> Result<&str> {
    let text = path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?;
    if text.contains(',') {
        bail!("QEMU cannot use {text}: its path has a comma in it");
    }
    Ok(text)
}

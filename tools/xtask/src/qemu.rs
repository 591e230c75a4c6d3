//! A running QEMU `raspi3b` with our kernel in it.
//!
//! The serial console is QEMU's standard input and output. The V3D is the plugin, which writes what the model finds wrong
//! to a file. A control socket gives screen dumps. QEMU never outlives the [`Qemu`] value, nor this program.

use crate::console::Console;
use crate::picture::Picture;
use crate::qmp::Qmp;
use crate::setup;
use crate::target_board::QEMU_MACHINE;
use crate::watchdog::Watchdog;
use crate::workspace::Scratch;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The screen has the kernel's size from the beginning.
///
/// QEMU 7.2 lets go of its lock while it redraws a window. If the guest changes the size of the framebuffer meanwhile, QEMU
/// draws into the picture that it has just freed, and crashes; without a change of size the picture stays. [measured]
const FIRST_SCREEN: [&str; 4] = ["-global", "bcm2835-fb.xres=1280", "-global", "bcm2835-fb.yres=720"];

/// Where cores 1 to 3 sleep: behind QEMU's boot code, before the kernel, which does not use them.
const BED: u32 = 0x1000;
/// `wfi`, and a branch back to it.
const SLEEP: u64 = 0x17ff_ffff_d503_207f;

/// Has cores 1 to 3 sleep.
///
/// QEMU's own boot code has them wait for work with `wfe`, which QEMU executes as nothing: each of them keeps a core of the host
/// busy, and the kernel and the model draw a third as many frames on a host with two. [measured]
fn sleepers() -> Vec<String> {
    let mut devices = vec![format!("loader,addr={BED:#x},data={SLEEP:#x},data-len=8")];
    devices.extend((1..=3).map(|core| format!("loader,addr={BED:#x},cpu-num={core}")));
    devices.into_iter().flat_map(|device| ["-device".to_owned(), device]).collect()
}

/// How long QEMU's last message may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What to start.
pub(crate) struct Options<'a> {
    /// kernel8.img.
    pub(crate) image: &'a Path,
    /// The plugin; without it the machine has no V3D.
    pub(crate) plugin: Option<&'a Path>,
    /// Where the plugin records every register access.
    pub(crate) trace: Option<&'a Path>,
    /// When the firmware's mailbox stops answering, as the plugin spells it.
    pub(crate) mailbox: Option<&'a str>,
    /// What is typed on a serial port that never takes a byte.
    pub(crate) stuck_uart: Option<&'a str>,
    /// A file that lies in memory besides, and its physical address.
    pub(crate) loaded: Option<(&'a Path, u64)>,
    /// Show a window.
    pub(crate) window: bool,
    /// Where copies of the serial output go.
    pub(crate) copies: Vec<Box<dyn Write + Send>>,
}

impl<'a> Options<'a> {
    /// A kernel with the V3D behind its registers, and nothing else: no window, no records, nothing that fails.
    pub(crate) fn with_v3d(image: &'a Path, plugin: &'a Path) -> Self {
        Self { plugin: Some(plugin), ..Self::without_v3d(image) }
    }

    /// A kernel on QEMU as it is.
    pub(crate) fn without_v3d(image: &'a Path) -> Self {
        Self {
            image,
            plugin: None,
            trace: None,
            mailbox: None,
            stuck_uart: None,
            loaded: None,
            window: false,
            copies: Vec::new(),
        }
    }
}

/// A QEMU process, ended when this value is dropped.
pub(crate) struct Qemu {
    process: Child,
    watchdog: Watchdog,
    /// Whether QEMU has said something on its standard error.
    has_spoken: Arc<AtomicBool>,
    /// The kernel's serial console.
    pub(crate) console: Console,
    scratch: Scratch,
    faults: PathBuf,
    has_v3d: bool,
}

impl Qemu {
    /// Starts QEMU; its files lie in `scratch`.
    pub(crate) fn start(options: Options<'_>, scratch: Scratch) -> Result<Self> {
        let faults = scratch.path().join("faults");
        let program = setup::qemu_program();
        let mut command = Command::new(&program);
        command.args(["-M", QEMU_MACHINE, "-serial", "stdio", "-monitor", "none", "-kernel"]).arg(options.image);
        command.arg("-qmp").arg(format!("unix:{},server=on,wait=off", comma_free(&socket(&scratch))?));
        command.args(FIRST_SCREEN).args(sleepers());
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
            if let Some(keys) = options.stuck_uart {
                argument += &format!(",stuck-uart={keys}");
            }
            command.arg("-plugin").arg(argument);
        }
        if let Some((file, address)) = options.loaded {
            let file = comma_free(file)?;
            command.arg("-device").arg(format!("loader,file={file},addr={address:#x},force-raw=on"));
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
                // It fails only if QEMU has ended by itself.
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

    /// What takes pictures of the screen, on any thread.
    pub(crate) fn lens(&self) -> Lens {
        Lens { socket: socket(&self.scratch), ppm: self.scratch.path().join("screen.ppm") }
    }

    /// The bytes of physical memory from `address` on.
    pub(crate) fn memory(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let file = self.scratch.path().join("memory");
        Qmp::connect(&socket(&self.scratch))?.save_memory(address, bytes, &file)?;
        std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    /// Resets the machine as its watchdog would: memory stays.
    pub(crate) fn reset(&self) -> Result<()> {
        Qmp::connect(&socket(&self.scratch))?.reset()
    }

    /// An error if the model has found something wrong, or could not be asked.
    pub(crate) fn check_faults(&self) -> Result<()> {
        if !self.has_v3d {
            return Ok(());
        }
        let faults = std::fs::read_to_string(&self.faults).with_context(|| {
            let why = if self.has_spoken() { ": QEMU's message above says why" } else { ", and QEMU does not say why" };
            format!("the V3D plugin did not start{why}")
        })?;
        match (faults.lines().count(), faults.lines().next()) {
            (_, None) => Ok(()),
            (1, Some(fault)) => bail!("the V3D model reports: {fault}"),
            (count, Some(first)) => bail!("the V3D model reports {count} faults; the first is: {first}"),
        }
    }
}

/// Takes pictures of a machine's screen.
pub(crate) struct Lens {
    socket: PathBuf,
    /// Where QEMU puts the picture.
    ppm: PathBuf,
}

impl Lens {
    /// The framebuffer as QEMU displays it.
    pub(crate) fn screenshot(&self) -> Result<Picture> {
        Qmp::connect(&self.socket)?.screendump(&self.ppm)?;
        let bytes = std::fs::read(&self.ppm).with_context(|| format!("cannot read {}", self.ppm.display()))?;
        Picture::from_ppm(&bytes)
    }
}

impl Qemu {
    /// Whether QEMU has said something on its standard error. What it says last may arrive just after its end is noticed.
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
        // Both fail only if QEMU has ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.watchdog.dismiss();
    }
}

/// Hands on what QEMU says, and that it has said something.
fn pass_on(mut errors: impl Read, has_spoken: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        has_spoken.store(true, Ordering::Relaxed);
        // There is nobody else to tell.
        let _ = std::io::stderr().write_all(&buffer[..count]);
    }
}

/// QEMU's control socket.
///
/// A Unix socket's path has room for 107 bytes only, and a target folder may lie deep, so it is named relative to the
/// current folder where that is shorter.
fn socket(scratch: &Scratch) -> PathBuf {
    let absolute = scratch.path().join("qmp");
    match std::env::current_dir() {
        Ok(here) => absolute.strip_prefix(here).map(Path::to_owned).unwrap_or(absolute),
        Err(_) => absolute,
    }
}

/// QEMU splits these arguments at commas.
fn comma_free(path: &Path) -> Result<&str> {
    let text = path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?;
    if text.contains(',') {
        bail!("QEMU cannot use {text}: its path has a comma in it");
    }
    Ok(text)
}

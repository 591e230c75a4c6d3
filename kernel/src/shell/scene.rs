//! Commands about scenes: list, run, stop
//!
//! `scene run` draws into pages that are not displayed, and flips: with three pages, one frame is prepared and binned while the previous one is rendered. A
//! counted run prints the CRC-32 of each finished page as the CPU reads it, so that the host can tell whether frames differ and whether they repeat.
//!
//! # Failures
//! A frame that the driver drops is reported and skipped. Without a display, pictures are drawn into GPU memory. When the firmware stops answering, pages can
//! no longer be flipped, and everything is drawn into the displayed page.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{
    cell::RefMut,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use bcm283x::Swapchain;
use v3d::{Error, Fence, hw::ArmPhys, performance, pool::Buffer};

use super::{
    session::{CommandResult, ExecuteLine, LastPicture, Session},
    typing::Typing,
};
use crate::{
    arch::clock,
    board::{
        act_led,
        firmware::{self, BehindMailbox},
        framebuffer::{self, DEFAULT_SIZE},
        property::{GetFirmwareRevision, PropertyError},
    },
    display::{
        frame_times::FrameTimes,
        pages::{PIXEL_BYTES, Pages},
        vsync::{BoardDisplay, Vsync},
    },
    gpu::{Gpu, GpuDevice},
    print, println,
    scene_parts::moment::Moment,
    scenes::{Keys, Page, SCENES, Scene, SceneContext, SceneEntry, SceneError},
    terminal::{
        console::{self, Interruption},
        keyboard::{self, Key, Keyboard},
        keys::CONTROL_C,
    },
};

/// Output of scenes, printed on request.
struct Output {
    wanted: bool,
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.wanted {
            print!("{text}");
        }
        Ok(())
    }
}

pub(super) fn list() -> CommandResult {
    for scene in SCENES {
        println!("scene {}: {}", scene.name, scene.description);
    }
    Ok(())
}

pub(super) fn stop() -> CommandResult {
    println!("no scene is running: any key stops one that is");
    Ok(())
}

/// Draws `frames` frames of a scene from number `first` on, or frames without limit, during which `execute_line` executes lines that are typed.
pub(super) fn run(
    session: &mut Session,
    name: &str,
    first: u64,
    frames: Option<u64>,
    execute_line: ExecuteLine,
) -> CommandResult {
    session.gpu()?;
    let entry = find(name)?;
    let mode = match frames {
        Some(frames) => Mode::Counted { frames },
        None => Mode::Interactive { execute_line },
    };
    let Drawn { times: FrameTimes { frames, .. }, elapsed_us, .. } = show(session, entry, mode, first)?;
    println!("{frames} frames in {} ms, {} a second", elapsed_us / 1000, Rate { frames, us: elapsed_us });
    Ok(())
}

/// Draws frames as fast as possible, without computing CRCs, and prints the rate: of all, and of those after the first one, in which scenes prepare what they
/// keep.
pub(super) fn measure(session: &mut Session, entry: &'static SceneEntry, frames: u64) -> CommandResult {
    let drawn = show(session, entry, Mode::Measured { frames }, 0)?;
    let Drawn { times: FrameTimes { frames, .. }, elapsed_us, first_us, .. } = drawn;
    println!("{frames} frames in {} ms, {} a second", elapsed_us / 1000, Rate { frames, us: elapsed_us });
    let later = Rate { frames: frames.saturating_sub(1), us: elapsed_us - first_us };
    println!("after the first frame {later} a second");
    Ok(())
}

/// Draws the first frame of a scene; returns its CRC-32.
pub(super) fn first_picture(session: &mut Session, entry: &'static SceneEntry) -> Result<u32, String> {
    let drawn = show(session, entry, Mode::Single, 0)?;
    drawn.crc.ok_or_else(|| "no frame was drawn".to_string())
}

/// A number of frames in a time, shown as frames per second.
#[derive(Clone, Copy)]
struct Rate {
    frames: u64,
    us: u64,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second = (self.frames * 1_000_000_000).checked_div(self.us).unwrap_or(0);
        write!(f, "{}.{:03}", per_second / 1000, per_second % 1000)
    }
}

/// The purpose of a run, which determines how its frames are handled.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// A number of frames, and the CRC-32 of each.
    Counted { frames: u64 },
    /// A number of frames as fast as possible.
    Measured { frames: u64 },
    /// One frame, and its CRC-32.
    Single,
    /// Frames until a key is pressed, synchronised with the display if possible. In a scene that shows the console, lines are executed as commands.
    Interactive { execute_line: ExecuteLine },
}

impl Mode {
    fn frames(self) -> Option<u64> {
        match self {
            Self::Counted { frames } | Self::Measured { frames } => Some(frames),
            Self::Single => Some(1),
            Self::Interactive { .. } => None,
        }
    }
}

/// The frames of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    times: FrameTimes,
    elapsed_us: u64,
    /// The part of it until the first frame was finished.
    first_us: u64,
    /// The CRC-32 of the last one, if it was computed.
    crc: Option<u32>,
}

/// Draws frames of a scene, number `first` and those after it.
fn show(session: &mut Session, entry: &'static SceneEntry, mode: Mode, first: u64) -> Result<Drawn, String> {
    // The scene owns the device while it runs; commands that are typed meanwhile use the rest of the session.
    let device = &session.device()?.clone();
    let counted = session.counted;
    let used_before = device.pool().used();
    session.failed_submission = None;
    // The console would draw over the picture.
    console::detach_screen();
    let canvas = Canvas::new(device, session.framebuffer)?;
    let platform = driver(device)?.platform();
    let mut vsync = if matches!(mode, Mode::Interactive { .. }) { Vsync::new() } else { Vsync::off() };
    // A display that cannot be waited for is reported here, not in the middle of a command that is typed while the scene runs.
    if canvas.buffer.is_none() {
        vsync.wait(&BoardDisplay, |trouble| log::info!("{trouble}"));
    }

    performance::start(platform, counted.sources()).map_err(|error| error.to_string())?;
    let mut output = Output { wanted: matches!(mode, Mode::Counted { .. } | Mode::Interactive { .. }) };
    if canvas.buffer.is_some() && output.wanted {
        println!("there is no display: pictures are drawn into memory");
    }
    let answer = page(&canvas.pages, 1).target().map_err(SceneError::from).and_then(|target| {
        let keyboard = Keyboard::new();
        let mut context = SceneContext { device, target, output: &mut output, keyboard, is_over: false };
        let scene = (entry.start)(&mut context)?;
        Ok((context, scene))
    });
    let answer = match answer {
        Ok((mut context, mut scene)) => {
            let answer =
                draw(session, entry.name, scene.as_mut(), &mut context, Finished::none(&canvas, mode, vsync), first);
            driver(device)?.wait_until_idle();
            device.drop_kept_lists().map_err(|error| error.to_string())?;
            session.last_times = answer.as_ref().ok().map(|drawn| (drawn.times, counted));
            answer
        }
        Err(error) => Err(error.to_string()),
    };
    performance::stop(platform);
    for report in driver(device)?.take_reports() {
        print!("{report}");
        session.failed_submission = Some(report.submission);
    }
    if let Some(buffer) = &canvas.buffer {
        // A capture sends all of the pool that is not zero, which takes minutes for pictures.
        buffer.region().zero(platform);
    }
    drop(canvas);
    let used_after = device.pool().used();
    if used_after > used_before {
        log::warn!("scene {} keeps {} bytes of GPU memory", entry.name, used_after - used_before);
    }
    answer
}

/// The driver of the device.
fn driver(device: &GpuDevice) -> Result<RefMut<'_, Gpu>, String> {
    device.driver().map_err(|error| error.to_string())
}

/// The pages into which scenes draw: those of the framebuffer, or pages in GPU memory.
struct Canvas {
    pages: Pages,
    /// The pages' memory, if they are not the framebuffer's.
    buffer: Option<Buffer>,
}

impl Canvas {
    fn new(device: &GpuDevice, framebuffer: Option<Pages>) -> Result<Self, String> {
        /// One page holds the finished frame while the other is drawn into.
        const PAGES: usize = 2;
        if let Some(pages) = framebuffer {
            return Ok(Self { pages, buffer: None });
        }
        let (width, height) = DEFAULT_SIZE;
        let pitch_bytes = width * PIXEL_BYTES as u32;
        let mut gpu = driver(device)?;
        let buffer = gpu.allocate(pitch_bytes * height * PAGES as u32, 4096).map_err(|error| error.to_string())?;
        let first_word = buffer.region().offset() as usize / 4;
        let memory = gpu.platform().pool();
        let pages = Pages { memory, first_word, count: PAGES, width, height, pitch_bytes };
        Ok(Self { pages, buffer: Some(buffer) })
    }

    /// Displays a page, if there is a display. `false` if the displayed page cannot be changed.
    ///
    /// With some firmware, the mailbox stops answering after the V3D's first interrupts [aros]. Then the kernel continues without it, and polls for the end of
    /// jobs.
    fn flip(&self, device: &GpuDevice, page: usize) -> bool {
        if self.buffer.is_some() {
            return true;
        }
        let mut shown = framebuffer::show(&BehindMailbox, page, self.pages.height);
        if shown == Err(PropertyError::Timeout)
            && let Ok(gpu) = device.driver_ref()
            && !gpu.platform().is_polling()
        {
            log::warn!("the firmware has stopped answering; the V3D's interrupts are disabled");
            gpu.platform().poll();
            shown = framebuffer::show(&BehindMailbox, page, self.pages.height);
        }
        match shown {
            Ok(()) => console::page_is_shown(page),
            Err(error) => {
                println!("pages can no longer be flipped, so everything is drawn into the displayed page: {error}")
            }
        }
        shown.is_ok()
    }
}

/// Checks, after each of the first frames since boot, that the firmware still answers: with some firmware it stops [aros].
fn ping_firmware(device: &GpuDevice, number: u64) {
    /// Number of frames after which it is checked.
    const FIRST_FRAMES: u64 = 8;
    static FRAMES: AtomicU64 = AtomicU64::new(0);
    if FRAMES.load(Ordering::Relaxed) >= FIRST_FRAMES || firmware::is_silent() {
        return;
    }
    FRAMES.fetch_add(1, Ordering::Relaxed);
    if firmware::ask(&GetFirmwareRevision {}) == Err(PropertyError::Timeout) {
        let cause = match device.driver_ref().is_ok_and(|gpu| gpu.platform().is_polling()) {
            true => "although the V3D's interrupts are disabled",
            false => "the V3D's interrupts are enabled, which can stop firmware that was started without a device tree",
        };
        println!("the firmware stopped answering after frame {number}: {cause}");
    }
}

/// A frame that the V3D is working on.
struct InFlight {
    number: u64,
    fence: Fence,
}

/// The finished frames of a run.
struct Finished<'c> {
    canvas: &'c Canvas,
    mode: Mode,
    /// Whether pages are flipped.
    is_flipping: bool,
    /// How flips wait for the display's vertical blanking.
    vsync: Vsync,
    times: FrameTimes,
    /// The CRC-32 of the last frame, if it was computed.
    crc: Option<u32>,
    /// Number of frames that the driver has dropped: in total, and since the last finished one.
    dropped: u64,
    dropped_in_turn: u64,
}

impl<'c> Finished<'c> {
    /// How many successive frames the driver may drop.
    const MAX_DROPPED: u64 = 3;

    fn none(canvas: &'c Canvas, mode: Mode, vsync: Vsync) -> Self {
        Self {
            canvas,
            mode,
            is_flipping: true,
            vsync,
            times: FrameTimes::default(),
            crc: None,
            dropped: 0,
            dropped_in_turn: 0,
        }
    }

    /// Displays a finished frame, and computes its CRC-32 if the mode requires it.
    fn add(
        &mut self,
        device: &GpuDevice,
        swapchain: &mut Swapchain<InFlight>,
        page: usize,
        number: u64,
        frame_us: u64,
    ) {
        self.dropped_in_turn = 0;
        self.times.add(frame_us);
        ping_firmware(device, number);
        if self.is_flipping {
            self.is_flipping = self.canvas.flip(device, page);
            if self.is_flipping {
                swapchain.present(page);
            } else {
                swapchain.stay();
            }
        }
        if self.is_flipping {
            self.vsync.wait(&BoardDisplay, |trouble| log::info!("{trouble}"));
        }
        match self.mode {
            Mode::Counted { .. } => {
                let crc = self.canvas.pages.crc(page);
                println!("frame {number} crc {crc:08X}");
                self.crc = Some(crc);
            }
            Mode::Single => self.crc = Some(self.canvas.pages.crc(page)),
            Mode::Measured { .. } | Mode::Interactive { .. } => {}
        }
    }

    /// Handles a frame that the driver has dropped.
    fn leave_out(&mut self, number: u64, failure: impl fmt::Display) -> Result<(), String> {
        println!("frame {number} is skipped: {failure}");
        (self.dropped, self.dropped_in_turn) = (self.dropped + 1, self.dropped_in_turn + 1);
        if self.dropped_in_turn == Self::MAX_DROPPED {
            return Err(format!("{} frames in succession were dropped", Self::MAX_DROPPED));
        }
        Ok(())
    }
}

/// Where the keys go that are pressed while a scene is drawn.
enum Input {
    /// Control-C ends the run.
    Counted,
    /// Any key ends the scene.
    End,
    /// To the line that is being typed.
    Commands(Box<Typing>),
    /// To the scene, whose terminal is asked to report when keys are released.
    Scene {
        /// Control-C, Escape or `q` was pressed.
        is_left: bool,
    },
}

impl Input {
    fn new(mode: Mode, keys: Keys) -> Self {
        match (mode, keys) {
            (Mode::Interactive { .. }, Keys::End) => Self::End,
            (Mode::Interactive { execute_line }, Keys::Commands) => Self::Commands(Box::new(Typing::new(execute_line))),
            (Mode::Interactive { .. }, Keys::Scene) => {
                console::send_to_terminal(keyboard::REPORT_RELEASES);
                Self::Scene { is_left: false }
            }
            (Mode::Counted { .. } | Mode::Measured { .. } | Mode::Single, _) => Self::Counted,
        }
    }

    /// Reads the keys for a frame of a scene that wants them.
    fn read(&mut self, context: &mut SceneContext<'_>, now_us: u64) {
        if let Self::Commands(typing) = self {
            let mut heard = typing.take_heard().into_iter();
            context.keyboard.begin_frame(now_us, || heard.next());
        }
        let Self::Scene { is_left } = self else { return };
        context.keyboard.begin_frame(now_us, || {
            let byte = console::try_read();
            *is_left |= byte == Some(CONTROL_C);
            byte
        });
        *is_left |= context.keyboard.is_pressed(Key::Escape) || context.keyboard.is_pressed(Key::Character('q'));
    }

    /// Whether the scene is to end.
    fn ends(&mut self, session: &mut Session) -> bool {
        match self {
            Self::Counted => console::interruption() == Some(Interruption::ControlC),
            Self::End => console::interruption().is_some(),
            Self::Commands(typing) => typing.go_on(session),
            Self::Scene { is_left } => *is_left,
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if matches!(self, Self::Scene { .. }) {
            console::send_to_terminal(keyboard::REPORT_NO_RELEASES);
        }
    }
}

/// Draws frames until their number is reached, a key is pressed, a typed command ends the scene, or a frame fails.
fn draw(
    session: &mut Session,
    name: &'static str,
    scene: &mut dyn Scene,
    context: &mut SceneContext<'_>,
    mut finished: Finished<'_>,
    first: u64,
) -> Result<Drawn, String> {
    let Finished { canvas, mode, .. } = finished;
    let mut input = Input::new(mode, scene.keys());
    let start_us = clock::now_us();
    let mut swapchain =
        Swapchain::starting_at(if canvas.buffer.is_some() { 0 } else { console::shown_page() }, canvas.pages.count);
    let mut number = first;
    let mut before: Option<Moment> = None;
    // Time since the previous frame was finished.
    let mut frame_us = 0;
    let mut first_us = None;
    loop {
        let wanted = !context.is_over && mode.frames().is_none_or(|frames| number - first < frames);
        if let (true, Some(page)) = (wanted, swapchain.free_page()) {
            let place = self::page(&canvas.pages, page);
            context.target = place.target().map_err(|error| error.to_string())?;
            session.watchdog.sign_of_life();
            act_led::show_life();
            session.last_picture = Some(LastPicture { scene: name, target: place });
            let begin_us = clock::now_us();
            let moment = match mode {
                Mode::Interactive { .. } => Moment::live(number, first, begin_us - start_us, before.as_ref()),
                _ => Moment::fixed(number),
            };
            before = Some(moment);
            input.read(context, begin_us);
            let fence = scene.frame(context, &moment).map_err(|error| format!("frame {number}: {error}"))?;
            frame_us += clock::now_us() - begin_us;
            swapchain.begin(page, InFlight { number, fence });
            number += 1;
            continue;
        }
        let Some((page, InFlight { number: oldest, fence })) = swapchain.take_oldest() else { break };
        let wait_us = clock::now_us();
        let waited = driver(context.device)?.wait(fence);
        match waited {
            Ok(()) => {}
            Err(Error::JobFailed { failure, .. }) => {
                finished.leave_out(oldest, failure)?;
                continue;
            }
            Err(error) => return Err(format!("frame {oldest}: {error}")),
        }
        let frame_us = core::mem::take(&mut frame_us) + clock::now_us() - wait_us;
        finished.add(context.device, &mut swapchain, page, oldest, frame_us);
        first_us.get_or_insert_with(|| clock::now_us() - start_us);
        if input.ends(session) {
            match mode.frames() {
                Some(frames) if oldest + 1 - first < frames => {
                    return Err(format!("stopped after {} of {frames} frames", oldest + 1 - first));
                }
                Some(_) => {}
                None => break,
            }
        }
    }
    match finished {
        Finished { dropped: 0, times, crc, .. } => {
            Ok(Drawn { times, elapsed_us: clock::now_us() - start_us, first_us: first_us.unwrap_or(0), crc })
        }
        Finished { dropped, .. } => Err(format!("{dropped} of {} frames were dropped", number - first)),
    }
}

/// The scene with a name.
pub(super) fn find(name: &str) -> Result<&'static SceneEntry, String> {
    SCENES.iter().find(|scene| scene.name == name).ok_or_else(|| {
        #[cfg(not(feature = "wgsl"))]
        if name == "live" {
            return super::NO_COMPILER.into();
        }
        let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
        format!("no scene named \"{name}\"; there are: {}", names.join(", "))
    })
}

/// A page with its bus address.
fn page(pages: &Pages, page: usize) -> Page {
    Page {
        // The framebuffer and the GPU's memory are below 1 GiB, as is all of memory.
        address: ArmPhys(pages.address(page) as u32).to_bus(),
        width: pages.width,
        height: pages.height,
        pitch_bytes: pages.pitch_bytes,
    }
}

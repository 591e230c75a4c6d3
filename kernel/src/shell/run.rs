//! The main loop of the shell: reads a command, executes it, prints its result

use alloc::string::ToString;

use super::{
    bench, board, capture, draws, engine, failures, files,
    line_editor::LineEditor,
    primitives, replay, report_screen, scene, screenshot, selftest, selftest_board,
    selftest_board::Steps,
    session::{CommandResult, Session},
    unattended,
};
use crate::{
    board::{act_led, watchdog::Watchdog},
    gpu::ClockCheck,
    logging::logger,
    print, println,
    shell::command::{self, Command, LogRequest, PROMPT, SelftestRequest, V3dRequest, WatchdogRequest},
    terminal::console::{self, Terminal},
};

#[cfg(not(feature = "wgsl"))]
use super::NO_COMPILER;
#[cfg(feature = "wgsl")]
use super::shader;

/// Timeout of the watchdog.
const WATCHDOG_MS: u32 = 10_000;

/// Reads and executes commands for ever.
pub fn run(mut session: Session) -> ! {
    let mut editor = LineEditor::new();
    if let Some(seconds) = session.options.selftest_after_s
        && let Err(sentence) = unattended::run(&mut session, seconds)
    {
        println!("{sentence}");
    }
    loop {
        print!("{PROMPT}");
        match session.next_line.take() {
            Some(line) => {
                println!("{line}");
                execute_line(&line, &mut session);
            }
            None => execute_line(read_line(&mut editor, &mut session), &mut session),
        }
    }
}

/// Executes the command on a line and prints its result.
fn execute_line(line: &str, session: &mut Session) {
    match Command::parse(line) {
        Ok(None) => {}
        Ok(Some(command)) => {
            let name = command.name();
            match execute(command, session) {
                Ok(()) => println!("ok {name}"),
                Err(sentence) => println!("error {name}: {sentence}"),
            }
        }
        Err(error) => println!("error {error}"),
    }
}

fn read_line<'a>(editor: &'a mut LineEditor, session: &mut Session) -> &'a str {
    loop {
        session.watchdog.sign_of_life();
        act_led::show_life();
        board::tell_storms();
        let Some(byte) = console::read_until_tick() else { continue };
        if editor.feed(byte, &mut Terminal) {
            return editor.line();
        }
    }
}

fn execute(command: Command, session: &mut Session) -> CommandResult {
    match command {
        Command::Help => help(),
        Command::Info => board::info(session),
        Command::Boot => board::boot(),
        Command::Interrupts(wanted) => engine::interrupts(session, wanted),
        Command::Limits(times) => engine::limits(session, times),
        Command::Clocks => board::clocks(),
        Command::Temp => board::temperature(),
        Command::Mem => board::memory(session),
        Command::V3d(V3dRequest::Show) => engine::identity(session),
        Command::V3d(V3dRequest::Start) => engine::start(session, ClockCheck::Measured),
        Command::V3d(V3dRequest::StartUnchecked) => engine::start(session, ClockCheck::None),
        Command::Regs => engine::registers(session),
        Command::SceneList => scene::list(),
        Command::SceneRun { name, first, frames } => scene::run(session, &name, first, frames, execute_line),
        Command::SceneStop => scene::stop(),
        #[cfg(feature = "wgsl")]
        Command::SceneShaders => shader::files_of_scene(session),
        #[cfg(not(feature = "wgsl"))]
        Command::SceneShaders => Err(NO_COMPILER.to_string()),
        #[cfg(feature = "wgsl")]
        Command::SceneLoad(folder) => shader::load_folder(session, &folder),
        #[cfg(not(feature = "wgsl"))]
        Command::SceneLoad(_) => Err(NO_COMPILER.to_string()),
        Command::Ls(folder) => files::list(session, &folder),
        Command::Cat(file) => files::print(session, &file),
        Command::Screenshot(file) => screenshot::screenshot(session, file),
        Command::Stats(None) => engine::stats(session),
        Command::Stats(Some(set)) => engine::count(session, set),
        Command::Capture { later, destination } => capture::capture(session, later, destination),
        Command::Names(wanted) => capture::names(session, wanted),
        Command::Selftest(SelftestRequest::All) => selftest::selftest(session, false),
        Command::Selftest(SelftestRequest::Vectors) => selftest::selftest(session, true),
        Command::Selftest(SelftestRequest::Board(destination)) => {
            selftest_board::selftest_to(session, Steps::All, destination)
        }
        Command::Selftest(SelftestRequest::After(seconds)) => unattended::run(session, seconds),
        Command::Selftest(SelftestRequest::Code(Some(number))) => report_screen::show_part(session, number),
        Command::Selftest(SelftestRequest::Code(None)) => report_screen::show_in_turn(session),
        Command::Replay(request) => replay::replay(session, request),
        Command::Bench { scene: None, frames } => bench::bench(session, frames),
        Command::Bench { scene: Some(name), frames } => bench::scene(session, &name, frames),
        Command::Draws(what, count) => draws::draws(session, what, count),
        Command::Primitives => primitives::primitives(session),
        #[cfg(feature = "wgsl")]
        Command::Shader(request) => shader::shader(session, request),
        #[cfg(not(feature = "wgsl"))]
        Command::Shader(_) => Err(NO_COMPILER.to_string()),
        Command::Log(request) => log(request),
        Command::Watchdog(request) => watchdog(request, &mut session.watchdog),
        Command::Fail(failure) => failures::fail(session, failure),
        Command::Reboot => board::reboot(session),
    }
}

fn help() -> CommandResult {
    print!("{}", command::help());
    Ok(())
}

fn log(request: LogRequest) -> CommandResult {
    match request {
        LogRequest::Show => print!("{}", logger::text()),
        LogRequest::Previous => match logger::text_of_previous_run() {
            Some(text) => print!("{text}"),
            None => return Err("memory holds no log of an earlier run".to_string()),
        },
        LogRequest::Level(level) => {
            ::log::set_max_level(level);
            println!("logging {level}");
        }
    }
    Ok(())
}

fn watchdog(request: WatchdogRequest, watchdog: &mut Watchdog) -> CommandResult {
    match request {
        WatchdogRequest::Show => {}
        WatchdogRequest::On => watchdog.arm(WATCHDOG_MS),
        WatchdogRequest::Off => watchdog.disarm(),
    }
    match watchdog.timeout_ms() {
        Some(timeout_ms) => {
            println!("the watchdog is on: it restarts the board when the kernel hangs for {} s", timeout_ms / 1000)
        }
        None => println!("the watchdog is off"),
    }
    Ok(())
}

//! Reading commands for ever, and what each leads to

use alloc::string::{String, ToString};
use core::fmt;

use super::{
    PROMPT, bench, board, capture,
    command::{self, Command, LogRequest, SelftestRequest, WatchdogRequest},
    draws, engine, failures,
    line_editor::LineEditor,
    primitives, replay, scene, selftest, selftest_board,
};
use crate::{
    arch::clock,
    board::{
        act_led,
        interrupt_controller::{self, MAX_PER_TICK},
        watchdog::Watchdog,
    },
    console, logger,
    machine::Machine,
    print, println,
};

/// What a command comes to: nothing more to say, or why it failed, as a sentence.
pub(super) type Answer = Result<(), String>;

/// How long the kernel may be silent when the watchdog is on.
const WATCHDOG_MS: u32 = 10_000;

/// The console, as something that text is written to.
pub(super) struct Terminal;

impl fmt::Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        print!("{text}");
        Ok(())
    }
}

/// Reads and runs commands for ever.
pub fn run(mut machine: Machine) -> ! {
    let mut editor = LineEditor::new();
    loop {
        print!("{PROMPT}");
        match machine.next_line.take() {
            Some(line) => {
                println!("{line}");
                obey(&line, &mut machine);
            }
            None => obey(read_line(&mut editor, &mut machine), &mut machine),
        }
    }
}

/// Does what a line says, and prints what came of it.
pub(super) fn obey(line: &str, machine: &mut Machine) {
    match Command::parse(line) {
        Ok(None) => {}
        Ok(Some(command)) => {
            let name = command.name();
            match execute(command, machine) {
                Ok(()) => println!("ok {name}"),
                Err(sentence) => println!("error {name}: {sentence}"),
            }
        }
        Err(error) => println!("error {error}"),
    }
}

fn read_line<'a>(editor: &'a mut LineEditor, machine: &mut Machine) -> &'a str {
    loop {
        machine.watchdog.sign_of_life();
        act_led::show_life();
        tell_storms();
        let Some(byte) = console::read_until_tick() else { continue };
        if editor.feed(byte, &mut Terminal) {
            return editor.line();
        }
    }
}

fn execute(command: Command, machine: &mut Machine) -> Answer {
    match command {
        Command::Help => help(),
        Command::Info => board::info(machine),
        Command::Boot => board::boot(),
        Command::Interrupts(wanted) => engine::interrupts(machine, wanted),
        Command::Clocks => board::clocks(),
        Command::Temp => board::temperature(),
        Command::Mem => board::memory(machine),
        Command::V3d => engine::identity(machine),
        Command::Regs => engine::registers(machine),
        Command::SceneList => scene::list(),
        Command::SceneRun { name, first, frames } => scene::run(machine, &name, first, frames),
        Command::SceneStop => scene::stop(),
        Command::Stats(None) => engine::stats(machine),
        Command::Stats(Some(set)) => engine::count(machine, set),
        Command::Capture => capture::capture(machine),
        Command::Selftest(SelftestRequest::All) => selftest::selftest(machine, false),
        Command::Selftest(SelftestRequest::Vectors) => selftest::selftest(machine, true),
        Command::Selftest(SelftestRequest::Board) => selftest_board::selftest(machine),
        Command::Replay(request) => replay::replay(machine, request),
        Command::Bench => bench::bench(machine),
        Command::Draws(what, count) => draws::draws(machine, what, count),
        Command::Primitives => primitives::primitives(machine),
        Command::Log(request) => log(request),
        Command::Watchdog(request) => watchdog(request, &mut machine.watchdog),
        Command::Fail(failure) => failures::fail(machine, failure),
        Command::Reboot => reboot(machine),
    }
}

/// Restarts the board.
pub(super) fn reboot(machine: &mut Machine) -> Answer {
    println!("restarting");
    console::flush();
    machine.watchdog.reboot();
    clock::spin_for_us(1_000_000);
    Err("the board does not restart".to_string())
}

/// Says which interrupts had to be switched off for coming without end.
pub(super) fn tell_storms() {
    for line in interrupt_controller::take_storms() {
        println!(
            "interrupt line {line} came more than {MAX_PER_TICK} times within a tick, and was off until the next one"
        );
    }
}

fn help() -> Answer {
    print!("{}", command::help());
    Ok(())
}

fn log(request: LogRequest) -> Answer {
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

fn watchdog(request: WatchdogRequest, watchdog: &mut Watchdog) -> Answer {
    match request {
        WatchdogRequest::Show => {}
        WatchdogRequest::On => watchdog.arm(WATCHDOG_MS),
        WatchdogRequest::Off => watchdog.disarm(),
    }
    match watchdog.timeout_ms() {
        Some(timeout_ms) => println!("the board restarts {} s after the kernel's last sign of life", timeout_ms / 1000),
        None => println!("the watchdog is off"),
    }
    Ok(())
}

//! The console: output to the serial port and the screen, input from the serial port
//!
//! Output goes to the serial port and, unless a scene owns it, to the screen, which shows earlier output when it is attached. Serial input is collected in a
//! ring buffer, by interrupt and while the sender waits, so that nothing typed during a long output is lost. Interrupts must therefore not be masked for long:
//! the port's FIFO holds 1.4 ms of input. Output to the screen is stored under the lock ([`TextGrid`]) and drawn after the lock is released.
//!
//! # A serial port that does not send
//! The FIFO of a UART without a clock stays full. The console waits at most `PATIENCE_US` to send a byte; then it treats the port as dead, and drops bytes
//! without waiting until the FIFO has room again. Screen and log continue.

use alloc::string::String;
use core::{
    fmt::{self, Write},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use spin::Once;

use crate::{
    arch::{clock, cpu},
    board::{gpio::SerialPins, interrupt_controller, serial_port::SerialPort},
    display::pages::Pages,
    irq_lock::IrqLock,
    terminal::{
        byte_ring::ByteRing,
        keys::CONTROL_C,
        screen::{self, Page, Strip, TextGrid},
        text_history::TextHistory,
    },
};

/// Most bytes of input that wait for the shell: two blocks of an upload, which are lines of up to 1,400 bytes and which QEMU delivers faster than they are
/// read.
const RECEIVE_RING_BYTES: usize = 4096;

/// How long to wait for room in the port's FIFO; at the console's rate a byte is sent every 87 microseconds.
const PATIENCE_US: u64 = 20_000;

/// Longest pause between the bytes of a line that a tool sends.
const LINE_PAUSE_US: u64 = 20_000;

struct Console {
    port: Option<SerialPort>,
    /// The port's FIFO has been full for too long.
    port_is_dead: bool,
    /// Output before there was a screen, or since a listener read it last.
    history: TextHistory,
    /// Whether there is a listener.
    is_heard: bool,
    grid: TextGrid,
    /// The page on which the text is drawn, unless a scene owns the screen.
    page: Option<Page>,
    /// The pages of the framebuffer: a panic is shown on whichever is displayed.
    pages: Option<Pages>,
    received: ByteRing<RECEIVE_RING_BYTES>,
}

static CONSOLE: IrqLock<Console> = IrqLock::new(Console {
    port: None,
    port_is_dead: false,
    history: TextHistory::new(),
    is_heard: false,
    grid: TextGrid::new(),
    page: None,
    pages: None,
    received: ByteRing::new(),
});

/// The port has just been found dead, and this has not been logged.
static PORT_DIED: AtomicBool = AtomicBool::new(false);

/// Set when the kernel is about to stop: from then on output does not wait for the console's lock.
static LAST_WORDS: AtomicBool = AtomicBool::new(false);
/// The page that the display shows.
static SHOWN_PAGE: AtomicUsize = AtomicUsize::new(0);
/// The pins of the port, for output during panics.
static PINS: Once<SerialPins> = Once::new();

impl Console {
    fn receive(&mut self) {
        let Some(port) = &mut self.port else { return };
        let uart = port.uart();
        while let Some(byte) = uart.try_receive() {
            self.received.push(byte);
        }
    }

    fn send(&mut self, byte: u8) {
        let end_us = clock::now_us() + PATIENCE_US;
        loop {
            let Some(port) = &mut self.port else { return };
            if port.uart().try_send(byte) {
                self.port_is_dead = false;
                return;
            }
            self.receive();
            if self.port_is_dead {
                return;
            }
            if clock::now_us() > end_us {
                self.port_is_dead = true;
                PORT_DIED.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The next strip of text to be drawn, and its page.
    fn take_strip(&mut self) -> Option<(Strip, Page)> {
        let page = self.page?;
        self.grid.take_strip().map(|strip| (strip, page))
    }

    /// Shows the text on this page from now on.
    fn show_on(&mut self, mut page: Page) {
        screen::clear(&mut page);
        self.grid.draw_again();
        self.page = Some(page);
    }
}

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        send_lines(text, |byte| self.send(byte));
        if self.pages.is_none() || self.is_heard {
            self.history.append(text);
        }
        self.grid.write(text);
        Ok(())
    }
}

/// Sends text with a carriage return before each line feed, as terminals need it.
fn send_lines(text: &str, mut send: impl FnMut(u8)) {
    for byte in text.bytes() {
        if byte == b'\n' {
            send(b'\r');
        }
        send(byte);
    }
}

/// The serial port without lock, ring buffer and screen, for panics.
struct LastWords;

impl Write for LastWords {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut port = SerialPort::already_set_up(PINS.get().copied().unwrap_or_default());
        let uart = port.uart();
        let mut is_dead = false;
        send_lines(text, |byte| {
            let end_us = clock::now_us() + PATIENCE_US;
            while !uart.try_send(byte) && !is_dead {
                is_dead = clock::now_us() > end_us;
            }
        });
        Ok(())
    }
}

/// Output in pieces: interrupts are masked while the console is locked, and a byte takes a tenth of a millisecond, so the lock is released after each piece.
struct InPieces;

impl Write for InPieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const PIECE_BYTES: usize = 16;
        let mut rest = text;
        while !rest.is_empty() {
            // A character has at most four bytes, so a piece is never empty.
            let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            CONSOLE.lock().write_str(piece)?;
            rest = tail;
        }
        Ok(())
    }
}

/// Draws changed text on the screen. Interrupts are masked only while a strip is copied. A nested call returns at once, and the outer one draws its text too.
fn draw() {
    static DRAWING: AtomicBool = AtomicBool::new(false);
    if DRAWING.swap(true, Ordering::Acquire) {
        return;
    }
    loop {
        let taken = CONSOLE.lock().take_strip();
        let Some((strip, mut page)) = taken else { break };
        strip.draw(&mut page);
    }
    DRAWING.store(false, Ordering::Release);
}

/// Prints; called by [`print!`](crate::print) and [`println!`](crate::println).
pub fn write(arguments: fmt::Arguments<'_>) {
    let result = if LAST_WORDS.load(Ordering::Relaxed) {
        match CONSOLE.try_lock() {
            Some(mut console) => {
                let result = console.write_fmt(arguments);
                while let Some((strip, mut page)) = console.take_strip() {
                    strip.draw(&mut page);
                }
                result
            }
            None => LastWords.write_fmt(arguments),
        }
    } else {
        let result = InPieces.write_fmt(arguments);
        draw();
        result
    };
    // The writers never fail; an error can only come from a Display implementation, whose text is then incomplete.
    let _ = result;
    // The first output precedes the log.
    if log::max_level() > log::LevelFilter::Off && PORT_DIED.swap(false, Ordering::Relaxed) {
        log::warn!("the serial port does not send: output goes to the screen and the log only");
    }
}

/// Sends a byte during early boot to the port that is connected to the pins, unless its FIFO stays full.
pub(crate) fn send_early(pins: SerialPins, byte: u8) {
    /// Polls of a port that the kernel has not initialised yet.
    const LOOKS: usize = 8192;
    let mut port = SerialPort::already_set_up(pins);
    let uart = port.uart();
    let _ = (0..LOOKS).any(|_| uart.try_send(byte));
}

/// The console as a `fmt::Write`.
#[derive(Clone, Copy, Debug)]
pub struct Terminal;

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(format_args!("{text}"));
        Ok(())
    }
}

/// Prints text to the console.
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::terminal::console::write(format_args!($($arguments)*)) };
}

/// Prints a line to the console.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arguments:tt)*) => { $crate::terminal::console::write(format_args!("{}\n", format_args!($($arguments)*))) };
}

/// Uses this port as the console.
pub fn use_port(port: SerialPort, pins: SerialPins) {
    PINS.call_once(|| pins);
    CONSOLE.lock().port = Some(port);
}

/// Keeps the port's baud rate after a change of the core clock.
pub fn follow_core_clock(core_clock_hz: u32) {
    if let Some(port) = &mut CONSOLE.lock().port {
        port.follow_core_clock(core_clock_hz);
    }
}

/// Name of the console's port.
#[must_use]
pub fn port_name() -> &'static str {
    CONSOLE.lock().port.as_ref().map_or("none", SerialPort::name)
}

/// Receives input by interrupt from now on.
pub fn receive_by_interrupt() {
    let Some(line) = CONSOLE.lock().port.as_ref().map(SerialPort::interrupt_line) else { return };
    interrupt_controller::enable(line, || {
        let mut console = CONSOLE.lock();
        console.receive();
        if let Some(port) = &mut console.port {
            port.uart().acknowledge_receive_interrupt();
        }
    });
    if let Some(port) = &mut CONSOLE.lock().port {
        port.uart().enable_receive_interrupt();
    }
}

/// The next byte of input, if there is one.
#[must_use]
pub fn try_read() -> Option<u8> {
    let mut console = CONSOLE.lock();
    console.receive();
    console.received.pop()
}

/// A key that interrupts a scene or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Control-C.
    ControlC,
    /// Any other key.
    Key,
}

/// The key that was pressed since the last line, if any; it is removed from the input.
///
/// A character that may begin a command is not removed if more follows at once, as when a tool sends a line: `scene stop` arrives in full. A line feed after a
/// carriage return is ignored.
#[must_use]
pub fn interruption() -> Option<Interruption> {
    let first = {
        let mut console = CONSOLE.lock();
        console.receive();
        console.received.first()?
    };
    let begins_line = first.is_ascii_alphabetic() && more_follows();
    if !begins_line {
        CONSOLE.lock().received.pop();
    }
    match first {
        CONTROL_C => Some(Interruption::ControlC),
        b'\n' => None,
        _ => Some(Interruption::Key),
    }
}

/// Whether a second byte of input arrives within the time that a tool leaves between two of a line, which is far less than a person's.
fn more_follows() -> bool {
    let end_us = clock::now_us() + LINE_PAUSE_US;
    loop {
        let mut console = CONSOLE.lock();
        console.receive();
        if console.received.len() > 1 {
            return true;
        }
        drop(console);
        if clock::now_us() > end_us {
            return false;
        }
    }
}

/// Sends text that is not part of the console's output to the terminal: a request that it does not show.
pub fn send_to_terminal(request: &str) {
    let mut console = CONSOLE.lock();
    request.bytes().for_each(|byte| console.send(byte));
}

/// Sleeps until there is input, or until the next interrupt: the timer ticks a hundred times a second.
#[must_use]
pub fn read_until_tick() -> Option<u8> {
    if let Some(byte) = try_read() {
        return Some(byte);
    }
    // A byte that arrives between the check and here has raised its interrupt; at worst the sleep lasts until the next tick.
    cpu::wait_for_interrupt();
    try_read()
}

/// Sleeps until the next interrupt, unless there is input; returns whether there is input, which stays unread.
#[must_use]
pub fn wait_for_input() -> bool {
    let has_input = || {
        let mut console = CONSOLE.lock();
        console.receive();
        console.received.first().is_some()
    };
    if has_input() {
        return true;
    }
    cpu::wait_for_interrupt();
    has_input()
}

/// Waits until all output has been sent.
pub fn flush() {
    if let Some(port) = &mut CONSOLE.lock().port {
        port.uart().flush();
    }
}

/// Also shows the console's output on the first page of the framebuffer, starting with earlier output.
pub fn attach_screen(pages: Pages) {
    {
        let mut console = CONSOLE.lock();
        let Console { grid, history, .. } = &mut *console;
        grid.fit(&pages.page(0));
        history.read().for_each(|text| grid.write(text));
        console.pages = Some(pages);
    }
    // The page is too large to be cleared while the lock is held.
    screen::clear(&mut pages.page(0));
    CONSOLE.lock().page = Some(pages.page(0));
    draw();
}

/// Takes the screen away from the console, for a scene.
pub fn detach_screen() {
    CONSOLE.lock().page = None;
}

/// Returns the screen to the console, which shows its text on the displayed page.
pub fn return_screen() {
    let pages = {
        let console = CONSOLE.lock();
        if console.page.is_some() {
            return;
        }
        console.pages
    };
    let Some(pages) = pages else { return };
    let mut page = pages.page(shown_page());
    // The page is too large to be cleared while the lock is held.
    screen::clear(&mut page);
    {
        let mut console = CONSOLE.lock();
        console.grid.draw_again();
        console.page = Some(page);
    }
    draw();
}

/// A listener: collects the console's output while it lives. There can be one at a time.
#[derive(Debug)]
pub struct Listening(());

/// Starts listening.
#[must_use]
pub fn listen() -> Listening {
    let mut console = CONSOLE.lock();
    console.history.clear();
    console.is_heard = true;
    Listening(())
}

impl Listening {
    /// The output since the last call; only its end if it was longer than 8 KiB.
    #[must_use]
    pub fn heard(&self) -> String {
        // Memory is allocated before the console is locked.
        let kept = CONSOLE.lock().history.kept();
        let mut heard = String::with_capacity(kept);
        let mut console = CONSOLE.lock();
        console.history.read().for_each(|text| heard.push_str(text));
        console.history.clear();
        heard
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        CONSOLE.lock().is_heard = false;
    }
}

/// The page that is displayed.
#[must_use]
pub fn shown_page() -> usize {
    SHOWN_PAGE.load(Ordering::Relaxed)
}

/// Records which page is displayed.
pub fn page_is_shown(page: usize) {
    SHOWN_PAGE.store(page, Ordering::Relaxed);
}

/// Makes the console usable for a panic even if its lock is held, and returns the screen to it.
pub fn take_over_for_last_words() {
    LAST_WORDS.store(true, Ordering::Relaxed);
    if let Some(mut console) = CONSOLE.try_lock() {
        let shown = console.pages.map(|pages| pages.page(SHOWN_PAGE.load(Ordering::Relaxed)));
        if let (None, Some(page)) = (console.page, shown) {
            console.show_on(page);
        }
    }
}

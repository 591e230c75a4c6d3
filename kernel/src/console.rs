//! The console: text to the serial port and the screen, bytes from the serial port
//!
//! Text goes to the serial port and, unless a scene has it, to the screen, which shows earlier text when it attaches. Input from the serial port is
//! collected in a ring, by interrupt and whenever the sender has to wait, so that nothing typed during a long answer is lost. Interrupts must therefore not
//! be masked for long: the port's FIFO holds 1.4 ms of input. Text for the screen is stored under the lock ([`TextGrid`]), and drawn outside of it.
//!
//! # A port that takes nothing
//! A UART without a clock has a full FIFO for ever. The console waits at most `PATIENCE_US` to send a byte; then the port counts as dead, and bytes for which
//! it has no room are dropped without a wait, until it takes one again. Screen and log go on.

use alloc::string::String;
use core::{
    fmt::{self, Write},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use spin::Once;

use crate::{
    arch::{clock, cpu},
    board::{gpio::SerialPins, interrupt_controller, serial_port::SerialPort},
    byte_ring::ByteRing,
    irq_lock::IrqLock,
    keys::CONTROL_C,
    pages::Pages,
    screen::{self, Page, Strip, TextGrid},
    text_history::TextHistory,
};

/// Bytes that may wait between two reads by the shell.
const RECEIVE_RING_BYTES: usize = 1024;

/// How long a byte may wait for room in the port's FIFO; at the console's rate there is some every 87 microseconds.
const PATIENCE_US: u64 = 20_000;

struct Console {
    port: Option<SerialPort>,
    /// The port has taken nothing for too long.
    port_is_dead: bool,
    /// What was said before there was a screen, or since a listener heard it last.
    history: TextHistory,
    /// Somebody listens.
    is_heard: bool,
    grid: TextGrid,
    /// Where the grid is drawn, as long as no scene has the screen.
    page: Option<Page>,
    /// The pages of the framebuffer, for last words on whichever is on show.
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

/// The port has just been found dead, and that is not logged yet.
static PORT_DIED: AtomicBool = AtomicBool::new(false);

/// Set when the kernel is about to die: from then on no text waits for the console's lock.
static LAST_WORDS: AtomicBool = AtomicBool::new(false);
/// Which page of the framebuffer the display shows.
static SHOWN_PAGE: AtomicUsize = AtomicUsize::new(0);
/// Whose pins the port has, and last words go to.
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

    /// The next piece of text that has to be drawn, and where.
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

/// Sends text with the line ends that terminals want: a carriage return before each line feed.
fn send_lines(text: &str, mut send: impl FnMut(u8)) {
    for byte in text.bytes() {
        if byte == b'\n' {
            send(b'\r');
        }
        send(byte);
    }
}

/// The serial port without lock, ring and screen.
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

/// The console, taken anew for each piece of text: interrupts are masked while it is held, and a byte takes a tenth of a
/// millisecond.
struct InPieces;

impl Write for InPieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const PIECE_BYTES: usize = 16;
        let mut rest = text;
        while !rest.is_empty() {
            // No character is longer than four bytes: a piece is never empty.
            let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            CONSOLE.lock().write_str(piece)?;
            rest = tail;
        }
        Ok(())
    }
}

/// Draws what has changed on the screen. Interrupts are masked only while a strip is copied; a call during another one returns at once, and the other
/// draws for both.
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

/// Prints; what [`print!`](crate::print) and [`println!`](crate::println) call.
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
    // All writers always succeed; a failure can only be that of a Display implementation, whose text then stops short.
    let _ = result;
    // The first text comes before there is a log.
    if log::max_level() > log::LevelFilter::Off && PORT_DIED.swap(false, Ordering::Relaxed) {
        log::warn!("the serial port takes no bytes: what is said goes to the screen and the log alone");
    }
}

/// Sends a byte to the port that the pins belong to before there is a console, if it takes it soon.
pub(crate) fn send_early(pins: SerialPins, byte: u8) {
    /// Polls of a port that the kernel has not set up yet.
    const LOOKS: usize = 8192;
    let mut port = SerialPort::already_set_up(pins);
    let uart = port.uart();
    let _ = (0..LOOKS).any(|_| uart.try_send(byte));
}

/// The console, as something that text is written to.
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
    ($($arguments:tt)*) => { $crate::console::write(format_args!($($arguments)*)) };
}

/// Prints a line to the console.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arguments:tt)*) => { $crate::console::write(format_args!("{}\n", format_args!($($arguments)*))) };
}

/// Puts the console on a port.
pub fn use_port(port: SerialPort, pins: SerialPins) {
    PINS.call_once(|| pins);
    CONSOLE.lock().port = Some(port);
}

/// The name of the port that the console is on.
#[must_use]
pub fn port_name() -> &'static str {
    CONSOLE.lock().port.as_ref().map_or("none", SerialPort::name)
}

/// Collects what arrives by interrupt from now on.
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

/// A byte that was typed, if there is one.
#[must_use]
pub fn try_read() -> Option<u8> {
    let mut console = CONSOLE.lock();
    console.receive();
    console.received.pop()
}

/// A key that interrupts what is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Control-C.
    ControlC,
    /// Any other key.
    Key,
}

/// Whether a key was pressed since the last line, and takes it.
///
/// What begins a command stays to be read: `scene stop` can be typed whole. The line feed that a terminal may send after a line's
/// carriage return is no key.
#[must_use]
pub fn interruption() -> Option<Interruption> {
    let mut console = CONSOLE.lock();
    console.receive();
    match console.received.first()? {
        CONTROL_C => {
            console.received.pop();
            Some(Interruption::ControlC)
        }
        b'\n' => {
            console.received.pop();
            None
        }
        byte if byte.is_ascii_alphabetic() => Some(Interruption::Key),
        _ => {
            console.received.pop();
            Some(Interruption::Key)
        }
    }
}

/// Waits for a byte, asleep, at most until the next interrupt: the timer's tick comes a hundred times a second.
#[must_use]
pub fn read_until_tick() -> Option<u8> {
    if let Some(byte) = try_read() {
        return Some(byte);
    }
    // A byte that arrives between the look and here has raised its interrupt; at worst it waits for the next tick.
    cpu::wait_for_interrupt();
    try_read()
}

/// Waits until everything said is on the line.
pub fn flush() {
    if let Some(port) = &mut CONSOLE.lock().port {
        port.uart().flush();
    }
}

/// Shows the console's text on the first of the framebuffer's pages, too, with what was said before.
pub fn attach_screen(pages: Pages) {
    {
        let mut console = CONSOLE.lock();
        let Console { grid, history, .. } = &mut *console;
        grid.fit(&pages.page(0));
        history.read().for_each(|text| grid.write(text));
        console.pages = Some(pages);
    }
    // The page is larger than what may be cleared under the lock.
    screen::clear(&mut pages.page(0));
    CONSOLE.lock().page = Some(pages.page(0));
    draw();
}

/// Takes the screen from the console: a scene wants to draw.
pub fn detach_screen() {
    CONSOLE.lock().page = None;
}

/// Hears what is said on the console, as long as it lives. There is one at a time.
#[derive(Debug)]
pub struct Listening(());

/// Listens from now on.
#[must_use]
pub fn listen() -> Listening {
    let mut console = CONSOLE.lock();
    console.history.clear();
    console.is_heard = true;
    Listening(())
}

impl Listening {
    /// What was said since it was asked last: the end of it, if that was more than 8 KiB.
    #[must_use]
    pub fn heard(&self) -> String {
        // Room is made outside of the lock.
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

/// Which page is on show.
#[must_use]
pub fn shown_page() -> usize {
    SHOWN_PAGE.load(Ordering::Relaxed)
}

/// Notes which page is on show.
pub fn page_is_shown(page: usize) {
    SHOWN_PAGE.store(page, Ordering::Relaxed);
}

/// Makes the console usable for a dying kernel, even if its lock is held, and gives it the screen back.
pub fn take_over_for_last_words() {
    LAST_WORDS.store(true, Ordering::Relaxed);
    if let Some(mut console) = CONSOLE.try_lock() {
        let shown = console.pages.map(|pages| pages.page(SHOWN_PAGE.load(Ordering::Relaxed)));
        if let (None, Some(page)) = (console.page, shown) {
            console.show_on(page);
        }
    }
}

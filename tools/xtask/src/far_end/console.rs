//! Communication with a kernel over its serial console.
//!
//! The kernel prints a line `ready` when it has booted, then the prompt `v3d> `. A command is a line; the kernel answers with any number of output lines and
//! then exactly one line `ok COMMAND` or `error COMMAND: sentence`. A line that starts with `panic: ` or `exception: ` means that the kernel has stopped. All
//! other output is for people. A person who types the same commands gets the same answers, and the protocol is the same in QEMU and on a board.

use crate::interrupt;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The kernel's prompt.
const PROMPT: &[u8] = b"v3d> ";

/// Maximum length of a line, since a kernel that has failed may never end one.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Input from the kernel.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    /// A line, without its end and without a prompt before it.
    Line(String),
    /// The kernel waits for a command.
    Prompt,
    /// The connection has ended.
    End,
}

/// The kernel's answer to a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The output lines before the final line.
    pub(crate) lines: Vec<String>,
    /// The sentence of an `error` line; `Ok` for an `ok` line.
    pub(crate) result: Result<(), String>,
}

impl Reply {
    /// The output lines, or the kernel's sentence as an error.
    pub(crate) fn lines(self) -> Result<Vec<String>> {
        match self.result {
            Ok(()) => Ok(self.lines),
            Err(sentence) => bail!("the kernel says: {sentence}"),
        }
    }
}

/// A serial connection to a kernel.
pub(crate) struct Console {
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    events: Receiver<Event>,
    is_drawing: Arc<AtomicBool>,
}

impl Console {
    /// Communicates over `reader` and `writer`. Every received byte is also written to each of `copies`.
    pub(crate) fn new(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        copies: Vec<Box<dyn Write + Send>>,
    ) -> Self {
        let (sender, events) = channel();
        let is_drawing = Arc::new(AtomicBool::new(false));
        let drawing = Arc::clone(&is_drawing);
        std::thread::spawn(move || listen(reader, copies, &sender, &drawing));
        Self { writer: Arc::new(Mutex::new(Box::new(writer))), events, is_drawing }
    }

    /// A handle that sends input.
    pub(crate) fn keyboard(&self) -> Keyboard {
        Keyboard(Arc::clone(&self.writer))
    }

    /// Whether a scene is drawn, as far as the kernel's output has been received.
    pub(crate) fn is_drawing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_drawing)
    }

    /// Waits until a kernel that has just been started has booted. Returns its output.
    pub(crate) fn wait_ready(&self, deadline: Instant) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            match self.event(deadline, "boot")? {
                Event::Line(line) if line == "ready" => return Ok(lines),
                Event::Line(line) => lines.push(line),
                Event::Prompt => {}
                Event::End => bail!("the machine ended before the kernel was ready"),
            }
        }
    }

    /// Waits for a kernel that may already be running: for `ready`, or for a prompt, which is requested with an empty line every second.
    pub(crate) fn wait_prompt(&self, deadline: Instant) -> Result<()> {
        loop {
            self.keyboard().press(b"\r")?;
            let patience = deadline.min(Instant::now() + Duration::from_secs(1));
            loop {
                interrupt::check()?;
                match self.events.recv_timeout(patience.saturating_duration_since(Instant::now())) {
                    Ok(Event::Prompt) => return Ok(()),
                    Ok(Event::Line(_)) => {}
                    Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => bail!("the serial line is closed"),
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            if Instant::now() >= deadline {
                bail!(
                    "no kernel answers with the prompt \"{}\": is the board on, and are its TXD and RXD \
                     crossed with the cable's?",
                    String::from_utf8_lossy(PROMPT).trim_end()
                );
            }
        }
    }

    /// Sends a command and waits for its end. `name` is the command's name in the kernel's final line (`scene run` for `scene run cube frames 3`); `each_line`
    /// is called for each output line as it arrives.
    pub(crate) fn command(
        &self,
        name: &str,
        arguments: &str,
        deadline: Instant,
        mut each_line: impl FnMut(&str),
    ) -> Result<Reply> {
        let typed = format!("{name}{arguments}");
        self.keyboard().press(format!("{typed}\r").as_bytes())?;
        let mut lines = Vec::new();
        loop {
            match self.event(deadline, name)? {
                Event::Line(line) => {
                    if let Some(result) = last_line(name, &line) {
                        return Ok(Reply { lines, result });
                    }
                    // The kernel echoes its input.
                    if line != typed {
                        each_line(&line);
                        lines.push(line);
                    }
                }
                Event::Prompt => {}
                Event::End => bail!("the machine ended during `{name}`"),
            }
        }
    }

    /// Sends a line during the command `name`, and waits for the first line for which `take` returns a value; `None` after a timeout.
    pub(crate) fn exchange<T>(
        &self,
        name: &str,
        line: &str,
        patience: Duration,
        mut take: impl FnMut(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        self.keyboard().press(format!("{line}\r").as_bytes())?;
        let deadline = Instant::now() + patience;
        while let Some(event) = self.event_until(deadline, name)? {
            match event {
                Event::Line(line) => {
                    if let Some(taken) = take(&line) {
                        return Ok(Some(taken));
                    }
                }
                Event::Prompt => {}
                Event::End => bail!("the machine ended during `{name}`"),
            }
        }
        Ok(None)
    }

    /// Waits for a line; returns it after the lines before it. `during` says in errors what the kernel is doing.
    pub(crate) fn lines_until(
        &self,
        deadline: Instant,
        during: &str,
        is_last: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| is_last(line)) {
            match self.event(deadline, during)? {
                Event::Line(line) => lines.push(line),
                Event::Prompt => {}
                Event::End => bail!("the machine ended during `{during}`"),
            }
        }
        Ok(lines)
    }

    /// Waits until the connection ends or the user interrupts.
    pub(crate) fn wait_end(&self) {
        while !interrupt::requested() {
            match self.events.recv_timeout(Duration::from_millis(100)) {
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The next event; an error after the deadline, or if the kernel has stopped.
    fn event(&self, deadline: Instant, during: &str) -> Result<Event> {
        self.event_until(deadline, during)?.with_context(|| {
            format!("time-out: the kernel did not finish `{during}` in time (--timeout sets a longer limit)")
        })
    }

    /// The next event, or `None` after the deadline; an error if the kernel has stopped.
    fn event_until(&self, deadline: Instant, during: &str) -> Result<Option<Event>> {
        loop {
            interrupt::check()?;
            let patience = deadline.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                return Ok(None);
            }
            match self.events.recv_timeout(patience.min(Duration::from_millis(100))) {
                Ok(Event::Line(line)) if line.starts_with("panic: ") || line.starts_with("exception: ") => {
                    // The kernel's explanation follows, and is written to the copies meanwhile.
                    std::thread::sleep(Duration::from_millis(500));
                    bail!("the kernel stopped during `{during}`: {line}");
                }
                Ok(event) => return Ok(Some(event)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Some(Event::End)),
            }
        }
    }
}

/// Sends input to a kernel.
#[derive(Clone)]
pub(crate) struct Keyboard(Arc<Mutex<Box<dyn Write + Send>>>);

impl Keyboard {
    /// Sends bytes unchanged.
    pub(crate) fn press(&self, bytes: &[u8]) -> Result<()> {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(bytes).and_then(|()| writer.flush()).context("the serial line does not take a command")
    }
}

/// The result of command `name`, if this line is its final line.
fn last_line(name: &str, line: &str) -> Option<Result<(), String>> {
    if line.strip_prefix("ok ") == Some(name) {
        return Some(Ok(()));
    }
    let sentence = line.strip_prefix("error ")?.strip_prefix(name)?.strip_prefix(": ")?;
    Some(Err(sentence.to_owned()))
}

/// Splits the input into lines until it ends.
fn listen(
    mut reader: impl Read,
    mut copies: Vec<Box<dyn Write + Send>>,
    events: &Sender<Event>,
    is_drawing: &AtomicBool,
) {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        for copy in &mut copies {
            // A closed terminal or a full disk must not end the communication.
            let _ = copy.write_all(&buffer[..count]).and_then(|()| copy.flush());
        }
        for &byte in &buffer[..count] {
            if byte != b'\n' && line.len() < MAX_LINE_BYTES {
                line.push(byte);
                if line == PROMPT && events.send(Event::Prompt).is_err() {
                    return;
                }
                continue;
            }
            let text = String::from_utf8_lossy(without_prompt(&line)).trim_end().to_owned();
            if line.starts_with(PROMPT) && text.starts_with("scene run") {
                is_drawing.store(true, Ordering::Relaxed);
            } else if last_line("scene run", &text).is_some() {
                is_drawing.store(false, Ordering::Relaxed);
            }
            line.clear();
            if events.send(Event::Line(text)).is_err() {
                return;
            }
        }
    }
    // If the receiver has been dropped, nobody waits for the end.
    let _ = events.send(Event::End);
}

/// The line after any prompts at its start.
fn without_prompt(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(PROMPT) {
        line = rest;
    }
    line
}

/// A frame that the kernel reports as finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameLine {
    /// Its number.
    pub(crate) number: u64,
    /// CRC-32 of the finished page as the CPU reads it.
    pub(crate) crc: u32,
}

impl FrameLine {
    /// Parses `frame K crc C`, where C is hexadecimal.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (Some("frame"), Some(number), Some("crc"), Some(crc), None) =
            (words.next(), words.next(), words.next(), words.next(), words.next())
        else {
            return None;
        };
        Some(Self { number: number.parse().ok()?, crc: u32::from_str_radix(crc, 16).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    fn console(text: &str) -> Console {
        Console::new(Cursor::new(text.to_owned().into_bytes()), std::io::sink(), Vec::new())
    }

    #[test]
    fn a_whole_dialogue() {
        let console = console(
            "[0.000001] INFO kernel: hello\r\nready\r\nv3d> scene run cube frames 2\r\nframe 0 crc 00000001\r\n\
             frame 1 crc deadbeef\r\nok scene run\r\nv3d> nonsense\r\nerror nonsense: there is no such command\r\nv3d> ",
        );
        assert_eq!(console.wait_ready(soon()).unwrap(), ["[0.000001] INFO kernel: hello"]);
        let mut frames = Vec::new();
        let reply = console
            .command("scene run", " cube frames 2", soon(), |line| frames.extend(FrameLine::parse(line)))
            .unwrap();
        assert_eq!(reply.result, Ok(()));
        assert_eq!(reply.lines.len(), 2);
        assert_eq!(frames, [FrameLine { number: 0, crc: 1 }, FrameLine { number: 1, crc: 0xdead_beef }]);
        let reply = console.command("nonsense", "", soon(), |_| {}).unwrap();
        assert_eq!(reply.lines().unwrap_err().to_string(), "the kernel says: there is no such command");
    }

    #[test]
    fn it_is_known_whether_a_scene_is_drawn() {
        for (text, expected) in [
            ("v3d> scene run cube\r\n", true),
            ("v3d> scene run console\r\nv3d> help\r\nok help\r\nv3d> ", true),
            ("v3d> scene run cube\r\n3 frames\r\nok scene run\r\nv3d> ", false),
            ("v3d> scene run x\r\nerror scene run: no scene named \"x\"\r\n", false),
            ("[0.1] INFO scene run\r\n", false),
        ] {
            let console = console(text);
            console.wait_end();
            assert_eq!(console.is_drawing().load(Ordering::Relaxed), expected, "{text}");
        }
    }

    #[test]
    fn a_panic_ends_it() {
        let console = console("ready\nv3d> panic: kernel/src/main.rs:1: no\nmore\n");
        console.wait_ready(soon()).unwrap();
        let error = console.command("scene run", " cube", soon(), |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "the kernel stopped during `scene run`: panic: kernel/src/main.rs:1: no");
    }

    #[test]
    fn an_end_and_a_time_out_are_told_apart() {
        let error = console("half a li").wait_ready(soon()).unwrap_err();
        assert!(error.to_string().contains("ended before"));
        let (reader, _writer) = std::io::pipe().unwrap();
        let silent = Console::new(reader, std::io::sink(), Vec::new());
        let error = silent.wait_ready(Instant::now() + Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("time-out"));
    }

    #[test]
    fn an_exchange_takes_the_first_line_that_fits() {
        let console = console("noise\r\n+ 00001000\r\npanic: no\r\n");
        let answer =
            console.exchange("name", "x", Duration::from_secs(10), |line| line.strip_prefix("+ ").map(str::to_owned));
        assert_eq!(answer.unwrap().as_deref(), Some("00001000"));
        assert!(console.exchange("name", "x", Duration::from_secs(10), |_| Some(())).is_err());
        let (reader, _writer) = std::io::pipe().unwrap();
        let silent = Console::new(reader, std::io::sink(), Vec::new());
        assert_eq!(silent.exchange("name", "x", Duration::from_millis(20), |_| Some(())).unwrap(), None);
    }

    #[test]
    fn last_lines_are_exact() {
        assert_eq!(last_line("scene run", "ok scene run"), Some(Ok(())));
        assert_eq!(last_line("scene run", "ok scene"), None);
        assert_eq!(last_line("scene", "ok scene run"), None);
        assert_eq!(last_line("v3d", "error v3d: none"), Some(Err("none".to_owned())));
        assert_eq!(FrameLine::parse("frame 1 crc xyz"), None);
    }
}

//! The stepper in a terminal: by keys on a screen, or by commands from a file.

use super::session::{Answer, Session};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

/// The keys, for the last line of the screen.
const KEYS: &str =
    "s/↓ step  b/↑ back  r run  R reverse  g signal  t thread  l TMU  c/←→ pane  : command  ? help  q quit";

/// What the lower part of the screen shows, as commands.
const PANES: [&str; 4] = ["regs", "fifos", "vpm", "stops"];

/// Runs a session: by the commands of a file (`-` is standard input), else by keys if there is a terminal, else by commands from standard input. Returns
/// whether all commands were understood.
///
/// # Errors
/// When the file cannot be read, or the terminal not be used.
pub fn run(session: Session, commands: Option<&Path>) -> io::Result<bool> {
    match commands {
        Some(path) if path != Path::new("-") => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
            by_lines(session, text.as_bytes(), &mut io::stdout().lock())
        }
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => by_keys(session).map(|()| true),
        _ => by_lines(session, io::stdin().lock(), &mut io::stdout().lock()),
    }
}

/// Carries out lines. What stands behind a `#` is a comment.
fn by_lines(mut session: Session, lines: impl BufRead, out: &mut impl Write) -> io::Result<bool> {
    let mut is_well = true;
    for line in lines.lines() {
        let line = line?;
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let Answer { text, quit, failed } = session.command(line);
        write!(out, "> {line}\n{text}")?;
        is_well &= !failed;
        if quit {
            break;
        }
    }
    Ok(is_well)
}

/// A terminal without line editing, which is restored at the end.
struct Screen;

impl Screen {
    fn new() -> io::Result<Self> {
        enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // At the end there is nobody to tell.
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// The state of the screen.
#[derive(Default)]
struct View {
    pane: usize,
    /// The last answer.
    answer: String,
    /// A command that is being typed.
    typed: Option<String>,
}

fn by_keys(mut session: Session) -> io::Result<()> {
    let _screen = Screen::new()?;
    let mut view = View { answer: session.command("where").text, ..View::default() };
    loop {
        draw(&mut session, &view)?;
        let Event::Key(KeyEvent { code, modifiers, kind, .. }) = read()? else { continue };
        if kind == KeyEventKind::Release {
            continue;
        }
        if code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL) {
            return Ok(());
        }
        if let Some(typed) = &mut view.typed {
            match code {
                KeyCode::Char(letter) => typed.push(letter),
                KeyCode::Backspace if typed.pop().is_some() => {}
                KeyCode::Backspace | KeyCode::Esc => view.typed = None,
                KeyCode::Enter => {
                    let line = view.typed.take().unwrap_or_default();
                    if carry_out(&mut session, &mut view, &line) {
                        return Ok(());
                    }
                }
                _ => {}
            }
            continue;
        }
        let command = match code {
            KeyCode::Down | KeyCode::Enter => "s".to_owned(),
            KeyCode::Up => "b".to_owned(),
            KeyCode::Char(letter @ ('s' | 'b' | 'r' | 'R' | 'g' | 'G' | 't' | 'T' | 'l' | 'L' | 'q')) => letter.into(),
            KeyCode::Char('?' | 'h') => "help".to_owned(),
            KeyCode::Char('c') | KeyCode::Tab | KeyCode::Right => {
                view.pane = (view.pane + 1) % PANES.len();
                continue;
            }
            KeyCode::Left => {
                view.pane = (view.pane + PANES.len() - 1) % PANES.len();
                continue;
            }
            KeyCode::Char(':') => {
                view.typed = Some(String::new());
                continue;
            }
            _ => continue,
        };
        if carry_out(&mut session, &mut view, &command) {
            return Ok(());
        }
    }
}

/// Carries out a command; whether it was the last.
fn carry_out(session: &mut Session, view: &mut View, line: &str) -> bool {
    let Answer { text, quit, .. } = session.command(line);
    view.answer = text;
    quit
}

/// Draws the screen: code, the last answer, a pane, keys.
fn draw(session: &mut Session, view: &View) -> io::Result<()> {
    let (columns, rows) = size()?;
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let mut out = io::stdout().lock();
    let code_rows = (rows.saturating_sub(3) / 2).max(3);
    let answer_rows = if view.answer.lines().count() > 6 { rows.saturating_sub(code_rows + 3) } else { 6 };
    let code = session.code(code_rows / 2);
    let pane = session.command(PANES[view.pane]).text;
    let mut lines: Vec<(bool, String)> = Vec::new();
    for line in code.lines().take(code_rows) {
        lines.push((line.starts_with('>'), line.to_owned()));
    }
    lines.resize(code_rows, (false, String::new()));
    lines.push((true, format!("── instruction {} ", session.stepper.position())));
    lines.extend(view.answer.lines().take(answer_rows).map(|line| (false, line.to_owned())));
    lines.resize(code_rows + 1 + answer_rows, (false, String::new()));
    lines.push((true, format!("── {} ", PANES[view.pane])));
    lines.extend(pane.lines().map(|line| (false, line.to_owned())));
    lines.resize(rows.saturating_sub(1), (false, String::new()));
    for (row, (is_strong, line)) in (0..).zip(lines) {
        let shown: String = line.chars().take(columns).collect();
        queue!(out, MoveTo(0, row), Clear(ClearType::CurrentLine))?;
        if is_strong {
            queue!(out, SetAttribute(Attribute::Bold))?;
        }
        write!(out, "{shown}")?;
        queue!(out, SetAttribute(Attribute::Reset))?;
    }
    let last = view.typed.as_ref().map_or_else(|| KEYS.to_owned(), |typed| format!(": {typed}_"));
    let shown: String = last.chars().take(columns).collect();
    queue!(out, MoveTo(0, rows.saturating_sub(1) as u16), Clear(ClearType::CurrentLine))?;
    queue!(out, SetAttribute(Attribute::Reverse))?;
    write!(out, "{shown:columns$}")?;
    queue!(out, SetAttribute(Attribute::Reset))?;
    out.flush()
}

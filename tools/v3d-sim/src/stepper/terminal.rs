//! The stepper in a terminal: by keys on a screen, or by commands from a file.

use super::session::{Answer, HELP, Session};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

/// The keys, for the last line of the screen: what helps first, as a narrow screen cuts it.
const KEYS: &str = "? help  q quit  s b step  r R run  g G signal  t T switch  l L TMU  c pane  :";
/// The keys, on the screen of help above the commands.
const KEYS_IN_WORDS: &str = "\
s, Down, Enter      step                  b, Up        back
r, R                run, backwards        g, G         signal, backwards
t, T                switch, backwards     l, L         TMU, backwards
c, Tab, Right       the next pane         Left         the pane before
PageUp, PageDown    scroll the pane       :            type a command
?, h                this                  q, Ctrl-C    quit

Commands, behind a colon:
";

/// Lines by which a press of a key scrolls.
const SCROLLED_AT_ONCE: usize = 5;

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
#[derive(Debug, Default)]
struct View {
    pane: usize,
    /// Lines of the pane, or of the help, above the first one that is shown.
    scrolled: usize,
    /// The last answer.
    answer: String,
    /// A command that is being typed.
    typed: Option<String>,
    /// The help covers the screen.
    help: bool,
}

fn by_keys(mut session: Session) -> io::Result<()> {
    let _screen = Screen::new()?;
    let mut view = View { answer: session.command("where").text, ..View::default() };
    let is_utf8 = has_utf8();
    loop {
        let (columns, rows) = size()?;
        let lines = screen(&mut session, &mut view, usize::from(columns), usize::from(rows));
        draw(&lines, is_utf8)?;
        let Event::Key(KeyEvent { code, modifiers, kind, .. }) = read()? else { continue };
        if kind == KeyEventKind::Release {
            continue;
        }
        if code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL) {
            return Ok(());
        }
        if pressed(&mut session, &mut view, code) {
            return Ok(());
        }
    }
}

/// Whether the terminal shows letters that are not ASCII: by the variables that say so, the first one that is set [POSIX 8.2].
fn has_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_uppercase();
    locale.contains("UTF-8") || locale.contains("UTF8")
}

/// What a key does; whether it was the last one.
fn pressed(session: &mut Session, view: &mut View, code: KeyCode) -> bool {
    if let Some(typed) = &mut view.typed {
        match code {
            KeyCode::Char(letter) => typed.push(letter),
            KeyCode::Backspace if typed.pop().is_some() => {}
            KeyCode::Backspace | KeyCode::Esc => view.typed = None,
            KeyCode::Enter => {
                let line = view.typed.take().unwrap_or_default();
                return carry_out(session, view, &line);
            }
            _ => {}
        }
        return false;
    }
    match code {
        // More than there is is taken back when the screen is made.
        KeyCode::PageDown => view.scrolled += SCROLLED_AT_ONCE,
        KeyCode::PageUp => view.scrolled = view.scrolled.saturating_sub(SCROLLED_AT_ONCE),
        _ if view.help => {
            view.help = false;
            view.scrolled = 0;
            return matches!(code, KeyCode::Char('q'));
        }
        KeyCode::Down | KeyCode::Enter => return carry_out(session, view, "s"),
        KeyCode::Up => return carry_out(session, view, "b"),
        KeyCode::Char(letter @ ('s' | 'b' | 'r' | 'R' | 'g' | 'G' | 't' | 'T' | 'l' | 'L' | 'q')) => {
            return carry_out(session, view, letter.encode_utf8(&mut [0; 4]));
        }
        KeyCode::Char('?' | 'h') => carry_out_help(view),
        KeyCode::Char('c') | KeyCode::Tab | KeyCode::Right => turn(view, 1),
        KeyCode::Left | KeyCode::BackTab => turn(view, PANES.len() - 1),
        KeyCode::Char(':') => view.typed = Some(String::new()),
        _ => {}
    }
    false
}

fn carry_out_help(view: &mut View) {
    view.help = true;
    view.scrolled = 0;
}

fn turn(view: &mut View, by: usize) {
    view.pane = (view.pane + by) % PANES.len();
    view.scrolled = 0;
}

/// Carries out a command; whether it was the last.
fn carry_out(session: &mut Session, view: &mut View, line: &str) -> bool {
    if matches!(line.trim(), "h" | "help") {
        carry_out_help(view);
        return false;
    }
    let Answer { text, quit, .. } = session.command(line);
    view.answer = text;
    quit
}

/// How a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Plain,
    Strong,
    Reversed,
}

/// The lines of a screen: code, the last answer, a pane, keys. There are as many as there are rows, none longer than there are columns.
fn screen(session: &mut Session, view: &mut View, columns: usize, rows: usize) -> Vec<(Look, String)> {
    let Some(above) = rows.checked_sub(1) else { return Vec::new() };
    let mut lines: Vec<(Look, String)> = Vec::new();
    if view.help {
        let text = format!("{KEYS_IN_WORDS}{HELP}");
        part(&mut lines, "keys", &wrapped(&text, columns), &mut view.scrolled, above);
    } else {
        let answer = wrapped(&view.answer, columns);
        // Code has up to half of the screen; an answer has what it needs of the rest, and at least three rows.
        let code_rows = (rows.saturating_sub(3) / 2).max(1).min(above);
        let code = session.code(code_rows / 2);
        let code =
            code.lines().map(|line| if line.starts_with('>') { (Look::Strong, line) } else { (Look::Plain, line) });
        lines.extend(code.take(code_rows).map(|(look, line)| (look, line.to_owned())));
        lines.resize(code_rows, (Look::Plain, String::new()));
        lines.push((Look::Strong, title("instruction", &session.stepper.position().to_string(), columns)));
        let left = above.saturating_sub(lines.len());
        let answer_rows = answer.len().max(3).min(left.saturating_sub(4).max(3));
        lines.extend(answer.into_iter().take(answer_rows).map(|line| (Look::Plain, line)));
        lines.resize(code_rows + 1 + answer_rows, (Look::Plain, String::new()));
        let pane = session.command(PANES[view.pane]).text;
        let left = above.saturating_sub(lines.len());
        part(&mut lines, PANES[view.pane], &wrapped(&pane, columns), &mut view.scrolled, left);
    }
    lines.truncate(above);
    lines.resize(above, (Look::Plain, String::new()));
    let last = view.typed.as_ref().map_or_else(|| KEYS.to_owned(), |typed| typing(typed, columns));
    lines.push((Look::Reversed, format!("{last:columns$}")));
    for (_, line) in &mut lines {
        if let Some((end, _)) = line.char_indices().nth(columns) {
            line.truncate(end);
        }
    }
    lines
}

/// The line in which a command is typed: its end, if it is too long.
fn typing(typed: &str, columns: usize) -> String {
    let line = format!(": {typed}_");
    let skipped = line.chars().count().saturating_sub(columns);
    line.chars().skip(skipped).collect()
}

/// A title, and as many lines as there is room for, from where a person has scrolled to.
fn part(lines: &mut Vec<(Look, String)>, name: &str, content: &[String], scrolled: &mut usize, rows: usize) {
    let shown = rows.saturating_sub(1);
    *scrolled = (*scrolled).min(content.len().saturating_sub(shown));
    let last = (*scrolled + shown).min(content.len());
    let which = if content.len() > shown {
        format!("{} to {last} of {}, PageUp, PageDown", *scrolled + 1, content.len())
    } else {
        String::new()
    };
    lines.push((Look::Strong, title(name, &which, usize::MAX)));
    lines.extend(content[*scrolled..last].iter().map(|line| (Look::Plain, line.clone())));
}

fn title(name: &str, more: &str, columns: usize) -> String {
    let title = format!("\u{2500}\u{2500} {name} {more}");
    title.chars().take(columns).collect()
}

/// The lines of a text, broken at spaces where they are too long; what is broken off is indented.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    const INDENT: usize = 7;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line.to_owned();
        while rest.chars().count() > columns {
            // Not within the indentation, or it would go on for ever.
            let is_space = |&(at, letter): &(usize, char)| letter == ' ' && at > 2 * INDENT;
            let space = rest.char_indices().take(columns + 1).filter(is_space).last();
            let Some((at, _)) = space.filter(|_| columns > 3 * INDENT) else { break };
            let behind = format!("{:INDENT$}{}", "", rest[at..].trim_start());
            rest.truncate(at);
            lines.push(std::mem::replace(&mut rest, behind));
        }
        lines.push(rest);
    }
    lines
}

/// Draws lines from the top of the screen on.
fn draw(lines: &[(Look, String)], is_utf8: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (row, (look, line)) in (0..).zip(lines) {
        queue!(out, MoveTo(0, row), Clear(ClearType::CurrentLine))?;
        match look {
            Look::Plain => {}
            Look::Strong => queue!(out, SetAttribute(Attribute::Bold))?,
            Look::Reversed => queue!(out, SetAttribute(Attribute::Reverse))?,
        }
        if is_utf8 {
            write!(out, "{line}")?;
        } else {
            let ascii = |letter: char| {
                if letter == '\u{2500}' {
                    '-'
                } else if letter.is_ascii() {
                    letter
                } else {
                    '?'
                }
            };
            write!(out, "{}", line.chars().map(ascii).collect::<String>())?;
        }
        queue!(out, SetAttribute(Attribute::Reset))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::Launch;
    use crate::stepper::session::Line;
    use crate::stepper::{Stepper, UserProgram};
    use ::qpu::{Options, Source, assemble};
    use std::collections::BTreeMap;
    use v3d_hw::BusAddr;

    const SOURCE: &str = "mov r0, unif\nmov ra1, elem_num\nmov rb2, elem_num\nshl r1, ra1, 3\nmov t0s, r1\nnop\nldtmu0\nthrend\nnop\nnop\n";

    fn session() -> Session {
        let assembly = assemble(&[Source::new("keys.qasm", SOURCE)], &Options::default()).unwrap();
        let mut image = vec![0; 0x2000];
        let words: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        image[..words.len()].copy_from_slice(&words);
        let launch = Launch { uniforms: BusAddr(0x800), uniforms_limit: Some(2), ..Launch::default() };
        let line = |(number, (&word, text)): (usize, (&u64, &str))| Line {
            word,
            number: number + 1,
            file: "keys.qasm".to_owned(),
            text: text.to_owned(),
        };
        let lines = assembly.words.iter().zip(SOURCE.lines()).enumerate().map(line);
        let listing: BTreeMap<u32, Line> = (0..).step_by(8).zip(lines).collect();
        Session::new(Stepper::of_program(UserProgram::new(launch, image)), listing)
    }

    fn shown(session: &mut Session, view: &mut View, columns: usize, rows: usize) -> String {
        let lines = screen(session, view, columns, rows);
        assert_eq!(lines.len(), rows, "{columns} x {rows}");
        assert!(lines.iter().all(|(_, line)| line.chars().count() <= columns), "{columns} x {rows}: {lines:?}");
        lines.into_iter().map(|(_, line)| line + "\n").collect()
    }

    /// Where each key leads to, in instructions.
    #[test]
    fn keys_move_as_the_last_line_says() {
        let (mut session, mut view) = (session(), View::default());
        let position = |session: &mut Session, view: &mut View, code: KeyCode| {
            assert!(!pressed(session, view, code), "{code:?}");
            session.stepper.position()
        };
        let letter = KeyCode::Char;
        for (key, expected) in [
            (letter('s'), 1),
            (KeyCode::Down, 2),
            (KeyCode::Enter, 3),
            (letter('b'), 2),
            (KeyCode::Up, 1),
            (letter('g'), 6),
            (letter('l'), 7),
            (letter('L'), 0),
            (letter('t'), 10),
            (letter('T'), 0),
            (letter('r'), 10),
            (letter('G'), 7),
            (letter('R'), 0),
            (letter('z'), 0),
            (KeyCode::F(1), 0),
        ] {
            assert_eq!(position(&mut session, &mut view, key), expected, "{key:?}");
        }
        assert!(pressed(&mut session, &mut view, letter('q')));
    }

    #[test]
    fn panes_and_help_are_turned_by_keys() {
        let (mut session, mut view) = (session(), View::default());
        let titles = |session: &mut Session, view: &mut View| {
            let text = shown(session, view, 80, 24);
            text.lines()
                .filter_map(|line| line.strip_prefix("\u{2500}\u{2500} "))
                .map(|line| line.trim().to_owned())
                .collect::<Vec<_>>()
        };
        for (key, pane) in [
            (KeyCode::Tab, "fifos"),
            (KeyCode::Right, "vpm"),
            (KeyCode::Char('c'), "stops"),
            (KeyCode::Left, "vpm"),
            (KeyCode::BackTab, "fifos"),
            (KeyCode::Left, "regs"),
            (KeyCode::Left, "stops"),
        ] {
            pressed(&mut session, &mut view, key);
            assert_eq!(titles(&mut session, &mut view), ["instruction 0", pane], "{key:?}");
        }
        pressed(&mut session, &mut view, KeyCode::Char('?'));
        let help = shown(&mut session, &mut view, 80, 40);
        assert!(HELP.lines().chain(KEYS_IN_WORDS.lines()).all(|line| help.contains(line)), "{help}");
        // In fewer rows, all of it is reached by scrolling.
        let mut seen = String::new();
        for _ in 0..20 {
            seen += &shown(&mut session, &mut view, 80, 10);
            pressed(&mut session, &mut view, KeyCode::PageDown);
        }
        assert!(HELP.lines().all(|line| seen.contains(line)), "{seen}");
        pressed(&mut session, &mut view, KeyCode::Esc);
        assert_eq!(titles(&mut session, &mut view), ["instruction 0", "stops"]);
    }

    #[test]
    fn commands_are_typed_behind_a_colon() {
        let (mut session, mut view) = (session(), View::default());
        let type_all = |session: &mut Session, view: &mut View, text: &str| {
            text.chars().any(|letter| {
                pressed(session, view, if letter == '\n' { KeyCode::Enter } else { KeyCode::Char(letter) })
            })
        };
        type_all(&mut session, &mut view, ":gotx");
        pressed(&mut session, &mut view, KeyCode::Backspace);
        assert!(shown(&mut session, &mut view, 80, 24).contains(": got_"));
        type_all(&mut session, &mut view, "o 4\n");
        assert_eq!(session.stepper.position(), 4);
        type_all(&mut session, &mut view, ":nonsense\n");
        assert!(shown(&mut session, &mut view, 80, 24).contains("there is no command \"nonsense\""));
        type_all(&mut session, &mut view, ":s");
        pressed(&mut session, &mut view, KeyCode::Esc);
        assert_eq!((session.stepper.position(), &view.typed), (4, &None));
        pressed(&mut session, &mut view, KeyCode::Char(':'));
        pressed(&mut session, &mut view, KeyCode::Backspace);
        assert_eq!(view.typed, None);
        assert!(type_all(&mut session, &mut view, ":quit\n"));
    }

    /// All 16 elements are seen in 80 columns, and the next instruction in any size.
    #[test]
    fn screens_of_all_sizes_are_filled() {
        let (mut session, mut view) = (session(), View::default());
        (0..3).for_each(|_| _ = pressed(&mut session, &mut view, KeyCode::Char('s')));
        let text = shown(&mut session, &mut view, 80, 24);
        assert!((0..16).all(|element| text.contains(&format!(" {element:08x}"))), "{text}");
        assert!(text.contains("keys.qasm:4"), "{text}");
        for rows in 0..60 {
            for columns in [0, 1, 7, 20, 21, 22, 40, 79, 80, 200] {
                for help in [false, true] {
                    view.help = help;
                    let text = shown(&mut session, &mut view, columns, rows);
                    assert!(help || rows < 2 || columns < 1 || text.contains('>'), "{columns} x {rows}: {text}");
                }
                view.typed = Some("print a long line of many places".to_owned());
                let text = shown(&mut session, &mut view, columns, rows);
                assert!(rows < 1 || columns < 8 || text.ends_with("places_\n") || columns > 34, "{columns}: {text}");
                view.typed = None;
            }
        }
    }

    /// More registers than rows: the pane is scrolled, and no further than to its end.
    #[test]
    fn a_long_pane_is_scrolled() {
        let (mut session, mut view) = (session(), View::default());
        pressed(&mut session, &mut view, KeyCode::Char('r'));
        let before = shown(&mut session, &mut view, 80, 16);
        assert!(before.contains("regs 1 to "), "{before}");
        for _ in 0..9 {
            pressed(&mut session, &mut view, KeyCode::PageDown);
            shown(&mut session, &mut view, 80, 16);
        }
        let end = shown(&mut session, &mut view, 80, 16);
        assert!(end.contains("element 0 is") && !before.contains("element 0 is"), "{end}");
        pressed(&mut session, &mut view, KeyCode::PageUp);
        assert_ne!(shown(&mut session, &mut view, 80, 16), end);
    }

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(
            wrapped("r0     11111111 22222222 33333333\nshort", 25),
            ["r0     11111111 22222222", "       33333333", "short"]
        );
        assert_eq!(wrapped(&"x".repeat(30), 25), ["x".repeat(30)]);
        assert_eq!(wrapped("a b c d", 3), ["a b c d"]);
        // Letters of several bytes are not cut.
        let long = "\u{e9}".repeat(30);
        assert_eq!(wrapped(&long, 25), [long.as_str()]);
        assert_eq!(wrapped(&format!("{} {long}", &long[..40]), 25), [&long[..40], &format!("       {long}")]);
    }
}

//! The console: its first picture, and input.
//!
//! The first picture shows the output of `help`. Input and output appear while the scene runs, and scroll. Letters are compared with each other: the name of a
//! command in the output of `help` and the same word after the prompt have the same pixels.

use super::{HEIGHT, WIDTH, is_near};
use crate::far_end::qemu::Qemu;
use crate::picture::Picture;
use anyhow::{Context, Result, bail, ensure};
use std::time::{Duration, Instant};

const PAPER: [f64; 3] = [13.0, 17.0, 25.0];
const INK: [f64; 3] = [222.0, 228.0, 238.0];
const FAINT: [f64; 3] = [124.0, 138.0, 160.0];
const ACCENT: [f64; 3] = [56.0, 208.0, 190.0];
/// Height of the title bar, and distance between baselines.
const BAR: usize = 92;
const LINE: usize = 25;
/// Distance from the last baseline to the edge: what whole lines leave.
const BELOW: usize = (HEIGHT - BAR) % LINE + LINE;
/// Rows below the bar without text.
const FREE: usize = 9;
/// Left margin, and width of a column.
const MARGIN: usize = 48;
const COLUMN: usize = 9;
/// Height of a letter above its baseline in pixels.
const ABOVE: usize = 14;

/// The baseline of a line when `lines` lines have scrolled so far that the last one is visible; `None` if it is covered by the title bar.
fn baseline(line: usize, lines: usize) -> Option<usize> {
    let up = (lines * LINE + BELOW).saturating_sub(HEIGHT - BAR);
    (BAR + (line + 1) * LINE).checked_sub(up).filter(|&baseline| baseline > BAR + ABOVE)
}

/// Compares the first picture with the output of `help`: there are letters in the right colours where there is text, and none beyond its end.
pub(super) fn check(picture: &Picture, help: &[String]) -> Result<String> {
    let mut lines = vec!["v3d> help"];
    lines.extend(help.iter().map(String::as_str));
    lines.extend(["ok help", ""]);
    let mut inked = 0;
    for (number, line) in lines.iter().enumerate() {
        let Some(baseline) = baseline(number, lines.len()) else { continue };
        // Counts pixels between two columns that have the text colour; all must be blends of it and the background.
        let mut ink = |columns: std::ops::Range<usize>, color: [f64; 3]| -> Result<usize> {
            let mut full = 0;
            for (x, y) in block(MARGIN + COLUMN * columns.start, MARGIN + COLUMN * columns.end, baseline) {
                let found = picture.pixel(x, y).context("the text is partly outside of the screen")?;
                let share = ((f64::from(found[1]) - PAPER[1]) / (color[1] - PAPER[1])).clamp(0.0, 1.0);
                let expected = [0, 1, 2].map(|n| PAPER[n] + (color[n] - PAPER[n]) * share);
                ensure!(is_near(found, expected, 3.0), "line {number}: ({x}, {y}) is {found:?}, not {expected:.0?}");
                full += usize::from(share > 0.97);
            }
            inked += full;
            Ok(full)
        };
        let is_there = match *line {
            "" => true,
            line if line.starts_with("v3d>") => ink(0..4, ACCENT)? > 20 && ink(5..9, INK)? > 20,
            line if line.starts_with("ok") => ink(0..2, ACCENT)? > 10 && ink(3..7, FAINT)? > 10,
            line => {
                let end = line[2..].find("  ").map_or(line.len(), |length| 2 + length);
                let explanation = end + line[end..].len() - line[end..].trim_start().len();
                ensure!(ink(0..2, FAINT)? == 0, "line {number} is not indented");
                // Most letters are narrower than columns.
                ink(2..3, INK)? > 0 && (end > 40 || ink(explanation..explanation + 4, FAINT)? > 10)
            }
        };
        ensure!(is_there, "line {number}, {line:?}, is not visible");
        let is_free =
            block(1250, WIDTH, baseline).all(|(x, y)| picture.pixel(x, y).is_some_and(|p| is_near(p, PAPER, 0.0)));
        ensure!(is_free, "line {number} exceeds its margin");
    }
    ensure!(has_title(picture), "there is no title");
    let cut = (BAR..BAR + FREE).flat_map(|y| (MARGIN..WIDTH).map(move |x| (x, y)));
    let cut = cut.filter(|&(x, y)| picture.pixel(x, y).is_some_and(|pixel| !is_near(pixel, PAPER, 0.0))).count();
    ensure!(cut == 0, "the bar cuts a line: {cut} pixels below it are not empty");
    Ok(format!("{} lines, {inked} pixels of ink", lines.len()))
}

/// Pixels of the letters on a baseline.
fn block(left: usize, right: usize, baseline: usize) -> impl Iterator<Item = (usize, usize)> {
    (baseline - ABOVE..baseline).flat_map(move |y| (left..right).map(move |x| (x, y)))
}

fn has_title(picture: &Picture) -> bool {
    let title = (0..BAR - 4).flat_map(|y| (MARGIN..180).map(move |x| (x, y)));
    title.filter(|&(x, y)| picture.pixel(x, y).is_some_and(|p| is_near(p, INK, 4.0))).count() > 500
}

/// The pixels of a word, to be found elsewhere.
struct Word {
    pixels: Vec<[u8; 3]>,
    width: usize,
}

impl Word {
    /// The word that starts at a column and has a width in pixels.
    fn read(picture: &Picture, column: usize, baseline: usize, width: usize) -> Option<Self> {
        let left = MARGIN + COLUMN * column;
        let pixels: Option<Vec<_>> = block(left, left + width, baseline).map(|(x, y)| picture.pixel(x, y)).collect();
        pixels.map(|pixels| Self { pixels, width })
    }

    fn ink(&self) -> usize {
        self.pixels.iter().filter(|pixel| is_near(**pixel, INK, 20.0)).count()
    }

    /// The baselines on which it occurs at a column.
    fn find(&self, picture: &Picture, column: usize) -> Vec<usize> {
        let is_here = |&baseline: &usize| {
            Self::read(picture, column, baseline, self.width).is_some_and(|word| word.pixels == self.pixels)
        };
        (BAR + ABOVE..HEIGHT).filter(is_here).collect()
    }
}

/// Types while the scene runs: the word appears after the prompt before the line is ended, the answer scrolls it up, and a command about scenes ends the scene.
pub(super) fn check_live(machine: &Qemu, help: &[String], deadline: Instant) -> Result<String> {
    const WORD: &str = "watchdog";
    /// Less than the width of the word, so that what follows it does not matter.
    const WIDTH_PX: usize = 74;
    /// The column after the prompt, and that of names in the table.
    const TYPED: usize = 5;
    const NAMED: usize = 2;
    /// Deletes the line.
    const CONTROL_U: u8 = 0x15;
    let keyboard = machine.console.keyboard();
    let wait_for = |what: &str, is_there: &dyn Fn(&Picture) -> bool| -> Result<Picture> {
        let patience = deadline.min(Instant::now() + Duration::from_secs(60));
        loop {
            let picture = machine.screenshot()?;
            if is_there(&picture) {
                return Ok(picture);
            }
            if Instant::now() > patience {
                bail!("{what} does not appear on the screen");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    keyboard.press(b"scene run console\r")?;
    let picture = wait_for("the title", &|picture| has_title(picture))?;
    let row = help.iter().position(|line| line.trim_start().starts_with(WORD)).context("the word is no command")?;
    let lines = help.len() + 3;
    // The prompt is on the last line, and is drawn a frame later.
    let named = baseline(row + 1, lines).context("the word is covered by the bar")?;
    let word = Word::read(&picture, NAMED, named, WIDTH_PX).context("the word is partly outside of the screen")?;
    ensure!(word.ink() > 50, "the word has only {} pixels of ink", word.ink());
    ensure!(word.find(&picture, NAMED) == [named], "the word also occurs elsewhere");
    ensure!(word.find(&picture, TYPED).is_empty(), "the word is visible before it was typed");

    keyboard.press(WORD.as_bytes())?;
    let picture = wait_for("what is typed", &|picture| !word.find(picture, TYPED).is_empty())?;
    let typed = word.find(&picture, TYPED);
    ensure!(typed == [HEIGHT - BELOW], "the input is on the baselines {typed:?}");
    // The line is deleted, typed again and ended: its answer and the prompt appear below it.
    keyboard.press(&[CONTROL_U])?;
    let answer = machine.console.command(WORD, "", deadline, |_| {})?.lines()?;
    ensure!(answer.iter().any(|line| line == "the watchdog is off"), "`{WORD}` answers {answer:?}");
    let scrolled = HEIGHT - BELOW - 3 * LINE;
    wait_for("the answer", &|picture| word.find(picture, TYPED) == [scrolled])?;
    machine.console.command("scene stop", "", deadline, |_| {})?.lines()?;
    machine.console.command("help", "", deadline, |_| {})?.lines().context("after the scene")?;
    Ok(format!("{} pixels of ink typed, which the answer moved up by 3 lines", word.ink()))
}

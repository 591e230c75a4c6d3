//! The console's first picture: lines of text at their places, in their colours, and nothing between them and beyond.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};

const PAPER: [f64; 3] = [13.0, 17.0, 25.0];
const INK: [f64; 3] = [222.0, 228.0, 238.0];
const FAINT: [f64; 3] = [124.0, 138.0, 160.0];
const PROMPT: [f64; 3] = [56.0, 208.0, 190.0];
/// Height of the bar, and from one baseline to the next.
const BAR: usize = 92;
const LINE: usize = 25;
/// Lines that are wholly on the screen.
const LINES: usize = (HEIGHT - BAR) / LINE;

/// Compares the first picture.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let mut inked = 0;
    for line in 0..LINES {
        let baseline = BAR + LINE * (line + 1);
        let pixels =
            |left: usize, right: usize| (baseline - 14..baseline).flat_map(move |y| (left..right).map(move |x| (x, y)));
        // Letters of one colour on paper: each pixel is on the line from one to the other, and some are all ink.
        let mut text = |left: usize, right: usize, color: [f64; 3]| -> Result<usize> {
            let mut full = 0;
            for (x, y) in pixels(left, right) {
                let found = picture.pixel(x, y).context("the text leaves the screen")?;
                let share = (f64::from(found[1]) - PAPER[1]) / (color[1] - PAPER[1]);
                let expected = [0, 1, 2].map(|n| PAPER[n] + (color[n] - PAPER[n]) * share.clamp(0.0, 1.0));
                ensure!(is_near(found, expected, 3.0), "line {line}: ({x}, {y}) is {found:?}, not {expected:.0?}");
                full += usize::from(share > 0.97);
                inked += usize::from(share > 0.5);
            }
            Ok(full)
        };
        // The first line is typed; the answer is indented.
        if line == 0 {
            ensure!(text(48, 92, PROMPT)? > 20, "there is no prompt");
            ensure!(text(96, 300, INK)? > 20, "no command is typed");
        } else if line <= 20 {
            ensure!(text(48, 72, PAPER.map(|channel| channel + 255.0))? == 0, "line {line} is not indented");
            ensure!(text(72, 100, INK)? > 10, "line {line} has no name");
        }
        if (1..=3).contains(&line) {
            ensure!(text(388, 1200, FAINT)? > 20, "line {line} has no explanation");
        }
        let free = pixels(1240, WIDTH).all(|(x, y)| picture.pixel(x, y).is_some_and(|p| is_near(p, PAPER, 0.0)));
        ensure!(free, "line {line} leaves its margin");
    }
    let title = (0..BAR - 4).flat_map(|y| (48..180).map(move |x| (x, y)));
    let white = title.filter(|&(x, y)| picture.pixel(x, y).is_some_and(|p| is_near(p, INK, 4.0))).count();
    ensure!(white > 500, "the title has only {white} pixels");
    Ok(format!("{LINES} lines, {inked} pixels of ink"))
}

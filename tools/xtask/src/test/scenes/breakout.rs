//! The game: played by keys over the serial line, and watched on the screen.

use super::{HEIGHT, WIDTH};
use crate::far_end::qemu::Qemu;
use crate::picture::Picture;
use anyhow::{Context, Result, bail, ensure};
use std::time::{Duration, Instant};

/// The paddle's rows and its width, which the rules of the game say.
const PADDLE_ROWS: std::ops::Range<usize> = 666..674;
const PADDLE_PX: usize = 150;
/// The middles of the lowest row of bricks: its first column, the distance between columns, and its row.
const BRICKS: (usize, usize, usize) = (97, 99, 323);
const COLUMNS: usize = 12;
/// The arrow keys, as terminals send them.
const RIGHT: &[u8] = b"\x1b[C";
const LEFT: &[u8] = b"\x1b[D";

/// Moves the paddle to both sides, serves, waits until bricks break and all balls are lost, and leaves the game by a key.
pub(super) fn check(machine: &Qemu, deadline: Instant) -> Result<String> {
    let keyboard = machine.console.keyboard();
    let wait_for = |what: &str, key: &[u8], is_there: &dyn Fn(&Picture) -> bool| -> Result<()> {
        let patience = deadline.min(Instant::now() + Duration::from_secs(60));
        loop {
            if is_there(&machine.screenshot()?) {
                return Ok(());
            }
            if Instant::now() > patience {
                bail!("{what} does not appear on the screen");
            }
            // As a terminal repeats a key that is held.
            keyboard.press(key)?;
            std::thread::sleep(Duration::from_millis(30));
        }
    };
    keyboard.press(b"scene run breakout\r")?;
    wait_for("the paddle in the middle", b"", &|picture| paddle(picture).is_some_and(|x| x.abs_diff(WIDTH / 2) < 4))?;
    ensure!(bricks(&machine.screenshot()?) == COLUMNS, "the lowest row is not whole");
    wait_for("the paddle at the right", RIGHT, &|picture| {
        paddle(picture).is_some_and(|x| x.abs_diff(WIDTH - PADDLE_PX / 2) < 4)
    })?;
    wait_for("the paddle at the left", LEFT, &|picture| {
        paddle(picture).is_some_and(|x| x.abs_diff(PADDLE_PX / 2) < 4)
    })?;
    // Each ball is served, and lost after it has been to the bricks; a serve while one flies does nothing.
    let mut points = 0;
    for left in [2, 1, 0] {
        let lost = loop {
            ensure!(Instant::now() < deadline, "no ball is lost");
            let told = |line: &str| line.contains("a ball is lost").then(|| line.to_owned());
            if let Some(line) = machine.console.exchange("scene run", " ", Duration::from_millis(500), told)? {
                break line;
            }
        };
        points = lost_with(&lost, left).with_context(|| format!("\"{lost}\""))?;
    }
    ensure!(points > 0, "three balls broke no brick");
    let standing = bricks(&machine.screenshot()?);
    ensure!(standing < COLUMNS, "the picture shows all bricks of the lowest row");
    keyboard.press(b"q")?;
    machine.console.lines_until(deadline, "scene run", |line| line == "ok scene run")?;
    // The key that ended the game is not the beginning of the next command.
    machine.console.command("scene stop", "", deadline, |_| {})?.lines()?;
    Ok(format!("{points} points with three balls; {standing} bricks of the lowest row are left"))
}

/// The number of points in `a ball is lost with N points; M left`.
fn lost_with(line: &str, left: u32) -> Option<u32> {
    let (_, rest) = line.split_once("a ball is lost with ")?;
    let (points, balls) = rest.split_once(" points; ")?;
    (balls == format!("{left} left")).then(|| points.parse().ok())?
}

/// The column of the paddle's middle.
fn paddle(picture: &Picture) -> Option<usize> {
    ensure_size(picture)?;
    let is_bright = |x: &usize| {
        PADDLE_ROWS
            .clone()
            .all(|y| picture.pixel(*x, y).is_some_and(|pixel| pixel.iter().all(|channel| *channel > 100)))
    };
    let columns: Vec<usize> = (0..WIDTH).filter(is_bright).collect();
    let (first, last) = (columns.first()?, columns.last()?);
    // The ball may be before it, but nothing beside it.
    (last - first < PADDLE_PX).then_some((first + last).div_ceil(2))
}

/// The number of bricks in the lowest row.
fn bricks(picture: &Picture) -> usize {
    let (first, pitch, y) = BRICKS;
    let stands =
        |column: &usize| picture.pixel(first + pitch * column, y).is_some_and(|[red, _, blue]| red > 70 && blue > 120);
    (0..COLUMNS).filter(stands).count()
}

fn ensure_size(picture: &Picture) -> Option<()> {
    ((picture.width, picture.height) == (WIDTH, HEIGHT)).then_some(())
}

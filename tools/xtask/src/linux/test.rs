//! `cargo xtask linux test`: what a kernel developer would try on a board.
//!
//! All steps but the last share one boot: each adds lines to the job, and checks what came back.

use super::guest::{Guest, Outcome, Plugin, Shown};
use super::programs;
use crate::picture::Picture;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write;
use std::path::Path;

/// Scenes of tools/qemu-v3d/guest/draw.c, and the last frame that is drawn of each.
const SCENES: [(&str, u32); 4] = [("triangle", 0), ("textured", 20), ("gears", 20), ("features", 0)];
/// Triangles with which the binner runs out of the memory that Linux gives it at first.
const MANY: u32 = 60_000;
/// The line of the V3D's interrupts in Linux' table: bank 1, line 10.
const INTERRUPTS: &str = "awk '/ARMCTRL-level +42 /{print \"interrupts\", $2}' /proc/interrupts";
/// Interrupts of a frame without overflow memory: binning and rendering are done.
const INTERRUPTS_EACH: u64 = 2;
/// Quads of 256 x 256 pixels.
const SCREEN_QUADS: u64 = 256 * 256 / 4;

/// A larger difference of a channel is seen. Interpolation and filters of the V3D have fewer bits than softpipe's.
const VISIBLE: u8 = 16;
/// Most pixels with a visible difference, in a thousand: those on edges, which either renderer may cover.
const MOST_VISIBLE: usize = 20;

/// A step: lines for the guest, and a check of what it left, which says what was found.
struct Step {
    name: &'static str,
    about: &'static str,
    job: fn() -> String,
    check: fn(&Outcome) -> Result<String>,
}

const STEPS: [Step; 8] = [
    Step {
        name: "pictures",
        about: "pictures are those of softpipe in the same guest",
        job: draw_both,
        check: same_pictures,
    },
    Step { name: "overflow", about: "the binner gets more memory by interrupt", job: draw_many, check: overflow },
    Step { name: "multisample", about: "4 samples a pixel", job: draw_samples, check: samples },
    Step { name: "counters", about: "performance counters", job: draw_counters, check: counters },
    Step { name: "two", about: "two processes at once", job: draw_two, check: two },
    Step {
        name: "power",
        about: "the V3D is switched off when it is idle, and on again",
        job: draw_again,
        check: power,
    },
    Step { name: "screen", about: "the screen shows what was drawn for it", job: draw_on_screen, check: same_screens },
    Step {
        name: "hang",
        about: "a shader without end is stopped, and the next frame is right",
        job: draw_hang,
        check: hang,
    },
];

/// The step that boots with a text console on the screen.
const TEXT: &str = "text";
/// The step that boots again and again.
const BOOTS: &str = "boots";

/// What tools/qemu-v3d/guest/show.c shows.
const KINDS: [&str; 6] = ["xrgb8888", "rgb565", "tiled", "cursor", "scaled", "flips"];
/// Vertical blankings that it waits for, and microseconds that they take at 60 a second.
const BLANKINGS: u64 = 60;
const BLANKINGS_US: u64 = 1_000_000;

/// Runs the steps with these names, or all of them.
pub(super) fn run(guest: &Guest<'_>, plugin: &Plugin, folder: &Path, names: &[String], boots: u32) -> Result<()> {
    let known = || STEPS.iter().map(|step| step.name).chain([TEXT, BOOTS]);
    for name in names {
        ensure!(
            known().any(|known| known == name),
            "there is no step {name}; there are {}",
            known().collect::<Vec<_>>().join(", ")
        );
    }
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let own = |name| programs::own(guest.workspace, guest.system, name);
    let (draw, show) = (own("draw")?, own("show")?);
    let steps: Vec<&Step> = STEPS.iter().filter(|step| is_wanted(step.name)).collect();
    let mut failed = Vec::new();
    if !steps.is_empty() {
        let mut job = String::new();
        for step in &steps {
            job += &(step.job)();
        }
        job += "for file in v3d_regs v3d_ident bo_stats; do cat /sys/kernel/debug/dri/*/$file > /out/$file.txt 2>/dev/null; done\n";
        job += "dmesg > /out/dmesg.txt\nsend /out/*.txt /out/*/*\n";
        eprintln!("==> booting for {} steps", steps.len());
        let outcome = guest.run(plugin, &[draw.clone(), show], &job, Shown::Nothing)?;
        outcome.save(folder)?;
        for step in steps {
            report(step.name, step.about, (step.check)(&outcome), &mut failed);
        }
    }
    if is_wanted(TEXT) {
        report(TEXT, "Linux' text console is on the screen", show_text(guest, plugin, folder), &mut failed);
    }
    if is_wanted(BOOTS) {
        report(BOOTS, "boots draw the same triangle", boot_often(guest, plugin, &draw, boots), &mut failed);
    }
    ensure!(failed.is_empty(), "failed: {}; console and pictures are in {}", failed.join(", "), folder.display());
    Ok(())
}

fn report(name: &'static str, about: &str, result: Result<String>, failed: &mut Vec<&'static str>) {
    match result {
        Ok(found) => println!("ok      {name}: {about}: {found}"),
        Err(error) => {
            println!("FAILED  {name}: {about}: {error:#}");
            failed.push(name);
        }
    }
}

/// The program's words for all scenes.
fn all_scenes() -> String {
    SCENES.iter().map(|(scene, last)| format!(" {scene}:{}", last + 1)).collect()
}

/// A line that draws into a folder of its own; the part has the folder's name.
fn draw(folder: &str, before: &str, scenes: &str) -> String {
    format!("mkdir -p /out/{folder}\npart {folder} {before} draw /out/{folder} {scenes}\n")
}

/// Draws in software.
const SOFTPIPE: &str = "env LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=softpipe";
const LLVMPIPE: &str = "env LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe";

fn draw_both() -> String {
    draw("v3d", "", &all_scenes()) + &draw("softpipe", SOFTPIPE, &all_scenes())
}

fn draw_many() -> String {
    let scene = format!("many:1:0:{MANY}");
    format!("part before {INTERRUPTS}\n{}part after {INTERRUPTS}\n", draw("many", "", &scene))
        + &draw("many-softpipe", SOFTPIPE, &scene)
}

fn draw_samples() -> String {
    draw("samples", "env SAMPLES=4", "triangle gears")
        + &draw("samples-llvmpipe", &format!("{LLVMPIPE} SAMPLES=4"), "triangle gears")
}

fn draw_counters() -> String {
    draw("counters", "", "counters")
}

fn draw_two() -> String {
    "mkdir -p /out/one /out/other /out/alone\npart alone draw /out/alone gears:40 textured:40\n\
     both() { draw /out/one gears:40 & draw /out/other textured:40; wait; }\npart two both\n"
        .to_owned()
}

fn draw_again() -> String {
    let status = "cat /sys/bus/platform/drivers/vc4_v3d/*/power/runtime_status";
    format!("{}sleep 2\npart idle {status}\n{}", draw("power", "", "textured"), draw("power-again", "", "textured"))
}

fn draw_on_screen() -> String {
    // Pictures of this size take minutes over the serial console: a check sum is enough.
    let parts = KINDS.map(|kind| {
        format!("part screen-{kind} show /run {kind}\npart sum-{kind} crc32 /run/{kind}.ppm\nrm -f /run/{kind}.ppm\n")
    });
    parts.concat()
}

fn draw_hang() -> String {
    format!(
        "{}{}part messages sh -c 'dmesg | grep -c \"Resetting GPU\"'\n{}",
        draw("before-hang", "", "gears"),
        draw("hang", "timeout 200", "hang"),
        draw("after-hang", "", "gears")
    )
}

/// A picture that the guest has sent.
fn picture(outcome: &Outcome, name: &str) -> Result<Picture> {
    let file = outcome.files.iter().find(|(file, _)| file == name);
    let (_, bytes) = file.with_context(|| format!("there is no picture {name}"))?;
    let picture = Picture::from_ppm(bytes).with_context(|| name.to_owned())?;
    let first = picture.pixels.first();
    ensure!(picture.pixels.iter().any(|pixel| Some(pixel) != first), "{name} has a single colour");
    Ok(picture)
}

fn same(outcome: &Outcome, one: &str, other: &str) -> Result<()> {
    let [a, b] = [picture(outcome, one)?, picture(outcome, other)?];
    let different = a.pixels.iter().zip(&b.pixels).filter(|(a, b)| a != b).count();
    ensure!(different == 0 && a.pixels.len() == b.pixels.len(), "{different} pixels of {one} and {other} differ");
    Ok(())
}

/// How many pixels differ visibly; too many are an error.
fn alike(outcome: &Outcome, one: &str, other: &str) -> Result<usize> {
    let [a, b] = [picture(outcome, one)?, picture(outcome, other)?];
    ensure!(a.pixels.len() == b.pixels.len(), "{one} and {other} differ in size");
    let is_seen = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(b.iter()).any(|(a, b)| a.abs_diff(*b) > VISIBLE);
    let seen = a.pixels.iter().zip(&b.pixels).filter(is_seen).count();
    ensure!(
        seen * 1000 <= a.pixels.len() * MOST_VISIBLE,
        "{seen} of {} pixels of {one} differ from {other}",
        a.pixels.len()
    );
    Ok(seen)
}

/// A part that has succeeded on the V3D.
fn drawn_by_v3d(outcome: &Outcome, name: &str) -> Result<()> {
    let part = outcome.part(name)?;
    ensure!(part.status == Some(0), "{name} ended with status {}: {}", part.status_text(), part.lines.join("; "));
    let renderer = part.lines.iter().find(|line| line.starts_with("renderer ")).context("it has no renderer")?;
    ensure!(renderer.contains("VC4"), "{name} was drawn by another {renderer}");
    Ok(())
}

fn same_pictures(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "v3d")?;
    let mut found = String::new();
    for (scene, last) in SCENES {
        let seen = alike(outcome, &format!("v3d/{scene}-{last}.ppm"), &format!("softpipe/{scene}-{last}.ppm"))?;
        write!(found, "{}{scene}: {seen} of 65536 pixels differ visibly", if found.is_empty() { "" } else { "; " })?;
    }
    Ok(found)
}

/// A number behind a word in the lines of a part.
fn number(outcome: &Outcome, part: &str, word: &str) -> Result<u64> {
    let lines = &outcome.part(part)?.lines;
    let found = lines.iter().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    found.with_context(|| format!("{part} has no number behind `{word}`: {}", lines.join("; ")))
}

fn overflow(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "many")?;
    let seen = alike(outcome, "many/many-0.ppm", "many-softpipe/many-0.ppm")?;
    let interrupts = number(outcome, "after", "interrupts")? - number(outcome, "before", "interrupts")?;
    ensure!(interrupts > INTERRUPTS_EACH, "{interrupts} interrupts for a frame: the binner had memory enough");
    Ok(format!("{MANY} triangles, {interrupts} interrupts; {seen} of 65536 pixels differ visibly"))
}

fn samples(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "samples")?;
    let triangle = alike(outcome, "samples/triangle-0.ppm", "samples-llvmpipe/triangle-0.ppm")?;
    let gears = alike(outcome, "samples/gears-0.ppm", "samples-llvmpipe/gears-0.ppm")?;
    Ok(format!("{triangle} and {gears} of 65536 pixels differ visibly from llvmpipe's"))
}

fn counters(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "counters")?;
    let quads = number(outcome, "counters", "counter FEP-valid-quads ")?;
    ensure!(quads == SCREEN_QUADS, "{quads} quads were counted for a screen of {SCREEN_QUADS}");
    let all = outcome.part("counters")?.lines.iter().filter(|line| line.starts_with("counter "));
    let counting = all.clone().filter(|line| !line.ends_with(" 0")).count();
    Ok(format!("{quads} quads; {counting} of {} counters have counted", all.count()))
}

fn two(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "two")?;
    same(outcome, "one/gears-39.ppm", "alone/gears-39.ppm")?;
    same(outcome, "other/textured-39.ppm", "alone/textured-39.ppm")?;
    let rates = outcome.part("two")?.lines.iter().filter(|line| line.ends_with("frames/s"));
    Ok(format!("each draws what it draws alone; {}", rates.cloned().collect::<Vec<_>>().join(", ")))
}

fn power(outcome: &Outcome) -> Result<String> {
    drawn_by_v3d(outcome, "power")?;
    let state = outcome.part("idle")?.lines.join(" ");
    ensure!(state == "suspended", "the V3D's state after two idle seconds is {state}");
    drawn_by_v3d(outcome, "power-again")?;
    same(outcome, "power/textured-0.ppm", "power-again/textured-0.ppm")?;
    Ok("suspended after two seconds; the next frame is the same".to_owned())
}

fn same_screens(outcome: &Outcome) -> Result<String> {
    let mut pixels = 0;
    for kind in KINDS {
        let part = outcome.part(&format!("screen-{kind}"))?;
        ensure!(part.status == Some(0), "{kind} ended with status {}: {}", part.status_text(), part.lines.join("; "));
        let name = format!("screen/{kind}.ppm");
        pixels += picture(outcome, &name)?.pixels.len();
        let (_, bytes) = outcome.files.iter().find(|(file, _)| *file == name).context("the screen is dark")?;
        let found = format!("{:08x}", crc32fast::hash(bytes));
        let expected = outcome.part(&format!("sum-{kind}"))?.lines.first().cloned().unwrap_or_default();
        ensure!(expected.starts_with(&found), "{name} has the check sum {found}, and what was drawn {expected}");
    }
    let blankings = number(outcome, "screen-flips", "vertical blankings ")?;
    let time = number(outcome, "screen-flips", "microseconds of them ")?;
    ensure!(blankings == BLANKINGS, "{blankings} vertical blankings were counted in place of {BLANKINGS}");
    ensure!(time.abs_diff(BLANKINGS_US) < BLANKINGS_US / 10, "{blankings} vertical blankings took {time} us");
    let flip = number(outcome, "screen-flips", "microseconds of a flip ")?;
    Ok(format!(
        "{pixels} pixels of {} pictures are the same; {blankings} vertical blankings in {time} us, a flip in {flip} us",
        KINDS.len()
    ))
}

fn hang(outcome: &Outcome) -> Result<String> {
    let resets = number(outcome, "messages", "")?;
    ensure!(resets > 0, "Linux has not reset the V3D");
    drawn_by_v3d(outcome, "after-hang")?;
    same(outcome, "before-hang/gears-0.ppm", "after-hang/gears-0.ppm")?;
    Ok(format!("Linux has reset the V3D {resets} times; the next frame is the same as before"))
}

/// Boots with a text console, and looks for `#0#0` in the upper left corner of the screen, in cells of 8 x 16 pixels.
fn show_text(guest: &Guest<'_>, plugin: &Plugin, folder: &Path) -> Result<String> {
    eprintln!("==> booting with a text console");
    let guest = Guest { text: true, ..*guest };
    let job = "part text sh -c 'printf \"\\033[2J\\033[H#0#0\" > /dev/tty0'\nsleep 1\nscreen text\n";
    let outcome = guest.run(plugin, &[], job, Shown::Nothing)?;
    outcome.save(&folder.join("text"))?;
    let screen = picture(&outcome, "text.ppm")?;
    let cell = |column: usize| {
        let places = (0..16).flat_map(move |y| (8 * column..8 * column + 8).map(move |x| (x, y)));
        places.map(|(x, y)| screen.pixel(x, y).is_some_and(|pixel| pixel != [0; 3])).collect::<Vec<bool>>()
    };
    let is_drawn = |column| cell(column).contains(&true);
    ensure!(is_drawn(0) && is_drawn(1), "the first letters are not drawn");
    ensure!(cell(0) == cell(2) && cell(1) == cell(3) && cell(0) != cell(1), "the letters are not those of the text");
    Ok(format!("on {}x{} pixels", screen.width, screen.height))
}

fn boot_often(guest: &Guest<'_>, plugin: &Plugin, program: &std::path::PathBuf, boots: u32) -> Result<String> {
    let job = draw("v3d", "", "triangle") + "send /out/*/*\n";
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    let mut seconds = Vec::new();
    for number in 1..=boots {
        eprintln!("==> boot {number} of {boots}");
        let outcome = guest.run(plugin, std::slice::from_ref(program), &job, Shown::Nothing)?;
        drawn_by_v3d(&outcome, "v3d").with_context(|| format!("boot {number}"))?;
        picture(&outcome, "v3d/triangle-0.ppm")?;
        seconds.push(outcome.boot.as_secs_f64());
        if first.get_or_insert_with(|| outcome.files.clone()) != &outcome.files {
            bail!("boot {number} draws another triangle than the first");
        }
    }
    let (least, most) = seconds.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &time| (a.min(time), b.max(time)));
    Ok(format!("{boots} of {boots}, each ready after {least:.0} to {most:.0} s"))
}
